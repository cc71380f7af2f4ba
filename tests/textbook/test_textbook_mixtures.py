"""The mixtures of the textbook agree with the fast ones."""

from itertools import islice

import numpy as np
import pytest
from agreement import same
from numpy.testing import assert_array_equal

from pellucid import (
    BayesianGaussianMixture,
    DensityOutlier,
    EllipticEnvelope,
    GaussianMixture,
    GradientGaussianMixture,
    MixtureDiscriminantAnalysis,
    SemiSupervisedMixture,
)
from pellucid import Mixture as GeneralMixture
from pellucid.mixture import BernoulliComponent, BinomialComponent, MixtureStart
from pellucid.textbook.mixtures.bernoulli_mixture import bernoulli_mixture
from pellucid.textbook.mixtures.bernoulli_mixture import rounds as bernoulli_rounds
from pellucid.textbook.mixtures.binomial_mixture import binomial_mixture
from pellucid.textbook.mixtures.binomial_mixture import rounds as binomial_rounds
from pellucid.textbook.mixtures.density_outlier import density_outlier
from pellucid.textbook.mixtures.gaussian_mixture import (
    Mixture,
    gaussian_mixture,
    lower_bound,
    rounds,
)
from pellucid.textbook.mixtures.gradient_mixture import gradient_mixture
from pellucid.textbook.mixtures.minimum_covariance_determinant import (
    minimum_covariance_determinant,
    steps,
)
from pellucid.textbook.mixtures.missing_cells_mixture import missing_cells_mixture
from pellucid.textbook.mixtures.missing_cells_mixture import rounds as missing_rounds
from pellucid.textbook.mixtures.mixture_discriminant import mixture_discriminant
from pellucid.textbook.mixtures.semi_supervised_mixture import rounds as label_rounds
from pellucid.textbook.mixtures.semi_supervised_mixture import semi_supervised_mixture
from pellucid.textbook.mixtures.variational_mixture import Prior, variational_mixture

rng = np.random.default_rng(0)
EXACT = {"reg_covar": 0.0, "tol": 1e-12, "max_iter": 5000}


def problem(n=80, p=2, k=3, gap=3.0):
    X = rng.normal(size=(n, p)) + gap * rng.normal(size=(k, p))[rng.integers(k, size=n)]
    return X, np.full(k, 1 / k), X[:k].copy(), np.array([np.cov(X.T)] * k)


@pytest.mark.parametrize("seed", range(3))
def test_gaussian_mixture(seed):
    rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    X, *start = problem()
    settings = {"init_params": MixtureStart(*start), "reg_covar": 0.0, "tol": 0}
    model = GaussianMixture(3, max_iter=500, **settings).fit(X)
    end = next(islice(rounds(X, Mixture(*start), tol=-np.inf), 500, None))
    same(end.log_likelihood, model.log_likelihood(X), rtol=1e-9)
    same(end.mixture.m, model.means_)
    same(gaussian_mixture(X, Mixture(*start)).log_likelihood, end.log_likelihood)
    states = list(rounds(X, Mixture(*start)))
    assert np.all(np.diff([s.log_likelihood for s in states]) > 0)
    five = GaussianMixture(3, max_iter=5, **settings).fit(X)
    same(states[5].mixture.S, five.covariances_, atol=1e-8)
    same(states[5].q, five.predict_proba(X), atol=1e-8)
    q = rng.dirichlet(np.ones(3), size=len(X))
    same(lower_bound(X, states[5].mixture, q), five.evidence_lower_bound(X, q))
    assert lower_bound(X, states[5].mixture, q) < states[5].log_likelihood


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_gradient_mixture():
    X, *start = problem()
    book = gradient_mixture(X, *start, rate=0.05, n_steps=40)
    model = GradientGaussianMixture(
        3, learning_rate=0.05, max_iter=40, tol=0, init_params=MixtureStart(*start)
    ).fit(X)
    same(book.m, model.means_, atol=1e-8)
    same(book.L @ book.L.transpose(0, 2, 1), model.covariances_, atol=1e-8)
    same(book.mean_l, model.score(X))


def test_bernoulli_mixture():
    X = (rng.random((120, 6)) < rng.random((2, 6))[rng.integers(2, size=120)]).astype(float)
    X[:, 5] = 0  # no chance of a 1
    t = rng.uniform(0.3, 0.7, size=(2, 6))
    start = np.full(2, 0.5), t
    states = list(islice(bernoulli_rounds(X, *start), 16))
    components = [BernoulliComponent(p) for p in t]
    model = GeneralMixture(components, max_iter=15, tol=0).fit(X)
    same(states[15].t, [c.probabilities for c in model.components_], atol=1e-8)
    same(states[15].q, model.predict_proba(X), atol=1e-8)
    assert np.all(np.diff([s.log_likelihood for s in states]) > 0)
    assert bernoulli_mixture(X, *start).log_likelihood > states[15].log_likelihood


def test_binomial_mixture():
    x = np.array([5.0, 9, 8, 4, 7])  # heads of 10 tosses, as in Do and Batzoglou (2008)
    t = np.array([0.6, 0.5])
    states = list(islice(binomial_rounds(x, 10, np.full(2, 0.5), t), 16))
    # looser: their first round is printed with two digits
    assert states[1].t.round(2).tolist() == [0.71, 0.58]
    components = [BinomialComponent(10, [p]) for p in t]
    model = GeneralMixture(components, max_iter=15, tol=0).fit(x[:, None])
    same(states[15].t, [c.probabilities[0] for c in model.components_])
    same(states[15].q, model.predict_proba(x[:, None]))
    same(states[15].log_likelihood, model.score_samples(x[:, None]).sum())
    assert np.all(np.diff([s.log_likelihood for s in states]) > 0)
    assert binomial_mixture(x, 10, np.full(2, 0.5), t).log_likelihood > states[15].log_likelihood


def test_missing_cells_mixture():
    X, *start = problem(n=40, k=2)
    X[rng.random(X.shape) < 0.2] = np.nan
    states = list(islice(missing_rounds(X, *start), 13))
    settings = EXACT | {"tol": 0, "max_iter": 12}
    model = GaussianMixture(2, init_params=MixtureStart(*start), **settings).fit(X)
    same(states[12].log_likelihood, model.log_likelihood(X), rtol=1e-10)
    same(states[12].m, model.means_, atol=1e-8)
    same(states[12].S, model.covariances_, atol=1e-8)
    assert np.all(np.diff([s.log_likelihood for s in states]) > 0)
    few = X[:12]
    assert (
        missing_cells_mixture(few, *start).log_likelihood
        > next(missing_rounds(few, *start)).log_likelihood
    )


def test_semi_supervised_mixture():
    y = rng.integers(2, size=80)
    X = rng.normal(size=(80, 2)) + 3 * y[:, None]
    y[20:] = -1
    states = list(islice(label_rounds(X, y, tol=-np.inf), 16))
    model = SemiSupervisedMixture(reg_covar=0.0, tol=0, max_iter=15).fit(X, y)
    same(states[15].m, model.mixture_.means_, atol=1e-8)
    same(states[15].S, model.mixture_.covariances_, atol=1e-8)
    same(states[15].q[20:], model.predict_proba(X[20:]), atol=1e-8)
    assert np.all(np.diff([s.value for s in states]) > -1e-9)
    assert semi_supervised_mixture(X, y).value > states[0].value


def test_mixture_discriminant():
    y = np.arange(120) % 2
    side = np.where(rng.random(120) < 0.5, -1, 1)
    X = (
        rng.normal(size=(120, 2))
        + np.where(y, 0, 6 * side)[:, None]
        + 6 * np.outer(y * side, [1, -1])
    )
    centres = [np.array([[-6.0, -6], [6, 6]]), np.array([[6.0, -6], [-6, 6]])]
    new = rng.uniform(-7, 7, size=(30, 2))
    model = MixtureDiscriminantAnalysis(2, reg_covar=0.0, max_iter=500, random_state=0).fit(X, y)
    same(mixture_discriminant(X, y, centres, new), model.predict_proba(new))
    one = MixtureDiscriminantAnalysis(1, reg_covar=0.0).fit(X, y)
    centres = [np.zeros((1, 2))] * 2  # quadratic discriminant analysis
    same(mixture_discriminant(X, y, centres, new), one.predict_proba(new), atol=1e-9)


def test_variational_mixture():
    group = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[group]
    prior = Prior(0.5, 1.0, X.mean(axis=0), 2.0, np.cov(X.T))
    model = BayesianGaussianMixture(
        n_components=3,
        reg_covar=0.0,
        tol=0.0,
        max_iter=300,
        weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=0.5,
        random_state=0,
    )
    model.fit(X)
    same(model.covariance_prior_, prior.B0)
    book = variational_mixture(X, np.eye(3)[model.predict(X)], prior)
    same(book.a, model.weight_concentration_)
    same(book.m, model.means_)
    same(book.B / book.v[:, None, None], model.covariances_)
    # a fourth component that nobody needs has its prior back
    spare = np.column_stack([0.99 * np.eye(3)[group], np.full(90, 0.01)])
    faded = variational_mixture(X, spare, prior)
    assert faded.a[3] - prior.a0 < 0.5


def test_density_outlier():
    X = rng.normal(size=(50, 3))
    exact = GaussianMixture(1, reg_covar=0.0)
    book, model = density_outlier(X, 0.1), DensityOutlier(exact, contamination=0.1).fit(X)
    same(book.score, model.score_samples(X))
    assert_array_equal(np.where(book.odd, -1, 1), model.predict(X))


def test_minimum_covariance_determinant():
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(8, 1, size=(8, 2))])
    model = EllipticEnvelope(random_state=0).fit(X)
    h = int(model.raw_support_.sum())
    book = minimum_covariance_determinant(X, h, rng, 100)
    determinants = [s.determinant for s in steps(X, h, np.arange(4))]
    assert np.all(np.diff(determinants) < 1e-12)
    assert not set(book.rows) & set(range(30, 38))
    fast = np.linalg.det(np.cov(X[model.raw_support_].T, bias=True))
    same(book.determinant, fast)
    assert_array_equal(book.rows, np.flatnonzero(model.raw_support_))

"""Mixture: EM for any densities, against the Gaussian one, brute force and recovery."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixture_tables import three_groups
from numpy.testing import assert_allclose
from scipy.special import gammaln

from pellucid import GaussianMixture, Mixture
from pellucid.mixture import (
    BernoulliComponent,
    CategoricalComponent,
    ExponentialComponent,
    GaussianComponent,
    MixtureStart,
    PoissonComponent,
)


def test_gaussian_components_are_the_gaussian_mixture():
    X = three_groups()
    means = np.array([[1.0, 1.0], [3.0, 2.0], [2.0, 4.0]])
    S = np.tile(np.eye(2), (3, 1, 1))
    options = {"tol": 0, "max_iter": 6}
    start = MixtureStart(means=means, covariances=S)
    ours = GaussianMixture(3, init_params=start, **options).fit(X)
    general = Mixture([GaussianComponent(m, np.eye(2)) for m in means], **options).fit(X)
    assert_allclose(general.history_["log_likelihood"], ours.history_["log_likelihood"], rtol=1e-10)
    assert_allclose([c.mean for c in general.components_], ours.means_, rtol=1e-8)
    assert_allclose(general.predict_proba(X), ours.predict_proba(X), atol=1e-8)
    assert general.n_parameters_ == ours.n_parameters_
    assert_allclose(general.bic(X), ours.bic(X), rtol=1e-10)
    assert_allclose(
        general.evidence_lower_bound(X, general.predict_proba(X)), general.log_likelihood(X)
    )


def test_one_step_by_hand():
    """Two Poisson rates: Bayes' rule, then weighted means."""
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    model = Mixture(
        [PoissonComponent([1.0]), PoissonComponent([5.0])], weights=[0.3, 0.7], max_iter=1, tol=0
    ).fit(X)
    rates, pi = np.array([1.0, 5.0]), np.array([0.3, 0.7])
    f = pi * np.exp(X * np.log(rates) - rates - gammaln(X + 1))
    r = f / f.sum(axis=1, keepdims=True)
    assert_allclose(model.weights_, r.mean(axis=0))
    assert_allclose([c.rates[0] for c in model.components_], (r * X).sum(axis=0) / r.sum(axis=0))
    assert_allclose(model.history_["log_likelihood"][0], np.log(f.sum(axis=1)).sum())
    assert model.history_["before"][1] == model.history_["log_likelihood"][0]


FAMILIES = {
    "bernoulli": (
        BernoulliComponent([0.9, 0.8, 0.9, 0.1]), BernoulliComponent([0.1, 0.2, 0.3, 0.9])
    ),
    "categorical": (
        CategoricalComponent(3, [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.9, 0.05, 0.05]]),
        CategoricalComponent(3, [[0.1, 0.1, 0.8], [0.3, 0.1, 0.6], [0.1, 0.6, 0.3]]),
    ),
    "poisson": (PoissonComponent([2.0, 9.0]), PoissonComponent([12.0, 1.0])),
    "exponential": (ExponentialComponent([0.2, 5.0]), ExponentialComponent([5.0, 0.2])),
}  # fmt: skip


def _parameters(component):
    name = {"BernoulliComponent": "probabilities", "CategoricalComponent": "tables"}
    return np.asarray(getattr(component, name.get(type(component).__name__, "rates")))


@pytest.mark.parametrize("family", list(FAMILIES))
def test_recovers_what_it_samples(family):
    truth = FAMILIES[family]
    known = Mixture(list(truth), weights=[0.4, 0.6], max_iter=1)
    known.weights_, known.components_ = np.array([0.4, 0.6]), list(truth)
    X, z = known.sample(4000, random_state=0)
    assert abs((z == 0).mean() - 0.4) < 0.05
    blank = [type(c)() if family != "categorical" else CategoricalComponent(3) for c in truth]
    model = Mixture(blank, n_init=3, max_iter=500, tol=1e-9, random_state=0).fit(X)
    first = int(np.argmin([np.abs(_parameters(c) - _parameters(truth[0])).sum()
                           for c in model.components_]))  # fmt: skip
    assert_allclose(model.weights_[first], 0.4, atol=0.05)
    scale = np.abs(_parameters(truth[0])).max()
    found = _parameters(model.components_[first])
    assert_allclose(found, _parameters(truth[0]), atol=0.08 * scale)
    assert (np.diff(model.history_["log_likelihood"]) >= -1e-7).all()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 4), n=st.integers(4, 40))
def test_never_falls(seed, k, n):
    rng = np.random.default_rng(seed)
    X = rng.poisson(4 ** rng.uniform(0, 2, size=(n, 1)), (n, 2)).astype(float)
    w = rng.integers(0, 3, n) + np.eye(n)[0] * k
    model = Mixture([PoissonComponent() for _ in range(k)], tol=0, max_iter=12, random_state=0)
    values = model.fit(X, sample_weight=w).history_["log_likelihood"]
    assert (np.diff(values) >= -1e-8 * np.abs(values[1:])).all()


class Loose:
    """A component of a user: changes itself, returns nothing, counts no parameters."""

    def __init__(self, mean):
        self.mean = mean

    def log_density(self, X):
        return -0.5 * ((X - self.mean) ** 2).sum(axis=1)

    def fit(self, X, sample_weight):
        self.mean = sample_weight @ X / sample_weight.sum()

    def sample(self, n, rng):
        return self.mean + rng.standard_normal((n, len(self.mean)))


def test_your_own_component():
    X = three_groups()
    parts = [Loose(np.array([1.0, 1.0])), Loose(np.array([3.0, 3.0]))]
    model = Mixture(parts).fit(X)
    assert parts[0].mean.tolist() == [1.0, 1.0]  # left alone
    assert model.components_[0].mean[0] != 1.0
    assert not hasattr(model, "n_parameters_")


def test_bad_input():
    X = three_groups()
    with pytest.raises(ValueError, match="list of densities"):
        Mixture([]).fit(X)
    with pytest.raises(ValueError, match="log_density, fit, sample"):
        Mixture([3]).fit(X)
    with pytest.raises(ValueError, match="cells 0 or 1"):
        Mixture([BernoulliComponent()]).fit(X)
    with pytest.raises(ValueError, match=r"codes 0, \.\.\., 2"):
        Mixture([CategoricalComponent(3)]).fit(X)
    with pytest.raises(ValueError, match="n_samples=2"):
        Mixture([GaussianComponent() for _ in range(3)]).fit(X[:2])
    with pytest.raises(ValueError, match="X has 2 columns, but the components have 3"):
        Mixture([GaussianComponent(np.zeros(3), np.eye(3))]).fit(X)
    with pytest.raises(ValueError, match="weights must have shape"):
        Mixture([GaussianComponent()], weights=[0.5, 0.5]).fit(X)

"""Variational Gaussian mixtures: scikit-learn's steps, the bound, and components that fade."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import gammaln, multigammaln
from scipy.stats import multivariate_t
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture as Peer

from pellucid import BayesianGaussianMixture
from pellucid.mixture.gaussian.gaussians import STRUCTURES

KINDS = ("dirichlet_process", "dirichlet_distribution")
PARTS = (
    "weight_concentration_", "mean_precision_", "means_", "degrees_of_freedom_", "covariances_",
    "precisions_cholesky_", "weights_",
)  # fmt: skip


def quiet(model, X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **options)


def groups(seed=0):
    rng = np.random.default_rng(seed)
    parts = [(80, 1, (0, 0)), (60, 0.5, (4, 4)), (50, 1, (6, -3))]
    return np.vstack([rng.normal(size=(n, 2)) * s + c for n, s, c in parts])


@pytest.mark.parametrize("prior", KINDS)
@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_scikit_learn_takes_the_same_steps(prior, kind):
    """From the same posterior: all parameters, the bound of every round, all that is said of X."""
    X = groups()
    options = {"n_components": 5, "covariance_type": kind, "tol": 0, "random_state": 0}
    options |= {"weight_concentration_prior_type": prior, "warm_start": True, "max_iter": 1}
    theirs, ours = quiet(Peer(**options), X), quiet(BayesianGaussianMixture(**options), X)
    for name in PARTS:
        setattr(ours, name, getattr(theirs, name))
    quiet(theirs.set_params(max_iter=25), X)
    quiet(ours.set_params(max_iter=25), X)
    for name in (*PARTS, "precisions_", "mean_prior_", "covariance_prior_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, err_msg=name)
    assert_allclose(ours.lower_bounds_, np.ravel(theirs.lower_bounds_), rtol=1e-9)
    assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-8)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)


def test_one_component_has_the_exact_evidence():
    """The bound of one component is log p(X): normal-Wishart, and the product of predictions."""
    X = groups()[:20]
    n, p = X.shape
    m0, b0, n0, W0 = np.zeros(2), 0.7, 3.5, np.array([[2.0, 0.3], [0.3, 1.0]])  # W0: inverse scale
    for prior in KINDS:
        model = BayesianGaussianMixture(
            reg_covar=0, mean_prior=m0, mean_precision_prior=b0, degrees_of_freedom_prior=n0,
            covariance_prior=W0, weight_concentration_prior_type=prior,
        ).fit(X)  # fmt: skip
        D = X - X.mean(axis=0)
        d = X.mean(axis=0) - m0
        W = W0 + D.T @ D + n * b0 / (b0 + n) * np.outer(d, d)
        exact = -0.5 * n * p * np.log(np.pi) + 0.5 * p * np.log(b0 / (b0 + n))
        exact += multigammaln((n0 + n) / 2, p) - multigammaln(n0 / 2, p)
        exact += n0 / 2 * np.linalg.slogdet(W0)[1] - (n0 + n) / 2 * np.linalg.slogdet(W)[1]
        assert_allclose(model.evidence_bound_ - _stick(prior, n), exact, rtol=1e-10)
    total = 0.0
    m, b, f, W = m0, b0, n0, W0
    for x in X:  # one row after the other
        total += multivariate_t(m, W * (b + 1) / (b * (f - p + 1)), f - p + 1).logpdf(x)
        W = W + b / (b + 1) * np.outer(x - m, x - m)
        m, b, f = (b * m + x) / (b + 1), b + 1, f + 1
    assert_allclose(total, exact, rtol=1e-10)


def _stick(prior, n):
    """What a single stick costs: its density is not 1 (a Dirichlet of one part is)."""
    if prior == "dirichlet_distribution":
        return 0.0
    return gammaln(n + 1) + gammaln(1.0) - gammaln(n + 2) + np.log(1.0)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 40),
    p=st.integers(1, 4),
    k=st.integers(1, 6),
    kind=st.sampled_from(STRUCTURES),
    prior=st.sampled_from(KINDS),
    gaps=st.booleans(),
)
def test_the_bound_never_falls(seed, n, p, k, kind, prior, gaps):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10 ** rng.uniform(-2, 2) + 10 ** rng.uniform(-2, 3)
    if gaps:
        X[rng.random((n, p)) < 0.3] = np.nan
        X[:2] = np.arange(2 * p).reshape(2, p) ** 1.5
    w = rng.integers(0, 3, size=n) + np.eye(n)[0] + np.eye(n)[1]
    model = BayesianGaussianMixture(
        n_components=min(k, n), covariance_type=kind, reg_covar=0, tol=0, max_iter=12,
        weight_concentration_prior_type=prior, random_state=seed,
    )  # fmt: skip
    quiet(model, X, sample_weight=w)
    values = np.array(model.lower_bounds_)
    assert (np.diff(values) >= -1e-7 * np.maximum(1, np.abs(values[1:]))).all()
    assert np.isfinite(model.covariances_).all()
    assert model.evidence_bound_ < 1e6


def test_components_that_are_not_needed_fade():
    X = groups()
    for prior in KINDS:
        model = quiet(
            BayesianGaussianMixture(
                n_components=8, weight_concentration_prior_type=prior, max_iter=400,
                weight_concentration_prior=1e-2, random_state=0,
            ),
            X,
        )  # fmt: skip
        assert model.n_active_ == 3
        assert np.sort(model.weights_)[:5].max() < 0.01
        assert "active components = 3" in str(model.card())
        means = model.means_[np.argsort(model.weights_)[-3:]]
        assert_allclose(np.sort(means[:, 0]), [0, 4, 6], atol=0.4)


def test_the_evidence_bound_finds_the_number_of_components():
    """scikit-learn's bound cannot: it leaves out terms that grow with their number."""
    X = groups()
    found = [
        quiet(
            BayesianGaussianMixture(
                n_components=k, n_init=3, random_state=0, max_iter=300,
                weight_concentration_prior_type="dirichlet_distribution",
                weight_concentration_prior=1.0,
            ),
            X,
        ).evidence_bound_
        for k in (1, 2, 3, 4, 5)
    ]  # fmt: skip
    assert int(np.argmax(found)) == 2


def test_weights_are_repetitions_and_gaps_are_filled():
    X = groups()[::3]
    w = np.random.default_rng(0).integers(1, 4, size=len(X))
    options = {"n_components": 3, "mean_prior": [1.0, 1.0], "random_state": 0, "tol": 1e-9}
    options |= {"max_iter": 500, "covariance_prior": np.eye(2)}
    a = BayesianGaussianMixture(**options).fit(X, sample_weight=w)
    b = BayesianGaussianMixture(**options).fit(np.repeat(X, w, axis=0))
    assert_allclose(a.lower_bound_, b.lower_bound_, rtol=1e-8)
    Y = groups()
    Y[::4, 1] = np.nan
    model = quiet(BayesianGaussianMixture(n_components=4, random_state=0, max_iter=300), Y)
    error = np.mean((model.impute(Y) - groups())[::4, 1] ** 2)
    assert error < 0.5 * np.var(groups()[:, 1])


def test_bad_and_degenerate_input():
    X = groups()
    with pytest.raises(ValueError, match="degrees_of_freedom_prior must be above n_features - 1"):
        BayesianGaussianMixture(degrees_of_freedom_prior=1.0).fit(X)
    with pytest.raises(ValueError, match="covariance_prior must have shape"):
        BayesianGaussianMixture(covariance_prior=[1.0, 2.0]).fit(X)
    with pytest.raises(ValueError, match="weight_concentration_prior must be > 0"):
        BayesianGaussianMixture(weight_concentration_prior=0.0).fit(X)
    with pytest.raises(ValueError, match="n_samples=1"):
        BayesianGaussianMixture().fit(X[:1])
    for table in (np.ones((6, 2)), np.column_stack([X[:9, 0], np.ones(9)]), X[:3].T):
        model = quiet(BayesianGaussianMixture(n_components=2, random_state=0), table)
        assert np.isfinite(model.score_samples(table)).all()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 rounds"):
        BayesianGaussianMixture(n_components=3, max_iter=1).fit(X)
    rows, labels = quiet(BayesianGaussianMixture(n_components=2, random_state=0), X).sample(9)
    assert rows.shape == (9, 2)
    assert len(labels) == 9

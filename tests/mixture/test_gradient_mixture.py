"""GradientGaussianMixture: the gradient, the maximum EM finds, and the warning of a large rate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from test_gaussian_mixture import TEN, three_groups

from pellucid import GaussianMixture, GradientGaussianMixture
from pellucid.core.statistics import Rows
from pellucid.core.threads import map_threads
from pellucid.mixture import MixtureStart
from pellucid.mixture.em import State
from pellucid.mixture.gaussians import STRUCTURES, Gaussians, expectation, factors_of
from pellucid.mixture.gradient_mixture import ascend


def value(model, structure, X):
    rows = Rows(X, None, np.ones(len(X)))
    return expectation(rows, map_threads, factors_of(model, structure))


@pytest.mark.parametrize("kind", STRUCTURES)
def test_a_short_step_gains_the_squared_gradient(kind):
    """l(theta + h g) = l + h |g|^2: both sides from the step itself, in its own coordinates."""
    X = three_groups()[::5] + 0.3
    fitted = GaussianMixture(3, covariance_type=kind, max_iter=1, tol=0, random_state=0).fit(X)
    model = Gaussians(np.array([0.5, 0.3, 0.2]), fitted.means_ + 0.1, 1.3 * fitted.covariances_)
    sums = value(model, kind, X)
    h = 1e-5
    new = ascend(State(0, model, sums, None), kind, h)
    squares = (((new.means - model.means) / h) ** 2).sum()
    a, b = np.log(model.weights), np.log(new.weights)
    da = (b - a) / h
    N = sums.weight / sums.weight.sum()
    g = N - model.weights  # the gradient in a; softmax only shifts da by a constant
    assert_allclose(da - da.mean(), g - g.mean(), atol=1e-5)
    squares += (g**2).sum()
    if kind in ("full", "tied"):
        L, K = (np.linalg.cholesky(m.covariances) for m in (model, new))
        squares += ((np.tril(K - L, -1) / h) ** 2).sum()
        d = np.log(np.diagonal(K, axis1=-2, axis2=-1) / np.diagonal(L, axis1=-2, axis2=-1))
        squares += ((d / h) ** 2).sum()
    else:
        squares += ((0.5 * np.log(new.covariances / model.covariances) / h) ** 2).sum()
    gain = (value(new, kind, X).value - sums.value) / len(X)
    assert_allclose(gain, h * squares, rtol=2e-3)


@pytest.mark.parametrize("update", ["gradient", "damped"])
@pytest.mark.parametrize("kind", ["full", "tied_diag"])
def test_reaches_the_maximum_of_em(update, kind):
    X = three_groups()
    start = MixtureStart(means=[[1.0, 1.0], [3.0, 2.0], [2.0, 4.0]])
    em = GaussianMixture(3, covariance_type=kind, tol=1e-10, max_iter=500, init_params=start)
    em.fit(X)
    model = GradientGaussianMixture(
        3, covariance_type=kind, update=update, learning_rate=0.1 if update == "gradient" else 0.5,
        tol=1e-8, max_iter=5000, init_params=start,
    ).fit(X)  # fmt: skip
    assert_allclose(model.means_, em.means_, atol=0.02)
    assert_allclose(model.score(X), em.score(X), atol=1e-4)
    assert (np.diff(model.history_["log_likelihood"]) > -1e-6).all()


def test_damped_with_rate_one_is_em():
    X = TEN[:, None]
    start = MixtureStart(means=[[4.0], [6.0]])
    options = {"tol": 0, "max_iter": 3, "init_params": start}
    a = GradientGaussianMixture(2, update="damped", learning_rate=1.0, **options).fit(X)
    b = GaussianMixture(2, **options).fit(X)
    assert_allclose(a.means_, b.means_, rtol=1e-13)
    assert_allclose(a.covariances_, b.covariances_, rtol=1e-13)


def test_a_large_rate_is_said():
    X = three_groups()
    model = GradientGaussianMixture(3, learning_rate=0.9, max_iter=30, tol=0, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"learning_rate=0.9 is too large"):
        model.fit(X)
    assert np.isfinite(model.score(X))
    with pytest.raises(ValueError, match="fixed must be empty"):
        GradientGaussianMixture(init_params=MixtureStart(fixed=("means",))).fit(X)

"""GradientGaussianMixture: the gradient, the maximum EM finds, and the warning of a large rate."""

import numpy as np
import pytest
from mixture_tables import TEN, three_groups
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from pellucid import GaussianMixture, GradientGaussianMixture
from pellucid.core.algebra.derivatives import numerical_gradient
from pellucid.core.loops.iterate import DivergenceWarning
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.threads import map_threads
from pellucid.mixture import MixtureStart
from pellucid.mixture.gaussian.em import Climb
from pellucid.mixture.gaussian.gaussians import STRUCTURES, Gaussians, expectation, factors_of
from pellucid.mixture.gaussian.unconstrained import MixtureFit
from pellucid.solvers import Backtracking, GradientDescent, InverseScaling


def problem(kind, X, w, missing=False):
    fitted = GaussianMixture(3, covariance_type=kind, max_iter=1, tol=0, random_state=0).fit(X)
    model = Gaussians(np.array([0.5, 0.3, 0.2]), fitted.means_ + 0.1, 1.3 * fitted.covariances_)
    rows = Rows(X, None, w)
    task = Climb(rows, map_threads, float(w.sum()), np.ones(2), kind, 9, 0.0, "here", missing)
    return MixtureFit(task, model), model


@pytest.mark.parametrize("gaps", [False, True], ids=["whole", "gaps"])
@pytest.mark.parametrize("kind", STRUCTURES)
def test_vector_and_gradient(kind, gaps):
    """There and back is the same mixture; the gradient is that of differences of the value."""
    X, w = three_groups()[::5] + 0.3, np.arange(len(three_groups()[::5])) % 3 + 1.0
    if gaps:
        X[::4, 0] = np.nan
    fit, model = problem(kind, X, w, gaps)
    back = fit.chart.model(fit.start)
    for a, b in zip(back, model, strict=True):
        assert_allclose(a, b, rtol=1e-12, atol=1e-13)
    value, slope = fit.value_gradient(fit.start)
    if not gaps:
        sums = expectation(Rows(X, None, w), map_threads, factors_of(model, kind))
        assert_allclose(value, -sums.value / w.sum(), rtol=1e-12)
    found = numerical_gradient(lambda x: fit.value_gradient(x)[0], fit.start)
    assert_allclose(slope, found.value, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kind", ["full", "tied", "spherical"])
def test_steps_are_those_of_gradient_descent(kind):
    """The estimator is the solver on this objective, step by step."""
    X, w = three_groups()[::5], np.ones(len(three_groups()[::5]))
    fit, model = problem(kind, X, w)
    start = MixtureStart(model.weights, model.means, model.covariances)
    ours = GradientGaussianMixture(
        3, covariance_type=kind, learning_rate=0.05, max_iter=12, tol=0, init_params=start
    ).fit(X)
    solver = GradientDescent(0.05, max_iter=12, tol=None)
    found = solver.minimise(fit, fit.start)
    assert_allclose(-found.history["value"] * len(X), ours.history_["objective"], rtol=1e-10)
    assert_allclose(fit.chart.model(found.x).means, ours.means_, rtol=1e-9)


def test_schedules_and_line_searches():
    """With a line search no step falls; a schedule takes the rates it says."""
    X = three_groups()
    climbs = GradientGaussianMixture(
        3, learning_rate=Backtracking(4.0), max_iter=40, tol=0, random_state=0
    ).fit(X)
    assert (np.diff(climbs.history_["objective"]) >= 0).all()
    slow = GradientGaussianMixture(3, learning_rate=InverseScaling(0.05, 1.0), max_iter=5, tol=0,
                                   random_state=0).fit(X)  # fmt: skip
    fixed = GradientGaussianMixture(3, learning_rate=0.05, max_iter=5, tol=0, random_state=0).fit(X)
    a, b = slow.history_["objective"], fixed.history_["objective"]
    assert_allclose(a[1], b[1], rtol=1e-12)
    assert a[-1] < b[-1]
    assert "Backtracking" in str(climbs.card())
    with pytest.raises((TypeError, ValueError), match="learning_rate"):
        GradientGaussianMixture(update="damped", learning_rate=Backtracking()).fit(X)


def test_divergence_keeps_the_best_mixture():
    X = 100 * three_groups()
    model = GradientGaussianMixture(3, learning_rate=1e6, max_iter=50, tol=0, random_state=0)
    with pytest.warns(DivergenceWarning, match="diverged at step"):
        model.fit(X)
    assert np.isfinite(model.score(X))
    assert model.lower_bound_ == model.history_["objective"].max() / len(X)


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

"""Losses, penalties, numerical derivatives and certificates."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from pellucid.core.algebra.critical import certify
from pellucid.core.algebra.derivatives import (
    numerical_gradient,
    numerical_hessian,
    numerical_jacobian,
)
from pellucid.core.functions import impurities
from pellucid.core.functions.losses import LOSSES, get_loss
from pellucid.core.functions.penalties import L1, L1L2, L2, Lq, soft_threshold

rng = np.random.default_rng(0)
TARGETS = {
    "number": rng.normal(size=200), "count": rng.poisson(2.0, 200).astype(float),
    "zero_one": rng.integers(0, 2, 200).astype(float), "signs": rng.choice([-1.0, 1.0], 200),
}  # fmt: skip


@pytest.mark.parametrize("name", list(LOSSES))
def test_derivatives_are_finite_differences(name):
    loss = get_loss(name)
    y, f, h = TARGETS[loss.target], rng.normal(scale=2, size=200), 1e-6
    slope = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    near_kink = np.abs(loss.gradient(y, f + h) - loss.gradient(y, f - h)) > 0.1
    assert_allclose(loss.gradient(y, f)[~near_kink], slope[~near_kink], atol=1e-7)
    bend = (loss.gradient(y, f + h) - loss.gradient(y, f - h)) / (2 * h)
    jump = np.abs(loss.curvature(y, f + h) - loss.curvature(y, f - h)) > 0.1
    assert_allclose(loss.curvature(y, f)[~(jump | near_kink)], bend[~(jump | near_kink)], atol=1e-6)
    assert loss.curvature(y, f).max() <= loss.bound


@pytest.mark.parametrize("name", list(LOSSES))
def test_convex_along_chords_and_a_subgradient_at_kinks(name):
    loss = get_loss(name)
    y, a, b = TARGETS[loss.target], rng.normal(size=200), rng.normal(size=200)
    middle = loss.value(y, (a + b) / 2)
    assert (middle <= (loss.value(y, a) + loss.value(y, b)) / 2 + 1e-12).all()
    kinks = np.array([-1.0, 0.0, 1.0])
    for f in kinks:
        at = np.full(200, f)
        line = loss.value(y, at) + loss.gradient(y, at) * (a - at)
        assert (loss.value(y, a) >= line - 1e-12).all()


def test_losses_match_scikit_learn():
    """The formulas of scikit-learn's stochastic losses."""
    y, f = rng.normal(size=50), rng.normal(size=50)
    r = np.abs(y - f)
    assert_allclose(
        get_loss("huber", 0.5).value(y, f), np.where(r <= 0.5, r**2 / 2, 0.5 * r - 0.125)
    )
    assert_allclose(get_loss("logistic").value(np.ones(3), [-800.0, 0.0, 800.0]),
                    [800.0, np.log(2), 0.0])  # fmt: skip
    assert get_loss("absolute").gradient([1.0], [1.0]) == 0
    assert get_loss("perceptron").gradient([1.0], [0.0]) == -1  # moves from a start at 0


def test_targets_are_checked():
    with pytest.raises(ValueError, match=r"'logistic' needs y in \(0.0, 1.0\), got 2"):
        get_loss("logistic").check_target(np.array([0.0, 2.0]))
    with pytest.raises(ValueError, match="needs y >= 0"):
        get_loss("poisson").check_target(np.array([-1.0]))
    with pytest.raises(ValueError, match="did you mean 'huber'"):
        get_loss("hubert")


PENALTIES = [
    L1(0.7),
    L2(0.3),
    L1L2(0.4, 0.2),
    Lq(0.5, 1.5),
    Lq(0.5, 3.0),
    Lq(0.5, 0.5),
    Lq(0.5, 1.0),
]


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_prox_is_the_minimum(penalty):
    v = np.array([-3.0, -0.6, 0.0, 0.2, 1.0, 5.0])
    found = penalty.prox(v, 0.8)
    grid = np.linspace(-6, 6, 240_001)
    for target, u in zip(v, found, strict=True):
        values = (grid - target) ** 2 / 2
        if isinstance(penalty, Lq):
            values = values + 0.8 * penalty.alpha * np.abs(grid) ** penalty.q
        else:
            values = values + 0.8 * (penalty.l1 * np.abs(grid) + penalty.l2 * grid**2)
        here = (u - target) ** 2 / 2 + 0.8 * penalty.value(np.array([u]))
        assert here <= values.min() + 1e-9
        assert abs(grid[values.argmin()] - u) < 1e-3


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_penalty_derivatives(penalty):
    w = np.array([-2.0, 0.7, 3.0])
    assert_allclose(penalty.gradient(w), numerical_gradient(penalty.value, w).value, rtol=1e-8)
    H = numerical_jacobian(penalty.gradient, w).value
    assert_allclose(penalty.curvature(w), np.diag(H), rtol=1e-7, atol=1e-9)
    assert (penalty.gradient(np.zeros(2)) == 0).all()


def test_sums_and_refusals():
    assert L1(1.0) + L2(2.0) == L1L2(1.0, 2.0)
    assert (repr(L1(1.0)), repr(L2(0.5))) == ("L1(1)", "L2(0.5)")
    assert_allclose(soft_threshold(np.array([2.0, -0.5]), 1.0), [1.0, 0.0])
    for bad in (lambda: L1(-1.0), lambda: Lq(1.0, 0.0), lambda: L2("a")):
        with pytest.raises(ValueError, match="must be"):
            bad()


def f_course(x):
    """Example 6 of part 01."""
    y1, y2 = x[0] ** 2 * np.exp(x[1]), x[1] ** 3
    return y1 * (1 - np.exp(y2))


def test_numerical_derivatives():
    x = np.array([2.0, 0.5])
    found = numerical_gradient(f_course, x)
    assert_allclose(found.value, [-0.878098747, -6.482836619], atol=1e-8)
    assert (found.error < 1e-7).all()
    A = rng.normal(size=(4, 4))
    H = numerical_hessian(lambda z: float(z @ A @ z) + float(np.sin(z).sum()), np.zeros(4)).value
    assert_allclose(H, A + A.T, atol=1e-6)
    big = numerical_gradient(lambda z: float(np.exp(z / 1e3).sum()), np.array([5e3, -2e3])).value
    assert_allclose(big, np.exp([5.0, -2.0]) / 1e3, rtol=1e-8)


def test_certificates():
    assert certify(0.0, np.diag([1.0, 2.0])).kind == "local minimum"
    assert certify(0.0, -np.diag([1.0, 2.0])).kind == "local maximum"
    assert certify(0.0, np.diag([1.0, -2.0])).kind == "saddle point"
    assert certify(0.0, np.diag([1.0, 0.0])).kind == "undecided"
    assert certify(1.0, np.diag([1.0, 2.0])).kind == "not stationary"
    assert certify(0.0, np.diag([1.0, 0.0]), convex=True).kind == "global minimum"
    assert certify(0.0, None).kind == "undecided"
    assert certify(np.nan, None).kind == "not stationary"


def test_lq_prox_below_one_jumps():
    """For q < 1 small values go to 0 at once, large ones hardly move."""
    penalty = Lq(1.0, 0.5)
    found = penalty.prox(np.array([0.5, 4.0]), 1.0)
    assert found[0] == 0
    best = minimize_scalar(lambda u: (u - 4) ** 2 / 2 + np.sqrt(abs(u)), bounds=(1, 5)).x
    assert_allclose(found[1], best, atol=1e-5)


@pytest.mark.parametrize("criterion", impurities.NUMBER_CRITERIA)
@pytest.mark.parametrize("scale", [1e-9, 0.01, 1.0, 1e9])
def test_impurity_of_numbers_does_not_depend_on_the_unit_of_weights(criterion, scale):
    y, w = np.array([1.0, 2.0, 6.0, 3.0]), np.array([0.1, 0.2, 0.3, 0.1])
    expected = impurities.number_impurity(y, 10 * w, criterion)
    assert expected > 0
    assert_allclose(impurities.number_impurity(y, scale * w, criterion), expected, rtol=1e-12)
    assert impurities.number_impurity(y, 0 * w, criterion) == 0.0


@pytest.mark.parametrize("criterion", impurities.CLASS_CRITERIA)
@pytest.mark.parametrize("scale", [1e-9, 0.01, 1e9])
def test_impurity_of_classes_does_not_depend_on_the_unit_of_weights(criterion, scale):
    weight = np.array([[0.1, 0.2], [0.3, 0.0], [0.0, 0.0]])
    expected = impurities.class_impurity(10 * weight, criterion)
    assert expected[0] > 0
    assert_allclose(expected[1:], 0.0, atol=1e-15)
    assert_allclose(impurities.class_impurity(scale * weight, criterion), expected, atol=1e-12)

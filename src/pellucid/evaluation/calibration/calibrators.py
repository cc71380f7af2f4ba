r"""Maps from a classifier's scores to probabilities, fitted on rows that it has not seen.

sigmoid       p = 1 / (1 + exp(a f + b)), Platt's targets (n+ + 1)/(n+ + 2) and 1/(n- + 2) instead
              of 1 and 0, so that the optimum is finite. Newton in two numbers, halved steps.
isotonic      the non-decreasing least squares fit of 0/1 on the score: pool adjacent violators,
              O(n) after a sort; linear between its points, constant outside.
temperature   softmax(beta z) with one number beta > 0: the order of the classes stays. The
              derivative of the log loss in beta rises, so Newton is kept inside a bracket.

References: Platt (1999); Lin, Lin, Weng (2007); Zadrozny & Elkan (2002); Guo et al. (2017).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.loops.backtrack import backtrack
from pellucid.core.loops.iterate import iterate
from pellucid.evaluation.calibration.kernels import sigmoid_sums, temperature_sums
from pellucid.linear.isotonic import isotonic_regression as isotonic

BETA = (math.exp(-10.0), math.exp(10.0))  # inverse temperatures that are looked at


class SigmoidCalibration(NamedTuple):
    """p = 1 / (1 + exp(a f + b)); a is negative where greater scores mean more positive."""

    a_: float
    b_: float

    def predict(self, f: Array) -> Array:
        return expit(-(self.a_ * f + self.b_))


class IsotonicCalibration(NamedTuple):
    """Linear between the points, constant outside."""

    X_thresholds_: Array
    y_thresholds_: Array

    def predict(self, f: Array) -> Array:
        return np.interp(f, self.X_thresholds_, self.y_thresholds_)


class TemperatureScaling(NamedTuple):
    """softmax(beta z) of log-probabilities or decision values z."""

    beta_: float

    def predict(self, values: Array) -> Array:
        return softmax(self.beta_ * to_logits(values), axis=1)


class _Curve(NamedTuple):
    theta: Array
    sums: Array


def fit_sigmoid(f: Array, y: Array, w: Array) -> SigmoidCalibration:
    """Platt's curve of a score f for y in {0, 1}.

    >>> curve = fit_sigmoid(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0.0, 0, 1, 1]), np.ones(4))
    >>> bool(curve.a_ < 0), round(abs(curve.b_), 12)
    (True, 0.0)
    """
    positives = float(w @ y)
    negatives = float(w.sum()) - positives
    target = np.where(y > 0, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    centre = float(w @ f / w.sum())
    scale = math.sqrt(float(w @ (f - centre) ** 2 / w.sum())) or 1.0
    x = np.ascontiguousarray((f - centre) / scale)

    def sums(theta: Array) -> Array:
        out = np.empty(6)
        sigmoid_sums(x, target, w, theta[0], theta[1], out)
        return out

    def step(state: _Curve) -> tuple[_Curve, float]:
        value, ga, gb, haa, hab, hbb = state.sums
        floor = 1e-12 * (haa + hbb)  # a constant score leaves the slope undetermined
        haa, hbb = haa + floor, hbb + floor
        determinant = haa * hbb - hab * hab
        move = np.array([hab * gb - hbb * ga, hab * ga - haa * gb]) / determinant
        slope = ga * move[0] + gb * move[1]

        def attempt(t: float) -> tuple[_Curve, float]:
            theta = state.theta + t * move
            new = _Curve(theta, sums(theta))
            return new, float(new.sums[0])

        found = backtrack(attempt, value, slope, most=34, noise=1e-13 * abs(value))
        if found is None:
            return state, 0.0  # no shorter step is better: rounding
        return found.point, float(np.abs(found.point.theta - state.theta).max())

    start = np.array([0.0, math.log((positives + 1) / (negatives + 1))])
    run = iterate(step, _Curve(start, sums(start)), max_iter=100, tol=1e-9, name="sigmoid")
    a, b = run.state.theta
    return SigmoidCalibration(-float(a / scale), -float(b - a * centre / scale))


def fit_isotonic(f: Array, y: Array, w: Array) -> IsotonicCalibration:
    """The non-decreasing fit of y on f; equal scores are one point.

    >>> fit = fit_isotonic(np.array([1.0, 2, 3, 4]), np.array([0.0, 1, 0, 1]), np.ones(4))
    >>> fit.predict(np.array([0.0, 2.5, 9.0]))
    array([0. , 0.5, 1. ])
    """
    fit = isotonic.fit_isotonic(
        isotonic.sort_rows(f, y, w), increasing=True, low=-np.inf, high=np.inf
    )
    return IsotonicCalibration(fit.x, fit.y)


class _Bracket(NamedTuple):
    beta: float
    low: float
    high: float


def fit_temperature(values: Array, code: IntArray, w: Array) -> TemperatureScaling:
    """The inverse temperature of least log loss, between exp(-10) and exp(10)."""
    z = np.ascontiguousarray(to_logits(values))
    out = np.empty(2)

    def step(state: _Bracket) -> tuple[_Bracket, float]:
        beta, low, high = state
        temperature_sums(z, code, w, beta, out)
        low, high = (beta, high) if out[0] < 0 else (low, beta)
        new = beta - out[0] / out[1] if out[1] > 0 else math.inf
        if not low < new < high:
            new = math.sqrt(low * high)
        return _Bracket(new, low, high), abs(math.log(new / beta)) if out[0] != 0 else 0.0

    run = iterate(step, _Bracket(1.0, *BETA), max_iter=200, tol=1e-11, name="temperature")
    return TemperatureScaling(float(run.state.beta))


def to_logits(values: Array) -> Array:
    """Decision values as (n, K); rows of probabilities become their logarithms.

    One column of decision values x stands for the pair (-x, x).

    >>> to_logits(np.array([[1.5]]))
    array([[-1.5,  1.5]])
    """
    values = np.asarray(values, dtype=np.float64)
    values = values.reshape(len(values), -1)
    if values.shape[1] == 1:
        return np.hstack([-values, values])
    chances = (values >= 0).all() and (values <= 1).all()
    if chances and np.allclose(values.sum(axis=1), 1.0, rtol=1e-5, atol=1e-8):
        return np.log(values + 1e-12)
    return values


def fit_calibrators(
    values: Array, codes: IntArray, w: Array, places: IntArray, n_classes: int, method: str
) -> list[Any]:
    """One map per column of scores (``places``: its class), or one temperature for all."""
    if method == "temperature":
        return [fit_temperature(values, codes, w)]
    fit = fit_isotonic if method == "isotonic" else fit_sigmoid
    wanted = [1] if n_classes == 2 and values.shape[1] == 1 else places
    return [
        fit(np.ascontiguousarray(column), (codes == k).astype(np.float64), w)
        for k, column in zip(wanted, values.T, strict=False)
    ]


def calibrated_probabilities(
    values: Array, calibrators: list[Any], places: IntArray, n_classes: int, method: str
) -> Array:
    """(n, K) probabilities; classes that the model has not seen get none."""
    if method == "temperature":
        return calibrators[0].predict(values)
    P = np.zeros((len(values), n_classes))
    if n_classes == 2 and values.shape[1] == 1:
        P[:, 1] = calibrators[0].predict(values[:, 0])
        P[:, 0] = 1.0 - P[:, 1]
        return P
    for k, column, calibrator in zip(places, values.T, calibrators, strict=True):
        P[:, k] = calibrator.predict(column)
    total = P.sum(axis=1, keepdims=True)
    return np.divide(P, total, out=np.full_like(P, 1 / n_classes), where=total != 0)

r"""Losses l(y, f) of one observation, with first and second derivative in f.

    squared                      (y - f)^2
    absolute                     |y - f|
    huber                        r^2/2 for |r| <= e, else e |r| - e^2/2,   r = y - f
    epsilon_insensitive          max(0, |r| - e)
    squared_epsilon_insensitive  max(0, |r| - e)^2
    poisson                      exp(f) - y f                             y >= 0
    logistic                     log(1 + exp f) - y f                     y in {0, 1}
    hinge                        max(0, 1 - y f)                          y in {-1, +1}
    squared_hinge                max(0, 1 - y f)^2
    modified_huber               max(0, 1 - y f)^2 for y f >= -1, else -4 y f
    perceptron                   max(0, -y f)
    exponential                  exp(-y f)

Each formula is written once, as a compiled function of two numbers that is chosen by a code, so
that arrays (``Loss.value``) and the stochastic epochs of ``compiled.epochs`` use the same one. At a
kink the derivative is one of the subgradients: 0 for |r|, the active side for the hinges.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.runtime.jit import jit

SQUARED, ABSOLUTE, HUBER, EPSILON, SQUARED_EPSILON, POISSON = range(6)
LOGISTIC, HINGE, SQUARED_HINGE, MODIFIED_HUBER, PERCEPTRON, EXPONENTIAL = range(6, 12)


@jit
def loss_value(code: int, e: float, y: float, f: float) -> float:
    """l(y, f)."""
    if code == SQUARED:
        return (y - f) * (y - f)
    if code == ABSOLUTE:
        return abs(y - f)
    if code == HUBER:
        r = abs(y - f)
        return 0.5 * r * r if r <= e else e * r - 0.5 * e * e
    if code == EPSILON:
        return max(0.0, abs(y - f) - e)
    if code == SQUARED_EPSILON:
        return max(0.0, abs(y - f) - e) ** 2
    if code == POISSON:
        return math.exp(f) - y * f
    if code == LOGISTIC:  # log(1 + exp f) without overflow
        return max(f, 0.0) + math.log1p(math.exp(-abs(f))) - y * f
    z = y * f
    if code == HINGE:
        return max(0.0, 1 - z)
    if code == SQUARED_HINGE:
        return max(0.0, 1 - z) ** 2
    if code == MODIFIED_HUBER:
        return max(0.0, 1 - z) ** 2 if z >= -1 else -4 * z
    if code == PERCEPTRON:
        return max(0.0, -z)
    return math.exp(-z)


@jit
def loss_slope(code: int, e: float, y: float, f: float) -> float:
    """dl/df."""
    if code == SQUARED:
        return 2 * (f - y)
    if code == ABSOLUTE:
        return 1.0 if f > y else (-1.0 if f < y else 0.0)
    if code == HUBER:
        return min(max(f - y, -e), e)
    if code == EPSILON:
        return 1.0 if f - y > e else (-1.0 if y - f > e else 0.0)
    if code == SQUARED_EPSILON:
        r = f - y
        return 2 * (r - e) if r > e else (2 * (r + e) if r < -e else 0.0)
    if code == POISSON:
        return math.exp(f) - y
    if code == LOGISTIC:
        t = math.exp(-abs(f))
        return (1 / (1 + t) if f >= 0 else t / (1 + t)) - y
    z = y * f
    if code == HINGE:
        return -y if z <= 1 else 0.0
    if code == SQUARED_HINGE:
        return -2 * y * (1 - z) if z < 1 else 0.0
    if code == MODIFIED_HUBER:
        return 0.0 if z >= 1 else (-2 * y * (1 - z) if z >= -1 else -4 * y)
    if code == PERCEPTRON:
        return -y if z <= 0 else 0.0
    return -y * math.exp(-z)


@jit
def loss_curvature(code: int, e: float, y: float, f: float) -> float:
    """d2l/df2 (almost everywhere)."""
    if code == SQUARED:
        return 2.0
    if code == HUBER:
        return 1.0 if abs(y - f) <= e else 0.0
    if code == SQUARED_EPSILON:
        return 2.0 if abs(y - f) > e else 0.0
    if code == POISSON:
        return math.exp(f)
    if code == LOGISTIC:
        t = math.exp(-abs(f))
        return t / ((1 + t) * (1 + t))
    if code == SQUARED_HINGE:
        return 2.0 if y * f < 1 else 0.0
    if code == MODIFIED_HUBER:
        return 2.0 if -1 <= y * f < 1 else 0.0
    if code == EXPONENTIAL:
        return math.exp(-y * f)
    return 0.0


@jit
def fill_values(code: int, e: float, y: Array, f: Array, out: Array) -> None:
    for i in range(len(f)):
        out[i] = loss_value(code, e, y[i], f[i])


@jit
def fill_slopes(code: int, e: float, y: Array, f: Array, out: Array) -> None:
    for i in range(len(f)):
        out[i] = loss_slope(code, e, y[i], f[i])


@jit
def fill_curvatures(code: int, e: float, y: Array, f: Array, out: Array) -> None:
    for i in range(len(f)):
        out[i] = loss_curvature(code, e, y[i], f[i])


class Loss(NamedTuple):
    """One loss; ``value``, ``gradient`` and ``curvature`` are element by element.

    >>> loss = get_loss("squared")
    >>> loss.value([1.0, 2.0], [0.0, 0.0]), loss.gradient([1.0, 2.0], [0.0, 0.0])
    (array([1., 4.]), array([-2., -4.]))
    """

    name: str
    code: int
    epsilon: float
    target: str  # number, count (>= 0), zero_one or signs (-1, +1)
    convex: bool
    smooth: bool  # differentiable
    bound: float  # the largest second derivative

    def value(self, y: ArrayLike, f: ArrayLike) -> Array:
        return self._fill(fill_values, y, f)

    def gradient(self, y: ArrayLike, f: Array) -> Array:
        return self._fill(fill_slopes, y, f)

    def curvature(self, y: ArrayLike, f: ArrayLike) -> Array:
        return self._fill(fill_curvatures, y, f)

    def _fill(self, kernel: Any, y: ArrayLike, f: ArrayLike) -> Array:
        y = np.ascontiguousarray(y, dtype=np.float64)
        f = np.ascontiguousarray(f, dtype=np.float64)
        out = np.empty(len(f))
        kernel(self.code, self.epsilon, y, f, out)
        return out

    def check_target(self, y: Array) -> None:
        """Refuse targets for which the formula is not meant."""
        accepted = {"zero_one": (0.0, 1.0), "signs": (-1.0, 1.0)}.get(self.target)
        if accepted is not None and not np.isin(y, accepted).all():
            bad = y[~np.isin(y, accepted)][0]
            raise ValueError(f"loss {self.name!r} needs y in {accepted}, got {bad:g}")
        if self.target == "count" and (y < 0).any():
            raise ValueError(f"loss {self.name!r} needs y >= 0, got {y.min():g}")


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("squared", SQUARED, 0.0, "number", True, True, 2.0),
        Loss("absolute", ABSOLUTE, 0.0, "number", True, False, np.inf),
        Loss("huber", HUBER, 1.35, "number", True, True, 1.0),
        Loss("epsilon_insensitive", EPSILON, 0.1, "number", True, False, np.inf),
        Loss("squared_epsilon_insensitive", SQUARED_EPSILON, 0.1, "number", True, True, 2.0),
        Loss("poisson", POISSON, 0.0, "count", True, True, np.inf),
        Loss("logistic", LOGISTIC, 0.0, "zero_one", True, True, 0.25),
        Loss("hinge", HINGE, 0.0, "signs", True, False, np.inf),
        Loss("squared_hinge", SQUARED_HINGE, 0.0, "signs", True, True, 2.0),
        Loss("modified_huber", MODIFIED_HUBER, 0.0, "signs", True, True, 2.0),
        Loss("perceptron", PERCEPTRON, 0.0, "signs", True, False, np.inf),
        Loss("exponential", EXPONENTIAL, 0.0, "signs", True, True, np.inf),
    )
}


def get_loss(name: Any, epsilon: float | None = None) -> Loss:
    """The loss of this name; ``epsilon`` is the e of the formulas that have one.

    >>> get_loss("huber", 2.0).value([0.0], [3.0])
    array([4.])
    """
    if isinstance(name, Loss):
        return name
    check.one_of(tuple(LOSSES), loss=name)
    return LOSSES[name] if epsilon is None else LOSSES[name]._replace(epsilon=float(epsilon))

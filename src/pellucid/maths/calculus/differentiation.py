r"""Derivatives of any Python function of a vector, and checks of those written by hand.

Central differences with Richardson extrapolation (``core.algebra.derivatives``): about 1e-9 on
smooth functions. A kink shows in the one-sided slopes: on a smooth function

    (f(x+h) - f(x))/h - (f(x) - f(x-h))/h = h f'' + O(h^3)

vanishes with h; extrapolated to h = 0 it is the jump of the slope, and not 0 at a kink. A kink
nearer than the largest step (0.006 max(1, |x_j|)) is reported as well: it spoils the difference.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from pellucid.core.algebra.derivatives import SHRINK, STEP, numerical_gradient, numerical_hessian
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.core.runtime.warn import warn
from pellucid.maths.inputs import vector
from pellucid.maths.wording import folded, listed, number, one_line

JUMP = 1e-5  # of the slope, relative to max(1, |slope|), from which it is a kink

Function = Callable[[Array], Any]


@readable
class Estimate(NamedTuple):
    """A numerical derivative.

    >>> gradient(lambda x: x[0] ** 2, [3.0], full_output=True).value.round(9)
    array([6.])
    """

    value: Array  # the derivative
    error: Array  # estimate of its error
    kinks: tuple[int, ...]  # coordinates with a kink

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        text = f"{listed(self.value.ravel())}, good to about {self.error.max():.1g}"
        if self.kinks:
            text += f"; kinks in coordinate {', '.join(map(str, self.kinks))}: no derivative there"
        return folded(text)


@readable
class GradientCheck(NamedTuple):
    """Does a gradient agree with the differences? error = |a - b| / max(1, |b|).

    >>> check_gradient(lambda x: x @ x, lambda x: 2 * x, [1.0, 2.0]).ok
    True
    """

    ok: bool  # whether the error is at most ``tol``
    max_error: float  # the largest over the coordinates
    worst: int  # coordinate of the largest error
    kinks: tuple[int, ...]  # coordinates where f has no derivative

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        text = f"The gradient is right to {self.max_error:.1g}"
        if not self.ok:
            off = f"coordinate {self.worst} is off by {number(self.max_error)}"
            text = f"The gradient is wrong: {off} (relative to max(1, |true slope|))"
        if self.kinks:
            text += f"; f has a kink in coordinate {', '.join(map(str, self.kinks))}"
        return folded(text + ".")


class Remembered:
    """f as a float, each point computed once."""

    def __init__(self, f: Function) -> None:
        self.f = f
        self.seen: dict[bytes, float] = {}

    def __call__(self, x: Array) -> float:
        key = x.tobytes()
        if key not in self.seen:
            value = np.asarray(self.f(x.copy()), dtype=np.float64)
            if value.size != 1:
                raise ValueError(f"f must return one number, got shape {value.shape}")
            self.seen[key] = float(value.reshape(()))
        return self.seen[key]


def _finite(value: Array, x: Array) -> None:
    if not np.isfinite(value).all():
        raise ValueError(f"f is not finite in a neighbourhood of x = {x.tolist()}")


def jumps(f: Callable[[Array], float], x: Array) -> Array:
    """The jump of the slope in each coordinate: a + b h + c h^3 through three steps, at h = 0.

    >>> jumps(Remembered(lambda x: abs(x[0]) + x[1] ** 2), np.zeros(2)).round(6)
    array([2., 0.])
    """
    middle, gaps = f(x), np.empty((len(SHRINK), len(x)))
    steps = np.array(SHRINK)
    for i, shrink in enumerate(SHRINK):
        for j in range(len(x)):
            h = shrink * STEP * max(1.0, abs(x[j]))
            up, down = x.copy(), x.copy()
            up[j] += h
            down[j] -= h
            right = (f(up) - middle) / (up[j] - x[j])
            gaps[i, j] = right - (middle - f(down)) / (x[j] - down[j])
    return np.linalg.solve(np.column_stack([steps**0, steps, steps**3]), gaps)[0]


def _estimate(f: Function, x: ArrayLike) -> Estimate:
    x = vector(x, "x")
    g = Remembered(f)
    found = numerical_gradient(g, x)
    _finite(found.value, x)
    jump = jumps(g, x)
    kinks = np.flatnonzero(np.abs(jump) > JUMP * np.maximum(1.0, np.abs(found.value)))
    return Estimate(found.value, found.error, tuple(int(j) for j in kinks))


def _warn_of_kinks(kinks: tuple[int, ...]) -> None:
    if kinks:
        warn(
            f"f has a kink at or near x in coordinate {', '.join(map(str, kinks))}: the one-sided "
            "slopes differ, and the answer is their mean at best"
        )


@overload
def gradient(f: Function, x: ArrayLike, full_output: Literal[False] = False) -> Array: ...
@overload
def gradient(f: Function, x: ArrayLike, full_output: Literal[True]) -> Estimate: ...
def gradient(f: Function, x: ArrayLike, full_output: bool = False) -> Any:
    """The gradient of ``f`` at ``x``.

    ``f`` maps a vector to a number; ``full_output`` gives a record (value, error, kinks) and no
    warning of kinks.

    >>> from pellucid.maths import gradient
    >>> gradient(lambda x: x[0] ** 2 * x[1], [3.0, 2.0]).round(9)
    array([12.,  9.])
    """
    check.boolean(full_output=full_output)
    found = _estimate(f, x)
    if full_output:
        return found
    _warn_of_kinks(found.kinks)
    return found.value


@overload
def hessian(f: Function, x: ArrayLike, full_output: Literal[False] = False) -> Array: ...
@overload
def hessian(f: Function, x: ArrayLike, full_output: Literal[True]) -> Estimate: ...
def hessian(f: Function, x: ArrayLike, full_output: bool = False) -> Any:
    """The matrix of second derivatives of ``f`` at ``x``.

    ``f`` maps a vector to a number; ``full_output`` gives a record (value, error, kinks) and no
    warning of kinks.

    >>> from pellucid.maths import hessian
    >>> hessian(lambda x: x[0] ** 2 * x[1], [3.0, 2.0]).round(6)
    array([[4., 6.],
           [6., 0.]])
    """
    check.boolean(full_output=full_output)
    kinks = _estimate(f, x).kinks
    x = vector(x, "x")
    found = numerical_hessian(Remembered(f), x)
    _finite(found.value, x)
    if full_output:
        return Estimate(found.value, found.error, kinks)
    _warn_of_kinks(kinks)
    return found.value


def directional_derivative(
    f: Function, x: ArrayLike, u: ArrayLike, *, normalise: bool = True
) -> float:
    """The slope of f at x in the direction u: gradient . u / |u|.

    ``f`` maps a vector to a number, ``x`` and ``u`` are vectors, u not zero. Without ``normalise``
    u keeps its length: gradient . u.

    >>> from pellucid.maths import directional_derivative
    >>> round(directional_derivative(lambda x: x[0] ** 2 + x[1], [1.0, 0.0], [3.0, 4.0]), 9)
    2.0
    """
    check.boolean(normalise=normalise)
    x = vector(x, "x")
    u = vector(u, "u", len(x))
    length = float(np.linalg.norm(u))
    if length == 0:
        raise ValueError("u must not be the zero vector: it has no direction")
    unit = u / length
    found = _estimate(lambda t: f(x + t[0] * unit), [0.0])
    if found.kinks:
        warn("f has a kink at x along u: the one-sided slopes differ")
    return float(found.value[0]) * (1.0 if normalise else length)


def check_gradient(f: Function, gradient: Any, x: ArrayLike, tol: float = 1e-5) -> GradientCheck:
    """Compare a gradient with numerical differences.

    ``f`` maps a vector to a number; ``gradient`` is a function of x or the vector itself, written
    by hand or from autograd, jax or torch. At ``x`` the error |a - b| / max(1, |b|), b the
    numerical slope, may be at most ``tol``.

    >>> from pellucid.maths import check_gradient
    >>> print(check_gradient(lambda x: x[0] * x[1], lambda x: [x[1], 2 * x[0]], [1.0, 3.0]))
    The gradient is wrong: coordinate 1 is off by 1 (relative to max(1, |true slope|)).
    """
    check.positive(tol=tol)
    x = vector(x, "x")
    a = vector(gradient(x.copy()) if callable(gradient) else gradient, "the gradient", len(x))
    found = _estimate(f, x)
    error = np.abs(a - found.value) / np.maximum(1.0, np.abs(found.value))
    worst = int(np.argmax(error))
    return GradientCheck(bool(error[worst] <= tol), float(error[worst]), worst, found.kinks)

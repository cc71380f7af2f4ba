r"""Laplace's approximation: the normal density that fits a peak.

    log g(x) ~ log g(m) - (x - m)'A (x - m)/2,     m = argmax log g,   A = -grad^2 log g(m)

so g is approximately a factor times N(m, A^-1), and its integral is

    log Z ~ log g(m) + d/2 log 2 pi - 1/2 log|A|.

Exact where g is normal. The mode is found by Newton's method: the step solves (A + s I) step =
grad, with s > 0 only where A is not positive definite, and is halved until log g grows. Missing
derivatives are taken numerically (core.derivatives).    O(d^3) and O(d^2) values per step

Reference: Tierney & Kadane (1986); Bishop, PRML, section 4.4.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pellucid.core.algebra import derivatives
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.loops.backtrack import backtrack
from pellucid.core.loops.iterate import Iteration, iterate
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.inference.distributions.multivariate_normal import MultivariateNormal
from pellucid.inference.distributions.normal import LOG_2PI

MAX_STEPS = 200
HALVINGS = 40
SAME_MODE = 1e-3  # distance, in standard deviations, below which two modes are one


@readable
class LaplaceApproximation(NamedTuple):
    """The normal approximation of a peak and the logarithm of its integral.

    >>> found = laplace_approximation(lambda x: -((x[0] - 1.0) ** 2), [0.0])
    >>> found.mode.round(6), round(found.distribution.marginal(0).variance, 6)
    (array([1.]), 0.5)
    """

    mode: Array  # (d,)
    cov: Array  # (d, d)
    log_evidence: float  # log of the integral
    distribution: MultivariateNormal  # N(mode, cov)
    n_iter: int  # Newton steps
    modes: Array  # (n, d), the highest first


class Target(NamedTuple):
    """A log density with its derivatives."""

    value: Callable[[Array], float]
    gradient: Callable[[Array], Array]
    hessian: Callable[[Array], Array]


class Peak(NamedTuple):
    """Where the climb stands."""

    x: Array
    value: float


def make_target(log_density: Any, gradient: Any, hessian: Callable[[Array], Any] | None) -> Target:
    """Numerical derivatives where none are given."""

    def value(x: Array) -> float:
        return float(log_density(x))

    def slope(x: Array) -> Array:
        if gradient is None:
            return derivatives.numerical_gradient(value, x).value
        return np.asarray(gradient(x), dtype=np.float64)

    def curve(x: Array) -> Array:
        if hessian is not None:
            return symmetric(np.asarray(hessian(x), dtype=np.float64))
        if gradient is None:
            return symmetric(derivatives.numerical_hessian(value, x).value)
        return symmetric(derivatives.numerical_jacobian(slope, x).value)

    return Target(value, slope, curve)


def symmetric(A: Array) -> Array:
    return (A + A.T) / 2


def upward(A: Array, gradient: Array) -> Array:
    """(A + s I)^-1 gradient with the least s that makes the matrix safely positive definite."""
    least, largest = np.linalg.eigvalsh(A)[[0, -1]]
    floor = 1e-8 * max(abs(largest), abs(least), 1e-300)
    shift = 0.0 if least > floor else floor - least + 0.1 * abs(least)
    return cho_solve(cho_factor(A + shift * np.eye(len(A))), gradient)


def climb(target: Target, x: Array, name: str = "laplace_approximation") -> Iteration:
    """Step-halved Newton from x to a mode; the state of the run is a Peak."""

    def step(peak: Peak) -> tuple[Peak, float]:
        gradient = target.gradient(peak.x)
        move = upward(-target.hessian(peak.x), gradient)
        rise = float(gradient @ move)  # squared Newton decrement, >= 0

        def attempt(t: float) -> tuple[Peak, float]:
            x = peak.x + t * move
            new = Peak(x, target.value(x))
            return new, -new.value

        noise = 1e-13 * (1 + abs(peak.value))
        found = backtrack(attempt, -peak.value, -rise, most=HALVINGS, noise=noise)
        return (peak, 0.0) if found is None else (found.point, rise)  # None: rounding

    def row(peak: Peak) -> dict[str, Any]:
        return {"objective": peak.value, "x": peak.x}

    start = Peak(x, target.value(x))
    return iterate(step, start, max_iter=MAX_STEPS, tol=1e-14, record=row, name=name)


def refuse_flat(A: Array, x: Array) -> None:
    """A peak curves down in every direction; otherwise name the one that does not."""
    values, vectors = np.linalg.eigh(A)
    if values[0] > 1e-10 * max(values[-1], 0.0) and values[0] > 0:
        return
    direction = vectors[:, 0] * np.sign(vectors[np.argmax(np.abs(vectors[:, 0])), 0])
    what = "rises" if values[0] < -1e-8 * max(abs(values[-1]), 1e-300) else "is flat"
    place, along = np.round(x, 6).tolist(), np.round(direction, 4).tolist()
    why = "its Hessian is not negative definite there"
    raise ValueError(f"log_density has no peak: at {place} it {what} along {along} ({why})")


def distinct(found: list[tuple[Peak, Array]]) -> list[tuple[Peak, Array]]:
    """The different modes, the highest first."""
    kept: list[tuple[Peak, Array]] = []
    for peak, A in sorted(found, key=lambda pair: -pair[0].value):
        gaps = [peak.x - other.x for other, _ in kept]
        if all(np.sqrt(g @ B @ g) > SAME_MODE for g, (_, B) in zip(gaps, kept, strict=True)):
            kept.append((peak, A))
    return kept


def laplace_approximation(
    log_density: Callable[[Array], float],
    start: ArrayLike | None,
    *,
    gradient: Callable[[Array], Any] | None = None,
    hessian: Callable[[Array], Any] | None = None,
    n_starts: int = 1,
    random_state: Seed = None,
) -> LaplaceApproximation:
    """Fit a normal density to the peak of ``log_density``.

    Parameters
    ----------
    log_density : callable
        x (d,) -> log g(x), not necessarily normalised.
    start : array of shape (d,)
        Where the climb begins; log g must be finite there.
    gradient, hessian : callable, default=None
        Derivatives x -> (d,) and (d, d) of log g; numerical where None.
    n_starts : int, default=1
        Further starts are drawn around ``start``; several modes are reported with a warning.
    random_state : None, int, RandomState or Generator, default=None
        Seed of the further starts.

    Examples
    --------
    >>> from pellucid.inference import laplace_approximation
    >>> found = laplace_approximation(lambda x: -0.5 * (x[0] ** 2 + 4 * x[1] ** 2), [1.0, 1.0])
    >>> found.cov.round(6) + 0.0, round(found.log_evidence, 4)  # log(2 pi / 2)
    (array([[1.  , 0.  ],
           [0.  , 0.25]]), 1.1447)
    """
    check.whole(n_starts=n_starts)
    x0 = np.atleast_1d(np.asarray(start, dtype=np.float64))
    target = make_target(log_density, gradient, hessian)
    if x0.ndim != 1 or not np.isfinite(target.value(x0)):
        at = f"{target.value(x0)} at {x0.tolist()}"
        raise ValueError(f"log_density must be finite at start, got {at}")
    rng = generator(random_state)
    starts = [x0]
    while len(starts) < n_starts:
        x = x0 + 2 * np.maximum(1.0, np.abs(x0)) * rng.standard_normal(len(x0))
        starts.append(x if np.isfinite(target.value(x)) else x0)
    found, n_iter = [], 0
    for x in starts:
        run = climb(target, x)
        peak = run.state
        A = -target.hessian(peak.x)
        refuse_flat(A, peak.x)
        found.append((peak, A))
        n_iter += run.n_iter
    peaks = distinct(found)
    if len(peaks) > 1:
        only = "one normal density cannot hold them, the highest is taken"
        warn(f"log_density has {len(peaks)} modes; {only}")
    (mode, value), A = peaks[0]
    cov = symmetric(np.asarray(np.linalg.inv(A), dtype=np.float64))
    d = len(mode)
    log_evidence = value + d / 2 * LOG_2PI - 0.5 * float(np.linalg.slogdet(A)[1])
    modes, law = np.array([peak.x for peak, _ in peaks]), MultivariateNormal(mode, cov)
    return LaplaceApproximation(mode, cov, log_evidence, law, n_iter, modes)

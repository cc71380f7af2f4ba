r"""Largest likelihood and largest posterior of any function, with errors and further modes.

    MLE   t = argmax log p(x | t)             MAP   t = argmax log p(x | t) + log p(t)
    covariance = J^-1,   J = -Hessian of the maximised function at t

Without bounds: step-halved Newton (the climb of ``laplace_approximation``). With bounds: L-BFGS-B
finds which ones hold, Newton polishes the coordinates that are free; those held by a bound have
no standard error. ``n_starts`` looks for other modes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from pellucid.core.algebra.derivatives import numerical_hessian
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Rng, Seed
from pellucid.core.loops.iterate import History
from pellucid.core.readable import readable
from pellucid.core.records import text_table
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.inference.estimation.laplace import climb, make_target
from pellucid.solvers.lbfgs import lbfgsb
from pellucid.solvers.objective import Objective

SAME = 1e-4  # relative distance below which two maxima are one
NEAR = 1e-7  # relative distance to a bound that counts as touching it


@readable
@dataclass(frozen=True, eq=False)
class Estimate:
    """A maximum with the inverse observed information.

    >>> found = maximum_likelihood(lambda t: -((t[0] - 3.0) ** 2) / 2, [0.0])
    >>> found.estimate.round(6), found.standard_errors.round(6), found.kind
    (array([3.]), array([1.]), 'MLE')
    """

    estimate: Array  # (d,), the maximum
    log_value: float  # log-likelihood or log posterior there
    covariance: Array | None  # inverse observed information
    standard_errors: Array | None  # (d,), its roots
    kind: str  # "MLE" or "MAP"
    modes: Array  # (m, d), the highest first
    history: History  # of the search
    reason: str = ""  # why there is no covariance

    def __str__(self) -> str:
        errors = self.standard_errors
        parts = [
            f"{v:.6g}" + ("" if errors is None or np.isnan(e) else f" +/- {e:.4g}")
            for v, e in zip(self.estimate, self.estimate if errors is None else errors, strict=True)
        ]
        what = "likelihood" if self.kind == "MLE" else "posterior density (up to a factor)"
        text = f"{self.kind} ({', '.join(parts)}), log {what} {self.log_value:.6g}."
        if len(self.modes) > 1:
            text += f" {len(self.modes)} maxima were found; this is the highest."
        return text + (f" No standard error: {self.reason}." if self.reason else "")


class Box(NamedTuple):
    """Bounds of every coordinate."""

    low: Array
    high: Array

    def touched(self, x: Array) -> BoolArray:
        room = NEAR * np.maximum(1.0, np.abs(x))
        return (x - self.low <= room) | (self.high - x <= room)


def box_of(bounds: Sequence[tuple[float | None, float | None]] | None, d: int) -> Box:
    """(low, high) pairs, None for no bound."""
    if bounds is None:
        return Box(np.full(d, -np.inf), np.full(d, np.inf))
    if len(bounds) != d:
        raise ValueError(f"bounds must be {d} pairs (low, high), got {len(bounds)}")
    low = np.array([-np.inf if pair[0] is None else float(pair[0]) for pair in bounds])
    high = np.array([np.inf if pair[1] is None else float(pair[1]) for pair in bounds])
    if not (low < high).all():
        raise ValueError(f"each lower bound must be below the upper one, got {bounds!r}")
    return Box(low, high)


class Chart(NamedTuple):
    """Free coordinates without bounds: low + e^t, high - e^t or low + (high - low) expit(t)."""

    low: Array
    high: Array

    def back(self, t: Array) -> Array:
        low, high = self.low, self.high
        with np.errstate(over="ignore", invalid="ignore"):
            both = low + (high - low) * expit(t)
            one = np.where(np.isfinite(low), low + np.exp(t), high - np.exp(t))
        bounded = np.isfinite(low) | np.isfinite(high)
        x = np.where(np.isfinite(low) & np.isfinite(high), both, np.where(bounded, one, t))
        return np.asarray(x, dtype=np.float64)

    def to(self, x: Array) -> Array:
        low, high = self.low, self.high
        with np.errstate(invalid="ignore", divide="ignore"):
            both = np.log(x - low) - np.log(high - x)
            one = np.where(np.isfinite(low), np.log(x - low), np.log(high - x))
        bounded = np.isfinite(low) | np.isfinite(high)
        return np.where(np.isfinite(low) & np.isfinite(high), both, np.where(bounded, one, x))

    def slope(self, x: Array) -> Array:
        """|dx/dt| at x."""
        up, down = x - self.low, self.high - x
        with np.errstate(invalid="ignore"):
            both = up * down / (self.high - self.low)
        one = np.where(np.isfinite(up), up, np.where(np.isfinite(down), down, 1.0))
        return np.where(np.isfinite(up) & np.isfinite(down), both, one)


class Top(NamedTuple):
    """A maximum and how it was reached."""

    x: Array
    value: float
    history: History


def climb_in_box(value: Callable[[Array], float], x: Array, box: Box) -> Top:
    """L-BFGS-B to see which bounds hold, Newton on the rest."""

    def safe(t: Array) -> float:
        inside = (t >= box.low).all() and (t <= box.high).all()  # no derivative across a bound
        found = value(t) if inside else -np.inf
        return -found if np.isfinite(found) else 1e300

    found = lbfgsb(safe, x, jac=False, bounds=list(zip(*box, strict=True)))
    x = np.clip(found.x, *box)
    free = ~box.touched(x)
    if not free.any():
        return Top(x, value(x), History([{"step": 0, "objective": value(x), "x": x}]))
    chart = Chart(box.low[free], box.high[free])
    part = _charted(value, x, free, chart)
    run = climb(make_target(part, None, None), chart.to(x[free]), "maximum_likelihood")
    best = x.copy()
    best[free] = chart.back(run.state.x)
    return Top(best, run.state.value, run.history)


def _charted(
    value: Callable[[Array], float], x: Array, free: BoolArray, chart: Chart
) -> Callable[[Array], float]:
    """The function of the free coordinates alone, in a chart without bounds."""

    def part(t: Array) -> float:
        full = x.copy()
        full[free] = chart.back(t)
        return float(value(full))

    return part


def climb_from(value: Callable[[Array], float], x: Array, box: Box, solver: Any) -> Top:
    if solver is not None:
        found = solver.minimise(Objective(lambda t: -value(t)), x)
        return Top(np.asarray(found.x), value(np.asarray(found.x)), found.history)
    if np.isfinite(box.low).any() or np.isfinite(box.high).any():
        return climb_in_box(value, x, box)
    run = climb(make_target(value, None, None), x, "maximum_likelihood")
    return Top(run.state.x, run.state.value, run.history)


def starts_of(x: Array, value: Any, box: Box, n_starts: int, rng: Rng) -> list[Array]:
    """The given start and points around it, of finite value."""
    starts = [x]
    for _ in range(50 * n_starts):
        if len(starts) >= n_starts:
            break
        point = x + 2 * np.maximum(1.0, np.abs(x)) * rng.standard_normal(len(x))
        point = np.clip(point, *box)
        if np.isfinite(value(point)):
            starts.append(point)
    return starts


def errors_at(value: Any, x: Array, box: Box) -> tuple[Array | None, str]:
    """J^-1 of the free coordinates (NaN for the others), or the reason why there is none."""
    free = ~box.touched(x)
    if not free.any():
        return None, "every coordinate is held by a bound"
    # at a maximum the curvatures of two charts differ by their slopes only
    chart = Chart(box.low[free], box.high[free])
    slope = chart.slope(x[free])
    H = numerical_hessian(_charted(value, x, free, chart), chart.to(x[free])).value
    J = -H / np.outer(slope, slope)
    least = np.linalg.eigvalsh(J)[0]
    if not least > 0:
        return None, f"the function does not curve down (least curvature {least:.3g})"
    cov = np.full((len(x), len(x)), np.nan)
    cov[np.ix_(free, free)] = np.linalg.inv(J)
    held = np.flatnonzero(~free).tolist()
    return cov, f"coordinate {held} is held by a bound" if held else ""


class Search(NamedTuple):
    """How a maximum is looked for; see ``maximum_likelihood``."""

    bounds: Sequence[tuple[float | None, float | None]] | None
    solver: Any
    n_starts: int
    random_state: Seed


def _maximise(
    value: Callable[[Array], float], start: ArrayLike, kind: str, search: Search
) -> Estimate:
    bounds, solver, n_starts, random_state = search
    check.whole(n_starts=n_starts)
    x = np.atleast_1d(np.asarray(start, dtype=np.float64))
    box = box_of(bounds, len(x))
    if solver is not None and bounds is not None:
        raise ValueError("bounds and solver cannot be combined: leave one of them out")
    if not ((x >= box.low) & (x <= box.high)).all() or not np.isfinite(value(x)):
        raise ValueError(f"the function must be finite at start and start inside bounds, got {x}")
    starts = starts_of(x, value, box, n_starts, generator(random_state))
    tops = sorted((climb_from(value, s, box, solver) for s in starts), key=lambda top: -top.value)
    modes: list[Array] = []
    for top in tops:
        far = [np.abs(top.x - m) > SAME * np.maximum(1.0, np.abs(m)) for m in modes]
        if all(f.any() for f in far):
            modes.append(top.x)
    if len(modes) > 1:
        warn(f"{len(modes)} maxima were found; the highest is taken")
    best = tops[0]
    cov, reason = errors_at(value, best.x, box)
    errors = None if cov is None else np.sqrt(np.diag(cov))
    return Estimate(best.x, best.value, cov, errors, kind, np.array(modes), best.history, reason)


def maximum_likelihood(
    log_likelihood: Callable[[Array], float],
    start: ArrayLike,
    *,
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
    solver: Any = None,
    n_starts: int = 1,
    random_state: Seed = None,
) -> Estimate:
    """The parameters of largest likelihood of any model.

    Parameters
    ----------
    log_likelihood : callable
        theta (d,) -> log p(data | theta).
    start : array of shape (d,)
        Where the search begins.
    bounds : sequence of (low, high), default=None
        None in a pair is no bound.
    solver : object with ``minimise``, default=None
        One of ``pellucid.solvers``; None: Newton's method, L-BFGS-B first where there are bounds.
    n_starts : int, default=1
        Starts around ``start``; distinct maxima are listed in ``modes`` with a warning.
    random_state : None, int, RandomState or Generator, default=None
        Seed of the further starts.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.inference import maximum_likelihood
    >>> x = np.array([2.5, 3.0, 4.5, 5.0, 6.0])
    >>> def log_likelihood(t):  # normal: mean, log of the standard deviation
    ...     return float((-0.5 * ((x - t[0]) / np.exp(t[1])) ** 2 - t[1]).sum())
    >>> found = maximum_likelihood(log_likelihood, [0.0, 0.0])
    >>> found.estimate.round(4), found.standard_errors.round(4)
    (array([4.2   , 0.2534]), array([0.5762, 0.3162]))
    """
    search = Search(bounds, solver, n_starts, random_state)
    return _maximise(lambda t: float(log_likelihood(t)), start, "MLE", search)


def maximum_a_posteriori(
    log_likelihood: Callable[[Array], float],
    start: ArrayLike,
    *,
    log_prior: Callable[[Array], float],
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
    solver: Any = None,
    n_starts: int = 1,
    random_state: Seed = None,
) -> Estimate:
    """The mode of the posterior of any model.

    ``log_prior`` is theta (d,) -> log p(theta), up to a constant; ``log_likelihood``, ``start``,
    ``bounds``, ``solver``, ``n_starts`` and ``random_state`` are as in ``maximum_likelihood``.

    >>> from pellucid.inference import maximum_a_posteriori
    >>> found = maximum_a_posteriori(
    ...     lambda t: -((t[0] - 4.0) ** 2), [0.0], log_prior=lambda t: -(t[0] ** 2)
    ... )
    >>> found.estimate.round(6)
    array([2.])
    """

    def value(t: Array) -> float:
        prior = float(log_prior(t))
        return prior + float(log_likelihood(t)) if prior > -np.inf else -np.inf

    return _maximise(value, start, "MAP", Search(bounds, solver, n_starts, random_state))


@dataclass(frozen=True, eq=False)
class EstimateTable:
    """MLE, MAP and posterior mean against the number of observations."""

    n: IntArray
    mle: Array
    map: Array
    mean: Array

    def __str__(self) -> str:
        rows = list(zip(self.n, self.mle, self.map, self.mean, strict=True))
        gap = float(np.max(np.abs(np.asarray(self.map[-1]) - np.asarray(self.mle[-1]))))
        table = text_table(("n", "MLE", "MAP", "posterior mean"), rows)
        return f"{table}\nAt n = {self.n[-1]} the prior moves the mode by {gap:.3g}."


def compare_estimates(
    belief: Any, data: ArrayLike | None, n: int | Sequence[int] | None = None
) -> EstimateTable:
    """MLE, MAP and posterior mean of a conjugate belief, as data come in.

    ``belief`` is the prior; it must know ``maximum_likelihood`` (BetaBernoulli,
    DirichletCategorical, NormalMean, GammaPoisson). ``data`` are in order of arrival, ``n`` is how
    many of them; None: all powers of two and all.

    >>> from pellucid.inference import BetaBernoulli, compare_estimates
    >>> table = compare_estimates(BetaBernoulli(5, 5), [1] * 7 + [0] * 3, n=(10,))
    >>> table.mle, table.map.round(4), table.mean
    (array([0.7]), array([0.6111]), array([0.6]))
    """
    data = np.asarray(data)
    if n is None:
        n = sorted({*(2**k for k in range(len(data).bit_length())), len(data)})
    sizes = np.atleast_1d(np.asarray(n, dtype=np.intp))
    if not ((sizes >= 1) & (sizes <= len(data))).all():
        raise ValueError(f"n must be between 1 and {len(data)}, got {sizes.tolist()}")
    rows = []
    for size in sizes.tolist():
        after = belief.update(data[:size])
        rows.append((belief.maximum_likelihood(data[:size]), after.mode, after.mean))
    mle, mode, mean = (np.array([row[i] for row in rows]) for i in range(3))
    return EstimateTable(sizes, mle, mode, mean)

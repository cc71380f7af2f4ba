r"""Cores of the smoothing spline: pooling, one fit, the search for alpha, evaluation.

x is measured in mean gaps, where alpha becomes alpha / unit^3; rows with the same x are pooled into
one knot of their total weight, whose scatter only adds to RSS. The kernels are those of
``kernels.py``.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import map_threads
from pellucid.linear.splines import kernels as spline_filter

STEP = np.log(4.0)  # of the scan: a dip of the criterion is wider than this in log alpha
SMALLEST = 1e-300  # cube of the distance between inputs; 1e300 the largest
SAME = 1e-30  # knots closer than this share of the mean gap count as one


class Knots(NamedTuple):
    """The distinct x, and the rows pooled there; x is measured in mean gaps from the first."""

    x: Array  # (m,) as given
    gap: Array  # (m - 1,) in units of ``unit``
    unit: float
    y: Array  # (m,) weighted means
    w: Array  # (m,) sums of weights
    ss: Array  # (m,) weighted squares of the rows about the mean of their knot

    @property
    def weight(self) -> float:
        return float(self.w.sum())


class SplineFit(NamedTuple):
    """A smoothing spline at its knots."""

    value: Array  # (m,) f
    slope: Array  # (m,) f'
    curvature: Array  # (m,) f''
    rss: float
    df: float
    gcv: float
    loocv: float


class Search(NamedTuple):
    """The alphas tried, rising, and the criterion of each."""

    alpha: float
    alphas: Array
    criterion: Array


def pool(x: Array, y: Array, w: Array) -> Knots:
    """Sort the rows and pool those with the same x; rows of weight 0 are left out.

    >>> pool(np.array([1.0, 0.0, 1.0]), np.array([2.0, 5.0, 4.0]), np.ones(3)).y
    array([5., 3.])
    """
    if not (w > 0).all():
        x, y, w = x[w > 0], y[w > 0], w[w > 0]
    if (np.diff(x) < 0).any():
        order = np.argsort(x, kind="stable")
        x, y, w = x[order], y[order], w[order]
    span = x[-1] - x[0]
    first = np.append(True, np.diff(x) > SAME * span / len(x))
    if first.all():
        start, ss, W, mean = np.arange(len(x)), np.zeros(len(x)), np.array(w), np.array(y)
    else:
        start = np.flatnonzero(first)
        W = np.add.reduceat(w, start)
        group = np.cumsum(first) - 1
        anchor = y[start]
        mean = anchor + np.add.reduceat(w * (y - anchor[group]), start) / W
        ss = np.add.reduceat(w * (y - mean[group]) ** 2, start)
    knots = x[start]
    unit = span / (len(knots) - 1) if len(knots) > 1 else 1.0
    with np.errstate(over="ignore", under="ignore"):
        cube = np.float64(unit) ** 3
    if not SMALLEST <= cube <= 1 / SMALLEST:
        what = f"the inputs are {unit:.3g} apart, whose cube (the unit of alpha) leaves the range"
        raise ValueError(f"{what} of numbers: measure X in another unit")
    return Knots(np.ascontiguousarray(knots), np.diff(knots) / unit, float(unit), mean, W, ss)


def noise(knots: Knots, alpha: float) -> tuple[Array, float]:
    """(rho / w, q) with rho / q = alpha in the units of the gaps, neither above 1."""
    scaled = alpha / knots.unit**3
    rho, q = (scaled, 1.0) if scaled <= 1 else (1.0, 1 / scaled)
    return rho / knots.w, q


def sums(knots: Knots, alpha: float, out: Array) -> tuple[float, float, float, float]:
    """(RSS, tr H, n - tr H, leave-one-out mean square); ``out`` as in the kernel."""
    r, q = noise(knots, alpha)
    rss, df, free, loo = spline_filter.smooth(knots.gap, r, knots.y, knots.w, knots.ss, q, out)
    n = knots.weight
    return rss + knots.ss.sum(), df, free + (n - len(knots.y)), loo / n


def criterion(knots: Knots, alpha: float, rule: str) -> float:
    """GCV or the leave-one-out mean square at one alpha."""
    rss, _, free, loo = sums(knots, alpha, np.zeros((0, 4)))
    if rule == "loo":
        return loo
    n = knots.weight
    return rss / n / (free / n) ** 2 if free > 0 else np.inf


def fit_spline(knots: Knots, alpha: float) -> SplineFit:
    """The smoothing spline of one alpha, 0 and inf included; three knots or more."""
    base, slope = weighted_line(knots)  # of what remains, the digits are smaller
    t = np.append(0.0, np.cumsum(knots.gap))
    rest = knots._replace(y=knots.y - (base + slope * t))
    out = np.empty((len(knots.y), 4))
    rss, df, free, loo = sums(rest, alpha, out)
    n = knots.weight
    gcv = rss / n / (free / n) ** 2 if free > 0 else np.nan
    values, slopes = knots.y - out[:, 0], (out[:, 2] + slope) / knots.unit
    loo = loo if np.isfinite(loo) else np.nan
    return SplineFit(values, slopes, out[:, 3] / knots.unit**2, rss, df, gcv, loo)


def weighted_line(knots: Knots) -> tuple[float, float]:
    """The least-squares line through the knots, in mean gaps from the first knot."""
    t = np.append(0.0, np.cumsum(knots.gap))
    n = knots.weight
    middle, mean = knots.w @ t / n, knots.w @ knots.y / n
    slope = knots.w @ ((t - middle) * (knots.y - mean)) / (knots.w @ (t - middle) ** 2)
    return float(mean - slope * middle), float(slope)


def search(knots: Knots, rule: str) -> Search:
    """The alpha of least criterion over the whole range from the line to interpolation."""
    base, slope = weighted_line(knots)
    t = np.append(0.0, np.cumsum(knots.gap))
    knots = knots._replace(y=knots.y - (base + slope * t))

    def value(log_alpha: float) -> float:
        return criterion(knots, float(np.exp(log_alpha)), rule)

    low, high = bounds(knots)
    grid = np.linspace(low, high, max(2, int(np.ceil((high - low) / STEP))) + 1)
    scores = np.array(list(map_threads(value, grid)))
    ends = [(np.inf, criterion(knots, np.inf, rule))]
    if knots.weight > len(knots.y):  # with repeated x even interpolation leaves residuals
        ends.append((0.0, criterion(knots, 0.0, rule)))
    near = [scores[max(0, j - 1) : j + 2].min() for j in range(len(grid))]
    dips = np.flatnonzero((scores == near) & np.isfinite(scores)).tolist()
    least = min((scores[j] for j in dips), default=np.inf)
    worth = [j for j in dips if scores[j] <= 1.5 * least]  # the grid misses little of a dip's depth

    def refine(j: int) -> tuple[float, float]:
        around = (grid[max(0, j - 1)], grid[min(len(grid) - 1, j + 1)])
        found = minimize_scalar(value, bounds=around, method="bounded", options={"xatol": 1e-6})
        better = found.fun < scores[j]
        return (float(np.exp(found.x if better else grid[j])), min(found.fun, scores[j]))

    tried = [*zip(np.exp(grid).tolist(), scores.tolist(), strict=True), *ends]
    tried += list(map_threads(refine, worth))
    tried.sort()
    alphas, values = np.array([a for a, _ in tried]), np.array([v for _, v in tried])
    least = values.min()
    if not np.isfinite(least):
        why = "every fit leaves fewer observations (sum of weights) than degrees of freedom"
        what = f"{rule!r} cannot judge any alpha for these weights"
        raise ValueError(f"{what}: {why}; give alpha or df")
    ties = np.flatnonzero(values <= least + 1e-12 * abs(least) + 1e-300)
    return Search(float(alphas[ties[-1]]), alphas, values)  # of equals, the smoothest


def bounds(knots: Knots) -> tuple[float, float]:
    """log alpha between which df runs from 2 to the number of knots, but for a trace."""
    m, none = len(knots.y), np.zeros((0, 4))
    centre = 3 * np.log(knots.unit) + np.log(knots.weight / m)

    def room(log_alpha: float) -> tuple[float, float]:  # df - 2, m - df
        _, df, free, _ = sums(knots, float(np.exp(log_alpha)), none)
        return df - 2, free - (knots.weight - m)

    high = reach(centre, +6 * STEP, lambda at: room(at)[0] < 1e-3)
    low = reach(centre, -3 * STEP, lambda at: room(at)[1] < 1e-5 * m)
    return low, high


def reach(start: float, step: float, there: Callable[[float], bool]) -> float:
    """Walk from ``start`` in ``step`` until ``there``, or log alpha leaves +-600."""
    at = start
    while not there(at) and abs(at + step) < 600:
        at += step
    return at


def alpha_of_df(knots: Knots, df: float) -> float:
    """The alpha with tr H = df, 2 < df <= number of knots."""
    m, none = len(knots.y), np.zeros((0, 4))
    if df == m:
        return 0.0

    def excess(log_alpha: float) -> float:  # of tr H - 2 over what is asked, on a log scale
        _, found, free, _ = sums(knots, float(np.exp(log_alpha)), none)
        left = free - (knots.weight - m)  # m - tr H without cancellation
        return np.log(max(found - 2, 1e-300) / (df - 2)) - np.log(max(left, 1e-300) / (m - df))

    centre = 3 * np.log(knots.unit)
    up = reach(centre, 6 * STEP, lambda at: excess(at) < 0)
    down = reach(centre, -6 * STEP, lambda at: excess(at) > 0)
    return float(np.exp(brentq(excess, down, up, xtol=1e-13, rtol=1e-14)))


def evaluate(x: Array, fit: tuple[Array, Array, Array], query: Array, derivative: int) -> Array:
    """f or a derivative at the queries; a straight line outside the knots.

    >>> line = np.array([0.0, 2.0]), np.array([2.0, 2.0]), np.zeros(2)
    >>> evaluate(np.array([0.0, 1.0]), line, np.array([-1.0, 0.5, 3.0]), 0)
    array([-2.,  1.,  6.])
    """
    f, slope, curvature = fit
    i = np.clip(np.searchsorted(x, query, side="right") - 1, 0, max(len(x) - 2, 0))
    if len(x) == 1:
        return [f[i] + slope[i] * (query - x[0]), slope[i], 0 * query, 0 * query][derivative]
    h, t = x[i + 1] - x[i], query - x[i]
    third = (curvature[i + 1] - curvature[i]) / h
    left, right = query < x[0], query > x[-1]
    if derivative == 0:  # the chord, and what the curvature takes off it
        s = t / h
        bend = curvature[i] * (2 - s) + curvature[i + 1] * (1 + s)
        inside = f[i] + s * (f[i + 1] - f[i]) - t * (x[i + 1] - query) * bend / 6
        inside = np.where(left, f[0] + slope[0] * (query - x[0]), inside)
        return np.where(right, f[-1] + slope[-1] * (query - x[-1]), inside)
    if derivative == 1:
        inside = slope[i] + t * (curvature[i] + t * third / 2)
        return np.where(left, slope[0], np.where(right, slope[-1], inside))
    inside = curvature[i] + t * third if derivative == 2 else third
    return np.where(left | right, 0.0, inside)


def kernel_matrix(x: Array, w: Array, alpha: float) -> Array:
    """H W^-1 at the knots: one fit per unit vector."""
    m = len(x)
    if m == 1:
        return np.full((1, 1), 1 / w[0])
    unit = float(x[-1] - x[0]) / (m - 1)
    if m == 2:
        return np.diag(1 / w)
    knots = Knots(x, np.diff(x) / unit, unit, np.zeros(m), w, np.zeros(m))
    r, q = noise(knots, alpha)

    def column(j: int) -> Array:
        e, out = np.zeros(m), np.empty((m, 4))
        e[j] = 1.0
        spline_filter.smooth(knots.gap, r, e, w, knots.ss, q, out)
        return (e - out[:, 0]) / w[j]

    H = np.array(list(map_threads(column, range(m))))
    return (H + H.T) / 2

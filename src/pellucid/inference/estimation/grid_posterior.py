r"""A posterior on a grid: exact up to the grid, for 1 to 4 unknowns.

    Z = integral g ~ sum_i w_i g(t_i),    w the product of trapezoid weights (h/2, h, ..., h, h/2)
    p_i = w_i g(t_i) / Z                  everything else is a weighted sum

in logarithms, so g may be as small as it likes. For smooth densities that vanish at the borders
the trapezoid rule converges faster than any power of h. Mass at the border is a sign that the
grid is too small: it is reported.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.inference.sampling.walks import refuse_shape

MOST_POINTS = 20_000_000
BORDER = 1e-3  # share of the mass at the border that is reported
ROWS = 262_144  # points evaluated at a time
HALVINGS = 60  # of a cell


class GridMarginal(NamedTuple):
    """The density of one coordinate at the grid's points.

    >>> law = GridMarginal(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0]))
    >>> law.quantile(0.5), law.mean
    (1.0, 1.0)
    """

    values: Array
    density: Array

    @property
    def _mass(self) -> Array:
        return self.density * trapezoid(self.values)

    @property
    def mean(self) -> float:
        return float(self._mass @ self.values)

    @property
    def variance(self) -> float:
        return float(self._mass @ (self.values - self.mean) ** 2)

    def _integral(self) -> Any:
        """The integral of a curve through the points that nowhere turns below zero."""
        from scipy.interpolate import PchipInterpolator

        return PchipInterpolator(self.values, self.density).antiderivative()

    def cdf(self, x: ArrayLike) -> Any:
        """P(coordinate <= x)."""
        F = self._integral()
        inside = np.clip(np.asarray(x, dtype=np.float64), self.values[0], self.values[-1])
        return np.clip(F(inside) / F(self.values[-1]), 0.0, 1.0)

    def quantile(self, q: ArrayLike) -> Any:
        """The inverse of ``cdf``, by halving within the cell."""
        F, wanted = self._integral(), np.atleast_1d(np.asarray(q, dtype=np.float64))
        wanted = wanted * F(self.values[-1])
        i = np.clip(np.searchsorted(F(self.values), wanted), 1, len(self.values) - 1)
        low, high = self.values[i - 1], self.values[i]
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            enough = F(middle) >= wanted
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return float(high[0]) if np.ndim(q) == 0 else high.reshape(np.shape(q))

    def interval(self, confidence: float = 0.95) -> Array:
        check.fraction(confidence=confidence)
        return self.quantile(np.array([1 - confidence, 1 + confidence]) / 2)


def trapezoid(values: Array) -> Array:
    """Weights of the trapezoid rule."""
    h = np.diff(values)
    return (np.append(h, 0.0) + np.append(0.0, h)) / 2


class GridPosterior:
    """A density known up to a factor, summed over a grid.

    Parameters
    ----------
    log_density : callable
        theta (d,) -> log g(theta); with ``vectorized`` rows (m, d) to values (m,).
    low, high : float or array of shape (d,)
        The corners of the grid, d <= 4.
    n_points : int or sequence of int, default=201
        Points per axis.
    vectorized : bool, default=False
        Whether ``log_density`` takes many points at once.

    Attributes
    ----------
    log_evidence : float
        log of the integral of g.
    mean, cov, map : ndarray
        Mean, covariance and the point of largest density.
    axes : list of ndarray
    probability : ndarray of shape (n_points, ...)
        The mass of each point.

    Examples
    --------
    >>> from pellucid.inference import GridPosterior
    >>> grid = GridPosterior(lambda t: -0.5 * float(t @ t), -8.0, 8.0)
    >>> round(grid.log_evidence, 6), grid.interval(0).round(3)  # log sqrt(2 pi)
    (0.918939, array([-1.96,  1.96]))
    """

    def __init__(
        self,
        log_density: Callable[[Any], Any],
        low: ArrayLike,
        high: ArrayLike,
        n_points: int | Sequence[int] = 201,
        vectorized: bool = False,
    ) -> None:
        check.boolean(vectorized=vectorized)
        self.axes = make_axes(low, high, n_points)
        shape = tuple(len(axis) for axis in self.axes)
        values = evaluate(log_density, self.axes, vectorized).reshape(shape)
        each = np.ix_(*(np.log(trapezoid(axis)) for axis in self.axes))
        for weights in each:
            values = values + weights
        self.log_evidence = float(logsumexp(values))
        if self.log_evidence == -np.inf:
            raise ValueError("the density is zero at every point of the grid")
        unweighted = reduce(np.subtract, each, values)
        self._peak = np.unravel_index(int(np.argmax(unweighted)), shape)
        self.probability = np.exp(values - self.log_evidence)
        self._warn_of_borders()

    def _warn_of_borders(self) -> None:
        inner = self.probability[tuple(slice(1, -1) for _ in self.axes)].sum()
        if 1 - inner > BORDER:
            warn(f"{1 - inner:.3g} of the mass touches the border of the grid: widen low and high")

    def __repr__(self) -> str:
        shape = " x ".join(str(len(axis)) for axis in self.axes)
        return f"GridPosterior({shape} points, log evidence {self.log_evidence:.6g})"

    def __str__(self) -> str:
        lines = [repr(self)]
        for i, (mean, top) in enumerate(zip(self.mean, self.map, strict=True)):
            low, high = self.interval(i)
            inside = f"95 % between {low:.4g} and {high:.4g}"
            lines.append(f"coordinate {i}: mean {mean:.4g}, {inside}, highest at {top:.4g}")
        return "\n".join(lines)

    @property
    def map(self) -> Array:
        return np.array([axis[i] for axis, i in zip(self.axes, self._peak, strict=True)])

    def _mass(self, *kept: int) -> Array:
        others = tuple(k for k in range(len(self.axes)) if k not in kept)
        return self.probability.sum(axis=others)

    @property
    def mean(self) -> Array:
        return np.array([self._mass(k) @ axis for k, axis in enumerate(self.axes)])

    @property
    def cov(self) -> Array:
        d, mean = len(self.axes), self.mean
        C = np.empty((d, d))
        for i in range(d):
            a = self.axes[i] - mean[i]
            C[i, i] = self._mass(i) @ (a * a)
            for j in range(i):
                C[i, j] = C[j, i] = (self.axes[j] - mean[j]) @ self._mass(j, i) @ a
        return C

    def marginal(self, i: int) -> GridMarginal:
        """The density of coordinate i, the others integrated out."""
        i = range(len(self.axes))[i]
        return GridMarginal(self.axes[i], self._mass(i) / trapezoid(self.axes[i]))

    def interval(self, i: int = 0, confidence: float = 0.95) -> Array:
        """The central interval of coordinate i."""
        return self.marginal(i).interval(confidence)

    def expect(self, h: Callable[[Array], Any]) -> Any:
        """E h(theta), summed over the points of noticeable mass."""
        mass = self.probability.reshape(-1)
        kept = np.flatnonzero(mass > 1e-16 * mass.max())
        points = np.stack(np.unravel_index(kept, self.probability.shape), axis=1)
        rows = np.stack([axis[points[:, k]] for k, axis in enumerate(self.axes)], axis=1)
        pairs = zip(mass[kept], rows, strict=True)
        total = sum(m * np.asarray(h(row), dtype=np.float64) for m, row in pairs)
        return float(total) if np.ndim(total) == 0 else total

    def sample(self, n: int = 1, random_state: Seed = None) -> Array:
        """Draws (n, d): a point of the grid, moved within its cell by a triangular density."""
        check.whole(n=n)
        rng = generator(random_state)
        flat = self.probability.reshape(-1)
        chosen = rng.choice(len(flat), size=n, p=flat / flat.sum())
        index = np.unravel_index(chosen, self.probability.shape)
        draws = np.empty((n, len(self.axes)))
        for k, axis in enumerate(self.axes):
            h = axis[1] - axis[0]
            move = h * (rng.random(n) - rng.random(n))  # keeps the mean; linear between points
            moved = axis[index[k]] + move
            draws[:, k] = np.where(moved < axis[0], 2 * axis[0] - moved, moved)
            draws[:, k] = np.where(draws[:, k] > axis[-1], 2 * axis[-1] - draws[:, k], draws[:, k])
        return draws


def make_axes(low: ArrayLike, high: ArrayLike, n_points: int | Sequence[int]) -> list[Array]:
    """One axis per coordinate; too many points are refused before any are made."""
    low, high = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, float)) for v in (low, high)))
    if low.ndim != 1 or not 1 <= len(low) <= 4:
        raise ValueError(f"a grid has 1 to 4 dimensions, got low and high of shape {low.shape}")
    if not (np.isfinite(low) & np.isfinite(high) & (low < high)).all():
        raise ValueError(f"low must be < high, both finite, got {low.tolist()}, {high.tolist()}")
    counts = np.broadcast_to(np.asarray(n_points), low.shape).tolist()
    for count in counts:
        check.whole(at_least=3, n_points=count)
    total = float(np.prod(np.array(counts, dtype=np.float64)))
    if total > MOST_POINTS:
        points = f"{total:.3g} points, at most {MOST_POINTS:.3g} are allowed"
        raise ValueError(f"the grid has {points}; fewer n_points, or metropolis_hastings")
    return [np.linspace(a, b, k) for a, b, k in zip(low, high, counts, strict=True)]


def evaluate(log_density: Callable[[Any], Any], axes: list[Array], vectorized: bool) -> Array:
    """log g at every point, in blocks of rows."""
    shape = tuple(len(axis) for axis in axes)
    out = np.empty(int(np.prod(shape)))
    if not vectorized:
        for i, point in enumerate(product(*axes)):
            out[i] = float(log_density(np.array(point)))
    for start in range(0, len(out) if vectorized else 0, ROWS):
        index = np.unravel_index(np.arange(start, min(start + ROWS, len(out))), shape)
        rows = np.stack([axis[i] for axis, i in zip(axes, index, strict=True)], axis=1)
        values = np.asarray(log_density(rows), dtype=np.float64)
        refuse_shape(values, rows)
        out[start : start + len(rows)] = values
    if np.isnan(out).any() or (out == np.inf).any():
        raise ValueError("log_density must be below infinity and not NaN on the grid")
    return out

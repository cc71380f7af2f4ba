r"""What a likelihood needs to know of a sample, in forms that can be merged.

    Sums       n and sums of functions of x: exponential families.       merge: add
    Moments    n, mean, sum (x - mean)^2: Welford's pair.                merge: Chan et al.
    Extremes   n, least and largest value: the uniform distribution.     merge: least, largest
    Counts     how often each label occurs.                              merge: add by label
    Sample     the values themselves, where no shorter summary exists.   merge: join

Weights are numbers of repetitions.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike


class Sample(NamedTuple):
    """Values with their weights."""

    x: Array
    w: Array

    @property
    def n(self) -> float:
        return float(self.w.sum())

    def merge(self, other: Self) -> "Sample":
        return Sample(np.concatenate([self.x, other.x]), np.concatenate([self.w, other.w]))


@dataclass(frozen=True, eq=False)
class Sums:
    """n and the sums of the sufficient functions; ``base`` is the sum of log h(x)."""

    n: float
    values: Array
    base: float = 0.0
    trials: int = 0  # of a binomial or multinomial: known, not estimated

    def merge(self, other: Self) -> "Sums":
        if self.trials != other.trials:
            raise ValueError(f"cannot merge counts of {self.trials} and {other.trials} trials")
        values, base = self.values + other.values, self.base + other.base
        return Sums(self.n + other.n, values, base, self.trials)


class Moments(NamedTuple):
    """n, mean and the sum of squared distances from it."""

    n: float
    mean: float
    scatter: float

    def merge(self, other: Self) -> "Moments":
        n, gap = self.n + other.n, other.mean - self.mean
        scatter = self.scatter + other.scatter + gap * gap * self.n * other.n / n
        return Moments(n, self.mean + gap * other.n / n, scatter)


class Extremes(NamedTuple):
    """n, the least and the largest value."""

    n: float
    low: float
    high: float

    def merge(self, other: Self) -> "Extremes":
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Extremes(self.n + other.n, low, high)


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each label occurs."""

    labels: tuple[Any, ...]
    values: Array

    @property
    def n(self) -> float:
        return float(self.values.sum())

    def merge(self, other: Self) -> "Counts":
        extra = tuple(label for label in other.labels if label not in self.labels)
        total = dict.fromkeys(self.labels + extra, 0.0)
        for part in (self, other):
            for label, count in zip(part.labels, part.values, strict=True):
                total[label] += float(count)
        return Counts(tuple(total), np.array(list(total.values())))


def dot(w: Array, values: Array) -> float:
    """sum w_i v_i in one fixed order, whatever the number of threads."""
    return float((w * values).sum())


def weights_of(n: int, sample_weight: ArrayLike | None) -> Array:
    """One weight >= 0 for each of n values, not all zero."""
    if n == 0:
        raise ValueError("the sample is empty")
    if sample_weight is None:
        return np.ones(n)
    w = np.asarray(sample_weight, dtype=np.float64)
    if w.shape != (n,) or not (np.isfinite(w) & (w >= 0)).all() or not w.sum() > 0:
        need = f"{n} finite numbers >= 0, not all zero"
        raise ValueError(f"sample_weight must be {need}, got shape {w.shape}")
    return w


def sample_of(x: ArrayLike, sample_weight: Any = None) -> Sample:
    """Finite numbers and weights above zero; raises ValueError otherwise.

    >>> sample_of([1, 2, 3], [1, 0, 2])
    Sample(x=array([1., 3.]), w=array([1., 2.]))
    """
    values = np.asarray(x, dtype=np.float64)
    values = values.reshape(-1) if values.ndim <= 1 or 1 in values.shape else values
    if values.ndim != 1:
        raise ValueError(f"x must be a sample of numbers, got shape {values.shape}")
    return _kept(values, sample_weight)


def rows_of(x: ArrayLike, sample_weight: Any = None) -> Sample:
    """The same for a sample of vectors, (n, d)."""
    values = np.atleast_2d(np.asarray(x, dtype=np.float64))
    if values.ndim != 2:
        raise ValueError(f"x must be a sample of vectors, got shape {values.shape}")
    return _kept(values, sample_weight)


def _kept(values: Array, sample_weight: ArrayLike) -> Sample:
    w = weights_of(len(values), sample_weight)
    kept = w > 0
    if not kept.all():
        values, w = values[kept], w[kept]
    if not np.isfinite(values).all():
        raise ValueError("x must be finite numbers, got NaN or infinity")
    return Sample(values, w)


def refuse_outside(x: Array, bad: Any, need: str) -> None:
    """Raise ValueError for values that a family cannot have produced."""
    if np.any(bad):
        raise ValueError(f"{need}, got {np.ravel(x[bad])[0]:g}")


def refuse_constant(spread: float, centre: float, n: float, family: str) -> None:
    """Raise ValueError for a sample that does not vary: the likelihood has no maximum."""
    if not spread > 1e-15 * max(abs(centre), 1e-300):
        limit = "grows without bound as the spread goes to 0"
        same = f"n = {n:g}, all values {centre:g}"
        raise ValueError(f"x does not vary ({same}): the {family} likelihood {limit}")

r"""A number with its uncertainty, and tables of them; intervals of a share and of a mean.

    wilson     (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)
    exact      Clopper-Pearson: quantiles of Beta(s, n-s+1) and Beta(s+1, n-s)
    normal     p -+ z sqrt(p(1-p)/n)
    hoeffding  p -+ sqrt(ln(2/alpha) / 2n), true for every n
    mean       Student t with n - 1 degrees of freedom, s / sqrt n

References: Wilson (1927); Clopper & Pearson (1934); Hoeffding (1963); Brown, Cai, DasGupta (2001).
"""

import math
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, NamedTuple

import numpy as np
import scipy

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.core.records import html_table, plain, show, text_table
from pellucid.evaluation.metrics.metrics import warn_undefined
from pellucid.evaluation.metrics.prepared import numbers

FLAT = 1e-12  # a width that is only rounding
PROPORTION_METHODS = ("wilson", "exact", "normal", "hoeffding")


@readable
class Interval(NamedTuple):
    """An estimate with the limits between which the true value lies, as far as the data say.

    ``method`` names how the limits were found, ``n`` is the number of examples behind them.

    >>> print(Interval(0.68, 0.583, 0.763, 0.0466, "wilson", 100))
    0.68 (95 % interval 0.583 to 0.763; wilson, n = 100)
    """

    estimate: float  # the number itself
    low: float  # lower limit
    high: float  # upper limit
    standard_error: float  # of the estimate
    method: str
    n: float
    confidence: float = 0.95  # of the limits

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        if math.isnan(self.estimate):
            return f"undefined (n = {show(self.n)})"
        if math.isnan(self.low):
            return f"{self.estimate:.4g} (no interval: {self.method}, n = {show(self.n)})"
        limits = f"{100 * self.confidence:g} % interval {self.low:.4g} to {self.high:.4g}"
        short = "; too short for few rows and near 0 or 1" if self.method == "normal" else ""
        if self.low == self.high and self.n > 0:
            short += f"; {not_certain(self.n, self.confidence)}"
        return f"{self.estimate:.4g} ({limits}; {self.method}, n = {show(self.n)}{short})"


def not_certain(n: float, confidence: float) -> str:
    """What a width of 0 leaves open: no example differed, others still may.

    >>> not_certain(20, 0.95)
    'no example differs, which is no certainty: up to 17 % of others may'
    """
    share = 1 - ((1 - confidence) / 2) ** (1 / n)
    return f"no example differs, which is no certainty: up to {100 * share:.2g} % of others may"


def counted(total: float) -> float:
    """A number of rows or a sum of weights, as an int where it is whole."""
    return int(total) if float(total).is_integer() else float(total)


def n_times(found: Interval, n: float) -> Interval:
    """The interval of n times the number."""
    estimate, low, high, error = (value * n for value in found[:4])
    return found._replace(estimate=estimate, low=low, high=high, standard_error=error)


class MetricTable(Mapping[str, Interval]):
    """A read-only mapping from the name of a metric to its ``Interval``.

    Parameters
    ----------
    intervals : dict
        Name -> Interval.
    notes : tuple of str
        Sentences below the table.

    >>> table = MetricTable({"accuracy": proportion_interval(68, 100)})
    >>> table["accuracy"].estimate, list(table), table.accuracy.n
    (0.68, ['accuracy'], 100)
    >>> print(table)
    metric    estimate       low      high  standard_error  method    n
    accuracy      0.68  0.583374  0.763309       0.0466476  wilson  100
    """

    def __init__(self, intervals: Mapping[str, Interval], notes: tuple[str, ...] = ()) -> None:
        object.__setattr__(self, "_intervals", dict(intervals))
        object.__setattr__(self, "notes", tuple(notes))

    _intervals: dict[str, Interval]
    notes: tuple[str, ...]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is read-only")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __getitem__(self, name: str) -> Interval:
        if name not in self._intervals:
            raise KeyError(f"{name!r} is not in the table{check.hint(name, list(self))}")
        return self._intervals[name]

    def __getattr__(self, name: str) -> Interval:
        intervals = self.__dict__.get("_intervals", {})
        if name in intervals:
            return intervals[name]
        raise AttributeError(f"the table has no metric {name!r}{check.hint(name, intervals)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._intervals)

    def __len__(self) -> int:
        return len(self._intervals)

    def __hash__(self) -> int:
        return hash(tuple(self._intervals.items()))

    columns = ("metric", "estimate", "low", "high", "standard_error", "method", "n")

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return [(name, *interval[:6]) for name, interval in self.items()]

    def to_dict(self) -> dict[str, Any]:
        """Name -> interval as plain numbers, ready for JSON."""
        return {name: interval.to_dict() for name, interval in self.items()}

    def to_frame(self) -> Any:
        """The table as a polars frame, one row per metric."""
        import polars

        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        kinds = {"metric": polars.String, "method": polars.String}
        schema = {name: kinds.get(name, polars.Float64) for name in self.columns}
        data = {
            name: [float(v) for v in values] if schema[name] == polars.Float64 else list(values)
            for name, values in zip(self.columns, columns, strict=True)
        }
        return polars.DataFrame(data, schema=schema)

    def __str__(self) -> str:
        lines = [text_table(self.columns, self.rows)]
        return "\n".join([*lines, *(f"- {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return html_table(self.columns, self.rows) + (f"<ul>{notes}</ul>" if notes else "")


def proportion_interval(
    successes: float, n: float, *, confidence: float = 0.95, method: str = "wilson"
) -> Interval:
    """The interval of a share of ``n`` examples, within [0, 1].

    ``0 <= successes <= n`` and n > 0; sums of weights are welcome. ``confidence`` is that of the
    limits. ``method`` is "wilson", "exact" (Clopper and Pearson's), "normal" or "hoeffding", which
    promises its confidence for every n.

    >>> share = proportion_interval(68, 100)
    >>> round(share.low, 6), round(share.high, 6)
    (0.583374, 0.763309)
    """
    check.fraction(confidence=confidence)
    check.one_of(PROPORTION_METHODS, method=method)
    check.positive(n=n)
    check.non_negative(successes=successes)
    if successes > n:
        raise ValueError(f"successes must be at most n = {n!r}, got {successes!r}")
    s, p, alpha = float(successes), float(successes) / float(n), 1 - confidence
    error = math.sqrt(p * (1 - p) / n)
    if method == "exact":
        low = float(scipy.special.betaincinv(s, n - s + 1, alpha / 2)) if s > 0 else 0.0
        high = float(scipy.special.betaincinv(s + 1, n - s, 1 - alpha / 2)) if s < n else 1.0
    elif method == "hoeffding":
        gap = math.sqrt(math.log(2 / alpha) / (2 * n))
        low, high = p - gap, p + gap
    else:
        z = float(scipy.special.ndtri(1 - alpha / 2))
        low, high = wilson_limits(p, n, z) if method == "wilson" else (p - z * error, p + z * error)
    return Interval(p, max(0.0, float(low)), min(1.0, float(high)), error, method, n, confidence)


def wilson_limits(p: float | Array, n: float | Array, z: float) -> tuple[Any, Any]:
    """Wilson's limits of a share p of n, or of arrays of them; exactly 0 and 1 at the ends."""
    shift = z * z / n
    centre = (p + shift / 2) / (1 + shift)
    half = z * np.sqrt(p * (1 - p) / n + shift / (4 * n)) / (1 + shift)
    return np.where(p == 0, 0.0, centre - half), np.where(p == 1, 1.0, centre + half)


SYMMETRIC = frozenset(("mcc", "kappa", "kendall_tau"))  # scores from -1 to 1
SHARES = SYMMETRIC | {
    *("average_precision", "pr_area", "balanced_accuracy", "f1", "f_beta", "precision", "recall"),
    *("specificity", "jaccard", "hamming", "ndcg", "mean_average_precision", "reciprocal_rank"),
    "pairwise_accuracy",
}  # scores with two ends, of which 0 (or -1) and 1 can be reached by luck


def with_room(name: str, found: Interval, units: float) -> Interval:
    """A perfect (or worst) score is not known exactly: Wilson's limits instead of a width of 0.

    No resample changes such a score. ``units`` are the examples that it rests on, those of the
    smallest class.

    >>> with_room("f1", Interval(1.0, 1.0, 1.0, 0.0, "bca", 100), 4).low.__round__(4)
    0.5101
    """
    base = re.sub("_(micro|macro|weighted)$", "", name)
    if base not in SHARES or not found.high - found.low <= FLAT or not units > 0:
        return found
    lowest = -1.0 if base in SYMMETRIC else 0.0
    share = (found.estimate - lowest) / (1 - lowest)
    if min(share, 1 - share) > FLAT:
        return found
    edge = proportion_interval(round(share) * units, units, confidence=found.confidence)
    low, high = (lowest + (1 - lowest) * end for end in (edge.low, edge.high))
    return found._replace(low=low, high=high, method="wilson")


def mean_interval(
    values: ArrayLike, *, confidence: float = 0.95, sample_weight: ArrayLike | None = None
) -> Interval:
    """Student's interval of a mean: mean -+ t s / sqrt n. One value alone has no interval.

    ``values`` are independent, ``sample_weight`` says how often each counts, ``confidence`` is that
    of the limits.

    >>> scores = mean_interval([0.90, 0.85, 0.88, 0.92, 0.87])
    >>> round(scores.estimate, 3), round(scores.low, 7), round(scores.high, 7)
    (0.884, 0.8504521, 0.9175479)
    """
    check.fraction(confidence=confidence)
    x = numbers(values, "values", ndim=1)
    if len(x) == 0:
        raise ValueError("values is empty: a mean needs at least one")
    w = np.ones(len(x)) if sample_weight is None else numbers(sample_weight, "sample_weight")
    n = float(w.sum())
    mean = float(w @ x / n)
    n = counted(n)
    if n <= 1:
        warn_undefined("the interval of a mean", "for one value")
        return Interval(mean, math.nan, math.nan, math.nan, "t", n, confidence)
    error = math.sqrt(float(w @ (x - mean) ** 2) / (n - 1) / n)
    gap = float(scipy.special.stdtrit(n - 1, (1 + confidence) / 2)) * error
    return Interval(mean, mean - gap, mean + gap, error, "t", n, confidence)

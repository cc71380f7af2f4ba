r"""Drift: are new rows like the rows the model was trained on?

A model keeps a sketch of every column it was trained on: the sorted numbers (or POINTS quantiles
of them), or the counts of the levels. New rows are compared with it column by column:

    numbers, dates   Kolmogorov-Smirnov   D = sup |F_new - F_old|,
                     P(sqrt(m) D > t) by Kolmogorov's law, sqrt(m) -> sqrt(m) + .12 + .11/sqrt(m)
                     (Stephens), m = n_new n_old / (n_new + n_old)
    levels           chi-squared of the two rows of counts, levels expected fewer than 5 times
                     pooled and, where that is not enough, compared with the others exactly
                     (Fisher);  D = half the summed differences of the shares
    missing cells    the same for the two shares of missing cells

A column with both tests counts the smaller p-value twice (Bonferroni); over the columns p-values
are Holm's. With many rows a difference of no importance is significant too: D says how large it is.

References: Fisher (1934); Kolmogorov (1933); Smirnov (1948); Stephens (1970); Holm (1979).
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import chdtrc, gammaln, kolmogorov

from pellucid.core.arrays.columns import frame_columns
from pellucid.core.arrays.typing import Array
from pellucid.core.records import plain
from pellucid.evaluation.hypotheses.multiple import adjust_p_values
from pellucid.study.checks.findings import finding
from pellucid.study.reading.cell_values import dates, levels, numbers
from pellucid.study.records import Finding

if TYPE_CHECKING:
    from pellucid.study.columns.table_features import TableFeatures

POINTS = 1000  # numbers kept of a column
MOST_LEVELS = 200  # counted one by one; the others together
LEAST_EXPECTED = 5.0  # of a level in the chi-squared test
OTHERS = "(others)"


class ColumnDrift(NamedTuple):
    """One column of the new rows against the training rows."""

    name: str
    kind: str
    missing_before: float  # share
    missing_now: float
    unseen: int  # cells with a level that training never saw
    outside: int  # numbers and dates beyond the training range
    distance: float  # D, from 0 to 1; nan where there is no test
    p_value: float  # nan where there is no test
    adjusted: float  # Holm over the columns
    test: str


class DriftReport(NamedTuple):
    """Every column, and the rows that hold a cell unlike the training rows."""

    columns: tuple[ColumnDrift, ...]
    n: int
    rows_unseen: int
    rows_outside: int
    alpha: float

    @property
    def drifted(self) -> tuple[str, ...]:
        """Columns whose distribution is not the one of training."""
        return tuple(c.name for c in self.columns if c.adjusted <= self.alpha)

    def findings(self) -> tuple[Finding, ...]:
        """PEL507 where rows lie outside of what was trained on."""
        where = tuple(c.name for c in self.columns if c.unseen or c.outside)
        if not where:
            return ()
        return (
            finding(
                "PEL507",
                where,
                rows=self.n,
                rows_with_unseen_levels=self.rows_unseen,
                rows_out_of_range=self.rows_outside,
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        return plain(
            self._asdict()
            | {
                "columns": [c._asdict() for c in self.columns],
                "drifted": self.drifted,
                "findings": [f.to_dict() for f in self.findings()],
            }
        )


def sketch_columns(frame: pl.DataFrame, kinds: dict[str, str]) -> dict[str, dict[str, Any]]:
    """What is kept of the training rows, as plain data for the model file.

    >>> frame = pl.DataFrame({"x": [3.0, None, 1.0], "c": ["b", "a", "b"]})
    >>> found = sketch_columns(frame, {"x": "number", "c": "category"})
    >>> found["x"]["points"].tolist(), found["x"]["missing"]
    ([1.0, 3.0], 1)
    >>> found["c"]["levels"]
    {'b': 2, 'a': 1}
    """
    columns = frame_columns(frame.select(list(kinds)))
    return {
        name: sketch(column, kind, name)
        for (name, kind), column in zip(kinds.items(), columns, strict=True)
    }


def sketch(column: np.ndarray, kind: str, name: str) -> dict[str, Any]:
    """Sorted numbers, or counts of levels; nothing but counts of cells for texts and lists."""
    if kind in ("number", "whole", "date"):
        x = moments(column, name) if kind == "date" else numbers(column, name)
        seen = np.sort(x[~np.isnan(x)])
        n, missing = len(seen), len(x) - len(seen)
        if n > POINTS:
            seen = np.quantile(seen, (np.arange(POINTS) + 0.5) / POINTS)
        return {"kind": kind, "n": n, "missing": missing, "points": seen}
    if kind in ("category", "truth"):
        found, codes = levels(column)
        counts = np.bincount(codes, minlength=len(found)).tolist()
        pairs = [(v, c) for v, c in zip(found, counts, strict=True) if v is not None]
        pairs.sort(key=lambda pair: (-pair[1], pair[0]))
        kept = dict(pairs[:MOST_LEVELS])
        rest = sum(c for _, c in pairs[MOST_LEVELS:])
        n = sum(c for _, c in pairs)
        return {"kind": kind, "n": n, "missing": len(codes) - n, "levels": kept, "rest": rest}
    return {"kind": kind, "n": 0, "missing": 0}


def moments(column: np.ndarray, name: str) -> Array:
    """Dates as microseconds since 1970; NaN where missing."""
    at = dates(column, name)
    return np.where(np.isnat(at), np.nan, at.astype(np.int64).astype(np.float64))


def drift_report(
    features: "TableFeatures",
    training: dict[str, dict[str, Any]],
    frame: pl.DataFrame,
    *,
    alpha: float = 0.05,
) -> DriftReport:
    """Compare new rows with the sketch of the training rows.

    Parameters
    ----------
    features : TableFeatures
        Fitted: it knows levels and ranges.
    training : dict
        What ``sketch_columns`` kept.
    frame : polars.DataFrame
        New rows, with the columns of the training table.
    alpha : float, default=0.05
        Level of the tests over all columns.
    """
    strange = features.drift(frame)
    columns = features.read(frame)
    found = []
    for j, (name, column) in enumerate(zip(strange.names, columns, strict=True)):
        old = training.get(name)
        kind = features.kinds_[j] if old is None else old["kind"]
        before = now = distance = p = float("nan")
        test = ""
        if old is not None and ("points" in old or "levels" in old):
            new = sketch_all(column, kind, name)
            before, now = missing_share(old), missing_share(new)
            distance, p, test = compare_columns(old, new)
        found.append(
            ColumnDrift(
                name,
                kind,
                before,
                now,
                strange.unseen[j],
                strange.outside[j],
                distance,
                p,
                float("nan"),
                test,
            )
        )
    return DriftReport(adjusted(found), strange.n, strange.rows_unseen, strange.rows_outside, alpha)


def sketch_all(column: np.ndarray, kind: str, name: str) -> dict[str, Any]:
    """The new rows: every number, every level."""
    if kind in ("category", "truth"):
        found, codes = levels(column)
        counts = np.bincount(codes, minlength=len(found)).tolist()
        known = {v: c for v, c in zip(found, counts, strict=True) if v is not None}
        n = sum(known.values())
        return {"kind": kind, "n": n, "missing": len(codes) - n, "levels": known, "rest": 0}
    x = moments(column, name) if kind == "date" else numbers(column, name)
    seen = np.sort(x[~np.isnan(x)])
    return {"kind": kind, "n": len(seen), "missing": len(x) - len(seen), "points": seen}


def adjusted(found: list[ColumnDrift]) -> tuple[ColumnDrift, ...]:
    """With Holm's p-values over the columns that were tested."""
    tested = [j for j, one in enumerate(found) if one.p_value == one.p_value]
    if tested:
        holm = adjust_p_values([found[j].p_value for j in tested])
        for j, p in zip(tested, holm.tolist(), strict=True):
            found[j] = found[j]._replace(adjusted=p)
    return tuple(found)


def missing_share(one: dict[str, Any]) -> float:
    total = one["n"] + one["missing"]
    return one["missing"] / total if total else 0.0


def compare_columns(old: dict[str, Any], new: dict[str, Any]) -> tuple[float, float, str]:
    """Distance, p-value and the name of the test."""
    distance, p, test = compare_levels(old, new) if "levels" in old else compare_numbers(old, new)
    if old["missing"] or new["missing"]:
        table = np.array([[one["n"], one["missing"]] for one in (old, new)], dtype=np.float64)
        gap, other = chi_squared(table)
        return max(distance, gap), min(1.0, 2 * min(p, other)), f"{test}; missing cells"
    return distance, p, test


def compare_numbers(old: dict[str, Any], new: dict[str, Any]) -> tuple[float, float, str]:
    """Kolmogorov and Smirnov's two samples.

    >>> one = {"points": np.arange(100.0), "n": 100}
    >>> compare_numbers(one, {"points": np.arange(50.0), "n": 50})[0]
    0.5
    """
    a, b = old["points"], new["points"]
    if not len(a) or not len(b):
        return float(len(a) != len(b)), 1.0, "Kolmogorov-Smirnov"
    at = np.union1d(a, b)
    F = np.searchsorted(a, at, side="right") / len(a)
    G = np.searchsorted(b, at, side="right") / len(b)
    distance = float(np.abs(F - G).max())
    rounded = 0.5 / len(a) if len(a) < old["n"] else 0.0  # a sketch knows F to half a step
    m = np.sqrt(old["n"] * len(b) / (old["n"] + len(b)))
    t = (m + 0.12 + 0.11 / m) * max(distance - rounded, 0.0)
    return distance, float(kolmogorov(t)), "Kolmogorov-Smirnov"


def compare_levels(old: dict[str, Any], new: dict[str, Any]) -> tuple[float, float, str]:
    """Chi-squared of the counts of the levels; unseen levels are levels too."""
    names = list(old["levels"])
    far = 0 if old["rest"] else 1  # levels beyond the sketch count as one with the rest of it
    names += [v for v in new["levels"] if v not in old["levels"]] if far else []
    table = np.array([[one["levels"].get(v, 0) for v in names] for one in (old, new)], float)
    if not far:
        inside = sum(new["levels"].get(v, 0) for v in names)
        table = np.column_stack([table, [old["rest"], new["n"] - inside]])
    return (*chi_squared(table), "chi-squared")


def chi_squared(table: Array) -> tuple[float, float]:
    """Total variation and p-value of two rows of counts; rare columns are pooled.

    Where even these are expected fewer than 5 times, they are compared with the others exactly
    (Fisher), and the smaller of both p-values counts twice (Bonferroni).

    >>> distance, p = chi_squared(np.array([[50.0, 50.0], [20.0, 80.0]]))
    >>> round(distance, 3), round(p, 8)
    (0.3, 8.69e-06)
    >>> round(chi_squared(np.array([[151.0, 0.0], [11.0, 1.0]]))[1], 3)
    0.074
    """
    n = table.sum(axis=1)
    if table.shape[1] < 2 or (n == 0).any():
        return 0.0, 1.0
    shares = table / n[:, None]
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
    table = table[:, table.sum(axis=0) > 0]
    share = float(n.min() / n.sum())
    rare = table.sum(axis=0) * share < LEAST_EXPECTED
    if table.shape[1] == 2 and rare.any():
        return distance, exact_p_value(table)
    common, pooled = table[:, ~rare], table[:, rare].sum(axis=1)
    if rare.any() and pooled.sum() * share >= LEAST_EXPECTED:
        return distance, _law_of_large_counts(np.column_stack([common, pooled]))
    if not rare.any() or not common.size:
        return distance, _law_of_large_counts(common)
    exact = exact_p_value(np.column_stack([pooled, n - pooled]))
    if common.shape[1] < 2:
        return distance, exact
    return distance, min(1.0, 2 * min(exact, _law_of_large_counts(common)))


def _law_of_large_counts(table: Array) -> float:
    n, column = table.sum(axis=1), table.sum(axis=0)
    if len(column) < 2 or (n == 0).any():
        return 1.0
    expected = np.outer(n, column) / n.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    return float(chdtrc(len(column) - 1, statistic))


def exact_p_value(table: Array) -> float:
    """Of four counts: the chance of all tables with these sums that are no likelier (Fisher)."""
    (a, b), (c, d) = table
    row, column, n = a + b, a + c, a + b + c + d
    k = np.arange(max(0.0, row + column - n), min(row, column) + 1)
    log = -(
        gammaln(k + 1)
        + gammaln(row - k + 1)
        + gammaln(column - k + 1)
        + gammaln(n - row - column + k + 1)
    )
    chance = np.exp(log - log.max())
    seen = chance[int(a - k[0])]
    return float(chance[chance <= seen * (1 + 1e-9)].sum() / chance.sum())


def typical_row(training: dict[str, dict[str, Any]]) -> pl.DataFrame:
    """One row in the middle of the training rows: medians and commonest levels.

    >>> sketches = sketch_columns(pl.DataFrame({"x": [1, 2, 9]}), {"x": "whole"})
    >>> typical_row(sketches).row(0)
    (2.0,)
    """
    cells: dict[str, list[Any]] = {}
    for name, one in training.items():
        if len(one.get("points", ())):
            middle = float(np.median(one["points"]))
            day = one["kind"] == "date"
            cells[name] = [np.datetime64(int(middle), "us").item() if day else middle]
        else:
            cells[name] = [next(iter(one.get("levels", {})), None)]
    return pl.DataFrame(cells, strict=False)

r"""Findings about leaks, PEL301, PEL302 and PEL306: columns that know the answer.

One column alone (301). For classes a column is cut into cells c: its levels, or up to 64 intervals
of about equal counts. Every row is put into one of five folds by a hash of its contents; the score
of a cell for class k is its share of class k in the other folds, shrunk to the overall share. With
the table N[fold, cell, class] of counts everything else is small:

    score = (N[other folds, c, k] + p_k) / (N[other folds, c, .] + 1),   AUC_k from (score, N)

The mean of AUC_k over the classes counts; for numbers and two classes also the AUC of the number
itself, either way up. That a cell is missing is a value like any other. For a numeric
target the rank correlation of Spearman takes the place of the AUC.

One measurement may determine the target honestly: a class begins where it passes a threshold, a
number follows it on a line with a little noise. Before training it cannot be told from a copy, so
that a study keeps it, says so, and lets the folds judge (``suspicion``). Where several of them tell
the same classes, the classes are only easy.

Three more ways to know the answer (301), each far beyond chance:

    missing   a column is filled (or empty) in rows of one class only: a date of the event
    bins      the levels of a column cut a numeric target into intervals that do not overlap; the
              squares between them are 99.9 % of those of the best arrangement of these levels
    text      a word, or the label itself, stands in texts of one class only; or the text holds the
              number

An exact sum (302). If y - mean(y) is in the span of the centred numeric columns, some set of
columns gives it exactly. All single columns and pairs are tried by their correlations; otherwise
columns are taken greedily until nothing is left, then each is dropped that is not needed.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import polars as pl

from pellucid.core.algebra.linalg import triangle
from pellucid.core.algebra.relations import Relation
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.runtime.splitmix import GOLDEN
from pellucid.study.checks.column_rows import blocks_at, columns_at, gaps, level_codes
from pellucid.study.checks.data import ENOUGH_ROWS, spaced
from pellucid.study.checks.findings import finding
from pellucid.study.checks.target import Target
from pellucid.study.reading.equality import SAMPLE
from pellucid.study.reading.profiles import NUMBERS, Column
from pellucid.study.records import Finding

AUC, SPEARMAN = 0.995, 0.999
SECOND, TIGHT = 0.95, 0.03  # AUC of a second column; spread within classes of a copy
FEW_VALUES = 10  # of a measurement there are more
ORDERED = 0.25  # changes of class along a column, as a share of those by chance
LINE = 0.02  # of the variance of the target: a line that leaves less is seen by every model
SURE = 0.9  # of the rows with, and of those without, some content that are of one class
EXACT = 1e-8  # of the variance of the target may be left over
ROUNDING, FINE = 0.6, 20.0  # residuals in units of the target; units within its spread
INTERVALS, FOLDS = 64, 5
LEAST = 20  # rows
MOST_LEVELS = 5_000
MOST_CLASSES = 100
LEAST_FILLED = 10  # rows that are filled, or empty, or hold a word
PURE, COVERED, COMMON = 0.99, 0.1, 0.9  # shares: of one class, of that class, of it in all rows
LUCK = 1e-6  # chance of a pattern that counts
ROUNDED = 0.03  # standard deviations by which a number told in a text may differ
STEPS = 0.999  # of the squares between levels

ALONE = "One measurement says nearly all about the target"
HONEST = "One measurement may determine the target; so does a copy of it."
CHECK = "It is kept. Drop it if it is not known before the target is."

Telling = tuple[str, float]  # how a column gives the target away, and how well


# --- one column alone


def single_columns(columns: Sequence[Column], target: Target) -> dict[str, float]:
    """PEL301: the columns that give the target away, each with its AUC or |Spearman|."""
    rows = target.rows
    pick = spaced(len(rows), SAMPLE)
    if pick is not None:
        rows = rows[pick]
    if len(rows) < LEAST or not columns:
        return {}
    if target.codes is not None:
        y = target.codes if pick is None else target.codes[pick]
        return _for_classes(columns, rows, y)
    values = target.values if pick is None else target.values[pick]  # type: ignore[index]
    return _for_numbers(columns, rows, values)  # type: ignore[arg-type]


def _chance(counts: IntArray, p: int) -> bool:
    """Could one of p useless columns separate the smallest class by luck?"""
    n, m = int(counts.sum()), int(counts.min())
    j = np.arange(1, m + 1)
    ways = float(np.log((n - m + j) / j).sum())  # log of n over m
    return bool(ways < np.log(200.0 * p))


def _for_classes(columns: Sequence[Column], rows: IntArray, y: IntArray) -> dict[str, float]:
    y = np.unique(y, return_inverse=True)[1]
    counts = np.bincount(y)
    if len(counts) < 2 or len(counts) > MOST_CLASSES or _chance(counts, len(columns)):
        return {}
    fold = folds_of(columns, rows, y)
    found, loose = {}, {}
    for column in columns_at(columns, rows):
        cell = cells_of(column)
        score = 0.0 if cell is None else coded_auc(cell, fold, y)
        near = score > 0.9 or len(y) < 5_000  # 64 intervals lose little of an AUC near 1
        if len(counts) == 2 and column.numbers is not None and score < AUC and near:
            score = max(score, plain_auc(column.numbers, y == 1))
        if score >= SECOND and not is_tight(column, y):
            loose[column.name] = score
        if score >= AUC:
            found[column.name] = score
    # several measurements that tell the classes each by itself: the classes are easy
    return {n: s for n, s in found.items() if n not in loose or len(loose) == 1}


def is_measured(column: Column, y: Any, *, classes: bool) -> bool:
    """May an honest column with so strong a tie to the target look like this?

    A class begins at a threshold of it; or a number lies on a line, with some noise.
    """
    if classes:
        return is_threshold(column, y)
    if column.kind not in NUMBERS or column.numbers is None or column.distinct <= FEW_VALUES:
        return False
    seen = np.isfinite(column.numbers)
    left = 1 - _correlation(column.numbers[seen], y[seen]) ** 2
    return EXACT < left <= LINE and not is_rounded(column.numbers, y)


def is_rounded(x: Array, y: Array) -> bool:
    """Is a number a line in another, up to its own rounding?

    >>> x = np.random.default_rng(0).normal(size=60)
    >>> is_rounded(x, np.round(3 * x + 2, 1)), is_rounded(x, np.round(3 * x + 2 + x % 0.5, 1))
    (True, False)
    """
    seen = np.isfinite(x)
    x, y = x[seen], y[seen]
    unit = unit_of(y)
    left = float(y.std()) * np.sqrt(max(1 - _correlation(x, y) ** 2, 0.0))
    return bool(unit and left <= ROUNDING * unit and y.std() >= FINE * unit)


def unit_of(y: Array) -> float:
    """The step in which a number is written: 1, 0.1, 0.01 ..., 10, 100; 0 where there is none.

    >>> unit_of(np.array([1.5, 2.25])), unit_of(np.array([10.0, 30.0])), unit_of(np.array([np.pi]))
    (0.01, 10.0, 0.0)
    """
    for step in (1000.0, 100.0, 10.0, 1.0, 0.1, 0.01, 0.001, 0.0001):
        if np.abs(y / step - np.round(y / step)).max() < 1e-6:
            return step
    return 0.0


def is_threshold(column: Column, y: IntArray) -> bool:
    """Do the classes cut a measurement, in its order and not where its humps end?

    In the order of codes classes change as often as by chance; at a cut, once. A label with noise
    has a hump for every class: of the rows between the middles of two classes about half are in the
    middle half if a cut parts them; in a valley less than half of that, by three standard errors.

    >>> from pellucid.study.reading.profiles import read_column
    >>> rng = np.random.default_rng(0)
    >>> x, y, code = rng.normal(size=200), rng.integers(0, 2, 200), rng.integers(0, 30, 200)
    >>> [is_threshold(read_column(pl.Series(x)), k) for k in (1 * (x > 0.5), y)]
    [True, False]
    >>> is_threshold(read_column(pl.Series(y + 0.15 * x)), y)
    False
    >>> is_threshold(read_column(pl.Series(code)), code * 7 % 30 % 2)
    False
    """
    if column.kind not in NUMBERS or column.numbers is None or column.distinct <= FEW_VALUES:
        return False
    seen = np.isfinite(column.numbers)
    x, k = column.numbers[seen], y[seen]
    first = np.unique(x, return_index=True)[1]  # a class of every value, in their order
    steps = float((np.diff(k[first]) != 0).mean()) if len(first) > 1 else 1.0
    if steps > ORDERED * (1 - float(((np.bincount(k) / len(k)) ** 2).sum())):
        return False
    middle = np.sort([np.median(x[k == one]) for one in np.unique(k)])
    place = [(x[(low < x) & (x < high)] - low) / (high - low) for low, high in pairwise(middle)]
    between = np.concatenate([np.empty(0), *place])
    if not len(between):
        return False
    inside = float((np.abs(between - 0.5) <= 0.25).mean())
    return inside >= min(0.25, 0.5 - 1.5 / np.sqrt(len(between))) and not switch_of(column, y)


def is_tight(column: Column, y: IntArray) -> bool:
    """Not a measurement, or one with hardly any spread within the classes, as a copy has."""
    if column.kind != "number" or column.numbers is None:
        return True
    x = column.numbers
    seen = np.isfinite(x)
    x, k = x[seen] - x[seen].mean(), y[seen]
    mean = np.bincount(k, x) / np.maximum(np.bincount(k), 1)
    return bool(((x - mean[k]) ** 2).sum() <= TIGHT * (x @ x))


def switch_of(column: Column, y: Any) -> str:
    """The one content ("empty", or a value) that a class has and the others do not; '' for none.

    >>> from pellucid.study.reading.profiles import read_column
    >>> paid = read_column(pl.Series([0, 0, 0, 17, 250, 31] * 9))
    >>> switch_of(paid, np.array(["no", "no", "no", "yes", "yes", "yes"] * 9))
    '0'
    """
    gaps = {"empty": column.cells.is_null().to_numpy()}
    if column.numbers is not None and len(seen := column.numbers[np.isfinite(column.numbers)]):
        values, counts = np.unique(seen, return_counts=True)
        gaps[f"{values[counts.argmax()]:g}"] = column.numbers == values[counts.argmax()]
    for content, gap in gaps.items():
        if 0 < gap.mean() < 1:
            agree = [max((y[gap] == k).mean(), (y[~gap] == k).mean()) for k in np.unique(y)]
            if sorted(agree)[-2] > SURE:
                return content
    return ""


def folds_of(columns: Sequence[Column], rows: IntArray, y: Any) -> IntArray:
    """A fold for every row by its contents, so that the order of the rows does not matter.

    The hashes of its cells are added, so that the order of the columns does not matter either;
    rows that are equal in everything are dealt out in turn.
    """
    total = _mixed(np.asarray(y, dtype=np.float64), 0)
    for column in columns_at(columns, rows):
        seed = crc32(column.name.encode())  # equal columns differ by name
        if column.numbers is not None:
            total += _mixed(column.numbers, seed)
        elif column.cells.dtype == pl.String:
            total += column.cells.hash(seed=seed).to_numpy()
    mixed = pl.DataFrame({"row": total}).select(
        (pl.col("row").hash(seed=1) % FOLDS).cast(pl.Int64) + pl.int_range(pl.len()).over("row")
    )
    return mixed.to_series().to_numpy().astype(np.intp) % FOLDS


def _mixed(x: Array, seed: int) -> Any:
    """A hash of every number."""
    bits = (x + 0.0).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(32))) * (np.uint64(2 * seed) + GOLDEN)
    return bits ^ (bits >> np.uint64(29))


def cells_of(column: Column) -> IntArray | None:
    """The number of each row's level or interval; missing is one of them."""
    if column.numbers is not None:
        x = column.numbers
        gap = np.isnan(x)
        filled = x[~gap] if gap.any() else x
        if not len(filled):
            return None
        if column.distinct <= min(INTERVALS, len(x) / 5):
            cut = np.unique(filled)
        else:
            cut = interval_starts(np.sort(filled), min(max(len(x) // 8, 4), INTERVALS))
        cell = np.searchsorted(cut, x, "right")
        return np.where(gap, len(cut) + 1, cell) if gap.any() else cell
    if column.kind != "category" or column.distinct > MOST_LEVELS:
        return None
    return level_codes(column.cells)


def interval_starts(s: Array, k: int) -> Array:
    """Where k intervals of sorted numbers begin, of about equal counts.

    Each begins after the widest step nearby, so that numbers which stand together stay together.

    >>> interval_starts(np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 5.3, 5.4]), 2)
    array([0., 5.])
    """
    at = np.linspace(0, len(s) - 1, k + 1).astype(np.intp)[1:-1]
    reach = max(len(s) // (2 * k), 1)
    steps = np.diff(s)
    near = np.clip(at[:, None] + np.arange(-reach, reach), 0, len(steps) - 1)
    widest = near[np.arange(len(near)), np.argmax(steps[near], axis=1)]
    return np.unique(s[np.r_[0, widest + 1]])


def coded_auc(cell: IntArray, fold: IntArray, y: IntArray) -> float:
    """Mean over the classes of the AUC of cells coded out of fold."""
    k, c = int(y.max()) + 1, int(cell.max()) + 1
    N = np.bincount((fold * c + cell) * k + y, minlength=FOLDS * c * k).reshape(FOLDS, c, k)
    other = N.sum(axis=0) - N
    share = N.sum(axis=(0, 1)) / len(y)
    score = ((other + share) / (other.sum(axis=2, keepdims=True) + 1)).reshape(-1, k)
    flat = N.reshape(-1, k)
    rest = flat.sum(axis=1, keepdims=True) - flat
    return float(np.mean([weighted_auc(score[:, j], flat[:, j], rest[:, j]) for j in range(k)]))


def weighted_auc(score: Array, positive: IntArray, negative: IntArray) -> float:
    """P(score of a positive > that of a negative) + P(equal) / 2, from counts per score.

    >>> weighted_auc(np.array([0.1, 0.9]), np.array([0, 3]), np.array([2, 0]))
    1.0
    """
    level = np.unique(score, return_inverse=True)[1]
    p, q = np.bincount(level, positive), np.bincount(level, negative)
    below = np.cumsum(q) - q
    return float(p @ (below + q / 2) / (p.sum() * q.sum()))


def plain_auc(x: Array, positive: BoolArray) -> float:
    """AUC of the number itself among filled cells, the better way up."""
    seen = ~np.isnan(x)
    m = int(positive[seen].sum())
    n = int(seen.sum()) - m
    if m < 5 or n < 5 or m + n < 0.5 * len(x):
        return 0.0
    rank = average_ranks(x[seen])
    auc = (rank[positive[seen]].sum() - m * (m + 1) / 2) / (m * n)
    return float(max(auc, 1 - auc))


def average_ranks(x: Array) -> Array:
    """Ranks from 1, equal values share their mean rank.

    >>> average_ranks(np.array([3.0, 1.0, 3.0]))
    array([2.5, 1. , 2.5])
    """
    order = np.argsort(x)
    s = x[order]
    start = np.flatnonzero(np.concatenate([[True], s[1:] != s[:-1]]))
    end = np.append(start[1:], len(s))
    rank = np.empty(len(s))
    rank[order] = np.repeat((start + end + 1) / 2, end - start)
    return rank


def _for_numbers(columns: Sequence[Column], rows: IntArray, y: Array) -> dict[str, float]:
    if y.min() == y.max():
        return {}
    fold = folds_of(columns, rows, y)
    found = {}
    ranks = average_ranks(y)
    for column in columns_at(columns, rows):
        if column.numbers is not None:
            x = column.numbers
        elif column.kind == "category" and column.distinct <= MOST_LEVELS:
            x = coded_means(cells_of(column), fold, y)  # type: ignore[arg-type]
        else:
            continue
        seen = ~np.isnan(x)
        if seen.sum() < max(LEAST, 0.5 * len(x)):
            continue
        r = ranks if seen.all() else average_ranks(y[seen])
        score = abs(_correlation(average_ranks(x[seen]), r))
        if score >= SPEARMAN:
            found[column.name] = score
    return found


def coded_means(cell: IntArray, fold: IntArray, y: Array) -> Array:
    """The mean target of a row's level in the other folds; the overall mean of a new level."""
    c = int(cell.max()) + 1
    where = fold * c + cell
    count = np.bincount(where, minlength=FOLDS * c).reshape(FOLDS, c)
    total = np.bincount(where, y, minlength=FOLDS * c).reshape(FOLDS, c)
    other_count, other_total = count.sum(axis=0) - count, total.sum(axis=0) - total
    mean = np.where(other_count > 0, other_total / np.maximum(other_count, 1), y.mean())
    return np.asarray(mean.ravel()[where])


def _correlation(a: Array, b: Array) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0


def measured_columns(columns: Sequence[Column], target: Target) -> set[str]:
    """Those of the columns that may determine the target honestly."""
    y: Any = target.values if target.codes is None else target.codes
    seen = columns_at(columns, target.rows)
    return {c.name for c in seen if is_measured(c, y, classes=target.codes is not None)}


def kept_finding(score: dict[str, float], target: Target) -> Finding:
    """PEL301 of a measurement that a study keeps, since it may be honest."""
    found = single_finding(score, target, left_out=True)
    evidence = found.evidence | {"kept": True}
    return found._replace(severity="info", title=ALONE, why=HONEST, fix=CHECK, evidence=evidence)


def single_finding(
    scores: dict[str, float], target: Target, *, left_out: bool, how: str = "copy"
) -> Finding:
    number = {"bins": "share of the squares", "text": "share of the rows"}.get(how, "spearman")
    measure = "auc" if target.codes is not None else number
    evidence: dict[str, Any] = {"measure": measure, "score": scores, "rows": len(target.rows)}
    if how != "copy":
        evidence["how"] = how
    if len(target.rows) > SAMPLE:
        evidence["rows"] = SAMPLE
    return finding("PEL301", tuple(scores), severity="warning" if left_out else "error", **evidence)


# --- other ways to know the answer


def telling_columns(columns: Sequence[Column], target: Target) -> dict[str, Telling]:
    """PEL301: how a column gives the target away (missing, bins, text), and how well."""
    pick = spaced(len(target.rows), SAMPLE)
    rows = target.rows if pick is None else target.rows[pick]
    if len(rows) < LEAST:
        return {}
    y: Any = target.values if target.codes is None else target.codes
    y = y if pick is None else y[pick]
    found = dict[str, Telling]()
    for block in blocks_at(columns, rows):
        prose = [column for column in block if _is_prose(column)]
        if target.codes is not None:
            found |= _telling_words(prose, y, target.classes)
            found |= _each(block, lambda column: _telling_gaps(column, y, len(columns)))
        else:
            found |= _telling_numbers(prose, y)
            found |= _each(block, lambda column: _telling_steps(column, y))
    return {column.name: found[column.name] for column in columns if column.name in found}


def _each(
    columns: Sequence[Column], test: Callable[[Column], Telling | None]
) -> dict[str, Telling]:
    tested = ((column.name, test(column)) for column in columns)
    return {name: telling for name, telling in tested if telling is not None}


def _one_class(state: BoolArray, y: IntArray, p: int) -> bool:
    """Do these rows hold one class only, by no luck, though the others do not?"""
    m, counts = int(state.sum()), np.bincount(y)
    if m < LEAST_FILLED or m > len(y) - LEAST_FILLED or len(counts) < 2:
        return False
    inside = np.bincount(y[state], minlength=len(counts))
    k = int(inside.argmax())
    share = counts[k] / len(y)
    luck = m * np.log(max(share, 1e-12)) + np.log(2.0 * p * len(counts))
    whole = inside[k] >= PURE * m and inside[k] >= COVERED * counts[k]
    return bool(whole and share <= COMMON and luck < np.log(LUCK))


def _telling_gaps(column: Column, y: IntArray, p: int) -> Telling | None:
    if not column.missing:
        return None
    gap = gaps(column)
    for state in (~gap, gap):
        if _one_class(state, y, p):
            return "missing", _state_auc(state, y)
    return None


def _state_auc(state: BoolArray, y: IntArray) -> float:
    """AUC of a yes or no for its commonest class, against the others."""
    positive = y == np.bincount(y[state]).argmax()
    return float((1 + state[positive].mean() - state[~positive].mean()) / 2)


def _stacked(columns: Sequence[Column], y: Any) -> pl.DataFrame:
    """The cells of columns below each other, each with the number of its column and its target."""
    return pl.DataFrame(
        {
            "column": np.repeat(np.arange(len(columns)), len(y)),
            "cell": pl.concat([column.cells.alias("cell") for column in columns]),
            "y": np.tile(y, len(columns)),
        }
    )


def _telling_words(
    columns: Sequence[Column], y: IntArray, classes: tuple[Any, ...]
) -> dict[str, Telling]:
    """A word for every class, or a label in the texts of its own class only."""
    k = int(y.max()) + 1
    if not columns or not 2 <= k <= MOST_CLASSES:
        return {}
    texts = _stacked(columns, y).with_columns(pl.col("cell").str.to_lowercase())
    found = _labels_said(columns, texts["cell"], y, classes[:k])
    size = np.bincount(y, minlength=k)
    if size.min() > 0:
        found |= _words_of_classes(columns, texts, size)
    return found


def _words_of_classes(
    columns: Sequence[Column], texts: pl.DataFrame, size: IntArray
) -> dict[str, Telling]:
    k, n = len(size), int(size.sum())
    words = texts.with_columns(pl.col("cell").str.extract_all(r"[\p{L}\d]+").list.unique())
    words = words.explode("cell", empty_as_null=True, keep_nulls=True).drop_nulls("cell")
    counts = words.group_by("column", "cell").agg(
        pl.len().alias("n"), *((pl.col("y") == j).sum().alias(str(j)) for j in range(k))
    )
    counts = counts.filter(pl.col("n") >= LEAST_FILLED).sort("column")
    N = counts.select(str(j) for j in range(k)).to_numpy().astype(np.float64)
    other = (N.sum(axis=1, keepdims=True) - N) / (n - size)
    each = (1 + np.abs(N / size - other)) / 2  # AUC of every word for every class
    owner, start = np.unique(counts["column"].to_numpy(), return_index=True)
    best = np.maximum.reduceat(each, start, axis=0) if len(start) else each
    auc = zip(owner.tolist(), best.mean(axis=1).tolist(), strict=True)
    return {columns[j].name: ("text", a) for j, a in auc if a >= AUC}


def _labels_said(
    columns: Sequence[Column], cells: pl.Series, y: IntArray, classes: tuple[Any, ...]
) -> dict[str, Telling]:
    """The columns whose texts hold the label of a class in rows of that class only."""
    found = dict[str, Telling]()
    for j, label in enumerate(classes):
        name = str(label).lower()
        if len(name) < 2 or name.replace(".", "").isdigit():
            continue
        held = cells.str.contains(rf"\b{re.escape(name)}\b").fill_null(False).to_numpy()
        for column, at in zip(columns, held.reshape(len(columns), len(y)), strict=True):
            if at.any() and np.bincount(y[at]).argmax() == j and _one_class(at, y, 1):
                found.setdefault(column.name, ("text", _state_auc(at, y)))
    return found


def _is_prose(column: Column) -> bool:
    n = len(column.cells)
    return column.kind == "text" or (column.kind == "category" and column.distinct > n / 5)


def _telling_steps(column: Column, y: Array) -> Telling | None:
    """Levels that cut the target into intervals, each of several rows."""
    if column.kind not in (*NUMBERS, "truth", "category") or column.distinct > len(y) / 5:
        return None
    level = np.unique(level_codes(column.cells), return_inverse=True)[1]
    size = np.bincount(level)
    if len(size) < 2 or size.max() > len(y) - LEAST_FILLED:
        return None
    rank = average_ranks(y) - (len(y) + 1) / 2
    mean = np.bincount(level, rank) / size
    order = np.argsort(mean)
    end = np.cumsum(size[order])
    best = end - size[order] / 2 - len(y) / 2  # mean ranks if no two levels overlapped
    share = float(size @ mean**2 / (size[order] @ best**2))
    if share < STEPS or not _cuts_a_continuum(y, level, order):
        return None
    return "bins", share


def _cuts_a_continuum(y: Array, level: IntArray, order: IntArray) -> bool:
    """Is there no wide gap between the levels? Clusters have one, cuts of a number do not."""
    middle = [float(np.median(y[level == k])) for k in order]
    between = np.median(np.diff(middle))
    edges = [(y[level == a].max(), y[level == b].min()) for a, b in pairwise(order)]
    return bool(np.median([low - high for high, low in edges]) <= 0.25 * between)


def _telling_numbers(columns: Sequence[Column], y: Array) -> dict[str, Telling]:
    """Texts that hold the number itself, in far more rows than the next row's number."""
    if not columns or len(np.unique(y)) < LEAST:
        return {}
    near = ROUNDED * float(y.std())
    cells = pl.col("cell").str.replace_all(r"(\d)[,'](\d{3})", "$1$2")
    said = cells.str.extract_all(r"-?\d+(?:\.\d+)?").cast(pl.List(pl.Float64))
    other = np.tile(np.roll(y, 1), len(columns))
    pairs = _stacked(columns, y).with_columns(said.alias("said"), pl.Series("other", other))
    rowwise = pairs.with_row_index().explode("said", empty_as_null=True, keep_nulls=True)
    held = rowwise.group_by("index").agg(
        pl.col("column").first(),
        *(
            ((pl.col("said") - pl.col(name)).abs() <= (pl.col(name).abs() * 1e-3).clip(near))
            .any()
            .alias(name)
            for name in ("y", "other")
        ),
    )
    share = held.group_by("column").agg(pl.col("y", "other").fill_null(False).mean())
    return {
        columns[j].name: ("text", own)
        for j, own, luck in share.iter_rows()
        if own >= 0.5 and own - luck >= 0.4
    }


# --- an exact sum


class Sum(NamedTuple):
    """The columns of an exact relation to the target, with its coefficients."""

    names: tuple[str, ...]
    sentence: str
    label: Any  # the class whose 0/1 indicator is meant; None for a number
    left_over: float  # share of the variance that the sum leaves


def exact_sum(columns: Sequence[Column], target: Target) -> Sum | None:
    """PEL302: the smallest set of numeric columns found whose combination is the target."""
    usable = [c for c in columns if c.kind in (*NUMBERS, "truth") and c.distinct > 1]
    usable = [c for c in usable if c.numbers is not None and np.isfinite(c.numbers).mean() > 0.5]
    rows = target.rows
    pick = spaced(len(rows), ENOUGH_ROWS)
    if not usable or len(rows) < len(usable) + 10:
        return None
    at = rows if pick is None else rows[pick]
    X = np.column_stack([c.numbers[at] for c in usable])  # type: ignore[index]
    full = np.isfinite(X).all(axis=1)
    if full.sum() < len(usable) + 10:
        return None
    X = X[full]
    responses = _responses(target)
    seen = [(y if pick is None else y[pick])[full] for _, y in responses]
    for (label, y), some in zip(responses, _reached(X, seen), strict=True):
        chosen = None if some is None else smallest_sum(X, some)
        if chosen is None:
            continue
        members = [usable[j] for j in chosen]
        result = _confirmed(members, rows, y, label, target.name)
        if result is not None:
            return result
    return None


def _reached(X: Array, responses: list[Array]) -> list[Array | None]:
    """Each response that all columns together give exactly, from one QR; None for the others."""
    if not responses:
        return []
    Y = np.column_stack(responses)
    C, T = X - X.mean(axis=0), Y - Y.mean(axis=0)
    p = X.shape[1]
    size = np.linalg.norm(C, axis=0)
    R = triangle(np.hstack([C / np.where(size > 0, size, 1.0), T]))
    left = (R[p:, p:] ** 2).sum(axis=0)
    exact = left <= 100 * EXACT * (T**2).sum(axis=0)
    return [y if ok else None for y, ok in zip(responses, exact, strict=True)]


def _responses(target: Target) -> list[tuple[Any, Array]]:
    """The number, or the 0/1 indicator of each class (of two, the later one)."""
    if target.values is not None:
        return [(None, target.values)]
    k = len(target.classes)
    if target.codes is None or not 2 <= k <= 20:
        return []
    return [(target.classes[j], (target.codes == j) * 1.0) for j in (range(k) if k > 2 else [1])]


def smallest_sum(X: Array, y: Array) -> list[int] | None:
    """Columns whose centred span holds y, as few as found; None if all of them do not.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 4))
    >>> smallest_sum(X, X[:, 1] - 2 * X[:, 3] + 5)
    [1, 3]
    """
    sd = X.std(axis=0)
    alive = np.flatnonzero(sd > 0)
    if not len(alive) or y.std() == 0:
        return None
    Z = (X[:, alive] - X[:, alive].mean(axis=0)) / sd[alive]
    t = (y - y.mean()) / y.std()
    if not _spans(Z, t):
        return None
    r = Z.T @ t / len(t)
    if np.abs(r).max() ** 2 > 1 - EXACT:
        return [int(alive[np.abs(r).argmax()])]
    pair = _best_pair(Z, t, r)
    if pair is not None:
        return sorted(int(alive[j]) for j in pair)
    return sorted(int(alive[j]) for j in _pruned(Z, t))


def _spans(Z: Array, t: Array) -> bool:
    c = np.linalg.lstsq(Z, t, rcond=1e-12)[0]
    e = t - Z @ c
    return bool(e @ e <= EXACT * (t @ t))


def _best_pair(Z: Array, t: Array, r: Array) -> tuple[int, int] | None:
    """A pair whose R^2 = (r_i^2 + r_j^2 - 2 r_i r_j r_ij) / (1 - r_ij^2) is 1."""
    R = Z.T @ Z / len(Z)
    free = 1 - R**2
    np.fill_diagonal(free, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        square = (r[:, None] ** 2 + r**2 - 2 * np.outer(r, r) * R) / free
    square[(free < 1e-6) | ~np.isfinite(square)] = 0.0
    likely = np.argwhere(np.triu(square) > 1 - 10 * EXACT)
    for i, j in likely[:20].tolist():
        if _spans(Z[:, [i, j]], t):
            return i, j
    return None


def _pruned(Z: Array, t: Array) -> list[int]:
    """Greedy until nothing is left, then without what is not needed."""
    chosen: list[int] = []
    e = t
    while len(chosen) < Z.shape[1] and e @ e > EXACT * (t @ t):
        gain = np.abs(Z.T @ e)
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
        c = np.linalg.lstsq(Z[:, chosen], t, rcond=1e-12)[0]
        e = t - Z[:, chosen] @ c
    c = np.linalg.lstsq(Z[:, chosen], t, rcond=1e-12)[0]
    for j in [chosen[i] for i in np.argsort(np.abs(c))]:
        fewer = [i for i in chosen if i != j]
        if fewer and _spans(Z[:, fewer], t):
            chosen = fewer
    return chosen


def _confirmed(
    members: Sequence[Column], rows: IntArray, y: Array, label: object, name: str
) -> Sum | None:
    """The sum on every row, not only on those it was found in."""
    X = np.column_stack([c.numbers[rows] for c in members])  # type: ignore[index]
    full = np.isfinite(X).all(axis=1)
    X, y = X[full], y[full]
    x_mean, y_mean = X.mean(axis=0), float(y.mean())
    C, t = X - x_mean, y - y_mean
    scale = np.abs(C).max(axis=0)
    c = np.linalg.lstsq(C / scale, t, rcond=1e-12)[0] / scale
    e = t - C @ c
    left = float(e @ e / (t @ t))
    if left > EXACT:
        return None
    at_zero = y_mean - float(x_mean @ c)
    at_zero = 0.0 if abs(at_zero) < 1e-9 * (abs(y_mean) + np.abs(x_mean) @ np.abs(c)) else at_zero
    names = tuple(column.name for column in members)
    first = name if label is None else f"[{name} = {label}]"
    relation = Relation(0, at_zero, {j + 1: float(v) for j, v in enumerate(c)})
    return Sum(names, relation.sentence((first, *names)), label, left)


def sum_finding(found: Sum, *, left_out: bool) -> Finding:
    severity = "warning" if left_out else "error"
    evidence: dict[str, Any] = {"relation": found.sentence, "left_over": found.left_over}
    if found.label is not None:
        evidence["class"] = str(found.label)
    return finding("PEL302", found.names, severity=severity, **evidence)


# --- choosing among many


def selection_finding(n_models: int, n_validation: int, *, delta: float = 0.05) -> Finding | None:
    """PEL306 where the bound of the selection is too wide to trust the best score; else None.

    ``n_models`` were compared on ``n_validation`` rows; the bound holds with chance 1 - ``delta``.

    >>> selection_finding(1000, 100).evidence["bound"] > 0.1
    True
    """
    bound = float(np.sqrt(np.log(n_models / delta) / (2 * n_validation)))
    if bound <= 0.1:
        return None
    return finding("PEL306", bound=bound, candidates=n_models, rows=n_validation, delta=delta)

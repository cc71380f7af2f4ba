r"""What becomes of one column: a fitted record per kind of column, learned from training rows only.

    Number      x -> (median for missing - mean) / sd,  and 1[missing] where training had gaps
    Curve       the natural cubic spline functions of a number, standardised
    Levels      one 0/1 column per level; missing is a level, rare levels are pooled
    TargetCode  a level becomes the shrunk mean of the target (features.target_encoder)
    Dates       elapsed days; year, month, day of the week and hour where they came round twice
    Words       tf-idf of the commonest words, or their counts
    Items       one 0/1 column per item of a list ``a;b``

Every record has ``width``, ``names(name)``, ``fill(column, name, out)`` and ``strange(column,
name)``: which cells are new levels, and which lie outside the training range.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.study.reading.cell_values import dates, items, levels, numbers, texts

MISSING, OTHER = "missing", "other"
PARTS = ("elapsed", "year", "month", "day of week", "hour")
DAY = 86_400e6  # microseconds
CYCLES = 2  # that the values of a part must return in: in one they are a trend
LEAST_TEXTS = 2  # a word in fewer texts cannot be checked by any fold


class Strange(NamedTuple):
    """Which cells are unlike the training rows; None: none can be."""

    unseen: BoolArray | None  # levels never seen
    outside: BoolArray | None  # numbers out of range


class Number(NamedTuple):
    """Numbers: median for missing cells, an indicator where training had gaps, standardised."""

    median: float
    shift: float
    scale: float
    indicator: bool
    low: float
    high: float
    comma: bool = False  # of older model files: text with decimal commas

    @property
    def width(self) -> int:
        return 1 + self.indicator

    def names(self, name: str) -> list[str]:
        return [name, f"{name} {MISSING}"][: self.width]

    def fill(self, column: np.ndarray, name: str, out: Array) -> None:
        x = numbers(column, name)
        absent = np.isnan(x)
        if absent.any():
            x = np.where(absent, self.median, x)
        np.subtract(x, self.shift, out=out[:, 0])
        if self.scale != 1.0:
            out[:, 0] /= self.scale
        if self.indicator:
            out[:, 1] = absent

    def strange(self, column: np.ndarray, name: str) -> Strange:
        x = numbers(column, name)
        return Strange(None, (x < self.low) | (x > self.high))


def learn_number(x: Array, scale: bool) -> Number | None:
    """None where the column does not vary: it can teach nothing."""
    absent = np.isnan(x)
    seen = x[~absent] if absent.any() else x
    if len(seen) == 0:
        return None
    low, high = float(seen.min()), float(seen.max())
    indicator = bool(absent.any())
    if low == high and not indicator:
        return None
    median = float(np.median(seen))
    full = np.where(absent, median, x) if indicator else x
    shift, spread = (float(full.mean()), float(full.std())) if scale else (0.0, 1.0)
    return Number(median, shift, spread if spread > 0 else 1.0, indicator, low, high)


class Curve(NamedTuple):
    """A number as natural cubic splines of the standardised number: x itself and the bends."""

    number: Number
    knots: Array
    shift: Array  # (functions,)
    scale: Array

    @property
    def width(self) -> int:
        return len(self.shift) + self.number.indicator

    def names(self, name: str) -> list[str]:
        bends = [f"{name} bend {k}" for k in range(1, len(self.shift))]
        return [name, *bends, f"{name} {MISSING}"][: self.width]

    def fill(self, column: np.ndarray, name: str, out: Array) -> None:
        first = np.empty((len(out), self.number.width))
        self.number.fill(column, name, first)
        m = len(self.shift)
        out[:, :m] = (spline_functions(first[:, 0], self.knots) - self.shift) / self.scale
        out[:, m:] = first[:, 1:]

    def strange(self, column: np.ndarray, name: str) -> Strange:
        return self.number.strange(column, name)


def spline_functions(x: Array, knots: Array) -> Array:
    """(n, K - 1): x and the K - 2 bends."""
    out = np.empty((len(x), len(knots) - 1))
    from pellucid.compiled.counts.bases import natural_splines  # compiled: slow to import

    natural_splines(np.ascontiguousarray(x)[:, None], 0, knots, out, 0)
    return out


def learn_curve(x: Array, n_knots: int) -> Number | Curve | None:
    """A straight line where there are fewer than three distinct knots."""
    number = learn_number(x, True)
    seen = x[~np.isnan(x)]
    if number is None or len(seen) == 0:
        return number
    seen = (seen - number.shift) / number.scale
    knots = np.unique(np.quantile(seen, np.linspace(0, 1, n_knots)))
    if len(knots) < 3:
        return number
    full = np.empty((len(x), number.width))
    number.fill(x, "", full)
    table = spline_functions(full[:, 0], knots)
    spread = table.std(axis=0)
    return Curve(number, knots, table.mean(axis=0), np.where(spread > 0, spread, 1.0))


class Levels(NamedTuple):
    """One column per level. ``known`` says for each training level which column it is."""

    known: dict[str, int]
    labels: list[str]  # of the columns
    other: int  # column of the pooled level; -1: there is none, a row of zeros
    missing: int  # column of missing cells

    @property
    def width(self) -> int:
        return len(self.labels)

    def names(self, name: str) -> list[str]:
        return [f"{name} = {level}" for level in self.labels]

    def _places(self, found: list[str | None]) -> IntArray:
        seek = self.known
        return np.array(
            [self.missing if v is None else seek.get(v, self.other) for v in found], np.intp
        )

    def fill(self, column: np.ndarray, name: str, out: Array) -> None:
        found, codes = levels(column)
        at = self._places(found)[codes]
        out[:] = 0.0
        rows = np.flatnonzero(at >= 0)
        out[rows, at[rows]] = 1.0

    def strange(self, column: np.ndarray, name: str) -> Strange:
        found, codes = levels(column)
        new = np.array([v is not None and v not in self.known for v in found], bool)
        return Strange(new[codes], None)


def learn_levels(
    found: list[str | None], counts: IntArray, rare: float, most: int, reference: bool
) -> Levels | None:
    """Levels below the share ``rare`` are pooled, and those beyond the ``most`` commonest."""
    n = int(counts.sum())
    level = [(v, int(c)) for v, c in zip(found, counts, strict=True) if v is not None and c > 0]
    ranked = sorted(level, key=lambda pair: (-pair[1], pair[0]))
    kept = sorted(v for v, c in ranked[:most] if c >= rare * n)
    if len(kept) == len(level) - 1:  # a pool of one would hide its name for nothing
        kept = sorted(v for v, _ in level) if len(level) <= most else kept
    gaps = n - sum(c for _, c in level)
    labels: list[str] = list(kept)
    if len(kept) < len(level):
        labels.append(_free(OTHER, labels))
    if gaps:
        labels.append(_free(MISSING, labels))
    if len(labels) < 2:
        return None
    place = {name: j for j, name in enumerate(labels)}
    other = place[labels[len(kept)]] if len(kept) < len(level) else -1
    missing = len(labels) - 1 if gaps else other
    if reference and other != 0 and kept:  # the commonest level is the row of zeros
        first = place[next(v for v, _ in ranked if v in place)]
        labels.pop(first)
        moved = [-1 if j == first else j - (j > first) for j in range(len(place))]
        place = {name: moved[j] for name, j in place.items()}
        other, missing = (moved[j] if j >= 0 else -1 for j in (other, missing))
    known = {v: place.get(v, other) if v in set(kept) else other for v, _ in ranked}
    return Levels(known, labels, other, missing)


def _free(word: str, taken: list[str]) -> str:
    """The word, in brackets while a real level has that name."""
    while word in taken:
        word = f"({word})"
    return word


class TargetCode(NamedTuple):
    """A level becomes the shrunk mean of the target in its rows; an unseen one the mean of all."""

    known: dict[str, int]
    table: Array  # (levels + 1, k): the last row is the mean of all rows
    missing: int
    shift: Array  # (k,)
    scale: Array
    classes: list[str]  # of the k columns; [] for one column

    @property
    def width(self) -> int:
        return self.table.shape[1]

    def names(self, name: str) -> list[str]:
        if not self.classes:
            return [f"{name} (mean of target)"]
        return [f"{name} (share of {one})" for one in self.classes]

    def places(self, found: list[str | None]) -> IntArray:
        last = len(self.table) - 1
        return np.array(
            [self.missing if v is None else self.known.get(v, last) for v in found], np.intp
        )

    def fill(self, column: np.ndarray, name: str, out: Array) -> None:
        found, codes = levels(column)
        out[:] = ((self.table - self.shift) / self.scale)[self.places(found)][codes]

    def strange(self, column: np.ndarray, name: str) -> Strange:
        found, codes = levels(column)
        new = np.array([v is not None and v not in self.known for v in found], bool)
        return Strange(new[codes], None)


def learn_target_code(
    found: list[str | None],
    codes: IntArray,
    Y: Array,
    folds: list[tuple[IntArray, IntArray]],
    classes: list[str],
    scale: bool,
) -> tuple[TargetCode, Array]:
    """The code from all rows, and the cross-fitted training columns (n, k).

    A training row gets the mean of the folds it is not in, so that it never sees its own target.
    """
    from pellucid.features.encoding.target_encoder import category_means  # compiled, likewise

    k = len(found)
    codes = np.ascontiguousarray(codes, dtype=np.int32)

    def table(rows: Any) -> Array:
        part = np.ascontiguousarray(codes[rows])
        columns = [
            category_means(part, np.ascontiguousarray(Y[rows, t]), k, "auto")
            for t in range(Y.shape[1])
        ]
        return np.column_stack(columns)

    crossed = np.empty((len(codes), Y.shape[1]))
    for learn, judge in folds:
        crossed[judge] = table(learn)[codes[judge]]
    shift, spread = np.zeros(Y.shape[1]), np.ones(Y.shape[1])
    if scale:
        shift, spread = crossed.mean(axis=0), crossed.std(axis=0)
        spread[spread == 0] = 1.0
    whole = np.vstack([table(slice(None)), Y.mean(axis=0)])
    known = {v: i for i, v in enumerate(found) if v is not None}
    missing = found.index(None) if None in found else k
    code = TargetCode(known, whole, missing, shift, spread, classes)
    return code, (crossed - shift) / spread


class Dates(NamedTuple):
    """Elapsed days since the first training day, and the parts of the date that vary."""

    start: float  # microseconds since 1970
    high: float
    parts: tuple[int, ...]  # places in PARTS
    median: Array  # (parts,)
    shift: Array
    scale: Array
    indicator: bool

    @property
    def width(self) -> int:
        return len(self.parts) + self.indicator

    def names(self, name: str) -> list[str]:
        found = [f"{name} {PARTS[part]}" for part in self.parts]
        return [*found, f"{name} {MISSING}"][: self.width]

    def fill(self, column: np.ndarray, name: str, out: Array) -> None:
        moments = dates(column, name)
        table = date_parts(moments, self.start)[:, list(self.parts)]
        absent = np.isnat(moments)
        table[absent] = self.median
        m = len(self.parts)
        out[:, :m] = (table - self.shift) / self.scale
        if self.indicator:
            out[:, m] = absent

    def strange(self, column: np.ndarray, name: str) -> Strange:
        moments = dates(column, name)
        x = moments.astype(np.int64)
        return Strange(None, ((x < self.start) | (x > self.high)) & ~np.isnat(moments))


def date_parts(moments: Any, start: float) -> Array:
    """(n, 5): the columns of PARTS; NaN where the moment is missing.

    >>> date_parts(np.array(["2024-03-04T06:00"], dtype="M8[us]"), 1709510400e6)
    array([[2.500e-01, 2.024e+03, 3.000e+00, 1.000e+00, 6.000e+00]])
    """
    absent = np.isnat(moments)
    safe = np.where(absent, np.datetime64(0, "us"), moments)
    day = safe.astype("M8[D]")
    month = safe.astype("M8[M]").astype(np.int64)
    table = np.column_stack(
        [
            (safe.astype(np.int64) - start) / DAY,
            1970 + np.floor_divide(month, 12),
            1 + month % 12,
            1 + (day.astype(np.int64) + 3) % 7,  # Monday is 1
            (safe - day).astype("m8[h]").astype(np.int64),
        ]
    ).astype(np.float64)
    table[absent] = np.nan
    return table


def came_round(moments: Any, table: Array) -> BoolArray:
    """Which columns of PARTS tell more than a trend: elapsed days, and those that came round twice.

    A month that has not come round is another clock beside the days elapsed, which a model takes
    for a trend and which starts anew with the next cycle. So the values of a part must return:
    each in two cycles on average, as in two whole years, or in the summers of several. The year
    and the days elapsed say together where in the year a day is, so it goes with the month.

    >>> days = np.arange("2021-01-01", "2022-02-05", dtype="M8[D]").astype("M8[us]")
    >>> came_round(days, date_parts(days, 0.0)).tolist()
    [True, False, False, True, True]
    """
    month, weekday, hour = (
        len(np.unique(moments.astype(unit))) >= CYCLES * len(np.unique(table[:, part]))
        for unit, part in (("M8[M]", 2), ("M8[D]", 3), ("M8[h]", 4))
    )
    return np.array([True, month, month, weekday, hour])


def learn_dates(moments: Any, scale: bool) -> Dates | None:
    """What varies and is no trend under another name; None where nothing does."""
    absent = np.isnat(moments)
    if absent.all():
        return None
    seen = moments[~absent].astype(np.int64)
    table = date_parts(moments, float(seen.min()))[~absent]
    varies = table.max(axis=0) > table.min(axis=0)
    varies &= came_round(moments[~absent], table)
    parts = tuple(int(j) for j in np.flatnonzero(varies))
    table = table[:, list(parts)]
    indicator = bool(absent.any())
    if not parts and not indicator:
        return None
    median = np.median(table, axis=0)
    full = np.vstack([table, np.repeat(median[None], int(absent.sum()), axis=0)])
    shift, spread = np.zeros(len(parts)), np.ones(len(parts))
    if scale and parts:
        shift, spread = full.mean(axis=0), full.std(axis=0)
        spread[spread == 0] = 1.0
    return Dates(float(seen.min()), float(seen.max()), parts, median, shift, spread, indicator)


def word_counts(cells: list[str], vocabulary: dict[str, int]) -> Any:
    """How often each word of a vocabulary stands in each text (sparse)."""
    from pellucid.naive_bayes.text import count_matrix, cut_words  # compiled, likewise

    return count_matrix(cut_words(cells, True, (1, 1)), vocabulary)


class Words(NamedTuple):
    """Counts of the commonest words, weighted by idf and of length 1 per text, or plain."""

    vocabulary: dict[str, int]
    weight: Array  # idf; empty for plain counts
    scale: float

    @property
    def width(self) -> int:
        return len(self.vocabulary)

    def names(self, name: str) -> list[str]:
        return [f"{name}: {word}" for word in self.vocabulary]

    def fill(self, column: np.ndarray, name: str, out: Array) -> None:
        out[:] = self._table(texts(column)) / self.scale

    def _table(self, cells: list[str]) -> Array:
        X = word_counts(cells, self.vocabulary).toarray()
        if len(self.weight):
            X *= self.weight
            length = np.sqrt((X**2).sum(axis=1, keepdims=True))
            X /= np.where(length > 0, length, 1.0)
        return X

    def strange(self, column: np.ndarray, name: str) -> Strange:
        """Texts without any known word."""
        X = word_counts(texts(column), self.vocabulary)
        return Strange(np.diff(X.indptr) == 0, None)


def learn_words(cells: list[str], most: int, kind: str) -> Words | None:
    """The ``most`` words that occur in most texts; sorted."""
    from pellucid.naive_bayes.text import count_matrix, cut_words

    terms = cut_words(cells, True, (1, 1))
    if not terms.terms:
        return None
    X = count_matrix(terms, {word: j for j, word in enumerate(terms.terms)})
    df = np.bincount(X.indices, minlength=len(terms.terms))
    ranked = sorted(range(len(df)), key=lambda j: (-df[j], terms.terms[j]))
    kept = sorted(terms.terms[j] for j in ranked[:most] if df[j] >= LEAST_TEXTS)
    if not kept:
        return None
    vocabulary = {word: j for j, word in enumerate(kept)}
    place = {word: j for j, word in enumerate(terms.terms)}
    at = np.array([df[place[word]] for word in kept], dtype=np.float64)
    n = len(cells)
    weight = np.log((1 + n) / (1 + at)) + 1.0 if kind == "tfidf" else np.empty(0)
    model = Words(vocabulary, weight, 1.0)
    if kind != "tfidf":
        return model
    spread = float(np.sqrt(model._table(cells).var(axis=0).mean()))
    return model._replace(scale=spread if spread > 0 else 1.0)


class Items(NamedTuple):
    """One column per item of a list; items that are rare or new are pooled."""

    known: dict[str, int]
    labels: list[str]
    other: int
    indicator: bool

    @property
    def width(self) -> int:
        return len(self.labels) + self.indicator

    def names(self, name: str) -> list[str]:
        found = [f"{name} has {item}" for item in self.labels]
        return [*found, f"{name} {MISSING}"][: self.width]

    def fill(self, column: np.ndarray, name: str, out: Array) -> None:
        found, row, item, missing = items(column)
        place = np.array([self.known.get(v, self.other) for v in found], np.intp)
        out[:] = 0.0
        at = place[item] if len(item) else item
        out[row[at >= 0], at[at >= 0]] = 1.0
        if self.indicator:
            out[:, -1] = missing

    def strange(self, column: np.ndarray, name: str) -> Strange:
        found, row, item, missing = items(column)
        new = np.array([v not in self.known for v in found], bool)
        strange = np.zeros(len(missing), bool)
        strange[row[new[item]] if len(item) else row] = True
        return Strange(strange, None)


def learn_items(column: np.ndarray, rare: float, most: int) -> Items | None:
    found, _, item, missing = items(column)
    n = len(missing)
    counts = np.bincount(item, minlength=len(found))
    ranked = sorted(range(len(found)), key=lambda j: (-counts[j], found[j]))
    kept = sorted(found[j] for j in ranked[:most] if counts[j] >= rare * n)
    labels = list(kept)
    if len(kept) < len(found):
        labels.append(_free(OTHER, labels))
    place = {name: j for j, name in enumerate(kept)}
    other = len(kept) if len(kept) < len(found) else -1
    known = {v: place.get(v, other) for v in found}
    indicator = bool(missing.any())
    return Items(known, labels, other, indicator) if labels or indicator else None

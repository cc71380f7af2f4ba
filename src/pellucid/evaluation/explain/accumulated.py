r"""Accumulated local effects: how the prediction moves with one feature, the others as they occur.

Numbers      z_0 < ... < z_K quantiles of x_j; rows of (z_k-1, z_k] answer at both ends,

                 step_k = mean over these rows of f(z_k, rest) - f(z_k-1, rest)
                 effect(z_k) = step_1 + ... + step_k - c

             where c makes the mean over the rows 0 (a row counts the middle of its interval's ends)
Categories   ordered so that neighbours are alike in the other features (the first coordinate of
             multidimensional scaling of their distances: Kolmogorov-Smirnov for numbers, total
             variation for categories, summed); step_k = mean over the rows of both neighbours of
             f(category k+1, rest) - f(category k, rest)
Band         rows drawn again with replacement, the same differences: quantiles of the curves

Unlike partial dependence no row is moved farther than its own interval, so that features that go
together are not torn apart. If f = g(x_j) + h(rest), the curve is g up to a constant, exactly.

References: Apley & Zhu (2020), Visualizing the effects of predictor variables in black box
supervised learning models, JRSS B 82.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.frames import indexable_frame, is_frame
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.records import plain, text_table
from pellucid.core.runtime.random import generator


@readable
class AccumulatedEffects(NamedTuple):
    """The centred curve of one feature, with a band for the chance of the rows.

    >>> from pellucid import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> found = accumulated_effects(model, [[0.0], [1.0], [2.0]], 0, n_bins=2, n_bootstrap=0)
    >>> found.grid.tolist(), found.counts.tolist()
    ([0.0, 1.0, 2.0], [2, 1])
    """

    feature: str  # name of the column
    grid: Any  # (g,) ends of the intervals, or categories in their order
    effect: Array  # (outputs, g)
    low: Array  # (outputs, g)
    high: Array  # (outputs, g)
    counts: IntArray  # rows in each interval, or of each category
    outputs: tuple[str, ...]  # classes or targets; () for one curve
    target: str  # what is explained: prediction or probability
    categorical: bool  # whether the grid holds categories
    confidence: float  # of the band

    def to_frame(self) -> Any:
        """One row per point and output, as a Polars frame."""
        import polars

        K, g = self.effect.shape
        columns = ("effect", "low", "high")
        found = {self.feature: np.tile(np.asarray(self.grid), K)}
        found |= {name: getattr(self, name).ravel() for name in columns}
        if self.outputs:
            found["output"] = np.repeat(np.array(self.outputs), g)
        return polars.DataFrame(found)

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        rows = [tuple(row) for row in self.to_frame().rows()]
        head = f"Accumulated effect of {self.feature} on the {self.target}"
        columns = (self.feature, "effect", "low", "high", *(["output"] if self.outputs else []))
        return f"{head}\n" + text_table(columns, [(str(r[0]), *r[1:]) for r in rows])


class Steps(NamedTuple):
    """Differences of the answers, row by row; a row of categories may stand in two intervals."""

    rows: IntArray  # (m,) row of each difference
    interval: IntArray  # (m,)
    difference: Array  # (m, outputs)
    n_intervals: int


# --- the table ---------------------------------------------------------------------------------


def _column(X: Any, j: int) -> Any:
    """Column j as a NumPy array."""
    if is_frame(X):
        found = X[:, j].to_numpy() if hasattr(X, "with_columns") else X.iloc[:, j].to_numpy()
        return np.asarray(found)
    return X[:, j]


def _replaced(X: Any, rows: IntArray, j: int, values: NDArray[Any]) -> Any:
    """Some rows with other values in column j, of the column's own type where it is no number."""
    if not is_frame(X):
        out = X[rows]
        out[:, j] = values
        return out
    if hasattr(X, "with_columns"):
        import polars

        part, kind = X[rows], X.dtypes[j]
        series = polars.Series(X.columns[j], values)
        return part.with_columns(series if kind.is_numeric() else series.cast(kind))
    part = X.iloc[rows].copy()
    old = X.iloc[:, j]
    words = not _is_number(_column(X, j))
    import pandas

    part.isetitem(j, pandas.Series(values, index=part.index).astype(old.dtype) if words else values)
    return part


def _is_number(column: NDArray[Any]) -> bool:
    return column.dtype.kind in "iuf"


def _table(X: ArrayLike) -> tuple[Any, list[str]]:
    """A frame as it is, anything else as an array; the names of the columns."""
    if is_frame(X):
        frame = indexable_frame(X)
        return frame, [str(name) for name in frame.columns]
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X must have two dimensions, got {rows.ndim}")
    rows = rows.astype(np.float64) if rows.dtype.kind in "iub" else rows
    return rows, [f"x{i}" for i in range(rows.shape[1])]


def _find(X: ArrayLike, feature: str | int, names: list[str]) -> int:
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"feature must be one of {names} or its place, got {feature!r}")
        return names.index(feature)
    check.whole(at_least=0, feature=feature)
    if feature >= len(names):
        raise ValueError(f"feature must be below {len(names)}, got {feature}")
    return int(feature)


def _answers(model: BaseEstimator, X: np.ndarray) -> Array:
    """(n, outputs): predictions, or probabilities; of two classes the second."""
    if hasattr(model, "predict_proba"):
        p = np.asarray(model.predict_proba(X))
        return p[:, 1:] if p.shape[1] == 2 else p
    return np.asarray(model.predict(X), dtype=np.float64).reshape(len(X), -1)


# --- intervals and categories ------------------------------------------------------------------


def interval_ends(x: Array, n_bins: int) -> Array:
    """Distinct quantiles that are values of x, from the least to the greatest.

    >>> interval_ends(np.array([1.0, 2.0, 2.0, 4.0]), 2)
    array([1., 2., 4.])
    """
    return np.unique(np.quantile(x, np.linspace(0, 1, n_bins + 1), method="inverted_cdf"))


def number_steps(model: BaseEstimator, X: ArrayLike, j: int, x: Array, z: Array) -> Steps:
    rows = np.flatnonzero(np.isfinite(x))
    interval = np.maximum(np.searchsorted(z, x[rows], side="left") - 1, 0)
    ends = [_answers(model, _replaced(X, rows, j, z[interval + side])) for side in (0, 1)]
    return Steps(rows, interval, ends[1] - ends[0], len(z) - 1)


def category_steps(
    model: BaseEstimator, X: ArrayLike, j: int, place: IntArray, levels: NDArray[Any]
) -> Steps:
    """``place``: where each row's category stands in ``levels``; -1 where it is missing."""
    top = len(levels) - 1
    up = np.flatnonzero((place >= 0) & (place < top))
    down = np.flatnonzero(place > 0)
    rows = np.concatenate([up, down])
    interval = np.concatenate([place[up], place[down] - 1])
    ends = [_answers(model, _replaced(X, rows, j, levels[interval + side])) for side in (0, 1)]
    return Steps(rows, interval, ends[1] - ends[0], top)


def similarity_order(X: np.ndarray, j: int, codes: IntArray, k: int) -> IntArray:
    """The categories in the order of their first coordinate by likeness in the other features."""
    if k < 3:
        return np.arange(k)
    D = np.zeros((k, k))
    for other in range(X.shape[1]):
        if other == j:
            continue
        column = _column(X, other)
        number = _is_number(column) or column.dtype.kind == "b"
        place = np.unique(column.astype(np.float64 if number else str), return_inverse=True)[1]
        table = np.zeros((k, place.max() + 1))
        known = codes >= 0
        np.add.at(table, (codes[known], place[known]), 1.0)
        table /= np.maximum(table.sum(axis=1, keepdims=True), 1.0)
        gap = table[:, None] - table[None]
        if number:
            D += np.abs(np.cumsum(gap, axis=2)).max(axis=2)
        else:
            D += 0.5 * np.abs(gap).sum(axis=2)
    centre = np.eye(k) - 1.0 / k
    _, vectors = np.linalg.eigh(-0.5 * centre @ (D * D) @ centre)
    first = vectors[:, -1]
    turned = first if first[0] <= first[-1] else -first
    return np.argsort(turned, kind="stable")


# --- curves ------------------------------------------------------------------------------------


def curve(steps: Steps, weight: Array, shares: Array, backup: Array | None) -> tuple[Array, Array]:
    """Centred curve (g, outputs) and the mean steps; an empty interval takes ``backup``'s step.

    shares (g,): how much of the rows each point stands for.
    """
    w = weight[steps.rows]
    mass = np.bincount(steps.interval, w, steps.n_intervals)
    sums = [np.bincount(steps.interval, w * d, steps.n_intervals) for d in steps.difference.T]
    total = np.stack(sums, axis=1)
    empty = mass == 0
    mean = total / np.where(empty, 1.0, mass)[:, None]
    if backup is not None:
        mean[empty] = backup[empty]
    path = np.concatenate([np.zeros((1, mean.shape[1])), np.cumsum(mean, axis=0)])
    return path - shares @ path / shares.sum(), mean


def _point_shares(interval: IntArray, n_points: int, w: Array, categorical: bool) -> Array:
    """The rows that each point stands for: half of both intervals around it, or its category."""
    if categorical:
        return np.bincount(interval, w, n_points).astype(np.float64)
    half = 0.5 * np.bincount(interval, w, n_points - 1)
    out = np.zeros(n_points)
    out[:-1] += half
    out[1:] += half
    return out


def accumulated_effects(
    model: BaseEstimator,
    X: ArrayLike,
    feature: str | int,
    *,
    n_bins: int = 20,
    categorical: bool | None = None,
    n_bootstrap: int = 200,
    confidence: float = 0.95,
    random_state: Seed = None,
) -> AccumulatedEffects:
    """The accumulated local effect of one feature on the predictions, centred, with a band.

    Parameters
    ----------
    model : fitted model or Pipeline
        Predictions are read, of classifiers the probabilities (of two classes the second).
    X : array or frame (pandas, polars)
        Rows as they occur.
    feature : str or int
        Name or place of a column.
    n_bins : int, default=20
        Intervals between quantiles; fewer where values repeat.
    categorical : bool or None, default=None
        None: columns that do not hold numbers. Rows with a missing cell are left out.
    n_bootstrap : int, default=200
        Draws of the rows for the band; the model stays as it is.
    confidence : float, default=0.95
        Of the band.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression
    >>> from pellucid.evaluation import accumulated_effects
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = LinearRegression().fit(X, 3 * X[:, 0] + X[:, 1])
    >>> found = accumulated_effects(model, X, 0, n_bins=5, random_state=0)
    >>> (np.diff(found.effect[0]) / np.diff(found.grid)).round(6).tolist()
    [3.0, 3.0, 3.0, 3.0, 3.0]
    """
    check_is_fitted(model)
    check.whole(n_bins=n_bins)
    check.whole(at_least=0, n_bootstrap=n_bootstrap)
    check.fraction(confidence=confidence)
    table, names = _table(X)
    j = _find(table, feature, names)
    words = not _is_number(_column(table, j)) if categorical is None else bool(categorical)
    grid, steps, place = _steps(model, table, j, names[j], words, n_bins)
    known = np.flatnonzero(place >= 0)
    points = len(grid)
    shares = _point_shares(place[known], points, np.ones(len(known)), words)
    centred, mean = curve(steps, np.ones(len(table)), shares, None)
    low = high = centred.T
    if n_bootstrap:
        rng, tail = generator(random_state), (1 - confidence) / 2
        curves = _resampled(steps, place, points, words, mean, n_bootstrap, rng)
        low, high = (part.T for part in np.quantile(curves, [tail, 1 - tail], axis=0))
    outputs, target = _targets(model, centred.shape[1])
    counts = np.bincount(place[known], minlength=points - (not words))
    described = outputs, target, words, confidence
    return AccumulatedEffects(names[j], grid, centred.T, low, high, counts, *described)


def _steps(
    model: BaseEstimator, X: np.ndarray, j: int, name: str, words: bool, n_bins: int
) -> tuple[Any, Steps, IntArray]:
    """The grid, the differences, and the interval or category of every row (-1: missing)."""
    column = _column(X, j)
    if not words:
        x = column.astype(np.float64)
        if not np.isfinite(x).any():
            raise ValueError(f"{name} holds no finite number")
        z = interval_ends(x[np.isfinite(x)], n_bins)
        if len(z) < 2:
            raise ValueError(f"{name} has one value only, {z[0]:g}: it has no effect to see")
        place = np.full(len(x), -1)
        found = number_steps(model, X, j, x, z)
        place[found.rows] = found.interval
        return z, found, place
    missing = np.array([v is None or v != v for v in column.tolist()])
    levels, codes = np.unique(column[~missing], return_inverse=True)
    if len(levels) < 2:
        raise ValueError(f"{name} has {len(levels)} categories; two are needed to see an effect")
    place = np.full(len(column), -1)
    place[~missing] = codes
    order = similarity_order(X, j, place, len(levels))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    place[~missing] = rank[codes]
    return levels[order], category_steps(model, X, j, place, levels[order]), place


def _resampled(
    steps: Steps, place: IntArray, points: int, words: bool, mean: Array, draws: int, rng: Rng
) -> Array:
    """The curves of rows drawn again, (draws, g, outputs)."""
    n, known = len(place), place >= 0
    curves = []
    for _ in range(draws):
        w = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
        shares = _point_shares(place[known], points, w[known], words)
        if shares.sum() > 0:
            curves.append(curve(steps, w, shares, mean)[0])
    return np.array(curves)


def _targets(model: BaseEstimator, K: int) -> tuple[tuple[str, ...], str]:
    if not hasattr(model, "predict_proba"):
        return (() if K == 1 else tuple(f"target {k}" for k in range(K))), "prediction"
    classes = [str(c) for c in np.asarray(model.classes_).tolist()]
    if len(classes) == 2:
        return (), f"probability of {classes[1]}"
    return tuple(classes), "probability"

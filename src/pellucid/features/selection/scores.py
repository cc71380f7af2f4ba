r"""How much one column tells of the target: correlation, F tests, mutual information.

    r_j = sum (x_ij - m_j)(y_i - m)/ sqrt(sum (x_ij - m_j)^2 sum (y_i - m)^2)
    F_j = r_j^2 / (1 - r_j^2) (n - 2)                       ~ F(1, n - 2) without relation
    F_j = [B_j/(K - 1)] / [W_j/(n - K)],   B between, W within the K classes,   ~ F(K - 1, n - K)
    I_j = psi(n) + psi(k) - mean psi(n_x + 1) - mean psi(n_y + 1)

r and F follow from sums over the rows (``SUMMED``): arrays and blocks go through the same function
of a source of rows and a map, and get the same bits. (F of classes in a sparse table: the same
up to rounding, since a sparse table in memory is one leaf.) I needs all rows at once.

I is Kraskov's estimate of the mutual information: around each point the square that reaches its
k-th neighbour (larger of both distances) holds n_x points in x and n_y in y. With whole classes on
one side (Ross) the neighbours are taken within the class. The counts come from sorted columns.

References: Kraskov, Stoegbauer & Grassberger (2004); Ross (2014).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from scipy.spatial import cKDTree
from scipy.special import digamma, fdtrc
from sklearn.utils.validation import check_consistent_length, column_or_1d

from pellucid.base import encode_labels
from pellucid.compiled.counts.moments import ClassMoments, class_moments, merge_class_moments
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.sparse import column_spread
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Map, Rng, Seed
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows, unit_weights
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.features.selection.kernels import relate

LARGEST = float(np.finfo(np.float64).max)  # stands for the infinite F of a perfect relation


class Relation(NamedTuple):
    """Sums of every column with the target, from their means."""

    weight: float
    mean: Array  # (p,)
    y_mean: float
    squares: Array  # (p,)
    cross: Array  # (p,)
    y_squares: float


def relation(rows: Rows) -> Relation:
    """Sums of one leaf."""
    if issparse(rows.X):
        spread, y_mean = column_spread(rows.X, unit_weights(rows.n_rows)), rows.y.mean()
        v = rows.y - y_mean  # they sum to 0: the means of X are not needed
        return Relation(*spread[:2], y_mean, spread.squares, rows.X.T @ v, v @ v)
    X = rows.X if rows.X.flags.writeable else rows.X.copy()  # a read-only array would recompile
    v = rows.y - rows.y[0]
    y_offset = v.mean()
    v -= y_offset
    shift, squares, cross = np.zeros((3, X.shape[1]))
    relate(X, v, shift, squares, cross)
    return Relation(len(X), X[0] + shift, rows.y[0] + y_offset, squares, cross, v @ v)


def merge_relations(a: Relation, b: Relation) -> Relation:
    """Sums of two leaves taken together (Chan)."""
    weight = a.weight + b.weight
    gap, y_gap, share = b.mean - a.mean, b.y_mean - a.y_mean, a.weight * b.weight / weight
    return Relation(
        weight,
        a.mean + gap * b.weight / weight,
        a.y_mean + y_gap * b.weight / weight,
        a.squares + b.squares + gap**2 * share,
        a.cross + b.cross + gap * y_gap * share,
        a.y_squares + b.y_squares + y_gap**2 * share,
    )


def _table(X: ArrayLike) -> Any:
    X = frame_matrix(X) if is_frame(X) else X
    return check_array(X, accept_sparse="csr", dtype=np.float64, order="C")


def correlations(
    rows: Source, map_: Map, *, center: bool = True, force_finite: bool = True
) -> Array:
    """Pearson's correlation of every column with a target of numbers; see ``r_regression``."""
    total = reduce_rows(Statistic(relation, merge_relations), rows, map_)
    squares, cross, y_squares = total.squares, total.cross, total.y_squares
    if not center:
        n, mean, y_mean = total.weight, total.mean, total.y_mean
        squares, y_squares = squares + n * mean**2, y_squares + n * y_mean**2
        cross = cross + n * mean * y_mean
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.clip(cross / np.sqrt(squares) / np.sqrt(y_squares), -1.0, 1.0)
    return np.where(np.isfinite(r), r, 0.0) if force_finite else r


def regression_tests(
    rows: Source, map_: Map, *, center: bool = True, force_finite: bool = True
) -> tuple[Array, Array]:
    """F and p of the regression of the target on each column alone; see ``f_regression``."""
    r = correlations(rows, map_, center=center, force_finite=force_finite)
    free = rows.n_rows - (2 if center else 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        F = r**2 / (1 - r**2) * free
    p = np.where(np.isinf(F), 0.0, fdtrc(1, free, np.where(np.isinf(F), 0.0, F)))
    if force_finite:
        p = np.where(np.isnan(F), 1.0, p)
        F = np.where(np.isinf(F), LARGEST, np.nan_to_num(F, nan=0.0, posinf=LARGEST))
    return F, p


def _numbered(X: Any, y: Any) -> Rows:
    """Checked rows with a target of numbers."""
    X = _table(X)
    y = column_or_1d(y).astype(np.float64)
    check_consistent_length(X, y)
    check_array(y, ensure_2d=False)
    return Rows(X, y, unit_weights(len(y)))


def r_regression(X: Any, y: Any, *, center: bool = True, force_finite: bool = True) -> Array:
    """Pearson's correlation of every column of ``X`` with the target ``y``.

    ``center=False``: about 0 instead of the means. ``force_finite``: a constant column or target
    has correlation 0 instead of NaN.

    >>> r_regression([[1.0, 3.0], [2.0, 1.0], [3.0, 2.0]], [1.0, 2.0, 3.0])
    array([ 1. , -0.5])
    """
    return correlations(_numbered(X, y), map_threads, center=center, force_finite=force_finite)


def f_regression(
    X: Any, y: Any, *, center: bool = True, force_finite: bool = True
) -> tuple[Array, Array]:
    """F statistic and p-value of the regression of ``y`` on each column of ``X`` alone.

    ``center=False``: without an intercept. ``force_finite``: a perfect relation has the largest
    number as F, a constant column F 0, p 1.

    >>> F, p = f_regression([[1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 2.0, 4.0])
    >>> F.round(4), p.round(4)
    (array([3.5556]), array([0.2]))
    """
    return regression_tests(_numbered(X, y), map_threads, center=center, force_finite=force_finite)


def label_moments(rows: Rows) -> ClassMoments:
    """Moments of one leaf within each class, up to the last class that it has."""
    n_classes = int(rows.y.max()) + 1
    if not issparse(rows.X):
        return class_moments(rows._replace(w=unit_weights(rows.n_rows)), n_classes)
    groups = [rows.X[np.flatnonzero(rows.y == k)] for k in range(n_classes)]
    parts = [column_spread(group, unit_weights(group.shape[0])) for group in groups]
    total, mean, scatter = (np.array(field) for field in zip(*parts, strict=True))
    weight = np.repeat(total[:, None], rows.X.shape[1], axis=1)
    return ClassMoments(total, weight, mean, scatter)


def merge_label_moments(a: ClassMoments, b: ClassMoments) -> ClassMoments:
    """Moments of two leaves, each of which may lack the last classes of the other."""
    n_classes = max(len(a.total), len(b.total))
    return merge_class_moments(with_classes(a, n_classes), with_classes(b, n_classes))


def with_classes(found: ClassMoments, n_classes: int) -> ClassMoments:
    """The same moments, followed by classes without rows."""
    empty = n_classes - len(found.total)
    fields = [np.concatenate([f, np.zeros((empty, *f.shape[1:]))]) for f in found]
    return ClassMoments(*fields) if empty else found


def class_tests(rows: Source, map_: Map) -> tuple[Array, Array]:
    """F and p of equal means of the classes, whose codes are the target; see ``f_classif``."""
    if isinstance(rows, Rows) and issparse(rows.X):  # one leaf: K x p sums of each would cost more
        found = label_moments(rows)
    else:
        found = reduce_rows(Statistic(label_moments, merge_label_moments), rows, map_)
    total, weight, means, scatter = found
    K, n = len(total), rows.n_rows
    mean = (weight / n * means).sum(axis=0)
    between = (weight * (means - mean) ** 2).sum(axis=0)
    within = scatter.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        F = (between / (K - 1)) / (within / (n - K))
    p = np.where(np.isinf(F), 0.0, fdtrc(K - 1, n - K, np.where(np.isinf(F), 0.0, F)))
    return F, p


def f_classif(X: Any, y: Any) -> tuple[Array, Array]:
    """F and p-value of the equality of the means of the classes ``y``, for every column of ``X``.

    A constant column has F NaN: there is nothing to compare.

    >>> F, p = f_classif([[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"])
    >>> F, p.round(4)
    (array([32.]), array([0.0299]))
    """
    X = _table(X)
    _, codes = encode_labels(column_or_1d(y))
    check_consistent_length(X, codes)
    return class_tests(Rows(X, codes, unit_weights(len(codes))), map_threads)


class Summed(NamedTuple):
    """A score that follows from sums over the rows, for arrays and for blocks."""

    function: Callable[..., Any]  # of (X, y), as it is given to a filter
    target: str  # "number", or "label": codes 0..K-1
    score: Callable[[Source, Map], Any]


SUMMED = (
    Summed(f_classif, "label", class_tests),
    Summed(f_regression, "number", regression_tests),
    Summed(r_regression, "number", correlations),
)


# --- mutual information ------------------------------------------------------------------------


def mutual_info_regression(
    X: Any,
    y: Any,
    *,
    discrete_features: str | bool | ArrayLike = "auto",
    n_neighbors: int = 3,
    copy: bool = True,
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> Array:
    """Mutual information (in nats) of every column of ``X`` with a continuous target ``y``, >= 0.

    ``discrete_features``: "auto" (sparse columns), True, False, a mask or positions;
    ``n_neighbors``: k of the estimate; ``random_state`` of the noise of 1e-10 that breaks ties;
    ``copy`` and ``n_jobs`` are accepted for scikit-learn's sake (X is never changed, all threads
    are used).

    >>> x = np.linspace(0, 1, 200)
    >>> found = mutual_info_regression(np.column_stack([x, np.sin(50 * x)]), x**2, random_state=0)
    >>> bool(found[0] > 3 > found[1])
    True
    """
    check.whole(n_neighbors=n_neighbors)
    sparse = issparse(X)
    X = _table(X)
    y = column_or_1d(y).astype(np.float64)
    check_consistent_length(X, y)
    check_array(y, ensure_2d=False)
    discrete = discrete_mask(discrete_features, X.shape[1], sparse=sparse)
    if sparse and not discrete.all():
        raise ValueError("a sparse X cannot have continuous columns here; make it dense")
    rng = generator(random_state)
    columns = X.tocsc() if sparse else X
    target = jittered(y, rng)
    noise = [np.zeros(0) if d else rng.standard_normal(len(y)) for d in discrete]

    def information(j: int) -> float:
        x = columns[:, [j]].toarray().ravel() if sparse else columns[:, j]
        if discrete[j]:
            return class_information(target, x, n_neighbors)
        return pair_information(unit_scale(x, noise[j]), target, n_neighbors)

    return np.array(list(map_threads(information, range(X.shape[1]))))


def discrete_mask(discrete_features: str | bool | ArrayLike, p: int, *, sparse: bool) -> BoolArray:
    """Which columns are discrete."""
    if isinstance(discrete_features, str):
        check.one_of(("auto",), discrete_features=discrete_features)
        return np.full(p, sparse)
    if isinstance(discrete_features, bool | np.bool_):
        return np.full(p, bool(discrete_features))
    given = np.asarray(discrete_features)
    if given.dtype == bool:
        if given.shape != (p,):
            raise ValueError(f"discrete_features must have one entry per column ({p})")
        return given
    mask = np.zeros(p, dtype=bool)
    mask[given] = True
    return mask


def unit_scale(x: Array, noise: Array) -> Array:
    """x divided by its standard deviation, with a little noise against ties."""
    spread = x.std()
    x = x / (spread if spread > 0 else 1.0)
    return x + 1e-10 * max(1.0, float(np.abs(x).mean())) * noise


def jittered(y: Array, rng: Rng) -> Array:
    return unit_scale(y, rng.standard_normal(len(y)))


def pair_information(x: Array, y: Array, k: int) -> float:
    """Kraskov's estimate for two continuous variables."""
    n = len(x)
    if n <= k:
        raise ValueError(f"n_neighbors={k} needs more than {k} rows, got {n}")
    points = np.column_stack([x, y])
    radius = np.nextafter(cKDTree(points).query(points, k + 1, p=np.inf)[0][:, k], 0)
    inside = [counts_within(v, radius) for v in (x, y)]
    value = digamma(n) + digamma(k) - sum(digamma(m).mean() for m in inside)
    return max(0.0, float(value))


def class_information(y: Array, labels: Array, k: int) -> float:
    """Ross's estimate for a continuous and a discrete variable."""
    _, codes = np.unique(labels, return_inverse=True)
    size = np.bincount(codes)
    kept = size[codes] > 1  # a value that occurs once has no neighbour of its own
    n = int(kept.sum())
    if n == 0:
        return 0.0
    radius, near = np.empty(len(y)), np.minimum(k, size - 1)
    for c in np.flatnonzero(size > 1):
        rows = codes == c
        radius[rows] = np.nextafter(kth_distance(y[rows], int(near[c])), 0)
    inside = counts_within(y[kept], radius[kept])
    own = codes[kept]
    value = digamma(n) + digamma(near[own]).mean() - digamma(size[own]).mean()
    value -= digamma(inside).mean()
    return max(0.0, float(value))


def counts_within(v: Array, radius: Array) -> IntArray:
    """How many values lie within the radius of each, itself counted."""
    s = np.concatenate([[-np.inf], np.sort(v), [np.inf]])
    high = np.searchsorted(s, v + radius, side="right")  # v + radius is rounded: look again
    high -= s[high - 1] - v > radius
    high += s[high] - v <= radius
    low = np.searchsorted(s, v - radius, side="left")
    low += v - s[low] > radius
    low -= v - s[low - 1] <= radius
    return high - low


def kth_distance(v: Array, k: int) -> Array:
    """The distance of each number to its k-th nearest other: some window of k + 1 in order."""
    order = np.argsort(v, kind="stable")
    s = v[order]
    n = len(s)
    best = np.full(n, np.inf)
    for below in range(k + 1):  # the window begins ``below`` places before
        i = np.arange(below, n - (k - below))
        far = np.maximum(s[i] - s[i - below], s[i + k - below] - s[i])
        best[i] = np.minimum(best[i], far)
    out = np.empty(n)
    out[order] = best
    return out

r"""Bins: a column of numbers becomes the number of the interval it falls in.

    z = number of inner edges <= x,      edges e_0 < e_1 < ... < e_K

    uniform     e_k = min + (max - min) k/K
    quantile    e_k = quantile k/K of the column
    kmeans      inner edges half way between the centres of k-means in one dimension, started from
                the centres of the uniform bins

In one dimension the rows of a cluster are a run of the sorted column. With running sums of w and
w x a step of Lloyd's algorithm is K binary searches and K divisions, whatever the number of rows:
O(n log n) once to sort, then O(K log n) a step.
"""

from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils import resample
from sklearn.utils.stats import _weighted_percentile
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.scale import scaled, unit_exponent
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.features.encoding.bin_kernels import bin_rows
from pellucid.features.encoding.categories import Found, indicator_matrix, row_blocks

ENCODE = ("onehot", "onehot-dense", "ordinal")
RULES = {
    "uniform": "bins of equal width",
    "quantile": "bins of equal weight",
    "kmeans": "cells of one-dimensional k-means",
}
STRATEGY = tuple(RULES)
METHODS = (
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "linear",
    "median_unbiased",
    "normal_unbiased",
)
ROUNDING = 4 * np.finfo(np.float64).eps  # of the edges: a bin not wider than that is merged
MAX_STEPS = 300
TOLERANCE = 1e-4  # of the variance: scikit-learn's rule for the movement of the centres


def uniform_edges(low: float, high: float, k: int) -> Array:
    """k bins of equal width."""
    unit = unit_exponent([low, high]) + 1  # high - low may be no number, in this unit it is
    ends = scaled([low, high], unit)
    return scaled(np.linspace(ends[0], ends[1], k + 1), -unit)


def merged_edges(edges: Array) -> Array:
    """The edges without those that differ from the one before by no more than rounding.

    >>> merged_edges(np.array([0.0, 1e-9, 1e-9, 2e-9]))
    array([0.e+00, 1.e-09, 2.e-09])
    """
    near = ROUNDING * np.maximum(np.abs(edges[1:]), np.abs(edges[:-1]))
    return edges[np.append(True, edges[1:] / 2 - edges[:-1] / 2 > near / 2)]


def quantile_edges(x: Array, w: Array | None, k: int, method: Any) -> Array:
    """k bins of about equal weight."""
    levels, unit = np.linspace(0, 100, k + 1), unit_exponent(x) + 1
    x = scaled(x, unit)
    if w is None:
        edges = np.percentile(x, levels, method=method)
    else:
        average = method == "averaged_inverted_cdf"
        edges = _weighted_percentile(x, w, levels, average=average)
    return scaled(edges, -unit)


class Runs(NamedTuple):
    """A sorted column with running sums: what a range of rows weighs and adds up to."""

    x: Array  # (n,) sorted, centred
    weight: Array  # (n + 1,)
    total: Array  # (n + 1,)


def kmeans_centers(x: Array, w: Array, start: Array, tolerance: float = TOLERANCE) -> Array:
    """The centres of one-dimensional k-means from the given start, sorted.

    It stops when no row changes its cell, or when the squared movement of the centres is at most
    ``tolerance`` times the variance.

    >>> kmeans_centers(np.array([0.0, 1.0, 9.0, 11.0]), np.ones(4), np.array([2.5, 7.5]))
    array([ 0.5, 10. ])
    """
    order = np.argsort(x, kind="stable")
    x, w = x[order], w[order]
    mean = np.average(x, weights=w)
    x = x - mean  # running sums lose no digits to a common offset
    runs = Runs(x, np.append(0.0, np.cumsum(w)), np.append(0.0, np.cumsum(w * x)))
    centers, cuts = np.sort(start) - mean, None
    least = tolerance * float(np.average(x**2, weights=w))
    for _ in range(MAX_STEPS):
        new_cuts = np.searchsorted(x, (centers[1:] + centers[:-1]) / 2, side="right")
        moved = _means(runs, centers, new_cuts)
        shift = float(((moved - centers) ** 2).sum())
        same = cuts is not None and np.array_equal(cuts, new_cuts)
        centers, cuts = np.sort(moved), new_cuts
        if same or shift <= least:
            break
    return centers + mean


def _means(runs: Runs, centers: Array, cuts: IntArray) -> Array:
    """The mean of each run between the cuts; an empty run takes the row farthest from its own."""
    ends = np.concatenate([[0], cuts, [len(runs.x)]])
    weight = np.diff(runs.weight[ends])
    total = np.diff(runs.total[ends])
    empty = np.flatnonzero(weight == 0)
    if len(empty):
        owner = np.repeat(np.arange(len(centers)), np.diff(ends))
        far = np.argsort(-((runs.x - centers[owner]) ** 2), kind="stable")[: len(empty)]
        for j, row in zip(empty, far, strict=False):
            mass = runs.weight[row + 1] - runs.weight[row]
            total[j], weight[j] = mass * runs.x[row], mass
            total[owner[row]] -= mass * runs.x[row]
            weight[owner[row]] -= mass
    inside = weight > 0
    return np.where(inside, total / np.where(inside, weight, 1.0), centers)


def kmeans_edges(x: Array, w: Array | None, low: float, high: float, k: int) -> Array:
    """Edges half way between the centres of one-dimensional k-means."""
    unit = unit_exponent([low, high])
    edges = scaled(uniform_edges(low, high, k), unit)
    weights = np.ones(len(x)) if w is None else w
    centers = kmeans_centers(scaled(x, unit), weights, (edges[1:] + edges[:-1]) / 2)
    return np.concatenate([[low], scaled((centers[1:] + centers[:-1]) / 2, -unit), [high]])


class KBinsDiscretizer(Transformer):
    """Numbers become bins.

    Parameters
    ----------
    n_bins : int or array of shape (n_features,), default=5
        Bins of each column, at least 2.
    encode : {'onehot', 'onehot-dense', 'ordinal'}, default='onehot'
        One 0/1 column per bin (sparse or dense), or the number of the bin.
    strategy : {'uniform', 'quantile', 'kmeans'}, default='quantile'
        Equal widths, equal weights, or the cells of one-dimensional k-means.
    quantile_method : str, default='averaged_inverted_cdf'
        A method of ``numpy.percentile``; with weights this one or 'inverted_cdf'.
    dtype : {np.float32, np.float64} or None, default=None
        Type of the output; None keeps that of the input.
    subsample : int or None, default=200000
        Edges are found from so many rows drawn with replacement where there are more.
    random_state : int, RandomState or None, default=None
        Which rows are drawn.

    Attributes
    ----------
    bin_edges_ : array of n_features arrays
    n_bins_ : array of shape (n_features,)
        Bins left after equal edges were merged.
    n_features_in_, feature_names_in_ : the training table's columns

    Examples
    --------
    >>> from pellucid import KBinsDiscretizer
    >>> bins = KBinsDiscretizer(n_bins=3, encode="ordinal", strategy="uniform")
    >>> bins.fit_transform([[0.0], [4.0], [5.0], [9.0]]).ravel()
    array([0., 1., 1., 2.])
    >>> bins.bin_edges_[0]
    array([0., 3., 6., 9.])
    """

    def __init__(
        self,
        n_bins: int | ArrayLike = 5,
        *,
        encode: str = "onehot",
        strategy: str = "quantile",
        quantile_method: str = "averaged_inverted_cdf",
        dtype: DTypeLike | None = None,
        subsample: int | None = 200_000,
        random_state: Seed = None,
    ) -> None:
        self.n_bins = n_bins
        self.encode = encode
        self.strategy = strategy
        self.quantile_method = quantile_method
        self.dtype = dtype
        self.subsample = subsample
        self.random_state = random_state

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the edges of the bins of every column."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        context = FitContext(self, X=rows.X, sample_weight=sample_weight)
        n_bins = self._bins_wanted(rows.X.shape[1])
        values, w = rows.X, None if sample_weight is None else rows.w
        weighted = METHODS[:2]
        if self.strategy == "quantile" and w is not None and self.quantile_method not in weighted:
            need = "'averaged_inverted_cdf' or 'inverted_cdf'"
            given = f"got {self.quantile_method!r}"
            raise ValueError(f"with sample_weight quantile_method must be {need}, {given}")
        if self.subsample is not None and len(values) > self.subsample:
            seed = self.random_state
            if not isinstance(seed, Integral | np.random.RandomState):  # leave the global one alone
                seed = np.random.RandomState(int(generator(seed).integers(2**32)))
            drawn = {"n_samples": self.subsample, "random_state": seed, "sample_weight": w}
            values, w = resample(values, replace=True, **drawn), None
        one = lambda j: self._edges(values[:, j], w, int(n_bins[j]))  # noqa: E731
        found = list(map_threads(one, range(len(n_bins))))
        self._tell(found, n_bins)
        edges = np.empty(len(found), dtype=object)
        edges[:] = found
        self.bin_edges_ = edges
        self.n_bins_ = np.array([len(e) - 1 for e in found])
        context.end()
        return self

    def _check_parameters(self) -> None:
        check.one_of(ENCODE, encode=self.encode)
        check.one_of(STRATEGY, strategy=self.strategy)
        check.one_of(METHODS, quantile_method=self.quantile_method)
        if self.subsample is not None:
            check.whole(subsample=self.subsample)
        if self.dtype not in (None, np.float32, np.float64):
            raise ValueError(f"dtype must be np.float32, np.float64 or None, got {self.dtype!r}")
        if np.ndim(self.n_bins) == 0:
            check.whole(at_least=2, n_bins=self.n_bins)
        generator(self.random_state)

    def _bins_wanted(self, p: int) -> Any:
        if np.ndim(self.n_bins) == 0:
            return np.full(p, self.n_bins).astype(int)
        wanted = np.asarray(self.n_bins)
        if wanted.shape != (p,):
            need = f"a scalar or array of shape (n_features,). There are {p} columns"
            raise ValueError(f"n_bins must be {need}, got shape {wanted.shape}")
        for j, k in enumerate(wanted.tolist()):
            if not isinstance(k, int) or k < 2:
                name = self._column_name(j)
                raise ValueError(f"n_bins of {name} must be a whole number >= 2, got {k!r}")
        return wanted.astype(int)

    def _edges(self, x: Array, w: Array | None, k: int) -> Array:
        inside = x if w is None or self.strategy == "quantile" else x[w != 0]
        low, high = float(inside.min()), float(inside.max())
        if low == high:
            return np.array([-np.inf, np.inf])
        if self.strategy == "uniform":
            return uniform_edges(low, high, k)
        if self.strategy == "quantile":
            edges = quantile_edges(x, w, k, self.quantile_method)
        else:
            edges = kmeans_edges(np.ascontiguousarray(x), w, low, high, k)
        edges = merged_edges(edges)
        return edges if len(edges) > 1 else np.array([-np.inf, np.inf])

    def _tell(self, found: list[Array], wanted: IntArray) -> None:
        """Say which columns have fewer bins than asked for."""
        for j, edges in enumerate(found):
            left = len(edges) - 1
            few = f"{left} of {wanted[j]} are left"
            what = f"Bins whose width are too small in feature {j} are removed, {few}."
            what += " Consider decreasing the number of bins."
            if np.isinf(edges[0]):
                what = f"Feature {j} is constant and will be replaced with 0."
            if left < wanted[j]:
                warn(f"{what} ({self._column_name(j)})")

    def _codes(self, X: np.ndarray) -> Any:
        inner = [np.asarray(edges, dtype=np.float64)[1:-1] for edges in self.bin_edges_]
        starts = np.append(0, np.cumsum([len(e) for e in inner])).astype(np.int64)
        flat = np.concatenate([*inner, [0.0]])
        codes = np.empty((X.shape[1], X.shape[0]), np.int32)
        list(map_threads(lambda b: bin_rows(X, flat, starts, *b, codes), row_blocks(len(X))))
        return codes

    def _check_state(self) -> None:
        super()._check_state()
        for edges in getattr(self, "bin_edges_", ()):
            if edges.ndim != 1 or edges.dtype != np.float64 or len(edges) < 2:
                raise ValueError("bin_edges_ must be columns of at least two numbers")

    def transform(self, X: ArrayLike) -> Any:
        """The bin of every cell, encoded as asked."""
        own = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
        kind = own if self.dtype is None else self.dtype
        codes = self._codes(self._check_input(X))
        if self.encode == "ordinal":
            return np.ascontiguousarray(codes.T, dtype=kind)
        sizes = [len(edges) - 1 for edges in self.bin_edges_]
        begins = np.append(0, np.cumsum(sizes)).tolist()
        maps = [np.arange(a, b) for a, b in pairwise(begins)]
        matrix = indicator_matrix(Found(maps, codes), maps, begins[-1], kind)
        return matrix if self.encode == "onehot" else matrix.toarray()

    def inverse_transform(self, X: Any) -> Any:
        """The middle of the bin of every cell."""
        check_is_fitted(self)
        sizes = [len(edges) - 1 for edges in self.bin_edges_]
        if self.encode == "ordinal":
            X = check_array(X, dtype=(np.float64, np.float32))
            _same_width(X, len(sizes))
            bins = X.astype(np.int64)
        else:
            X = check_array(X, accept_sparse="csr")
            _same_width(X, sum(sizes))
            begins = np.append(0, np.cumsum(sizes)).tolist()
            parts = [X[:, a:b] for a, b in pairwise(begins)]
            bins = np.column_stack([np.asarray(part.argmax(axis=1)).ravel() for part in parts])
        out = np.empty(bins.shape, X.dtype if X.dtype == np.float32 else np.float64)
        for j, edges in enumerate(self.bin_edges_):
            with np.errstate(invalid="ignore"):  # a constant column has no middle
                out[:, j] = (edges[1:] * 0.5 + edges[:-1] * 0.5)[bins[:, j]]
        return out

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the columns of ``transform``."""
        names = self._names_in(input_features)
        if self.encode == "ordinal":
            return names
        pairs = zip(names, self.bin_edges_, strict=True)
        wide = [f"{name}_{float(k)}" for name, edges in pairs for k in range(len(edges) - 1)]
        return np.array(wide, dtype=object)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        return Card(
            f"a number is replaced by its bin; {RULES[self.strategy]}",
            "none but for kmeans: the sum of squared distances to the centre of the bin",
            "quantiles or running sums of the sorted column",
            {"inputs": self.n_features_in_, "bins": int(np.sum(self.n_bins_))},
        )


def _same_width(X: np.ndarray, width: int) -> None:
    if X.shape[1] != width:
        raise ValueError(
            f"Incorrect number of features: transform gives {width}, X has {X.shape[1]}"
        )

r"""Categorical naive Bayes: each feature is one of several values.

Model        k ~ pi,   x_j | k ~ Categorical(theta_kj1 .. theta_kjV), independent over j
Estimator    theta_kjv = (n_kjv + alpha) / (n_kj + alpha V_j), n_kjv the weight of the rows of
             class k with value v, n_kj its sum over v (missing cells are not in it)
             V_j = values of the feature in the whole data, or with ``levels="class"`` those seen
             in class k; pi_k = (n_k + a) / (n + a K), a = ``prior_alpha``
Joint        log p(x, k) = log pi_k + sum_j log theta_kjx_j
Algorithm    number the values of every column (features.categories), count them within the
             classes.    O(n p)

Two sets of rows merge by the union of their values and the sum of their counts. With
``levels="class"`` a value that the class never showed still has count 0: alpha / (n_kj + alpha V).

References: Mitchell (1997), section 6.9; Manning, Raghavan & Schuetze (2008), chapter 13.
"""

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np

from pellucid.base import check_weights, fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Map, Rng
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.features.encoding.categories import (
    Found,
    find_values,
    look_up,
    sorted_values,
    value_matrix,
)
from pellucid.naive_bayes.count_kernels import count_categories, score_categories
from pellucid.naive_bayes.counts import (
    LEAST_ALPHA,
    RAISED_ALPHA,
    ZeroCountWarning,
    class_prior,
    log_class_prior,
    log_shares,
    zero_count,
)
from pellucid.naive_bayes.naive_bayes import NaiveBayes


class CategoryCounts(NamedTuple):
    total: Array  # (K,)
    values: list[Any]  # p sorted arrays (V_j,)
    tables: list[Array]  # p arrays (K, V_j)


class Cells(NamedTuple):
    """Numbered cells of a table; a matrix as far as checks of lengths go."""

    found: Found

    @property
    def shape(self) -> tuple[int, int]:
        return self.found.n_rows, len(self.found.values)


def is_absent(values: Array) -> Any:
    """Which values stand for a missing cell: NaN or None."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), bool)
    return np.array([v is None or v != v for v in values.tolist()], bool)


def category_counts(found: Found, c: IntArray, w: Array, n_classes: int) -> CategoryCounts:
    """Count the values of every column within the classes.

    >>> found = find_values([np.array(["b", "a", "b"])])
    >>> counts = category_counts(found, np.array([0, 0, 1]), np.ones(3), 2)
    >>> counts.values[0].tolist(), counts.tables[0].tolist()
    (['a', 'b'], [[1.0, 1.0], [0.0, 1.0]])
    """
    w = np.ascontiguousarray(w)
    total = np.bincount(c, w, n_classes).astype(np.float64)
    values, count = [], []
    for j, raw in enumerate(found.values):
        known = sorted_values(raw[~is_absent(raw)])
        table = np.zeros((n_classes, len(known)))
        if len(known):
            count_categories(found.codes[j], look_up(raw, known), c, w, table)
            weighted = table.any(axis=0)  # a value of weight 0 is absent
            known, table = known[weighted], table[:, weighted]
        values.append(known)
        count.append(table)
    return CategoryCounts(total, values, count)


def leaf_categories(rows: Rows, n_classes: int) -> CategoryCounts:
    """The same of a leaf of numbers."""
    found = find_values([rows.X[:, j] for j in range(rows.X.shape[1])])
    return category_counts(found, rows.y, rows.w, n_classes)


def merge_categories(a: CategoryCounts, b: CategoryCounts) -> CategoryCounts:
    """Counts of two disjoint sets of rows taken together: the union of their values."""
    values, count = [], []
    for va, Na, vb, Nb in zip(a.values, a.tables, b.values, b.tables, strict=True):
        both = va if len(vb) == 0 else vb if len(va) == 0 else _union(va, vb)
        table = np.zeros((len(Na), len(both)))
        for v, N in ((va, Na), (vb, Nb)):
            if len(v):
                table[:, look_up(v, both)] += N
        values.append(both)
        count.append(table)
    return CategoryCounts(a.total + b.total, values, count)


def _union(a: Array, b: Array) -> Any:
    fresh = b[look_up(b, a) < 0]
    return sorted_values(np.concatenate([a, fresh])) if len(fresh) else a


def fit_categorical(count: Array, alpha: Any, levels: str) -> Array:
    """log theta (K, V) of one feature.

    >>> np.exp(fit_categorical(np.array([[3.0, 1.0, 0.0]]), 1.0, "data")).round(4)
    array([[0.5714, 0.2857, 0.1429]])
    """
    V = count.shape[1]
    smoothed = count + alpha
    pseudo = np.broadcast_to(alpha, count.shape)
    shown = count > 0 if levels == "class" else np.ones_like(count, bool)
    total = count.sum(axis=1, keepdims=True) + (pseudo * shown).sum(axis=1, keepdims=True)
    return log_shares(smoothed, total, max(V, 1))


class CategoricalNB(NaiveBayes):
    """Naive Bayes for categories: strings, numbers, frames' categoricals as they are.

    Missing cells (NaN, None) are left out in fit and prediction. A value not seen in the fit is
    left out too, with a warning. ``sample_weight`` equals repetition. Whole-number codes need no
    preparation; where codes have gaps, scikit-learn counts the gaps as categories, here only
    ``min_categories`` does.

    Parameters
    ----------
    alpha : float or list, default=1.0
        Pseudo-counts of each value, ``>= 0``; or for each feature an array (V,) or (K, V).
    force_alpha : bool, default=True
        False raises pseudo-counts below 1e-10 to it, with a warning.
    fit_prior : bool, default=True
        Whether the prior is the shares of the classes; False: all equal.
    class_prior : array of shape (n_classes,), default=None
        Class probabilities that replace both.
    min_categories : int, array of shape (n_features,) or None, default=None
        X holds codes 0, 1, ...; each feature has at least so many, and all up to its largest.
    prior_alpha : float, default=0.0
        Pseudo-rows of each class in the prior: (n_k + a) / (n + a K).
    levels : {"data", "class"}, default="data"
        V counts the values of the whole data, or those seen in the class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
    categories_ : list of sorted arrays, the values of each feature
    category_count_, feature_log_prob_ : list of arrays of shape (n_classes, V)
        Weight and log probability of each value in each class.
    n_categories_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import CategoricalNB
    >>> X = [["a"], ["a"], ["b"], ["b"], ["c"], ["a"], ["a"], ["b"]]
    >>> model = CategoricalNB().fit(X, [1, 1, 1, 0, 0, 1, 0, 0])
    >>> model.feature_log_prob_[0][1].round(4)  # log of 4/7, 2/7, 1/7
    array([-0.5596, -1.2528, -1.9459])
    """

    _answers_nonfinite = True  # log 0 of a row that cannot be

    fit_blocks = fit_blocks

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        min_categories: int | ArrayLike | None = None,
        prior_alpha: float = 0.0,
        levels: str = "data",
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.prior_alpha = prior_alpha
        self.levels = levels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.classifier_tags.poor_score = True
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        cells = Cells(find_values(self._check_columns(X, reset=True)))
        c = self._check_target(y, cells.shape[0])
        w = check_weights(sample_weight, cells)
        context = FitContext.of_one_step(self, X, y, sample_weight)
        self._solve(category_counts(cells.found, c, w, len(self.classes_)))
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        summarise = partial(leaf_categories, n_classes=len(self.classes_))
        self._solve(reduce_rows(Statistic(summarise, merge_categories), rows, map_))

    def _check_batch(self, X: ArrayLike, first: bool) -> Cells:
        return Cells(find_values(self._check_columns(X, reset=first)))

    def _update(self, rows: Rows, *, first: bool) -> None:
        counts = category_counts(rows.X.found, rows.y, rows.w, len(self.classes_))
        if not first:
            old = CategoryCounts(self.class_count_, self.categories_, self.category_count_)
            counts = merge_categories(old, counts)
        self._solve(counts)

    def _solve(self, counts: CategoryCounts) -> None:
        check.one_of(("data", "class"), levels=self.levels)
        check.boolean(force_alpha=self.force_alpha)
        counts = self._with_codes(counts)
        alphas = self._alphas(counts.tables)
        given = self.fit_prior, self.class_prior, self.prior_alpha
        log_prior = log_class_prior(counts.total, *given)
        self.class_count_, self.categories_, self.category_count_ = counts
        self.class_log_prior_ = log_prior
        self.n_categories_ = np.array([len(v) for v in counts.values])
        self.feature_log_prob_ = [
            fit_categorical(N, a, self.levels) for N, a in zip(counts.tables, alphas, strict=True)
        ]
        self._warn_zeros()

    def _with_codes(self, counts: CategoryCounts) -> CategoryCounts:
        """With ``min_categories`` the values are the codes 0, 1, ... without gaps."""
        if self.min_categories is None:
            return counts
        p = len(counts.values)
        least = np.asarray(self.min_categories)
        if least.dtype.kind not in "iu" or least.shape not in ((), (p,)) or (least < 1).any():
            raise ValueError(
                "'min_categories' should have integral type, be >= 1 and alone or one per feature: "
                f"'min_categories' should have shape ({p},), got {self.min_categories!r}"
            )
        codes = []
        sizes = np.broadcast_to(least, p)
        for j, (values, size) in enumerate(zip(counts.values, sizes, strict=True)):
            numbers = values.dtype.kind in "biuf"
            if not numbers or (values < 0).any() or (values != np.floor(values)).any():
                data = f"data passed to CategoricalNB (input X), {self._column_name(j)}"
                raise ValueError(f"min_categories needs codes: Negative or other values in {data}")
            codes.append(np.arange(max(int(size), int(values.max(initial=-1)) + 1)))
        empty = [np.zeros((len(counts.total), len(v))) for v in codes]
        return merge_categories(CategoryCounts(0 * counts.total, codes, empty), counts)

    def _alphas(self, count: Sequence[Array]) -> list[Any]:
        if isinstance(self.alpha, Real) or self.alpha is None or isinstance(self.alpha, str):
            check.non_negative(alpha=self.alpha)
            found: list[Any] = [float(np.float64(self.alpha))] * len(count)
        else:
            found = [np.asarray(a, dtype=np.float64) for a in self.alpha]
            if len(found) != len(count):
                raise ValueError(
                    f"alpha as a list needs one array per feature, {len(count)}, got {len(found)}"
                )
            for j, (a, N) in enumerate(zip(found, count, strict=True)):
                fits = a.shape in ((), N.shape, N.shape[1:])
                if not fits or not (np.isfinite(a) & (a >= 0)).all():
                    shapes = f"of shape {N.shape[1:]} or {N.shape}, got shape {a.shape}"
                    name = self._column_name(j)
                    raise ValueError(f"alpha of {name} must be numbers >= 0 {shapes}")
        least = min((float(np.min(a)) for a in found if np.size(a)), default=1.0)
        if not self.force_alpha and least < LEAST_ALPHA:
            warn(RAISED_ALPHA)
            found = [np.maximum(a, LEAST_ALPHA) for a in found]
        return found

    def _warn_zeros(self) -> None:
        rows = self.class_count_[:, None] > 0
        zeros = [(logs == -np.inf) & rows for logs in self.feature_log_prob_]
        n_zeros = sum(int(zero.sum()) for zero in zeros)
        if n_zeros:
            j = next(j for j, zero in enumerate(zeros) if zero.any())
            k, v = np.argwhere(zeros[j])[0]
            value, name = self.categories_[j][v : v + 1].tolist()[0], self._column_name(j)
            cell = f"class {self.classes_.tolist()[k]!r} gives {name} = {value!r}"
            triples = f"{n_zeros} such triples of class, feature and value"
            warn(zero_count(cell, triples), ZeroCountWarning)

    def _check_matrix(self, X: ArrayLike, *, reset: bool, finite: bool) -> Any:
        """Rows to predict as places among the categories (n, p); -1 is left out."""
        found = find_values(self._check_columns(X, reset=reset))
        maps = []
        for j, (values, known) in enumerate(zip(found.values, self.categories_, strict=True)):
            place = look_up(values, known) if len(known) else np.full(len(values), -1, np.int32)
            unseen = (place < 0) & ~is_absent(values)
            if unseen.any():
                what = f"{self._column_name(j)} holds {values[unseen].tolist()[0]!r}"
                many = f"{int(unseen.sum())} such values"
                warn(f"{what}, which the fit never saw ({many}): its factor is left out")
            maps.append(place)
        return value_matrix(found, maps, np.int32)

    def _joint_log_likelihood(self) -> Callable[[Any], Array]:
        table = np.ascontiguousarray(np.concatenate(self.feature_log_prob_, axis=1).T)
        starts = np.concatenate([[0], np.cumsum(self.n_categories_)[:-1]]).astype(np.int64)
        log_prior = self._log_prior()

        def joint(codes: np.ndarray) -> Array:
            out = np.empty((len(codes), len(log_prior)))
            score_categories(codes, table, starts, log_prior, out)
            return out

        return joint

    def _contributions(self, X: np.ndarray) -> Array:
        parts = np.zeros((len(X), len(self.classes_), X.shape[1]))
        for j, logs in enumerate(self.feature_log_prob_):
            seen = X[:, j] >= 0
            parts[seen, :, j] = logs.T[X[seen, j]]
        return parts

    def _draw(self, codes: IntArray, rng: Rng) -> Any:
        numbers = all(v.dtype.kind in "biuf" for v in self.categories_)
        out = np.empty((len(codes), self.n_features_in_), np.float64 if numbers else object)
        for j, logs in enumerate(self.feature_log_prob_):
            edges = np.cumsum(np.exp(logs), axis=1)
            edges /= edges[:, -1:]
            drawn = (rng.random(len(codes))[:, None] >= edges[codes]).sum(axis=1)
            out[:, j] = self.categories_[j][drawn]
        return out

    class_prior_ = class_prior

    def _check_state(self) -> None:
        super()._check_state()
        if not hasattr(self, "n_features_in_"):
            return
        K, p = len(self.classes_), self.n_features_in_
        tables = (self.categories_, self.category_count_, self.feature_log_prob_)
        if any(len(table) != p for table in tables) or len(self.n_categories_) != p:
            raise ValueError(f"categories_ and its counts must have {p} entries each")
        for V, v, N, logs in zip(self.n_categories_, *tables, strict=True):
            if not (len(v) == V and N.shape == logs.shape == (K, V)):
                raise ValueError("feature_log_prob_ does not fit categories_")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> CategoricalNB().fit([["a"], ["b"]], [0, 1]).card().numbers["parameters"]
        3
        """
        numbers, K = self._numbers(), len(self.classes_)
        what = f"{self.alpha:g}" if isinstance(self.alpha, Real) else "given for each feature"
        values = "in the whole data" if self.levels == "data" else "seen in the class"
        return Card(
            representation="p(x, k) = pi_k prod_j theta_kj[x_j]: a table of V values per feature",
            evaluation="maximise the likelihood of the rows, missing cells left out, with "
            f"pseudo-counts alpha = {what}; V counts the values {values}; prior pseudo-rows "
            f"{self.prior_alpha:g}",
            optimisation="closed form, one pass over the rows; the maximum is unique",
            numbers=numbers | {"parameters": int(K * (self.n_categories_ - 1).sum() + K - 1)},
        )

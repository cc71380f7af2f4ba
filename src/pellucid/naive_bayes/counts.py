r"""What the naive Bayes classifiers of counts share: the statistic, smoothing, linear scores.

Statistic    n_k = sum of the weights of class k,   N_kj = sum of w_i x_ij over its rows
             (``naive_bayes.count_kernels``; two sets of rows merge by addition)
Score        log p(x, k) = log pi_k + sum_j [x_j on_kj + (1 - x_j) off_kj]
             multinomial, complement: off = 0;   Bernoulli: x_j in {0, 1}
Smoothing    alpha pseudo-counts, a number, one per feature (p,) or one per class and feature
             (K, p): the posterior mean under Dirichlet(alpha), which is the mode under
             Dirichlet(alpha + 1)

The score is linear in x, so a sparse row costs its entries only: the sum of ``off`` over all
features is part of the constant. A probability of 0 has the logarithm -inf. It is kept out of the
products (0 times -inf is no number): a second linear score counts how many impossible factors a
row has, and any of them makes the joint -inf. Where a class gives no pseudo-count and has no
rows, 0/0 is the limit for alpha -> 0: equal probabilities.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial, reduce
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from pellucid.base import fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.naive_bayes.count_kernels import (
    RAW,
    ClassCounts,
    Entries,
    class_counts,
    cut_rows,
    mark_above,
    merge_class_counts,
    score_entries,
)
from pellucid.naive_bayes.naive_bayes import NaiveBayes

LEAST_ALPHA = 1e-10  # what ``force_alpha=False`` raises smaller pseudo-counts to
RAISED_ALPHA = (
    f"alpha too small will result in numeric errors, setting alpha = {LEAST_ALPHA:.1e}. "
    "Use `force_alpha=True` to keep alpha unchanged."
)
SPARSE_PARTS = 8  # at most so many sums of the size (K, p) at a time


class ZeroCountWarning(UserWarning):
    """A probability of 0 is left in the model: one such value rules a class out."""


def zero_count(cell: str, places: str) -> str:
    """The warning for a cell ("class k gives x = v") that has no count."""
    return (
        f"{cell} the probability 0: one such cell rules the class out ({places}); alpha > 0 "
        "softens it"
    )


class_prior = property(lambda self: np.exp(self.class_log_prior_), doc="The prior of each class.")


class LogTables(NamedTuple):
    """log p(x, k) = prior_k + sum_j [x_j on_kj + (1 - x_j) off_kj]; entries may be -inf."""

    prior: Array  # (K,)
    on: Array  # (K, p)
    off: Array | None  # (K, p); None where an absent feature says nothing


class Linear(NamedTuple):
    """constant_k + sum_j x_j weight_jk; a missing cell takes back absent_jk."""

    weight: Array  # (p, K), C-contiguous
    constant: Array  # (K,)
    absent: Array  # (p, K), or (0, K) where an absent feature says nothing


class Scores(NamedTuple):
    """The finite part of the score, and the number of impossible factors (None: never any)."""

    finite: Linear
    zeros: Linear | None


def linear(weight: Array, constant: Array, absent: Array | None) -> Linear:
    """The same with features first: a sparse row adds whole rows of the tables."""
    back = np.empty((0, len(weight))) if absent is None else np.ascontiguousarray(absent.T)
    return Linear(np.ascontiguousarray(weight.T), constant, back)


def linear_scores(tables: LogTables) -> Scores:
    """Split the logarithms into what can be multiplied and what is impossible."""
    prior, on, off = tables
    impossible = on == -np.inf
    on = np.where(impossible, 0.0, on) if impossible.any() else on
    if off is None:
        finite = linear(on, prior, None)
        if not impossible.any():
            return Scores(finite, None)
        return Scores(finite, linear(impossible.astype(np.float64), np.zeros(len(on)), None))
    never = off == -np.inf
    off = np.where(never, 0.0, off) if never.any() else off
    finite = linear(on - off, prior + off.sum(axis=1), off)
    if not (impossible.any() or never.any()):
        return Scores(finite, None)
    absent = never.astype(np.float64)
    return Scores(finite, linear(impossible - absent, absent.sum(axis=1), absent))


def log_joint(scores: Scores, threshold: float, X: Any) -> Array:
    """log p(x_i, k), shape (n, K), of rows of counts (``threshold`` NaN) or of marks.

    >>> tables = LogTables(np.zeros(1), np.log([[0.25, 0.75]]), None)
    >>> np.exp(log_joint(linear_scores(tables), np.nan, np.array([[1.0, 1.0]]))).round(4)
    array([[0.1875]])
    """
    finite, zeros = scores
    if not isinstance(X, np.ndarray):
        joint = _score_sparse(finite, threshold, X)
        if zeros is not None:
            mark = 0.0 if np.isnan(threshold) else threshold
            joint[_score_sparse(zeros, mark, X) > 0.5] = -np.inf
        return joint
    B, missing = _marks(X, threshold)
    joint = _score_dense(finite, B, missing)
    if np.isnan(threshold) and missing is None and np.isnan(joint).any():
        missing = np.isnan(X)
        B = np.where(missing, 0.0, X)
        joint = _score_dense(finite, B, missing)
    if zeros is not None:
        joint[_score_dense(zeros, (B > 0).astype(np.float64), missing) > 0.5] = -np.inf
    return joint


def _marks(X: Array, threshold: float) -> tuple[Array, BoolArray | None]:
    """The 0/1 marks of cells above the threshold, and which are missing (None: none is)."""
    X = X if X.flags.writeable else X.copy()  # a read-only array would compile anew
    if np.isnan(threshold):
        return X, None
    B = np.empty_like(X)
    if not mark_above(X, threshold, B):
        return B, None
    B[np.isinf(X)] = np.nan  # shows in the score
    return B, np.isnan(X)


def _score_dense(score: Linear, B: Array, missing: BoolArray | None) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        out = B @ score.weight
        out += score.constant
        if missing is not None and len(score.absent):
            out -= missing.astype(np.float64) @ score.absent
    return out


def _score_sparse(score: Linear, threshold: float, X: Entries) -> Array:
    out = np.empty((X.shape[0], len(score.constant)))
    weight, constant, absent = score
    score_entries(X.indptr, X.indices, X.data, threshold, weight, absent, constant, out)
    return out


def contributions(tables: LogTables, B: Array, missing: BoolArray) -> Array:
    """The part of every cell in the joint, (n, K, p); 0 for a missing cell."""
    on = np.where(B[:, None, :] > 0, tables.on, 0.0)
    terms = np.where(B[:, None, :] > 0, B[:, None, :] * on, 0.0)
    if tables.off is not None:
        terms += np.where(B[:, None, :] > 0, 0.0, tables.off)
    return np.where(missing[:, None, :], 0.0, terms)


def shares(numerator: Array, total: Array, n_values: int) -> Array:
    """numerator / total; 0/0, a class without rows and pseudo-counts, is 1 / n_values.

    >>> shares(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([[4.0], [0.0]]), 2).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    known = total > 0
    return np.where(known, numerator / np.where(known, total, 1.0), 1.0 / n_values)


def log_shares(numerator: Array, total: Array, n_values: int) -> Array:
    """The logarithm of ``shares``, -inf for 0, as a difference of logarithms."""
    known = total > 0
    with np.errstate(divide="ignore"):
        logs = np.log(numerator) - np.log(np.where(known, total, 1.0))
    return np.where(known, logs, -np.log(n_values))


def check_alpha(alpha: ArrayLike | None, force_alpha: bool, shape: tuple[int, int]) -> Any:
    """Pseudo-counts as a number, (p,) or (K, p)."""
    check.boolean(force_alpha=force_alpha)
    if isinstance(alpha, Real) or alpha is None or isinstance(alpha, str):
        check.non_negative(alpha=alpha)
        value: Any = float(np.float64(alpha))
        if not np.isfinite(value):
            raise ValueError(f"alpha must be a finite number, got {alpha!r}")
    else:
        value = np.asarray(alpha)
        if value.dtype.kind not in "iuf" or not (np.isfinite(value).all() and (value >= 0).all()):
            raise ValueError(
                "All values in alpha must be greater than 0 or equal to it, and finite"
            )
        value = value.astype(np.float64)
        if value.shape not in (shape, shape[1:]):
            raise ValueError(
                "When alpha is an array, it should contains `n_features`: its shape must be "
                f"{shape[1:]} or {shape} (n_classes, n_features), got {value.shape}"
            )
    if not force_alpha and np.min(value) < LEAST_ALPHA:
        warn(RAISED_ALPHA)
        return np.maximum(value, LEAST_ALPHA)
    return value


def log_class_prior(
    count: Array, fit_prior: Any, class_prior: ArrayLike | None, prior_alpha: float = 0.0
) -> Array:
    """Given, uniform, or (n_k + a) / (n + a K)."""
    check.boolean(fit_prior=fit_prior)
    check.non_negative(prior_alpha=prior_alpha)
    K = len(count)
    with np.errstate(divide="ignore"):  # a class without rows has log prior -inf
        if class_prior is None and fit_prior:
            smoothed = count + prior_alpha
            return np.log(smoothed) - np.log(smoothed.sum())
        if class_prior is None:
            return np.full(K, -np.log(K))
        given = np.asarray(class_prior)
        if given.shape != (K,):
            size = len(given) if given.ndim == 1 else f"shape {given.shape}"
            raise ValueError(
                f"Number of priors must match number of classes: {K} needed, got {size}"
            )
        if given.dtype.kind not in "iuf" or not (np.isfinite(given) & (given >= 0)).all():
            raise ValueError(f"class_prior must hold numbers >= 0, got {class_prior!r}")
        if not given.any():
            raise ValueError("class_prior is 0 for every class; at least one must be positive")
        return np.log(given.astype(np.float64))


def reduce_sparse(rows: Rows, summarise: Callable[[Rows], ClassCounts], n_classes: int) -> Any:
    """Sums over sparse rows in few parts, cut by the data alone: same bits for any threads."""
    n = rows.n_rows
    size = n_classes * rows.X.shape[1]
    parts = int(np.clip(rows.X.nnz // max(size, 100_000), 1, min(SPARSE_PARTS, n)))
    cuts = np.linspace(0, n, parts + 1).astype(int)
    pieces = [Rows(cut_rows(rows.X, a, b), rows.y[a:b], rows.w[a:b]) for a, b in pairwise(cuts)]
    return reduce(merge_class_counts, map_threads(summarise, pieces))


class CountNB(NaiveBayes):
    """Naive Bayes on counts or marks: a subclass turns counts into logarithms."""

    _answers_nonfinite = True  # log 0 of a row that cannot be

    _accepts_sparse = True
    _signed = False  # whether values below 0 mean something

    fit_blocks = fit_blocks

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on data that are no counts
        tags.input_tags.positive_only = not self._signed
        return tags

    @abstractmethod
    def _smooth(self, counts: ClassCounts, alpha: ArrayLike) -> tuple[BoolArray, str] | None:
        """Set ``feature_count_`` and ``feature_log_prob_``; which factors are 0, for what value."""

    @abstractmethod
    def _tables(self) -> LogTables:
        """The logarithms of the factors."""

    def _stored(self) -> ClassCounts:
        """The sums that ``partial_fit`` adds to."""
        none = np.zeros((len(self.classes_), 1))
        return ClassCounts(self.class_count_, self.feature_count_, none, -1)

    def _threshold(self) -> float:
        return RAW

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        rows = self._check_training(X, y, sample_weight, defer_finite=True)
        context = FitContext.of_one_step(self, X, y, sample_weight)
        self._solve(self._counts(rows, map_threads))
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._solve(self._counts(rows, map_))

    def _update(self, rows: Rows, *, first: bool) -> None:
        counts = self._counts(rows, map_threads)
        self._solve(counts if first else merge_class_counts(self._stored(), counts))

    def _counts(self, rows: Source, map_: Map) -> ClassCounts:
        """The statistic of the fit; infinite and negative cells show in it and are named."""
        K = len(self.classes_)
        summarise = partial(class_counts, n_classes=K, threshold=self._threshold())
        if isinstance(rows, Rows) and issparse(rows.X):
            counts = reduce_sparse(rows, summarise, K)
        else:
            counts = reduce_rows(Statistic(summarise, merge_class_counts), rows, map_)
        if isinstance(rows, Rows) and not np.isfinite(counts.sums).all():
            self._refuse_nonfinite(rows.X)
        if counts.negative >= 0 and not self._signed:
            where = f"{type(self).__name__} (input X): {self._column_name(counts.negative)}"
            raise ValueError(f"Negative values in data passed to {where} holds one")
        return counts

    def _solve(self, counts: ClassCounts) -> None:
        alpha = check_alpha(self.alpha, self.force_alpha, counts.sums.shape)
        log_prior = log_class_prior(counts.total, self.fit_prior, self.class_prior)
        self.class_count_, self.class_log_prior_ = counts.total, log_prior
        found = self._smooth(counts, alpha)
        if found is not None:
            zero, what = found
            k, j = np.argwhere(zero)[0]
            cell = f"class {self.classes_.tolist()[k]!r} gives {self._column_name(int(j))} {what}"
            pairs = f"{int(zero.sum())} such pairs of class and feature"
            warn(zero_count(cell, pairs), ZeroCountWarning)

    class_prior_ = class_prior

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        shape = (len(self.classes_), self.n_features_in_)
        return super()._state_shapes() | {"feature_count_": shape, "feature_log_prob_": shape}

    def _joint_log_likelihood(self) -> Callable[[Any], Array]:
        return partial(log_joint, linear_scores(self._tables()), self._threshold())

    def _contributions(self, X: Any) -> Array:
        X = to_dense(X)
        threshold = self._threshold()
        B = X if np.isnan(threshold) else (threshold < X).astype(np.float64)
        return contributions(self._tables(), B, np.isnan(X))

    def _alpha_text(self) -> str:
        return f"{self.alpha:g}" if isinstance(self.alpha, Real) else "given for each feature"

r"""Classification by least squares on the 0/1 indicators of the classes.

Model        f_k(x) = b_k + x'w_k, an estimate of E[1(class = k) | x] that may leave [0, 1]
Estimator    B = argmin |Y - D B|^2 + alpha |W|^2,   D = [1 X], Y_ik = 1 if row i has class k
Rule         argmax_k f_k(x); two classes: classes_[1] where f_1 >= 1/2
Signed       two classes coded -1 and +1, threshold 0; f = f_1 - f_0. Its slope is proportional to
             the direction of linear discriminant analysis, the intercepts agree for equal sizes
Masking      K classes in a line: the middle f_k is flat and never the largest. Cures: polynomial
             terms to degree K - 1 with cross products, or linear discriminant analysis
Algorithm    one pass for the moments of [X Y], one factorisation for all classes, one pass of
             prediction that finds the masked classes.    n (p + K)^2/2 + O(p^3) + n p K

With an intercept the f_k sum to 1 in every point, since the columns of Y do.

References: Hastie, Tibshirani, Friedman, ESL, section 4.2.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import fit_blocks, with_callbacks
from pellucid.core.algebra.least_squares import Engine, LinearFit, wide_system
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, ClassWeight, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Moments, Rows, Source, Statistic, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.inference.decisions.linear_rule import LinearClassifier, class_weights
from pellucid.linear.linear_model import finite_moments, warn_free_of_penalty
from pellucid.linear.logistic.sums import add, class_counts
from pellucid.linear.ridge.ridge import fit_ridge_wide


class MaskingWarning(UserWarning):
    """A class is never predicted on the training data: the others' indicators cover its own."""


class Indicators(NamedTuple):
    """The span of a source with the class codes turned into targets where they are read."""

    span: Any
    codes: Array  # (K, k) the targets of each class
    weights: Array  # (K,) of the classes

    @property
    def start(self) -> int:
        return self.span.start

    def leaves(self) -> Iterator[Rows]:
        for leaf in self.span.leaves():
            w = leaf.w if (self.weights == 1).all() else leaf.w * self.weights[leaf.y]
            yield Rows(leaf.X, self.codes[leaf.y], w)


class IndicatorSource(NamedTuple):
    """A source of rows whose target is a row of ``codes`` for each class."""

    source: Source
    codes: Array
    weights: Array

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def spans(self) -> Sequence[Indicators]:
        return [Indicators(span, self.codes, self.weights) for span in self.source.spans()]


def leaf_predicted(coef: Array, intercept: Array, positive: float, rows: Rows) -> Array:
    """How often each class is predicted in a leaf (rows of weight 0 are absent)."""
    scores = rows.X @ coef + intercept
    if scores.shape[1] == 1:
        winner, K = (scores[:, 0] >= positive).astype(np.intp), 2
    else:
        winner, K = scores.argmax(axis=1), scores.shape[1]
    return np.bincount(winner, weights=rows.w > 0, minlength=K).astype(np.float64)


def fit_indicators(
    source: IndicatorSource, map_: Map, total: Moments | None, alpha: float, unknowns: str
) -> LinearFit:
    """All targets at once from the moments of [X Y] or the rows; least norm where singular."""
    k = source.codes.shape[1]
    with single_threaded_blas():
        if total is None:
            wide = wide_system(source, unknowns)
            return fit_ridge_wide(wide, np.full(k, alpha), unknowns).parts[0]
        p = len(total.mean) - k
        return Engine(source, map_, total, p, unknowns=unknowns).solve(np.arange(k), alpha)


class LeastSquaresClassifier(LinearClassifier):
    """Classification by regression on the indicators of the classes.

    Parameters
    ----------
    coding : {"indicator", "signed"}, default="indicator"
        0/1 targets, one per class; or one target of -1 and +1 for two classes.
    alpha : float, default=0.0
        Penalty ``alpha |W|^2`` on the slopes; the intercept is free.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    class_weight : None, "balanced" or dict, default=None
        What a row of each class counts; "balanced" is N/(K n_k).

    Attributes
    ----------
    coef_, intercept_ : arrays (1, p) and (1,) for two classes, else (K, p) and (K,)
        The rule: score 0 is the boundary of two classes.
    indicator_coef_ : array (p + 1, K)
        B, the intercepts first.
    masked_classes_ : array of the labels that are never predicted on the training data
    rank_, condition_ : rank and condition of the columns

    Examples
    --------
    >>> from pellucid import LeastSquaresClassifier
    >>> model = LeastSquaresClassifier().fit([[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1])
    >>> model.predict([[2.0], [3.0]]), model.fitted_values([[0.0]]).round(3)
    (array([0, 1]), array([[ 1.044, -0.044]]))
    >>> model.boundary().equation()
    '0.197802 x0 - 0.543956 = 0'
    """

    _accepts_sparse = True
    _keeps_columns = True
    _zero_is_positive = True  # f_1 >= 1/2

    fit_blocks = fit_blocks

    def __init__(
        self,
        *,
        coding: str = "indicator",
        alpha: float = 0.0,
        fit_intercept: bool = True,
        class_weight: ClassWeight = None,
    ) -> None:
        self.coding = coding
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Regress the indicators of the classes on X."""
        deferred = sample_weight is None and not issparse(X)  # NaN and inf show in the sums
        rows = self._check_training(X, y, sample_weight, defer_finite=deferred)
        if deferred and rows.X.shape[0] <= rows.X.shape[1]:
            self._refuse_nonfinite(rows.X)
        context = FitContext.of_rows(self, rows, sample_weight)
        fitted = vars(self)
        context.attributes = lambda _: {k: v for k, v in fitted.items() if k.endswith("_")}
        self._fit_rows(rows, map_threads)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        check.one_of(("indicator", "signed"), coding=self.coding)
        check.non_negative(alpha=self.alpha)
        check.boolean(fit_intercept=self.fit_intercept)
        self._need_two_classes(rows.n_rows)
        K = len(self.classes_)
        if self.coding == "signed" and K > 2:
            raise ValueError(f"coding='signed' is for two classes, got {K}; use coding='indicator'")
        targets = np.array([[-1.0], [1.0]]) if self.coding == "signed" else np.eye(K)
        source = IndicatorSource(rows, targets, self._class_weights(rows, map_))
        tall = rows.n_rows > self.n_features_in_
        total = finite_moments(self, source, rows, map_) if tall else None
        unknowns = "centred" if self.fit_intercept else "slopes"
        fit = fit_indicators(source, map_, total, float(self.alpha), unknowns)
        self._set(fit, K, rows.n_rows)
        self._find_masked(rows, map_)

    def _class_weights(self, rows: Source, map_: Map) -> Array:
        totals = np.ones(len(self.classes_))
        if isinstance(self.class_weight, str):
            totals = reduce_rows(Statistic(partial(class_counts, len(totals)), add), rows, map_)
        return class_weights(self.class_weight, self.classes_, totals)

    def _set(self, fit: LinearFit, K: int, n_rows: int) -> None:
        B = np.vstack([fit.intercept, fit.coef])
        if K == 2:
            half = 0.0 if self.coding == "signed" else 0.5
            self.coef_, self.intercept_ = B[1:, -1:].T.copy(), B[0, -1:] - half
        else:
            self.coef_, self.intercept_ = B[1:].T.copy(), B[0].copy()
        if self.coding == "signed":  # f = f_1 - f_0 with f_0 + f_1 = 1
            B = np.hstack([-B, B]) / 2
            B[0] += 0.5
        self.indicator_coef_ = B
        self.rank_, self.condition_ = fit.rank, fit.condition
        self._route = fit.route
        if fit.dependent:
            warn_free_of_penalty(self, fit.dependent, (n_rows, self.n_features_in_))

    def _find_masked(self, rows: Source, map_: Map) -> None:
        rule = partial(leaf_predicted, self.coef_.T.copy(), self.intercept_, 0.0)
        counts = reduce_rows(Statistic(rule, add), rows, map_)
        self.masked_classes_ = self.classes_[counts == 0]
        K = len(self.classes_)
        if K < 3 or len(self.masked_classes_) == 0:
            return
        names = ", ".join(repr(label) for label in self.masked_classes_.tolist())
        below = f"{names}, whose indicator lies below the others everywhere"
        degree = f"to degree {K - 1} for {K} classes in a line"
        terms = f"polynomial terms with cross products ({degree})"
        remedy = f"add {terms} or use LinearDiscriminantAnalysis"
        warn(f"masking: no training row is predicted as {below}; {remedy}", MaskingWarning)

    def fitted_values(self, X: ArrayLike) -> Array:
        """The estimated indicators f_k(x), (n, K); with an intercept the rows sum to 1."""
        rows = self._check_input(X)
        return rows @ self.indicator_coef_[1:] + self.indicator_coef_[0]

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        shape = (self.n_features_in_ + 1, len(self.classes_))
        return {**super()._state_shapes(), "indicator_coef_": shape}

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        K, masked = len(self.classes_), self.masked_classes_.tolist()
        signed = self.coding == "signed"
        target = "-1/+1 target" if signed else "0/1 indicators of the classes"
        penalty = f" + {self.alpha:g} sum w^2" if self.alpha else ""
        several = f"f_k(x) = b_k + x'w_k, {K} classes, the largest wins (may leave [0, 1])"
        numbers = {"classes": K, "rank": self.rank_, "condition": self.condition_}
        return Card(
            representation="f(x) = b + x'w, the sign decides" if signed else several,
            evaluation=f"squared error on the {target}{penalty}",
            optimisation=f"one pass for the sums, closed form for all classes: {self._route}",
            numbers={**numbers, "masked": len(masked)},
            warnings=(f"never predicted on the training data: {masked}",) if masked else (),
        )

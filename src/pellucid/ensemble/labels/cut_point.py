r"""The cut-point of a score, moved to where it costs least on the training rows.

    decide classes_[1] iff s(x) >= t
    C(t) = sum_{s_i >= t} w_i L[y_i, 1] + sum_{s_i < t} w_i L[y_i, 0]

C changes only between two distinct training scores, so the candidates are their midpoints and
-inf (everybody), +inf (nobody). One sort and one running sum give all of them:

    C(-inf) = sum_i w_i L[y_i, 1],    passing row i upwards adds w_i (L[y_i, 0] - L[y_i, 1])

Of equal costs the cut nearest to the estimator's own is taken. O(n log n). The cost is measured
on the rows that were learnt from: optimistic, as the course's tuning after LDA is. (For cuts tuned
on unseen rows: scikit-learn's TunedThresholdClassifierCV.)
"""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_weights, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.statistics import unit_weights
from pellucid.core.meta import binary_score, check_inner, fitted, score_threshold
from pellucid.core.readable import readable
from pellucid.core.records import Card
from pellucid.ensemble.labels.meta_classifier import MetaClassifier
from pellucid.inference.decisions.decisions import check_losses

ROUNDING = 1e-12  # costs that differ by less, relative to the largest, are equal


@readable
class CutPointCurve(NamedTuple):
    """The mean training cost of every cut-point, thresholds rising from -inf to +inf.

    >>> from pellucid import CutPointClassifier, GaussianNB
    >>> model = CutPointClassifier(GaussianNB()).fit([[0], [1], [4], [5]], [0, 0, 1, 1])
    >>> model.curve_.cost
    array([0.5 , 0.25, 0.  , 0.25, 0.5 ])
    """

    threshold: Array  # candidates, rising
    cost: Array  # mean training cost of each


class CutPoint(NamedTuple):
    """The chosen cut and what every other would cost."""

    threshold: float
    cost: float
    curve: CutPointCurve


def find_cut_point(
    score: Array, codes: IntArray, weight: Array, losses: Array, own: float
) -> CutPoint:
    """The least costly cut of ``score`` for codes 0/1; of equal ones the nearest to ``own``.

    >>> score, codes = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 1, 0, 1])
    >>> find_cut_point(score, codes, np.ones(4), 1.0 - np.eye(2), 3.4).threshold
    3.5
    """
    move = weight * (losses[:, 0] - losses[:, 1])[codes]  # what a row adds when the cut passes it
    base = float(weight @ losses[:, 1][codes])
    order = np.argsort(score)
    s, rise = score[order], np.cumsum(move[order])
    last = np.flatnonzero(np.append(s[1:] > s[:-1], np.isfinite(s[-1])))  # ends of equal scores
    cost = np.append(base, base + rise[last]) / weight.sum()
    threshold = np.append(-np.inf, between(s, last))
    scale = float(np.abs(losses).max())
    best = np.flatnonzero(cost <= cost.min() + ROUNDING * scale)
    chosen = best[np.argmin(np.abs(threshold[best] - own))]
    return CutPoint(float(threshold[chosen]), float(cost[chosen]), CutPointCurve(threshold, cost))


def between(s: Array, last: IntArray) -> Array:
    """Midpoints above the sorted scores ``s[last]``; above the highest of all, +inf."""
    low, high = s[last], np.append(s, np.inf)[last + 1]
    with np.errstate(invalid="ignore", over="ignore"):
        middle = low / 2.0 + high / 2.0
    inside = np.isfinite(middle) & (middle > low) & (middle <= high)
    return np.where(inside, middle, high)  # neighbouring numbers and infinite scores: the upper


class CutPointClassifier(MetaClassifier):
    """A binary classifier whose cut-point has the least error or cost on the training rows.

    Parameters
    ----------
    estimator : classifier
        With ``decision_function`` or ``predict_proba``; the fitted score is kept as it is.
    loss_matrix : array-like of shape (2, 2), default=None
        Row = truth, column = decision, in the order of ``classes_``. None: the number of errors.

    Attributes
    ----------
    estimator_ : fitted estimator
        Its probabilities, which a cut-point does not change, are ``estimator_.predict_proba``.
    classes_ : ndarray of shape (2,)
    threshold_ : float
        ``classes_[1]`` iff score >= threshold_; a midpoint of training scores, or +-inf.
    training_cost_ : float
        Mean cost (share of errors) on the training rows at this cut.
    untuned_cost_ : float
        The same at the estimator's own cut (score 0, probability 1/2).
    curve_ : CutPointCurve
        ``threshold`` and ``cost`` of every candidate.

    Examples
    --------
    >>> from pellucid import CutPointClassifier, LinearDiscriminantAnalysis
    >>> X, y = [[0], [1], [2], [3], [9], [4], [5]], [0, 0, 0, 0, 0, 1, 1]
    >>> round(LinearDiscriminantAnalysis().fit(X, y).score(X, y), 2)
    0.57
    >>> model = CutPointClassifier(LinearDiscriminantAnalysis()).fit(X, y)
    >>> round(model.score(X, y), 2), round(model.training_cost_, 2)
    (0.86, 0.14)
    """

    _answers_nonfinite = True  # -inf: the cut-point lies beyond every row

    def __init__(self, estimator: BaseEstimator, *, loss_matrix: ArrayLike | None = None) -> None:
        self.estimator = estimator
        self.loss_matrix = loss_matrix

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> Self:
        """Fit the classifier, then find its cheapest cut-point."""
        X, n, params, context = self._begin(X, y, sample_weight, fit_params)
        codes = self._open_labels(X, y)
        if len(self.classes_) > 2:
            what = f"The type of the target is {type_of_target(self.classes_[codes])}."
            raise ValueError(f"Only binary classification is supported. {what}")
        losses = check_losses(self.loss_matrix, 2)
        if losses.shape != (2, 2):
            raise ValueError(f"loss_matrix must have shape (2, 2), got {losses.shape}")
        if not hasattr(self.estimator, "decision_function"):
            check_inner(self, self.estimator, "predict_proba")
        self.estimator_ = fitted(clone(self.estimator), X, self.classes_[codes], **params)
        w = unit_weights(n) if sample_weight is None else check_weights(sample_weight, codes)
        score = binary_score(self.estimator_, X)
        if np.isnan(score).any():
            raise ValueError(f"the score of {self.estimator_} is NaN in some training rows")
        kept = w > 0
        own = score_threshold(self.estimator_)
        found = find_cut_point(score[kept], codes[kept], w[kept], losses, own)
        self.untuned_cost_ = float(w @ losses[codes, (score >= own).astype(np.intp)] / w.sum())
        self.threshold_, self.training_cost_, self.curve_ = found
        context.end()
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """How far the score lies above the cut-point; +-inf where the cut-point is."""
        X = self._open(X, reset=False)
        score = binary_score(self.estimator_, X)
        if np.isinf(self.threshold_):
            return np.where(score >= self.threshold_, np.inf, -np.inf)
        return score - self.threshold_

    def predict(self, X: ArrayLike) -> Any:
        """``classes_[1]`` where the score reaches the cut-point."""
        X = self._open(X, reset=False)
        above = binary_score(self.estimator_, X) >= self.threshold_
        return self.classes_[above.astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        what = "number of errors" if self.loss_matrix is None else "cost"
        return Card(
            representation=f"{type(self.estimator_).__name__}, then {self.classes_[1]} iff its "
            f"score >= {self.threshold_:.6g}",
            evaluation=f"least {what} on the training rows (optimistic: the same rows were "
            "learnt from)",
            optimisation=f"exact: one sort and one running sum over "
            f"{len(self.curve_.threshold)} cut-points",
            numbers={
                "threshold": self.threshold_,
                "cost per training row": self.training_cost_,
                "cost at the estimator's own cut": self.untuned_cost_,
            },
        )

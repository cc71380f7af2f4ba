r"""Every class against one reference.

    K-1 fits of class k (1) against the reference r (0), on the rows of these two classes only
    l_k = log P_k(1 | x) / P_k(0 | x),  l_r = 0        P(k | x) = exp(l_k) / sum_m exp(l_m)

The pivot form of the multinomial model, fitted one logit at a time: consistent, less efficient
than the joint fit, and, unlike it, dependent on the choice of the reference. Without
probabilities the decision function stands for the logit.

References: Begg & Gray (1984).
"""

from typing import Any, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.meta import binary_score
from pellucid.core.records import Card
from pellucid.ensemble.labels.meta_classifier import MetaClassifier, n_classifiers
from pellucid.ensemble.labels.one_vs_one import Pair, fit_pairs, pair_numbers
from pellucid.ensemble.labels.one_vs_rest import inner_has

SMALLEST = 1e-300  # a probability of 0 counts as this one: logits stay finite


def log_odds(model: BaseEstimator, X: ArrayLike) -> Array:
    """log P(1 | x) / P(0 | x) of a fitted two-class model, finite; its score if it has no P."""
    if hasattr(model, "predict_log_proba"):
        P = np.maximum(np.asarray(model.predict_log_proba(X)), np.log(SMALLEST))
    elif hasattr(model, "predict_proba"):
        P = np.log(np.maximum(np.asarray(model.predict_proba(X)), SMALLEST))
    else:
        return binary_score(model, X)
    return P[:, 1] - P[:, 0]


class OneVsReferenceClassifier(MetaClassifier):
    """Any binary classifier for K classes: each against one reference class.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba`` or ``decision_function``; it is cloned K-1 times.
    reference : label, default=None
        The class that the others are compared with; None: the last.
    n_jobs : int or None, default=None
        Fits at the same time, by joblib; the model is the same for any number.

    Attributes
    ----------
    estimators_ : list of K-1 fitted estimators
        In the order of ``classes_`` without the reference.
    classes_ : ndarray of shape (n_classes,)
    reference_ : label
    n_classifiers_ : int

    Examples
    --------
    >>> from pellucid import GaussianNB, OneVsReferenceClassifier
    >>> X, y = [[0, 1], [1, 0], [4, 1], [5, 0], [2, 4], [3, 6]], list("aabbcc")
    >>> model = OneVsReferenceClassifier(GaussianNB(), reference="a").fit(X, y)
    >>> model.predict([[0, 0], [2, 5]]).tolist(), model.n_classifiers_
    (['a', 'c'], 2)
    """

    def __init__(
        self, estimator: BaseEstimator, *, reference: object = None, n_jobs: int | None = None
    ) -> None:
        self.estimator = estimator
        self.reference = reference
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> Self:
        """Fit one classifier per class other than the reference."""
        X, _, params, context = self._begin(X, y, sample_weight, fit_params)
        codes = self._open_labels(X, y)
        self._refuse_cells(X)
        pivot = self._pivot()
        self.reference_ = self.classes_[pivot]
        names = [str(label) for label in self.classes_]
        pairs = [
            Pair(np.flatnonzero((codes == k) | (codes == pivot)), k, (names[pivot], names[k]))
            for k in range(len(names))
            if k != pivot
        ]
        self.estimators_ = fit_pairs(self, X, codes, pairs, params)
        self.pair_sizes_ = np.array([len(pair.rows) for pair in pairs])
        context.end()
        return self

    def _pivot(self) -> int:
        if self.reference is None:
            return len(self.classes_) - 1
        found = np.flatnonzero(self.classes_ == self.reference)
        if len(found) == 0:
            known = self.classes_.tolist()
            raise ValueError(
                f"reference must be one of the classes {known}, got {self.reference!r}"
            )
        return int(found[0])

    def _logits(self, X: ArrayLike) -> Array:
        """(n, K), 0 for the reference."""
        X = self._open(X, reset=False)
        pivot = int(np.flatnonzero(self.classes_ == self.reference_)[0])
        columns = [log_odds(model, X) for model in self.estimators_]
        columns.insert(pivot, np.zeros(len(columns[0])))
        return np.column_stack(columns)

    def decision_function(self, X: ArrayLike) -> Array:
        """Logits against the reference, (n, K); for two classes that of ``classes_[1]``, (n,)."""
        Z = self._logits(X)
        return Z[:, 1] - Z[:, 0] if Z.shape[1] == 2 else Z

    def predict(self, X: ArrayLike) -> Any:
        """The class of the largest logit."""
        Z = self._logits(X)
        if Z.shape[1] == 2:  # an even chance is classes_[1]
            return self.classes_[(Z[:, 1] >= Z[:, 0]).astype(np.intp)]
        return self.classes_[Z.argmax(axis=1)]

    @inner_has("predict_proba")
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """log P(k | x), (n, K)."""
        return log_softmax(self._logits(X), axis=1)

    @inner_has("predict_proba")
    def predict_proba(self, X: ArrayLike) -> Array:
        """P(k | x) proportional to exp(logit), (n, K)."""
        return np.exp(self.predict_log_proba(X))

    n_classifiers_ = n_classifiers

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        sizes = self.pair_sizes_
        return Card(
            representation=f"one {type(self.estimator).__name__} per class against "
            f"{self.reference_}; P proportional to exp(logit)",
            evaluation="that of the inner estimator, each class with the reference on their own "
            "rows only; the choice of the reference matters",
            optimisation=f"{self.n_classifiers_} independent fits of {sizes.min()} to "
            f"{sizes.max()} rows",
            numbers=pair_numbers(self),
        )

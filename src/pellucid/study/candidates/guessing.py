"""Guessing: what can be said of the target without looking at the columns.

    GuessClassifier   the commonest class, or with costs the decision of least expected cost;
                      probabilities are the shares of the classes
    GuessRegressor    the mean

Every study measures its models against these; several labels or targets are guessed one by one.
"""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, Regressor
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.records import Card


class GuessClassifier(Classifier):
    """Says the commonest class to every row.

    >>> GuessClassifier().fit([[1], [2], [3]], ["a", "b", "b"]).predict([[9]])
    array(['b'], dtype='<U1')
    """

    def __init__(self, cost_matrix: ArrayLike | None = None) -> None:
        self.cost_matrix = cost_matrix

    def fit(self, X: Any, y: Any) -> Self:
        y = np.asarray(y)
        self.n_features_in_ = np.shape(X)[1]
        if y.ndim == 2:  # labels as columns of 0 and 1
            self.share_ = y.mean(axis=0).astype(np.float64)
            return self
        codes = self._check_target(y, len(y))
        self.share_ = np.bincount(codes, minlength=len(self.classes_)) / len(codes)
        return self

    def predict_proba(self, X: Any) -> Array:
        check_is_fitted(self)
        return np.repeat(self.share_[None], len(X), axis=0)

    def predict(self, X: Any) -> Any:
        P = self.predict_proba(X)
        if not hasattr(self, "classes_"):
            return (P >= 0.5).astype(np.intp)
        if self.cost_matrix is not None:
            return self.classes_[(P @ np.asarray(self.cost_matrix)).argmin(axis=1)]
        return self.classes_[P.argmax(axis=1)]

    def card(self) -> Card:
        check_is_fitted(self)
        said = ", ".join(f"{share:.3g}" for share in self.share_)
        return Card(
            "the same answer for every row", "share of wrong answers", "counting", {"shares": said}
        )


class GuessRegressor(Regressor):
    """Says the mean to every row.

    >>> GuessRegressor().fit([[1], [2]], [1.0, 3.0]).predict([[9]])
    array([2.])
    """

    def __init__(self) -> None:
        pass

    def fit(self, X: Any, y: Any) -> Self:
        self.n_features_in_ = np.shape(X)[1]
        self.mean_ = np.mean(self._check_target(y, len(y)), axis=0)
        return self

    def predict(self, X: Any) -> Array:
        check_is_fitted(self)
        return np.repeat(np.asarray(self.mean_)[None], len(X), axis=0)

    def card(self) -> Card:
        check_is_fitted(self)
        return Card(
            "the same number for every row",
            "squared error",
            "the mean",
            {"mean": float(np.mean(self.mean_))},
        )

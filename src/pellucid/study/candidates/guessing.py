"""Guessing: what can be said of the target without looking at the columns.

    GuessClassifier   the commonest class, or the one that the measure rewards most if it is said to
                      every row, or with costs the decision of least expected cost; probabilities
                      are the shares of the classes
    GuessRegressor    the mean, or where absolute errors are measured the median

Every study measures its models against these; several labels or targets are guessed one by one.
What is guessed is the best single answer under the study's measure (``guess_for``): a model that
says one thing to all rows must not beat it. Only recall, which is 1 for who says "yes" to all, is
measured against the commonest class.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, Regressor
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.records import Card
from pellucid.study.records import Task

NUMBERS = ("regression", "ranking", "multi_output_regression")
ABSOLUTE = ("mae", "median_ae")  # least for the median
OF_THE_POSITIVE = ("f1", "precision")  # 0 or undefined for who never says it


class GuessClassifier(Classifier):
    """Says the commonest class to every row.

    >>> GuessClassifier().fit([[1], [2], [3]], ["a", "b", "b"]).predict([[9]])
    array(['b'], dtype='<U1')
    >>> GuessClassifier(label="a").fit([[1], [2], [3]], ["a", "b", "b"]).predict([[9]])
    array(['a'], dtype='<U1')
    """

    def __init__(self, cost_matrix: ArrayLike | None = None, label: Any = None) -> None:
        self.cost_matrix = cost_matrix
        self.label = label

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
        if self.label is not None:
            return np.full(len(P), self.label, dtype=self.classes_.dtype)
        return self.classes_[P.argmax(axis=1)]

    def card(self) -> Card:
        check_is_fitted(self)
        said = ", ".join(f"{share:.3g}" for share in self.share_)
        return Card(
            "the same answer for every row", "share of wrong answers", "counting", {"shares": said}
        )


class GuessRegressor(Regressor):
    """Says the mean, or the median, to every row.

    >>> X, y = [[1], [2], [3]], [1.0, 3.0, 8.0]
    >>> GuessRegressor().fit(X, y).predict([[9]]), GuessRegressor("median").fit(X, y).predict([[9]])
    (array([4.]), array([3.]))
    """

    def __init__(self, middle: str = "mean") -> None:
        self.middle = middle

    def fit(self, X: Any, y: Any) -> Self:
        self.n_features_in_ = np.shape(X)[1]
        middle = np.median if self.middle == "median" else np.mean
        self.mean_ = middle(self._check_target(y, len(y)), axis=0)  # as saved files name it
        return self

    def predict(self, X: Any) -> Array:
        check_is_fitted(self)
        return np.repeat(np.asarray(self.mean_)[None], len(X), axis=0)

    def card(self) -> Card:
        check_is_fitted(self)
        return Card(
            "the same number for every row",
            "absolute error" if self.middle == "median" else "squared error",
            f"the {self.middle}",
            {self.middle: float(np.mean(self.mean_))},
        )


def guess_for(task: Task, cost_matrix: ArrayLike | None = None) -> BaseEstimator:
    """The best single answer to all rows under the measure of the task.

    >>> task = Task("binary", ("ill",), ("no", "yes"), "yes", "f1", True, 0, "")
    >>> guess_for(task), guess_for(task._replace(metric="accuracy"))
    (GuessClassifier(label='yes'), GuessClassifier())
    """
    if task.kind in NUMBERS:
        return GuessRegressor("median" if task.metric in ABSOLUTE else "mean")
    found = task.kind == "binary" and task.metric in OF_THE_POSITIVE
    return GuessClassifier(cost_matrix, task.positive if found else None)

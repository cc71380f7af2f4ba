"""A classifier of ordered labels that learns from their places in the order.

The labels are numbered from least to greatest for the classifier within, and its answers are turned
back; ``classes_`` are the sorted labels, as everywhere.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.records import Card


def places(labels: Any, order: Sequence[Any]) -> IntArray:
    """The place of every label in the order, from 0.

    >>> places(np.array(["high", "low"]), ["low", "medium", "high"])
    array([2, 0])
    """
    at = {label: i for i, label in enumerate(order)}
    return np.array([at[label] for label in np.asarray(labels).tolist()], dtype=np.intp)


class OrderedClassifier(MetaEstimatorMixin, Classifier):
    """A classifier that is given the order of the labels.

    >>> from pellucid import OrdinalLogisticRegression
    >>> X, y = np.arange(9.0)[:, None], ["low", "mid", "low", "mid", "low", "up", "mid", "up", "up"]
    >>> model = OrderedClassifier(OrdinalLogisticRegression(C=1.0), ["low", "mid", "up"])
    >>> model.fit(X, y).predict([[0.0], [8.0]])
    array(['low', 'up'], dtype='<U3')
    """

    def __init__(self, estimator: BaseEstimator, order: Sequence[Any]) -> None:
        self.estimator = estimator
        self.order = order

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier within to the places of the labels."""
        self.classes_ = np.unique(np.asarray(y))
        self.estimator_: Any = clone(self.estimator).fit(X, places(y, list(self.order)))
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict_proba(self, X: Any) -> Array:
        """The probability of every label, in the order of ``classes_``."""
        check_is_fitted(self)
        at = np.searchsorted(self.estimator_.classes_, places(self.classes_, list(self.order)))
        return np.asarray(self.estimator_.predict_proba(X))[:, at]

    def predict(self, X: Any) -> Any:
        """The likeliest label."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def card(self) -> Card:
        """That of the classifier within, and the order."""
        inner = self.estimator_.card()
        said = " < ".join(str(label) for label in self.order)
        return inner._replace(numbers={**inner.numbers, "order": said})

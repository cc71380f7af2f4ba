"""The classifier of a label that never varies."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.meta import read_table


class ConstantClassifier(ClassifierMixin, BaseEstimator):
    """Says the one label it saw; stands in for a classifier where there is nothing to learn.

    >>> ConstantClassifier().fit([[0.0], [1.0]], [1, 1]).predict([[5.0]])
    array([1])
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        read_table(self, X, self, reset=True)
        self.constant_ = np.asarray(y)[0]
        binary = self.constant_ in (0, 1)
        self.classes_ = np.array([0, 1]) if binary else np.array([self.constant_])
        return self

    def predict(self, X: ArrayLike) -> Any:
        check_is_fitted(self)
        read_table(self, X, self, reset=False)
        return np.repeat(self.constant_, _num_samples(X))

    def decision_function(self, X: np.ndarray) -> Array:
        """1 for the label 1, -1 for the label 0."""
        return np.where(self.predict(X) == self.classes_[-1], 1.0, -1.0)

    def predict_proba(self, X: ArrayLike) -> Array:
        return (self.predict(X)[:, None] == self.classes_).astype(np.float64)

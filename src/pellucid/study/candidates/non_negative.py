"""A regressor of counts: it never says less than 0.

Linear models, kernels and sums of trees may say so; what they say below 0 is 0, which is nearer to
every count.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor
from pellucid.core.arrays.typing import Array
from pellucid.core.records import Card


class NonNegativeRegressor(MetaEstimatorMixin, Regressor):
    """A regressor whose predictions below 0 become 0.

    >>> from pellucid import LinearRegression
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 3.0, 6.0]
    >>> model = NonNegativeRegressor(LinearRegression()).fit(X, y)
    >>> model.predict([[-1.0], [2.0]]).round(6)
    array([0., 6.])
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the regressor within."""
        self.estimator_: Any = clone(self.estimator).fit(X, y)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X: Any) -> Array:
        """What the regressor within says, or 0 where that is less."""
        check_is_fitted(self)
        return np.maximum(self.estimator_.predict(X), 0.0)

    def card(self) -> Card:
        """That of the regressor within, and that it does not go below 0."""
        inner = self.estimator_.card()
        return inner._replace(representation=f"{inner.representation}, at least 0")

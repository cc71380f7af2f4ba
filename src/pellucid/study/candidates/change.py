r"""The change from the last value: y_t = y_{t-1} + f(x_t).

A tree answers with means of targets it has seen, so it cannot follow a series to new heights; the
changes of such a series stay where they were. The last value is the first feature, unscaled.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor
from pellucid.core.arrays.typing import Array
from pellucid.core.records import Card


class ChangeRegressor(MetaEstimatorMixin, Regressor):
    """Adds what a regressor says of the change to the first column.

    >>> from pellucid import DecisionTreeRegressor
    >>> last = np.arange(10.0)[:, None]
    >>> model = ChangeRegressor(DecisionTreeRegressor()).fit(last, np.arange(1.0, 11.0))
    >>> model.predict([[100.0]])
    array([101.])
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the regressor within to ``y`` less the first column."""
        last = np.asarray(X)[:, 0]
        self.estimator_: Any = clone(self.estimator).fit(X, np.asarray(y) - last)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict(self, X: Any) -> Array:
        """The first column and the change that is expected."""
        check_is_fitted(self)
        return np.asarray(X)[:, 0] + self.estimator_.predict(X)

    def card(self) -> Card:
        """That of the regressor within, whose target is the change."""
        inner = self.estimator_.card()
        return inner._replace(representation=f"the last value and a change: {inner.representation}")

r"""A regressor of log y that answers with the mean of y.

    log y = f(x) + e,    E(y | x) = exp(f(x)) E exp(e)

exp(f) is the median where e is symmetric; the mean is larger by E exp(e), which is estimated as the
mean of exp(e_i) over residuals of rows that were held out (five folds): Duan's smearing, without a
law for e.

Reference: Duan (1983), Smearing estimate: a nonparametric retransformation method.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor
from pellucid.core.arrays.typing import Array
from pellucid.core.records import Card

FOLDS = 5
LARGEST = 709.0  # of which the exponential is a float64


class LogScaleRegressor(MetaEstimatorMixin, Regressor):
    """Fits log y, and predicts the mean of y by smearing.

    >>> from pellucid import LinearRegression
    >>> X = np.tile([[0.0], [1.0]], (100, 1))
    >>> y = np.exp(X[:, 0]) * np.repeat([0.5, 1.5], 100)
    >>> LogScaleRegressor(LinearRegression()).fit(X, y).predict([[0.0]]).round(1)
    array([1.])
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the regressor within to log y, and the factor from median to mean."""
        X, y = np.asarray(X), np.asarray(y, dtype=np.float64)
        if not (y > 0).all():
            raise ValueError(f"a log scale needs positive targets, got {y.min():g}")
        log = np.log(y)
        self.estimator_: Any = clone(self.estimator).fit(X, log)
        self.n_features_in_ = X.shape[1]
        left = log - self.estimator_.predict(X)
        if len(y) >= 2 * FOLDS:
            for a, b in KFold(FOLDS, shuffle=True, random_state=0).split(X):
                left[b] = log[b] - clone(self.estimator).fit(X[a], log[a]).predict(X[b])
        self.smearing_ = float(np.exp(left).mean())
        return self

    def predict(self, X: Any) -> Array:
        """The mean of y."""
        check_is_fitted(self)
        most = LARGEST - max(0.0, float(np.log(self.smearing_)))
        return self.smearing_ * np.exp(np.minimum(self.estimator_.predict(X), most))

    def card(self) -> Card:
        """That of the regressor within, and the factor from median to mean."""
        inner = self.estimator_.card()
        return inner._replace(
            representation=f"the exponential of: {inner.representation}",
            numbers={**inner.numbers, "mean over median": self.smearing_},
        )

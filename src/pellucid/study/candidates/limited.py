r"""A regressor on the log scale that is not believed far beyond the targets it learned from.

A log link turns a line into an exponential: of a cell ten times as large as any seen it says a
number that overflows. With positive targets between a and b, what it says stays in

    [a^2 / b, b^2 / a]        on the log scale, as far again as the targets reach
"""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor
from pellucid.core.arrays.typing import Array
from pellucid.core.records import Card

LINKED = ("GammaRegressor", "PoissonRegressor", "NegativeBinomialRegressor", "LogScaleRegressor")
BEYOND = ".*(beyond the largest number of float64|numbers are not finite|overflow encountered)"
LOSSES = ("gamma", "poisson")  # of boosting


class LimitedRegressor(MetaEstimatorMixin, Regressor):
    """A regressor whose predictions stay within reach of the targets.

    >>> from pellucid import GammaRegressor
    >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]
    >>> model = LimitedRegressor(GammaRegressor(alpha=0.0)).fit(X, y)
    >>> model.predict([[1.0], [500.0]]).round(3)
    array([ 2., 16.])
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the regressor within, and keep the ends of its reach."""
        self.estimator_: Any = clone(self.estimator).fit(X, y)
        self.n_features_in_ = np.shape(X)[1]
        known = np.asarray(y, dtype=np.float64)
        low, high = known[known > 0].min(), known.max()
        self.lowest_, self.highest_ = float(low / high * low), float(high / low * high)
        if (known <= 0).any():
            self.lowest_ = 0.0
        return self

    def predict(self, X: Any) -> Array:
        """What the regressor within says, or the end of the reach that is nearer."""
        check_is_fitted(self)
        with warnings.catch_warnings():  # they tell of numbers that are not returned here
            warnings.filterwarnings("ignore", message=BEYOND)
            said = self.estimator_.predict(X)
        return np.clip(said, self.lowest_, self.highest_)

    def card(self) -> Card:
        """That of the regressor within, and its reach."""
        inner = self.estimator_.card()
        reach = {"at least": self.lowest_, "at most": self.highest_}
        return inner._replace(numbers={**inner.numbers, **reach})


def on_log_scale(model: BaseEstimator) -> bool:
    """Does a model, or one that it is made of, have a log link?

    >>> from pellucid import GammaRegressor, Ridge, VotingRegressor
    >>> both = VotingRegressor([("a", Ridge()), ("b", GammaRegressor())])
    >>> on_log_scale(Ridge()), on_log_scale(both)
    (False, True)
    """
    parts = [model, *(part for part in model.get_params().values() if hasattr(part, "get_params"))]
    return any(
        type(part).__name__ in LINKED or getattr(part, "loss", "") in LOSSES for part in parts
    )

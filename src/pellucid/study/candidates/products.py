r"""Linear models on columns, their squares and their products.

    f(x) = b + sum_j w_j x_j + sum_(j <= k) w_jk x_j x_k        all columns standardised

The richest model that a person can still read: what two columns do together, beyond what each does
by itself. p columns give p (p + 3) / 2, and a ridge penalty keeps the needless ones small.
"""

from typing import Any, Self

import numpy as np

from pellucid.base import Classifier, Regressor
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.records import Card
from pellucid.features.bases.polynomial import PolynomialFeatures
from pellucid.linear.logistic.logistic import LogisticRegression
from pellucid.linear.ridge.ridge import Ridge

MODEL = "a linear function of columns, squares and products"


class Expansion:
    """Columns, squares and products, each brought to mean 0 and spread 1."""

    def _expanded(self, X: Array, *, fit: bool = False) -> Array:
        if fit:
            self.products_ = PolynomialFeatures(2, include_bias=False).fit(X)
        Z = self.products_.transform(X)
        if fit:
            self.mean_, spread = Z.mean(axis=0), Z.std(axis=0)
            # what does not vary but for rounding is left at zero
            self.scale_ = np.where(spread > 1e-10 * np.abs(Z).max(axis=0), spread, np.inf)
        return (Z - self.mean_) / self.scale_


class ProductRegressor(Expansion, Regressor):
    """Ridge regression on columns, squares and products.

    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> y = X[:, 0] * X[:, 1]
    >>> model = ProductRegressor(1e-6).fit(X, y)
    >>> float(model.predict([[2.0, 3.0]])[0].round(3))
    6.0
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Any, y: Any) -> Self:
        check.positive(alpha=self.alpha)
        data = self._check_training(X, y)
        self.linear_ = Ridge(self.alpha).fit(self._expanded(data.X, fit=True), data.y)
        return self

    def predict(self, X: Any) -> Array:
        return self.linear_.predict(self._expanded(self._check_input(X)))

    def card(self) -> Card:
        inner = self.linear_.card()
        return inner._replace(representation=f"{MODEL}: {len(self.mean_)} terms")


class ProductClassifier(Expansion, Classifier):
    """Logistic regression on columns, squares and products.

    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> ProductClassifier(10.0).fit(X, y).predict([[1.0, 1.0], [-1.0, 1.0]])
    array(['same', 'other'], dtype='<U5')
    """

    def __init__(self, C: float = 1.0) -> None:
        self.C = C

    def fit(self, X: Any, y: Any) -> Self:
        check.positive(C=self.C)
        data = self._check_training(X, y)
        self.linear_ = LogisticRegression(C=self.C, max_iter=500)
        self.linear_.fit(self._expanded(data.X, fit=True), self.classes_[data.y])
        return self

    def predict_proba(self, X: Any) -> Array:
        return self.linear_.predict_proba(self._expanded(self._check_input(X)))

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def card(self) -> Card:
        inner = self.linear_.card()
        return inner._replace(representation=f"{MODEL}: {len(self.mean_)} terms")

r"""A network for a target of any size.

    f(x) = m + s g(x)        m, s: mean and standard deviation of the learning rows' target

g is trained on (y - m) / s. Adam's steps have a length that does not grow with the target, so a
network that is given prices or grams as they are ends its epochs far below them.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from pellucid.base import Regressor
from pellucid.core.arrays.typing import Array
from pellucid.core.records import Card
from pellucid.neural.mlp_regressor import MLPRegressor


class UnitNetwork(Regressor):
    """``MLPRegressor`` on the target brought to mean 0 and spread 1.

    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> y = 4000 + 500 * X[:, 0]
    >>> model = UnitNetwork((32,), max_iter=1000, random_state=0).fit(X, y)
    >>> bool(np.abs(model.predict(X) - y).max() < 100)
    True
    """

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = (100,),
        *,
        max_iter: int = 200,
        early_stopping: bool = False,
        random_state: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.max_iter = max_iter
        self.early_stopping = early_stopping
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        data = self._check_training(X, y)
        self.mean_, self.scale_ = float(np.mean(data.y)), float(np.std(data.y)) or 1.0
        self.inner_ = MLPRegressor(**self.get_params()).fit(data.X, self._in_units(data.y))
        self.n_iter_ = self.inner_.n_iter_
        return self

    def _in_units(self, y: Any) -> Array:
        return (np.asarray(y, dtype=np.float64) - self.mean_) / self.scale_

    def predict(self, X: Any) -> Array:
        return self.mean_ + self.scale_ * self.inner_.predict(self._check_input(X))

    def card(self) -> Card:
        inner = self.inner_.card()
        text = f"{self.mean_:.4g} + {self.scale_:.4g} g(x), g(x): {inner.representation}"
        return inner._replace(representation=text)

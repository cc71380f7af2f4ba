"""Averages of the neighbours' numbers: what the regressors by nearest rows and by radius share."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.neighbors.neighbor_model import NeighborsModel
from pellucid.neighbors.search.weights import check_rule


class Local(Protocol):
    """The numbers near some queries: each answer is (m, outputs)."""

    def mean(self) -> Array: ...

    def median(self) -> Array: ...

    def spread(self) -> Array:
        """sqrt(sum w (y - mean)^2 / sum w)."""


class AveragingModel(NeighborsModel, Regressor):
    """The average of the targets of some training rows; a subclass says of which."""

    @abstractmethod
    def _local(self, X: ArrayLike, y: Array) -> Iterator[Any]:
        """The Local of every few queries; y (n, outputs). X None: the training rows."""

    @abstractmethod
    def _check_question(self) -> None:
        """Raise ValueError for an impossible number of neighbours or radius."""

    def _warn_alone(self, answer: Array) -> None:
        """Say which queries had no neighbours, where that can be."""

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Keep the rows and prepare the search."""
        self._check_question()
        check_rule(self.weights)
        check.one_of(("mean", "median"), average=self.average)
        rows = self._check_training(X, y)
        context = FitContext(self, X=rows.X, y=rows.y)
        self._set_rows(rows.X)
        self._y = rows.y.copy()  # the caller may change its own
        context.end()
        return self

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {**super()._state_shapes(), "_y": (self.n_samples_fit_, *self._y.shape[1:])}

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Averages of the neighbours' y, and with ``return_std`` their spread.

        X None: of the training rows, each without itself.
        """
        check_is_fitted(self)
        check.boolean(return_std=return_std)
        y, shape = self._y.reshape(len(self._y), -1), (-1, *self._y.shape[1:])
        centres, spreads = [], []
        for local in self._local(X, y):
            centres.append(local.median() if self.average == "median" else local.mean())
            if return_std:
                spreads.append(local.spread())
        answer = np.concatenate(centres)
        self._warn_alone(answer)
        answer = answer.reshape(shape)
        return (answer, np.concatenate(spreads).reshape(shape)) if return_std else answer

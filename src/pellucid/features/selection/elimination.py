"""Fit, drop the least important columns, fit again: what RFE and RFECV share.

The functions with ``self`` go into the bodies of the two classes.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import _raise_for_params
from sklearn.utils.metaestimators import available_if

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Matrix
from pellucid.core.meta import fitted, routed
from pellucid.features.selection.supervised import importances


class Stage(NamedTuple):
    """A model, the columns that it was fitted to, and when the others went."""

    model: Any
    support: BoolArray  # (p,)
    ranking: IntArray  # (p,)  1 for the columns that are left


class Elimination(NamedTuple):
    """How many columns go in a round, by which importance, and how many stay."""

    goal: int
    step: int
    getter: str | Callable[[Any], Any]

    def stages(self, estimator: BaseEstimator, X: Matrix, y: Matrix, **fit: Any) -> Iterator[Stage]:
        """Every model from all columns to the last ones."""
        p = X.shape[1]
        support, ranking = np.ones(p, dtype=bool), np.ones(p, dtype=int)
        while True:
            columns = np.flatnonzero(support)
            model = fitted(clone(estimator), X[:, columns], y, **fit)
            yield Stage(model, support.copy(), ranking.copy())
            if len(columns) <= self.goal:
                return
            worst = np.argsort(squared_importance(model, self.getter), kind="stable")
            support[columns[worst[: min(self.step, len(columns) - self.goal)]]] = False
            ranking[~support] += 1


def squared_importance(model: BaseEstimator, getter: str | Callable[[Any], Any]) -> Array:
    """Importances squared, summed over outputs."""
    values = importances(model, getter)
    return values**2 if values.ndim == 1 else (values**2).sum(axis=0)


def step_size(step: float, p: int) -> int:
    """Columns to drop per round; a share counts all columns.

    >>> step_size(0.25, 10), step_size(3, 10)
    (2, 3)
    """
    check.positive(step=step)
    if step < 1:
        return max(1, int(step * p))
    check.whole(step=step)
    return int(step)


def inner_tags(self: Any, tags: Any) -> Any:
    """Tags of a selector that answers as its model does."""
    inner = get_tags(self.estimator)
    tags.estimator_type, tags.target_tags = inner.estimator_type, inner.target_tags
    tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
    return tags


def has(method: str) -> Callable[[Any], bool]:
    """Whether the model (fitted, or as given) has the method; its own AttributeError says why."""
    return lambda self: callable(getattr(getattr(self, "estimator_", self.estimator), method))


def ask(self: Any, method: str, X: ArrayLike, *args: Any, **params: Any) -> Any:
    """What the model says of the kept columns."""
    kept = self._check_input(X)[:, self.support_]
    return getattr(self.estimator_, method)(kept, *args, **params)


@available_if(has("predict"))
def predict(self: Any, X: ArrayLike, **predict_params: Any) -> Any:
    """What the model says of the kept columns."""
    _raise_for_params(predict_params, self, "predict")
    return ask(self, "predict", X, **routed(self, "predict", predict_params))


@available_if(has("decision_function"))
def decision_function(self: Any, X: ArrayLike) -> Any:
    """The decision function of the model on the kept columns."""
    return ask(self, "decision_function", X)


@available_if(has("predict_proba"))
def predict_proba(self: Any, X: ArrayLike) -> Any:
    """Probabilities by the model on the kept columns."""
    return ask(self, "predict_proba", X)


@available_if(has("predict_log_proba"))
def predict_log_proba(self: Any, X: ArrayLike) -> Any:
    """Log probabilities by the model on the kept columns."""
    return ask(self, "predict_log_proba", X)

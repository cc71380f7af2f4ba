"""A committee as a sequence of its members: ``len(model)``, ``model[0]``, ``for tree in model``.

A class takes the three functions as they are::

    __len__, __getitem__, __iter__ = count, member, members
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator
from pellucid.core.arrays.typing import Array


def count(self: Any) -> int:
    """How many members the committee has."""
    return len(self.estimators_)


def member(self: Any, index: int) -> Any:
    """One member, or some."""
    return self.estimators_[index]


def members(self: Any) -> Iterator[Any]:
    """All members in turn."""
    return iter(self.estimators_)


class WeightedMembers(Estimator):
    """Members that count by their weights, as in both kinds of AdaBoost.

    A leaf says which estimator is copied for a member (``_template``).
    """

    _template: Callable[[], Any]
    estimators_: list[Any]
    estimator_weights_: Array

    __len__, __getitem__, __iter__ = count, member, members

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self._template()).input_tags.allow_nan)

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self._template()).input_tags.sparse)

    @property
    def feature_importances_(self) -> Array:
        """Mean importances of the members, by their weights."""
        check_is_fitted(self)
        if not all(hasattr(model, "feature_importances_") for model in self.estimators_):
            raise AttributeError("the members have no feature_importances_")
        found = np.stack([model.feature_importances_ for model in self.estimators_])
        return np.asarray(self.estimator_weights_ @ found / self.estimator_weights_.sum())

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        n = (len(getattr(self, "estimators_", ())),)
        return {"estimator_weights_": n, "estimator_errors_": n} if n[0] else {}

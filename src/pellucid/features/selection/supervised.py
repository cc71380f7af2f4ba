"""Base of the selectors that use a target: checks of the target, importances of columns."""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from pellucid.base import _same_length, check_sortable
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array
from pellucid.core.meta import takes_gaps
from pellucid.features.selection.selector import Selector

INSIDE = "chosen with the target: fit it inside the folds, never before them"


def check_any_target(self: Selector, y: Any, n: int) -> Any:
    """The target of a selector that passes it on: labels or numbers, one column or several."""
    if y is None:
        if self.__sklearn_tags__().target_tags.required:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None")
        return None
    y = frame_matrix(y) if is_frame(y) else y
    y = check_array(y, ensure_2d=False, dtype=None, allow_nd=False, input_name="y")
    _same_length(n, len(y))
    check_sortable(y)
    return y


class ModelSelector(Selector):
    """Base of the selectors that ask a model: what it accepts, they accept."""

    estimator: Any
    _check_target = check_any_target

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return takes_gaps(self.estimator) is not False

    def _refuse_nonfinite(self, X: Any) -> None:
        """By column and row; a model that nothing is known of refuses for itself."""
        if takes_gaps(self.estimator) is not None:
            super()._refuse_nonfinite(X)

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return get_tags(self.estimator).input_tags.sparse

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.target_tags.required = inner.target_tags.required
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def sends_on(owner: ModelSelector, *methods: str) -> MetadataRouter:
    """A router whose methods pass what they are given to the same ones of the model."""
    mapping = MethodMapping()
    for method in methods:
        mapping.add(caller=method, callee=method)
    return MetadataRouter(owner=owner).add(estimator=owner.estimator, method_mapping=mapping)


def importances(model: BaseEstimator, getter: str | Callable[[Any], Any]) -> Array:
    """coef_ or feature_importances_ of a fitted model, an attribute by name, or a function."""
    if isinstance(getter, str):
        names = ("coef_", "feature_importances_") if getter == "auto" else (getter,)
        found = [name for name in names if _has(model, name)]
        if not found:
            need = f"a model with {' or '.join(names)}, got {type(model).__name__}"
            raise ValueError(f"importance_getter={getter!r} needs {need}")
        values = attrgetter(found[0])(model)
    elif callable(getter):
        values = getter(model)
    else:
        raise ValueError(f"importance_getter must be a name or a function, got {getter!r}")
    return np.asarray(to_dense(values), dtype=np.float64)


def _has(model: BaseEstimator, path: str) -> bool:
    for name in path.split("."):
        if not hasattr(model, name):
            return False
        model = getattr(model, name)
    return True

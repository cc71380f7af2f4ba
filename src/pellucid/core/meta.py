"""Shared by estimators that wrap estimators: reading X unchanged, and routing metadata.

The inner estimator validates its own data, so X reaches it as a frame, a sparse matrix or text
whenever it came as one; here only names, widths and lengths are looked at.
"""

from inspect import signature
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import _raise_for_params, _routing_enabled, process_routing
from sklearn.utils.validation import _check_method_params

from pellucid.core.arrays.frames import indexable_frame, is_frame
from pellucid.core.arrays.reading import row_table, validate_data
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray


def check_inner(owner: object, estimator: BaseEstimator, *methods: str) -> None:
    """Refuse an inner estimator without one of these methods.

    >>> check_inner("ClassifierChain", 3, "fit")
    Traceback (most recent call last):
    ValueError: the estimator of ClassifierChain needs the method fit, got 3
    """
    name = owner if isinstance(owner, str) else type(owner).__name__
    for method in methods:
        if isinstance(estimator, type) or not hasattr(estimator, method):
            raise ValueError(f"the estimator of {name} needs the method {method}, got {estimator}")


def fitted(model: Any, *given: Any, **named: Any) -> Any:
    """The model after its ``fit``, whatever that returns.

    >>> class Silent:
    ...     def fit(self, X):
    ...         self.width_ = len(X[0])
    >>> fitted(Silent(), [[1, 2]]).width_
    2
    """
    model.fit(*given, **named)
    return model


def takes_gaps(model: Any) -> bool | None:
    """Whether a model takes missing cells; None where only its own fit knows.

    A pipeline takes what its first step takes; of a class that is not ours nothing is known.
    """
    steps = getattr(model, "steps", None)
    if isinstance(steps, list) and steps:
        return takes_gaps(steps[0][1])
    ours = type(model).__module__.startswith("pellucid.")
    filled = bool(get_tags(model).input_tags.allow_nan)
    return filled if ours or filled else None


def read_table(owner: Any, X: Any, estimator: Any, *, reset: bool) -> Any:
    """X with its names and width checked, of the kind it had, and with rows that can be taken."""
    if not get_tags(estimator).input_tags.two_d_array or _is_text(X):
        return row_table(X)
    if is_frame(X):
        validate_data(owner, X, reset=reset, skip_check_array=True)
        return indexable_frame(X)
    mixed = isinstance(X, list) and any(isinstance(cell, str) for row in X for cell in row)
    kind = {"dtype": object if mixed else None, "ensure_all_finite": False}
    X = validate_data(owner, X, reset=reset, accept_sparse=True, **kind)
    return X.tocsr() if issparse(X) and X.format not in ("csr", "csc") else X


def _is_text(X: ArrayLike) -> bool:
    """Whether X is one column of documents."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], str)
    if getattr(X, "ndim", 1) != 1 or is_frame(X) or not hasattr(X, "__len__"):
        return False
    values = np.asarray(X)
    return values.ndim == 1 and values.dtype.kind in "UOT" and len(values) > 0


def route(
    owner: Any,
    method: str,
    sample_weight: MaybeArray,
    params: dict[str, Any],
    *,
    open_door: bool = False,
) -> dict[str, Any]:
    """The keywords of the inner estimator's ``method``.

    With metadata routing they are what it requested; without, only ``sample_weight`` goes through
    (and, with ``open_door``, whatever was passed).
    """
    if not open_door:
        _raise_for_params(params, owner, method)
    if _routing_enabled():
        if sample_weight is not None:
            params = {**params, "sample_weight": sample_weight}
        return dict(process_routing(owner, method, **params).estimator[method])
    if sample_weight is None:
        return dict(params)
    if not takes_weights(owner.estimator):
        name = type(owner.estimator).__name__
        raise ValueError(f"{name}, the underlying estimator, does not support sample weights")
    return {**params, "sample_weight": sample_weight}


def routed(owner: Any, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """What the inner model's method gets: with metadata routing what it asked for, else all."""
    if not _routing_enabled():
        return params
    return dict(process_routing(owner, method, **params).estimator[method])


def takes_weights(estimator: Any) -> bool:
    """Whether ``fit`` has ``sample_weight``, by name or among open keywords (``**kwargs``)."""
    given = signature(estimator.fit).parameters.values()
    return any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in given)


def rows_of(params: dict[str, Any], X: Any, indices: Any) -> dict[str, Any]:
    """Those keywords that have one value per row, cut to ``indices``."""
    return _check_method_params(X, params=params, indices=indices) if params else {}


def binary_score(model: BaseEstimator, X: ArrayLike) -> Array:
    """The score of a fitted two-class model; larger means ``classes_[1]``."""
    if is_regressor(model):
        return np.asarray(model.predict(X), dtype=np.float64).ravel()
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64).ravel()
    return np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]


def score_threshold(model: BaseEstimator) -> float:
    """The score above which a two-class model says ``classes_[1]``: 0, or 1/2 for probabilities."""
    return 0.0 if hasattr(model, "decision_function") and not is_regressor(model) else 0.5

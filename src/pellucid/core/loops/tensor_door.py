"""The door for tensors: an estimator that can ``fit_blocks`` is fitted where the tensor lives.

scikit-learn's rule holds: a tensor is taken as it is inside
``sklearn.config_context(array_api_dispatch=True)``, or inside
``pellucid.backends.use(Torch("cuda"))``, which also moves NumPy arrays to the device. The fitted
attributes are NumPy arrays, so the model is saved and used anywhere; the answers for a tensor are
tensors on its device. Answers without a form for tensors (``_predict_tensor`` and so on) are
computed on the host, piece by piece, and sent back.
"""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.multiclass import check_classification_targets

from pellucid.core.arrays.tensors import (
    all_finite,
    check_tensor,
    check_together,
    describe,
    host,
    is_tensor,
    like,
    namespace,
)
from pellucid.core.loops.device import DeviceRows
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.backend import default_backend

logger = logging.getLogger("pellucid")
PIECE_ROWS = 64 * LEAF_ROWS  # rows at a time that answers without a form travel in


def dispatched(X: object) -> bool:
    """Whether X is a tensor and was asked to stay where it is."""
    if not is_tensor(X):
        return False
    return bool(get_config()["array_api_dispatch"]) or hasattr(default_backend.get(), "place")


def takes_tensors(fit: Callable[..., Any]) -> Callable[..., Any]:
    """``fit`` of a class that can ``fit_blocks``: tensors go to their own door."""

    @wraps(fit)
    def fitted(self: Any, *given: Any, **named: Any) -> Any:
        X = given[0] if given else named.get("X")
        backend = default_backend.get()
        if type(X) is np.ndarray and backend is None:
            return fit(self, *given, **named)
        if dispatched(X):
            return fit_tensors(self, *given, **named)
        if hasattr(backend, "place") and isinstance(X, np.ndarray) and X.dtype.kind == "f":
            return fit_tensors(self, backend.place(X), *given[1:], **without(named, "X"))
        return fit(self, *given, **named)

    fitted.takes_tensors = True  # type: ignore[attr-defined]
    return fitted


def without(named: dict[str, Any], name: str) -> dict[str, Any]:
    """The keywords but one."""
    return {key: value for key, value in named.items() if key != name}


def fit_tensors(model: Any, X: Any, y: Any = None, sample_weight: Any = None, **other: Any) -> Any:
    """Check the tensors, and fit as from blocks."""
    if other:
        raise TypeError(
            f"X is {describe(X)}: {type(model).__name__}.fit takes y and sample_weight with it, "
            f"not {', '.join(other)}"
        )
    X = check_matrix(model, X)
    model.__dict__.pop("feature_names_in_", None)
    model.n_features_in_ = X.shape[1]
    rows = DeviceRows(X, check_target(model, y, X), check_weights(sample_weight, X))
    model._fit_rows(rows, map)
    if "labels_" in getattr(model, "_training_state", ()) and hasattr(model, "predict"):
        model.labels_ = host(answer_tensor(model, "predict", type(model).predict, X)).astype(
            np.int32
        )
    return model


def check_matrix(model: Any, X: Any) -> Any:
    """A tensor of two dimensions with finite numbers, at least one row and one column."""
    check_tensor(X, "X")
    if X.ndim != 2 or 0 in X.shape:
        shape = tuple(X.shape)
        raise ValueError(f"X must have rows and columns, at least one of each, got shape {shape}")
    if not all_finite(X):
        name = type(model).__name__
        raise ValueError(f"X contains NaN or infinity (inf); {name} accepts finite tensors")
    return X


def check_target(model: Any, y: Any, X: Any) -> Any:
    """Numbers of a regressor, class codes of a classifier, on the device of X."""
    if not (is_regressor(model) or is_classifier(model)):
        return None
    if y is None:
        raise ValueError(
            f"{type(model).__name__} requires y to be passed, but the target y is None"
        )
    if not is_tensor(y):
        return like(model._check_target(np.asarray(y), X.shape[0]), X)
    xp = namespace(X)
    check_tensor(y, "y", whole=True)
    check_together(X, y, "y")
    if y.shape[0] != X.shape[0] or y.ndim > 2 or (y.ndim == 2 and is_classifier(model)):
        raise ValueError(
            f"y must have one entry for each of the {X.shape[0]} rows, got {tuple(y.shape)}"
        )
    if is_regressor(model):
        y = xp.astype(y, xp.float64, copy=False)
        if not all_finite(y):
            raise ValueError("y contains NaN or infinity (inf)")
        return y
    found = xp.unique_inverse(y)
    model.classes_ = host(found.values)
    check_classification_targets(model.classes_)
    return xp.reshape(found.inverse_indices, (-1,))


def check_weights(sample_weight: Any, X: Any) -> Any:
    """Weights on the device of X, or None."""
    if sample_weight is None:
        return None
    xp = namespace(X)
    check_together(X, sample_weight, "sample_weight")
    w = xp.astype(like(sample_weight, X), xp.float64, copy=False)
    if w.ndim != 1 or w.shape[0] != X.shape[0]:
        shape = tuple(w.shape)
        raise ValueError(
            f"sample_weight must have one entry for each of the {X.shape[0]} rows, got {shape}"
        )
    if not all_finite(w) or bool(xp.any(w < 0)) or not bool(xp.any(w > 0)):
        raise ValueError("sample_weight must be finite, not negative and not all zero")
    return w


def answer_tensor(model: Any, name: str, method: Callable[..., Any], X: Any) -> Any:
    """The answer for a tensor, as a tensor on its device (text labels: a NumPy array)."""
    form = getattr(model, f"_{name}_tensor", None)
    check_tensor(X, "X")
    if X.ndim != 2 or X.shape[1] != getattr(model, "n_features_in_", X.shape[-1]):
        raise ValueError(
            f"X has shape {tuple(X.shape)}, but {type(model).__name__} is expecting "
            f"{getattr(model, 'n_features_in_', 'some')} features as input"
        )
    if form is not None:
        if not all_finite(X):
            raise ValueError(f"X contains NaN or infinity (inf): {type(model).__name__}.{name}")
        return form(X)
    logger.info("%s.%s has no form for tensors: computed on the host", type(model).__name__, name)
    parts = [
        method(model, np.ascontiguousarray(leaf.X))
        for i in range(0, X.shape[0], PIECE_ROWS)
        for leaf in [DeviceRows(X, None, None).slice(i, i + PIECE_ROWS).read()]
    ]
    found = np.concatenate(parts)
    return found if found.dtype.kind in "OUS" else like(found, X, None)

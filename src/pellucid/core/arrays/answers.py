"""No answer is NaN in silence: the methods of every estimator are looked at as they return.

``watch_answers(cls)`` wraps the methods that a class defines. An answer with NaN or infinity is
given back together with a warning that says how many and why; NaN that only stands for a missing
cell of the input is left alone. It costs two passes over the answer.
"""

import math
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np
from scipy.sparse import issparse

from pellucid.core.runtime.warn import warn

METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "fit_transform",
    "score_samples",
)


def watch_answers(cls: type) -> None:
    """Wrap the methods that ``cls`` itself defines."""
    for name in METHODS:
        method = cls.__dict__.get(name)
        if isinstance(method, FunctionType) and not hasattr(method, "watched"):
            setattr(cls, name, watched(method, log=name == "score_samples"))


def watched(method: Callable[..., Any], *, log: bool) -> Any:
    """The method, which warns when its answer is not a number."""

    @wraps(method)
    def answer(self: Any, *args: Any, **options: Any) -> Any:
        found = method(self, *args, **options)
        if not is_sound(found, log=log):
            tell(self, method.__name__, args[0] if args else None, found)
        return found

    answer.watched = True  # type: ignore[attr-defined]
    return answer


def is_sound(values: Any, *, log: bool = False) -> bool:
    """Whether numbers are all finite, logarithms also -inf (log 0); other things are sound.

    >>> is_sound(np.array([1.0, np.inf])), is_sound(np.array([-np.inf]), log=True)
    (False, True)
    """
    if issparse(values):
        values = values.data
    if type(values) is not np.ndarray or values.dtype.kind != "f" or not values.size:
        return True
    low, high = float(values.min()), float(values.max())
    return high < math.inf and (low > -math.inf or (log and low == low))


def tell(model: Any, method: str, given: Any, found: Any) -> None:
    """Warn about an answer, unless the model means it or the input was missing there."""
    if model._answers_nonfinite or _has_missing(given):
        return
    values = found.data if issparse(found) else found
    bad = int((~np.isfinite(values)).sum())
    warn(
        f"{type(model).__name__}.{method}: {bad} of {values.size} numbers are not finite; the "
        "numbers of the table are too large or too small for it, measure them in another unit"
    )


def _has_missing(given: Any) -> bool:
    """Whether a table has a missing cell; one that holds anything but numbers may have."""
    if issparse(given):
        given = given.data
    try:
        cells = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return True
    return bool(np.isnan(cells).any())

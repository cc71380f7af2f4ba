"""No answer is NaN in silence, and no sparse one points outside: every estimator is watched.

``watch_answers(cls)`` wraps the methods that a class defines. An answer with NaN or infinity is
given back together with a warning that says how many and why; NaN that only stands for a missing
cell of the input is left alone. A sparse answer leaves only if its indices lie inside: whoever uses
it next trusts them. It costs two passes over the answer.
"""

import math
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np
from scipy.sparse import issparse

from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.typing import BoolArray
from pellucid.core.loops.tensor_door import answer_tensor, dispatched
from pellucid.core.runtime.warn import warn

METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "fit_transform",
    "score_samples",
)
MATRICES = ("inverse_transform", "decision_path", "kneighbors_graph", "radius_neighbors_graph")


def watch_answers(cls: type) -> None:
    """Wrap the methods that ``cls`` itself defines."""
    for name in (*METHODS, *MATRICES):
        method = cls.__dict__.get(name)
        if isinstance(method, FunctionType) and not hasattr(method, "watched"):
            setattr(cls, name, watched(method))
        inner = getattr(method, "fn", None)  # of ``available_if``
        if isinstance(inner, FunctionType) and not hasattr(inner, "watched"):
            method.fn = watched(inner)  # type: ignore[union-attr]


def watched(method: Callable[..., Any]) -> Any:
    """The method, which warns when its answer is not a number and refuses to point outside."""
    name = method.__name__
    numbers, log, fits = name in METHODS, name == "score_samples", name == "fit_transform"

    @wraps(method)
    def answer(self: Any, *args: Any, **options: Any) -> Any:
        if args and not fits and dispatched(args[0]):
            return answer_tensor(self, name, method, args[0])
        found = method(self, *args, **options)
        for matrix in found if isinstance(found, tuple) else (found,):
            if issparse(matrix):
                check_matrix(matrix, f"{type(self).__name__}.{name}")
        if numbers and not is_sound(found, log=log):
            tell(self, name, args[0] if args else None, found)
        return found

    answer.watched = True  # type: ignore[attr-defined]
    return answer


def check_matrix(matrix: Any, where: str) -> None:
    """Raise a ValueError if a sparse matrix does not fit together.

    >>> from scipy.sparse import csr_array
    >>> outside = csr_array(np.eye(2))
    >>> outside.indices[1] = 7
    >>> check_matrix(outside, "Encoder.transform")
    Traceback (most recent call last):
    ValueError: Encoder.transform made a sparse matrix that is not one: indices must be < 2
    """
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        elif matrix.format == "coo" and matrix.nnz:
            for place, n in zip(matrix.coords, matrix.shape, strict=True):
                if place.min() < 0 or place.max() >= n:
                    raise ValueError(f"an index is outside of 0..{n - 1}")
    except ValueError as error:
        raise ValueError(f"{where} made a sparse matrix that is not one: {error}") from error


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
    """Warn about an answer, unless the model means it or the input was missing there.

    A row with a missing cell may answer NaN; the other rows of the table may not.
    """
    if model._answers_nonfinite or (missing := missing_rows(given)) is None:
        return
    cells = found.tocoo() if issparse(found) else found
    values = cells.data if issparse(found) else cells
    bad = ~np.isfinite(values)
    if method == "score_samples":
        bad &= values != -math.inf  # the logarithm of 0
    if missing.any():
        if found.shape[0] != len(missing):
            return
        bad = bad[~(missing[cells.coords[0]] if issparse(found) else missing)]
    if count := int(bad.sum()):
        warn(
            f"{type(model).__name__}.{method}: {count} of {bad.size} numbers are not finite: the "
            "numbers of the table are too large or too small for it (measure them in another "
            "unit), or a column had no value when it was fitted"
        )


def missing_rows(given: Any) -> BoolArray | None:
    """Which rows of a table have a missing cell; None where it holds anything but numbers.

    >>> missing_rows([[1.0, np.nan], [2.0, 3.0]])
    array([ True, False])
    """
    if issparse(given):  # in some formats ``data`` is no array, or is not there
        cells = given.tocoo()
        found = np.zeros(given.shape[0], dtype=bool)
        found[cells.coords[0][np.isnan(cells.data)]] = True
        return found
    try:
        with np.errstate(over="ignore"):  # a wider number that becomes infinite is not missing
            cells = frame_matrix(given) if is_frame(given) else np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    if not cells.ndim:
        return None
    return np.asarray(np.isnan(cells.reshape(len(cells), -1)).any(axis=1))

"""What a trace says of the data: names, sizes, a digest, and the rows that are drawn."""

import hashlib
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import ArrayLike
from pellucid.lab.recorded_scene import Stage, still


def len_of(X: np.ndarray) -> int:
    shape = getattr(X, "shape", None)
    return shape[0] if shape else len(X) if hasattr(X, "__len__") else 0


def data_of(stage: Stage, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The rows that are drawn, what they are called, and a digest of all that was given."""
    kind = stage.task if stage.task in ("classes", "values") else "points"
    told: dict[str, Any] = {"kind": "none" if stage.X is None else kind, "names": list(stage.names)}
    told |= {"rows": len_of(X), "digest": digest(X, y), "panels": still(stage)}
    told |= {"X": None, "y": None, "held_out": None}
    if stage.view is not None:
        told["X"] = stage.view.at if len(stage.names) <= 2 else None
        told["y"] = stage.y
    if stage.levels:
        told["levels"] = [str(level) for level in stage.levels]
    if stage.note:
        told["note"] = stage.note
    return told


def digest(X: ArrayLike, y: ArrayLike) -> str:
    """SHA-256 of the data as they were given: the same rows have the same digest."""
    total = hashlib.sha256()
    for part in (X, y):
        _add(total, part)
    return total.hexdigest()


def _add(total: Any, part: Any) -> None:
    """A sparse matrix by its arrays, a list of arrays (graphs) one by one, all else as an array."""
    if hasattr(part, "tocsr"):
        part = part.tocsr()
        total.update(repr(part.shape).encode())
        part = [part.data, part.indices, part.indptr]
    if isinstance(part, list | tuple) and any(isinstance(p, np.ndarray | tuple) for p in part):
        total.update(repr(len(part)).encode())
        for piece in part:
            _add(total, piece)
        return
    array = np.asarray(part)
    total.update(repr((array.dtype.str, array.shape)).encode())
    total.update(repr(array.tolist()).encode() if array.dtype.hasobject else array.tobytes())


def about(stage: Stage, X: np.ndarray) -> str:
    """What was fitted, in a few words."""
    if not len_of(X):
        return "its steps"
    columns = f" of {len(stage.names)} column{'s' * (len(stage.names) != 1)}" if stage.names else ""
    return f"its steps on {len_of(X)} rows{columns}"

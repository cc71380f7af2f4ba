"""Check and encode what users pass to the evaluation functions.

Labels become codes 0..K-1 of the sorted labels, weights drop the rows that count for nothing, and
every mistake is one sentence.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from pellucid.base import encode_labels
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.typing import Array, ArrayLike, Matrix


class Prepared(NamedTuple):
    """Truth and prediction in the form that the metrics' formulas want.

    ``kind`` is classes, multilabel, scores, probabilities, numbers, relevance or clusters.
    ``positive`` is the code of the positive class, None when all classes count alike.
    """

    kind: str
    y: Any  # codes (n,), numbers (n, k), indicators (n, k) or, for clusters, X
    prediction: Any
    w: Array | None
    labels: Any = None
    positive: int | None = None
    cost: Any = None

    @property
    def n(self) -> int:
        return len(self.y)


def prepare(
    kind: str,
    y_true: ArrayLike,
    prediction: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    labels: ArrayLike | None = None,
    positive: object = None,
    cost_matrix: ArrayLike | None = None,
) -> Prepared:
    """Check and encode; ``kind`` is the input of a metric's definition."""
    if kind == "clusters":
        X = np.asarray(frame_matrix(y_true) if is_frame(y_true) else y_true, dtype=np.float64)
        y, p = numbers(X, "X", ndim=2), column(prediction, "the cluster labels")
    else:
        y, p = column(y_true, "y_true"), column(prediction, "the prediction")
    same_length(len(y), len(p))
    w = weights(sample_weight, len(y))
    if w is not None and not (w > 0).all():
        y, p, w = y[w > 0], p[w > 0], w[w > 0]
    if kind == "clusters":
        return Prepared(kind, y, encode_labels(p)[1], w)
    if kind in ("numbers", "relevance"):
        y, p = numbers(y, "y_true"), numbers(p, "the prediction")
        if kind == "numbers" and y.ndim == 1:
            y, p = y[:, None], p.reshape(len(p), -1)
        if y.shape != p.shape:
            raise ValueError(f"y_true has shape {y.shape} and the prediction {p.shape}")
        return Prepared(kind, y, p, w)
    if kind == "classes":
        return _classes(y, p, w, labels, positive, cost_matrix)
    return _scored(kind, y, p, w, labels, positive)


def column(values: Matrix, name: str) -> Any:
    """A vector or matrix as an array; frames and series welcome; (n, 1) becomes (n,)."""
    if issparse(values):
        values = values.toarray()
    if is_frame(values):
        values = values.to_numpy()
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two dimensions, got shape {array.shape}")
    if len(array) == 0:
        raise ValueError(f"{name} is empty: at least one row is needed")
    return array


def numbers(values: ArrayLike, name: str, ndim: int | None = None) -> Array:
    """Finite numbers as float64."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must hold numbers, got {array.dtype} values") from error
    array = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(array.sum()) and not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0][0])
        raise ValueError(f"{name} contains NaN or infinity in row {row}")
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} dimension(s), got shape {array.shape}")
    return array


def same_length(n: int, m: int) -> None:
    if n != m:
        raise ValueError(f"y_true and the prediction need the same length, got {n} and {m}")


def weights(sample_weight: ArrayLike | None, n: int) -> Array | None:
    """Weights as a vector, or None when every row counts once."""
    if sample_weight is None:
        return None
    w = numbers(sample_weight, "sample_weight", ndim=1)
    if len(w) != n:
        raise ValueError(f"sample_weight has {len(w)} entries for {n} rows")
    if (w < 0).any():
        raise ValueError(f"sample_weight must be >= 0, got {w.min()!r}")
    if not w.any():
        raise ValueError("sample_weight is zero for every row; at least one must be positive")
    return w


def check_labels(values: NDArray[Any], name: str) -> Any:
    """Labels without missing values; text stored as objects becomes text."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ValueError(f"{name} contains NaN in row {int(np.isnan(values).argmax())}")
    if values.dtype.kind == "O":
        missing = [i for i, v in enumerate(values.ravel()) if v is None or v != v]
        if missing:
            raise ValueError(f"{name} has a missing value in row {missing[0]}")
        if all(isinstance(value, str) for value in values.ravel()):
            return values.astype(str)
    return values


def common_codes(
    y: np.ndarray, p: NDArray[Any], labels: ArrayLike | None = None
) -> tuple[Any, Any, Any]:
    """Sorted labels of both (and of ``labels``), and the codes of each."""
    y, p = check_labels(y, "y_true"), check_labels(p, "the prediction")
    parts = [y, p] if labels is None else [y, p, check_labels(np.asarray(labels), "labels")]
    text = {part.dtype.kind in "US" for part in parts}
    if len(text) > 1:
        kinds = f"y_true has {y.dtype} labels and the prediction {p.dtype}"
        raise ValueError(f"{kinds}: text and numbers differ")
    classes, codes = encode_labels(np.concatenate(parts))
    return classes, codes[: len(y)], codes[len(y) : len(y) + len(p)]


def complete_pair(classes: NDArray[Any]) -> Any:
    """A single label that plainly is the negative of a pair is given its partner 1."""
    if len(classes) == 1 and classes.dtype.kind in "biuf" and classes[0] in (0, -1):
        return np.append(classes, np.ones(1, dtype=classes.dtype))
    return classes


def position(classes: NDArray[Any], positive: object) -> int | None:
    """The code of the positive class; for two classes and None, the later one."""
    if positive is None:
        return len(classes) - 1 if len(classes) <= 2 else None
    found = np.flatnonzero(np.asarray(classes) == positive)
    if len(found) == 0:
        raise ValueError(f"positive={positive!r} is not among the labels {list(classes)}")
    return int(found[0])


def _classes(
    y: np.ndarray,
    p: NDArray[Any],
    w: Array | None,
    labels: ArrayLike | None,
    positive: object,
    cost_matrix: ArrayLike | None,
) -> Prepared:
    if y.ndim == 2 or p.ndim == 2:
        if y.shape != p.shape:
            raise ValueError(f"y_true has shape {y.shape} and the prediction {p.shape}")
        return Prepared("multilabel", indicators(y, "y_true"), indicators(p, "the prediction"), w)
    classes, t, q = common_codes(y, p, labels)
    classes = complete_pair(classes)
    cost = None if cost_matrix is None else costs(cost_matrix, len(classes), classes)
    return Prepared("classes", t, q, w, classes, position(classes, positive), cost)


def indicators(values: ArrayLike, name: str) -> Any:
    """A 0/1 matrix."""
    array = numbers(values, name, ndim=2)
    if not ((array == 0) | (array == 1)).all():
        raise ValueError(f"{name} must hold 0 and 1 only: one column per label")
    return array


def costs(cost_matrix: ArrayLike, k: int, classes: NDArray[Any] | None = None) -> Array:
    """Square, non-negative costs[truth, prediction], one row per label."""
    L = numbers(cost_matrix, "cost_matrix")
    if L.ndim != 2 or L.shape[0] != L.shape[1]:
        raise ValueError(f"cost_matrix must be square (row = truth), got shape {L.shape}")
    if (L < 0).any():
        raise ValueError(f"cost_matrix must be >= 0, got {L.min()!r}")
    if len(L) != k:
        names = "" if classes is None else f": {list(classes)}"
        raise ValueError(f"cost_matrix is {len(L)} x {len(L)} for {k} labels{names}")
    return L


def _scored(
    kind: str,
    y: np.ndarray,
    p: NDArray[Any],
    w: Array | None,
    labels: ArrayLike | None,
    positive: object,
) -> Prepared:
    """Scores or probabilities against labels."""
    p = numbers(p, "the scores" if kind == "scores" else "the probabilities")
    if y.ndim == 2:  # multi-label: every column is a question of its own
        y = indicators(y, "y_true")
        if y.shape != p.shape:
            raise ValueError(f"y_true has shape {y.shape} and the scores {p.shape}")
        return Prepared("multilabel_" + kind, y, p, w)
    classes, codes = _known(check_labels(y, "y_true"), labels)
    if p.ndim == 1 and len(classes) > 2 and positive is None:
        raise ValueError(f"{len(classes)} classes need one column of {kind} each, got one column")
    if p.ndim == 2 and p.shape[1] != len(classes):
        wrong = f"{p.shape[1]} columns of {kind} for {len(classes)} labels {list(classes)}"
        raise ValueError(f"{wrong}: pass labels= in the order of the columns")
    where = position(classes, positive)
    if len(classes) > 2 and where is not None:  # one class against the rest
        p, codes = p if p.ndim == 1 else p[:, where], (codes == where).astype(np.intp)
        classes, where = np.array([f"not {positive}", positive], dtype=object), 1
    if kind == "probabilities":
        p = _probabilities(p, where)
    elif p.ndim == 2 and where is not None:
        p = p[:, where]
    return Prepared(kind, codes, p, w, classes, where)


def _known(y: np.ndarray, labels: ArrayLike | None) -> tuple[Any, Any]:
    """Codes of y in the given labels, or in its own sorted ones."""
    if labels is None:
        classes, codes = encode_labels(y)
        full = complete_pair(classes)
        if len(full) == 1:
            raise ValueError(f"y_true holds one class only, {full[0]!r}; two are needed")
        return full, codes
    known = check_labels(np.asarray(labels), "labels")
    order = np.argsort(known, kind="stable")
    codes = order[np.minimum(np.searchsorted(known, y, sorter=order), len(known) - 1)]
    wrong = known[codes] != y
    if wrong.any():
        raise ValueError(f"y_true holds {y[wrong][0]!r}, which is not among {list(known)}")
    return known, codes


def _probabilities(p: Array, where: int | None) -> Array:
    """(n, K) probabilities; one column means that of the positive class of two."""
    low, high = p.min(), p.max()
    if low < 0 or high > 1:
        raise ValueError(f"probabilities must be in [0, 1], got {low if low < 0 else high!r}")
    if p.ndim == 1:
        return np.column_stack([1 - p, p] if where == 1 else [p, 1 - p])
    off = np.abs(p.sum(axis=1) - 1)
    if off.max() > 1e-3:  # far beyond the rounding of single precision
        row = int(off.argmax())
        raise ValueError(f"the probabilities of row {row} sum to {p[row].sum():.6g}, not to 1")
    return p

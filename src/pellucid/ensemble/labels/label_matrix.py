"""Matrices of labels: check them, and pick the m most likely labels of a row."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from pellucid.base import check_label_kinds
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.sparse import check_places
from pellucid.core.arrays.typing import Array, Matrix
from pellucid.core.runtime.warn import warn


def open_label_matrix(owner: BaseEstimator, Y: Matrix, n: int) -> Any:
    """Y as an (n, L) array of labels, dense."""
    name = type(owner).__name__
    if Y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    if issparse(Y):
        check_places(Y, "y")
        Y = Y.toarray()
    elif is_frame(Y):
        import narwhals.stable.v1 as nw

        Y = nw.from_native(Y, eager_only=True).to_numpy()
    Y = check_array(Y, dtype=None, ensure_2d=False, input_name="y", estimator=owner)
    if Y.ndim != 2:
        cure = "for one label use the estimator itself, or y.reshape(-1, 1)"
        raise ValueError(f"y must have two dimensions (rows, labels), got shape {Y.shape}; {cure}")
    if len(Y) != n:
        raise ValueError(f"X and y need the same number of rows (n_samples), got {n} and {len(Y)}")
    check_label_kinds(Y)
    return Y


def check_zero_one(Y: NDArray[Any], name: str) -> Any:
    """Refuse labels other than 0 and 1.

    >>> check_zero_one(np.array([[0, 2]]), "predict_top")
    Traceback (most recent call last):
    ValueError: predict_top needs labels 0 and 1, got 2
    """
    bad = ~((Y == 0) | (Y == 1)) if Y.dtype.kind in "biuf" else np.ones(Y.shape, dtype=bool)
    if bad.any():
        raise ValueError(f"{name} needs labels 0 and 1, got {Y[bad][0]}")
    return Y.astype(np.int64)


def check_ranked(classes: list[Any]) -> None:
    """Refuse to rank labels with other values than 0 and 1."""
    for j, values in enumerate(classes):
        if not np.array_equal(values, [0, 1]):
            raise ValueError(
                f"labels must be 0 and 1 to be ranked, label {j} has {values.tolist()}"
            )


def warn_constant(owner: BaseEstimator, label: int, value: object) -> None:
    """One warning per label that never varies."""
    warn(
        f"{type(owner).__name__}: label {label} is {value} in every training row; "
        f"{value} is predicted always"
    )


def top_labels(scores: Array, m: int) -> Any:
    """0/1 rows with exactly m ones, at the m largest scores; of equal ones the earlier label.

    >>> top_labels(np.array([[0.2, 0.9, 0.2]]), 2)
    array([[1, 1, 0]])
    """
    check.whole(m=m, at_least=0)
    n, L = scores.shape
    if m > L:
        raise ValueError(f"m must be at most the number of labels, {L}, got {m}")
    out = np.zeros((n, L), dtype=np.int64)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :m]
    np.put_along_axis(out, order, 1, axis=1)
    return out

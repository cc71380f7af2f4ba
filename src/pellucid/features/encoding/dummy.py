"""A column of ones in front: the design D = [1 X] of a model with an intercept."""

from typing import Any

import numpy as np
from scipy.sparse import hstack, issparse

from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.reading import check_array


def add_dummy_feature(X: Any, value: float = 1.0) -> Any:
    """Put a column of the constant ``value`` before the columns of ``X``, sparse if X is.

    >>> from pellucid.features import add_dummy_feature
    >>> add_dummy_feature([[2.0], [3.0]])
    array([[1., 2.],
           [1., 3.]])
    """
    X = frame_matrix(X) if is_frame(X) else X
    X = check_array(X, accept_sparse=("csr", "csc", "coo"), dtype=np.float64)
    if issparse(X):
        kind = type(X)
        return kind(hstack([np.full((X.shape[0], 1), float(value)), X], format=X.format))
    out = np.empty((X.shape[0], X.shape[1] + 1))
    out[:, 0] = value
    out[:, 1:] = X
    return out

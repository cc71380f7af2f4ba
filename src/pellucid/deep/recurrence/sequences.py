"""Sequences of different lengths as one padded array, and the lengths."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray


class Padded(NamedTuple):
    """values (n, longest, width), zero after the end; lengths (n,)."""

    values: Array
    lengths: IntArray


def are_sequences(X: ArrayLike) -> bool:
    """Whether X is (n, time, features) or a list of series, not a table.

    >>> are_sequences(np.zeros((2, 3, 1))), are_sequences([[1.0, 2.0], [3.0]])
    (True, True)
    >>> are_sequences(np.zeros((2, 3))), are_sequences([[1.0, 2.0], [3.0, 4.0]])
    (False, False)
    """
    if isinstance(X, np.ndarray):
        return X.ndim == 3 or (X.dtype == object and X.ndim == 1 and np.ndim(X[0]) > 0)
    if not isinstance(X, list | tuple) or not X or np.ndim(X[0]) == 0:
        return False
    if any(np.ndim(x) == 2 for x in X[:1]):
        return True
    return len({len(x) for x in X}) > 1


def pad(X: Any) -> Padded:
    """Series (time,) or (time, features) side by side.

    >>> pad([[1.0, 2.0], [3.0]]).values[:, :, 0], pad([[1.0, 2.0], [3.0]]).lengths
    (array([[1., 2.],
           [3., 0.]]), array([2, 1]))
    """
    series = [np.asarray(x, dtype=np.float64) for x in X]
    series = [x[:, None] if x.ndim == 1 else x for x in series]
    if not series:
        raise ValueError("Found array with 0 sample(s); at least one sequence is needed")
    widths = {x.shape[1] for x in series}
    if len(widths) != 1 or any(x.ndim != 2 or not len(x) for x in series):
        raise ValueError(
            "every sequence must have at least one step and the same number of features, "
            f"got widths {sorted(widths)} and lengths from {min(map(len, series))}"
        )
    lengths = np.array([len(x) for x in series], dtype=np.intp)
    values = np.zeros((len(series), lengths.max(), widths.pop()))
    for i, x in enumerate(series):
        values[i, : len(x)] = x
    if not np.isfinite(values).all():
        row, step, feature = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"X contains NaN or infinity in sequence {row}, step {step}, feature {feature}; "
            "finite numbers only are accepted"
        )
    return Padded(values, lengths)


def unpad(values: Array, lengths: IntArray) -> Any:
    """The steps that exist: an array where all are equally long, else a list of arrays."""
    if (lengths == values.shape[1]).all():
        return values
    return [row[:m] for row, m in zip(values, lengths, strict=True)]

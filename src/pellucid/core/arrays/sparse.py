"""Sparse tables stay sparse, or are refused where every zero would have to be written out.

A method that is written with products alone (``core.algebra.shifted``) reads dense and sparse
tables alike, centred or not. One that needs the cells asks ``to_dense``.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.core.arrays.typing import Array

DENSE_CELLS = 1 << 27  # cells of a sparse table that may be written out: 1.07 GB


def to_dense(X: Any, instead: str = "select columns or rows first") -> Any:
    """X with every zero written out; refused where that is more than DENSE_CELLS numbers.

    >>> from scipy.sparse import csr_array
    >>> to_dense(csr_array([[0.0, 2.0]]))
    array([[0., 2.]])
    """
    if not issparse(X):
        return X
    check_places(X)
    n, p = X.shape
    if n * p > DENSE_CELLS:
        size, most = 8e-9 * n * p, 8e-9 * DENSE_CELLS
        what = f"every zero of {n} x {p} sparse numbers would be written out ({size:.3g} GB)"
        raise ValueError(f"{what}, which is done up to {most:.3g} GB; {instead}")
    return X.toarray()


def check_places(X: Any, name: str = "X") -> None:
    """Refuse a sparse table whose parts do not fit together: compiled code follows its indices.

    SciPy takes what it is given on trust. It costs a look at every index, and changes nothing.

    >>> from scipy.sparse import csr_array
    >>> X = csr_array([[0.0, 2.0]])
    >>> X.indices[0] = 7
    >>> check_places(X)
    Traceback (most recent call last):
    ValueError: X is a sparse table with a number in column 7, but its columns are 0 to 1
    """
    if not issparse(X) or X.ndim != 2:
        return
    if X.format == "coo":
        for places, n, what in zip(X.coords, X.shape, ("row", "column"), strict=True):
            _check_range(places, n, name, what)
        if len({len(X.data), *map(len, X.coords)}) > 1:
            raise ValueError(f"{name} is a sparse table whose numbers and places differ in length")
    elif X.format == "lil":
        _check_range([j for row in X.rows for j in row], X.shape[1], name, "column")
    elif X.format in ("csr", "csc", "bsr"):
        size = getattr(X, "blocksize", (1, 1))
        lines, across, what = X.shape[0] // size[0], X.shape[1] // size[1], "column"
        if X.format == "csc":
            lines, across, what = across, lines, "row"
        start = X.indptr
        fits = len(start) == lines + 1 and start[0] == 0 and not (np.diff(start) < 0).any()
        if not fits or start[-1] > min(len(X.indices), len(X.data)):
            raise ValueError(
                f"{name} is a sparse table whose pointers (indptr) do not fit its parts"
            )
        _check_range(X.indices[: start[-1]], across, name, what)


def _check_range(places: Any, n: int, name: str, what: str) -> None:
    if not len(places):
        return
    low, high = int(np.min(places)), int(np.max(places))
    if low < 0 or high >= n:
        found = f"a number in {what} {low if low < 0 else high}"
        raise ValueError(f"{name} is a sparse table with {found}, but its {what}s are 0 to {n - 1}")


class Spread(NamedTuple):
    """The columns one by one: nothing of the size p x p."""

    weight: float  # W = sum w
    mean: Array  # (p,)
    squares: Array  # (p,) sum w (x - mean)^2


def column_spread(X: Any, w: Array) -> Spread:
    """Mean and squares of the columns of a CSR table about it, the zeros counted, not read.

    >>> from scipy.sparse import csr_array
    >>> column_spread(csr_array([[0.0, 2.0], [0.0, 4.0]]), np.ones(2)).squares
    array([0., 2.])
    """
    (n, p), weight = X.shape, float(w.sum())
    if weight == 0:
        return Spread(0.0, np.zeros(p), np.zeros(p))
    first = np.zeros(p)
    first[X.indices[: X.indptr[1]]] = X.data[: X.indptr[1]]
    whole = np.bincount(X.indices, minlength=p) == n
    origin = np.where(whole, first, 0.0)  # a constant column has squares 0 exactly
    of = np.broadcast_to(w, (n,)).repeat(np.diff(X.indptr))  # the weight of every value
    away = X.data - origin[X.indices]
    offset = np.bincount(X.indices, of * away, p) / weight
    squares = np.bincount(X.indices, of * (away - offset[X.indices]) ** 2, p)
    absent = np.where(whole, 0.0, np.maximum(weight - np.bincount(X.indices, of, p), 0.0))
    return Spread(weight, origin + offset, squares + absent * offset**2)

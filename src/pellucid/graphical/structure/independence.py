r"""Tests of (conditional) independence from data.

Counts N_ij of a and b within a stratum s of ``given``, expected E_ij = N_i N_j / N:

    g2      2 sum N_ij log(N_ij / E_ij)          (2 N x conditional mutual information)
    chi2    sum (N_ij - E_ij)^2 / E_ij

summed over strata, with (rows - 1)(columns - 1) degrees of freedom for each, where rows and
columns of a stratum without data do not count. For numbers

    fisher_z    sqrt(n - |given| - 3) atanh(partial correlation), standard normal if independent;
                the degrees of freedom reported are n - |given| - 3

p is the probability of a statistic at least as large. No degree of freedom left: p = 1.

References: Spirtes, Glymour & Scheines (2000); Fisher (1924).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, ndtr

from pellucid.base import check_weights
from pellucid.core.arrays import check
from pellucid.core.arrays.columns import frame_columns
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable
from pellucid.graphical.learning.count_kernels import stratified_test
from pellucid.graphical.learning.counts import CodedTable, encode_table
from pellucid.graphical.network.names import Name, Names, names_of

METHODS = ("g2", "chi2", "fisher_z")
MOST_CELLS = 1 << 27


@readable
class IndependenceTest(NamedTuple):
    """Statistic, degrees of freedom and p-value of one test.

    >>> IndependenceTest(0.0, 1, 1.0).dof
    1
    """

    statistic: float  # G2, chi2 or z
    dof: int  # degrees of freedom
    p_value: float  # small: dependent


def table_columns(
    X: Any, weights: Array | None = None
) -> tuple[list[Any], tuple[Name, ...], Array]:
    """Columns, names and weights of a frame or an array, for functions without an estimator."""
    if is_frame(X):
        columns, names = frame_columns(X), tuple(X.columns)
        if hasattr(X, "column_names"):  # pyarrow
            names = tuple(X.column_names)
    else:
        X = np.asarray(X) if not isinstance(X, list) else np.array(X, dtype=object)
        if X.ndim != 2:
            raise ValueError(f"X must be a table with rows and columns, got {X.ndim} dimension(s)")
        columns = [X[:, j] for j in range(X.shape[1])]
        names = tuple(f"x{j}" for j in range(X.shape[1]))
    if not columns or X.shape[0] == 0:
        raise ValueError("X has no rows or no columns: at least one of each is needed")
    return columns, names, check_weights(weights, np.empty((X.shape[0], 1)))


def count_test(
    table: CodedTable, a: int, b: int, given: Sequence[int], method: str
) -> IndependenceTest:
    """g2 or chi2 of codes; rows with a missing cell among the variables are left out."""
    card = table.card
    cells = float(np.prod(card[[a, b, *given]], dtype=np.float64))
    if cells > MOST_CELLS:
        raise MemoryError(
            f"the table of {table.names[a]!r}, {table.names[b]!r} and {len(given)} given "
            f"variables has {cells:.3g} cells, at most {MOST_CELLS} are counted; give fewer"
        )
    room = np.empty(int(4 * cells if 4 * cells <= table.n_rows else cells))
    condition = np.asarray(given, np.int64)
    statistic, dof = stratified_test(
        table.codes, a, b, condition, card, table.w, method == "g2", room
    )
    statistic = max(statistic, 0.0)  # rounding may leave -1e-16
    return IndependenceTest(statistic, int(dof), float(chdtrc(dof, statistic)) if dof else 1.0)


class Correlations(NamedTuple):
    names: tuple[Name, ...]
    matrix: Array
    weight: float


def correlations(Z: Array, w: Array, names: Sequence[Name]) -> Correlations:
    """Correlations of columns of numbers; a constant column is refused by name."""
    centred = Z - np.average(Z, axis=0, weights=w)
    S = centred.T @ (centred * w[:, None])
    deviation = np.sqrt(np.diag(S))
    flat = np.flatnonzero(deviation <= 1e-12 * np.abs(Z).max(axis=0, initial=0.0))
    if len(flat):
        raise ValueError(f"column {names[flat[0]]!r} is constant: it has no correlation")
    return Correlations(tuple(names), S / np.outer(deviation, deviation), float(w.sum()))


def partial_correlation_test(
    C: Correlations, a: int, b: int, given: Sequence[int]
) -> IndependenceTest:
    """Fisher's z of the correlation of a and b with ``given`` held fixed."""
    dof = C.weight - len(given) - 3
    if dof <= 0:
        raise ValueError(
            f"fisher_z given {len(given)} variables needs more than {len(given) + 3} rows, "
            f"got {C.weight:g}"
        )
    places = [a, b, *given]
    R = C.matrix[np.ix_(places, places)]
    rest = R[2:, 2:]
    block = R[:2, :2] - R[:2, 2:] @ np.linalg.lstsq(rest, R[2:, :2], rcond=1e-10)[0]
    scale = np.sqrt(block[0, 0] * block[1, 1]) if min(block[0, 0], block[1, 1]) > 1e-12 else np.inf
    r = float(np.clip(block[0, 1] / scale, -1 + 1e-15, 1 - 1e-15))
    z = np.sqrt(dof) * np.arctanh(r)
    return IndependenceTest(float(z), int(dof), float(2.0 * ndtr(-abs(z))))


def number_matrix(columns: Sequence[Any], names: Sequence[Name]) -> Array:
    """Columns of numbers as a matrix; text and missing cells are refused by name."""
    for column, name in zip(columns, names, strict=True):
        if not isinstance(column, np.ndarray) or column.dtype.kind not in "biuf":
            try:
                np.asarray(column, dtype=np.float64)
            except (TypeError, ValueError):
                raise ValueError(
                    f"fisher_z needs numbers, column {name!r} holds something else"
                ) from None
    Z = np.column_stack([np.asarray(column, np.float64) for column in columns])
    if not np.isfinite(Z).all():
        row, j = np.argwhere(~np.isfinite(Z))[0]
        raise ValueError(f"column {names[j]!r} contains NaN or inf in row {row}")
    return Z


def independence_test(
    X: Any, a: Name, b: Name, given: Names = (), *, method: str = "g2", sample_weight: Any = None
) -> IndependenceTest:
    """Test whether ``a`` and ``b`` are independent given other columns.

    Parameters
    ----------
    X : frame or array
        Columns of an array are named x0, x1, ...
    a, b : names of columns
    given : name or names, default=()
        Columns conditioned on.
    method : {"g2", "chi2", "fisher_z"}, default="g2"
        The first two for categories, the last for numbers.
    sample_weight : array of shape (n,), default=None
        Weights are repetitions.

    Returns
    -------
    IndependenceTest(statistic, dof, p_value)

    Examples
    --------
    >>> import polars as pl
    >>> from pellucid.graphical import independence_test
    >>> X = pl.DataFrame({"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5})
    >>> independence_test(X, "a", "b")
    IndependenceTest(statistic=0.0, dof=1, p_value=1.0)
    """
    check.one_of(METHODS, method=method)
    columns, names, w = table_columns(X, sample_weight)
    (a,), (b,) = names_of(a, names), names_of(b, names)
    condition = names_of(given, names)
    if a == b or a in condition or b in condition:
        raise ValueError(f"a, b and given must be different variables, got {a!r}, {b!r}, {given!r}")
    used = [names.index(name) for name in (a, b, *condition)]
    chosen, labels = [columns[j] for j in used], [names[j] for j in used]
    rest = list(range(2, len(used)))
    if method == "fisher_z":
        C = correlations(number_matrix(chosen, labels), np.asarray(w, np.float64), labels)
        return partial_correlation_test(C, 0, 1, rest)
    return count_test(encode_table(chosen, labels, w), 0, 1, rest, method)

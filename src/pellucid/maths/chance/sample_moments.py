r"""Mean, covariance and correlation that can be merged.

    mean = sum w x / W,   S = sum w (x - mean)(x - mean)',   cov = S / (W - ddof)
    corr_jk = cov_jk / sqrt(cov_jj cov_kk)

The sums run over leaves of 4096 rows in one fixed tree (``core.loops.statistics``): arrays in
memory, the blocks of a file and a cluster give the same bits. Each leaf is centred at one of its
rows and then at its mean, so that numbers that differ in their last digits only lose none.

Reference: Chan, Golub & LeVeque (1983).
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.base import CheckedBlocks, Door, check_weights
from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import column_names, numeric_matrix
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import Moments as Sums
from pellucid.core.loops.statistics import Rows, Statistic, merge_moments, reduce_rows
from pellucid.core.loops.statistics import moments as leaf_moments
from pellucid.core.readable import readable
from pellucid.core.runtime.backend import check_backend, default_backend
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.maths.wording import folded, listed, number, one_line


@readable
class Moments(NamedTuple):
    """Weight, mean, covariance and correlation of the columns; ``merge`` adds other rows.

    ``corr`` is NaN in the rows and columns of a constant column: it is undefined there.

    >>> print(moments([[1.0, 2.0], [2.0, 4.0], [3.0, 5.0]]))
    3 rows, 2 columns: means 2, 3.66667; variances 0.666667, 1.55556 (divided by n)
    correlation 0.981981
    """

    n: float  # sum of the weights
    mean: Array  # (p,)
    cov: Array  # (p, p)
    corr: Array  # (p, p)
    scatter: Array  # (p, p) centred cross-products
    ddof: float  # ``cov`` is divided by n - ddof

    def merge(self, other: "Moments") -> "Moments":
        """The moments of both sets of rows together."""
        if len(self.mean) != len(other.mean) or self.ddof != other.ddof:
            raise ValueError("only moments of the same columns and the same ddof can be merged")
        a, b = (Sums(m.n, m.mean, m.scatter) for m in (self, other))
        return _finish(merge_moments(a, b), self.ddof)

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        p, divided = len(self.mean), "n" if self.ddof == 0 else f"n - {self.ddof:g}"
        text = folded(
            f"{number(self.n)} rows, {p} column{'s' * (p > 1)}: means {listed(self.mean)}; "
            f"variances {listed(np.diag(self.cov))} (divided by {divided})"
        )
        constant = np.flatnonzero(np.diag(self.scatter) == 0)
        if p == 2 and not len(constant):
            text += f"\ncorrelation {number(self.corr[0, 1])}"
        if len(constant) and p > 1:
            text += f"\ncorrelation undefined with constant columns: {listed(constant)}"
        return text


def moments(X: Any, sample_weight: Any = None, ddof: float = 0, *, backend: Any = None) -> Moments:
    """Mean, covariance and correlation of the columns of X.

    Parameters
    ----------
    X : array or frame (n, p), vector, or ``pellucid.data.blocks(...)``
        The rows; a vector is one column.
    sample_weight : array of shape (n,), optional
        A weight is a repetition.
    ddof : float, default=0
        The covariance is divided by n - ddof: 0 is maximum likelihood, 1 unbiased.
    backend : object with ``map``, optional
        For blocks: ``pellucid.backends.Joblib(...)``, ``Dask(...)``; threads by default.

    Examples
    --------
    >>> from pellucid.maths import moments
    >>> found = moments([[1, 2], [2, 4], [3, 5]])
    >>> found.cov.round(6)
    array([[0.666667, 1.      ],
           [1.      , 1.555556]])
    >>> moments([1, 2]).merge(moments([3, 4])).cov
    array([[1.25]])
    """
    check.non_negative(ddof=ddof)
    statistic = Statistic(_leaf, merge_moments)
    if hasattr(X, "spans"):
        if sample_weight is not None:
            raise ValueError("the weights of blocks are a column: blocks(..., weight='column')")
        backend = default_backend.get() if backend is None else backend
        map_ = map_threads if backend is None else check_backend(backend).map
        names = X.feature_names or tuple(f"x{j}" for j in range(X.n_features))
        door = Door("none", tuple(names), False, "moments", None)
        return _finish(reduce_rows(statistic, CheckedBlocks(X, door), map_), ddof, tuple(names))
    names = column_names(X, np.shape(X)[1] if np.ndim(X) == 2 else 1)
    flat = np.ndim(X) == 1
    M = numeric_matrix(np.reshape(X, (-1, 1)) if flat else X, "X")
    rows = Rows(np.ascontiguousarray(M), None, check_weights(sample_weight, M))
    return _finish(reduce_rows(statistic, rows, map_threads), ddof, names)


def _leaf(rows: Rows) -> Sums:
    return leaf_moments(rows.X, rows.w)


def _finish(sums: Sums, ddof: float, names: tuple[str, ...] = ()) -> Moments:
    if not sums.weight > ddof:
        raise ValueError(f"the sum of weights must be above ddof = {ddof:g}, got {sums.weight:g}")
    scatter = sums.scatter
    spread = np.sqrt(np.diag(scatter))
    constant = np.flatnonzero(spread == 0)
    if len(constant) and len(spread) > 1:
        which = [names[j] if names else str(j) for j in constant]
        warn(f"the correlation with a constant column is undefined (NaN): {', '.join(which)}")
    scale = np.where(spread > 0, spread, np.nan)
    corr = np.clip(scatter / np.outer(scale, scale), -1.0, 1.0)
    np.fill_diagonal(corr, np.where(spread > 0, 1.0, np.nan))
    n = int(sums.weight) if float(sums.weight).is_integer() else sums.weight
    return Moments(n, sums.mean, scatter / (sums.weight - ddof), corr, scatter, ddof)

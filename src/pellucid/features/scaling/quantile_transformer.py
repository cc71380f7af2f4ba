r"""Columns turned into ranks: the empirical distribution function, and its normal scores.

    z_j = F_j(x_j),  or  Phi^-1(F_j(x_j)) for a normal column

F_j runs straight between ``n_quantiles`` quantiles of column j; at a value that fills several
quantiles it is the middle of its step. Normal scores end at +-5.2, where 1e-7 of the mass is left.
Ranks do not feel outliers or the unit of a column, and lose the distances between values.

Cost: a sort of each column, at most ``subsample`` rows of it; log2(n_quantiles) comparisons a cell.
Blocks are read once for the same rows, or counted for the quantiles of all (``order_statistics``).
"""

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from scipy.special import ndtr, ndtri

from pellucid.base import fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.quantiles import GATHER, column_quantiles, quantiles
from pellucid.core.arrays.typing import (
    Array,
    ArrayLike,
    IntArray,
    Map,
    Matrix,
    MaybeArray,
    Rng,
    Seed,
)
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.numbered import drawn_rows
from pellucid.core.loops.order_statistics import block_quantiles
from pellucid.core.loops.statistics import Source, unit_weights
from pellucid.core.records import Card
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.features.scaling.column_scaler import ColumnScaler

DEFAULT = 1000  # quantiles; fewer rows than that are nothing to warn of
TAIL = 1e-7  # of the probability: where normal scores end
ENDS = ndtri(TAIL - np.spacing(1)), ndtri(1 - (TAIL - np.spacing(1)))


@jit
def levels(x, quantile, level, out):
    """out = F(x) for one column: quantile (m,) sorted, level (m,) their places in [0, 1]."""
    m = len(quantile)
    first, last = quantile[0], quantile[m - 1]
    for i in range(len(x)):
        v = x[i]
        if not (v == v and first == first):
            out[i] = np.nan
            continue
        if v <= first or v >= last:
            out[i] = 0.0 if v <= first else 1.0
            continue
        low, high = 0, m - 1  # quantile[low] < v <= quantile[high]
        while high - low > 1:
            middle = (low + high) // 2
            if quantile[middle] < v:
                low = middle
            else:
                high = middle
        if quantile[high] == v:
            top = high
            while quantile[top + 1] == v:
                top += 1
            out[i] = 0.5 * (level[high] + level[top])
            continue
        slope = (level[high] - level[low]) / (quantile[high] - quantile[low])
        up = level[low] + slope * (v - quantile[low])
        out[i] = 0.5 * (up + (level[high] - slope * (quantile[high] - v)))


def sparse_column_quantiles(
    X: Matrix, q: Array, subsample: int | None, stored_only: bool, rng: Rng
) -> Array:
    """Quantiles (len(q), p) of a CSC matrix; at most ``subsample`` cells of a column are drawn."""
    n, p = X.shape
    found = np.zeros((len(q), p))
    for j in range(p):
        stored = X.data[X.indptr[j] : X.indptr[j + 1]]
        size = len(stored) if stored_only else n
        if subsample is not None and len(stored) > subsample:
            part = subsample if stored_only else subsample * len(stored) // n
            stored, size = rng.choice(stored, part, replace=False), subsample
        column = np.zeros(size)
        column[: len(stored)] = stored
        if size:
            found[:, j] = quantiles(column, q, unit_weights(size))
    return found


class QuantileTransformer(ColumnScaler):
    """Replace every value by its rank among the training values, or by its normal score.

    NaN is left out and stays NaN. Values beyond the training range go to its ends.

    Parameters
    ----------
    n_quantiles : int, default=1000
        Quantiles that describe a column; at most the number of rows.
    output_distribution : {"uniform", "normal"}, default="uniform"
        Ranks in [0, 1], or the values of a standard normal distribution of that rank.
    ignore_implicit_zeros : bool, default=False
        Of a sparse matrix only the stored cells count; otherwise it must not be negative.
    subsample : int or None, default=10_000
        Rows drawn at most to find the quantiles; None takes all.
    random_state : int, RandomState, Generator or None, default=None
        For the rows that are drawn.
    copy : bool, default=True
        False transforms the given array in place where that is possible.

    Attributes
    ----------
    n_quantiles_ : int
    quantiles_ : ndarray of shape (n_quantiles_, n_features)
    references_ : ndarray of shape (n_quantiles_,)
        Levels of the quantiles, 0 to 1.

    Examples
    --------
    >>> from pellucid.features import QuantileTransformer
    >>> model = QuantileTransformer(n_quantiles=5)
    >>> model.fit_transform([[1.0], [2.0], [3.0], [4.0], [100.0]]).ravel()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    _accepts_sparse = True
    fit_blocks = fit_blocks

    def __init__(
        self,
        *,
        n_quantiles: int = 1000,
        output_distribution: str = "uniform",
        ignore_implicit_zeros: bool = False,
        subsample: int | None = 10_000,
        random_state: Seed = None,
        copy: bool = True,
    ) -> None:
        self.n_quantiles = n_quantiles
        self.output_distribution = output_distribution
        self.ignore_implicit_zeros = ignore_implicit_zeros
        self.subsample = subsample
        self.random_state = random_state
        self.copy = copy

    def _check_parameters(self) -> None:
        check.whole(n_quantiles=self.n_quantiles)
        check.one_of(("uniform", "normal"), output_distribution=self.output_distribution)
        check.boolean(copy=self.copy, ignore_implicit_zeros=self.ignore_implicit_zeros)
        if self.subsample is not None:
            check.whole(subsample=self.subsample)
            if self.n_quantiles > self.subsample:
                raise ValueError(
                    "The number of quantiles cannot be greater than the number of samples used: "
                    f"got {self.n_quantiles} quantiles and {self.subsample} samples"
                )

    @with_callbacks
    def fit(self, X: Matrix, y: MaybeArray = None) -> Self:
        """Find the quantiles of every column."""
        self._check_parameters()
        Z = self._check_training(X).X
        context = FitContext(self, X=Z)
        self._count(n := Z.shape[0])
        if issparse(Z):
            self._refuse_negative(Z)
            drawn = self.subsample, self.ignore_implicit_zeros, generator(self.random_state)
            found = sparse_column_quantiles(Z.tocsc(), self.references_, *drawn)
        else:
            if self.ignore_implicit_zeros:
                given = "'ignore_implicit_zeros' takes effect only with sparse matrix"
                warn(f"{given}: this parameter has no effect")
            Z = Z if (numbers := self._draw(n)) is None else Z[numbers]
            found = column_quantiles(Z, self.references_, unit_weights(len(Z)))
        self._keep(found)
        context.end()
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        if self.ignore_implicit_zeros:
            raise ValueError("ignore_implicit_zeros needs a sparse matrix in memory: use fit")
        self._count(rows.n_rows)
        if (numbers := self._draw(rows.n_rows)) is None:
            found = block_quantiles(rows, map_, self.n_features_in_, self.references_)[0]
        else:
            Z = drawn_rows(rows, map_, numbers).X
            found = column_quantiles(Z, self.references_, unit_weights(len(Z)))
        self._keep(found)

    def _count(self, n: int) -> None:
        """How many quantiles n rows have."""
        if self.n_quantiles > n and self.n_quantiles != DEFAULT:
            many = f"n_quantiles ({self.n_quantiles}) is greater than the total number of samples"
            warn(f"{many} ({n}). n_quantiles is set to n_samples.")
        self.n_quantiles_ = min(self.n_quantiles, n)
        self.references_ = np.linspace(0, 1, self.n_quantiles_)
        self._n_rows = n

    def _draw(self, n: int) -> IntArray | None:
        """The numbers of the rows that are looked at; None: all."""
        if self.subsample is None or self.subsample >= n:
            return None
        rng = generator(self.random_state)
        return np.sort(rng.choice(n, self.subsample, replace=False))

    def _keep(self, found: Array) -> None:
        self.quantiles_ = found
        self._warn_columns(np.isnan(found[0]), "no value at all; the column stays NaN")

    def _refuse_negative(self, Z: Matrix) -> None:
        if not self.ignore_implicit_zeros and (Z.data < 0).any():
            raise ValueError(
                "QuantileTransformer only accepts non-negative sparse matrices: "
                "the zeros would change their rank"
            )

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        m = self.n_quantiles_
        return {"quantiles_": (m, self.n_features_in_), "references_": (m,)}

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "n_quantiles_") and self.n_quantiles_ < 1:
            raise ValueError(f"n_quantiles_ must be at least 1, got {self.n_quantiles_}")

    def _forward(self, x: Array, j: int) -> Array:
        out = np.empty(len(x))
        levels(x, np.ascontiguousarray(self.quantiles_[:, j]), self.references_, out)
        if self.output_distribution == "normal":
            return np.clip(ndtri(out), *ENDS)
        return out

    def _backward(self, x: Array, j: int) -> Array:
        quantile = self.quantiles_[:, j]
        normal = self.output_distribution == "normal"
        level = ndtr(x) if normal else x
        found = np.where(np.isnan(level), np.nan, np.interp(level, self.references_, quantile))
        if normal:  # scores end before the last quantiles do
            found[level + TAIL > 1] = quantile[-1]
            found[level - TAIL < 0] = quantile[0]
        return found

    def _by_columns(self, Z: Matrix, change: Any) -> Any:
        """Every column changed on its own; a few are gathered together, in threads."""
        if issparse(Z):
            Z = Z.tocsc(copy=self.copy)
            for j in range(Z.shape[1]):
                cells = slice(Z.indptr[j], Z.indptr[j + 1])
                Z.data[cells] = change(Z.data[cells].copy(), j)
            return Z
        out = self._target(Z, self.copy)

        def work(first: int) -> None:
            block = Z[:, first : first + GATHER].T.copy()
            for j, column in enumerate(block):
                block[j] = change(column, first + j)
            out[:, first : first + GATHER] = block.T

        list(map_threads(work, range(0, Z.shape[1], GATHER)))
        return out

    def transform(self, X: ArrayLike) -> Any:
        """Ranks of the cells of X, or their normal scores."""
        Z = self._check_input(X)
        if issparse(Z):
            self._refuse_negative(Z)
        return self._by_columns(Z, self._forward)

    def inverse_transform(self, X: ArrayLike) -> Any:
        """Values of the given ranks, or normal scores."""
        return self._by_columns(self._check_scaled(X), self._backward)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        normal = self.output_distribution == "normal"
        drawn = self.subsample is not None and self.subsample < self._n_rows
        return Card(
            "z_j = Phi^-1(F_j(x_j)), normal scores"
            if normal
            else "z_j = F_j(x_j), ranks in [0, 1]",
            "the training rows follow the wanted distribution in every column",
            f"quantiles of {self.subsample} rows drawn at random" if drawn else "exact quantiles",
            {
                "rows": self._n_rows,
                "columns": self.n_features_in_,
                "quantiles": self.n_quantiles_,
            },
        )

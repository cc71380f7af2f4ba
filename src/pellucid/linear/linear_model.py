"""What every linear model shares: prediction, data checks, and the sums it is solved from.

The whole family is solved from one statistic, the moments of [X y]. ``_sums`` makes it from rows in
memory or from blocks of a file; ``_compact`` goes on to the few rows that stand for all of them
(``core.algebra.least_squares.Compact``), without squaring the condition where digits would be lost.
"""

from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse import issparse

from pellucid.base import Regressor, fit_blocks
from pellucid.core.algebra.least_squares import Compact, compact_rows, finite, joint_moments
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.tensors import like
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Moments, Rows, Source, is_unit
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn

SPARSE_COLUMNS = 5000  # a leaf of a sparse X is made dense: 4096 x 5000 numbers are 160 MB


class LinearModel(Regressor):
    """Base of the regressors with ``coef_`` and ``intercept_`` that are solved from sums."""

    _accepts_sparse = True
    _keeps_columns = True
    coef_: Array
    intercept_: Any

    fit_blocks = fit_blocks

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        k = np.shape(self.coef_)[:-1]
        shapes = {"coef_": (*k, self.n_features_in_)}
        return {**shapes, "intercept_": k} if isinstance(self.intercept_, np.ndarray) else shapes

    def predict(self, X: ArrayLike) -> Array:
        """b + x'w of every row."""
        rows = self._check_input(X)
        return rows @ self.coef_.T + self.intercept_

    def _predict_tensor(self, X: Any) -> Any:
        return X @ like(np.ascontiguousarray(self.coef_.T), X) + like(self.intercept_, X)

    def _dense_input(self, X: Any) -> Array:
        X = self._check_input(X)
        return to_dense(X)

    def _offset(self, small: Compact, coef: Array) -> float:
        """The intercept of the coefficients (p,) of one target."""
        return float(small.intercept(coef)[0]) if self.fit_intercept else 0.0

    def _open(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """The door of fit; cells are checked by the sums where every row counts in them."""
        deferred = sample_weight is None and not issparse(X)
        rows = self._check_training(X, y, sample_weight, defer_finite=deferred)
        if rows.X.shape[0] <= rows.X.shape[1] and deferred:
            self._refuse_nonfinite(rows.X)
        return rows

    def _fit_memory(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """The ``fit`` of a method that solves all at once: ``_fit_rows`` of the rows in memory."""
        self._check_parameters()
        rows = self._open(X, y, sample_weight)
        context = FitContext(self, X=rows.X, y=rows.y, sample_weight=sample_weight)
        self._fit_rows(rows, map_threads)
        context.end()
        return self

    def _fit_steps(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """The ``fit`` of a method whose ``_fit_rows`` reports its own steps."""
        self._check_parameters()
        self._fit_rows(self._open(X, y, sample_weight), map_threads)
        return self

    def _sums(self, rows: Source, map_: Map) -> Moments:
        """Moments of [X y], refused where they are not finite numbers."""
        return finite_moments(self, rows, rows, map_)

    def _compact(self, rows: Source, map_: Map, *, intercept: bool) -> Compact:
        """A few rows with the residuals of all of them, for methods that are solved from sums."""
        p = self.n_features_in_
        total = self._sums(rows, map_) if rows.n_rows > p else None
        return compact_rows(rows, map_, total, p, intercept=intercept)


def finite_moments(model: Any, source: Source, rows: Source, map_: Map) -> Moments:
    """Moments of [X y] of ``source``, which is ``rows`` or makes its targets from them."""
    if isinstance(rows, Rows) and issparse(rows.X) and rows.X.shape[1] > SPARSE_COLUMNS:
        limit = f"a sparse X with more rows than columns may have at most {SPARSE_COLUMNS} columns"
        other = "" if source is rows else ", or use SGDClassifier"
        raise ValueError(f"{limit} here, got {rows.X.shape[1]}; select columns first{other}")
    with single_threaded_blas():
        total = joint_moments(source, map_)
    if not finite(total):
        if isinstance(rows, Rows) and is_unit(rows.w):
            model._refuse_nonfinite(rows.X)
        what = "X or y" if source is rows else "X"
        raise ValueError(f"the squares of {what} overflow float64; scale the columns down")
    return total


def one_dimensional(source: Any) -> bool:
    """Whether the targets came as one column of shape (n,)."""
    return first_rows(source).y.ndim == 1


def first_rows(source: Any) -> Rows:
    """All rows in memory, or the first leaf of the blocks."""
    return source if isinstance(source, Rows) else next(iter(source.spans()[0].leaves()))


def dependent_sentence(
    names: tuple[str, ...], dependent: tuple[int, ...], shape: tuple[int, int]
) -> str:
    """Which columns take part in exact relations."""
    if shape[0] <= shape[1]:
        return f"{shape[0]} rows cannot determine {shape[1]} columns"
    shown = [names[j] for j in dependent[:10]]
    more = f" and {len(dependent) - 10} more" if len(dependent) > 10 else ""
    return f"columns {', '.join(shown)}{more} are linearly dependent"


def warn_free_of_penalty(model: Any, dependent: tuple[int, ...], shape: tuple[int, int]) -> None:
    """Warn of dependent columns where alpha is 0: which they are, and the remedy."""
    which = dependent_sentence(model._feature_names(), dependent, shape)
    many = "the least-norm solution is one of many (remedy: alpha > 0)"
    warn(f"{which} and alpha is 0: {many}", LinAlgWarning)

"""Base of the bases with knots: every column has its own functions, side by side.

A basis says how many functions a column has (``_sizes``), how to write them (``_write``) and what
they are called (``_labels``).
"""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.threads import map_threads
from pellucid.features.scaling.kernels import writeable

ROWS = 1024  # of a chunk


class ColumnBasis(Transformer):
    """Base of the bases: functions of one column at a time, a constant first if asked for."""

    include_bias: bool

    @abstractmethod
    def _place(self, rows: Rows) -> None:
        """Check the parameters and set the knots of every column."""

    @abstractmethod
    def _sizes(self) -> list[int]:
        """How many functions each column has, the constant not counted."""

    @abstractmethod
    def _write(self, X: Array, j: int, out: Array, first: int) -> None:
        """Write the functions of column j into the columns of ``out`` from ``first`` on."""

    @abstractmethod
    def _labels(self, j: int, name: str) -> list[str]:
        """The names of the functions of column j."""

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Place the knots of every column of X."""
        check.boolean(include_bias=self.include_bias)
        rows = self._check_training(X, None, sample_weight)
        context = FitContext(self, X=rows.X, sample_weight=sample_weight)
        self._place(rows)
        if sum(self._sizes()) + self.include_bias == 0:
            raise ValueError(f"{self!r} leaves no columns at all: ask for more functions")
        context.end()
        return self

    @property
    def df_(self) -> int:
        """Functions in all, the constant counted once: the degrees of freedom of a linear fit."""
        check_is_fitted(self)
        return 1 + sum(self._sizes())

    def transform(self, X: Any) -> Array:
        """The functions of every column of X, side by side."""
        X = self._check_input(X)
        sizes = self._sizes()
        out = np.empty((len(X), sum(sizes) + self.include_bias))

        def work(start: int) -> None:
            rows = slice(start, start + ROWS)
            chunk, target = writeable(X[rows]), out[rows]
            at = int(self.include_bias)
            target[:, :at] = 1.0
            for j, size in enumerate(sizes):
                self._write(chunk, j, target, at)
                at += size

        list(map_threads(work, range(0, len(X), ROWS)))
        return out

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the functions, column by column."""
        names = self._names_in(input_features)
        labels = [label for j, name in enumerate(names) for label in self._labels(j, name)]
        return np.array(["1"] * self.include_bias + labels, dtype=object)

    def _part(self, coef: ArrayLike, column: int) -> Array:
        """The coefficients that belong to one column, from those of all output columns."""
        check_is_fitted(self)
        check.whole(column=column, at_least=0)
        coef = np.asarray(coef, dtype=np.float64).ravel()
        sizes = self._sizes()
        width = sum(sizes) + self.include_bias
        if len(coef) != width:
            need = f"{width} numbers, one per column of the basis"
            raise ValueError(f"coef needs {need}, got {len(coef)}")
        if column >= len(sizes):
            raise ValueError(f"column must be below {len(sizes)}, got {column}")
        first = sum(sizes[:column]) + self.include_bias
        return coef[first : first + sizes[column]]

    def _constant(self, coef: ArrayLike, intercept: ArrayLike) -> float:
        """The intercept, and the coefficient of the column of ones where there is one."""
        given = float(np.asarray(intercept, dtype=np.float64).ravel()[0])
        return given + (float(np.ravel(coef)[0]) if self.include_bias else 0.0)

    def _check_knots(self, name: str) -> None:
        """Called on a model from a file: one array of finite numbers per column."""
        found = getattr(self, name)
        fine = (isinstance(k, np.ndarray) and k.ndim == 1 and k.dtype == np.float64 for k in found)
        if len(found) != self.n_features_in_ or not all(fine):
            raise ValueError(f"{name} must be a list of {self.n_features_in_} arrays of numbers")

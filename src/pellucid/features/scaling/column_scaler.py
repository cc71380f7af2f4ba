"""Base of the scalers: ``(x - c) / s`` column by column, and its inverse.

A scaler says what it takes off (``_offset``) and what it divides by (``_divisor``); None leaves
that part out. Scaling and its inverse are one compiled sweep each.
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray
from pellucid.core.runtime.warn import warn
from pellucid.features.scaling.kernels import chunked, multiply_add, shift_divide

ROUNDING = 4 * np.finfo(np.float64).eps  # a spread below this share of the mean is rounding error


class ColumnScaler(OneToOneFeatureMixin, Transformer):
    """Base of the scalers; NaN is left out of the statistics and passes through."""

    _accepts_nan = True
    copy: bool

    def _offset(self) -> Array | None:
        """c of (x - c) / s."""
        return None

    def _divisor(self) -> Array | None:
        """s of (x - c) / s."""
        return None

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        names = ("mean_", "var_", "scale_", "center_", "_moments")
        p = self.n_features_in_
        held = {name for name in names if getattr(self, name, None) is not None}
        return {name: (3, p) if name == "_moments" else (p,) for name in held}

    def _scale(self, X: ArrayLike, copy: bool) -> Any:
        """Scaled rows; where ``copy`` is False and X allows it, in place."""
        check_is_fitted(self)
        c, s, p = self._offset(), self._divisor(), self.n_features_in_
        Z = self._check_matrix(X, reset=False, finite=not copy)
        if issparse(Z):
            self._refuse_nonfinite(Z)
            Z = Z.copy() if copy else Z
            if s is not None:
                Z.data = Z.data / s[Z.indices]
            return Z
        c = np.zeros(p) if c is None else c
        s = np.ones(p) if s is None else s
        out = self._target(Z, copy)
        if any(chunked(shift_divide, Z, c, s, out=out)) and copy:
            self._refuse_nonfinite(Z)
        return out

    def _unscale(self, X: ArrayLike, copy: bool) -> Any:
        """X s + c: the way back."""
        c, s, p = self._offset(), self._divisor(), self.n_features_in_
        Z = self._check_scaled(X)
        if issparse(Z):
            Z = Z.copy() if copy else Z
            if s is not None:
                Z.data = Z.data * s[Z.indices]
            return Z
        c = np.zeros(p) if c is None else c
        s = np.ones(p) if s is None else s
        out = self._target(Z, copy)
        chunked(multiply_add, Z, s, c, -np.inf, np.inf, out=out)
        return out

    def _check_scaled(self, X: ArrayLike) -> Any:
        """Scaled rows: as many columns as the fit saw, whatever their names."""
        check_is_fitted(self)
        Z = frame_matrix(X) if is_frame(X) else X
        sparse = "csr" if self._accepts_sparse else False
        kind = {"dtype": np.float64, "order": "C", "ensure_all_finite": "allow-nan"}
        Z = check_array(Z, accept_sparse=sparse, **kind)
        p = self.n_features_in_
        if Z.shape[1] != p:
            name = type(self).__name__
            raise ValueError(
                f"X has {Z.shape[1]} features, but {name} is expecting {p} features as input"
            )
        return Z

    def _target(self, Z: Array, copy: bool) -> Array:
        """Where to write: a new array, or over the rows that came through the door."""
        return np.empty_like(Z) if copy or not Z.flags.writeable else Z

    def _warn_columns(self, which: BoolArray, what: str) -> None:
        """One warning for all the columns of ``which``."""
        found = np.flatnonzero(which)
        if len(found):
            names = self._feature_names()
            shown = ", ".join(repr(names[j]) for j in found[:5])
            more = f" and {len(found) - 5} more" if len(found) > 5 else ""
            warn(f"{shown}{more}: {what}")


def spread_or_one(spread: Array, mean: Array) -> tuple[Array, BoolArray]:
    """The divisor of each column, 1 where it does not vary, and which columns these are.

    >>> spread_or_one(np.array([2.0, 0.0]), np.array([1.0, 5.0]))
    (array([2., 1.]), array([False,  True]))
    """
    constant = spread <= ROUNDING * np.abs(mean)
    return np.where(constant, 1.0, spread), constant

"""Base of the selectors: keep some columns, and put dropped ones back as zeros."""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.runtime.warn import warn
from pellucid.features.scaling.kernels import chunked, take_columns


def number_type(X: Any) -> Any:
    """The type of a table of numbers; float64 where it has none of its own.

    >>> number_type(np.ones((2, 2), dtype=np.float32)), number_type([[1.0, 2.0]])
    (dtype('float32'), dtype('float64'))
    """
    if not hasattr(X, "dtype") and is_frame(X):
        kinds = list(getattr(X, "dtypes", ()))
        if not all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in kinds):
            return np.dtype(np.float64)
        return np.result_type(*kinds) if kinds else np.dtype(np.float64)
    kind = X.dtype if hasattr(X, "dtype") else np.asarray(X).dtype
    numbers = isinstance(kind, np.dtype) and kind.kind in "biuf"
    return kind if numbers else np.dtype(np.float64)


def is_pandas(X: Any) -> bool:
    """Whether X is a pandas frame, without importing pandas."""
    return type(X).__module__.split(".")[0] == "pandas"


class Selector(Transformer):
    """Base of the transformers that keep some columns as they are."""

    @abstractmethod
    def _get_support_mask(self) -> Any:
        """Which columns are kept, (n_features,) of bool."""

    def get_support(self, indices: bool = False) -> Any:
        """Which columns are kept: a mask, or with ``indices`` their positions."""
        check_is_fitted(self)
        mask = np.asarray(self._get_support_mask(), dtype=bool)
        return np.flatnonzero(mask) if indices else mask

    def transform(self, X: Any) -> Any:
        """The kept columns of X, of the type they had."""
        given = X
        X = self._check_input(X)
        kept = self.get_support(indices=True)
        if not len(kept):
            warn("No features were selected: the selector asks more than the data say")
        if issparse(X):
            return X[:, kept].astype(number_type(given), copy=False)
        if is_pandas(given) and _get_output_config("transform", self)["dense"] == "pandas":
            return given.iloc[:, kept]
        if (kind := number_type(given)) != np.float64:
            return np.asarray(given, dtype=kind)[:, kept]
        out = np.empty((len(X), len(kept)))
        chunked(take_columns, X, kept, out=out)
        return out

    def inverse_transform(self, X: Any) -> Any:
        """X with columns of zeros where columns were dropped."""
        kept = self.get_support(indices=True)
        X = frame_matrix(X) if is_frame(X) else X
        X = check_array(X, accept_sparse="csc", dtype="numeric", ensure_all_finite=False)
        if X.shape[1] != len(kept):
            raise ValueError(f"X has {X.shape[1]} columns, {len(kept)} were kept")
        if issparse(X):
            counts = np.zeros(self.n_features_in_, dtype=np.int64)
            counts[kept] = np.diff(X.indptr)
            starts = np.concatenate([[0], np.cumsum(counts)])
            return csc_array((X.data, X.indices, starts), shape=(X.shape[0], len(counts)))
        out: Array = np.zeros((len(X), self.n_features_in_), dtype=X.dtype)
        out[:, kept] = X
        return out

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the kept columns."""
        return self._names_in(input_features)[self.get_support()]

"""Base of the selectors: keep some columns, and put dropped ones back as zeros."""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.sparse import csc_array, issparse
from sklearn.utils.validation import check_array, check_is_fitted

from pellucid.base import Transformer
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.features.scaling.kernels import chunked, take_columns


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
        """The kept columns of X."""
        X = self._check_input(X)
        kept = self.get_support(indices=True)
        if issparse(X):
            return X[:, kept]
        out = np.empty((len(X), len(kept)))
        chunked(take_columns, X, kept, out=out)
        return out

    def inverse_transform(self, X: Any) -> Any:
        """X with columns of zeros where columns were dropped."""
        kept = self.get_support(indices=True)
        X = frame_matrix(X) if is_frame(X) else X
        X = check_array(X, accept_sparse="csc", dtype=np.float64, ensure_all_finite=False)
        if X.shape[1] != len(kept):
            raise ValueError(f"X has {X.shape[1]} columns, {len(kept)} were kept")
        if issparse(X):
            counts = np.zeros(self.n_features_in_, dtype=np.int64)
            counts[kept] = np.diff(X.indptr)
            starts = np.concatenate([[0], np.cumsum(counts)])
            return csc_array((X.data, X.indices, starts), shape=(X.shape[0], len(counts)))
        out: Array = np.zeros((len(X), self.n_features_in_))
        out[:, kept] = X
        return out

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the kept columns."""
        return self._names_in(input_features)[self.get_support()]

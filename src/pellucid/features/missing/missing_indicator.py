"""Where cells are missing: a 0/1 matrix that goes beside the filled one.

    z_ij = 1 if x_ij is missing

That a cell is missing may itself be informative; a model that sees z can use it.
"""

from typing import Any, Self

import numpy as np
from scipy.sparse import csc_array, issparse
from sklearn.utils._mask import _get_mask
from sklearn.utils._sparse import _align_api_if_sparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike, Matrix
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.features.encoding.categories import is_missing

FEATURES = ("missing-only", "all")


def missing_cells(X: ArrayLike, missing_values: object) -> Any:
    """The truth value of ``x == missing_values`` for every cell (sparse for sparse X).

    >>> missing_cells(np.array([[1.0, np.nan]]), np.nan)
    array([[False,  True]])
    """
    if isinstance(X, np.ndarray) and X.dtype.kind == "O" and is_missing(missing_values):
        each = [is_missing(cell) for cell in X.flat]  # pandas' mark too, which has no truth value
        return np.reshape(each, X.shape)
    return _get_mask(X, missing_values)


def check_marker(X: Any, missing_values: object, owner: object) -> None:
    """Refuse cells and a mark of missing cells that do not go together."""
    if X.dtype.kind not in "iufO":
        can = "numbers, or text in an object array, can have missing cells"
        name = type(owner).__name__
        raise ValueError(f"{name} does not support data with dtype {X.dtype}; {can}")
    number = is_missing(missing_values) or isinstance(missing_values, int | float | np.number)
    if X.dtype.kind in "iuf" and not number:
        raise ValueError(f"missing_values={missing_values!r} cannot occur in a table of numbers")
    if issparse(X) and number and missing_values == 0:
        what = "Sparse input with missing_values=0 is not supported: it is made of zeros."
        raise ValueError(f"{what} Provide a dense array instead.")


class MissingIndicator(Transformer):
    """Truth values of missing cells.

    Parameters
    ----------
    missing_values : number, str, NaN or None, default=NaN
        What marks a missing cell.
    features : {'missing-only', 'all'}, default='missing-only'
        Columns that had missing cells in ``fit``, or all.
    sparse : bool or 'auto', default='auto'
        Sparse output always, never, or as X is.
    error_on_new : bool, default=True
        Refuse missing cells in a column that had none in ``fit``.

    Attributes
    ----------
    features_ : array
        The columns of the output.
    n_features_in_, feature_names_in_ : the training table's columns

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import MissingIndicator
    >>> MissingIndicator().fit_transform([[np.nan, 1.0], [2.0, 3.0]])
    array([[ True],
           [False]])
    """

    _accepts_sparse = True

    def __init__(
        self,
        *,
        missing_values: object = np.nan,
        features: str = "missing-only",
        sparse: bool | str = "auto",
        error_on_new: bool = True,
    ) -> None:
        self.missing_values = missing_values
        self.features = features
        self.sparse = sparse
        self.error_on_new = error_on_new

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return is_missing(self.missing_values)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Learn which columns have missing cells."""
        self._learn(X)
        return self

    @with_callbacks
    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Any:
        """Fit and transform; the table is read once."""
        return self._pick(self._learn(X))

    def _learn(self, X: ArrayLike) -> Any:
        check.one_of(FEATURES, features=self.features)
        check.boolean(error_on_new=self.error_on_new)
        if not isinstance(self.sparse, bool | np.bool_):
            check.one_of(("auto",), sparse=self.sparse)
        context = FitContext(self, X=X)
        mask = self._mask(X, reset=True)
        self._keep(mask)
        context.end()
        return mask

    def _keep(self, mask: Matrix) -> None:
        """Learn from a matrix of truth values; imputers that have one begin here."""
        with_missing = np.flatnonzero(np.asarray(mask.sum(axis=0)).ravel())
        self.n_features_in_ = mask.shape[1]
        self.features_ = np.arange(mask.shape[1]) if self.features == "all" else with_missing

    def _mask(self, X: ArrayLike, *, reset: bool) -> Any:
        X = self._check_cells(X, reset=reset, text=True)
        check_marker(X, self.missing_values, self)
        return missing_cells(X, self.missing_values)

    def transform(self, X: ArrayLike) -> Any:
        """Which cells of X are missing, in the columns of ``features_``."""
        check_is_fitted(self)
        mask = self._mask(X, reset=False)
        if self.error_on_new and self.features == "missing-only":
            new = np.setdiff1d(np.flatnonzero(np.asarray(mask.sum(axis=0)).ravel()), self.features_)
            if len(new):
                have = "have missing values in transform but have no missing values in fit"
                names = ", ".join(self._column_name(j) for j in new)
                remedy = "error_on_new=False accepts them"
                raise ValueError(f"The features {new.tolist()} {have}: {names}; {remedy}")
        return self._pick(mask)

    def _pick(self, mask: Matrix) -> Any:
        """The columns of the output, sparse or dense as asked."""
        if issparse(mask):
            mask = mask.tocsc()
            mask.eliminate_zeros()
        if len(self.features_) < mask.shape[1]:
            mask = mask[:, self.features_]
        if issparse(mask):
            return mask.toarray() if self.sparse is False else _align_api_if_sparse(mask)
        return _align_api_if_sparse(csc_array(mask)) if self.sparse is True else mask

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """``missingindicator_`` and the name of each column."""
        names = self._names_in(input_features)
        return np.array([f"missingindicator_{names[j]}" for j in self.features_], dtype=object)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        return Card(
            "one truth value for every cell that could be missing",
            "none: nothing is estimated",
            "one comparison per cell",
            {"inputs": self.n_features_in_, "outputs": len(self.features_)},
        )


def indicator_of(mask: Matrix, missing_values: object) -> MissingIndicator:
    """The fitted indicator of an imputer, from its matrix of truth values."""
    indicator = MissingIndicator(missing_values=missing_values, error_on_new=False)
    indicator._keep(mask)
    return indicator

r"""Rows on the unit sphere.

    z_i = x_i / |x_i|,    |x| = sum |x_j|  (l1),  sqrt(sum x_j^2)  (l2),  max |x_j|  (max)

Only the direction of a row is kept: two classes that differ in length alone become one, so add
the constant input first (``add_dummy_feature``) if classes must stay apart. Nothing is learnt.
O(n p), one read and one write.
"""

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import OneToOneFeatureMixin

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.features.scaling.kernels import chunked, unit_rows

NORMS = {"max": 0, "l1": 1, "l2": 2}


class Normalizer(OneToOneFeatureMixin, Transformer):
    """Divide every row by its norm; a row of zeros stays.

    Parameters
    ----------
    norm : {"l1", "l2", "max"}, default="l2"
        Sum of absolute values, Euclidean length, or largest absolute value.
    copy : bool, default=True
        False scales the given array in place where that is possible.

    Examples
    --------
    >>> from pellucid.features import Normalizer
    >>> Normalizer().fit_transform([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """

    _accepts_sparse = True

    def __init__(self, norm: str = "l2", *, copy: bool = True) -> None:
        self.norm = norm
        self.copy = copy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Check X; nothing is learned."""
        self._check_parameters()
        X = self._check_training(X).X
        FitContext(self, X=X).end()
        return self

    def _check_parameters(self) -> None:
        check.one_of(NORMS, norm=self.norm)
        check.boolean(copy=self.copy)

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """X with every row divided by its norm."""
        self._check_parameters()
        copy = self.copy if copy is None else copy
        reset = not hasattr(self, "n_features_in_")
        if reset:  # nothing is learnt, so an unfitted one works too, and stays unfitted
            return type(self)(norm=self.norm, copy=copy).fit(X).transform(X)
        X = self._check_matrix(X, reset=False, finite=not copy)
        if issparse(X):
            self._refuse_nonfinite(X)
            X = X.copy() if copy else X
            X.data = sparse_unit_rows(X, self.norm)
            return X
        out = np.empty_like(X) if copy or not X.flags.writeable else X
        if any(chunked(unit_rows, X, NORMS[self.norm], out=out)) and copy:
            self._refuse_nonfinite(X)
        return out

    def card(self) -> Card:
        """Representation, evaluation and optimisation, with the numbers."""
        return Card(
            representation=f"z_i = x_i / |x_i|, the {self.norm} norm of the row",
            evaluation="every row has norm 1 (a row of zeros stays)",
            optimisation="nothing is learnt from the training rows",
            numbers={"columns": getattr(self, "n_features_in_", None)},
        )


def sparse_unit_rows(X: Any, norm: str) -> Array:
    """The stored cells of a CSR matrix, divided by the norm of their rows.

    A power of 2 brings the largest cell of each row near 1: no square overflows or vanishes.
    """
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    top = np.zeros(X.shape[0])
    np.maximum.at(top, rows, np.abs(X.data))
    cells = np.ldexp(X.data, -np.frexp(top)[1][rows])
    size = np.abs(cells)
    if norm == "max":
        found = np.zeros(X.shape[0])
        np.maximum.at(found, rows, size)
    else:
        found = np.bincount(rows, size if norm == "l1" else size**2, minlength=X.shape[0])
        found = found if norm == "l1" else np.sqrt(found)
    found[found == 0] = 1.0
    return cells / found[rows]

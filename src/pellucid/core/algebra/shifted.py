r"""A table seen from a point, in other units, known by its products alone.

A row of X seen from ``shift`` in units of ``scale`` is  z = (x - shift)/scale, which has no zeros
left. Products with Z need none of it written down:

    Z V  = X (V/scale) - 1 (shift/scale)'V,      Z'U = (X'U - shift 1'U)/scale,

and with sqrt(w) on the rows likewise. One body of mathematics so serves dense and sparse tables.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import is_unit


class Shifted(NamedTuple):
    """Z = diag(sqrt w) (X - shift)/scale of a dense or sparse X, known by its products.

    >>> from pellucid.core.loops.statistics import unit_weights
    >>> Z = Shifted(np.array([[1.0], [3.0]]), np.array([2.0]), np.ones(1), unit_weights(2))
    >>> Z.times(np.ones(1)), Z.transposed_times(np.array([1.0, 2.0]))
    (array([-1.,  1.]), array([1.]))
    """

    X: Any  # (n, p)
    shift: Array  # (p,)
    scale: Array  # (p,)
    w: Array  # (n,)

    def times(self, M: Array) -> Array:
        """Z M for M of shape (p,) or (p, m)."""
        A = (M.T / self.scale).T
        product = np.asarray(self.X @ A) - self.shift @ A
        return product if is_unit(self.w) else (product.T * np.sqrt(self.w)).T

    def transposed_times(self, M: Array) -> Array:
        """Z'M for M of shape (n,) or (n, m)."""
        B = M if is_unit(self.w) else (M.T * np.sqrt(self.w)).T
        product = np.asarray(self.X.T @ B) - np.multiply.outer(self.shift, B.sum(axis=0))
        return (product.T / self.scale).T

    def dense(self) -> Array:
        """Z itself."""
        Z = (to_dense(self.X) - self.shift) / self.scale
        if not is_unit(self.w):
            Z *= np.sqrt(self.w)[:, None]
        return Z

r"""Gram-Schmidt: orthogonal columns one after the other.

    z_j = x_j - sum_{l<j} gamma_lj z_l,      gamma_lj = <z_l, x_j> / <z_l, z_l>
    X = Z Gamma = Q R,                       Q = Z / |z|,  R = |z| Gamma  (positive diagonal)

Once is not enough in floating point: what rounding leaves along earlier columns is taken off a
second time. A column whose remainder is at most tol times itself depends on those before it: its z
is 0 and it is left out of Q and R. In a regression |z_last|^2 is what the last column has of its
own: Var(b_last) = s^2 / |z_last|^2.

References: Hastie, Tibshirani & Friedman, ESL, algorithm 3.1; Giraud et al. (2005).
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import gram_schmidt as orthogonalise
from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.maths.wording import listed, one_line


@readable
class GramSchmidt(NamedTuple):
    """X = Z Gamma; Q and R hold the independent columns only, so X_independent = Q R.

    >>> print(gram_schmidt([[1, 1, 2], [0, 1, 1], [0, 0, 0]]))
    Lengths of the orthogonal columns: 1, 1, 0. Column 2 depends on those before it.
    """

    Z: Array  # (n, p) orthogonal, 0 where dependent
    Gamma: Array  # (p, p) unit upper triangle
    Q: Array  # (n, r) orthonormal
    R: Array  # (r, p') upper triangle over the r independent columns
    dependent: tuple[int, ...]  # columns that depend on earlier ones

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        text = f"Lengths of the orthogonal columns: {listed(np.linalg.norm(self.Z, axis=0))}."
        if not self.dependent:
            return text + " All columns are independent."
        which = ", ".join(map(str, self.dependent))
        if len(self.dependent) > 1:
            return text + f" Columns {which} depend on those before them."
        return text + f" Column {which} depends on those before it."


def gram_schmidt(X: ArrayLike, tol: float = 1e-10) -> GramSchmidt:
    """Orthogonalise the columns of the matrix ``X`` from left to right.

    A column depends on earlier ones when what is left of it has at most the share ``tol`` of its
    length.

    >>> from pellucid.maths import gram_schmidt
    >>> found = gram_schmidt([[1, 1], [1, 3]])
    >>> found.Z
    array([[ 1., -1.],
           [ 1.,  1.]])
    >>> found.Gamma
    array([[1., 2.],
           [0., 1.]])
    """
    check.non_negative(tol=tol)
    X = numeric_matrix(X, "X")
    Z, Gamma = orthogonalise(X, tol)
    lengths = np.linalg.norm(Z, axis=0)
    kept = np.flatnonzero(lengths)
    R = lengths[kept, None] * Gamma[np.ix_(kept, kept)]
    dependent = tuple(int(j) for j in np.flatnonzero(lengths == 0))
    return GramSchmidt(Z, Gamma, Z[:, kept] / lengths[kept], R, dependent)

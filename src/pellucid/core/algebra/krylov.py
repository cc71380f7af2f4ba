r"""The largest eigenpairs of a symmetric operator that is known by its products alone.

A block Krylov space  span(V, A V, A^2 V, ...)  of a few more vectors than pairs are wanted: a
product with a block reads the matrix once, as a product with one vector does, so few reads find
all directions together, also where eigenvalues lie close to each other.

Reference: Musco & Musco (2015), Randomized block Krylov methods.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh

from pellucid.core.arrays.typing import Array

BLOCK = 10  # vectors beyond the wanted ones in a block
DEEP = 12  # blocks at most
RESIDUAL = 1e-12  # of the largest eigenvalue


def leading(
    times: Callable[[Array], Array], n: int, d: int, *, residual: float = RESIDUAL
) -> tuple[Array, Array] | None:
    """The d largest eigenpairs, falling, or None where DEEP blocks are not enough.

    ``times`` maps (n, m) to (n, m). The pairs are exact to ``residual`` of the largest value.

    >>> a = 0.5 ** np.arange(600)
    >>> leading(lambda V: a[:, None] * V, 600, 2)[0]
    array([1. , 0.5])
    """
    width = d + BLOCK
    if n < 3 * DEEP * width:
        return None
    rng = np.random.default_rng(0)  # always the same: no seed decides
    V = np.linalg.qr(rng.standard_normal((n, width)))[0]
    basis, images = [V], [times(V)]
    while len(basis) < DEEP:
        B, V = np.hstack(basis), images[-1]
        for _ in range(2):  # the second pass for what is only rounding after the first
            V = np.linalg.qr(V - B @ (B.T @ V))[0]
        basis.append(V)
        images.append(times(V))
        B, A = np.hstack(basis), np.hstack(images)
        H = B.T @ A
        values, Y = eigh(0.5 * (H + H.T))
        values, Y = values[::-1][:d], Y[:, ::-1][:, :d]
        rest = np.linalg.norm(A @ Y - (B @ Y) * values, axis=0)
        if (rest <= residual * max(abs(values[0]), abs(values[-1]))).all():
            return values, B @ Y
    return None

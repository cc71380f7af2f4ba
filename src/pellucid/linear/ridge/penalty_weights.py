r"""A penalty of its own for every column: RSS + alpha sum_j v_j w_j^2, v_j >= 0.

Columns with v_j = 0 (the set F) are free, like the intercept. With U an orthonormal basis of their
span, A_F = U T_F^-1, and the rest B = (A_P - U U'A_P) diag(v)^-1/2 = L diag(d) V',

    w_P = diag(v)^-1/2 V diag(d/(d^2 + alpha)) L'c,        w_F = T_F (U'c - U'A_P w_P):

ordinary ridge on what the free columns leave over. Every parameter is a sum over directions, those
of F with gain 1 and those of P with gain 1/(d^2 + alpha), so the hat matrix follows as for Ridge.

References: Hastie, Tibshirani & Friedman, ESL, exercise 3.30; Zou (2006), the adaptive lasso.
"""

import numpy as np

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.linear.ridge.ridge_model import Spectrum


def check_penalty_weights(weights: ArrayLike | None, p: int) -> Array | None:
    """Penalty weights as a vector of p numbers >= 0.

    >>> check_penalty_weights([1, 0], 2)
    array([1., 0.])
    """
    if weights is None:
        return None
    v = np.asarray(weights, dtype=np.float64)
    if v.shape != (p,):
        wanted = f"one number for each of the {p} columns"
        raise ValueError(f"penalty_weights must have {wanted}, got shape {v.shape}")
    if not (np.isfinite(v) & (v >= 0)).all():
        j = int(np.argmin(np.isfinite(v) & (v >= 0)))
        raise ValueError(f"penalty_weights must be finite and >= 0, got {v[j]!r} for column {j}")
    return v


def weighted_spectrum(
    A: Array, c: Array, v: Array, tolerance: float
) -> tuple[Spectrum, tuple[int, ...]]:
    """The directions of the free columns and of the rest; the free columns that are dependent.

    >>> found, _ = weighted_spectrum(np.eye(2), np.ones((2, 1)), np.array([0.0, 4.0]), 1e-12)
    >>> found.free, found.d, found.V
    (1, array([1. , 0.5]), array([[1. , 0. ],
           [0. , 0.5]]))
    """
    scale = np.linalg.norm(A, axis=0)
    F, P = np.flatnonzero((v == 0) & (scale > 0)), np.flatnonzero(v > 0)
    U, f, Wt = np.linalg.svd(A[:, F] / scale[F], full_matrices=False)
    r = int((f > tolerance * f.max(initial=0.0)).sum())
    U, T = U[:, :r], (Wt[:r].T / f[:r]) / scale[F, None]
    kept = np.linalg.norm(Wt[:r], axis=0)
    dependent = F[kept**2 < 1 - np.sqrt(EPS)] if r < len(F) else F[:0]
    shared = U.T @ A[:, P]
    B = A[:, P] - U @ shared
    again = U.T @ B  # a second projection makes it orthogonal to rounding error
    B, shared = B - U @ again, shared + again
    L, d, Vt = np.linalg.svd(B / np.sqrt(v[P]), full_matrices=False)
    largest = (scale[P] / np.sqrt(v[P])).max(initial=0.0)
    d = np.where(d > tolerance * largest, d, 0.0)
    V = np.zeros((A.shape[1], r + len(d)))
    V[F, :r] = T
    V[P, r:] = Vt.T / np.sqrt(v[P])[:, None]
    V[F, r:] = -T @ (shared @ V[P, r:])
    found = Spectrum(V, np.append(np.ones(r), d), np.vstack([U.T @ c, L.T @ c]), r)
    return found, tuple(int(j) for j in dependent)

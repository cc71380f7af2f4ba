r"""The evidence of exact Gaussian-process regression and its gradient.

    log p(Y) = sum over targets of  -y'a/2 - sum_i log L_ii - n/2 log 2 pi,   L L' = K + noise
    d log p / dK = (A A' - t (K + noise)^-1)/2 = W,   A = (K + noise)^-1 Y of the t targets

One factorisation (n^3/3) and, for the gradient, one inverse from it (2 n^3/3): a derivative in a
parameter is then a sum over W (``covariance.py``), whatever the number of parameters.
"""

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.kernel.processes.covariance import Covariance, covariance

SMALL = 1000  # rows up to which one thread is as fast as several, which wait for one another
STRETCH = 128  # rows copied below the diagonal at a time
HALF_LOG_TWO_PI = 0.5 * np.log(2.0 * np.pi)


def threads_for(n: int) -> Any:
    """BLAS keeps to one thread where the matrices are small: waking others takes longer."""
    return single_threaded_blas() if n < SMALL else nullcontext()


class Factor(NamedTuple):
    """L of K + noise, and A = (K + noise)^-1 Y."""

    L: Array  # (n, n), lower
    A: Array  # (n, t)


class Evidence(NamedTuple):
    """The logarithm of the density of the targets, and its gradient."""

    value: float
    gradient: Array


def factor(K: Array, Y: Array, noise: Any) -> Factor | None:
    """The factor of K, which is overwritten; None where K + noise is not positive definite.

    >>> factor(np.array([[4.0]]), np.array([[2.0]]), 0.0)
    Factor(L=array([[2.]]), A=array([[0.5]]))
    """
    K[np.diag_indices(len(K))] += noise
    L, info = lapack.dpotrf(K.T, lower=1, clean=1, overwrite_a=1)
    if info:
        return None
    return Factor(L, lapack.dpotrs(L, Y, lower=1)[0])


def log_evidence(found: Factor, Y: Array) -> float:
    """log p(Y) of all targets together."""
    n, t = Y.shape
    fit = -0.5 * float(np.einsum("ik,ik->", Y, found.A))
    return fit - t * (float(np.log(np.diag(found.L)).sum()) + n * HALF_LOG_TWO_PI)


def inverse(L: Array) -> Array:
    """The whole symmetric inverse of L L', from dpotri's lower half."""
    return mirrored(lapack.dpotri(L, lower=1)[0].T)


def mirrored(P: Array) -> Array:
    """The upper half copied below the diagonal, in place, a stretch of rows at a time.

    >>> mirrored(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[1., 2.],
           [2., 3.]])
    """
    for i in range(0, len(P), STRETCH):
        here, below = slice(i, i + STRETCH), slice(i + STRETCH, None)
        P[below, here] = P[here, below].T
        upper = np.triu(P[here, here])
        P[here, here] = upper + np.triu(upper, 1).T
    return P


def weights(found: Factor) -> Array:
    """W, the derivative of log p in K, written over L."""
    t = found.A.shape[1]
    M = lapack.dpotri(found.L, lower=1, overwrite_c=1)[0]
    return mirrored(blas.dsyrk(0.5, found.A, -0.5 * t, M, lower=1, overwrite_c=1).T)


def evidence(kernel: Covariance, X: Any, Y: Array, noise: Any) -> Evidence:
    """Value and gradient at the kernel's numbers; -inf and 0 where it is not positive definite."""
    K, pull, own = covariance(kernel, X)
    found = factor(K if own else K.copy(), Y, noise)
    if found is None:
        return Evidence(-np.inf, 0.0 * pull(np.zeros_like(K)))
    value = log_evidence(found, Y)
    return Evidence(value, pull(weights(found)))

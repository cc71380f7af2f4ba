r"""Laplace's approximation for two classes: the posterior of f as a normal law about its mode.

    p(f | y) ~ prod_i sigma(+-f_i) N(f; 0, K):  concave in f, so Newton finds its one maximum
    B = I + W^1/2 K W^1/2 = L L',  W = pi (1 - pi),  g = y - pi
    a = b - W^1/2 B^-1 W^1/2 K b,  b = W f + g,   f = K a                          (a step)
    log p(y) ~ -a'f/2 + sum_i log sigma(+-f_i) - sum_i log L_ii = Z
    dZ/dK = a a'/2 - R/2 + (s - R K s) g',   R = W^1/2 B^-1 W^1/2,
    s = -diag(K - K R K)/2 * pi (1 - pi)(1 - 2 pi): how the mode's own movement changes Z

Reference: Rasmussen & Williams (2006), algorithms 3.1, 3.2 and 5.1; the last line gathers 5.1 into
one matrix, so that a derivative costs no product of its own.
"""

import time
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.special import erf, expit, log_expit

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.kernel.processes.covariance import Covariance, covariance, diagonal
from pellucid.kernel.processes.evidence import inverse

GAIN = 1e-10  # a step that raises Z by less is the last
# Williams & Barber (1998): the sigmoid as a sum of five error functions, integrated in closed form
SCALES = np.array([0.41, 0.4, 0.37, 0.44, 0.39])[:, None]
WEIGHTS = np.array([-1854.8214151, 3516.89893646, 221.29346712, 128.12323805, -2010.49422654])


class Mode(NamedTuple):
    """The mode of one problem of two classes, and what predictions need."""

    kernel: Covariance
    rows: IntArray  # (n,) of the training rows
    y: Array  # (n,) 0 or 1
    pi: Array  # (n,)
    root: Array  # (n,) W^1/2
    L: Array  # (n, n)
    f: Array  # (n,)
    value: float  # Z


class Newton(NamedTuple):
    """Where Newton ended."""

    pi: Array
    root: Array
    L: Array
    f: Array
    a: Array
    value: float
    values: list[float]  # Z after each step
    seconds: list[float]  # since the start


def newton(K: Array, y: Array, start: Array | None, max_iter: int) -> Newton:
    """Climb to the mode, from 0 or from a mode nearby.

    >>> found = newton(np.eye(2), np.array([0.0, 1.0]), None, 100)
    >>> found.f.round(4), round(found.value, 4)
    (array([-0.4011,  0.4011]), -1.4013)
    """
    sign, value = 2.0 * y - 1.0, -np.inf
    values: list[float] = []
    seconds: list[float] = []
    began = time.perf_counter()
    f = np.zeros(len(y)) if start is None else start
    for i in range(max_iter):
        pi = expit(f)
        W = pi * (1.0 - pi)
        root = np.sqrt(W)
        B = K * root * root[:, None]
        B[np.diag_indices(len(B))] += 1.0
        L = lapack.dpotrf(B.T, lower=1, clean=1, overwrite_a=1)[0]
        b = W * f + y - pi
        a = b - root * lapack.dpotrs(L, root * (K @ b), lower=1)[0]
        f = K @ a
        new = float(-0.5 * a @ f + log_expit(sign * f).sum() - np.log(np.diag(L)).sum())
        if start is not None and (not np.isfinite(new) or (i == 1 and new < value - GAIN)):
            return newton(K, y, None, max_iter)  # the start was too far away
        values.append(new)
        seconds.append(time.perf_counter() - began)
        if new - value < GAIN:
            value = max(value, new)
            break
        value = new
    return Newton(pi, root, L, f, a, value, values, seconds)


def slope(K: Array, y: Array, at: Newton) -> Array:
    """dZ/dK at the mode."""
    R = inverse(at.L) * at.root * at.root[:, None]
    C = lapack.dtrtrs(at.L, at.root[:, None] * K, lower=1)[0]
    third = at.pi * (1.0 - at.pi) * (1.0 - 2.0 * at.pi)
    s = -0.5 * (np.diag(K) - np.einsum("ij,ij->j", C, C)) * third
    moved = s - R @ (K @ s)
    W = 0.5 * (np.outer(at.a, at.a) - R)
    W += np.outer(moved, y - at.pi)
    return W


class Problem(NamedTuple):
    """Two classes: the approximate evidence of a kernel."""

    X: Any
    y: Array
    max_iter: int
    start: Array | None = None

    def evaluate(self, kernel: Covariance, gradient: bool) -> tuple[float, Array | None, Newton]:
        """Z, its gradient in the numbers of the kernel where asked, and the mode."""
        K, pull, _ = covariance(kernel, self.X)
        found = newton(K, self.y, self.start, self.max_iter)
        return found.value, pull(slope(K, self.y, found)) if gradient else None, found


def latent(mode: Mode, X_train: Any, X: Any) -> tuple[Array, Array]:
    """Mean and variance of f at new rows."""
    K = covariance(mode.kernel, X_train[mode.rows], X).K
    V = lapack.dtrtrs(mode.L, mode.root[:, None] * K, lower=1)[0]
    return K.T @ (mode.y - mode.pi), diagonal(mode.kernel, X).K - np.einsum("ij,ij->j", V, V)


def probability(mean: Array, variance: Array) -> Array:
    """The integral of the sigmoid over N(mean, variance).

    >>> probability(np.array([0.0, 2.0]), np.array([1.0, 0.0])).round(3)
    array([0.5  , 0.881])
    """
    width = np.sqrt(1.0 + 2.0 * SCALES**2 * np.maximum(variance, 0.0))
    return 0.5 * (WEIGHTS @ erf(SCALES * mean / width) + WEIGHTS.sum())

"""Kernels by scikit-learn's pairwise names, for KernelRidge and Nystroem.

Beside those of ``core.functions.kernels``: cosine, and for counts (no cell below 0)

    additive_chi2  -sum_j (x_j - z_j)^2 / (x_j + z_j)        chi2  exp(gamma additive_chi2)
"""

from functools import partial
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.functions import kernels
from pellucid.core.functions.kernels import FunctionKernel, Kernel, MatrixFunctionKernel

OTHERS = ("additive_chi2", "chi2", "cosine", "laplacian", "polynomial")
PAIRWISE = tuple(sorted((*kernels.NAMES, *OTHERS)))


def additive_chi2(X: ArrayLike, Z: Array) -> Array:
    """-sum (x - z)^2/(x + z); cells that are both 0 count 0.

    >>> additive_chi2(np.array([[1.0, 0.0]]), np.array([[3.0, 0.0]]))
    array([[-1.]])
    """
    X, Z = kernels.dense(X), kernels.dense(Z)
    if (X < 0).any() or (Z < 0).any():
        raise ValueError("the chi2 kernels take no negative numbers: X contains negative values")
    K = np.zeros((len(X), len(Z)))
    for j in range(X.shape[1]):
        x, z = X[:, j : j + 1], Z[:, j]
        total = x + z
        K -= (x - z) ** 2 / np.where(total > 0, total, 1.0)
    return K


def chi2(X: ArrayLike, Z: Array, gamma: float = 1.0) -> Array:
    """exp(gamma additive_chi2).

    >>> chi2(np.array([[1.0]]), np.array([[1.0]]))
    array([[1.]])
    """
    return np.exp(gamma * additive_chi2(X, Z))


def named_kernel(
    kernel: Any, gamma: float | None, degree: float, coef0: float, params: Any, n_features: int
) -> Kernel:
    """The kernel of a name, a ``Kernel``, or a function of two rows with ``params``.

    >>> named_kernel("rbf", 0.5, 3, 1, None, 2)
    GaussianKernel()
    """
    if isinstance(kernel, Kernel):
        return kernel
    if gamma is not None:
        check.non_negative(gamma=gamma)
    if callable(kernel):
        return FunctionKernel(partial(kernel, **params) if params else kernel)
    check.one_of(PAIRWISE, kernel=kernel)
    if kernel == "cosine":
        return kernels.LinearKernel().normalized()
    if kernel == "additive_chi2":
        return MatrixFunctionKernel(additive_chi2)
    if kernel == "chi2":
        return MatrixFunctionKernel(partial(chi2, gamma=1.0 if gamma is None else gamma))
    name = "poly" if kernel == "polynomial" else kernel
    numbers: dict[str, Any] = {"degree": degree, "coef0": coef0, "n_features": n_features}
    return kernels.kernel_from(name, gamma="auto" if gamma is None else gamma, **numbers)

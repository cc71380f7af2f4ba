r"""Is it a kernel? K must be symmetric with c'Kc >= 0 for every c.

K = V diag(l) V'. A negative eigenvalue's vector is a witness c with c'Kc < 0; without one,
A = diag(sqrt l) V' has K = A'A, so that column i of A is a feature vector of row i.   O(n^3)
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray
from pellucid.core.functions.kernels import Kernel, MatrixFunctionKernel
from pellucid.core.readable import readable


@readable
class KernelCheck(NamedTuple):
    """The result of testing a kernel on a sample.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.kernel import check_kernel
    >>> check_kernel(np.eye(2)).valid
    True
    """

    valid: bool  # symmetric, and no negative eigenvalue
    symmetric: bool  # k(x, z) = k(z, x) on the sample
    min_eigenvalue: float  # of the Gram matrix
    witness: Array | None  # c with c'Kc < 0
    factor: Array | None  # A with K = A'A
    words: str  # the result as a sentence

    def __str__(self) -> str:
        return self.words


def gram(kernel: Kernel | Callable[..., Any], X: ArrayLike, Z: MaybeArray = None) -> Array:
    """The matrix of k(x, z) for all rows x of ``X`` and z of ``Z`` (default: ``X`` itself).

    ``kernel`` is a Kernel, or a function of two tables that returns the matrix or of two rows
    that returns a number.

    Examples
    --------
    >>> from pellucid.kernel import LinearKernel, gram
    >>> gram(LinearKernel(), [[1.0, 2.0], [3.0, 4.0]])
    array([[ 5., 11.],
           [11., 25.]])
    >>> gram(lambda x, z: float(min(x[0], z[0])), [[1.0], [2.0]])
    array([[1., 1.],
           [1., 2.]])
    """
    if isinstance(kernel, Kernel):
        return kernel(X, Z)
    if not callable(kernel):
        raise ValueError(f"kernel must be a Kernel or a function, got {kernel!r}")
    X = numeric_matrix(X, "X")
    others = X if Z is None else numeric_matrix(Z, "Z")
    if np.ndim(kernel(X[0], others[0])) == 0:
        return np.array([[float(kernel(x, z)) for z in others] for x in X])
    return MatrixFunctionKernel(kernel)(X, others)


def check_kernel(kernel: Any, X: MaybeArray = None, *, tol: float = 1e-8) -> KernelCheck:
    """Look for a reason why this is no kernel; a sample can refute one, never prove it.

    Parameters
    ----------
    kernel : Kernel, callable or square Gram matrix
        What is tested; a callable as in ``gram``.
    X : table, default=None
        The sample; needed unless the Gram matrix is given.
    tol : float, default=1e-8
        An eigenvalue below -tol times the largest counts as negative.

    Returns
    -------
    KernelCheck
        ``valid, symmetric, min_eigenvalue, witness, factor, words``.

    Examples
    --------
    >>> from pellucid.kernel import GaussianKernel, check_kernel
    >>> print(check_kernel(GaussianKernel(1.0), [[0.0], [1.0]]))
    valid by construction
    >>> print(check_kernel(lambda x, z: -float(x @ z), [[1.0], [2.0]]))
    not a kernel: c'Kc = -5 < 0 for the witness c
    """
    check.non_negative(tol=tol)
    if isinstance(kernel, Kernel) or callable(kernel):
        if X is None:
            raise ValueError("check_kernel needs the rows X, unless a Gram matrix is given")
        K = gram(kernel, X)
    else:
        K = numeric_matrix(kernel, "the Gram matrix")
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"a Gram matrix is square, got shape {K.shape}")
    if not np.isfinite(K).all():
        raise ValueError("the kernel gave values that are not finite numbers")
    scale = float(np.abs(K).max())
    symmetric = bool(np.abs(K - K.T).max() <= tol * scale)
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    least = float(values[0])
    semidefinite = least >= -tol * max(scale, float(values[-1]))
    valid = symmetric and semidefinite
    witness = None if semidefinite else vectors[:, 0].copy()
    factor = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T if valid else None
    proven = getattr(kernel, "by_construction", False)
    words = _words(valid, symmetric, least, proven)
    return KernelCheck(valid, symmetric, least, witness, factor, words)


def _words(valid: bool, symmetric: bool, least: float, proven: bool) -> str:
    if valid:
        return "valid by construction" if proven else "valid on this sample"
    if not symmetric:
        return "not a kernel: k(x, z) and k(z, x) differ"
    return f"not a kernel: c'Kc = {least:.6g} < 0 for the witness c"

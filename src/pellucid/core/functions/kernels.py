r"""Kernels k(x, z) = phi(x).phi(z) and their algebra.

    LinearKernel       x.z
    PolynomialKernel   (gamma x.z + c)^d,  c >= 0
    GaussianKernel     exp(-|x - z|^2 / (2 sigma^2))          gamma = 1 / (2 sigma^2)
    LaplacianKernel    exp(-|x - z|_1 / sigma)
    SigmoidKernel      tanh(gamma x.z + c)                    not positive semi-definite in general
    FunctionKernel     any function of two rows
    PrecomputedKernel  the Gram matrix is given instead of the rows

Sums, products, positive multiples, normalisation k(x,z) / sqrt(k(x,x) k(z,z)) and restriction to
columns of kernels are kernels. A feature map exists where it is finite: a sum concatenates the
maps, a product takes all pairwise products, a multiple b scales by sqrt(b).
"""

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement, pairwise
from math import comb, inf, prod, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import check_places, to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray
from pellucid.core.functions.distances import pairwise_manhattan
from pellucid.core.runtime.threads import map_threads

LINEAR, POLYNOMIAL, GAUSSIAN, SIGMOID, LAPLACIAN = range(5)
LARGE = 1_000_000  # cells of a matrix that threads fill together
BLOCK = 65_536  # cells that stay in the cache of a core
MAP_FACTORS = 2**22  # of the features of a row, before a map counts as endless
NAMES = ("linear", "poly", "rbf", "sigmoid", "precomputed")
KernelLike: TypeAlias = "str | Kernel | Callable[..., Any]"


class KernelCode(NamedTuple):
    """What compiled code needs to know of a kernel: which formula, and its numbers."""

    formula: int
    gamma: float = 1.0
    coef0: float = 0.0
    degree: float = 1.0


class Kernel(BaseEstimator):
    """Base of the kernels: a subclass writes ``_gram(X, Z)``.

    Calling it gives the Gram matrix; ``+``, ``*``, ``normalized`` and ``on`` make new kernels.

    Examples
    --------
    >>> from pellucid.kernel import GaussianKernel, LinearKernel
    >>> k = LinearKernel() + 2.0 * GaussianKernel(1.0)
    >>> k([[0.0], [1.0]]).round(4)
    array([[2.    , 1.2131],
           [1.2131, 3.    ]])
    """

    by_construction = True  # positive semi-definite whatever the rows

    def __call__(self, X: Any, Z: MaybeArray = None) -> Array:
        return self._gram(X, Z)

    def _gram(self, X: ArrayLike, Z: MaybeArray) -> Array:
        raise NotImplementedError(f"{type(self).__name__} does not say what k(x, z) is")

    def diagonal(self, X: Any) -> Array:
        """k(x, x) of every row."""
        return np.array([float(self(X[i : i + 1])[0, 0]) for i in range(n_rows(X))])

    def feature_map(self, X: ArrayLike) -> Array:
        """phi(x) of every row, with phi(x).phi(z) = k(x, z), where it is finite."""
        raise NotImplementedError(f"{self!r} has no finite feature map")

    def code(self) -> KernelCode | None:
        """The formula for compiled code; None where there is none."""
        return None

    def normalized(self) -> "NormalizedKernel":
        """k(x, z) / sqrt(k(x, x) k(z, z)): every row has length 1 in feature space."""
        return NormalizedKernel(self)

    def on(self, columns: Sequence[int]) -> "ColumnsKernel":
        """The same kernel that sees only these columns."""
        return ColumnsKernel(self, columns)

    def __add__(self, other: Any) -> "Kernel":
        return SumKernel(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> "Kernel":
        if isinstance(other, Kernel):
            return ProductKernel(self, other)
        return ScaledKernel(other, self) if np.ndim(other) == 0 else NotImplemented

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash(repr(self))


class LinearKernel(Kernel):
    """k(x, z) = x.z

    Examples
    --------
    >>> LinearKernel()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    def _gram(self, X: Any, Z: Any) -> Array:
        return products(X, Z)

    def diagonal(self, X: Any) -> Array:
        """k(x, x) for each row."""
        return squared_lengths(rows_of(X))

    def feature_map(self, X: ArrayLike) -> Array:
        """The rows themselves."""
        return dense(rows_of(X))

    def code(self) -> KernelCode:
        """The kernel as numbers for compiled code."""
        return KernelCode(LINEAR)


def refuse_wide_map(factors: int) -> None:
    """Refuse a feature map of so many factors in a row that it would never end."""
    if factors > MAP_FACTORS:
        raise ValueError(
            f"the feature map has {factors:.3g} factors in a row, at most {MAP_FACTORS} are made: "
            "use the kernel itself"
        )


class PolynomialKernel(Kernel):
    """k(x, z) = (gamma x.z + coef0)^degree

    Parameters
    ----------
    degree : int, default=2
        The power.
    coef0 : float, default=1.0
        At least 0; 0 is the homogeneous kernel.
    gamma : float, default=1.0
        Factor of the inner product.

    Examples
    --------
    >>> PolynomialKernel(2, coef0=0.0)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[121.]])
    """

    def __init__(self, degree: int = 2, coef0: float = 1.0, gamma: float = 1.0) -> None:
        self._check(degree, coef0, gamma)
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma

    @staticmethod
    def _check(degree: float, coef0: float, gamma: float) -> None:
        check.whole(degree=degree, at_least=0)
        check.non_negative(coef0=coef0, gamma=gamma)

    def _gram(self, X: Any, Z: Any) -> Array:
        return (self.gamma * products(X, Z) + self.coef0) ** self.degree

    def diagonal(self, X: Any) -> Array:
        """k(x, x) for each row."""
        return (self.gamma * squared_lengths(rows_of(X)) + self.coef0) ** self.degree

    def feature_map(self, X: ArrayLike) -> Array:
        """All monomials up to the degree, times the square roots of multinomial coefficients."""
        X = dense(rows_of(X)) * sqrt(self.gamma)
        if self.coef0 > 0:
            X = np.hstack([np.full((len(X), 1), sqrt(self.coef0)), X])
        refuse_wide_map(comb(X.shape[1] + self.degree - 1, self.degree) * max(self.degree, 1))
        columns = []
        for chosen in combinations_with_replacement(range(X.shape[1]), self.degree):
            powers = np.cumsum([chosen.count(j) for j in set(chosen)], dtype=int).tolist()
            ways = prod(comb(b, b - a) for a, b in pairwise([0, *powers]))
            columns.append(sqrt(ways) * X[:, list(chosen)].prod(axis=1))
        return np.column_stack(columns)

    def code(self) -> KernelCode:
        """The kernel as numbers for compiled code."""
        return KernelCode(POLYNOMIAL, float(self.gamma), float(self.coef0), float(self.degree))


class UncheckedPolynomialKernel(PolynomialKernel):
    """The polynomial with any ``coef0``, as scikit-learn's names allow: it may be no kernel.

    Examples
    --------
    >>> UncheckedPolynomialKernel(1, coef0=-1.0)([[1.0]], [[2.0]])
    array([[1.]])
    """

    by_construction = False

    @staticmethod
    def _check(degree: float, coef0: float, gamma: Any) -> None:
        check.whole(degree=degree, at_least=0)


class WidthKernel(Kernel):
    """Base of the kernels that fall with the distance, at the scale of a width ``sigma`` > 0."""

    def __init__(self, sigma: float = 1.0) -> None:
        check.positive(sigma=sigma)
        self.sigma = sigma

    def diagonal(self, X: Any) -> Array:
        """k(x, x) for each row."""
        return np.ones(n_rows(X))


class GaussianKernel(WidthKernel):
    """k(x, z) = exp(-|x - z|^2 / (2 sigma^2)), scikit-learn's "rbf" with gamma = 1/(2 sigma^2).

    Parameters
    ----------
    sigma : float, default=1.0
        Width, > 0.

    Examples
    --------
    >>> GaussianKernel(1.0)([[1.0, 2.0]], [[3.0, 4.0]]).round(10)
    array([[0.01831564]])
    """

    @property
    def gamma(self) -> float:
        """1 / (2 sigma^2)."""
        return 1.0 / (2.0 * float(self.sigma) ** 2)

    def _gram(self, X: Any, Z: Any) -> Array:
        E = squared_distances(X, Z, -self.gamma)
        in_blocks(lambda part: np.exp(E[part], out=E[part]), E)
        return E

    def code(self) -> KernelCode:
        """The kernel as numbers for compiled code."""
        return KernelCode(GAUSSIAN, self.gamma)


class LaplacianKernel(WidthKernel):
    """k(x, z) = exp(-|x - z|_1 / sigma)

    Parameters
    ----------
    sigma : float, default=1.0
        Width, > 0.

    Examples
    --------
    >>> LaplacianKernel(2.0)([[0.0, 0.0]], [[1.0, 1.0]]).round(6)
    array([[0.367879]])
    """

    def _gram(self, X: ArrayLike, Z: MaybeArray) -> Array:
        X = dense(rows_of(X))
        Z = X if Z is None else dense(rows_of(Z))
        return np.exp(-pairwise_manhattan(X, Z) / self.sigma)

    def code(self) -> KernelCode:
        """The kernel as numbers for compiled code."""
        return KernelCode(LAPLACIAN, 1.0 / float(self.sigma))


class SigmoidKernel(Kernel):
    """k(x, z) = tanh(gamma x.z + coef0); not positive semi-definite for every gamma and coef0.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=0.0
        Constant added to it.

    Examples
    --------
    >>> SigmoidKernel(0.1)([[1.0, 2.0]], [[3.0, 4.0]]).round(6)
    array([[0.800499]])
    """

    by_construction = False

    def __init__(self, gamma: float = 1.0, coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def _gram(self, X: Any, Z: Any) -> Array:
        return np.tanh(self.gamma * products(X, Z) + self.coef0)

    def diagonal(self, X: Any) -> Array:
        """k(x, x) for each row."""
        return np.tanh(self.gamma * squared_lengths(rows_of(X)) + self.coef0)

    def code(self) -> KernelCode:
        """The kernel as numbers for compiled code."""
        return KernelCode(SIGMOID, float(self.gamma), float(self.coef0))


class FunctionKernel(Kernel):
    """A function of two rows as a kernel; whether it is one, ``check_kernel`` can tell.

    Parameters
    ----------
    function : callable(x, z) -> float
        Symmetric in its arguments.

    Examples
    --------
    >>> FunctionKernel(lambda x, z: min(x[0], z[0]))([[1.0], [2.0]])
    array([[1., 1.],
           [1., 2.]])
    """

    by_construction = False

    def __init__(self, function: Callable[[Any, Any], float]) -> None:
        self.function = function

    def _gram(self, X: Any, Z: Any) -> Array:
        left = list(dense(X)) if hasattr(X, "shape") else list(X)
        right = left if Z is None else list(dense(Z)) if hasattr(Z, "shape") else list(Z)
        return np.array([[float(self.function(x, z)) for z in right] for x in left])


class MatrixFunctionKernel(Kernel):
    """A function of two tables that returns the Gram matrix, as scikit-learn's SVC takes it.

    Parameters
    ----------
    function : callable(X, Z) -> array

    Examples
    --------
    >>> MatrixFunctionKernel(lambda X, Z: X @ Z.T)(np.array([[1.0, 2.0]]))
    array([[5.]])
    """

    by_construction = False

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def _gram(self, X: Any, Z: MaybeArray) -> Array:
        Z = X if Z is None else Z
        found = self.function(X, Z)
        K = np.asarray(found.toarray() if issparse(found) else found, dtype=np.float64)
        if K.shape != (n_rows(X), n_rows(Z)):
            raise ValueError(f"the kernel must give shape {(n_rows(X), n_rows(Z))}, got {K.shape}")
        return K


class PrecomputedKernel(Kernel):
    """The rows are those of a Gram matrix already.

    Examples
    --------
    >>> PrecomputedKernel()([[2.0, 1.0], [1.0, 2.0]])
    array([[2., 1.],
           [1., 2.]])
    """

    by_construction = False

    def _gram(self, X: ArrayLike, Z: MaybeArray) -> Array:
        K = dense(rows_of(X))
        if Z is not None:
            raise ValueError("a precomputed kernel has no rows to compare: give the Gram matrix")
        return K

    def diagonal(self, X: Any) -> Array:
        """k(x, x) for each row."""
        return np.diagonal(dense(rows_of(X))).copy()


def is_precomputed(kernel: object) -> bool:
    """Whether ``kernel=`` says that the Gram matrix itself is given."""
    named = isinstance(kernel, str) and kernel == "precomputed"
    return named or isinstance(kernel, PrecomputedKernel)


class KernelOfTwo(Kernel):
    """Base of sums and products."""

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    @property
    def by_construction(self) -> bool:  # type: ignore[override]
        return self.left.by_construction and self.right.by_construction


class KernelOfOne(Kernel):
    """Base of the kernels that change another."""

    kernel: Kernel

    @property
    def by_construction(self) -> bool:  # type: ignore[override]
        return self.kernel.by_construction


class SumKernel(KernelOfTwo):
    """k1 + k2; its features are those of both, side by side.

    Parameters
    ----------
    left, right : Kernel

    Examples
    --------
    >>> SumKernel(LinearKernel(), LinearKernel())([[1.0]], [[2.0]])
    array([[4.]])
    """

    def _gram(self, X: Any, Z: MaybeArray) -> Array:
        return self.left(X, Z) + self.right(X, Z)

    def diagonal(self, X: np.ndarray) -> Array:
        return self.left.diagonal(X) + self.right.diagonal(X)

    def feature_map(self, X: ArrayLike) -> Array:
        return np.hstack([self.left.feature_map(X), self.right.feature_map(X)])


class ProductKernel(KernelOfTwo):
    """k1 k2; its features are all products of one of each.

    Parameters
    ----------
    left, right : Kernel

    Examples
    --------
    >>> ProductKernel(LinearKernel(), LinearKernel())([[1.0]], [[2.0]])
    array([[4.]])
    """

    def _gram(self, X: Any, Z: MaybeArray) -> Array:
        return self.left(X, Z) * self.right(X, Z)

    def diagonal(self, X: np.ndarray) -> Array:
        return self.left.diagonal(X) * self.right.diagonal(X)

    def feature_map(self, X: ArrayLike) -> Array:
        a, b = self.left.feature_map(X), self.right.feature_map(X)
        refuse_wide_map(a.shape[1] * b.shape[1])
        return (a[:, :, None] * b[:, None, :]).reshape(len(a), -1)


class ScaledKernel(KernelOfOne):
    """b k, b >= 0.

    Parameters
    ----------
    scale : float
    kernel : Kernel

    Examples
    --------
    >>> ScaledKernel(3.0, LinearKernel())([[1.0]], [[2.0]])
    array([[6.]])
    """

    def __init__(self, scale: float, kernel: Kernel) -> None:
        check.non_negative(scale=scale)
        self.scale = scale
        self.kernel = kernel

    def _gram(self, X: Any, Z: MaybeArray) -> Array:
        return self.scale * self.kernel(X, Z)

    def diagonal(self, X: np.ndarray) -> Array:
        return self.scale * self.kernel.diagonal(X)

    def feature_map(self, X: ArrayLike) -> Array:
        return sqrt(self.scale) * self.kernel.feature_map(X)


class NormalizedKernel(KernelOfOne):
    """k(x, z) / sqrt(k(x, x) k(z, z)); a row with k(x, x) = 0 has no direction and is refused.

    Parameters
    ----------
    kernel : Kernel

    Examples
    --------
    >>> LinearKernel().normalized()([[1.0, 2.0]], [[3.0, 4.0]]).round(10)
    array([[0.98386991]])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def _lengths(self, X: Any) -> Array:
        squared = self.kernel.diagonal(X)
        if not (squared > 0).all():
            row = int(np.argmin(squared))
            raise ValueError(f"normalising needs k(x, x) > 0, got {squared[row]:g} in row {row}")
        return np.sqrt(squared)

    def _gram(self, X: Any, Z: MaybeArray) -> Array:
        a = self._lengths(X)
        b = a if Z is None else self._lengths(Z)
        return self.kernel(X, Z) / a[:, None] / b

    def diagonal(self, X: np.ndarray) -> Array:
        self._lengths(X)
        return np.ones(n_rows(X))

    def feature_map(self, X: Any) -> Array:
        return self.kernel.feature_map(X) / self._lengths(X)[:, None]


class ColumnsKernel(KernelOfOne):
    """A kernel of some columns, so that sums and products join different spaces.

    Parameters
    ----------
    kernel : Kernel
    columns : int or list of int

    Examples
    --------
    >>> (LinearKernel().on([0]) * LinearKernel().on([1]))([[2.0, 3.0]], [[1.0, 5.0]])
    array([[30.]])
    """

    def __init__(self, kernel: Kernel, columns: Sequence[int]) -> None:
        self.kernel = kernel
        self.columns = columns

    def _part(self, X: Any) -> Any:
        if X is None:
            return None
        X, columns = rows_of(X), np.atleast_1d(self.columns)
        if columns.dtype.kind != "i" or columns.min() < 0 or columns.max() >= X.shape[1]:
            known = f"columns 0..{X.shape[1] - 1}"
            raise ValueError(f"columns must be numbers of {known}, got {self.columns!r}")
        return X[:, columns]

    def _gram(self, X: Any, Z: MaybeArray) -> Array:
        return self.kernel(self._part(X), self._part(Z))

    def diagonal(self, X: np.ndarray) -> Array:
        return self.kernel.diagonal(self._part(X))

    def feature_map(self, X: Any) -> Array:
        return self.kernel.feature_map(self._part(X))


def n_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def rows_of(X: Any) -> Any:
    """A float64 table, dense or sparse."""
    if issparse(X):
        check_places(X)
        return X
    X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(f"a kernel of vectors needs a table of rows, got shape {X.shape}")
    return X


def dense(X: Any) -> Array:
    return np.asarray(to_dense(X))


def products(X: np.ndarray, Z: Array | None) -> Array:
    """x.z of all pairs."""
    X = rows_of(X)
    Z = X if Z is None else rows_of(Z)
    same_columns(X, Z)
    return dense(X @ Z.T)


def same_columns(X: Array, Z: Array) -> None:
    """Refuse two tables of different width."""
    if X.shape[1] != Z.shape[1]:
        raise ValueError(f"both tables need the same columns, got {X.shape[1]} and {Z.shape[1]}")


def squared_lengths(X: Any) -> Array:
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if issparse(X) else (X * X).sum(axis=1)


def squared_distances(X: Any, Z: Array | None, scale: float = 1.0) -> Array:
    """scale |x - z|^2 of all pairs, as one product of [x, |x|^2, 1] and scale [-2 z, 1, |z|^2].

    Rows are taken about a common centre, where little is lost in the difference.

    >>> squared_distances(np.array([[1e8, 1.0]]), np.array([[1e8, 4.0]]))
    array([[9.]])
    """
    same = Z is None or Z is X
    X = rows_of(X)
    if same and not issparse(X):
        return own_squared_distances(X - X.mean(axis=0), scale)
    Z = X if same else rows_of(Z)
    if issparse(X) or issparse(Z):
        D = -2.0 * products(X, Z) + squared_lengths(X)[:, None] + squared_lengths(Z)
        D *= scale
    else:
        same_columns(X, Z)
        centre = Z.mean(axis=0)
        X, Z = X - centre, Z - centre
        left = np.column_stack([X, squared_lengths(X), np.ones(len(X))])
        right = np.column_stack([-2.0 * Z, np.ones(len(Z)), squared_lengths(Z)])
        right *= scale
        D = left @ right.T
    (np.maximum if scale > 0 else np.minimum)(D, 0.0, out=D)  # never past zero by rounding
    if same:
        np.fill_diagonal(D, 0.0)
        D = 0.5 * (D + D.T)
    return D


def own_squared_distances(X: Array, scale: float) -> Array:
    """scale |x_i - x_j|^2 of the rows of one table, symmetric to the last bit.

    >>> own_squared_distances(np.array([[1.0], [4.0]]), 1.0)
    array([[0., 9.],
           [9., 0.]])
    """
    D, lengths = X @ X.T, squared_lengths(X)

    def block(part: slice) -> None:
        rows = D[part]
        rows *= -2.0
        rows += lengths[part, None] + lengths
        rows *= scale
        (np.maximum if scale > 0 else np.minimum)(rows, 0.0, out=rows)

    in_blocks(block, D)
    np.fill_diagonal(D, 0.0)
    return D


def in_blocks(function: Callable[[slice], Any], D: Array) -> None:
    """Call the function with slices of rows, of a large matrix by threads."""
    if D.size <= LARGE:
        function(slice(None))
        return
    step = max(1, BLOCK // D.shape[1])
    parts = [slice(first, first + step) for first in range(0, len(D), step)]
    list(map_threads(function, parts))


def kernel_from(
    kernel: Any,
    *,
    gamma: float | str | None = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    n_features: int = 1,
    variance: float = 1.0,
) -> Kernel:
    """The kernel that scikit-learn's parameters mean; a ``Kernel`` passes through.

    ``gamma``: a number, "scale" = 1/(n_features variance), "auto" or None = 1/n_features;
    ``variance`` is that of all cells of X. A callable takes two tables and returns the Gram matrix.

    >>> kernel_from("rbf", gamma=0.5)
    GaussianKernel()
    >>> kernel_from("poly", gamma="auto", degree=2, n_features=4)
    UncheckedPolynomialKernel(coef0=0.0, gamma=0.25)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return MatrixFunctionKernel(kernel)
    check.one_of((*NAMES, "laplacian"), kernel=kernel)
    if kernel == "linear":
        return LinearKernel()
    if kernel == "precomputed":
        return PrecomputedKernel()
    g = gamma_number(gamma, n_features, variance)
    if kernel == "rbf":
        return GaussianKernel(inf if g == 0 else sqrt(0.5 / g))
    if kernel == "laplacian":
        return LaplacianKernel(inf if g == 0 else 1.0 / g)
    if kernel == "sigmoid":
        return SigmoidKernel(g, coef0)
    return UncheckedPolynomialKernel(degree, coef0, g)


def gamma_number(gamma: float | str | None, n_features: int, variance: float) -> float:
    """The number that "scale", "auto" or None stands for."""
    if isinstance(gamma, str):
        check.one_of(("scale", "auto"), gamma=gamma)
        scale = 1.0 / (n_features * variance) if variance > 0 else 1.0
        return scale if gamma == "scale" else 1.0 / n_features
    if gamma is None:
        return 1.0 / n_features
    check.non_negative(gamma=gamma)
    return float(gamma)

r"""The value of a kernel, and its derivatives without a matrix for each of them.

Every use of a covariance K ends in one number L, and its derivative in a parameter t is
sum_ij W_ij dK_ij/dt with W = dL/dK. So a kernel answers with K and with ``pull``, the function
W -> (sum_ij W_ij dK_ij/dt for all t), as in backward differentiation:

    k1 + k2      pull1(W), pull2(W)
    k1 k2        pull1(W * K2), pull2(W * K1)
    k^a          pull(W a k^(a-1))
    f(r), r^2 = sum_j (x_j - z_j)^2/l_j^2
                 sum_ij M_ij (x_ij - z_ij)^2/l^2,  M = W * g,  g = -f'(r)/r: all columns from the
                 product M Z, 2 n^2 p flops

No n x n matrix is stored for a parameter, and none costs n^3. Parameters are logarithms, as in
scikit-learn, whose kernel objects are read here next to ours.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import gamma as gamma_function
from scipy.special import kv
from sklearn.gaussian_process import kernels as theirs

from pellucid.core.arrays.typing import Array
from pellucid.core.functions import kernels as ours
from pellucid.core.functions.distances import pairwise_manhattan

NEAR = 1e-6  # squared distances below this part of the squares they come from: by differences
Pull = Callable[[Array], Array]
Covariance: TypeAlias = ours.Kernel | theirs.Kernel


class Value(NamedTuple):
    """A covariance, or its diagonal, and the derivatives that weights pull out of it."""

    K: Array
    pull: Pull
    own: bool = False  # no derivative looks at K: who asked for it may write over it


def nothing(_: Array) -> Array:
    """The derivatives of what has no parameters."""
    return np.empty(0)


def covariance(kernel: Covariance, X: Array, Z: Array | None = None) -> Value:
    """k(x, z) of all pairs; ``Z=None`` are the rows themselves, where white noise is seen.

    >>> K, pull, _ = covariance(theirs.RBF(2.0), np.array([[0.0], [2.0]]))
    >>> K.round(6)[0], pull(np.ones((2, 2))).round(6)
    (array([1.      , 0.606531]), array([1.213061]))
    """
    for kind, formula in FORMULAS.items():
        if type(kernel) is kind:
            return formula(kernel, X, Z)
    if isinstance(kernel, ours.Kernel):  # a function: nothing to learn
        return Value(np.asarray(kernel(X, Z), dtype=np.float64), nothing)
    return foreign(kernel, X, Z)


def diagonal(kernel: Covariance, X: Array) -> Value:
    """k(x, x) of every row.

    >>> diagonal(theirs.WhiteKernel(0.5), np.zeros((2, 1))).K
    array([0.5, 0.5])
    """
    for kind, formula in DIAGONALS.items():
        if type(kernel) is kind:
            return formula(kernel, X)
    if isinstance(kernel, ours.Kernel):
        return Value(np.asarray(kernel.diagonal(X), dtype=np.float64), nothing)
    K = np.asarray(kernel.diag(X), dtype=np.float64)
    return Value(K, lambda w: foreign_diagonal(kernel, X, w))


def foreign(kernel: theirs.Kernel, X: Array, Z: Array | None) -> Value:
    """A kernel class of the user's own, by scikit-learn's protocol."""
    if Z is not None:
        return Value(np.asarray(kernel(X, Z), dtype=np.float64), nothing)
    K = np.array(kernel(X), dtype=np.float64)

    def pull(W: Array) -> Array:
        gradient = np.asarray(kernel(X, eval_gradient=True)[1])
        return np.einsum("ij,ijk->k", W, gradient)

    return Value(K, pull)


def foreign_diagonal(kernel: theirs.Kernel, X: Array, w: Array) -> Array:
    gradient = [kernel(X[i : i + 1], eval_gradient=True)[1][0, 0] for i in range(len(X))]
    return w @ np.asarray(gradient)


def squares(X: Array, Z: Array | None) -> Array:
    """|x - z|^2; what is near zero by differences, where a product would leave rounding alone.

    A row is judged by its own length and those of Z, so that its distances do not depend on the
    rows beside it.
    """
    D = ours.squared_distances(X, Z)
    if not D.size:
        return D
    Z = X if Z is None else Z
    size = np.square(X).sum(axis=1) + np.square(Z).sum(axis=1).max()
    i, j = np.nonzero(NEAR * size[:, None] > D)
    D[i, j] = np.square(X[i] - Z[j]).sum(axis=1)
    return D


class Scaled(NamedTuple):
    """Rows divided by the lengths, about the mean of Z, or of X where that is Z."""

    X: Array
    Z: Array | None

    @classmethod
    def of(cls, X: Array, Z: Array | None, length: Any) -> "Scaled":
        X = np.asarray(X, dtype=np.float64)
        Z = Z if Z is None else np.asarray(Z, dtype=np.float64)
        length = np.squeeze(np.asarray(length, dtype=np.float64))
        if length.ndim > 1 or (length.ndim == 1 and len(length) != X.shape[1]):
            found = length.shape[0] if length.ndim == 1 else length.shape
            raise ValueError(
                "Anisotropic kernel must have the same number of dimensions as data "
                f"({found}!={X.shape[1]})"
            )
        about = X if Z is None else Z
        centre = about.mean(axis=0) if len(about) else 0.0
        return cls((X - centre) / length, None if Z is None else (Z - centre) / length)

    def moments(self, M: Array) -> Array:
        """sum_ij M_ij (x_ik - z_jk)^2 of every column k."""
        Z = self.X if self.Z is None else self.Z
        own = M.sum(axis=1) @ self.X**2 + M.sum(axis=0) @ Z**2
        return own - 2.0 * (self.X * (M @ Z)).sum(axis=0)


def by_length(
    kernel: theirs.Kernel, X: Array, Z: Array | None, shape: Callable[[Array], Any]
) -> Value:
    """A function of the scaled distance; ``shape(r^2)`` gives f and g = -f'(r)/r."""
    rows = Scaled.of(X, Z, kernel.length_scale)
    D = squares(*rows)
    K, slope = shape(D)

    def pull(W: Array) -> Array:
        if kernel.hyperparameter_length_scale.fixed:
            return np.empty(0)
        M = W * slope()
        return rows.moments(M) if kernel.anisotropic else np.atleast_1d(np.vdot(M, D))

    return Value(K, pull)


def gaussian(D: Array) -> tuple[Array, Callable[[], Array]]:
    K = exponential(-0.5 * D)
    return K, lambda: K


def exponential(E: Array) -> Array:
    """exp in place, by all threads where the matrix is large."""
    ours.in_blocks(lambda part: np.exp(E[part], out=E[part]), E)
    return E


def rbf(kernel: theirs.RBF, X: Array, Z: Array | None) -> Value:
    """exp(-r^2/2)"""
    return by_length(kernel, X, Z, gaussian)


def matern(kernel: theirs.Matern, X: Array, Z: Array | None) -> Value:
    """The Matern family: nu = 1/2 is exp(-r), infinity the Gaussian."""
    return by_length(kernel, X, Z, lambda D: matern_shape(D, float(kernel.nu)))


def matern_shape(D: Array, nu: float) -> tuple[Array, Callable[[], Array]]:
    r"""2^(1-nu)/Gamma(nu) s^nu K_nu(s), s = sqrt(2 nu) r; (s^nu K_nu)' = -s^nu K_(nu-1).

    >>> K, slope = matern_shape(np.array([[1.0]]), 1.5)
    >>> general, its_slope = matern_shape(np.array([[1.0]]), 1.5 + 1e-12)
    >>> np.allclose([K, slope()], [general, its_slope()])
    True
    """
    if nu == np.inf:
        return gaussian(D)
    s = np.sqrt(2.0 * nu * D)
    if nu == 0.5:
        K = np.exp(-s)
        with np.errstate(divide="ignore", invalid="ignore"):
            return K, lambda: np.where(s > 0, K / np.where(s > 0, s, 1.0), 0.0)
    if nu in (1.5, 2.5):
        E = np.exp(-s)
        K = (1.0 + s) * E if nu == 1.5 else (1.0 + s + s * s / 3.0) * E
        return K, lambda: 3.0 * E if nu == 1.5 else 5.0 / 3.0 * (1.0 + s) * E
    factor = 2.0 ** (1.0 - nu) / gamma_function(nu)
    t = np.where(s > 0, s, 1.0)
    K = np.where(s > 0, factor * t**nu * kv(nu, t), 1.0)
    return K, lambda: np.where(s > 0, 2.0 * nu * factor * t ** (nu - 1) * kv(nu - 1, t), 0.0)


def rational_quadratic(kernel: theirs.RationalQuadratic, X: Array, Z: Array | None) -> Value:
    """(1 + r^2/(2 alpha))^-alpha"""
    if np.ndim(kernel.length_scale) and np.size(kernel.length_scale) > 1:
        raise AttributeError(
            "RationalQuadratic kernel only supports isotropic version, please use a single "
            "scalar for length_scale"
        )
    a = float(kernel.alpha)
    D = squares(*Scaled.of(X, Z, kernel.length_scale))
    base = 1.0 + D / (2.0 * a)
    K = base**-a

    def pull(W: Array) -> Array:
        found = []
        if not kernel.hyperparameter_alpha.fixed:
            found.append(np.vdot(W, K * (D / (2.0 * base) - a * np.log(base))))
        if not kernel.hyperparameter_length_scale.fixed:
            found.append(np.vdot(W, D * K / base))
        return np.array(found)

    return Value(K, pull)


def periodic(kernel: theirs.ExpSineSquared, X: Array, Z: Array | None) -> Value:
    """exp(-2 sin^2(pi d/period)/l^2)"""
    d = np.sqrt(squares(*Scaled.of(X, Z, 1.0)))
    turn, square = np.pi * d / kernel.periodicity, float(kernel.length_scale) ** 2
    sine = np.sin(turn)
    K = np.exp(-2.0 / square * sine**2)

    def pull(W: Array) -> Array:
        found = []
        if not kernel.hyperparameter_length_scale.fixed:
            found.append(np.vdot(W, 4.0 / square * sine**2 * K))
        if not kernel.hyperparameter_periodicity.fixed:
            found.append(np.vdot(W, 4.0 / square * turn * np.cos(turn) * sine * K))
        return np.array(found)

    return Value(K, pull)


def dot_product(kernel: theirs.DotProduct, X: Array, Z: Array | None) -> Value:
    """x.z + sigma_0^2"""
    square = float(kernel.sigma_0) ** 2
    return Value(ours.products(X, Z) + square, offset(kernel, square))


def offset(kernel: theirs.DotProduct, square: float) -> Pull:
    fixed = kernel.hyperparameter_sigma_0.fixed
    return lambda W: np.empty(0) if fixed else np.array([2.0 * square * W.sum()])


def constant(kernel: theirs.ConstantKernel, X: Array, Z: Array | None) -> Value:
    """The same number for every pair."""
    n, value = len(X), float(kernel.constant_value)
    return Value(np.full((n, n if Z is None else len(Z)), value), level(kernel, value))


def level(kernel: theirs.ConstantKernel, value: float) -> Pull:
    fixed = kernel.hyperparameter_constant_value.fixed
    return lambda W: np.empty(0) if fixed else np.array([value * W.sum()])


def white(kernel: theirs.WhiteKernel, X: Array, Z: Array | None) -> Value:
    """Noise: every row is alike to itself alone."""
    level, fixed = float(kernel.noise_level), kernel.hyperparameter_noise_level.fixed
    K = np.zeros((len(X), len(X if Z is None else Z)))
    if Z is None:
        np.fill_diagonal(K, level)
    seen = level * (Z is None)
    return Value(K, lambda W: np.empty(0) if fixed else np.array([seen * np.trace(W)]))


def white_diagonal(kernel: theirs.WhiteKernel, X: Array) -> Value:
    level, fixed = float(kernel.noise_level), kernel.hyperparameter_noise_level.fixed
    pull = lambda w: np.empty(0) if fixed else np.array([level * w.sum()])  # noqa: E731
    return Value(np.full(len(X), level), pull)


def both(kernel: Any) -> tuple[Any, Any]:
    """The two parts of a sum or a product, theirs or ours."""
    return (kernel.k1, kernel.k2) if hasattr(kernel, "k1") else (kernel.left, kernel.right)


def add(a: Value, b: Value) -> Value:
    return Value(a.K + b.K, lambda W: np.concatenate([a.pull(W), b.pull(W)]), own=True)


def multiply(a: Value, b: Value) -> Value:
    return Value(a.K * b.K, lambda W: np.concatenate([a.pull(W * b.K), b.pull(W * a.K)]), own=True)


def total(kernel: Any, X: Array, Z: Array | None) -> Value:
    """The sum of two kernels; white noise is added where it is seen, without a matrix of its own.

    >>> noisy = theirs.RBF(2.0) + theirs.WhiteKernel(0.5)
    >>> covariance(noisy, np.array([[0.0], [2.0]])).K.round(6)
    array([[1.5     , 0.606531],
           [0.606531, 1.5     ]])
    """
    left, right = both(kernel)
    if type(right) is theirs.WhiteKernel:
        return noisy(covariance(left, X, Z), right, Z, last=True)
    if type(left) is theirs.WhiteKernel:
        return noisy(covariance(right, X, Z), left, Z, last=False)
    return add(covariance(left, X, Z), covariance(right, X, Z))


def noisy(inner: Value, kernel: theirs.WhiteKernel, Z: Array | None, *, last: bool) -> Value:
    """``inner`` with the level of the noise on the diagonal; its derivative first or ``last``."""
    noise = white_diagonal(kernel, inner.K)
    K = inner.K if inner.own else inner.K.copy()
    if Z is None:
        K[np.diag_indices(len(K))] += noise.K

    def pull(W: Array) -> Array:
        mine = noise.pull(np.diag(W) if Z is None else np.zeros(1))
        parts = [inner.pull(W), mine]
        return np.concatenate(parts if last else parts[::-1])

    return Value(K, pull, own=True)


def product(kernel: Any, X: Array, Z: Array | None) -> Value:
    """The product of two kernels; a constant is a factor, without a matrix of its own.

    >>> K, pull, _ = covariance(3.0 * theirs.RBF(2.0), np.array([[0.0], [2.0]]))
    >>> K.round(6)[0], pull(np.ones((2, 2))).round(6)
    (array([3.      , 1.819592]), array([9.639184, 3.639184]))
    """
    left, right = both(kernel)
    for one, other, last in ((left, right, False), (right, left, True)):
        if type(one) is theirs.ConstantKernel:
            learned = not one.hyperparameter_constant_value.fixed
            value = float(one.constant_value)
            return multiple(value, covariance(other, X, Z), learned=learned, last=last)
    return multiply(covariance(left, X, Z), covariance(right, X, Z))


def multiple(scale: float, inner: Value, *, learned: bool, last: bool = False) -> Value:
    """``scale`` times a covariance; pulling is linear, so the weights need not be scaled."""

    def pull(W: Array) -> Array:
        mine = np.array([scale * np.vdot(W, inner.K)] if learned else [])
        parts = [mine, scale * inner.pull(W)]
        return np.concatenate(parts[::-1] if last else parts)

    return Value(scale * inner.K, pull, own=True)


def power(a: Value, exponent: float) -> Value:
    return Value(a.K**exponent, lambda W: a.pull(W * exponent * a.K ** (exponent - 1.0)))


def flat(kernel: Covariance, X: Array) -> Value:
    """k(x, x) = 1 whatever the parameters, which are counted by their number."""
    size = len(kernel.theta) if hasattr(kernel, "theta") else 1
    return Value(np.ones(ours.n_rows(X)), lambda _: np.zeros(size))


# --- our own kernels: every positive number is learned


def width(kernel: ours.GaussianKernel, X: Array, Z: Array | None) -> Value:
    """GaussianKernel"""
    D = squares(*Scaled.of(X, Z, kernel.sigma))
    K = np.exp(-0.5 * D)
    return Value(K, lambda W: np.array([np.vdot(W, D * K)]))


def laplacian(kernel: ours.LaplacianKernel, X: Array, Z: Array | None) -> Value:
    D = pairwise_manhattan(X, X if Z is None else Z) / kernel.sigma
    K = np.exp(-D)
    return Value(K, lambda W: np.array([np.vdot(W, D * K)]))


def polynomial(kernel: ours.PolynomialKernel, X: Array, Z: Array | None) -> Value:
    return polynomial_of(kernel, ours.products(X, Z))


def polynomial_of(kernel: ours.PolynomialKernel, S: Array) -> Value:
    """(gamma s + c)^d of inner products s: a derivative for each of gamma and c that is not 0."""
    S, c, degree = float(kernel.gamma) * S, float(kernel.coef0), kernel.degree
    base = S + c

    def pull(W: Array) -> Array:
        M = W * degree * base ** max(degree - 1, 0)
        both = [np.vdot(M, S)] * (kernel.gamma > 0) + [c * M.sum()] * (c > 0)
        return np.array(both)

    return Value(base**degree, pull)


def sigmoid(kernel: ours.SigmoidKernel, X: Array, Z: Array | None) -> Value:
    return sigmoid_of(kernel, ours.products(X, Z))


def sigmoid_of(kernel: ours.SigmoidKernel, S: Array) -> Value:
    S, c = float(kernel.gamma) * S, float(kernel.coef0)
    K = np.tanh(S + c)

    def pull(W: Array) -> Array:
        M = W * (1.0 - K * K)
        return np.array([np.vdot(M, S)] * (kernel.gamma > 0) + [c * M.sum()] * (c > 0))

    return Value(K, pull)


def lengths(X: Any) -> Array:
    return ours.squared_lengths(ours.rows_of(X))


def normalised(kernel: ours.NormalizedKernel, X: Array, Z: Array | None) -> Value:
    """k(x,z)/sqrt(k(x,x) k(z,z)); its derivative is that of k less half those of both lengths."""
    inner, a = covariance(kernel.kernel, X, Z), diagonal(kernel.kernel, X)
    b = a if Z is None else diagonal(kernel.kernel, Z)
    s, t = kernel._lengths(X), kernel._lengths(X if Z is None else Z)
    K = inner.K / s[:, None] / t

    def pull(W: Array) -> Array:
        M = W * K
        ends = a.pull(M.sum(axis=1) / s**2) + b.pull(M.sum(axis=0) / t**2)
        return inner.pull(W / s[:, None] / t) - 0.5 * ends

    return Value(K, pull)


def normalised_diagonal(kernel: ours.NormalizedKernel, X: Array) -> Value:
    inner = diagonal(kernel.kernel, X)
    return Value(np.ones(len(inner.K)), lambda w: 0.0 * inner.pull(w))


FORMULAS: dict[type, Callable[[Any, Any, Any], Value]] = {
    theirs.RBF: rbf,
    theirs.Matern: matern,
    theirs.RationalQuadratic: rational_quadratic,
    theirs.ExpSineSquared: periodic,
    theirs.DotProduct: dot_product,
    theirs.ConstantKernel: constant,
    theirs.WhiteKernel: white,
    theirs.Sum: total,
    theirs.Product: product,
    theirs.Exponentiation: lambda k, X, Z: power(covariance(k.kernel, X, Z), float(k.exponent)),
    ours.GaussianKernel: width,
    ours.LaplacianKernel: laplacian,
    ours.PolynomialKernel: polynomial,
    ours.SigmoidKernel: sigmoid,
    ours.SumKernel: lambda k, X, Z: add(*(covariance(part, X, Z) for part in both(k))),
    ours.ProductKernel: lambda k, X, Z: multiply(*(covariance(part, X, Z) for part in both(k))),
    ours.ScaledKernel: lambda k, X, Z: multiple(
        float(k.scale), covariance(k.kernel, X, Z), learned=k.scale > 0
    ),
    ours.ColumnsKernel: lambda k, X, Z: covariance(k.kernel, k._part(X), k._part(Z)),
    ours.NormalizedKernel: normalised,
}

DIAGONALS: dict[type, Callable[[Any, Any], Value]] = {
    theirs.RBF: flat,
    theirs.Matern: flat,
    theirs.RationalQuadratic: flat,
    theirs.ExpSineSquared: flat,
    theirs.DotProduct: lambda k, X: Value(
        lengths(X) + float(k.sigma_0) ** 2, offset(k, float(k.sigma_0) ** 2)
    ),
    theirs.ConstantKernel: lambda k, X: Value(
        np.full(len(X), float(k.constant_value)), level(k, float(k.constant_value))
    ),
    theirs.WhiteKernel: white_diagonal,
    theirs.Sum: lambda k, X: add(*(diagonal(part, X) for part in both(k))),
    theirs.Product: lambda k, X: multiply(*(diagonal(part, X) for part in both(k))),
    theirs.Exponentiation: lambda k, X: power(diagonal(k.kernel, X), float(k.exponent)),
    ours.GaussianKernel: flat,
    ours.LaplacianKernel: flat,
    ours.PolynomialKernel: lambda k, X: polynomial_of(k, lengths(X)),
    ours.SigmoidKernel: lambda k, X: sigmoid_of(k, lengths(X)),
    ours.SumKernel: lambda k, X: add(*(diagonal(part, X) for part in both(k))),
    ours.ProductKernel: lambda k, X: multiply(*(diagonal(part, X) for part in both(k))),
    ours.ScaledKernel: lambda k, X: multiple(
        float(k.scale), diagonal(k.kernel, X), learned=k.scale > 0
    ),
    ours.ColumnsKernel: lambda k, X: diagonal(k.kernel, k._part(X)),
    ours.NormalizedKernel: normalised_diagonal,
}

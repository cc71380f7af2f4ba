r"""The normal distribution of a vector.

    log N(x; m, S) = -(d log 2 pi + log|S| + |L^-1 (x - m)|^2) / 2,     S = L L'
    affine     y = A x + b + e, e ~ N(0, R)      =>  y ~ N(A m + b, A S A' + R)
    observe    x | y: with the root L (d, r) of S and z ~ N(0, I), x = m + L z,
               W = R^-1/2 A L,  G = I + W'W = C C',  u = G^-1 W' R^-1/2 (y - A m - b)
               x | y ~ N(m + L u, K K'),  K = L C^-T                      O(n r^2)
               log p(y) = -(n log 2 pi + log|R| + log|G| + |R^-1/2(y - A m - b) - W u|^2 + |u|^2)/2

Nothing is inverted and a singular S is no exception: its root has fewer columns. Where R is
singular or n < r, the gain S A'(A S A' + R)^-1 is used. A singular S has a density on its support,
the affine space m + range(L), with log|S| the log of the product of the positive eigenvalues.

Reference: Bishop, PRML, section 2.3; Kalman (1960).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.linalg.lapack import dpocon
from scipy.special import gammaincinv

from pellucid.core.algebra.gram import WIDEST, cross_products
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Rng
from pellucid.core.readable import readable
from pellucid.core.runtime.warn import warn
from pellucid.inference.distributions.distribution import Multivariate, ScaledDensity
from pellucid.inference.distributions.normal import LOG_2PI, Normal

CLEAR = 1e-6  # reciprocal condition above which no eigenvalue can count as zero
SMALL = 1e-12  # eigenvalues below this share of the largest, times d, count as zero
ROWS = 4096  # worked on at a time
NARROW = 16  # dimensions up to which substitution beats the library's solver
OFF = 1e-6  # distance from the support, in its own scale, that rounding may leave


class Ellipse(NamedTuple):
    """The region of this probability: centre, axes as columns with their radii.

    >>> from pellucid.inference import MultivariateNormal
    >>> MultivariateNormal([0, 0], [[4, 0], [0, 1]]).ellipsoid(0.95).radii.round(4)
    array([4.8955, 2.4477])
    """

    center: Array
    axes: Array  # (d, r) columns, the longest first
    radii: Array  # (r,)
    probability: float

    def __str__(self) -> str:
        radii = ", ".join(f"{r:.4g}" for r in self.radii)
        share = f"{self.probability:.4g} of the probability"
        centre = np.round(self.center, 4).tolist()
        return f"{share} lies within an ellipsoid around {centre} with radii {radii}."


class Root(NamedTuple):
    """S = L L' with L (d, r) of full column rank."""

    L: Array
    triangular: bool


class Observed(NamedTuple):
    """What an observation leaves: the new mean, its root, and log p(y)."""

    mean: Array
    root: Array
    log_evidence: float


def psd_root(S: Array, name: str) -> Root:
    """The Cholesky root, or one with fewer columns of a singular matrix; not psd: refused."""
    gap, size = np.abs(S - S.T), np.abs(S)
    if not np.isfinite(size).all() or (gap > 1e-8 * size + 1e-12 * size.max(initial=0.0)).any():
        raise ValueError(f"{name} must be a finite symmetric matrix")
    S = (S + S.T) / 2
    clear = _clear_root(S)
    if clear is not None:
        return Root(clear, True)
    values, vectors = np.linalg.eigh(S)
    room = SMALL * len(S) * max(values[-1], 0.0)
    if values[0] < -max(room, 1e-300):
        raise ValueError(f"{name} must be positive semi-definite, got the eigenvalue {values[0]:g}")
    if values[0] > room:
        return Root(np.asarray(np.linalg.cholesky(S)), True)
    kept = values > room
    return Root(vectors[:, kept] * np.sqrt(values[kept]), False)


def _clear_root(S: Array) -> Array | None:
    """The Cholesky root of a matrix that is far from singular."""
    if S.size == 0 or not (np.diag(S) > 0).all():
        return None
    try:
        L = np.asarray(np.linalg.cholesky(S))
    except np.linalg.LinAlgError:
        return None
    reciprocal, _ = dpocon(L, np.abs(S).sum(axis=0).max(), uplo="L")
    return L if reciprocal > CLEAR else None


def _size(S: Array) -> float:
    return float(np.abs(S).max(initial=0.0))


def noise_matrix(noise: ArrayLike | None, n: int) -> Array:
    """R (n, n) of a number, n variances or a matrix."""
    R = np.asarray(noise, dtype=np.float64)
    if R.ndim < 2:
        if R.shape not in ((), (n,)) or not (R >= 0).all():
            raise ValueError(f"noise_cov must be >= 0: a number, {n} of them or a matrix")
        return np.diag(np.broadcast_to(R, (n,)))
    if R.shape != (n, n):
        raise ValueError(f"noise_cov must have shape ({n}, {n}), got {R.shape}")
    return R


def whitener(noise: ArrayLike | None, n: int) -> tuple[Any, float] | None:
    """v -> R^-1/2 v and log|R|; None where R is singular."""
    R = np.asarray(noise, dtype=np.float64)
    if R.ndim < 2:
        if R.shape not in ((), (n,)):
            raise ValueError(f"noise_cov must be a number, {n} of them or a matrix, got {R.shape}")
        if not (np.isfinite(R) & (R > 0)).all():
            return None
        scale = np.sqrt(R)
        log_det = float(n * np.log(R)) if R.ndim == 0 else float(np.log(R).sum())
        return (
            lambda v: v / (scale if v.ndim == 1 or scale.ndim == 0 else scale[:, None])
        ), log_det
    L, triangular = psd_root(noise_matrix(R, n), "noise_cov")
    if not triangular:
        return None
    log_det = 2 * float(np.log(np.diag(L)).sum())
    return (lambda v: solve_triangular(L, v, lower=True)), log_det


class Products(NamedTuple):
    """A'R^-1 A, A'R^-1 gap, gap'R^-1 gap and log|R|."""

    inner: Array
    cross: Array
    square: float
    log_det: float


def weighed_products(A: Array, gap: Array, noise: ArrayLike | None) -> Products | None:
    """What the normal equations need, in one read of A; None where R is singular."""
    n, p = A.shape
    R = np.asarray(noise, dtype=np.float64)
    narrow = R.ndim < 2 and R.shape in ((), (n,)) and p <= WIDEST
    if narrow and (np.isfinite(R) & (R > 0)).all():
        G = cross_products(A, gap, 1 / R)
        log_det = float(n * np.log(R)) if R.ndim == 0 else float(np.log(R).sum())
        return Products(G[:p, :p], G[:p, p], float(G[p, p]), log_det)
    white = whitener(noise, n)
    if white is None:
        return None
    B, v = white[0](A), white[0](gap)
    return Products(B.T @ B, B.T @ v, float(v @ v), white[1])


def observe_normal(
    mean: Array, L: Array, A: Array, gap: Array, noise: ArrayLike | None, evidence: bool = True
) -> Observed:
    """x = mean + L z given A x + e = A mean + gap; by the smaller of the two systems.

    Without ``evidence`` the residuals are not looked at, and log p(y) is NaN.
    """
    n, r = len(gap), L.shape[1]
    seen = weighed_products(A, gap, noise) if n >= r else None
    if seen is None:
        _refuse_infinite(A, gap)
        return _by_gain(mean, L, A, gap, noise_matrix(noise, n))
    if not np.isfinite(seen.square) or not np.isfinite(seen.inner).all():
        _refuse_infinite(A, gap)
        raise ValueError("A or y holds numbers whose squares overflow: rescale them")
    M = L.T @ seen.inner @ L  # W'W: the long product has the least columns
    C = np.linalg.cholesky(np.eye(r) + (M + M.T) / 2)
    u = cho_solve((C, True), L.T @ seen.cross)
    root = solve_triangular(C, L.T, lower=True).T
    if not evidence:
        return Observed(mean + L @ u, root, np.nan)
    white = whitener(noise, n)
    assert white is not None
    left = white[0](gap - A @ (L @ u))
    log_g = 2 * float(np.log(np.diag(C)).sum())
    value = n * LOG_2PI + seen.log_det + log_g + float(left @ left) + float(u @ u)
    return Observed(mean + L @ u, root, -0.5 * value)


def _refuse_infinite(A: Array, gap: Array) -> None:
    if not np.isfinite(A).all():
        raise ValueError("A must be finite, got NaN or infinity")
    if not np.isfinite(gap).all():
        raise ValueError(f"y must be {len(gap)} finite numbers, one for each row of A")


def _by_gain(mean: Array, L: Array, A: Array, gap: Array, R: Array) -> Observed:
    """The gain form; z | y ~ N(B'T^-1 gap, I - B'T^-1 B) with B = A L, T = B B' + R."""
    B = A @ L
    T, _ = psd_root(B @ B.T + R, "the covariance of the observation")
    v, off = _solve_root(T, gap)
    if off > OFF * max(float(np.abs(gap).max(initial=0.0)), 1e-300):
        raise ValueError("the observed values are impossible: they lie off the support")
    P = np.linalg.lstsq(T, B, rcond=None)[0]  # (rank, r), T P = B
    left = psd_root(np.eye(L.shape[1]) - P.T @ P + 0.0, "the posterior").L
    log_det = float(np.linalg.slogdet(T.T @ T)[1]) if T.shape[1] else 0.0
    value = -0.5 * (T.shape[1] * LOG_2PI + log_det + float(v @ v))
    return Observed(mean + L @ (P.T @ v), L @ left, value)


def _solve_root(T: Array, gap: Array) -> tuple[Array, float]:
    """v with T v = gap and how far the gap is from the range of T."""
    v = np.asarray(np.linalg.lstsq(T, gap, rcond=None)[0], dtype=np.float64)
    return v, float(np.abs(T @ v - gap).max(initial=0.0))


def forward(L: Array, gap: Array) -> Array:
    """L^-1 gap; few rows and many columns by hand, a row at a time.

    >>> forward(np.array([[2.0, 0.0], [1.0, 1.0]]), np.array([[2.0], [3.0]]))
    array([[1.],
           [2.]])
    """
    if len(L) > NARROW:
        return solve_triangular(L, gap, lower=True, check_finite=False)
    z = np.array(gap, order="C")
    for i in range(len(L)):
        z[i] -= L[i, :i] @ z[:i]
        z[i] /= L[i, i]
    return z


@readable
@dataclass(frozen=True, eq=False)
class MultivariateNormal(Multivariate):
    """The normal distribution of a vector, ``mean`` (d,) and positive semi-definite ``cov`` (d, d).

    >>> from pellucid.inference import MultivariateNormal
    >>> law = MultivariateNormal([0.0, 1.0], [[4.0, 0.0], [0.0, 1.0]])
    >>> round(float(law.log_density([0.0, 1.0])), 4), law.marginal(0)
    (-2.531, Normal(mean=0.0, std=2.0))
    """

    mean: Any
    cov: Any

    def __post_init__(self) -> None:
        mean = np.array(self.mean, dtype=np.float64, ndmin=1)
        cov = np.array(self.cov, dtype=np.float64, ndmin=2)
        if mean.ndim != 1 or cov.shape != (len(mean), len(mean)):
            raise ValueError(f"cov must have shape ({len(mean)}, {len(mean)}), got {cov.shape}")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "cov", cov)
        self._factor  # noqa: B018  refuses a matrix that is no covariance

    @cached_property
    def _factor(self) -> Root:
        return psd_root(self.cov, "cov")

    @property
    def rank(self) -> int:
        """The dimension of the support."""
        return self._factor.L.shape[1]

    @property
    def mode(self) -> Array:
        return self.mean

    @property
    def entropy(self) -> float:
        return 0.5 * (self.rank * (LOG_2PI + 1) + self._log_det())

    def _log_det(self) -> float:
        L, triangular = self._factor
        if triangular:
            return 2 * float(np.log(np.diag(L)).sum())
        return float(np.log((L * L).sum(axis=0)).sum())  # orthogonal columns

    def _white(self, X: Array) -> tuple[Array, BoolArray]:
        """z (r, n) with L z = x - m, and whether each row is on the support."""
        L, triangular = self._factor
        gap = X.T - self.mean[:, None]
        if triangular:
            return forward(L, gap), np.ones(len(X), bool)
        z = (L / (L * L).sum(axis=0)).T @ gap
        scale = np.maximum(max(np.sqrt(_size(self.cov)), 1e-300), np.abs(gap).max(axis=0))
        return z, np.abs(L @ z - gap).max(axis=0) <= OFF * scale

    def _log_rows(self, X: Array) -> Array:
        if not self._factor.triangular:
            rank = f"cov has rank {self.rank} of {len(self.mean)}"
            warn(f"{rank}: the density is the one on its support, and zero elsewhere")
        out = np.empty(len(X))
        for start in range(0, len(X), ROWS):  # blocks stay in the cache
            rows = X[start : start + ROWS]
            z, on = self._white(rows)
            values = -0.5 * (self.rank * LOG_2PI + self._log_det() + np.einsum("ij,ij->j", z, z))
            # a row with infinity in it has density 0; rounding may have made it NaN
            out[start : start + ROWS] = np.where(on & np.isfinite(values), values, -np.inf)
        return out

    def mahalanobis(self, x: ArrayLike) -> Any:
        """sqrt((x - m)' S^-1 (x - m)) of one vector or of each row; infinite off the support."""
        x = np.asarray(x, dtype=np.float64)
        z, on = self._white(x.reshape(-1, len(self.mean)))
        values = np.where(on, np.sqrt((z * z).sum(axis=0)), np.inf)
        return float(values[0]) if x.ndim == 1 else values.reshape(x.shape[:-1])

    def ellipsoid(self, probability: float = 0.95) -> Ellipse:
        """The smallest region of this probability."""
        check.fraction(probability=probability)
        values, vectors = np.linalg.eigh(self.cov)
        values, vectors = values[::-1][: self.rank], vectors[:, ::-1][:, : self.rank]
        radius = np.sqrt(2 * gammaincinv(self.rank / 2, probability))
        return Ellipse(self.mean, vectors, radius * np.sqrt(values), probability)

    def _draw(self, n: int, rng: Rng) -> Array:
        L = self._factor.L
        return self.mean + rng.standard_normal((n, L.shape[1])) @ L.T

    def marginal(self, index: ArrayLike) -> Any:
        """The distribution of one coordinate (Normal) or of several."""
        if np.ndim(index) == 0:
            return Normal(float(self.mean[index]), float(np.sqrt(self.cov[index, index])))
        index = np.asarray(index)
        return MultivariateNormal(self.mean[index], self.cov[np.ix_(index, index)])

    def condition(self, index: int | Sequence[int], values: ArrayLike) -> "MultivariateNormal":
        """The distribution of the other coordinates given the values of these."""
        chosen = np.atleast_1d(np.asarray(index, dtype=np.intp)) % len(self.mean)
        if len(set(chosen.tolist())) != len(chosen) or len(chosen) >= len(self.mean):
            raise ValueError(f"index must name some coordinates once, not all, got {index!r}")
        rest = np.setdiff1d(np.arange(len(self.mean)), chosen)
        gap = np.atleast_1d(np.asarray(values, dtype=np.float64)) - self.mean[chosen]
        if gap.shape != chosen.shape:
            raise ValueError(f"values must be {len(chosen)} numbers, got shape {gap.shape}")
        S = self.cov
        T, _ = psd_root(S[np.ix_(chosen, chosen)], "cov")
        v, off = _solve_root(T, gap)
        if off > OFF * max(np.sqrt(_size(S)), float(np.abs(gap).max())):
            raise ValueError("the values are impossible: they lie off the support")
        P = np.linalg.lstsq(T, S[np.ix_(chosen, rest)], rcond=None)[0]
        left = S[np.ix_(rest, rest)] - P.T @ P
        return MultivariateNormal(self.mean[rest] + P.T @ v, _nearest_psd(left, _size(S)))

    def affine(
        self, A: ArrayLike, b: ArrayLike = 0.0, noise_cov: ArrayLike | None = 0.0
    ) -> "MultivariateNormal":
        """The distribution of A x + b + e with e ~ N(0, noise_cov)."""
        A = self._rows(A)
        B = A @ self._factor.L
        centre = A @ self.mean + np.broadcast_to(np.asarray(b, dtype=np.float64), (len(A),))
        return MultivariateNormal(centre, B @ B.T + noise_matrix(noise_cov, len(A)))

    def observe(
        self,
        y: ArrayLike,
        A: ArrayLike | None,
        b: ArrayLike | None = 0.0,
        noise_cov: ArrayLike = 0.0,
    ) -> "MultivariateNormal":
        """The distribution of x given y = A x + b + e with e ~ N(0, noise_cov)."""
        found = self._observed(y, A, b, noise_cov, evidence=False)
        return MultivariateNormal(found.mean, found.root @ found.root.T)

    def _observed(
        self, y: ArrayLike, A: Any, b: Any, noise_cov: Any, evidence: bool = True
    ) -> Observed:
        A = self._columns(A)
        centre = A @ self.mean + b if self.mean.any() else b
        gap = np.atleast_1d(np.asarray(y, dtype=np.float64)) - centre
        if gap.shape != (len(A),):
            raise ValueError(f"y must be {len(A)} finite numbers, one for each row of A")
        return observe_normal(self.mean, self._factor.L, A, gap, noise_cov, evidence)

    def _columns(self, A: ArrayLike) -> Array:
        A = np.atleast_2d(np.asarray(A, dtype=np.float64))
        if A.ndim != 2 or A.shape[1] != len(self.mean):
            raise ValueError(f"A must be finite with {len(self.mean)} columns, got {A.shape}")
        return A

    def _rows(self, A: ArrayLike) -> Array:
        A = self._columns(A)
        if not np.isfinite(A).all():
            raise ValueError("A must be finite, got NaN or infinity")
        return A

    def product(self, other: "MultivariateNormal") -> ScaledDensity:
        """This density times another one: again normal, up to a factor."""
        found = self._observed(other.mean, np.eye(len(self.mean)), 0.0, other.cov)
        law = MultivariateNormal(found.mean, found.root @ found.root.T)
        return ScaledDensity(law, float(np.exp(found.log_evidence)))

    def expect_quadratic(self, A: ArrayLike) -> float:
        """E x'A x = tr(A S) + m'A m."""
        A = np.asarray(A, dtype=np.float64)
        return float(np.trace(A @ self.cov) + self.mean @ A @ self.mean)


def _nearest_psd(S: Array, size: float) -> Array:
    """S without what rounding left below zero: exactly 0 where it is only rounding."""
    values, vectors = np.linalg.eigh((S + S.T) / 2)
    kept = np.where(values > SMALL * len(S) * size, values, 0.0)
    return (vectors * kept) @ vectors.T

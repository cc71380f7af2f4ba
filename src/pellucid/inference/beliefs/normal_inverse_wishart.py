r"""A belief about the mean and the covariance of normal vectors.

    Sigma ~ InverseWishart(v, S),   mu | Sigma ~ N(m, Sigma / k),   rows x_i ~ N(mu, Sigma)
    k' = k + n,   v' = v + n,   m' = (k m + n xbar)/k',
    S' = S + sum (x_i - xbar)(x_i - xbar)' + k n/k' (xbar - m)(xbar - m)'
    next x ~ t_u(m', S' (k'+1)/(k' u)),   u = v' - d + 1
    log p(data) = -n d/2 log pi + log G_d(v'/2) - log G_d(v/2)
                  + v/2 log|S| - v'/2 log|S'| + d/2 log(k/k')

G_d is the multivariate gamma function. For d = 1 this is NormalInverseGamma(m, k, v/2, S/2). Draws
by Bartlett: with S = L L' and A lower triangular, A_ii^2 ~ chi^2_(v-i), A_ij ~ N(0, 1),
Sigma = K K' with K = L A^-T.    O(d^3) a draw

Reference: Gelman et al., Bayesian Data Analysis, section 3.6; Murphy (2007).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, multigammaln

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng
from pellucid.core.readable import readable
from pellucid.inference.beliefs.belief import Belief, interval_of
from pellucid.inference.beliefs.linear_gaussian import rows_like
from pellucid.inference.distributions.continuous import InverseGamma
from pellucid.inference.distributions.distribution import Multivariate
from pellucid.inference.distributions.location_scale import StudentT
from pellucid.inference.distributions.multivariate_normal import forward
from pellucid.inference.distributions.normal import LOG_2PI, lower_root

LOG_PI = float(np.log(np.pi))


def half_log_det(L: Array) -> float:
    """log|S| / 2 of S = L L'."""
    return float(np.log(np.diag(L)).sum())


@readable
@dataclass(frozen=True, eq=False)
class MultivariateStudentT(Multivariate):
    """The t distribution of a vector.

    ``df`` > 0 degrees of freedom, mean ``center`` (d,) where df > 1, positive definite ``scale``
    (d, d); the covariance is scale df/(df - 2).

    >>> from pellucid.inference import MultivariateStudentT
    >>> law = MultivariateStudentT(4.0, [0.0, 1.0], [[1.0, 0.0], [0.0, 4.0]])
    >>> law.cov.diagonal(), law.marginal(1)
    (array([2., 8.]), StudentT(df=4.0, mean=1.0, scale=2.0))
    """

    df: float
    center: Any
    scale: Any

    def __post_init__(self) -> None:
        check.positive(df=self.df)
        center = np.array(self.center, dtype=np.float64, ndmin=1)
        scale = np.array(self.scale, dtype=np.float64, ndmin=2)
        if scale.shape != (len(center), len(center)):
            raise ValueError(f"scale must have shape ({len(center)}, {len(center)})")
        object.__setattr__(self, "center", center)
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "_root", lower_root(scale, "scale"))

    @property
    def mean(self) -> Array:
        """NaN for df <= 1."""
        return self.center if self.df > 1 else np.full(len(self.center), np.nan)

    @property
    def mode(self) -> Array:
        return self.center

    @property
    def cov(self) -> Array:
        """Infinite for 1 < df <= 2, NaN for df <= 1."""
        if self.df > 2:
            return self.scale * (self.df / (self.df - 2))
        return np.full_like(self.scale, np.inf if self.df > 1 else np.nan)

    def _log_rows(self, X: Array) -> Array:
        L, v, d = self._root, self.df, len(self.center)  # type: ignore[attr-defined]
        z = forward(L, X.T - self.center[:, None])
        constant = gammaln((v + d) / 2) - gammaln(v / 2) - d / 2 * (LOG_PI + np.log(v))
        tail = -(v + d) / 2 * np.log1p((z * z).sum(axis=0) / v)
        return np.where(np.isfinite(tail), constant - half_log_det(L) + tail, -np.inf)

    def _draw(self, n: int, rng: Rng) -> Array:
        z = rng.standard_normal((n, len(self.center))) @ self._root.T  # type: ignore[attr-defined]
        return self.center + z / np.sqrt(rng.chisquare(self.df, n) / self.df)[:, None]

    def marginal(self, index: int) -> StudentT:
        """The distribution of one coordinate."""
        spread = float(np.sqrt(self.scale[index, index]))
        return StudentT(self.df, float(self.center[index]), spread)


@dataclass(frozen=True, eq=False)
class MeanAndCovariance(Multivariate):
    """The distribution of (mu, Sigma) as one vector: mu, then the lower triangle row by row.

    >>> law = MeanAndCovariance(np.zeros(2), 1.0, 6.0, np.eye(2))
    >>> law.mean.round(3), law.marginal(2)
    (array([0.   , 0.   , 0.333, 0.   , 0.333]), InverseGamma(shape=2.5, scale=0.5))
    """

    center: Any
    kappa: float
    df: float
    scale: Any

    def _vector(self, cov: Array) -> Array:
        """mu and the lower triangle of a matrix."""
        return np.append(self.center, cov[np.tril_indices(len(self.center))])

    @property
    def mean(self) -> Array:
        """The part of Sigma is infinite for df <= d + 1."""
        d = len(self.center)
        if self.df <= d + 1:
            return self._vector(np.full((d, d), np.inf))
        return self._vector(self.scale / (self.df - d - 1))

    @property
    def mode(self) -> Array:
        return self._vector(self.scale / (self.df + len(self.center) + 2))

    @property
    def variance(self) -> Array:
        """Variance of every coordinate; infinite for Sigma where df <= d + 3."""
        d, s = len(self.center), np.diag(self.scale)
        u = self.df - d
        both = np.full((d, d), np.inf)
        if u > 3:
            both = (u + 1) * self.scale**2 + (u - 1) * np.outer(s, s)
            both = both / (u * (u - 1) ** 2 * (u - 3))
        return np.append(np.diag(self.mean_law.cov), both[np.tril_indices(d)])

    @property
    def cov(self) -> Array:
        raise ValueError("ask variance: the covariance of a covariance matrix is not given here")

    @property
    def mean_law(self) -> MultivariateStudentT:
        """The distribution of mu."""
        u = self.df - len(self.center) + 1
        return MultivariateStudentT(u, self.center, self.scale / (self.kappa * u))

    def marginal(self, index: int) -> StudentT | InverseGamma:
        """The law of a coordinate of mu (t) or a variance (inverse gamma), not of a covariance."""
        d = len(self.center)
        rows, columns = np.tril_indices(d)
        index = int(index) % (d + len(rows))
        if index < d:
            return self.mean_law.marginal(index)
        i, j = rows[index - d], columns[index - d]
        if i != j:
            raise ValueError(f"the covariance ({i}, {j}) has no closed form: sample")
        return InverseGamma((self.df - d + 1) / 2, float(self.scale[i, i]) / 2)

    def split(self, rows: Array) -> tuple[Array, Array]:
        """The means (n, d) and covariances (n, d, d) of vectors, such as ``sample`` gives."""
        d = len(self.center)
        rows = np.atleast_2d(np.asarray(rows, dtype=np.float64))
        cov = np.zeros((len(rows), d, d))
        i, j = np.tril_indices(d)
        cov[:, i, j] = cov[:, j, i] = rows[:, d:]
        return rows[:, :d], cov

    def _log_rows(self, X: Array) -> Array:
        return np.array([self._log_one(m, S) for m, S in zip(*self.split(X), strict=True)])

    def _log_one(self, mu: Array, cov: Array) -> float:
        d, v, k = len(self.center), self.df, self.kappa
        if not np.isfinite(cov).all() or not np.linalg.eigvalsh(cov)[0] > 0:
            return -np.inf
        L, R = lower_root(cov, "cov"), lower_root(self.scale, "scale")
        half = half_log_det(L)
        z, B = forward(L, (mu - self.center)[:, None]), forward(L, R)
        wishart = v * half_log_det(R) - v * d / 2 * np.log(2) - multigammaln(v / 2, d)
        wishart += -(v + d + 1) * half - 0.5 * float((B * B).sum())
        return float(wishart - 0.5 * (d * (LOG_2PI - np.log(k)) + k * (z * z).sum()) - half)

    def _draw(self, n: int, rng: Rng) -> Array:
        d, L = len(self.center), lower_root(self.scale, "scale")
        i, j = np.tril_indices(d, -1)
        A = np.zeros((n, d, d))
        A[:, i, j] = rng.standard_normal((n, len(i)))
        A[:, range(d), range(d)] = np.sqrt(rng.chisquare(self.df - np.arange(d), (n, d)))
        K = np.linalg.solve(A, np.broadcast_to(L.T, (n, d, d))).swapaxes(1, 2)  # L A^-T
        z = rng.standard_normal((n, d, 1))
        mu = self.center + (K @ z)[:, :, 0] / np.sqrt(self.kappa)
        cov = K @ K.swapaxes(1, 2)
        return np.hstack([mu, cov[:, *np.tril_indices(d)]])


@readable
@dataclass(frozen=True, eq=False)
class NormalInverseWishart(Belief):
    """A belief about the mean and the covariance of normal vectors.

    ``mean`` (d,) is worth ``kappa`` > 0 observations and the covariance ``df`` > d - 1 of them;
    None is d + 2, whose mean is ``scale``, positive definite; a number is that multiple of the
    identity.

    >>> from pellucid.inference import NormalInverseWishart
    >>> belief = NormalInverseWishart([0.0, 0.0]).update([[1.0, 2.0], [3.0, 0.0], [2.0, 1.0]])
    >>> belief.mean, belief.kappa, belief.df, belief.predictive().df
    (array([1.5 , 0.75]), 4.0, 7.0, 6.0)
    """

    mean: Any
    kappa: float = 1.0
    df: float | None = None
    scale: Any = 1.0

    def __post_init__(self) -> None:
        mean = np.array(self.mean, dtype=np.float64, ndmin=1)
        d = len(mean)
        scale = np.array(self.scale, dtype=np.float64)
        scale = scale * np.eye(d) if scale.ndim == 0 else np.atleast_2d(scale)
        df = float(d + 2 if self.df is None else self.df)
        check.positive(kappa=self.kappa)
        if mean.ndim != 1 or not np.isfinite(mean).all() or scale.shape != (d, d):
            shapes = f"got shapes {mean.shape} and {scale.shape}"
            need = f"mean must be a finite vector and scale a number or a ({d}, {d}) matrix"
            raise ValueError(f"{need}, {shapes}")
        if not df > d - 1:
            raise ValueError(f"df must be > d - 1 = {d - 1}, got {df:g}")
        lower_root(scale, "scale")
        for name, value in (("mean", mean), ("df", df), ("scale", scale)):
            object.__setattr__(self, name, value)

    @property
    def posterior(self) -> MeanAndCovariance:
        assert self.df is not None
        return MeanAndCovariance(self.mean, self.kappa, self.df, self.scale)

    @property
    def mode(self) -> Array:
        """The joint distribution of mu and the lower triangle of Sigma."""
        return self.posterior.mode

    @property
    def variance(self) -> Array:
        """How uncertain each entry of (mu, lower triangle of Sigma) is."""
        return self.posterior.variance

    def interval(self, confidence: float = 0.95, kind: str = "equal_tailed") -> Array:
        """Intervals of the d means, then of the d variances, one row each."""
        law, d = self.posterior, len(self.mean)
        diagonal = [d + i * (i + 3) // 2 for i in range(d)]
        places = [*range(d), *diagonal]
        return np.array([interval_of(law.marginal(i), confidence, kind) for i in places])

    def update(self, data: ArrayLike, sample_weight: Any = None) -> "NormalInverseWishart":
        """The belief after rows of data."""
        X, w = rows_like(self.mean, data, sample_weight)
        n, df = float(w.sum()), self.df
        assert df is not None
        xbar = w @ X / n
        gap, off = X - xbar, xbar - self.mean
        kappa = self.kappa + n
        scale = self.scale + (gap.T * w) @ gap + self.kappa * n / kappa * np.outer(off, off)
        mean = (self.kappa * self.mean + n * xbar) / kappa
        return NormalInverseWishart(mean, kappa, df + n, (scale + scale.T) / 2)

    def predictive(self) -> MultivariateStudentT:
        """The distribution of the next row."""
        assert self.df is not None
        u = self.df - len(self.mean) + 1
        scale = self.scale * ((self.kappa + 1) / (self.kappa * u))
        return MultivariateStudentT(u, self.mean, scale)

    def log_evidence(self, data: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """log p(data)."""
        after, d = self.update(data, sample_weight), len(self.mean)
        assert self.df is not None
        assert after.df is not None
        n = after.kappa - self.kappa
        before, later = (half_log_det(lower_root(b.scale, "scale")) for b in (self, after))
        value = multigammaln(after.df / 2, d) - multigammaln(self.df / 2, d)
        value += self.df * before - after.df * later - n * d / 2 * LOG_PI
        return float(value + d / 2 * np.log(self.kappa / after.kappa))

    def _reading(self) -> str:
        pairs = zip(self.mean, np.sqrt(self.variance[: len(self.mean)]), strict=True)
        means = ", ".join(f"{m:.4g} +/- {s:.3g}" for m, s in pairs)
        return f"means {means}; the covariance is worth {self.df:g} observations."

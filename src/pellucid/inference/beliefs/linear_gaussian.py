r"""A normal belief about a vector, updated by linear observations with normal noise.

    theta ~ N(m0, V0),   y = A theta + b + e,  e ~ N(0, R)
    V = (V0^-1 + A'R^-1 A)^-1,   m = V (V0^-1 m0 + A'R^-1 (y - b))
    next y ~ N(A m + b, A V A' + R)

computed by ``observe_normal``: the smaller of the n- and the p-dimensional system, no inverse.
Linear regression with a vague, isotropic or general prior is this object with A = X.

MultivariateNormalMean: rows x_i ~ N(theta, R) are one observation xbar with noise R/n.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.inference.beliefs.belief import Belief
from pellucid.inference.distributions.multivariate_normal import MultivariateNormal, noise_matrix
from pellucid.inference.distributions.normal import LOG_2PI, lower_root
from pellucid.inference.distributions.samples import Sample, rows_of, weights_of


def rows_like(mean: Array, data: ArrayLike, sample_weight: ArrayLike) -> Sample:
    """Rows of data with as many columns as the mean has entries, and their weights."""
    rows = rows_of(data, sample_weight)
    if rows.x.shape[1] != len(mean):
        raise ValueError(f"data must have {len(mean)} columns, got {rows.x.shape[1]}")
    return rows


class VectorBelief(Belief):
    """theta ~ N(mean, cov)."""

    mean: Any
    cov: Any
    _law: MultivariateNormal

    @property
    def posterior(self) -> MultivariateNormal:
        return self._law

    @property
    def mode(self) -> Array:
        return self.mean

    @property
    def variance(self) -> Array:
        """The variance of every coordinate."""
        return np.diag(self.cov).copy()

    def _stored(self) -> None:
        mean = np.array(self.mean, dtype=np.float64, ndmin=1)
        cov = np.array(self.cov, dtype=np.float64)
        cov = cov * np.eye(len(mean)) if cov.ndim == 0 else np.atleast_2d(cov)
        law = MultivariateNormal(mean, cov)
        object.__setattr__(self, "mean", law.mean)
        object.__setattr__(self, "cov", law.cov)
        object.__setattr__(self, "_law", law)

    def _reading(self) -> str:
        pairs = zip(self.mean, np.sqrt(self.variance), strict=True)
        return ", ".join(f"{m:.4g} +/- {s:.3g}" for m, s in pairs) + "."


@readable
@dataclass(frozen=True, eq=False)
class LinearGaussian(VectorBelief):
    """A normal belief about coefficients.

    ``noise_variance`` of the observations is a number, (n,) or (n, n); a matrix fits batches of
    that size only. ``mean`` (p,) and ``cov`` are the prior of the coefficients; a number stands for
    that multiple of the identity.

    >>> import numpy as np
    >>> from pellucid.inference import LinearGaussian
    >>> hours, scores = np.array([1, 2, 3, 4, 4.5]), np.array([3.0, 5, 7, 9, 10])
    >>> A = np.column_stack([hours, np.ones(5)])
    >>> belief = LinearGaussian(1.0, [0, 0], 1e6 * np.eye(2)).update(A, scores)
    >>> belief.mean.round(4), belief.predictive([3.5, 1.0]).std.round(4)
    (array([2., 1.]), array([1.1153]))
    """

    noise_variance: Any
    mean: Any
    cov: Any

    def __post_init__(self) -> None:
        noise = np.asarray(self.noise_variance, dtype=np.float64)
        if noise.ndim < 2 and not (np.isfinite(noise) & (noise > 0)).all():
            raise ValueError(f"noise_variance must be > 0, got {self.noise_variance!r}")
        self._stored()

    def _noise(self, n: int, sample_weight: ArrayLike | None) -> Any:
        noise = np.asarray(self.noise_variance, dtype=np.float64)
        if sample_weight is None:
            return noise
        if noise.ndim == 2:
            raise ValueError("sample_weight needs independent noise: a number or variances")
        return np.broadcast_to(noise, (n,)) / weights_of(n, sample_weight)

    def _kept(
        self, A: ArrayLike, y: ArrayLike, b: ArrayLike, w: Array | None
    ) -> tuple[Any, Any, Any, Any]:
        """Rows of weight zero are as if they had not been seen."""
        if w is None:
            return A, y, b, None
        A, y, w = np.atleast_2d(A), np.atleast_1d(y), np.asarray(w, dtype=np.float64)
        kept = weights_of(len(y), w) > 0
        return A[kept], y[kept], b if np.ndim(b) == 0 else np.asarray(b)[kept], w[kept]

    def update(
        self,
        A: ArrayLike,
        y: Any,
        b: ArrayLike = 0.0,
        sample_weight: Any = None,
    ) -> "LinearGaussian":
        """The belief after y = A theta + b + noise."""
        A, y, b, w = self._kept(A, y, b, sample_weight)
        found = self.posterior.observe(y, A, b, self._noise(np.size(y), w))
        return LinearGaussian(self.noise_variance, found.mean, found.cov)

    def predictive(self, A: ArrayLike, b: ArrayLike = 0.0) -> MultivariateNormal:
        """The distribution of new observations; a 1-D A is one row."""
        return self.posterior.affine(A, b, self.noise_variance)

    def log_evidence(
        self, A: ArrayLike, y: Any, b: ArrayLike = 0.0, sample_weight: Any = None
    ) -> float:
        """log p(y | A)."""
        A, y, b, w = self._kept(A, y, b, sample_weight)
        noise = self._noise(np.size(y), w)
        value = self.posterior._observed(y, A, b, noise).log_evidence
        if w is None:
            return value
        # w repetitions are one value of variance s^2/w, times what they lose by agreeing
        base = np.broadcast_to(np.asarray(self.noise_variance, dtype=np.float64), w.shape)
        return value - float(0.5 * ((w - 1) @ (LOG_2PI + np.log(base)) + np.log(w).sum()))


@readable
@dataclass(frozen=True, eq=False)
class MultivariateNormalMean(VectorBelief):
    """A normal belief about the mean of normal vectors of known covariance.

    ``noise_cov`` of the data is a number or positive definite (d, d); ``mean`` (d,) and ``cov``, a
    number or (d, d), are of the belief.

    >>> from pellucid.inference import MultivariateNormalMean
    >>> belief = MultivariateNormalMean(1.0, [0.0, 0.0], 1.0).update([[2.0, 4.0], [4.0, 2.0]])
    >>> belief.mean, belief.variance.round(4)
    (array([2., 2.]), array([0.3333, 0.3333]))
    """

    noise_cov: Any
    mean: Any
    cov: Any

    def __post_init__(self) -> None:
        self._stored()
        R = noise_matrix(self.noise_cov, len(self.mean))
        lower_root(R, "noise_cov")
        object.__setattr__(self, "noise_cov", R)

    def update(self, data: ArrayLike, sample_weight: Any = None) -> "MultivariateNormalMean":
        """The belief after rows of data."""
        X, w = rows_like(self.mean, data, sample_weight)
        n = w.sum()
        found = self.posterior.observe(w @ X / n, np.eye(len(self.mean)), 0.0, self.noise_cov / n)
        return MultivariateNormalMean(self.noise_cov, found.mean, found.cov)

    def predictive(self) -> MultivariateNormal:
        """The distribution of the next row."""
        return MultivariateNormal(self.mean, self.cov + self.noise_cov)

    def log_evidence(self, data: ArrayLike, sample_weight: Any = None) -> float:
        """log p(data)."""
        X, w = rows_like(self.mean, data, sample_weight)
        n, d = w.sum(), len(self.mean)
        xbar = w @ X / n
        value = self.posterior._observed(xbar, np.eye(d), 0.0, self.noise_cov / n).log_evidence
        L = lower_root(self.noise_cov, "noise_cov")
        z = np.linalg.solve(L, (X - xbar).T)
        log_det = 2 * float(np.log(np.diag(L)).sum())
        inner = (n - 1) * (d * LOG_2PI + log_det) + d * np.log(n) + float(w @ (z * z).sum(axis=0))
        return float(value - 0.5 * inner)

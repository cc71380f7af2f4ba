r"""Bayesian linear regression with a normal prior.

Model        y = D theta + e,  e ~ N(0, s^2 I),  theta = (b, w) ~ N(m, V),  D = [1 X]
Posterior    V_n = (V^-1 + D'D/s^2)^-1,  m_n = V_n (V^-1 m + D'y/s^2);  an infinite variance is a
             flat prior, a zero one a parameter that is known
Prediction   y | x ~ N(x'm_n, s^2 + x'V_n x)
Evidence     p(y) = int p(y | theta) p(theta) dtheta. With the flat parameters projected out of the
             others, D V^(1/2) = U diag(d) Q' and beta = U'(y - D m), it is a product over directions

             -2 ln p(y) = n' ln(2 pi s^2) + sum ln(1 + t d_j^2/s^2)
                          + (rest + sum beta_j^2 / (1 + t d_j^2/s^2)) / s^2 + ln det F'F

             with F the k flat columns and n' = n - k

             "evidence" takes V = t I (intercept flat) and maximises over t, s^2, or both (s^2 then
             in closed form given s^2/t). The curve may have several hills: the whole range of its
             logarithm is scanned, then the highest hill is climbed.
Unknown s^2  noise_variance = InverseGamma(a, b), theta | s^2 ~ N(m, s^2 V): the posterior is normal
             inverse-gamma, a_n = a + n'/2, b_n = b + (rest + sum beta_j^2/(1 + t d_j^2))/2, and
             predictions are Student-t with 2 a_n degrees of freedom
Algorithm    the triangle R of [D y] is all that is kept; batches merge by the R of two triangles,
             so any order of any batches gives the same answer.     O(n p^2 + p^3)

References: Bishop, Pattern Recognition and Machine Learning, sections 3.3 to 3.5; MacKay (1992);
Gelman et al., Bayesian Data Analysis, ch. 14.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, ndtri, stdtrit
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_weights, with_callbacks
from pellucid.core import check
from pellucid.core.iterate import FitContext
from pellucid.core.leastsquares import Compact
from pellucid.core.linalg import EPS, triangle
from pellucid.core.random import generator
from pellucid.core.records import Card, Summary
from pellucid.core.statistics import Rows, Source
from pellucid.core.threads import map_threads, single_threaded_blas
from pellucid.core.typing import Array, ArrayLike, BoolArray, Map
from pellucid.linear.base import LinearModel

EVIDENCE = "evidence"
GRID = 0.2  # step of the scan in log variance: a hill of the evidence is wider than this
DEEP = 30.0  # how far below the smallest direction the scan goes, in log variance


@dataclass(frozen=True)
class InverseGamma:
    """The prior of an unknown noise variance: density proportional to s^(-2a - 2) exp(-b/s^2).

    Parameters
    ----------
    a, b : float
        Shape and scale, both > 0; it weighs as much as 2a observations with mean square b/a.

    Examples
    --------
    >>> from pellucid.linear import BayesianLinearRegression, InverseGamma
    >>> model = BayesianLinearRegression(prior_covariance=100.0, noise_variance=InverseGamma(1, 1))
    >>> model.fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]).noise_posterior_
    InverseGamma(a=2.5, b=1.0980...)
    """

    a: float
    b: float

    def __post_init__(self) -> None:
        check.positive(a=self.a, b=self.b)


class Prior(NamedTuple):
    """theta = mean + L z with z_j ~ N(0, 1), or z_j flat."""

    mean: Array  # (q,)
    L: Array  # (q, q)
    flat: BoolArray  # (q,) of z


class Directions(NamedTuple):
    """The data seen through the prior, flat parameters projected out."""

    d: Array  # (r,)
    beta: Array  # (r,)
    rest: float  # squares that no direction explains
    n: float  # observations less flat parameters
    log_flat: float  # ln det F'F of the columns of the flat parameters


class Posterior(NamedTuple):
    """theta ~ N(mean, s^2 T T')."""

    mean: Array  # (q,)
    root: Array  # (q, q) T


def stacked(compact: Compact, *, intercept: bool) -> Array:
    """Rows Z with Z'Z = [D y]'[D y]."""
    rest = np.sqrt(np.maximum(np.diag(compact.rest), 0.0))
    width = compact.A.shape[1]
    tail = np.concatenate([np.zeros((1, width)), rest[:, None]], axis=1)
    Z = np.vstack([np.hstack([compact.A, compact.c]), tail])
    if not intercept:
        return Z
    top = np.sqrt(compact.weight) * np.concatenate([[1.0], compact.mean, compact.y_mean])
    return np.vstack([top, np.hstack([np.zeros((len(Z), 1)), Z])])


def see(Z: Array, prior: Prior, n: float) -> Directions:
    """Project the flat parameters out and decompose the rest; a flat prior needs full rank."""
    A, c = Z[:, :-1], Z[:, -1] - Z[:, :-1] @ prior.mean
    B = A @ prior.L
    F, k = B[:, prior.flat], int(prior.flat.sum())
    log_flat = 0.0
    if k:
        norms = np.linalg.norm(F, axis=0)
        Q, R = np.linalg.qr(F / np.where(norms > 0, norms, 1.0))
        size = np.linalg.svd(R, compute_uv=False)
        if len(F) < k or not norms.all() or size[-1] <= 10 * max(F.shape) * EPS * size[0]:
            raise ValueError(
                "a flat prior (infinite variance) needs columns of full rank, but the rows do not "
                "determine all flat parameters; give them a finite prior variance"
            )
        log_flat = 2 * float(np.log(np.abs(np.diag(R)) * norms).sum())
        B, c = B - Q @ (Q.T @ B), c - Q @ (Q.T @ c)
    U, d, _ = np.linalg.svd(B[:, ~prior.flat], full_matrices=False)
    d = np.where(d > max(B.shape) * EPS * d.max(initial=0.0), d, 0.0)
    beta = U[:, d > 0].T @ c
    rest = max(float(c @ c - beta @ beta), 0.0)
    if rest <= 1e-8 * (c @ c):  # the subtraction has lost digits
        rest = float(((c - U[:, d > 0] @ beta) ** 2).sum())
    return Directions(d[d > 0], beta, rest, n - k, log_flat)


def log_evidence(data: Directions, t: Any, s2: Any) -> Any:
    """ln p(y) for V = t L L' and noise s2 (arrays broadcast)."""
    t, s2 = np.asarray(t, dtype=np.float64), np.asarray(s2, dtype=np.float64)
    odds = np.multiply.outer(t / s2, data.d**2)
    squares = data.rest + (data.beta**2 / (1 + odds)).sum(axis=-1)
    return -0.5 * (
        data.n * np.log(2 * np.pi * s2) + np.log1p(odds).sum(axis=-1) + squares / s2 + data.log_flat
    )


def climb(value: Callable[[Any], Any], low: float, high: float) -> tuple[float, bool]:
    """argmax over [low, high] of a curve with hills wider than GRID; True if it is at ``low``."""
    grid = np.linspace(low, high, max(3, int((high - low) / GRID)) + 1)
    values = value(grid)
    j = int(np.argmax(values))
    around = grid[max(0, j - 1)], grid[min(len(grid) - 1, j + 1)]
    found = minimize_scalar(
        lambda at: -float(value(np.array([at]))[0]),
        bounds=around, method="bounded", options={"xatol": 1e-10},
    )  # fmt: skip
    best = float(found.x) if -found.fun >= values[j] else float(grid[j])
    return best, j == 0


class Variances(NamedTuple):
    """Prior variance t, noise s2, ln p(y); ``edge`` where the evidence has no maximum."""

    t: float
    s2: float
    log_evidence: float
    edge: bool


def choose_both(data: Directions) -> Variances:
    """Maximise over t and s2: for lam = s2/t, s2 = (rest + sum beta^2 lam/(d^2 + lam)) / n'."""

    def noise(log_lam: Any) -> Any:
        lam = np.exp(log_lam)
        share = lam[..., None] / (data.d**2 + lam[..., None])
        return (data.rest + (data.beta**2 * share).sum(axis=-1)) / data.n

    def value(log_lam: Any) -> Any:
        s2 = noise(log_lam)
        return log_evidence_by_pairs(data, s2 / np.exp(log_lam), s2)

    squares = 2 * np.log(data.d)
    at, edge = climb(value, squares.min() - DEEP, squares.max() + DEEP)
    s2 = float(noise(np.array([at]))[0])
    none = (data.rest + data.beta @ data.beta) / data.n  # t = 0: the inputs say nothing
    top, bottom = float(value(np.array([at]))[0]), float(log_evidence(data, 0.0, none))
    if bottom >= top - 1e-9:
        return Variances(0.0, none, bottom, False)
    return Variances(s2 / np.exp(at), s2, top, edge)


def log_evidence_by_pairs(data: Directions, t: Array, s2: Array) -> Array:
    """``log_evidence`` of t[i] with s2[i]."""
    return np.array([float(log_evidence(data, a, b)) for a, b in zip(t, s2, strict=True)])


def choose_prior(data: Directions, s2: float) -> Variances:
    """Maximise over t with s2 known."""
    low = np.log(s2) - 2 * np.log(data.d.max()) - DEEP
    high = np.log(max(s2, float((data.beta**2).max()))) - 2 * np.log(data.d.min()) + 5
    at, _ = climb(lambda log_t: log_evidence(data, np.exp(log_t), s2), low, high)
    t = float(np.exp(at))
    top, bottom = float(log_evidence(data, t, s2)), float(log_evidence(data, 0.0, s2))
    return (
        Variances(t, s2, top, False) if top > bottom + 1e-9 else Variances(0.0, s2, bottom, False)
    )


def choose_noise(data: Directions, t: float) -> Variances:
    """Maximise over s2 with the prior known."""
    total = data.rest + float(data.beta @ data.beta)
    high = np.log(total) + 1
    at, edge = climb(lambda log_s2: log_evidence_by_pairs(
        data, np.full(len(log_s2), t), np.exp(log_s2)), high - 60, high)  # fmt: skip
    s2 = float(np.exp(at))
    return Variances(t, s2, float(log_evidence(data, t, s2)), edge)


def log_evidence_gamma(data: Directions, t: Any, noise: InverseGamma) -> Any:
    """ln p(y) with s^2 ~ InverseGamma and theta | s^2 ~ N(m, s^2 t L L')."""
    after = updated(data, t, noise)
    odds = np.multiply.outer(np.asarray(t, dtype=np.float64), data.d**2)
    return (
        -0.5 * (data.n * np.log(2 * np.pi) + data.log_flat + np.log1p(odds).sum(axis=-1))
        + noise.a * np.log(noise.b) - gammaln(noise.a)
        + gammaln(after[0]) - after[0] * np.log(after[1])
    )  # fmt: skip


def updated(data: Directions, t: Any, noise: InverseGamma) -> tuple[float, Any]:
    """(a_n, b_n) of the posterior of s^2."""
    odds = np.multiply.outer(np.asarray(t, dtype=np.float64), data.d**2)
    squares = data.rest + (data.beta**2 / (1 + odds)).sum(axis=-1)
    return noise.a + data.n / 2, noise.b + squares / 2


def choose_prior_gamma(data: Directions, noise: InverseGamma) -> float:
    """Maximise over t with s^2 integrated out."""
    squares = 2 * np.log(data.d)
    at, _ = climb(lambda log_t: log_evidence_gamma(data, np.exp(log_t), noise),
                  -squares.max() - DEEP, -squares.min() + DEEP)  # fmt: skip
    t = float(np.exp(at))
    better = log_evidence_gamma(data, t, noise) > log_evidence_gamma(data, 0.0, noise) + 1e-9
    return t if better else 0.0


def posterior(Z: Array, prior: Prior, scale: float, noise: float) -> Posterior:
    """argmin |y - D theta|^2 + noise z'z with theta = m + sqrt(scale) L z, and its root, by QR."""
    A, c = Z[:, :-1], Z[:, -1] - Z[:, :-1] @ prior.mean
    q = A.shape[1]
    L = np.where(prior.flat, prior.L, np.sqrt(scale) * prior.L)
    penalty = np.diag(np.where(prior.flat, 0.0, np.sqrt(noise)))
    B = np.vstack([A @ L, penalty])
    norms = np.linalg.norm(B, axis=0)
    R = triangle(np.hstack([B / norms, np.append(c, np.zeros(q))[:, None]]))
    T = (L / norms) @ solve_triangular(R[:q, :q], np.eye(q))
    return Posterior(prior.mean + T @ R[:q, q], T)


class BayesianLinearRegression(LinearModel):
    """Linear regression with a normal prior: posterior, predictive distribution, evidence.

    Parameters
    ----------
    prior_mean : float or array of shape (q,), default=0.0
        Of all parameters, the intercept first; q = p + 1 with an intercept.
    prior_covariance : "evidence", float, array (q,) or (q, q), default="evidence"
        One variance for all parameters, one for each (``inf`` is flat), or a matrix. "evidence":
        one variance for all slopes that maximises the marginal likelihood, the intercept flat.
    noise_variance : "evidence", float or InverseGamma, default="evidence"
        Known, estimated, or unknown with a prior; with InverseGamma the prior covariance counts in
        units of the noise variance, and predictions are Student-t.
    fit_intercept : bool, default=True

    Attributes
    ----------
    mean_, covariance_, precision_ : posterior of all parameters, the intercept first
    coef_, intercept_ : the same mean in scikit-learn's words
    noise_variance_ : in use; its posterior mean with InverseGamma
    noise_posterior_ : InverseGamma(a_n, b_n), or None
    prior_variance_ : the variance of the slopes found by "evidence", or None
    log_evidence_ : ln p(y); a flat parameter has density 1

    Examples
    --------
    >>> from pellucid import BayesianLinearRegression
    >>> X, y = [[1.0], [2.0], [3.0], [4.0], [4.5]], [3.0, 5.0, 7.0, 9.0, 10.0]
    >>> model = BayesianLinearRegression(prior_covariance=1e6, noise_variance=1.0).fit(X, y)
    >>> model.mean_.round(6), round(model.log_evidence_, 6)
    (array([0.999999, 2.      ]), -20.266992)
    >>> mean, sd = model.predict([[3.5]], return_std=True)
    >>> mean.round(4), sd.round(4)
    (array([8.]), array([1.1153]))
    """

    _multi_output = False

    def __init__(
        self,
        *,
        prior_mean: Any = 0.0,
        prior_covariance: Any = EVIDENCE,
        noise_variance: Any = EVIDENCE,
        fit_intercept: bool = True,
    ) -> None:
        self.prior_mean = prior_mean
        self.prior_covariance = prior_covariance
        self.noise_variance = noise_variance
        self.fit_intercept = fit_intercept

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self._check_parameters()
        rows = self._open(X, y, sample_weight)
        context = FitContext(self, X=rows.X, y=rows.y, sample_weight=sample_weight)
        self._fit_rows(rows, map_threads)
        context.end()
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from more rows: the posterior becomes the prior. Any batches, same answer."""
        if not hasattr(self, "_triangle"):
            return self.fit(X, y, sample_weight)
        self._check_parameters()
        X = self._check_matrix(X, reset=False, finite=True)
        y = self._check_target(y, X.shape[0])
        rows = Rows(X, y, check_weights(sample_weight, X))
        self._learn(rows, map_threads, self._triangle, self.n_observations_)
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._learn(rows, map_, None, 0.0)

    def _learn(self, rows: Source, map_: Map, before: Array | None, n: float) -> None:
        compact = self._compact(rows, map_, intercept=self.fit_intercept)
        with single_threaded_blas():
            Z = stacked(compact, intercept=self.fit_intercept)
            Z = Z if before is None else np.vstack([before, Z])
            Z = triangle(Z) if len(Z) > Z.shape[1] else Z
            self._solve(Z, n + compact.weight)

    def _check_parameters(self) -> None:
        check.boolean(fit_intercept=self.fit_intercept)
        for name in ("prior_covariance", "noise_variance"):
            value = getattr(self, name)
            if isinstance(value, str):
                check.one_of((EVIDENCE,), **{name: value})
        noise = self.noise_variance
        if not isinstance(noise, str | InverseGamma):
            check.positive(noise_variance=noise)
            if not np.isfinite(noise):
                raise ValueError(f"noise_variance must be finite, got {noise!r}")

    def _prior(self, q: int) -> Prior:
        mean = numbers("prior_mean", self.prior_mean, q, matrix=False)
        if not np.isfinite(mean).all():
            raise ValueError(f"prior_mean must be finite, got {self.prior_mean!r}")
        if isinstance(self.prior_covariance, str):
            flat = np.zeros(q, dtype=bool)
            flat[0] = self.fit_intercept
            return Prior(mean, np.eye(q), flat)
        V = numbers("prior_covariance", self.prior_covariance, q, matrix=True)
        if V.ndim == 1:
            if (V < 0).any():
                raise ValueError(f"prior_covariance must be >= 0, got {V.min():g}")
            flat = np.isinf(V)
            return Prior(mean, np.diag(np.sqrt(np.where(flat, 1.0, V))), flat)
        return Prior(mean, root_of(V), np.zeros(q, dtype=bool))

    def _solve(self, Z: Array, n: float) -> None:
        prior = self._prior(Z.shape[1] - 1)
        data = see(Z, prior, n)
        found, self.noise_posterior_ = self._variances(data)
        gamma = isinstance(self.noise_variance, InverseGamma)
        fit = posterior(Z, prior, found.t, 1.0 if gamma else found.s2)
        searched = isinstance(self.prior_covariance, str)
        self.prior_variance_ = found.t if searched else None
        self.noise_variance_, self.log_evidence_ = found.s2, found.log_evidence
        self.mean_ = fit.mean
        self._root = fit.root
        self.covariance_ = found.s2 * fit.root @ fit.root.T
        self.coef_ = fit.mean[1:] if self.fit_intercept else fit.mean
        self.intercept_ = float(fit.mean[0]) if self.fit_intercept else 0.0
        self.n_observations_, self._triangle = n, Z
        fixed = (prior.L == 0).all(axis=0) | ((found.t == 0) & ~prior.flat)
        self._singular = bool(fixed.any())

    def _variances(self, data: Directions) -> tuple[Variances, InverseGamma | None]:
        noise = self.noise_variance
        fixed = not isinstance(self.prior_covariance, str)
        if isinstance(noise, InverseGamma):
            t = 1.0 if fixed or not len(data.d) else choose_prior_gamma(data, noise)
            a, b = updated(data, t, noise)
            s2 = float(b / (a - 1)) if a > 1 else float(b / a)
            if not a > 1:
                warnings.warn(
                    f"the posterior of the noise variance has no mean (a_n = {a:g} <= 1): "
                    "noise_variance_ is b_n/a_n",
                    UserWarning,
                    stacklevel=5,
                )
            found = Variances(t, s2, float(log_evidence_gamma(data, t, noise)), False)
            return found, InverseGamma(float(a), float(b))
        if isinstance(noise, str):
            total = data.rest + float(data.beta @ data.beta)
            if data.n <= 1e-9 or not total > 0:
                return self._no_noise(data, 1.0 if fixed else 0.0), None
            if fixed or not len(data.d):
                found = choose_noise(data, 1.0 if fixed else 0.0)
            else:
                found = choose_both(data)
            if found.edge:
                warnings.warn(
                    "the rows can be fitted exactly, and the evidence is largest as the noise "
                    f"vanishes: noise_variance_ = {found.s2:.3g} is only small",
                    UserWarning,
                    stacklevel=5,
                )
            return found, None
        s2 = float(noise)
        if fixed or not len(data.d):
            t = 1.0 if fixed else 0.0
            return Variances(t, s2, float(log_evidence(data, t, s2)), False), None
        return choose_prior(data, s2), None

    def _no_noise(self, data: Directions, t: float) -> Variances:
        s2 = EPS
        warnings.warn(
            f"nothing is left to estimate the noise from (n = {data.n:g} beyond the flat "
            f"parameters, or y constant): noise_variance_ is set to {s2:.2g}",
            UserWarning,
            stacklevel=6,
        )
        return Variances(t, s2, float(log_evidence(data, t, s2)), False)

    @property
    def precision_(self) -> Array:
        """The inverse of ``covariance_``; refused where the prior fixes a parameter exactly."""
        check_is_fitted(self)
        if self._singular:
            raise ValueError("precision_ does not exist: the prior variance of a parameter is 0")
        root = np.linalg.inv(self._root)
        return root.T @ root / self.noise_variance_

    def _design(self, X: Any) -> Array:
        X = self._dense_input(X)
        return np.column_stack([np.ones(len(X)), X]) if self.fit_intercept else X

    def _spread(self, X: Any, *, new: bool) -> Array:
        """Standard deviation of the line at X, or of a new observation there."""
        h = ((self._design(X) @ self._root) ** 2).sum(axis=1)
        return np.sqrt(self.noise_variance_ * (h + new))

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Mean of the predictive distribution, and its standard deviation."""
        mean = super().predict(X)
        return (mean, self._spread(X, new=True)) if return_std else mean

    def _quantile(self, confidence: float) -> float:
        """Half width of the central interval in standard deviations."""
        upper = (1 + confidence) / 2
        if self.noise_posterior_ is None:
            return float(ndtri(upper))
        a = self.noise_posterior_.a
        return float(stdtrit(2 * a, upper) * np.sqrt(self._scale2() / self.noise_variance_))

    def _scale2(self) -> float:
        """Squared scale of the noise: s^2, or b_n/a_n of the Student-t."""
        noise = self.noise_posterior_
        return self.noise_variance_ if noise is None else noise.b / noise.a

    def predict_interval(
        self, X: ArrayLike, *, confidence: float = 0.95, kind: str = "prediction"
    ) -> Array:
        """Central intervals (n, 2) for new observations ("prediction") or for the line ("mean")."""
        check.fraction(confidence=confidence)
        check.one_of(("prediction", "mean"), kind=kind)
        middle = self.predict(X)
        half = self._quantile(confidence) * self._spread(X, new=kind == "prediction")
        return np.stack([middle - half, middle + half], axis=-1)

    def sample_coefficients(self, n_draws: int = 1, random_state: Any = 0) -> Array:
        """Draws of all parameters from the posterior, the intercept first: (n_draws, q)."""
        check_is_fitted(self)
        check.whole(n_draws=n_draws)
        return self._draw(n_draws, generator(random_state))[0]

    def _draw(self, n: int, rng: Any) -> tuple[Array, Array]:
        """(n, q) parameters and (n,) noise variances."""
        noise = self.noise_posterior_
        s2 = np.full(n, self.noise_variance_)
        if noise is not None:
            s2 = noise.b / rng.gamma(noise.a, size=n)
        z = rng.standard_normal((n, self._root.shape[1]))
        return self.mean_ + np.sqrt(s2)[:, None] * (z @ self._root.T), s2

    def sample_y(self, X: ArrayLike, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Draws of new observations at X: (n, n_samples); each column has its own parameters."""
        D = self._design(X)
        check.whole(n_samples=n_samples)
        rng = generator(random_state)
        theta, s2 = self._draw(n_samples, rng)
        return D @ theta.T + np.sqrt(s2) * rng.standard_normal((len(D), n_samples))

    def summary(self, confidence: float = 0.95) -> Summary:
        """Posterior mean, standard deviation and central intervals of the parameters."""
        check.fraction(confidence=confidence)
        check_is_fitted(self)
        sd = np.sqrt(self.noise_variance_) * np.linalg.norm(self._root, axis=1)
        half = self._quantile(confidence) * sd
        names = (("intercept",) if self.fit_intercept else ()) + self._feature_names()
        scalars = {
            "log_evidence": self.log_evidence_, "noise_variance": self.noise_variance_,
            "n": self.n_observations_,
        }  # fmt: skip
        if self.prior_variance_ is not None:
            scalars["prior_variance"] = self.prior_variance_
        return Summary(
            title="Bayesian linear regression",
            names=names,
            arrays={
                "estimate": self.mean_, "standard_error": sd,
                "low": self.mean_ - half, "high": self.mean_ + half,
            },
            scalars=scalars,
            notes=(
                "standard_error is the posterior standard deviation; with probability "
                f"{confidence:g} a parameter lies between low and high",
            ),
        )  # fmt: skip

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        q = self.n_features_in_ + bool(self.fit_intercept)
        return {"coef_": (self.n_features_in_,), "mean_": (q,), "_root": (q, q)}

    def card(self) -> Card:
        check_is_fitted(self)
        known = isinstance(self.noise_variance, Real)
        searched = [
            name for name, value in (
                ("the prior variance of the slopes", self.prior_covariance),
                ("the noise variance", self.noise_variance),
            ) if isinstance(value, str)
        ]  # fmt: skip
        how = "conjugate posterior by QR of the triangle of [D y]"
        if searched:
            how = f"evidence maximised over {' and '.join(searched)}: whole range scanned; {how}"
        prior = "theta ~ N(m, V)"
        if self.noise_posterior_ is not None:
            prior = f"theta | s^2 ~ N(m, s^2 V), s^2 ~ {self.noise_variance!r}"
        notes = ()
        if self.prior_variance_ == 0:
            notes = ("the evidence is largest with prior variance 0: no slope is supported",)
        scale = () if self.prior_variance_ in (None, 0) else (
            f"ridge: the slopes are those of Ridge({self._ridge():.6g})",
        )  # fmt: skip
        return Card(
            representation="y = b + x'w + e" if self.fit_intercept else "y = x'w + e",
            evaluation=f"posterior of {prior}, e ~ N(0, s^2){' with s^2 known' if known else ''}",
            optimisation=how,
            numbers={
                "n": self.n_observations_, "noise_variance": self.noise_variance_,
                "log_evidence": self.log_evidence_, "prior_variance": self.prior_variance_,
            },
            scales=scale,
            warnings=notes,
        )  # fmt: skip

    def _ridge(self) -> float:
        """The ridge penalty s^2/t."""
        assert self.prior_variance_ is not None
        unit = 1.0 if self.noise_posterior_ is not None else self.noise_variance_
        return unit / self.prior_variance_


def numbers(name: str, value: Any, q: int, *, matrix: bool) -> Array:
    """A number, q numbers or a (q, q) matrix as an array of 1 or 2 dimensions."""
    shapes = f"a number or {q} numbers (intercept first)" + (f" or ({q}, {q})" if matrix else "")
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {shapes}, got {value!r}") from None
    if np.isnan(found).any():
        raise ValueError(f"{name} must be {shapes}, got NaN")
    if found.ndim == 0:
        return np.full(q, float(found))
    if found.shape != (q,) and not (matrix and found.shape == (q, q)):
        raise ValueError(f"{name} must be {shapes}, got shape {found.shape}")
    return found


def root_of(V: Array) -> Array:
    """L with L L' = V, or the sentence that V is no covariance."""
    if not np.isfinite(V).all() or not np.allclose(
        V, V.T, rtol=1e-10, atol=1e-14 * np.abs(V).max()
    ):
        raise ValueError("prior_covariance must be a finite symmetric matrix (inf: give a vector)")
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    if values.min() < -1e-10 * max(values.max(), 0.0) or values.max() < 0:
        raise ValueError(
            f"prior_covariance must be positive semi-definite, got the eigenvalue {values.min():g}"
        )
    return vectors * np.sqrt(np.where(values > 1e-15 * values.max(), values, 0.0))

r"""Bayesian linear regression with a normal prior.

Model        y = D theta + e,  e ~ N(0, s^2 I),  theta = (b, w) ~ N(m, V),  D = [1 X]
Posterior    V_n = (V^-1 + D'D/s^2)^-1,  m_n = V_n (V^-1 m + D'y/s^2);  an infinite variance is a
             flat prior, a zero one a parameter that is known
Prediction   y | x ~ N(x'm_n, s^2 + x'V_n x)
Evidence     p(y) = int p(y | theta) p(theta) dtheta. With the flat parameters projected out of the
             others, D V^(1/2) = U diag(d) Q', beta = U'(y - D m), it is a product over directions

             -2 ln p(y) = n' ln(2 pi s^2) + sum ln(1 + t d_j^2/s^2)
                          + (rest + sum beta_j^2 / (1 + t d_j^2/s^2)) / s^2 + ln det F'F

             with F the k flat columns and n' = n - k

             "evidence" takes V = t I (intercept flat) and maximises over t, s^2, or both (s^2 then
             in closed form given s^2/t). The curve may have several hills: the whole range of its
             logarithm is scanned, then the highest hill is climbed.
Unknown s^2  noise_variance = InverseGamma(a, b), theta | s^2 ~ N(m, s^2 V): the posterior is normal
             inverse-gamma, a_n = a + n'/2, b_n = b + (rest + sum beta_j^2/(1 + t d_j^2))/2, and
             predictions are Student-t with 2 a_n degrees of freedom
Intervals    integrate over the variances that were estimated (``integrated.py``)
Algorithm    the triangle R of [D y] is all that is kept; batches merge by the R of two triangles,
             so any order of any batches gives the same answer.     O(n p^2 + p^3)

References: Bishop, Pattern Recognition and Machine Learning, sections 3.3 to 3.5; MacKay (1992);
Gelman et al., Bayesian Data Analysis, ch. 14.
"""

from numbers import Real
from typing import Any, Final, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_weights, with_callbacks
from pellucid.core.algebra.linalg import EPS, triangle
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Numbers, Rng, Seed
from pellucid.core.loops.statistics import Rows, Source
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.bayes import evidence
from pellucid.linear.bayes.evidence import Directions, InverseGamma, Prior, Variances
from pellucid.linear.bayes.integrated import (
    Integrated,
    both_grid,
    integrate,
    noise_grid,
    prior_grid,
)
from pellucid.linear.bayes.normal_predictive import (
    EQUAL_NOISE,
    interval_table,
    predict_interval,
)
from pellucid.linear.linear_model import LinearModel

EVIDENCE: Final = "evidence"


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
        Whether to fit an intercept.

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
    predict_interval = predict_interval

    def __init__(
        self,
        *,
        prior_mean: Numbers = 0.0,
        prior_covariance: Literal["evidence"] | Numbers = EVIDENCE,
        noise_variance: Literal["evidence"] | float | InverseGamma = EVIDENCE,
        fit_intercept: bool = True,
    ) -> None:
        self.prior_mean = prior_mean
        self.prior_covariance = prior_covariance
        self.noise_variance = noise_variance
        self.fit_intercept = fit_intercept

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Compute the posterior of the coefficients and the noise."""
        return self._fit_memory(X, y, sample_weight)

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
            Z = evidence.stacked(compact, intercept=self.fit_intercept)
            Z = Z if before is None else np.vstack([before, Z])
            Z = triangle(Z) if len(Z) > Z.shape[1] else Z
            self._solve(Z, n + compact.weight)

    def _check_parameters(self) -> None:
        check.boolean(fit_intercept=self.fit_intercept)
        noise = self.noise_variance
        words = {"prior_covariance": self.prior_covariance, "noise_variance": noise}
        check.one_of((EVIDENCE,), **{k: v for k, v in words.items() if isinstance(v, str)})
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
        found, self.noise_posterior_ = self._variances(evidence.see(Z, prior, n))
        gamma = isinstance(self.noise_variance, InverseGamma)
        fit = evidence.posterior(Z, prior, found.t, 1.0 if gamma else found.s2)
        self.prior_variance_ = found.t if isinstance(self.prior_covariance, str) else None
        self.noise_variance_, self.log_evidence_ = found.s2, found.log_evidence
        self.mean_, self._root = fit
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
            t = 1.0 if fixed or not len(data.d) else evidence.choose_prior_gamma(data, noise)
            a, b = evidence.updated(data, t, noise)
            s2 = float(b / (a - 1)) if a > 1 else float(b / a)
            if not a > 1:
                why = f"the posterior of the noise variance has no mean (a_n = {a:g} <= 1)"
                warn(f"{why}: noise_variance_ is b_n/a_n")
            value = float(evidence.log_evidence_gamma(data, t, noise))
            return Variances(t, s2, value, False), InverseGamma(float(a), float(b))
        if isinstance(noise, str):
            total = data.rest + float(data.beta @ data.beta)
            if data.n <= 1e-9 or not total > 0:
                where = f"n = {data.n:g} beyond the flat parameters, or y constant"
                rest = f"noise_variance_ is set to {EPS:.2g}"
                warn(f"nothing is left to estimate the noise from ({where}): {rest}")
                value = float(evidence.log_evidence(data, float(fixed), EPS))
                return Variances(float(fixed), EPS, value, False), None
            if fixed or not len(data.d):
                found = evidence.choose_noise(data, float(fixed))
            else:
                found = evidence.choose_both(data)
            if found.edge:
                why = "the rows can be fitted exactly, and the evidence is largest as the noise"
                warn(f"{why} vanishes: noise_variance_ = {found.s2:.3g} is only small")
            return found, None
        s2 = float(noise)
        if fixed or not len(data.d):
            value = float(evidence.log_evidence(data, float(fixed), s2))
            return Variances(float(fixed), s2, value, False), None
        return evidence.choose_prior(data, s2), None

    @property
    def precision_(self) -> Array:
        """The inverse of ``covariance_``; refused where the prior fixes a parameter exactly."""
        check_is_fitted(self)
        if self._singular:
            raise ValueError("precision_ does not exist: the prior variance of a parameter is 0")
        root = np.linalg.inv(self._root)
        return root.T @ root / self.noise_variance_

    def _design(self, X: ArrayLike) -> Array:
        X = self._dense_input(X)
        return np.column_stack([np.ones(len(X)), X]) if self.fit_intercept else X

    def _spread(self, X: ArrayLike) -> Array:
        """Standard deviation of a new observation at X."""
        h = ((self._design(X) @ self._root) ** 2).sum(axis=1)
        return np.sqrt(self.noise_variance_ * (h + 1))

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """Mean of the predictive distribution, and its standard deviation given the variances."""
        mean = super().predict(X)
        return (mean, self._spread(X)) if return_std else mean

    def _integrated(self) -> Integrated:
        """The posterior with the variances that were estimated integrated out."""
        Z, noise, t = self._triangle, self.noise_variance, self.prior_variance_
        prior, belief = self._prior(Z.shape[1] - 1), self.noise_posterior_
        data = evidence.see(Z, prior, self.n_observations_)
        if belief is not None and t is None:  # conjugate: exact
            scale = belief.b / belief.a
            return Integrated(scale * self._root @ self._root.T, scale, 2 * belief.a)
        enough = data.n > 1e-9 and data.rest + float(data.beta @ data.beta) > 0
        if t is None and (isinstance(noise, Real) or not enough):
            return Integrated(self.covariance_, self.noise_variance_, np.inf)
        unit = 1.0  # that t counts in
        if t is None:
            t, grid = 1.0, noise_grid(data, 1.0)
        elif isinstance(noise, InverseGamma):
            unit, grid = self.noise_variance_, both_grid(data, noise.a, noise.b)
        elif isinstance(noise, str):
            if not enough:
                return Integrated(self.covariance_, self.noise_variance_, np.inf)
            grid = both_grid(data)
        else:
            grid = prior_grid(data, float(noise))
        return integrate(Z, prior, grid, t * unit, self.noise_variance_)

    def _half(self, X: ArrayLike, confidence: float, *, new: bool) -> Array:
        found, D = self._integrated(), self._design(X)
        h = ((D @ found.covariance) * D).sum(axis=1) + new * found.noise
        return found.cut(confidence) * np.sqrt(h)

    def sample_coefficients(self, n_draws: int = 1, random_state: Seed = 0) -> Array:
        """Draws of all parameters from the posterior, the intercept first: (n_draws, q)."""
        check_is_fitted(self)
        check.whole(n_draws=n_draws)
        return self._draw(n_draws, generator(random_state))[0]

    def _draw(self, n: int, rng: Rng) -> tuple[Array, Array]:
        """(n, q) parameters and (n,) noise variances."""
        noise, s2 = self.noise_posterior_, np.full(n, self.noise_variance_)
        if noise is not None:
            s2 = noise.b / rng.gamma(noise.a, size=n)
        z = rng.standard_normal((n, self._root.shape[1]))
        return self.mean_ + np.sqrt(s2)[:, None] * (z @ self._root.T), s2

    def sample_y(self, X: ArrayLike, n_samples: int = 1, random_state: Seed = 0) -> Array:
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
        found = self._integrated()
        half = found.cut(confidence) * np.sqrt(np.diag(found.covariance))
        names = (("intercept",) if self.fit_intercept else ()) + self._feature_names()
        scalars = {"log_evidence": self.log_evidence_, "noise_variance": self.noise_variance_}
        scalars["n"] = self.n_observations_
        if self.prior_variance_ is not None:
            scalars["prior_variance"] = self.prior_variance_
        between = f"with probability {confidence:g} a parameter lies between low and high"
        estimated = " and ".join(self._searched())
        given = f" given {estimated} found" if estimated else ""
        wide = f", which integrate over {estimated}" if estimated else ""
        return Summary(
            title="Bayesian linear regression",
            names=names,
            arrays=interval_table(self.mean_, sd, half),
            scalars=scalars,
            notes=(
                f"standard_error is the posterior standard deviation{given}; {between}{wide}",
                EQUAL_NOISE,
            ),
        )

    def _searched(self) -> list[str]:
        """The variances that the data chose."""
        searched = ["the prior variance of the slopes"] * isinstance(self.prior_covariance, str)
        return searched + ["the noise variance"] * isinstance(self.noise_variance, str)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        q = self.n_features_in_ + bool(self.fit_intercept)
        return {"coef_": (self.n_features_in_,), "mean_": (q,), "_root": (q, q)}

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        known = isinstance(self.noise_variance, Real)
        searched = self._searched()
        how = "conjugate posterior by QR of the triangle of [D y]"
        if searched:
            how = f"evidence maximised over {' and '.join(searched)}: whole range scanned; {how}"
        prior = "theta ~ N(m, V)"
        if self.noise_posterior_ is not None:
            prior = f"theta | s^2 ~ N(m, s^2 V), s^2 ~ {self.noise_variance!r}"
        notes, scales = [], []
        if self.prior_variance_ == 0:
            notes = ["the evidence is largest with prior variance 0: no slope is supported"]
        elif self.prior_variance_ is not None:
            unit = 1.0 if self.noise_posterior_ is not None else self.noise_variance_
            ridge = unit / self.prior_variance_  # s^2/t
            scales = [f"ridge: the slopes are those of Ridge({ridge:.6g})"]
        numbers = {"n": self.n_observations_, "noise_variance": self.noise_variance_}
        numbers["log_evidence"] = self.log_evidence_
        return Card(
            representation="y = b + x'w + e" if self.fit_intercept else "y = x'w + e",
            evaluation=f"posterior of {prior}, e ~ N(0, s^2){' with s^2 known' if known else ''}",
            optimisation=how,
            numbers={**numbers, "prior_variance": self.prior_variance_},
            scales=tuple(scales),
            warnings=tuple(notes),
        )


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
    tiny = 1e-14 * np.abs(V).max()
    if not np.isfinite(V).all() or not np.allclose(V, V.T, rtol=1e-10, atol=tiny):
        raise ValueError("prior_covariance must be a finite symmetric matrix (inf: give a vector)")
    values, vectors = np.linalg.eigh((V + V.T) / 2)
    if values.min() < -1e-10 * max(values.max(), 0.0) or values.max() < 0:
        least = f"{values.min():g}"
        raise ValueError(f"prior_covariance must be positive semi-definite, got eigenvalue {least}")
    return vectors * np.sqrt(np.where(values > 1e-15 * values.max(), values, 0.0))

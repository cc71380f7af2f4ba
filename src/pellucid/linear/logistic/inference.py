r"""Standard errors, tests and intervals of a maximum-likelihood logistic fit.

    Cov(t) = (D' diag(p (1 - p)) D)^-1, the inverse information;    z_j = t_j / se_j ~ N(0, 1)
    likelihood ratio  2 (log L - log L_0) ~ chi^2(difference of parameters)
    McFadden          1 - log L / log L_0
    P(1 | x)          the interval of b + w.x, which is normal, through the sigmoid

K classes: the parameters are the K - 1 log-odds against the first class. Robust errors are the
sandwich A (sum s_i s_i') A with A the inverse information and s_i = (p_i - y_i) d_i the score.

Average marginal effects, with J the derivative of the effects in the parameters:

    effect_kj = mean_i P_ik (w_kj - sum_l P_il w_lj),       two classes: mean_i P_i (1 - P_i) w_j
    Cov(effects) = J Cov(t) J'                               (the delta method)
    d effect_kj / d t_mr = mean_i [ P_k ([k = m] - P_m) (w_kj - w-_j) - P_k P_m (w_mj - w-_j) ] d_r
                           + [r is column j] mean_i P_k ([k = m] - P_m),      w-_j = sum_l P_l w_lj

References: McCullagh & Nelder, Generalized Linear Models, ch. 4 and 5; White (1982).
"""

from typing import Any, NamedTuple

import numpy as np
import scipy
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_labels, check_weights
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.records import Summary
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares.inference import cut, estimate_table, tail
from pellucid.linear.least_squares.sandwich import FEW, check_again, group_codes
from pellucid.linear.logistic.profile import logistic_profile

COVARIANCES = ("nonrobust", "HC0", "HC1", "cluster")


class LogOdds(NamedTuple):
    """Log-odds of every class against a pivot, whose row is 0."""

    coef: Array  # (K, p)
    intercept: Array  # (K,)
    standard_errors: Array  # (K, p + 1), the intercept first


class LikelihoodRatio(NamedTuple):
    """The test of a smaller model inside a larger one."""

    statistic: float
    df: float
    p_value: float


class MarginalEffects(NamedTuple):
    """Effects on P(classes_[1]), arrays (p,); for K > 2 classes (K, p)."""

    names: tuple[str, ...]
    effect: Array
    standard_error: Array
    statistic: Array
    p_value: Array
    low: Array
    high: Array


def effect_jacobian(D: Array, P: Array, T: Array, k: int, m: int, *, intercept: bool) -> Array:
    """d effect_k / d t_m, shape (p, q)."""
    W = T[:, 1:] if intercept else T  # (K, p)
    mean = P @ W  # (n, p)
    slope = P[:, k] * (float(k == m) - P[:, m])  # (n,)
    M = slope[:, None] * (W[k] - mean) - (P[:, k] * P[:, m])[:, None] * (W[m] - mean)
    J = M.T @ D / len(D)
    j = np.arange(W.shape[1])
    J[j, j + intercept] += slope.mean()
    return J


class LogisticInference:
    """Standard errors, tests and intervals of a fit with C=inf."""

    classes_: Any
    coef_: Array
    intercept_: Array
    log_likelihood_: float
    _covariance: Any

    def _full(self) -> Array:
        """(K, q) parameters, those of the first of two classes 0; the intercept first."""
        b = self.intercept_[:, None]
        T = np.hstack([b, self.coef_]) if self.fit_intercept else self.coef_  # type: ignore[attr-defined]
        return np.vstack([np.zeros_like(T), T]) if len(T) == 1 else T

    def _invalid(self) -> str:
        """Why there is no inference, or nothing."""
        if self._strength()[0] > 0:  # type: ignore[attr-defined]
            return "the estimates are shrunk by the penalty (C is finite)"
        if self.separation_ != "none":  # type: ignore[attr-defined]
            return f"the classes are separated ({self.separation_}): no finite maximum"  # type: ignore[attr-defined]
        if self._dependent:  # type: ignore[attr-defined]
            return "the columns are linearly dependent: the coefficients are one choice of many"
        if not self._converged:  # type: ignore[attr-defined]
            return "the iteration did not converge"
        if self._covariance is None:
            return "the curvature was not computed by this solver; use a name such as 'auto'"
        return ""

    @property
    def covariance_(self) -> Array:
        """Inverse information ((K-1)q, (K-1)q) against the first class; NaN where not valid."""
        check_is_fitted(self, "coef_")
        if self._covariance is not None:
            return self._covariance
        size = self._full()[1:].size
        return np.full((size, size), np.nan)

    @property
    def standard_errors_(self) -> Array:
        """(q,) for two classes, else (K-1, q) against the first class; the intercept first."""
        check_is_fitted(self, "coef_")
        T = self._full()[1:]
        if self._covariance is None:
            errors = np.full(T.shape, np.nan)
        else:
            errors = np.sqrt(np.diag(self._covariance)).reshape(T.shape)
        return errors[0] if len(T) == 1 else errors

    def _names(self) -> tuple[str, ...]:
        names = (("intercept",) if self.fit_intercept else ()) + self._feature_names()  # type: ignore[attr-defined]
        if len(self.classes_) == 2:
            return names
        return tuple(f"{label}: {name}" for label in self.classes_[1:] for name in names)

    def summary(
        self,
        confidence: float = 0.95,
        *,
        covariance: str = "nonrobust",
        X: Any = None,
        y: Any = None,
        groups: ArrayLike | None = None,
        sample_weight: Any = None,
        intervals: str = "wald",
    ) -> Summary:
        """Estimates with Wald z-tests and intervals; K > 2: log-odds against the first class.

        ``covariance`` "HC0", "HC1" (a model that is only nearly right) or "cluster" (rows dependent
        within ``groups``) needs the training data again: ``summary(covariance="HC1", X=X, y=y)``.
        So does ``intervals="profile"``: those of the likelihood, better for few rows.
        """
        check_is_fitted(self, "coef_")
        check.fraction(confidence=confidence)
        check.one_of(COVARIANCES, covariance=covariance)
        check.one_of(("wald", "profile"), intervals=intervals)
        profile = intervals == "profile"
        if profile and (X is None or y is None or covariance != "nonrobust"):
            need = "the training data, and covariance='nonrobust': summary(.., X=X, y=y)"
            raise ValueError(f"intervals='profile' needs {need}")
        reason = self._invalid()
        if reason:
            warn(f"no valid inference: {reason}; BayesianLogisticRegression gives a posterior")
        T = self._full()
        b = (T[1:] - T[0]).ravel()
        V, notes = self.covariance_, ["z-tests and intervals are Wald's: normal for many rows"]
        plain = covariance == "nonrobust" and not profile
        if (plain and X is not None) or (groups is not None and covariance != "cluster"):
            robust = "covariance='HC0', 'HC1' or 'cluster'"
            raise ValueError(f"X, y and groups are for {robust}; X and y for intervals='profile'")
        if covariance != "nonrobust" and not reason:
            V = self._sandwich(covariance, X, y, groups, sample_weight)
            why = "dependent within groups" if covariance == "cluster" else "of a wrong variance"
            notes.append(f"standard errors {covariance}: valid for rows {why}")
            G = len(np.unique(np.asarray(groups))) if groups is not None else FEW
            notes += [f"only {G} clusters: these errors are too small"] if G < FEW else []
        se = np.sqrt(np.diag(V)) if not reason else np.full(len(b), np.nan)
        with np.errstate(over="ignore"):
            ratio = np.exp(b)
        z = cut(confidence, np.inf, "normal")
        half, p = z * se, tail(b / se, np.inf, "normal")
        table = estimate_table(b, se, b / se, p, half)
        if profile and not reason:
            table["low"], table["high"] = self._profile(X, y, sample_weight, z)
            notes = ["z-tests are Wald's: normal for many rows"]
            notes.append(
                "low, high: profile of the likelihood, not symmetric; a little too narrow for few "
                "rows, where those of FirthLogisticRegression hold"
            )
        return Summary(
            title="Logistic regression",
            names=self._names(),
            arrays={**table, "odds_ratio": ratio},
            scalars=self._scalars(),
            valid=not reason,
            reason=reason,
            notes=() if reason else tuple(notes),
        )

    def _scalars(self) -> dict[str, float]:
        model: Any = self
        ll, null = model.log_likelihood_, model.null_log_likelihood_
        k = (len(self.classes_) - 1) * self.coef_.shape[1]
        ratio = 2 * (ll - null)
        p = np.nan if self._invalid() else float(scipy.special.chdtrc(k, max(ratio, 0.0)))
        found = {"log_likelihood": ll, "null_log_likelihood": null, "lr_statistic": ratio}
        found |= {"lr_p_value": p, "pseudo_r2": 1 - ll / null if null != 0 else np.nan}
        return {**found, "aic": model.aic_, "bic": model.bic_, "n": model.n_observations_}

    def _again(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, IntArray, Array]:
        """Design, probabilities, classes and weights of the training data, checked to be those."""
        model: Any = self
        if model.class_weight is not None:
            raise ValueError("robust errors and profiles are for fits without class_weight")
        P, D = model.predict_proba(X), self._design(X)
        codes = np.searchsorted(self.classes_, check_labels(y, len(D), model))
        codes = np.minimum(codes, len(self.classes_) - 1)
        w = check_weights(sample_weight, D)
        own = P[np.arange(len(D)), codes]
        same = np.isclose(w @ np.log(np.maximum(own, 1e-300)), self.log_likelihood_, rtol=1e-6)
        if not same or (self.classes_[codes] != np.asarray(y)).any():
            must = "X, y and sample_weight must be those of the fit"
            raise ValueError(f"{must}: the likelihood is not")
        return D, P, codes, w

    def _profile(self, X: Any, y: Any, sample_weight: Any, z: float) -> tuple[Array, Array]:
        """Ends of the profile intervals, from the training data given again."""
        D, _, codes, w = self._again(X, y, sample_weight)
        b: bool = self.fit_intercept  # type: ignore[attr-defined]
        T = self._full()
        ends = logistic_profile(D[:, int(b) :], codes, w, T[1:] - T[0], z, intercept=b)
        return ends[..., 0].ravel(), ends[..., 1].ravel()

    def _sandwich(
        self, kind: str, X: Any, y: Any, groups: ArrayLike | None, sample_weight: Any
    ) -> Array:
        """The robust covariance, from the training data given again."""
        check_again(kind, X, y, groups)
        D, P, codes, w = self._again(X, y, sample_weight)
        R = P[:, 1:] - (codes[:, None] == np.arange(1, P.shape[1]))
        S = (R[:, :, None] * D[:, None, :]).reshape(len(D), -1)
        n, k = w.sum(), S.shape[1]
        A = self.covariance_
        if kind == "cluster":
            codes = group_codes(groups, len(D))
            G = int(codes.max()) + 1
            sums = np.zeros((G, k))
            np.add.at(sums, codes, w[:, None] * S)
            return A @ (sums.T @ sums) @ A * (G / (G - 1) * (n - 1) / (n - k))
        return A @ (S.T @ (w[:, None] * S)) @ A * (n / (n - k) if kind == "HC1" else 1.0)

    def _design(self, X: Any) -> Array:
        model: Any = self
        X = model._check_input(X)
        X = to_dense(X)
        return np.column_stack([np.ones(len(X)), X]) if model.fit_intercept else X

    def likelihood_ratio_test(self, smaller: Any) -> LikelihoodRatio:
        """Test a model with fewer columns, fitted to the same rows, against this one."""
        check_is_fitted(self, "coef_")
        check_is_fitted(smaller, "coef_")
        model: Any = self
        for one in (model, smaller):
            if one._invalid():
                raise ValueError(f"no valid inference: {one._invalid()}")
        same = np.isclose(model.n_observations_, smaller.n_observations_)
        if not same or not np.array_equal(self.classes_, smaller.classes_):
            raise ValueError("both models must be fitted to the same rows and classes")
        df = model.df_ - smaller.df_
        if not df > 0:
            got = f"{smaller.df_:g} against {model.df_:g}"
            raise ValueError(f"smaller must have fewer parameters, got {got}")
        statistic = 2 * (self.log_likelihood_ - smaller.log_likelihood_)
        return LikelihoodRatio(statistic, df, float(scipy.special.chdtrc(df, max(statistic, 0.0))))

    def predict_interval(self, X: ArrayLike, confidence: float = 0.95) -> Array:
        """Intervals (n, 2) of P(classes_[1] | x), made on the scale of the log-odds."""
        check_is_fitted(self, "coef_")
        check.fraction(confidence=confidence)
        self._need_binary("predict_interval")  # type: ignore[attr-defined]
        if self._invalid():
            raise ValueError(f"no valid inference: {self._invalid()}")
        D = self._design(X)
        score = D @ self._full()[1]
        variance = np.einsum("ij,jk,ik->i", D, self.covariance_, D)
        half = cut(confidence, np.inf, "normal") * np.sqrt(variance)
        return scipy.special.expit(np.stack([score - half, score + half], axis=-1))

    def log_odds(self, reference: Any = None) -> LogOdds:
        """Log-odds of every class against ``reference`` (a label; None: the last class)."""
        check_is_fitted(self, "coef_")
        model: Any = self
        r = len(self.classes_) - 1 if reference is None else model._code(reference)
        T = self._full()
        K, q = T.shape
        V = np.zeros((K, q, K, q))
        V[1:, :, 1:, :] = self.covariance_.reshape(K - 1, q, K - 1, q)
        j = np.arange(q)
        pairs = [(V[k, j, k, j], V[k, j, r, j], V[r, j, k, j]) for k in range(K)]
        variance = np.array([own + V[r, j, r, j] - one - two for own, one, two in pairs])
        variance[r] = 0.0
        errors = np.sqrt(np.maximum(variance, 0.0))
        B = T - T[r]
        if model.fit_intercept:
            return LogOdds(B[:, 1:], B[:, 0], errors)
        return LogOdds(B, np.zeros(K), np.column_stack([np.zeros(K), errors]))

    def marginal_effects(self, X: ArrayLike, confidence: float = 0.95) -> MarginalEffects:
        """Average change of each class's probability per unit of each column, over the rows of X.

        Two classes: of P(classes_[1]), arrays (p,); else (K, p). Standard errors by the delta
        method.
        """
        check_is_fitted(self, "coef_")
        check.fraction(confidence=confidence)
        if self._invalid():
            raise ValueError(f"no valid inference: {self._invalid()}")
        model: Any = self
        D, P, T, V = self._design(X), model.predict_proba(X), self._full(), self.covariance_
        K, intercept = len(T), model.fit_intercept
        W = T[:, 1:] if intercept else T
        shown = [1] if K == 2 else list(range(K))
        mean = P @ W
        effect = np.array([(P[:, k][:, None] * (W[k] - mean)).mean(axis=0) for k in shown])
        errors = []
        for k in shown:
            parts = [effect_jacobian(D, P, T, k, m, intercept=intercept) for m in range(1, K)]
            J = np.hstack(parts)
            errors.append(np.sqrt(np.maximum(np.einsum("ja,ab,jb->j", J, V, J), 0.0)))
        se = np.array(errors)
        if K == 2:
            effect, se = effect[0], se[0]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = effect / se
        half, p = cut(confidence, np.inf, "normal") * se, tail(z, np.inf, "normal")
        return MarginalEffects(
            model._feature_names(), effect, se, z, p, effect - half, effect + half
        )

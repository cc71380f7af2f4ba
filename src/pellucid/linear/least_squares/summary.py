r"""Standard errors, tests and intervals of a least-squares fit, also for new rows.

    Cov(b) = s^2 (D'D)^-1 = s^2 T T',     se_j = s |T_j|,     t_j = b_j / se_j
    mean of y at x:       x'b +- t s sqrt(h(x)),       h(x) = |x'T|^2
    a new y at x:         x'b +- t s sqrt(1 + h(x))

Errors for unequal or clustered noise are in ``sandwich.py``; the numbers (tails, quantiles, F)
are in ``inference.py``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_number_target, check_weights
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.records import Summary
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares import inference, sandwich
from pellucid.linear.least_squares import smoother as smoothing
from pellucid.linear.least_squares.inference import FTest, cut, cuts, f_tail
from pellucid.linear.least_squares.smoother import Smoother, intercept_first, scores
from pellucid.linear.linear_model import LinearModel

NOISE = {
    "nonrobust": "independent noise of equal size",
    **dict.fromkeys(("HC0", "HC1", "HC2", "HC3"), "independent noise of unequal size"),
    **dict.fromkeys(sandwich.CLUSTERED, "noise correlated within groups"),
}


def parameter_root(smoother: Smoother) -> Array:
    """T with Cov(b) = s^2 T T' in the units of X, the intercept first."""
    T = smoother.basis.copy()
    if smoother.intercept:
        T[0] -= smoother.mean @ T[1:]
    return T


def standard_errors(smoother: Smoother, sigma2: Array, *, estimable: bool) -> Array:
    """(k, q) standard errors, NaN where a parameter is not estimable."""
    size = np.linalg.norm(parameter_root(smoother), axis=1)
    size = np.where(size > 0, size, np.nan) if estimable else np.full(len(size), np.nan)
    return np.sqrt(sigma2)[:, None] * size


def bare(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value


def column_positions(columns: Any, names: tuple[str, ...]) -> list[int]:
    """Positions of columns given by name or position."""
    columns = [columns] if isinstance(columns, str | int | np.integer) else list(columns)
    found = []
    for column in columns:
        if isinstance(column, str):
            if column not in names:
                raise ValueError(f"there is no column {column!r}{check.hint(column, names)}")
            found.append(names.index(column))
        elif isinstance(column, int | np.integer) and -len(names) <= column < len(names):
            found.append(int(column) % len(names))
        else:
            raise ValueError(f"a column is a name or a position below {len(names)}, got {column!r}")
    if not found or len(set(found)) < len(found):
        raise ValueError("columns must name at least one column, each once")
    return found


class LinearInference(LinearModel):
    """Standard errors, tests and intervals of a fit without penalty."""

    leverage = smoothing.leverage
    hat_matrix = smoothing.hat_matrix
    loo_residuals = smoothing.loo_residuals
    loocv = smoothing.loocv
    gcv = smoothing.gcv
    jackknife_interval = smoothing.jackknife_interval

    @property
    def covariance_(self) -> Array:
        """Cov(b) = sigma2 (D'D)^-1, intercept first: (q, q), or (k, q, q) for k targets."""
        self._refuse_large("covariance_")
        T = parameter_root(self._smoother)
        C = T @ T.T if self._estimable() else np.full((len(T), len(T)), np.nan)
        sigma2 = np.asarray(self.sigma2_)
        return sigma2[..., None, None] * C

    def _refuse_large(self, attribute: str) -> None:
        """Refuse what would be p x p where the fit did not form it."""
        check_is_fitted(self)
        if self.solver_ == "lsqr":
            raise AttributeError(f"there is no {attribute}: {self._smoother.reason}")

    def _names(self) -> tuple[str, ...]:
        return (("intercept",) if self.fit_intercept else ()) + self._feature_names()

    def summary(
        self,
        confidence: float = 0.95,
        distribution: str = "t",
        *,
        covariance: str = "nonrobust",
        X: Any = None,
        y: Any = None,
        groups: ArrayLike | None = None,
        sample_weight: Any = None,
    ) -> Summary:
        """Estimates with standard errors, tests and intervals; ``distribution`` "t" or "normal".

        ``covariance`` "HC0" to "HC3" (noise of unequal size), "cluster" or, for few clusters, "CR2"
        (noise correlated within ``groups``) needs the training data again:
        ``summary(covariance="HC3", X=X, y=y)``, with ``sample_weight`` if the fit had one. Nothing
        of the size of the data is stored.
        """
        check.fraction(confidence=confidence)
        check.one_of(("t", "normal"), distribution=distribution)
        check.one_of(sandwich.COVARIANCES, covariance=covariance)
        reason = self._invalid()
        if reason:
            warn(f"no valid inference: {reason}")
        n, df = self.n_observations_, self.df_
        free = n - df
        b = intercept_first(self.intercept_, self.coef_, intercept=self.fit_intercept)
        b = b if np.ndim(self.coef_) == 2 else b[0]
        se, room, F = self.standard_errors_, free, self._overall_f()
        if covariance == "nonrobust" and (X is not None or groups is not None):
            raise ValueError(
                "X, y and groups are for covariance='HC0' to 'HC3', 'cluster' or 'CR2'"
            )
        if covariance != "nonrobust" and not reason:
            found = self._sandwich(covariance, X, y, groups, sample_weight)
            errors = np.sqrt(np.diagonal(found.covariance, axis1=1, axis2=2))
            se = errors if np.ndim(b) == 2 else errors[0]
            room, F = found.df, self._robust_f(found)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = b / se
        half = cuts(confidence, room, distribution) * se if free > 0 else np.nan * se
        rss, logl = np.asarray(self.rss_), np.asarray(self.log_likelihood_)
        tss = self._tss if np.ndim(rss) else self._tss[0]
        r2 = inference.shares(rss, tss)
        freedom = n - self.fit_intercept
        adjusted = 1 - (1 - r2) * freedom / free if free > 0 else np.nan * r2
        scalars = {"r2": r2, "adjusted_r2": adjusted}
        scalars |= {"f_statistic": F.statistic, "f_p_value": F.p_value, "log_likelihood": logl}
        scalars |= {"aic": -2 * logl + 2 * df, "bic": -2 * logl + df * np.log(n)}
        scalars |= {"n": n, "df_residual": free}
        notes: list[str] = []
        if not reason and np.ndim(b) == 1:
            T = parameter_root(self._smoother)
            notes = inference.read_aloud(self._names(), b, T, se, n)
        if covariance != "nonrobust" and not reason:
            notes += sandwich.cautions(covariance, found, n)
        if not reason:
            notes.append(f"standard errors {covariance}: valid for {NOISE[covariance]}")
        p = inference.tail(statistic, room, distribution) if free > 0 else np.nan * se
        return Summary(
            title="Linear regression",
            names=self._names(),
            arrays=inference.estimate_table(b, se, statistic, p, half),
            scalars={name: bare(value) for name, value in scalars.items()},
            valid=not reason,
            reason=reason,
            notes=tuple(notes),
        )

    def _invalid(self) -> str:
        if self.positive:
            return "the coefficients were held at or above zero"
        if self._dependent:
            return "the columns are linearly dependent: the coefficients are one choice of many"
        if self._unconverged:
            return self._unconverged
        if not self.n_observations_ - self.df_ > 1e-9:
            return "there are no more observations than parameters"
        return ""

    def _sandwich(
        self, kind: str, X: Any, y: Any, groups: ArrayLike | None, sample_weight: Any
    ) -> sandwich.Sandwich:
        """The robust covariance, from the training data given again."""
        if self._generalised:
            independent = f"covariance={kind!r} is for independent rows"
            raise ValueError(f"{independent}, not for noise_covariance")
        sandwich.check_again(kind, X, y, groups)
        fit, X = self.predict(X), self._dense_input(X)
        y = check_number_target(y, len(X), True, self)
        w = check_weights(sample_weight, X)
        E = (y - fit).reshape(len(X), -1)
        rss = np.atleast_1d(self.rss_)
        total = np.maximum(rss, 1e-12 * np.atleast_1d(self._tss))
        if not np.allclose(w @ E**2, rss, rtol=1e-5, atol=1e-9 * total.max()):
            raise ValueError("X, y and sample_weight must be those of the fit; their RSS is not")
        Z, T = scores(X, self._smoother), parameter_root(self._smoother)
        if kind in sandwich.CLUSTERED:
            codes = sandwich.group_codes(groups, len(X))
            if kind == "CR2":
                return sandwich.bias_reduced(Z, T, E, w, codes)
            return sandwich.clustered(Z, T, E, w, codes, self.df_)
        return sandwich.heteroscedastic(Z, T, E, w, (Z**2).sum(axis=1), self.df_, kind)

    def _robust_f(self, found: sandwich.Sandwich) -> FTest:
        """All slopes against none, with the robust covariance."""
        live = np.flatnonzero(np.linalg.norm(self._smoother.basis, axis=1))
        live = live[1:] if self.fit_intercept else live
        b = intercept_first(self.intercept_, self.coef_, intercept=self.fit_intercept)
        room = float(np.min(np.broadcast_to(found.df, b.shape[1:])[live])) if len(live) else np.nan
        if not len(live):
            nothing = np.nan * np.asarray(self.rss_)
            return FTest(nothing, 0, room, nothing)
        pairs = zip(b, found.covariance, strict=True)
        F = np.array([sandwich.robust_wald(c[live], C[np.ix_(live, live)]) for c, C in pairs])
        F = F if np.ndim(self.coef_) == 2 else F[0]
        return FTest(bare(F), len(live), room, bare(f_tail(F, len(live), room)))

    def _overall_f(self) -> FTest:
        """All slopes that the data determine, against none."""
        live = np.flatnonzero(np.linalg.norm(self._smoother.basis, axis=1))
        live = live[1:] - 1 if self.fit_intercept else live
        if self._invalid() or not len(live):
            nothing = np.nan * np.asarray(self.rss_)
            return FTest(nothing, len(live), self.n_observations_ - self.df_, nothing)
        return self.f_test([int(j) for j in live])

    def f_test(self, columns: str | int | Sequence[str | int]) -> FTest:
        """Test that the coefficients of ``columns`` (names or positions) are all zero.

        >>> from pellucid import LinearRegression
        >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
        >>> round(float(model.f_test(["x0"]).statistic), 6)
        27.0
        """
        check_is_fitted(self)
        smoother = self._smoother
        if self._invalid():
            raise ValueError(f"no valid inference: {self._invalid()}")
        chosen = column_positions(columns, self._feature_names())
        T = parameter_root(smoother)[self.fit_intercept :][chosen]
        if not np.linalg.norm(T, axis=1).all():
            raise ValueError("f_test cannot test the coefficient of a constant column")
        b = np.atleast_2d(self.coef_)[:, chosen].T
        free = self.n_observations_ - self.df_
        F = inference.wald(b, T, self.sigma2_)
        F = F if np.ndim(self.coef_) == 2 else F[0]
        return FTest(bare(F), len(chosen), free, bare(f_tail(F, len(chosen), free)))

    def predict_interval(
        self, X: ArrayLike, *, confidence: float = 0.95, kind: str = "prediction"
    ) -> Array:
        """Intervals (n, 2), or (n, k, 2), for new observations, for the line, or the plug-in ones.

        ``kind``: "prediction"; "mean" (band of the line); "plugin", the constant width of
        N(x'b, sigma2_ml_), which ignores that b is an estimate and is therefore too short.
        """
        check.fraction(confidence=confidence)
        check.one_of(("prediction", "mean", "plugin"), kind=kind)
        check_is_fitted(self)
        smoother = self._smoother
        if self._invalid():
            raise ValueError(f"no valid inference: {self._invalid()}")
        if kind != "mean" and self._generalised:
            unknown = "after a fit with noise_covariance the noise of a new row is not known"
            raise ValueError(f"{unknown}: only kind='mean' is possible, got {kind!r}")
        middle = self.predict(X)
        X = self._dense_input(X)
        if kind == "plugin":
            warn("plugin intervals ignore the error of the parameters: they are too short")
            width = cut(confidence, np.inf, "normal") * np.sqrt(self.sigma2_ml_) + 0 * middle
        else:
            h = (scores(X, smoother) ** 2).sum(axis=1) + (kind == "prediction")
            h = h if middle.ndim == 1 else h[:, None]
            free = self.n_observations_ - self.df_
            width = cut(confidence, free, "t") * np.sqrt(h * np.asarray(self.sigma2_))
        return np.stack([middle - width, middle + width], axis=-1)

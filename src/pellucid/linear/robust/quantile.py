r"""Quantile regression.

Model        the tau-quantile of y given x is b + x'w; tau = 1/2 is the conditional median, the best
             predictor under absolute loss and the maximum of the likelihood of Laplace noise
Estimator    argmin (1/n) sum rho(y_i - b - x_i'w) + alpha sum |w_j|,
             rho(r) = tau r for r > 0, (tau - 1) r for r < 0              (alpha = 0: no penalty)
Dual         max y'a  subject to  D'a = 0,  tau - 1 <= a_i <= tau: the gap certifies the answer
Algorithm    simplex from vertex to vertex with exact line searches (``quantile_kernels.py``).
             A vertex fits as many rows exactly as there are parameters; alpha |w_j| is one more
             row with y = 0. Far rows keep their side: they enter as a linear term, a lower bound of
             their loss, and only rows near the fit are pivoted on. First a sample, then eight times
             more rows, until all are in; rows that changed sides join and the simplex goes on.
Errors       Cov = (D'D)^-1 D' diag(d) D (D'D)^-1,  d_i = (tau/f)^2 or ((1 - tau)/f)^2 by the side
             of the row, f = (1/(n h)) sum K(r_i/h) with K the Epanechnikov kernel and Hall and
             Sheather's bandwidth b, widened from the uniform to the scale of the residuals:
             h = min(sd(y), IQR(r)/1.34) (Phi^-1(tau + b) - Phi^-1(tau - b)).
             A row of weight w counts as w rows.

References: Koenker & Bassett (1978); Barrodale & Roberts (1973); Koenker & d'Orey (1987);
Portnoy & Koenker (1997) for the rows that keep their side; Hall & Sheather (1988); Powell (1991);
Koenker, Quantile Regression (2005), section 3.4.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse import issparse
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext
from pellucid.core.loops.statistics import is_unit
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares.inference import cut, estimate_table, tail
from pellucid.linear.linear_model import dependent_sentence
from pellucid.linear.robust import quantile_programme as programme
from pellucid.linear.robust.quantile_programme import Columns, Rows, State

SOLVERS = ("highs-ds", "highs-ipm", "highs", "interior-point", "revised simplex")
ROUNDS = 1000


class Density(NamedTuple):
    """The residual density at 0 and the bandwidth of its kernel estimate."""

    bandwidth: float
    value: float


def weighted_percentile(values: Array, w: Array, share: float) -> float:
    """Linear between order statistics, as if every row were repeated w times."""
    if is_unit(w):
        return float(np.quantile(values, share))
    order = np.argsort(values, kind="stable")
    upper = np.cumsum(w[order])
    position = share * max(upper[-1] - 1, 0.0)
    base = np.floor(position)
    at = np.searchsorted(upper, [base, base + 1], side="right")
    low, high = values[order[np.minimum(at, len(values) - 1)]]
    return float(low + (position - base) * (high - low))


def residual_density(r: Array, y: Array, w: Array, tau: float) -> Density:
    """Epanechnikov kernel at 0 with the Hall-Sheather bandwidth."""
    n = w.sum()
    z = ndtri(tau)
    normal = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    h = n ** (-1 / 3) * ndtri(0.975) ** (2 / 3) * (1.5 * normal**2 / (2 * z**2 + 1)) ** (1 / 3)
    spread = (weighted_percentile(r, w, 0.75) - weighted_percentile(r, w, 0.25)) / 1.34
    centre = np.average(y, weights=w)
    sd = np.sqrt(np.average((y - centre) ** 2, weights=w))
    top, bottom = min(tau + h, 1 - 1e-12), max(tau - h, 1e-12)
    width = min(sd, spread) * (ndtri(top) - ndtri(bottom))
    if not width > 0:
        return Density(float(width), np.nan)
    u = r / width
    kernel = np.where(np.abs(u) <= 1, 0.75 * (1 - u**2), 0.0)
    return Density(float(width), float(w @ kernel / (n * width)))


def sandwich(D: Array, r: Array, w: Array, tau: float, f: float) -> tuple[Array, Array]:
    """(robust, iid) covariances of the parameters of D."""
    weight = np.where(r > 0, tau, 1 - tau) / f
    inverse = np.asarray(np.linalg.pinv((D * w[:, None]).T @ D), dtype=np.float64)
    middle = (D * (w * weight**2)[:, None]).T @ D
    return inverse @ middle @ inverse, tau * (1 - tau) / f**2 * inverse


class QuantileRegressor(Regressor):
    """Linear model of a conditional quantile, exact, with standard errors.

    Parameters
    ----------
    quantile : float, default=0.5
        Which quantile, between 0 and 1; 0.5 is median regression.
    alpha : float, default=1.0
        Weight of the L1 penalty against the mean pinball loss; 0 for none.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    solver : {"highs-ds", "highs-ipm", "highs", "interior-point", "revised simplex"}
        Accepted for scikit-learn's sake, default "highs"; the solution is exact for each.
    solver_options : dict or None, default=None
        Accepted for scikit-learn's sake.

    Attributes
    ----------
    coef_, intercept_ : slopes and intercept; 0 for a constant column
    n_iter_, n_pivots_ : rounds of growing samples, and pivots in all of them
    dual_gap_ : mean loss minus its lower bound from the dual
    objective_ : mean pinball loss plus penalty
    unique_ : whether it is the only minimiser (no edge of the vertex that costs nothing)
    covariance_, standard_errors_ : sandwich of the parameters, the intercept first (NaN if none)
    history_ : one row per round

    Examples
    --------
    >>> from pellucid import QuantileRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1.0, 3.0, 5.0, 7.0, 100.0]
    >>> model = QuantileRegressor(alpha=0).fit(X, y)
    >>> model.coef_, model.intercept_, model.unique_
    (array([2.]), 1.0, True)
    """

    _multi_output = False
    _accepts_sparse = True

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "highs",
        solver_options: dict[str, Any] | None = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options

    def _check_parameters(self) -> None:
        check.fraction(quantile=self.quantile)
        check.non_negative(alpha=self.alpha)
        if not np.isfinite(self.alpha):
            raise ValueError(f"alpha must be finite, got {self.alpha!r}")
        check.boolean(fit_intercept=self.fit_intercept)
        check.one_of(SOLVERS, solver=self.solver)
        if self.solver_options is not None and not isinstance(self.solver_options, dict):
            raise ValueError(f"solver_options must be a dict or None, got {self.solver_options!r}")

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve the linear programme of the quantile."""
        self._check_parameters()
        X, y, w = self._check_training(X, y, sample_weight)
        X = X.toarray() if issparse(X) else X
        if not is_unit(w) and (w == 0).any():
            X, y, w = X[w > 0], y[w > 0], w[w > 0]
        with single_threaded_blas():
            how = {"intercept": self.fit_intercept, "free": self.alpha == 0}
            D, columns = programme.standardise(X, w, **how)
            centre = float(np.median(y)) if self.fit_intercept else 0.0
            rows = self._programme(D, y - centre, w, columns)
            data = {"X": X, "y": y, "sample_weight": sample_weight}
            self._solve(rows, columns, centre, data)
            self._infer(D, y, w, columns)
        return self

    def _programme(self, D: Array, y: Array, w: Array, columns: Columns) -> Rows:
        """The rows of the linear programme, one more for each penalised slope."""
        tau, alpha = self.quantile, self.alpha * w.sum()
        p = len(columns.kept)
        if alpha == 0:
            return Rows(D, y, tau * w, (1 - tau) * w, 0)
        price = alpha / columns.scale[columns.kept]
        eye = np.eye(D.shape[1])[self.fit_intercept :]
        up = np.concatenate([tau * w, price])
        lo = np.concatenate([(1 - tau) * w, price])
        return Rows(np.vstack([D, eye]), np.append(y, np.zeros(p)), up, lo, p)

    def _solve(self, rows: Rows, columns: Columns, centre: float, data: dict[str, Any]) -> None:
        n = float((rows.up + rows.lo)[: rows.n_data].sum())

        def parameters(state: State) -> dict[str, Any]:
            coef = np.zeros(len(columns.scale))
            slopes = state.theta[self.fit_intercept :]
            coef[columns.kept] = slopes / columns.scale[columns.kept]
            first = centre + state.theta[0] - columns.mean @ coef if self.fit_intercept else 0.0
            return {"coef_": coef, "intercept_": float(first)}

        context = FitContext(self, **data, max_steps=None, attributes=parameters)
        first, order = programme.start(rows, self.quantile, self.fit_intercept)
        scale = float(np.abs(rows.y).max()) or 1.0

        def step(state: State) -> tuple[State, float]:
            return (state, 0.0) if state.done else programme.fit_round(rows, order, scale, state)

        def record(s: State) -> dict[str, Any]:
            counts = {"rows": s.size, "pivots": s.pivots, "active": int(s.active.sum())}
            return {"objective": s.objective / n, **counts}

        run = self._iterate(step, first, max_iter=ROUNDS, tol=0.0, context=context, record=record)
        state = run.state
        self.__dict__.update(parameters(state))
        self.n_pivots_, self.objective_ = state.pivots, state.objective / n
        found = programme.certify(rows, state, scale)
        self.dual_gap_, self.unique_ = found.gap / n, found.unique
        if run.converged and self.dual_gap_ > 1e-7 * max(self.objective_, 1e-300) + 1e-12 * scale:
            gap = f"a duality gap of {self.dual_gap_:.3g} in a mean loss of {self.objective_:.6g}"
            why = "many rows meet in one point"
            warn(f"the simplex stopped with {gap}: {why}", ConvergenceWarning)
        self.n_observations_ = n
        if columns.dependent:
            self.unique_ = False
            shape = (rows.n_data, len(columns.scale))
            which = dependent_sentence(self._feature_names(), columns.dependent, shape)
            what = "they get coefficient 0, one solution of many"
            warn(f"{which}; {what} (remedy: drop columns, or alpha > 0)", LinAlgWarning)
        self._dependent = columns.dependent

    def _infer(self, D: Array, y: Array, w: Array, columns: Columns) -> None:
        """Sandwich covariances in the units of X, kept for ``summary``."""
        q = len(columns.scale) + self.fit_intercept
        index = np.append(0, columns.kept + 1) if self.fit_intercept else columns.kept
        self.covariance_ = np.full((q, q), np.nan)
        self._iid = np.full((q, q), np.nan)
        theta = self.coef_[columns.kept] * columns.scale[columns.kept]
        if self.fit_intercept:
            theta = np.append(self.intercept_ + columns.mean @ self.coef_, theta)
        r = y - D @ theta
        r[np.abs(r) <= 1e-12 * np.abs(y).max()] = 0.0
        density = residual_density(r, y, w, self.quantile)
        self.bandwidth_, self.density_ = density
        self._reason = self._invalid(density, w.sum(), D.shape[1])
        if not self._reason and D.shape[1]:
            back = np.diag(np.append(1.0, 1 / columns.scale[columns.kept])[-D.shape[1] :])
            if self.fit_intercept:
                back[0, 1:] = -columns.mean[columns.kept] / columns.scale[columns.kept]
            robust, iid = sandwich(D, r, w, self.quantile, density.value)
            self.covariance_[np.ix_(index, index)] = back @ robust @ back.T
            self._iid[np.ix_(index, index)] = back @ iid @ back.T
        self.standard_errors_ = np.sqrt(np.diag(self.covariance_))

    def _invalid(self, density: Density, n: float, q: int) -> str:
        if self.alpha > 0:
            return "the penalty biases the coefficients: the sandwich errors do not hold"
        if self._dependent:
            return "the columns are linearly dependent: the coefficients are one choice of many"
        if n <= q:
            return "there are no more observations than parameters"
        if not (np.isfinite(density.value) and density.value > 0):
            return "the residual density at 0 cannot be estimated (half the residuals are equal)"
        return ""

    def predict(self, X: ArrayLike) -> Array:
        """The estimated quantile of every row."""
        rows = self._check_input(X)
        return rows @ self.coef_ + self.intercept_

    def summary(self, confidence: float = 0.95, covariance: str = "robust") -> Summary:
        """Estimates with kernel sandwich errors, tests and intervals.

        ``covariance`` is "robust" (the sandwich) or "iid" (noise with the same density in every
        row).
        """
        check.fraction(confidence=confidence)
        check.one_of(("robust", "iid"), covariance=covariance)
        check_is_fitted(self)
        if self._reason and self.alpha == 0:
            warn(f"no valid inference: {self._reason}")
        C = self.covariance_ if covariance == "robust" else self._iid
        b = np.append(self.intercept_, self.coef_) if self.fit_intercept else self.coef_
        se = np.sqrt(np.diag(C))
        free = self.n_observations_ - len(b)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = b / se
        half = cut(confidence, free, "t") * se if free > 0 else np.nan * se
        p = tail(statistic, free, "t") if free > 0 else np.nan * se
        names = (("intercept",) if self.fit_intercept else ()) + self._feature_names()
        scalars = {"objective": self.objective_, "density": self.density_}
        return Summary(
            title=f"Quantile regression, quantile {self.quantile:g}",
            names=names,
            arrays=estimate_table(b, se, statistic, p, half),
            scalars={**scalars, "bandwidth": self.bandwidth_, "n": self.n_observations_},
            valid=not self._reason,
            reason=self._reason,
        )

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (self.n_features_in_,)}

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        tau = self.quantile
        loss = "|y - f(x)|/2" if tau == 0.5 else f"({tau:g} (y - f)_+ + {1 - tau:g} (f - y)_+)"
        unique = "the only minimiser" if self.unique_ else "one minimiser of many: a flat edge"
        notes: tuple[str, ...] = ()
        if self._dependent:
            names = ", ".join(self._feature_names()[j] for j in self._dependent)
            notes = (f"dependent columns have coefficient 0: {names}",)
        line = "b + x'w" if self.fit_intercept else "x'w"
        penalty = f" + {self.alpha:g} sum |w_j|" if self.alpha else ""
        laplace = ", the likelihood of Laplace noise" if tau == 0.5 and not self.alpha else ""
        numbers = {"quantile": tau, "alpha": self.alpha, "n": self.n_observations_}
        numbers |= {"objective": self.objective_, "dual_gap": self.dual_gap_}
        return Card(
            representation=f"{tau:g}-quantile of y given x = {line}",
            evaluation=f"mean of {loss}{penalty}{laplace}",
            optimisation=f"simplex on growing samples, {self.n_pivots_} pivots; convex: {unique}; "
            f"duality gap {self.dual_gap_:.1e}",
            numbers=numbers,
            warnings=notes,
        )

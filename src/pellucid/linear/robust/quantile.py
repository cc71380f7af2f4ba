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
Errors       ``quantile_errors.py``: each row has its own density, from the fits at tau + h and
             tau - h; ``quantile_rank.py``: intervals from the rank score test.
             A row of weight w counts as w rows.

References: Koenker & Bassett (1978); Barrodale & Roberts (1973); Koenker & d'Orey (1987);
Portnoy & Koenker (1997) for the rows that keep their side; Koenker, Quantile Regression (2005).
"""

from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, check_number_target, check_weights, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext
from pellucid.core.loops.statistics import is_unit
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares.inference import cut, estimate_table, tail
from pellucid.linear.least_squares.sandwich import check_again
from pellucid.linear.linear_model import dependent_sentence
from pellucid.linear.robust import quantile_errors as errors
from pellucid.linear.robust import quantile_programme as programme
from pellucid.linear.robust import quantile_rank as rank
from pellucid.linear.robust.quantile_programme import Columns, Rows, State

KEPT = ("robust", "powell", "iid")  # errors that the fit leaves
AGAIN = ("rank", "rank-iid", "bootstrap")  # those that need the data again
WORDS = {
    "robust": "each row has its own density, from the quantiles beside this one",
    "powell": "each row has its own density, from a kernel on the residuals",
    "iid": "the density of the noise is taken to be the same in every row",
    "rank": "intervals by inverting the rank score test, each row with its own density",
    "rank-iid": "intervals by inverting the rank score test, for noise alike in every row",
    "bootstrap": "errors from rows drawn anew with their y",
}
SOLVERS = ("highs-ds", "highs-ipm", "highs", "interior-point", "revised simplex")
ROUNDS = 1000


ROUNDING = 1e-13  # of the largest y: a slope below it is one that the penalty holds at 0


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
    covariance_, standard_errors_ : of the parameters, the intercept first (NaN if none); the noise
        may differ from row to row
    bandwidth_, density_ : of the residuals at 0, by a kernel
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
        X = to_dense(X)
        if not is_unit(w) and (w == 0).any():
            X, y, w = X[w > 0], y[w > 0], w[w > 0]
        with single_threaded_blas():
            how = {"intercept": self.fit_intercept, "free": self.alpha == 0}
            D, columns = programme.standardise(X, w, **how)
            centre = float(np.median(y)) if self.fit_intercept else 0.0
            rows = self._programme(D, y - centre, w, columns)
            data = {"X": X, "y": y, "sample_weight": sample_weight}
            state = self._solve(rows, columns, centre, data)
            self._infer(rows, state, y, w, columns)
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

    def _solve(self, rows: Rows, columns: Columns, centre: float, data: dict[str, Any]) -> State:
        n = float((rows.up + rows.lo)[: rows.n_data].sum())
        scale = float(np.abs(rows.y).max()) or 1.0

        def parameters(state: State) -> dict[str, Any]:
            coef = np.zeros(len(columns.scale))
            slopes = state.theta[self.fit_intercept :]
            slopes = np.where(np.abs(slopes) <= ROUNDING * scale, 0.0, slopes)
            coef[columns.kept] = slopes / columns.scale[columns.kept]
            first = centre + state.theta[0] - columns.mean @ coef if self.fit_intercept else 0.0
            return {"coef_": coef, "intercept_": float(first)}

        context = FitContext(self, **data, max_steps=None, attributes=parameters)
        first, order = programme.start(rows, self.quantile, self.fit_intercept)

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
        return state

    def _infer(self, rows: Rows, state: State, y: Array, w: Array, columns: Columns) -> None:
        """Covariances in the units of X, kept for ``summary``."""
        n, tau = rows.n_data, self.quantile
        r = rows.y[:n] - rows.D[:n] @ state.theta
        r[np.abs(r) <= 1e-12 * np.abs(y).max()] = 0.0
        density = errors.residual_density(r, y, w, tau)
        self.bandwidth_, self.density_ = density
        self._reason = self._invalid(density, w.sum(), rows.D.shape[1])
        blank = np.full((rows.D.shape[1],) * 2, np.nan)
        found = errors.Covariances(blank, blank, blank)
        if not self._reason and rows.D.shape[1]:
            found = errors.covariances(rows, r, w, tau, density, state)
            if np.isnan(found.robust).any():
                apart = "the quantiles beside this one do not lie apart"
                self._reason = f"{apart}, so the density of the rows cannot be estimated"
        back = self._units(columns)
        self.covariance_, self._powell, self._iid = (back @ C @ back.T for C in found)
        self.standard_errors_ = np.sqrt(np.diag(self.covariance_))

    def _units(self, columns: Columns) -> Array:
        """The matrix from the parameters of the programme to those of X; NaN rows for no errors."""
        first, kept = int(self.fit_intercept), columns.kept
        back = np.zeros((len(columns.scale) + first, len(kept) + first))
        back[kept + first, np.arange(len(kept)) + first] = 1 / columns.scale[kept]
        if first:
            back[0] = np.append(1.0, -columns.mean[kept] / columns.scale[kept])
        back[~back.any(axis=1)] = np.nan
        return back

    def _invalid(self, density: errors.Density, n: float, q: int) -> str:
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

    def summary(
        self,
        confidence: float = 0.95,
        covariance: str = "robust",
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        n_resamples: int = 400,
        random_state: Seed = 0,
    ) -> Summary:
        """Estimates with errors, tests and intervals.

        Parameters
        ----------
        confidence : float, default=0.95
            Probability with which an interval covers its parameter.
        covariance : {"robust", "powell", "iid", "rank", "rank-iid", "bootstrap"}
            "robust" (default) estimates the density of every row from two neighbouring quantiles
            (Hendricks and Koenker, R's "nid"), "powell" by a kernel; "iid" assumes the same density
            in every row. "rank" inverts the rank score test and "bootstrap" refits drawn rows: both
            need the training data again.
        X, y, sample_weight : arrays, default=None
            The training data, for "rank", "rank-iid" and "bootstrap".
        n_resamples : int, default=400
            Refits of the bootstrap.
        random_state : int, Generator or None, default=0
            Seed of the bootstrap.
        """
        check.fraction(confidence=confidence)
        check.one_of((*KEPT, *AGAIN), covariance=covariance)
        check.whole(at_least=2, n_resamples=n_resamples)
        check_is_fitted(self)
        if self._reason and self.alpha == 0:
            warn(f"no valid inference: {self._reason}")
        b = np.append(self.intercept_, self.coef_) if self.fit_intercept else self.coef_
        free = self.n_observations_ - len(b)
        c = cut(confidence, free, "t") if free > 0 else np.nan
        if covariance in KEPT:
            C = {"robust": self.covariance_, "powell": self._powell, "iid": self._iid}[covariance]
            arrays = self._wald(b, np.sqrt(np.diag(C)), free, c)
        else:
            check_again(covariance, X, y, None)
            again = self._again(X, y, sample_weight)
            if covariance == "bootstrap":
                rng = np.random.default_rng(random_state)
                arrays = self._wald(b, self._bootstrap(*again, n_resamples, rng), free, c)
            else:
                arrays = self._ranks(b, again, free, c, covariance)
        names = (("intercept",) if self.fit_intercept else ()) + self._feature_names()
        scalars = {"objective": self.objective_, "density": self.density_}
        return Summary(
            title=f"Quantile regression, quantile {self.quantile:g}",
            names=names,
            arrays=arrays,
            scalars={**scalars, "bandwidth": self.bandwidth_, "n": self.n_observations_},
            valid=not self._reason,
            reason=self._reason,
            notes=() if self._reason else (WORDS[covariance],),
        )

    def _wald(self, b: Array, se: Array, free: float, c: float) -> dict[str, Any]:
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = b / se
        p = tail(statistic, free, "t") if free > 0 else np.nan * se
        return estimate_table(b, se, statistic, p, c * se)

    def _again(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array]:
        """The training data, checked against the loss of the fit."""
        if self._reason:
            raise ValueError(f"no valid inference: {self._reason}")
        fit, rows = self.predict(X), self._check_input(X)
        rows = to_dense(rows)
        y = check_number_target(y, len(rows), False, self)
        w = check_weights(sample_weight, rows)
        r = y - fit
        loss = float(w @ np.where(r > 0, self.quantile * r, (self.quantile - 1) * r) / w.sum())
        if not np.isclose(loss, self.objective_, rtol=1e-6, atol=1e-12 * np.abs(y).max()):
            given = f"their mean loss is {loss:.6g}, that of the fit {self.objective_:.6g}"
            raise ValueError(f"X, y and sample_weight must be those of the fit; {given}")
        return rows[w > 0], y[w > 0], w[w > 0]

    def _bootstrap(
        self, X: Array, y: Array, w: Array, draws: int, rng: np.random.Generator
    ) -> Array:
        D, columns = programme.standardise(X, w, intercept=self.fit_intercept, free=True)
        rows = self._programme(D, y, w, columns)
        found = errors.resampled(rows, w, self.quantile, draws, rng)
        C = np.atleast_2d(np.cov(found.T))
        back = self._units(columns)
        return np.sqrt(np.diag(back @ C @ back.T))

    def _ranks(
        self, b: Array, data: tuple[Array, Array, Array], free: float, c: float, kind: str
    ) -> dict[str, Any]:
        """Intervals from the rank test of every parameter, and its statistic at 0."""
        X, y, w = data
        tau, first = self.quantile, int(self.fit_intercept)
        D, columns = programme.standardise(X, w, intercept=self.fit_intercept, free=True)
        f = np.ones(len(y))
        if kind == "rank":
            rows = self._programme(D, y, w, columns)
            f = errors.row_densities(rows, w, tau, programme.optimum(rows, None, tau=tau))
        low, high, statistic = (np.full(len(b), np.nan) for _ in range(3))
        for j in range(len(b)):
            if np.isnan(self.standard_errors_[j]):
                continue
            others = np.delete(X, j - first, axis=1) if j >= first else X
            how = {"intercept": bool(first) and j >= first, "free": True}
            Z, _ = programme.standardise(others, w, **how)
            one = X[:, j - first] if j >= first else np.ones(len(y))
            problem = rank.restrict(one, Rows(Z, y, tau * w, (1 - tau) * w, 0), w, f, tau)
            size = self.standard_errors_[j]
            high[j], low[j] = (rank.end(problem, b[j], side * size, c, tau) for side in (1, -1))
            statistic[j] = rank.step_at(problem, 0.0, None, tau)[0].statistic
        p = tail(statistic, free, "t")
        return {"estimate": b, "statistic": statistic, "p_value": p, "low": low, "high": high}

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

r"""Quantile regression.

Model        the tau-quantile of y given x is b + x'w; tau = 1/2 is the conditional median, the best
             predictor under absolute loss and the maximum of the likelihood of Laplace noise
Estimator    argmin (1/n) sum rho(y_i - b - x_i'w) + alpha sum |w_j|,
             rho(r) = tau r for r > 0, (tau - 1) r for r < 0              (alpha = 0: no penalty)
Dual         max y'a  subject to  D'a = 0,  tau - 1 <= a_i <= tau: the gap to it certifies the answer
Algorithm    simplex from vertex to vertex with exact line searches (``compiled.quantile_simplex``).
             A vertex fits as many rows exactly as there are parameters; alpha |w_j| is one more
             row with y = 0. Far rows keep their side: they enter as a linear term, a lower bound of
             their loss, and only rows near the fit are pivoted on. First a sample, then eight times
             more rows, until all are in; rows that changed sides join and the simplex goes on.
Errors       Cov = (D'D)^-1 D' diag(d) D (D'D)^-1,  d_i = (tau/f)^2 or ((1 - tau)/f)^2 by the side of
             the row, f the kernel estimate of the residual density at 0 (Hall-Sheather bandwidth)

References: Koenker & Bassett (1978); Barrodale & Roberts (1973); Koenker & d'Orey (1987);
Portnoy & Koenker (1997) for the rows that keep their side; Powell (1991).
"""

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import LinAlgWarning, qr
from scipy.sparse import issparse
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, with_callbacks
from pellucid.compiled.quantile_simplex import MORE, OPTIMAL, STALLED, UNBOUNDED, pivots
from pellucid.core import check
from pellucid.core.iterate import ConvergenceWarning, FitContext
from pellucid.core.linalg import EPS, solve_cholesky
from pellucid.core.records import Card, Summary
from pellucid.core.statistics import is_unit
from pellucid.core.threads import single_threaded_blas
from pellucid.core.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.linear.base import dependent_sentence
from pellucid.linear.inference import cut, tail

SOLVERS = ("highs-ds", "highs-ipm", "highs", "interior-point", "revised simplex")
FIRST = 1000  # rows of the first sample, at least
GROWTH = 8  # from sample to sample
REFRESH = 200  # pivots after which the inverse of the basis is computed anew
ROUNDS = 1000


class Rows(NamedTuple):
    """Rows of the linear programme; the last n_penalty rows stand for alpha |w_j|."""

    D: Array  # (m, q) standardised columns
    y: Array  # (m,)
    up: Array  # (m,) price of a positive residual
    lo: Array  # (m,) price of a negative one
    n_penalty: int

    @property
    def n_data(self) -> int:
        return len(self.y) - self.n_penalty

    def take(self, index: IntArray) -> "Rows":
        parts = (np.ascontiguousarray(a[index]) for a in self[:4])
        return Rows(*parts, int((index >= self.n_data).sum()))

    def loss(self, theta: Array) -> float:
        r = self.y - self.D @ theta
        return float(np.where(r > 0, self.up * r, -self.lo * r).sum())


class State(NamedTuple):
    """Where the fit stands after a round."""

    theta: Array  # (q,)
    basis: IntArray  # (q,) rows that are fitted exactly
    size: int  # rows of the sample
    active: BoolArray  # (m,) rows that are pivoted on
    side: Array  # (m,) +1 or -1, the side a row counts on; 0 in the basis
    objective: float  # over all rows
    pivots: int
    done: bool


def vertex(
    rows: Rows, linear: Array, basis: IntArray, scale: float
) -> tuple[Array, IntArray, Array, int, int]:
    """Optimal vertex of ``rows`` from that of ``basis``: (theta, basis, sides, status, pivots).

    A stalled simplex (many rows meet in one vertex) goes on with y moved by a trace of noise, and
    finishes with y as given.
    """
    tol = 1e-9 * float((rows.up + rows.lo).max())
    sign = np.ones(len(rows.y))
    total, stalls, y = 0, 0, rows.y
    patience = 50 + 2 * len(basis)
    while True:
        inverse = np.linalg.inv(rows.D[basis])
        theta = inverse @ y[basis]
        theta += inverse @ (y[basis] - rows.D[basis] @ theta)
        r = y - rows.D @ theta
        r[np.abs(r) <= 1e-13 * scale] = 0.0
        sign = np.where(r > 0, 1.0, np.where(r < 0, -1.0, np.where(sign == 0, 1.0, sign)))
        r[basis], sign[basis] = 0.0, 0.0
        status, count = pivots(
            rows.D, y, rows.up, rows.lo, linear, basis, inverse, theta, r, sign,
            tol, REFRESH, patience,
        )  # fmt: skip
        total += count
        if status == OPTIMAL and y is not rows.y:
            y = rows.y
        elif (status == OPTIMAL and count == 0) or status == UNBOUNDED:
            return theta, basis, sign, status, total
        elif status == STALLED:
            stalls += 1
            if stalls > 4:
                return theta, basis, sign, status, total
            noise = np.random.default_rng(stalls).uniform(-1, 1, size=len(y))
            y = rows.y + 1e-9 * 10.0**-stalls * scale * noise
        elif status == MORE:
            patience = patience if y is rows.y else 10**9


def first_basis(rows: Rows, sample: IntArray, tau: float, intercept: bool) -> IntArray:
    """q independent rows to start from: all slopes 0 with a penalty, else near least squares."""
    q, n = rows.D.shape[1], rows.n_data
    if q == 0:
        return np.arange(0)
    if rows.n_penalty:
        if not intercept:
            return np.arange(n, n + q)
        order = sample[np.argsort(rows.y[sample], kind="stable")]
        share = np.cumsum(rows.up[order] + rows.lo[order])
        middle = order[min(np.searchsorted(share, tau * share[-1]), len(order) - 1)]
        return np.append(middle, np.arange(n, n + q - 1))
    D, y = rows.D[sample], rows.y[sample]
    r = y - D @ np.linalg.lstsq(D, y, rcond=None)[0]
    r = np.abs(r - np.quantile(r, tau)) if intercept else np.abs(r)
    near = sample[np.argsort(r, kind="stable")]
    for candidates in (near[: 10 * q], near, np.arange(n)):
        if len(candidates) >= q:
            R, order = qr(rows.D[candidates].T, mode="r", pivoting=True)
            if abs(R[q - 1, q - 1]) > 1e-8 * abs(R[0, 0]):
                return candidates[order[:q]]
    return candidates[order[:q]]


def fit_round(rows: Rows, order: IntArray, scale: float, state: State) -> tuple[State, float]:
    """Solve on the active rows of the sample; rows that changed sides become active."""
    n, q = rows.n_data, rows.D.shape[1]
    penalties = np.arange(n, n + rows.n_penalty)
    inside = np.sort(order[: state.size])
    share = state.size / n
    active = state.active.copy()
    active[state.basis] = active[penalties] = True
    theta = state.theta
    still = inside[~active[inside]]
    before = rows.y[still] - rows.D[still] @ theta
    psi = np.where(before > 0, rows.up[still], -rows.lo[still])
    chosen = np.concatenate([inside[active[inside]], penalties])
    part = rows.take(chosen)
    if rows.n_penalty and share < 1:  # the penalty counts as many rows as the sample has
        cap = np.where(chosen >= n, share, 1.0)
        part = part._replace(up=part.up * cap, lo=part.lo * cap)
    place = np.full(len(rows.y), -1)
    place[chosen] = np.arange(len(chosen))
    local = place[state.basis]
    theta, local, sign, status, count = vertex(part, -psi @ rows.D[still], local, scale)
    basis = chosen[local]
    if status == UNBOUNDED:  # too many rows were held: take all of them
        active[inside] = True
        return state._replace(active=active), 1.0
    side = np.zeros(len(rows.y))
    side[still], side[chosen] = np.where(before > 0, 1.0, -1.0), sign
    after = rows.y[still] - rows.D[still] @ theta
    wrong = still[(after * before < 0) | ((before == 0) & (after != 0))]
    active[wrong] = True
    objective = rows.loss(theta)
    total = state.pivots + count
    if len(wrong):
        gap = 1.0
        if state.size == n:  # held rows pay less than their loss: a lower bound of the optimum
            short = np.where(after > 0, rows.up[still] * after, -rows.lo[still] * after)
            gap = float((short - psi * after).sum()) / max(objective, 1e-300)
        new = state._replace(
            theta=theta,
            basis=basis,
            active=active,
            side=side,
            objective=objective,
            pivots=total,
        )
        return new, max(gap, 1e-300)
    if state.size == n:
        return State(theta, basis, n, active, side, objective, total, True), 0.0
    size = min(n, GROWTH * state.size)
    active = near_rows(rows, order[:size], theta, q)
    return State(theta, basis, size, active, side, objective, total, False), 1.0


def near_rows(rows: Rows, inside: IntArray, theta: Array, q: int) -> BoolArray:
    """The rows of a sample so near the fit of the last one that they may change sides."""
    r = np.abs(rows.y[inside] - rows.D[inside] @ theta)
    before = max(len(inside) // GROWTH, 1)
    keep = min(len(inside), int(len(inside) * 3 * np.sqrt(q / before)) + 20 * q)
    active = np.zeros(len(rows.y), dtype=bool)
    if keep >= len(inside):
        active[inside] = True
    else:
        active[inside[np.argpartition(r, keep)[:keep]]] = True
    return active


def start(rows: Rows, tau: float, intercept: bool) -> tuple[State, IntArray]:
    """The first vertex, and the order in which rows join the samples."""
    n, q = rows.n_data, rows.D.shape[1]
    order = np.arange(n)
    size = max(FIRST, 50 * q)
    if n > 4 * size:
        order = np.random.default_rng(0).permutation(n)
    else:
        size = n
    basis = first_basis(rows, order[:size], tau, intercept)
    theta = np.linalg.solve(rows.D[basis], rows.y[basis])
    active = np.zeros(len(rows.y), dtype=bool)
    active[order[:size]] = True
    side = np.ones(len(rows.y))
    return State(theta, basis, size, active, side, rows.loss(theta), 0, q == 0), order


class Certificate(NamedTuple):
    """Primal minus dual value, and whether another point is as good."""

    gap: float
    unique: bool


def certify(rows: Rows, state: State, scale: float) -> Certificate:
    """The dual point of a vertex, and its edges that cost nothing."""
    theta, basis = state.theta, state.basis
    r = rows.y - rows.D @ theta
    tied = np.abs(r) <= 1e-12 * scale
    psi = np.where(np.where(tied, state.side, r) > 0, rows.up, -rows.lo)
    tied[basis] = False
    psi[basis] = 0.0
    inverse = np.linalg.inv(rows.D[basis])
    a_h = -inverse.T @ (rows.D.T @ psi)
    a = psi
    a[basis] = np.clip(a_h, -rows.lo[basis], rows.up[basis])
    gap = rows.loss(theta) - float(a @ rows.y)
    tol = 1e-8 * float((rows.up + rows.lo).max())
    unique = True
    for k, i in enumerate(basis):
        for sigma, slope in ((1, rows.up[i] - a_h[k]), (-1, rows.lo[i] + a_h[k])):
            if slope <= tol and unique:
                v = sigma * (rows.D[tied] @ inverse[:, k])
                held = np.where(v > 0, rows.up[tied] * v, -rows.lo[tied] * v) - psi[tied] * v
                unique = bool(slope + held.sum() > tol)
    return Certificate(gap, unique)


class Columns(NamedTuple):
    """D = [1, (X - mean)/scale] on the columns that say something."""

    mean: Array  # (p,)
    scale: Array  # (p,)
    kept: IntArray  # columns in use
    dependent: tuple[int, ...]  # columns left out since the others say the same


def standardise(X: Array, w: Array, *, intercept: bool, free: bool) -> tuple[Array, Columns]:
    """Centred unit columns; without a penalty (``free``) only independent ones."""
    n = w.sum()
    origin = X[np.argmax(w)] if intercept else np.zeros(X.shape[1])
    mean = origin + w @ (X - origin) / n if intercept else origin
    Z = X - mean
    scale = np.sqrt(w @ Z**2 / n)
    kept = np.flatnonzero(scale > 1e-14 * np.abs(mean))
    Z = Z[:, kept] / scale[kept]
    D = np.ascontiguousarray(np.column_stack([np.ones(len(X)), Z]) if intercept else Z)
    dependent: tuple[int, ...] = ()
    if free and D.shape[1]:
        solved = (
            solve_cholesky(D.T @ D, np.zeros((D.shape[1], 1))) if len(D) >= D.shape[1] else None
        )
        if solved is None or solved.condition > 1e6:
            R, order = qr(D, mode="r", pivoting=True)
            size = np.abs(np.diag(R))
            rank = int((size > max(D.shape) * 10 * EPS * size[0]).sum())
            if rank < D.shape[1]:
                good = np.sort(order[:rank])
                if intercept and 0 not in good:  # the intercept stays
                    good = np.sort(np.append(good[:-1], 0))
                lost = np.setdiff1d(np.arange(D.shape[1]), good)
                dependent = tuple(int(kept[j - intercept]) for j in lost if j - intercept >= 0)
                D = np.ascontiguousarray(D[:, good])
                slopes = good[good >= intercept] - intercept
                kept = kept[slopes]
    return D, Columns(mean, scale, kept, dependent)


# --- sandwich errors --------------------------------------------------------------------------


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
    inverse = np.linalg.pinv((D * w[:, None]).T @ D)
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
    coef_: Array
    intercept_: float

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
        self._check_parameters()
        X, y, w = self._check_training(X, y, sample_weight)
        X = X.toarray() if issparse(X) else X
        if not is_unit(w) and (w == 0).any():
            X, y, w = X[w > 0], y[w > 0], w[w > 0]
        with single_threaded_blas():
            D, columns = standardise(X, w, intercept=self.fit_intercept, free=self.alpha == 0)
            centre = float(np.median(y)) if self.fit_intercept else 0.0
            rows = self._programme(D, y - centre, w, columns)
            self._solve(rows, columns, centre, X, y, sample_weight)
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

    def _solve(
        self, rows: Rows, columns: Columns, centre: float, X: Array, y: Array, sample_weight: Any
    ) -> None:
        n = float((rows.up + rows.lo)[: rows.n_data].sum())

        def parameters(state: State) -> dict[str, Any]:
            coef = np.zeros(len(columns.scale))
            slopes = state.theta[self.fit_intercept :]
            coef[columns.kept] = slopes / columns.scale[columns.kept]
            first = centre + state.theta[0] - columns.mean @ coef if self.fit_intercept else 0.0
            return {"coef_": coef, "intercept_": float(first)}

        context = FitContext(
            self, X=X, y=y, sample_weight=sample_weight, max_steps=None, attributes=parameters
        )
        first, order = start(rows, self.quantile, self.fit_intercept)
        scale = float(np.abs(rows.y).max()) or 1.0

        def step(state: State) -> tuple[State, float]:
            return (state, 0.0) if state.done else fit_round(rows, order, scale, state)

        run = self._iterate(
            step, first, max_iter=ROUNDS, tol=0.0, context=context,
            record=lambda s: {
                "objective": s.objective / n, "rows": s.size, "pivots": s.pivots,
                "active": int(s.active.sum()),
            },
        )  # fmt: skip
        state = run.state
        vars(self).update(parameters(state))
        self.n_pivots_, self.objective_ = state.pivots, state.objective / n
        found = certify(rows, state, scale)
        self.dual_gap_, self.unique_ = found.gap / n, found.unique
        if run.converged and self.dual_gap_ > 1e-7 * max(self.objective_, 1e-300) + 1e-12 * scale:
            warnings.warn(
                f"the simplex stopped with a duality gap of {self.dual_gap_:.3g} in a mean loss "
                f"of {self.objective_:.6g}: many rows meet in one point",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.n_observations_ = n
        if columns.dependent:
            self.unique_ = False
            shape = (rows.n_data, len(columns.scale))
            warnings.warn(
                f"{dependent_sentence(self._feature_names(), columns.dependent, shape)}; they get "
                "coefficient 0, one solution of many (remedy: drop columns, or alpha > 0)",
                LinAlgWarning,
                stacklevel=4,
            )
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
        X = self._check_input(X)
        return X @ self.coef_ + self.intercept_

    def summary(self, confidence: float = 0.95, covariance: str = "robust") -> Summary:
        """Estimates with kernel sandwich errors, tests and intervals.

        ``covariance`` is "robust" (the sandwich) or "iid" (noise with the same density in every
        row).
        """
        check.fraction(confidence=confidence)
        check.one_of(("robust", "iid"), covariance=covariance)
        check_is_fitted(self)
        if self._reason and self.alpha == 0:
            warnings.warn(f"no valid inference: {self._reason}", UserWarning, stacklevel=2)
        C = self.covariance_ if covariance == "robust" else self._iid
        b = np.append(self.intercept_, self.coef_) if self.fit_intercept else self.coef_
        se = np.sqrt(np.diag(C))
        free = self.n_observations_ - len(b)
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = b / se
        half = cut(confidence, free, "t") * se if free > 0 else np.nan * se
        names = (("intercept",) if self.fit_intercept else ()) + self._feature_names()
        return Summary(
            title=f"Quantile regression, quantile {self.quantile:g}",
            names=names,
            arrays={
                "estimate": b, "standard_error": se, "statistic": statistic,
                "p_value": tail(statistic, free, "t") if free > 0 else np.nan * se,
                "low": b - half, "high": b + half,
            },
            scalars={
                "objective": self.objective_, "density": self.density_,
                "bandwidth": self.bandwidth_, "n": self.n_observations_,
            },
            valid=not self._reason,
            reason=self._reason,
        )  # fmt: skip

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (self.n_features_in_,)}

    def card(self) -> Card:
        check_is_fitted(self)
        tau = self.quantile
        loss = "|y - f(x)|/2" if tau == 0.5 else f"({tau:g} (y - f)_+ + {1 - tau:g} (f - y)_+)"
        unique = "the only minimiser" if self.unique_ else "one minimiser of many: a flat edge"
        notes = ()
        if self._dependent:
            names = ", ".join(self._feature_names()[j] for j in self._dependent)
            notes = (f"dependent columns have coefficient 0: {names}",)
        return Card(
            representation=f"{tau:g}-quantile of y given x = "
            + ("b + x'w" if self.fit_intercept else "x'w"),
            evaluation=f"mean of {loss}"
            + (f" + {self.alpha:g} sum |w_j|" if self.alpha else "")
            + (", the likelihood of Laplace noise" if tau == 0.5 and not self.alpha else ""),
            optimisation=f"simplex on growing samples, {self.n_pivots_} pivots; convex: {unique}; "
            f"duality gap {self.dual_gap_:.1e}",
            numbers={
                "quantile": tau, "alpha": self.alpha, "n": self.n_observations_,
                "objective": self.objective_, "dual_gap": self.dual_gap_,
            },
            warnings=notes,
        )  # fmt: skip

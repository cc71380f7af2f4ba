r"""Bridge regression: the penalty sum |w|^q for any q > 0.

Estimator    form "power": min RSS/(2n) + alpha sum |w_j|^q
             form "norm":  min RSS/(2n) + alpha (sum |w_j|^q)^(1/q)
             q = 1 is the lasso of this alpha, q = 2 (power) ridge with penalty 2 n alpha
Algorithm    coordinate descent on the cross-products, every coefficient to its own minimum
             (``bridge_kernels.py``). q >= 1: convex, one start. q < 1: local minima; several starts
             (least squares, ridge, zero, random), the best kept, all of them listed.
Norm form    for q > 1 its solutions are those of the power form along alpha': stationarity asks
             alpha = alpha' q |w(alpha')|_q^(q-1), which rises with alpha', so a root is found. It
             is zero iff the dual norm of X'y/n, with exponent q/(q-1), is at most alpha.
Last digits  Newton's method on the coefficients that are not zero, where the penalty is smooth.

References: Frank & Friedman (1993); Fu (1998), Penalized regressions: the bridge versus the lasso.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import brentq

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Rng, Seed
from pellucid.core.loops.iterate import (
    ConvergenceWarning,
    FitContext,
    Iteration,
    came_to_rest,
    iterate,
)
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.budget import Budget
from pellucid.linear.linear_model import LinearModel
from pellucid.linear.penalties.bridge_kernels import bridge_sweep


class LocalMinimum(NamedTuple):
    """A minimum that some start led to."""

    objective: float
    coef: Array  # (p,)
    start: str


class BridgeProblem(NamedTuple):
    """1/2 w'Gw - Q'w + Y/2 + n * penalty(w), to be divided by n."""

    G: Array  # (p, p)
    Q: Array  # (p,)
    Y: float  # y'y, centred
    n: float
    q: float
    norm: bool

    def penalty(self, w: Array) -> float:
        total = float((np.abs(w) ** self.q).sum())
        return total ** (1 / self.q) if self.norm else total

    def objective(self, w: Array, alpha: float) -> float:
        rss = self.Y - 2 * float(self.Q @ w) + float(w @ self.G @ w)
        return max(rss, 0.0) / (2 * self.n) + alpha * self.penalty(w)


def descend(
    problem: BridgeProblem,
    alpha: float,
    w: Array,
    *,
    max_iter: int,
    tol: float,
    context: FitContext | None = None,
) -> Iteration:
    """Sweeps from ``w`` until no coefficient moves by more than tol |y| in units of its column."""
    scale = max(float(np.sqrt(problem.Y)), 1e-300)

    def step(w: Array) -> tuple[Array, float]:
        w = w.copy()
        g = problem.Q - problem.G @ w
        moved = bridge_sweep(problem.G, w, g, alpha * problem.n, problem.q, problem.norm)
        return w, moved / scale

    how: dict[str, Any] = {"max_iter": max_iter, "tol": tol, "start_row": False, "warn": False}
    how["record"] = lambda w: {"objective": problem.objective(w, alpha)}
    return iterate(step, np.array(w, dtype=np.float64), context=context, **how)


def polish(problem: BridgeProblem, alpha: float, w: Array) -> Array:
    """Newton steps of the power form on the support, while they bring the slope down."""
    support = np.flatnonzero(w)
    if problem.norm or not len(support) or alpha == np.inf:
        return w
    G, Q, t = problem.G[np.ix_(support, support)], problem.Q[support], alpha * problem.n * problem.q

    def slope(v: Array) -> Array:
        return G @ v - Q + t * np.sign(v) * np.abs(v) ** (problem.q - 1)

    v = w[support]
    for _ in range(10):
        H = G + np.diag(t * (problem.q - 1) * np.abs(v) ** (problem.q - 2))
        if not np.isfinite(H).all() or np.linalg.matrix_rank(H) < len(v):
            break
        new = v - np.linalg.solve(H, slope(v))
        if (np.sign(new) != np.sign(v)).any():
            break
        if not np.abs(slope(new)).max() < np.abs(slope(v)).max():
            break
        v = new
    done = w.copy()
    done[support] = v
    return done


def solve_power(problem: BridgeProblem, alpha: float, w: Array, limits: dict[str, Any]) -> Array:
    """The minimiser of the power form reached from ``w``."""
    return polish(problem, alpha, descend(problem, alpha, w, **limits).state)


def starts(problem: BridgeProblem, n_starts: int, rng: Rng) -> list[tuple[str, Array]]:
    """Where to begin: least squares, ridge, zero, then random points of the size of the first."""
    p = len(problem.Q)
    d = np.where(np.diag(problem.G) > 0, np.diag(problem.G), 1.0)
    scale = np.sqrt(d)
    H = problem.G / np.outer(scale, scale)
    least = np.linalg.pinv(H, rcond=1e-12, hermitian=True) @ (problem.Q / scale) / scale
    ridge = np.linalg.solve(H + 0.1 * np.eye(p), problem.Q / scale) / scale
    least, ridge = (np.where(np.diag(problem.G) > 0, w, 0.0) for w in (least, ridge))
    found = [("least squares", least), ("ridge", ridge), ("zero", np.zeros(p))]
    size = float(np.abs(least * scale).max(initial=0.0))
    while len(found) < n_starts:
        found.append((f"random {len(found) - 2}", size * rng.standard_normal(p) / scale))
    return found[:n_starts]


def norm_multiplier(problem: BridgeProblem, alpha: float, limits: dict[str, Any]) -> float:
    """The alpha' of the power form with the norm form's solution for ``alpha``; q > 1."""
    q, dual = problem.q, problem.q / (problem.q - 1)
    if float((np.abs(problem.Q / problem.n) ** dual).sum()) ** (1 / dual) <= alpha:
        return np.inf
    power = problem._replace(norm=False)
    w0 = starts(power, 1, np.random.default_rng(0))[0][1]

    def gap(log_alpha: float) -> float:
        a = float(np.exp(log_alpha))
        w = solve_power(power, a, w0, limits)
        return np.log(a * q) + (q - 1) / q * np.log((np.abs(w) ** q).sum()) - np.log(alpha)

    return float(np.exp(bracketed(gap, np.log(alpha))))


def budget_multiplier(problem: BridgeProblem, t: float, limits: dict[str, Any]) -> float:
    """The alpha of the power form with sum |w|^q = t; q >= 1."""
    w0 = starts(problem, 1, np.random.default_rng(0))[0][1]
    scale = float(np.abs(problem.Q).max() / problem.n)

    def gap(log_alpha: float) -> float:
        w = solve_power(problem, float(np.exp(log_alpha)), w0, limits)
        return np.log(t) - np.log(max(float((np.abs(w) ** problem.q).sum()), 1e-300))

    return float(np.exp(bracketed(gap, np.log(scale))))


def bracketed(rising: Callable[[float], float], x: float) -> float:
    """The root of a rising function, looked for from ``x`` on both sides."""
    low = high = x
    step = 1.0
    while rising(low) > 0:
        low, step = low - step, 2 * step
    step = 1.0
    while rising(high) < 0:
        high, step = high + step, 2 * step
    return float(brentq(rising, low, high, xtol=1e-13, rtol=1e-13)) if low < high else x


class BridgeRegression(LinearModel):
    """Least squares with the penalty alpha sum |w|^q, q > 0.

    Parameters
    ----------
    alpha : float or Budget, default=1.0
        Penalty strength, > 0, beside the loss RSS/(2n); or, for q >= 1, a bound on sum |w|^q.
    q : float, default=1.5
        Exponent, > 0; below 1 the problem has local minima.
    form : {"power", "norm"}, default="power"
        sum |w|^q, or its root (sum |w|^q)^(1/q).
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=1000
        Sweeps per start.
    tol : float, default=1e-8
        Stop when no coefficient moves by more than tol |y| in units of its column's norm.
    n_starts : int, default=5
        Starts when q < 1.
    random_state : int, Generator or None
        Draws the random starts where q < 1.

    Attributes
    ----------
    coef_, intercept_ : slopes (p,) and intercept
    alpha_ : the penalty in use (found from a Budget)
    local_minima_ : the distinct minima found, best first; one when q >= 1
    budget_ : sum |w|^q
    n_iter_, history_ : sweeps of the best start, and their objective

    Examples
    --------
    >>> from pellucid import BridgeRegression
    >>> X, y = [[1.0, 0], [0, 1], [-1, 0], [0, -1]], [2.0, 0.4, -2.0, -0.4]
    >>> BridgeRegression(0.25, q=1).fit(X, y).coef_.round(4)
    array([1.5, 0. ])
    >>> BridgeRegression(0.25, q=0.5).fit(X, y).coef_.round(4)
    array([1.8144, 0.    ])
    """

    _multi_output = False

    def __init__(
        self,
        alpha: float | Budget = 1.0,
        *,
        q: float = 1.5,
        form: str = "power",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-8,
        n_starts: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.alpha = alpha
        self.q = q
        self.form = form
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_starts = n_starts
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check.positive(q=self.q)
        check.one_of(("power", "norm"), form=self.form)
        check.boolean(fit_intercept=self.fit_intercept)
        check.whole(max_iter=self.max_iter, n_starts=self.n_starts)
        check.non_negative(tol=self.tol)
        if not isinstance(self.alpha, Budget):
            check.positive(alpha=self.alpha)
        elif self.q < 1 or self.form == "norm":
            why = "for q < 1 the size jumps as alpha grows"
            got = f"q={self.q!r}, form={self.form!r}"
            raise ValueError(f"a Budget needs q >= 1 and form='power' ({why}), got {got}")

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Minimise the penalised squares."""
        return self._fit_steps(X, y, sample_weight)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        rng = generator(self.random_state)
        small = self._compact(rows, map_, intercept=self.fit_intercept)
        with single_threaded_blas():
            G, Q = small.A.T @ small.A, (small.A.T @ small.c)[:, 0]
            norm = self.form == "norm" and self.q != 1
            problem = BridgeProblem(G, Q, float(small.tss[0]), small.weight, self.q, norm)
            self._solve(rows, small, problem, rng)

    def _solve(self, rows: Source, small: Compact, problem: BridgeProblem, rng: Rng) -> None:
        limits = {"max_iter": self.max_iter, "tol": min(self.tol, 1e-10)}
        first = starts(problem, 1 if self.q >= 1 else self.n_starts, rng)
        alpha = self._multiplier(problem, limits, first[0][1])
        power = problem._replace(norm=False) if self.q > 1 else problem
        inner = alpha
        if problem.norm and self.q > 1:
            inner = norm_multiplier(problem, alpha, limits)
            if inner == np.inf:
                first, inner = [("zero", np.zeros(len(problem.Q)))], alpha
                power = problem

        def attributes(w: Array) -> dict[str, Any]:
            return {"coef_": w, "intercept_": self._offset(small, w)}

        context = FitContext.of_rows(self, rows, None, len(first), attributes)
        runs = []
        for name, w in first:
            task = context.subtask(name, self.max_iter)
            run = descend(power, inner, w, max_iter=self.max_iter, tol=self.tol, context=task)
            task.end(run.state)
            run = run._replace(state=polish(power, inner, run.state))
            runs.append((problem.objective(run.state, alpha), name, run))
        value, _, best = min(runs, key=lambda item: item[0])
        context.end(best.state)
        if not best.converged and best.reason == "max_iter":
            late = f"no convergence in max_iter={self.max_iter} sweeps"
            warn(f"BridgeRegression: {late}; raise it", ConvergenceWarning)
        self.coef_, self.intercept_ = best.state, self._offset(small, best.state)
        self.alpha_, self.n_iter_, self.history_ = alpha, max(best.n_iter, 1), best.history
        self.local_minima_ = distinct([LocalMinimum(v, run.state, name) for v, name, run in runs])
        self.budget_ = float((np.abs(self.coef_) ** self.q).sum())
        self.objective_, self.n_observations_ = value, small.weight

    def _multiplier(self, problem: BridgeProblem, limits: dict[str, Any], least: Array) -> float:
        if not isinstance(self.alpha, Budget):
            return float(self.alpha)
        size = float((np.abs(least) ** self.q).sum())
        self.budget_ols_ = size
        t = float(self.alpha.bound(np.array([size]))[0])
        return 0.0 if size <= t or t == 0 else budget_multiplier(problem, t, limits)

    def _scales(self) -> tuple[str, ...]:
        """alpha belongs to RSS/(2n); what it is for other losses."""
        alpha, n = self.alpha_, self.n_observations_
        return (
            f"the loss is RSS/(2n): in RSS + lambda P, lambda = 2 n alpha = {2 * n * alpha:.6g}",
            f"in RSS/n + lambda P, lambda = 2 alpha = {2 * alpha:.6g}",
        )

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        total = f"sum |w|^{self.q:g}"
        total = total if self.form == "power" else f"({total})^(1/{self.q:g})"
        found = f"the best of {len(self.local_minima_)} distinct minima found"
        local = f"local: {found}, no proof that there is no better one"
        end = "convex: the optimum" if self.q >= 1 else local
        if not came_to_rest(self.history_, self.tol):
            end = "ended before it converged"
        numbers = {"alpha": self.alpha_, "q": self.q, "n": self.n_observations_}
        numbers |= {"objective": self.objective_, "budget": self.budget_}
        numbers["nonzero"] = int(np.count_nonzero(self.coef_))
        return Card(
            representation="y = b + x'w",
            evaluation=f"RSS/(2n) + {self.alpha_:.6g} {total}",
            optimisation=f"coordinate descent, {self.n_iter_} sweeps; {end}",
            numbers={**numbers, "local_minima": len(self.local_minima_)},
            scales=self._scales(),
        )


def distinct(found: list[LocalMinimum]) -> list[LocalMinimum]:
    """Best first, equal ones once."""
    kept: list[LocalMinimum] = []
    for one in sorted(found, key=lambda m: m.objective):
        size = np.abs(one.coef).max(initial=0.0)
        if not any(np.allclose(one.coef, k.coef, rtol=1e-5, atol=1e-5 * size) for k in kept):
            kept.append(one)
    return kept

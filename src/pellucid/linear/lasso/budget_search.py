r"""The constrained lasso and elastic net: minimise RSS subject to bounds on the coefficients.

Lasso         sum_j v_j |w_j| <= t
Elastic net   sum_j v_j w_j^2 <= t1  and  sum_j v_j |w_j| <= t2     (v = 1 unless weights are given)

By the KKT conditions the answer is least squares if it is feasible; else some constraint is active
and w minimises RSS/2 + l1 sum v|w| + l2/2 sum v w^2, where l1 and l2 are its multipliers and 0 for
a constraint with room to spare.

l1: while the support S and its signs s stay, w_S is linear in l1 with slope -d, H_SS d = v_S s_S,
so sum v|w| = t is one division; the root of the right piece is exact. A bracket keeps the search
safe from piece to piece (the sum falls as l1 grows).
l2: with l1 chosen for each l2, sum v w^2 falls as l2 grows (l2 is the multiplier of a concave dual
function): Brent's method, then Newton's on the equations of the final support

    (G_SS + l2 V) w + l1 v s = q_S,    sum v|w| = t2,    sum v w^2 = t1.

References: Osborne, Presnell & Turlach (2000), On the LASSO and its dual.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.linear.lasso.rows import RowsProblem
from pellucid.linear.lasso.sums import State, SumsProblem

Problem = SumsProblem | RowsProblem
EXACT = 1e-14  # relative duality gap: rounding
AGREE = 1e-13  # relative distance from the budget
NOTHING = 1e-12  # share of the largest useful l1 from which on the multiplier is 0


class Multipliers(NamedTuple):
    """The multipliers of F (n times those of scikit-learn's objective) and the solution."""

    l1: float
    l2: float
    state: State
    solves: int


def size(problem: Problem, w: Array) -> float:
    """sum_j v_j |w_j|."""
    return float(problem.weights @ np.abs(w))


def squares(problem: Problem, w: Array) -> float:
    """sum_j v_j w_j^2."""
    return float(problem.weights @ w**2)


def solve(problem: Problem, t: int, w: Array, l1: float, l2: float) -> State:
    """The solution to rounding, from w."""
    state = problem.start(t, w, l1, l2)
    yy, best = problem.yy[t], np.inf
    for _ in range(100):
        state = problem.round(t, state, l1, l2, EXACT)
        if state.gap <= EXACT * yy or not state.gap < best:
            break
        best = state.gap
    return state


def slope(problem: Problem, w: Array, l2: float) -> tuple[IntArray, Array]:
    """(support, d) with dw_S/dl1 = -d."""
    S = np.flatnonzero(w)
    v = problem.weights[S]
    H = problem.cross_products(S) + np.diag(l2 * v)
    d = np.linalg.lstsq(H, v * np.sign(w[S]), rcond=None)[0]
    return S, np.asarray(d, dtype=np.float64)


def lasso_multiplier(
    problem: Problem, t: int, bound: float, *, l2: float, start: Array, guess: float | None = None
) -> Multipliers:
    """The l1 >= 0 at which sum v|w| = ``bound``, given l2; 0 if every l1 > 0 leaves room."""
    top = float(problem.scores(problem.target(t)).max(initial=0.0))
    low, high, w = 0.0, top, start
    l1 = guess if guess is not None and 0 < guess < top else top / 2
    for solves in range(1, 201):
        state = solve(problem, t, w, l1, l2)
        w, error = state.w, size(problem, state.w) - bound
        if abs(error) <= AGREE * bound:
            return Multipliers(l1, l2, state, solves)
        low, high = (l1, high) if error > 0 else (low, l1)
        S, d = slope(problem, w, l2)
        steep = float((problem.weights[S] * np.sign(w[S])) @ d)
        guess = l1 + error / steep if steep > 0 else np.nan
        if high <= NOTHING * top:
            free = np.zeros(len(w))
            free[S] = w[S] + l1 * d
            return Multipliers(0.0, l2, problem.start(t, free, 1.0, l2), solves)
        inside = low < guess < high and solves % 8
        l1 = guess if inside else (np.sqrt(low * high) if low > 0 else high / 16)
        if not low < l1 < high:  # the bracket has no number left inside
            return Multipliers(l1, l2, state, solves)
    return Multipliers(l1, l2, state, solves)


def ridge_bound(problem: Problem, t: int, bound: float) -> Multipliers:
    """The l2 > 0 at which sum v w^2 = ``bound`` without l1; least squares exceeds the bound."""

    def excess(log_l2: float) -> float:
        return np.log(squares(problem, problem.ridge(t, np.exp(log_l2)).w) / bound)

    scale = np.log(max(float(np.abs(problem.target(t)).max(initial=0.0)), 1e-300))
    low, high = bracket(excess, scale)
    l2 = float(np.exp(brentq(excess, low, high, xtol=1e-15, rtol=1e-15, maxiter=200)))
    return Multipliers(0.0, l2, problem.ridge(t, l2), 1)


def bracket(falling: Callable[[float], float], start: float) -> tuple[float, float]:
    """Two arguments between which a falling function changes sign."""
    low = high = start
    for _ in range(200):
        if falling(low) > 0:
            break
        low -= 2.0
    for _ in range(200):
        if falling(high) < 0:
            break
        high += 2.0
    return low, high


def pair_multipliers(problem: Problem, t: int, t1: float, t2: float, ols: Array) -> Multipliers:
    """The multipliers of sum v w^2 <= t1 and sum v|w| <= t2; least squares is not feasible."""
    zero = np.zeros(len(problem.columns))
    if size(problem, ols) > t2:
        found = lasso_multiplier(problem, t, t2, l2=0.0, start=zero)
        if squares(problem, found.state.w) <= t1 * (1 + AGREE):
            return found
    if squares(problem, ols) > t1:
        found = ridge_bound(problem, t, t1)
        if size(problem, found.state.w) <= t2 * (1 + AGREE):
            return found
    last: list[Any] = [zero, None]
    solves = [0]

    def excess(log_l2: float) -> float:
        l2, (start, guess) = float(np.exp(log_l2)), last
        found = lasso_multiplier(problem, t, t2, l2=l2, start=start, guess=guess)
        last[:] = [found.state.w, found.l1]
        solves[0] += found.solves
        return float(np.log(squares(problem, found.state.w) / t1))

    scale = np.log(max(float(np.abs(problem.target(t)).max(initial=0.0)), 1e-300))
    low, high = bracket(excess, scale)
    l2 = float(np.exp(brentq(excess, low, high, xtol=1e-13, rtol=1e-13, maxiter=200)))
    found = lasso_multiplier(problem, t, t2, l2=l2, start=last[0], guess=last[1])
    return polish(problem, t, t1, t2, found)._replace(solves=solves[0])


def polish(problem: Problem, t: int, t1: float, t2: float, found: Multipliers) -> Multipliers:
    """Newton's method on the equations of the support in (w_S, l1, l2)."""
    w, l1, l2 = found.state.w.copy(), found.l1, found.l2
    S = np.flatnonzero(w)
    v, s, q = problem.weights[S], np.sign(w[S]), problem.target(t)[S]
    G, k = problem.cross_products(S), len(S)
    x = w[S]
    for _ in range(10):
        over = v @ (s * x) - t2, 0.5 * (v @ x**2 - t1)
        F = np.append(G @ x + l2 * v * x + l1 * v * s - q, over)
        J = np.zeros((k + 2, k + 2))
        J[:k, :k] = G + np.diag(l2 * v)
        J[:k, k] = J[k, :k] = v * s
        J[:k, k + 1] = J[k + 1, :k] = v * x
        step = np.linalg.lstsq(J, F, rcond=None)[0]
        if (np.sign(x - step[:k]) != s).any() or l1 <= step[k] or l2 <= step[k + 1]:
            break  # the support is at its edge: Brent's answer stands
        x, l1, l2 = x - step[:k], l1 - step[k], l2 - step[k + 1]
        if np.abs(step[:k]).max(initial=0.0) <= 1e-15 * np.abs(x).max(initial=0.0):
            break
    w[S] = x
    return Multipliers(float(l1), float(l2), problem.start(t, w, l1, l2), found.solves)

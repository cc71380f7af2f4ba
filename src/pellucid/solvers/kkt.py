r"""Optimality under constraints: the conditions of Karush, Kuhn and Tucker.

    min f(x)  subject to  g_i(x) <= 0,  h_j(x) = 0
    stationarity      grad f + sum lambda_i grad g_i + sum nu_j grad h_j = 0
    primal            g_i <= 0, h_j = 0          dual             lambda_i >= 0
    complementarity   lambda_i g_i = 0

Multipliers that are not given are the non-negative least-squares solution of the stationarity
equation over the active constraints.

References: Karush (1939); Kuhn & Tucker (1951); Nocedal & Wright, chapter 12.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, nnls

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, MaybeArray
from pellucid.solvers.objective import Objective


class KKTReport(NamedTuple):
    """How far a point is from each condition, with its multipliers."""

    satisfied: bool
    stationarity: float
    primal: float
    dual: float
    complementarity: float
    multipliers: Array
    equality_multipliers: Array
    active: BoolArray

    def __str__(self) -> str:
        verdict = "satisfied" if self.satisfied else "violated"
        names = ("stationarity", "primal", "dual", "complementarity")
        far = ", ".join(f"{name} {getattr(self, name):.3g}" for name in names)
        return f"KKT conditions {verdict}: {far}{self._held()}"

    def _held(self) -> str:
        """The constraints that hold the point, with their prices."""
        on = np.flatnonzero(self.active)
        if not len(on):
            return ""
        parts = ", ".join(f"{i} (multiplier {self.multipliers[i]:.3g})" for i in on[:6])
        more = f" and {len(on) - 6} more" if len(on) > 6 else ""
        return f"; active inequalities: {parts}{more}"


def _objective(function: Callable[..., Any]) -> Any:
    return function if hasattr(function, "gradient") else Objective(function)


def kkt_report(
    x: ArrayLike,
    objective: Any,
    *,
    equality: Sequence[Any] = (),
    inequality: Sequence[Any] = (),
    multipliers: MaybeArray = None,
    tol: float = 1e-6,
) -> KKTReport:
    """Check the KKT conditions of ``min objective, inequality <= 0, equality = 0`` at ``x``.

    Parameters
    ----------
    x : array
    objective : callable or Objective
    equality, inequality : sequences of callables or Objectives
    multipliers : array, optional
        The lambda of the inequalities; found from the active constraints where not given.
    tol : float, default=1e-6
        Largest violation; also what counts as active.

    Examples
    --------
    >>> from pellucid.solvers import kkt_report
    >>> report = kkt_report([1.0, 0.0], lambda x: (x[0] - 2) ** 2 + x[1] ** 2,
    ...                     inequality=[lambda x: x @ x - 1])
    >>> report.satisfied, report.multipliers.round(6)
    (True, array([1.]))
    """
    check.positive(tol=tol)
    x = np.atleast_1d(np.asarray(x, dtype=np.float64))
    g_list, h_list = [_objective(g) for g in inequality], [_objective(h) for h in equality]
    f_slope = _objective(objective).gradient(x)
    g = np.array([item.value(x) for item in g_list])
    h = np.array([item.value(x) for item in h_list])
    A = np.array([item.gradient(x) for item in g_list]).reshape(-1, len(x))
    B = np.array([item.gradient(x) for item in h_list]).reshape(-1, len(x))
    active = g >= -tol
    given = None if multipliers is None else np.atleast_1d(np.asarray(multipliers, float))
    if given is not None and len(given) != len(g):
        raise ValueError(f"multipliers must be one per inequality ({len(g)}), got {len(given)}")
    lam, nu = find_multipliers(f_slope, A, B, active, given)
    stationarity = float(np.abs(f_slope + lam @ A + nu @ B).max(initial=0.0))
    primal = max(float(np.maximum(g, 0).max(initial=0.0)), float(np.abs(h).max(initial=0.0)))
    dual = float(np.maximum(-lam, 0).max(initial=0.0))
    slack = float(np.abs(lam * g).max(initial=0.0))
    scale = max(1.0, float(np.abs(f_slope).max(initial=0.0)))
    satisfied = max(stationarity / scale, primal, dual, slack / scale) <= tol
    return KKTReport(bool(satisfied), stationarity, primal, dual, slack, lam, nu, active)


def find_multipliers(
    f_slope: Array, A: Array, B: Array, active: BoolArray, given: Array | None
) -> tuple[Array, Array]:
    """lambda >= 0 (0 where inactive) and free nu that come nearest to stationarity."""
    if given is not None:
        right = -(f_slope + given @ A)
        nu = np.linalg.lstsq(B.T, right, rcond=None)[0] if len(B) else np.zeros(0)
        return given, np.asarray(nu, dtype=np.float64)
    lam, nu = np.zeros(len(A)), np.zeros(len(B))
    G = A[active]
    columns = np.vstack([G, B, -B]).T  # a free number is a difference of two non-negative ones
    if columns.shape[1]:
        found = nnls(columns, -f_slope)[0]
        lam[active] = found[: len(G)]
        nu = found[len(G) : len(G) + len(B)] - found[len(G) + len(B) :]
    return lam, nu


def budget_multiplier(size: Callable[[float], float], budget: float) -> float:
    """The lambda >= 0 with size(lambda) = ``budget``, where size falls in lambda; 0 if not binding.

    ``size(lambda)`` is the constrained quantity at the solution of the problem with price lambda:
    this is how a bound t and a penalty lambda of ridge, lasso and elastic net correspond.

    Examples
    --------
    >>> from pellucid.solvers import budget_multiplier
    >>> round(budget_multiplier(lambda lam: 4 / (1 + lam) ** 2, 1.0), 9)
    1.0
    """
    check.positive(budget=budget)
    if not size(0.0) > budget:
        return 0.0
    high = 1.0
    while size(high) > budget:
        high *= 4
        if high > 1e18:
            at = f"the size is still {size(high):.6g}"
            raise ValueError(f"no multiplier up to 1e18 reaches {budget!r}: {at}")
    return float(brentq(lambda lam: size(lam) - budget, 0.0, high, xtol=1e-14, rtol=1e-14))

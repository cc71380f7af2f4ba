r"""Dantzig selector: the smallest coefficients whose residual is nearly uncorrelated with X.

Estimator    min sum |w_j|   subject to   max_j |x_j'(y - X w)| / n <= alpha      (centred)
             The lasso of the same alpha is feasible, so its sum |w| is never smaller.
Algorithm    a linear programme in w = u - v, u, v >= 0 with the cross-products G = X'X, q = X'y:
             min 1'(u + v),  -n alpha <= q - G(u - v) <= n alpha    (HiGHS). Its vertex is then
             solved again from the active constraints, G_ES w_S = q_E - n alpha s_E, to full digits.

Reference: Candes & Tao (2007), The Dantzig selector: statistical estimation when p >> n.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import linprog

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.linear_model import LinearModel, one_dimensional


class DantzigFit(NamedTuple):
    """The coefficients and the largest residual correlation, in the units of n alpha."""

    coef: Array  # (p,)
    correlation: float


def fit_dantzig(G: Array, q: Array, bound: float) -> DantzigFit:
    """min |w|_1 subject to |q - G w|_inf <= bound.

    >>> fit_dantzig(np.eye(3), np.array([3.0, -0.4, 1.0]), 0.5).coef
    array([2.5, 0. , 0.5])
    """
    p = len(q)
    if p == 0 or np.abs(q).max() <= bound:
        return DantzigFit(np.zeros(p), float(np.abs(q).max(initial=0.0)))
    scale = np.sqrt(np.diag(G))
    live = np.flatnonzero(scale)
    d = scale[live]
    H, b, room = G[np.ix_(live, live)] / np.outer(d, d), q[live] / d, bound / d
    unit = max(float(np.abs(b).max()), 1e-300)  # HiGHS's tolerances are absolute: solve near 1
    price = d.min() / d
    cost, both = np.concatenate([price, price]), np.hstack([H, -H])
    limits = np.concatenate([room + b, room - b]) / unit
    found = linprog(cost, A_ub=np.vstack([both, -both]), b_ub=limits, method="highs")
    if found.status != 0:
        raise ValueError(f"the linear programme has no solution: {found.message}")
    v = (found.x[: len(d)] - found.x[len(d) :]) * unit
    v = polish(H, b, room, v)
    w = np.zeros(p)
    w[live] = v / d
    return DantzigFit(w, float(np.abs(q - G @ w).max()))


def polish(H: Array, b: Array, room: Array, v: Array) -> Array:
    """Solve the active constraints again; kept only where it is as good a vertex."""
    support = np.flatnonzero(np.abs(v) > 1e-9 * np.abs(v).max(initial=0.0))
    residual = b - H @ v
    active = np.flatnonzero(np.abs(residual) >= room * (1 - 1e-6) - 1e-12 * np.abs(b).max())
    if not len(support) or len(active) < len(support):
        return v
    side = np.sign(residual[active]) * room[active]
    part, _, rank, _ = np.linalg.lstsq(H[np.ix_(active, support)], b[active] - side, rcond=None)
    better = np.zeros_like(v)
    better[support] = part
    sound = rank == len(support) and (np.sign(part) == np.sign(v[support])).all()
    slack = np.abs(b - H @ better) - room
    return better if sound and slack.max() <= 1e-10 * np.abs(b).max() else v


class DantzigSelector(LinearModel):
    """The least sum of absolute coefficients with bounded residual correlations.

    Parameters
    ----------
    alpha : float, default=1.0
        Bound on every abs(x_j'(y - Xw))/n, > 0: the scale of the lasso's alpha.
    fit_intercept : bool, default=True
        Whether to fit an intercept.

    Attributes
    ----------
    coef_, intercept_ : slopes (p,) or (k, p), and intercept
    residual_correlation_ : the largest abs(x_j'r)/n of the fit (one per target)
    alpha_max_ : the smallest alpha at which all coefficients are zero

    Examples
    --------
    >>> from pellucid import DantzigSelector
    >>> X = [[1.0, 0], [0, 1], [-1, 0], [0, -1]]
    >>> DantzigSelector(0.25).fit(X, [2.0, 0.4, -2.0, -0.4]).coef_
    array([1.5, 0. ])
    """

    def __init__(self, alpha: float = 1.0, *, fit_intercept: bool = True) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> Self:
        """Solve the linear programme."""
        rows = self._open(X, y, sample_weight)
        context = FitContext(self, X=rows.X, y=rows.y, sample_weight=sample_weight)
        self._fit_rows(rows, map_threads)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        check.positive(alpha=self.alpha)
        check.boolean(fit_intercept=self.fit_intercept)
        small = self._compact(rows, map_, intercept=self.fit_intercept)
        n = small.weight
        with single_threaded_blas():
            G, Q = small.A.T @ small.A, small.A.T @ small.c
            fits = [fit_dantzig(G, q, n * self.alpha) for q in Q.T]
        coef = np.array([fit.coef for fit in fits])  # (k, p)
        intercept = small.intercept(coef.T) if self.fit_intercept else np.zeros(len(fits))
        correlation = np.array([fit.correlation for fit in fits]) / n
        largest = np.abs(Q).max(axis=0, initial=0.0) / n
        one = one_dimensional(rows)
        self.coef_, self.intercept_ = (coef[0], float(intercept[0])) if one else (coef, intercept)
        self.residual_correlation_ = float(correlation[0]) if one else correlation
        self.alpha_max_ = float(largest[0]) if one else largest
        self.n_observations_ = n
        if (correlation > self.alpha * (1 + 1e-6)).any():
            off = f"{correlation.max() / self.alpha - 1:.1e} of its bound"
            warn(f"the linear programme was solved to {off} only; scale the columns")

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        numbers = {"alpha": self.alpha, "n": self.n_observations_}
        numbers["largest correlation"] = float(np.max(self.residual_correlation_))
        numbers["alpha_max"] = float(np.max(self.alpha_max_))
        numbers["sum_abs"] = float(np.abs(self.coef_).sum())
        return Card(
            representation="y = b + x'w",
            evaluation=f"sum |w_j| subject to |x_j'(y - b - Xw)|/n <= {self.alpha:.6g} for all j; "
            "the lasso of the same alpha is feasible and its sum |w| not smaller",
            optimisation="linear programme (HiGHS), its vertex solved again from the active "
            "constraints",
            numbers={**numbers, "nonzero": int(np.count_nonzero(self.coef_))},
        )

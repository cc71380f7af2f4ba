r"""The elastic net: least squares with an L1 and an L2 penalty.

Estimator    argmin RSS/(2n) + alpha r sum_j v_j |w_j| + alpha (1 - r)/2 sum_j v_j w_j^2
             r = l1_ratio; r = 1 is Lasso(alpha), r = 0 is Ridge(n alpha)
             Budget((t1, t2)): argmin RSS subject to sum v w^2 <= t1 and sum v|w| <= t2
Course       RSS/2 + (lambda/2)(a sum w^2 + (1 - a) sum |w|) is alpha = lambda (1 + a)/(2n),
             r = (1 - a)/(1 + a)
Algorithm    that of the lasso with X'X + n alpha (1 - r) I in place of X'X

For r < 1 the objective is strictly convex: one solution, correlated columns enter together, and
more than n coefficients may differ from zero.

References: Zou & Hastie (2005); Friedman, Hastie & Tibshirani (2010).
"""

from typing import Literal

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import ArrayLike, Seed
from pellucid.core.records import Card
from pellucid.core.runtime.stand_ins import stands_for
from pellucid.linear.budget import Budget
from pellucid.linear.lasso.paths import enet_path
from pellucid.linear.lasso.penalised_model import PenalisedModel, penalised_card


class ElasticNet(PenalisedModel):
    """Least squares with an L1 and an L2 penalty.

    Parameters
    ----------
    alpha : float or Budget, default=1.0
        Penalty strength, >= 0; or Budget((t1, t2)): sum w^2 <= t1 and sum |w| <= t2, which finds
        both ``alpha_`` and ``l1_ratio_``.
    l1_ratio : float, default=0.5
        Share r of the L1 penalty, from 0 (ridge) to 1 (lasso).
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    precompute : bool or array of shape (n_features, n_features), default=False
        Accepted for scikit-learn's sake; cross-products are made where they pay.
    max_iter : int, default=1000
        Most rounds; one is many coordinate sweeps and a check of all columns. None means 1000.
    copy_X : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    tol : float, default=1e-4
        The duality gap may be at most tol times the squares of y about its mean.
    warm_start : bool, default=False
        Start from the coefficients of the fit before.
    positive : bool, default=False
        Coefficients >= 0 (the intercept keeps its sign).
    random_state, selection
        Accepted for scikit-learn's sake ("cyclic" or "random"): the minimum is the same.
    solver : {"auto", "cd"} or a solver object, default="auto"
        Both names are coordinate descent; an object from ``pellucid.solvers`` shows its own steps.
    shrink_intercept : bool, default=False
        Penalise the intercept like a coefficient (the course's form).

    Attributes
    ----------
    coef_, intercept_ : slopes (p,) or (k, p), and intercept
    alpha_, l1_ratio_ : the penalty in use (the multipliers of a Budget)
    dual_gap_, n_iter_ : the certificate of the fit, and the rounds it took
    n_nonzero_, unique_ : how many coefficients are not zero, and whether no other w is as good
    budget_, budget_ols_, shrinkage_ : (sum w^2, sum |w|); with a Budget those of least squares,
        and the ratios
    history_ : objective and gap of every round

    Examples
    --------
    >>> from pellucid import ElasticNet
    >>> model = ElasticNet(alpha=0.1, l1_ratio=0.5).fit([[0.0, 0], [1, 1], [2, 3]], [0.0, 1, 2])
    >>> model.coef_.round(4), round(model.intercept_, 4)
    (array([0.2661, 0.4259]), 0.1659)
    """

    def __init__(
        self,
        alpha: float | Budget = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: bool | Literal["auto"] | ArrayLike = False,
        max_iter: int | None = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
        solver: str | BaseEstimator = "auto",
        shrink_intercept: bool = False,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.shrink_intercept = shrink_intercept

    path = staticmethod(enet_path)

    def _mix(self) -> float:
        return self.l1_ratio

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        n, alpha, r = self.n_observations_, self.alpha_, self.l1_ratio_
        absolute = "(|b| + sum |w|)" if self.shrink_intercept else "sum |w|"
        square = "(b^2 + sum w^2)" if self.shrink_intercept else "sum w^2"
        scales = []
        penalty = f"alpha r {absolute} + alpha (1 - r)/2 {square}"
        if np.ndim(alpha) == 0:
            penalty = f"{alpha * r:.6g} {absolute} + {alpha * (1 - r) / 2:.6g} {square}"
            a = (1 - r) / (1 + r)
            form = f"RSS/2 + (lambda/2)(a {square} + (1 - a) {absolute})"
            t1, t2 = self.budget_
            scales.append(f"lambda = {2 * n * alpha / (1 + a):.6g} and a = {a:.6g} in {form}")
            scales.append(f"constraints: {square} <= {t1:.6g}, {absolute} <= {t2:.6g}")
        notes = []
        if isinstance(self.alpha, Budget) and self._shape[0] <= self._shape[1]:
            notes.append("more columns than rows: budget_ols_ is that of the least-norm fit")
        if np.all(np.asarray(r) < 1) and np.all(np.asarray(alpha) > 0):
            notes.append("strictly convex: the only solution; correlated columns enter together")
            notes.append("more coefficients than rows may differ from zero")
        return penalised_card(self, penalty, scales, notes)


stands_for("sklearn.linear_model", ElasticNet)

r"""The lasso: least squares with an L1 penalty.

Model        y = b + X w + e,  e ~ N(0, s^2),  w_j Laplace with scale tau
Estimator    argmin RSS/(2n) + alpha sum_j v_j |w_j|,  the intercept free; v_j = 1 by default
             shrink_intercept: the course's form, |b| is penalised too
             Budget(t): argmin RSS subject to sum_j v_j |w_j| <= t
Optimal iff  x_j'r/n = alpha v_j sign(w_j) where w_j != 0, |x_j'r|/n <= alpha v_j where w_j = 0
Algorithm    coordinate descent on cross-products and exact steps on the support; all of them when
             n > p and p is moderate (one pass over the rows), else those of a working set that is
             certified over all columns by the duality gap.

References: Tibshirani (1996); Friedman, Hastie & Tibshirani (2010); Massias, Gramfort & Salmon
(2018); Tibshirani (2013), The lasso problem and uniqueness.
"""

from typing import Literal

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import ArrayLike, Seed
from pellucid.core.records import Card
from pellucid.core.runtime.stand_ins import stands_for
from pellucid.linear.budget import Budget
from pellucid.linear.lasso.paths import lasso_path
from pellucid.linear.lasso.penalised_model import PenalisedModel, penalised_card


class Lasso(PenalisedModel):
    """Least squares with an L1 penalty, which sets coefficients to zero.

    Parameters
    ----------
    alpha : float or Budget, default=1.0
        Penalty strength, >= 0, in RSS/(2n) + alpha sum |w|; or the size sum |w| may have.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    precompute : bool or array of shape (n_features, n_features), default=False
        Accepted for scikit-learn's sake; cross-products are made where they pay.
    copy_X : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    max_iter : int, default=1000
        Most rounds; one is many coordinate sweeps and a check of all columns. None means 1000.
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
    alpha_ : the penalty in use (the multiplier of a Budget)
    dual_gap_, n_iter_ : the certificate of the fit, and the rounds it took
    n_nonzero_, unique_ : how many coefficients are not zero, and whether no other w is as good
    budget_, budget_ols_, shrinkage_ : sum |w|; with a Budget that of least squares, and the ratio
    history_ : objective and gap of every round

    Examples
    --------
    >>> from pellucid import Lasso
    >>> model = Lasso(alpha=0.1).fit([[0.0, 0], [1, 1], [2, 3]], [0.0, 1, 2])
    >>> model.coef_.round(4), round(model.intercept_, 4), model.n_nonzero_
    (array([0.    , 0.5786]), 0.2286, 1)
    """

    def __init__(
        self,
        alpha: float | Budget = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: bool | Literal["auto"] | ArrayLike = False,
        copy_X: bool = True,
        max_iter: int | None = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
        solver: str | BaseEstimator = "auto",
        shrink_intercept: bool = False,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.shrink_intercept = shrink_intercept

    path = staticmethod(lasso_path)

    def _mix(self) -> float:
        return 1.0

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        n, alpha = self.n_observations_, self.alpha_
        one = np.ndim(alpha) == 0
        text = f"{alpha:.6g}" if one else "alpha"
        absolute = "(|b| + sum |w|)" if self.shrink_intercept else "sum |w|"
        double = f"{2 * n * alpha:.6g}" if one else f"{2 * n:g} alpha"
        mean = f"{2 * alpha:.6g}" if one else "2 alpha"
        scales = [
            f"lambda = {double} in RSS + lambda {absolute} and in RSS/2 + (lambda/2) {absolute}",
            f"lambda = {mean} in RSS/n + lambda {absolute}",
            f"prior: w_j Laplace with scale s^2/({n:g} * {text}): the mode of the posterior",
        ]
        if np.ndim(self.budget_) == 0:
            scales.append(f"constraint: {absolute} <= {self.budget_:.6g}")
        notes = []
        if not np.all(self.unique_):
            notes.append("other coefficients fit as well: columns of the support are dependent")
        if isinstance(self.alpha, Budget) and self._shape[0] <= self._shape[1]:
            notes.append("more columns than rows: budget_ols_ is that of the least-norm fit")
        notes.append("of a group of correlated columns the lasso tends to keep one")
        most = min(self._shape)
        notes.append(f"when the solution is unique, at most {most} coefficients are not zero")
        return penalised_card(self, f"{text} {absolute}", scales, notes)


stands_for("sklearn.linear_model", Lasso)

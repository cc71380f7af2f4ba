r"""Linear support vector regression.

Model        f(x) = w.x + b
Estimator    argmin |w|^2/2 + C sum_i v_i l(y_i - f(x_i)),  l(e) = (|e| - epsilon)_+ or its square
             b is free (not shrunk); epsilon = 0 with the first loss is the L2-penalised median line
Algorithm    finite Newton for the squared loss; around it the proximal method of multipliers for
             the other (``margin_newton.py``)

The dual variables p satisfy w = sum v p x and sum v p = 0; rows inside the tube have p = 0, on its
wall |p| <= C, outside |p| = C (first loss).

References: Drucker et al. (1997); Ho & Lin (2012), Large-scale linear support vector regression.
"""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.kernel.linear_svm import margin_newton
from pellucid.kernel.linear_svm.linear_svc import check_margins, fewer_columns, original_weights
from pellucid.kernel.linear_svm.margin_newton import NewtonState
from pellucid.kernel.linear_svm.margin_problem import make_loss, make_problem

LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")
ON = 1e-6  # relative distance at which a row counts as on the wall of the tube


class LinearSVR(Regressor):
    """Linear support vector regression with a free intercept.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube in which residuals cost nothing.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
        (|e| - epsilon)_+ of the residual e, or its square.
    tol : float, default=1e-4
        The fit ends when the relative duality gap is at most tol^2.
    C : float, default=1.0
        Weight of the losses.
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    intercept_scaling : float, default=1.0
        Value of the intercept's column where the intercept is shrunk.
    dual : bool or "auto", default="auto"
        Accepted for scikit-learn's sake; primal and dual are solved together.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    max_iter : int, default=1000
        Largest number of steps.
    shrink_intercept : bool, default=False
        Penalise the intercept like a weight: liblinear's problem.
    random_state : None, int, RandomState or Generator
        Accepted for scikit-learn's sake; the fit is deterministic.

    Attributes
    ----------
    coef_, intercept_ : arrays (p,) and (1,)
    dual_coef_ : array (n,), p of each row
    support_ : rows with p != 0
    slack_ : how far each row is outside the tube
    categories_ : "inside_tube", "on_tube" or "outside_tube" of each row
    objective_, dual_objective_, duality_gap_ : float
    n_iter_, history_

    Examples
    --------
    >>> from pellucid import LinearSVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.2, 1.9, 3.1, 3.9, 5.2]
    >>> model = LinearSVR(epsilon=0.1).fit(X, y)
    >>> model.coef_.round(3), model.intercept_.round(3)
    (array([0.975]), array([0.1]))
    """

    _squares_x = True
    _squares_y = True

    _accepts_sparse = True
    _multi_output = False

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: Seed = None,
        max_iter: int = 1000,
        shrink_intercept: bool = False,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.shrink_intercept = shrink_intercept

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None) -> Self:
        """Find the weights and the intercept."""
        check_margins(self)
        check.non_negative(epsilon=self.epsilon)
        check.one_of(LOSSES, loss=self.loss)
        rows = self._check_training(X, y, sample_weight)
        Z, Q = fewer_columns(rows.X)
        loss, b = make_loss(self.loss, self.C, self.epsilon), self.fit_intercept
        scaling = self.intercept_scaling if self.shrink_intercept else None
        problem = make_problem(Z, rows.y, rows.w, loss, intercept=b, scaling=scaling)

        def values(state: NewtonState) -> dict[str, Any]:
            b = margin_newton.middle_intercept(problem, state.point)
            w, intercept = original_weights(problem, state.point.theta, b, Q)
            return {"coef_": w, "intercept_": np.array([intercept])}

        context = FitContext.of_rows(self, rows, sample_weight, self.max_iter, values)
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol**2, "context": context}
        limits["record"] = lambda state: {"objective": state.point.objective}
        start = margin_newton.sample_start(problem, self.tol)
        run = self._iterate(partial(margin_newton.newton_step, problem), start, **limits)
        state = run.state
        found = values(state)
        self.coef_, self.intercept_ = found["coef_"], found["intercept_"]
        self.objective_, self.duality_gap_ = state.point.objective, state.point.gap
        self.dual_objective_ = state.point.objective - state.point.gap
        self._describe(rows.y - (rows.X @ self.coef_ + self.intercept_), state.point.P)
        return self

    def _describe(self, e: Array, P: Array) -> None:
        """Where each row lies: by its residual, and p between 0 and C on the wall."""
        size, scale = np.abs(e), ON * max(float(np.abs(e).max()), self.epsilon, 1e-300)
        self.dual_coef_ = P
        self.support_ = np.flatnonzero(P)
        self.slack_ = np.maximum(size - self.epsilon, 0.0)
        outside, inside = size > self.epsilon + scale, size < self.epsilon - scale
        names = np.array(["inside_tube", "on_tube", "outside_tube"])
        self.categories_ = names[np.where(outside, 2, np.where(inside, 0, 1))]

    def predict(self, X: ArrayLike) -> Array:
        """w.x + b."""
        return np.asarray(self._check_input(X) @ self.coef_ + self.intercept_[0])

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (self.n_features_in_,), "intercept_": (1,)}

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        kinked = self.loss == "epsilon_insensitive"
        how = "proximal method of multipliers, semismooth Newton steps"
        words = self.loss.replace("_", " ").replace("epsilon insensitive", "epsilon-insensitive")
        return Card(
            representation="f(x) = w.x + b",
            evaluation=f"|w|^2/2 + C times the sum of the {words} losses, C = {self.C:g}, "
            f"epsilon = {self.epsilon:g}",
            optimisation=how if kinked else "finite Newton on the rows outside the tube",
            numbers={
                "objective": self.objective_,
                "duality gap at most": self.duality_gap_,
                "rows with p not zero": len(self.support_),
                "steps": self.n_iter_,
            },
        )

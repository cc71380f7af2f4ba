r"""The linear support vector classifier.

Model        f(x) = w.x + b, the sign decides; K classes: one f for each against the rest
Estimator    argmin |w|^2/2 + C sum_i v_i l(y_i f(x_i)),   l = (1 - m)_+^2 or (1 - m)_+
             penalty "l1": |w|_1 with the squared hinge;  b is free (not shrunk)
Algorithm    finite Newton on the rows with a loss; for the hinge the proximal method of multipliers
             around it (``margin_newton.py``); proximal Newton for L1 (``margin_lasso.py``); dual
             coordinate descent for Crammer and Singer (``crammer_singer.py``)

Every fit knows how far at most its objective is above the minimum: ``duality_gap_``.

References: Vapnik (1998); Fan et al. (2008), LIBLINEAR; Mangasarian (2002).
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.inference.decisions.linear_rule import LinearClassifier, class_weights
from pellucid.kernel.linear_svm import crammer_singer
from pellucid.kernel.linear_svm.crammer_singer import CrammerState
from pellucid.kernel.linear_svm.margin_lasso import lasso_step, start_lasso
from pellucid.kernel.linear_svm.margin_newton import middle_intercept, newton_step, sample_start
from pellucid.kernel.linear_svm.margin_problem import WIDEST, Problem, make_loss, make_problem
from pellucid.kernel.linear_svm.sparse_rows import narrow


class LinearFit(NamedTuple):
    coef: Array  # (m, p)
    intercept: Array  # (m,)
    objective: float
    gap: float


def fewer_columns(X: Any) -> tuple[Any, Any]:
    """(Z, Q) with X = Z Q' and as many columns as rows, where X has more; else (X, None).

    w = Q u has the length of u, so the problem in u is the same.
    """
    n, p = X.shape
    if issparse(X) or p <= max(n, WIDEST):
        return X, None
    Q, R = np.linalg.qr(X.T)
    return np.ascontiguousarray(R.T), Q


def original_weights(
    problem: Problem, theta: Array, b: float, Q: Array | None
) -> tuple[Array, float]:
    """w and b of the columns as given."""
    w = theta[1:]
    return (w if Q is None else Q @ w), problem.ones * b - float(w @ problem.shift)


def check_margins(model: BaseEstimator) -> None:
    """The parameters that LinearSVC and LinearSVR share."""
    check.positive(C=model.C, tol=model.tol, intercept_scaling=model.intercept_scaling)
    check.whole(at_least=0, max_iter=model.max_iter)
    check.boolean(fit_intercept=model.fit_intercept, shrink_intercept=model.shrink_intercept)
    if np.inf == model.C:
        raise ValueError("C must be finite, got inf; MaximumMarginClassifier has the hard margin")
    if not isinstance(model.dual, bool | np.bool_) and model.dual != "auto":
        raise ValueError(f"dual must be True, False or 'auto', got {model.dual!r}")
    generator(model.random_state)


class LinearSVC(LinearClassifier):
    """Linear support vector classification, primal, with a free intercept.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default="l2"
        |w|^2/2, or |w|_1 with exact zeros (squared hinge only).
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        (1 - m)_+^2 or (1 - m)_+ of the margin m = y f(x).
    dual : bool or "auto", default="auto"
        Accepted for scikit-learn's sake; primal and dual are solved together.
    tol : float, default=1e-4
        The fit ends when the relative duality gap is at most tol^2, so that the coefficients are
        right to about tol.
    C : float, default=1.0
        Weight of the losses.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        One rule for each class against the rest, or one loss for all classes together (hinge, L2;
        its intercept is shrunk as liblinear's).
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    intercept_scaling : float, default=1.0
        Value of the intercept's column where the intercept is shrunk.
    class_weight : None, "balanced" or dict, default=None
        Factor of C for each class; "balanced": inversely to its weight in the data.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    random_state : None, int, RandomState or Generator
        The order of the rows for Crammer and Singer; the other fits are deterministic.
    max_iter : int, default=1000
        Largest number of steps.
    shrink_intercept : bool, default=False
        Penalise the intercept like a weight: liblinear's problem.

    Attributes
    ----------
    coef_, intercept_ : arrays (1, p) and (1,) for two classes, else (K, p) and (K,)
    objective_, duality_gap_ : the value reached, and by how much at most it is above the minimum
    n_iter_ : int
    history_ : a row per step: objective, gap

    Examples
    --------
    >>> from pellucid import LinearSVC
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0], [3.0, 2.0], [3.0, 3.0]]
    >>> model = LinearSVC(C=1000.0, loss="hinge").fit(X, [0, 0, 0, 1, 1, 1])
    >>> model.coef_.round(4), model.intercept_.round(4)  # the hard margin: 2/3, 2/3, -5/3
    (array([[0.6667, 0.6667]]), array([-1.6667]))
    """

    _squares_x = True

    _accepts_sparse = True

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: str | dict[Any, float] | None = None,
        verbose: int = 0,
        random_state: Seed = None,
        max_iter: int = 1000,
        shrink_intercept: bool = False,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.shrink_intercept = shrink_intercept

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None) -> Self:
        """Find the weights and intercept of every rule."""
        self._check_parameters()
        rows = self._check_training(X, y, sample_weight)
        self._need_two_classes(rows.n_rows)
        totals = np.bincount(rows.y, weights=rows.w, minlength=len(self.classes_))
        if np.count_nonzero(totals) < 2:
            raise ValueError("LinearSVC needs rows of at least 2 classes with positive weight")
        weights = class_weights(self.class_weight, self.classes_, totals.astype(np.float64))
        joint = self.multi_class == "crammer_singer" and len(self.classes_) > 2
        state, step, read = (self._joint if joint else self._rules)(rows, weights)
        context = FitContext.of_rows(self, rows, sample_weight, self.max_iter)
        context.attributes = lambda s: self._values(read(s))
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol**2, "context": context}
        limits["record"] = lambda s: {"objective": read(s).objective}
        run = self._iterate(step, state, **limits)
        self.coef_, self.intercept_, self.objective_, self.duality_gap_ = read(run.state)
        return self

    def _check_parameters(self) -> None:
        check_margins(self)
        check.one_of(("l2", "l1"), penalty=self.penalty)
        check.one_of(("squared_hinge", "hinge"), loss=self.loss)
        check.one_of(("ovr", "crammer_singer"), multi_class=self.multi_class)
        if self.penalty == "l1" and self.loss == "hinge" and self.multi_class == "ovr":
            raise ValueError("penalty='l1' with loss='hinge' is not supported; use 'squared_hinge'")

    def _rules(self, rows: Rows, weights: Array) -> tuple[Any, Any, Any]:
        """Start, step and reading of one problem for each rule."""
        lasso = self.penalty == "l1"
        X = narrow(rows.X) if issparse(rows.X) else rows.X
        X, Q = (X, None) if lasso else fewer_columns(X)
        loss, b = make_loss(self.loss, self.C), self.fit_intercept
        scaling = self.intercept_scaling if self.shrink_intercept else None
        make = partial(make_problem, loss=loss, intercept=b, scaling=scaling)
        problems = [make(X, y, v) for y, v in rule_rows(rows, weights)]
        begin = start_lasso if lasso else partial(sample_start, tol=self.tol)
        advance = lasso_step if lasso else newton_step
        states = [(begin(problem), np.inf) for problem in problems]

        def step(states: list[tuple[Any, float]]) -> tuple[Any, float]:
            def one(k: int) -> Any:
                state, gap = states[k]
                return states[k] if gap <= self.tol**2 else advance(problems[k], state)

            new = list(map_threads(one, range(len(problems))))
            return new, max(gap for _, gap in new)

        return states, step, partial(read_rules, problems, Q, lasso)

    def _joint(self, rows: Rows, weights: Array) -> tuple[Any, Any, Any]:
        scaling = self.intercept_scaling if self.fit_intercept else None
        cost = self.C * rows.w * weights[rows.y]
        rng = generator(self.random_state)
        problem = crammer_singer.make_crammer_singer(rows.X, rows.y, cost, scaling, rng)

        def read(state: CrammerState) -> LinearFit:
            W = state.W if scaling is None else state.W[:, :-1]
            b = np.zeros(len(W)) if scaling is None else scaling * state.W[:, -1]
            return LinearFit(W.copy(), b, state.objective, state.gap)

        start = crammer_singer.start_crammer_singer(problem, len(self.classes_))
        return start, partial(crammer_singer.crammer_singer_step, problem), read

    def _values(self, fit: LinearFit) -> dict[str, Any]:
        names = ("coef_", "intercept_", "objective_", "duality_gap_")
        return dict(zip(names, fit, strict=True))

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        K = len(self.classes_)
        joint = self.multi_class == "crammer_singer" and K > 2
        several = "one for all classes" if joint else f"one for each of {K} classes"
        size = "|w|_1" if self.penalty == "l1" and not joint else "|w|^2/2"
        loss = "Crammer and Singer's hinge" if joint else self.loss.replace("_", " ")
        shrunk = " (the intercept is shrunk too)" if self.shrink_intercept or joint else ""
        return Card(
            representation=f"f(x) = w.x + b, {'the sign decides' if K == 2 else several}",
            evaluation=f"{size}{shrunk} + C times the sum of the {loss} losses, C = {self.C:g}",
            optimisation=self._how(joint),
            numbers={
                "objective": self.objective_,
                "duality gap at most": self.duality_gap_,
                "steps": self.n_iter_,
                "weights not zero": int(np.count_nonzero(self.coef_)),
            },
        )

    def _how(self, joint: bool) -> str:
        if joint:
            return "coordinate descent in the dual, a round over the rows is a step"
        if self.penalty == "l1":
            return "proximal Newton with coordinate descent"
        if self.loss == "hinge":
            return "proximal method of multipliers, semismooth Newton steps"
        return "finite Newton on the rows that have a loss"


def rule_rows(rows: Rows, weights: Array) -> list[tuple[Array, Array]]:
    """y = -1 or +1 and the weights of each rule: own class by its weight, of K the rest by 1."""
    K = len(weights)
    if K == 2:
        v = rows.w if (weights == 1).all() else rows.w * weights[rows.y]
        return [(np.where(rows.y == 1, 1.0, -1.0), v)]
    pairs = []
    for k in range(K):
        own = rows.y == k
        v = rows.w if weights[k] == 1 else rows.w * np.where(own, weights[k], 1.0)
        pairs.append((np.where(own, 1.0, -1.0), v))
    return pairs


def read_rules(
    problems: list[Problem], Q: Array | None, lasso: bool, states: list[tuple[Any, float]]
) -> LinearFit:
    """Coefficients of every rule, the sum of objectives and of gaps."""
    found = []
    for problem, (state, _) in zip(problems, states, strict=True):
        point = state.point
        b = float(point.theta[0]) if lasso else middle_intercept(problem, point)
        found.append(original_weights(problem, point.theta, b, Q))
    points = [state.point for state, _ in states]
    coef, intercept = np.array([w for w, _ in found]), np.array([b for _, b in found])
    objective, gap = sum(point.objective for point in points), sum(point.gap for point in points)
    return LinearFit(coef, intercept, float(objective), float(gap))

r"""Logistic regression: the log-odds of the classes are linear in x.

Model        two classes: P(1 | x) = 1/(1 + exp(-(b + w.x)));  K: P(k | x) prop. to exp(b_k + w_k.x)
Estimator    argmin C sum_i v_i loss_i + (1 - r)/2 |W|^2 + r |W|_1,   loss = -log P(y | x)
             b is free; C = inf is maximum likelihood; K classes: coefficients sum to 0 over them
Algorithm    Newton = iteratively reweighted least squares (``.newton``) while the
             curvature is small, preconditioned L-BFGS (``.softmax``) beyond, proximal Newton
             with coordinate descent for L1 (``.proximal``), or a solver object
             (``.solver_objects``).    a Newton pass: n q^2/2, q = (p + 1) K

The loss is convex: a stationary point is a minimum, the only one where the curvature is positive
definite. Without a penalty it has no finite minimum where a hyperplane separates the classes.

References: Hastie, Tibshirani, Friedman, ESL, section 4.4; Albert & Anderson (1984).
"""

from functools import partial
from typing import Any, Literal, Self

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse import csr_matrix, hstack, issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, ClassWeight, Map, Seed
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, Source, Statistic, is_unit, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.inference.decisions.linear_rule import LinearClassifier, class_weights
from pellucid.linear.linear_model import dependent_sentence, first_rows
from pellucid.linear.logistic import outcome as ending
from pellucid.linear.logistic import sums
from pellucid.linear.logistic.card import logistic_card
from pellucid.linear.logistic.inference import LogisticInference
from pellucid.linear.logistic.newton import last_step, newton_step, sample_start, start_newton
from pellucid.linear.logistic.outcome import Outcome
from pellucid.linear.logistic.proximal import fit_proximal_newton
from pellucid.linear.logistic.softmax import centred, lbfgs_step, make_preconditioner, start_lbfgs
from pellucid.linear.logistic.solver_objects import make_objective, named_history
from pellucid.linear.logistic.sums import Problem, class_counts, evaluate
from pellucid.linear.penalty_scales import check_share
from pellucid.linear.solver_fit import is_solver
from pellucid.solvers.minimum import SeparationWarning, account

__all__ = ["LogisticRegression", "SeparationWarning"]

SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga", "auto")
SMALL = 100  # parameters up to which Newton is always quicker
BINARY = 500  # the same for two classes, whose curvature is cheap
LARGEST = 1500  # parameters up to which a curvature is made where inference needs it
CHEAP = 3e8  # multiply-adds of one curvature that take no time worth saving
RECORDED = 2000  # parameters up to which the history keeps them

Start = tuple[Array, Array] | None  # coefficients and intercepts to start from


class LogisticRegression(LogisticInference, LinearClassifier):
    """Linear log-odds, by maximum likelihood with or without a penalty.

    ``C=inf`` is maximum likelihood, with standard errors and tests in ``summary()``. ``fit`` and
    ``fit_blocks`` give the same model; ``sample_weight`` equals repetition.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", None}
        Deprecated in scikit-learn: use ``l1_ratio`` and ``C``.
    C : float, default=1.0
        Inverse of the penalty, > 0; the card states it in the scales of the textbooks.
    l1_ratio : float, default=0.0
        Share of the L1 penalty, from 0 (ridge) to 1 (exact zeros).
    dual : bool, default=False
        Accepted for scikit-learn's sake.
    tol : float, default=1e-4
        Newton ends when the step to come moves the log-odds by at most tol/100 (root mean square;
        tol/10,000 for C=inf) and takes it; L-BFGS at tol; L1 at a duality gap of tol^2.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    intercept_scaling : float, default=1
        With solver="liblinear" only: the penalty counts (intercept/intercept_scaling).
    class_weight : None, "balanced" or dict, default=None
        What a row of each class counts; "balanced" is N/(K n_k).
    random_state : default=None
        Accepted for scikit-learn's sake: nothing here is random but ``latent``.
    solver : str or solver object, default="lbfgs"
        All names lead to the same minimum by the quickest way ("auto"); "newton-cholesky" insists
        on Newton, "liblinear" penalises the intercept. An object (``GradientDescent``, ``Newton``,
        ``SubgradientDescent``, ``ProximalGradient``) shows its own steps on the mean loss.
    max_iter : int, default=100
        Largest number of iterations of the solver.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    warm_start : bool, default=False
        Start from the last fit.
    n_jobs : default=None
        Accepted for scikit-learn's sake; threads are shared by ``PELLUCID_NUM_THREADS``.
    shrink_intercept : bool, default=False
        Penalise the intercept like a coefficient.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, p) and (1,), for K > 2 classes (K, p) and (K,)
    n_iter_, history_ : steps; objective (mean loss + penalty/(C n)), gap, parameters of each
    log_likelihood_, null_log_likelihood_, deviance_, aic_, bic_, df_ : of this fit
    separation_ : "none", "complete" or "quasi" (looked at where C=inf only)
    covariance_, standard_errors_ : of maximum likelihood, the intercept first

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LogisticRegression
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 1, 0, 1, 1]
    >>> model = LogisticRegression(C=np.inf).fit(X, y)
    >>> model.intercept_.round(6), model.coef_.round(6), round(model.log_likelihood_, 6)
    (array([-3.035069]), array([[1.214028]]), -2.477987)
    >>> model.standard_errors_.round(6), model.predict_proba([[2.5]]).round(4)
    (array([2.545713, 0.912586]), array([[0.5, 0.5]]))
    """

    _accepts_sparse = True
    _keeps_single = True

    fit_blocks = fit_blocks

    def __init__(
        self,
        penalty: Literal["l1", "l2", "elasticnet", "deprecated"] | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: ClassWeight = None,
        random_state: Seed = None,
        solver: Any = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        shrink_intercept: bool = False,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.shrink_intercept = shrink_intercept

    def _check_parameters(self) -> None:
        check.positive(C=self.C, tol=self.tol, intercept_scaling=self.intercept_scaling)
        if self.l1_ratio is not None:
            check_share(l1_ratio=self.l1_ratio)
        names = ("dual", "fit_intercept", "warm_start", "shrink_intercept")
        check.boolean(**{name: getattr(self, name) for name in names})
        check.whole(at_least=0, max_iter=self.max_iter)
        if not is_solver(self.solver):
            check.one_of(SOLVERS, solver=self.solver)
        if self.penalty != "deprecated":
            if self.penalty is not None:
                check.one_of(("l1", "l2", "elasticnet"), penalty=self.penalty)
            use = "l1_ratio=0 for 'l2', l1_ratio=1 for 'l1', l1_ratio between for 'elasticnet'"
            warn(f"'penalty' was deprecated: use {use}, and C=inf for None", FutureWarning)

    def _strength(self) -> tuple[float, float]:
        """(1/C, l1_ratio) in force."""
        if self.penalty is None or np.inf == self.C:
            return 0.0, 0.0
        ratio = 0.0 if self.l1_ratio is None else float(self.l1_ratio)
        return 1 / float(self.C), {"l1": 1.0, "l2": 0.0}.get(self.penalty, ratio)

    def _intercept_price(self) -> float:
        """What multiplies the penalty of the intercept's square."""
        if self.solver == "liblinear" and not self.shrink_intercept:
            return 1 / float(self.intercept_scaling) ** 2
        return float(self.shrink_intercept)

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
    ) -> Self:
        """Maximise the penalised likelihood."""
        self._check_parameters()
        last = self._last() if self.warm_start else None
        deferred = sample_weight is None and not issparse(X)  # NaN shows in the loss
        rows = self._check_training(X, y, sample_weight, defer_finite=deferred)
        rows = self._present_classes(rows)
        if is_solver(self.solver) or self._strength()[1] > 0:  # not by sums over leaves
            rows = rows.double()
        problem = self._problem(rows, map_threads)
        start = self._start(problem, last, coef_init, intercept_init)
        by_object = is_solver(self.solver)
        limit = getattr(self.solver, "max_iter", None) if by_object else self.max_iter
        attributes = partial(self._attributes, problem)
        context = FitContext.of_rows(self, rows, sample_weight, limit, attributes)
        if by_object:
            outcome = self._fit_by_solver(rows, problem, start, context)
        elif self._strength()[1] > 0:
            outcome = self._fit_proximal(rows, problem, start, context)
        elif self._newton_pays(rows, problem):
            outcome = self._fit_newton(problem, start, context)
        else:
            outcome = self._fit_lbfgs(problem, start, context)
        self._finish(problem, outcome)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._need_two_classes(rows.n_rows)
        if is_solver(self.solver) or self._strength()[1] > 0:
            raise ValueError("fit_blocks is Newton's method: no L1 penalty, no solver object")
        problem = self._problem(rows, map_)
        if (problem.counts == 0).any():
            empty = self.classes_[int(np.argmin(problem.counts))]
            raise ValueError(f"every row of class {empty} has weight 0; leave them out")
        size = problem.n_scores * len(problem.ridge)
        if size > 2 * LARGEST:
            raise ValueError(f"fit_blocks takes up to {2 * LARGEST} parameters, got {size}")
        attributes = partial(self._attributes, problem)
        context = FitContext(self, max_steps=self.max_iter, attributes=attributes)
        start = self._start(problem, self._last() if self.warm_start else None)
        self._finish(problem, self._fit_newton(problem, start, context))

    def _last(self) -> Start:
        return (self.coef_, self.intercept_) if hasattr(self, "coef_") else None

    def _present_classes(self, rows: Rows) -> Rows:
        """Classes whose rows all have weight 0 are absent."""
        if not is_unit(rows.w):
            counts = class_counts(len(self.classes_), rows)
            if (counts == 0).any():
                code = np.cumsum(counts > 0) - 1
                self.classes_ = self.classes_[counts > 0]
                rows = rows._replace(y=np.maximum(code, 0)[rows.y].astype(np.intp))
        self._need_two_classes(rows.n_rows)
        return rows

    def _problem(self, rows: Source, map_: Map) -> Problem:
        K, p = len(self.classes_), self.n_features_in_
        counts = reduce_rows(Statistic(partial(class_counts, K), sums.add), rows, map_)
        self.n_observations_ = float(counts.sum())
        weights = class_weights(self.class_weight, self.classes_, counts)
        counts = counts * weights
        total = counts.sum()
        if not total > 0 or (counts > 0).sum() < 2:
            raise ValueError("class_weight leaves rows of fewer than 2 classes")
        strength, ratio = self._strength()
        ridge = np.full(p + 1, strength * (1 - ratio) / total)
        ridge[0] *= self._intercept_price()
        if not self.fit_intercept:
            ridge[0] = 1.0  # the parameter is held at 0
        shift = np.zeros(p)
        if self.fit_intercept and ridge[0] == 0:
            first = first_rows(rows).slice(0, LEAF_ROWS)  # as over blocks
            shift = shift if issparse(first.X) else sums.typical_row(first.X, first.w)
        factors = None if (weights == 1).all() else weights
        return Problem(rows, map_, K, ridge, shift, self.fit_intercept, factors, counts)

    def _start(
        self, problem: Problem, last: Start, coef_init: Any = None, intercept_init: Any = None
    ) -> Start:
        """Given values, the last fit, or None."""
        m, p = problem.n_scores, len(problem.shift)
        coef, b = np.zeros((m, p)), np.zeros(m)
        if last is not None and last[0].shape == (m, p):
            coef, b = last
        elif coef_init is None and intercept_init is None:
            return None
        if coef_init is not None:
            coef = np.array(coef_init, dtype=np.float64)
            if coef.size != m * p:
                raise ValueError(f"coef_init must have shape {(m, p)}, got {coef.shape}")
        if intercept_init is not None:
            b = np.array(intercept_init, dtype=np.float64).ravel()
            if b.size != m:
                raise ValueError(f"intercept_init must have shape {(m,)}, got {b.shape}")
        return coef.reshape(m, p), b

    def _theta(self, problem: Problem, start: Start) -> Array:
        """The start in the shifted columns, with classes that sum to 0."""
        if start is None:
            return np.zeros((problem.n_scores, len(problem.ridge)))
        coef, b = start
        b = (b + coef @ problem.shift) * problem.intercept
        return centred(np.column_stack([b, coef]))

    def _newton_pays(self, rows: Rows, problem: Problem) -> bool:
        size = problem.n_scores * len(problem.ridge)
        if self.solver == "newton-cholesky":
            return size <= 2 * LARGEST
        if size <= SMALL:
            return True
        if self._strength()[0] == 0:
            return size <= LARGEST
        if issparse(rows.X):
            return False
        if problem.n_scores == 1 and size <= BINARY:
            return True
        return size <= 2 * BINARY and rows.n_rows * float(size) ** 2 <= CHEAP

    def _loop(self, problem: Problem, context: FitContext) -> dict[str, Any]:
        """What the loops of Newton and L-BFGS share."""
        free = self._strength()[0] == 0  # a rule without errors: there is no finite minimum
        stop = (lambda history: history[-1]["errors"] == 0) if free else None
        record = partial(self._row, problem)
        return {"max_iter": self.max_iter, "record": record, "context": context, "stop": stop}

    def _row_weights(self, rows: Rows, problem: Problem) -> Array:
        """Sample weights times class weights."""
        weight = problem.class_weight
        return np.array(rows.w) if weight is None else rows.w * weight[rows.y]

    def _goal(self) -> float:
        return self.tol * (1e-4 if self._strength()[0] == 0 else 1e-2)

    def _fit_newton(self, problem: Problem, start: Start, context: FitContext) -> Outcome:
        theta = self._theta(problem, start)
        if start is None:
            theta = sample_start(problem, theta, newton_step)
        state = start_newton(problem, theta)
        self._check_loss(problem, state.point.loss)
        step = partial(newton_step, problem)
        run = self._iterate(step, state, **self._loop(problem, context), tol=self._goal())
        return ending.newton_outcome(problem, run, start is None and bool(theta.any()))

    def _fit_lbfgs(self, problem: Problem, start: Start, context: FitContext) -> Outcome:
        if isinstance(problem.source, Rows):
            self._refuse_nonfinite(problem.source.X)
        P, rows = make_preconditioner(problem), problem.source
        if isinstance(rows, Rows) and issparse(rows.X):
            problem = problem._replace(source=sums.cut_rows(rows))
        state = start_lbfgs(problem, P, self._theta(problem, start))
        self._check_loss(problem, state.point.loss)
        step = partial(lbfgs_step, problem, P)
        run = self._iterate(step, state, **self._loop(problem, context), tol=self.tol)
        point, by = run.state.point, "Gram matrix" if P.vectors is not None else "columns"
        left = f"movement of the log-odds to come {run.state.gap:.2g}"
        how = f"L-BFGS preconditioned by the {by}: {run.n_iter} steps, {left}"
        return Outcome(point.theta, point.loss, point.wrong, run.converged, not run.converged, how)

    def _fit_proximal(
        self, rows: Rows, problem: Problem, start: Start, context: FitContext
    ) -> Outcome:
        self._refuse_nonfinite(rows.X)
        K, (strength, ratio) = len(self.classes_), self._strength()
        X, price = rows.X, np.sqrt(self._intercept_price())
        scaled = self.fit_intercept and price not in (0.0, 1.0)  # liblinear's synthetic column
        if scaled:
            column = np.full((X.shape[0], 1), 1 / price)
            X = csr_matrix(hstack([X, column])) if issparse(X) else np.hstack([X, column])
            start = None
        data = X, rows.y, K, self._row_weights(rows, problem)
        free = self.fit_intercept and not scaled
        how: dict[str, Any] = {"fit_intercept": free, "shrink_intercept": price == 1.0}
        how |= {"tol": self.tol, "max_iter": self.max_iter, "start": start}
        how |= {"loop": self._iterate, "context": context}
        fit = fit_proximal_newton(*data, 1 / strength, ratio, **how)
        coef, offset = fit.coef, fit.intercept
        if scaled:
            coef, offset = coef[:, :-1], coef[:, -1] / price
        theta = np.column_stack([offset + coef @ problem.shift, coef])
        point = evaluate(problem, theta, curved=False)
        words = f"proximal Newton with coordinate descent on working sets: {fit.n_iter} rounds"
        words += f"; the objective is at most {fit.gap:.2g} above the minimum"
        return Outcome(theta, point.loss, point.wrong, fit.converged, False, words)

    def _fit_by_solver(
        self, rows: Rows, problem: Problem, start: Start, context: FitContext
    ) -> Outcome:
        K, (strength, ratio), m = len(self.classes_), self._strength(), problem.n_scores
        w = self._row_weights(rows, problem)
        X = np.ascontiguousarray(to_dense(rows.X))
        self._refuse_nonfinite(X)
        scale = strength / problem.total
        penalty = L1L2(scale * ratio, scale * (1 - ratio) / 2) if strength > 0 else None
        data = X, rows.y, K, w
        f = make_objective(data, penalty, self.fit_intercept, self.shrink_intercept)
        coef, b = (np.zeros((m, X.shape[1])), np.zeros(m)) if start is None else start
        first = np.column_stack([b, coef]) if self.fit_intercept else coef
        found = self.solver.minimise(f, first.ravel(), context=context)
        self.history_, self.n_iter_ = named_history(found.history, m), max(found.n_iter, 1)
        context.end(found)
        theta = self._solver_theta(problem, found.x)
        point = evaluate(problem, theta, curved=False)
        slow = not found.converged or ending.largest_score(problem, theta) > 15
        how = f"{type(self.solver).__name__}: {account(found)}"
        return Outcome(theta, point.loss, point.wrong, found.converged, slow, how)

    def _solver_theta(self, problem: Problem, x: Array) -> Array:
        """A solver's vector in the shifted columns."""
        T = x.reshape(problem.n_scores, -1)
        if not self.fit_intercept:
            return np.column_stack([np.zeros(len(T)), T])
        return np.column_stack([T[:, 0] + T[:, 1:] @ problem.shift, T[:, 1:]])

    def _check_loss(self, problem: Problem, loss: float) -> None:
        if np.isfinite(loss):
            return
        if isinstance(problem.source, Rows):
            self._refuse_nonfinite(problem.source.X)
        raise ValueError("the squares of X overflow float64; scale the columns down")

    def _row(self, problem: Problem, state: Any) -> dict[str, Any]:
        point = state.point
        row = {"objective": point.objective, "errors": point.wrong, "share": state.share}
        if point.theta.size <= RECORDED:
            coef, b = self._in_units(problem, point.theta)
            T = np.column_stack([b, coef]) if self.fit_intercept else coef
            row["parameters"] = T[0] if len(T) == 1 else T
        return row

    def _in_units(self, problem: Problem, theta: Array) -> tuple[Array, Array]:
        """Slopes and intercepts for X itself."""
        coef = theta[:, 1:].copy()
        if not problem.intercept:
            return coef, np.zeros(len(theta))
        return coef, theta[:, 0] - coef @ problem.shift

    def _attributes(self, problem: Problem, state: Any) -> dict[str, Any]:
        """The fitted attributes at a state of the loop."""
        if hasattr(state, "solved"):
            done = state.gap <= self._goal()
            theta = last_step(state) if done else state.point.theta
        elif hasattr(state, "point"):
            theta = state.point.theta
        elif hasattr(state, "W"):
            p = self.n_features_in_
            b = state.W[:, -1] if state.W.shape[1] > p else state.b
            return {"coef_": state.W[:, :p].copy(), "intercept_": np.array(b)}
        else:
            theta = self._solver_theta(problem, state.x)
        coef, b = self._in_units(problem, theta)
        return {"coef_": coef, "intercept_": b}

    def _finish(self, problem: Problem, outcome: Outcome) -> None:
        self.coef_, self.intercept_ = self._in_units(problem, outcome.theta)
        self.n_iter_: Any = np.array([self.n_iter_], dtype=np.int32)
        K, N = problem.n_classes, self.n_observations_
        null = sums.log_likelihood_of_counts(problem.counts)
        self.log_likelihood_ = -outcome.loss
        self.null_log_likelihood_ = null if self.fit_intercept else -problem.total * np.log(K)
        self.deviance_ = 2 * outcome.loss
        penalised = self._strength()[0] > 0
        if outcome.df is not None:
            self.df_ = outcome.df
        elif self._strength()[1] > 0:  # unbiased for the lasso; the last class follows from others
            self.df_ = float(np.count_nonzero(self.coef_) + self.fit_intercept * (K - 1))
        else:
            self.df_ = float((K - 1) * (self.n_features_in_ + self.fit_intercept))
        self.aic_ = self.deviance_ + 2 * self.df_
        self.bic_ = self.deviance_ + self.df_ * np.log(N)
        self._converged, self._how = outcome.converged, outcome.how
        self._dependent, self._certificate = outcome.dependent, outcome.certificate
        self._covariance = None
        self.separation_ = "none" if penalised else ending.separation_status(problem, outcome)
        if self.separation_ != "none":
            what = "a hyperplane separates the classes"
            if self.separation_ == "quasi":
                what += " but for rows on it (quasi-complete separation)"
            run = "the coefficients run to infinity and the likelihood has no finite maximum"
            remedies = "a finite C, BayesianLogisticRegression, FirthLogisticRegression"
            kept = f"the last iterate is kept (remedies: {remedies})"
            warn(f"{what}: {run}; {kept}", SeparationWarning)
        elif outcome.dependent and not penalised:
            shape = (int(N), self.n_features_in_)
            which = dependent_sentence(self._feature_names(), outcome.dependent, shape)
            many = "the coefficients are the least-norm choice of many"
            warn(f"{which}: {many}; a finite C makes them unique", LinAlgWarning)
        elif not penalised:
            self._covariance = outcome.covariance

    predict_log_proba = ending.predict_log_proba
    predict_proba, _predict_proba_tensor = ending.predict_proba, ending.predict_proba_tensor

    def latent(self, X: ArrayLike, random_state: Seed = None) -> tuple[Array, Any]:
        """Draw (y*, y): y* = b + w.x + Logistic(0, 1), y = classes_[1] where y* >= 0."""
        check_is_fitted(self)
        self._need_binary("latent")
        scores = self._scores(self._check_input(X))[:, 0]
        drawn = scores + generator(random_state).logistic(size=len(scores))
        return drawn, self.classes_[(drawn >= 0).astype(np.intp)]

    def _need_binary(self, what: str) -> None:
        if len(self.classes_) != 2:
            raise ValueError(f"{what} is for 2 classes, this model has {len(self.classes_)}")

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        return logistic_card(self, *self._strength(), self._intercept_price())

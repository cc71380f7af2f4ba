r"""Linear regression by stochastic gradient descent, one row at a time.

    minimises    mean l(y, b + x'w) + alpha (r sum |w| + (1 - r)/2 sum w^2)
    one visit    w <- max(0, 1 - eta alpha (1 - r)) w - eta l'(y, f) x,   b <- b - eta l'(y, f)
                 then w_j moves towards 0 by what the L1 penalty is due since its last truncation

Each noise model has its loss: normal noise squared_error, Laplace noise absolute, a mixture huber;
epsilon_insensitive ignores small errors. The order of the visits is decided by the contents of the
rows and the seed (``compiled.visits``), so weights are repetitions and the order of the table does
not matter. Rates, stopping and averaging have scikit-learn's meaning.

Cost: O(p) per visit; the epochs are compiled.

References: Bottou (2012), Stochastic gradient descent tricks; Tsuruoka et al. (2009); Polyak &
Juditsky (1992) for averaging; Crammer et al. (2006) for pa1 and pa2.
"""

import warnings
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, check_weights, with_callbacks
from pellucid.compiled.epochs import STEP_PA1, STEP_PA2, STEP_RATE
from pellucid.compiled.visits import plan_visits
from pellucid.core import check
from pellucid.core.iterate import (
    ConvergenceWarning,
    DivergenceWarning,
    FitContext,
    Iteration,
    iterate,
)
from pellucid.core.losses import get_loss
from pellucid.core.penalties import L1L2
from pellucid.core.random import generator
from pellucid.core.records import Card
from pellucid.core.statistics import Rows, is_unit
from pellucid.core.typing import Array, ArrayLike
from pellucid.linear.iterative import is_solver, join_histories
from pellucid.linear.stochastic import (
    Problem,
    SGDState,
    fresh_state,
    mean_loss,
    record_row,
    sgd_step,
    split_visits,
)
from pellucid.solvers.minimum import RUNAWAY
from pellucid.solvers.objective import LinearObjective
from pellucid.solvers.schedules import Adaptive, Constant, InverseScaling, Optimal, Schedule

LOSSES = {  # our name and the factor of the formula
    "squared_error": ("squared", 0.5),
    "absolute": ("absolute", 1.0),
    "huber": ("huber", 1.0),
    "epsilon_insensitive": ("epsilon_insensitive", 1.0),
    "squared_epsilon_insensitive": ("squared_epsilon_insensitive", 1.0),
}
RATES = ("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2")
KINDS = {"pa1": STEP_PA1, "pa2": STEP_PA2}
MOST_VISITS = 1e9  # of an epoch; weights count as repetitions
UNSCALED = 1000.0  # ratio of the sizes of two columns


class SGDRegressor(Regressor):
    """Linear regression by stochastic gradient descent.

    Parameters
    ----------
    loss : str, default="squared_error"
        squared_error ((y - f)^2 / 2), absolute, huber, epsilon_insensitive or
        squared_epsilon_insensitive.
    penalty : {"l2", "l1", "elasticnet", None}, default="l2"
    alpha : float, default=0.0001
        Strength of the penalty.
    l1_ratio : float, default=0.15
        Share of L1 in "elasticnet".
    fit_intercept : bool, default=True
    max_iter : int, default=1000
        Largest number of epochs.
    tol : float or None, default=1e-3
        Progress an epoch must make; ``n_iter_no_change`` epochs without it end the fit.
    shuffle : bool, default=True
        A new order of the rows in every epoch.
    verbose : int, default=0
        Accepted for scikit-learn's sake; see ``history_`` and scikit-learn's ProgressBar.
    epsilon : float, default=0.1
        The e of huber and the epsilon-insensitive losses.
    random_state : None, int, RandomState or Generator
    learning_rate : str, default="invscaling"
        constant, invscaling (eta0 / t^power_t), optimal, adaptive (eta0, divided by 5 when there is
        no progress), pa1 or pa2 (passive-aggressive, for epsilon_insensitive).
    eta0, power_t : float, default=0.01, 0.25
    early_stopping : bool, default=False
        Judge progress by R^2 on rows held out.
    validation_fraction : float, default=0.1
        How many to hold out.
    n_iter_no_change : int, default=5
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    average : bool or int, default=False
        Return the average of the iterates, from that visit on.
    solver : solver object or None, default=None
        A solver of ``pellucid.solvers`` (such as ``GradientDescent(batch_size=32, rule=Adam())``)
        in the place of all keywords about rates, stopping and averaging.

    Attributes
    ----------
    coef_ : array of shape (p,)
    intercept_ : array of shape (1,)
    n_iter_, t_ : epochs, visits + 1
    history_ : a row per epoch: objective, parameters, learning_rate, validation_score

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import SGDRegressor
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> model = SGDRegressor(random_state=0, alpha=0.0, eta0=0.1).fit(X, 2 * X.ravel() + 1)
    >>> model.coef_.round(1), model.intercept_.round(1)
    (array([2.]), array([1.]))
    """

    _multi_output = False
    _accepts_sparse = True

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        random_state: Any = None,
        learning_rate: str = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        average: bool | int = False,
        solver: Any = None,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average
        self.solver = solver

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        self._check_parameters()
        rows = self._dense(self._check_training(X, y, sample_weight))
        start = self._start(rows.X.shape[1], coef_init, intercept_init)
        context = FitContext(
            self, X=rows.X, y=rows.y, sample_weight=sample_weight, max_steps=self._limit(),
            attributes=self._attributes,
        )  # fmt: skip
        if self.solver is not None:
            self._fit_by_solver(rows, start, context)
        else:
            self._fit_epochs(rows, start, self.max_iter, context)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One epoch (one iteration of ``solver``) over these rows, from where the last ended."""
        first = not hasattr(self, "coef_")
        self._check_parameters()
        if self.early_stopping:
            raise ValueError("early_stopping must be False with partial_fit")
        matrix = self._check_matrix(X, reset=first, finite=True)
        target = self._check_target(y, matrix.shape[0])
        rows = self._dense(Rows(matrix, target, check_weights(sample_weight, matrix)))
        state = self._start(rows.X.shape[1], None, None) if first else self._resume()
        if self.solver is not None:
            self._fit_by_solver(rows, state, None)
        else:
            self._fit_epochs(rows, state, 1, None)
        return self

    def _check_parameters(self) -> None:
        check.one_of(tuple(LOSSES), loss=self.loss)
        if self.penalty is not None:
            check.one_of(("l2", "l1", "elasticnet"), penalty=self.penalty)
        check.one_of(RATES, learning_rate=self.learning_rate)
        check.non_negative(alpha=self.alpha, epsilon=self.epsilon, power_t=self.power_t)
        check.positive(eta0=self.eta0)
        if self.tol is not None:
            check.non_negative(tol=self.tol)
        check.fraction(validation_fraction=self.validation_fraction)
        check.whole(max_iter=self.max_iter, n_iter_no_change=self.n_iter_no_change)
        for name in ("fit_intercept", "shuffle", "early_stopping", "warm_start"):
            check.boolean(**{name: getattr(self, name)})
        if not isinstance(self.average, bool | np.bool_):
            check.whole(average=self.average)
        self._check_ratio()
        generator(self.random_state)
        if self.solver is not None and not is_solver(self.solver):
            raise ValueError(f"solver must be a solver object or None, got {self.solver!r}")
        if self.learning_rate == "optimal" and self.alpha == 0:
            raise ValueError("learning_rate='optimal' is computed from alpha: it must be > 0")
        if self.learning_rate in KINDS and self.loss != "epsilon_insensitive":
            raise ValueError(
                f"learning_rate={self.learning_rate!r} needs loss='epsilon_insensitive', "
                f"got {self.loss!r}"
            )

    def _check_ratio(self) -> None:
        if self.l1_ratio is None:
            if self.penalty == "elasticnet":
                raise ValueError("penalty='elasticnet' needs l1_ratio, got None")
            return
        check.non_negative(l1_ratio=self.l1_ratio)
        if self.l1_ratio > 1:
            raise ValueError(f"l1_ratio must be between 0 and 1, got {self.l1_ratio!r}")

    def _limit(self) -> int | None:
        return self.max_iter if self.solver is None else getattr(self.solver, "max_iter", None)

    def _dense(self, rows: Rows) -> Rows:
        X = rows.X.toarray() if issparse(rows.X) else rows.X
        return rows._replace(X=np.ascontiguousarray(X))

    def _start(self, p: int, coef_init: Any, intercept_init: Any) -> SGDState:
        """Where a fit starts: given values, the last fit (warm_start), or 0."""
        coef, b = np.zeros(p), 0.0
        if self.warm_start and hasattr(self, "_state") and len(self._state.coef) == p:
            coef, b = self._state.coef, self._state.intercept
        if coef_init is not None:
            coef = np.array(coef_init, dtype=np.float64).ravel()
            if coef.shape != (p,):
                raise ValueError(f"coef_init must have {p} numbers, got {len(coef)}")
        if intercept_init is not None:
            given = np.asarray(intercept_init, dtype=np.float64).ravel()
            if given.shape != (1,):
                raise ValueError(f"intercept_init must be one number, got {len(given)}")
            b = float(given[0])
        return fresh_state(coef, b)

    def _resume(self) -> SGDState:
        check_is_fitted(self)
        kept = self._state
        return kept._replace(share=1.0, waited=0, best=np.inf)

    def _penalty(self) -> L1L2:
        """The penalty with alpha/2 sum w^2 as its L2 part."""
        if self.penalty is None:
            return L1L2()
        r = {"l2": 0.0, "l1": 1.0}.get(self.penalty, self.l1_ratio)
        return L1L2(self.alpha * r, self.alpha * (1 - r) / 2)

    def _schedule(self) -> Schedule:
        if self.learning_rate == "optimal":
            return Optimal(self.alpha)
        if self.learning_rate == "invscaling":
            return InverseScaling(self.eta0, self.power_t)
        if self.learning_rate == "adaptive":
            return Adaptive(self.eta0, 5.0, self.n_iter_no_change)
        return Constant(self.eta0)

    def _problem(self, rows: Rows, schedule: Schedule) -> Problem:
        weight = None if is_unit(rows.w) or (rows.w == 1).all() else rows.w
        if weight is not None and np.ceil(weight).sum() > MOST_VISITS:
            raise ValueError(
                f"weights are repetitions: their sum {weight.sum():.3g} would be that many visits "
                "per epoch; divide them by a constant"
            )
        seed = int(generator(self.random_state).integers(2**62))
        visits = plan_visits(rows.X, rows.y, weight, seed)
        self._warn_unscaled(visits.squares)
        held = None
        if self.early_stopping:
            visits, held = split_visits(visits, self.validation_fraction)
        name, factor = LOSSES[self.loss]
        penalty = self._penalty()
        return Problem(
            rows.X, rows.y, visits, held, get_loss(name, self.epsilon), factor, penalty.l1,
            2 * penalty.l2, self.fit_intercept, int(self.average),
            KINDS.get(self.learning_rate, STEP_RATE), schedule, self.shuffle,
            self.n_iter_no_change, -np.inf if self.tol is None else float(self.tol),
        )  # fmt: skip

    def _fit_epochs(
        self, rows: Rows, start: SGDState, max_iter: int, context: FitContext | None
    ) -> None:
        schedule = self._schedule()
        problem = self._problem(rows, schedule)
        f = rows.X @ start.coef + start.intercept if start.coef.any() else start.intercept
        first = problem.factor * problem.loss.value(rows.y, np.broadcast_to(f, rows.y.shape))
        limit = RUNAWAY * max(1.0, float(np.average(first, weights=rows.w)))
        cut = np.zeros(rows.X.shape[1] + 1)
        falling = schedule(1e9) < schedule(0.0)  # such a rate may recover from a wild beginning
        epochs = iter(range(1, max_iter + 1))
        why = (
            f"the learning rate {float(schedule(start.t - 1)):.6g} is too large for these columns; "
            "scale them or lower eta0; the last point before is kept"
        )
        run = self._loop(
            lambda state: sgd_step(problem, state, next(epochs), cut, np.inf if falling else limit),
            start, max_iter, context, why,
        )  # fmt: skip
        state = run.state
        if state.objective > limit and mean_loss(problem, state.coef, state.intercept) > limit:
            warnings.warn(
                f"SGDRegressor: diverged: {why.replace('last point before', 'start')}",
                DivergenceWarning,
                stacklevel=3,
            )
            state = start._replace(t=state.t)
        if self.average and mean_loss(problem, *self._chosen(state)) > limit:
            warnings.warn(
                "SGDRegressor: the average of the iterates holds a wild beginning; the last "
                "iterate is kept instead (a larger average= begins later)",
                DivergenceWarning,
                stacklevel=3,
            )
            state = state._replace(mean=state.coef, mean_intercept=state.intercept)
        self._state = state
        self._set(state)
        if max_iter > 1 and run.reason == "max_iter" and self.tol is not None:
            warnings.warn(
                f"SGDRegressor: no convergence in max_iter={max_iter} epochs: the objective still "
                f"falls by more than tol={self.tol:g}; raise max_iter or eta0, or scale columns",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _loop(
        self, step: Any, start: SGDState, max_iter: int, context: FitContext | None, why: str
    ) -> Iteration:
        run = iterate(
            step, start, max_iter=max_iter, tol=None if self.tol is None else 0.0,
            record=record_row, start_row=False, name="SGDRegressor", context=context, warn=False,
            explain=lambda state: why,
        )  # fmt: skip
        self.history_, self.n_iter_ = run.history, max(run.n_iter, 1)
        if context is not None:
            context.end(run.state)
        return run

    def _attributes(self, state: Any) -> dict[str, Any]:
        """The fitted attributes at a state of the loop."""
        if isinstance(state, SGDState):
            coef, b = self._chosen(state)
            return {"coef_": coef, "intercept_": np.array([b]), "t_": float(state.t)}
        x = np.asarray(state.x)
        w, b = (x[1:], x[0]) if self.fit_intercept else (x, 0.0)
        return {"coef_": w, "intercept_": np.array([b])}

    def _chosen(self, state: SGDState) -> tuple[Array, float]:
        """The average where it has begun, else the last iterate."""
        if 0 < int(self.average) <= state.t - 1:
            return state.mean, state.mean_intercept
        return state.coef, state.intercept

    def _set(self, state: SGDState) -> None:
        coef, b = self._chosen(state)
        self.coef_, self.intercept_ = coef.copy(), np.array([b])
        self.t_ = float(state.t)
        self._sentence = ""

    def _fit_by_solver(self, rows: Rows, start: SGDState, context: FitContext | None) -> None:
        """All iterations of the solver object; without a context (``partial_fit``) one of them."""
        name, factor = LOSSES[self.loss]
        f = LinearObjective(
            rows.X, rows.y, get_loss(name, self.epsilon), self._penalty(),
            "half_mean" if factor == 0.5 else "mean", (0,) if self.fit_intercept else (),
            intercept=self.fit_intercept, sample_weight=rows.w,
        )  # fmt: skip
        solver = clone(self.solver)
        if "random_state" in solver.get_params() and solver.random_state is None:
            solver.set_params(random_state=self.random_state)
        if context is None:
            solver.set_params(**{k: None if k == "tol" else 1 for k in ("max_iter", "tol")
                                 if k in solver.get_params()})  # fmt: skip
        x = np.append([start.intercept], start.coef) if self.fit_intercept else start.coef
        found = solver.minimise(f, x, context=context)
        if context is not None:
            context.end(found)
        w, b = (found.x[1:], found.x[0]) if self.fit_intercept else (found.x, 0.0)
        self._state = fresh_state(w, float(b))._replace(t=found.n_updates + 1)
        self.history_, self.n_iter_ = join_histories([found]), max(found.n_iter, 1)
        self.coef_, self.intercept_ = w.copy(), np.array([float(b)])
        self.t_ = float(found.n_updates + 1)
        self._sentence = str(found)

    def _warn_unscaled(self, squares: Array) -> None:
        live = squares[squares > 0]
        if len(live) and np.sqrt(live.max() / live.min()) > UNSCALED:
            ratio = np.sqrt(live.max() / live.min())
            warnings.warn(
                f"the columns differ in size by a factor of {ratio:.3g}: one rate cannot suit them "
                "all; scale them first (StandardScaler)",
                UserWarning,
                stacklevel=4,
            )

    def predict(self, X: ArrayLike) -> Array:
        rows = self._check_input(X)
        return rows @ self.coef_ + self.intercept_[0]

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (self.n_features_in_,), "intercept_": (1,)}

    def card(self) -> Card:
        check_is_fitted(self)
        penalty = self._penalty()
        terms = [f"{penalty.l1:g} sum |w|"] * bool(penalty.l1)
        terms += [f"{penalty.l2:g} sum w^2"] * bool(penalty.l2)
        how = self._sentence or (
            f"stochastic gradient descent: {self.n_iter_} epochs, {int(self.t_) - 1} visits, "
            f"rate {self.learning_rate}, order of the rows from the seed"
            + (", average of the iterates" if self.average else "")
        )
        last = self.history_[-1] if len(self.history_) else {}
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation=" + ".join([f"mean {self.loss} loss", *terms]),
            optimisation=how,
            numbers={
                "n_iter": self.n_iter_, "visits": int(self.t_) - 1, "alpha": self.alpha,
                "objective": last.get("objective"),
            },
        )  # fmt: skip

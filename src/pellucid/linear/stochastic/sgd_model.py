r"""The shell that the linear models fitted by stochastic gradient descent share.

A subclass gives its losses and its targets: one column of numbers, or a column of
signs for each class. The targets descend side by side (``epochs.py``), each with its own
stopping; ``solver=`` objects minimise the same objective in the place of the keywords.
"""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator
from pellucid.compiled.epochs.epochs import STEP_PA1, STEP_PA2, STEP_RATE
from pellucid.compiled.epochs.visits import plan_visits, visits_in_order
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.losses import get_loss
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops import iterate as loops
from pellucid.core.loops.admission import tell_rise
from pellucid.core.loops.iterate import (
    ConvergenceWarning,
    DivergenceWarning,
    FitContext,
    Iteration,
)
from pellucid.core.loops.statistics import Rows, is_unit
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.linear.penalty_scales import check_share
from pellucid.linear.solver_fit import is_solver, join_histories, telling
from pellucid.linear.stochastic import epochs
from pellucid.linear.stochastic.epochs import Joint, Order, Problem, SGDState, mean_loss
from pellucid.solvers.minimum import RUNAWAY, Minimum, account
from pellucid.solvers.objective import LinearObjective
from pellucid.solvers.schedules import Adaptive, Constant, InverseScaling, Optimal, Schedule

RATES = ("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2")
KINDS = {"pa1": STEP_PA1, "pa2": STEP_PA2}
MOST_VISITS = 1e9  # of an epoch; weights count as repetitions
UNSCALED = 1000.0  # ratio of the sizes of two columns

States = tuple[SGDState, ...]  # one per target


class Targets(NamedTuple):
    """What a fit descends to: the columns, and what multiplies the steps of their rows."""

    columns: list[Array]  # m columns (n,)
    row_weights: list[Array]  # (n,) each, or (0,) for 1 everywhere
    labels: IntArray | None  # the codes of the classes, or None


def loss_words(loss: str) -> str:
    """The loss of a row as it is minimised: squares are halved.

    >>> loss_words("squared_error"), loss_words("hinge")
    ('mean of (y - f)^2 / 2', 'mean hinge loss')
    """
    return "mean of (y - f)^2 / 2" if loss == "squared_error" else f"mean {loss} loss"


def canonical(X: Any) -> Any:
    """C-contiguous, or CSR without duplicates and with 32-bit indices where they suffice."""
    if not issparse(X):
        return np.ascontiguousarray(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.nnz < 2**31 and (X.indices.dtype != np.int32 or X.indptr.dtype != np.int32):
        parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
        X = csr_array(parts, shape=X.shape)
    return X


class StochasticModel(Estimator):
    """A leaf has scikit-learn's keywords as attributes, its losses, and ``_set``."""

    _accepts_sparse = True
    _rate_name = "eta0"
    _losses: dict[str, tuple[str, float]]  # our name and the factor of the formula
    _passive_aggressive: str  # the loss that "pa1" and "pa2" are for
    _bounded: frozenset[str] = frozenset()  # losses whose descent cannot run away

    @abstractmethod
    def _set(self, coef: Array, intercept: Array) -> dict[str, Any]:
        """The fitted attributes of coefficients (m, p) and intercepts (m,)."""

    def _check_parameters(self) -> None:
        check.one_of(tuple(self._losses), loss=self.loss)
        if self.penalty is not None:
            check.one_of(("l2", "l1", "elasticnet"), penalty=self.penalty)
        check.one_of(RATES, learning_rate=self.learning_rate)
        check.non_negative(alpha=self.alpha, epsilon=self.epsilon, power_t=self.power_t)
        check.positive(eta0=self.eta0)
        if self.tol is not None:
            check.non_negative(tol=self.tol)
        check.fraction(validation_fraction=self.validation_fraction)
        check.whole(max_iter=self.max_iter, n_iter_no_change=self.n_iter_no_change)
        names = ("fit_intercept", "shuffle", "early_stopping", "warm_start")
        check.boolean(**{name: getattr(self, name) for name in names})
        if not isinstance(self.average, bool | np.bool_):
            check.whole(average=self.average)
        if self.l1_ratio is not None:
            check_share(l1_ratio=self.l1_ratio)
        elif self.penalty == "elasticnet":
            raise ValueError("l1_ratio must be set when penalty is 'elasticnet', got None")
        generator(self.random_state)
        if self.solver is not None and not is_solver(self.solver):
            raise ValueError(f"solver must be a solver object or None, got {self.solver!r}")
        if self.learning_rate == "optimal" and self.alpha == 0 and self.solver is None:
            raise ValueError("learning_rate='optimal' is computed from alpha: it must be > 0")
        if self.learning_rate in KINDS and self.loss != self._passive_aggressive:
            needs = f"loss={self._passive_aggressive!r}, got {self.loss!r}"
            raise ValueError(f"learning_rate={self.learning_rate!r} needs {needs}")
        jobs = getattr(self, "n_jobs", None)
        if jobs is not None:
            check.whole(at_least=-(2**31), n_jobs=jobs)

    def _limit(self) -> int | None:
        return self.max_iter if self.solver is None else getattr(self.solver, "max_iter", None)

    def _penalty(self) -> L1L2:
        """The penalty with alpha/2 sum w^2 as its L2 part."""
        if self.penalty is None:
            return L1L2()
        r = {"l2": 0.0, "l1": 1.0}.get(self.penalty, self.l1_ratio or 0.0)
        return L1L2(self.alpha * r, self.alpha * (1 - r) / 2)

    def _schedule(self) -> Schedule:
        if self.learning_rate == "optimal":
            return Optimal(self.alpha)
        if self.learning_rate == "invscaling":
            return InverseScaling(self.eta0, self.power_t)
        if self.learning_rate == "adaptive":
            return Adaptive(self.eta0, 5.0, self.n_iter_no_change)
        return Constant(self.eta0)

    def _start(self, m: int, p: int, coef_init: Any = None, intercept_init: Any = None) -> States:
        """Given values, the last fit (warm_start), or 0."""
        coef, b = np.zeros((m, p)), np.zeros(m)
        kept: States = getattr(self, "_states", ())
        if self.warm_start and len(kept) == m and len(kept[0].coef) == p:
            coef = np.array([state.coef for state in kept])
            b = np.array([state.intercept for state in kept])
        if coef_init is not None:
            coef = np.array(coef_init, dtype=np.float64)
            if coef.size != m * p or (m > 1 and coef.shape != (m, p)):
                shape = f"{p} numbers" if m == 1 else f"shape ({m}, {p})"
                odd = "Provided coef_init does not match dataset"
                raise ValueError(f"{odd}: it must have {shape}, got shape {coef.shape}")
        if intercept_init is not None:
            b = np.array(intercept_init, dtype=np.float64).ravel()
            if len(b) != m:
                odd = "Provided intercept_init does not match dataset"
                raise ValueError(f"{odd}: it must have {m} number(s), got {len(b)}")
        pairs = zip(coef.reshape(m, p), b, strict=True)
        return tuple(epochs.fresh_state(w, float(c)) for w, c in pairs)

    def _resume(self) -> States:
        """The end of the last fit, with its patience back."""
        check_is_fitted(self)
        t = max(state.t for state in self._states)
        return tuple(s._replace(share=1.0, waited=0, best=np.inf, t=t) for s in self._states)

    def _problems(self, rows: Rows, targets: Targets, schedule: Schedule) -> list[Problem]:
        weight = None if is_unit(rows.w) or (rows.w == 1).all() else rows.w
        if weight is not None and np.ceil(weight).sum() > MOST_VISITS:
            many = f"their sum {weight.sum():.3g} would be that many visits per epoch"
            raise ValueError(f"weights are repetitions: {many}; divide them by a constant")
        seed = int(generator(self.random_state).integers(2**62))
        labels = targets.labels
        mark = targets.columns[0] if labels is None else labels.astype(np.float64)
        if self.shuffle or self.early_stopping:
            visits = plan_visits(rows.X, mark, weight, seed)
        else:
            visits = visits_in_order(rows.X, weight)
        live = visits.squares[visits.squares > 0]
        if len(live) and np.sqrt(live.max() / live.min()) > UNSCALED:
            ratio = f"{np.sqrt(live.max() / live.min()):.3g}"
            size = f"the columns differ in size by a factor of {ratio}"
            warn(f"{size}: one rate cannot suit them all; scale them first (StandardScaler)")
        held = None
        if self.early_stopping:
            visits, held = epochs.split_visits(visits, self.validation_fraction, labels)
        name, factor = self._losses[self.loss]
        penalty = self._penalty()
        loss, kind = get_loss(name, self.epsilon), KINDS.get(self.learning_rate, STEP_RATE)
        what = loss, factor, penalty.l1, 2 * penalty.l2, self.fit_intercept, int(self.average)
        tol = -np.inf if self.tol is None else float(self.tol)
        when = kind, schedule, self.shuffle, self.n_iter_no_change, tol
        known = visits, held, *what, *when
        pairs = zip(targets.columns, targets.row_weights, strict=True)
        return [Problem(rows.X, y, *known, w, labels is not None) for y, w in pairs]

    def _descend(
        self, rows: Rows, targets: Targets, start: States, context: FitContext | None
    ) -> None:
        """All epochs, or all iterations of the solver; without a context (``partial_fit``) one."""
        if self.solver is not None:
            self._fit_by_solver(rows, targets, start, context)
        else:
            most = 1 if context is None else self.max_iter
            self._fit_epochs(rows, targets, start, most, context)

    def _fit_epochs(
        self, rows: Rows, targets: Targets, start: States, max_iter: int, context: FitContext | None
    ) -> None:
        schedule = self._schedule()
        problems = self._problems(rows, targets, schedule)
        limit = self._runaway(rows, problems, start)
        cuts = [np.zeros(rows.X.shape[1] + 1) for _ in problems]
        falling = schedule(1e9) < schedule(0.0)  # such a rate may recover from a wild beginning
        numbers = iter(range(1, max_iter + 1))
        rate = f"the learning rate {float(schedule(start[0].t - 1)):.6g}"
        remedy = "scale them or lower eta0; the last point before is kept"
        why = f"{rate} is too large for these columns; {remedy}"
        advance = self._advance(problems, cuts, np.inf if falling else limit)

        def step(joint: Joint) -> tuple[Joint, float]:
            return epochs.joint_step(problems[0], advance, joint, next(numbers))

        how: dict[str, Any] = {"max_iter": max_iter, "tol": 0.0 if self._can_end() else None}
        how |= {"record": self._record, "start_row": False, "warn": False, "context": context}
        how |= {"name": type(self).__name__, "explain": lambda state: why}
        run = loops.iterate(step, epochs.fresh_joint(start), **how)
        self.history_, self.n_iter_ = run.history, max(run.n_iter, 1)
        if context is not None:
            context.end(run.state)
        self._risen = ""
        self._states = self._sane(problems, run.state.states, start, limit, why)
        if context is not None and self._rate_name and not self._risen:
            tell_rise(self, run, **self._ends(problems, start, run))
        self._keep(self._states)
        unfinished = run.reason == "max_iter" and context is not None and self._can_end()
        if unfinished and not self._risen:
            self._warn_limit(rows, targets, max_iter)

    def _advance(self, problems: list[Problem], cuts: list[Array], limit: float) -> epochs.Advance:
        """The function that takes one target through an epoch."""

        def advance(k: int, state: SGDState, order: Order, rates: Array) -> tuple[SGDState, float]:
            return epochs.sgd_step(problems[k], state, order, rates, cuts[k], limit)

        return advance

    def _can_end(self) -> bool:
        """Whether the loop can end before ``max_iter``."""
        return self.tol is not None

    def _record(self, joint: Joint) -> dict[str, Any]:
        return epochs.record_row(joint)

    def _warn_limit(self, rows: Rows, targets: Targets, max_iter: int) -> None:
        late = f"{type(self).__name__}: no convergence in max_iter={max_iter} epochs"
        falls = f"the objective still falls by more than tol={self.tol:g}"
        remedy = "raise max_iter or eta0, or scale columns"
        warn(f"{late}: {falls}; {remedy}", ConvergenceWarning)

    def _runaway(self, rows: Rows, problems: list[Problem], start: States) -> float:
        """The mean loss above which a descent counts as diverged."""
        if self.loss in self._bounded:
            return np.inf
        worst = 1.0
        for problem, state in zip(problems, start, strict=True):
            f = rows.X @ state.coef + state.intercept if state.coef.any() else state.intercept
            first = problem.loss.value(problem.y, np.broadcast_to(f, problem.y.shape))
            worst = max(worst, problem.factor * float(np.average(first, weights=rows.w)))
        return RUNAWAY * worst

    def _ends(self, problems: list[Problem], start: States, run: Iteration) -> dict[str, float]:
        """The objective at the start and the end, where they can be compared.

        A rate from alpha ("optimal") is large at first whatever the data: its first epoch is the
        start. What was met on the way of the last epoch is noisy: the end is asked again, and a
        rise within the standard error of a mean over the rows is none.
        """
        if not len(run.history):
            return {}
        first, last = (float(run.history[i]["objective"]) for i in (0, -1))
        if self.learning_rate != "optimal":
            known = sum(epochs.start_loss(*pair) for pair in zip(problems, start, strict=True))
            first = known if known > 0 else first
        if not last > first:
            return {"start": first}
        pairs = zip(problems, run.state.states, strict=True)
        found = [epochs.loss_and_error(one, *self._chosen(state)) for one, state in pairs]
        end, error = (float(total) for total in np.sum(found, axis=0))
        return {"start": first, "end": min(end, last), "slack": error}

    def _cure_of_a_rise(self) -> str:
        if self.learning_rate == "optimal":
            more = f"raise max_iter={self.max_iter}, " if self.n_iter_ >= self.max_iter else ""
            cure = f"raise alpha={self.alpha:g}, of which the rate is made"
            return f"{more}scale the columns, or {cure}"
        return f"{super()._cure_of_a_rise()}, or scale the columns"

    def _sane(
        self, problems: list[Problem], states: States, start: States, limit: float, why: str
    ) -> States:
        """The states; one that diverged is replaced by its start or its last iterate."""
        kept = []
        name = type(self).__name__
        for problem, state, first in zip(problems, states, start, strict=True):
            if state.objective > limit and mean_loss(problem, state.coef, state.intercept) > limit:
                text = why.replace("last point before", "start")
                warn(f"{name}: diverged: {text}", DivergenceWarning)
                self._risen = f"diverged: {text}"
                state = first._replace(t=state.t)
            wild = self.average and np.isfinite(limit)
            if wild and mean_loss(problem, *self._chosen(state)) > limit:
                wild_start = f"{name}: the average of the iterates holds a wild beginning"
                kept_one = "the last iterate is kept instead (a larger average= begins later)"
                warn(f"{wild_start}; {kept_one}", DivergenceWarning)
                state = state._replace(mean=state.coef, mean_intercept=state.intercept)
            kept.append(state)
        return tuple(kept)

    def _chosen(self, state: SGDState) -> tuple[Array, float]:
        """The average where it has begun, else the last iterate."""
        if 0 < int(self.average) <= state.t - 1:
            return state.mean, state.mean_intercept
        return state.coef, state.intercept

    def _attributes(self, state: Any) -> dict[str, Any]:
        """The fitted attributes at a state of the loop."""
        if isinstance(state, Joint):
            pairs = [self._chosen(one) for one in state.states]
            found = self._set(np.array([w for w, _ in pairs]), np.array([b for _, b in pairs]))
            return {**found, "t_": float(max(one.t for one in state.states))}
        points = [*getattr(self, "_solved", ()), np.asarray(state.x)]
        points += [np.zeros_like(points[0])] * (getattr(self, "_wanted", 1) - len(points))
        return self._set(*self._split(points[: getattr(self, "_wanted", 1)]))

    def _split(self, points: list[Array]) -> tuple[Array, Array]:
        x = np.array(points)
        return (x[:, 1:], x[:, 0]) if self.fit_intercept else (x, np.zeros(len(x)))

    def _keep(self, states: States) -> None:
        self.__dict__.update(self._attributes(epochs.fresh_joint(states)))
        for name in ("average_coef_", "average_intercept_"):
            self.__dict__.pop(name, None)
        if self.average:
            means = np.array([s.mean for s in states]), np.array([s.mean_intercept for s in states])
            found = self._set(*means)
            self.average_coef_, self.average_intercept_ = found["coef_"], found["intercept_"]
        self._sentence = ""

    def _fit_by_solver(
        self, rows: Rows, targets: Targets, start: States, context: FitContext | None
    ) -> None:
        X = to_dense(rows.X)
        found: list[Minimum] = []
        self._solved, self._wanted = [], len(start)
        for y, share, state in zip(targets.columns, targets.row_weights, start, strict=True):
            weight = rows.w * share if len(share) else rows.w
            found.append(self._minimise(X, y, weight, state, context))
            self._solved.append(found[-1].x)
        if context is not None:
            context.end(found[-1])
        coef, intercept = self._split(self._solved)
        del self._solved, self._wanted
        ends = [epochs.fresh_state(w, float(b)) for w, b in zip(coef, intercept, strict=True)]
        pairs = zip(ends, found, strict=True)
        self._states = tuple(end._replace(t=one.n_updates + 1) for end, one in pairs)
        self.history_ = join_histories(found)
        self.n_iter_ = max(1, *(one.n_iter for one in found))
        self.__dict__.update(self._set(coef.copy(), intercept.copy()))
        self.t_ = float(max(one.n_updates for one in found) + 1)
        self._sentence, self._risen = account(telling(found)), ""

    def _minimise(
        self, X: Array, y: Array, weight: Array, state: SGDState, context: FitContext | None
    ) -> Minimum:
        name, factor = self._losses[self.loss]
        loss, scale = get_loss(name, self.epsilon), "half_mean" if factor == 0.5 else "mean"
        b = self.fit_intercept
        what = X, y, loss, self._penalty(), scale, (0,) if b else ()
        f = LinearObjective(*what, intercept=b, sample_weight=weight)
        solver = clone(self.solver)
        if "random_state" in solver.get_params() and solver.random_state is None:
            solver.set_params(random_state=self.random_state)
        if context is None:
            known = solver.get_params()
            solver.set_params(**{k: v for k, v in (("max_iter", 1), ("tol", None)) if k in known})
        x = np.append([state.intercept], state.coef) if self.fit_intercept else state.coef
        return solver.minimise(f, x, context=context)

    def _terms(self) -> list[str]:
        """The penalty, in words."""
        penalty = self._penalty()
        terms = [f"{penalty.l1:g} sum |w|"] * bool(penalty.l1)
        return terms + [f"{penalty.l2:g} sum w^2"] * bool(penalty.l2)

    def _how(self) -> str:
        """The optimisation, in words."""
        done = f"{self.n_iter_} epochs, {int(self.t_) - 1} visits"
        how = f"rate {self.learning_rate}, order of the rows from the seed"
        how += ", average of the iterates" if self.average else ""
        return self._sentence or f"stochastic gradient descent: {done}, {how}"

    def _numbers(self) -> dict[str, Any]:
        last = self.history_[-1] if len(self.history_) else {}
        found = {"n_iter": self.n_iter_, "visits": int(self.t_) - 1, "alpha": self.alpha}
        what = "objective" if self._sentence else "objective, mean of the last epoch"
        return {**found, what: last.get("objective")}

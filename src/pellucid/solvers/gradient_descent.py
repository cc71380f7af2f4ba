r"""Gradient descent: batch, mini-batch and stochastic, with any update rule and learning rate.

    w_(t+1) = rule(w_t, g_t, eta_t),    g_t the gradient over all rows, a mini-batch, or one row

An iteration is an epoch: one pass over the rows in a new random order. With a convex objective
whose gradient has Lipschitz constant L the batch method converges for every rate below 2/L; a
stochastic one needs a falling rate (``Schedule.robbins_monro``) to settle.

Linear objectives with L1/L2 penalties run their epochs compiled (``compiled.epochs.epochs``).

``average`` returns the mean of the points instead of the last one: with a rate that falls more
slowly than 1/t it has the smallest possible asymptotic variance.

References: Cauchy (1847); Robbins & Monro (1951); Polyak & Juditsky (1992); Bottou, Curtis &
Nocedal (2018).
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.linalg.blas import ddot
from sklearn.base import BaseEstimator

from pellucid.compiled.epochs.epochs import rule_epoch
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng, Seed
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops.iterate import History
from pellucid.core.runtime.random import generator
from pellucid.solvers import minimum
from pellucid.solvers.line_search import LineSearch
from pellucid.solvers.minimum import Minimum
from pellucid.solvers.objective import LinearObjective, Objective
from pellucid.solvers.rules import UNADORNED, Memory, Rule, get_rule, look, stepped
from pellucid.solvers.schedules import Constant, Schedule

STOPS = ("gradient", "step", "value", None)
SMALLEST_RATE = 1e-6  # where Adaptive gives up, as in scikit-learn
make = tuple.__new__  # State(*fields) takes three times as long


class State(NamedTuple):
    """A point of the descent."""

    x: Array
    value: float
    gradient: Array
    memory: Memory
    rate: float  # of the last update
    share: float  # what Adaptive has left of the schedule's rate
    waited: int  # epochs without progress
    best_x: Array
    best_value: float
    mean: Array  # of the points so far, empty without averaging


def negated(objective: Objective) -> Objective:
    """-F, for ``maximise``."""
    return Objective(
        lambda x, *rows: -objective.value(x, *rows),
        lambda x, *rows: -objective.gradient(x, *rows),
        lambda x: -objective.hessian(x),
        n_samples=objective.n_samples,
    )


def get_rate(learning_rate: Any, objective: Any, x: Array) -> Schedule | LineSearch:
    """The schedule or line search of a ``learning_rate=`` parameter."""
    if isinstance(learning_rate, Schedule | LineSearch):
        learning_rate.validate()
        return learning_rate
    if isinstance(learning_rate, str):
        check.one_of(("auto",), learning_rate=learning_rate)
        return Constant(1 / largest_curvature(objective, x))
    check.positive(learning_rate=learning_rate)
    return Constant(float(learning_rate))


def largest_curvature(objective: Objective, x: Array) -> float:
    """The Lipschitz constant of the gradient; where it is not known, the curvature at x."""
    L = objective.lipschitz
    if L is None and objective.twice:
        L = float(np.linalg.eigvalsh(objective.hessian(x))[-1])
    if L is None or not np.isfinite(L) or L <= 0:
        raise ValueError("learning_rate='auto' needs a bounded positive curvature; give a number")
    return L


class GradientDescent(BaseEstimator):
    """Gradient descent.

    Parameters
    ----------
    learning_rate : float, schedule, line search or "auto", default=0.01
        "auto" is 1/L, L the Lipschitz constant of the gradient.
    rule : Momentum, AdaGrad, RMSProp, Adam, AdamW, Clipped or None, default=None
        How a gradient becomes a step; None: w - rate * gradient.
    batch_size : int or None, default=None
        Rows per update: None all of them, 1 stochastic, else mini-batches.
    max_iter : int, default=1000
        Largest number of epochs.
    tol : float or None, default=1e-6
        Where the quantity of ``stop`` is at most this, it has converged; None: exactly max_iter.
    stop : {"gradient", "step", "value", None}, default="gradient"
        Norm of the gradient, largest change of a parameter, or change of the value, per epoch.
    shuffle : bool, default=True
        A new random order of the rows in every epoch.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.
    average : bool or int, default=False
        Return the mean of the points after all updates (True) or from this update on (Polyak and
        Ruppert); the history shows the points themselves.

    Examples
    --------
    >>> from pellucid.solvers import GradientDescent, LinearObjective
    >>> f = LinearObjective([[1, 0], [1, 1], [1, 2]], [1, 2, 4], scale="half_mean")
    >>> found = GradientDescent(0.1, max_iter=10, tol=None).minimise(f, "zeros")
    >>> found.x.round(7), found.history["value"][:3].round(6)
    (array([0.8910679, 1.3210889]), array([3.5     , 2.042037, 1.197015]))
    """

    def __init__(
        self,
        learning_rate: float | Schedule | LineSearch | Literal["auto"] = 0.01,
        rule: Rule | None = None,
        batch_size: int | None = None,
        max_iter: int = 1000,
        tol: float | None = 1e-6,
        stop: str | None = "gradient",
        shuffle: bool = True,
        random_state: Seed = None,
        average: bool | int = False,
    ) -> None:
        self.learning_rate = learning_rate
        self.rule = rule
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.stop = stop
        self.shuffle = shuffle
        self.random_state = random_state
        self.average = average

    def maximise(
        self, objective: Objective, start: ArrayLike | str, record: str | None = "epoch"
    ) -> Minimum:
        """Climb instead: values, gradients and certificate are those of the objective itself."""
        found = self.minimise(negated(objective), start, record)
        rows = [{**row, "value": -row["value"]} for row in found.history]
        certificate = found.certificate
        kind, values = certificate.kind.replace("minimum", "maximum"), certificate.eigenvalues
        certificate = certificate._replace(kind=kind, eigenvalues=-values[::-1])
        return found._replace(value=-found.value, history=History(rows), certificate=certificate)

    def minimise(
        self, objective: Any, start: Any, record: str | None = "epoch", *, context: Any = None
    ) -> Minimum:
        """Descend from ``start``: an array, "zeros", "ones" or "random".

        ``record``: a row of the history per "epoch", per "update" (the whole stochastic path), or
        None (no history).
        """
        self._check(objective, record)
        rng = generator(self.random_state)
        x = minimum.starting_point(start, objective.size, rng)
        rate = get_rate(self.learning_rate, objective, x)
        descent = Descent(self, objective, rate, rng, record == "update")
        tol = None if self.stop is None else self.tol
        first = descent.begin(x)
        with np.errstate(all="ignore"):  # a point that is not finite has an endless gap
            how = {"record": None if record is None else describe, "explain": descent.explain}
            run = minimum.run_solver(self, descent.move, first, context=context, tol=tol, **how)
        state = run.state
        if record == "update":
            run = run._replace(history=descent.path)
        name, L = type(self).__name__, objective.lipschitz
        ends = first.value, state.value
        risen = run.reason != "diverged" and minimum.warn_risen(name, *ends, descent.last_rate, L)
        if not risen:
            room = descent.last_rate < minimum.rate_limit(L) / 2  # below 1/L
            minimum.warn_slow(name, run, descent.gap, tol, room=room)
        x = state.best_x if run.reason == "diverged" else descent.answer(state)
        return minimum.conclude(objective, x, run, n_updates=state.memory.t, tol=tol)

    def _check(self, objective: Any, record: str | None) -> None:
        check.whole(max_iter=self.max_iter)
        check.non_negative(**check.given(tol=self.tol))
        if self.stop not in STOPS:
            check.one_of(tuple(s for s in STOPS if s), stop=self.stop)
        if record is not None:
            check.one_of(("epoch", "update"), record=record)
        check.boolean(shuffle=self.shuffle)
        if not isinstance(self.average, bool):
            check.whole(average=self.average)
        searching = isinstance(self.learning_rate, LineSearch)
        if searching and (self.rule is not None or self.batch_size is not None):
            raise ValueError("a line search needs rule=None and batch_size=None (all rows)")
        if self.batch_size is not None:
            check.whole(batch_size=self.batch_size)
            if objective.n_samples is None:
                raise ValueError("batch_size needs an objective with n_samples")


def describe(state: State) -> dict[str, Any]:
    """The row of the history."""
    point = {"x": state.x, "value": state.value, "gradient_norm": minimum.norm_of(state.gradient)}
    return {**point, "learning_rate": state.rate}


def all_finite(x: Array) -> bool:
    """Whether no entry is infinite or NaN; one product tells, unless its squares overflow.

    >>> all_finite(np.array([1.0, 2.0])), all_finite(np.array([np.inf, 1.0]))
    (True, False)
    """
    return math.isfinite(ddot(x, x)) or bool(np.isfinite(x).all())


class Descent:
    """One run: the step that ``iterate`` repeats."""

    def __init__(
        self, solver: GradientDescent, objective: Any, rate: Any, rng: Rng, path: bool
    ) -> None:
        self.solver, self.objective, self.rate, self.rng = solver, objective, rate, rng
        self.rule = get_rule(solver.rule)
        self.code = self.rule.code()
        self.plain = self.code == UNADORNED
        self.path: Any = History() if path else None
        self.gap = self.last_rate = np.inf
        self.ceiling = np.inf
        self.first = None if solver.average is False else int(solver.average)
        penalty = getattr(objective, "penalty", None)
        simple = penalty is None or isinstance(penalty, L1L2)
        self.compiled = isinstance(objective, LinearObjective) and simple
        self.all_rows, self.searches = solver.batch_size is None, isinstance(rate, LineSearch)
        self.patience, self.stop = getattr(rate, "patience", None), solver.stop
        self.direct = self.plain and self.all_rows and not self.searches
        self.fixed = float(rate.rate) if type(rate) is Constant else None

    def begin(self, x: Array) -> State:
        value, g = self.objective.value_gradient(x)
        minimum.finite_start(value)
        self.ceiling = minimum.ceiling(value)
        rate = 0.0 if self.searches else self.rate(0)
        mean = np.zeros(len(x) if self.first is not None else 0)
        state = State(x, value, g, self.rule.start(len(x)), rate, 1.0, 0, x, value, mean)
        self.note(x, value, rate, 0)
        return state

    def explain(self, _: State) -> str:
        """Why a run diverged."""
        return minimum.rate_sentence(self.last_rate, self.objective.lipschitz)

    def note(self, x: Array, value: float, rate: float, t: int) -> None:
        """A row per update, where the whole path is wanted."""
        if self.path is not None:
            self.path.append({"step": t, "x": x, "value": value, "learning_rate": rate})

    def step(self, state: State) -> tuple[State, float]:
        """One epoch; a point that is not finite, or an endless gradient, has an endless gap."""
        with np.errstate(all="ignore"):
            return self.move(state)

    def move(self, state: State) -> tuple[State, float]:
        """The same where the caller has silenced NumPy, once for all epochs."""
        old, _, slope, memory, _, share, _, at, least, mean = state
        if self.direct:  # what ``whole`` does, without the calls
            m, r, t = memory
            rate = share * (self.rate(t) if self.fixed is None else self.fixed)
            x, memory = old - rate * slope, make(Memory, (m, r, t + 1))
        elif self.all_rows:
            x, memory, rate = self.whole(state)
        else:
            x, memory, rate, mean = self.epoch(state)
        self.last_rate = rate
        value, g = self.objective.value_gradient(x)
        if not -math.inf < value <= self.ceiling or not all_finite(x):
            return state, np.inf
        if self.all_rows and self.first is not None:
            mean = self.averaged(mean, x, memory.t)
        if self.all_rows and self.path is not None:
            self.note(x, value, rate, memory.t)
        if value < least:
            at, least = x, value
        fields = (x, value, g, memory, rate, share, 0, at, least, mean)
        new = make(State, fields)
        if self.stop == "gradient":
            self.gap = gap = math.sqrt(ddot(g, g))
        else:
            self.gap = gap = self.measure(state, new)
        return (new, gap) if self.patience is None else self.adapt(state, new)

    def whole(self, state: State) -> tuple[Array, Memory, float]:
        """One update with the gradient over all rows."""
        x, memory = state.x, state.memory
        if self.searches:
            d = -state.gradient
            t = self.rate.search(self.objective, x, state.value, state.gradient, d)
            return x + t * d, memory._replace(t=memory.t + 1), t
        rate = state.share * self.rate(memory.t)
        at = look(self.code, x, memory)
        g = state.gradient if at is x else self.objective.gradient(at)
        x, memory = stepped(self.code, x, g, rate, memory)
        return x, memory, rate

    def averaged(self, mean: Array, x: Array, t: int) -> Array:
        """The mean with the point after update t = 1, 2, ..."""
        if self.first is None or t < self.first:
            return mean
        return mean + (x - mean) / (t - self.first + 1)

    def answer(self, state: State) -> Array:
        """What is returned: the last point or the mean."""
        if self.first is None or state.memory.t < self.first:
            return state.x
        return state.mean

    def epoch(self, state: State) -> tuple[Array, Memory, float, Array]:
        """One pass over the rows in batches."""
        n, size = self.objective.n_samples, self.solver.batch_size
        assert size is not None
        order = self.rng.permutation(n) if self.solver.shuffle else np.arange(n)
        t = state.memory.t
        rates = state.share * np.asarray(self.rate(t + np.arange(-(-n // size))), dtype=np.float64)
        run = self.compiled_epoch if self.compiled else self.plain_epoch
        x, memory, mean = run(state, order, size, rates)
        return x, memory, float(rates[-1]), mean

    def plain_epoch(
        self, state: State, order: Array, size: int, rates: Array
    ) -> tuple[Array, Memory, Array]:
        x, memory, mean = state.x, state.memory, state.mean
        for k, rate in enumerate(rates):
            rows = order[k * size : (k + 1) * size]
            g = self.objective.gradient(look(self.code, x, memory), rows)
            x, memory = stepped(self.code, x, g, float(rate), memory)
            mean = self.averaged(mean, x, memory.t)
            if self.path is not None:
                self.note(x, self.objective.value(x), float(rate), memory.t)
        return x, memory, mean

    def compiled_epoch(
        self, state: State, order: Array, size: int, rates: Array
    ) -> tuple[Array, Memory, Array]:
        f, code = self.objective, self.code
        x, m, r = state.x.copy(), state.memory.m.copy(), state.memory.r.copy()
        path = np.empty((len(rates) if self.path is not None else 0, len(x)))
        unbiased, mean = f.batch == "unbiased", state.mean.copy()
        factor = f.s * len(f.X) if unbiased else f.half
        l1, l2 = (f.penalty.l1, f.penalty.l2) if f.penalty is not None else (0.0, 0.0)
        t, rows = state.memory.t, (f.X, f.y, f.weights, order, size)
        loss = f.loss.code, f.loss.epsilon, factor, unbiased, l1, l2, f.price
        averaged = t + 1 - (self.first or 1)
        rule_epoch(*rows, rates, x, m, r, t, *loss, *code, path, mean, averaged)
        for k, w in enumerate(path):
            self.note(w, f.value(w), float(rates[k]), state.memory.t + k + 1)
        return x, Memory(m, r, state.memory.t + len(rates)), mean

    def measure(self, old: State, new: State) -> float:
        """The quantity that ``stop`` names, other than the length of the gradient."""
        if self.stop == "step":
            return float(np.abs(new.x - old.x).max())
        return abs(old.value - new.value) if self.stop == "value" else 0.0

    def adapt(self, old: State, new: State) -> tuple[State, float]:
        """Cut the rate of an ``Adaptive`` schedule where epochs bring no progress."""
        progress = new.value < old.best_value - (self.solver.tol or 0.0)
        waited = 0 if progress else old.waited + 1
        share = old.share
        assert self.patience is not None
        if waited >= self.patience:
            if new.rate <= SMALLEST_RATE:
                return new, 0.0  # nothing left to try: settled
            share, waited = share / self.rate.factor, 0
        return new._replace(share=share, waited=waited), self.gap

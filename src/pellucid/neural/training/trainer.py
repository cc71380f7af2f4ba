r"""Training: one loop for every network, loss, rule and schedule.

    F(v) = reduced loss of the rows + l1 sum |w| + l2 sum w^2        (weights w, not biases)

An epoch visits the rows in mini-batches; a batch's gradient goes to the update rule of
``solvers.rules`` at the rate of ``solvers.schedules``; an L1 penalty acts by its proximal step
afterwards, so that its zeros are exact. Adaptive rules scale each step, so they scale its threshold
likewise: with it, the fixed points are those of F.

A row of the history is an epoch: for mini-batches the mean of the losses met on the way, for whole
batches the loss after the update. The accuracy is that of the same answers.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg.blas import daxpy

from pellucid.compiled.epochs.epochs import ADAM, MOMENTUM, NESTEROV, update
from pellucid.core.arrays.typing import Array
from pellucid.core.functions.penalties import soft_threshold
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext, Iteration, iterate
from pellucid.core.runtime.tell import tell
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.neural.layers.dense import Affine
from pellucid.neural.layers.dropout import noise_source
from pellucid.neural.training import train_state
from pellucid.neural.training.backprop import (
    Backprop,
    Noise,
    Plan,
    Rows,
    batch_gradient,
    training_value,
)
from pellucid.neural.training.batches import Data
from pellucid.neural.training.fused_adam import FusedAdam
from pellucid.neural.training.train_state import Penalty, Scorer, Settings, TrainState
from pellucid.solvers.gradient_descent import SMALLEST_RATE
from pellucid.solvers.minimum import RUNAWAY
from pellucid.solvers.rules import Memory

START_ROWS = 4096  # rows that the loss before the first mini-batch is taken from
JUDGED = 3  # rows of the history from which the fall of the loss is judged
SINGLE_WORK = 1e8  # multiply-adds of an epoch (per pass) from which float32 pays


class Trainer:
    """One training: the step that ``iterate`` repeats."""

    def __init__(
        self,
        plan: Plan,
        data: Data,
        settings: Settings,
        penalty: Penalty,
        score: Scorer | None = None,
        validation: Scorer | None = None,
        early_tol: float | None = None,
        verbose: bool = False,
    ) -> None:
        work = float(data.n) * plan.size
        large = settings.batch_size is not None and work >= SINGLE_WORK and not plan.couples
        self.kind: Any = np.float32 if settings.single and large else np.float64
        data = data._replace(X=train_state.in_precision(data.X, self.kind))
        self.plan, self.data, self.settings, self.penalty = plan, data, settings, penalty
        self.score, self.validation = score, validation
        self.verbose, self.told = verbose, 0
        self.early_tol = early_tol  # not None: the validation score decides when to stop
        self.mask = train_state.weight_mask(plan)
        self.weights = train_state.weight_parts(plan)
        self.code = code = settings.rule.code()
        plain = not penalty.l1 and not code.decay and code.clip == np.inf
        fused = self.kind is np.float32 and code.rule == ADAM and plain
        self.fused = FusedAdam(plan, data, penalty, code) if fused else None
        self.last_rate = self.start_value = np.inf
        dense = [p for op, p in zip(plan.ops, plan.places, strict=True) if isinstance(op, Affine)]
        self.dense = [slice(p[0][0], p[-1][1]) for p in dense]
        whole = settings.batch_size is None
        self.all_rows = data.whole() if whole else None

    def penalised(self, vector: Array, total: float, gradient: Array | None = None) -> float:
        """The penalty; the gradient of its L2 part is added to ``gradient``."""
        l1, l2, per_row = self.penalty
        if not l1 and not l2:
            return 0.0
        share, value = 1 / total if per_row else 1.0, 0.0
        for part in self.weights:
            w = vector[part]
            if l2:
                value += share * l2 * float(w @ w)
            if l1:
                value += share * l1 * float(np.abs(w).sum())
            if gradient is not None and l2:
                daxpy(w, gradient[part], a=2 * share * l2)  # gradient += 2 share l2 w, in place
        return value

    def batch(self, vector: Array, rows: Rows, epoch: int = 0, number: int = 0) -> Backprop:
        """Backpropagation with the penalised loss and the gradient of its smooth part."""
        noise = self.noise(len(rows[0]), epoch, number)
        back = batch_gradient(self.plan, vector.astype(self.kind, copy=False), *rows, noise)
        gradient = back.vector.astype(np.float64, copy=False)
        value = self.penalised(vector, float(rows[2].sum()), gradient)
        return back._replace(value=back.value + value, vector=gradient)

    def noise(self, n: int, epoch: int, number: int) -> Noise:
        """What the n rows of a batch meet at random."""
        if not self.plan.noisy:
            return None
        return self.plan.noise(n, noise_source(self.data.seed, epoch, number))

    def start(
        self, vector: Array, states: Sequence[Any], memory: Memory | None, seen: int
    ) -> TrainState:
        v = np.array(vector, dtype=np.float64)
        gradient: Array | None = None
        if self.all_rows is not None:
            with single_threaded_blas():
                back = self.batch(v, self.all_rows)
                value, gradient, right = back.value, back.vector, back.right
        else:
            value, right = self.value(v, states)
        if not np.isfinite(value):
            raise ValueError(f"the loss at the start is {value}: standardise large inputs")
        self.start_value = value
        memory = self.settings.rule.start(len(v)) if memory is None else memory
        rate = float(self.settings.rate(seen if self.settings.clock == "rows" else memory.t))
        at = v, tuple(states), memory, value, gradient, self.norms(gradient), rate
        return self.judged(TrainState(*at, v, tuple(states), seen, accuracy=right))

    def value(self, vector: Array, states: Sequence[Any]) -> tuple[float, float]:
        """Penalised loss and accuracy before mini-batches begin, of at most START_ROWS rows."""
        count = self.data.n
        if not self.plan.couples and self.plan.loss.reduction != "sum":
            count = self.data.some(START_ROWS)
        cast = vector.astype(self.kind, copy=False)
        with single_threaded_blas():
            x, t, w = self.data.take(np.arange(count))
            value, right = training_value(self.plan, cast, states, x, t, w)
        value += self.penalised(vector, float(self.settings.batch_size or w.sum()))
        return value, right

    def norms(self, gradient: Array | None) -> Array:
        if gradient is None:
            return np.full(len(self.dense), np.nan)
        return np.array([np.linalg.norm(gradient[part]) for part in self.dense])

    def step(self, state: TrainState) -> tuple[TrainState, float]:
        with np.errstate(all="ignore"):
            new = self.whole(state) if self.all_rows is not None else self.epoch(state)
        self.last_rate = new.rate
        limit = RUNAWAY * max(1.0, abs(self.start_value))
        if not new.objective <= limit or not np.isfinite(new.vector).all():
            return state, np.inf
        new = self.judged(new)
        if self.verbose:
            self.tell_epoch(new)
        return self.settle(state, new)

    def tell_epoch(self, state: TrainState) -> None:
        """scikit-learn's lines of an epoch."""
        self.told += 1
        tell(f"Iteration {self.told}, loss = {state.objective:.8f}")
        if self.validation is not None:
            tell(f"Validation score: {state.validation_score:f}")

    def moved(self, vector: Array, g: Array, rate: float, memory: Memory, total: float) -> Memory:
        """One update in place: the rule, then the L1 penalty's proximal step."""
        t = memory.t + 1
        before = vector.copy() if self.penalty.l1 else vector
        update(*self.code, vector, g, rate, memory.m, memory.r, t)
        memory = memory._replace(t=t)
        if self.penalty.l1:
            l1 = self.penalty.l1 / (total if self.penalty.per_row else 1.0)
            cut = rate * l1 * train_state.threshold_scale(self.code, memory) * self.mask
            vector[:] = soft_threshold(vector, cut)
            if self.code.rule in (MOMENTUM, NESTEROV):
                memory.m[:] = vector - before  # the velocity is the move that was made
        return memory

    def looked(self, vector: Array, memory: Memory) -> Array:
        return vector + self.code.a * memory.m if self.code.rule == NESTEROV else vector

    def fresh(self, state: TrainState) -> tuple[Array, Memory]:
        m = state.memory
        return state.vector.copy(), Memory(m.m.copy(), m.r.copy(), m.t)

    def whole(self, state: TrainState) -> TrainState:
        """One update with the gradient over all rows."""
        assert self.all_rows is not None
        vector, memory = self.fresh(state)
        rate = state.share * float(self.settings.rate(memory.t))
        g = state.gradient
        if self.code.rule == NESTEROV:
            g = self.batch(self.looked(vector, memory), self.all_rows, state.epoch, 1).vector
        assert g is not None
        memory = self.moved(vector, g, rate, memory, float(self.all_rows[2].sum()))
        states, back = state.states, Backprop(np.inf, g, {}, [])
        if np.isfinite(vector).all():
            back = self.batch(vector, self.all_rows, state.epoch + 1)
            states = self.next_states(states, back.saved)
        at = vector, states, memory, back.value, back.vector, rate
        return self.after(state, *at, back.right)

    def after(self, state: TrainState, *now: Any) -> TrainState:
        """The state an epoch later; ``now`` are its new values, in the order of ``names``."""
        names = ("vector", "states", "memory", "objective", "gradient", "rate", "accuracy")
        state = state._replace(**dict(zip(names, now, strict=True)))
        seen = state.rows_seen + self.data.n
        norms = self.norms(state.gradient)
        return state._replace(norms=norms, rows_seen=seen, epoch=state.epoch + 1)

    def next_states(self, states: tuple[Any, ...], saved: list[Any]) -> tuple[Any, ...]:
        if not self.plan.couples:
            return states
        both = zip(self.plan.ops, states, saved, strict=True)
        return tuple(op.next_state(state, keep) for op, state, keep in both)

    def epoch(self, state: TrainState) -> TrainState:
        """One pass over the rows in mini-batches."""
        size, n = self.settings.batch_size, self.data.n
        assert size is not None
        vector, memory = self.fresh(state)
        states, value, right, mean = state.states, 0.0, 0.0, np.zeros(len(vector))
        copy: Any = vector if self.fused is None else vector.astype(np.float32)
        order = self.data.order(state.epoch + 1)
        count = -(-n // size)
        rates = state.share * self.rates(state, memory.t, count)
        for k in range(count):
            visits = order[k * size : (k + 1) * size]
            part = len(visits) / n
            if self.fused is not None:
                noise = self.noise(len(visits), state.epoch + 1, k)
                rate = float(rates[k])
                at = vector, copy, memory, mean
                loss, share, memory = self.fused.step(*at, visits, rate, noise)
                value, right = value + part * loss, right + part * share
                continue
            rows = self.data.take(visits)
            back = self.batch(self.looked(vector, memory), rows, state.epoch + 1, k)
            value, right = value + part * back.value, right + part * back.right
            g = back.vector
            memory = self.moved(vector, g, float(rates[k]), memory, float(rows[2].sum()))
            states = self.next_states(states, back.saved)
            daxpy(g, mean, a=part)  # mean += part g, in place
        return self.after(state, vector, states, memory, value, mean, float(rates[-1]), right)

    def rates(self, state: TrainState, t: int, count: int) -> Array:
        if self.settings.clock == "rows":
            return np.full(count, float(self.settings.rate(state.rows_seen)))
        return self.settings.rate.rates(t, count)

    def answer(self, state: TrainState) -> Array:
        return self.looked(state.vector, state.memory) if self.settings.ahead else state.vector

    def judged(self, state: TrainState) -> TrainState:
        """The scores of this epoch; the best weights are kept where a validation score rises."""
        at = self.answer(state)
        if self.score is not None:
            state = state._replace(score=self.score(at, state.states))
        if self.validation is None:
            return state
        found = self.validation(at, state.states)
        state = state._replace(validation_score=found)
        if self.early_tol is not None and state.epoch and found > state.best_score:
            keep = at.copy()
            state = state._replace(best_vector=keep, best_states=state.states)
        return state

    def settle(self, old: TrainState, new: TrainState) -> tuple[TrainState, float]:
        """The gap that ``iterate`` compares with the tolerance, 0 where nothing improves."""
        tol = self.settings.tol
        if self.early_tol is not None:
            better = new.validation_score >= old.best_score + self.early_tol
        else:
            better = not new.objective > old.best - (tol or 0.0)
        waited = 0 if better else old.waited + 1
        score = np.fmax(old.best_score, new.validation_score)
        best = min(old.best, new.objective)
        new = new._replace(waited=waited, best=best, best_score=float(score))
        adaptive = self.settings.rate.patience is not None
        if waited > self.settings.patience:
            if not adaptive or new.rate <= SMALLEST_RATE:
                self.tell_end("Learning rate too small. Stopping." if adaptive else "Stopping.")
                return new, 0.0
            new = new._replace(share=new.share / self.settings.rate.factor, waited=0)
            rate = new.share * float(self.settings.rate(new.memory.t))
            self.tell_end(f"Setting learning rate to {rate:f}")
        return new, self.gap(old, new)

    def tell_end(self, what: str) -> None:
        """scikit-learn's line about epochs without progress."""
        if not self.verbose:
            return
        judged = self.early_tol is not None
        tol = self.early_tol if judged else self.settings.tol
        who = "Validation score" if judged else "Training loss"
        epochs = f"{self.settings.patience:.0f} consecutive epochs"
        tell(f"{who} did not improve more than tol={tol or 0.0:f} for {epochs}. {what}")

    def gap(self, old: TrainState, new: TrainState) -> float:
        stop, tiny = self.settings.stop, np.finfo(np.float64).tiny
        if stop == "gradient":
            assert new.gradient is not None
            return float(np.linalg.norm(new.gradient))
        if stop == "step":
            return float(np.abs(new.vector - old.vector).max())
        change = abs(old.objective - new.objective)
        return change if stop == "value" else max(change, tiny)  # 0 means "no progress" here

    def limit(self) -> float | None:
        """The tolerance for ``iterate``."""
        if self.settings.stop == "progress" or self.early_tol is not None:
            return 0.0 if self.settings.stop in (None, "progress") else self.settings.tol
        return None if self.settings.stop is None else self.settings.tol

    def record(self, state: TrainState) -> dict[str, Any]:
        row: dict[str, Any] = {"objective": state.objective, "learning_rate": state.rate}
        row["gradient_norms"] = state.norms
        if self.plan.labels is not None:
            row["accuracy"] = state.accuracy
        if self.score is not None:
            row["score"] = state.score
        if self.validation is not None:
            row["validation_score"] = state.validation_score
        return row

    def explain(self, state: TrainState) -> str:
        kept = "the last finite weights are kept (cure: a smaller rate, standardised inputs)"
        return f"the learning rate {self.last_rate:.6g} is too large; {kept}"

    def run(self, state: TrainState, *, name: str, context: FitContext | None = None) -> Iteration:
        how: dict[str, Any] = {"record": self.record, "explain": self.explain, "warn": False}
        how |= {"max_iter": self.settings.max_iter, "tol": self.limit(), "context": context}
        with single_threaded_blas():  # once for all, so that the hold costs nothing per batch
            return iterate(self.step, state, name=name, **how)

    def ends(self, run: Iteration) -> dict[str, float]:
        """What ``told_rise`` is to know: the loss at the end, and the rounding of losses.

        What mini-batches met on the way is noisy: above the start, the rows of the start are asked
        again.
        """
        state, rounding = run.state, 100 * float(np.finfo(self.kind).eps)
        end = state.objective
        if end > self.start_value:
            with np.errstate(all="ignore"):
                end = min(end, self.value(self.answer(state), state.states)[0])
        return {"end": end, "slack": rounding * abs(self.start_value)}


def late_fall(losses: Array) -> float:
    """How much the loss fell in the last tenth of the epochs."""
    return float(losses[-1 - max(1, len(losses) // 10)] - losses[-1])


def warn_unfinished(name: str, run: Iteration) -> None:
    """The limit came before the end, and what to do about it."""
    values = run.history["objective"]
    advice = "the loss no longer falls: try a smaller or decaying learning rate"
    if len(values) < JUDGED:
        advice = "raise max_iter"
    elif late_fall(values) > 0:
        advice = "the loss still falls: raise max_iter or the rate, or standardise the inputs"
    warn(f"{name}: no convergence in max_iter={run.n_iter} epochs; {advice}", ConvergenceWarning)

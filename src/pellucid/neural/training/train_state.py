"""What a training is told and where it stands: penalty, settings, state, and where weights lie."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.compiled.epochs.epochs import ADAGRAD, ADAM, RMSPROP
from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import map_threads
from pellucid.neural.layers.dense import Affine
from pellucid.neural.training.backprop import Plan
from pellucid.solvers.rules import Memory, Rule
from pellucid.solvers.schedules import Schedule

CONVERTED = 1024  # rows that one thread converts at a time

Scorer = Callable[[Array, tuple[Any, ...]], float]  # (vector, states) -> higher is better


class Penalty(NamedTuple):
    """l1 sum |w| + l2 sum w^2; ``per_row``: divided by the (weighted) rows of a batch."""

    l1: float = 0.0
    l2: float = 0.0
    per_row: bool = False


class Settings(NamedTuple):
    """How to descend."""

    rule: Rule
    rate: Schedule
    batch_size: int | None
    max_iter: int
    tol: float | None  # None: exactly max_iter epochs
    stop: str | None  # gradient, step, value, or "progress": epochs without improvement by tol
    patience: float = np.inf  # epochs in a row without progress
    clock: str = "updates"  # or "rows": the schedule's t is what was visited before the epoch
    single: bool = False  # gradients of large problems in float32; the weights stay float64
    ahead: bool = False  # answer with the point at which Nesterov's gradient is taken


class TrainState(NamedTuple):
    """A point of the training."""

    vector: Array
    states: tuple[Any, ...]
    memory: Memory
    objective: float
    gradient: Array | None  # over all rows, where a batch is all of them
    norms: Array  # of the gradients of the dense layers
    rate: float
    best_vector: Array
    best_states: tuple[Any, ...]
    rows_seen: int
    epoch: int = 0
    share: float = 1.0  # what is left of the schedule's rate
    waited: int = 0
    best: float = np.inf  # the lowest objective
    score: float = np.nan
    accuracy: float = np.nan  # of the labels met on the way, where the plan counts them
    validation_score: float = np.nan
    best_score: float = -np.inf


def weight_parts(plan: Plan) -> list[slice]:
    """Where the weights of dense layers lie, not biases and scales."""
    both = zip(plan.ops, plan.places, strict=True)
    return [slice(place[0][0], place[0][1]) for op, place in both if isinstance(op, Affine)]


def weight_mask(plan: Plan) -> Array:
    """1 for the weights of dense layers, 0 for biases and scales."""
    mask = np.zeros(plan.size)
    for part in weight_parts(plan):
        mask[part] = 1.0
    return mask


def in_precision(X: Any, kind: Any) -> Any:
    """The inputs as numbers of a kind, converted by all threads."""
    if X.dtype == kind or issparse(X):
        return X.astype(kind, copy=False)
    out = np.empty(X.shape, dtype=kind)

    def convert(start: int) -> None:
        out[start : start + CONVERTED] = X[start : start + CONVERTED]

    list(map_threads(convert, range(0, len(X), CONVERTED)))
    return out


def threshold_scale(code: Any, memory: Memory) -> Any:
    """How far a unit gradient moves each parameter, per unit of rate."""
    if code.rule in (ADAGRAD, RMSPROP):
        return 1 / np.sqrt(memory.r + code.eps)
    if code.rule == ADAM:
        return 1 / (np.sqrt(memory.r / (1 - code.b**memory.t)) + code.eps)
    return 1.0

r"""Forward and backward through a chain of layers, on one flat vector of parameters.

    forward     x_0 = x,  x_(l+1) = f_l(x_l)
    backward    d_L = d loss/dx_L,  d_l = (d f_l / dx_l)' d_(l+1),  dp_l = (d f_l / dp_l)' d_(l+1)

Where the last layer is the link of the loss, backward begins before it with a - t. Large batches
are cut into parts whose number depends on the work alone; threads share them and the gradients are
added in order, so the bits do not depend on the number of threads.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, Rng
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.neural.layers.activate import Activate
from pellucid.neural.layers.activations import get_activation
from pellucid.neural.layers.layer import Layer, Params, Shape
from pellucid.neural.training.label_kernels import weight_right
from pellucid.neural.training.objectives import NetworkLoss

PART_ROWS = 1000  # of a batch that one thread takes: smaller parts cost more than they bring
PART_WORK = 1 << 21  # multiply-adds below which a batch stays in one piece
FEW_ROWS, MUCH_WORK = 64, 1 << 26  # the least of both that pays for a part of a smaller batch

Rows = tuple[Array, Array, Array]  # inputs, targets, weights
Labels = Literal["largest", "halves"]  # the largest output names the class, or each is 0 or 1
Noise = list[Params] | None  # of each operation, where some are noisy


class Plan(NamedTuple):
    """A network without its numbers."""

    ops: tuple[Layer, ...]
    owner: tuple[int, ...]  # the user's layer that each operation belongs to
    shapes: tuple[Shape, ...]  # of a row before each operation, and after the last
    places: tuple[tuple[tuple[int, int, Shape], ...], ...]  # of the parameters in the vector
    loss: NetworkLoss
    linked: bool  # the last operation is the link of the loss
    couples: bool
    noisy: bool
    labels: Labels | None = None  # counts right labels in the pass that computes the loss

    @property
    def size(self) -> int:
        return max((stop for place in self.places for _, stop, _ in place), default=0)

    def params(self, vector: Array) -> list[Params]:
        """Views of the parameters of each operation."""
        return [tuple(vector[a:b].reshape(shape) for a, b, shape in p) for p in self.places]

    def noise(self, n: int, rng: Rng) -> Noise:
        """What n rows of a batch meet at random, operation by operation."""
        shapes = zip(self.ops, self.shapes, strict=False)
        return [op.noise(n, shape, rng) if op.noisy else () for op, shape in shapes]


class Backprop(NamedTuple):
    """One backward pass."""

    value: float  # the reduced loss
    vector: Array  # d loss/d parameters
    deltas: dict[int, Array]  # d loss/d output of each operation
    saved: list[Any]
    right: float = np.nan  # the share of right labels, where the plan counts them


def make_plan(
    ops: tuple[Layer, ...],
    owner: tuple[int, ...],
    shapes: tuple[Shape, ...],
    layouts: list[tuple[Shape, ...]],
    loss: NetworkLoss,
) -> Plan:
    """Lay the parameters out in one vector."""
    places, at = [], 0
    for layout in layouts:
        row = []
        for shape in layout:
            row.append((at, at + prod(shape), shape))
            at += prod(shape)
        places.append(tuple(row))
    last = ops[-1]
    linked = isinstance(last, Activate) and get_activation(last.activation).name == loss.link
    couples = any(op.couples_rows for op in ops)
    noisy = any(op.noisy for op in ops)
    return Plan(ops, owner, shapes, tuple(places), loss, linked, couples, noisy)


def infer(plan: Plan, vector: Array, states: Sequence[Any], x: Array) -> Array:
    """The output of prediction."""
    with single_threaded_blas():
        for op, p, state in zip(plan.ops, plan.params(vector), states, strict=True):
            x = op.infer(p, state, x)
    return x


def row_losses(plan: Plan, t: Array, outputs: Array, before: Array) -> Array:
    """The loss of each row, from z where the last layer is the link."""
    loss = plan.loss
    return loss.rows_from_z(t, before, outputs) if plan.linked else loss.rows(t, outputs)


def share_right(plan: Plan, t: Array, outputs: Array, w: Array, scale: float) -> float:
    """``scale`` times the weight of the rows with the right label; NaN where none are counted."""
    if plan.labels is None:
        return np.nan
    return scale * weight_right(outputs, t, w, plan.labels == "halves")


def training_value(
    plan: Plan,
    vector: Array,
    states: Sequence[Any],
    x: Array,
    t: Array,
    w: Array,
    *,
    training: bool = True,
) -> tuple[float, float]:
    """The reduced loss, with the batch's own moments in training, and the share of right labels."""
    before = x
    for op, p, state in zip(plan.ops, plan.params(vector), states, strict=True):
        before, x = x, op.forward(p, x)[0] if training else op.infer(p, state, x)
    total, right = float(w @ row_losses(plan, t, x, before)), share_right(plan, t, x, w, 1.0)
    weight = float(w.sum())
    return (total / weight if plan.loss.reduction == "mean" else total), right / weight


def backprop(
    plan: Plan,
    vector: Array,
    x: Array,
    t: Array,
    w: Array,
    scale: float,
    noise: Noise = None,
    out: Array | None = None,
) -> Backprop:
    """Loss and gradient (into ``out``): ``scale`` times the sum over the rows, weighted by w."""
    params, saved, before = plan.params(vector), [], x
    if noise is not None:
        params = [q or p for p, q in zip(params, noise, strict=True)]
    for op, p in zip(plan.ops, params, strict=True):
        before = x
        x, keep = op.forward(p, x)
        saved.append(keep)
    value = scale * float(w @ row_losses(plan, t, x, before))
    right = share_right(plan, t, x, w, scale)
    d = plan.loss.delta(t, x) if plan.linked else plan.loss.slope(t, x)
    d = (d * (scale * w[:, None])).astype(vector.dtype, copy=False)
    grad, deltas = np.empty(plan.size, dtype=vector.dtype) if out is None else out, {}
    for i in range(len(plan.ops) - 1 - plan.linked, -1, -1):
        deltas[i] = d
        if i > 0:
            d, parts = plan.ops[i].backward(params[i], saved[i], d)
        else:
            parts = plan.ops[0].by_weights(params[0], saved[0], d)
        for (start, stop, _), part in zip(plan.places[i], parts, strict=True):
            grad[start:stop] = part.ravel()
    return Backprop(value, grad, deltas, saved, right)


def cut(plan: Plan, n: int) -> list[slice]:
    """The parts of a batch of n rows: a matter of the work alone."""
    work = n * plan.size
    count = n // PART_ROWS if work >= PART_WORK else 1
    if count < 2:
        count = min(n // FEW_ROWS, work // MUCH_WORK)
    if plan.couples or count < 2:
        return [slice(0, n)]
    edges = [n * k // count for k in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def batch_scale(plan: Plan, w: Array) -> float:
    """What the sum over the rows of a batch is multiplied by."""
    return 1.0 / float(w.sum()) if plan.loss.reduction == "mean" else 1.0


def batch_parts(
    plan: Plan,
    vector: Array,
    rows: Callable[[slice], Rows],
    parts: list[slice],
    scale: float,
    noise: Noise = None,
    out: Any = None,
) -> list[Backprop]:
    """Each part of a batch by a thread, which gathers its ``rows(part)`` itself."""

    def one(k: int) -> Backprop:
        part = parts[k]
        mine = None if noise is None else [tuple(a[part] for a in p) for p in noise]
        with np.errstate(all="ignore"):  # of this thread; a loss that is not finite is seen later
            into = None if out is None else out[k]
            return backprop(plan, vector, *rows(part), scale, mine, into)

    return list(map_threads(one, range(len(parts))))


def batch_gradient(
    plan: Plan, vector: Array, x: Array, t: Array, w: Array, noise: Noise = None
) -> Backprop:
    """Loss and gradient of a batch, by threads where it is large."""
    scale, parts = batch_scale(plan, w), cut(plan, len(x))
    if len(parts) == 1:
        with single_threaded_blas():
            return backprop(plan, vector, x, t, w, scale, noise)
    found = batch_parts(plan, vector, lambda part: (x[part], t[part], w[part]), parts, scale, noise)
    total = found[0].vector
    for other in found[1:]:
        total += other.vector
    value, right = sum(f.value for f in found), sum(f.right for f in found)
    return Backprop(value, total, {}, [], right)

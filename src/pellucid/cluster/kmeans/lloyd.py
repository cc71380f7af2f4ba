r"""The rounds of k-means: assign, fill what is empty, move the centres, until they rest.

One round from centres C:

    E     every row to its nearest centre                     J(labels, C)
    fill  an empty centre takes the row farthest from its own centre
    M     C_k = the centre of the rows of k                   J(labels, new C) <= J(labels, C)

The passes over the rows that a round needs are in ``passes``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.cluster.kmeans.passes import Assigned, Far, SourceRows, collapse
from pellucid.cluster.kmeans.sparse_rows import Passes
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.iterate import FitContext, Iteration, iterate

KEPT_LABELS = 10_000_000  # labels of all rounds together that the history keeps


def centers_of(rows: Passes, total: Array, C: Array) -> Array:
    """The M step: the centre of each group; an empty one stays where it is."""
    space = rows.space
    if space.center == "median":
        assert isinstance(rows, SourceRows)
        return rows.medians(C)
    weight, S = collapse(total)
    full = weight > 0
    if space.center == "mean":
        return np.where(full[:, None], S / np.where(full, weight, 1.0)[:, None], C)
    length = np.sqrt((S**2).sum(axis=1))
    full &= length > 1e-12 * weight  # opposite directions that cancel have no mean direction
    return np.where(full[:, None], S / np.where(full, length, 1.0)[:, None], C)


def objective_after(
    rows: Passes, assigned: Assigned, C: Array, new: Array, moves: Sequence[tuple[Far, int]]
) -> float:
    """J after the M step."""
    space = rows.space
    if not space.compiled:
        assert isinstance(rows, SourceRows)
        value = rows.value(C, new)
        for far, j in moves:
            x = np.array([far.row])
            d = space.distance.pairwise(x, new[[far.label, j]])[0]
            value -= collapse(far.total[None])[0][0] * (d[0] - d[1])
        return value
    weight, S = collapse(assigned.total)
    if space.unit:
        weight = np.sqrt((S**2).sum(axis=1))
    gap = ((new - C) ** 2).sum(axis=1)
    gap[[j for _, j in moves]] = 0.0  # these hold one distinct row and lie on it
    fall = float((weight * gap).sum())
    return max(assigned.objective - space.scale * fall, 0.0)


def fill_empty(
    rows: Passes, assigned: Assigned, C: Array
) -> tuple[Assigned, list[tuple[Far, int]]]:
    """Give each empty centre the row farthest from its own centre, while some row is off it."""
    weight, _ = collapse(assigned.total)
    empty = np.flatnonzero(weight <= 0)
    moves: list[tuple[Far, int]] = []
    if not len(empty):
        return assigned, moves
    total, value = assigned.total.copy(), assigned.objective
    for far in rows.farthest(C, 2 * len(C)):
        if len(moves) == len(empty):
            break
        left = collapse((total[far.label] - far.total)[None])[0][0]
        if left <= 0:  # its own centre would be empty then
            continue
        j = int(empty[len(moves)])
        total[far.label] -= far.total
        total[j] += far.total
        value -= far.term * float(collapse(far.total[None])[0][0])
        rows.relabel(far, j)
        moves.append((far, j))
    return Assigned(total, max(value, 0.0), assigned.changed), moves


class Round(NamedTuple):
    """One round of k-means."""

    centers: Array  # (k, p) after the update
    after_assignment: float
    after_update: float
    moved: Array  # (k,) how far each centre moved
    changed: int | None  # labels, where they are kept
    reseeded: int  # empty centres that took a far row


def round_of(rows: Passes, C: Array, objective: float) -> Round:
    """One E step, empty centres filled, one M step."""
    assigned = rows.assign(C, objective)
    assigned, moves = fill_empty(rows, assigned, C)
    new = centers_of(rows, assigned.total, C)
    for far, j in moves:
        new[j] = far.row
    after = objective_after(rows, assigned, C, new, moves)
    moved = np.sqrt(((new - C) ** 2).sum(axis=1))
    return Round(new, assigned.objective, after, moved, assigned.changed, len(moves))


class State(NamedTuple):
    """Where a run stands."""

    step: int
    centers: Array
    round: Round | None


class Limits(NamedTuple):
    """When the rounds stop, and what is told of them."""

    max_iter: int
    tol: float
    name: str = ""
    context: FitContext | None = None


class Run(NamedTuple):
    """One finished run."""

    centers: Array  # (k, p)
    inertia: float
    labels: Any  # (n,) int32, None over blocks
    weights: Array  # (k,)
    iteration: Iteration


def run_lloyd(rows: Passes, start: Array, limits: Limits, *, n: int, stop: str = "shift") -> Run:
    """Rounds from one start until nothing moves, or less than ``tol``; then one last E step."""

    def step(state: State) -> tuple[State, float]:
        value = 0.0 if state.round is None else state.round.after_update
        done = round_of(rows, state.centers, value)
        gap = float(done.moved.max() if stop == "each" else (done.moved**2).sum())
        return State(state.step + 1, done.centers, done), gap

    def record(state: State) -> dict[str, Any]:
        done = state.round
        assert done is not None  # there is no row for the start
        row: dict[str, Any] = {
            "objective": done.after_update,
            "after_assignment": done.after_assignment,
            "after_update": done.after_update,
            "shift": float(np.sqrt((done.moved**2).sum())),
            "reseeded": done.reseeded,
        }
        if done.changed is not None:
            row["changed"] = done.changed
        if n * state.step <= KEPT_LABELS:
            row["centers"] = done.centers
            row |= {} if rows.labels is None else {"labels": rows.labels.copy()}
        return row

    rows.begin()
    how = {"record": record, "start_row": False, "warn": False, **limits._asdict()}
    run = iterate(step, State(0, start, None), **how)
    inertia, weights = rows.finish(run.state.centers)
    labels = None if rows.labels is None else rows.labels.copy()
    return Run(run.state.centers, inertia, labels, weights, run)

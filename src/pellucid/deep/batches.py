"""Which rows an epoch visits: weights are repetitions, and the order of the table does not matter.

A row of weight 2.5 is visited twice and once more with a share of one half. Visits are arranged by
the contents of the rows, so that a row of weight 2 and a row written twice give the same bits.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray, Rng

MOST_VISITS = 1e9


class Visits(NamedTuple):
    """Rows in canonical order, one entry per visit, and the share of each visit."""

    rows: IntArray
    share: Array

    def take(self, positions: Any) -> "Visits":
        return Visits(self.rows[positions], self.share[positions])


def content_order(arrays: Sequence[np.ndarray]) -> IntArray:
    """An order of the rows that depends on their bytes alone.

    >>> content_order([np.array([[3, 1], [1, 2], [1, 1]], dtype=np.uint8)])
    array([2, 1, 0])
    """
    n = len(arrays[0])
    parts = [np.ascontiguousarray(a).reshape(n, -1) for a in arrays]
    flat = [(p + 0.0 if p.dtype.kind == "f" else p).view(np.uint8) for p in parts]  # no -0.0
    table = np.ascontiguousarray(np.hstack(flat))
    return np.argsort(table.view(f"V{table.shape[1]}")[:, 0], kind="stable")


def plan_visits(arrays: Sequence[np.ndarray], weight: Array) -> Visits:
    """The visits of one epoch.

    >>> plan_visits([np.array([[2.0], [1.0], [0.0]])], np.array([1.0, 1.5, 0.0]))
    Visits(rows=array([0, 1, 1]), share=array([1. , 1. , 0.5]))
    """
    if weight.sum() > MOST_VISITS:
        raise ValueError(
            f"sample_weight adds up to {weight.sum():g} visits per epoch, at most {MOST_VISITS:g} "
            "are accepted: weights count as repetitions; divide them by a number"
        )
    order = content_order(arrays)
    w = weight[order]
    times = np.ceil(w).astype(np.intp)
    rows = np.repeat(order, times)
    share = np.ones(len(rows))
    ends = np.cumsum(times)[times > 0] - 1
    share[ends] = (w - np.floor(w))[times > 0]
    share[share == 0] = 1.0
    return Visits(rows, share)


def hold_out(
    visits: Visits, fraction: float, codes: IntArray | None, rng: Rng
) -> tuple[Visits, Visits]:
    """(training, validation): a random share of the visits, of each class where there are any."""
    n = len(visits.rows)
    order = rng.permutation(n)
    label = np.zeros(n, dtype=np.intp) if codes is None else codes[visits.rows]
    held = np.zeros(n, dtype=bool)
    for code in np.unique(label):
        mine = order[label[order] == code]
        held[mine[: round(fraction * len(mine))]] = True
    if held.sum() < 1 or held.all():
        raise ValueError(
            f"validation_fraction={fraction:g} of {n} rows leaves {int(held.sum())} to judge by; "
            "at least 1 is needed on either side"
        )
    return visits.take(~held), visits.take(held)

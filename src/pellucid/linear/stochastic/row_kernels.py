"""What the stochastic epochs over CSR rows share: asking for rows, and how long a step is."""

from typing import Any

import numpy as np

from pellucid.compiled.epochs.epochs import LARGEST_SLOPE, STEP_RATE, passive_aggressive
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.losses import loss_slope, loss_value
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.simd import prefetch

AHEAD = 6  # visits between asking for a row and reading it


@jit
def ask_for_row(numbers: Array, places: Any, indptr: Any, visits: IntArray, k: int) -> None:
    """Ask for every cache line of the row of a later visit, so that it is there when it is read.

    numbers and places (1, stored) are data and indices of the CSR matrix.
    """
    row = visits[min(k + AHEAD, len(visits) - 1)]
    for i in range(indptr[row], indptr[row + 1], 8):
        prefetch(numbers, 0, np.int64(i))
    for i in range(indptr[row], indptr[row + 1], 16):
        prefetch(places, 0, np.int64(i))


@jit
def step_length(kind, loss, epsilon, factor, target, f, eta, norm):
    """What a visit adds of its row: -eta l'(y, f), or a passive-aggressive step."""
    if kind == STEP_RATE:
        slope = factor * loss_slope(loss, epsilon, target, f)
        return -eta * min(max(slope, -LARGEST_SLOPE), LARGEST_SLOPE)
    length = passive_aggressive(kind, factor * loss_value(loss, epsilon, target, f), norm, eta)
    return length if target >= f else -length

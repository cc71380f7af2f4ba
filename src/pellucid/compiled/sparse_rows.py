"""What the stochastic epochs over CSR rows share: fetching rows, and how long a step is."""

from typing import Any

import numpy as np

from pellucid.compiled.epochs import LARGEST_SLOPE, STEP_RATE, passive_aggressive
from pellucid.core.jit import jit
from pellucid.core.losses import loss_slope, loss_value
from pellucid.core.typing import Array, IntArray

BLOCK = 32  # rows fetched together


@jit(reassociate=True)
def fetch(data: Array, indices: Any, indptr: Any, visits: IntArray, start: int) -> float:
    """Read a number of every cache line of the next rows, so that they arrive together."""
    total = 0.0
    for k in range(start, min(start + BLOCK, len(visits))):
        row = visits[k]
        for i in range(indptr[row], indptr[row + 1], 8):
            total += data[i]
        for i in range(indptr[row], indptr[row + 1], 16):
            total += indices[i]
    return total


@jit
def step_length(
    kind: int, loss: int, epsilon: float, factor: float, target: float, f: float, eta: float,
    norm: float,
) -> float:  # fmt: skip
    """What a visit adds of its row: -eta l'(y, f), or a passive-aggressive step."""
    if kind == STEP_RATE:
        slope = factor * loss_slope(loss, epsilon, target, f)
        return -eta * min(max(slope, -LARGEST_SLOPE), LARGEST_SLOPE)
    length = passive_aggressive(kind, factor * loss_value(loss, epsilon, target, f), norm, eta)
    return length if target >= f else -length


def warm() -> None:
    """Compile the kernels."""
    indices, starts = np.arange(2, dtype=np.uint32), np.arange(3, dtype=np.int32)
    fetch(np.ones(2), indices, starts, np.arange(2), 0)
    step_length(0, 0, 0.1, 1.0, 1.0, 1.0, 1.0, 1.0)

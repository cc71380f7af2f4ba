"""Replay: the last steps of an agent, and batches drawn from them at random."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.readable import readable
from pellucid.reinforcement.learning.agent_kernels import random_rows

FIRST_ROWS = 256  # the arrays double until the capacity is reached


@readable
class ReplayBuffer(NamedTuple):
    """How many steps are remembered, and how many are replayed at once.

    Parameters
    ----------
    capacity : int, default=10_000
        The oldest step is forgotten when it is full.
    batch_size : int, default=32
        Steps replayed at once.

    Examples
    --------
    >>> ReplayBuffer(capacity=1000)
    ReplayBuffer(capacity=1000, batch_size=32)
    """

    capacity: int = 10_000
    batch_size: int = 32

    def check(self) -> None:
        """Refuse sizes that have no meaning."""
        check.whole(capacity=self.capacity, batch_size=self.batch_size)
        if self.batch_size > self.capacity:
            raise ValueError(
                f"batch_size must be at most the capacity {self.capacity}, got {self.batch_size}"
            )


class Memory(NamedTuple):
    """Steps (x, a, r, x', ended) in a ring; ``size`` is how many, and where the next one goes."""

    before: Array  # (rows, n_inputs)
    action: IntArray
    reward: Array
    after: Array
    ended: BoolArray
    size: IntArray  # (2,)
    capacity: int


def empty_memory(capacity: int, n_inputs: int) -> Memory:
    """No steps yet."""
    n = min(FIRST_ROWS, capacity)
    x, zero, size = np.zeros((n, n_inputs)), np.zeros(n, np.int64), np.zeros(2, np.int64)
    return Memory(x, zero, np.zeros(n), x.copy(), np.zeros(n, bool), size, capacity)


def remember(memory: Memory, x: Array, a: int, r: float, x2: Array, ended: bool) -> Memory:
    """Add a step, in place unless the arrays have to grow.

    >>> memory = empty_memory(2, 1)
    >>> for i in range(3):
    ...     memory = remember(memory, np.ones(1), i, 0.0, np.ones(1), False)
    >>> memory.action
    array([2, 1])
    """
    rows, at = len(memory.action), int(memory.size[1])
    if at == rows and rows < memory.capacity:
        more = min(2 * rows, memory.capacity) - rows
        steps: Any = memory[:5]
        grown = [np.concatenate([v, np.zeros((more, *v.shape[1:]), v.dtype)]) for v in steps]
        memory = Memory._make([*grown, *memory[5:]])
    elif at == rows:
        at = 0
    memory.before[at], memory.after[at] = x, x2
    memory.action[at], memory.reward[at], memory.ended[at] = a, r, ended
    memory.size[0] = min(int(memory.size[0]) + 1, memory.capacity)
    memory.size[1] = at + 1
    return memory


def draw(memory: Memory, n: int, words: Array) -> IntArray:
    """n rows at random, with repetition, from the agent's own stream."""
    rows = np.empty(n, np.int64)
    random_rows(words, int(memory.size[0]), rows)
    return rows

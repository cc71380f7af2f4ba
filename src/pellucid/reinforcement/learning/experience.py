"""What agents remember of a process, as arrays that compiled loops fill and files hold."""

from typing import NamedTuple

from pellucid.core.arrays.typing import Array, BoolArray, IntArray


class Model(NamedTuple):
    """What was seen: N(s, a, s') as lists, N(s, a), sums of rewards, and where episodes ended."""

    after: IntArray  # (S, A, K) next states met
    counts: IntArray  # (S, A, K)
    n_after: IntArray  # (S, A) how many of the K are used
    visits: IntArray  # (S, A)
    reward: Array  # (S, A) sums
    terminal: BoolArray  # (S,)
    allowed: BoolArray  # (S, A)


class Baseline(NamedTuple):
    """Mean return of all steps so far (mean[0] of mean[1] steps), and per state."""

    mean: Array  # (2,)
    values: Array  # (S,)
    counts: IntArray  # (S,)

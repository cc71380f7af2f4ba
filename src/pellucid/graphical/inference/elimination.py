r"""Exact inference by variable elimination.

P(q | e) is proportional to sum over the other variables of prod_i p(x_i | x_pa(i)) at the
evidence. Sums are pulled inside: to eliminate v, multiply the factors that hold v and sum v out.

Cost         the entries of the tables on the way, exponential in the largest neighbourhood; what
             cannot matter (barren nodes, parts separated from q by e) is left out first.

The arithmetic is one compiled call (``elimination_kernels``); a table that gets small is rescaled
and its logarithm kept, so that many observations do not underflow.

References: Zhang & Poole (1994); Dechter (1999); Koller & Friedman (2009), chapter 9.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.graphical.inference.cost import Plan, plan, refuse
from pellucid.graphical.inference.elimination_kernels import answer
from pellucid.graphical.network.arrays import NetworkArrays
from pellucid.graphical.network.memory import byte_limit
from pellucid.graphical.network.names import Name, names_of, state_index

KEPT_ARENA = 1 << 22  # larger ones are given back after the query
FIRST_ARENA = 1 << 14  # entries behind the tables of the network to begin with
EMPTY = np.empty(0, np.int64)


class Answer(NamedTuple):
    values: Array  # posterior, flat
    log_constant: float


class Elimination:
    """The tables of a network with room behind them; arenas are lent to one thread at a time."""

    def __init__(self, arrays: NetworkArrays) -> None:
        self.arrays = arrays
        self.arenas: list[Array] = []

    def ask(
        self,
        targets: Any,
        seen: IntArray,
        states: IntArray,
        everything: int = 0,
        max_bytes: float | None = None,
    ) -> Answer:
        """The posterior of ``targets`` (numbers of variables) given evidence.

        The first try is the min-weight order in the room there is; only where that is too small
        the orders are compared and the bytes are counted.
        """
        a = self.arrays
        size = math.prod(a.shape.card[targets].tolist())
        room = self.arenas.pop() if self.arenas else self._arena(FIRST_ARENA)
        heuristic, limit = 0, None if max_bytes is None else byte_limit(max_bytes)
        out, order = np.empty(min(size, len(room))), np.empty(len(a.names), np.int64)
        while True:
            query = targets, seen, states, everything, heuristic, False
            tables = *a.shape, a.start, len(a.flat), a.has_zero
            done, log_p, entries, *_ = answer(*query, *tables, room, order, out)
            if done and (limit is None or 8 * entries <= limit):
                if len(room) - len(a.flat) <= KEPT_ARENA:
                    self.arenas.append(room)
                return Answer(out, log_p)
            chosen = plan(a.shape, targets, seen, everything)
            limit = byte_limit(max_bytes) if limit is None else limit
            self._refuse(chosen, limit, targets)
            tight = heuristic == chosen.heuristic and not done and entries <= len(room)
            need = 2 * len(room) if tight else int(chosen.entries)
            heuristic = chosen.heuristic
            room, out = self._arena(max(need, FIRST_ARENA)), np.empty(size)

    def _arena(self, entries: int) -> Array:
        flat = self.arrays.flat
        room = np.empty(len(flat) + entries + 1)
        room[: len(flat)] = flat
        return room

    def _refuse(self, chosen: Plan, limit: float, targets: Array) -> None:
        needed = 8.0 * chosen.entries
        if needed > limit:
            names = self.arrays.names
            blame = names[targets[0] if chosen.worst < 0 else chosen.order[chosen.worst]]
            raise refuse(needed, limit, blame, "the query")


def evidence_codes(arrays: NetworkArrays, evidence: Mapping[Name, Any] | None) -> tuple[Any, Any]:
    """Numbers of the observed variables and of their states."""
    if not evidence:
        return EMPTY, EMPTY
    place, states = arrays.place, arrays.states
    seen, at = [], []
    for name, state in evidence.items():
        if name not in place:
            names_of([name], place)
        v = place[name]
        seen.append(v)
        at.append(state_index(states[v], state, name))
    return np.array(seen, np.int64), np.array(at, np.int64)


def log_evidence(
    engine: Elimination, seen: IntArray, states: IntArray, max_bytes: float | None = None
) -> float:
    """log P(evidence)."""
    return engine.ask(EMPTY, seen, states, 1, max_bytes).log_constant if len(seen) else 0.0

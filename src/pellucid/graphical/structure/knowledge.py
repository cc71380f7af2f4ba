"""What is known about edges before learning: some must be there, some must not.

Tiers order the variables in time: no edge leads from a later tier to an earlier one.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.readable import readable
from pellucid.graphical.graphs.dag import DAG


class Constraints(NamedTuple):
    """Knowledge about numbered variables."""

    allowed: Any  # (d, d) bool: u -> v may be there
    required: Any  # (d, d) bool: u -> v must be there


@readable
class EdgeKnowledge(NamedTuple):
    """Edges that are known, and edges that are impossible.

    Parameters
    ----------
    required : sequence of (parent, child), default=()
        Edges every learned graph has.
    forbidden : sequence of (parent, child), default=()
        Edges no learned graph has (in this direction).
    tiers : sequence of sequences of names, default=()
        Groups in the order of time: no edge from a later to an earlier group.

    Examples
    --------
    >>> from pellucid.graphical import EdgeKnowledge
    >>> known = EdgeKnowledge(required=[("a", "b")], tiers=[["a"], ["b", "c"]])
    >>> known.constraints(["a", "b", "c"]).allowed.astype(int)
    array([[0, 1, 1],
           [0, 0, 1],
           [0, 1, 0]])
    """

    required: Sequence[Any] = ()
    forbidden: Sequence[Any] = ()
    tiers: Sequence[Sequence[Any]] = ()

    def constraints(self, names: Sequence[Any]) -> Constraints:
        """The knowledge as matrices over these variables, checked for contradictions."""
        place = {name: i for i, name in enumerate(names)}
        allowed = ~np.eye(len(names), dtype=bool)
        required = np.zeros_like(allowed)
        for matrix, value, edges, what in (
            (allowed, False, self.forbidden, "forbidden"),
            (required, True, self.required, "required"),
        ):
            for edge in edges:
                if isinstance(edge, str) or len(edge) != 2:
                    raise ValueError(f"a {what} edge is a pair (parent, child), got {edge!r}")
                u, v = (_place(place, name, what) for name in edge)
                matrix[u, v] = value
        rank: dict[int, int] = {}
        for t, tier in enumerate(self.tiers):
            for name in (tier,) if isinstance(tier, str) else tier:
                rank[_place(place, name, "tiers")] = t
        for u, late in rank.items():
            for v, early in rank.items():
                if late > early:
                    allowed[u, v] = False
        clash = np.argwhere(required & ~allowed)
        if len(clash):
            u, v = clash[0]
            raise ValueError(f"the edge {names[u]!r} -> {names[v]!r} is both required and excluded")
        DAG([(names[u], names[v]) for u, v in np.argwhere(required)])  # refuses a cycle
        allowed[required.T] = False  # nor the other way round
        return Constraints(allowed, required)


def _place(place: dict[Any, int], name: object, what: str) -> int:
    if name not in place:
        raise ValueError(f"{what} names {name!r}, which is no column of the data")
    return place[name]


def constraints_of(knowledge: Any, names: Sequence[Any]) -> Constraints:
    """The matrices of an EdgeKnowledge, or those of knowing nothing."""
    if knowledge is None:
        knowledge = EdgeKnowledge()
    if not isinstance(knowledge, EdgeKnowledge):
        raise ValueError(f"knowledge must be an EdgeKnowledge or None, got {knowledge!r}")
    return knowledge.constraints(names)

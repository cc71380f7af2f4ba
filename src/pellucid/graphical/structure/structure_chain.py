r"""Structure MCMC: graphs drawn from their posterior.

Target       P(G | D) proportional to P(G) exp(score(G)) over legal graphs
Proposal     draw an ordered pair (u, v) and a coin. u -> v there: remove it, or reverse it.
             Neither there: add u -> v on heads. Every move is as likely as the move back, so it
             is accepted with probability min(1, exp(change of score))
Legal        no cycle, no more than ``max_parents``, the knowledge kept, and no table with more
             than 4096 cells and 8 for every row (data cannot support it); else the chain stays

Size         with a ladder of scores (bdeu of growing equivalent sample size) the chain is over
             (G, size): between graphs that are kept it proposes the next rung up or down, and
             takes it with probability min(1, exp(change of score))

Family scores are kept: a chain visits few different families.

References: Madigan & York (1995); Giudici & Castelo (2003).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, Rng
from pellucid.graphical.structure.knowledge import Constraints
from pellucid.graphical.structure.scores import Score

SMALL_TABLE, CELLS_PER_ROW = 4096, 8


class Drawn(NamedTuple):
    """Distinct graphs as the bits of their nodes' parents, how often each was kept, and rungs."""

    graphs: list[tuple[int, ...]]
    counts: Array
    acceptance: float
    rungs: Array  # how often a graph was kept on each rung of the ladder


class FamilyScores:
    """Scores of families by the bits of the parents, each counted once; -inf if too large.

    ``prior``: what is added for 0, 1, .. parents.
    """

    def __init__(self, score: Score, prior: Array) -> None:
        self.score = score
        self.prior = prior.tolist()
        self.known: list[dict[int, float]] = [{} for _ in score.card]
        self.most = max(SMALL_TABLE, CELLS_PER_ROW * score.table.n_rows)

    def __call__(self, v: int, bits: int) -> float:
        found = self.known[v].get(bits)
        if found is None:
            parents = [u for u in range(len(self.known)) if bits >> u & 1]
            cells = np.prod(self.score.card[[*parents, v]], dtype=np.float64)
            found = self.score.family(v, parents) if cells <= self.most else -np.inf
            found += self.prior[len(parents)]
            self.known[v][bits] = found
        return found

    def total(self, parents: Sequence[int]) -> float:
        """The score of a graph."""
        return sum(self(v, bits) for v, bits in enumerate(parents))


def leads(parents: list[int], a: int, b: int) -> bool:
    """Whether a directed path leads from a to b: climb from b to its ancestors."""
    seen = frontier = parents[b]
    while frontier:
        if seen >> a & 1:
            return True
        v = (frontier & -frontier).bit_length() - 1
        frontier &= frontier - 1
        fresh = parents[v] & ~seen
        seen |= fresh
        frontier |= fresh
    return False


def propose(
    parents: list[int], u: int, v: int, heads: bool, limits: Constraints, most: int
) -> dict[int, int] | None:
    """New parents of the nodes that change, or None where the move is not legal."""
    if parents[v] >> u & 1:
        if limits.required[u, v]:
            return None
        less = parents[v] & ~(1 << u)
        if heads:
            return {v: less}
        if not limits.allowed[v, u] or parents[u].bit_count() >= most:
            return None
        without = [less if t == v else bits for t, bits in enumerate(parents)]
        return None if leads(without, u, v) else {v: less, u: parents[u] | 1 << v}
    if not heads or parents[u] >> v & 1 or not limits.allowed[u, v]:
        return None
    if parents[v].bit_count() >= most or leads(parents, v, u):
        return None
    return {v: parents[v] | 1 << u}


def first_graph(value: FamilyScores, start: Any, limits: Constraints) -> list[int]:
    """The start, or as little as possible where it has tables that are too large."""
    for edges in (start, limits.required):
        parents = [sum(1 << int(u) for u in np.flatnonzero(column)) for column in edges.T]
        if value.total(parents) > -np.inf:
            return parents
    raise MemoryError("the required edges make tables that the data cannot support")


def draw_graphs(
    ladder: Sequence[Score],
    start: Any,
    limits: Constraints,
    max_parents: int,
    n_samples: int,
    rng: Rng,
    rung: int = 0,
    prior: Array | None = None,
) -> Drawn:
    """Keep a graph every 3 d steps, after a fifth of the steps to warm up."""
    d = len(ladder[0].card)
    by_parents = np.zeros(d) if prior is None else prior
    values = [FamilyScores(score, by_parents) for score in ladder]
    parents = first_graph(values[rung], start, limits)
    found: dict[tuple[int, ...], float] = {}
    rungs = np.zeros(len(ladder))
    accepted, gap = 0, 3 * d
    for k in range(-(n_samples // 5), n_samples):
        value = values[rung]
        pairs, coins = rng.integers(d, size=(gap, 2)), rng.random((gap, 2))
        for (u, v), (coin, level) in zip(pairs.tolist(), coins.tolist(), strict=True):
            new = None if u == v else propose(parents, u, v, coin < 0.5, limits, max_parents)
            if new is None:
                continue
            change = sum(value(t, bits) - value(t, parents[t]) for t, bits in new.items())
            if change >= 0 or level < np.exp(change):
                for t, bits in new.items():
                    parents[t] = bits
                accepted += 1
        if len(ladder) > 1:
            rung = step_rung(values, rung, parents, rng)
        if k >= 0:
            found[tuple(parents)] = found.get(tuple(parents), 0.0) + 1.0
            rungs[rung] += 1.0
    share = accepted / (gap * (n_samples + n_samples // 5))
    return Drawn(list(found), np.array(list(found.values())), share, rungs)


def step_rung(values: list[FamilyScores], rung: int, parents: list[int], rng: Rng) -> int:
    """One step up or down the ladder, or none."""
    new = rung + (1 if rng.random() < 0.5 else -1)
    level = rng.random()
    if not 0 <= new < len(values):
        return rung
    change = values[new].total(parents) - values[rung].total(parents)
    return new if change >= 0 or level < np.exp(change) else rung

r"""A tree of cliques: one pass up and one down answer every query at the same evidence.

Eliminating v from the product psi of the factors that hold it leaves a message m = sum_v psi to
the clique where the next of its variables goes, and the conditional p(v | rest) = psi / m. So

    up          log P(e) and p(v | rest, e) for every v: a network again, along the reverse order
    down        belief(clique of v) = p(v | rest, e) belief(rest): every marginal
    sampling    draw along the reverse order: exact draws given the evidence
    maximum     the same with max in place of the sum; going back picks the best state of each v

Cost         the entries of all cliques, twice.

References: Lauritzen & Spiegelhalter (1988); Dawid (1992); Dechter (1999).
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.graphical.inference.cost import plan, refuse
from pellucid.graphical.network.arrays import NetworkArrays
from pellucid.graphical.network.memory import byte_limit

EMPTY = np.empty(0, np.int64)


class Clique(NamedTuple):
    variable: int
    scope: tuple[int, ...]  # the others first, the variable last
    families: tuple[int, ...]  # whose tables are multiplied in here
    parent: int  # number of the clique that takes the message; -1: none


class CliqueTree(NamedTuple):
    cliques: tuple[Clique, ...]  # in the order of elimination


class Calibrated(NamedTuple):
    """The upward pass: conditionals p(v | rest, e) (or products, for a maximum) and log P(e)."""

    tables: list[Array]
    log_evidence: float


def build_tree(arrays: NetworkArrays, seen: IntArray, max_bytes: float | None = None) -> CliqueTree:
    """The cliques for a set of observed variables; refused if their tables would not fit."""
    chosen = plan(arrays.shape, EMPTY, seen, 2)
    rank = {int(v): i for i, v in enumerate(chosen.order)}
    waiting: list[list[Any]] = [[] for _ in rank]  # (family or -1, scope) by clique
    for v in range(len(arrays.names)):
        scope = frozenset(u for u in family_of(arrays, v) if u in rank)
        if scope:
            waiting[min(rank[u] for u in scope)].append((v, scope))
    cliques, entries = [], 0.0
    for i, v in enumerate(chosen.order.tolist()):
        rest = frozenset().union(*(scope for _, scope in waiting[i])) - {v}
        ordered = sorted(rest, key=lambda u: -rank[u])
        parent = min((rank[u] for u in rest), default=-1)
        if parent >= 0:
            waiting[parent].append((-1, rest))
        families = tuple(f for f, _ in waiting[i] if f >= 0)
        cliques.append(Clique(v, (*ordered, v), families, parent))
        entries += float(np.prod(arrays.shape.card[list(cliques[-1].scope)], dtype=np.float64))
    limit = byte_limit(max_bytes)
    if 16 * entries > limit:
        widest = max(cliques, key=lambda c: np.prod(arrays.shape.card[list(c.scope)] * 1.0))
        raise refuse(16 * entries, limit, arrays.names[widest.variable], "the clique tree")
    return CliqueTree(tuple(cliques))


def family_of(arrays: NetworkArrays, v: int) -> tuple[int, ...]:
    """Numbers of the parents, in the order of the table's axes, and of the variable."""
    some = arrays.shape.parents[arrays.shape.parent_start[v] : arrays.shape.parent_start[v + 1]]
    return (*some.tolist(), v)


def table_of(arrays: NetworkArrays, v: int) -> Array:
    """The table of a variable in its own shape."""
    shape = [int(arrays.shape.card[u]) for u in family_of(arrays, v)]
    return arrays.flat[arrays.start[v] : arrays.start[v + 1]].reshape(shape)


def _aligned(values: Array, own: tuple[int, ...], scope: tuple[int, ...]) -> Array:
    """A factor over ``own`` as one that multiplies an array over ``scope``."""
    order = [own.index(u) for u in scope if u in own]
    sizes = iter(values.transpose(order).shape)
    shape = [next(sizes) if u in own else 1 for u in scope]
    return values.transpose(order).reshape(shape)


def calibrate(
    arrays: NetworkArrays, tree: CliqueTree, evidence: dict[int, int], maximise: bool = False
) -> Calibrated:
    """Pass messages up at the evidence {variable: state}.

    A variable with one state is in no clique: it is always observed.
    """
    card = arrays.shape.card
    evidence = {**dict.fromkeys(np.flatnonzero(card == 1).tolist(), 0), **evidence}
    tables: list[Array] = []
    received: list[list[tuple[Array, tuple[int, ...]]]] = [[] for _ in tree.cliques]
    log_p = _constant(arrays, evidence)
    for i, clique in enumerate(tree.cliques):
        psi = np.ones([int(card[u]) for u in clique.scope])
        for f in clique.families:
            family = family_of(arrays, f)
            at = tuple(evidence.get(u, slice(None)) for u in family)
            own = tuple(u for u in family if u not in evidence)
            psi *= _aligned(table_of(arrays, f)[at], own, clique.scope)
        for message, own in received[i]:
            psi *= _aligned(message, own, clique.scope)
        message = psi.max(axis=-1) if maximise else psi.sum(axis=-1)
        top = float(message.max())
        if not top > 0:
            return Calibrated([], -np.inf)
        log_p += np.log(top)
        if clique.parent >= 0:
            received[clique.parent].append((message / top, clique.scope[:-1]))
        if not maximise:
            safe = np.where(message > 0, message, 1.0)[..., None]
            psi = np.where(message[..., None] > 0, psi / safe, 1.0 / psi.shape[-1])
        tables.append(psi)
    return Calibrated(tables, float(log_p))


def _constant(arrays: NetworkArrays, evidence: dict[int, int]) -> float:
    """log of the families that are observed as a whole."""
    total = 0.0
    for v in evidence:
        family = family_of(arrays, v)
        if all(u in evidence for u in family):
            entry = table_of(arrays, v)[tuple(evidence[u] for u in family)]
            total += np.log(entry) if entry > 0 else -np.inf
    return total


def marginals(tree: CliqueTree, found: Calibrated) -> dict[int, Array]:
    """Pass beliefs down: p(v | e) of every unobserved variable."""
    beliefs: list[Any] = [None] * len(tree.cliques)
    for i in range(len(tree.cliques) - 1, -1, -1):
        clique = tree.cliques[i]
        belief = found.tables[i]
        if clique.parent >= 0:
            above = tree.cliques[clique.parent].scope
            gone = tuple(d for d, u in enumerate(above) if u not in clique.scope)
            left = tuple(u for u in above if u in clique.scope)
            rest = beliefs[clique.parent].sum(axis=gone)
            belief = belief * _aligned(rest, left, clique.scope[:-1])[..., None]
        beliefs[i] = belief
    return {
        clique.variable: belief.reshape(-1, belief.shape[-1]).sum(axis=0)
        for clique, belief in zip(tree.cliques, beliefs, strict=True)
    }


def best_states(tree: CliqueTree, found: Calibrated) -> dict[int, int]:
    """The joint maximum, from the products of ``calibrate(..., maximise=True)``."""
    chosen: dict[int, int] = {}
    for clique, psi in zip(tree.cliques[::-1], found.tables[::-1], strict=True):
        row = psi[tuple(chosen[u] for u in clique.scope[:-1])]
        chosen[clique.variable] = int(row.argmax())
    return chosen

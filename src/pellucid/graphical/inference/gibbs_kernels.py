"""Gibbs sampling in a network of tables: one variable after the other, given its blanket.

p(x_v = k | rest) is proportional to the entries of v's own table and of its children's tables at
x_v = k. The place of each entry is linear in k: a base and a stride, found once per visit.
"""

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.splitmix import GOLDEN, splitmix64


@jit
def place(row, u, v, card, parent_start, parents):
    """Where the table of u is read at state 0 of v, and the step from one state to the next."""
    base, stride = 0, 0
    for z in range(parent_start[u], parent_start[u + 1]):
        p = parents[z]
        base, stride = base * card[p], stride * card[p]
        if p == v:
            stride += 1
        else:
            base += row[p]
    base, stride = base * card[u], stride * card[u]
    if u == v:
        return base, stride + 1
    return base + row[u], stride


@jit
def gibbs_chain(
    row,
    free,
    card,
    parent_start,
    parents,
    child_start,
    children,
    start,
    flat,
    targets,
    burn,
    batch,
    counts,
    seed,
):
    """Sweeps over the free variables; after ``burn`` of them the cell of the targets counts."""
    share = np.empty(card.max())
    state = seed
    for t in range(burn + batch * len(counts)):
        for v in free:
            base, stride = place(row, v, v, card, parent_start, parents)
            for k in range(card[v]):
                share[k] = flat[start[v] + base + k * stride]
            for z in range(child_start[v], child_start[v + 1]):
                c = children[z]
                base, stride = place(row, c, v, card, parent_start, parents)
                for k in range(card[v]):
                    share[k] *= flat[start[c] + base + k * stride]
            total = 0.0
            for k in range(card[v]):
                total += share[k]
            if total == 0.0:  # products underflowed: stay
                continue
            state += GOLDEN
            u = float(splitmix64(state) >> np.uint64(11)) * 2.0**-53 * total
            k = 0
            while k < card[v] - 1 and u >= share[k]:
                u -= share[k]
                k += 1
            while share[k] == 0.0:  # rounding went past the last possible state
                k -= 1
            row[v] = k
        if t >= burn:
            cell = 0
            for v in targets:
                cell = cell * card[v] + row[v]
            counts[(t - burn) // batch, cell] += 1.0

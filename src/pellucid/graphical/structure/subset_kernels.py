r"""Scores of all sets of variables, and the best graph by dynamic programming over them.

A decomposable score is a difference of two functions of sets, score(v | P) = f(P + v) - g_v(P):

    likelihood    f(S) = g(S) = sum over cells of N log N
    bdeu          f(S) = g(S) = sum over cells of lgamma(a_S + N) - lgamma(a_S), a_S = e / cells(S)
    k2            f(S) = sum lgamma(1 + N),  g_v(P) = sum lgamma(r_v + N) - lgamma(r_v)

The counts of all 2^d sets come from one walk: a set's rows are numbered by their cell, and adding
a variable splits the cells that are there (never more than the distinct rows).

Best graph    b_v(C) = max(score(v | C), max_u b_v(C - u))            best parents within C
              R(W) = max_v R(W - v) + b_v(W - v)                      v the last of the order
"""

import math

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def split_cells(cell, x, c, cells, number, out):
    """Number the cells (cell, x) that occur; ``number`` has room for ``cells * c``."""
    for i in range(cells * c):
        number[i] = -1
    k = 0
    for i in range(len(cell)):
        at = cell[i] * c + x[i]
        if number[at] < 0:
            number[at] = k
            k += 1
        out[i] = number[at]
    return k


@jit
def cell_term(cell, w, cells, a, N):
    """Sum over cells of N log N (a < 0) or of lgamma(a + N) - lgamma(a)."""
    for k in range(cells):
        N[k] = 0.0
    for i in range(len(cell)):
        N[cell[i]] += w[i]
    total = 0.0
    if a < 0:
        for k in range(cells):
            if N[k] > 0:
                total += N[k] * math.log(N[k])
        return total
    zero = math.lgamma(a)
    for k in range(cells):
        total += math.lgamma(a + N[k]) - zero
    return total


@jit
def set_terms(X, w, card, most, size, extra, out):
    """out[0, S]: f(S) of every set of at most ``most`` variables; out[1 + t, S]: with a = extra[t].

    ``size`` < 0: N log N; 0: a = 1; above: the equivalent sample size.
    """
    d, n = X.shape
    cell = np.zeros((d + 1, n), np.int32)
    number, N = np.empty(n * card.max() + 1, np.int32), np.empty(n + 1)
    path, count = np.zeros(d + 1, np.int64), np.zeros(d + 1, np.int64)
    space = np.ones(d + 1)
    count[0] = 1
    depth, candidate, members = 0, 0, 0
    fresh = True
    while True:
        if fresh:  # a set that was not seen before
            a = -1.0 if size < 0 else (1.0 if size == 0 else size / space[depth])
            out[0, members] = cell_term(cell[depth], w, count[depth], a, N)
            for t in range(len(extra)):
                out[1 + t, members] = cell_term(cell[depth], w, count[depth], extra[t], N)
            fresh = False
        if candidate < d and depth < most:
            v = candidate
            count[depth + 1] = split_cells(
                cell[depth], X[v], card[v], count[depth], number, cell[depth + 1]
            )
            space[depth + 1] = space[depth] * card[v]
            depth += 1
            path[depth] = v
            members |= 1 << v
            candidate = v + 1
            fresh = True
        elif depth > 0:
            v = path[depth]
            members &= ~(1 << v)
            depth -= 1
            candidate = v + 1
        else:
            return


@jit
def squeeze(members, v):
    """The number of a set that lacks v among the sets of the other variables."""
    low = members & ((1 << v) - 1)
    return low | ((members >> (v + 1)) << v)


@jit
def widen(short, v):
    """The other way round."""
    low = short & ((1 << v) - 1)
    return low | ((short >> v) << (v + 1))


@jit
def best_parents(v, terms, which, penalty, card, most, allowed, required, best, chosen):
    """best[C], chosen[C]: the best parents of v within C, over the sets of other variables."""
    d = len(card)
    for short in range(len(best)):
        C = widen(short, v)
        size, q, legal = 0, 1.0, (required & ~C) == 0 and (C & ~allowed) == 0
        top, pick = -np.inf, -1
        for u in range(d):
            if C >> u & 1:
                size += 1
                q *= card[u]
                below = squeeze(C & ~(1 << u), v)
                if best[below] > top:
                    top, pick = best[below], chosen[below]
        if legal and size <= most:
            own = terms[0, C | 1 << v] - terms[which, C] - penalty * q * (card[v] - 1)
            if pick < 0 or own > top + 1e-9:  # less is rounding: the smaller set stays
                top, pick = own, C
        best[short], chosen[short] = top, pick


@jit
def best_order(best, total, last):
    """total[W]: the best score of a graph on W; last[W]: the node without children in it."""
    d = len(best)
    total[0] = 0.0
    for W in range(1, len(total)):
        top, pick = -np.inf, -1
        for v in range(d):
            if W >> v & 1:
                rest = W & ~(1 << v)
                value = total[rest] + best[v, squeeze(rest, v)]
                if value > top or pick < 0:
                    top, pick = value, v
        total[W], last[W] = top, pick

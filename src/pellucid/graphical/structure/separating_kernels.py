r"""Tests of a pair given every set of its neighbours, until one separates it.

One call makes all tests of a pair in one round of the PC algorithm. The codes of (a, b, z_1, ..,
z_k) are kept for every k, and sets come in the order of ``itertools.combinations``, so that the
next set has most of them in common with the last: a test costs little more than one pass over its
last variable.

The tail of chi2 with f degrees of freedom at x = 2 h is a sum of positive terms,

    Q = sum over s = f/2 - 1, f/2 - 2, .. >= 0 of h^s e^-h / Gamma(s + 1)  [+ erfc(sqrt h), f odd],

begun at the largest and ended where terms no longer count.

References: Abramowitz & Stegun (1964), 26.4.4 and 26.4.5.
"""

import math

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.graphical.learning.count_kernels import histogram, strata_statistic

FULL = 10  # rows of a stratum in which a constant is no accident


@jit
def chi2_tail(dof, x):
    """P(chi2 >= x) with ``dof`` degrees of freedom; 1 where there are none."""
    h, odd = 0.5 * x, dof % 2 == 1
    if dof <= 0 or h <= 0.0:
        return 1.0
    total = math.erfc(math.sqrt(h)) if odd else 0.0
    low, top = 0.5 if odd else 0.0, 0.5 * dof - 1.0
    if top < low:
        return total
    start = min(top, low + math.floor(max(h - low, 0.0)))
    largest = math.exp(start * math.log(h) - h - math.lgamma(start + 1.0))
    s, term = start, largest
    while s >= low and term > 1e-18 * total:
        total += term
        term *= s / h
        s -= 1.0
    s, term = start + 1.0, largest * h / (start + 1.0)
    while s <= top and term > 1e-18 * total:
        total += term
        s += 1.0
        term *= h / s
    return min(total, 1.0)


@jit
def add_variable(code, x, c, out):
    """Codes with one more variable, -1 where a cell is missing."""
    radix = np.int32(c)
    for i in range(len(code)):
        out[i] = -1 if (code[i] < 0 or x[i] < 0) else code[i] * radix + np.int32(x[i])


@jit
def next_set(pick, n):
    """The next m numbers below n in order; the first place that changed, -1 after the last set."""
    m = len(pick)
    i = m - 1
    while i >= 0 and pick[i] == n - m + i:
        i -= 1
    if i >= 0:
        pick[i] += 1
        for k in range(i + 1, m):
            pick[k] = pick[k - 1] + 1
    return i


@jit
def is_full(table, cells, strata):
    """Whether strata that occur have FULL rows or more on average."""
    rows, seen = 0.0, 0
    for z in range(strata):
        total = 0.0
        for i in range(z, cells, strata):
            total += table[i]
        rows += total
        seen += total > 0
    return rows >= FULL * seen


@jit
def separate(X, graph, a, b, m, card, w, likelihood, alpha, most):
    """Test a, b given each m neighbours of a, then of b, until p > ``alpha``.

    Returns the sets (k, m), their statistic, degrees of freedom and p (k, 3), and whether the last
    one separates. Sets with more than ``most`` cells are passed over. A test without degrees of
    freedom separates where its strata are all but empty; where they are full, a or b is a function
    of the set and the test saw nothing.
    """
    d, n = X.shape
    code = np.empty((max(m, 1), n), np.int32)  # of (a, b), then with one more variable each
    for i in range(n):
        code[0, i] = X[a, i]
    add_variable(code[0], X[b], card[b], code[0])
    sets, results, made = np.empty((8, m), np.int64), np.empty((8, 3)), 0
    near, pick, table = np.empty(d, np.int64), np.empty(m, np.int64), np.empty(n)
    for side in range(2):
        centre, other = (a, b) if side == 0 else (b, a)
        size, first = 0, 0
        for u in range(d):
            if graph[centre, u] and u != other:
                near[size] = u
                size += 1
        for k in range(m):
            pick[k] = k
        changed = 0 if size >= m else -1
        while changed >= 0:
            first = min(first, changed)
            cells, known = float(card[a] * card[b]), side == 1
            for k in range(m):
                cells *= card[near[pick[k]]]
                known = known and graph[a, near[pick[k]]]  # then it was among the sets of a
            if not known and cells <= most:
                for k in range(first, m - 1):
                    u = near[pick[k]]
                    add_variable(code[k], X[u], card[u], code[k + 1])
                first, room = m, np.int64(cells)
                if room > len(table):
                    table = np.empty(room)
                last = near[pick[m - 1]] if m else np.int64(0)
                histogram(code[max(m - 1, 0)], X[last], card[last] if m else 0, w, room, table)
                per = room // (card[a] * card[b])  # the sets' states
                statistic, dof = strata_statistic(table, card[a], card[b], per, likelihood)
                if made == len(sets):
                    more, larger = np.empty((2 * made, m), np.int64), np.empty((2 * made, 3))
                    more[:made], larger[:made] = sets, results
                    sets, results = more, larger
                for k in range(m):
                    sets[made, k] = near[pick[k]]
                p = chi2_tail(dof, statistic)
                results[made, 0], results[made, 1], results[made, 2] = statistic, dof, p
                made += 1
                if p > alpha and (dof > 0 or m == 0 or not is_full(table, room, per)):
                    return sets[:made], results[:made], True
            changed = next_set(pick, size) if m else -1
    return sets[:made], results[:made], False

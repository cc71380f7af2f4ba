r"""Sweeps over states that share their probabilities.

The actions of a state often lead to the same few states, and many states do the same thing in
another place. So a state keeps the list of its successors, K of them, and the number of a pattern:
a small table of (1 + K) rows of lanes, the rewards r(s, .) first and then p(s_k | s, .),

    q(.) = r(.) + g sum_k p(s_k | .) U(s_k),     U(s) <- max q

four actions at a time. On a grid world there are a few dozen patterns, which stay in the nearest
cache: a sweep reads 4 K + 12 bytes per state in place of 12 per outcome. The order of the sums is
that of ``mdp_sweeps.sweep``, and so are the bits.
"""

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.splitmix import GOLDEN

LANES = 4  # actions computed together
ONE = np.uintp(1)
MOST = 32  # successors of a state up to which patterns are looked for


@jit
def successors(indptr, indices, A, most, first, after):
    """List the different successors of every state, ascending; returns how many in all.

    State s has ``after[first[s]:first[s + 1]]``. -1: a state has more than ``most``, or ``after``
    has no room for ``most`` of one state more.
    """
    n = 0
    first[0] = 0
    for s in range(len(first) - 1):
        if n + most > len(after):
            return -1
        begin = n
        for k in range(indptr[s * A], indptr[s * A + A]):
            t = indices[k]
            i = n
            while i > begin and after[i - 1] > t:
                i -= 1
            if i > begin and after[i - 1] == t:
                continue
            if n - begin == most:
                return -1
            for j in range(n, i, -1):
                after[j] = after[j - 1]
            after[i] = t
            n += 1
        first[s + 1] = n
    return n


@jit
def share_patterns(indptr, indices, p, r, first, after, slots, pattern, table):
    """Write each different pattern once; ``pattern[s]`` is the row of ``table`` where s begins.

    ``slots`` is a hash table, a power of 2 long, full of -1. Returns how many rows are used.
    """
    S = len(first) - 1
    A = len(r) // S
    groups = (A + LANES - 1) // LANES
    bits = table.view(np.uint64)
    n = 0
    for s in range(S):
        begin, K = first[s], first[s + 1] - first[s]
        size = groups * (1 + K)
        new = table[n : n + size]
        new[:] = 0.0
        for a in range(groups * LANES):
            row, lane = (a // LANES) * (1 + K), a % LANES
            new[row, lane] = r[s * A + a] if a < A else -np.inf
            i = 0
            if a < A:
                for k in range(indptr[s * A + a], indptr[s * A + a + 1]):
                    while after[begin + i] != indices[k]:
                        i = i + 1 if i + 1 < K else 0
                    new[row + 1 + i, lane] += p[k]
        key = np.uint64(K)
        for i in range(size):
            for lane in range(LANES):
                key = (key ^ bits[n + i, lane]) * GOLDEN
                key ^= key >> np.uint64(29)
        place = np.intp(key & np.uint64(len(slots) - 1))
        found = False
        while slots[place] >= 0:
            t = slots[place]
            if first[t + 1] - first[t] == K:
                old, found = pattern[t], True
                for i in range(size):
                    for lane in range(LANES):
                        found = found and bits[old + i, lane] == bits[n + i, lane]
                if found:
                    break
            place = (place + 1) & (len(slots) - 1)
        if found:
            pattern[s] = pattern[slots[place]]
        else:
            slots[place], pattern[s] = s, n
            n += size
    return n


@jit
def pattern_sweep(after, first, pattern, table, groups, g, U, W, start, stop):
    """W(s) for start <= s < stop; returns max |W - U|. W may be U: then the newest values count.

    Indices are unsigned: a signed one is asked each time whether it counts from the end.
    """
    largest = 0.0
    end = first[start]
    for s in range(start, stop):
        begin, end = end, first[s + 1]
        best, at = -np.inf, np.uintp(pattern[s])
        for _ in range(groups):
            rewards = at
            t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
            k = np.uintp(begin)
            while k < end:
                u = U[after[k]]
                at += ONE
                t0 += table[at, 0] * u
                t1 += table[at, 1] * u
                t2 += table[at, 2] * u
                t3 += table[at, 3] * u
                k += ONE
            at += ONE
            q0, q1 = table[rewards, 0] + g * t0, table[rewards, 1] + g * t1
            q2, q3 = table[rewards, 2] + g * t2, table[rewards, 3] + g * t3
            q0, q2 = q0 if q0 > q1 else q1, q2 if q2 > q3 else q3
            q0 = q0 if q0 > q2 else q2
            best = best if best > q0 else q0
        change = abs(best - U[s])
        largest = largest if largest > change else change
        W[s] = best
    return largest

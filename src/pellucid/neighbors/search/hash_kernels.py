"""Keys of buckets, also of those beside a query's own, and exact ranking of what lies in them.

The rows of a table lie in the order of the leading bits of their keys, so a bucket is found in a
short range. A row is looked at once, whatever number of buckets proposes it; ties go to the lower
index.

The key of a row is sum_f code_f factor_f mod 2^64 with factors drawn at random, so a step of one
code to a neighbouring bucket adds or takes away one factor.

Beside the reduced distances of ``compiled.distances.brute``: kind 4 counts differing coordinates,
kind 5 is the Jaccard distance of truth values.
"""

import numpy as np

from pellucid.compiled.distances.brute import reduced
from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.splitmix import GOLDEN

SHIFT = np.uint64(29)
LINE = 8  # numbers in a line of the cache
FARTHEST = 1e18  # codes beyond it share a bucket


@jit
def dissimilarity(x, q, kind, p):
    """The reduced distance of any kind."""
    if kind < 4:
        return reduced(x, q, kind, p)
    differing, either = 0, 0
    for t in range(len(q)):
        if kind == 4:
            differing += x[t] != q[t]
        else:
            differing += (x[t] != 0.0) != (q[t] != 0.0)
            either += (x[t] != 0.0) or (q[t] != 0.0)
    if kind == 4:
        return differing / len(q)
    return differing / either if either > 0 else 0.0


@jit
def probe_keys(lines, shifts, width, factors, moves, a, b, out):
    """Keys of the buckets in which rows a to b are looked for, their own first.

    lines (n, functions): projections; the code is floor(v / width + shift), or with a width of 0
    the side of 0. moves (probes, most): which steps make each bucket, -1 for none; step j goes
    over the j-th nearest wall, 2 bits - 1 - j the other way. out (b - a, tables, probes), uint64.
    """
    n_tables, n_probes, most = out.shape[1], out.shape[2], moves.shape[1]
    bits = lines.shape[1] // n_tables
    gaps, steps = np.empty(bits), np.empty(bits, np.uint64)
    for i in range(a, b):
        for table in range(n_tables):
            key = np.uint64(0)
            for u in range(bits):
                f = table * bits + u
                v = lines[i, f]
                factor = factors[f]
                if width > 0.0:
                    v = v / width + shifts[f]
                    code = min(max(np.floor(v), -FARTHEST), FARTHEST)
                    gap, up = v - code, False
                    if gap > 0.5:
                        gap, up = 1.0 - gap, True
                else:
                    code = 1.0 if v > 0.0 else 0.0
                    gap, up = abs(v), not v > 0.0
                key += np.uint64(np.int64(code)) * factor
                if most == 0:
                    continue
                at = u
                while at > 0 and gaps[at - 1] > gap:
                    gaps[at], steps[at] = gaps[at - 1], steps[at - 1]
                    at -= 1
                gaps[at] = gap
                steps[at] = factor if up else np.uint64(0) - factor
            for t in range(n_probes):
                near = key
                for s in range(most):
                    j = moves[t, s]
                    if j < 0:
                        break
                    near += steps[j] if j < bits else np.uint64(0) - steps[2 * bits - 1 - j]
                out[i - a, table, t] = near


@jit
def mix_keys(values, out):
    """One key for the values of each table, by multiply and shift; out (n, tables, 1), uint64."""
    n, count = values.shape
    n_tables = out.shape[1]
    bits = count // n_tables
    for i in range(n):
        for table in range(n_tables):
            key = np.uint64(0)
            for bit in range(bits):
                key = (key ^ np.uint64(values[i, table * bits + bit])) * GOLDEN
                key = key ^ (key >> SHIFT)
            out[i, table, 0] = key


@jit
def meetings(wanted, near, out):
    """Whether neighbour c of query i lies in a bucket that is looked at.

    wanted (m, tables, probes); near (m k, tables, 1): the keys of the neighbours; out (m, k).
    """
    m, k = out.shape
    for i in range(m):
        for c in range(k):
            met = False
            for table in range(wanted.shape[1]):
                key = near[i * k + c, table, 0]
                for t in range(wanted.shape[2]):
                    met |= wanted[i, table, t] == key
                if met:
                    break
            out[i, c] = met


@jit
def offer(v, j, best, which):
    """Put a row among the best, by distance and then by index."""
    at = len(best) - 1
    if v > best[at] or (v == best[at] and j > which[at]):
        return
    while at > 0 and (best[at - 1] > v or (best[at - 1] == v and which[at - 1] > j)):
        best[at] = best[at - 1]
        which[at] = which[at - 1]
        at -= 1
    best[at] = v
    which[at] = j


@jit
def rank_candidates(X, q, rows, count, kind, p, best, which):
    """The best of ``rows[:count]``; squares of four rows at a time, each summed in order."""
    done = 0
    if kind == 2:
        while done + 4 <= count:
            r0, r1, r2, r3 = rows[done], rows[done + 1], rows[done + 2], rows[done + 3]
            v0, v1, v2, v3 = 0.0, 0.0, 0.0, 0.0
            for t in range(len(q)):
                e0, e1, e2, e3 = X[r0, t] - q[t], X[r1, t] - q[t], X[r2, t] - q[t], X[r3, t] - q[t]
                v0 += e0 * e0
                v1 += e1 * e1
                v2 += e2 * e2
                v3 += e3 * e3
            offer(v0, r0, best, which)
            offer(v1, r1, best, which)
            offer(v2, r2, best, which)
            offer(v3, r3, best, which)
            done += 4
    for c in range(done, count):
        offer(dissimilarity(X[rows[c]], q, kind, p), rows[c], best, which)


@jit
def file_rows(keys, shift, starts, order, filed):
    """Put the rows of one table side by side where their keys have equal leading bits.

    keys (n,); starts (2^bits + 1,), zeros before: where each head begins; order and filed (n,): the
    rows and their keys in that order, within a head as they come.
    """
    for j in range(len(keys)):
        starts[np.int64(keys[j] >> shift) + 1] += 1
    for head in range(1, len(starts)):
        starts[head] += starts[head - 1]
    for j in range(len(keys)):
        mine = np.int64(keys[j] >> shift)
        at = starts[mine]
        order[at] = j
        filed[at] = keys[j]
        starts[mine] = at + 1
    for head in range(len(starts) - 1, 0, -1):  # each now says where the next one begins
        starts[head] = starts[head - 1]
    starts[0] = 0


@jit
def collect(X, order, keys, starts, shift, wanted, i, seen, rows):
    """Rows in the buckets ``wanted`` (tables, probes), each once; seen[j] = i marks them.

    keys, order (tables, n) and starts (tables, 2^bits + 1): see ``file_rows``. Everything that
    will be read is asked for one step ahead.
    """
    count = 0
    for table in range(len(keys)):
        for t in range(wanted.shape[1]):
            simd.prefetch(starts, table, np.int64(wanted[table, t] >> shift))
        for t in range(wanted.shape[1]):
            simd.prefetch(keys, table, np.int64(starts[table, np.int64(wanted[table, t] >> shift)]))
        for t in range(wanted.shape[1]):
            key = wanted[table, t]
            head = np.int64(key >> shift)
            at, end = np.int64(starts[table, head]), np.int64(starts[table, head + 1])
            for place in range(at, end):
                j = np.int64(order[table, place])
                if keys[table, place] == key and seen[j] != i:
                    seen[j] = i
                    rows[count] = j
                    count += 1
                    for c in range(0, X.shape[1], LINE):
                        simd.prefetch(X, j, c)
    return count


@jit
def bucket_nearest(X, Q, order, keys, starts, shift, wanted, kind, p, a, out, index, found):
    """The k nearest rows among the candidates of queries from a on, and how many candidates.

    wanted (queries, tables, probes): the keys of the buckets in which each is looked for.
    """
    n = order.shape[1]
    seen = np.full(n, -1, np.int32)
    rows = np.empty(n, np.int64)
    for c in range(len(wanted)):
        i = a + c
        out[i, :] = np.inf
        index[i, :] = n
        count = collect(X, order, keys, starts, shift, wanted[c], c, seen, rows)
        found[i] = count
        rank_candidates(X, Q[i], rows, count, kind, p, out[i], index[i])

r"""The nearest rows by looking at all of them: exact, in double precision, ties by lower index.

The **reduced distance** of two rows decides who is nearer; everywhere it is the same sum, in the
same order and without fused operations, so that every search gives the same neighbours:

    kind 0  max_t |x_t - q_t|      kind 1  sum_t |x_t - q_t|
    kind 2  sum_t (x_t - q_t)^2    kind 3  sum_t |x_t - q_t|^p

**Direct**: reduced distances of one query to a tile of rows, a coordinate at a time.

**Filtered** (kind 2): single-precision tiles give scores s_j = |x_j|^2 - 2 q'x_j about a common
origin. The kc best scores of a query are candidates, and their reduced distances are computed.
Every other row has a score of at least the kc-th, t, and a true one of at least t - margin, where
``margin`` bounds all rounding. So if the k-th candidate is nearer than t + |q|^2 - margin, no row
was missed; if not, the query is marked for the direct search.
"""

from typing import Any

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.simd_single import COLUMNS, ROWS, product_tile

TILE = 512  # rows whose reduced distances are held at once
QUERIES = 10 * ROWS  # queries that share a pass over the packed rows
BLOCKS = 768 // COLUMNS  # packed blocks per pass: the scores of a pass stay in the cache
BLOCK = 2048  # rows that serve all queries before the next ones are fetched
CHUNK = 128  # scores that are compared with the threshold at once
DENSE = 2  # where one row in so many is near, tiles of all rows are quicker


@jit
def term(gap: float, kind: int, p: float) -> float:
    """One coordinate's share of a reduced distance."""
    if kind == 2:
        return gap * gap
    if kind == 3:
        return abs(gap) ** p
    return abs(gap)


@jit
def reduced(x: Any, q: Any, kind: int, p: float) -> float:
    """The reduced distance of two rows."""
    total = 0.0
    if kind == 2:
        for t in range(len(q)):
            e = x[t] - q[t]
            total += e * e
    elif kind == 0:
        for t in range(len(q)):
            total = max(total, abs(x[t] - q[t]))
    else:
        for t in range(len(q)):
            total += term(x[t] - q[t], kind, p)
    return total


@jit
def reduced_tile(XT: Any, q: Any, start: int, width: int, kind: int, p: float, out: Any) -> None:
    """The same for rows start to start + width of X, given by columns; out (TILE,)."""
    for j in range(width):
        out[j] = 0.0
    for t in range(len(q)):
        column, c = XT[t, start : start + width], q[t]
        if kind == 2:
            for j in range(width):
                e = column[j] - c
                out[j] += e * e
        elif kind == 1:
            for j in range(width):
                out[j] += abs(column[j] - c)
        elif kind == 0:
            for j in range(width):
                e = abs(column[j] - c)
                out[j] = e if e > out[j] else out[j]
        else:
            for j in range(width):
                out[j] += abs(column[j] - c) ** p


@jit
def below(values: Any, limit: float) -> bool:
    """Whether any value is below the limit (a count vectorises, an early exit does not)."""
    count = 0
    for j in range(len(values)):
        count += values[j] < limit
    return count > 0


@jit
def place(best: Any, index: Any, at: int, v: float, j: int) -> None:
    """Put (v, j) into the ascending list of ``at`` entries, after equal values."""
    while at > 0 and best[at - 1] > v:
        best[at] = best[at - 1]
        index[at] = index[at - 1]
        at -= 1
    best[at] = v
    index[at] = j


@jit
def keep_smallest(values: Any, first: int, seen: int, best: Any, index: Any) -> None:
    """Offer values of rows first, first + 1, ... to the list; ``seen`` rows were offered before."""
    k, n = len(best), len(values)
    start = 0
    while start < n and seen + start < k:  # the list is not full: take whatever comes
        place(best, index, seen + start, values[start], first + start)
        start += 1
    for a in range(start, n, CHUNK):
        part = values[a : min(a + CHUNK, n)]
        if below(part, best[k - 1]):
            for j in range(len(part)):
                if part[j] < best[k - 1]:
                    place(best, index, k - 1, part[j], first + a + j)


@jit
def direct_nearest(XT: Any, Q: Any, which: Any, kind: int, p: float, out: Any, index: Any) -> None:
    """The k nearest rows of the queries ``which``; out and index (m, k) are filled in place."""
    n = XT.shape[1]
    tile = np.empty(TILE)
    for i in which:
        out[i, :] = np.inf
        for start in range(0, n, TILE):
            width = min(TILE, n - start)
            reduced_tile(XT, Q[i], start, width, kind, p, tile)
            keep_smallest(tile[:width], start, start, out[i], index[i])


@jit
def direct_distances(XT: Any, Q: Any, a: int, b: int, kind: int, p: float, out: Any) -> None:
    """Reduced distances of queries a to b to all rows; out (m, n)."""
    n = XT.shape[1]
    for i in range(a, b):
        for start in range(0, n, TILE):
            width = min(TILE, n - start)
            reduced_tile(XT, Q[i], start, width, kind, p, out[i, start : start + width])


@jit
def count_scores(scores: Any, bound: Any, counts: Any) -> None:
    """How many scores of each query are not above its bound."""
    for i in range(len(scores)):
        count = 0
        for j in range(scores.shape[1]):
            count += not (scores[i, j] > bound[i])
        counts[i] = count


@jit
def passing(scores: Any, bound: float, at: Any) -> int:
    """The places of the scores that are not above the bound; how many there are."""
    m = 0
    for j in range(len(scores)):  # without a branch: which scores pass is hard to foresee
        at[m] = j
        m += not (scores[j] > bound)
    return m


@jit
def eight_squares(X: Any, q: Any, at: Any, out: Any) -> None:
    """Squared distances of the rows at[:8]: eight sums side by side, each in the usual order."""
    x0, x1, x2, x3 = X[at[0]], X[at[1]], X[at[2]], X[at[3]]
    x4, x5, x6, x7 = X[at[4]], X[at[5]], X[at[6]], X[at[7]]
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for t in range(len(q)):
        c = q[t]
        e0, e1, e2, e3 = x0[t] - c, x1[t] - c, x2[t] - c, x3[t] - c
        e4, e5, e6, e7 = x4[t] - c, x5[t] - c, x6[t] - c, x7[t] - c
        s0, s1, s2, s3 = s0 + e0 * e0, s1 + e1 * e1, s2 + e2 * e2, s3 + e3 * e3
        s4, s5, s6, s7 = s4 + e4 * e4, s5 + e5 * e5, s6 + e6 * e6, s7 + e7 * e7
    out[0], out[1], out[2], out[3] = s0, s1, s2, s3
    out[4], out[5], out[6], out[7] = s4, s5, s6, s7


@jit
def measure_rows(X: Any, q: Any, at: Any, first: int, limit: float, out: Any, index: Any) -> int:
    """Squared distances, up to the limit, of the rows ``at``; how many. X begins with ``first``."""
    kept, whole = 0, len(at) // 8 * 8
    sums = np.empty(8)
    for a in range(0, whole, 8):
        eight_squares(X, q, at[a : a + 8], sums)
        for c in range(8):
            out[kept], index[kept] = sums[c], first + at[a + c]
            kept += sums[c] <= limit
    for a in range(whole, len(at)):
        v = reduced(X[at[a]], q, 2, 2.0)
        out[kept], index[kept] = v, first + at[a]
        kept += v <= limit
    return kept


@jit
def measure_tiles(
    XT: Any, q: Any, at: Any, first: int, width: int, limit: float, out: Any, index: Any
) -> int:
    """The same where ``at`` holds many of the ``width`` rows, which are given by columns."""
    tile = np.empty(TILE)
    kept, a = 0, 0
    for start in range(0, width, TILE):
        end = min(start + TILE, width)
        reduced_tile(XT, q, first + start, end - start, 2, 2.0, tile)
        while a < len(at) and at[a] < end:
            v = tile[at[a] - start]
            out[kept], index[kept] = v, first + at[a]
            kept += v <= limit
            a += 1
    return kept


@jit
def close_gaps(counts: Any, ends: Any, out: Any, index: Any) -> int:
    """Move up the pairs of queries that have room for counts and fill it up to ends; how many."""
    kept, begin = 0, 0
    for i in range(len(counts)):
        room = counts[i]
        counts[i] = ends[i] - begin
        for p in range(begin, ends[i] if kept < begin else begin):
            out[kept + p - begin], index[kept + p - begin] = out[p], index[p]
        kept, begin = kept + counts[i], begin + room
    return kept


@jit
def near_pairs(
    scores: Any, bound: Any, X: Any, XT: Any, Q: Any, limits: Any, counts: Any, out: Any, index: Any
) -> int:
    """Squared distances, up to the limit, of the pairs whose score passes; how many there are.

    counts says how many scores of each query pass, then how many pairs are near. A block of rows
    serves all queries while it is in the cache. Where many of it pass and the columns XT (d, n)
    are given, distances are computed a tile of rows at a time.
    """
    n = scores.shape[1]
    at, ends, end = np.empty(BLOCK, np.int64), np.empty(len(scores), np.int64), 0
    for i in range(len(scores)):
        ends[i] = end
        end += counts[i]
    for a in range(0, n, BLOCK):
        b = min(a + BLOCK, n)
        for i in range(len(scores)):
            m = passing(scores[i, a:b], bound[i], at)
            D, j = out[ends[i] :], index[ends[i] :]
            if XT.shape[1] == n and DENSE * m > b - a:
                ends[i] += measure_tiles(XT, Q[i], at[:m], a, b - a, limits[i], D, j)
            else:
                ends[i] += measure_rows(X[a:b], Q[i], at[:m], a, limits[i], D, j)
    return close_gaps(counts, ends, out, index)


@jit
def smallest_of_rows(D: Any, out: Any, index: Any) -> None:
    """The k smallest entries of every row of a matrix, ties by lower column."""
    for i in range(len(D)):
        out[i, :] = np.inf
        keep_smallest(D[i], 0, 0, out[i], index[i])


@jit
def keep_scores(row: Any, first: int, best: Any, index: Any) -> None:
    """Offer single-precision scores to the candidates of a query."""
    last = len(best) - 1
    for a in range(0, len(row), CHUNK):
        part = row[a : min(a + CHUNK, len(row))]
        count = 0
        limit = best[last]
        for j in range(len(part)):
            count += part[j] < limit
        if count == 0:
            continue
        for j in range(len(part)):
            v = part[j]
            if v < best[last]:
                at = last
                while at > 0 and best[at - 1] > v:
                    best[at] = best[at - 1]
                    index[at] = index[at - 1]
                    at -= 1
                best[at] = v
                index[at] = first + a + j


@jit
def score_queries(A: Any, R: Any, m: int, scores: Any, best: Any, index: Any) -> None:
    """The kc best scores of m packed queries among all packed rows."""
    n_blocks = R.shape[0]
    best[:] = np.float32(np.inf)
    index[:] = 0
    for b in range(0, n_blocks, BLOCKS):
        end = min(n_blocks, b + BLOCKS)
        for j in range(b, end):
            for i in range((m + ROWS - 1) // ROWS):
                product_tile(A, R, i, j, scores, i * ROWS, (j - b) * COLUMNS)
        width = (end - b) * COLUMNS
        for r in range(m):
            keep_scores(scores[r, :width], b * COLUMNS, best[r], index[r])


@jit
def confirm(X: Any, q: Any, candidates: Any, k: int, exact: Any, order: Any) -> None:
    """Candidates by reduced distance, ties by index; exact and order (kc,) are filled."""
    for c in range(len(candidates)):
        j = candidates[c]
        v = reduced(X[j], q, 2, 2.0)
        at = c
        while at > 0 and (exact[at - 1] > v or (exact[at - 1] == v and order[at - 1] > j)):
            exact[at] = exact[at - 1]
            order[at] = order[at - 1]
            at -= 1
        exact[at] = v
        order[at] = j


@jit
def filtered_nearest(
    S: Any,
    R: Any,
    X: Any,
    Q: Any,
    floor: Any,
    unit: float,
    extra: int,
    a: int,
    b: int,
    out: Any,
    index: Any,
    failed: Any,
) -> None:
    """The k nearest rows of queries a to b, and which of them the filter could not settle.

    S (m, d + 1) = (-2 q, 1) and R (blocks, d + 1, COLUMNS) = (x, |x|^2), centred, divided by the
    root of ``unit``, float32; floor (m,) = |q|^2 - margin in the same units, NaN where single
    precision would overflow. X and Q are the rows themselves.
    """
    k = out.shape[1]
    kc = k + extra
    width = S.shape[1]
    A = np.zeros((QUERIES // ROWS, width, ROWS), np.float32)
    scores = np.empty((QUERIES, BLOCKS * COLUMNS), np.float32)
    best = np.empty((QUERIES, kc), np.float32)
    candidates = np.empty((QUERIES, kc), np.int64)
    exact = np.empty(kc)
    order = np.empty(kc, np.int64)
    for start in range(a, b, QUERIES):
        m = min(b, start + QUERIES) - start
        for r in range(m):
            for t in range(width):
                A[r // ROWS, t, r % ROWS] = S[start + r, t]
        score_queries(A, R, m, scores, best, candidates)
        for r in range(m):
            i = start + r
            last = best[r, kc - 1]
            failed[i] = not (last < 1e30)
            if failed[i]:
                continue
            confirm(X, Q[i], candidates[r], k, exact, order)
            failed[i] = not (exact[k - 1] < (last + floor[i]) * unit)
            out[i] = exact[:k]
            index[i] = order[:k]

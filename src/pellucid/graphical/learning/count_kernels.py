r"""Contingency tables of categories: counts of mixed-radix codes, and scores made from them.

A table is X (d, n), one row of codes 0 .. card-1 per variable and -1 where a cell is missing. The
cell of a row in the table of the variables v_1 .. v_k is the number

    (...(x_1 card_2 + x_2) card_3 + ...) card_k + x_k,

computed for a block of rows at a time, so that the codes stay in the nearest cache. Skewed data
hit one cell again and again and each addition waits for the one before: rows go to four tables in
turn, which are added at the end. Counts are floats: whole numbers below 2^53 are exact, weights
are added in the order of the rows.

Scores of "v with the parents P" from its counts N_jk (configuration j of q, value k of r):

    kind 0    sum_jk N_jk log(N_jk / N_j) - penalty q (r - 1)
    kind 1    sum_j [lgamma(A) - lgamma(A + N_j)] + sum_jk [lgamma(a + N_jk) - lgamma(a)],  A = r a
"""

import math

import numpy as np

from pellucid.core.runtime.jit import jit

BLOCK = 2048  # rows whose codes are computed together
ADD, REMOVE, REVERSE = 1, 2, 3  # moves of a search over graphs


@jit
def pair_codes(X, family, card, code):
    """Mixed-radix code of ``family`` for every row, -1 where a cell is missing; the cells."""
    n, size = X.shape[1], 1
    for i in range(n):
        code[i] = 0
    for v in family:
        c, x = np.int32(card[v]), X[v]
        size *= card[v]
        for i in range(n):
            new = code[i] * c + np.int32(x[i])
            code[i] = -1 if (x[i] < 0 or code[i] < 0) else new
    return size


@jit
def histogram(code, x, c, w, size, table):
    """Weights of the cells ``code * c + x`` (``c = 0``: of ``code``); a negative part is left out.

    ``w`` of length 0 stands for ones. ``table`` has room for ``4 * size`` where rows are many.
    """
    n, cell = len(code), np.empty(BLOCK, np.int32)
    copies = 4 if 4 * size <= min(n, len(table)) else 1
    radix, weighted = np.int32(c), len(w) > 0
    for i in range(size * copies):
        table[i] = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        part = code[start : start + m]
        if c == 0:
            for i in range(m):
                cell[i] = part[i]
        else:
            other = x[start : start + m]
            for i in range(m):
                bad = part[i] < 0 or other[i] < 0
                cell[i] = -1 if bad else part[i] * radix + np.int32(other[i])
        if weighted:
            for i in range(m):
                if cell[i] >= 0:
                    table[cell[i]] += w[start + i]
        elif copies == 4:
            for i in range(m):
                if cell[i] >= 0:
                    table[(i & 3) * size + cell[i]] += 1.0
        else:
            for i in range(m):
                if cell[i] >= 0:
                    table[cell[i]] += 1.0
    if copies == 4 and not weighted:
        for i in range(size):
            table[i] += table[size + i] + table[2 * size + i] + table[3 * size + i]


@jit
def count_family(X, family, card, w, table):
    """Counts of the last variable of ``family`` within the configurations of the others."""
    code = np.empty(X.shape[1], np.int32)
    last = family[-1]
    rest = pair_codes(X, family[:-1], card, code)
    histogram(code, X[last], card[last], w, rest * card[last], table)
    return rest * card[last]


@jit
def family_score(table, q, r, u, kind, a, penalty):
    """Score of counts laid out as (q, r, u): the parents are the first and the last axis."""
    total = 0.0
    if kind == 0:
        for j in range(q):
            for s in range(u):
                row = 0.0
                for k in range(r):
                    N = table[(j * r + k) * u + s]
                    row += N
                    if N > 0:
                        total += N * math.log(N)
                if row > 0:
                    total -= row * math.log(row)
        return total - penalty * q * u * (r - 1)
    A = r * a
    zero, zeros = math.lgamma(a), math.lgamma(A)
    for j in range(q):
        for s in range(u):
            row = 0.0
            for k in range(r):
                N = table[(j * r + k) * u + s]
                row += N
                if N > 0:
                    total += math.lgamma(a + N) - zero
            if row > 0:
                total += zeros - math.lgamma(A + row)
    return total


@jit
def _score(X, v, u, code, q, card, w, rule, table):
    """Score of v given the parents in ``code`` and, unless u < 0, u; rule: kind, a, penalty."""
    r, c = card[v], 1 if u < 0 else card[u]
    if q * r * c > len(table):
        return -np.inf
    histogram(code, X[max(u, 0)], 0 if u < 0 else c, w, q * r * c, table)
    a = 1.0 if rule[1] == 0.0 else rule[1] / (q * r * c)
    return family_score(table, q, r, c, int(rule[0]), a, rule[2])


@jit
def toggle_scores(X, v, parents, card, w, rule, room, first, step, out):
    """out[u]: score of v with u added to (or taken from) its parents; out[v]: as they are.

    Only u = first, first + step, ...: threads share the work.
    """
    d, n = X.shape
    code = np.empty(n, np.int32)
    table, none = np.empty(room), np.int64(-1)  # a bare -1 would be a type of its own
    family, fewer, m, cells = np.empty(d, np.int64), np.empty(d, np.int64), 0, float(card[v])
    for p in range(d):
        if p != v and parents[p]:
            family[m] = p
            cells *= card[p]
            m += 1
    family[m] = v
    family = family[: m + 1]
    fits = cells <= room
    q = pair_codes(X, family, card, code) // card[v] if fits else 1
    for u in range(first, d, step):
        if u != v and parents[u]:
            continue
        other = none if u == v else u
        out[u] = _score(X, v, other, code, q, card, w, rule, table) if fits else -np.inf
    for u in range(first, d, step):
        if u != v and parents[u]:
            m = 0
            for p in family:
                if p != u:
                    fewer[m] = p
                    m += 1
            q = pair_codes(X, fewer[:m], card, code) // card[v]
            out[u] = _score(X, v, none, code, q, card, w, rule, table)


@jit
def descendants(edges, reach):
    """reach[u, v]: a directed path leads from u to v in the acyclic graph ``edges``."""
    d = len(edges)
    waiting = np.zeros(d, np.int64)  # children not yet done
    stack = np.empty(d, np.int64)
    top = 0
    for u in range(d):
        for v in range(d):
            reach[u, v] = False
            waiting[u] += edges[u, v]
        if waiting[u] == 0:
            stack[top] = u
            top += 1
    while top:
        top -= 1
        v = stack[top]
        for u in range(d):
            if edges[u, v]:
                reach[u, v] = True
                for t in range(d):
                    reach[u, t] |= reach[v, t]
                waiting[u] -= 1
                if waiting[u] == 0:
                    stack[top] = u
                    top += 1


@jit
def best_move(edges, S, allowed, required, limit, banned, needed, reach):
    """The legal move of largest gain: (move, u, v, gain), move 0 where none gains enough.

    S[v, u] is the score of v with its parent u toggled. A banned pair may move only if its gain
    exceeds ``needed``.
    """
    d = len(edges)
    descendants(edges, reach)
    count = np.zeros(d, np.int64)  # parents
    for u in range(d):
        for v in range(d):
            count[v] += edges[u, v]
    move, best_u, best_v, best = 0, 0, 0, -np.inf
    for u in range(d):
        for v in range(d):
            if u == v:
                continue
            gain = S[v, u] - S[v, v]
            if edges[u, v]:
                if required[u, v]:
                    continue
                if gain > best and (not banned[u, v] or gain > needed):
                    move, best_u, best_v, best = REMOVE, u, v, gain
                gain += S[u, v] - S[u, u]
                ok = allowed[v, u] and count[u] < limit
                if gain > best and ok and (not banned[u, v] or gain > needed):
                    for t in range(d):
                        if t != v and edges[u, t] and reach[t, v]:
                            ok = False
                    if ok:
                        move, best_u, best_v, best = REVERSE, u, v, gain
            elif gain > best and (not banned[u, v] or gain > needed):
                legal = allowed[u, v] and not edges[v, u] and not reach[v, u]
                if legal and count[v] < limit:
                    move, best_u, best_v, best = ADD, u, v, gain
    return move, best_u, best_v, best


@jit
def strata_statistic(table, rows, columns, strata, likelihood):
    """Statistic and degrees of freedom of counts laid out as (rows, columns, strata)."""
    row, column = np.empty(rows), np.empty(columns)
    statistic, dof = 0.0, 0
    for s in range(strata):
        total, full_rows, full_columns = 0.0, 0, 0
        for j in range(columns):
            column[j] = 0.0
        for i in range(rows):
            row[i] = 0.0
            for j in range(columns):
                N = table[(i * columns + j) * strata + s]
                row[i] += N
                column[j] += N
            total += row[i]
            full_rows += row[i] > 0
        for j in range(columns):
            full_columns += column[j] > 0
        if full_rows < 2 or full_columns < 2:
            continue
        dof += (full_rows - 1) * (full_columns - 1)
        for i in range(rows):
            for j in range(columns):
                N, expected = table[(i * columns + j) * strata + s], row[i] * column[j] / total
                if expected > 0 and likelihood:
                    if N > 0:
                        statistic += 2.0 * N * math.log(N / expected)
                elif expected > 0:
                    statistic += (N - expected) * (N - expected) / expected
    return statistic, dof


@jit
def stratified_test(X, a, b, given, card, w, likelihood, table):
    """Statistic and degrees of freedom of "a independent of b given these", summed over strata."""
    code, family = np.empty(X.shape[1], np.int32), np.empty(len(given) + 2, np.int64)
    family[0], family[1] = a, b
    family[2:] = given
    cells = pair_codes(X, family, card, code)
    histogram(code, X[a], np.int64(0), w, cells, table)
    return strata_statistic(table, card[a], card[b], cells // (card[a] * card[b]), likelihood)

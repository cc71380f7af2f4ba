r"""Kernels of subset selection: branch and bound over all subsets, and one column taken out.

A node is a set S of columns of which only the active ones A may still be dropped. With
C = (X_S'X_S)^-1 and the coefficients b of the fit on S, dropping d raises the residual squares by

    t_d = b_d^2 / C_dd,     and then   b <- b - C_:d b_d / C_dd,   C <- C - C_:d C_d: / C_dd.

The node's subsets are S without D, D a non-empty part of A. Those with one column dropped are read
off t; the others are split by the first d of D in the order of falling t: the child without d,
whose active columns are those after d. The largest families lose the most important column, so
they are the first to be cut. RSS only grows as columns go, and dropping q more columns costs at
least the q-th smallest t: a child that cannot beat the best known of any size it reaches is cut
before it is built.

``leaps_inverse`` carries C itself: a node costs O(|A|^2), its error grows with the square of the
condition. ``leaps_triangle`` carries the triangle of the active columns (those before them never
change) and drops a column by rotations: O(|A|^3), and the columns that are gone leave no error.
Either way a subset is kept only by its residual squares computed afresh from the columns.

References: Furnival & Wilson (1974), Regressions by leaps and bounds; Gatu & Kontoghiorghes (2006),
Branch-and-bound algorithms for computing the best-subset regression models.
"""

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def subset_rss(A, c, rest, mask):
    """Residual squares of c on the columns of A in ``mask`` (bit j: column j), by Gram-Schmidt."""
    m, p = A.shape
    Q = np.empty((p, m))
    r = c.copy()
    k = 0
    for j in range(p):
        if not (mask >> j) & 1:
            continue
        v = Q[k]
        size = 0.0
        for i in range(m):
            v[i] = A[i, j]
            size += v[i] * v[i]
        left = 0.0
        for _ in range(2):  # twice is enough: orthogonal to working precision
            for l in range(k):  # noqa: E741  the letter of the formula
                s = 0.0
                for i in range(m):
                    s += Q[l, i] * v[i]
                for i in range(m):
                    v[i] -= s * Q[l, i]
            left = 0.0
            for i in range(m):
                left += v[i] * v[i]
        if left <= 1e-26 * size:  # depends on the columns before it
            continue
        s = 0.0
        for i in range(m):
            v[i] /= np.sqrt(left)
            s += v[i] * r[i]
        for i in range(m):
            r[i] -= s * v[i]
        k += 1
    total = rest
    for i in range(m):
        total += r[i] * r[i]
    return total


@jit
def offer(value, size, mask, best, masks, A, c, rest, margin, floor):
    """Keep the subset ``mask`` if it beats the best known of its size, by its exact RSS."""
    if value >= best[size] * (1.0 - margin) - floor:
        return
    exact = subset_rss(A, c, rest, mask)
    if exact < best[size] * (1.0 - margin) - floor:
        best[size] = exact
        masks[size] = mask


@jit
def sort_falling(keys, order, n):
    """Insertion sort: order[:n] such that keys[order] falls; there are few keys."""
    for i in range(n):
        at = i
        while at > 0 and keys[order[at - 1]] < keys[i]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i


@jit
def worth_visiting(base, t, order, n, size, best, margin, floor):
    """Whether dropping 2..n more of the n active columns could beat the best of some size.

    base is the RSS of the child, which has ``size`` columns; t[order] falls.
    """
    for q in range(2, n + 1):
        if base + t[order[n - q]] < best[size - q] * (1.0 - margin) - floor:
            return True
    return False


@jit
def leaps_inverse(C0, b0, A, c, rest, margin, floor, best, masks):
    """Improve best[size], masks[size] to the optimum of every size below p; count the nodes.

    C0 = (A'A)^-1 and b0 the coefficients on all p >= 2 columns, whose RSS is best[p]. A size whose
    best is -inf is not looked for. ``margin`` (relative) and ``floor``: closer than that is equal.
    """
    p = len(b0)
    C, b, t = np.empty((p, p, p)), np.empty((p, p)), np.empty((p, p))  # by depth
    ids, rss = np.empty((p, p), np.int64), np.empty(p)
    active, size, mask = np.empty(p, np.int64), np.empty(p, np.int64), np.empty(p, np.int64)
    turn, order, tc, bc = np.empty(p, np.int64), np.empty(p, np.int64), np.empty(p), np.empty(p)

    for j in range(p):
        tc[j] = b0[j] * b0[j] / C0[j, j]
    sort_falling(tc, order, p)
    for i in range(p):
        ids[0, i], b[0, i], t[0, i] = order[i], b0[order[i]], tc[order[i]]
        for j in range(p):
            C[0, i, j] = C0[order[i], order[j]]
    full, one = (np.int64(1) << p) - 1, np.int64(1)
    rss[0], active[0], size[0], mask[0], turn[0] = subset_rss(A, c, rest, full), p, p, full, p - 2
    value, chosen = rss[0] + t[0, p - 1], full ^ (one << ids[0, p - 1])
    offer(value, p - 1, chosen, best, masks, A, c, rest, margin, floor)
    depth, nodes = 0, 1
    while depth >= 0:
        i = turn[depth]
        turn[depth] -= 1
        if i < 0:
            depth -= 1
            continue
        m, n = size[depth] - 1, active[depth] - 1 - i  # columns of the child, and how many may go
        base = rss[depth] + t[depth, i]
        if not base < best[m - n] * (1.0 - margin) - floor:  # the best of its smallest subset
            continue
        Cd, bd, at = C[depth], b[depth], ids[depth]
        pivot = Cd[i, i]
        step = bd[i] / pivot
        for e in range(n):
            f = i + 1 + e
            bc[e] = bd[f] - Cd[i, f] * step
            tc[e] = bc[e] * bc[e] / (Cd[f, f] - Cd[i, f] * (Cd[i, f] / pivot))
        sort_falling(tc, order, n)
        child = mask[depth] ^ (one << at[i])
        e = order[n - 1]
        chosen = child ^ (one << at[i + 1 + e])
        offer(base + tc[e], m - 1, chosen, best, masks, A, c, rest, margin, floor)
        if not worth_visiting(base, tc, order, n, m, best, margin, floor):
            continue
        depth += 1
        nodes += 1
        for g in range(n):
            f = i + 1 + order[g]
            ids[depth, g], b[depth, g], t[depth, g] = at[f], bc[order[g]], tc[order[g]]
            scaled = Cd[i, f] / pivot
            for h in range(g + 1):
                q = i + 1 + order[h]
                C[depth, g, h] = C[depth, h, g] = Cd[f, q] - scaled * Cd[i, q]
        rss[depth], active[depth], size[depth], mask[depth] = base, n, m, child
        turn[depth] = n - 2
    return nodes


@jit
def triangularise(M, m, n):
    """Householder: M[:m, :n] becomes upper triangular, M[:m, n] (the target) goes along.

    Returns the squares of the target below row n.
    """
    for k in range(min(m, n)):
        size = 0.0
        for i in range(k, m):
            size += M[i, k] * M[i, k]
        if size == 0.0:
            continue
        head = M[k, k]
        norm = np.sqrt(size) if head <= 0 else -np.sqrt(size)
        M[k, k] = head - norm
        scale = 1.0 / (size - head * norm)
        for j in range(k + 1, n + 1):
            s = 0.0
            for i in range(k, m):
                s += M[i, k] * M[i, j]
            s *= scale
            for i in range(k, m):
                M[i, j] -= s * M[i, k]
        M[k, k] = norm
        for i in range(k + 1, m):
            M[i, k] = 0.0
    left = 0.0
    for i in range(n, m):
        left += M[i, n] * M[i, n]
    return left


@jit
def drop_costs(M, V, n, t):
    """t_d = b_d^2 / C_dd of the triangle M[:n, :n] with target M[:n, n]; V is work space."""
    for i in range(n - 1, -1, -1):  # row i of V = R^-1
        V[i, i] = 1.0 / M[i, i]
        for j in range(i + 1, n):
            s = 0.0
            for l in range(i + 1, j + 1):  # noqa: E741  the letter of the formula
                s += M[i, l] * V[l, j]
            V[i, j] = -s * V[i, i]
        squares, b = 0.0, 0.0
        for j in range(i, n):
            squares += V[i, j] * V[i, j]
            b += V[i, j] * M[j, n]
        t[i] = b * (b / squares)


@jit
def permute_columns(M, order, n, out):
    """out = the columns of M in ``order``, with the target, made triangular again."""
    for i in range(n):
        for j in range(n):
            out[i, j] = M[i, order[j]]
        out[i, n] = M[i, n]
    triangularise(out, n, n)


@jit
def leaps_triangle(R0, c0, A, c, rest, margin, floor, best, masks):
    """``leaps_inverse`` on triangles: R0 (p, p) of A without a zero on its diagonal, c0 = Q'c."""
    p = len(c0)
    T, t = np.empty((p, p, p + 1)), np.empty((p, p))  # by depth
    ids, rss = np.empty((p, p), np.int64), np.empty(p)
    active, size, mask = np.empty(p, np.int64), np.empty(p, np.int64), np.empty(p, np.int64)
    turn, order, tc = np.empty(p, np.int64), np.empty(p, np.int64), np.empty(p)
    M, V = np.empty((p, p + 1)), np.empty((p, p))

    M[:, :p] = R0
    M[:, p] = c0
    drop_costs(M, V, p, tc)
    sort_falling(tc, order, p)
    permute_columns(M, order, p, T[0])
    for i in range(p):
        ids[0, i], t[0, i] = order[i], tc[order[i]]
    full, one = (np.int64(1) << p) - 1, np.int64(1)
    rss[0], active[0], size[0], mask[0], turn[0] = subset_rss(A, c, rest, full), p, p, full, p - 2
    value, chosen = rss[0] + t[0, p - 1], full ^ (one << ids[0, p - 1])
    offer(value, p - 1, chosen, best, masks, A, c, rest, margin, floor)
    depth, nodes = 0, 1
    while depth >= 0:
        i = turn[depth]
        turn[depth] -= 1
        if i < 0:
            depth -= 1
            continue
        m, n = size[depth] - 1, active[depth] - 1 - i  # columns of the child, and how many may go
        if not rss[depth] + t[depth, i] < best[m - n] * (1.0 - margin) - floor:
            continue
        at = ids[depth]
        for f in range(n + 1):  # the triangle from row i on, without column i
            for e in range(n + 1):
                M[f, e] = T[depth, i + f, i + 1 + e]
        base = rss[depth] + triangularise(M, n + 1, n)
        drop_costs(M, V, n, tc)
        sort_falling(tc, order, n)
        child = mask[depth] ^ (one << at[i])
        e = order[n - 1]
        chosen = child ^ (one << at[i + 1 + e])
        offer(base + tc[e], m - 1, chosen, best, masks, A, c, rest, margin, floor)
        if not worth_visiting(base, tc, order, n, m, best, margin, floor):
            continue
        depth += 1
        nodes += 1
        permute_columns(M, order, n, T[depth])
        for g in range(n):
            ids[depth, g], t[depth, g] = at[i + 1 + order[g]], tc[order[g]]
        rss[depth], active[depth], size[depth], mask[depth] = base, n, m, child
        turn[depth] = n - 2
    return nodes


@jit
def delete_column(M, V, columns, i):
    """Take column i of the s chosen ``columns`` out of the triangle, in place.

    M (m, q) holds Q'[A c] with the triangle of the chosen columns in its first s rows; V (s, s) is
    the inverse of that triangle. Rotations of the rows of M make the triangle of the others in its
    first s - 1 rows; V[:s-1, :s-1] becomes its inverse, in the order of the others.
    """
    s, q = len(columns), M.shape[1]
    for r in range(i, s - 1):  # the row of V that belongs to the column goes last
        for l in range(s):  # noqa: E741  the letter of the formula
            V[r, l], V[r + 1, l] = V[r + 1, l], V[r, l]
    for r in range(i, s - 1):
        a, b = M[r, columns[r + 1]], M[r + 1, columns[r + 1]]
        size = np.hypot(a, b)
        cosine, sine = a / size, b / size
        for j in range(q):
            x, y = M[r, j], M[r + 1, j]
            M[r, j], M[r + 1, j] = cosine * x + sine * y, cosine * y - sine * x
        M[r + 1, columns[r + 1]] = 0.0
        for l in range(s):  # noqa: E741
            x, y = V[l, r], V[l, r + 1]
            V[l, r], V[l, r + 1] = cosine * x + sine * y, cosine * y - sine * x

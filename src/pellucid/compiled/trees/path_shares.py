r"""Shapley values of a sum of trees, for a block of rows at a time.

A row and a leaf: for every feature on the path, o = 1 if the row answers all its questions as the
path does, z = the share of the training rows that do, node by node. If a feature is known with
chance t, the path is followed with chance t o + (1 - t) z, so the leaf of value v gives feature f

    phi_f = v (o_f - z_f) int_0^1 prod_{e != f} (t o_e + (1 - t) z_e) dt

The integrand is a polynomial of degree (features on the path) - 1, so Gauss' formula with half as
many points is exact. G = prod_e (t o_e + (1 - t) z_e) at these points grows on the way down, the
sums H = sum of v G over the leaves of a branch on the way up, and an edge takes its part of H at
once for all leaves below it: O(nodes x points) for a row. A feature that is asked again below an
edge replaces that edge's part, so each edge adds the difference.

An edge meets three states of a row: it was off the feature's earlier questions (0, 0), it leaves
here (1, 0), it stays (1, 1). With o the earlier state and e the answer here, both 0 or 1:

    G    <- G (r + o (a + e b))              r = z / z_before
    phi  += o sum_points (c + e d) H         (0, 0): nothing

All factors of G are at most 1 and c, d are bounded: no cancellation.

References: Lundberg, Erion & Lee (2018), TreeSHAP; Yu et al. (2022), Linear TreeSHAP.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

LANES = 32  # rows side by side


@jit
def measure_paths(start, feature, right, weight, depth, before, share, earlier, sizes):
    """Per node: depth, depth of the last edge with its feature, z, z before it.

    sizes (trees, 2): the greatest depth and the most features on a path.
    """
    for t in range(len(start) - 1):
        a, b = start[t], start[t + 1]
        path, kinds = np.zeros(b - a + 1, np.int64), np.zeros(b - a, np.int64)
        depth[a], before[a], share[a], earlier[a] = 0, 0, 1.0, 1.0
        deepest, most = 0, 0
        for i in range(a, b):
            d = depth[i]
            path[d] = i
            if d > 0:
                parent = path[d - 1]
                f, k = feature[parent], d - 1
                while k > 0 and feature[path[k - 1]] != f:
                    k -= 1
                before[i] = k
                earlier[i] = share[path[k]] if k > 0 else 1.0
                whole = weight[parent]
                share[i] = earlier[i] * (weight[i] / whole if whole > 0 else 0.5)
                kinds[i - a] = kinds[parent - a] + (1 if k == 0 else 0)
                deepest, most = max(deepest, d), max(most, kinds[i - a])
            if feature[i] >= 0:
                depth[i + 1] = depth[a + right[i]] = d + 1
        sizes[t, 0], sizes[t, 1] = deepest, most


@jit
def fill_tables(start, first, last, offset, points, knots, weights, share, earlier, table):
    """table (entries, 5) of the trees first..last-1: r, a, b, c, d of each node and point."""
    for t in range(first, last):
        q, at = points[t], offset[t]
        for i in range(start[t], start[t + 1]):
            z, y = share[i], earlier[i]
            r = z / y if y > 0.0 else 0.0
            for j in range(q):
                u, w = knots[q, j], weights[q, j]
                stay, was = u + (1 - u) * z, u + (1 - u) * y
                off, on = (1 - u) * z / was, stay / was
                table[at, 0], table[at, 1], table[at, 2] = r, off - r, on - off
                old = w * (1 - y) / was
                table[at, 3] = -w / (1 - u) - old
                table[at, 4] = w * (1 - z) / stay + w / (1 - u)
                at += 1


@jit
def answer(column, m, threshold, missing_left, members, out):
    """out = 1 where a row goes left; ``members``: bits of the categories that do, or none."""
    if len(members) == 0:
        for i in range(m):
            x = column[i]
            out[i] = 1.0 if (x <= threshold) | ((x != x) & (missing_left == 1)) else 0.0
        return
    for i in range(m):
        x = column[i]
        if x != x:
            out[i] = 1.0 if missing_left == 1 else 0.0
        else:
            k = np.int64(x)
            out[i] = np.float64((members[k >> 6] >> (k & 63)) & 1)


@jit
def close_node(state, stay, table, at, q, H, m, phi):
    """phi += o sum (c + e d) H for one node: state (m,) = o, stay (m,) = e."""
    part = np.zeros(LANES)
    for j in range(q):
        c, d, h = table[at + j, 3], table[at + j, 4], H[j]
        for i in range(m):
            part[i] += (c + stay[i] * d) * h[i]
    for i in range(m):
        phi[i] += state[i] * part[i]


@jit
def add_shares(
    X,
    begin,
    end,
    first,
    last,
    start,
    feature,
    threshold,
    missing_left,
    right,
    category,
    sets,
    depth,
    before,
    value,
    column,
    sizes,
    offset,
    points,
    table,
    out,
):
    """out (n, p, K) += the values of the trees first..last-1 for the rows begin..end-1."""
    p, width, K = X.shape[1], value.shape[1], out.shape[2]
    deep, Q = sizes[first:last, 0].max() + 2, points[first:last].max()
    G, H = np.empty((deep, Q, LANES)), np.empty((deep, width, Q, LANES))
    known, E, left = np.ones((deep, LANES)), np.ones((deep, LANES)), np.empty((deep, LANES))
    at, cells, none = np.zeros(deep, np.int64), np.empty((p, LANES)), np.zeros(0, np.int64)
    phi = np.empty((K, p, LANES))
    for row in range(begin, end, LANES):
        m = min(LANES, end - row)
        for i in range(m):
            for f in range(p):
                cells[f, i] = X[row + i, f]
        phi[:] = 0.0
        for t in range(first, last):
            a, b, q, k0 = start[t], start[t + 1], points[t], column[t]
            for node in range(a, b):
                d = depth[node]
                at[d] = node
                if d == 0:
                    G[0, :q] = 1.0
                else:
                    own, stay, go = known[d], E[d], left[d - 1]
                    was = known[before[node]]
                    sign = node == at[d - 1] + 1
                    for i in range(m):
                        stay[i] = go[i] if sign else 1.0 - go[i]
                        own[i] = was[i] * stay[i]
                    e = offset[t] + (node - a) * q
                    for j in range(q):
                        up, down = G[d - 1, j], G[d, j]
                        r, s, u = table[e + j, 0], table[e + j, 1], table[e + j, 2]
                        for i in range(m):
                            down[i] = up[i] * (r + was[i] * (s + stay[i] * u))
                f = feature[node]
                if f >= 0:
                    c = category[node]
                    members = sets[c] if c >= 0 else none
                    answer(cells[f], m, threshold[node], missing_left[node], members, left[d])
                    H[d, :, :q] = 0.0
                    continue
                for k in range(width):
                    v = value[node, k]
                    for j in range(q):
                        for i in range(m):
                            H[d, k, j, i] = v * G[d, j, i]
                stop = depth[node + 1] if node + 1 < b else 1
                while d >= stop and d > 0:  # this branch is complete
                    i0 = at[d]
                    e, f = offset[t] + (i0 - a) * q, feature[at[d - 1]]
                    for k in range(width):
                        close_node(known[before[i0]], E[d], table, e, q, H[d, k], m, phi[k0 + k, f])
                        for j in range(q):
                            low, high = H[d, k, j], H[d - 1, k, j]
                            for i in range(m):
                                high[i] += low[i]
                    d -= 1
        for i in range(m):
            for f in range(p):
                for k in range(K):
                    out[row + i, f, k] += phi[k, f, i]


@jit
def branch_means(start, feature, right, weight, value, mean):
    """mean[t] = the value of tree t over its training rows: leaves weighed on the way up."""
    for t in range(len(start) - 1):
        a, b = start[t], start[t + 1]
        sums = np.empty((b - a, value.shape[1]))
        for i in range(b - 1, a - 1, -1):
            for k in range(value.shape[1]):
                if feature[i] < 0:
                    sums[i - a, k] = value[i, k]
                else:
                    left, other, w = i + 1 - a, right[i], weight[i]
                    share = weight[i + 1] / w if w > 0 else 0.5
                    sums[i - a, k] = share * sums[left, k] + (1 - share) * sums[other, k]
        mean[t] = sums[0]


@jit
def preorder(start, leaf_start, left, right, new, leaf, jump):
    """The inner nodes and leaves of trees in preorder; returns how many nodes there are.

    new[k]: the inner node at place k of all, -1 for a leaf; leaf[k]: its leaf, -1 for an inner
    node; jump[k]: the place of the right child within the tree, -1 in a leaf.
    """
    at = 0
    for t in range(len(start) - 1):
        a, l0, base = start[t], leaf_start[t], at
        size = start[t + 1] - a
        stack, owner = np.empty(size + 2, np.int64), np.empty(size + 2, np.int64)
        stack[0], owner[0] = 0 if size > 0 else -1, -1
        top = 1
        while top:
            top -= 1
            k = stack[top]
            if owner[top] >= 0:
                jump[owner[top]] = at - base
            jump[at], new[at], leaf[at] = -1, -1, -1
            if k < 0:
                leaf[at] = l0 + ~k
            else:
                new[at] = a + k
                stack[top], owner[top] = right[a + k], at
                stack[top + 1], owner[top + 1] = left[a + k], -1
                top += 2
            at += 1
    return at

"""Trees of merges: numbering their nodes, cutting them, reading distances off them."""

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def number_merges(ends, order, children, size):
    """Merges of rows, taken in ``order``, become merges of nodes: merge k makes node n + k."""
    n = len(ends) + 1
    parent, count = np.arange(2 * n - 1), np.ones(2 * n - 1, np.int64)
    for k in range(n - 1):
        a, b = ends[order[k], 0], ends[order[k], 1]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        parent[a] = parent[b] = n + k
        count[n + k] = count[a] + count[b]
        children[k, 0], children[k, 1], size[k] = min(a, b), max(a, b), count[n + k]


@jit
def labels_after(children, n, n_merges, labels):
    """Clusters of n rows after the first merges, numbered by first row; how many."""
    top = np.arange(n + n_merges)
    for k in range(n_merges - 1, -1, -1):
        top[children[k, 0]] = top[n + k]
        top[children[k, 1]] = top[n + k]
    number = np.full(n + n_merges, -1, np.int64)
    found = 0
    for i in range(n):
        if number[top[i]] < 0:
            number[top[i]] = found
            found += 1
        labels[i] = number[top[i]]
    return found


@jit
def joint_heights(children, heights, chosen, C):
    """C[i, j]: the height at which chosen rows i and j meet."""
    n, m = len(children) + 1, len(chosen)
    head, tail = np.full(2 * n - 1, -1, np.int64), np.full(2 * n - 1, -1, np.int64)
    after = np.full(m, -1, np.int64)  # chosen rows of a node, as a linked list
    for i in range(m):
        head[chosen[i]] = tail[chosen[i]] = i
    for k in range(n - 1):
        a, b = children[k, 0], children[k, 1]
        i = head[a]
        while i >= 0:
            j = head[b]
            while j >= 0:
                C[i, j] = C[j, i] = heights[k]
                j = after[j]
            i = after[i]
        if head[a] < 0:
            head[n + k], tail[n + k] = head[b], tail[b]
        else:
            head[n + k], tail[n + k] = head[a], tail[a]
            if head[b] >= 0:
                after[tail[a]] = head[b]
                tail[n + k] = tail[b]

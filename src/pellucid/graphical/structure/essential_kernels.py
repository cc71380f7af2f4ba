r"""Essential graphs of many directed graphs.

C[a, b]: a -> b or a - b in the class of the acyclic graph E. All edges begin undirected; those of
colliders a -> c <- b (a, b not joined) are directed, then those that Meek's rules 1 to 3 force:

    1  c -> a - b, c and b not joined                  =>  a -> b
    2  a -> c -> b and a - b                           =>  a -> b
    3  a - c -> b, a - e -> b, c and e not joined      =>  a -> b
"""

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def forced(E, C, a, b):
    """Whether a rule directs a - b as a -> b."""
    d = len(E)
    for c in range(d):
        to_a, from_a = C[c, a] and not C[a, c], C[a, c] and not C[c, a]
        to_b = C[c, b] and not C[b, c]
        if to_a and c != b and not (E[c, b] or E[b, c]):
            return True
        if from_a and to_b:
            return True
        if to_b and C[a, c] and C[c, a]:
            for e in range(c):
                line = C[a, e] and C[e, a] and C[e, b] and not C[b, e]
                if line and not (E[c, e] or E[e, c]):
                    return True
    return False


@jit
def essential(E, C):
    """Fill C with the essential graph of E."""
    d = len(E)
    for a in range(d):
        for b in range(d):
            C[a, b] = E[a, b] or E[b, a]
    for c in range(d):
        for a in range(d):
            if E[a, c]:
                for b in range(a):
                    if E[b, c] and not (E[a, b] or E[b, a]):
                        C[c, a] = C[c, b] = False
    changed = True
    while changed:
        changed = False
        for a in range(d):
            for b in range(d):
                if C[a, b] and C[b, a] and forced(E, C, a, b):
                    C[b, a] = False
                    changed = True


@jit
def class_marks(graphs, marks):
    """marks[g, pair a < b]: 0 not joined, 1 a -> b, 2 b -> a, 3 a - b in the class of graph g.

    graphs (g, d) are the bits of every node's parents.
    """
    d = graphs.shape[1]
    E, C = np.zeros((d, d), np.bool_), np.zeros((d, d), np.bool_)
    for g in range(len(graphs)):
        for v in range(d):
            for u in range(d):
                E[u, v] = graphs[g, v] >> u & 1
        essential(E, C)
        k = 0
        for a in range(d):
            for b in range(a + 1, d):
                marks[g, k] = C[a, b] + 2 * C[b, a]
                k += 1

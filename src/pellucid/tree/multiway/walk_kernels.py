"""Send rows down a multiway tree, one after the other."""

from pellucid.core.runtime.jit import jit

SEVERAL = -1  # a row whose missing cell leads to every child


@jit
def end_nodes(feature, threshold, branch, default, start, child, cells, fractions, out):
    """out_i = the node where row i ends, or ``SEVERAL`` where a missing cell divides it.

    The children of node k are ``child[start[k]:start[k + 1]]``; cells (d, n) hold numbers (NaN
    missing) and codes (-1 missing). A category without a branch ends at the node that asks.
    """
    for i in range(len(out)):
        node = 0
        while node >= 0 and feature[node] >= 0:
            x, t = cells[feature[node], i], threshold[node]
            numeric = t == t
            if x != x or (not numeric and x == -1):
                node = SEVERAL if fractions else default[node]
                continue
            code = (1 if x > t else 0) if numeric else int(x)
            found = -1
            for k in range(start[node], start[node + 1]):
                if branch[child[k]] == code:
                    found = child[k]
                    break
            if found < 0:
                break
            node = found
        out[i] = node

"""Compiled steps of NMF: every row of W is a least-squares problem of its own."""

from pellucid.core.runtime.jit import jit


@jit
def descend_rows(W, G, B, order, first, last):
    """One round of coordinate descent on rows first..last of |X - W H|^2/2; G = HH', B = XH'.

    Returns the sum of the sizes of the projected gradients met on the way.
    """
    k = W.shape[1]
    total = 0.0
    for i in range(first, last):
        for s in range(k):
            t = order[s]
            slope = -B[i, t]
            for r in range(k):
                slope += G[t, r] * W[i, r]
            if W[i, t] != 0.0 or slope < 0.0:
                total += abs(slope)
            if G[t, t] != 0.0:
                W[i, t] = max(W[i, t] - slope / G[t, t], 0.0)
    return total


@jit
def solve_rows(W, G, B, tol, max_iter, first, last):
    """Rounds on each row alone until its projected gradients are tol of the first ones."""
    k = W.shape[1]
    for i in range(first, last):
        start = 0.0
        for step in range(max_iter):
            total = 0.0
            for t in range(k):
                slope = -B[i, t]
                for r in range(k):
                    slope += G[t, r] * W[i, r]
                if W[i, t] != 0.0 or slope < 0.0:
                    total += abs(slope)
                if G[t, t] != 0.0:
                    W[i, t] = max(W[i, t] - slope / G[t, t], 0.0)
            if step == 0:
                start = total
            if total <= tol * start:
                break

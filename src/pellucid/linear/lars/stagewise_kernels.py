"""The inner loop of stagewise regression: one move after the other on the cross-products."""

from pellucid.core.runtime.jit import jit


@jit(reassociate=True)
def stagewise_moves(G, slot, norm, tol, epsilon, corr, columns, amounts, falls, best_of, start):
    """Make moves until none is left, the arrays are full, or a row of A'A is missing.

    G (slots, p) holds rows of A'A, slot (p,) says which (-1: not there yet). corr (p,) = A'r
    changes in place; columns, amounts, falls (of RSS) and best_of (the correlation acted on) are
    filled from ``start`` on. Returns (moves made, the column whose row is missing or -1, largest
    correlation, whether it ended).
    """
    p = len(corr)
    step = start
    while True:
        best, j = 0.0, -1
        for t in range(p):
            if norm[t] > 0.0 and abs(corr[t]) > best * norm[t]:
                best, j = abs(corr[t]) / norm[t], t
        if j < 0 or best < tol or (epsilon > 0.0 and best <= 0.5 * epsilon * norm[j]):
            return step, -1, best, True
        if step == len(columns):
            return step, -1, best, False
        if slot[j] < 0:
            return step, j, best, False
        amount = corr[j] / norm[j] ** 2
        if epsilon > 0.0:
            amount = epsilon if corr[j] > 0.0 else -epsilon
        columns[step] = j
        amounts[step] = amount
        best_of[step] = best
        falls[step] = amount * (2.0 * corr[j] - amount * norm[j] ** 2)
        step += 1
        row = G[slot[j]]
        for t in range(p):
            corr[t] -= amount * row[t]

r"""Graph isomorphism: are two graphs the same but for the names of their nodes?

Given       adjacency matrices A and B
Solve       a permutation f with A_ij = B_f(i)f(j) for all i, j
Step        place the nodes of A one after the other; a partial placement that breaks an edge can
            never be completed: go back (backtracking). Nodes of different degree cannot match.
Cost        n! at worst.
The fast version first refines colours (Weisfeiler and Lehman), so that few choices are left.
"""

import numpy as np


def extend(A: np.ndarray, B: np.ndarray, placed: list[int]) -> list[int] | None:
    """Complete a placement of the first nodes of A, or None."""
    i = len(placed)
    if i == len(A):
        return placed
    for v in range(len(B)):
        if v in placed or A[i].sum() != B[v].sum():
            continue
        if all(A[i, k] == B[v, u] for k, u in enumerate(placed)):
            found = extend(A, B, [*placed, v])
            if found is not None:
                return found
    return None


def graph_isomorphism(A: np.ndarray, B: np.ndarray) -> list[int] | None:
    """Node i of A is node f[i] of B; None if there is no such f."""
    return extend(A, B, []) if A.shape == B.shape else None

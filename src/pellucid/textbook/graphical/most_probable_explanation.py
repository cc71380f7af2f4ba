r"""Most probable explanation: the single most probable state of everything not seen.

Given       p(x) = prod_v p(x_v | x_parents(v)), evidence e
Maximise    p(x) over all x with x_e = e
Step        elimination with max in the place of the sum: max (ab, ac) = a max (b, c) for a >= 0, so
            a maximum may be pulled past factors without v. Remember for each v which state was best
            given the others, and read them off from the last eliminated back.
            It is not the list of the most probable state of each variable.
Cost        the cells of the largest product.
The fast version works with logarithms in a clique tree.
"""

import numpy as np


def most_probable_explanation(
    parents: list[list[int]], tables: list[np.ndarray], evidence: dict[int, int]
) -> dict[int, int]:
    """The best state of every variable."""
    d = len(parents)
    factors = []  # (values, scope)
    for v in range(d):
        index = tuple(evidence.get(u, slice(None)) for u in [*parents[v], v])
        factors.append((tables[v][index], [u for u in [*parents[v], v] if u not in evidence]))
    best_given = []
    for v in [v for v in range(d) if v not in evidence]:
        holding = [(x, scope) for x, scope in factors if v in scope]
        rest = sorted({u for _, scope in holding for u in scope} - {v})
        psi = np.einsum(*(part for pair in holding for part in pair), [*rest, v])
        best_given.append((v, rest, psi.argmax(axis=-1)))
        factors = [(x, scope) for x, scope in factors if v not in scope] + [
            (psi.max(axis=-1), rest)
        ]
    state = dict(evidence)
    for v, rest, choice in reversed(best_given):
        state[v] = int(choice[tuple(state[u] for u in rest)])
    return state

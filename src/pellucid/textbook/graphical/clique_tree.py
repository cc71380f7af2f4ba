r"""Clique tree: one pass up and one pass down answer every question at once.

Given       p(x) = prod_v p(x_v | x_parents(v)), evidence e
Solve       P(v | e) of every variable v
Step        eliminating v multiplies the factors that hold it into psi and sends the message
            m = sum_v psi to the clique where its next variable is eliminated: a tree. Then
            p(v | rest, e) = psi / m. Down the tree, belief(rest) is known from above, so
            belief(v, rest) = p(v | rest, e) belief(rest).
Cost        the cells of all cliques, twice.
The fast version keeps the tree for other questions, and draws exact samples from it.
"""

import numpy as np


def elimination_order(scopes: list[set[int]], variables: list[int]) -> list[int]:
    """Always the variable with the fewest neighbours, which elimination then joins."""
    scopes, order, left = [set(s) for s in scopes], [], set(variables)
    while left:
        v = min(left, key=lambda u: len(set().union(*(s for s in scopes if u in s))))
        joined = set().union(*(s for s in scopes if v in s)) - {v}
        scopes = [s for s in scopes if v not in s] + [joined]
        order.append(v)
        left.remove(v)
    return order


def clique_tree(
    parents: list[list[int]], tables: list[np.ndarray], evidence: dict[int, int]
) -> tuple[dict[int, np.ndarray], float]:
    """P(v | evidence) of every other variable, and log P(evidence)."""
    d = len(parents)
    waiting = []  # (values, scope)
    for v in range(d):
        index = tuple(evidence.get(u, slice(None)) for u in [*parents[v], v])
        scope = [u for u in [*parents[v], v] if u not in evidence]
        waiting.append((tables[v][index], scope))
    free = [v for v in range(d) if v not in evidence]
    order = elimination_order([set(scope) for _, scope in waiting], free)
    conditionals = []  # up
    for v in order:
        holding = [(x, scope) for x, scope in waiting if v in scope]
        rest = sorted({u for _, scope in holding for u in scope} - {v})
        psi = np.einsum(*(part for pair in holding for part in pair), [*rest, v])
        message = psi.sum(axis=-1)
        waiting = [(x, scope) for x, scope in waiting if v not in scope] + [(message, rest)]
        share = np.divide(psi, message[..., None], out=np.zeros_like(psi), where=psi > 0)
        conditionals.append((v, rest, share))
    constant = np.prod([float(x) for x, _ in waiting])
    beliefs: dict[int, tuple[np.ndarray, list[int]]] = {}  # down
    for v, rest, share in reversed(conditionals):
        if rest:
            above = min(rest, key=order.index)  # its clique holds all of rest
            table, scope = beliefs[above]
            known = np.einsum(table, scope, rest)
        else:
            known = np.array(1.0)
        beliefs[v] = (known[..., None] * share, [*rest, v])
    marginals = {v: np.einsum(table, scope, [v]) for v, (table, scope) in beliefs.items()}
    return marginals, float(np.log(constant))

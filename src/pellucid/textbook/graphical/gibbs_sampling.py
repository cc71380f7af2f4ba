r"""Gibbs sampling: draw one variable after the other given all the others.

Given       p(x) = prod_v p(x_v | x_parents(v)), evidence e
Solve       draws from p(x | e)
Step        replace x_v by a draw from p(x_v | all others): that leaves p unchanged, as if x_v had
            been drawn last. Of the product only the factors with v in them matter:
            p(x_v | rest) ~ p(x_v | parents) prod_(children c) p(x_c | parents of c), the Markov
            blanket. A chain that can reach everything has p(x | e) for its limit.
Cost        the children of v per draw; rows depend on each other.
The fast version runs several chains in compiled code, and measures how much they are worth.
"""

from collections.abc import Iterator

import numpy as np


def full_conditional(
    parents: list[list[int]], tables: list[np.ndarray], x: np.ndarray, v: int
) -> np.ndarray:
    """p(x_v | all others)."""
    children = [c for c in range(len(parents)) if v in parents[c]]
    p = np.empty(tables[v].shape[-1])
    for state in range(len(p)):
        y = x.copy()
        y[v] = state
        p[state] = np.prod([tables[u][tuple(y[[*parents[u], u]])] for u in [v, *children]])
    return p / p.sum()


def sweeps(
    parents: list[list[int]],
    tables: list[np.ndarray],
    evidence: dict[int, int],
    rng: np.random.Generator,
) -> Iterator[np.ndarray]:
    """Rows without end, each after all unseen variables were drawn once."""
    d = len(parents)
    x = np.array([evidence.get(v, rng.integers(tables[v].shape[-1])) for v in range(d)])
    while True:
        for v in range(d):
            if v not in evidence:
                p = full_conditional(parents, tables, x, v)
                x[v] = rng.choice(len(p), p=p)
        yield x.copy()


def gibbs_sampling(
    parents: list[list[int]],
    tables: list[np.ndarray],
    q: int,
    evidence: dict[int, int],
    n: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """P(q | evidence) from n rows after n // 10 that are thrown away."""
    chain = sweeps(parents, tables, evidence, rng)
    rows = np.array([next(chain) for _ in range(n + n // 10)])[n // 10 :]
    return np.bincount(rows[:, q], minlength=tables[q].shape[-1]) / n

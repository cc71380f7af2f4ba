r"""Likelihood weighting: draw what is not seen, and weigh each draw by what is seen.

Given       p(x) = prod_v p(x_v | x_parents(v)), parents first; evidence e
Solve       P(q | e) = E[w 1(x_q = q)] / E[w]
Step        importance sampling: draw the unseen variables in order from their tables, keep the seen
            ones fixed. Such a row comes with probability prod_(unseen) p(x_v | parents); multiplied
            by w = prod_(seen) p(e_v | parents) that is p(x) itself, so weighted shares are right.
            (sum w)^2 / sum w^2 of the n rows count: few if the evidence is a surprise.
Cost        d draws per row.
The fast version draws in compiled code, and gives standard errors.
"""

from typing import NamedTuple

import numpy as np


class Answer(NamedTuple):
    p: np.ndarray
    effective: float  # how many equally weighted rows it is worth


def likelihood_weighting(
    parents: list[list[int]],
    tables: list[np.ndarray],
    q: int,
    evidence: dict[int, int],
    n: int,
    rng: np.random.Generator,
) -> Answer:
    """P(q | evidence) from n weighted rows; without evidence, ancestral sampling."""
    x, w = np.zeros((n, len(parents)), dtype=int), np.ones(n)
    for v in range(len(parents)):  # numbered parents first
        p = tables[v][tuple(x[:, parents[v]].T)] if parents[v] else np.tile(tables[v], (n, 1))
        if v in evidence:
            x[:, v] = evidence[v]
            w = w * p[:, evidence[v]]
        else:
            x[:, v] = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    share = np.bincount(x[:, q], w, tables[q].shape[-1]) / w.sum()
    return Answer(share, float(w.sum() ** 2 / (w**2).sum()))

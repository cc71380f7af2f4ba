r"""Enumeration of the joint table: every question by summing, with nothing clever.

Model       p(x_1..x_d) = prod_v p(x_v | x_parents(v)): one small table per variable
Solve       P(q | e) = P(q, e) / P(e)
Step        multiply all tables into the joint one, take the slice of the evidence, sum over all but
            q, divide by the sum: product rule, sum rule, Bayes' rule. All later methods give this
            number; they only put the sums in a better order.
Cost        the product of all numbers of states: exponential in d.
The fast version eliminates one variable after the other.
"""

import numpy as np


def joint_enumeration(
    parents: list[list[int]], tables: list[np.ndarray], q: int, evidence: dict[int, int]
) -> np.ndarray:
    """P(q | evidence) as a vector over the states of q."""
    d = len(parents)
    parts: list = []
    for v in range(d):
        parts += [tables[v], [*parents[v], v]]
    joint = np.einsum(*parts, list(range(d)))  # one axis per variable
    for v, state in evidence.items():
        joint = joint.take([state], axis=v)
    p = joint.sum(axis=tuple(v for v in range(d) if v != q))
    return p / p.sum()

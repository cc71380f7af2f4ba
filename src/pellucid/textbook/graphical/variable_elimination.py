r"""Variable elimination: sum the variables out one by one, each as early as possible.

Given       p(x) = prod_v p(x_v | x_parents(v)), evidence e, a variable q
Solve       P(q | e) ~ sum over all others of the product, at the evidence
Step        a sum over x_v may be pulled past every factor without v: ab + ac = a (b + c). So
            multiply only the factors that hold v, sum v out, and put the smaller factor back; next
            the variable whose product has the fewest cells. The answer does
            not depend on the order, the cost does.
Cost        the cells of the largest product: exponential in the width of the graph, not in d.
The fast version leaves out what cannot matter first, and states the bytes before it computes.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np


class Factor(NamedTuple):
    scope: list[int]  # variables, one per axis
    values: np.ndarray


def product_sum(factors: list[Factor], keep: list[int]) -> Factor:
    """Multiply, and sum over what is not kept."""
    parts = [part for factor in factors for part in (factor.values, factor.scope)]
    return Factor(keep, np.einsum(*parts, keep))


def at(factor: Factor, evidence: dict[int, int]) -> Factor:
    """The slice of a factor at the evidence."""
    index = tuple(evidence.get(v, slice(None)) for v in factor.scope)
    return Factor([v for v in factor.scope if v not in evidence], factor.values[index])


def cells(factors: list[Factor], tables: list[np.ndarray], v: int) -> int:
    """The size of the product that eliminating v makes."""
    scope = {u for f in factors if v in f.scope for u in f.scope}
    return int(np.prod([tables[u].shape[-1] for u in scope]))


def eliminations(
    parents: list[list[int]], tables: list[np.ndarray], q: int, evidence: dict[int, int]
) -> Iterator[list[Factor]]:
    """The factors before and after each sum."""
    d = len(parents)
    factors = [at(Factor([*parents[v], v], tables[v]), evidence) for v in range(d)]
    waiting = set(range(d)) - {q} - set(evidence)
    yield factors
    while waiting:
        v = min(waiting, key=partial(cells, factors, tables))
        holding = [f for f in factors if v in f.scope]
        keep = sorted({u for f in holding for u in f.scope} - {v})
        factors = [f for f in factors if v not in f.scope] + [product_sum(holding, keep)]
        waiting.remove(v)
        yield factors


def variable_elimination(
    parents: list[list[int]], tables: list[np.ndarray], q: int, evidence: dict[int, int]
) -> np.ndarray:
    """P(q | evidence) as a vector over the states of q."""
    *_, last = eliminations(parents, tables, q, evidence)
    p = product_sum(last, [q]).values
    return p / p.sum()

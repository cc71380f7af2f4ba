r"""Adjustment formula: what happens if x is set to a value, not just seen to have it.

Define      p(y | do(x)): cut the arrows into x, set it, ask for y
Solve       the same from what can be observed
Step        if Z holds no descendant of x and blocks every path that enters x by an arrow (the back
            doors, through which common causes speak), then given Z seeing x is as good as setting
            it: p(y | do(x)) = sum_z p(y | x, z) p(z). Seeing alone has p(z | x) in the place of
            p(z): that is the bias, and Simpson's paradox. The formula needs only columns x, y, Z.
Cost        the cells of the table of x, y and Z.
The fast version finds the sets Z in the graph, and computes effects in the network.
"""

import numpy as np


def adjustment_formula(joint: np.ndarray, x: int) -> np.ndarray:
    """p(y | do(x)) from a joint table with axes (x, y, z); several z flattened into one axis."""
    p_z = joint.sum(axis=(0, 1))
    p_xz = joint.sum(axis=1)[x]
    y_given_xz = joint[x] / p_xz  # (y, z)
    return y_given_xz @ p_z


def truncated_factorisation(
    parents: list[list[int]], tables: list[np.ndarray], x: int, state: int
) -> tuple[list[list[int]], list[np.ndarray]]:
    """The network after do(x = state): no parents, and certain."""
    new_parents, new_tables = list(parents), list(tables)
    new_parents[x], new_tables[x] = [], np.eye(tables[x].shape[-1])[state]
    return new_parents, new_tables

r"""Gaussian elimination: solve a system, or see that it has no or many solutions.

Solve       Ax = b
Step        adding a multiple of one equation to another changes no solution. Take the row with the
            largest entry in the column (against rounding), subtract multiples of it until the
            column is zero in all other rows, go on to the next. Left: rows with one pivot each. A
            row 0 = c with c not 0: no solution. A column without a pivot: its unknown is free, and
            moving it gives the null space, in which x may be changed.
Cost        n^3 / 3 multiplications for a square system.
The fast version decides ranks by singular values, which rounding fools less.
"""

from typing import NamedTuple

import numpy as np


class Solution(NamedTuple):
    kind: str  # "one", "none" or "many"
    x: np.ndarray | None  # a solution, free unknowns 0
    null_space: np.ndarray  # (n, free) what may be added


def gaussian_elimination(A: np.ndarray, b: np.ndarray, tol: float = 1e-10) -> Solution:
    M = np.column_stack([A, b]).astype(float)
    m, n = A.shape
    pivots: list[int] = []
    for column in range(n):
        row = len(pivots)
        if row == m:
            break
        best = row + int(np.abs(M[row:, column]).argmax())
        if abs(M[best, column]) <= tol * np.abs(A).max():
            continue  # no pivot here
        M[[row, best]] = M[[best, row]]
        M[row] = M[row] / M[row, column]
        others = np.arange(m) != row
        M[others] -= np.outer(M[others, column], M[row])
        pivots.append(column)
    free = [j for j in range(n) if j not in pivots]
    N = np.zeros((n, len(free)))
    for k, j in enumerate(free):
        N[j, k] = 1
        N[pivots, k] = -M[: len(pivots), j]
    if np.abs(M[len(pivots) :, n]).max(initial=0) > tol * max(np.abs(b).max(), 1):
        return Solution("none", None, N)
    x = np.zeros(n)
    x[pivots] = M[: len(pivots), n]
    return Solution("many" if free else "one", x, N)

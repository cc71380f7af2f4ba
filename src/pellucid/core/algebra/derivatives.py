r"""Numerical derivatives of a function of a vector: central differences with extrapolation.

    d(h) = (f(x + h e_j) - f(x - h e_j)) / (2 h) = f_j + c h^2 + O(h^4)
    Richardson:  d(h) + (d(h) - d(2h)) / 3 is exact to O(h^4), and once more to O(h^6)

The step is a compromise: h_j = eps^(1/7) max(1, |x_j|) leaves rounding of about 1e-13 |f| and a
truncation of about 1e-13 f^(7). The difference of the last two columns of the table estimates the
error. Second derivatives extrapolate the symmetric quotients in the same way.

Reference: Press et al., Numerical Recipes, section 5.7 (Ridders' table).
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.typing import Array

STEP = EPS ** (1 / 7)
STEP_SECOND = EPS ** (1 / 8)
SHRINK = (1.0, 0.5, 0.25)  # steps of the table, largest first


class Derivative(NamedTuple):
    """A derivative and an estimate of its error, both of the same shape."""

    value: Array
    error: Array


def extrapolate(rows: list[Array]) -> Derivative:
    """Richardson's table for an error in even powers of h, halved from row to row.

    >>> extrapolate([np.array([1.04]), np.array([1.01]), np.array([1.0025])]).value
    array([1.])
    """
    table, last = list(rows), rows[-1]
    for k in range(1, len(rows)):
        last = table[-1]
        factor = 4.0**k
        table = [(factor * b - a) / (factor - 1) for a, b in pairwise(table)]
    return Derivative(table[-1], np.abs(table[-1] - last))


def numerical_gradient(f: Callable[[Array], float], x: Array) -> Derivative:
    """The gradient of f at x.

    >>> numerical_gradient(lambda x: x[0] ** 2 * x[1], np.array([3.0, 2.0])).value.round(9)
    array([12.,  9.])
    """
    x = np.asarray(x, dtype=np.float64)
    rows = []
    for shrink in SHRINK:
        row = np.empty(len(x))
        for j in range(len(x)):
            h = shrink * STEP * max(1.0, abs(x[j]))
            up, down = x.copy(), x.copy()
            up[j] += h
            down[j] -= h
            row[j] = (f(up) - f(down)) / (up[j] - down[j])  # the steps actually taken
        rows.append(row)
    return extrapolate(rows)


def numerical_jacobian(g: Callable[[Array], Array], x: Array) -> Derivative:
    """dg_i/dx_j at x; the Hessian where g is a gradient (not made symmetric).

    >>> numerical_jacobian(lambda x: np.array([2 * x[0], x[1] ** 2]), np.ones(2)).value.round(8)
    array([[2., 0.],
           [0., 2.]])
    """
    x = np.asarray(x, dtype=np.float64)
    rows = []
    for shrink in SHRINK:
        columns = []
        for j in range(len(x)):
            h = shrink * STEP * max(1.0, abs(x[j]))
            up, down = x.copy(), x.copy()
            up[j] += h
            down[j] -= h
            columns.append((np.asarray(g(up)) - np.asarray(g(down))) / (up[j] - down[j]))
        rows.append(np.stack(columns, axis=-1))
    return extrapolate(rows)


def numerical_hessian(f: Callable[[Array], float], x: Array) -> Derivative:
    """The symmetric matrix of second derivatives of f at x.

    >>> numerical_hessian(lambda x: x[0] ** 2 * x[1], np.array([3.0, 2.0])).value.round(5)
    array([[4., 6.],
           [6., 0.]])
    """
    x = np.asarray(x, dtype=np.float64)
    p, middle = len(x), f(x)
    rows = []
    for shrink in SHRINK:
        H = np.empty((p, p))
        E = np.diag(shrink * STEP_SECOND * np.maximum(1.0, np.abs(x)))
        for i in range(p):
            h = E[i, i]
            H[i, i] = (f(x + E[i]) - 2 * middle + f(x - E[i])) / h**2
            for j in range(i):
                corners = f(x + E[i] + E[j]) - f(x + E[i] - E[j])
                corners += f(x - E[i] - E[j]) - f(x - E[i] + E[j])
                H[i, j] = H[j, i] = corners / (4 * h * E[j, j])
        rows.append(H)
    return extrapolate(rows)

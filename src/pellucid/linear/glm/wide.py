r"""Newton's step for many columns: conjugate gradients, with products instead of a curvature.

    H v = (1/N) D' diag(w h) D v + r v        one read of the rows, no matrix of the columns

The iteration is preconditioned by the diagonal of H and ends when the residual is a small enough
share of the slope: as small as the last gap, so that Newton's steps keep squaring it.

Reference: Nocedal & Wright, Numerical Optimization, section 7.1.
"""

from functools import partial

import numpy as np
from scipy.sparse import issparse

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.statistics import Rows, Statistic, reduce_rows
from pellucid.linear.glm.families import Family
from pellucid.linear.glm.sums import Problem, linear_scores, open_leaf
from pellucid.linear.logistic.newton import Solved
from pellucid.linear.logistic.sums import add

MOST = 500  # products of one step
COARSEST, FINEST = 0.1, 1e-10  # share of the slope that may be left


def leaf_product(
    theta: Array, v: Array | None, shift: Array, ones: float, family: Family, rows: Rows
) -> Array:
    """D' diag(w h) D v of a leaf; the diagonal of D' diag(w h) D where v is None."""
    leaf = open_leaf(rows)
    with np.errstate(all="ignore"):
        mu = family.mean(linear_scores(theta, shift, ones, leaf))
        h = leaf.w * (family.curvature(leaf.y, mu) if family.convex else family.information(mu))
    if v is None:
        squares = leaf.X.multiply(leaf.X) if issparse(leaf.X) else (leaf.X - shift) ** 2
        return np.append(ones * h.sum(), squares.T @ h)
    u = h * linear_scores(v, shift, ones, leaf._replace(offset=0.0))
    return np.append(ones * u.sum(), leaf.X.T @ u - u.sum() * shift)


def times_curvature(problem: Problem, theta: Array, v: Array | None) -> Array:
    """H v, or the diagonal of H where v is None."""
    at = theta, v, problem.shift, float(problem.intercept), problem.family
    found = reduce_rows(Statistic(partial(leaf_product, *at), add), problem.source, problem.map_)
    return found / problem.total + problem.ridge * (1.0 if v is None else v)


def solve_by_products(problem: Problem, theta: Array, slope: Array, before: float) -> Solved:
    """-H^-1 slope to a share of the slope that ``before``, the last gap, sets."""
    scale = times_curvature(problem, theta, None)
    scale = np.where(scale > 0, scale, 1.0)
    d, r = np.zeros(len(slope)), -slope
    z = r / scale
    p, rz = z.copy(), float(r @ z)
    wanted = rz * float(np.clip(before, FINEST, COARSEST)) ** 2
    for _ in range(MOST):
        if not rz > wanted:
            break
        q = times_curvature(problem, theta, p)
        curvature = float(p @ q)
        if not curvature > 0:  # a direction without curvature: the rows say nothing about it
            break
        a = rz / curvature
        d, r = d + a * p, r - a * q
        z = r / scale
        rz, last = float(r @ z), rz
        p = z + (rz / last) * p
    return Solved(d, len(d), ())

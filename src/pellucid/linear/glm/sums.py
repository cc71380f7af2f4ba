r"""The deviance of a generalised linear model as a statistic: its derivatives are sums over rows.

    F(t) = (1/N) sum_i w_i d(y_i, mu_i) + sum_j r_j t_j^2/2,     eta_i = t.d_i + o_i,  d = (1, x)
    slope       (1/N) sum w d' d_i + r t
    curvature   (1/N) sum w h d_i d_i' + diag(r),     h = d'' ("observed") or its mean ("expected")

r_j = alpha, 0 for the intercept. Columns are shifted by a typical row, which changes the intercept
only and keeps the curvature well conditioned. An offset o travels as a second column of y. Rows of
weight 0 are left out before anything is computed from them.

Where the dispersion a of a negative binomial is estimated too, t has log a as its last entry and F
is minus the mean log-likelihood instead of d. Its mixed derivatives with the rest are 0 in the mean
and are taken as 0.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.algebra.gram import WIDEST, cross_products
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, Map
from pellucid.core.loops.statistics import (
    Rows,
    Source,
    Statistic,
    add_records,
    is_unit,
    reduce_rows,
)
from pellucid.linear.glm.counts import negative_binomial, shape_sums
from pellucid.linear.glm.families import Family

LEAP = 3.0  # the longest step of log a


class Problem(NamedTuple):
    """What is minimised; q = p + 1, the intercept first (its column is 0 where there is none)."""

    source: Source
    map_: Map
    family: Family
    ridge: Array  # (q,) r of the formula
    shift: Array  # (p,) taken off the columns
    intercept: bool
    total: float  # N, the sum of the weights
    shaped: bool = False  # whether the last entry of t is log a
    wide: bool = False  # so many columns that no curvature is made

    def split(self, theta: Array) -> tuple[Family, Array]:
        """The family at t, and the coefficients of t."""
        if not self.shaped:
            return self.family, theta
        return negative_binomial(float(np.exp(theta[-1]))), theta[:-1]


class Sums(NamedTuple):
    """Sums over rows at one t."""

    loss: float
    size: float  # sum w mu^2/V: what a relative change of every mean by 1 would cost
    slope: Array  # (q,)
    curvature: Array  # (q, q), or (0, 0) where it was not asked for
    shape: Array  # (3,): sum w of what the likelihood adds to -d, and its derivatives in log a


class Point(NamedTuple):
    """The objective and its derivatives at t."""

    theta: Array  # (q,)
    objective: float
    loss: float  # half the deviance, summed
    size: float  # mean of mu^2/V
    slope: Array  # (q,)
    curvature: Array  # (q, q) or (0, 0), the penalty included


class Leaf(NamedTuple):
    """The rows of a leaf that weigh something."""

    X: Any
    y: Array
    w: Array
    offset: Array | float


def open_leaf(rows: Rows) -> Leaf:
    """Drop rows of weight 0 and take the offset off the target."""
    X, y, w = rows
    if not is_unit(w) and not (w > 0).all():
        live = w > 0
        X, y, w = X[live], y[live], w[live]
    return Leaf(X, y[:, 0], w, y[:, 1]) if y.ndim == 2 else Leaf(X, y, w, 0.0)


def linear_scores(theta: Array, shift: Array, ones: float, leaf: Leaf) -> Array:
    """eta of every row."""
    constant = ones * theta[0] - shift @ theta[1:]
    return np.asarray(leaf.X @ theta[1:]) + (constant + leaf.offset)


def leaf_sums(
    theta: Array, shift: Array, ones: float, family: Family, a: float, kind: str, rows: Rows
) -> Sums:
    """The sums of one leaf; ``kind`` of the curvature is "observed", "expected" or "" for none."""
    leaf = open_leaf(rows)
    with np.errstate(all="ignore"):  # a step may have been far too long: the objective tells
        eta = linear_scores(theta, shift, ones, leaf)
        mu = family.mean(eta)
        loss = float(leaf.w @ family.loss(leaf.y, mu))
        size = float(leaf.w @ family.size(leaf.y, mu))
        r = leaf.w * family.slope(leaf.y, mu)
        slope = np.append(ones * r.sum(), leaf.X.T @ r - r.sum() * shift)
        shape = np.zeros(3)
        if a > 0:
            found = shape_sums(a, leaf.y, mu)
            base = leaf.w @ family.likelihood.base(leaf.y)
            shape = np.array([base, leaf.w @ found.slope, leaf.w @ found.curvature])
        if not kind:
            return Sums(loss, size, slope, np.zeros((0, 0)), shape)
        h = family.information(mu) if kind == "expected" else family.curvature(leaf.y, mu)
        return Sums(loss, size, slope, leaf_curvature(leaf, shift, ones, leaf.w * h), shape)


def leaf_curvature(leaf: Leaf, shift: Array, ones: float, h: Array) -> Array:
    """sum h d d' of a leaf, for h of any sign."""
    X = to_dense(leaf.X)
    if X.shape[1] < WIDEST and np.isfinite(h).all() and (h >= 0).all():
        H = cross_products(X - shift, np.ones(len(X)), h)
    else:
        D = np.column_stack([X - shift, np.ones(len(X))])
        H = D.T @ (h[:, None] * D)
    H = np.roll(H, 1, axis=(0, 1))  # the column of ones comes first here
    H[0] *= ones
    H[:, 0] *= ones
    return H


def evaluate(problem: Problem, theta: Array, kind: str) -> Point:
    """The objective and its derivatives: one pass over the data."""
    with np.errstate(over="ignore"):
        family, t = problem.split(theta)
        a = float(np.exp(theta[-1])) if problem.shaped else 0.0
    leaf = partial(leaf_sums, t, problem.shift, float(problem.intercept), family, a, kind)
    found: Sums = reduce_rows(Statistic(leaf, add_records), problem.source, problem.map_)
    N, ridge = problem.total, problem.ridge
    with np.errstate(all="ignore"):
        slope = found.slope / N + ridge * t
        value = found.loss / N + 0.5 * float(ridge @ t**2) - found.shape[0] / N
        H = found.curvature / N
    if kind:
        H[np.diag_indices(len(H))] += ridge
    if problem.shaped:
        slope, H = with_shape(slope, H, found.shape / N)
    usable = np.isfinite(value) and np.isfinite(slope).all() and np.isfinite(H).all()
    value = float(value) if usable else np.inf
    return Point(theta, value, float(found.loss), float(found.size / N), slope, H)


def with_shape(slope: Array, H: Array, shape: Array) -> tuple[Array, Array]:
    """Slope and curvature with log a as the last entry; its step is at most LEAP."""
    rise = -shape[1]
    H, q = np.pad(H, (0, 1)) if len(H) else H, len(slope)
    if len(H):
        H[q, q] = max(-shape[2], abs(rise) / LEAP)
    return np.append(slope, rise), H


class Totals(NamedTuple):
    """What the start and the checks need to know of the targets."""

    weight: float
    rows: float  # of positive weight
    y: float  # sum w y
    shares: (
        Array  # (2,): sum w y e^(o (1-p)) and sum w e^(o (2-p)); identity: sum w (y - o), weight
    )


def leaf_totals(family: Family, rows: Rows) -> Totals:
    """Totals of one leaf; a target that the family cannot have is refused here for files."""
    refuse_targets(family, rows.y[:, 0] if rows.y.ndim == 2 else rows.y)
    leaf = open_leaf(rows)
    p = 1.0 if np.isnan(family.power) else family.power
    o = np.broadcast_to(leaf.offset, leaf.y.shape)
    with np.errstate(over="ignore"):  # the start is looked at before it is taken
        if family.link == "log":
            shares = leaf.w @ (leaf.y * np.exp((1 - p) * o)), leaf.w @ np.exp((2 - p) * o)
        else:
            shares = leaf.w @ (leaf.y - o), leaf.w.sum()
    total = float(leaf.w.sum()), float(len(leaf.y)), float(leaf.w @ leaf.y)
    return Totals(*total, np.array(shares))


def refuse_targets(family: Family, y: Array) -> None:
    """Raise where y is outside the family's range."""
    bad = y <= family.lowest if family.strict else y < family.lowest
    if bad.any():
        row, sign = int(np.argmax(bad)), ">" if family.strict else ">="
        range_ = f"the {family.name} family needs y {sign} {family.lowest:g}"
        out = "Some value(s) of y are out of the valid range of the loss"
        raise ValueError(f"{out}: {range_}, got {y[row]:g}")

r"""Why this row: Shapley's fair division of one prediction among the columns of the table.

For a row z, background rows b and a set S of columns let f(z_S, b_-S) be the prediction with the
columns of S from z and the others from b, and v(S) its mean over the background. Column j gets

    phi_j = sum_{S without j} |S|! (d - |S| - 1)! / d!  ( v(S + j) - v(S) ),

the only division that is additive, gives equal columns equal parts, and nothing to a column the
model does not use; sum_j phi_j = f(z) - v(no column). For a linear model
phi_j = w_j (z_j - mean b_j).

Up to EXACT columns every set is asked; beyond that random orders of the columns, each with its
reverse (antithetic), and one background row per order. The sum stays exact; the parts then have a
standard error. Columns are mixed after they have become features, which is the same, since
features are made row by row.

References: Shapley (1953); Lundberg & Lee (2017); Mitchell et al. (2022).
"""

from collections.abc import Callable
from math import factorial
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray

EXACT = 10  # columns: 1024 sets
ROWS, CELLS = 50, 4_000_000  # background rows; numbers in a table at a time
ORDERS, STEPS = 200, 40_000  # random orders, and predictions altogether

Predict = Callable[[Array], Array]  # (n, features) -> (n,)


class Parts(NamedTuple):
    """What every column adds to the prediction of one row."""

    base: float  # mean prediction of the background
    parts: Array  # (columns,)
    standard_error: Array  # (columns,); zero where every set was asked


def shapley(
    predict: Predict,
    z: Array,
    background: Array,
    origin: IntArray,
    n_columns: int,
    rng: np.random.Generator,
) -> Parts:
    """Divide ``predict(z) - mean predict(background)`` among the columns.

    Parameters
    ----------
    predict : function of a matrix of features
    z : array of shape (features,)
    background : array of shape (rows, features)
    origin : the column of every feature
    n_columns : int
    rng : numpy Generator

    Examples
    --------
    >>> B = np.array([[0.0, 0.0], [2.0, 4.0]])
    >>> f = lambda Z: Z @ [1.0, 3.0]
    >>> found = shapley(f, np.array([5.0, 1.0]), B, np.array([0, 1]), 2, np.random.default_rng(0))
    >>> found.base, found.parts
    (7.0, array([ 4., -3.]))
    """
    players = np.unique(origin)
    masks = origin[None, :] == players[:, None]  # (d, features)
    found = (
        every_set(predict, z, background, masks)
        if len(players) <= EXACT
        else random_orders(predict, z, background, masks, rng)
    )
    parts, error = np.zeros(n_columns), np.zeros(n_columns)
    parts[players], error[players] = found.parts, found.standard_error
    return Parts(found.base, parts, error)


def every_set(predict: Predict, z: Array, background: Array, masks: Array) -> Parts:
    """All 2^d sets of columns."""
    d = len(masks)
    m, p = background.shape
    value = np.empty(2**d)
    step = max(1, CELLS // max(m * p, 1))
    for start in range(0, 2**d, step):
        sets = np.arange(start, min(start + step, 2**d))
        chosen = (sets[:, None] >> np.arange(d)) & 1  # (sets, d)
        mine = (chosen @ masks).astype(bool)  # (sets, p)
        mixed = np.where(mine[:, None, :], z, background[None])  # (sets, m, p)
        value[sets] = predict(mixed.reshape(-1, p)).reshape(len(sets), m).mean(axis=1)
    size = np.array([int(s).bit_count() for s in range(2**d)])
    weight = np.array([factorial(s) * factorial(d - s - 1) / factorial(d) for s in range(d)])
    parts = np.empty(d)
    for j in range(d):
        without = np.flatnonzero((np.arange(2**d) >> j) & 1 == 0)
        parts[j] = weight[size[without]] @ (value[without | (1 << j)] - value[without])
    return Parts(float(value[0]), parts, np.zeros(d))


def random_orders(
    predict: Predict, z: Array, background: Array, masks: Array, rng: np.random.Generator
) -> Parts:
    """Columns change from b to z one after the other, in random orders and their reverses."""
    d = len(masks)
    pairs = max(4, min(ORDERS, STEPS // d) // 2)
    rows = background[np.resize(rng.permutation(len(background)), pairs)]
    table = np.empty((pairs, d))
    base = np.empty(pairs)
    for t in range(pairs):
        order = rng.permutation(d)
        first, base[t] = walk(predict, z, rows[t], masks, order)
        second, _ = walk(predict, z, rows[t], masks, order[::-1])
        table[t] = (first + second) / 2
    error = table.std(axis=0, ddof=1) / np.sqrt(pairs)
    return Parts(float(base.mean()), table.mean(axis=0), error)


def walk(
    predict: Predict, z: Array, start: Array, masks: Array, order: IntArray
) -> tuple[Array, float]:
    """What each column adds when the columns of ``start`` become those of z in this order."""
    d, p = masks.shape
    rank = np.empty(d, np.intp)
    rank[order] = np.arange(d)
    turn = np.full(p, d)  # when a feature changes; features of no column never do
    for j in range(d):
        turn[masks[j]] = rank[j]
    said = np.empty(d + 1)
    step = max(1, CELLS // p)
    for low in range(0, d + 1, step):
        at = np.arange(low, min(low + step, d + 1))
        said[at] = predict(np.where(turn[None, :] < at[:, None], z, start))
    added = np.empty(d)
    added[order] = np.diff(said)
    return added, float(said[0])

r"""The errors of a ridge fit, and its posterior under the normal prior, also where columns depend.

    A = (X'X + alpha I)^-1 = V diag(1/(d^2 + alpha)) V' + (I - V V') / alpha

with V the directions that the rows say something of. In all others, if there are any (more columns
than rows, a column that is a sum of others), the prior alone decides: variance sigma2 / alpha.
"""

from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.linear.least_squares.smoother import Smoother
from pellucid.linear.least_squares.summary import parameter_root

ROUNDING = 1e-9  # of the prior variance of a parameter: below, no direction was left open


class Spread(NamedTuple):
    """Of k targets and q parameters, the intercept first; NaN where it is not determined."""

    error: Array  # (k, q) standard errors over repeated samples
    posterior: Array  # (k, q) posterior standard deviations
    unseen: int  # directions of which the rows say nothing


def ridge_spread(
    smoother: Smoother,
    factors: Array,
    sigma2: Array,
    alpha: Array,
    *,
    shrunk: bool,
    weighted: bool,
) -> Spread:
    """``factors`` (k, r) are d^2 / (d^2 + alpha); ``shrunk``: the intercept has the penalty too."""
    T = parameter_root(smoother)
    gain = np.atleast_2d(smoother.gain.T)  # (1 or k, r)
    own = int(smoother.intercept and not shrunk)  # the intercept's direction, the first
    if own:
        factors = np.column_stack([np.ones(len(factors)), factors[:, : gain.shape[1] - 1]])
    factors = factors[:, : gain.shape[1]]
    live = np.asarray((gain > 0).all(axis=0))
    live[:own] = False
    unseen = len(T) - own - int(live.sum())
    open_ = left_open(T, smoother, live, own) if unseen else np.zeros(len(T))
    if unseen and weighted:
        open_[:] = np.nan  # the penalties of the columns are not kept
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = np.where(open_ == 0, 0.0, open_ / alpha[:, None])  # inf without a penalty
    variance = gain @ (T**2).T + prior
    variance[np.isinf(variance)] = np.nan
    sampling = np.where(np.isnan(variance), np.nan, (gain * factors) @ (T**2).T)
    sigma = np.sqrt(sigma2)[:, None]
    return Spread(sigma * np.sqrt(sampling), sigma * np.sqrt(variance), unseen)


def left_open(T: Array, smoother: Smoother, live: BoolArray, own: int) -> Array:
    """Diagonal of I - V V', for the intercept that of mean'w: what no row says anything of."""
    total = np.ones(len(T))
    if own:
        total[0] = smoother.mean @ smoother.mean
    rest = total - (T[:, live] ** 2).sum(axis=1)
    return np.where(rest > ROUNDING * total, rest, 0.0)

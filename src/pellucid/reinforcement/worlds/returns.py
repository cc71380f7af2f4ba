"""The utility of a sequence of rewards: additive, discounted, or cut off at a horizon."""

from collections.abc import Iterable
from itertools import islice

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array


def utility(
    rewards: Iterable[float], *, discount: float = 1.0, horizon: int | None = None
) -> float:
    """The sum of ``discount**t * rewards[t]`` for ``t < horizon``.

    Parameters
    ----------
    rewards : numbers, in the order in which they come
        May be endless (a generator) when there is a horizon.
    discount : float in [0, 1], default=1.0
        1 adds the rewards up; less counts what comes soon more.
    horizon : int, default: all rewards
        How many of them count.

    Examples
    --------
    >>> from pellucid.reinforcement import utility
    >>> utility([1, 2, 4]), utility([1, 2, 4], discount=0.5), utility([1, 2, 4], horizon=2)
    (7.0, 3.0, 3.0)
    """
    check._number("discount", discount)
    if not 0 <= discount <= 1:
        raise ValueError(f"discount must be between 0 and 1, got {discount!r}")
    if horizon is not None:
        check.whole(at_least=0, horizon=horizon)
    r = np.array(list(islice(rewards, horizon)), dtype=np.float64)
    if r.ndim != 1 or not np.isfinite(r).all():
        raise ValueError(f"rewards must be a sequence of finite numbers, got shape {r.shape}")
    return discounted_sum(r, discount)


def discounted_sum(r: Array, discount: float) -> float:
    """sum_t discount^t r_t."""
    if discount == 1:
        return float(r.sum())
    return float(r @ discount ** np.arange(len(r)))

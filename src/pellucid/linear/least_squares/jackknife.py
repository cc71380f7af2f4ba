r"""Jackknife+ intervals of a linear smoother, without refitting.

Leaving row i out of yhat = H y changes the prediction at any x by its leverage on x:

    f_-i(x) = f(x) - h(x, x_i) R_i,     R_i = r_i/(1 - h_ii),     h(x, x_i) = q(x)'diag(g) q(x_i)

and the interval at confidence 1 - a is, over the n rows,

    [ the floor(a (n + 1))-th smallest of f_-i(x) - |R_i|,
      the ceil((1 - a)(n + 1))-th smallest of f_-i(x) + |R_i| ].

It covers a new exchangeable observation with probability at least 1 - 2a, for any distribution; a
row of weight w counts w times.    O(n r) per new row

Reference: Barber, Candès, Ramdas & Tibshirani (2021), Predictive inference with the jackknife+.
"""

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.threads import map_threads

CELLS = 2**22  # of the (new rows, rows) table at a time


def order_statistic(values: Array, w: Array, rank: float) -> Array:
    """The smallest value in each row whose weights up to it reach ``rank``.

    >>> order_statistic(np.array([[3.0, 1.0, 2.0]]), np.ones(3), 2)
    array([2.])
    """
    if (w == 1).all():
        k = int(rank) - 1
        return np.partition(values, k, axis=1)[:, k]
    order = np.argsort(values, axis=1)
    reached = np.cumsum(w[order], axis=1) >= rank * (1 - 1e-12)
    first = np.argmax(reached, axis=1)
    rows = np.arange(len(values))
    return values[rows, order[rows, first]]


def jackknife_plus(
    centre: Array, new: Array, Q: Array, gain: Array, loo: Array, w: Array, confidence: float
) -> Array:
    """Intervals (m, 2) or (m, k, 2) around ``centre``, from scores and leave-one-out residuals."""
    check.fraction(confidence=confidence)
    n, a = float(w.sum()), 1 - confidence
    low, high = np.floor(a * (n + 1) + 1e-9), np.ceil((1 - a) * (n + 1) - 1e-9)
    if low < 1 or high > n:
        most = f"a confidence of at most {1 - 1 / (n + 1):.4f}"
        raise ValueError(f"{n:g} rows can support {most}, got {confidence!r}")
    live = w > 0
    Q, loo, w = Q[live], loo[live], w[live]
    loo2 = loo.reshape(len(loo), -1)
    k = loo2.shape[1]
    gains = gain if gain.ndim == 2 else np.broadcast_to(gain[:, None], (len(gain), k))
    centre2 = centre.reshape(len(new), k)
    step = max(1, CELLS // max(len(Q), 1))

    def block(start: int) -> Array:
        part = slice(start, start + step)
        bounds = np.empty((len(new[part]), k, 2))
        for j in range(k):
            without = centre2[part, j, None] - ((new[part] * gains[:, j]) @ Q.T) * loo2[:, j]
            size = np.abs(loo2[:, j])
            bounds[:, j, 0] = order_statistic(without - size, w, low)
            bounds[:, j, 1] = order_statistic(without + size, w, high)
        return bounds

    bounds = np.concatenate(list(map_threads(block, range(0, len(new), step))))
    return bounds[:, 0] if centre.ndim == 1 else bounds

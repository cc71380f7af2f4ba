r"""B-splines: the same splines from bumps that are zero almost everywhere.

Define      on knots t_0 <= t_1 <= ..: B_(i,0)(x) = 1 on [t_i, t_(i+1)), and
            B_(i,d) = (x - t_i) / (t_(i+d) - t_i) B_(i,d-1)
            + (t_(i+d+1) - x) / (t_(i+d+1) - t_(i+1)) B_(i+1,d-1)
Step        each step widens a bump by one interval and smooths it once more (Cox & de Boor, 1972).
            They are >= 0, sum to 1 inside, and only d + 1 of them are not 0 at any x:
            well-conditioned, where truncated powers are almost parallel. Both
            span the same functions.
Cost        n d^2.
The fast version computes only the d + 1 that are not 0, and continues beyond the ends as asked.
"""

import numpy as np


def b_splines(x: np.ndarray, base: np.ndarray, d: int = 3) -> np.ndarray:
    """(n, knots + d - 1) for equally spaced knots ``base``, continued by d steps on each side."""
    step = base[1] - base[0]
    before = base[0] - step * np.arange(d, 0, -1)
    t = np.concatenate([before, base, base[-1] + step * np.arange(1, d + 1)])
    inside = (x[:, None] >= t[:-1]) & (x[:, None] < t[1:])
    inside[x == base[-1], d + len(base) - 2] = True  # the last interval is closed
    inside[x == base[-1], d + len(base) - 1] = False
    B = inside.astype(float)
    for k in range(1, d + 1):
        left = (x[:, None] - t[: -k - 1]) / (t[k:-1] - t[: -k - 1]) * B[:, :-1]
        right = (t[k + 1 :] - x[:, None]) / (t[k + 1 :] - t[1:-k]) * B[:, 1:]
        B = left + right
    return B

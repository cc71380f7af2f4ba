r"""Truncated powers: a spline as a polynomial that may bend anew at each knot.

Model       f(x) = sum_(j<=d) b_j x^j + sum_k g_k (x - t_k)_+^d, (u)_+ = max(u, 0)
Step        (x - t)_+^d has d - 1 continuous derivatives and a jump in the d-th at t: so f is a
            polynomial of degree d between knots, joined as smoothly as possible without being the
            same one. d + 1 + K numbers; least squares finds them. For d = 3 the eye sees no knots.
Cost        n (d + K).
The fast version can also leave the pieces less smooth, down to separate ones.
"""

import numpy as np


def truncated_powers(x: np.ndarray, knots: np.ndarray, d: int = 3) -> np.ndarray:
    """Columns x, .., x^d, then one per knot; the constant is left to the intercept."""
    powers = x[:, None] ** np.arange(1, d + 1)
    return np.hstack([powers, np.maximum(x[:, None] - knots, 0) ** d])

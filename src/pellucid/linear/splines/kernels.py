r"""Kernels of the cubic smoothing spline in O(n): two filters that meet at every knot.

The minimiser of sum w_i (y_i - f(x_i))^2 + alpha int f''^2 is the posterior mean of f under
f'' = white noise of density q, observation noise of variance r_i = rho / w_i, rho / q = alpha, and
no prior knowledge of the line. The state (f, f') is Markov: a filter from the left sums up all
data before a knot, one from the right all data behind it. Each is kept as

    f ~ N(m, a),     f' | f ~ N(s + b (f - y), d)

A datum y with variance r changes only the first part, a -> a r / (a + r). Over a gap h, with
c = 1 + h b,

    A     = a c^2 + h^2 d + q h^3/3
    B A   = a b c + h d + q h^2/2
    D A   = a d + q h a (1 + h b/2)^2 + q h^3 (a b^2/12 + d/3) + q^2 h^4/12      (Cauchy-Binet)

Every term is positive, so that the variances keep their digits whatever the gaps and alpha: the
equivalent banded system R + alpha Q'W^-1 Q has a condition of the order (n h / h_min)^4. Where the
two filters meet, the value left out of its own fit has

    precision  p = 1/A_l + 1/A_r + (B_l + B_r)^2 / (D_l + D_r),
    1 - h_ii   = r p / (1 + r p),           y_i - f_i = (1 - h_ii) (y_i - f_i^(-i)),

so leverages, leave-one-out residuals and f'' come without any subtraction of near-equal numbers.

References: Wahba (1978); Wecker & Ansley (1983); Kohn & Ansley (1987); the same sums by banded
solves: Reinsch (1967); Hutchinson & de Hoog (1985).
"""

from typing import Any

import numpy as np

from pellucid.core.runtime.jit import jit


@jit
def cross(a: float, b: float, d: float, h: float, q: float) -> Any:
    """(A, B, D, 1 - h B) behind a gap h; d = inf stands for an unknown slope."""
    if d == np.inf:
        if h == 0.0:
            return a, 0.0, np.inf, 1.0
        return np.inf, 1 / h, (a / h + q * h * h / 3) / h, 0.0
    c, half = 1 + h * b, 1 + 0.5 * h * b
    z = q * h * h * h
    A = a * c * c + h * h * d + z / 3
    C = a * b * c + h * d + 0.5 * q * h * h
    det = a * d + q * h * a * half * half + z * (a * b * b / 12 + d / 3) + q * h * z / 12
    return A, C / A, det / A, (a * c - z / 6) / A


@jit
def meet(left: Any, right: Any, r: float) -> Any:
    """(r p, leave-one-out error f - y, slope, jump of the slope / (d_l + d_r)) at one knot."""
    u, b, d, M, s = left
    v, e, k, N, t = right  # the right filter sees x reversed: its slopes have the other sign
    total = d + k
    g = (b + e) / total
    p = u + v + (b + e) * g
    ahead = (M * u + N * v - g * (t + s)) / p
    step = ahead * (r * p / (1 + r * p))
    sl, sr = s + b * step, -(t + e * step)
    return r * p, ahead, (sl * k + sr * d) / total, (sr - sl) / total


@jit
def smooth(h: Any, r: Any, y: Any, w: Any, ss: Any, q: float, out: Any) -> Any:
    """Fit knots with gaps h: (sum w resid^2, sum h_ii, sum (1 - h_ii), leave-one-out sum).

    r = rho/w (n,); ss (n,) squares of pooled rows about their mean; n >= 3. Rows of ``out`` (n, 4)
    become residual, 1 - h_ii, f', f''; give (0, 4) for the sums alone.
    """
    n = len(y)
    full = len(out) == n
    rss, df, free, loo = 0.0, 0.0, 0.0, 0.0
    kept = np.empty((n, 5))  # of either filter at its first half of the knots
    state = np.empty((2, 5))  # a, b, d, m, f' of the two filters
    ahead = np.empty((2, 5))  # 1/A, B, D, m - y, slope at f = y
    for k in range(1, n):
        for side in range(2):
            i = k if side == 0 else n - 1 - k
            before = i - 1 if side == 0 else i + 1
            gap = h[i - 1] if side == 0 else h[i]
            if k == 1:
                state[side, 0], state[side, 1], state[side, 2] = r[before], 0.0, np.inf
                state[side, 3], state[side, 4] = y[before], 0.0
            a, b, d = state[side, 0], state[side, 1], state[side, 2]
            m, s = state[side, 3], state[side, 4]
            A, B, D, stay = cross(a, b, d, gap, q)
            M = m + gap * s - y[i] if k > 1 else 0.0
            S = s * stay + B * (y[i] - m)
            left = r[i] / (A + r[i]) if k > 1 else 0.0
            ahead[side, 0], ahead[side, 1], ahead[side, 2] = 1 / A, B, D
            ahead[side, 3], ahead[side, 4] = M, S
            state[side, 0] = A * left if k > 1 else r[i]
            state[side, 1], state[side, 2] = B, D
            state[side, 3], state[side, 4] = y[i] + left * M, S + B * (left * M)
        for side in range(2):
            i = k if side == 0 else n - 1 - k
            mine = (ahead[side, 0], ahead[side, 1], ahead[side, 2], ahead[side, 3], ahead[side, 4])
            if 2 * k < n - 1 or (2 * k == n - 1 and side == 0):
                for c in range(5):
                    kept[i, c] = mine[c]
                continue
            if k == n - 1:  # an end: all data lie on one side
                u, B, D, M, S = mine
                odds, off, jump = r[i] * u, M, 0.0
                slope = S + B * (M * (odds / (1 + odds)))
                slope = slope if side == 0 else -slope
            else:
                other = (kept[i, 0], kept[i, 1], kept[i, 2], kept[i, 3], kept[i, 4])
                if side == 0:
                    odds, off, slope, jump = meet(mine, other, r[i])
                else:
                    odds, off, slope, jump = meet(other, mine, r[i])
            own = 1 / (1 + odds)  # h_ii
            room = odds * own
            resid = -off * room
            rss += w[i] * resid * resid
            df += own
            free += room
            one = 1 - own / w[i] if w[i] != 1.0 else room  # one copy of the row left out
            loo += (w[i] * resid * resid + ss[i]) / (one * one) if one > 0 else np.inf
            if full:
                out[i, 0], out[i, 1], out[i, 2], out[i, 3] = resid, room, slope, q * jump
    return rss, df, free, loo


@jit
def filters(h: Any, r: Any, q: float, left: Any, right: Any) -> None:
    """(a, b, d) at every knot, its own datum included: rows of ``left`` and ``right`` (n, 3)."""
    n = len(r)
    for i in range(n):
        a, b, d = np.inf, 0.0, np.inf
        if i > 0:
            a, b, d, _ = cross(left[i - 1, 0], left[i - 1, 1], left[i - 1, 2], h[i - 1], q)
        left[i, 0], left[i, 1], left[i, 2] = r[i] if a == np.inf else a * (r[i] / (a + r[i])), b, d
    for i in range(n - 1, -1, -1):
        a, b, d = np.inf, 0.0, np.inf
        if i < n - 1:
            a, b, d, _ = cross(right[i + 1, 0], right[i + 1, 1], right[i + 1, 2], h[i], q)
        own = r[i] if a == np.inf else a * (r[i] / (a + r[i]))
        right[i, 0], right[i, 1], right[i, 2] = own, b, d


@jit
def variances(x: Any, left: Any, right: Any, q: float, query: Any, interval: Any, out: Any) -> None:
    """Variance of f at every query; interval i: the last knot at or left of it, -1 before all."""
    n = len(x)
    for j in range(len(query)):
        i = interval[j]
        if i < 0:
            a, b, d, _ = cross(right[0, 0], right[0, 1], right[0, 2], x[0] - query[j], q)
            out[j] = a
            continue
        a, b, d, _ = cross(left[i, 0], left[i, 1], left[i, 2], query[j] - x[i], q)
        if i == n - 1:
            out[j] = a
            continue
        behind = x[i + 1] - query[j]
        c, e, k, _ = cross(right[i + 1, 0], right[i + 1, 1], right[i + 1, 2], behind, q)
        out[j] = 1 / (1 / a + 1 / c + (b + e) * (b + e) / (d + k))

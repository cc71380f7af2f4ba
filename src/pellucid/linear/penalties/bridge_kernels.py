r"""Coordinate descent for the bridge penalty: one coefficient at a time, each to its minimum.

    phi(w) = d w^2/2 - b w + t |w|^q     or, in the norm form,    ... + t (S + |w|^q)^(1/q)

where S is the sum over the other coefficients. The minimiser has the sign of b. For q >= 1 phi is
convex and its slope is bracketed on [0, |b|/d]. For q < 1 the slope first falls and then rises:
zero is a local minimum, and the largest root of the slope is the other one; the lower is taken.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

PIECES = 64  # of the bracket that are searched for the last change of sign when q < 1


@jit
def bridge_slope(w, d, b, t, q, S, norm):
    """phi'(w) for w > 0 and b >= 0."""
    if norm:
        return d * w - b + t * (S + w**q) ** (1.0 / q - 1.0) * w ** (q - 1.0)
    return d * w - b + t * q * w ** (q - 1.0)


@jit
def bridge_value(w, d, b, t, q, S, norm):
    """phi(w) for w >= 0 and b >= 0."""
    penalty = t * (S + w**q) ** (1.0 / q) if norm else t * w**q
    return d * w * w / 2 - b * w + penalty


@jit
def bridge_root(low, high, d, b, t, q, S, norm):
    """The root of the slope in [low, high], where it goes from negative to positive."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle <= low or middle >= high:
            break
        if bridge_slope(middle, d, b, t, q, S, norm) > 0.0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


@jit
def bridge_minimum(d, b, t, q, S, norm):
    """argmin phi over w >= 0, for b >= 0."""
    if b <= 0.0 or d <= 0.0:
        return 0.0
    top = b / d
    if q >= 1.0:
        if bridge_slope(1e-12 * top, d, b, t, q, S, norm) >= 0.0:
            return 0.0
        return bridge_root(0.0, top, d, b, t, q, S, norm)
    high = top
    for i in range(PIECES - 1, 0, -1):
        low = top * i / PIECES
        if bridge_slope(low, d, b, t, q, S, norm) < 0.0:
            w = bridge_root(low, high, d, b, t, q, S, norm)
            zero = bridge_value(0.0, d, b, t, q, S, norm)
            return w if bridge_value(w, d, b, t, q, S, norm) < zero else 0.0
        high = low
    return 0.0


@jit
def bridge_sweep(G, w, g, t, q, norm):
    """Minimise over each coefficient in turn, in place; g = Q - G w. Returns the largest move."""
    S = 0.0
    if norm:
        for j in range(len(w)):
            S += abs(w[j]) ** q
    largest = 0.0
    for j in range(len(w)):
        d, old = G[j, j], w[j]
        if d <= 0.0:
            continue
        b = g[j] + d * old
        rest = max(S - abs(old) ** q, 0.0)
        new = bridge_minimum(d, abs(b), t, q, rest, norm)
        new = -new if b < 0.0 else new
        move = new - old
        if move != 0.0:
            w[j] = new
            S = rest + abs(new) ** q
            for k in range(len(w)):
                g[k] -= move * G[j, k]
            largest = max(largest, abs(move) * np.sqrt(d))
    return largest

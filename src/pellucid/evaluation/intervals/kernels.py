"""Counts of bootstrap resamples: n draws from n units, without listing the draws.

A resample of n units is a vector of counts, multinomial with n draws. Independent Poisson(1)
counts are such a vector for a random number of draws T; adding n - T draws, or taking T - n of the
draws away at random, makes it one for n draws, exactly. A Poisson(1) count costs 16 random bits and
a look-up (the few words on a border of two counts draw again), so a resample is one sweep through
memory instead of n jumps.

Every resample has its own stream, keyed by its number: threads cannot change the answer.
Generator: SplitMix64 (Steele, Lea, Flood 2014).
"""

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.splitmix import GOLDEN, splitmix64

_S11, _S16, _S32 = np.uint64(11), np.uint64(16), np.uint64(32)
_WORD = np.uint64(65535)
_UNIT = 2.0**-53
BORDER = 255  # in the table: this word spans two counts


def poisson_tables() -> tuple:
    """cdf of Poisson(1), and the count of every word of 16 bits (or BORDER)."""
    k = np.arange(20)
    cdf = np.cumsum(np.exp(-1.0) / np.cumprod(np.append(1.0, k[1:])))
    cdf[-1] = 1.0
    low = np.searchsorted(cdf, np.arange(65536) / 65536, side="right")
    high = np.searchsorted(cdf, np.arange(1, 65537) / 65536, side="left")
    table = np.where(low == high, low, BORDER).astype(np.uint8)
    return cdf, table


CDF, TABLE = poisson_tables()


@jit
def stream_start(seed, b):
    """The state of stream b."""
    return splitmix64(splitmix64(np.uint64(seed)) + np.uint64(b) * GOLDEN)


@jit
def below(x, n):
    """A whole number in [0, n) from 64 random bits; n < 2^32, bias below 2^-32."""
    return np.int64(((x >> _S32) * np.uint64(n)) >> _S32)


@jit
def border_count(word, bits, cdf):
    """The count of a word that spans two of them, from 53 further random bits."""
    u = (np.float64(word) + np.float64(bits >> _S11) * _UNIT) / 65536.0
    c = np.int64(0)
    while cdf[c] <= u:
        c += 1
    return c


@jit
def draw_counts(state, cdf, table, counts):
    """Fill counts (n,) with one resample of n units; returns the state of the stream."""
    n = len(counts)
    total = np.int64(0)
    for group in range((n + 3) // 4):  # four words of 16 bits in every 64
        state += GOLDEN
        bits = splitmix64(state)
        first = 4 * group
        if first + 4 <= n:  # a fixed number of turns is unrolled
            for q in range(4):
                word = bits & _WORD
                bits >>= _S16
                c = np.int64(table[word])
                if c == BORDER:
                    state += GOLDEN
                    c = border_count(word, splitmix64(state), cdf)
                counts[first + q] = c
                total += c
        else:
            for i in range(first, n):
                word = bits & _WORD
                bits >>= _S16
                c = np.int64(table[word])
                if c == BORDER:
                    state += GOLDEN
                    c = border_count(word, splitmix64(state), cdf)
                counts[i] = c
                total += c
    while total < n:  # further draws
        state += GOLDEN
        counts[below(splitmix64(state), n)] += 1
        total += 1
    while total > n:  # a random draw is a random unit, taken in proportion to its count
        state += GOLDEN
        x = splitmix64(state)
        i = below(x, n)
        if counts[i] > np.int64(x & np.uint64(15)):
            counts[i] -= 1
            total -= 1
    return state


@jit
def draw_weighted(state, threshold, alias, draws, counts):
    """``draws`` draws of units with unequal chances, by Walker's alias table."""
    n = len(counts)
    counts[:] = 0
    for _ in range(draws):
        state += GOLDEN
        x = splitmix64(state)
        i = below(x, n)
        state += GOLDEN
        u = np.float64(splitmix64(state) >> _S11) * _UNIT
        counts[i if u < threshold[i] else alias[i]] += 1
    return state


def alias_table(w: np.ndarray) -> tuple:
    """Walker's alias table of chances proportional to w (Vose's construction)."""
    n = len(w)
    scaled = w * (n / w.sum())
    threshold, alias = np.ones(n), np.arange(n)
    fill_alias(scaled, threshold, alias)
    return threshold, alias


@jit
def fill_alias(scaled, threshold, alias):
    n = len(scaled)
    small, large = np.empty(n, np.int64), np.empty(n, np.int64)
    s, g = 0, 0
    for i in range(n):
        if scaled[i] < 1.0:
            small[s] = i
            s += 1
        else:
            large[g] = i
            g += 1
    while s > 0 and g > 0:
        s -= 1
        a, b = small[s], large[g - 1]
        threshold[a], alias[a] = scaled[a], b
        scaled[b] -= 1.0 - scaled[a]
        if scaled[b] < 1.0:
            g -= 1
            small[s] = b
            s += 1


@jit
def unit_counts(seed, first, out, cdf, table, threshold, alias, draws):
    """Rows first, first + 1, ... of a matrix of resample counts; alias tables when non-empty."""
    for b in range(out.shape[0]):
        state = stream_start(seed, first + b)
        if len(alias) > 0:
            draw_weighted(state, threshold, alias, draws, out[b])
        else:
            draw_counts(state, cdf, table, out[b])

"""SplitMix64: random-looking numbers from a counter (Steele, Lea & Flood 2014).

Number i of a stream is ``splitmix64(start + i GOLDEN)``: any of them can be had without the others.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio: spreads neighbouring keys


@jit
def splitmix64(z):
    """A bijection of 64-bit words: every bit of the answer depends on every bit of z.

    >>> hex(splitmix64(GOLDEN))
    '0xe220a8397b1dcdaf'
    """
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))

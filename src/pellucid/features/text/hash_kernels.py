"""MurmurHash3 of many words at once: the hash that scikit-learn's hashed columns come from.

Reference: Appleby (2011), MurmurHash3, x86, 32 bits, seed 0.
"""

import numpy as np

from pellucid.core.runtime.jit import jit

LOW = np.uint64(0xFFFFFFFF)  # arithmetic modulo 2^32: products of two 32-bit numbers fit 64 bits
FIRST, SECOND = np.uint64(0xCC9E2D51), np.uint64(0x1B873593)


@jit
def scrambled(k):
    """Four bytes, mixed."""
    k = (k * FIRST) & LOW
    k = ((k << np.uint64(15)) | (k >> np.uint64(17))) & LOW
    return (k * SECOND) & LOW


@jit
def murmur_words(letters, ends, hashes):
    """The hash of each word into hashes (v,); word w is the bytes from ends[w - 1] to ends[w]."""
    low = 0
    for w in range(len(ends)):
        length = ends[w] - low
        h = np.uint64(0)
        for b in range(length // 4):
            i = low + 4 * b
            k = np.uint64(letters[i]) | (np.uint64(letters[i + 1]) << np.uint64(8))
            k |= np.uint64(letters[i + 2]) << np.uint64(16)
            k |= np.uint64(letters[i + 3]) << np.uint64(24)
            h ^= scrambled(k)
            h = ((h << np.uint64(13)) | (h >> np.uint64(19))) & LOW
            h = (h * np.uint64(5) + np.uint64(0xE6546B64)) & LOW
        k = np.uint64(0)
        for i in range(length % 4):
            k |= np.uint64(letters[ends[w] - length % 4 + i]) << np.uint64(8 * i)
        h ^= scrambled(k) ^ np.uint64(length)
        h = ((h ^ (h >> np.uint64(16))) * np.uint64(0x85EBCA6B)) & LOW
        h = ((h ^ (h >> np.uint64(13))) * np.uint64(0xC2B2AE35)) & LOW
        hashes[w] = h ^ (h >> np.uint64(16))
        low = ends[w]

r"""Feature hashing: columns for words without a list of words.

Given       texts as lists of words, m columns, a hash h(t) with values in -2^31 .. 2^31 - 1
Step        word t counts in column |h(t)| mod m, with the sign of h(t). Words that share a column
            cannot be told apart, but their signs are as good as random, so that the inner product
            of two texts is, on average over hashes, that of their counts of words.
            h is MurmurHash3: four letters at a time are multiplied and turned, so that every bit
            of a word moves every bit of the answer.
Cost        one hash for each word; nothing is stored.
The fast version hashes every distinct word once, in compiled code.
"""

import numpy as np

MASK = 0xFFFFFFFF  # numbers have 32 bits


def turn(x: int, r: int) -> int:
    return ((x << r) | (x >> (32 - r))) & MASK


def murmur(word: str) -> int:
    letters = word.encode()
    h = 0
    for i in range(0, len(letters), 4):
        four = letters[i : i + 4]
        k = int.from_bytes(four, "little") * 0xCC9E2D51 & MASK
        h ^= turn(k, 15) * 0x1B873593 & MASK
        if len(four) == 4:
            h = (turn(h, 13) * 5 + 0xE6546B64) & MASK
    h ^= len(letters)
    h = (h ^ (h >> 16)) * 0x85EBCA6B & MASK
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & MASK
    h ^= h >> 16
    return h - 2**32 if h >= 2**31 else h


def feature_hashing(texts: list[list[str]], m: int) -> np.ndarray:
    X = np.zeros((len(texts), m))
    for d, words in enumerate(texts):
        for word in words:
            h = murmur(word)
            X[d, abs(h) % m] += 1 if h >= 0 else -1
    return X

r"""Hashing by random planes: near rows fall into the same bucket.

Given       b random directions a ~ N(0, I) per table, L tables
Solve       a row's key in a table: on which side of its b planes it lies. Search only among
            rows that share a key in some table.
Step        a random plane parts two rows with probability angle / pi. They share one key with p^b,
            p = 1 - angle / pi, and one of L keys with 1 - (1 - p^b)^L: steep in p, so near rows
            are found and far ones are not looked at (Charikar).
Cost        b L p to hash a row; few rows to compare.
The fast version also looks in neighbouring buckets, and has families for other distances.
"""

from typing import NamedTuple

import numpy as np


class Tables(NamedTuple):
    planes: np.ndarray  # (L, b, p)
    keys: np.ndarray  # (L, n), one whole number per row


def keys(planes: np.ndarray, X: np.ndarray) -> np.ndarray:
    """(L, n): the signs of a row read as binary digits."""
    signs = np.einsum("lbp,np->lnb", planes, X) > 0
    return np.asarray(signs @ (2 ** np.arange(planes.shape[1])))


def hashing(X: np.ndarray, L: int, b: int, rng: np.random.Generator) -> Tables:
    """Tables of the rows of X."""
    planes = rng.normal(size=(L, b, X.shape[1]))
    return Tables(planes, keys(planes, X))


def candidates(tables: Tables, q: np.ndarray) -> np.ndarray:
    """The rows that share a bucket with q in some table."""
    shared = tables.keys == keys(tables.planes, q[None, :])
    return np.flatnonzero(shared.any(axis=0))


def collision_probability(cosine: float, b: int, L: int) -> float:
    """That two rows share a bucket in at least one table."""
    p = 1 - np.arccos(cosine) / np.pi
    return float(1 - (1 - p**b) ** L)

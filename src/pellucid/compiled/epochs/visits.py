r"""The order in which a stochastic method visits the rows: a random one, decided by their contents.

Every row gets a 64-bit key from its numbers and the seed; equal rows are numbered and get different
keys by that. An epoch visits the rows by increasing hash(key + epoch). So the order does not depend
on where a row stands in the table, and a row of weight 3 is visited exactly when three copies of it
would be: sample weights are repetitions, also for an online method. A weight that is no whole
number ends in a visit with a shorter step.

References: Steele, Lea & Flood (2014) for the mixing (SplitMix64); Dietzfelbinger (1996) for the
multiply-add hash.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.splitmix import GOLDEN, splitmix64
from pellucid.core.runtime.threads import map_threads

S32, NOTHING = np.uint64(32), np.uint64(0)


@jit
def hash_rows(bits: Any, target: Any, odd: Any, seed: Any, keys: Any, X: Array) -> Array:
    """Keys of the rows from the bits of their numbers; returns the squared norms of the columns."""
    n, p = bits.shape
    squares = np.zeros(p)
    for i in range(n):
        h = seed
        for j in range(p):
            b = bits[i, j] if X[i, j] != 0 else NOTHING  # 0 and -0 are the same number
            h += (b ^ (b >> S32)) * odd[j]
        for j in range(p):
            squares[j] += X[i, j] * X[i, j]
        keys[i] = splitmix64(h + (target[i] ^ (target[i] >> S32)) * GOLDEN)
    return squares


@jit
def hash_sparse_rows(
    bits: Any, indices: Any, indptr: Any, target: Any, odd: Any, seed: Any, keys: Any, data: Array
) -> Array:
    """The same keys from the stored numbers of a CSR matrix: a zero adds nothing."""
    squares = np.zeros(len(odd))
    for i in range(len(indptr) - 1):
        h = seed
        for k in range(indptr[i], indptr[i + 1]):
            b = bits[k] if data[k] != 0 else NOTHING
            h += (b ^ (b >> S32)) * odd[indices[k]]
            squares[indices[k]] += data[k] * data[k]
        keys[i] = splitmix64(h + (target[i] ^ (target[i] >> S32)) * GOLDEN)
    return squares


@jit
def sort_by_key(keys: Any, salt: Any, out: IntArray) -> None:
    """out = the positions by splitmix64(key + salt): buckets of the leading bits, each sorted."""
    n = len(keys)
    bits = 1
    while (1 << bits) < n and bits < 24:
        bits += 1
    shift = np.uint64(64 - bits)
    start = np.zeros((1 << bits) + 1, dtype=np.int64)
    mixed = np.empty(n, dtype=np.uint64)
    for i in range(n):
        mixed[i] = splitmix64(keys[i] + salt)
        start[np.int64(mixed[i] >> shift) + 1] += 1
    for b in range(1 << bits):
        start[b + 1] += start[b]
    filled = np.zeros(1 << bits, dtype=np.int32)
    for i in range(n):
        bucket = np.int64(mixed[i] >> shift)
        place = start[bucket] + filled[bucket]
        filled[bucket] += 1
        while (
            place > start[bucket] and mixed[out[place - 1]] > mixed[i]
        ):  # among a few of the bucket
            out[place] = out[place - 1]
            place -= 1
        out[place] = i


@jit
def number_copies(keys: Any, order: IntArray) -> int:
    """Give equal keys different ones: the c-th copy becomes hash(key + c); how many there were."""
    i, n, copies = 0, len(order), 0
    while i < n:
        same, j = keys[order[i]], i + 1
        while j < n and keys[order[j]] == same:
            keys[order[j]] = splitmix64(same + np.uint64(j - i))
            j += 1
        copies += j - i - 1
        i = j
    return copies


class Visits(NamedTuple):
    """Which row each visit of an epoch goes to, and how long its step is (empty: 1 for all)."""

    rows: IntArray  # (v,)
    share: Array  # (v,) or (0,)
    keys: Any  # (v,) uint64
    squares: Array  # (p,) of the columns, one copy of each row
    first: IntArray = np.arange(0)  # the order of epoch 1, where it is known

    def order(self, epoch: int) -> IntArray:
        """The positions of the visits in the order of an epoch."""
        if epoch == 1 and len(self.first):
            return self.first
        return self._sorted(epoch)

    def _sorted(self, epoch: int) -> IntArray:
        out = np.empty(len(self.rows), dtype=np.intp)
        with np.errstate(over="ignore"):
            sort_by_key(self.keys, np.uint64(epoch) * GOLDEN, out)
        return out


def plan_visits(X: Any, y: Array, weight: Array | None, seed: int) -> Visits:
    """The visits of one epoch over the rows of X (dense or CSR), y; ``weight`` None for 1.

    >>> plan_visits(np.zeros((2, 1)), np.zeros(2), np.array([2.0, 0.5]), 1).share
    array([1. , 1. , 0.5])
    """
    n, p = X.shape
    keys = np.empty(n, dtype=np.uint64)
    odd = np.random.default_rng(0).integers(2**63, size=p, dtype=np.uint64) * np.uint64(2)
    odd += np.uint64(1)
    target = np.ascontiguousarray(y).view(np.uint64)
    if issparse(X):
        bits = X.data.view(np.uint64)
        squares = hash_sparse_rows(
            bits, X.indices, X.indptr, target, odd, np.uint64(seed), keys, X.data
        )
    else:
        squares = _hash_dense(X, target, odd, np.uint64(seed), keys)
    rows, share = repeated(n, weight)
    keys = keys if weight is None else keys[rows]
    visits = Visits(rows, share, keys, squares)
    order = visits.order(1)  # equal keys are neighbours in any order
    return visits if number_copies(keys, order) else visits._replace(first=order)


def repeated(n: int, weight: Array | None) -> tuple[IntArray, Array]:
    """The rows by their weights, and how long the steps of the visits are (empty: 1 for all)."""
    rows = np.arange(n)
    if weight is None:
        return rows, np.empty(0)
    times = np.ceil(weight).astype(np.int64)
    rows = np.repeat(rows, times)
    share = np.ones(len(rows))
    last = np.cumsum(times) - 1
    part = weight - (times - 1)
    share[last[times > 0]] = part[times > 0]
    return rows, share if (share != 1).any() else np.empty(0)


def visits_in_order(X: Any, weight: Array | None) -> Visits:
    """The visits in the order of the table, without keys: they cannot be shuffled.

    >>> visits_in_order(np.array([[1.0], [2.0]]), np.array([2.0, 1.0])).rows
    array([0, 0, 1])
    """
    if issparse(X):
        squares = np.asarray((X.multiply(X)).sum(axis=0), dtype=np.float64).ravel()
    else:
        parts = (X[start : start + LEAF_ROWS] for start in range(0, len(X), LEAF_ROWS))
        squares = np.sum(list(map_threads(_squares, parts)), axis=0)
    rows, share = repeated(X.shape[0], weight)
    return Visits(rows, share, np.empty(0, dtype=np.uint64), squares)


def _squares(part: Array) -> Array:
    return np.einsum("ij,ij->j", part, part)


def _hash_dense(X: Array, target: Any, odd: Any, seed: Any, keys: Any) -> Array:
    bits = X.view(np.uint64)

    def chunk(start: int) -> Array:
        part = slice(start, start + LEAF_ROWS)
        return hash_rows(bits[part], target[part], odd, seed, keys[part], X[part])

    return np.sum(list(map_threads(chunk, range(0, len(X), LEAF_ROWS))), axis=0)

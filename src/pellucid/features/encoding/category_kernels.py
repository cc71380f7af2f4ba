"""Sweeps over columns of categories: which values occur, and matrices built from their codes.

A hash table with open addressing keeps the number of each distinct key in order of appearance;
it doubles when half full. Keys are whole numbers (``flat[start + i stride]``: numbers, bits of
floats, addresses of Python objects) or runs of ``width`` words (text of fixed width).
"""

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.splitmix import GOLDEN

SMALLEST = 1024  # slots of a fresh table


@jit
def slot_of(key, mask):
    """Where the search for a 64-bit key begins."""
    h = np.uint64(key)
    h = (h ^ (h >> np.uint64(32))) * GOLDEN  # small whole floats differ in their high bits only
    return np.int64((h >> np.uint64(32)) & np.uint64(mask))


@jit
def place(table, mask, hashes, k):
    """Enter the numbers 0..k-1 into an empty table by their hashes."""
    for s in range(k):
        slot = slot_of(hashes[s], mask)
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = s


@jit
def scan_keys(flat, start, stride, i, codes, table, keys, first, k):
    """Number keys from row i on until the table is half full; where it stopped, and how many."""
    mask, room = len(table) - 1, len(table) // 2
    for r in range(i, len(codes)):
        key = flat[start + r * stride]
        slot = slot_of(key, mask)
        s = table[slot]
        while s >= 0 and keys[s] != key:
            slot = (slot + 1) & mask
            s = table[slot]
        if s < 0:
            if k == room:
                return r, k
            s = k
            table[slot] = k
            keys[k] = key
            first[k] = r
            k += 1
        codes[r] = s
    return len(codes), k


@jit
def scan_words(flat, start, stride, width, i, codes, table, hashes, first, k):
    """``scan_keys`` where a key is the run ``flat[start + i stride :][:width]``."""
    mask, room = len(table) - 1, len(table) // 2
    factor = np.empty(width, np.uint64)  # sum_t word_t factor_t: independent products
    h = GOLDEN
    for t in range(width):
        h = (h ^ (h >> np.uint64(31))) * GOLDEN + np.uint64(t)
        factor[t] = h | np.uint64(1)
    for r in range(i, len(codes)):
        a = start + r * stride
        h = np.uint64(0)
        run = flat[a : a + width]
        for t in range(width):
            h += np.uint64(run[t]) * factor[t]
        key = np.int64(h ^ (h >> np.uint64(32)))
        slot = slot_of(key, mask)
        s = table[slot]
        while s >= 0:
            if hashes[s] == key:
                b = start + first[s] * stride
                same = flat[b : b + width]
                differ = np.uint32(0)
                for t in range(width):
                    differ |= run[t] ^ same[t]
                if differ == 0:
                    break
            slot = (slot + 1) & mask
            s = table[slot]
        if s < 0:
            if k == room:
                return r, k
            s = k
            table[slot] = k
            hashes[k] = key
            first[k] = r
            k += 1
        codes[r] = s
    return len(codes), k


@jit
def distinct_keys(flat, start, stride, codes, limit):
    """Number the distinct keys in order of appearance: codes (n,), and where each first occurs.

    More than ``limit`` distinct keys: gives up with an empty array.
    """
    size, i, k = SMALLEST, 0, 0
    table = np.full(size, -1, np.int32)
    keys, first = np.empty(size // 2, np.int64), np.empty(size // 2, np.int64)
    while True:
        i, k = scan_keys(flat, start, stride, i, codes, table, keys, first, k)
        if k > limit:
            return np.empty(0, np.int64)
        if i == len(codes):
            return first[:k].copy()
        size *= 4
        table = np.full(size, -1, np.int32)
        place(table, size - 1, keys, k)
        keys = np.append(keys[:k], np.empty(size // 2 - k, np.int64))
        first = np.append(first[:k], np.empty(size // 2 - k, np.int64))


@jit
def distinct_words(flat, start, stride, width, codes):
    """``distinct_keys`` for runs of words."""
    size, i, k = SMALLEST, 0, 0
    table = np.full(size, -1, np.int32)
    keys, first = np.empty(size // 2, np.int64), np.empty(size // 2, np.int64)
    while True:
        i, k = scan_words(flat, start, stride, width, i, codes, table, keys, first, k)
        if i == len(codes):
            return first[:k].copy()
        size *= 4
        table = np.full(size, -1, np.int32)
        place(table, size - 1, keys, k)
        keys = np.append(keys[:k], np.empty(size // 2 - k, np.int64))
        first = np.append(first[:k], np.empty(size // 2 - k, np.int64))


@jit
def renumber(codes, number):
    """codes_i becomes number[codes_i]."""
    for i in range(len(codes)):
        codes[i] = number[codes[i]]


@jit
def count_codes(codes, counts):
    """Add the number of times each code occurs."""
    for i in range(len(codes)):
        counts[codes[i]] += 1


@jit
def fill_full_rows(codes, maps, starts, begin, end, indices):
    """CSR indices where every cell has a column: maps[starts_j + codes_ji] for all j."""
    p = codes.shape[0]
    for i in range(begin, end):
        for j in range(p):
            indices[i * p + j] = maps[starts[j] + codes[j, i]]


@jit
def count_rows(codes, maps, starts, begin, end, indptr):
    """indptr_{i+1} = the number of cells of row i that have a column (map >= 0)."""
    p = codes.shape[0]
    for i in range(begin, end):
        k = 0
        for j in range(p):
            k += maps[starts[j] + codes[j, i]] >= 0
        indptr[i + 1] = k


@jit
def fill_rows(codes, maps, starts, begin, end, indptr, indices):
    """CSR indices where some cells have no column."""
    p = codes.shape[0]
    for i in range(begin, end):
        at = indptr[i]
        for j in range(p):
            m = maps[starts[j] + codes[j, i]]
            if m >= 0:
                indices[at] = m
                at += 1


@jit
def fill_values(codes, maps, starts, begin, end, out):
    """out_ij = maps[starts_j + codes_ji]: one value per category."""
    p = codes.shape[0]
    for i in range(begin, end):
        for j in range(p):
            out[i, j] = maps[starts[j] + codes[j, i]]


@jit
def category_sums(codes, y, sums, counts):
    """Add y and 1 to the category of each row; codes below 0 are left out."""
    for i in range(len(codes)):
        c = codes[i]
        if c >= 0:
            sums[c] += y[i]
            counts[c] += 1.0


@jit
def category_squares(codes, y, means, squares):
    """Add (y - mean of its category)^2."""
    for i in range(len(codes)):
        c = codes[i]
        if c >= 0:
            e = y[i] - means[c]
            squares[c] += e * e

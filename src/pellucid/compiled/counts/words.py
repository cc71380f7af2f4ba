r"""Finding, numbering and counting words in one buffer of characters.

A text is an array of character codes with a flag per character (part of a word or not). Words are
the maximal runs of flagged characters. They are numbered in order of first appearance through an
open-addressing hash table that keeps no strings, only where each word was first seen; n-grams are
numbered as pairs (the (n-1)-gram, its last word) through the same kind of table.
"""

import numpy as np

from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.splitmix import GOLDEN


@jit
def find_words(flags, ends, least):
    """Starts and stops of the runs of at least ``least`` flagged characters; words per text.

    flags (n,) 0 or 1; text d owns the characters from ends[d - 1] to ends[d].
    """
    room = len(flags) // (least + 1) + len(ends) + 1
    starts, stops = np.empty(room, np.int64), np.empty(room, np.int64)
    word_ends = np.empty(len(ends), np.int64)
    found = 0
    low = 0
    for d in range(len(ends)):
        i = low
        while i < ends[d]:
            if flags[i] == 0:
                i += 1
                continue
            begin = i
            while i < ends[d] and flags[i] != 0:
                i += 1
            if i - begin >= least:
                starts[found] = begin
                stops[found] = i
                found += 1
        word_ends[d] = found
        low = ends[d]
    return starts[:found], stops[:found], word_ends


@jit
def _same_word(chars, a, b, length):
    for i in range(length):  # noqa: SIM110  compiled code knows no generators
        if chars[a + i] != chars[b + i]:
            return False
    return True


@jit
def number_words(chars, starts, stops):
    """The number of every word, and the position (among the words) where each number was born."""
    n = len(starts)
    size = 1024
    table = np.full(size, -1, np.int64)
    hashes = np.empty(n, np.uint64)  # of the distinct words
    born = np.empty(n, np.int64)
    numbers = np.empty(n, np.int64)
    distinct = 0
    for w in range(n):
        h = np.uint64(14695981039346656037)  # FNV-1a
        for i in range(starts[w], stops[w]):
            h = (h ^ np.uint64(chars[i])) * np.uint64(1099511628211)
        h ^= h >> np.uint64(32)
        length = stops[w] - starts[w]
        slot = np.int64(h & np.uint64(size - 1))
        while True:
            k = table[slot]
            if k < 0:
                table[slot] = distinct
                hashes[distinct] = h
                born[distinct] = w
                numbers[w] = distinct
                distinct += 1
                break
            b = born[k]
            if (
                hashes[k] == h
                and stops[b] - starts[b] == length
                and _same_word(chars, starts[b], starts[w], length)
            ):
                numbers[w] = k
                break
            slot = (slot + 1) & (size - 1)
        if 2 * distinct > size:
            size *= 4
            table = _grown(hashes, distinct, size)
    return numbers, born[:distinct]


@jit
def _grown(hashes, distinct, size):
    table = np.full(size, -1, np.int64)
    for k in range(distinct):
        slot = np.int64(hashes[k] & np.uint64(size - 1))
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = k
    return table


@jit
def number_pairs(left, right):
    """The number of every pair, and the position where each number was born."""
    n = len(left)
    size = 1024
    table = np.full(size, -1, np.int64)
    hashes = np.empty(n, np.uint64)
    born = np.empty(n, np.int64)
    numbers = np.empty(n, np.int64)
    distinct = 0
    for w in range(n):
        h = np.uint64(left[w]) * GOLDEN + np.uint64(right[w])
        h = (h ^ (h >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        h ^= h >> np.uint64(32)
        slot = np.int64(h & np.uint64(size - 1))
        while True:
            k = table[slot]
            if k < 0:
                table[slot] = distinct
                hashes[distinct] = h
                born[distinct] = w
                numbers[w] = distinct
                distinct += 1
                break
            if left[born[k]] == left[w] and right[born[k]] == right[w]:
                numbers[w] = k
                break
            slot = (slot + 1) & (size - 1)
        if 2 * distinct > size:
            size *= 4
            table = _grown(hashes, distinct, size)
    return numbers, born[:distinct]


@jit
def count_words(columns, ends, n_columns):
    """Counts per text in compressed rows; a word with column -1 is left out.

    Returns (row ends, column of every entry, its count); the entries of a row are not sorted.
    """
    entries, counts = np.empty(len(columns), np.int64), np.empty(len(columns), np.int64)
    row_ends = np.zeros(len(ends) + 1, np.int64)
    place = np.full(n_columns, -1, np.int64)  # where this column was last written
    filled = 0
    low = 0
    for d in range(len(ends)):
        first = filled
        for i in range(low, ends[d]):
            j = columns[i]
            if j < 0:
                continue
            if place[j] >= first:
                counts[place[j]] += 1
            else:
                place[j] = filled
                entries[filled] = j
                counts[filled] = 1
                filled += 1
        row_ends[d + 1] = filled
        low = ends[d]
    return row_ends, entries[:filled], counts[:filled]


@jit
def weigh_terms(data, indices, ends, weight, sublinear, norm, out):
    """tf-idf: out = count (or 1 + log count) times weight[term], rows of norm 1 or 2 scaled to 1.

    ``weight`` of length 0 stands for ones, ``norm`` 0 for no scaling.
    """
    for i in range(len(ends) - 1):
        size = 0.0
        for k in range(ends[i], ends[i + 1]):
            value = data[k]
            if sublinear:
                value = np.log(value) + 1.0
            if len(weight):
                value *= weight[indices[k]]
            out[k] = value
            size += abs(value) if norm == 1 else value * value
        if norm and size > 0.0:
            size = size if norm == 1 else np.sqrt(size)
            for k in range(ends[i], ends[i + 1]):
                out[k] /= size

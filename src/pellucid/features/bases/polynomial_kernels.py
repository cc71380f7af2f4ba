r"""All monomials of the columns of X up to a degree, each as one product.

Within a degree the monomials are in the order of their columns (00, 01, 02, 11, 12, 22), so those
of degree d that begin with column f are x_f times a run of those of degree d - 1:

    dest[t] .. dest[t] + length[t]  =  x_column[t]  *  source[t] .. source[t] + length[t].

A plan is the list of these runs. Every output is an earlier output times one input: one
multiplication per cell, no powers.

Sparse rows: the same recursion over the stored cells. With offset_d(f) the place of the first
monomial of degree d that begins with f,

    place_d(f, rest) = offset_d(f) + place_{d-1}(rest) - offset_{d-1}(f)

(offset_{d-1}(f + 1) without powers), so nothing is searched.
"""

from math import comb
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads

ROWS = 1024  # of a chunk of sparse rows


class Plan(NamedTuple):
    """How to fill a row that holds 1, then all monomials degree by degree."""

    runs: IntArray  # (r, 4): source, destination, length, column (-1: all columns in step)
    starts: IntArray  # (degree + 2,) where each degree begins; the last is the width


def make_plan(p: int, degree: int, *, interaction_only: bool, powers_only: bool) -> Plan:
    """The runs for p columns.

    >>> make_plan(2, 2, interaction_only=False, powers_only=False).starts
    array([0, 1, 3, 6])
    """
    starts = [0, 1]
    runs: list[tuple[int, int, int, int]] = []
    first = np.zeros(p + 1, dtype=np.intp)  # where monomials beginning with f start, degree d - 1
    for d in range(1, degree + 1):
        at = starts[-1]
        if powers_only:
            source = starts[-2] if d > 1 else -1
            runs.append((source, at, p, -1))
            starts.append(at + p)
            continue
        fresh = np.empty(p + 1, dtype=np.intp)
        for f in range(p):
            fresh[f] = at
            source = 0 if d == 1 else first[f + 1 if interaction_only else f]
            length = 1 if d == 1 else starts[-1] - source
            if length > 0:
                runs.append((source, at, length, f))
                at += length
        fresh[p] = at
        first = fresh
        starts.append(int(at))
    table = np.array(runs, dtype=np.intp).reshape(-1, 4)
    return Plan(table, np.array(starts, dtype=np.intp))


def count_terms(p: int, low: int, high: int, *, interaction_only: bool, powers_only: bool) -> int:
    """Monomials of degree low..high (at least 1), without the constant; exact for any size.

    >>> count_terms(2, 1, 2, interaction_only=False, powers_only=False)
    5
    """
    total = 0
    for d in range(max(low, 1), high + 1):
        if powers_only:
            total += p
        elif interaction_only:
            total += comb(p, d)
        else:
            total += comb(p + d - 1, d)
    return total


@jit
def fill_row(x, runs, row):
    """row = all monomials of x."""
    row[0] = 1.0
    for t in range(len(runs)):
        source, dest, length, column = runs[t, 0], runs[t, 1], runs[t, 2], runs[t, 3]
        if column >= 0:
            a = x[column]
            for k in range(length):
                row[dest + k] = row[source + k] * a
        elif source < 0:
            for k in range(length):
                row[dest + k] = x[k]
        else:
            for k in range(length):
                row[dest + k] = row[source + k] * x[k]


@jit
def monomials(X, runs, out):
    """out (n, width) = 1 and all monomials of the rows of X."""
    for i in range(X.shape[0]):
        fill_row(X[i], runs, out[i])


@jit
def chosen_monomials(X, runs, width, keep, out):
    """out[:, k] = monomial keep[k] of the rows of X."""
    row = np.empty(width)
    for i in range(X.shape[0]):
        fill_row(X[i], runs, row)
        o = out[i]
        for k in range(len(keep)):
            o[k] = row[keep[k]]


@jit
def column_monomials(X, runs, width, place, start, out):
    """out[place[m], start + i] = monomial m of row i; place -1: needed only for the others."""
    n, p = X.shape
    Z = np.empty((p, n))
    for i in range(n):
        for j in range(p):
            Z[j, i] = X[i, j]
    hidden = np.cumsum(place < 0) - 1
    T = np.empty((max(hidden[-1] + 1, 1), n))
    stop = start + n
    one = out[place[0], start:stop] if place[0] >= 0 else T[hidden[0]]
    for i in range(n):
        one[i] = 1.0
    for t in range(len(runs)):
        source, dest, length, column = runs[t, 0], runs[t, 1], runs[t, 2], runs[t, 3]
        for k in range(length):
            z = Z[column if column >= 0 else k]
            m = dest + k
            to = out[place[m], start:stop] if place[m] >= 0 else T[hidden[m]]
            if source < 0:
                for i in range(n):
                    to[i] = z[i]
            else:
                m = source + k
                by = out[place[m], start:stop] if place[m] >= 0 else T[hidden[m]]
                for i in range(n):
                    to[i] = by[i] * z[i]


@jit
def sparse_counts(indptr, degree, interaction_only, powers_only, counts):
    """counts[i, d] = monomials of degree d = 1..degree of row i that are not zero."""
    for i in range(len(indptr) - 1):
        z = indptr[i + 1] - indptr[i]
        counts[i, 0] = 1
        term = 1
        for d in range(1, degree + 1):
            if powers_only:
                term = z
            elif interaction_only:
                term = term * (z - d + 1) // d if z >= d else 0
            else:
                term = term * (z + d - 1) // d
            counts[i, d] = term


@jit
def sparse_monomials(
    indptr,
    indices,
    data,
    offsets,
    interaction_only,
    powers_only,
    counts,
    low,
    bias,
    place,
    row_start,
    begin_row,
    end_row,
    out_indices,
    out_data,
):
    """Fill the CSR rows begin_row..end_row with the monomials of degree low..degree.

    offsets (degree + 1, p + 1) from ``first_places``; place[m] is the output column of monomial m
    of the whole list; counts from ``sparse_counts``.
    """
    degree = offsets.shape[0] - 1
    widest = 1
    for i in range(begin_row, end_row):
        total = 0
        for d in range(degree + 1):
            total += counts[i, d]
        widest = max(widest, total)
    values = np.empty(widest)
    where = np.empty(widest, np.int64)
    for i in range(begin_row, end_row):
        a = indptr[i]
        z = indptr[i + 1] - a
        values[0] = 1.0
        where[0] = 0
        first = np.zeros(z + 1, np.int64)  # where those beginning with the k-th cell start
        before, at = 0, 1
        for d in range(1, degree + 1):
            fresh = np.empty(z + 1, np.int64)
            begin = at
            for k in range(z):
                j = indices[a + k]
                x = data[a + k]
                fresh[k] = at
                if d == 1:
                    values[at], where[at] = x, offsets[1, j]
                    at += 1
                elif powers_only:
                    values[at], where[at] = values[before + k] * x, offsets[d, j]
                    at += 1
                else:
                    source = first[k + 1] if interaction_only else first[k]
                    base = offsets[d - 1, j + 1] if interaction_only else offsets[d - 1, j]
                    for s in range(source, begin):
                        values[at] = values[s] * x
                        where[at] = offsets[d, j] + where[s] - base
                        at += 1
            fresh[z] = at
            first = fresh
            before = begin
        t = row_start[i]
        if bias:
            out_data[t], out_indices[t] = 1.0, place[0]
            t += 1
        skip = 1
        for d in range(1, low):
            skip += counts[i, d]
        for s in range(skip, at):
            out_data[t], out_indices[t] = values[s], place[where[s]]
            t += 1


class SparseRows(NamedTuple):
    """The three arrays of a CSR matrix."""

    data: Array
    indices: IntArray
    indptr: IntArray


def sparse_polynomial(
    csr: tuple[IntArray, IntArray, Array],
    p: int,
    starts: IntArray,
    place: IntArray,
    *,
    low: int,
    bias: bool,
    interaction_only: bool = False,
    powers_only: bool = False,
    most: int | None = None,
) -> SparseRows:
    """Monomials of CSR rows (indptr, indices sorted, data); more than ``most`` cells: refused."""
    indptr, indices, data = csr
    degree = len(starts) - 2
    counts = np.zeros((len(indptr) - 1, degree + 1), dtype=np.int64)
    sparse_counts(indptr, degree, interaction_only, powers_only, counts)
    wanted = counts[:, max(low, 1) :].sum(axis=1) + bias
    row_start = np.concatenate([[0], np.cumsum(wanted)]).astype(np.int64)
    if most is not None and row_start[-1] > most:
        raise ValueError(too_large(int(row_start[-1]), "stored cells", most))
    offsets = first_places(p, starts, interaction_only=interaction_only, powers_only=powers_only)
    index = np.int32 if max(len(place), row_start[-1]) < 2**31 else np.int64
    out = SparseRows(np.empty(row_start[-1]), np.empty(row_start[-1], index), row_start)

    terms = offsets, interaction_only, powers_only, counts, max(low, 1), bias, place, row_start

    def work(first: int) -> None:
        last = min(first + ROWS, len(indptr) - 1)
        sparse_monomials(indptr, indices, data, *terms, first, last, out.indices, out.data)

    list(map_threads(work, range(0, len(indptr) - 1, ROWS)))
    return out


def first_places(
    p: int, starts: IntArray, *, interaction_only: bool, powers_only: bool
) -> IntArray:
    """(degree + 1, p + 1): where the monomials of each degree that begin with column f start."""
    degree = len(starts) - 2
    places = np.zeros((degree + 1, p + 1), dtype=np.int64)
    f = np.arange(p + 1)
    for d in range(1, degree + 1):
        if powers_only:
            places[d] = starts[d] + f
            continue
        left = [comb(p - j, d) if interaction_only else comb(p - j + d - 1, d) for j in range(p)]
        sizes = np.append(np.array(left, dtype=object), 0)  # exact whole numbers of any size
        places[d] = [int(starts[d] + sizes[0] - size) for size in sizes]
    return places


def too_large(size: int, what: str, most: int) -> str:
    """The sentence for an answer that would not fit.

    >>> too_large(2 * 10**9, "cells", 10**9)
    'The output that would result from the current configuration would have 2000000000 cells which \
is too large to be indexed (more than 1000000000): lower degree or columns'
    """
    output = "The output that would result from the current configuration would have"
    limit = f"which is too large to be indexed (more than {most}): lower degree or columns"
    return f"{output} {size} {what} {limit}"

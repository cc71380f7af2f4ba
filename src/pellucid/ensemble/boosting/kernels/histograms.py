r"""Sums of gradients in bins, and the best split they allow.

A row carries two whole numbers, (gradient, curvature << s | weight), so that one 128-bit addition
per column updates the sums of its bin. Where the curvature of every row is its weight (squared
errors) one number, gradient << s | weight, says the same in half the memory. Whole numbers add up
to the same whatever the order: the tree does not depend on the number of threads, and a child's
sums are the parent's minus its sibling's, exactly.

    gain    = GL^2/(HL + l2) + GR^2/(HR + l2) - G^2/(H + l2)
    ordered columns: rows up to a bin go left, missing cells to the side where they gain more
    categories: sorted by G/(H + a few rows' worth), then as if ordered (Fisher 1958)
    monotone columns: leaf values are clipped to the bounds of the leaf, and must rise (or fall)
"""

import numpy as np

from pellucid.core.runtime import simd
from pellucid.core.runtime.jit import jit

BINS = 256
NO_SIGN = np.int64(0)  # not monotone
MISSING = 255  # the bin of missing cells
LEAST_CURVATURE = 1e-3  # of a child, as scikit-learn asks
SMOOTHING = 10.0  # rows that pull a category's place in the order to the middle
FOUND = 10  # column, bin, side of missing cells, left sums (2), category?, left categories (4)
TIE_BITS = 13  # gains are compared without them: 40 bits are left
TILE = 18  # columns whose sums stay in the nearest cache while a block of rows is added
NEAR_BYTES = 1 << 15  # of codes that are brought together
AHEAD = 32  # rows whose codes are asked for before they are needed
NO_MISSING = 2  # a side: no cell was missing here, so new ones follow the larger child


@jit
def add_block(codes, n_columns, cells, begin, end, sums):
    """sums[j, codes[i, j]] += cells[i] for rows in a line; a few columns at a time."""
    stride, width = codes.shape[1], cells.shape[1]
    for j in range(0, n_columns, TILE):
        m, part = min(TILE, n_columns - j), sums[j * BINS * width :]
        if width == 1:
            for i in range(begin, end):
                simd.add_singles(codes, i * stride + j, m, cells, i, part)
        else:
            for i in range(begin, end):
                simd.add_pairs(codes, i * stride + j, m, cells, i, part)


@jit
def add_rows(codes, n_columns, cells, rows, begin, end, near, near_cells, sums):
    """The sums of the rows ``rows[begin:end]``; ``sums`` starts from zero.

    Rows that lie far apart are first brought together in ``near``: the sums of a few columns at a
    time then stay in the nearest cache.
    """
    sums[:] = 0
    last, some = end - 1, near.shape[0]
    words, near_words = codes.view(np.int64), near.view(np.int64)
    for start in range(begin, end, some):
        m = min(some, end - start)
        for i in range(m):
            ahead = np.int64(rows[min(start + i + AHEAD, last)])
            simd.prefetch(codes, ahead, 0)
            simd.prefetch(cells, ahead, 0)
            r = np.uint64(rows[start + i])
            for k in range(words.shape[1]):
                near_words[i, k] = words[r, k]
            for k in range(cells.shape[1]):
                near_cells[i, k] = cells[r, k]
        add_block(near, n_columns, near_cells, np.int64(0), m, sums)


@jit
def near_rows(stride, width):
    """Memory for ``add_rows``: (codes, cells) of as many rows as are brought together."""
    some = max(64, NEAR_BYTES // stride)
    return np.empty((some, stride), np.uint8), np.empty((some, width), np.int64)


@jit
def read(sums, b, width, shift):
    """(gradient, curvature << shift | weight) of bin b."""
    if width == 2:
        return sums[2 * b], sums[2 * b + 1]
    weight = sums[b] & ((np.int64(1) << shift) - 1)
    return sums[b] >> shift, (weight << shift) + weight


@jit
def gather(private, n_threads, out, begin, end):
    """out = the sum over threads."""
    for k in range(begin, end):
        out[k] = private[0, k]
    for t in range(1, n_threads):
        for k in range(begin, end):
            out[k] += private[t, k]


@jit
def share_sums(private, n_threads, small, large, begin, end):
    """small = the sum over threads; large, which holds the parent, becomes the sibling."""
    for t in range(1, n_threads):
        for k in range(begin, end):
            private[0, k] += private[t, k]
    for k in range(begin, end):
        v = private[0, k]
        small[k] = v
        large[k] -= v


@jit
def value_of(g, h, l2, low, high):
    """The best value of a leaf, within its bounds."""
    return min(max(-g / (h + l2) if h + l2 > 0 else 0.0, low), high)


@jit
def loss_of(g, h, l2, value):
    """Twice the change of the loss, with the sign turned: g^2/(h + l2) for the free value."""
    return -value * (2.0 * g + (h + l2) * value)


@jit
def bounded_gain(gl, hl, gr, hr, l2, sign, low, high):
    """Twice what a split gains with leaf values between ``low`` and ``high``; -1 if they fall."""
    left, right = value_of(gl, hl, l2, low, high), value_of(gr, hr, l2, low, high)
    if sign * (right - left) < 0:
        return -1.0
    return loss_of(gl, hl, l2, left) + loss_of(gr, hr, l2, right)


@jit(reassociate=True)
def best_cut(left_g, left_w, n, g, w, units, shift, l2, min_leaf, sign, low, high, out, bits):
    """The greatest GL^2/(HL + l2) + GR^2/(HR + l2) of n splits, and its place.

    ``out`` is -1 where a child would be too small; ``bits`` is the same memory. Only ``bits`` goes
    to another function from here: counting who holds an array would cost more than the search.
    """
    mask, unit_g, unit_h, unit_w = (np.int64(1) << shift) - 1, units[0], units[1], units[2]
    G, H, C = g * unit_g, (w >> shift) * unit_h, (w & mask) * unit_w
    least = min_leaf - 0.5 * unit_w
    free = sign == 0 and low == -np.inf and high == np.inf
    for b in range(n):
        gl = left_g[b] * unit_g
        hl = (left_w[b] >> shift) * unit_h
        cl = (left_w[b] & mask) * unit_w
        gr, hr, cr = G - gl, H - hl, C - cl
        a, c = hl + l2, hr + l2
        fine = (cl >= least) & (cr >= least) & (hl >= LEAST_CURVATURE) & (hr >= LEAST_CURVATURE)
        out[b] = (gl * gl * c + gr * gr * a) / (a * c) if fine else -1.0
    if not free:
        for b in range(n):
            gl, hl = left_g[b] * unit_g, (left_w[b] >> shift) * unit_h
            if out[b] >= 0:
                out[b] = bounded_gain(gl, hl, G - gl, H - hl, l2, sign, low, high)
    return best_of(bits, n)


@jit
def coarse(x, bits):
    """x >= 0 without its last ``bits`` bits: equal gains stay equal in spite of rounding."""
    whole = np.float64(x).view(np.int64) + (np.int64(1) << (bits - 1))
    return np.int64((whole >> bits) << bits).view(np.float64)


@jit
def best_of(bits, n):
    """The greatest gain, rounded, and the first place that has it; ``bits`` are those of gains.

    Numbers >= 0 are in the order of their bits, and the greatest of whole numbers vectorises.
    """
    best = np.int64(-1)
    for b in range(n):
        best = max(best, bits[b])
    if best < 0:
        return -1.0, -1
    half = np.int64(1) << (TIE_BITS - 1)
    best = ((best + half) >> TIE_BITS) << TIE_BITS
    place = 0
    while bits[place] < best - half:  # rounds to less
        place += 1
    return np.int64(best).view(np.float64), place


@jit
def running(sums, n, width, shift, g, w, left_g, left_w):
    """Sums of the bins 0..b, on top of (g, w)."""
    if width == 2:
        for b in range(n):
            g += sums[2 * b]
            w += sums[2 * b + 1]
            left_g[b] = g
            left_w[b] = w
        return
    mask = (np.int64(1) << shift) - 1
    cell = (g << shift) + (w & mask)
    for b in range(n):
        cell += sums[b]
        left_g[b] = cell
    for b in range(n):
        weight = left_g[b] & mask
        left_w[b] = (weight << shift) + weight
        left_g[b] >>= shift


@jit
def running_few(sums, n, width, shift, g, w, left_g, left_w, places):
    """The same at the bins that are not empty, which stand in ``places``; returns their number.

    A split after an empty bin is the split before it.
    """
    m = np.int64(0)
    for b in range(n):
        bg, bw = read(sums, b, width, shift)
        g += bg
        w += bw
        left_g[m], left_w[m], places[m] = g, w, b
        m += np.int64((bg | bw) != 0)
    return m


@jit
def write(found, column, threshold, side, left_g, left_w, is_set):
    found[0], found[1], found[2] = column, threshold, side
    found[3], found[4], found[5] = left_g, left_w, is_set


@jit(counted=False)
def ordered_split(sums, n_bins, f, g, w, width, rules, low, high, scratch, best, found):
    """Improve on ``best`` with the splits of an ordered column; missing cells on either side."""
    units, shift, l2, min_leaf = rules.units, rules.shift, rules.l2, rules.min_leaf
    left_g, left_w, out, bits, places = scratch
    sign = rules.monotone[f]
    few = (w & ((np.int64(1) << shift) - 1)) * units[2] < BINS
    missing_g, missing_w = read(sums, MISSING, width, shift)
    absent = missing_w != 0
    for side in range(2 if absent else 1):  # 0: missing to the right
        start_g = missing_g if side else np.int64(0)
        start_w = missing_w if side else np.int64(0)
        n = n_bins if absent and side == 0 else n_bins - 1
        if few:
            n = running_few(sums, n, width, shift, start_g, start_w, left_g, left_w, places)
        else:
            running(sums, n, width, shift, start_g, start_w, left_g, left_w)
            if side == 1 and sign == 0:  # missing cells alone: side 0 has had that split
                lead = 0
                while lead < n and left_w[lead] == missing_w and left_g[lead] == missing_g:
                    left_w[lead] = 0  # too small
                    lead += 1
        gain, k = best_cut(
            left_g, left_w, n, g, w, units, shift, l2, min_leaf, sign, low, high, out, bits
        )
        if gain > best:
            best = gain
            b = places[k] if few else k
            write(found, f, b, side if absent else NO_MISSING, left_g[k], left_w[k], 0)
    return best


@jit
def category_split(sums, n_bins, f, g, w, width, rules, low, high, scratch, best, found):
    """Improve on ``best`` by sorting the categories; missing is a category of its own."""
    units, shift, l2, min_leaf = rules.units, rules.shift, rules.l2, rules.min_leaf
    left_g, left_w, out, bits, _ = scratch
    mask = (np.int64(1) << shift) - 1
    mean = (w >> shift) * units[1] / max((w & mask) * units[2], 1e-300)
    keys, bins, n = np.empty(BINS), np.empty(BINS, np.int64), 0
    for b in range(BINS):
        bg, bw = read(sums, b, width, shift)
        if (b < n_bins or b == MISSING) and bw != 0:
            h = (bw >> shift) * units[1]
            key = bg * units[0] / (h + SMOOTHING * mean + 1e-300)
            place = n  # insertion: few, and a library's sort takes seconds to compile
            while place > 0 and keys[place - 1] > key:
                keys[place], bins[place] = keys[place - 1], bins[place - 1]
                place -= 1
            keys[place], bins[place] = key, b
            n += 1
    if n < 2:
        return best
    lg, lw = np.int64(0), np.int64(0)
    for k in range(n - 1):
        bg, bw = read(sums, bins[k], width, shift)
        lg += bg
        lw += bw
        left_g[k], left_w[k] = lg, lw
    gain, k = best_cut(
        left_g, left_w, n - 1, g, w, units, shift, l2, min_leaf, NO_SIGN, low, high, out, bits
    )
    if gain <= best:
        return best
    write(found, f, 0, 0, left_g[k], left_w[k], 1)
    found[6:] = 0
    if 2 * (left_w[k] & mask) > (w & mask):  # absent categories go with the larger child
        found[6:] = -1
    for q in range(n):
        b = bins[q]
        bit = np.int64(1) << (b & 63)
        if q <= k:
            found[6 + (b >> 6)] |= bit
        else:
            found[6 + (b >> 6)] &= ~bit
    return gain


@jit
def part_rows(rows, begin, end, spare, codes, found):
    """Stable: rows that go left first. Returns where the right ones begin.

    Whole numbers without sign are places as they are: no test for places from the end.
    """
    left, k, one = np.uint64(begin), np.uint64(0), np.uint64(1)
    threshold, side = found[1], found[2] & 1
    if found[5] == 1:
        for i in range(np.uint64(begin), np.uint64(end)):
            r = rows[i]
            c = np.uint64(codes[np.uint64(r)])
            go = np.uint64(found[np.uint64(6) + (c >> np.uint64(6))] >> np.int64(c & np.uint64(63)))
            rows[left] = r
            spare[k] = r
            left += go & one
            k += one - (go & one)
    else:  # missing to the left: one bin further round, 255 becomes 0
        shift, top = np.uint8(side), np.uint8(threshold + side)
        for i in range(np.uint64(begin), np.uint64(end)):
            r = rows[i]
            go = np.uint64(np.uint8(codes[np.uint64(r)] + shift) <= top)
            rows[left] = r
            spare[k] = r
            left += go
            k += one - go
    for i in range(k):
        rows[left + i] = spare[i]
    return np.int64(left)

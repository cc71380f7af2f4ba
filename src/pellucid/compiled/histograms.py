r"""Sums of gradients in bins, and the best split they allow.

A row carries two whole numbers, (gradient, curvature << s | weight), so that one 128-bit addition
per column updates the sums of its bin. Whole numbers add up to the same whatever the order: the
tree does not depend on the number of threads, and a child's sums are the parent's minus its
sibling's, exactly.

    gain    = GL^2/(HL + l2) + GR^2/(HR + l2) - G^2/(H + l2)
    ordered columns: rows up to a bin go left, missing cells to the side where they gain more
    categories: sorted by G/(H + a few rows' worth), then as if ordered (Fisher 1958)
    monotone columns: leaf values are clipped to the bounds of the leaf, and must rise (or fall)
"""

import numpy as np

from pellucid.core.jit import jit
from pellucid.core.simd import add_row, prefetch

BINS = 256
NO_SIGN = np.int64(0)  # not monotone
MISSING = 255  # the bin of missing cells
LEAST_CURVATURE = 1e-3  # of a child, as scikit-learn asks
SMOOTHING = 10.0  # rows that pull a category's place in the order to the middle
FOUND = 10  # column, bin, side of missing cells, left sums (2), category?, left categories (4)
TIE_BITS = 13  # gains are compared without them: 40 bits are left
AHEAD = 12  # rows whose codes are asked for before they are needed
NO_MISSING = 2  # a side: no cell was missing here, so new ones follow the larger child


@jit
def add_rows(codes, n_columns, pairs, rows, begin, end, sums):
    """The sums of the rows ``rows[begin:end]``; ``sums`` starts from zero."""
    sums[:] = 0
    stride, last = codes.shape[1], max(begin, end - AHEAD)
    for i in range(begin, last):
        r, s = np.int64(rows[i]), np.int64(rows[i + AHEAD])
        prefetch(codes, s, 0)
        prefetch(pairs, s, 0)
        add_row(codes, r * stride, n_columns, pairs, r, sums)
    for i in range(last, end):
        r = np.int64(rows[i])
        add_row(codes, r * stride, n_columns, pairs, r, sums)


@jit
def add_block(codes, n_columns, pairs, begin, end, sums):
    """The same of consecutive rows, added to what is there."""
    stride = codes.shape[1]
    for i in range(begin, end):
        add_row(codes, i * stride, n_columns, pairs, i, sums)


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


@jit(reassociate=True)
def gains(left_g, left_w, n, g, w, units, shift, l2, min_leaf, out):
    """GL^2/(HL + l2) + GR^2/(HR + l2) of n splits; -1 where a child would be too small."""
    mask = (np.int64(1) << shift) - 1
    G, H, C = g * units[0], (w >> shift) * units[1], (w & mask) * units[2]
    least = min_leaf - 0.5 * units[2]
    for b in range(n):
        gl = left_g[b] * units[0]
        hl = (left_w[b] >> shift) * units[1]
        cl = (left_w[b] & mask) * units[2]
        gr, hr, cr = G - gl, H - hl, C - cl
        a, c = hl + l2, hr + l2
        fine = (cl >= least) & (cr >= least) & (hl >= LEAST_CURVATURE) & (hr >= LEAST_CURVATURE)
        out[b] = (gl * gl * c + gr * gr * a) / (a * c) if fine else -1.0


@jit
def bounded_gains(left_g, left_w, n, g, w, units, shift, l2, min_leaf, sign, low, high, out):
    """The same with leaf values held between ``low`` and ``high``, rising or falling as asked."""
    mask = (np.int64(1) << shift) - 1
    G, H, C = g * units[0], (w >> shift) * units[1], (w & mask) * units[2]
    least = min_leaf - 0.5 * units[2]
    for b in range(n):
        gl = left_g[b] * units[0]
        hl = (left_w[b] >> shift) * units[1]
        cl = (left_w[b] & mask) * units[2]
        gr, hr, cr = G - gl, H - hl, C - cl
        out[b] = -1.0
        if cl >= least and cr >= least and hl >= LEAST_CURVATURE and hr >= LEAST_CURVATURE:
            left = value_of(gl, hl, l2, low, high)
            right = value_of(gr, hr, l2, low, high)
            if sign * (right - left) >= 0:
                out[b] = loss_of(gl, hl, l2, left) + loss_of(gr, hr, l2, right)


@jit
def coarse(x, bits):
    """x >= 0 without its last ``bits`` bits: equal gains stay equal in spite of rounding."""
    whole = np.float64(x).view(np.int64) + (np.int64(1) << (bits - 1))
    return np.int64((whole >> bits) << bits).view(np.float64)


@jit
def best_of(out, n):
    """The greatest gain, rounded, and the first place that has it."""
    best = -1.0
    for b in range(n):
        best = out[b] if out[b] > best else best
    if best < 0:
        return -1.0, -1
    best = coarse(best, TIE_BITS)
    for b in range(n):
        if out[b] >= 0 and coarse(out[b], TIE_BITS) >= best:
            return best, b
    return -1.0, -1


@jit
def running(sums, n, g, w, left_g, left_w):
    """Sums of the bins 0..b, on top of (g, w)."""
    for b in range(n):
        g += sums[2 * b]
        w += sums[2 * b + 1]
        left_g[b] = g
        left_w[b] = w


@jit
def write(found, column, threshold, side, left_g, left_w, is_set):
    found[0], found[1], found[2] = column, threshold, side
    found[3], found[4], found[5] = left_g, left_w, is_set


@jit
def ordered_split(
    sums, n_bins, f, g, w, units, shift, l2, min_leaf, sign, low, high, scratch, best, found
):
    """Improve on ``best`` with the splits of an ordered column; missing cells on either side."""
    left_g, left_w, out = scratch
    absent = sums[2 * MISSING + 1] != 0
    for side in range(2 if absent else 1):  # 0: missing to the right
        start_g = sums[2 * MISSING] if side else np.int64(0)
        start_w = sums[2 * MISSING + 1] if side else np.int64(0)
        n = n_bins if absent and side == 0 else n_bins - 1
        running(sums, n, start_g, start_w, left_g, left_w)
        if sign != 0 or low > -np.inf or high < np.inf:
            bounded_gains(left_g, left_w, n, g, w, units, shift, l2, min_leaf, sign, low, high, out)
        else:
            gains(left_g, left_w, n, g, w, units, shift, l2, min_leaf, out)
        gain, b = best_of(out, n)
        if gain > best:
            best = gain
            write(found, f, b, side if absent else NO_MISSING, left_g[b], left_w[b], 0)
    return best


@jit
def category_split(
    sums, n_bins, f, g, w, units, shift, l2, min_leaf, low, high, scratch, best, found
):
    """Improve on ``best`` by sorting the categories; missing is a category of its own."""
    left_g, left_w, out = scratch
    mask = (np.int64(1) << shift) - 1
    mean = (w >> shift) * units[1] / max((w & mask) * units[2], 1e-300)
    keys, bins, n = np.empty(BINS), np.empty(BINS, np.int64), 0
    for b in range(BINS):
        if (b < n_bins or b == MISSING) and sums[2 * b + 1] != 0:
            h = (sums[2 * b + 1] >> shift) * units[1]
            key = sums[2 * b] * units[0] / (h + SMOOTHING * mean + 1e-300)
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
        b = bins[k]
        lg += sums[2 * b]
        lw += sums[2 * b + 1]
        left_g[k], left_w[k] = lg, lw
    bounded_gains(left_g, left_w, n - 1, g, w, units, shift, l2, min_leaf, NO_SIGN, low, high, out)
    gain, k = best_of(out, n - 1)
    if gain <= best:
        return best
    write(found, f, 0, 0, left_g[k], left_w[k], 1)
    found[6:] = 0
    larger = 2 * (left_w[k] & mask) > (w & mask)  # absent categories go with the larger child
    if larger:
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
    """Stable: rows that go left first. Returns where the right ones begin."""
    left, k = begin, np.int64(0)
    threshold, side = found[1], found[2] & 1
    if found[5] == 1:
        for i in range(begin, end):
            r = rows[i]
            c = np.int64(codes[r])
            go = (found[6 + (c >> 6)] >> (c & 63)) & 1
            rows[left] = r
            spare[k] = r
            left += go
            k += 1 - go
    else:  # missing to the left: one bin further round, 255 becomes 0
        shift, top = np.uint8(side), np.uint8(threshold + side)
        for i in range(begin, end):
            r = rows[i]
            go = np.int64(np.uint8(codes[r] + shift) <= top)
            rows[left] = r
            spare[k] = r
            left += go
            k += 1 - go
    for i in range(k):
        rows[left + i] = spare[i]
    return left


def warm() -> None:
    """The kernels of this file are compiled as part of ``leafwise.grow_tree``."""
    from pellucid.compiled.leafwise import warm as grow

    grow()

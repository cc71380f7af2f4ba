r"""Repulsion on a line or in a plane by splines and Fourier transforms.

The potential  phi(y) = sum_j 1/(1 + |y - y_j|^2)  is all that is needed: sum_i phi(y_i) - n is Z,
and the repulsion of a point is  -grad phi / 2.  Between the nodes g of a grid of width h the kernel
is replaced by its spline of degree 5 in both arguments,

    1/(1 + |x - y|^2)  ~  sum_{g,g'} B(x - g) G(g - g') B(y - g'),

B the product of B-splines. So every point is spread onto 6 x 6 nodes, the charges are convolved
with G by one transform there and one back, and value and gradient are read off with the same
weights. In Fourier's terms G is the kernel at the nodes divided by the squared transform of B at
the nodes: the spline then passes through the kernel at all nodes. The convolution is on a grid of
twice the size, so that it does not wrap around.

Linderman et al. (2019) interpolate by polynomials piece by piece and need four transforms there and
back; splines are smooth, so their gradient can be taken. The error falls like exp(-pi/h) (the
kernel's transform falls like exp(-k)); with h <= 0.4 the force has an error of about 0.6 %, half of
that of Barnes-Hut's at an angle of 0.5. Small maps get a finer grid of CELLS intervals at least.

References: Linderman, Rachh, Hoskins, Steinerberger & Kluger (2019); Essmann et al. (1995).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.fft import fft, ifft, irfft, next_fast_len, rfft, rfft2

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads

DEGREE = 5  # of the splines
NODES = DEGREE + 1
WIDTH = 0.4  # of an interval at most; the kernel's own width is 1
CELLS = 50  # intervals along the wider side at least
MARGIN = 16  # nodes in which the inverse of B at the far end dies out
ROOM = 1.05  # a new grid is larger than the map by this, so that it serves for some steps
SPAN = 1024  # points a thread takes at a time
PARTS = 8  # of the lines to transform


class Grid(NamedTuple):
    """The width of an interval, the nodes in use, and the transform of G on twice as many."""

    h: float
    nodes: tuple[int, int]
    kernel: Array  # (rows, columns / 2 + 1)
    columns: int


@jit
def spline_weights(t: float, w: Any, slope: Any) -> None:
    """The six B-splines at the fraction t of an interval, and their derivatives."""
    w[0] = 1.0
    for d in range(1, NODES):
        if d == DEGREE:
            for j in range(NODES):
                slope[j] = (w[j - 1] if j > 0 else 0.0) - (w[j] if j < DEGREE else 0.0)
        for j in range(d, -1, -1):
            left = (t + d - j) * w[j - 1] if j > 0 else 0.0
            right = (j + 1 - t) * w[j] if j < d else 0.0
            w[j] = (left + right) / d


@jit
def spread(Y: Any, low: Any, h: float, out: Any) -> None:
    """Add every point of Y (2, n) to its nodes."""
    v, w, slope = np.empty(NODES), np.empty(NODES), np.empty(NODES)
    for i in range(Y.shape[1]):
        s, t = (Y[0, i] - low[0]) / h, (Y[1, i] - low[1]) / h
        r, c = int(s), int(t)
        spline_weights(s - r, v, slope)
        spline_weights(t - c, w, slope)
        for a in range(NODES):
            for b in range(NODES):
                out[r + a, c + b] += v[a] * w[b]


@jit
def collect(
    Y: Any, low: Any, h: float, field: Any, start: int, stop: int, out: Any, weight: Any
) -> None:
    """Half the downward slope of the field at points start to stop, and its value."""
    v, w, dv, dw = np.empty(NODES), np.empty(NODES), np.empty(NODES), np.empty(NODES)
    for i in range(start, stop):
        s, t = (Y[0, i] - low[0]) / h, (Y[1, i] - low[1]) / h
        r, c = int(s), int(t)
        spline_weights(s - r, v, dv)
        spline_weights(t - c, w, dw)
        value = down = across = 0.0
        for a in range(NODES):
            line = turned = 0.0
            for b in range(NODES):
                line += field[r + a, c + b] * w[b]
                turned += field[r + a, c + b] * dw[b]
            value += v[a] * line
            down += dv[a] * line
            across += v[a] * turned
        out[0, i], out[1, i] = -0.5 * down / h, -0.5 * across / h
        weight[i] = value


def needed(Y: Array) -> tuple[float, tuple[int, int]]:
    """(the width of an interval, the nodes along both sides) for a map of some extent."""
    extent = Y.max(axis=1) - Y.min(axis=1)
    finer = max(0, int(np.ceil(np.log2(WIDTH * CELLS / extent.max()))))
    h = float(np.ldexp(WIDTH, -finer))
    sides = (extent / h).astype(np.int64) + NODES + 1
    return h, (int(sides[0]), int(sides[1]) if len(sides) > 1 else NODES + 1)


def cells(Y: Array) -> float:
    """Nodes to transform, infinitely many where all points are one or their extent is."""
    extent = float(np.ptp(Y, axis=1).max())
    if not 0 < extent < 1 / np.finfo(np.float64).eps:
        return np.inf
    rows, columns = needed(Y)[1]
    return 4.0 * (rows + MARGIN / 2) * (columns + MARGIN / 2)


def make_grid(h: float, sides: tuple[int, int]) -> Grid:
    """The transform of G for a grid with room for these many nodes."""
    size = [next_fast_len(int(2 * ROOM * s) + MARGIN, real=True) for s in sides]
    squares, spectra = [], []
    node = np.empty(NODES)
    spline_weights(0.0, node, np.empty(NODES))
    for m in size:
        step = np.arange(m)
        squares.append((h * np.minimum(step, m - step)) ** 2)
        spectra.append(np.abs(fft(node, m)) ** 2)
    K = 1.0 / (1.0 + squares[0][:, None] + squares[1])
    half = size[1] // 2 + 1
    kernel = rfft2(K).real / (spectra[0][:, None] * spectra[1][:half])
    nodes = ((size[0] - MARGIN) // 2, (size[1] - MARGIN) // 2)
    return Grid(h, nodes, kernel, size[1])


def fits(grid: Grid | None, h: float, sides: tuple[int, int]) -> bool:
    """Whether the grid of the last map has the width, room enough and not too much."""
    if grid is None or grid.h != h:
        return False
    return all(s <= n <= 1.3 * s + MARGIN for s, n in zip(sides, grid.nodes, strict=True))


def parts(n: int) -> list[slice]:
    step = -(-n // PARTS)
    return [slice(a, a + step) for a in range(0, n, step)]


def convolve(charges: Array, grid: Grid) -> Array:
    """The charges convolved with G: by rows, by columns and back, then by rows back."""
    rows, columns = charges.shape
    A = np.empty((rows, grid.columns // 2 + 1), np.complex128)
    field = np.empty_like(charges)

    def there(part: slice) -> None:
        A[part] = rfft(charges[part], grid.columns, axis=1)

    def through(part: slice) -> None:
        B = fft(A[:, part], len(grid.kernel), axis=0)
        B *= grid.kernel[:, part]
        A[:, part] = ifft(B, axis=0, overwrite_x=True)[:rows]

    def back(part: slice) -> None:
        field[part] = irfft(A[part], grid.columns, axis=1)[:, :columns]

    list(map_threads(there, parts(rows)))
    list(map_threads(through, parts(A.shape[1])))
    list(map_threads(back, parts(rows)))
    return field


def grid_forces(Y: Array, grid: Grid | None) -> tuple[Array, float, Grid]:
    """(repulsion (k, n), Z, the grid); that of the last map is used again where it fits."""
    k, n = Y.shape
    h, sides = needed(Y)
    if grid is None or not fits(grid, h, sides):
        grid = make_grid(h, sides)
    Y = Y if k == 2 else np.vstack([Y, np.zeros(n)])
    low = Y.min(axis=1)
    charges = np.zeros(sides)
    spread(Y, low, h, charges)
    field = convolve(charges, grid)
    out, weight = np.empty_like(Y), np.empty(n)

    def part(a: int) -> None:
        collect(Y, low, h, field, a, min(a + SPAN, n), out, weight)

    list(map_threads(part, range(0, n, SPAN)))
    out -= out.mean(axis=1)[:, None]  # the forces of all pairs cancel
    return np.ascontiguousarray(out[:k]), float(weight.sum()) - n, grid

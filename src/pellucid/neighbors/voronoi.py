r"""Voronoi cells: the places nearer to one point than to any other, cut off at a rectangle.

In the Euclidean plane the cell of x is the rectangle clipped by the half-planes

    { z : |z - x| <= |z - x'| }  =  { z : (x' - x)'z <= (|x'|^2 - |x|^2) / 2 }

of the other points x', nearest first. A point farther away than twice the farthest corner of the
cell so far cannot cut it any more, nor can any after it: the cell is exact.    O(n log n) usually

With labels, cells of one class that touch form its regions: the decision regions of one nearest
neighbour. Other metrics have cells with curved or no edges: a raster tells whose each pixel is.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.compiled.distances.search import Index
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.readable import readable
from pellucid.neighbors.search.metrics import MetricLike, resolve
from pellucid.neighbors.search.similarities import matrix

MARGIN = 0.1  # of the points' range, around them
PIXELS = 200  # of the raster along each side


@readable
class Region(NamedTuple):
    """Cells of one class that touch, and the edges that part them from other classes.

    >>> from pellucid.neighbors import voronoi_cells
    >>> region = voronoi_cells([[0, 0], [1, 0]], ["a", "b"], bounds=(-1, 2, -1, 1)).regions[0]
    >>> region.label, region.cells
    ('a', (0,))
    """

    label: Any  # of the class
    cells: tuple[int, ...]  # numbers of its cells
    outline: Array  # (edges, 2, 2) from corner to corner


@readable
class VoronoiCells(NamedTuple):
    """Cells of points in the plane.

    >>> from pellucid.neighbors import voronoi_cells
    >>> voronoi_cells([[0, 0], [1, 0]], bounds=(-1, 2, -1, 1)).neighbours
    ((1,), (0,))
    """

    points: Array  # (m, 2) without repetition
    members: tuple[IntArray, ...]  # rows of X at each point
    polygons: tuple[Array, ...]  # corners of each cell, counter-clockwise; () for a raster
    neighbours: tuple[tuple[int, ...], ...]  # cells that share an edge
    regions: tuple[Region, ...]  # of the classes; () without labels
    raster: IntArray | None  # (PIXELS, PIXELS) whose each pixel is, rows from low y to high
    bounds: tuple[float, float, float, float]  # x_low, x_high, y_low, y_high


class Cell(NamedTuple):
    corners: Array  # (c, 2)
    owners: list[int]  # the point across the edge from corner i to i + 1; -1: the rectangle


def clip(cell: Cell, normal: Array, limit: float, owner: int) -> Cell:
    """What is left where normal'z <= limit; the new edge belongs to ``owner``."""
    value = cell.corners @ normal - limit
    if (value <= 0).all():
        return cell
    corners: list[Array] = []
    owners: list[int] = []
    n = len(value)
    for i in range(n):
        j = (i + 1) % n
        a, b = cell.corners[i], cell.corners[j]
        inside, leads_in = value[i] <= 0, value[j] <= 0
        if inside:
            corners.append(a)
            owners.append(cell.owners[i])
        if inside != leads_in:
            corners.append(a + (b - a) * (value[i] / (value[i] - value[j])))
            owners.append(owner if inside else cell.owners[i])  # leaving: here begins the cut
    return Cell(np.array(corners).reshape(-1, 2), owners)


def rectangle(bounds: tuple[float, float, float, float]) -> Cell:
    x0, x1, y0, y1 = bounds
    return Cell(np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]), [-1, -1, -1, -1])


def cell_of(i: int, points: Array, index: Index, bounds: tuple[float, float, float, float]) -> Cell:
    """The exact cell of point i: clipped by others, nearest first, while they can reach it."""
    cell = rectangle(bounds)
    x = points[i]
    k, done, n = min(32, len(points)), 0, len(points)
    while True:
        distance, order = (row[0] for row in index.nearest(x[None, :], k))
        for d, j in zip(distance[done:], order[done:], strict=True):
            if j == i:
                continue
            corners = cell.corners
            if not len(corners) or d > 2 * np.sqrt(((corners - x) ** 2).sum(axis=1).max()):
                return cell
            step = points[j] - x  # about x, so that no digits are lost
            cell = clip(cell, step, step @ (x + points[j]) / 2, int(j))
        if k == n:
            return cell
        done, k = k, min(4 * k, n)


def edge(cell: Cell, i: int) -> tuple[Array, Array]:
    """Both ends of edge i."""
    return cell.corners[i], cell.corners[(i + 1) % len(cell.corners)]


def adjacent(cells: list[Cell], size: float) -> tuple[tuple[int, ...], ...]:
    """Cells that share an edge of some length, inside the rectangle."""
    pairs: list[set[int]] = [set() for _ in cells]
    for i, cell in enumerate(cells):
        for e, owner in enumerate(cell.owners):
            a, b = edge(cell, e)
            if owner >= 0 and float(np.hypot(*(b - a))) > 1e-12 * size:
                pairs[i].add(owner)
                pairs[owner].add(i)
    return tuple(tuple(sorted(p)) for p in pairs)


def class_regions(
    cells: list[Cell], neighbours: tuple[tuple[int, ...], ...], labels: list[Any]
) -> tuple[Region, ...]:
    """Cells of one label that hang together, and their outlines."""
    free = set(range(len(cells)))
    regions = []
    while free:
        start = min(free)
        group, stack = {start}, [start]
        while stack:
            for j in neighbours[stack.pop()]:
                if j not in group and labels[j] == labels[start]:
                    group.add(j)
                    stack.append(j)
        free -= group
        edges = [
            edge(cells[i], e)
            for i in sorted(group)
            for e, owner in enumerate(cells[i].owners)
            if owner not in group
        ]
        outline = np.array(edges).reshape(-1, 2, 2)
        regions.append(Region(labels[start], tuple(sorted(group)), outline))
    return tuple(regions)


def frame_of(points: Array, bounds: Sequence[float] | None) -> tuple[float, float, float, float]:
    if bounds is None:
        low, high = points.min(axis=0), points.max(axis=0)
        pad = MARGIN * np.where(high > low, high - low, 1.0)
        low, high = low - pad, high + pad
        return float(low[0]), float(high[0]), float(low[1]), float(high[1])
    x0, x1, y0, y1 = (float(b) for b in bounds)
    if not (np.isfinite([x0, x1, y0, y1]).all() and x0 < x1 and y0 < y1):
        raise ValueError(f"bounds must be (x_low, x_high, y_low, y_high), got {bounds!r}")
    return x0, x1, y0, y1


def painted(
    points: Array, metric: MetricLike, bounds: tuple[float, float, float, float]
) -> IntArray:
    x0, x1, y0, y1 = bounds
    steps = (np.arange(PIXELS) + 0.5) / PIXELS
    x, y = np.meshgrid(x0 + steps * (x1 - x0), y0 + steps * (y1 - y0))
    index = Index(points, resolve(metric, points), "brute")
    found = index.nearest(np.column_stack([x.ravel(), y.ravel()]), 1)[1]
    return found.reshape(PIXELS, PIXELS)


def raster_neighbours(raster: IntArray, n: int) -> tuple[tuple[int, ...], ...]:
    pairs: list[set[int]] = [set() for _ in range(n)]
    for a, b in ((raster[1:], raster[:-1]), (raster[:, 1:], raster[:, :-1])):
        for i, j in np.unique(np.column_stack([a[a != b], b[a != b]]), axis=0).tolist():
            pairs[i].add(j)
            pairs[j].add(i)
    return tuple(tuple(sorted(p)) for p in pairs)


def voronoi_cells(
    X: ArrayLike,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    *,
    bounds: Sequence[float] | None = None,
    metric: MetricLike = "euclidean",
) -> VoronoiCells:
    """The cells of points in the plane, their neighbours, and the regions of the classes.

    Parameters
    ----------
    X : array of shape (n, 2)
        Repeated points share a cell.
    labels : array of shape (n,), default=None
        Classes; where repeated points differ, the first counts.
    bounds : (x_low, x_high, y_low, y_high), default=None
        Where cells are cut off; None: a tenth of the range beyond the points.
    metric : str, callable or Minkowski, default='euclidean'
        Euclidean: exact polygons; others: a raster.

    Returns
    -------
    VoronoiCells

    Examples
    --------
    >>> from pellucid.neighbors import voronoi_cells
    >>> cells = voronoi_cells([[0, 0], [1, 0]], bounds=(-1, 2, -1, 1))
    >>> cells.polygons[0].tolist()
    [[-1.0, -1.0], [0.5, -1.0], [0.5, 1.0], [-1.0, 1.0]]
    """
    rows = matrix(X, "X")
    if rows.shape[1] != 2 or not len(rows):
        raise ValueError(f"X must be points of the plane, shape (n, 2), got {rows.shape}")
    if labels is not None and len(labels) != len(rows):
        raise ValueError(f"labels must be {len(rows)}, one per point, got {len(labels)}")
    _, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # points in the order of the table
    points = rows[first[order]]
    place = np.argsort(order)[place.ravel()]
    members = tuple(np.flatnonzero(place == i) for i in range(len(points)))
    frame = frame_of(points, bounds)
    own = [None] * len(points) if labels is None else [labels[rows_[0]] for rows_ in members]
    if metric not in ("euclidean", "l2", "sqeuclidean"):
        raster = painted(points, metric, frame)
        pairs = raster_neighbours(raster, len(points))
        empty = [Cell(np.empty((0, 2)), []) for _ in points]
        regions = () if labels is None else class_regions(empty, pairs, own)
        return VoronoiCells(points, members, (), pairs, regions, raster, frame)
    index = Index(points, resolve("euclidean", points), "kd_tree")
    cells = [cell_of(i, points, index, frame) for i in range(len(points))]
    pairs = adjacent(cells, max(frame[1] - frame[0], frame[3] - frame[2]))
    regions = () if labels is None else class_regions(cells, pairs, own)
    polygons = tuple(cell.corners for cell in cells)
    return VoronoiCells(points, members, polygons, pairs, regions, None, frame)

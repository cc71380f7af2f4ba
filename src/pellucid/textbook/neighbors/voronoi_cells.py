r"""Voronoi cells: the part of the plane that is nearest to one point.

Given       points in the plane and a rectangle
Solve       for every point x: {z : |z - x| <= |z - v| for all other points v}
Step        |z - x|^2 <= |z - v|^2 is (v - x)'z <= (|v|^2 - |x|^2) / 2: a half-plane. Cut the
            rectangle by all of them; what is left is convex. The cells of one class together
            are the decision region of one nearest neighbour.
Cost        n per cell and corner as written.
The fast version cuts by the nearest points first and stops when no other can reach the cell.
"""

import numpy as np


def cut(polygon: np.ndarray, normal: np.ndarray, offset: float) -> np.ndarray:
    """The part of a convex polygon (m, 2) with normal'z <= offset."""
    side = polygon @ normal - offset
    kept = []
    for i, (z, s) in enumerate(zip(polygon, side, strict=True)):
        before, s0 = polygon[i - 1], side[i - 1]
        if s * s0 < 0:  # the edge from the corner before crosses the line
            kept.append(before + s0 / (s0 - s) * (z - before))
        if s <= 0:
            kept.append(z)
    return np.array(kept).reshape(-1, 2)


def voronoi_cells(X: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    """One polygon per point, inside the rectangle from low to high."""
    corners = np.array([low, [high[0], low[1]], high, [low[0], high[1]]], dtype=float)
    cells = []
    for i, x in enumerate(X):
        cell = corners
        for v in np.delete(X, i, axis=0):
            cell = cut(cell, v - x, (v @ v - x @ x) / 2)
        cells.append(cell)
    return cells


def area(polygon: np.ndarray) -> float:
    """By the shoelace formula."""
    x, y = polygon.T
    return float(abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2)

r"""Isomap: a map by the distances along the surface on which the rows lie.

Find        points y_i whose distances are the shortest ways delta_ij over the edges of a graph that
            joins each row to its k nearest ones
Step        Floyd and Warshall let ways go through row 1, then rows 1 and 2, ..., which is
            delta_ij <- min(delta_ij, delta_im + delta_mj) for m = 1, 2, ...
            For points with mean 0, -J delta^2 J/2 = Y Y' (J takes off the means), so Y are its
            leading eigenvectors times the roots of their eigenvalues
Cost        n^3.
The fast version finds neighbours by trees and goes from each row by Dijkstra, joins graphs in
parts, and places new rows.
"""

from typing import NamedTuple

import numpy as np


class Map(NamedTuple):
    Y: np.ndarray  # (n, d)
    geodesic: np.ndarray  # (n, n)


def isomap(X: np.ndarray, k: int, d: int) -> Map:
    """The map of a connected graph of k neighbours."""
    n = len(X)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    near = np.argsort(D, axis=1)[:, 1 : k + 1]
    delta = np.full((n, n), np.inf)
    delta[np.arange(n)[:, None], near] = np.take_along_axis(D, near, axis=1)
    delta = np.minimum(delta, delta.T)
    np.fill_diagonal(delta, 0)
    for m in range(n):
        delta = np.minimum(delta, delta[:, m, None] + delta[m])
    J = np.eye(n) - 1 / n
    values, V = np.linalg.eigh(-0.5 * J @ delta**2 @ J)
    return Map(V[:, ::-1][:, :d] * np.sqrt(values[::-1][:d]), delta)

"""Decision regions of nearest neighbours for several k, and the error of every k."""

from typing import Any

import numpy as np
from sklearn.base import clone

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Columns, IntArray, Model
from pellucid.neighbors.path import select_n_neighbors
from pellucid.neighbors.search.metrics import Minkowski
from pellucid.plots.panels.inputs import read_table
from pellucid.plots.panels.marks import band, spot
from pellucid.plots.panels.style import GREY, Picture, colour, heading, legend, panels
from pellucid.plots.pictures.classification.decision_regions import (
    DecisionRegions,
    decision_regions,
)


class RegionsByK(Picture):
    ks: tuple[int, ...]
    regions: DecisionRegions
    n_neighbors: IntArray  # (m,)
    errors: Array  # (m,) share wrong, each row left out of its own vote
    standard_errors: Array
    best: int
    one_standard_error: int  # the largest k within one standard error of the best

    def plot(self) -> Any:
        """One panel per k, and the error against k; the figure."""
        n = len(self.ks)
        size = (4.2, 3.7) if len(self.regions.lines) == 2 else (5.0, 2.8)
        grid = panels(n + 1, columns=2 if n + 1 in (2, 4) else 3, size=size)
        for i in range(n):
            self.regions._panel(grid[i], i)
            error = self.errors[self.n_neighbors == self.ks[i]][0]
            wrong = f"{self.regions.errors[i]:.1%} of these rows wrong, {error:.1%} left out"
            heading(grid[i], f"k = {self.ks[i]}: {wrong}", self.regions.note)
        ax = grid[-1]
        low = self.errors - self.standard_errors
        band(ax, self.n_neighbors, low, self.errors + self.standard_errors, colour(0), 0.15)
        ax.plot(self.n_neighbors, self.errors, "-", color=colour(0), lw=1.5)
        for k, label, shape in (
            (self.best, "least", "D"),
            (self.one_standard_error, "one standard error", "^"),
        ):
            y, said = self.errors[self.n_neighbors == k][0], f"{label}: k = {k}"
            spot(ax, k, y, shape, colour(2 if shape == "D" else 4), size=8, label=said)
        for k in self.ks:
            ax.axvline(k, color=GREY, ls=":", lw=1)
        ax.set(xlabel="neighbours k", ylabel="share wrong, left out")
        legend(ax)
        heading(ax, "Error against k", "small k: ragged; large k: blunt")
        return ax.figure


def regions_by_k(
    E: Model, X: ArrayLike, y: ArrayLike, ks: Any = (1, 5, 15), *, columns: Columns | None = None
) -> RegionsByK:
    """The regions of the same neighbour classifier for several k.

    ``X``, ``y``: training data; ``ks``: the numbers of neighbours, 1, 5 and 15 by default;
    ``columns``: the one or two columns to show, names or positions; ``E``: KNeighborsClassifier;
    its other parameters are kept.

    Examples
    --------
    >>> from pellucid import KNeighborsClassifier
    >>> from pellucid.plots import regions_by_k
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], [0, 0, 0, 1, 1, 1]
    >>> picture = regions_by_k(KNeighborsClassifier(), X, y, ks=(1, 3))
    >>> picture.n_neighbors.tolist(), picture.errors.tolist()
    ([1, 2, 3], [0.0, 0.0, 0.0])
    """
    if "n_neighbors" not in E.get_params():
        raise ValueError(f"regions_by_k needs a model with n_neighbors, got {type(E).__name__}")
    ks = tuple(int(k) for k in ks)
    if not ks:
        raise ValueError("ks must hold at least one number of neighbours, got none")
    for k in ks:
        check.whole(n_neighbors=k)
    table = read_table(X)
    n = len(table.X)
    if max(ks) >= n:
        raise ValueError(f"ks must be below the number of rows, {n}, got {max(ks)}")
    models = {f"k = {k}": clone(E).set_params(n_neighbors=k).fit(X, y) for k in ks}
    regions: Any = decision_regions(models, X, y, columns=columns)
    metric = Minkowski(E.p) if E.metric == "minkowski" else E.metric
    path = select_n_neighbors(
        table.X, np.asarray(y), range(1, max(ks) + 1), weights=E.weights or "uniform", metric=metric
    )
    said = ", ".join(
        f"k = {k} {e:.1%}" for k, e in zip(path.n_neighbors, path.errors, strict=True) if k in ks
    )
    alt = (
        f"Regions of nearest neighbours on {n} rows for k = {', '.join(map(str, ks))}; left-out "
        f"errors {said}; least at k = {path.best}."
    )
    n_neighbors, errors = np.asarray(path.n_neighbors), np.asarray(path.errors)
    standard_errors, best = np.asarray(path.standard_errors), int(path.best)
    return RegionsByK(
        alt, ks, regions, n_neighbors, errors, standard_errors, best, int(path.one_standard_error)
    )

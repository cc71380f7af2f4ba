"""Rows and what is left of them after a narrow passage: original against rebuilt, images too."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Model
from pellucid.plots.panels.inputs import label_of, read_table
from pellucid.plots.panels.style import (
    LEAST,
    Axes,
    Picture,
    axes,
    colour,
    heading,
    legend,
    new_figure,
    panels,
)


class Reconstructions(Picture):
    """Chosen rows from the best rebuilt to the worst, with their squared errors."""

    rows: IntArray  # (m,) row numbers
    original: Array  # (m, p) or (m, *shape)
    rebuilt: Array  # the same
    errors: Array  # (m,) squared distance
    shape: tuple[int, ...]  # of an image, empty for rows of columns
    mean: Array  # (p,) of the columns, for rows
    spread: Array  # (p,)
    names: tuple[str, ...]

    def plot(self, ax: Axes | None = None) -> Any:
        """Images: original above rebuilt. Rows: their values in standard deviations."""
        if not self.shape and len(self.rows) == 1:
            return self._row(axes(ax), 0)
        if ax is not None:
            raise ValueError("several rows need axes of their own: call plot() without ax")
        return self._images() if self.shape else self._rows()

    def _images(self) -> Any:
        m = len(self.rows)
        figure = new_figure((max(1.1 * m, 4.0), 3.3))
        low, high = float(self.original.min()), float(self.original.max())
        for i in range(m):
            for line, images in enumerate((self.original, self.rebuilt)):
                ax = figure.add_subplot(2, m, line * m + i + 1)
                ax.imshow(images[i], cmap="gray_r", vmin=low, vmax=high, interpolation="nearest")
                ax.set_xticks([])
                ax.set_yticks([])
                if i == 0:
                    ax.set_ylabel(("original", "rebuilt")[line])
                if line == 0:
                    ax.set_title(f"row {self.rows[i]}", fontsize="small")
                else:
                    ax.set_xlabel(f"error {self.errors[i]:.3g}", fontsize="small")
        figure.suptitle(self.title, fontsize="medium", wrap=True)
        return figure

    def _rows(self) -> Any:
        m = len(self.rows)
        grid = panels(m, columns=2 if m in (2, 4) else 3, size=(3.8, 3.0))
        for i, ax in enumerate(grid):
            self._row(ax, i)
        grid[0].figure.suptitle(self.title, fontsize="medium", wrap=True)
        return grid[0].figure

    def _row(self, ax: Axes, i: int) -> Any:
        place = np.arange(len(self.names))
        a, b = ((v[i] - self.mean) / self.spread for v in (self.original, self.rebuilt))
        ax.vlines(place, a, b, color=colour(1), lw=1.6, alpha=0.7)
        ax.plot(place, a, "o", color=colour(0), ms=5, label="original")
        ax.plot(place, b, "x", color="black", ms=6, label="rebuilt")
        ax.axhline(0, color="#9CA3AF", lw=0.8)
        if len(place) <= 15:
            long = max(map(len, self.names)) > 4
            rotation = 45 if long else 0
            side = "right" if long else "center"
            ax.set_xticks(place, self.names, rotation=rotation, ha=side, fontsize=LEAST)
        else:
            ax.set_xlabel("column")
        if i == 0:
            legend(ax, fontsize=LEAST)
        ax.set_ylabel("standard deviations")
        heading(ax, f"row {self.rows[i]}: squared error {self.errors[i]:.3g}")
        return ax


def reconstructions(
    E: Model, X: ArrayLike, shape: Any = None, *, rows: Any = None, most: int = 6
) -> Reconstructions:
    """Rows against their reconstructions, from the best rebuilt to the worst.

    ``X``: table; ``most``: how many rows are drawn, 6 by default.

    Parameters
    ----------
    E : fitted PCA, ProbabilisticPCA, TruncatedSVD, autoencoder, ... or a Pipeline of such
        With ``reconstruct``, or ``transform`` and ``inverse_transform``.
    shape : (height, width) or (height, width, 3), optional
        Rows are images of this shape.
    rows : row numbers, optional
        Which rows; by default ``most`` of them, evenly over the ranks of their errors.

    Examples
    --------
    >>> from pellucid import PCA
    >>> from pellucid.plots import reconstructions
    >>> X = [[2.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, -1.0]]
    >>> picture = reconstructions(PCA(1).fit(X), X, rows=[0, 2])
    >>> picture.rebuilt.round(6), picture.errors.round(6) + 0.0
    (array([[1., 1.],
           [3., 3.]]), array([2., 0.]))
    """
    check.whole(most=most)
    table = read_table(X, E)
    M = table.X
    back = _rebuilt(E, table.given)
    if back.shape != M.shape:
        raise ValueError(f"{label_of(E)} rebuilds rows of shape {back.shape}, not {M.shape}")
    size = () if shape is None else tuple(int(s) for s in shape)
    if size and (len(size) not in (2, 3) or int(np.prod(size)) != M.shape[1]):
        raise ValueError(f"rows of {M.shape[1]} numbers are no images of shape {size}")
    errors = ((M - back) ** 2).sum(axis=1)
    if rows is None:
        order = np.argsort(errors, kind="stable")
        chosen = order[np.unique(np.linspace(0, len(order) - 1, min(most, len(order))).astype(int))]
    else:
        chosen = np.asarray(rows, dtype=np.intp).reshape(-1)
        if not len(chosen) or chosen.min() < 0 or chosen.max() >= len(M):
            raise ValueError(f"rows must be row numbers below {len(M)}, got {rows!r}")
    total = float(((M - M.mean(axis=0)) ** 2).sum())
    left = float(errors.sum()) / total if total > 0 else 0.0
    said = f"{left:.1%} of the squared spread is lost"
    title = f"{label_of(E)}: {said}; rows from the best rebuilt to the worst"
    if rows is not None:
        title = f"{label_of(E)}: {said}"
    alt = f"{len(chosen)} of {len(M)} rows beside their reconstructions; {said}."
    shape, spread = (-1, *(size or M.shape[1:])), M.std(axis=0)
    drawn = (chosen, M[chosen].reshape(shape), back[chosen].reshape(shape), errors[chosen], size)
    scale = (M.mean(axis=0), np.where(spread > 0, spread, 1.0))
    return Reconstructions(alt, *drawn, *scale, table.names, title=title)


def _rebuilt(E: Model, X: ArrayLike) -> Array:
    if hasattr(E, "reconstruct"):
        return np.asarray(E.reconstruct(X), dtype=np.float64)
    if not hasattr(E, "transform") or not hasattr(E, "inverse_transform"):
        raise ValueError(f"{label_of(E)} cannot rebuild rows: it has no inverse_transform")
    return np.asarray(E.inverse_transform(np.asarray(E.transform(X))), dtype=np.float64)

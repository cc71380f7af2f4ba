"""A matrix (an image) and its nearest ones of small rank, with the error that is left."""

from typing import Any

import numpy as np

from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.maths import decompose
from pellucid.plots.panels.style import Picture, colour, heading, panels

SHOWN = 4


class LowRank(Picture):
    matrix: Array  # (m, n)
    ranks: tuple[int, ...]
    images: tuple[Array, ...]
    storage: tuple[float, ...]  # numbers kept, as a share of m n
    error: Array  # (r + 1,) relative Frobenius error at rank 0, 1, ...

    def plot(self) -> Any:
        """The matrix, one panel per rank, and the error; the figure."""
        grid = panels(len(self.ranks) + 2, columns=3, size=(3.4, 3.1))
        look = {"cmap": "gray", "vmin": self.matrix.min(), "vmax": self.matrix.max()}
        look |= {"aspect": "equal", "interpolation": "nearest"}
        titles = [
            f"rank {k}: error {self.error[k]:.1%}, storage {s:.0%}"
            for k, s in zip(self.ranks, self.storage, strict=True)
        ]
        m, n = self.matrix.shape
        for ax, image, title in zip(
            grid, (self.matrix, *self.images), (f"{m} x {n}", *titles), strict=False
        ):
            ax.imshow(image, **look)
            ax.set(xticks=[], yticks=[])
            ax.grid(False)
            heading(ax, title, width=40)
        ax = grid[-1]
        ax.plot(np.arange(len(self.error)), self.error, color=colour(0), lw=1.8)
        ax.plot(self.ranks, self.error[list(self.ranks)], "o", color=colour(1))
        ax.set(xlabel="rank", ylabel="relative error", ylim=(0, 1.03))
        heading(ax, "What is left")
        return ax.figure


def low_rank(A: ArrayLike, k: Any = None) -> LowRank:
    """Nearest matrices of rank k, and the error by rank.

    ``A``: matrix, for instance a grey image; ``k``: int or list of int; ranks to show; default: a
    few, each about four times the last.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.plots import low_rank
    >>> low_rank(np.diag([4.0, 3.0]), 1).error.round(3)
    array([1. , 0.6, 0. ])
    """
    M = numeric_matrix(A, "A")
    if not np.isfinite(M).all() or not M.any():
        raise ValueError("A must hold finite numbers, not all of them zero")
    most = min(M.shape)
    if k is None:
        ranks = sorted({min(r, most) for r in (1, 4, 16, 64)})
    else:
        ranks = sorted({int(r) for r in np.atleast_1d(k)})
    if not ranks or ranks[0] < 0 or ranks[-1] > most:
        raise ValueError(f"k must hold ranks from 0 to {most}, got {k!r}")
    found = decompose(M)
    values = np.asarray(found.values, dtype=np.float64)
    left = np.sqrt(np.append(np.cumsum(values[::-1] ** 2)[::-1], 0.0))
    best = [found.low_rank(r) for r in ranks]
    error = left / left[0]
    said = ", ".join(f"{error[r]:.1%} at rank {r}" for r in ranks)
    alt = f"A matrix of {M.shape[0]} x {M.shape[1]} and its nearest of small rank; error {said}."
    return LowRank(
        alt, M, tuple(ranks), tuple(b.matrix for b in best), tuple(b.storage for b in best), error
    )

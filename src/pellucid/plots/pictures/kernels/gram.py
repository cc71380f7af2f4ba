"""A Gram matrix as a heat map, rows sorted by class, with its eigenvalues."""

from typing import Any

import numpy as np

from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array, IntArray, MaybeArray
from pellucid.kernel.functions.algebra import Kernel
from pellucid.kernel.functions.kernel_check import check_kernel
from pellucid.kernel.functions.kernel_check import gram as gram_matrix
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.planes import labels_of
from pellucid.plots.panels.style import Picture, colour, heading, panels

MOST = 1000  # rows drawn


class Gram(Picture):
    """The matrix drawn, and what is known of it."""

    K: Array  # (n, n) rows in the order drawn
    order: IntArray  # (n,) rows of the data
    codes: IntArray  # (n,) zeros without classes
    classes: tuple[str, ...]
    eigenvalues: Array  # (n,) from the largest
    valid: bool
    words: str
    within: float  # mean of pairs of one class; NaN without classes
    between: float

    def plot(self) -> Any:
        """Heat map and eigenvalues; the figure."""
        left, right = panels(2, columns=2, size=(4.9, 4.2))
        low, high = float(self.K.min()), float(self.K.max())
        signed = low < 0 < high
        top = max(abs(low), abs(high))
        cmap, ends = ("RdBu_r", (-top, top)) if signed else ("Blues", (low, high))
        look = {"cmap": cmap, "interpolation": "nearest", "vmin": ends[0], "vmax": ends[1]}
        image = left.imshow(self.K, **look)
        left.figure.colorbar(image, ax=left, shrink=0.85, label="k(x, z)")
        left.grid(False)
        for edge in np.flatnonzero(np.diff(self.codes)) + 0.5:
            left.axhline(edge, color="black", lw=0.8)
            left.axvline(edge, color="black", lw=0.8)
        if self.classes:
            found = [np.flatnonzero(self.codes == k) for k in range(len(self.classes))]
            middle = [float(rows.mean()) for rows in found if len(rows)]
            shown = [c for k, c in enumerate(self.classes) if (self.codes == k).any()]
            left.set_yticks(middle, shown)
            left.set_xticks(middle, shown)
        else:
            left.xaxis.get_major_locator().set_params(integer=True)
            left.yaxis.get_major_locator().set_params(integer=True)
        means = f"mean {self.within:.3g} inside a class, {self.between:.3g} between"
        note = "" if np.isnan(self.within) else means
        heading(left, "Gram matrix", note)
        place = np.arange(1, len(self.eigenvalues) + 1)
        under = self.eigenvalues < 0
        right.plot(place, self.eigenvalues, "-", color=colour(0), lw=1)
        right.plot(place[~under], self.eigenvalues[~under], "o", color=colour(0), ms=4)
        if not self.valid:
            x, y = place[under], self.eigenvalues[under]
            right.plot(x, y, "X", color=colour(1), ms=7, label="below 0")
            right.legend(loc="best", frameon=False)
        right.axhline(0, color="black", lw=0.8)
        span = float(np.abs(self.eigenvalues).max()) or 1.0
        right.set_yscale("symlog", linthresh=1e-6 * span)
        ylim = (-1e-6 * span if self.valid else None, 2 * span)
        right.set(xlabel="number", ylabel="eigenvalue", ylim=ylim)
        right.xaxis.get_major_locator().set_params(integer=True)
        heading(right, f"Eigenvalues: {self.words}")
        return left.figure


def gram(K: Any, y: MaybeArray = None, *, X: MaybeArray = None) -> Gram:
    """A Gram matrix sorted by class, with its eigenvalues.

    ``K``: square matrix, or with X a Kernel or a function of two rows; ``y``: classes of the rows,
    optional; ``X``: rows (a list of graphs for a graph kernel), for a Kernel or function.

    Examples
    --------
    >>> from pellucid.kernel import GaussianKernel
    >>> from pellucid.plots import gram
    >>> picture = gram(GaussianKernel(1.0), ["b", "a", "b"], X=[[0.0], [5.0], [0.1]])
    >>> picture.order.tolist(), picture.valid, picture.within > picture.between
    ([1, 0, 2], True, True)
    """
    proven = False
    if isinstance(K, Kernel) or callable(K):
        if X is None:
            raise ValueError("a kernel needs the rows X, unless a Gram matrix is given")
        found = check_kernel(K, X)
        matrix, proven = gram_matrix(K, X), bool(getattr(K, "by_construction", False))
    else:
        matrix = numeric_matrix(K, "K")
        found = check_kernel(matrix)
    n = len(matrix)
    kept = thinned(n, MOST)
    codes: IntArray = np.zeros(n, np.intp)
    classes: tuple[str, ...] = ()
    if y is not None:
        labels = labels_of(y, n)
        codes, classes = labels.codes, labels.classes
    order = kept[np.argsort(codes[kept], kind="stable")]
    K = matrix[np.ix_(order, order)]
    c = codes[order]
    same, apart = c[:, None] == c, ~np.eye(len(c), dtype=bool)
    within = float(K[same & apart].mean()) if classes and (same & apart).any() else np.nan
    between = float(K[~same].mean()) if classes and (~same).any() else np.nan
    values = np.linalg.eigvalsh(0.5 * (K + K.T))[::-1]
    said = str(found).split(":")[0]
    said = "valid by construction" if proven and found.valid else said
    alt = (
        f"Gram matrix of {len(K)} rows as a heat map"
        + (f" sorted by {' and '.join(classes)}" if classes else "")
        + f", eigenvalues from {values[0]:.3g} to {values[-1]:.3g}: {said}."
    )
    return Gram(alt, K, order, c, classes, values, bool(found.valid), said, within, between)

"""What a 2 x 2 matrix does to the unit circle, one factor at a time.

A = U diag(s) V': turn by V', stretch along the axes, turn by U. For a symmetric matrix also
A = Q diag(l) Q', with stretches that may be negative.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.maths import decompose
from pellucid.plots.panels.marks import arrow
from pellucid.plots.panels.style import GREY, Picture, colour, heading, legend, panels

POINTS = 181
CIRCLE, STRETCHED = "the unit circle", "stretched by the"
NAMES = {
    "svd": (CIRCLE, "turned by V'", f"{STRETCHED} singular values", "turned by U: A x"),
    "spectral": (CIRCLE, "turned by Q'", f"{STRETCHED} eigenvalues", "turned back by Q: A x"),
}


class MatrixAction(Picture):
    kind: str
    values: Array  # (2,) singular values or eigenvalues
    curves: tuple[Array, ...]  # four of (k, 2)
    arrows: tuple[Array, ...]  # four of (2, 2), rows: the images of the two right vectors

    def plot(self) -> Any:
        """Four panels on one scale; the figure."""
        grid = panels(4, columns=4, size=(2.9, 3.1))
        reach = 1.12 * max(float(np.abs(curve).max()) for curve in self.curves)
        for ax, curve, arrows, name in zip(
            grid, self.curves, self.arrows, NAMES[self.kind], strict=True
        ):
            ax.plot(*self.curves[0].T, color=GREY, lw=0.8, ls=":")
            ax.plot(*curve.T, color=colour(0), lw=2)
            for k, tip in enumerate(arrows):
                arrow(ax, tip, (0, 0), colour(k + 1), 2)
                ax.plot([], [], color=colour(k + 1), lw=2, label=f"{self.values[k]:.3g}")
            ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            heading(ax, name, width=30)
        legend(grid[2], title="stretch", loc="upper right")
        return grid[0].figure


def matrix_action(A: ArrayLike, *, kind: str = "svd") -> MatrixAction:
    """The unit circle through the steps of a decomposition.

    ``A``: matrix of shape (2, 2); ``kind``: {"svd", "spectral"}: "spectral" for a symmetric matrix.

    Examples
    --------
    >>> from pellucid.plots import matrix_action
    >>> matrix_action([[2.0, 0.0], [0.0, 1.0]]).values
    array([2., 1.])
    """
    check.one_of(tuple(NAMES), kind=kind)
    A = np.asarray(A, dtype=np.float64)
    if A.shape != (2, 2):
        raise ValueError(f"matrix_action draws 2 x 2 matrices, got shape {A.shape}")
    found = decompose(A, kind)
    angle = np.linspace(0, 2 * np.pi, POINTS)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    vectors = np.asarray(found.right).T  # columns: the right vectors
    stages = zip((circle, *found.steps(circle)), (vectors, *found.steps(vectors)), strict=True)
    curves, arrows = zip(*((c.T.copy(), v.T.copy()) for c, v in stages), strict=True)
    word = "singular values" if kind == "svd" else "eigenvalues"
    alt = (
        f"The unit circle becomes an ellipse in three steps: turned, stretched by the {word} "
        f"{found.values[0]:.4g} and {found.values[1]:.4g}, turned again."
    )
    return MatrixAction(alt, kind, np.asarray(found.values, dtype=np.float64), curves, arrows)

"""How a level set x'Ax = c comes from a circle: scaled, stretched, turned."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.maths import ellipsoid
from pellucid.plots.panels.marks import beside
from pellucid.plots.panels.style import GREY, Picture, colour, heading, panels

POINTS = 181
NAMES = ("unit circle", "stretched along the axes", "turned to the eigenvectors, moved")


class Ellipse(Picture):
    """Three curves, and the axes of the last."""

    curves: tuple[Array, Array, Array]  # (k, 2) each
    center: Array  # (2,)
    axes: Array  # (2, 2) unit columns, the longest first
    radii: Array  # (2,)
    c: float

    def plot(self) -> Any:
        """Three panels on one scale; the figure."""
        grid = panels(3, columns=3, size=(3.4, 3.5))
        points = np.vstack(self.curves)
        low, high = points.min(axis=0), points.max(axis=0)
        middle, reach = (low + high) / 2, 0.56 * float((high - low).max())
        frames = (np.eye(2), np.diag(self.radii), self.axes * self.radii)
        for ax, curve, frame, name in zip(grid, self.curves, frames, NAMES, strict=True):
            start = self.center if name == NAMES[2] else np.zeros(2)
            ax.plot(*curve.T, color=colour(0), lw=2)
            for k in range(2):
                ax.plot(*np.stack([start, start + frame[:, k]]).T, color=colour(k + 1), lw=2)
                text = f"{np.linalg.norm(frame[:, k]):.3g}"
                beside(ax, text, start + 0.55 * frame[:, k], (4, 4), color=colour(k + 1))
            ax.plot(*start, "o", ms=4, color=GREY)
            ylim = middle[1] + np.array([-reach, reach])
            ax.set(xlim=middle[0] + np.array([-reach, reach]), ylim=ylim, aspect="equal")
            heading(ax, name, width=34)
        return grid[0].figure


def ellipse(A: ArrayLike, c: float = 1.0, *, center: Any = None) -> Ellipse:
    """The level set (x - center)'A(x - center) = c, from circle to ellipse.

    ``A``: positive definite matrix of shape (2, 2); ``c``: level of the form, 1 by default;
    ``center``: vector, optional.

    Examples
    --------
    >>> from pellucid.plots import ellipse
    >>> ellipse([[3.0, 1.0], [1.0, 3.0]], 4.0).radii.round(4)
    array([1.4142, 1.    ])
    """
    if np.shape(A) != (2, 2):
        raise ValueError(f"ellipse draws 2 x 2 matrices, got shape {np.shape(A)}")
    found = ellipsoid(A, c, center)
    angle = np.linspace(0, 2 * np.pi, POINTS)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    stretched = circle * found.radii
    turned = found.center + stretched @ found.axes.T
    alt = (
        f"The unit circle, stretched to the half-axes {found.radii[0]:.4g} and "
        f"{found.radii[1]:.4g}, and turned to the eigenvectors: the level set {c:.4g}."
    )
    return Ellipse(
        alt, (circle, stretched, turned), found.center, found.axes, found.radii, float(c)
    )

"""A point, its foot on a line or plane, and the right angle between."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.maths import AffineSubspace
from pellucid.plots.panels.style import (
    GREY,
    Axes,
    Picture,
    axes,
    colour,
    heading,
    legend,
    new_figure,
)


class Projection(Picture):
    x: Array  # (d,) the point, d = 2 or 3
    foot: Array  # (d,)
    point: Array  # (d,) of the set
    directions: Array  # (d, k) orthonormal, k = 1 or 2
    distance: float
    linear: bool  # through the origin

    def plot(self, ax: Any = None) -> Any:
        flat = len(self.x) == 2
        if ax is None and not flat:
            ax = new_figure((6.0, 5.2)).add_subplot(projection="3d")
        ax = axes(ax, figsize=(5.6, 5.0))
        if (ax.name == "3d") == flat:
            raise ValueError(
                f"points of {len(self.x)} dimensions need "
                f"{'flat' if flat else 'three-dimensional'} axes"
            )
        reach = self._reach()
        self._set(ax, reach)
        label = f"residual, length {self.distance:.4g}"
        ax.plot(*np.stack([self.x, self.foot]).T, color=colour(1), lw=2, ls="--", label=label)
        for at, k, name in ((self.x, 1, "point"), (self.foot, 2, "foot: the nearest point")):
            ax.plot(*at[:, None], "os^"[k], ms=8, color=colour(k), ls="none", label=name)
        zero = np.zeros_like(self.x)
        ax.plot(*zero[:, None], "+", ms=10, color="black", label="origin")
        self._corner(ax, reach)
        ax.set_aspect("equal")
        ax.set(xlabel="x₁", ylabel="x₂")
        if not flat:
            ax.set_zlabel("x₃")
        legend(ax)
        what = "line" if self.directions.shape[1] == 1 else "plane"
        heading(ax, f"Projection on {'a' if self.linear else 'an affine'} {what}")
        return ax

    def _reach(self) -> float:
        ends = np.stack([self.x - self.foot, self.point - self.foot, -self.foot])
        return 1.25 * max(float(np.linalg.norm(ends, axis=1).max()), 1e-9)

    def _set(self, ax: Any, reach: float) -> None:
        """A stretch of the line, or a sheet of the plane, around the foot."""
        if self.directions.shape[1] == 1:
            ends = self.foot + reach * np.array([[-1.0], [1.0]]) * self.directions[:, 0]
            ax.plot(*ends.T, color=colour(0), lw=2, label="the set")
            return
        t = reach * np.array([-1.0, 1.0])
        sheet = self.foot[:, None, None] + np.einsum(
            "dk,kij->dij", self.directions, np.stack(np.meshgrid(t, t))
        )
        across = np.cross(*self.directions.T)
        across = -across if across[2] < 0 else across
        ax.view_init(24, float(np.degrees(np.arctan2(across[1], across[0]))) + 55)
        ax.plot_surface(*sheet, color=colour(0), alpha=0.25, shade=False)

    def _corner(self, ax: Axes, reach: float) -> None:
        """The small square of a right angle."""
        if self.distance <= 1e-12 * reach:
            return
        size = min(0.08 * reach, 0.4 * self.distance)
        up = size * (self.x - self.foot) / self.distance
        along = size * self.directions[:, 0]
        ax.plot(
            *np.stack([self.foot + along, self.foot + along + up, self.foot + up]).T,
            color=GREY,
            lw=1.2,
        )


def projection(x: ArrayLike, B: Any, point: Any = None) -> Projection:
    """A point projected on a line, an affine line or a plane.

    ``x``: vector of 2 or 3 numbers; ``B``: directions of the set as columns; a vector is one
    direction. An AffineSubspace also serves. ``point``: vector; a point of the set; the origin by
    default.

    Examples
    --------
    >>> from pellucid.plots import projection
    >>> picture = projection([1.0, 2.0], [1.0, 0.0])
    >>> picture.foot, picture.distance
    (array([1., 0.]), 2.0)
    """
    if isinstance(B, AffineSubspace):
        if point is not None:
            raise ValueError("point is for directions; an AffineSubspace has its own")
        space = B
    else:
        space = AffineSubspace(B, point)
    x = np.asarray(x, dtype=np.float64).ravel()
    if len(x) not in (2, 3) or not 0 < space.dim < len(x):
        raise ValueError(
            f"the picture shows lines in 2 and lines and planes in 3 dimensions, got dimension "
            f"{space.dim} in {len(x)}"
        )
    found = space.project(x)
    said = ", ".join(f"{v:.4g}" for v in np.round(found.point, 12) + 0.0)
    what = "line" if space.dim == 1 else "plane"
    alt = (
        f"A point in {len(x)} dimensions and its foot ({said}) on a {what}; the residual of length "
        f"{found.distance:.4g} is at a right angle to it."
    )
    at = np.asarray(space.point, dtype=np.float64)
    return Projection(alt, x, found.point, at, space._U, found.distance, bool(space.is_linear))

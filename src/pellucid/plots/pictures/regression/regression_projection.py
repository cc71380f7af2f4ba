r"""Least squares as a projection: y, its foot in the column space, and the residual.

    y = yhat + r,   yhat = H y in the span of the columns,   r orthogonal to every column
    |y|^2 = |yhat|^2 + |r|^2        (Pythagoras; about the mean the cosine squared is R^2)

With three rows the picture is the space itself; with more it is the plane through y and yhat,
which holds the whole triangle without distortion.
"""

from typing import Any

import numpy as np

from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.plots.panels.inputs import read_table, response
from pellucid.plots.panels.style import (
    GREY,
    Axes,
    Picture,
    axes,
    colour,
    legend,
    legend_below,
    new_figure,
)


class RegressionProjection(Picture):
    y: Array  # (n,) about its mean where ``centred``
    fitted: Array  # (n,)
    residual: Array  # (n,)
    lengths: tuple[float, float, float]  # of y, fitted, residual
    angle: float  # between y and the column space, degrees
    columns: Array  # (n, q) the design, for three rows
    names: tuple[str, ...]
    centred: bool

    @property
    def spatial(self) -> bool:
        """Whether the picture is three-dimensional."""
        return len(self.y) == 3 and not self.centred

    def plot(self, ax: Any = None) -> Any:
        if not self.spatial:
            return self._triangle(axes(ax))
        if ax is None:
            ax = new_figure((6, 5)).add_subplot(projection="3d")
        return self._space(ax) if ax.name == "3d" else self._triangle(axes(ax))

    def _triangle(self, ax: Axes) -> Any:
        whole, base, height = self.lengths
        mean = " - mean" if self.centred else ""
        sides = [
            ((0, 0), (base, height), colour(0), f"y{mean}, length {whole:.4g}"),
            ((0, 0), (base, 0), colour(2), f"fit{mean}, length {base:.4g}"),
            ((base, 0), (base, height), colour(1), f"residual, length {height:.4g}"),
        ]
        room = 0.35 * max(base, height, 1e-300)
        ax.axhspan(-0.04 * room, 0.04 * room, color=colour(5), alpha=0.5, lw=0)
        x = max(base + room, 1.3 * (height + room))
        ax.text(x, -0.12 * room, "column space", ha="right", va="top", color=GREY)
        for (a, b), (c, d), tint, label in sides:
            look = {"arrowstyle": "-|>", "color": tint, "lw": 2.2}
            ax.annotate("", (c, d), (a, b), arrowprops=look)
            ax.plot([], [], color=tint, lw=2.2, label=label)
        if min(base, height) > 0:
            s = 0.07 * min(max(base, height), 4 * min(base, height))
            ax.plot([base - s, base - s, base], [0, s, s], color="black", lw=1)
        share = f", R² = {(base / whole) ** 2:.4g}" if self.centred and whole > 0 else ""
        wide = max(base + room, 1.3 * (height + room))
        ax.set(xlim=(-0.25 * room, wide), ylim=(-0.5 * room, height + 0.3 * room))
        ax.set_aspect("equal", adjustable="box")
        title = f"y and the column space: {self.angle:.1f}°{share}"
        ax.set(xlabel="along the fit", ylabel="orthogonal to the columns", title=title)
        legend_below(ax, ncols=3)
        return ax

    def _space(self, ax: Any) -> Any:
        zero = np.zeros(3)
        found = np.linalg.svd(self.columns)
        if np.count_nonzero(found.S / found.S[0] > 1e-12) == 2:
            u, v, normal = *found.U[:, :2].T, found.U[:, 2]
            inside = np.vstack([zero, self.fitted, self.columns.T]) @ found.U[:, :2]
            room = 0.15 * np.ptp(inside, axis=0).max()
            (a, b), (c, d) = inside.min(axis=0) - room, inside.max(axis=0) + room
            corners = np.array([[[a, b], [c, b]], [[a, d], [c, d]]])
            P = corners[..., :1] * u + corners[..., 1:] * v
            ax.plot_surface(*np.moveaxis(P, -1, 0), color=colour(5), alpha=0.3, linewidth=0)
            look_at(ax, self.fitted, normal if normal @ self.residual >= 0 else -normal)
        pairs = zip(self.columns.T, self.names, strict=True)
        arrows = [
            (zero, self.y, colour(0), "y"),
            (zero, self.fitted, colour(2), "fit, the projection"),
            (self.fitted, self.residual, colour(1), "residual, orthogonal"),
            *((zero, c, GREY, f"column {name}") for c, name in pairs),
        ]
        for i, (at, vector, tint, label) in enumerate(arrows):
            width, said = (2, label) if i < 3 else (1.2, None)
            ax.quiver(*at, *vector, color=tint, lw=width, arrow_length_ratio=0.08, label=said)
            if i >= 3:
                ax.text(*(1.05 * vector), label, color=GREY, fontsize="small")
        u, r = (v / (np.linalg.norm(v) or 1.0) for v in (self.fitted, self.residual))
        s = 0.25 * min(self.lengths[1:])
        corner = self.fitted + s * np.array([-u, r - u, r])
        ax.plot(*corner.T, color="black", lw=1)
        ax.set_title(
            f"space of the three rows: y and the columns are {self.angle:.1f}° apart", wrap=True
        )
        limits = (ax.get_xlim(), ax.get_ylim(), ax.get_zlim())
        ax.set_box_aspect(np.ptp(limits, axis=1), zoom=1.2)
        ax.set_axis_off()
        legend(ax, loc="upper left")
        return ax


def look_at(ax: Any, along: Array, normal: Array) -> None:
    """Turn the space so that the fit runs across and the residual points up."""
    aside = np.cross(along, normal)
    size = np.linalg.norm(aside)
    towards = (aside / size if size > 0 else np.zeros(3)) + 0.45 * normal
    towards /= np.linalg.norm(towards)
    elevation = np.degrees(np.arcsin(towards[2]))
    azimuth = np.degrees(np.arctan2(towards[1], towards[0]))
    z = np.array([0.0, 0.0, 1.0])
    up = z - (z @ towards) * towards  # what the screen has upwards before it is rolled
    wanted = normal - (normal @ towards) * towards
    turn = np.arctan2(np.cross(up, wanted) @ towards, up @ wanted)
    ax.view_init(elevation, azimuth, -np.degrees(turn))


def regression_projection(
    X: ArrayLike, y: ArrayLike, *, fit_intercept: bool = True, centred: bool | None = None
) -> RegressionProjection:
    """y, its projection on the column space and the residual, as a right triangle.

    ``X``, ``y``: the data; three rows are drawn in space. ``fit_intercept``: whether a column of
    ones is one of the columns; ``centred``: lengths about the mean of y, so that the cosine squared
    is R^2; None: with an intercept and more than three rows.

    Examples
    --------
    >>> picture = regression_projection([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> picture.fitted.round(4), picture.residual.round(4), picture.spatial
    (array([0.8333, 2.3333, 3.8333]), array([ 0.1667, -0.3333,  0.1667]), True)
    """
    table = read_table(X)
    y, _ = response(y, len(table.X))
    D, names = table.X, table.names
    if fit_intercept:
        D, names = np.column_stack([np.ones(len(y)), D]), ("1", *names)
    centred = fit_intercept and len(y) != 3 if centred is None else centred
    if centred and not fit_intercept:
        raise ValueError("centred=True needs fit_intercept=True: the mean must be in the span")
    norms = np.linalg.norm(D, axis=0)
    U, d, _ = np.linalg.svd(D / np.where(norms > 0, norms, 1.0), full_matrices=False)
    U = U[:, d > max(D.shape) * EPS * d.max(initial=0.0)]
    fitted = U @ (U.T @ y)
    residual = y - fitted
    residual -= U @ (U.T @ residual)
    mean = y.mean() if centred else 0.0
    y, fitted = y - mean, fitted - mean
    whole, base, height = (float(np.linalg.norm(v)) for v in (y, fitted, residual))
    lengths = (whole, base, height)
    angle = float(np.degrees(np.arctan2(lengths[2], lengths[1])))
    alt = (
        f"Right triangle: y{' about its mean' if centred else ''} of length {lengths[0]:.4g} is "
        f"the fit of length {lengths[1]:.4g} plus a residual of length {lengths[2]:.4g} "
        f"orthogonal to {U.shape[1]} dimensions of columns; angle {angle:.1f} degrees."
    )
    kept = D if len(y) == 3 else D[:, :0]
    return RegressionProjection(
        alt, y, fitted, residual, lengths, angle, kept, names if len(y) == 3 else (), centred
    )

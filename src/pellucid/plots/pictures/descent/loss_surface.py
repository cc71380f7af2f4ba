r"""The residual sum of squares as a function of two coefficients.

    RSS(b_j, b_k) = RSS_min + (b - bhat)' S (b - bhat),   S = Z'Z

Z: the two columns with all others (and the constant) projected out, so the other coefficients are
at their best for every point of the picture. Where S is singular the bowl is a trough: every point
of its floor fits equally well.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, Columns
from pellucid.plots.panels.drawing import draw_contours, framed_legend
from pellucid.plots.panels.inputs import read_table, response, two_columns, with_note
from pellucid.plots.panels.style import Panel, colour

FLAT = 1e-10  # of the largest curvature


class LossSurface(Panel):
    first: Array  # (g,) values of the coefficient across
    second: Array  # (g,) of the one upwards
    rss: Array  # (g, g), rows belong to ``second``
    names: tuple[str, str]
    minimum: Array  # (2,) of least norm where there are many
    rss_minimum: float
    curvature: Array  # (2, 2) S
    eigenvalues: Array  # (2,) of S, rising
    trough: Array | None  # (2, 2) the ends of the floor, or None

    def _draw(self, ax: Any) -> None:
        """Contours, or a surface when ``ax`` is three-dimensional."""
        if ax.name == "3d":
            A, B = np.meshgrid(self.first, self.second)
            ax.plot_surface(A, B, self.rss, cmap="viridis", alpha=0.8, linewidth=0)
            ax.set_zlabel("residual sum of squares", labelpad=12)
        else:
            draw_contours(ax, self.first, self.second, self.rss, "residual sum of squares")
            if self.trough is not None:
                ax.plot(*self.trough.T, color=colour(1), lw=2.5, label="flat floor: equal RSS")
            kind = "least-norm minimum" if self.trough is not None else "minimum"
            label = f"{kind}, RSS {self.rss_minimum:.4g}"
            ax.plot(*self.minimum, "*", color="gold", ms=12, mec="black", label=label)
            framed_legend(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title=self.title)


def loss_surface(
    X: ArrayLike,
    y: ArrayLike,
    *,
    columns: Columns | None = None,
    fit_intercept: bool = True,
    n: int = 121,
) -> LossSurface:
    """RSS contours of two coefficients; a trough where they are not determined.

    ``X``, ``y``: the data; ``fit_intercept``: whether an intercept is fitted, True by default.
    ``columns``: two names or numbers; whose coefficients; the first two, or intercept and slope
    where X has one column. ``n``: points of the grid along each axis.

    Examples
    --------
    >>> picture = loss_surface([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])
    >>> picture.names, picture.minimum.round(4), round(picture.rss_minimum, 4)
    (('intercept', 'coefficient of x0'), array([0.8333, 1.5   ]), 0.1667)
    """
    table = read_table(X)
    y, _ = response(y, len(table.X))
    p = len(table.names)
    if p == 1 and not fit_intercept:
        raise ValueError("one column without an intercept has one coefficient; two are needed")
    if p == 1:
        D = np.column_stack([np.ones(len(y)), table.X])
        chosen, others = D, D[:, :0]
        names = ("intercept", f"coefficient of {table.names[0]}")
    else:
        j, k = two_columns((0, 1) if columns is None else columns, table.names)
        chosen = table.X[:, [j, k]]
        others = np.delete(table.X, [j, k], axis=1)
        others = np.column_stack([np.ones(len(y)), others]) if fit_intercept else others
        names = (f"coefficient of {table.names[j]}", f"coefficient of {table.names[k]}")
    minimum, S, rss, flat = bowl(chosen, others, y)
    values, vectors = np.linalg.eigh(S)
    first, second = window(minimum, values, vectors, rss, len(y), n)
    shift = np.stack(np.meshgrid(first - minimum[0], second - minimum[1]), axis=-1)
    surface = rss + np.einsum("...i,ij,...j->...", shift, S, shift)
    trough = floor_line(minimum, vectors[:, 0], first, second) if flat else None
    rest = "other coefficients at their best" if others.shape[1] > fit_intercept else ""
    title = with_note("RSS: a trough, not a bowl" if flat else "RSS: a bowl with one minimum", rest)
    alt = (
        f"Contours of the residual sum of squares over {names[0]} and {names[1]}; "
        + ("a straight floor of equally good fits through " if flat else "one minimum at ")
        + f"({minimum[0]:.4g}, {minimum[1]:.4g}), RSS {rss:.4g}."
    )
    return LossSurface(
        alt, first, second, surface, names, minimum, rss, S, values, trough, title=title
    )


def bowl(chosen: Array, others: Array, y: Array) -> tuple[Array, Array, float, bool]:
    """Minimum of least norm, S, RSS there, and whether S is singular."""
    scale = np.linalg.norm(chosen, axis=0)
    if others.shape[1]:
        chosen = chosen - others @ np.linalg.lstsq(others, chosen, rcond=None)[0]
        y = y - others @ np.linalg.lstsq(others, y, rcond=None)[0]
    chosen = np.where(np.linalg.norm(chosen, axis=0) > 1e-12 * scale, chosen, 0.0)
    S = chosen.T @ chosen
    values, vectors = np.linalg.eigh(S)
    norms = np.where(np.diag(S) > 0, np.sqrt(np.diag(S)), 1.0)
    flat = np.linalg.eigvalsh(S / np.outer(norms, norms))[0] <= FLAT
    if flat:
        keep = vectors[:, 1:] if values[1] > 0 else vectors[:, :0]
        fit = keep @ np.linalg.lstsq(chosen @ keep, y, rcond=None)[0] if keep.size else np.zeros(2)
        S = (keep * values[1]) @ keep.T if keep.size else np.zeros((2, 2))
    else:
        fit = np.linalg.lstsq(chosen, y, rcond=None)[0]
    return fit, S, float(((y - chosen @ fit) ** 2).sum()), bool(flat)


def window(
    centre: Array, values: Array, vectors: Array, rss: float, rows: int, n: int
) -> tuple[Array, Array]:
    """Axes that show the bowl, its minimum and the origin."""
    high = values[-1]
    if not high > 0:
        reach = np.ones(2)
    else:
        radius = np.sqrt(np.maximum(values, 0.02 * high))  # a long valley is cut, not followed
        size = max(rss, 1e-3 * high * max(float(centre @ centre), 1e-12))
        half = np.sqrt(size) * np.abs(vectors) / radius
        reach = np.maximum(1.6 * half.max(axis=1), 0.6 * np.abs(centre))
        reach = np.maximum(reach, 0.15 * reach.max())
    return tuple(np.linspace(c - r, c + r, n) for c, r in zip(centre, reach, strict=True))  # type: ignore[return-value]


def floor_line(centre: Array, direction: Array, first: Array, second: Array) -> Array:
    """The part of centre + t direction inside the axes."""
    ends = []
    for sign in (-1.0, 1.0):
        room = []
        for c, d, axis in zip(centre, sign * direction, (first, second), strict=True):
            if abs(d) > 1e-12:
                room.append(((axis[-1] if d > 0 else axis[0]) - c) / d)
        ends.append(centre + sign * direction * min(room))
    return np.array(ends)

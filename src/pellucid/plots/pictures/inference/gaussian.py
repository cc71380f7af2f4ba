"""A normal distribution of two numbers: ellipses of equal density along the eigenvectors."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.inference import MultivariateNormal
from pellucid.plots.panels.drawing import ellipse
from pellucid.plots.panels.marks import arrow
from pellucid.plots.panels.style import Picture, axes, colour, heading, legend, new_figure

LEVELS = (0.5, 0.9, 0.99)
LINES = ("-", "--", ":")
SIDE = 81


class Gaussian(Picture):
    """Curves that hold given probabilities, eigen-axes of one standard deviation, the density."""

    mean: Array  # (2,)
    cov: Array  # (2, 2)
    axes: Array  # (2, r) columns: eigenvectors times the standard deviation along them
    levels: tuple[float, ...]
    curves: tuple[Array, ...]  # (k, 2) each
    grid: tuple[Array, Array, Array]  # x, y, density
    surface: bool

    def plot(self, ax: Any = None) -> Any:
        if self.surface:
            return self._surface(ax)
        ax = axes(ax, figsize=(5.8, 5.0))
        x, y, density = self.grid
        if np.isfinite(density).all() and density.max() > 0:
            levels = float(density.max()) * np.linspace(0.02, 1.0, 12)
            ax.contourf(x, y, density, levels=levels, cmap="Blues", alpha=0.8)
        for level, curve, line in zip(self.levels, self.curves, LINES, strict=True):
            ax.plot(*curve.T, color="black", lw=1.2, ls=line, label=f"holds {level:.0%}")
        for k, along in enumerate(self.axes.T):
            arrow(ax, self.mean + along, self.mean, colour(k + 1), 2.2, zorder=5)
            size = float(np.linalg.norm(along))
            ax.plot([], [], color=colour(k + 1), lw=2.2, label=f"sd {size:.3g} along it")
        ax.plot(*self.mean, "o", color="black", ms=5)
        ax.set(xlabel="x₁", ylabel="x₂", aspect="equal")
        ax.grid(False)
        spread = np.sqrt(np.diag(self.cov))
        rho = self.cov[0, 1] / np.prod(spread) if np.prod(spread) > 0 else 0.0
        heading(ax, f"Normal distribution, correlation {rho:.3g}")
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.28 * (high - low))  # room for the words
        legend(ax, loc="upper left" if rho >= 0 else "upper right")
        return ax

    def _surface(self, ax: Any) -> Any:
        if ax is None:
            ax = new_figure((6.2, 5.0)).add_subplot(projection="3d")
        if ax.name != "3d":
            raise ValueError("surface=True needs axes with projection='3d', got flat ones")
        x, y, density = self.grid
        X, Y = np.meshgrid(x, y)
        look: Any = {"cmap": "Blues", "rcount": SIDE, "ccount": SIDE, "lw": 0.2}
        ax.plot_surface(X, Y, density, edgecolor="#6B7280", **look)
        ax.set(xlabel="x₁", ylabel="x₂", zlabel="density")
        ax.set_title("Density of a normal distribution", loc="left", fontsize="medium")
        return ax


def gaussian(mean: Any, cov: Any = None, *, surface: bool = False) -> Gaussian:
    """Contour ellipses of a normal distribution in the plane, with its eigen-axes.

    ``mean``: two numbers, or a MultivariateNormal; ``cov``: matrix of shape (2, 2), positive
    semi-definite; ``surface``: draw the density in three dimensions instead.

    Examples
    --------
    >>> from pellucid.plots import gaussian
    >>> gaussian([0.0, 0.0], [[4.0, 0.0], [0.0, 1.0]]).axes + 0.0
    array([[2., 0.],
           [0., 1.]])
    """
    if (cov is None) != hasattr(mean, "cov"):
        raise ValueError("give a mean and a cov, or one MultivariateNormal")
    law = mean if cov is None else MultivariateNormal(mean, cov)
    m, S = np.asarray(law.mean, dtype=np.float64), np.asarray(law.cov, dtype=np.float64)
    if len(m) != 2:
        raise ValueError(f"the picture shows two dimensions, got {len(m)}; take a marginal")
    if not S.any():
        raise ValueError("cov must not be all zero: the distribution is one point")
    radii = [float(np.sqrt(-2 * np.log1p(-p))) for p in LEVELS]  # of a chi with 2 degrees
    curves = tuple(ellipse(m, S, r) for r in radii)
    low, high = curves[-1].min(axis=0), curves[-1].max(axis=0)
    room = np.maximum(0.08 * (high - low), 0.02 * (high - low).max())
    x, y = (np.linspace(a, b, SIDE) for a, b in zip(low - room, high + room, strict=True))
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    if law.rank < 2 and surface:
        raise ValueError("the distribution lies on a line and has no density surface")
    flat = law.rank < 2  # on a line: no density in the plane
    density = np.zeros(len(places)) if flat else np.asarray(law.density(places))
    found = law.ellipsoid(0.95)
    values = np.linalg.eigvalsh(S)[::-1][: law.rank]
    turn = np.where(found.axes[np.abs(found.axes).argmax(axis=0), range(law.rank)] < 0, -1.0, 1.0)
    along = np.asarray(found.axes) * turn * np.sqrt(values)
    alt = (
        f"Normal distribution round ({m[0]:.4g}, {m[1]:.4g}): standard deviations "
        + " and ".join(f"{np.sqrt(v):.4g}" for v in values)
        + " along its eigenvectors; ellipses hold 50, 90 and 99 %."
    )
    return Gaussian(alt, m, S, along, LEVELS, curves, (x, y, density.reshape(SIDE, SIDE)), surface)

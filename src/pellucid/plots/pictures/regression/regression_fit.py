"""A fitted regression on its data: line, curve or plane, residuals, and bands where they exist.

One input: the curve. Two: the surface. More: one or two named ``columns`` with the others at their
median, or the first two principal axes; every point is then drawn at fit + residual, so that the
segments are the residuals of the whole model.
"""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Columns, Model
from pellucid.plots.panels.inputs import predicted, response, same_kind, table
from pellucid.plots.panels.marks import band, margin, thinned
from pellucid.plots.panels.planes import view_of
from pellucid.plots.panels.style import GREY, Picture, axes, colour, heading, legend, new_figure

CURVE = 200  # points of a curve
SURFACE = 25  # points along each side of a surface


class RegressionFit(Picture):
    at: Array  # (m, 1) or (m, 2): where the points stand
    height: Array  # (m,) fitted + residual; the target itself where nothing is left out
    fitted: Array  # (m,) the surface at the points
    grid: Array  # (g, 1) or (g, 2)
    surface: Array  # (g,) the fit on the grid
    mean_band: Array | None  # (g, 2) where the curve may lie
    new_band: Array | None  # (g, 2) where a new observation may lie
    confidence: float
    names: tuple[str, ...]
    target: str

    def plot(self, ax: Any = None) -> Any:
        return self._curve(ax) if len(self.names) == 1 else self._plane(ax)

    def _curve(self, ax: Any) -> Any:
        ax = axes(ax)
        x, share = self.grid[:, 0], f"{100 * self.confidence:g} % band"
        if self.new_band is not None:
            low, high = self.new_band.T
            band(ax, x, low, high, colour(5), 0.22, label=f"{share} of a new observation")
        if self.mean_band is not None:
            low, high = self.mean_band.T
            band(ax, x, low, high, colour(0), 0.3, label=f"{share} of the fit")
        at = self.at[:, 0]
        tint = colour(1)
        ax.vlines(
            at, self.fitted, self.height, color=tint, linewidth=0.8, alpha=0.7, label="residuals"
        )
        ax.plot(x, self.surface, color=colour(0), lw=2, label="fit")
        ax.scatter(at, self.height, s=14, color="black", zorder=3, linewidths=0)
        ax.set(xlabel=self.names[0], ylabel=self.target)
        heading(ax, self.title, self.note)
        legend(ax)
        return ax

    def _plane(self, ax: Any) -> Any:
        if ax is None:
            ax = new_figure((6.4, 5.2)).add_subplot(projection="3d")
        if ax.name != "3d":
            raise ValueError("a fit over two inputs needs axes made with projection='3d'")
        side = int(np.sqrt(len(self.grid)))
        a, b = (self.grid[:, i].reshape(side, side) for i in (0, 1))
        Z = self.surface.reshape(side, side)
        ax.plot_surface(a, b, Z, color=colour(5), alpha=0.35, linewidth=0, antialiased=True)
        ax.plot_wireframe(a, b, Z, rcount=7, ccount=7, color=colour(0), linewidth=0.6)
        for point, low, high in zip(self.at, self.fitted, self.height, strict=True):
            ax.plot([point[0]] * 2, [point[1]] * 2, [low, high], color=colour(1), lw=0.9)
        above = self.height >= self.fitted
        for rows, shape, word in ((above, "^", "above the fit"), (~above, "v", "below the fit")):
            look = {"s": 16, "depthshade": False, "color": "black" if shape == "^" else GREY}
            ax.scatter(*self.at[rows].T, self.height[rows], marker=shape, label=word, **look)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.set_zlabel(self.target)
        ax.view_init(elev=22, azim=self._side())
        ax.set_box_aspect(None, zoom=0.88)
        heading(ax, self.title, self.note, width=70)
        legend(ax, loc="upper right")
        return ax

    def _side(self) -> float:
        """The azimuth of four from which the surface is seen least edge-on; -60 if that will do."""
        box = self.grid - self.grid.mean(axis=0)
        heights = np.concatenate([self.surface, self.height])
        tall = (self.surface - self.surface.mean()) / (float(np.ptp(heights)) or 1.0)
        slope = np.linalg.lstsq(box / np.ptp(box, axis=0), tall, rcond=None)[0]
        normal = np.append(-slope, 1.0) / np.linalg.norm(np.append(-slope, 1.0))
        up, sides = np.deg2rad(22), (-60.0, -120.0, 120.0, 60.0)
        facing = [
            abs(normal @ [np.cos(up) * np.cos(a), np.cos(up) * np.sin(a), np.sin(up)])
            for a in np.deg2rad(sides)
        ]
        return sides[0] if facing[0] > 0.35 else sides[int(np.argmax(facing))]


def bands(E: Model, X: ArrayLike, confidence: float) -> tuple[dict[str, Array], str]:
    """Bands of the fit and of new observations; or the reason why there are none."""
    if isinstance(E, Pipeline):
        X, E = (E[:-1].transform(X) if len(E) > 1 else X), E[-1]
    if not hasattr(E, "predict_interval"):
        return {}, ""
    found, reason = {}, ""
    for kind in ("mean", "prediction"):
        try:
            band = E.predict_interval(X, confidence=confidence, kind=kind)
        except ValueError as error:  # the estimator says why it has no interval
            reason = str(error)
        else:
            band = np.asarray(band).reshape(len(band), 2)
            found[kind] = np.where(np.isfinite(band), band, np.nan)
    return found, f"no band: {reason}" if reason else ""


def places(at: Array) -> Array:
    """A grid a little wider than the points."""
    ends = [margin(column, 0.03) for column in at.T]
    if len(ends) == 1:
        return np.linspace(*ends[0], CURVE)[:, None]
    lines = [np.linspace(*pair, SURFACE) for pair in ends]
    return np.stack(np.meshgrid(*lines), axis=-1).reshape(-1, 2)


def regression_fit(
    E: Model,
    X: ArrayLike,
    y: ArrayLike,
    *,
    columns: Columns | None = None,
    confidence: float = 0.95,
) -> RegressionFit:
    """The fit of a regressor through its points, with residual segments and bands.

    ``X``, ``y``: data to show, usually those of the fit; ``confidence``: share that the interval or
    region holds, 0.95 by default.

    Parameters
    ----------
    E : fitted regressor or Pipeline of one target
        Bands are drawn for one input where it (its last step) has ``predict_interval``.
    columns : one or two names or positions, optional
        Inputs to show of several, the others at their median. Default: all of one or two, the
        first two principal axes of more.

    Examples
    --------
    >>> from pellucid import LinearRegression
    >>> from pellucid.plots import regression_fit
    >>> x, y = [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]
    >>> picture = regression_fit(LinearRegression().fit(x, y), x, y)
    >>> (picture.height - picture.fitted).round(3)
    array([ 0.167, -0.333,  0.167])
    """
    check.fraction(confidence=confidence)
    check_is_fitted(E)
    M, names = table(X)
    values, target = response(y, len(M))
    residuals = values - predicted(E, X)
    view = view_of(M, names, columns)
    shown = f"{view.note}; points at fit + residual" if view.note else ""
    grid = places(view.at)
    rows = same_kind(X, view.rows(grid))
    found, reason = bands(E, rows, confidence) if grid.shape[1] == 1 else ({}, "")
    kept = thinned(len(M))
    fitted = predicted(E, same_kind(X, view.rows(view.at[kept])))
    what = type(E[-1]).__name__ if isinstance(E, Pipeline) else type(E).__name__
    rms = float(np.sqrt((residuals**2).mean()))
    shape = "Curve" if grid.shape[1] == 1 else "Surface"
    alt = (
        f"{shape} of {what} for {target} over {' and '.join(view.names)} through {len(M)} points; "
        f"root mean squared residual {rms:.4g}."
        + (f" {100 * confidence:g} % bands are shown." if found else "")
    )
    rows_drawn = (view.at[kept], fitted + residuals[kept], fitted)
    both = (found.get("mean"), found.get("prediction"), confidence)
    curve = (*rows_drawn, grid, predicted(E, rows), *both)
    note = "; ".join(filter(None, (shown, reason)))
    title = f"{what}: RMS residual {rms:.4g}"
    return RegressionFit(alt, *curve, view.names, target, title=title, note=note)

"""The predictive distribution along one input: wider where there are no data.

The plug-in band takes the fitted line for the truth and has the noise only, so its width is
constant; the Bayesian one adds the uncertainty of the line, which grows away from the data.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Model
from pellucid.plots.panels.inputs import read_table, response, with_note
from pellucid.plots.panels.marks import band, thinned
from pellucid.plots.panels.posteriors import noise_of
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, legend


class PredictiveBand(Panel):
    grid: Array  # (g,)
    mean: Array  # (g,)
    sd: Array  # (g,) of a new observation
    plug_in: float
    widths: float  # standard deviations drawn
    span: tuple[float, float]  # where the data lie
    points: Array  # (n, 2), may be empty
    names: tuple[str, str]

    def _draw(self, ax: Axes) -> None:
        k = self.widths
        low, label = self.mean - k * self.sd, f"Bayesian, mean ± {k:g} sd"
        band(ax, self.grid, low, self.mean + k * self.sd, colour(0), 0.22, label=label)
        ax.plot(self.grid, self.mean, color=colour(0), lw=2)
        for sign in (-1, 1):
            y = self.mean + sign * k * self.plug_in
            said = f"plug-in, ± {k:g} x {self.plug_in:.3g}" if sign == 1 else None
            ax.plot(self.grid, y, "--", color=colour(1), lw=1.4, label=said)
        ax.plot(*self.points.T, "o", color=GREY, ms=3.5, alpha=0.8)
        for end in self.span:
            ax.axvline(end, color=GREY, ls=":", lw=1)
        ax.plot([], [], color=GREY, ls=":", lw=1, label="ends of the data")
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title=self.title)
        legend(ax)


def predictive_band(
    E: Model,
    x: ArrayLike,
    y: MaybeArray = None,
    *,
    column: Any = None,
    widths: float = 2.0,
    widen: float = 0.5,
    n: int = 201,
) -> PredictiveBand:
    """Predictive mean and standard deviation, against the constant plug-in band.

    ``E``: fitted Bayesian regressor with ``predict(X, return_std=True)``, or a pipeline ending in
    one; ``x``: the inputs of the fit.

    Parameters
    ----------
    y : the target, optional
        Then the points are drawn.
    column : name or number, optional
        The input to move where there are several; the others stay at their median.
    widths : float, default=2.0
        Half the width of the bands in standard deviations.
    widen : float, default=0.5
        How far beyond the data to look, as a share of their range.
    n : int, default=201
        Points of the curves.

    Examples
    --------
    >>> from pellucid import BayesianLinearRegression
    >>> x, y = [[1.0], [2.0], [3.0], [4.0], [4.5]], [3.0, 5.0, 7.0, 9.0, 10.0]
    >>> model = BayesianLinearRegression(prior_covariance=1e6, noise_variance=1.0).fit(x, y)
    >>> picture = predictive_band(model, x, y, widen=1.0, n=3)
    >>> picture.sd.round(4), picture.plug_in
    (array([2.1808, 1.0967, 2.0909]), 1.0)
    """
    check.positive(widths=widths)
    check.non_negative(widen=widen)
    plug_in = noise_of(E)
    table = read_table(x, E)
    sweep = table.sweep(column, widen=widen, n=n)
    mean, sd = E.predict(table.like(sweep.rows), return_std=True)
    points, name = np.zeros((0, 2)), "y"
    if y is not None:
        target, name = response(y, len(table.X))
        kept = thinned(len(target))
        points = np.column_stack([table.X[kept, sweep.column], target[kept]])
    inside = table.X[:, sweep.column]
    alt = (
        f"Predictive mean of {name} along {sweep.name}; the standard deviation is {sd.min():.4g} "
        f"at its least and {sd.max():.4g} at its most, the plug-in has {plug_in:.4g} everywhere."
    )
    grid, span, names = sweep.grid, (float(inside.min()), float(inside.max())), (sweep.name, name)
    title = with_note("Prediction of new observations", sweep.note)
    return PredictiveBand(
        alt, grid, mean, sd, plug_in, float(widths), span, points, names, title=title
    )

"""Observed targets against their predictions, with the line where both agree."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.inputs import response
from pellucid.plots.panels.marks import margin, thinned
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend


class PredictedActual(Panel, size=(4.6, 4.6)):
    """Pairs of prediction and observation; the numbers are those of all rows."""

    predicted: Array  # (m,) the rows drawn
    actual: Array  # (m,)
    rmse: float
    r2: float  # NaN for a constant target
    name: str

    def _draw(self, ax: Axes) -> None:
        ends = margin(np.concatenate([self.predicted, self.actual]))
        ax.plot(ends, ends, color=GREY, lw=1.2, ls="--", label="prediction = actual")
        ax.scatter(self.predicted, self.actual, s=16, color=colour(0), alpha=0.7, linewidths=0)
        ax.set(xlim=ends, ylim=ends, xlabel=f"predicted {self.name}", ylabel=f"actual {self.name}")
        ax.set_aspect("equal")
        heading(ax, f"R² = {self.r2:.3f}, RMSE = {self.rmse:.4g}")
        legend(ax, loc="upper left")


def predicted_actual(y: Any, yhat: Any) -> PredictedActual:
    """Observed against predicted, with R² and the root mean squared error.

    ``y``, ``yhat``: observed targets and predictions of the same rows.

    Examples
    --------
    >>> from pellucid.plots import predicted_actual
    >>> picture = predicted_actual([1.0, 2.0, 3.0], [1.0, 2.5, 2.5])
    >>> round(picture.rmse, 3), round(picture.r2, 3)
    (0.408, 0.75)
    """
    actual, name = response(y, len(y))
    if not len(actual):
        raise ValueError("y has no rows")
    guess, _ = response(yhat, len(actual), "yhat")
    squares = (actual - guess) ** 2
    total = ((actual - actual.mean()) ** 2).sum()
    rmse = float(np.sqrt(squares.mean()))
    r2 = float(1 - squares.sum() / total) if total > 0 else np.nan
    kept = thinned(len(actual))
    alt = (
        f"{len(actual)} actual values of {name} against their predictions: R² {r2:.3f}, root mean "
        f"squared error {rmse:.4g}."
    )
    return PredictedActual(alt, guess[kept], actual[kept], rmse, r2, name)

"""A predictive check: the statistic of the data among those of simulated data."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend

MOST_BARS = 40


class PredictiveCheckPicture(Panel):
    """Counts of the simulated statistics, and where the data lie."""

    edges: Array  # (k + 1,)
    counts: Array  # (k,)
    observed: float
    p_value: float
    statistic: str

    def _draw(self, ax: Axes) -> None:
        """Bars of the simulated statistics, those beyond the data shaded; a line for the data."""
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        width = np.diff(self.edges)
        beyond = middle >= self.observed
        ax.bar(middle, self.counts, width, color=colour(0), alpha=0.5, label="simulated")
        height, label = self.counts[beyond], f"beyond the data: {self.p_value:.3g}"
        ax.bar(middle[beyond], height, width[beyond], color=colour(1), alpha=0.5, label=label)
        ax.axvline(self.observed, color="black", lw=2, label=f"data {self.observed:.4g}")
        ax.set(xlabel=self.statistic, ylabel="simulated data sets")
        heading(ax, "Would the model have made such data?")
        legend(ax)


def predictive_check(check: Any) -> PredictiveCheckPicture:
    """The picture of a predictive check.

    ``check``: PredictiveCheck of ``pellucid.inference``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import inference
    >>> from pellucid.plots import predictive_check
    >>> found = inference.predictive_check(
    ...     np.array([1.0, 2.0]), np.zeros(50), lambda m, rng: rng.normal(m, 1, 2), random_state=0
    ... )
    >>> predictive_check(found).observed
    1.5
    """
    if not hasattr(check, "simulated") or not hasattr(check, "observed"):
        raise TypeError(f"check must be a PredictiveCheck, got {type(check).__name__}")
    simulated = np.asarray(check.simulated)
    values = np.unique(simulated)
    if len(values) <= MOST_BARS and np.array_equal(values, np.round(values)):
        edges = np.arange(values[0] - 0.5, values[-1] + 1.0)
    else:
        edges = np.histogram_bin_edges(simulated, bins=MOST_BARS)
    counts, edges = np.histogram(simulated, edges)
    alt = f"Histogram of simulated data: {check}"
    return PredictiveCheckPicture(
        alt, edges, counts, check.observed, check.p_value, check.statistic
    )

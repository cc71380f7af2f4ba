"""The sum of absolute deviations, least on the whole interval of medians.

S(m) = sum w_i |x_i - m| is piecewise linear with a kink at every x; its slope is the weight below m
less the weight above. It is least where neither side holds more than half: one point, or with an
even split the whole interval between the two middle values.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, MaybeArray
from pellucid.maths.calculus.absolute_deviations import median_knots
from pellucid.plots.panels.inputs import response
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, legend


class AbsoluteSum(Panel):
    """S(m) at its kinks, and the interval of medians."""

    m: Array  # (k,) where S is given: the kinks, and a point beyond each end
    total: Array  # (k,) S(m)
    x: Array  # (n,) the data
    interval: tuple[float, float]
    minimum: float
    mean: float
    name: str

    def _draw(self, ax: Axes) -> None:
        low, high = self.interval
        ax.plot(self.m, self.total, color=colour(0), lw=1.8, label="sum of absolute deviations")
        if high > low:
            ax.axvspan(low, high, color=colour(2), alpha=0.2, lw=0)
            label = f"every point of [{low:.4g}, {high:.4g}] is a median"
            ax.plot([low, high], [self.minimum] * 2, color=colour(2), lw=4, label=label)
        else:
            ax.plot(low, self.minimum, "o", ms=8, color=colour(2), label=f"median {low:.4g}")
        at = float(np.interp(self.mean, self.m, self.total))
        ax.plot(self.mean, at, "s", ms=6, color=colour(1), label=f"mean {self.mean:.4g}")
        floor = self.minimum - 0.08 * (np.ptp(self.total) or 1.0)
        kept = self.x[thinned(len(self.x))]
        ax.plot(kept, np.full(len(kept), floor), "|", ms=10, color=GREY, label="data")
        ax.set(xlabel=self.name, ylabel="sum of absolute deviations")
        ax.set_title(f"Least sum {self.minimum:.4g}")
        legend(ax)


def absolute_sum(x: Any, *, sample_weight: MaybeArray = None) -> AbsoluteSum:
    """Sum of absolute deviations from a point, with the interval of medians.

    ``x``: one column of numbers; ``sample_weight``: weights >= 0; a weight is a repetition.

    Examples
    --------
    >>> picture = absolute_sum([1.0, 2.0, 4.0, 9.0])
    >>> picture.interval, picture.minimum
    ((2.0, 4.0), 10.0)
    """
    values, name = response(x, len(x), "x")
    if not len(values):
        raise ValueError("x must hold at least one number, got none")
    w = np.ones(len(values)) if sample_weight is None else response(sample_weight, len(values))[0]
    if (w < 0).any() or not w.any():
        raise ValueError("sample_weight must be >= 0 with at least one positive")
    values, w = values[w > 0], w[w > 0]
    kinks, where = np.unique(values, return_inverse=True)
    weight = np.bincount(where, weights=w).astype(np.float64)
    low, high = median_knots(kinks, weight)
    room = 0.15 * (np.ptp(kinks) or 2.0)
    m = np.concatenate([[kinks[0] - room], kinks, [kinks[-1] + room]])
    sums = deviations(m - low, kinks - low, weight)
    least = float(sums[1 + int(np.searchsorted(kinks, low))])
    where_least = f"on all of [{low:.4g}, {high:.4g}]" if high > low else f"at {low:.4g}"
    mean = float(np.average(values, weights=w))
    alt = (
        f"Sum of absolute deviations of {len(values)} values: least, {least:.4g}, {where_least}; "
        f"the mean is {mean:.4g}."
    )
    return AbsoluteSum(alt, m, sums, values, (low, high), least, mean, name)


def deviations(m: Array, kinks: Array, weight: Array) -> Array:
    """S(m) at every m: the kinks, and one point beyond each end."""
    left = np.concatenate([[0.0, 0.0], np.cumsum(weight)])  # weight up to the point before m
    moment = np.concatenate([[0.0, 0.0], np.cumsum(weight * kinks)])
    return m * (2 * left - left[-1]) + moment[-1] - 2 * moment

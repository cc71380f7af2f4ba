"""A distribution: mass or density with mean, mode and spread, and its distribution function."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.marks import arrow
from pellucid.plots.panels.style import Axes, Picture, colour, heading, legend, panels

POINTS, MOST_STEMS = 401, 400


class Distribution(Picture):
    """Density (or mass) and distribution function on a grid, with the summaries."""

    x: Array  # (k,) a grid, or the whole numbers
    density: Array  # (k,)
    cdf: Array  # (k,)
    discrete: bool
    mean: float | None  # None: there is none
    std: float | None
    mode: float | None
    interval: tuple[float, float]
    confidence: float
    name: str

    def plot(self) -> Any:
        """Mass or density on the left, distribution function on the right; the figure."""
        left, right = panels(2, columns=2, size=(4.6, 3.7))
        low, high = self.interval
        inside = (self.x >= low) & (self.x <= high)
        if self.discrete:
            left.vlines(self.x, 0, self.density, color=colour(0), lw=2, alpha=0.5)
            left.plot(self.x, self.density, "o", ms=4, color=colour(0))
            y, label = np.zeros(inside.sum()), f"{self.confidence:.0%} interval"
            left.plot(self.x[inside], y, "|", color=colour(5), ms=10, label=label)
            right.step(self.x, self.cdf, where="post", color=colour(0), lw=1.8)
        else:
            left.plot(self.x, self.density, color=colour(0), lw=1.8)
            label = f"{self.confidence:.0%} interval"
            look: Any = {"color": colour(5), "alpha": 0.25, "lw": 0}
            left.fill_between(self.x, self.density, where=inside, label=label, **look)
            right.plot(self.x, self.cdf, color=colour(0), lw=1.8)
        self._marks(left)
        left.set(xlabel="x", ylabel="probability" if self.discrete else "density", ylim=(0, None))
        right.set(xlabel="x", ylabel="P(X ≤ x)", ylim=(-0.02, 1.04))
        legend(left)
        heading(left, self.name)
        heading(right, "distribution function")
        return left.figure

    def _marks(self, ax: Axes) -> None:
        top = float(self.density.max())
        if self.mean is not None:
            ax.axvline(self.mean, color=colour(1), lw=1.5, label=f"mean {self.mean:.4g}")
            if self.std is not None:
                tip = (self.mean + self.std, 0.06 * top)
                arrow(ax, tip, (self.mean, 0.06 * top), colour(1), 1.5, head="<->")
                ax.plot([], [], color=colour(1), marker=">", lw=1.5, label=f"sd {self.std:.4g}")
        if self.mode is not None:
            ax.axvline(self.mode, color=colour(2), lw=1.5, ls="--", label=f"mode {self.mode:.4g}")


def summary(d: Any, name: str) -> float | None:
    """A finite number that the distribution has, or None."""
    value = getattr(d, name, None)
    if value is None or np.ndim(value) or not np.isfinite(value):
        return None
    return float(value)


def grid_of_law(d: Any) -> Array:
    """Where nearly all of the probability is: whole numbers, or a grid."""
    low, high = (float(d.quantile(q)) for q in (0.001, 0.999))
    if getattr(d, "discrete", False):
        least, most = d.support
        x = np.arange(max(low - 1, least), min(high + 1, most) + 1)
        few = np.unique(np.linspace(x[0], x[-1], MOST_STEMS).round())
        return x if len(x) <= MOST_STEMS else few
    middle, wide = float(d.quantile(0.5)), float(d.quantile(0.75) - d.quantile(0.25))
    low, high = max(low, middle - 8 * wide), min(high, middle + 8 * wide)  # heavy tails
    room = 0.03 * (high - low)
    least, most = d.support
    low = low if low - room < least else low - room
    return np.linspace(low, high if high + room > most else high + room, POINTS)


def distribution(d: Any, *, confidence: float = 0.95) -> Distribution:
    """Density or mass, and distribution function, of a distribution of one number.

    ``d``: distribution of ``pellucid.inference`` of one number; ``confidence``: of the central
    interval shaded.

    Examples
    --------
    >>> from pellucid.inference import Binomial
    >>> from pellucid.plots import distribution
    >>> picture = distribution(Binomial(4, 0.5))
    >>> picture.x, picture.density
    (array([0., 1., 2., 3., 4.]), array([0.0625, 0.25  , 0.375 , 0.25  , 0.0625]))
    """
    check.fraction(confidence=confidence)
    if not all(hasattr(d, name) for name in ("density", "cdf", "quantile", "support")):
        raise TypeError(f"d must be a distribution of one number, got {type(d).__name__}")
    x = grid_of_law(d)
    mean, variance, mode = (summary(d, name) for name in ("mean", "variance", "mode"))
    std = None if variance is None else float(np.sqrt(variance))
    low, high = (float(v) for v in d.quantile(np.array([1 - confidence, 1 + confidence]) / 2))
    kind = "Mass" if getattr(d, "discrete", False) else "Density"
    alt = (
        f"{kind} and distribution function of {type(d).__name__}: "
        + ("no mean" if mean is None else f"mean {mean:.4g}")
        + ("" if std is None else f", standard deviation {std:.4g}")
        + f", {confidence:.0%} between {low:.4g} and {high:.4g}."
    )
    plain = {k: v for k, v in d.parameters.items() if isinstance(v, int | float)}
    given = ", ".join(f"{k} = {v:.4g}" for k, v in plain.items())
    name = f"{type(d).__name__}({given})"
    density, cdf = np.asarray(d.density(x)), np.asarray(d.cdf(x))
    discrete = bool(getattr(d, "discrete", False))
    middle = (mean, std, mode, (low, high), float(confidence))
    return Distribution(alt, x, density, cdf, discrete, *middle, name)

"""Accumulated local effects: how the prediction moves with one input, the others as they occur."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.evaluation.explain.accumulated import accumulated_effects
from pellucid.plots.panels.marks import stroke
from pellucid.plots.panels.planes import MOST_CLASSES
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend, marker


class Accumulated(Panel):
    """Centred curves with their bands; 0 is the mean over the rows."""

    grid: Any  # (g,) numbers or categories
    effect: Array  # (curves, g)
    low: Array
    high: Array
    outputs: tuple[str, ...]
    categorical: bool
    name: str
    target: str
    confidence: float

    def _draw(self, ax: Axes) -> None:
        """Curves with bands over numbers, points with bars over categories."""
        ax.axhline(0, color="black", lw=0.8)
        if self.categorical:
            self._points(ax)
        else:
            self._curves(ax)
        ax.set(xlabel=self.name, ylabel=f"change of the {self.target}")
        if self.outputs:
            legend(ax)
        share = f"{100 * self.confidence:g} % for the chance of the rows"
        note = f"0: the mean over the rows; band: {share}"
        heading(ax, f"Accumulated local effect of {self.name}", note)

    def _curves(self, ax: Axes) -> None:
        for k, curve in enumerate(self.effect):
            label = self.outputs[k] if self.outputs else None
            ax.fill_between(self.grid, self.low[k], self.high[k], color=colour(k), alpha=0.18, lw=0)
            ax.plot(self.grid, curve, lw=2.2, label=label, **stroke(k))
        x, y, transform = self.grid, np.zeros(len(self.grid)), ax.get_xaxis_transform()
        look: Any = {"color": "black", "ms": 7, "mew": 0.7, "alpha": 0.6, "clip_on": False}
        ax.plot(x, y, "|", transform=transform, **look)

    def _points(self, ax: Axes) -> None:
        K, places = len(self.effect), np.arange(len(self.grid))
        for k, curve in enumerate(self.effect):
            x = places + 0.16 * (k - (K - 1) / 2)
            error = np.maximum([curve - self.low[k], self.high[k] - curve], 0.0)
            label = self.outputs[k] if self.outputs else None
            ax.errorbar(
                x, curve, yerr=error, fmt=marker(k), color=colour(k), capsize=3, ms=7, label=label
            )
        names = [str(value) for value in np.asarray(self.grid).tolist()]
        long = max(map(len, names)) > 8 and len(names) > 3
        ax.set_xticks(places, names, rotation=30 if long else 0, ha="right" if long else "center")
        ax.set_xlim(-0.6, len(names) - 0.4)
        ax.grid(False, axis="x")


def accumulated(
    E: Model,
    X: ArrayLike,
    column: Any,
    *,
    n_bins: int = 20,
    categorical: bool | None = None,
    n_bootstrap: int = 200,
    confidence: float = 0.95,
    random_state: int = 0,
) -> Accumulated:
    """The accumulated local effect of one input with its band.

    ``E``: fitted model or Pipeline; ``X``: data; ``column``: name or position.

    Parameters
    ----------
    n_bins, categorical, n_bootstrap, confidence, random_state
        As in ``pellucid.evaluation.accumulated_effects``.

    Examples
    --------
    >>> from pellucid import LinearRegression
    >>> from pellucid.plots import accumulated
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [0.0, 2.0, 4.0, 6.0]
    >>> accumulated(LinearRegression().fit(X, y), X, 0, n_bins=3).effect.round(6).tolist()
    [[-2.5, -0.5, 1.5, 3.5]]
    """
    options: Any = {"n_bins": n_bins, "categorical": categorical, "n_bootstrap": n_bootstrap}
    options |= {"confidence": confidence, "random_state": random_state}
    found = accumulated_effects(E, X, column, **options)
    if len(found.effect) > MOST_CLASSES:
        raise ValueError(f"at most {MOST_CLASSES} curves are told apart, got {len(found.effect)}")
    curve = found.effect[0]
    grid = [v if found.categorical else f"{v:.4g}" for v in np.asarray(found.grid).tolist()]
    top, low = int(curve.argmax()), int(curve.argmin())
    alt = (
        f"Accumulated effect of {found.feature} on the {found.target} of {type(E).__name__}: the "
        f"first curve is highest at {grid[top]} ({curve[top]:+.3g}) and lowest at {grid[low]} "
        f"({curve[low]:+.3g})."
    )
    curves = (found.grid, found.effect, found.low, found.high)
    kind = (found.outputs, found.categorical, found.feature, found.target)
    return Accumulated(alt, *curves, *kind, confidence)

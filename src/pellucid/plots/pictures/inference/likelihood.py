"""The same outcomes under several candidate densities: the likelier one explains them better."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.inputs import response
from pellucid.plots.panels.marks import stroke, thinned
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend, marker

LINES = ("-", "--", "-.", ":")


class Likelihood(Panel, size=(6.8, 4.2)):
    """Densities on a grid and at the outcomes, with the log-likelihood of each."""

    x: Array  # (n,)
    grid: Array  # (k,)
    names: tuple[str, ...]
    curves: Array  # (c, k)
    at: Array  # (c, n)
    log_likelihood: Array  # (c,)
    discrete: bool
    best: str

    def _draw(self, ax: Axes) -> None:
        rows = thinned(len(self.x), 200)
        for k, name in enumerate(self.names):
            y = self.curves[k]
            drawstyle = "steps-mid" if self.discrete else "default"
            label = f"{name}: log-likelihood {self.log_likelihood[k]:.5g}"
            ax.plot(self.grid, y, lw=1.8, drawstyle=drawstyle, label=label, **stroke(k))
            ax.vlines(self.x[rows], 0, self.at[k, rows], color=colour(k), lw=0.9, alpha=0.5)
            ax.plot(self.x[rows], self.at[k, rows], marker(k), ms=5, color=colour(k), ls="none")
        ax.plot(self.x[rows], np.zeros(len(rows)), "|", ms=12, color=GREY)
        ylabel = "probability" if self.discrete else "density"
        ax.set(xlabel="outcome", ylabel=ylabel, ylim=(0, 1.35 * float(self.curves.max())))
        heading(ax, f"{len(self.x)} outcomes are likelier under {self.best}")
        legend(ax, loc="upper right")


def likelihood(x: Any, densities: Any) -> Likelihood:
    """Outcomes under candidate densities, with their likelihoods.

    ``x``: outcomes, one column of numbers; ``densities``: dict of name -> distribution of
    ``pellucid.inference``, or a list of them.

    Examples
    --------
    >>> from pellucid.inference import Normal
    >>> from pellucid.plots import likelihood
    >>> laws = {"narrow": Normal(0.0, 1.0), "wide": Normal(0.0, 3.0)}
    >>> likelihood([0.1, -0.4, 5.0], laws).best
    'wide'
    """
    values, _ = response(x, len(x), "x")
    if not len(values):
        raise ValueError("x must hold at least one outcome, got none")
    if not isinstance(densities, Mapping):
        laws = list(densities)
        densities = {f"{i + 1}: {type(d).__name__}": d for i, d in enumerate(laws)}
    if not densities:
        raise ValueError("densities must name at least one distribution, got none")
    kinds = {bool(getattr(d, "discrete", False)) for d in densities.values()}
    if len(kinds) > 1:
        raise ValueError("densities must be all discrete or all continuous, got both")
    discrete = kinds.pop()
    ends = [float(d.quantile(q)) for d in densities.values() for q in (0.005, 0.995)]
    low, high = min(*ends, values.min()), max(*ends, values.max())
    grid = np.arange(np.floor(low), np.ceil(high) + 1) if discrete else np.linspace(low, high, 401)
    curves = np.array([d.density(grid) for d in densities.values()], dtype=np.float64)
    if not np.isfinite(curves).all():
        inside = np.isfinite(curves).all(axis=0)
        grid, curves = grid[inside], curves[:, inside]
    at = np.array([d.density(values) for d in densities.values()], dtype=np.float64)
    total = np.array([d.log_likelihood(values) for d in densities.values()], dtype=np.float64)
    names = tuple(map(str, densities))
    best = names[int(total.argmax())]
    said = ", ".join(f"{name} {v:.5g}" for name, v in zip(names, total, strict=True))
    alt = f"{len(values)} outcomes under {len(names)} densities; log-likelihoods: {said}."
    return Likelihood(alt, values, grid, names, curves, at, total, discrete, best)

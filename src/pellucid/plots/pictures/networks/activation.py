"""Activation functions and their derivatives."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.neural.layers.activations import get_activation
from pellucid.neural.layers.activations import softmax as softmax_of
from pellucid.plots.panels.style import GREY, LEAST, Picture, colour, heading, panels


class Activation(Picture):
    z: Array  # (n,)
    names: tuple[str, ...]
    values: Array  # (functions, n)
    derivatives: Array  # (functions, n); NaN where there is none

    def plot(self) -> Any:
        """One panel per function, the derivative dashed; the figure."""
        n = len(self.names)
        grid = panels(n, columns=2 if n in (2, 4) else 3, size=(3.6, 2.8))
        for ax, name, value, slope in zip(
            grid, self.names, self.values, self.derivatives, strict=True
        ):
            ax.axhline(0, color=GREY, lw=0.7)
            ax.axvline(0, color=GREY, lw=0.7)
            ax.plot(self.z, value, color=colour(0), lw=2.2, label="a = g(z)")
            if np.isfinite(slope).any():
                ax.plot(self.z, slope, "--", color=colour(1), lw=1.8, label="g'(z)")
            ax.legend(loc="best", frameon=False, fontsize=LEAST)
            low, high = float(value.min()) - 0.15, float(value.max()) + 0.3
            ax.set(xlabel="z", ylim=(max(-2.0, min(-0.15, low)), min(3.0, high)))
            word = {
                "step": ": no derivative to learn by",
                "sign": ": no derivative to learn by",
                "softmax": " of (z, 0)",
            }.get(name, "")
            heading(ax, name + word)
        return grid[0].figure


def activation(*names: Any, low: float = -4.0, high: float = 4.0, n: int = 401) -> Activation:
    """Activation functions with their derivatives.

    ``low``, ``high``: float, default=-4 and 4. ``*names``: names (or ``neural.Activation``
    records). Default: logistic, tanh, relu, leaky_relu, identity and step. softmax is drawn for the
    first of two units whose other z is 0. ``n``: points of the curves.

    Examples
    --------
    >>> from pellucid.plots import activation
    >>> picture = activation("relu", "tanh", low=-1, high=1, n=3)
    >>> picture.values[0].tolist(), picture.derivatives[0].tolist()
    ([0.0, 0.0, 1.0], [0.0, 0.0, 1.0])
    """
    check.whole(at_least=2, n=n)
    if not low < high:
        raise ValueError(f"low must be below high, got {low!r} and {high!r}")
    chosen = names or ("logistic", "tanh", "relu", "leaky_relu", "identity", "step")
    z = np.linspace(low, high, n)
    values, slopes, said = [], [], []
    for name in chosen:
        g = get_activation(name)
        if g.name == "softmax":
            a = softmax_of(np.column_stack([z, np.zeros(n)]))[:, 0]
            slope = a * (1 - a)
        else:
            a = np.asarray(g.function(z), dtype=np.float64)
            found = np.nan if g.derivative is None else g.derivative(z, a)
            slope = np.broadcast_to(np.asarray(found, dtype=np.float64), (n,))
        values.append(a)
        slopes.append(slope)
        said.append(g.name)
    alt = (
        f"Activation functions over z from {low:g} to {high:g} with derivatives: {', '.join(said)}."
    )
    return Activation(alt, z, tuple(said), np.array(values), np.array(slopes))

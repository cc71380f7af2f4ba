"""A network as a diagram: units, weights, biases, and the value of every unit for one row."""

from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, MaybeArray, Model
from pellucid.plots.panels.networks import (
    Layers,
    draw_lines,
    draw_units,
    layers_of,
    places,
    size,
    the_network,
)
from pellucid.plots.panels.style import GREY, LEAST, Axes, Picture, axes, colour, heading

SHORT = 4  # letters of a name that fit into a unit


class Network(Picture):
    layers: Layers
    values: tuple[Array, ...]  # of the units of each layer, inputs first; () without a row
    recurrent: bool
    n_parameters: int

    def plot(self, ax: Axes | None = None) -> Any:
        """Blue lines are positive weights, dashed orange ones negative; biases below the units."""
        L = self.layers
        ax = axes(ax, figsize=size(L.sizes))
        at = places(L.sizes)
        draw_lines(ax, at, L.weights)
        beside = bool(self.values) or max(map(len, L.names)) > SHORT
        if self.values:
            said = [[f"{v:.3g}" for v in layer] for layer in self.values]
        else:
            inside = [""] * len(L.names) if beside else list(L.names)
            said = [inside, *([""] * n for n in L.sizes[1:])]
        draw_units(ax, at, L.sizes, said)
        for p, b in zip(at[1:], L.biases, strict=True):
            for (x, y), value in zip(p, b if b is not None else [], strict=False):
                ax.text(x, y - 0.42, f"bias {value:.2g}", ha="center", fontsize=LEAST, color=GREY)
        if beside:
            for (x, y), name in zip(at[0], L.names, strict=False):
                ax.text(x - 0.3, y, name, ha="right", va="center", fontsize=LEAST)
            ax.set_xlim(left=-0.9 - 0.08 * max(len(n) for n in L.names))
        for p, kind in zip(at[1:], L.kinds, strict=True):
            ax.text(p[0, 0], p[0, 1] + 0.45, kind, ha="center", fontsize="small", style="italic")
        if self.recurrent:
            for p in at[1:-1]:
                for x, y in p:  # a loop above the unit: its value comes back in the next step
                    ends, turn = ((x - 0.16, y + 0.2), (x + 0.16, y + 0.2)), "arc3,rad=1.4"
                    look = {
                        "arrowstyle": "->",
                        "color": colour(2),
                        "lw": 1.6,
                        "connectionstyle": turn,
                    }
                    ax.annotate("", *ends, zorder=5, arrowprops=look)
        heading(ax, self.title)
        return ax


def network(E: Model, x: MaybeArray = None, *, recurrent: bool = False) -> Network:
    """A network as a diagram.

    ``E``: Network, fitted MLPClassifier, MLPRegressor or Autoencoder; or sizes, such as (2, 3, 1):
    (n, 1) is a neuron, (n, K) are K perceptrons or a softmax. ``x``: one row; the value of every
    unit is written into it. ``recurrent``: with sizes: hidden units feed back into themselves.

    Examples
    --------
    >>> from pellucid.neural import Network
    >>> from pellucid.plots import network
    >>> net = Network.from_weights([[[2.0], [-1.0]]], [[0.5]], activations=["relu"])
    >>> [v.tolist() for v in network(net, [1.0, 1.0]).values]
    [[1.0, 1.0], [1.5]]
    """
    if isinstance(E, list | tuple):
        sizes = tuple(E)
        if len(sizes) < 2:
            raise ValueError(f"sizes must name at least inputs and outputs, got {sizes!r}")
        for n in sizes:
            check.whole(sizes=n)
        if x is not None:
            raise ValueError("x needs a network with weights, got sizes")
        nothing = (None,) * (len(sizes) - 1)
        names = tuple(f"x{j + 1}" for j in range(sizes[0]))
        layers = Layers(sizes, nothing, nothing, ("",) * (len(sizes) - 1), names)
        count = sum((a + 1) * b for a, b in pairwise(sizes))
        count += sum(n * n for n in sizes[1:-1]) if recurrent else 0
    else:
        if recurrent:
            raise ValueError("recurrent=True is for sizes: networks of pellucid.neural have none")
        layers, count = layers_of(E), len(the_network(E).vector)
    values: tuple[Array, ...] = ()
    if x is not None:
        row = np.asarray(x, dtype=np.float64).reshape(1, -1)
        trace = the_network(E).trace(row)
        post = [a[0] for a in trace.post if a.shape[1:]]
        if len(post) != len(layers.sizes) - 1:  # layers without weights in between
            post = [a for a, n in zip(post, layers.sizes[1:], strict=False) if len(a) == n]
        values = (trace.inputs[0], *post)
    said = "–".join(map(str, layers.sizes))
    title = f"{said} units, {count} parameters" + (", recurrent" if recurrent else "")
    kinds = ", ".join(k for k in layers.kinds if k)
    alt = (
        f"Diagram of a network of {said} units with {count} parameters"
        + (f", activations {kinds}" if kinds else "")
        + (f"; the outputs are {', '.join(f'{v:.3g}' for v in values[-1][:6])}." if values else ".")
    )
    return Network(alt, layers, values, recurrent, count, title=title)

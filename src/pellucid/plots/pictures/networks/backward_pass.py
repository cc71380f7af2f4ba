"""Backpropagation of one row, step by step: values forward, deltas back, gradients of weights.

delta_out = d loss/dz of the last layer, delta_l = (delta_(l+1) W') * g'(z_l), dW = a' delta
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.plots.panels.networks import (
    Layers,
    draw_lines,
    draw_units,
    layers_of,
    places,
    the_network,
)
from pellucid.plots.panels.style import Picture, heading, panels


class BackwardPass(Picture):
    layers: Layers
    values: tuple[Array, ...]  # of the units, inputs first
    deltas: tuple[Array, ...]  # d loss/dz of each layer with weights
    gradients: tuple[Array, ...]  # d loss/d weights
    target: Array
    loss: float

    def plot(self) -> Any:
        """Forward, then the deltas layer by layer from the end, then the gradients; the figure."""
        L, at = self.layers, places(self.layers.sizes)
        steps = len(self.deltas)
        tall = max(2.6, 0.62 * max(len(p) for p in at) + 1.4)
        grid = panels(steps + 2, columns=2, size=(max(4.6, 1.9 * len(at) + 0.4), tall))
        draw_lines(grid[0], at, L.weights)
        draw_units(grid[0], at, L.sizes, [[f"{v:.3g}" for v in a] for a in self.values])
        goal = ", ".join(f"{t:.3g}" for t in self.target[:6])
        heading(grid[0], f"1. Forward: values; target {goal}; loss {self.loss:.4g}")
        for k in range(steps):
            layer = steps - 1 - k
            ax = grid[k + 1]
            draw_lines(ax, at, L.weights)
            said = [[""] * L.sizes[0]]
            said += [
                [f"{v + 0.0:.2g}" for v in d] if i >= layer else [""] * len(d)
                for i, d in enumerate(self.deltas)
            ]
            draw_units(ax, at, L.sizes, said)
            where = "the output" if k == 0 else f"layer {layer + 1}: back through the weights"
            heading(ax, f"{k + 2}. Deltas of {where}")
        draw_lines(grid[-1], at, self.gradients)
        draw_units(grid[-1], at, L.sizes, [[""] * n for n in L.sizes])
        heading(grid[-1], f"{steps + 2}. Gradients of the weights: value times delta")
        return grid[0].figure


def _target(E: Model, y: ArrayLike, outputs: int) -> Array:
    """The target of the network: of a classifier its code, or a 1 at its class."""
    if hasattr(E, "classes_") and np.ndim(y) == 0:
        known = np.asarray(E.classes_).tolist()
        if y not in known:
            raise ValueError(f"y must be one of the classes {known}, got {y!r}")
        code = known.index(y)
        return np.array([float(code)]) if outputs == 1 else np.eye(outputs)[code]
    target = np.asarray(y, dtype=np.float64).reshape(-1)
    if len(target) != outputs:
        raise ValueError(f"y must hold {outputs} numbers, one per output, got {len(target)}")
    return target


def backward_pass(E: Model, x: ArrayLike, y: ArrayLike) -> BackwardPass:
    """What one row makes flow forward and back through a network.

    ``E``: Network, fitted MLPClassifier or MLPRegressor; ``x``: one row; ``y``: its target: a label
    of a classifier, or one number per output.

    Examples
    --------
    >>> from pellucid.neural import Network
    >>> from pellucid.plots import backward_pass
    >>> net = Network.from_weights([[[2.0], [-1.0]]], [[0.5]], activations=["identity"])
    >>> picture = backward_pass(net, [1.0, 1.0], [1.0])
    >>> picture.loss, picture.deltas[0].tolist(), picture.gradients[0].tolist()
    (0.125, [0.5], [[0.5], [0.5]])
    """
    net = the_network(E)
    layers = layers_of(E)
    row = np.asarray(x, dtype=np.float64).reshape(1, -1)
    target = _target(E, y, layers.sizes[-1])
    trace = net.trace(row)
    post = [a[0] for a in trace.post if a.ndim == 2]
    if [len(a) for a in post] != list(layers.sizes[1:]):
        raise ValueError("backward_pass draws networks of dense layers only")
    found = net.gradients(row, target[None])
    loss = float(net.loss_value(row, target[None]))
    alt = (
        f"One row through a network of {'–'.join(map(str, layers.sizes))} units: loss {loss:.4g}, "
        f"deltas of the output {', '.join(f'{d:.3g}' for d in found.deltas[-1][0][:6])}, largest "
        f"gradient of a weight {max(float(np.abs(g).max()) for g in found.weights):.3g}."
    )
    values, deltas = (trace.inputs[0], *post), tuple(d[0] for d in found.deltas)
    return BackwardPass(alt, layers, values, deltas, tuple(found.weights), target, loss)

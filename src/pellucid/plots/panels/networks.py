"""Layers of units on the page: where they stand, and lines between them as strong as weights."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, Model
from pellucid.neural.layers.dense import Affine
from pellucid.neural.network import Network
from pellucid.plots.panels.marks import PLATE, write
from pellucid.plots.panels.style import LEAST, Axes, colour

MOST_UNITS, MOST_WORDS = 10, 30  # units drawn of a layer; lines that can carry numbers


class Layers(NamedTuple):
    """Units of each layer, inputs first, with weights and biases between (None: not known)."""

    sizes: tuple[int, ...]
    weights: tuple[Array | None, ...]  # (inputs, units) of each step
    biases: tuple[Array | None, ...]
    kinds: tuple[str, ...]  # activation of each step
    names: tuple[str, ...]  # of the inputs


def the_network(E: Model) -> Network:
    """The network of a model, or the network itself."""
    network = getattr(E, "network_", E)
    if not isinstance(network, Network):
        raise ValueError(f"the picture needs a Network or a fitted MLP, got {type(E).__name__}")
    network._require_weights()
    return network


def layers_of(E: Model) -> Layers:
    """The dense layers of a network, with the activation that follows each."""
    network = the_network(E)
    ops = network.plan.ops
    weights, biases, kinds = list(network.weights), [], []
    given = iter(network.biases)
    for i, op in enumerate(ops):
        if not isinstance(op, Affine):
            continue
        biases.append(next(given) if op.use_bias else None)
        after = ops[i + 1] if i + 1 < len(ops) else None
        kind = getattr(after, "activation", "identity")
        kinds.append(kind if isinstance(kind, str) else getattr(kind, "name", "mixed"))
    sizes = (len(weights[0]), *(w.shape[1] for w in weights))
    found = getattr(E, "feature_names_in_", None)
    names = tuple(f"x{j}" for j in range(sizes[0])) if found is None else tuple(map(str, found))
    return Layers(sizes, tuple(weights), tuple(biases), tuple(kinds), names)


def places(sizes: tuple[int, ...]) -> list[Array]:
    """Where the units that are drawn stand, (m, 2) of each layer.

    >>> [len(p) for p in places((2, 30, 1))]
    [2, 10, 1]
    """
    found = []
    for i, n in enumerate(sizes):
        m = min(n, MOST_UNITS)
        found.append(np.column_stack([np.full(m, 1.6 * i), (m - 1) / 2 - np.arange(m)]))
    return found


def draw_lines(ax: Axes, at: list[Array], weights: tuple[Array | None, ...]) -> None:
    """Every connection: blue for positive, orange and dashed for negative, as thick as strong."""
    known = [np.abs(w).max() for w in weights if w is not None and w.size]
    most = max(known, default=1.0) or 1.0
    lines = sum(len(a) * len(b) for a, b in pairwise(at))
    for a, b, w in zip(at[:-1], at[1:], weights, strict=True):
        for i, p in enumerate(a):
            for j, q in enumerate(b):
                value = 0.25 * most if w is None else float(w[i, j])
                tint = "#9CA3AF" if w is None else colour(0 if value >= 0 else 1)
                width, style = 0.4 + 2.6 * abs(value) / most, "-" if value >= 0 else "--"
                ax.plot(*np.stack([p, q]).T, color=tint, lw=width, ls=style, zorder=1, alpha=0.8)
                if w is not None and lines <= MOST_WORDS:
                    at_ = p + (0.3 + 0.12 * (i % 3)) * (q - p)
                    box = PLATE | {"alpha": 0.85}
                    write(ax, at_[0], at_[1], f"{value:.2g}", fontsize=LEAST, zorder=2, bbox=box)


def draw_units(ax: Axes, at: list[Array], sizes: tuple[int, ...], words: list[list[str]]) -> None:
    """Circles with what is known of them."""
    for p, n, said in zip(at, sizes, words, strict=True):
        for (x, y), word in zip(p, said, strict=False):
            ax.plot(x, y, "o", ms=24, color="white", mec="black", mew=1, zorder=3)
            ax.text(x, y, word, ha="center", va="center", fontsize=LEAST, zorder=4)
        if n > len(p):
            ax.text(p[0, 0], p[-1, 1] - 0.7, f"… {n} in all", ha="center", fontsize=LEAST)
    tall = max(len(p) for p in at)
    ax.set_axis_off()
    ax.set(xlim=(-0.8, 1.6 * (len(at) - 1) + 0.9), ylim=(-tall / 2 - 0.75, tall / 2 + 0.75))


def size(sizes: tuple[int, ...]) -> tuple[float, float]:
    """A figure large enough for the units."""
    return max(4.6, 2.1 * len(sizes) + 0.6), max(2.8, 0.72 * min(max(sizes), MOST_UNITS) + 1.4)

"""How sure the data are of every edge: posterior probabilities averaged over graphs."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Model
from pellucid.plots.panels.marks import words, write
from pellucid.plots.panels.style import Axes, Picture, axes, heading

WRITTEN = 15  # variables up to which the numbers are written in


class EdgeProbabilities(Picture):
    """P(row -> column | data) for every pair of variables."""

    names: tuple[str, ...]
    probability: Array  # (d, d), parent by child

    def plot(self, ax: Axes | None = None) -> Any:
        d = len(self.names)
        side = max(3.6, 0.55 * d)
        ax = axes(ax, figsize=(side + 1.4, side + 0.6))
        shown = np.where(np.eye(d, dtype=bool), np.nan, self.probability)
        image = ax.imshow(shown, cmap="Blues", vmin=0, vmax=1)
        ax.figure.colorbar(image, ax=ax, label="probability of the edge", shrink=0.85)
        ax.set_xticks(range(d), self.names, rotation=0 if max(map(len, self.names)) < 6 else 60)
        ax.set_yticks(range(d), self.names)
        ax.set(xlabel="child", ylabel="parent")
        ax.grid(False)
        for i in range(d if d <= WRITTEN else 0):
            for j in range(d):
                if i != j:
                    p = self.probability[i, j]
                    write(ax, j, i, f"{p:.2f}", color="white" if p > 0.6 else "black")
        heading(ax, "Probability of each edge, given the data")
        return ax


def edge_probabilities(E: Model) -> EdgeProbabilities:
    """A heat map of the posterior probability of every edge.

    ``E``: fitted ModelAveragingStructure.

    Examples
    --------
    >>> import polars as pl
    >>> from pellucid import ModelAveragingStructure
    >>> from pellucid.plots import edge_probabilities
    >>> X = pl.DataFrame({"a": [0, 0, 1, 1] * 9, "b": [0, 0, 1, 1] * 9})
    >>> edge_probabilities(ModelAveragingStructure().fit(X)).probability.round(2)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    P = getattr(E, "edge_probabilities_", None)
    if P is None:
        raise ValueError(
            f"E must be a fitted ModelAveragingStructure, got {type(E).__name__} without "
            "edge_probabilities_"
        )
    names = tuple(str(name) for name in E.states_)
    P = np.asarray(P, dtype=np.float64)
    pairs = sorted(
        ((P[i, j], names[i], names[j]) for i, j in np.ndindex(P.shape) if i != j),
        key=lambda pair: -pair[0],
    )
    said = words([f"{a} → {b} {p:.2f}" for p, a, b in pairs[:6]])
    return EdgeProbabilities(f"Probability of each directed edge; the surest: {said}.", names, P)

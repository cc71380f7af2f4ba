"""The size of the gradient of each layer: epoch by epoch, and on one way back."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, MaybeArray, Model
from pellucid.neural.diagnosis import gradient_flow
from pellucid.plots.panels.marks import STYLES, scale_of
from pellucid.plots.panels.networks import the_network
from pellucid.plots.panels.style import Axes, Picture, colour, heading, legend, panels


class GradientNorms(Picture):
    norms: Array  # (epochs, layers); (0, 0) without a history
    deltas: Array  # (layers,) rms of d loss/dz; empty without rows
    verdict: str  # healthy, vanishing, exploding; "" without rows
    advice: str

    def plot(self) -> Any:
        """The panels that there are data for; the figure."""
        kinds = [self._epochs] * bool(self.norms.size) + [self._flow] * bool(self.deltas.size)
        grid = panels(len(kinds), columns=2, size=(5.0, 3.8))
        for ax, draw in zip(grid, kinds, strict=True):
            draw(ax)
        return grid[0].figure

    def _epochs(self, ax: Axes) -> None:
        for layer, values in enumerate(self.norms.T):
            x = np.where(values > 0, values, np.nan)
            ax.plot(x, STYLES[layer % 4], color=colour(layer), lw=1.6, label=f"layer {layer + 1}")
        ax.set(xlabel="epoch", ylabel="norm of the gradient", yscale=scale_of(self.norms))
        legend(ax)
        heading(ax, "Gradients by epoch and layer")

    def _flow(self, ax: Any) -> None:
        place = np.arange(1, len(self.deltas) + 1)
        ax.plot(place, np.where(self.deltas > 0, self.deltas, np.nan), "o-", color=colour(0), ms=7)
        ax.xaxis.get_major_locator().set_params(integer=True)
        xlabel = "layer (the gradient comes from the right)"
        ax.set(xlabel=xlabel, ylabel="rms of d loss/dz", yscale=scale_of(self.deltas))
        heading(ax, f"One pass back: {self.verdict}", self.advice)


def gradient_norms(E: Model, X: MaybeArray = None, y: MaybeArray = None) -> GradientNorms:
    """The size of the gradients layer by layer.

    ``E``: fitted MLPClassifier, MLPRegressor, Autoencoder, a ``TrainResult``; or (with X and y) a
    Network. ``X``, ``y``: rows and targets as the network takes them; for the flow of one pass,
    with its verdict.

    Examples
    --------
    >>> from pellucid.neural import Dense, Network
    >>> from pellucid.plots import gradient_norms
    >>> deep = Network([*[Dense(5, "logistic") for _ in range(12)], Dense(1, "identity")],
    ...                n_inputs=2, random_state=0)
    >>> gradient_norms(deep, [[0.0, 1.0], [1.0, 0.0]], [0.0, 1.0]).verdict
    'vanishing'
    """
    result = hasattr(E, "history") and hasattr(E, "network")
    history = E.history if result else getattr(E, "history_", None)
    norms = np.zeros((0, 0))
    if history is not None and "gradient_norms" in history.columns:
        rows = [row["gradient_norms"] for row in history if row.get("gradient_norms") is not None]
        norms = np.array([np.asarray(r, dtype=np.float64) for r in rows])
    deltas, verdict, advice = np.zeros(0), "", ""
    if X is not None and y is not None:
        flow = gradient_flow(E.network if result else the_network(E), X, y)
        deltas, verdict, advice = flow.rms_deltas, flow.verdict, flow.advice
    if not norms.size and not deltas.size:
        raise ValueError(f"{type(E).__name__} keeps no gradient_norms in history_: give X and y")
    said = []
    if norms.size:
        last = ", ".join(f"{v:.3g}" for v in norms[-1])
        said.append(
            f"Norms of the gradients of {norms.shape[1]} layers after {len(norms) - 1} "
            f"epochs: {last}."
        )
    if deltas.size:
        said.append(
            f"One pass back through {len(deltas)} layers: rms {deltas[0]:.3g} in the first,"
            f" {deltas[-1]:.3g} in the last; {verdict}."
        )
    return GradientNorms(" ".join(said), norms, deltas, verdict, advice)

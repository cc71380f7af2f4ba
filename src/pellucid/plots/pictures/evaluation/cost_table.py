"""A table of costs: what every decision costs for every truth."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.inference.decisions.decisions import check_losses
from pellucid.plots.panels.style import Axes, Picture, axes, colour, heading


class CostTable(Picture):
    costs: Array  # (K, D)
    labels: tuple[str, ...]
    decisions: tuple[str, ...]

    def plot(self, ax: Axes | None = None) -> Any:
        """Deeper orange for higher costs, blue for gains; the right decisions are framed."""
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Rectangle

        K, D = self.costs.shape
        ax = axes(ax, figsize=(2.6 + 1.0 * D, 1.8 + 0.75 * K))
        top = float(np.abs(self.costs).max()) or 1.0
        tint = 0.85 * np.sqrt(np.abs(self.costs) / top)[:, :, None]
        loss, gain = np.array(to_rgb(colour(1))), np.array(to_rgb(colour(0)))
        base = np.where((self.costs >= 0)[:, :, None], loss, gain)
        ax.imshow(1 - tint * (1 - base), aspect="auto")
        for i, j in np.ndindex(K, D):
            ink = "white" if tint[i, j, 0] > 0.6 else "black"
            ax.text(j, i, f"{self.costs[i, j]:g}", ha="center", va="center", color=ink)
        for k in range(min(K, D)):
            ax.add_patch(Rectangle((k - 0.47, k - 0.46), 0.94, 0.92, fill=False, lw=1.5))
        ax.set_xticks(range(D), self.decisions)
        ax.set_yticks(range(K), self.labels)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.grid(False)
        ax.set(xlabel="decision", ylabel="truth")
        heading(ax, "Cost of each decision", "framed: the right ones", width=40)
        return ax


def matrix_and_names(L: Any, labels: Any, decisions: Any) -> tuple[Array, Any, Any]:
    """The costs, and the names of truths and decisions; those of a model where given one."""
    if hasattr(L, "loss_matrix_"):
        labels = np.asarray(L.classes_).tolist() if labels is None else labels
        decisions = list(L.decisions_) if decisions is None else decisions
        L = L.loss_matrix_
    rows = np.shape(L)[0] if np.ndim(L) == 2 else 0
    C = check_losses(L, max(rows, 1))
    K, D = C.shape
    labels = [f"class {k}" for k in range(K)] if labels is None else list(labels)
    if decisions is None:
        extra = ["other"] if D == K + 1 else [f"other {i + 1}" for i in range(D - K)]
        decisions = [*labels, *extra][:D]
    if len(labels) != K or len(list(decisions)) != D:
        found = f"got {len(labels)} and {len(list(decisions))}"
        raise ValueError(f"a {K} x {D} table needs {K} labels and {D} decisions, {found}")
    return C, tuple(map(str, labels)), tuple(map(str, decisions))


def cost_table(L: Any, *, labels: Any = None, decisions: Any = None) -> CostTable:
    """The costs of decisions as a table: rows are the truth, columns the decision.

    ``L``: array-like of shape (K, D), or a fitted LossMatrixClassifier; ``labels``: names of the K
    classes, optional; ``decisions``: names of the D decisions; default: those of the classes;
    further columns are "other".

    Examples
    --------
    >>> from pellucid.plots import cost_table
    >>> picture = cost_table([[0, 1, 0.2], [10, 0, 0.2]], labels=["well", "ill"])
    >>> picture.decisions
    ('well', 'ill', 'other')
    """
    C, labels, decisions = matrix_and_names(L, labels, decisions)
    i, j = np.unravel_index(int(C.argmax()), C.shape)
    alt = (
        f"Table of costs of {len(decisions)} decisions for {len(labels)} truths; the dearest is to "
        f"decide {decisions[j]} when {labels[i]} is true, at {C[i, j]:g}."
    )
    return CostTable(alt, C, labels, decisions)

"""How one prediction comes about: from the mean of the training rows, input by input."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Model
from pellucid.plots.panels.marks import margin, words
from pellucid.plots.panels.style import GREY, PALETTE, Picture, axes, heading
from pellucid.plots.pictures.explanations.shap_summary import explained


class ShapWaterfall(Picture):
    """Steps from the base to the prediction, the largest first."""

    labels: tuple[str, ...]  # "name = value"
    shares: Array  # (steps,)
    base: float
    prediction: float
    row: int
    scale: str

    def plot(self, ax: Any = None) -> Any:
        """A bar for every step; rises and falls differ in colour and hatching."""
        k = len(self.shares)
        ax = axes(ax, figsize=(6.4, 0.4 * k + 1.8))
        ends = self.base + np.cumsum(self.shares)
        starts = ends - self.shares
        room = 0.012 * (max(ends.max(), self.base) - min(ends.min(), self.base) or 1.0)
        for j in range(k):
            y, up = k - 1 - j, self.shares[j] >= 0
            look = {"height": 0.62, "alpha": 0.85, "lw": 0, "edgecolor": "white"}
            look |= {"color": PALETTE[0 if up else 1], "hatch": None if up else "///"}
            ax.barh(y, self.shares[j], left=starts[j], **look)
            x = max(starts[j], ends[j]) + room
            ax.text(x, y, f"{self.shares[j]:+.3g}", va="center", fontsize="small")
            if j + 1 < k:
                ax.plot([ends[j]] * 2, [y - 0.31, y - 0.69], color=GREY, lw=0.8)
        ax.axvline(self.base, color=GREY, lw=1, ls=":")
        text = f"mean {self.base:.4g}"
        ax.text(self.base, k - 0.45, text, color=GREY, fontsize="small", ha="center", va="bottom")
        ax.set_yticks(np.arange(k)[::-1], self.labels)
        ax.set(xlabel=self.scale, ylim=(-0.6, k + 0.1))
        ax.set_xlim(margin(np.append(ends, self.base), 0.14))
        ax.grid(False, axis="y")
        title = f"Row {self.row}: from the mean to {self.prediction:.4g}"
        heading(ax, title, "what each input adds; hatched: takes away")
        return ax


def shap_waterfall(
    E: Model, X: Any = None, row: int = 0, *, output: Any = None, most: int = 10
) -> ShapWaterfall:
    """One prediction as the mean of the training rows plus the shares of the inputs.

    ``E``: fitted model of trees, or a ``TreeShap``; ``X``: rows, with a model; ``row``: position of
    the row to explain, 0 by default. ``output``: label or place; which class; default the last.
    ``most``: inputs drawn one by one; the others are one bar.

    Examples
    --------
    >>> from pellucid import DecisionTreeRegressor
    >>> from pellucid.plots import shap_waterfall
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 0.0, 0.0, 4.0]
    >>> picture = shap_waterfall(DecisionTreeRegressor().fit(X, y), X, 3)
    >>> picture.base, picture.shares.round(9).tolist(), round(picture.prediction, 9)
    (1.0, [1.5, 1.5], 4.0)
    """
    check.whole(most=most)
    found = explained(E, X).output(output)
    n = len(found.values)
    if not 0 <= row < n:
        raise ValueError(f"row must be a whole number from 0 to {n - 1}, got {row!r}")
    phi = found.values[row]
    order = np.argsort(-np.abs(phi), kind="stable")
    shown = order[:most]
    cells = [found.cell(row, j) for j in shown]
    said_cells = [f"{cell:.4g}" if isinstance(cell, float) else cell for cell in cells]
    labels = [f"{found.names[j]} = {c}" for j, c in zip(shown, said_cells, strict=True)]
    shares = phi[shown].tolist()
    if len(order) > most:
        labels.append(f"{len(order) - most} other inputs")
        shares.append(float(phi[order[most:]].sum()))
    base, prediction = float(found.base), float(found.prediction[row])
    said = words([f"{name} {share:+.3g}" for name, share in zip(labels[:3], shares, strict=False)])
    alt = (
        f"The {found.scale} of row {row}, {prediction:.4g}, as the mean of the training rows "
        f"{base:.4g} plus shares, the largest: {said}."
    )
    return ShapWaterfall(
        alt, tuple(labels), np.array(shares), base, prediction, int(row), found.scale
    )

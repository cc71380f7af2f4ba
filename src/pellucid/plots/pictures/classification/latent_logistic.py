"""Logistic regression as a hidden number: y* = w.x + w0 + noise, the label is whether y* >= 0.

The noise has the logistic density e^-t/(1 + e^-t)^2, so the area of y* above 0 is sigma(w.x + w0).
"""

from textwrap import wrap
from typing import Any

import numpy as np
from scipy.special import expit

from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.plots.panels.inputs import last_step, read_table, same_kind
from pellucid.plots.panels.marks import band, words
from pellucid.plots.panels.style import GREY, Axes, Picture, axes, colour, heading, legend

MOST = 6  # rows that can be told apart


class LatentLogistic(Picture):
    grid: Array  # (g,)
    density: Array  # (m, g)
    scores: Array  # (m,) the middles
    area: Array  # (m,) above 0: P(second class)
    labels: tuple[str, ...]
    classes: tuple[str, str]

    def plot(self, ax: Axes | None = None) -> Any:
        m = len(self.scores)
        ax = axes(ax, figsize=(6.8, 1.8 + 1.0 * m))
        room = 0.3
        for i in range(m):
            base = (m - 1 - i) * room
            above = self.grid >= 0
            high = base + self.density[i]
            for k, side, word in ((1, above, "≥"), (0, ~above, "<")):
                said = f"y* {word} 0: {self.classes[k]}" if i == 0 else None
                alpha = 0.45 if k else 0.2
                band(ax, self.grid, base, high, colour(k), alpha, where=side, label=said)
            ax.plot(self.grid, high, color="black", lw=1.2)
            ax.plot([self.scores[i]] * 2, [base, base + 0.25], color="black", lw=1, ls=":")
        ax.axvline(0, color=GREY, lw=1.2)
        pairs = zip(self.labels, self.area, strict=True)
        texts = ["\n".join([*wrap(label, 24), f"P = {p:.3f}"]) for label, p in pairs]
        ax.set_yticks([(m - 1 - i) * room + 0.1 for i in range(m)], texts)
        ax.tick_params(axis="y", length=0)
        ax.grid(False)
        ax.set(xlabel="hidden number y* = w·x + w₀ + logistic noise")
        heading(ax, f"P({self.classes[1]}) is the area above 0")
        legend(ax, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return ax


def latent_logistic(E: Model, x: ArrayLike) -> LatentLogistic:
    """The density of the hidden number y* of some rows; the area above 0 is their probability.

    ``E``: fitted LogisticRegression of two classes, or a Pipeline ending in one; ``x``: one row
    (p,) or up to six rows (m, p).

    Examples
    --------
    >>> from pellucid import LogisticRegression
    >>> from pellucid.plots import latent_logistic
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> picture = latent_logistic(model, [[0.0], [1.5]])
    >>> bool(abs(picture.area - model.predict_proba([[0.0], [1.5]])[:, 1]).max() < 1e-12)
    True
    """
    model = last_step(E)
    if not hasattr(model, "decision_function") or len(getattr(model, "classes_", ())) != 2:
        raise ValueError(f"latent_logistic needs two classes, got {type(model).__name__}")
    plain = not hasattr(x, "columns") and np.ndim(x) == 1
    table = read_table(np.asarray(x)[None] if plain else x, E)
    if not 1 <= len(table.X) <= MOST:
        raise ValueError(f"latent_logistic shows 1 to {MOST} rows, got {len(table.X)}")
    given = same_kind(table.given, table.X) if plain else table.given
    scores = np.asarray(E.decision_function(given), dtype=np.float64)
    grid = np.linspace(min(scores.min(), 0.0) - 7, max(scores.max(), 0.0) + 6, 601)
    F = expit(grid - scores[:, None])
    cells = [[f"{n} = {v:.3g}" for n, v in zip(table.names, row, strict=True)] for row in table.X]
    labels = tuple(words(row, 2) for row in cells)
    names = [str(v) for v in np.asarray(model.classes_).tolist()]
    area = expit(scores)
    said = words([f"{text}: {p:.3f}" for text, p in zip(labels, area, strict=True)])
    alt = f"Density of the hidden number; area above 0, the probability of {names[1]}: {said}."
    return LatentLogistic(alt, grid, F * (1 - F), scores, area, labels, (names[0], names[1]))

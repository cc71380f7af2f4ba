"""Which model is better than which: a matrix of adjusted p-values."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.evaluation.hypotheses.comparison import Comparison
from pellucid.plots.panels.marks import write
from pellucid.plots.panels.style import GREY, LIGHT, Axes, Picture, axes, colour, heading


class Significance(Picture):
    """Models in falling quality; ``better[i, j]``: model i is significantly better than j."""

    names: tuple[str, ...]
    mean: Array  # (m,)
    adjusted: Array  # (m, m) p-values
    better: BoolArray  # (m, m)
    order: IntArray  # (m,) places in the comparison
    metric: str
    alpha: float
    test: str
    correction: str
    sentence: str

    def plot(self, ax: Axes | None = None) -> Any:
        from matplotlib.colors import to_rgb

        m = len(self.names)
        ax = axes(ax, figsize=(max(5.4, 2.6 + 0.95 * m), 1.9 + 0.7 * m))
        cells = np.ones((m, m, 3))
        for i, j in np.ndindex(m, m):
            if i == j:
                cells[i, j] = to_rgb(LIGHT)
                continue
            sign = 1 if self.better[i, j] else -1 if self.better[j, i] else 0
            tint = {1: colour(0), -1: colour(1), 0: "#F3F4F6"}[sign]
            cells[i, j] = to_rgb(tint)
            word = {1: "▲ better", -1: "▼ worse", 0: "no proof"}[sign]
            p = float(self.adjusted[i, j])
            text = f"{word}\np {'< 0.001' if p < 0.001 else f'= {p:.3f}'}"
            write(ax, j, i, text, color="white" if sign else GREY)
        ax.imshow(cells, aspect="auto")
        ax.grid(False)
        ax.set_xticks(range(m), self.names, rotation=0 if m <= 6 else 45)
        texts = [f"{name}  {mean:.4g}" for name, mean in zip(self.names, self.mean, strict=True)]
        ax.set_yticks(range(m), texts)
        ax.set_xticks(np.arange(m + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(m + 1) - 0.5, minor=True)
        ax.grid(True, which="minor", color="white", lw=2)
        ax.tick_params(which="both", length=0)
        ax.spines[:].set_visible(False)
        ax.set(ylabel=f"row model, mean {self.metric}", xlabel="compared with")
        how = f"{self.test.replace('_', ' ')} test, {self.correction.replace('_', '-')} correction"
        heading(ax, self.sentence, f"{how}, level {self.alpha:g}", width=max(54, 24 + 9 * m))
        return ax


def significance(comparison: Any) -> Significance:
    """Every pair of models: better, worse, or no proof of a difference.

    ``comparison``: Comparison; of ``evaluation.compare``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression, Ridge
    >>> from pellucid.evaluation import compare
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> models = {"stiff": Ridge(1e3), "ols": LinearRegression()}
    >>> picture = significance(compare(models, X, X.sum(axis=1), metric="rmse"))
    >>> picture.names, picture.better
    (('ols', 'stiff'), array([[False,  True],
           [False, False]]))
    """
    c = comparison
    if not isinstance(c, Comparison):
        raise ValueError(f"comparison must come from evaluation.compare, got {type(c).__name__}")
    mean = c.scores.mean(axis=1)
    order = np.argsort(-mean if c.greater_is_better else mean, kind="stable")
    pick = np.ix_(order, order)
    names = tuple(c.names[i] for i in order)
    better = c.better[pick]
    won = [f"{names[i]} over {names[j]}" for i, j in np.argwhere(better)]
    alt = (
        f"Pairs of {len(names)} models by {c.metric}, best first ({', '.join(names)}): "
        f"{len(won)} significant differences{': ' + ', '.join(won) if won else ''}."
    )
    words = (c.metric, c.alpha, c.test, c.correction, c.sentence)
    return Significance(alt, names, mean[order], c.adjusted[pick], better, order, *words)

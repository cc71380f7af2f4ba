"""Score against the number of training rows, on the rows trained on and on new ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.typing import Array, BoolArray, IntArray
from pellucid.evaluation.curves import SizeCurve
from pellucid.plots.style import axes, colour, heading, legend


@dataclass(frozen=True)
class LearningCurve:
    """Means and 95 % limits per size, and the score of every fold."""

    sizes: IntArray  # (m,)
    train: Array  # (m, 3): mean, low, high
    test: Array  # (m, 3)
    folds: Array  # (m, k) test scores
    collapsed: BoolArray  # (m, k) fits that predict a constant
    metric: str
    sentence: str
    alt: str

    def plot(self, ax: Any = None) -> Any:
        ax = axes(ax, figsize=(6.4, 4.4))
        lines = (("training rows", self.train, "s", "--"), ("new rows", self.test, "o", "-"))
        for i, (label, values, shape, style) in enumerate(lines):
            tint = colour(1 - i)
            mean, low, high = values.T
            ax.fill_between(
                self.sizes, low, high, color=tint, alpha=0.15, lw=0,
                label="95 % interval of the mean" if i else None,
            )  # fmt: skip
            ax.plot(self.sizes, mean, marker=shape, color=tint, ls=style, lw=2, ms=6, label=label)
        x = np.broadcast_to(self.sizes[:, None], self.folds.shape)
        fine = ~self.collapsed
        ax.plot(
            x[fine], self.folds[fine], ".", color=colour(0), ms=4, alpha=0.4, label="single folds"
        )
        if self.collapsed.any():
            ax.plot(
                x[~fine], self.folds[~fine], "x", color="black", ms=6,
                label="collapsed: predicts a constant",
            )  # fmt: skip
        shown = np.concatenate([self.train[:, 0], self.test[:, 0], self.folds[fine]])
        low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
        room = 0.1 * (high - low or 1.0)
        ax.set(
            xlabel="training rows", ylabel=self.metric, ylim=(low - room, high + room),
            xlim=(0, float(self.sizes[-1]) * 1.04),
        )  # fmt: skip
        heading(ax, self.sentence)
        legend(ax)
        return ax


def limits_of(summaries: Any) -> Array:
    """(m, 3): mean, low, high of every summary."""
    return np.array([[s.mean, s.low, s.high] for s in summaries])


def learning_curve(size_curve: Any) -> LearningCurve:
    """How the score grows with the rows: a gap that stays is variance, two low lines are bias.

    Parameters
    ----------
    size_curve : SizeCurve
        Of ``evaluation.size_curve``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Ridge
    >>> from pellucid.evaluation import size_curve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> picture = learning_curve(size_curve(Ridge(), X, X[:, 0], sizes=[12, 48], metric="rmse"))
    >>> picture.sizes, picture.folds.shape, bool(picture.test[1, 0] < picture.test[0, 0])
    (array([12, 48]), (2, 5), True)
    """
    if not isinstance(size_curve, SizeCurve):
        raise ValueError(
            f"size_curve must come from evaluation.size_curve, got {type(size_curve).__name__}"
        )
    c = size_curve
    alt = f"Test and training {c.metric} for {c.sizes[0]} to {c.sizes[-1]} rows. {c.sentence}"
    return LearningCurve(
        c.sizes, limits_of(c.train_summary), limits_of(c.test_summary), c.test, c.collapsed,
        c.metric, c.sentence, alt,
    )  # fmt: skip

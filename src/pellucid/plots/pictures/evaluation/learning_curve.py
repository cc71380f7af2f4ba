"""Score against the number of training rows, on the rows trained on and on new ones."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.evaluation.validation.curves import SizeCurve
from pellucid.plots.panels.marks import band, stroke, tone
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend


class LearningCurve(Panel, size=(6.4, 4.4)):
    """Means and 95 % limits per size, and the score of every fold."""

    sizes: IntArray  # (m,)
    train: Array  # (m, 3): mean, low, high
    test: Array  # (m, 3)
    folds: Array  # (m, k) test scores
    collapsed: BoolArray  # (m, k) fits that predict a constant
    metric: str
    sentence: str

    def _draw(self, ax: Axes) -> None:
        lines = (("training rows", self.train, "s", "--"), ("new rows", self.test, "o", "-"))
        for i, (label, values, shape, style) in enumerate(lines):
            tint = colour(1 - i)
            mean, low, high = values.T
            said = "95 % interval of the mean" if i else None
            band(ax, self.sizes, low, high, tint, 0.15, label=said)
            ax.plot(self.sizes, mean, marker=shape, color=tint, ls=style, lw=2, ms=6, label=label)
        x = np.broadcast_to(self.sizes[:, None], self.folds.shape)
        fine = ~self.collapsed
        look: Any = {"color": colour(0), "ms": 4, "alpha": 0.4, "label": "single folds"}
        ax.plot(x[fine], self.folds[fine], ".", **look)
        if self.collapsed.any():
            y = self.folds[~fine]
            ax.plot(x[~fine], y, "x", color="black", ms=6, label="collapsed: predicts a constant")
        shown = np.concatenate([self.train[:, 0], self.test[:, 0], self.folds[fine]])
        low, high = float(np.nanmin(shown)), float(np.nanmax(shown))
        room = 0.1 * (high - low or 1.0)
        ylim, xlim = (low - room, high + room), (0, float(self.sizes[-1]) * 1.04)
        ax.set(xlabel="training rows", ylabel=self.metric, ylim=ylim, xlim=xlim)
        heading(ax, self.sentence)
        legend(ax)


class LearningCurves(Panel, size=(6.4, 4.4)):
    """Scores on new rows of several models against the number of training rows."""

    labels: tuple[str, ...]
    sizes: tuple[IntArray, ...]
    test: tuple[Array, ...]  # each (m, 3): mean, low, high
    metric: str
    crossing: float  # rows at which the lead of two changes last; NaN where it does not
    sentence: str

    def _draw(self, ax: Axes) -> None:
        curves = zip(self.labels, self.sizes, self.test, strict=True)
        for i, (label, sizes, values) in enumerate(curves):
            mean, low, high = values.T
            ax.fill_between(sizes, low, high, color=colour(i), alpha=0.13, lw=0)
            look: Any = {**tone(i), **stroke(i)}
            ax.plot(sizes, mean, lw=2, ms=6, label=label, **look)
        if np.isfinite(self.crossing):
            ax.axvline(self.crossing, color="black", lw=1, ls=":", label="the lead changes")
        means = np.concatenate([values[:, 0] for values in self.test])
        room = 0.25 * (float(np.ptp(means)) or 1.0)
        ylim = (means.min() - room, means.max() + room)
        ax.set(xlabel="training rows", ylabel=f"{self.metric} on new rows", xscale="log", ylim=ylim)
        heading(ax, self.sentence, "bands: 95 % interval of the mean")
        legend(ax)


def limits_of(summaries: Any) -> Array:
    """(m, 3): mean, low, high of every summary."""
    return np.array([[s.mean, s.low, s.high] for s in summaries])


def crossing_of(a: SizeCurve, b: SizeCurve) -> float:
    """The last size (on a logarithmic axis) at which the mean test scores of two models cross."""
    if not np.array_equal(a.sizes, b.sizes):
        return np.nan
    gap = limits_of(a.test_summary)[:, 0] - limits_of(b.test_summary)[:, 0]
    at = np.flatnonzero(np.sign(gap[:-1]) * np.sign(gap[1:]) < 0)
    if not len(at):
        return np.nan
    i, t = int(at[-1]), np.log(a.sizes)
    return float(np.exp(t[i] + gap[i] / (gap[i] - gap[i + 1]) * (t[i + 1] - t[i])))


def several(curves: dict[str, SizeCurve]) -> LearningCurves:
    """The test scores of several models in one picture."""
    found = list(curves.items())
    metrics = {c.metric for _, c in found}
    if len(metrics) != 1:
        raise ValueError(f"curves in one picture must share a metric, got {sorted(metrics)}")
    a = found[0][1]
    crossing = crossing_of(a, found[1][1]) if len(found) == 2 else np.nan
    up = a.greater_is_better
    lead = sorted(found, key=lambda pair: pair[1].test_summary[-1].mean, reverse=up)[0][0]
    sentence = f"{lead} leads at {max(c.sizes[-1] for _, c in found)} rows"
    if np.isfinite(crossing):
        sentence += f"; the lead changes at about {crossing:.0f}"
    limits = [limits_of(c.test_summary) for _, c in found]
    pairs = zip(curves, limits, strict=True)
    said = ", ".join(f"{k} {v[0, 0]:.4g} to {v[-1, 0]:.4g}" for k, v in pairs)
    labels, sizes = tuple(str(k) for k, _ in found), tuple(c.sizes for _, c in found)
    alt = f"Test {a.metric} against training rows: {said}. {sentence}."
    return LearningCurves(alt, labels, sizes, tuple(limits), a.metric, crossing, sentence)


def learning_curve(size_curve: Any) -> LearningCurve | LearningCurves:
    """How the score grows with the rows: a gap that stays is variance, two low lines are bias.

    ``size_curve``: SizeCurve of ``evaluation.size_curve``, or {"label": SizeCurve}. A dictionary
    compares the scores on new rows, such as those of a generative and of a discriminative model.

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
    kinds = {type(c) for c in size_curve.values()} if isinstance(size_curve, dict) else set()
    if kinds == {SizeCurve}:
        return several(size_curve)
    if not isinstance(size_curve, SizeCurve):
        raise ValueError(f"must come from evaluation.size_curve, got {type(size_curve).__name__}")
    c = size_curve
    alt = f"Test and training {c.metric} for {c.sizes[0]} to {c.sizes[-1]} rows. {c.sentence}"
    train, test = limits_of(c.train_summary), limits_of(c.test_summary)
    return LearningCurve(alt, c.sizes, train, test, c.test, c.collapsed, c.metric, c.sentence)

"""Score against a parameter that sets the complexity, with the two choices that a user may make.

Best: the greatest mean (the least, for a loss). One standard error: the simplest value whose mean
is within one standard error of the best.
"""

from numbers import Real
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.evaluation.validation.curves import ComplexityCurve
from pellucid.plots.panels.marks import band, spot
from pellucid.plots.panels.style import GREY, Axes, Picture, axes, colour, heading, legend_below

LOG_SPAN = 100  # ratio of the largest to the smallest value from which the axis is logarithmic


class ValidationCurve(Picture):
    """Means (m,) and standard errors; (a, b) tables for a pair of parameters."""

    parameter: Any  # name, or pair of names
    values: Any  # list, or pair of lists
    train: Array  # mean score on training rows
    test: Array  # mean score on test rows
    standard_error: Array  # of the test mean
    best: Any  # place, or pair of places
    one_standard_error: Any
    limit: float  # the score within one standard error of the best
    collapsed: BoolArray  # values at which some fold collapsed
    metric: str
    greater_is_better: bool
    sentence: str

    def plot(self, ax: Any = None) -> Any:
        if isinstance(self.parameter, str):
            return self._line(axes(ax, figsize=(6.4, 4.6)))
        return self._table(axes(ax, figsize=(6.0, 4.8)))

    def _line(self, ax: Axes) -> Any:
        x = self._places(ax)
        error = np.nan_to_num(self.standard_error)
        low = self.test - error
        band(ax, x, low, self.test + error, colour(0), 0.18, label="± one standard error")
        ax.plot(x, self.train, "s--", color=colour(1), lw=1.8, ms=5, label="training rows")
        ax.plot(x, self.test, "o-", color=colour(0), lw=2, ms=5, label="new rows")
        ax.axhline(self.limit, color=GREY, ls=":", lw=1.3, label="one standard error from the best")
        if self.collapsed.any():
            at = self.collapsed
            y = self.test[at]
            ax.plot(x[at], y, "x", color="black", ms=9, mew=2, label="some fits predict a constant")
        b, s = self.best, self.one_standard_error
        self._marks(ax, x[b], self.test[b], x[s], self.test[s])
        ax.set(xlabel=self.parameter.split("__")[-1], ylabel=self.metric)
        heading(ax, self.sentence)
        legend_below(ax, ncols=2, markerscale=0.65)
        return ax

    def _marks(self, ax: Axes, bx: float, by: float, ox: float, oy: float) -> None:
        spot(ax, bx, by, "*", colour(2), size=16, mew=0.8, ls="none", zorder=5, label="best")
        label = "simplest within one standard error"
        look: Any = {"ms": 14, "mfc": "none", "mec": "black", "mew": 1.8, "ls": "none"}
        ax.plot(ox, oy, "o", zorder=5, label=label, **look)

    def _places(self, ax: Axes) -> Array:
        values = list(self.values)
        if not all(isinstance(v, Real) and not isinstance(v, bool) for v in values):
            ax.set_xticks(range(len(values)), [str(v) for v in values])
            return np.arange(len(values), dtype=np.float64)
        x = np.array(values, dtype=np.float64)
        if x.min() > 0 and x.max() / x.min() >= LOG_SPAN:
            ax.set_xscale("log")
        return x

    def _table(self, ax: Any) -> Any:
        cmap = "viridis" if self.greater_is_better else "viridis_r"
        shown = ax.imshow(self.test, cmap=cmap, aspect="auto", origin="lower")
        ax.figure.colorbar(shown, ax=ax, label=f"mean {self.metric} on new rows")
        for axis, part in ((ax.set_yticks, self.values[0]), (ax.set_xticks, self.values[1])):
            axis(range(len(part)), [f"{v:.3g}" if isinstance(v, float) else str(v) for v in part])
        (b0, b1), (s0, s1) = self.best, self.one_standard_error
        halo = {"zorder": 4, "color": "white", "ls": "none"}
        ax.plot(b1, b0, "*", ms=20, **halo)
        ax.plot(s1, s0, "o", ms=18, mfc="none", mew=4, **halo)
        self._marks(ax, b1, b0, s1, s0)
        ax.grid(False)
        names = [name.split("__")[-1] for name in self.parameter]
        ax.set(ylabel=names[0], xlabel=names[1])
        heading(ax, self.sentence, width=60)
        legend_below(ax, ncols=2, markerscale=0.7)
        return ax


def validation_curve(complexity_curve: Any) -> ValidationCurve:
    """Training and test score against a parameter, best and one-standard-error choice marked.

    ``complexity_curve``: ComplexityCurve; of ``evaluation.complexity_curve``; for a pair of
    parameters a table of colours.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Ridge
    >>> from pellucid.evaluation import complexity_curve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> curve = complexity_curve(Ridge(), X, y, parameter="alpha", values=[1e4, 100.0, 1.0])
    >>> picture = validation_curve(curve)
    >>> picture.test.shape, picture.best, bool(picture.limit < picture.test[2])
    ((3,), 2, True)
    """
    c = complexity_curve
    if not isinstance(c, ComplexityCurve):
        raise ValueError(f"complexity_curve must come from evaluation, got {type(c).__name__}")
    shape = c.test.shape[:-1]
    test = c.test.mean(axis=-1)
    error = np.array([s.standard_error for s in c.test_summary]).reshape(shape)
    sign = 1 if c.greater_is_better else -1
    limit = float(test[c.best] - sign * np.nan_to_num(error[c.best]))
    name = c.parameter if isinstance(c.parameter, str) else " and ".join(c.parameter)
    alt = f"Training and test {c.metric} against {name}. {c.sentence}"
    best, words = (c.best, c.one_standard_error, limit), (c.greater_is_better, c.sentence)
    scores, collapsed = (c.train.mean(axis=-1), test, error), c.collapsed.sum(axis=-1) > 0
    return ValidationCurve(alt, c.parameter, c.values, *scores, *best, collapsed, c.metric, *words)

"""The score after each step of a selection of columns, with the column that moved."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.inputs import model_names
from pellucid.plots.panels.marks import ring
from pellucid.plots.panels.style import Axes, Picture, axes, colour, heading, legend

WORDS = {
    "aic": "AIC",
    "bic": "BIC",
    "cp": "Mallows' Cp",
    "rss": "residual sum of squares",
    "f": "p-value of the column that moved",
    "z": "|z| of the column that moved",
}


class SelectionHistory(Picture):
    score: Array  # (m,)
    size: Array  # (m,) columns after the step
    moves: tuple[str, ...]  # "add", "drop" or "start"
    labels: tuple[str, ...]  # the columns that moved
    best: int | None  # step with the best score, where scores of steps compare
    measure: str

    def plot(self, ax: Axes | None = None) -> Any:
        m = len(self.score)
        ax = axes(ax, figsize=(max(5.0, min(12.0, 2.2 + 0.5 * m)), 4.2))
        at = np.arange(m)
        ax.plot(at, self.score, color=colour(0), lw=1.2, zorder=1)
        kinds = (("add", 0, "^", "added"), ("drop", 1, "v", "dropped"), ("start", 6, "o", "start"))
        for move, i, shape, word in kinds:
            rows = np.array([found == move for found in self.moves])
            if rows.any():
                y = self.score[rows]
                ax.scatter(at[rows], y, s=44, color=colour(i), marker=shape, zorder=3, label=word)
        if self.best is not None:
            x, tint = self.best, colour(2)
            ring(ax, x, self.score[self.best], size=150, tint=tint, lw=2, zorder=4, label="best")
        turn, ha = (45, "right") if m > 4 else (0, "center")
        ax.set_xticks(at, self._ticks(), rotation=turn, ha=ha)
        ax.set(xlabel="step: the column that moved (columns after it)", ylabel=self.measure)
        ax.margins(x=0.06, y=0.12)
        heading(ax, self.title)
        legend(ax)
        return ax

    def _ticks(self) -> list[str]:
        signs = {"add": "+", "drop": "−", "start": ""}
        every = max(1, len(self.score) // 30)
        steps = enumerate(zip(self.moves, self.labels, self.size, strict=True))
        return [
            f"{signs[m]}{label} ({n:g})" if i % every == 0 else "" for i, (m, label, n) in steps
        ]


def selection_history(selector: Any) -> SelectionHistory:
    """Scores per step of a sequential selection.

    ``selector``: fitted SequentialFeatureSelector or StepwiseRegression.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression
    >>> from pellucid.features import SequentialFeatureSelector
    >>> from pellucid.plots import selection_history
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> y = X[:, 2] - X[:, 0]
    >>> chosen = SequentialFeatureSelector(LinearRegression(), n_features_to_select=2).fit(X, y)
    >>> picture = selection_history(chosen)
    >>> picture.labels, picture.score.round(2)
    (('x2', 'x0'), array([0.33, 1.  ]))
    """
    check_is_fitted(selector)
    what = type(selector).__name__
    steps = getattr(selector, "steps_", None)
    if steps is None or not all(hasattr(step, "move") for step in steps):
        raise ValueError(
            "selection_history needs a fitted SequentialFeatureSelector or StepwiseRegression, "
            f"got {what}"
        )
    if not steps:
        raise ValueError(f"{what} made no step: there is no history to draw")
    names = model_names(selector)
    stepwise = hasattr(steps[0], "value")
    scores = [step.value if stepwise else step.score for step in steps]
    labels = tuple(_label(step, names) for step in steps)
    if stepwise:
        measure, falls = WORDS[selector.criterion], True
        compare = selector.criterion not in ("f", "z", "rss")
        if not compare and selector.criterion != "rss":  # the start has no column that moved
            steps, scores, labels = steps[1:], scores[1:], labels[1:]
            if not steps:
                raise ValueError(f"{what} made no step: there is no history to draw")
    else:
        scoring = selector.scoring
        name = scoring if isinstance(scoring, str) else "score" if scoring is None else "own score"
        measure, falls, compare = f"cross-validated {name}", False, True
    score = np.array(scores, dtype=np.float64)
    best = int(np.argmin(score) if falls else np.argmax(score)) if compare else None
    kept = tuple(names[j] for j in steps[-1].support)
    shown = ", ".join(kept[:6]) + (", ..." if len(kept) > 6 else "")
    alt = f"{measure} over {len(score)} steps of {what}: " + ", ".join(
        f"{step.move} {label} {value:.4g}"
        for step, label, value in zip(steps[:12], labels, score, strict=False)
    )
    size = np.array([len(step.support) for step in steps], dtype=np.float64)
    moves = tuple(step.move for step in steps)
    title = f"{what}: {len(kept)} of {len(names)} columns in the end ({shown or 'none'})"
    return SelectionHistory(f"{alt}.", score, size, moves, labels, best, measure, title=title)


def _label(step: Any, names: tuple[str, ...]) -> str:
    """The columns of a move."""
    if hasattr(step, "features"):
        return " ".join(names[j] for j in step.features)
    return "start" if step.feature is None else names[step.feature]

"""The logistic curve on the score of a model, with the rows at their scores.

P(second class | x) = sigma(f), f = w.x + w0: one curve for any number of columns.
"""

import numpy as np
from scipy.special import expit

from pellucid.core.arrays.typing import Array, BoolArray, IntArray, MaybeArray, Model
from pellucid.plots.panels.inputs import last_step, read_table
from pellucid.plots.panels.marks import ring, thinned
from pellucid.plots.panels.planes import labels_of
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend, marker


class Sigmoid(Panel, size=(6.6, 4.0)):
    grid: Array  # (g,) scores
    curve: Array  # (g,) sigma
    scores: Array  # (n,) of the rows; empty without data
    codes: IntArray  # (n,) 0 or 1
    wrong: BoolArray  # (n,)
    classes: tuple[str, str]

    def _draw(self, ax: Axes) -> None:
        ax.plot(self.grid, self.curve, color="black", lw=2, label="σ(f) = 1/(1 + exp(−f))")
        ax.axvline(0, color=GREY, lw=0.8)
        ax.axhline(0.5, color=GREY, lw=0.8, ls="--")
        spread = np.random.default_rng(0).uniform(0, 0.07, len(self.scores))
        for k, sign in ((0, -1), (1, 1)):
            rows = self.codes == k
            x, y, label = self.scores[rows], k + sign * spread[rows] + sign * 0.02, self.classes[k]
            ax.plot(x, y, marker(k), ms=4.5, color=colour(k), alpha=0.7, mew=0, label=label)
        if self.wrong.any():
            height = self.codes + (2 * self.codes - 1) * (spread + 0.02)
            label = f"wrong side ({self.wrong.sum()})"
            ring(ax, self.scores[self.wrong], height[self.wrong], size=60, lw=None, label=label)
        ax.set(xlabel="score f = w·x + w₀", ylabel=f"P({self.classes[1]})", ylim=(-0.13, 1.13))
        heading(ax, self.title)
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))


def sigmoid(E: Model, X: MaybeArray = None, y: MaybeArray = None) -> Sigmoid:
    """The logistic curve of a fitted two-class model, with the rows at their scores.

    ``X``, ``y``: data to show, optional; ``E``: fitted LogisticRegression or another two-class
    model whose probability is sigma of its ``decision_function``; or a Pipeline ending in one.

    Examples
    --------
    >>> from pellucid import LogisticRegression
    >>> from pellucid.plots import sigmoid
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    >>> picture = sigmoid(LogisticRegression().fit(X, y), X, y)
    >>> picture.wrong, picture.curve[100]
    (array([False,  True,  True, False]), np.float64(0.5))
    """
    model = last_step(E)
    if not hasattr(model, "decision_function") or len(getattr(model, "classes_", ())) != 2:
        kind = type(model).__name__
        raise ValueError(f"sigmoid needs two classes with a decision_function, got {kind}")
    classes = tuple(str(v) for v in np.asarray(model.classes_).tolist())
    scores, codes = np.empty(0), np.empty(0, dtype=np.intp)
    if X is not None:
        if y is None:
            raise ValueError("sigmoid needs y with X, to show the class of every row")
        table = read_table(X, E)
        codes = labels_of(y, len(table.X), model.classes_).codes
        scores = np.asarray(E.decision_function(table.given), dtype=np.float64)
        if hasattr(E, "predict_proba"):
            P = np.asarray(E.predict_proba(table.given))[:, 1]
            if np.abs(P - expit(scores)).max() > 1e-3:
                kind = type(model).__name__
                raise ValueError(f"the probabilities of {kind} are no logistic curve of its score")
    wrong = (scores >= 0) != (codes == 1)
    reach = max(6.0, float(np.abs(scores).max(initial=0.0)) * 1.05)
    grid = np.linspace(-reach, reach, 201)
    rows = thinned(len(scores))
    what = type(model).__name__
    share = f": {wrong.mean():.1%} on the wrong side" if len(scores) else ""
    alt = f"Logistic curve of {what} from {-reach:.3g} to {reach:.3g} of the score"
    alt += f" with {len(scores)} rows, {int(wrong.sum())} on the wrong side." if share else "."
    drawn = (grid, expit(grid), scores[rows], codes[rows], wrong[rows])
    return Sigmoid(alt, *drawn, (classes[0], classes[1]), title=f"{what}{share}")

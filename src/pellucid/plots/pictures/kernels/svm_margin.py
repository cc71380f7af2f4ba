"""A two-class machine: the boundary f = 0, the gutters f = -1 and 1, support vectors and slacks.

slack = max(0, 1 - y f): how far a row is on the wrong side of its gutter, in units of the margin.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, ArrayLike, Columns, IntArray, Model
from pellucid.plots.panels.inputs import last_step, read_table
from pellucid.plots.panels.marks import isolines, ring, thinned
from pellucid.plots.panels.planes import draw_points, grid_of, labels_of, light, view_of
from pellucid.plots.panels.style import GREY, Axes, Picture, axes, heading, legend

SIDE = 161
NEAR = 1e-3  # of 1: a row this near its gutter stands on it
KINDS = {
    "on_margin": ("on the gutter", "o", "black"),
    "inside": ("inside the margin", "o", "#D55E00"),
    "misclassified": ("on the wrong side", "s", "#D55E00"),
}


class SvmMargin(Picture):
    """Scores over the plane (or line), and the rows with their kind and slack."""

    lines: tuple[Array, ...]
    scores: Array  # f at every place
    at: Array  # (n, d)
    codes: IntArray  # (n,)
    categories: tuple[str, ...]  # (n,) outside, on_margin, inside, misclassified
    slack: Array  # (n,)
    feet: Array  # (n, d) where each row would meet its gutter; NaN where it is no straight line
    counts: dict[str, int]  # rows of each kind, over all rows given
    width: float  # 2 / |w|; NaN where not known
    classes: tuple[str, ...]
    names: tuple[str, ...]

    def plot(self, ax: Axes | None = None) -> Any:
        flat = len(self.lines) == 1
        ax = axes(ax, figsize=(7.0, 4.8) if not flat else (7.2, 3.4))
        at = np.column_stack([self.at, np.zeros(len(self.at))]) if flat else self.at
        if flat:
            self._line(ax)
        else:
            shown = np.clip(np.sign(self.scores), -1, 1)
            look: Any = {"levels": [-2, 0, 2], "colors": [light(0), light(1)]}
            ax.contourf(*self.lines, shown, zorder=0, **look)
            levels, ls = [-1, 0, 1], ["--", "-", "--"]
            lines: Any = {"levels": levels, "tint": "black", "lw": [1.2, 2.2, 1.2], "ls": ls}
            isolines(ax, *self.lines, self.scores, **lines)
            ax.grid(False)
            far = (self.slack > NEAR) & np.isfinite(self.feet).all(axis=1)
            for point, foot in zip(self.at[far], self.feet[far], strict=True):
                ax.plot(*np.stack([point, foot]).T, ":", color=GREY, lw=1.2, zorder=2)
            if far.any():
                ax.plot([], [], ":", color=GREY, lw=1.2, label="slack")
            ax.set(ylabel=self.names[1])
            low, high = (line[0] for line in self.lines), (line[-1] for line in self.lines)
            (left, bottom), (right, top) = tuple(low), tuple(high)
            ax.set(xlim=(left, right), ylim=(bottom, top))
        draw_points(ax, at, self.codes, self.classes)
        for kind, (label, shape, tint) in KINDS.items():
            rows = np.array([c == kind for c in self.categories])
            if rows.any():
                said = f"{label} ({self.counts[kind]})"
                look = {"size": 90, "tint": tint, "lw": 1.3, "marker": shape}
                ring(ax, *at[rows].T, zorder=4, label=said, **look)
        ax.set(xlabel=self.names[0])
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
        wide = f", margin {self.width:.3g} wide" if np.isfinite(self.width) else ""
        held, slacks = sum(self.counts[k] for k in KINDS), total_slack(self.slack)
        title = f"Boundary and gutters{wide}: {held} support vectors, slacks sum to {slacks:.3g}"
        heading(ax, title, self.note)
        return ax

    def _line(self, ax: Axes) -> None:
        x = self.lines[0]
        ax.plot(x, self.scores, color="black", lw=1.8, label="score f")
        for level, style in ((-1, "--"), (0, "-"), (1, "--")):
            ax.axhline(level, color=GREY, ls=style, lw=0.8)
        ax.set(ylabel="score f", xlim=(x[0], x[-1]))


def _straight(E: Model, p: int) -> Any:
    """The vector w of f = w.x + b in the inputs shown, where the model is linear in them."""
    kernel = getattr(E, "kernel", "linear")
    if not (kernel == "linear" or type(kernel).__name__ == "LinearKernel"):
        return None
    coef = getattr(E, "coef_", None)
    return None if coef is None or np.size(coef) != p else np.ravel(np.asarray(coef, float))


def total_slack(slack: Array) -> float:
    """The sum of the slacks that are no rounding.

    >>> total_slack(np.array([0.5, 2e-16]))
    0.5
    """
    return float(slack[slack > NEAR].sum())


def svm_margin(
    E: Model, X: ArrayLike, y: ArrayLike, *, columns: Columns | None = None
) -> SvmMargin:
    """Boundary, gutters, support vectors by kind, and slacks.

    ``X``, ``y``: data; of the training rows the kinds are those of the model. ``E``: fitted
    MaximumMarginClassifier, SVC, NuSVC, LinearSVC (or a Pipeline that ends in one) of two classes;
    ``columns``: one or two names or positions; inputs to show of several, the others at their
    median.

    Examples
    --------
    >>> from pellucid import SVC
    >>> from pellucid.plots import svm_margin
    >>> X, y = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0], [3.0, 2.0]], [0, 0, 0, 1, 1]
    >>> picture = svm_margin(SVC(C=1e6, kernel="linear", tol=1e-6).fit(X, y), X, y)
    >>> picture.counts["on_margin"], round(picture.width, 4)
    (3, 2.1213)
    """
    check_is_fitted(E)
    model = last_step(E)
    if not hasattr(E, "decision_function") or not hasattr(model, "classes_"):
        raise ValueError(f"svm_margin needs a support vector classifier, got {type(E).__name__}")
    if len(model.classes_) != 2:
        raise ValueError(f"svm_margin shows two classes, got {len(model.classes_)}")
    table = read_table(X, E)
    labels = labels_of(y, len(table.X), model.classes_)
    view = view_of(table.X, table.names, columns)
    lines, places, shape = grid_of(view.at, SIDE, 0.12)
    scores = np.asarray(E.decision_function(table.like(view.rows(places)))).reshape(shape)
    f = np.asarray(E.decision_function(table.given)).ravel()
    sign = 2.0 * labels.codes - 1
    slack = np.maximum(0.0, 1 - sign * f)
    kinds = getattr(model, "categories_", None)
    if kinds is None or len(kinds) != len(f) or not np.allclose(model.slack_, slack, atol=1e-6):
        kinds = np.where(slack > 1, "misclassified", np.where(slack > NEAR, "inside", "outside"))
        kinds = np.where(np.abs(sign * f - 1) <= NEAR, "on_margin", kinds)
    w = _straight(model, view.at.shape[1]) if model is E and not view.note else None
    feet = np.full(view.at.shape, np.nan)
    if w is not None and w @ w > 0:
        feet = view.at + ((sign - f) / (w @ w))[:, None] * w
    counts = {kind: int((kinds == kind).sum()) for kind in ("outside", *KINDS)}
    width = float(
        getattr(model, "margin_width_", 2 / np.linalg.norm(w) if w is not None else np.nan)
    )
    kept = thinned(len(f))
    said = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in counts.items())
    alt = (
        f"Boundary and gutters of {type(model).__name__} between {' and '.join(labels.classes)} "
        f"over {' and '.join(view.names)}; rows: {said}; slacks sum to {total_slack(slack):.3g}."
    )
    kind = tuple(np.asarray(kinds)[kept].tolist())
    drawn = (view.at[kept], labels.codes[kept], kind, slack[kept], feet[kept])
    words = (labels.classes, view.names)
    return SvmMargin(alt, lines, scores, *drawn, counts, width, *words, note=view.note)

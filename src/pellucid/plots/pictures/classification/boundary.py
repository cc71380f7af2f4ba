"""The boundary of a classifier: lines w.x = c with their normals, or curves where it is not linear.

The boundary between classes a and b is where their scores are equal, f_a - f_b = 0. On the plane
that is drawn this is a line for every linear rule; quadratic terms make it a conic. Of more than
two classes every pair has one, solid where the two lead all others and dashed elsewhere.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Model
from pellucid.plots.panels.inputs import label_of, read_table
from pellucid.plots.panels.marks import STYLES, isolines, key_below, thinned, words
from pellucid.plots.panels.planes import draw_points, grid_of, labels_of, predicted_codes, view_of
from pellucid.plots.panels.steps import Steps, stages
from pellucid.plots.panels.style import LEAST, Axes, Picture, axes, colour, heading, legend

LEVELS = (0.1, 0.5, 0.9)
ASPECT = 0.8  # height over width of the axes, fixed so that normals look perpendicular
MOST_NAMED = 6  # pairs of classes whose equation the legend gives


class Edge(NamedTuple):
    """Where two classes have equal scores; positive on the side of ``positive``."""

    positive: str
    negative: str
    coef: Array | None  # (2,) w in the units of the axes, |w| = 1; None where it is a curve
    offset: float  # c of w.x = c
    scores: Array  # (gy, gx) or (g,) f_positive - f_negative
    leading: BoolArray  # same shape: the two lead all others there
    shape: str = "line"  # line, ellipse, hyperbola, parabola or curve

    @property
    def inside(self) -> bool:
        """Whether it crosses the area that is drawn."""
        return bool((self.scores[self.leading] > 0).any() and (self.scores[self.leading] < 0).any())

    def equation(self, names: tuple[str, ...]) -> str:
        """w.x = c in words, or what kind of curve it is."""
        if self.coef is None:
            return f"boundary ({self.shape})" if len(names) == 2 else "boundary"
        pairs = [(w, name) for w, name in zip(self.coef, names, strict=True) if abs(w) > 1e-9]
        text = "".join(f" {'-' if w < 0 else '+'} {abs(w):.2g} {name}" for w, name in pairs)
        return f"{'-' if pairs[0][0] < 0 else ''}{text[3:]} = {self.offset:.3g}"


class Boundary(Picture):
    """Edges between the classes on a grid, and the probability levels of two classes."""

    edges: tuple[Edge, ...]
    cuts: Array  # one column: the places where the leading class changes
    probability: Array | None  # two classes: P(second class) on the grid
    lines: tuple[Array, ...]
    at: Array  # (n, 1) or (n, 2)
    codes: IntArray
    wrong: BoolArray
    classes: tuple[str, ...]
    names: tuple[str, ...]

    def plot(self, ax: Any = None) -> Any:
        own = ax is None
        ax = axes(ax, figsize=(6.4, self._height()))
        if len(self.lines) == 1:
            self._line(ax)
        else:
            draw_points(ax, self.at, self.codes, self.classes, self.wrong)
            for i, edge in enumerate(self.edges):
                self._edge(ax, i, edge)
            if self.probability is not None:
                self._levels(ax)
            x, y = self.lines
            ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), ylabel=self.names[1])
            ax.set_box_aspect(ASPECT)
        ax.set_xlabel(self.names[0])
        heading(ax, self.title, self.note)
        if own:  # a given panel has no room below it
            keys, texts = ax.get_legend_handles_labels()
            key_below(ax.figure, keys, texts, 1 if self._tall() else 2, "left")
        else:
            legend(ax, loc="best", fontsize=LEAST)
        return ax

    def _height(self) -> float:
        """Of the figure: the axes, and below them the legend."""
        lines = len(self.edges) if len(self.edges) <= MOST_NAMED else 0
        entries = len(self.classes) + lines + 2
        rows = entries if self._tall() else -(-entries // 2)
        return (5.5 if len(self.lines) == 2 else 3.0) + 0.23 * rows

    def _tall(self) -> bool:
        """Whether the entries of the legend are too long to stand side by side."""
        return max(len(edge.equation(self.names)) for edge in self.edges) > 28

    def _line(self, ax: Axes) -> None:
        spread = np.random.default_rng(0).uniform(-0.3, 0.3, len(self.at))
        places = np.column_stack([self.at[:, 0], self.codes + spread])
        draw_points(ax, places, self.codes, self.classes, self.wrong)
        for cut in self.cuts:
            ax.axvline(cut, color="black", lw=1.6)
            ax.annotate(f" {cut:.4g}", (cut, 0.03), xycoords=("data", "axes fraction"))
        ax.set_yticks(range(len(self.classes)), self.classes)
        ax.set(xlim=(self.lines[0][0], self.lines[0][-1]))

    def _edge(self, ax: Axes, i: int, edge: Edge) -> None:
        tint = "black" if len(self.edges) == 1 else colour(i + len(self.classes))
        style = STYLES[i % 4] if len(self.edges) > 1 else "-"
        x, y = self.lines
        if len(self.edges) > 1 and len(self.classes) <= 4:
            isolines(ax, x, y, edge.scores, levels=[0.0], tint=tint, lw=0.8, ls=":", zorder=2)
        lead = np.ma.masked_where(~edge.leading, edge.scores)
        isolines(ax, x, y, lead, levels=[0.0], tint=tint, lw=2, ls=style, zorder=2)
        name = f"{edge.negative} | {edge.positive}: " if len(self.edges) > 1 else ""
        if len(self.edges) <= MOST_NAMED:
            ax.plot([], [], color=tint, lw=2, ls=style, label=name + edge.equation(self.names))
        if edge.coef is not None:
            self._normal(ax, edge, tint)

    def _normal(self, ax: Any, edge: Edge, tint: str) -> None:
        """An arrow at right angles to the line on the page, towards the positive side."""
        foot = self._foot(edge)
        if foot is None or edge.coef is None:
            return
        x, y = self.lines
        size = np.array([x[-1] - x[0], (y[-1] - y[0]) / ASPECT])
        toward = edge.coef * size
        tip = foot + 0.11 * size * toward / np.linalg.norm(toward)
        look = {"arrowstyle": "-|>", "color": tint, "lw": 1.6}
        ax.annotate("", tip, foot, arrowprops=look, zorder=5)

    def _foot(self, edge: Edge) -> Array | None:
        """The drawn place of the edge nearest to the middle of the points."""
        x, y = self.lines
        near = np.zeros(edge.scores.shape, dtype=bool)
        sign = edge.scores > 0
        near[:, :-1] |= sign[:, 1:] != sign[:, :-1]
        near[:-1] |= sign[1:] != sign[:-1]
        near &= edge.leading
        if not near.any():
            return None
        rows, columns = np.nonzero(near)
        places = np.column_stack([x[columns], y[rows]])
        scale = np.array([x[-1] - x[0], y[-1] - y[0]])
        gap = ((places - np.median(self.at, axis=0)) / scale) ** 2
        return places[int(gap.sum(axis=1).argmin())]

    def _levels(self, ax: Axes) -> None:
        places, look = [LEVELS[0], LEVELS[2]], {"tint": "#6B7280", "lw": 1.0, "ls": "--"}
        shown = isolines(ax, *self.lines, self.probability, levels=places, **look, zorder=2)
        ax.clabel(shown, fmt=lambda v: f"P = {v:g}", fontsize="small")
        label = f"P({self.classes[1]}) = {LEVELS[0]}, {LEVELS[2]}"
        ax.plot([], [], color="#6B7280", ls="--", lw=1, label=label)


def class_scores(E: Model, rows: np.ndarray) -> Array:
    """Scores (n, K): the decision function, else log probabilities; two classes as (-f, f)/2."""
    if hasattr(E, "decision_function"):
        f = np.asarray(E.decision_function(rows), dtype=np.float64)
    else:
        with np.errstate(divide="ignore"):
            f = np.log(np.maximum(E.predict_proba(rows), np.finfo(float).tiny))
    return np.column_stack([-f / 2, f / 2]) if f.ndim == 1 else f


def straight(scores: Array, places: Array) -> tuple[Array | None, float]:
    """w with |w| = 1 and c where the scores are w.x - c times a number; (None, nan) elsewhere."""
    D = np.column_stack([np.ones(len(places)), places - places.mean(axis=0)])
    b = np.linalg.lstsq(D, scores, rcond=None)[0]
    off, size = np.abs(scores - D @ b).max(), np.abs(scores).max()
    norm = float(np.linalg.norm(b[1:]))
    if not off <= 1e-9 * size or norm <= 1e-12 * size:
        return None, float("nan")
    w = b[1:] / norm
    return w, float(w @ places.mean(axis=0) - b[0] / norm)


def conic(scores: Array, places: Array) -> str:
    """What a boundary of second degree is called; "curve" where it is of none."""
    x, y = ((places - places.mean(axis=0)) / places.std(axis=0)).T
    D = np.column_stack([x**2, x * y, y**2, x, y, np.ones(len(x))])
    b = np.linalg.lstsq(D, scores, rcond=None)[0]
    if not np.abs(scores - D @ b).max() <= 1e-7 * np.abs(scores).max():
        return "curve"
    size, turn = np.abs(b[:3]).max() ** 2, b[1] ** 2 - 4 * b[0] * b[2]
    if abs(turn) <= 1e-9 * size:
        return "parabola"
    return "ellipse" if turn < 0 else "hyperbola"


def edges_of(F: Array, places: Array, shape: tuple[int, ...], classes: tuple[str, ...]) -> Any:
    """The edge of every pair of classes; the later class is the positive one."""
    found = []
    for a, b in combinations(range(len(classes)), 2):
        scores = F[:, b] - F[:, a]
        others = np.delete(F, [a, b], axis=1).max(axis=1, initial=-np.inf)
        leading = np.maximum(F[:, a], F[:, b]) >= others
        w, c = straight(scores, places)
        kind = "line" if w is not None else conic(scores, places) if len(shape) == 2 else "curve"
        shown = scores.reshape(shape), leading.reshape(shape)
        found.append(Edge(classes[b], classes[a], w, c, *shown, kind))
    return tuple(found)


def changes(F: Array, x: Array) -> Array:
    """Places on a line where the leading class changes, by linear interpolation."""
    lead = F.argmax(axis=1)
    found = []
    for i in np.flatnonzero(np.diff(lead)):
        gap = F[[i, i + 1], lead[i]] - F[[i, i + 1], lead[i + 1]]
        share = gap[0] / (gap[0] - gap[1]) if gap[0] != gap[1] else 0.5
        found.append(x[i] + share * (x[i + 1] - x[i]))
    return np.array(found)


def boundary(
    E: Model, X: ArrayLike, y: ArrayLike, *, columns: Any = None, steps: Any = None
) -> Boundary | Steps:
    """The boundary of a classifier with its normal, the points, and the errors ringed.

    ``X``, ``y``: data to show.

    Parameters
    ----------
    E : fitted classifier or Pipeline
        With ``decision_function`` or ``predict_proba``. Where two classes have probabilities, the
        levels 0.1 and 0.9 are drawn too.
    columns : one or two names or positions, optional
        Inputs to show of several, the others at their median. Default: all of one or two, the
        first two principal axes of more. Errors are always those of the whole rows.
    steps : True, int or positions, optional
        A panel for some rows of ``history_`` (epochs of a Perceptron); the result is ``Steps``,
        with ``plot()`` and ``animate(path)``.

    Examples
    --------
    >>> from pellucid import LinearDiscriminantAnalysis
    >>> from pellucid.plots import boundary
    >>> X, y = [[0.0, 0.0], [2.0, 0.0], [0.0, 4.0], [2.0, 4.0]], ["a", "a", "b", "b"]
    >>> model = LinearDiscriminantAnalysis(shrinkage=0.5, solver="lsqr").fit(X, y)
    >>> picture = boundary(model, X, y)
    >>> picture.edges[0].coef.round(6) + 0.0, round(picture.edges[0].offset, 6)
    (array([0., 1.]), 2.0)
    """
    if steps is not None:
        found = stages(E, steps)
        pictures = tuple(_boundary(m, X, y, columns, title) for title, m in found)
        titles = tuple(title for title, _ in found)
        return Steps(f"Boundary of {label_of(E)}, {words(titles)}.", pictures, titles)
    return _boundary(E, X, y, columns)


def _boundary(E: Model, X: ArrayLike, y: ArrayLike, columns: Any, title: str = "") -> Boundary:
    check_is_fitted(E)
    if not (hasattr(E, "decision_function") or hasattr(E, "predict_proba")):
        raise ValueError(
            "boundary needs a classifier with decision_function or predict_proba, got "
            f"{type(E).__name__}; decision_regions needs neither"
        )
    table = read_table(X, E)
    labels = labels_of(y, len(table.X), E.classes_)
    view = view_of(table.X, table.names, columns)
    lines, places, shape = grid_of(view.at)
    rows = table.like(view.rows(places))
    F = class_scores(E, rows)
    edges = edges_of(F, places, shape, labels.classes)
    probability = None
    if len(labels.classes) == 2 and hasattr(E, "predict_proba"):
        probability = np.asarray(E.predict_proba(rows))[:, 1].reshape(shape)
    cuts = changes(F, lines[0]) if len(lines) == 1 else np.empty(0)
    wrong = predicted_codes(E, table.given, E.classes_) != labels.codes
    kept = thinned(len(table.X))
    if len(lines) == 1:
        said = "cuts at " + (words([f"{v:.4g}" for v in cuts]) or "no place shown")
    else:
        said = "; ".join(f"{e.negative} | {e.positive}: {e.equation(view.names)}" for e in edges)
    note = view.note
    if len(lines) == 2 and not any(edge.inside for edge in edges):
        note = "; ".join(filter(None, (note, "the boundary lies outside the picture")))
    alt = (
        f"Boundary of {label_of(E)} over {' and '.join(view.names)}, {said}; "
        f"{wrong.mean():.1%} of {len(wrong)} points on the wrong side."
    )
    rows_shown = (view.at[kept], labels.codes[kept], wrong[kept])
    names = (labels.classes, view.names)
    head = title or f"{label_of(E)}: {wrong.mean():.1%} wrong"
    drawn = (edges, cuts, probability, lines, *rows_shown, *names)
    return Boundary(alt, *drawn, title=head, note=note)

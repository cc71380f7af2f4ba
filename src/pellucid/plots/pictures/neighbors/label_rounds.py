"""Few labels spreading over many rows, round by round."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, BoolArray, Columns, IntArray, Model
from pellucid.plots.panels.groups import style_of
from pellucid.plots.panels.inputs import label_of, read_table
from pellucid.plots.panels.marks import ring, thinned, words
from pellucid.plots.panels.mixtures import blend
from pellucid.plots.panels.planes import MOST_CLASSES, view_of
from pellucid.plots.panels.replay import chosen_rounds, rounds
from pellucid.plots.panels.steps import Steps
from pellucid.plots.panels.style import LEAST, Panel, heading, legend

UNKNOWN = -1


class LabelRound(Panel, size=(6.0, 4.6)):
    at: Array  # (n, 1) or (n, 2)
    shares: Array  # (n, k) label distributions; a row of 0 has heard nothing yet
    known: BoolArray  # (n,) labelled by the user
    reached: int  # rows with a label, of all
    classes: tuple[str, ...]
    names: tuple[str, ...]

    def _draw(self, ax: Any) -> None:
        place = self.at
        if place.shape[1] == 1:
            place = np.column_stack([place[:, 0], self.shares.argmax(axis=1)])
        heard = self.shares.sum(axis=1) > 0
        said = "no label yet" if (~heard).any() else None
        ring(ax, *place[~heard].T, size=12, tint="#9CA3AF", lw=0.8, label=said)
        best, tints = self.shares.argmax(axis=1), blend(self.shares)
        for k, label in enumerate(self.classes):
            shape = style_of(k)["marker"]
            mine = heard & (best == k) & ~self.known
            ax.scatter(*place[mine].T, s=22, c=tints[mine], marker=shape, linewidths=0, zorder=3)
            mine = heard & (best == k) & self.known
            look = {**style_of(k), "marker": shape, "edgecolors": "black", "lw": 1.5}
            ax.scatter(*place[mine].T, s=110, zorder=5, label=f"{label}, given", **look)
        ax.set(xlabel=self.names[0], ylabel=self.names[1] if len(self.names) > 1 else "class")
        heading(ax, self.title, self.note)
        legend(ax, loc="best", fontsize=LEAST, markerscale=0.7)


class LabelRounds(Steps):
    """One picture per round."""

    rounds: IntArray  # (m,)
    reached: IntArray  # (m,) rows with a label


def label_rounds(
    E: Model, X: Any, y: Any, at: Any = (0, 1, 3, -1), *, columns: Columns | None = None
) -> LabelRounds:
    """Labels at chosen rounds: 0 shows those that were given, -1 the end.

    Colours are mixed by the label distribution of each row. The rounds are seen by fitting a clone
    again.

    ``E``: fitted LabelPropagation or LabelSpreading; ``X``, ``y``: what it was fitted on, -1 for no
    label; ``at``: rounds, default=(0, 1, 3, -1); ``columns``: the one or two columns to show, names
    or positions.

    Examples
    --------
    >>> from pellucid import LabelSpreading
    >>> from pellucid.plots import label_rounds
    >>> X = [[0.0], [0.2], [0.4], [2.0], [2.2], [2.4]]
    >>> y = [0, -1, -1, 1, -1, -1]
    >>> picture = label_rounds(LabelSpreading().fit(X, y), X, y)
    >>> picture.rounds[:2], picture.reached[:2]
    (array([0, 1]), array([2, 6]))
    """
    check_is_fitted(E)
    if not hasattr(E, "label_distributions_"):
        raise ValueError(f"label_rounds is for models that spread labels, got {type(E).__name__}")
    table = read_table(X, E)
    classes = np.asarray(E.classes_)
    if len(classes) > MOST_CLASSES:
        raise ValueError(f"at most {MOST_CLASSES} classes can be told apart, got {len(classes)}")
    values = np.asarray(y)
    start = (values[:, None] == classes).astype(np.float64)
    known = start.any(axis=1)
    models = rounds(E, table.given, y)
    shares = [start, *(np.asarray(m.label_distributions_) for m in models)]
    view = view_of(table.X, table.names, columns)
    kept = np.union1d(thinned(len(values)), np.flatnonzero(known)[:1000])
    text = tuple(map(str, classes.tolist()))
    pictures, titles, counts = [], [], []
    chosen = chosen_rounds(at, len(models))
    for i in chosen:
        reached = int((shares[i].sum(axis=1) > 0).sum())
        name = "given labels" if i == 0 else f"round {i}" + (" (last)" if i == len(models) else "")
        titles.append(f"{name}: {reached} of {len(values)} rows have a label")
        counts.append(reached)
        drawn = (view.at[kept], shares[i][kept], known[kept], reached, text, view.names)
        alt = f"Labels of {len(values)} rows."
        here = titles[-1]
        pictures.append(LabelRound(f"{alt} {here}.", *drawn, title=here, note=view.note))
    alt = f"Labels spreading by {label_of(E)}: {words(titles)}."
    return LabelRounds(alt, tuple(pictures), tuple(titles), np.array(chosen), np.array(counts))

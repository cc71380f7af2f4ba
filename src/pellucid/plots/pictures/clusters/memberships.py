"""How much every place belongs to each group, as shading: memberships that share one, or
typicalities, of which an outlier has none."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, Columns, IntArray, Model
from pellucid.plots.panels.groups import group_centers, plane_of, style_of
from pellucid.plots.panels.inputs import label_of, last_step, read_table
from pellucid.plots.panels.marks import isolines, ring, thinned, words
from pellucid.plots.panels.planes import LINE, grid_of, view_of
from pellucid.plots.panels.style import (
    Axes,
    Picture,
    axes,
    colour,
    heading,
    legend,
    panels,
    together,
)

LEVELS = np.linspace(0, 1, 11)
MOST_PANELS = 9


class Memberships(Picture):
    """Values of each group on a grid (one or two axes) and at the rows."""

    lines: tuple[Array, ...]
    values: Array  # (k, g) or (k, gy, gx)
    at: Array  # (n, 1) or (n, 2)
    of_rows: Array  # (n, k)
    labels: IntArray  # (n,) the group of largest value
    centers: Array | None  # (k, .)
    word: str  # membership, typicality or responsibility
    names: tuple[str, ...]

    def plot(self, ax: Any = None) -> Any:
        """One column: curves on axes. Two: a shaded panel per group; the figure."""
        if len(self.lines) == 1:
            return self._curves(axes(ax))
        if ax is not None:
            raise ValueError("shadings need axes of their own: call plot() without ax")
        k = len(self.values)
        grid = panels(k, columns=2 if k in (2, 4) else 3, size=(3.9, 3.4))
        for j, each in enumerate(grid):
            shown = self._panel(each, j)
        grid[0].figure.colorbar(shown, ax=grid, label=self.word, shrink=0.8)
        note = "dashed: 0.5; hollow: a row below 0.5 in every group"
        return together(grid, "\n".join(filter(None, (self.title, note, self.note))))

    def _panel(self, ax: Any, j: int) -> Any:
        shown = ax.contourf(*self.lines, self.values[j], levels=LEVELS, cmap="Blues")
        isolines(ax, *self.lines, self.values[j], levels=[0.5], tint="black", lw=0.9, ls="--")
        mine = self.labels == j
        ax.scatter(*self.at[~mine].T, s=9, color="#6B7280", marker=".", linewidths=0)
        sure, shape = mine & (self.of_rows[:, j] >= 0.5), style_of(j)["marker"]
        look = {"edgecolors": "white", "linewidths": 0.5, "color": colour(1), "marker": shape}
        ax.scatter(*self.at[sure].T, s=20, **look)
        ring(ax, *self.at[mine & ~sure].T, size=20, tint=colour(1), lw=0.9, marker=shape)
        if self.centers is not None:
            ax.scatter(*self.centers[j], s=130, color="white", edgecolors="black", marker="P")
        ax.grid(False)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        low = int((mine & ~sure).sum())
        heading(ax, f"group {j}: {int(mine.sum())} rows" + (f", {low} below 0.5" if low else ""))
        return shown

    def _curves(self, ax: Axes) -> Any:
        for j, values in enumerate(self.values):
            every = {"markevery": max(1, LINE // 12), "ms": 4, **style_of(j)}
            ax.plot(self.lines[0], values, lw=1.6, label=f"group {j}", **every)
            mine = self.labels == j
            ax.plot(self.at[mine, 0], np.full(mine.sum(), -0.06), "|", color=colour(j), ms=9)
        ax.set(xlabel=self.names[0], ylabel=self.word, ylim=(-0.12, 1.05))
        heading(ax, self.title, self.note)
        legend(ax)
        return ax


def memberships(E: Model, X: ArrayLike, *, columns: Columns | None = None) -> Memberships:
    """Memberships, typicalities or responsibilities over the plane, one shaded panel per group.

    ``X``: table; ``columns``: the one or two columns to show, names or positions.

    Parameters
    ----------
    E : fitted FuzzyCMeans, PossibilisticCMeans or mixture, or a Pipeline that ends with one
        Any model with ``typicality`` or ``predict_proba``.

    Examples
    --------
    >>> from pellucid import FuzzyCMeans
    >>> from pellucid.plots import memberships
    >>> X = [[0.0], [1.0], [9.0], [10.0]]
    >>> picture = memberships(FuzzyCMeans(2, random_state=0).fit(X), X)
    >>> picture.word, picture.values.shape, picture.of_rows.sum(axis=1).round(9)
    ('membership', (2, 401), array([1., 1., 1., 1.]))
    """
    model, table = last_step(E), read_table(X, E)
    ask, word = _values(E, model)
    of_rows = ask(table.given)
    k = of_rows.shape[1]
    if k > MOST_PANELS:
        raise ValueError(f"the picture has room for {MOST_PANELS} groups, got {k}")
    view = view_of(table.X, table.names, columns)
    lines, places, shape = grid_of(view.at, side=121)
    values = ask(table.like(view.rows(places))).T.reshape(k, *shape)
    centers = group_centers(E)
    sure = of_rows.max(axis=1)
    title = f"{label_of(E)}: largest {word} of a row {sure.mean():.2f} in the mean"
    kept, labels = thinned(len(table.X)), of_rows.argmax(axis=1)
    sizes = [f"group {j} of {int((labels == j).sum())} rows" for j in range(k)]
    alt = (
        f"Shading by {word} over {' and '.join(view.names)}: {words(sizes)}; "
        f"{int((sure < 0.5).sum())} rows belong nowhere by more than 0.5."
    )
    centers = None if centers is None else plane_of(view, table.X).of(centers)
    drawn = (lines, values, view.at[kept], of_rows[kept], labels[kept], centers, word)
    return Memberships(alt, *drawn, view.names, title=title, note=view.note)


def _values(E: Model, model: Model) -> tuple[Any, str]:
    """How to ask the model, and what its answers are called."""
    if hasattr(model, "typicality"):
        before = E[:-1].transform if E is not model and len(E) > 1 else (lambda rows: rows)
        return (lambda rows: np.asarray(model.typicality(before(rows)))), "typicality"
    if not hasattr(E, "predict_proba"):
        raise ValueError(
            "memberships needs a soft clustering (FuzzyCMeans, PossibilisticCMeans, a mixture), "
            f"got {type(model).__name__}"
        )
    word = "membership" if hasattr(model, "membership_") else "responsibility"
    return (lambda rows: np.asarray(E.predict_proba(rows))), word

"""The score of a detector over the plane with its threshold, and the rows that fall below it."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Columns, IntArray, Model
from pellucid.plots.panels.inputs import label_of, last_step, read_table
from pellucid.plots.panels.marks import VEIL, beside, thinned
from pellucid.plots.panels.planes import grid_of, view_of
from pellucid.plots.panels.style import GREY, Picture, axes, colour, heading, legend

NAMED = 5  # oddest rows that are numbered


class AnomalyMap(Picture):
    """Scores minus the threshold on a grid and at the rows: below 0 is odd."""

    lines: tuple[Array, ...]
    scores: Array | None  # (g,) or (gy, gx); None where only the rows were judged
    at: Array  # (n, 1) or (n, 2)
    of_rows: Array  # (n,)
    odd: BoolArray  # (n,)
    row_numbers: IntArray  # (n,) of the rows drawn
    n_odd: int  # of all rows
    names: tuple[str, ...]

    def plot(self, ax: Any = None) -> Any:
        ax = axes(ax, figsize=(6.6, 4.8) if self.at.shape[1] == 2 else (6.6, 3.6))
        if self.at.shape[1] == 1:
            self._curve(ax)
        else:
            self._plane(ax)
        heading(ax, self.title, self.note)
        legend(ax, loc="best", frameon=True, framealpha=0.8, edgecolor="none")
        return ax

    def _plane(self, ax: Any) -> None:
        place = self.at
        if self.scores is not None:
            low = min(float(self.of_rows.min()), float(np.quantile(self.scores, 0.1)), -1e-12)
            high = max(float(self.of_rows.max()), float(self.scores.max()), 1e-12)
            levels = np.concatenate([np.linspace(low, 0, 8)[:-1], np.linspace(0, high, 6)])
            shown = ax.contourf(
                *self.lines, self.scores, levels=levels, cmap="Blues_r", extend="min", alpha=0.85
            )
            bar = ax.figure.colorbar(
                shown, ax=ax, label="score minus threshold", ticks=[low, low / 2, 0, high]
            )
            bar.ax.set_yticklabels([f"{v:.3g}" for v in (low, low / 2, 0.0, high)])
            if self.scores.min() < 0 < self.scores.max():
                ax.contour(*self.lines, self.scores, levels=[0.0], colors="black", linewidths=1.6)
                ax.plot([], [], color="black", lw=1.6, label="threshold")
            ax.grid(False)
        self._points(ax, place)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])

    def _curve(self, ax: Any) -> None:
        if self.scores is not None:
            ax.plot(self.lines[0], self.scores, color=GREY, lw=1.5, label="score")
        ax.axhline(0, color="black", lw=1.4, label="threshold")
        self._points(ax, np.column_stack([self.at[:, 0], self.of_rows]))
        ax.set(xlabel=self.names[0], ylabel="score minus threshold")

    def _points(self, ax: Any, place: Array) -> None:
        rim = {"edgecolors": "black", "linewidths": 0.6}
        ax.scatter(*place[~self.odd].T, s=16, color="white", zorder=3, label="ordinary row", **rim)
        odd = {"s": 42, "color": colour(1), "marker": "D", "label": f"odd row ({self.n_odd})"}
        ax.scatter(*place[self.odd].T, zorder=4, edgecolors="black", linewidths=0.8, **odd)
        oddest = np.argsort(self.of_rows, kind="stable")[:NAMED]
        for i in oddest[self.odd[oddest]]:
            text, box = str(self.row_numbers[i]), VEIL | {"alpha": 0.6}
            beside(ax, text, place[i], (6, 4), weight="bold", zorder=5, bbox=box)


def anomaly_map(E: Model, X: ArrayLike, *, columns: Columns | None = None) -> AnomalyMap:
    """The score over the plane, the threshold, and odd rows; the oddest have their row numbers.

    ``X``: table.

    Parameters
    ----------
    E : fitted DensityOutlier, EllipticEnvelope, IsolationForest, LocalOutlierFactor, OneClassSVM
        Or another with ``decision_function``, or a Pipeline that ends with one. A
        LocalOutlierFactor with ``novelty=False`` judges its training rows only: no shading.
    columns : one or two names or positions, optional
        Inputs to show of several, the others at their median; default: all of one or two, the
        first two principal axes of more. Rows are always judged whole.

    Examples
    --------
    >>> from pellucid import DensityOutlier
    >>> from pellucid.plots import anomaly_map
    >>> X = [[0.0], [0.1], [0.2], [0.1], [0.15], [9.0]]
    >>> picture = anomaly_map(DensityOutlier(contamination=0.2).fit(X), X)
    >>> picture.odd, picture.n_odd
    (array([False, False, False, False, False,  True]), 1)
    """
    table, model = read_table(X, E), last_step(E)
    new = hasattr(E, "decision_function")
    if not new and not hasattr(model, "negative_outlier_factor_"):
        raise ValueError(f"anomaly_map needs decision_function, got {type(model).__name__}")
    of_rows = _judged(E, model, table.given, len(table.X), new)
    view = view_of(table.X, table.names, columns)
    lines: tuple[Array, ...] = ()
    scores = None
    if new:
        lines, places, _ = grid_of(view.at, side=121, share=0.12)
        found = np.asarray(E.decision_function(table.like(view.rows(places))), dtype=np.float64)
        scores = found.reshape(-1, len(lines[0])) if len(lines) == 2 else found.reshape(-1)
    odd = of_rows < 0
    n, m = len(of_rows), int(odd.sum())
    title = f"{label_of(E)}: {m} of {n} rows are odd"
    note = view.note if new else "; ".join(filter(None, ("the rows of the fit", view.note)))
    oddest = ", ".join(map(str, np.argsort(of_rows, kind="stable")[:NAMED][: max(m, 0)]))
    alt = (
        f"Score of {label_of(E)} over {' and '.join(view.names)} with its threshold: {m} of {n} "
        f"rows below it{f', the oddest are rows {oddest}' if m else ''}."
    )
    kept = _kept(odd)
    at, names = view.at[kept], view.names
    return AnomalyMap(
        alt, lines, scores, at, of_rows[kept], odd[kept], kept, m, names, title=title, note=note
    )


def _judged(E: Model, model: Model, X: ArrayLike, n: int, new: bool) -> Array:
    """Score minus threshold of every row."""
    if new:
        return np.asarray(E.decision_function(X), dtype=np.float64).reshape(-1)
    found = model.negative_outlier_factor_ - model.offset_
    if len(found) != n:
        raise ValueError(
            f"{type(model).__name__} with novelty=False judges the {len(found)} rows of its fit, "
            f"got {n}"
        )
    return np.asarray(found, dtype=np.float64)


def _kept(odd: BoolArray) -> IntArray:
    """Rows to draw: the odd ones are never thinned out before the ordinary ones."""
    strange, plain = np.flatnonzero(odd), np.flatnonzero(~odd)
    return np.sort(np.concatenate([strange[thinned(len(strange))], plain[thinned(len(plain))]]))

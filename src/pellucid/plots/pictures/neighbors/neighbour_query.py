"""Who answers for one query: its nearest rows, how far they are, and what their votes weigh."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, ArrayLike, Columns, IntArray, Model
from pellucid.neighbors.search.metrics import Minkowski
from pellucid.neighbors.search.pairwise import pairwise_distances
from pellucid.neighbors.search.weights import neighbour_weights
from pellucid.plots.panels.inputs import model_names, read_table
from pellucid.plots.panels.marks import isolines, ring, thinned
from pellucid.plots.panels.planes import draw_points, grid_of, labels_of, view_of
from pellucid.plots.panels.style import GREY, Axes, Picture, colour, heading, legend, panels

MOST_BARS = 25


class NeighbourQuery(Picture):
    query: Array  # (2,) or (1,) its place in the picture
    at: Array  # (n, d) training rows drawn
    codes: Array  # (n,) codes of their classes, or their targets
    indices: IntArray  # (k,) training rows that answer, nearest first
    neighbours: Array  # (k, d) their places
    distances: Array  # (k,)
    weights: Array  # (k,)
    votes: Array  # (k,) codes of their classes, or their targets
    totals: Array  # (K,) weight of each class; a regression: ()
    answer: Any
    classes: tuple[str, ...]  # () for a regression
    lines: tuple[Array, ...]  # grid of the reach; () where it cannot be drawn
    reach: Array  # distance of every place of the grid from the query
    names: tuple[str, ...]

    def plot(self) -> Any:
        """The neighbourhood, and the votes; the figure."""
        left, right = panels(2, columns=2, size=(5.0, 4.4))
        self._map(left)
        if self.classes:
            self._votes(right)
        else:
            self._targets(right)
        return left.figure

    def _map(self, ax: Any) -> None:
        flat = self.at.shape[1] == 1
        at, near, query = (
            np.column_stack([v, np.zeros(len(v))]) if flat else v
            for v in (self.at, self.neighbours, self.query[None])
        )
        if self.classes:
            draw_points(ax, at, self.codes.astype(np.intp), self.classes)
        else:
            shown = ax.scatter(*at.T, c=self.codes, cmap="viridis", s=20, zorder=3)
            ax.figure.colorbar(shown, ax=ax, label="target", shrink=0.8)
        most = self.weights.max() or 1.0
        for point, weight in zip(near, self.weights, strict=True):
            ends, lw = np.stack([query[0], point]).T, 0.5 + 2.5 * weight / most
            ax.plot(*ends, color=GREY, lw=lw, zorder=2)
        ring(ax, *near.T, size=90, zorder=4, label=f"{len(near)} nearest")
        if len(self.lines) == 2:
            wide, high = (float(np.ptp(line)) for line in self.lines)
            ax.set_aspect("equal" if 1 / 3 < wide / high < 3 else "auto")
            levels = [max(self.distances[-1], 1e-300)]
            isolines(ax, *self.lines, self.reach, levels=levels, tint="black", lw=1.2, ls="--")
        ax.plot(*query.T, "*", color="#F0E442", mec="black", ms=16, zorder=5, label="query")
        ax.set(xlabel=self.names[0], ylabel="" if flat else self.names[1])
        if flat:
            ax.set_yticks([])
        legend(ax, loc="best")
        far = f"the farthest at {self.distances[-1]:.3g}"
        heading(ax, f"The {len(near)} nearest of {len(self.at)} rows, {far}", self.note)

    def _votes(self, ax: Any) -> None:
        bottom = np.zeros(len(self.classes))
        for weight, code in zip(self.weights, self.votes.astype(np.intp), strict=True):
            tint = colour(code)
            ax.bar(code, weight, 0.6, bottom=bottom[code], color=tint, edgecolor="white", lw=0.8)
            bottom[code] += weight
        for k, total in enumerate(self.totals):
            ax.text(k, total, f" {total:.3g}", ha="center", va="bottom", fontsize="small")
        ax.set_xticks(range(len(self.classes)), self.classes)
        ax.set(ylabel="weight of the votes", ylim=(0, 1.12 * max(self.totals.max(), 1e-300)))
        ax.grid(False, axis="x")
        heading(ax, f"The answer is {self.answer}", "one block per neighbour")

    def _targets(self, ax: Axes) -> None:
        shown = min(len(self.votes), MOST_BARS)
        share = self.weights[:shown] / self.weights.sum()
        x, y = self.distances[:shown], self.votes[:shown]
        ax.scatter(x, y, s=20 + 400 * share, color=colour(0), edgecolors="black", linewidths=0.6)
        ax.axhline(self.answer, color=colour(1), lw=1.8, label=f"prediction {self.answer:.4g}")
        ax.set(xlabel="distance from the query", ylabel="target of the neighbour")
        legend(ax)
        heading(ax, f"The answer is {self.answer:.4g}", "size: weight in the mean")


def _metric(E: Model) -> Any:
    """The distance of the model, as ``pairwise_distances`` takes it."""
    if not isinstance(E.metric, str):
        return E.metric
    if E.metric == "minkowski" and not E.metric_params:
        return Minkowski(E.p)
    return E.metric


def neighbour_query(E: Model, x: ArrayLike, *, columns: Columns | None = None) -> NeighbourQuery:
    """One query with its neighbours, their reach, weights and votes.

    ``E``: fitted KNeighborsClassifier or KNeighborsRegressor of one target; ``x``: one row;
    ``columns``: one or two names or positions; inputs to show of several; the neighbours are always
    those in all inputs.

    Examples
    --------
    >>> from pellucid import KNeighborsClassifier
    >>> from pellucid.plots import neighbour_query
    >>> model = KNeighborsClassifier(3, weights="distance").fit([[0.5], [-2.0], [3.0]], [0, 1, 1])
    >>> picture = neighbour_query(model, [0.0])
    >>> picture.totals.round(4), picture.answer
    (array([2.    , 0.8333]), 0)
    """
    check_is_fitted(E)
    if not hasattr(E, "kneighbors") or not hasattr(E, "predict") or not hasattr(E, "_y"):
        raise ValueError(
            "neighbour_query needs KNeighborsClassifier or KNeighborsRegressor, got "
            f"{type(E).__name__}"
        )
    if E.effective_metric_ == "precomputed" or not isinstance(E._fit_X, np.ndarray):
        raise ValueError("neighbour_query needs the training rows, got distances or a sparse table")
    if np.ndim(E._y) > 1 and np.shape(E._y)[1] > 1:
        raise ValueError(f"the picture shows one target, the model has {np.shape(E._y)[1]}")
    names = model_names(E)
    row = np.asarray(x, dtype=np.float64).reshape(1, -1)
    if row.shape[1] != len(names):
        raise ValueError(f"x must be one row of {len(names)} numbers, got {row.shape[1]}")
    train = np.asarray(E._fit_X, dtype=np.float64)
    asked = read_table(row, E).given
    indices, distances, weights, totals, answer = _vote(E, asked)
    view = view_of(np.vstack([train, row]), names, columns)
    kept = np.union1d(thinned(len(train)), indices)
    target = np.asarray(E._y).reshape(len(train))
    classes = tuple(map(str, E.classes_.tolist())) if hasattr(E, "classes_") else ()
    if classes:
        labels_of(E.classes_, len(classes))  # at most as many as can be told apart
    lines: tuple[Array, ...] = ()
    reach: Array = np.zeros(0)
    if len(names) == 2 and view.at.shape[1] == 2:
        lines, places, _ = grid_of(view.at)
        full = view.rows(places)
        reach = pairwise_distances(full, row, metric=_metric(E)).reshape(len(lines[1]), -1)
    note = "" if len(names) <= 2 else f"neighbours in all {len(names)} inputs; {view.note}"
    counted = ", ".join(f"{c} {t:.3g}" for c, t in zip(classes, totals, strict=True))
    said = f"{answer} with weights {counted}" if classes else f"{answer:.4g}"
    alt = (
        f"A query and its {len(indices)} nearest rows at distances {distances[0]:.3g} to "
        f"{distances[-1]:.3g}; the answer is {said}."
    )
    rows, votes = view.at[:-1], target[indices].astype(np.float64)
    shown = (view.at[-1], rows[kept], target[kept].astype(np.float64))
    near = (*shown, indices, rows[indices], distances, weights, votes, totals)
    return NeighbourQuery(alt, *near, answer, classes, lines, reach, view.names, note=note)


def _vote(E: Model, row: Any) -> tuple[IntArray, Array, Array, Array, Any]:
    """Neighbours, distances, weights, totals by class and the answer."""
    if hasattr(E, "explain"):
        vote = E.explain(row)[0]
        return vote.indices, vote.distances, np.asarray(vote.weights), vote.totals, vote.winner
    distance, index = E.kneighbors(row)
    found = neighbour_weights(E.weights, E.metric, np.asarray(row), E._fit_X, distance, index)
    weights = np.ones(distance.shape[1]) if found is None else found[0]
    answer = float(np.asarray(E.predict(row)).ravel()[0])
    return index[0], distance[0], weights, np.zeros(0), answer

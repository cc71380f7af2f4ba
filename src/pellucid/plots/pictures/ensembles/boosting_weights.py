"""AdaBoost round by round: the weights of the rows, the new member, the committee so far.

w <- w exp(-a [right]) / Z: rows that a member gets wrong weigh more in the next round.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Model
from pellucid.plots.panels import planes
from pellucid.plots.panels.inputs import read_table
from pellucid.plots.panels.marks import dots, thinned
from pellucid.plots.panels.steps import chosen_steps
from pellucid.plots.panels.style import Axes, Picture, heading, panels

SIDE = 121


class BoostingWeights(Picture):
    rounds: tuple[int, ...]  # from 1
    weights: Array  # (rounds, n) of the rows before each round, summing to 1 over all rows
    wrong: BoolArray  # (rounds, n) by the member of the round
    errors: tuple[float, ...]  # weighted error of each member
    alphas: tuple[float, ...]  # weight of each member, scale of the course
    committee_errors: tuple[float, ...]  # share of rows that the members so far get wrong
    lines: tuple[Array, ...]
    members: tuple[IntArray, ...]  # regions of each member
    committees: tuple[IntArray, ...]  # regions of the members up to each
    at: Array
    codes: IntArray
    classes: tuple[str, ...]
    names: tuple[str, ...]

    def plot(self) -> Any:
        """Tint: the member; black line: the committee so far; size: the weight of a row."""
        n = len(self.rounds)
        grid = panels(n, columns=2 if n in (2, 4) else 3, size=(3.9, 3.6))
        for i, ax in enumerate(grid):
            self._panel(ax, i)
        handles, labels = grid[0].get_legend_handles_labels()
        figure = grid[0].figure
        title = "Tint: the member of the round; black line: all members so far; point size: weight"
        figure.suptitle(title, fontsize="medium", wrap=True)
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
        return figure

    def _panel(self, ax: Axes, i: int) -> None:
        if len(self.lines) == 2:
            planes.paint_regions(ax, self.lines, self.members[i], len(self.classes))
            for k in range(len(self.classes)):
                inside = (self.committees[i] == k).astype(np.float64)
                if 0 < inside.mean() < 1:
                    ax.contour(*self.lines, inside, levels=[0.5], colors="black", linewidths=1.8)
            at = self.at
            ax.set(xlabel=self.names[0], ylabel=self.names[1])
        else:
            x, cuts = self.lines[0], np.flatnonzero(np.diff(self.members[i]))
            ends = [0, *(cuts + 1).tolist(), len(x) - 1]
            for a, b in pairwise(ends):
                ax.axvspan(x[a], x[b], color=planes.light(int(self.members[i][a])), lw=0, zorder=0)
            for cut in np.flatnonzero(np.diff(self.committees[i])):
                ax.axvline((x[cut] + x[cut + 1]) / 2, color="black", lw=1.8)
            at = np.column_stack([self.at[:, 0], self.codes])
            ax.set_yticks(range(len(self.classes)), self.classes)
            ax.set(xlabel=self.names[0], ylim=(-0.6, len(self.classes) - 0.4))
        share = self.weights[i] * self.weights.shape[1]
        for k, label in enumerate(self.classes):
            rows = self.codes == k
            dots(ax, *at[rows].T, k=k, size=np.maximum(3, 26 * share[rows]), label=label, zorder=3)
        title = f"round {self.rounds[i]}: error {self.errors[i]:.3g}, a = {self.alphas[i]:.3g}"
        heading(ax, title, f"all so far: {self.committee_errors[i]:.1%} wrong", width=40)


def boosting_weights(
    E: Model, X: ArrayLike, y: ArrayLike, *, columns: Any = None, steps: Any = 6
) -> BoostingWeights:
    """The weights of the rows, the member and the committee in some rounds of AdaBoost.

    ``E``: fitted AdaBoostClassifier; ``X``, ``y``: its training data. ``columns``: one or two names
    or positions; inputs to show of several, the others at their median. ``steps``: int or
    positions; how many rounds, the first ones; or which (0 is the first round).

    Examples
    --------
    >>> from pellucid import AdaBoostClassifier
    >>> from pellucid.plots import boosting_weights
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 0, 1, 1, 0, 0]
    >>> picture = boosting_weights(AdaBoostClassifier(n_estimators=3).fit(X, y), X, y)
    >>> picture.weights[1].round(3), [round(e, 4) for e in picture.errors]
    (array([0.125, 0.125, 0.25 , 0.25 , 0.125, 0.125]), [0.3333, 0.25, 0.1667])
    """
    check_is_fitted(E)
    if not hasattr(E, "estimator_weights_") or not hasattr(E, "classes_"):
        raise ValueError(f"boosting_weights needs AdaBoostClassifier, got {type(E).__name__}")
    table = read_table(X, E)
    labels = planes.labels_of(y, len(table.X), E.classes_)
    view = planes.view_of(table.X, table.names, columns)
    lines, places, shape = planes.grid_of(view.at, SIDE)
    rows = view.rows(places)
    total = len(E.estimators_)
    chosen = range(min(steps, total)) if isinstance(steps, int) else chosen_steps(steps, total)
    found: list[tuple[Any, ...]] = []
    w, K = np.full(len(table.X), 1 / len(table.X)), len(labels.classes)
    votes, ground = np.zeros((len(table.X), K)), np.zeros((len(rows), K))
    each = np.arange(len(table.X))
    for t, member in enumerate(E.estimators_[: max(chosen) + 1]):
        weight = float(E.estimator_weights_[t])
        said = _codes(member, table.X, E)
        region = _codes(member, rows, E)
        wrong = said != labels.codes
        votes[each, said] += weight
        ground[np.arange(len(rows)), region] += weight
        if t in chosen:
            far = float((votes.argmax(axis=1) != labels.codes).mean())
            error, ahead = float(w[wrong].sum()), ground.argmax(axis=1).reshape(shape)
            found.append((t + 1, w, wrong, error, weight / 2, far, region.reshape(shape), ahead))
        w = w * np.where(wrong, 1.0, np.exp(-weight))
        w = w / w.sum()
    number, weights, wrong_rows, errors, alphas, far_off, members, committees = zip(
        *found, strict=True
    )
    kept = thinned(len(table.X))
    alt = (
        f"Rounds {', '.join(map(str, number))} of AdaBoost on {len(table.X)} rows: weighted errors "
        f"{', '.join(f'{e:.3g}' for e in errors)}; the members so far get "
        f"{far_off[-1]:.1%} wrong."
    )
    per_row, missed = np.array(weights)[:, kept], np.array(wrong_rows)[:, kept]
    rounds = (number, per_row, missed, errors, alphas, far_off, lines, members, committees)
    return BoostingWeights(
        alt, *rounds, view.at[kept], labels.codes[kept], labels.classes, view.names, note=view.note
    )


def _codes(member: Any, X: Array, E: Model) -> IntArray:
    """What a member says, as codes of the classes of the committee."""
    known = getattr(member, "classes_", E.classes_)
    codes = planes.predicted_codes(member, X, known)
    if np.array_equal(known, E.classes_):
        return codes
    places = {label: k for k, label in enumerate(np.asarray(E.classes_).tolist())}
    if all(label in places for label in np.asarray(known).tolist()):
        return np.array([places[label] for label in np.asarray(known).tolist()])[codes]
    return np.asarray(known).astype(np.intp)[codes]  # fitted to codes

"""Rounds of label spreading, and their picture."""

import warnings
from typing import Any, NamedTuple

import numpy as np

from pellucid import KNeighborsClassifier, LabelSpreading, NearestNeighbors
from pellucid.lab.drawing import held_rows, number, short, vector
from pellucid.lab.page import LabData
from pellucid.lab.scene import around, bars, plane, points, segments
from pellucid.lab.trace import Frame

MOST, SHOWN = 400, 22  # rounds; of them shown


class Known(NamedTuple):
    """The rows, the labels that are given, the graph."""

    data: LabData
    y: Any  # -1: none
    k: int
    alpha: float
    edges: Any
    row: int  # the row that is followed
    near: float  # share of the others that the nearest label gets right
    box: Any

    @classmethod
    def of(cls, data: LabData, y: Any, k: int, alpha: float) -> "Known":
        X = data.X
        near = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(X, return_distance=False)
        pairs = {(min(i, j), max(i, j)) for i, row in enumerate(near.tolist()) for j in row}
        a, b = np.array([p for p in sorted(pairs) if p[0] != p[1]] or [(0, 0)]).T
        edges = segments(*X[a].T, *X[b].T, width=0.7, label="neighbours")
        have = y >= 0
        first = KNeighborsClassifier(1).fit(X[have], y[have])
        right = float((first.predict(X[~have]) == np.asarray(data.y)[~have]).mean())
        far = ((X[:, None] - X[have][None]) ** 2).sum(axis=2).min(axis=1)
        return cls(data, y, k, alpha, edges, int(far.argmax()), right, around(X))


def fitted(known: Known, most: int) -> Any:
    model = LabelSpreading("knn", n_neighbors=known.k, alpha=known.alpha, max_iter=most)
    return model.fit(known.data.X, known.y)


def quiet_fit(known: Known, most: int) -> Any:
    with warnings.catch_warnings(action="ignore"):  # stopped on purpose, or rows not reached
        return fitted(known, most)


def rounds(known: Known) -> list[int]:
    """Numbers of rounds that are shown."""
    n = int(quiet_fit(known, MOST).n_iter_)
    return np.unique(np.rint(np.geomspace(1, n, min(n, SHOWN))).astype(int)).tolist()


def frame(known: Known, step: int, m: int) -> Frame:
    """The labels after m rounds; before the first, those that are given."""
    y, truth, X = known.y, np.asarray(known.data.y, int), known.data.X
    K = int(truth.max()) + 1
    if m == 0:
        labels, F = y.copy(), np.eye(K)[np.maximum(y, 0)] * (y >= 0)[:, None]
        objective = None
        formula = (
            f"Y: {int((y >= 0).sum())} rows have a label, {int((y < 0).sum())} have none; the "
            f"followed row {vector(F[known.row])}"
        )
    else:
        model = quiet_fit(known, m)
        labels, F = model.transduction_, model.label_distributions_
        objective = float(model.history_["objective"][-1])
        formula = (
            f"round {m}: F ← α S F + (1 − α) Y, α = {number(known.alpha)}; "
            f"J = {number(objective)}; shares of the followed row {vector(F[known.row])}"
        )
    reached, none = labels >= 0, held_rows(known.data)
    right = float((labels[none] == truth[none]).mean())
    given_up = int((labels[~none] != y[~none]).sum())
    numbers: dict[str, Any] = {"round": m, "rows with a label now": int(reached.sum())}
    numbers["rows not reached"] = int((~reached).sum())
    numbers["right of those without a label"] = short(right)
    numbers["right by the nearest label"] = short(known.near)
    numbers["labels that gave way"] = given_up
    marks = []
    open_ = reached & none
    if open_.any():
        marks.append(points(*X[open_].T, group=labels[open_], size=0.9, label="label arrived"))
    if (~reached).any():
        marks.append(points(*X[~reached].T, group="quiet", size=0.9, label="no label yet"))
    have = ~none
    marks.append(
        points(
            *X[have].T,
            group=labels[have],
            size=1.5,
            ring=np.ones(int(have.sum()), bool),
            label="label given",
        )
    )
    marks.append(points(*X[[known.row]].T, group="warn", ring=[True], size=0.7, label="followed"))
    share = bars(np.arange(K), F[known.row], colour=list(range(K)), width=0.6)
    alt = "How the followed row is divided between the classes."
    title, box = "Shares of the followed row", (-0.6, K - 0.4, 0.0, 1.05)
    shares = plane("shares", [share], title=title, x="class", y="share", box=box, alt=alt)
    panels = [plane("data", marks), shares]
    return Frame(step, objective, None, formula, numbers, {"panels": panels})

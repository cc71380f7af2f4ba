"""k-means on the page of clusters, and what the methods of the page share."""

from itertools import pairwise
from typing import Any

import numpy as np

from pellucid.cluster.kmeans.kmeans import KMeans
from pellucid.cluster.kmeans.seeding import kmeans_plusplus
from pellucid.core.arrays.typing import ArrayLike
from pellucid.lab.drawing import class_regions, literal, number, quietly, short, sub, told, vector
from pellucid.lab.page import LabData
from pellucid.lab.scene import COARSE, Mark, Panel, around, line, plane, points, segments, table
from pellucid.lab.trace import Frame, Trace
from pellucid.plots.panels.replay import watched

ROUNDS = 28  # of k-means: two frames each
MOST_K = 8


def rows_panel(data: LabData, title: str, *, held: bool, alt: str) -> Panel:
    """The plane of the rows; ``held``: some were not seen by the fit."""
    X = data.X
    faint = data.held_out if held else None
    label = "rows (open: held out)" if held and data.held_out is not None else "rows"
    box = around(X, 0.15)
    spans = box[1] - box[0], box[3] - box[2]
    marks = [points(X[:, 0], X[:, 1], group="quiet", faint=faint, data=True, label=label)]
    y, equal = data.names[1], max(spans) < 6 * min(spans)
    return plane("rows", marks, title=title, x=data.names[0], y=y, box=box, equal=equal, alt=alt)


def enough_rows(X: ArrayLike, k: int) -> None:
    found = len(np.unique(X, axis=0))
    if found <= k:
        raise ValueError(f"{k} clusters need more than {k} different rows, got {found}")


def first_centers(X: np.ndarray, k: int, start: str, seed: int) -> Any:
    """k-means++, or the k rows around the one farthest from all others on average."""
    if start == "k-means++":
        return np.asarray(kmeans_plusplus(X, k, random_state=seed).centers)
    corner = X[((X - X.mean(axis=0)) ** 2).sum(axis=1).argmax()]
    return X[np.argsort(((X - corner) ** 2).sum(axis=1), kind="stable")[:k]]


def kmeans_trace(data: LabData, params: dict[str, Any], seed: int) -> Trace:
    """Every round in two halves: rows go to the nearest centre, centres to the mean."""
    X, _ = data.train
    k = params["k"]
    enough_rows(X, k)
    start = first_centers(X, k, params["start"], seed)
    model = KMeans(k, init=start, n_init=1, max_iter=ROUNDS, tol=0.0)
    fitted, recorder = watched(model, X)
    stages = [start] + [one.cluster_centers_ for one in next(iter(recorder.runs.values()))]
    curve = _elbow(X)
    top = float(curve.max())
    frames = [_half(data, 0, start, None, start, fitted.history_[0], top)]
    for i, (before, after) in enumerate(pairwise(stages)):
        row = fitted.history_[i]
        frames.append(_half(data, 2 * i + 1, before, row["labels"], before, row, top))
        frames.append(_half(data, 2 * i + 2, after, row["labels"], before, row, top))
    moving = fitted.n_iter_ >= ROUNDS and float(fitted.history_["shift"][-1]) > 0
    found = float(fitted.inertia_ / len(X))
    tries = 1 if COARSE.get() else 10
    best = min(KMeans(k, n_init=tries, random_state=0).fit(X).inertia_ / len(X), found)
    fit = f"model = KMeans({k}, init=start, n_init=1, max_iter={ROUNDS}, tol=0.0).fit(X)\n"
    alt = "Rows coloured by cluster, centres, and the cell of each centre."
    panels = [
        rows_panel(data, "Rows, centres and their cells", held=True, alt=alt),
        table("clusters", _COLUMNS, [], title="Clusters"),
        _elbow_panel(curve),
    ]
    code = (
        f"{'import warnings' + chr(10) if moving else ''}import numpy as np\n\n"
        f"from pellucid import KMeans\n\nX = {literal(X)}\nstart = {literal(start)}\n"
        f"{quietly(fit, 'the centres still move') if moving else fit}"
        "objective = float(model.inertia_ / len(X))\n"
    )
    objective = "J per row: mean squared distance to the nearest centre"
    words = (objective, _kmeans_verdict(fitted.n_iter_, moving, found, best), code)
    shown, card = told(data, "points", panels), fitted.card().to_dict()
    return Trace("KMeans", params, shown, card, tuple(frames), "k-means", *words)


_COLUMNS = ["cluster", "rows", "centre", "share of J"]


def _kmeans_verdict(rounds: int, moving: bool, found: float, best: float) -> str:
    words = f"Nothing moves any more after {rounds} round{'s' * (rounds != 1)}"
    if moving:
        words = f"The centres still move after {rounds} rounds, the most that this page shows"
    if found > 1.02 * best:
        return (
            f"{words}, {'and' if moving else 'yet'} J = {number(found)} is {number(found / best)} "
            f"times the {number(best)} that the best of ten other starts found"
            f"{'.' if moving else ': a local optimum.'}"
        )
    return f"{words}; of ten other starts none was more than 2 % better."


def _elbow(X: np.ndarray) -> Any:
    if COARSE.get():  # a finger is moving: the whole curve comes when it lets go
        return np.array([KMeans(1).fit(X).inertia_ / len(X)])
    ks = range(1, min(MOST_K, len(np.unique(X, axis=0))) + 1)
    return np.array([KMeans(k, n_init=4, random_state=0).fit(X).inertia_ / len(X) for k in ks])


def _elbow_panel(curve: Any) -> Panel:
    k = np.arange(1, len(curve) + 1)
    marks = [line(k, curve, colour="quiet"), points(k, curve, group="quiet", size=0.7)]
    title, box = "Elbow: least J by number of clusters", (0.6, len(k) + 0.4, 0.0, 1.1 * curve.max())
    alt = "The least mean squared distance for one to eight clusters."
    return plane("elbow", marks, title=title, x="k", y="J per row", box=box, alt=alt)


class _Nearest:
    """The rule of k-means for given centres."""

    def __init__(self, C: Any) -> None:
        self.C = C

    def predict(self, X: np.ndarray) -> Any:
        return ((X[:, None] - self.C) ** 2).sum(axis=2).argmin(axis=1)


def _half(
    data: LabData, step: int, C: Any, labels: Any, before: Any, row: Any, top: float
) -> Frame:
    """The start, a half with the rows moving, or a half with the centres moving."""
    X, _ = data.train
    test, box = data.test[0], around(data.X, 0.15)
    value = row["after_update"] if step and step % 2 == 0 else row["after_assignment"]
    marks: list[Mark] = [class_regions(_Nearest(C), box, 40, label="nearest centre")]
    if labels is not None:
        marks.append(segments(*X.T, *C[labels].T, width=0.7))
        marks.append(points(*X.T, group=labels))
    if step and step % 2 == 0:
        look: dict[str, Any] = {"width": 2.0, "arrow": True, "label": "way of a centre"}
        marks.append(segments(*before.T, *C.T, colour=None, **look))
    ring, k = np.ones(len(C), bool), len(C)
    marks.append(points(*C.T, group=np.arange(k), size=2.0, ring=ring, label="centres"))
    here, label = min(value / len(X), top), "this run"
    panels = [
        plane("rows", marks),
        _cluster_table(X, C, labels),
        plane("elbow", [points([k], [here], group="accent", size=1.2, label=label)]),
    ]
    if step == 0:
        formula = "start: " + ", ".join(f"c{sub(j + 1)} = {vector(c)}" for j, c in enumerate(C[:2]))
    elif step % 2:
        d = ((X[:, None] - C) ** 2).sum(axis=2)
        two = np.sort(d, axis=1)
        i = int((two[:, 1] - two[:, 0]).argmin()) if len(C) > 1 else 0
        shown = ", ".join(number(v) for v in d[i][:4])
        formula = (
            f"E: ℓ = argmin_k |x − c_k|²; the closest call, x = {vector(X[i])}: argmin({shown}) "
            f"= cluster {int(labels[i]) + 1}"
        )
    else:
        far = int(((C - before) ** 2).sum(axis=1).argmax())
        n = int((labels == far).sum())
        formula = (
            f"M: c_{far + 1} ← mean of its {n} row{'s' if n != 1 else ''} = {vector(C[far])}, "
            f"was {vector(before[far])}"
        )
    numbers: dict[str, Any] = {"round": (step + 1) // 2, "J per row": short(value / len(X), 5)}
    if step:
        numbers["rows that changed cluster"] = int(row.get("changed") or 0)
        numbers["centres moved by"] = short(row["shift"], 3) if step % 2 == 0 else 0.0
    else:
        numbers["clusters"] = k
    held = None
    if len(test):
        held = float(((test[:, None] - C) ** 2).sum(axis=2).min(axis=1).mean())
    return Frame(step, value / len(X), None, formula, numbers, {"panels": panels}, held)


def _cluster_table(X: np.ndarray, C: Any, labels: np.ndarray) -> Panel:
    rows = []
    total = 0.0 if labels is None else float(((X - C[labels]) ** 2).sum())
    for j, c in enumerate(C):
        mine = np.zeros(len(X), bool) if labels is None else labels == j
        part = float(((X[mine] - c) ** 2).sum())
        rows.append([j + 1, int(mine.sum()), vector(c), number(part / total if total else 0.0, 2)])
    return table("clusters", _COLUMNS, rows, title="Clusters", alt="Size and centre of each.")

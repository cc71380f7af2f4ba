"""Hierarchies on the page of clusters: merging from below, splitting from above."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.cluster.hierarchy.agglomerative import AgglomerativeClustering
from pellucid.cluster.hierarchy.divisive import DivisiveClustering
from pellucid.lab.drawing import literal, number, short, told
from pellucid.lab.page import LabData
from pellucid.lab.pages.clusters.parts import enough_rows, rows_panel
from pellucid.lab.scene import Mark, Panel, line, plane, points, rule, segments
from pellucid.lab.trace import Frame, Trace
from pellucid.plots.pictures.clusters.dendrogram import dendrogram

MOST, MOST_CELLS = 60, 9000  # merges that are shown, the last ones; rows of all frames together
MOST_COLOURS = 8  # clusters; more are grey
MEANS = {
    "single": "least distance of two rows",
    "complete": "largest distance of two rows",
    "average": "mean distance of two rows",
    "ward": "√(2 · rise of the sum of squares)",
}


def tree_trace(data: LabData, params: dict[str, Any], seed: int) -> Trace:
    """The merges (or splits) up to the cut."""
    merging = params["method"] == "agglomerative"
    X, k = data.X, params["k"] if merging else max(params["k"], 2)
    enough_rows(X, k)
    model: Any = DivisiveClustering(k)
    if merging:
        model = AgglomerativeClustering(k, linkage=params["linkage"])
    model.fit(X)
    counts = _counts(len(X), k, merging)
    picture = dendrogram(model, most=max(len(X), 2))
    fit = model, picture, _links(model, X)
    frames = tuple(_frame(data, params, fit, m, i) for i, m in enumerate(counts))
    name = type(model).__name__
    call = f"{k}, linkage={params['linkage']!r}" if merging else f"{k}"
    alt = "Rows coloured by cluster; rows that are alone are grey."
    panels = [rows_panel(data, "Rows and clusters so far", held=False, alt=alt), _tree(picture)]
    title, objective = "Divisive (DIANA)", "largest diameter left"
    if merging:
        title = f"Agglomerative, {params['linkage']} linkage"
        objective = "height of the last merge"
    code = (
        f"import numpy as np\n\nfrom pellucid import {name}\n\nX = {literal(X)}\n"
        f"model = {name}({call}).fit(X)\n"
        f"objective = float(model.distances_[len(X) - {k} - 1])"
        f"{'' if merging else '  # the widest cluster that was not split'}\n"
    )
    shown, words = told(data, "points", panels), (title, objective, _verdict(model, merging), code)
    return Trace(name, params, shown, model.card().to_dict(), frames, *words)


def _counts(n: int, k: int, merging: bool) -> list[int]:
    """How many clusters each frame has."""
    most = min(MOST, MOST_CELLS // n)
    return list(range(min(n, k + most), k - 1, -1)) if merging else list(range(1, k + 1))


def _verdict(model: BaseEstimator, merging: bool) -> str:
    sizes = ", ".join(str(v) for v in np.bincount(model.labels_).tolist())
    if merging:
        said = f"cophenetic correlation {number(model.cophenetic_correlation_)}"
    else:
        said = f"divisive coefficient {number(model.divisive_coefficient_)}"
    return f"Cut into {model.n_clusters_} clusters of {sizes} rows; {said}."


def _tree(picture: Any) -> Panel:
    """All brackets, pale."""
    x, y = _brackets(picture, np.ones(len(picture.x), bool))
    marks = [line(x, y, colour="quiet", width=1.0)]
    title, x = "Tree of clusters", "rows, in the order of the tree"
    alt = "The tree of merges; a bracket stands at its height."
    return plane("tree", marks, title=title, x=x, y=picture.ylabel, alt=alt)


def _brackets(picture: Any, chosen: Any) -> tuple[Any, Any]:
    gap = np.full((int(chosen.sum()), 1), np.nan)
    x, y = np.hstack([picture.x[chosen], gap]), np.hstack([picture.y[chosen], gap])
    return x.ravel(), y.ravel()


def _frame(data: LabData, params: dict[str, Any], fit: tuple[Any, ...], m: int, i: int) -> Frame:
    """m clusters."""
    model, picture, links = fit
    X = data.X
    n, merging = len(X), params["method"] == "agglomerative"
    labels = model.cut(m)
    size = np.bincount(labels)
    order = np.argsort(picture.y.max(axis=1), kind="stable")
    done = np.zeros(n - 1, bool)
    done[order[: n - m]] = True
    heights = model.distances_
    at = float(heights[n - m - 1]) if m < n else 0.0
    group = [int(v) if size[v] > 1 and m <= MOST_COLOURS else "quiet" for v in labels]
    joined = links[: n - m]
    marks: list[Mark] = [
        segments(*X[joined[:, 0]].T, *X[joined[:, 1]].T, label="merged rows"),
        points(*X.T, group=group),
    ]
    formula, numbers = _words(model, X, m, params)
    if (merging and m < n) or (not merging and m > 1):
        one, other = X[links[n - m - 1 if merging else n - m]]
        ends = [[v] for v in (*one, *other)]
        marks.append(segments(*ends, colour="accent", width=3.0, label="this step"))
    below = _brackets(picture, done)
    height = rule(y=at, colour="accent", label="d" if merging else "widest now")
    tree = plane("tree", [line(*below, colour=None, width=1.5), height])
    sizes = {"largest": int(size.max()), "rows alone": int((size == 1).sum())}
    numbers = {"clusters": m, "height": short(at), **sizes, **numbers}
    return Frame(i, at, None, formula, numbers, {"panels": [plane("rows", marks), tree]})


def _links(model: BaseEstimator, X: np.ndarray) -> Any:
    """For every merge the two nearest rows of its parts: together they join all rows."""
    found = []
    for m in range(len(X) - 1, 0, -1):
        a, b = _parts(model, m)
        d = ((X[a][:, None] - X[b]) ** 2).sum(axis=2)
        i, j = np.unravel_index(d.argmin(), d.shape)
        found.append((a[i], b[j]))
    return np.array(found, int).reshape(-1, 2)


def _parts(model: BaseEstimator, m: int) -> tuple[Any, Any]:
    """The rows of the two clusters whose merge leaves m clusters."""
    children, n = model.children_, model.n_leaves_
    found = []
    for node in children[n - m - 1].tolist():
        rows, stack = [], [node]
        while stack:
            c = stack.pop()
            if c < n:
                rows.append(c)
            else:
                stack.extend(children[c - n].tolist())
        found.append(np.array(sorted(rows)))
    return found[0], found[1]


def _words(
    model: BaseEstimator, X: np.ndarray, m: int, params: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    n = len(X)
    if params["method"] == "agglomerative":
        if m == n:
            return f"every row is a cluster: {n} clusters", {}
        a, b = _parts(model, m)
        height = number(model.distances_[n - m - 1])
        return (
            f"d(A, B) = {MEANS[params['linkage']]} = {height}, the least of all pairs: "
            f"{_rows(a)} and {_rows(b)} merge, {m} clusters are left"
        ), {"next height": short(model.distances_[min(n - m, n - 2)])}
    if m == 1:
        return f"all {n} rows are one cluster of diameter {number(model.heights_[0])}", {}
    a, b = _parts(model, m - 1)
    return (
        f"the widest cluster, diameter {number(model.heights_[m - 2])}, is split into {_rows(a)} "
        f"and {_rows(b)}; now {m} clusters"
    ), {}


def _rows(rows: Any) -> str:
    return f"row {rows[0] + 1}" if len(rows) == 1 else f"{len(rows)} rows"

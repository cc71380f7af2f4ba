"""DBSCAN and spectral clustering on the page of clusters."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.cluster.density.dbscan import DBSCAN, k_distances
from pellucid.cluster.kmeans.kmeans import KMeans
from pellucid.cluster.spectral.spectral import SpectralClustering
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.runtime.random import generator
from pellucid.lab.drawing import literal, number, short, told, vector
from pellucid.lab.page import LabData
from pellucid.lab.pages.clusters.parts import enough_rows, rows_panel
from pellucid.lab.scene import Mark, circles, line, plane, points, rule, segments
from pellucid.lab.trace import Frame, Trace

STEPS = 24  # radii up to the one asked for


def density_trace(data: LabData, params: dict[str, Any], seed: int) -> Trace:
    """DBSCAN with radii that grow to the one asked for."""
    X, enough = data.X, params["min_rows"]
    if enough > len(X):
        raise ValueError(f"min_rows must be at most the number of rows ({len(X)}), got {enough}")
    radii = params["eps"] * np.linspace(0.1, 1.0, STEPS)
    models = [DBSCAN(float(eps), min_samples=enough).fit(X) for eps in radii]
    models[-1] = DBSCAN(params["eps"], min_samples=enough).fit(X)
    frames = tuple(_grown(data, model, i, enough) for i, model in enumerate(models))
    reach = k_distances(X, min(enough - 1, len(X) - 1)) if enough > 1 else np.zeros(len(X))
    last = models[-1]
    found, noise = int(last.labels_.max()) + 1, int((last.labels_ < 0).sum())
    said = "Rows coloured by cluster with the circle of one core row."
    marks = [line(np.arange(1, len(X) + 1), reach, colour="quiet")]
    title = f"Distance to neighbour number {enough - 1}, sorted"
    alt = "Sorted distances; where they bend up rows stop being dense."
    panels = [
        rows_panel(data, "Core rows (joined), borders, noise (grey)", held=False, alt=said),
        plane("reach", marks, title=title, x="rows", y="distance", alt=alt),
    ]
    verdict = (
        f"Dense regions: {found}, rows of noise: {noise}, at ε = {number(params['eps'])}; "
        "no number of clusters was asked for."
    )
    code = (
        f"import numpy as np\n\nfrom pellucid import DBSCAN\n\nX = {literal(X)}\n"
        f"model = DBSCAN({params['eps']!r}, min_samples={enough}).fit(X)\n"
        "objective = float((model.labels_ == -1).mean())\n"
    )
    shown, words = told(data, "points", panels), ("share of rows that are noise", verdict, code)
    return Trace("DBSCAN", params, shown, last.card().to_dict(), frames, "DBSCAN", *words)


def _grown(data: LabData, model: BaseEstimator, i: int, enough: int) -> Frame:
    X, labels = data.X, model.labels_
    core = np.zeros(len(X), bool)
    core[model.core_sample_indices_] = True
    near = ((X[:, None] - X) ** 2).sum(axis=2) <= model.eps**2
    s = int(near.sum(axis=1).argmax())
    n = int(near[s].sum())
    link = np.argwhere(np.triu(near & core[:, None] & core, 1))[:600]
    border = ~core & (labels >= 0)
    marks: list[Mark] = [
        segments(*X[link[:, 0]].T, *X[link[:, 1]].T, width=0.7),
        points(*X[core].T, group=labels[core], size=1.3, label="core"),
        points(*X[border].T, group=labels[border], label="border"),
        circles([X[s, 0]], [X[s, 1]], [model.eps], colour="accent", label="ε around a row"),
    ]
    said = f"{'≥' if n >= enough else '<'} {enough}: {'core' if n >= enough else 'not core'}"
    formula = (
        f"ε = {number(model.eps)}: |{{j : |x_j − x| ≤ ε}}| = {n} {said} for the row x = "
        f"{vector(X[s])}, the densest"
    )
    noise = labels < 0
    numbers = {"ε": short(model.eps), "clusters": int(labels.max()) + 1}
    numbers |= {"core": int(core.sum()), "border": int(border.sum()), "noise": int(noise.sum())}
    panels = [plane("rows", marks), plane("reach", [rule(y=model.eps, colour="accent", label="ε")])]
    return Frame(i, float(noise.mean()), None, formula, numbers, {"panels": panels})


def spectral_trace(data: LabData, params: dict[str, Any], seed: int) -> Trace:
    """The graph, its eigenvectors, then k-means among the rows of the embedding."""
    X, k = data.X, params["k"]
    enough_rows(X, k)
    near = min(params["neighbours"], len(X))
    graph: dict[str, Any] = {"affinity": "nearest_neighbors", "n_neighbors": near}
    settings = {**graph, "random_state": seed}
    model = SpectralClustering(k, **settings).fit(X)
    H = model.embedding_
    inner = KMeans(k, n_init=10, stop="labels", random_state=generator(seed)).fit(H)
    W = np.triu(np.asarray(model.affinity_matrix_.todense()), 1)
    link = np.argwhere(W > 0)
    edges = segments(*X[link.T[0]].T, *X[link.T[1]].T, width=0.8, label="edges of the graph")
    cost = _cost(H, model.labels_)
    frames = _stages(data, model, W, edges)
    for row in inner.history_:
        frames.append(_placed(data, model, edges, row, len(frames)))
    off = abs(float(frames[-1].objective or 0.0) - cost)
    if off > 1e-9 * max(cost, 1e-300):  # the labels of the model
        frames.append(_placed(data, model, edges, {"labels": model.labels_}, len(frames)))
    said = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    seen = "Rows, edges between near neighbours, colours of the clusters."
    marks = [points(*_two(H), group="quiet", size=0.8, label="rows of U")]
    title, y = "Embedding: rows of the first eigenvectors", "u2" if H.shape[1] > 1 else ""
    panels = [
        rows_panel(data, "Rows and graph", held=False, alt=seen),
        plane(
            "embedding",
            marks,
            title=title,
            x="u1",
            y=y,
            alt="Each row of the table in the embedding.",
        ),
        _spectrum(model.eigenvalues_, k),
    ]
    objective = "squared distance to the centres in the embedding, per row"
    code = (
        f"import numpy as np\n\nfrom pellucid import SpectralClustering\n\nX = {literal(X)}\n"
        f"model = SpectralClustering({k}, {said}).fit(X)\nH = model.embedding_\n"
        "groups = [H[model.labels_ == j] for j in np.unique(model.labels_)]\n"
        "objective = float(sum(((g - g.mean(axis=0)) ** 2).sum() for g in groups) / len(H))\n"
    )
    shown, card = told(data, "points", panels), model.card().to_dict()
    words = ("Spectral clustering", objective, _cut_words(model), code)
    return Trace("SpectralClustering", params, shown, card, tuple(frames), *words)


def _spectrum(values: Any, k: int) -> Any:
    marks = [
        points(np.arange(1, len(values) + 1), values, group=0, label="λ"),
        rule(x=k + 0.5, colour="accent", label=f"k = {k}"),
    ]
    title = "Smallest eigenvalues of the Laplacian"
    alt = "The smallest eigenvalues; a gap after k speaks for k clusters."
    return plane("spectrum", marks, title=title, x="number", y="λ", alt=alt)


def _cut_words(model: BaseEstimator) -> str:
    sizes = " and ".join(str(v) for v in np.bincount(model.labels_).tolist())
    values = model.eigenvalues_
    second = float(values[1]) if len(values) > 1 else 0.0
    if model.n_parts_ > 1:
        return f"Groups of {sizes} rows; the graph falls into {model.n_parts_} parts by itself."
    return (
        f"Groups of {sizes} rows. λ₂ = {number(second)}: the smaller it is, the fewer edges had to "
        "be cut for their number of rows."
    )


def _two(H: Any) -> tuple[Any, Any]:
    return H[:, 0], H[:, 1] if H.shape[1] > 1 else np.zeros(len(H))


def _cost(H: Any, labels: ArrayLike) -> float:
    groups = [H[labels == j] for j in np.unique(labels)]
    return float(sum(((g - g.mean(axis=0)) ** 2).sum() for g in groups) / len(H))


def _stages(data: LabData, model: BaseEstimator, W: np.ndarray, edges: Mark) -> list[Frame]:
    """Graph and embedding, before anything is grouped."""
    degree = (W + W.T).sum(axis=1)
    i = int(degree.argmin())
    H, values = model.embedding_, model.eigenvalues_
    shown = ", ".join(number(v) for v in values[:4])
    base = {"edges": int((W > 0).sum()), "parts": int(model.n_parts_)}
    degrees = (
        f"W_ij = 1 where i and j are neighbours (½ if one way only); the row {i + 1} has degree "
        f"d = Σ_j W_ij = {number(degree[i])}, the least"
    )
    rows = plane("rows", [edges])
    least = base | {"least degree": float(degree[i])}
    where = (
        f"L = I − D^(−½) W D^(−½): λ = {shown}, …; the row {i + 1} goes to (u1, u2, …) = "
        f"{vector(H[i])}"
    )
    panels = [rows, plane("embedding", [points(*_two(H), group=None, size=0.8)])]
    after = {**base, "eigengap after": int(model.eigengap_)}
    return [
        Frame(0, None, None, degrees, least, {"panels": [rows]}),
        Frame(1, None, None, where, after, {"panels": panels}),
    ]


def _placed(data: LabData, model: BaseEstimator, edges: Mark, row: Any, step: int) -> Frame:
    X, H, labels = data.X, model.embedding_, np.asarray(row["labels"], int)
    cost = _cost(H, labels)
    C = np.array([H[labels == j].mean(axis=0) for j in np.unique(labels)])
    size = np.bincount(labels)
    look: dict[str, Any] = {"size": 1.8, "ring": np.ones(len(C), bool), "label": "centres"}
    centres = points(*_two(C), group=np.unique(labels), **look)
    panels = [
        plane("rows", [edges, points(*X.T, group=labels)]),
        plane("embedding", [points(*_two(H), group=labels, size=0.8), centres]),
    ]
    formula = (
        f"k-means on the rows of U: c₁ = mean of {size[size > 0][0]} rows = {vector(C[0])}; "
        f"Σ |u − c|² / n = {number(cost)}"
    )
    sizes = ", ".join(map(str, size.tolist()))
    numbers = {"round": step - 1, "J per row": short(cost), "sizes": sizes}
    return Frame(step, cost, None, formula, numbers, {"panels": panels})

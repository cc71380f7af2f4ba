"""t-SNE: a map on which near rows stay near, pulled and pushed into shape.

What breaks it: too few neighbours, and reading distances off the map.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid import TSNE
from pellucid.core.arrays.typing import Array
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import literal, number, short
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.scene import around, bars, plane, points, segments
from pellucid.lab.trace import Frame, Trace
from pellucid.plots.panels.replay import Recorder
from pellucid.textbook.projections.tsne import neighbour_probabilities

STEPS, EARLY, SHOWN, COLUMNS = 500, 250, 22, 10
AIR = 0.3  # around the last map, as a share of it
SHAPES = ("groups", "one cloud", "two near, one far")
CODE = """import numpy as np

from pellucid import TSNE

X = {X}
model = TSNE(perplexity={perplexity!r}, method="exact", max_iter={steps}, random_state=0).fit(X)
objective = model.kl_divergence_
"""


def rows(params: dict[str, Any], seed: int) -> tuple[Array, Any]:
    """Rows of ten columns, and the group of each."""
    rng = np.random.default_rng([seed, 11])
    n = params["rows"]
    y = np.arange(n) % 3
    centres = np.zeros((3, COLUMNS))
    if params["shape"] == "groups":
        centres = 3.0 * np.eye(COLUMNS)[:3]
    if params["shape"] == "two near, one far":
        centres[1, 0], centres[2, 1] = 5.0, 40.0
    if params["shape"] == "one cloud":
        y = np.zeros(n, int)
    X = centres[y] + 0.7 * rng.normal(size=(n, COLUMNS))
    return X.round(2) + 0.0, y


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The start, then steps of the descent, more of the early ones."""
    X, y = rows(params, seed)
    perplexity = float(params["perplexity"])
    if perplexity >= len(X):
        raise ValueError(f"the perplexity must be below the number of rows ({len(X)})")
    make = TSNE(perplexity=perplexity, method="exact", max_iter=STEPS, random_state=0)
    recorder = Recorder()
    model = make.set_callbacks(recorder).fit(X)
    model.set_callbacks()
    steps = next(iter(recorder.runs.values()))
    n = len(steps)
    chosen = np.r_[np.geomspace(1, n, SHOWN // 2), np.linspace(1, n, SHOWN // 2), EARLY]
    places = np.unique(np.clip(chosen.round(), 1, n).astype(int)).tolist()
    P = neighbour_probabilities(X, perplexity)
    box = around(model.embedding_, AIR)  # early steps may throw a row beyond it
    frames = [begin(X, P, perplexity)]
    for k in places:
        at = steps[k - 1] if k < n else model
        frames.append(frame(X, y, P, at, k, box))
    words = ("A map that keeps neighbours", "divergence KL(P, Q) of map and rows")
    shown = {"kind": "none", "panels": []}
    code = CODE.format(X=literal(X), perplexity=perplexity, steps=STEPS)
    card = model.card().to_dict()
    return Trace("TSNE", params, shown, card, tuple(frames), *words, verdict(frames[-1]), code)


def verdict(last: Frame) -> str:
    """A sentence for the end."""
    said = last.numbers
    words = f"Of the 5 nearest of a row the map keeps {number(said['neighbours kept'])}"
    if "farthest groups: rows" in said:
        words += (
            f"; the farthest two groups are {number(said['farthest groups: rows'])} times as far "
            f"apart as the nearest two, on the map {number(said['farthest groups: map'])} times"
        )
    return f"{words}."


def begin(X: Array, P: Array, perplexity: float) -> Frame:
    """How many neighbours of a row count."""
    d = ((X - X[0]) ** 2).sum(axis=1)
    nearest = np.argsort(d, kind="stable")[1:]
    p = P[0, nearest]
    formula = (
        f"p(j | i) ∝ exp(−b_i |x_i − x_j|²), b_i such that exp(entropy) = {number(perplexity)}: so "
        f"many neighbours count; p_ij = (p(j | i) + p(i | j)) / (2 n): for the first row and its "
        f"nearest {number(p[0])}"
    )
    numbers = {"rows": len(X), "columns": COLUMNS, "perplexity": perplexity}
    numbers["p of the nearest"] = short(float(p[0]))
    numbers["Σ of the 10 nearest, as a share"] = short(float(p[:10].sum() / p.sum()))
    shown = p[: min(60, len(p))]
    box = (0.0, len(shown) + 1.0, 0.0, 1.1 * float(p.max()))
    title = "Likeness of the first row to the others, nearest first"
    alt = "A bar per row: how much it counts as a neighbour of the first one."
    marks = [bars(np.arange(1, len(shown) + 1), shown, label="p")]
    weights = plane("weights", marks, title=title, x="row, nearest first", y="p", box=box, alt=alt)
    return Frame(0, None, None, formula, numbers, {"panels": [weights]})


def kept(X: Array, Y: Array, k: int = 5) -> float:
    """The share of the k nearest rows that are among the k nearest on the map."""
    near = []
    for A in (X, Y):
        D = ((A[:, None] - A) ** 2).sum(axis=2)
        np.fill_diagonal(D, np.inf)
        near.append(np.argsort(D, axis=1, kind="stable")[:, :k])
    return float(np.mean([len(set(a) & set(b)) / k for a, b in zip(*map(np.ndarray.tolist, near),
                                                                strict=True)]))  # fmt: skip


def group_gaps(A: Array, y: Any) -> float | None:
    """The largest distance between two groups' means, in units of the smallest."""
    means = [A[y == c].mean(axis=0) for c in np.unique(y)]
    if len(means) < 3:
        return None
    gaps = [float(np.linalg.norm(a - b)) for i, a in enumerate(means) for b in means[:i]]
    return max(gaps) / max(min(gaps), 1e-300)


def frame(X: Array, y: Any, P: Array, model: Any, k: int, box: Sequence[float]) -> Frame:
    Y, kl = model.embedding_, float(model.kl_divergence_)
    i = 0
    D = ((X - X[i]) ** 2).sum(axis=1)
    D[i] = np.inf
    j = int(D.argmin())
    whole = ((Y[:, None] - Y) ** 2).sum(axis=2)
    w = 1 / (1 + whole)
    np.fill_diagonal(w, 0.0)
    far = float(whole[i, j])
    words = "P is taken 12 times" if k <= EARLY else "P as it is"
    q, p = 1 / (1 + far) / float(w.sum()), float(P[i, j])
    formula = (
        f"step {k}, {words}: w_ij = 1 / (1 + |y_i − y_j|²), q_ij = w_ij / (Σ w); for the first row "
        f"and its nearest: 1 / ((1 + {number(far)}) · {number(float(w.sum()))}) = {number(q)}, "
        f"wanted p = {number(p)}"
    )
    numbers: dict[str, Any] = {"step": k, "KL": short(kl), "neighbours kept": short(kept(X, Y))}
    numbers |= {"q of the first and its nearest": short(q), "p of them": short(p)}
    rows_, map_ = group_gaps(X, y), group_gaps(Y, y)
    if rows_ is not None and map_ is not None:
        numbers["farthest groups: rows"] = short(rows_)
        numbers["farthest groups: map"] = short(map_)
    numbers["width of the map"] = short(float(np.ptp(Y, axis=0).max()))
    near = segments(*Y[[i]].T, *Y[[j]].T, colour="warn", width=2.0, label="first row and nearest")
    marks = [points(*Y.T, group=np.asarray(y), label="rows"), near]
    pairs = np.triu_indices(len(X), 1)
    every = max(1, len(pairs[0]) // 900)
    a, b = pairs[0][::every], pairs[1][::every]
    same = (y[a] == y[b]).astype(int)
    long, short_ = np.linalg.norm(X[a] - X[b], axis=1), np.linalg.norm(Y[a] - Y[b], axis=1)
    cloud = [
        points(long[same == c], short_[same == c], group=colour, size=0.5, label=label)
        for c, colour, label in ((1, "accent", "of one group"), (0, "quiet", "of two groups"))
        if (same == c).any()
    ]
    alt = "The rows on the map, coloured by the group that they were drawn from."
    map_panel = plane("map", marks, title="The map", box=box, equal=True, alt=alt)
    top = float(np.hypot(box[1] - box[0], box[3] - box[2]))
    reach = (0.0, 1.05 * float(long.max()), 0.0, top)
    look: dict[str, Any] = {"x": "distance of two rows", "y": "on the map", "box": reach}
    title, alt = "Distances on the map and among the rows", "A point per pair of rows."
    panels = [map_panel, plane("far", cloud, title=title, alt=alt, **look)]
    return Frame(k, kl, None, formula, numbers, {"panels": panels})


SUMMARY = "A map of many columns: rows that are near stay near. What is far says little."
CONTROLS = (
    choice("method", "Method", ("t-SNE",)),
    choice("shape", "Rows", SHAPES),
    counter("rows", "Number of rows", 90, 12, 150, 3),
    slider("perplexity", "Perplexity: neighbours that count", 20.0, 2.0, 60.0, log=True),
)
PRESETS = read_presets(
    """
Three groups | Three groups in ten columns. Nobody tells the map which row is of which.
! Too few neighbours | Two neighbours of each row count: groups fall into crumbs.
! Distances mean little | Two groups are near each other, the third is far away. The map forgets it.
! A cloud in pieces | One cloud without any groups, and two neighbours each: the map shows clumps.
A cloud, calmly | The same cloud with more neighbours: one cloud again.
""",
    given(),
    given(perplexity=2.0),
    given(shape="two near, one far", perplexity=15.0),
    given(shape="one cloud", perplexity=2.0),
    given(shape="one cloud", perplexity=25.0),
)
PAGE = make_page("embedding", "none", run, SUMMARY, CONTROLS, PRESETS)

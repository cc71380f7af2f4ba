"""Random trees round two rows: their cuts one by one, then the mean depth of all trees."""

from typing import Any, NamedTuple

import numpy as np

from pellucid import IsolationForest
from pellucid.core.arrays.typing import Array
from pellucid.ensemble.forest.isolation import average_path_length
from pellucid.lab.drawing import number, short
from pellucid.lab.scene import (
    COARSE,
    area,
    around,
    bars,
    contours,
    heat,
    lattice,
    plane,
    points,
    rule,
    segments,
    text,
)
from pellucid.lab.trace import Frame

CELLS, COMPANY = 40, 22  # cells of the picture; rows round A that are counted
STEPS = (1, 2, 3, 5, 8, 13, 20, 35, 60, 100, 150, 200)
COLOURS = {"A": "warn", "B": "accent"}


def mean_depth(n: int) -> float:
    """c(n): the cuts after which a row is alone by chance among n."""
    return float(average_path_length(np.array([n]))[0])


def grown(X: Array, size: int, trees: int, seed: int) -> Any:
    return IsolationForest(n_estimators=trees, max_samples=size, random_state=seed).fit(X)


def sizes(trees: int) -> list[int]:
    """Numbers of trees that are shown."""
    return [*(k for k in STEPS if k < trees), trees]


class Wood(NamedTuple):
    """The rows, two of them by name, and the forest."""

    X: Array
    size: int
    seed: int
    model: Any
    row: dict[str, int]
    box: Any

    @classmethod
    def of(cls, X: Array, size: int, trees: int, seed: int) -> "Wood":
        return cls(X, size, seed, grown(X, size, trees, seed), named_rows(X), around(X, 0.15))


def named_rows(X: Array) -> dict[str, int]:
    """A, the row farthest from the middle, and B, the nearest to it."""
    scale = np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1.0)
    far = (((X - np.median(X, axis=0)) / scale) ** 2).sum(axis=1)
    return {"A": int(far.argmax()), "B": int(far.argmin())}


def named(X: Array, row: dict[str, int], box: Any) -> list[Any]:
    marks = []
    for name, i in row.items():
        x, y = X[i]
        marks.append(points([x], [y], group=COLOURS[name], ring=[True], label=name))
        marks.append(text(x, y + 0.045 * (box[3] - box[2]), name))
    return marks


def walk(wood: Wood, tree: Any, i: int) -> list[Any]:
    """(box, feature, threshold, rows left) of every node on the way of a row."""
    node, found = 0, []
    low, high = np.array(wood.box[::2], float), np.array(wood.box[1::2], float)
    while True:
        j, left = int(tree.feature[node]), int(tree.n_node_samples[node])
        found.append((low.copy(), high.copy(), j, float(tree.threshold[node]), left))
        if j < 0:
            return found
        if wood.X[i, j] <= tree.threshold[node]:
            high[j], node = tree.threshold[node], int(tree.children_left[node])
        else:
            low[j], node = tree.threshold[node], int(tree.children_right[node])


def depth_of(wood: Wood, tree: Any, i: int) -> float:
    """Cuts, and those that the rows left would still need on average."""
    way = walk(wood, tree, i)
    return len(way) - 1 + mean_depth(way[-1][4])


def begin(wood: Wood) -> Frame:
    c = mean_depth(wood.size)
    sample = wood.X[np.asarray(wood.model.estimators_samples_[0], int)]
    formula = (
        f"a tree draws ψ = {wood.size} of n = {len(wood.X)} rows; by chance a row is alone after "
        f"c(ψ) = {number(c)} cuts"
    )
    numbers = {"rows": len(wood.X), "rows of the tree": wood.size, "c(ψ)": short(c)}
    drawn = points(*sample.T, group=0, size=0.8, label="rows of this tree")
    panels = [plane("rows", [drawn]), depth_panel({})]
    return Frame(0, None, None, formula, numbers, {"panels": panels})


def depth_panel(depths: dict[str, list[float]]) -> Any:
    """The depths of A and B tree by tree."""
    marks = []
    for name, values in depths.items():
        at = np.arange(1, len(values) + 1)
        label = f"depth of {name}"
        marks.append(points(at, values, group=COLOURS[name], size=0.7, label=label))
        if len(values):
            mean = float(np.mean(values))
            marks.append(rule(y=mean, colour=COLOURS[name], label=f"mean h of {name}"))
    top = max([6.0, *(v for values in depths.values() for v in values)])
    box = (0, max([8, *(len(v) + 1 for v in depths.values())]), 0.0, 1.12 * top)
    title, alt = "Depth in each tree", "How many cuts A and B need in every tree."
    return plane("depths", marks, title=title, x="tree", y="cuts", box=box, alt=alt)


def path(wood: Wood, name: str, first: int) -> list[Frame]:
    """The cuts of the first tree until a row is alone, or as deep as the tree goes."""
    tree, i = wood.model.estimators_[0].tree_, wood.row[name]
    way, frames = walk(wood, tree, i), []
    sample = np.asarray(wood.model.estimators_samples_[0], int)
    lines: list[Any] = []
    for k in range(1, len(way)):
        low, high, j, t, before = way[k - 1]
        ends = [[low[0], t, high[0], t], [t, low[1], t, high[1]]][1 - j]
        lines.append(ends)
        low, high, _, _, left = way[k]
        inside = np.all((wood.X[sample] > low) & (wood.X[sample] <= high), axis=1)
        x0, y0, x1, y1 = np.array(lines).T
        cell = area(
            [low[0], high[0], high[0], low[0]], [low[1], low[1], high[1], high[1]], opacity=0.18
        )
        marks = [
            cell,
            segments(x0, y0, x1, y1, colour=None, width=1.4, label="cuts"),
            points(*wood.X[sample[inside]].T, group=0, size=0.8, label="rows left with it"),
        ]
        h = k + mean_depth(left) if k == len(way) - 1 else None
        formula = f"{name}, cut {k}: x{j + 1} at {number(t)}, {before} rows → {left} on its side"
        if h is not None:
            rest = number(mean_depth(left))
            alone = f"alone: h = {k}" if left <= 1 else f"h = {k} + c({left}) = {k} + {rest}"
            formula += f"; {alone}" + (f" = {number(h)}" if left > 1 else "")
        numbers = {"row": name, "cuts": k, "rows left": left}
        known = {} if h is None else {name: [h]}
        panels = [plane("rows", marks), depth_panel(known)]
        frames.append(Frame(first + k - 1, None, None, formula, numbers, {"panels": panels}))
    return frames


def forest(wood: Wood, trees: int, step: int) -> Frame:
    """The scores of so many trees."""
    model = grown(wood.X, wood.size, trees, wood.seed)
    n = CELLS // 2 if COARSE.get() else CELLS
    x, y, cells = lattice(wood.box, n)
    s = -model.score_samples(cells).reshape(n, n)
    mine = -model.score_samples(wood.X)
    members = wood.model.estimators_[:trees]
    depths = {k: [depth_of(wood, m.tree_, i) for m in members] for k, i in wood.row.items()}
    h, c = float(np.mean(depths["A"])), mean_depth(wood.size)
    a, b = (float(mine[wood.row[name]]) for name in "AB")
    formula = (
        f"{trees} {'tree' if trees == 1 else 'trees'}: A has mean h = {number(h)}, "
        f"r = h / c = {number(h)} / {number(c)} = {number(h / c)}; s = 2^(−r) = {number(a)}"
    )
    numbers = {"trees": trees, "mean depth of A": short(h)}
    numbers |= {"mean depth of B": short(float(np.mean(depths["B"])))}
    numbers |= {"score of A": short(a), "score of B": short(b)}
    numbers["rows odder than A"] = int((mine > a + 1e-12).sum())
    numbers["rows odder than B"] = int((mine > b + 1e-12).sum())
    m = min(COMPANY, len(mine))
    near = ((wood.X - wood.X[wood.row["A"]]) ** 2).sum(axis=1).argsort(kind="stable")[:m]
    odd = np.argsort(-mine, kind="stable")[:m]
    numbers[f"round A, among the {m} oddest"] = int(np.isin(near, odd).sum())
    marks = [heat(s, wood.box, low=0.3, high=0.8, label="s")]
    if s.min() < 0.6 < s.max():
        marks.append(contours(x, y, s, [0.6], colour="warn", width=1.6))
    order = np.sort(mine)
    hist, edges = np.histogram(mine, np.linspace(min(0.3, order[0]), max(0.8, order[-1]), 26))
    middle, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
    shown = [
        bars(middle, hist, colour="quiet", width=0.9 * width),
        rule(x=a, colour="warn", label="A"),
        rule(x=b, colour="accent", label="B"),
    ]
    box = (edges[0], edges[-1], 0, 1.15 * max(int(hist.max()), 1))
    alt = "How many rows have which score."
    scores = plane("scores", shown, title="Scores of all rows", x="s", y="rows", box=box, alt=alt)
    panels = [plane("rows", marks), depth_panel(depths), scores]
    return Frame(step, a, None, formula, numbers, {"panels": panels})

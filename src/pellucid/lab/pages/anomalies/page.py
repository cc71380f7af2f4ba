"""Isolation forest: random cuts until a row is alone; odd rows are alone soon.

What breaks it: odd rows that keep each other company, and a hole in the middle.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.lab.controls import choice, counter
from pellucid.lab.drawing import literal, number, told
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.anomalies import parts
from pellucid.lab.pages.anomalies.parts import Wood, grown
from pellucid.lab.scene import plane, points
from pellucid.lab.trace import Trace

OBJECTIVE = "score s of row A (1: odd, below ½: ordinary)"
CODE = """import numpy as np
from pellucid import IsolationForest

X = {rows}
settings = {{"max_samples": {size!r}, "random_state": {seed!r}}}
model = IsolationForest(n_estimators={trees!r}, **settings).fit(X)
objective = float(-model.score_samples(X[[{row}]])[0])  # 2^(−mean depth / c)
"""


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The cuts of the first tree that part A and B from the rest, then more and more trees."""
    assert data is not None
    X = data.X
    if len(X) < 4 or not (np.ptp(X, axis=0) > 0).any():
        raise ValueError("random cuts need 4 rows or more, and rows that differ")
    size, trees = min(params["rows"], len(X)), params["trees"]
    wood = Wood.of(X, size, trees, seed)
    frames = [parts.begin(wood)]
    for name in "AB":
        frames += parts.path(wood, name, len(frames))
    frames += [parts.forest(wood, k, len(frames) + i) for i, k in enumerate(parts.sizes(trees))]
    label = "rows"
    marks = [points(*X.T, group="quiet", data=True, label=label)]
    marks += parts.named(wood)
    look = {"x": data.names[0], "y": data.names[1], "box": wood.box}
    alt = "The rows; A is farthest from the middle, B nearest to it."
    still = plane("rows", marks, title="Rows and random cuts", alt=alt, **look)
    model = grown(X, size, trees, seed)
    code = CODE.format(rows=literal(X), size=size, seed=seed, trees=trees, row=wood.row["A"])
    words = ("Alone after few cuts", OBJECTIVE, verdict(frames[-1].numbers), code)
    kept, card = told(data, "points", [still]), model.card().to_dict()
    return Trace("IsolationForest", params, kept, card, tuple(frames), *words)


def verdict(last: dict[str, Any]) -> str:
    """A sentence for the end."""
    return (
        f"A is alone after {number(last['mean depth of A'])} cuts on average and has the score "
        f"{number(last['score of A'])}, B after {number(last['mean depth of B'])} with "
        f"{number(last['score of B'])}; {last['rows odder than A']} rows are odder than A."
    )


def cloud(rng: Rng, n: int = 90) -> Any:
    return rng.normal(size=(n, 2)) * [1.0, 0.7]


def strangers(rng: Rng) -> LabData:
    far = np.array([[4.6, 3.2], [-4.2, 2.4], [3.4, -3.0]])
    return LabData(np.vstack([cloud(rng), far]).round(3))


def clump(rng: Rng) -> LabData:
    far = np.array([4.5, 3.5]) + 0.12 * rng.normal(size=(22, 2))
    return LabData(np.vstack([cloud(rng), far]).round(3))


def hole(rng: Rng) -> LabData:
    turn = rng.uniform(0, 2 * np.pi, 90)
    ring = (3.0 + 0.2 * rng.normal(size=90))[:, None] * np.column_stack(
        [np.cos(turn), np.sin(turn)]
    )
    return LabData(np.vstack([ring, [[0.05, -0.05]]]).round(3))


SUMMARY = "Cut at random until a row is alone. Odd rows are alone soon."
CONTROLS = (
    choice("method", "Method", ("isolation forest",)),
    counter("trees", "Trees", 100, 5, 200, 5),
    counter("rows", "Rows drawn for each tree", 64, 4, 128, 4),
)
PRESETS = read_presets(
    """
Three strangers | Most rows are one cloud, three lie far away. Random cuts, no distances.
Fewer rows a tree | Twenty-two strangers sit close together. Eight rows a tree leave each of them
    alone.
! Strangers in company | The same strangers, and whole samples: random cuts must part them from
    each other first, so none of them is alone soon.
! A row in the hole | One row sits alone in the middle of a ring. Every cut along an axis meets
    rows of the ring too, so it takes as many cuts as anyone.
""",
    given(strangers),
    given(clump, rows=8, trees=200),
    given(clump, rows=112),
    given(hole),
)
PAGE = make_page("anomalies", "points", run, SUMMARY, CONTROLS, PRESETS)

"""Odd rows: random cuts until a row is alone, or a region that holds most rows.

What breaks a forest: odd rows that keep each other company, and a hole in the middle. What breaks a
region: hills too narrow, and a share ν that nobody knows.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import literal, number, told
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.anomalies import parts, region
from pellucid.lab.pages.anomalies.parts import Wood, grown
from pellucid.lab.scene import Panel, plane, points
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
    """The trace of the chosen method."""
    assert data is not None
    if len(data.X) < 4 or not (np.ptp(data.X, axis=0) > 0).any():
        raise ValueError("what is odd needs 4 rows or more, and rows that differ")
    if params["method"] == region.METHOD:
        return region.region_trace(data, params, lambda known: still(data, known))
    return forest_trace(data, params, seed)


def forest_trace(data: LabData, params: dict[str, Any], seed: int) -> Trace:
    """The cuts of the first tree that part A and B from the rest, then more and more trees."""
    X = data.X
    size, trees = min(params["rows"], len(X)), params["trees"]
    wood = Wood.of(X, size, trees, seed)
    frames = [parts.begin(wood)]
    for name in "AB":
        frames += parts.path(wood, name, len(frames))
    frames += [parts.forest(wood, k, len(frames) + i) for i, k in enumerate(parts.sizes(trees))]
    model = grown(X, size, trees, seed)
    code = CODE.format(rows=literal(X), size=size, seed=seed, trees=trees, row=wood.row["A"])
    words = ("Alone after few cuts", OBJECTIVE, verdict(frames[-1].numbers), code)
    kept, card = told(data, "points", [still(data, wood)]), model.card().to_dict()
    return Trace("IsolationForest", params, kept, card, tuple(frames), *words)


def still(data: LabData, known: Any) -> Panel:
    """The rows, two of them by name."""
    marks = [points(*data.X.T, group="quiet", data=True, label="rows")]
    marks += parts.named(data.X, known.row, known.box)
    look = {"x": data.names[0], "y": data.names[1], "box": known.box}
    title = "Rows and random cuts" if isinstance(known, Wood) else "Rows and their region"
    alt = "The rows; A is farthest from the middle, B nearest to it."
    return plane("rows", marks, title=title, alt=alt, **look)


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
    choice("method", "Method", ("isolation forest", region.METHOD)),
    counter("trees", "Trees", 100, 5, 200, 5, method="isolation forest"),
    counter("rows", "Rows drawn for each tree", 64, 4, 128, 4, method="isolation forest"),
    slider("nu", "Share ν outside at most", 0.1, 0.02, 0.9, 0.01, method=region.METHOD),
    slider("sigma", "Width σ of the hills", 1.5, 0.1, 5.0, 0.1, method=region.METHOD),
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
A region for most | A plane in the space of the kernel holds nine rows in ten; on paper it is a
    closed curve.
A hole is outside | The row in the middle of a ring, which random cuts miss, stands in a hole of
    the region.
! Half of them odd | With ν = 0.5 half the rows are told to be odd. Nothing in the rows says what ν
    should be.
! Hills too narrow | Every row has its own island, strangers too, and nobody is outside.
! A crowd of strangers | One row in five is a stranger, more than ν: their crowd gets a region too.
A larger share | The crowd again, with ν = 0.25: more than their share of the rows.
""",
    given(strangers),
    given(clump, rows=8, trees=200),
    given(clump, rows=112),
    given(hole),
    given(strangers, method=region.METHOD),
    given(hole, method=region.METHOD, sigma=1.0, nu=0.2),
    given(strangers, method=region.METHOD, nu=0.5),
    given(strangers, method=region.METHOD, sigma=0.3),
    given(clump, method=region.METHOD),
    given(clump, method=region.METHOD, nu=0.25),
)
PAGE = make_page("anomalies", "points", run, SUMMARY, CONTROLS, PRESETS)

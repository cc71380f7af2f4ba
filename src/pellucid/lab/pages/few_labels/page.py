"""Label spreading: a few labels run along a graph of neighbours to all other rows.

Rows held out are here the rows without a label: the fit sees where they are, not what they are.
What breaks it: a bridge between the classes, and a graph that falls apart.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.data import make_moons
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import heard, held_rows, hushed, literal, told
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.few_labels.parts import Known, fitted, frame, rounds
from pellucid.lab.scene import plane, points
from pellucid.lab.trace import Trace

OBJECTIVE = "differences along the edges + distance from the labels"
CODE = """import numpy as np
{hushed}
from pellucid import LabelSpreading

X = {X}
y = {y}  # -1: no label
model = LabelSpreading("knn", n_neighbors={k!r}, alpha={alpha!r}, max_iter={most!r}).fit(X, y)
objective = float(model.history_["objective"][-1])
"""


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """One frame before the first round, then rounds until nothing changes."""
    assert data is not None
    held, y = held_rows(data), np.asarray(data.y, int)
    if len(np.unique(y[~held])) < 2 or not held.any():
        raise ValueError("at least 2 classes must have a label, and a row must have none")
    k = min(params["neighbours"] + 1, len(y))  # a row is its own nearest
    known = Known.of(data, np.where(held, -1, y), k, params["alpha"])
    counts = rounds(known)
    frames = tuple(frame(known, i, m) for i, m in enumerate([0, *counts]))
    model, warned = heard(lambda: fitted(known, counts[-1]))
    look: dict[str, Any] = {"x": data.names[0], "y": data.names[1], "box": known.box}
    title = "Labels running along the graph"
    alt = "Rows, edges to near neighbours, and the labels that have arrived."
    rows = points(*data.X.T, group="quiet", faint=held, data=True)
    still = plane("data", [rows, known.edges], title=title, alt=alt, **look)
    words = ("Few labels, many rows", OBJECTIVE, verdict(frames[-1].numbers))
    settings = {"k": k, "alpha": known.alpha, "most": counts[-1], "hushed": hushed(warned)}
    code = CODE.format(X=literal(data.X), y=literal(known.y), **settings)
    kept, card = told(data, "classes", [still]), model.card().to_dict()
    return Trace("LabelSpreading", params, kept, card, frames, *words, code)


def verdict(last: dict[str, Any]) -> str:
    """A sentence for the end."""
    right, near = last["right of those without a label"], last["right by the nearest label"]
    words = f"Of the rows without a label {right:.0%} got the right one; the nearest label alone "
    words += f"gives it to {near:.0%}."
    if last["rows not reached"]:
        words += f" {last['rows not reached']} rows are joined to no label and stay without one."
    return words


def few(labels: int, noise: float = 0.08, n: int = 90, wrong: int = 0) -> Any:
    """Moons of which so many rows of each class have a label, some of them a wrong one."""

    def make(rng: Rng) -> LabData:
        X, y = make_moons(n, noise=noise, random_state=rng)
        X, y = np.round(X, 3) + 0.0, np.asarray(y, int)
        held = np.ones(n, bool)
        for code in (0, 1):
            rows = np.flatnonzero(y == code)
            held[rows[np.linspace(0, len(rows) - 1, labels).astype(int)]] = False
        shown = np.flatnonzero(~held)
        y[shown[len(shown) // 2 : len(shown) // 2 + wrong]] ^= 1
        return LabData(X, y, held)

    return make


SUMMARY = "Two labels and a graph of neighbours are enough where the rows show the shape."
CONTROLS = (
    choice("method", "Method", ("spreading",)),
    counter("neighbours", "Neighbours of a row", 5, 1, 15),
    slider("alpha", "Share α from the neighbours", 0.9, 0.05, 0.99, 0.05),
)
PRESETS = read_presets(
    """
Two labels | One row of each moon has a label. The others only show where rows are.
A wrong label | Four labels a moon, one of them wrong: a label may give way to its neighbours.
! A bridge | Noisy moons touch, and labels run across.
! A graph in pieces | With one neighbour a row the graph falls apart: where no label is, none comes.
""",
    given(few(1)),
    given(few(4, wrong=1), alpha=0.99),
    given(few(1, 0.25)),
    given(few(1), neighbours=1),
)
PAGE = make_page("few_labels", "classes", run, SUMMARY, CONTROLS, PRESETS)

"""Decision trees (ID3, C4.5, CART): the worth of every split, the growing tree, pruning.

What breaks them: an attribute that names the row, and cells that are not known.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.lab.controls import choice, counter, slider, switch
from pellucid.lab.drawing import number, rows_code, told
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.decision_trees import parts
from pellucid.lab.pages.decision_trees.table import FILL, LOST, METHODS, grow
from pellucid.lab.pages.samples import labelled, moons
from pellucid.lab.trace import Trace

PRUNE_CODE = {
    "none": "",
    "validation": "from pellucid.tree import reduced_error_prune\n"
    "model = reduced_error_prune(model, X_test, y_test)\n",
    "pessimistic": "from pellucid.tree import pessimistic_prune\n"
    "model = pessimistic_prune(model)\n",
    "cost complexity": "model = model.set_params(ccp_alpha={alpha!r}).fit(X, y)\n",
}


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """Grow the whole tree, then show it node by node and cut by cut."""
    assert data is not None
    grown = grow(data, params, seed)
    teller = parts.Teller(grown, params["method"])
    opened = parts.grow_frames(teller)
    before = len(teller.frames)
    model = parts.prune_frames(teller, opened, params)
    if len(teller.frames) == 1:
        raise ValueError("no question divides these rows: all of one class, or all alike")
    between, made = grown.code.split("||")
    code = rows_code(data, between) + made + ".fit(X, y)\n"
    code += PRUNE_CODE[params["pruning"]].format(alpha=params["alpha"])
    code += "objective = float((model.predict(X) != y).mean())  # share of wrong training rows\n"
    objective = "share of training rows that are wrong"
    words = (f"A tree by {params['method']}", objective, verdict(teller, before, params), code)
    shown, frames = told(data, "classes", [parts.still(grown)]), tuple(teller.frames)
    return Trace(type(model).__name__, params, shown, model.card().to_dict(), frames, *words)


def verdict(teller: Any, before: int, params: dict[str, Any]) -> str:
    """A sentence for the end; ``before`` frames were there before any cut."""
    last = teller.frames[-1]
    tests = [frame.held_out for frame in teller.frames]
    least = teller.frames[int(np.argmin(tests))]
    words = (
        f"{last.numbers['leaves']} leaves: {number(last.objective)} of the training rows and "
        f"{number(last.held_out)} of the held-out rows are wrong."
    )
    if min(tests) < last.held_out - 1e-9:
        leaves, error = least.numbers["leaves"], number(min(tests))
        words += f" With {leaves} leaves the held-out error was least, {error}."
    if params["pruning"] == "validation" and len(teller.frames) > before:
        words += " The held-out rows chose the cuts, so their error is no longer an honest one."
    return words


def steps(rng: Rng) -> LabData:
    """Blocks of two classes, with some labels wrong: what trees are made for."""
    X = rng.uniform(0.0, 10.0, size=(100, 2))
    y = (X[:, 0] > 6) | ((X[:, 0] > 2.5) & (X[:, 1] > 6))
    return labelled(X, y ^ (rng.uniform(size=100) < 0.12))


def noisy_moons(rng: Rng) -> LabData:
    """Half circles that overlap."""
    return moons(rng, 130, 0.4)


def clear(rng: Rng) -> LabData:
    """The class is x1 > 5, without noise; x2 says nothing."""
    X = rng.uniform(0.0, 10.0, size=(100, 2))
    return labelled(X, X[:, 0] + 0.3 * rng.normal(size=100) > 5)


SUMMARY = """
Ask the question that leaves the purest groups, and ask again in each group. Then cut what does not
help on rows the tree has not seen.
"""
CONTROLS = (
    choice("method", "Tree", METHODS, "CART"),
    choice("criterion", "Impurity", ("gini", "entropy", "misclassification"), method="CART"),
    counter("ranges", "Ranges of each column", 4, 2, 8, method="ID3"),
    counter("depth", "Depth at most", 5, 1, 8),
    choice("pruning", "Pruning", ("none", "validation", "pessimistic", "cost complexity")),
    slider("alpha", "Cost α of a leaf", 0.01, 0.0, 0.2, 0.005, pruning="cost complexity"),
    switch("row_number", "Row number as an attribute"),
    slider("missing", "Share of x1 that is not known", 0.0, 0.0, 1.0, 0.05),
    choice("lost", "Which rows have lost it", LOST),
    choice("fill", "A row without the value", FILL, method=("ID3", "C4.5")),
)
PRESETS = read_presets(
    """
CART grows | Every split is the best of all thresholds of both columns.
ID3 on ranges | Columns cut into ranges, one branch for each; the attribute of largest information
    gain comes first.
C4.5 and its pruning | Thresholds by gain ratio, then cuts where a leaf would promise no more
    errors.
Pruning on validation rows | A deep tree learns the noise by heart; cuts that do not hurt on
    held-out rows take it back.
! ID attribute | The row number divides the training rows perfectly, so its information gain is as
    large as can be: ID3 asks for it first and knows nothing of any new row. C4.5's gain ratio does
    not take the bait.
! Missing values | Nine of ten training rows of class 1 have lost x1. Whether x1 is known then tells
    the classes apart better than any value, so the tree asks that: few training rows are wrong, and
    new rows, whose x1 is known, are mostly called class 0. Cells lost by chance do less harm.
! Values lost by class | Nine of ten training rows of class 1 have lost x1. C4.5 sends such a row
    down every branch in parts, which is fair only where the loss says nothing of the class.
""",
    given(steps, depth=4),
    given(steps, method="ID3"),
    given(steps, method="C4.5", pruning="pessimistic"),
    given(noisy_moons, depth=8, pruning="validation"),
    given(clear, method="ID3", row_number=True),
    given(steps, missing=0.9, lost=LOST[1], depth=3),
    given(steps, method="C4.5", missing=0.9, lost=LOST[1], depth=3),
)
PAGE = make_page("decision_trees", "classes", run, SUMMARY, CONTROLS, PRESETS)

"""Support vectors and kernels: the margin, who holds it, the lift to three dimensions.

What breaks them: a hard margin on classes that overlap, and a kernel so narrow that every row is
an island.
"""

from typing import Any

from pellucid.lab.controls import choice, slider, switch
from pellucid.lab.drawing import number, rows_code, told
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.margins import parts
from pellucid.lab.pages.samples import blobs, moons, rings
from pellucid.lab.trace import Trace

METHODS = ("linear", "quadratic (lift to 3-D)", "Gaussian")
CODE = """from pellucid import {model}
from pellucid.kernel import {kernel_name}

model = {model}({settings}).fit(X, y)
objective = float(model.primal_objective_)  # {objective}
"""
SOFT = "½|w|² + C Σ slack"
HARD = "½|w|², with every y f ≥ 1"


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """SMO for a soft margin, interior points for a hard one."""
    assert data is not None
    table = parts.make_table(data, params)
    C, refusal, steps = params["C"], "", 0
    if params["hard"]:
        model, frames, refusal = parts.told_hard(table)
        C = parts.PRICES[-1] if refusal else None
    else:
        model, frames, steps = parts.soft(table, C)
    soft = C is not None
    settings = f"kernel={table.kernel!r}" + (f", C={C!r}" if soft else "")
    settings += f", max_iter={parts.MOST_STEPS}" if steps >= parts.MOST_STEPS else ""
    name, objective = type(model).__name__, SOFT if soft else HARD
    kernel = type(table.kernel).__name__
    made = CODE.format(model=name, kernel_name=kernel, settings=settings, objective=objective)
    shown, title = told(data, "classes", [parts.still(table)]), "The widest margin, {} kernel"
    words = (title.format(params["method"]), objective, verdict(frames, refusal))
    card, code = model.card().to_dict(), rows_code(data) + made
    return Trace(name, params, shown, card, tuple(frames), *words, code)


def verdict(frames: list[Any], refusal: str) -> str:
    """A sentence for the end."""
    last = frames[-1].numbers
    words = (
        f"{last['support vectors']} support vectors hold the boundary; training error "
        f"{number(last['training error'])}, held-out error {number(last['held-out error'])}."
    )
    if refusal:
        return f"There is no hard margin: {refusal}. Shown are soft margins of growing price C."
    if last["support vectors"] > 0.9 * len(frames[-1].state["panels"][1]["marks"][0]["x"]):
        words += " Nearly every row is one: the boundary remembers the rows, not the shape."
    return words


def apart(rng: Any) -> LabData:
    """Two clouds with a street between them."""
    return blobs(rng, 60, ((0, 0), (3.4, 2.6)), 0.6)


def near(rng: Any) -> LabData:
    """Two clouds that overlap."""
    return blobs(rng, 70, ((0, 0), (1.8, 1.2)), 0.9)


SUMMARY = """
Of all boundaries that divide two classes, take the one with the widest street. Only the rows at its
edge hold it; a kernel bends it.
"""
CONTROLS = (
    choice("method", "Kernel", METHODS),
    switch("hard", "Hard margin (C = ∞)"),
    slider("C", "Price C of a slack", 1.0, 0.01, 1000.0, log=True, hard=False),
    slider("sigma", "Width σ of the Gaussian", 0.8, 0.03, 5.0, log=True, method="Gaussian"),
)
PRESETS = read_presets(
    """
Hard margin | The classes are apart: the widest street between them.
Soft margin | The classes overlap: rows inside the street pay C for their slack. SMO moves two
    multipliers a step.
Lift to 3-D | A disc in a ring: the kernel (x·z)² lifts the rows onto a cone, and a plane cuts the
    tip off.
Gaussian kernel | Every support vector casts a hill; their sum bends round the moons.
! C = ∞, not separable | The classes overlap, so no street is free of rows. As the price grows the
    street narrows, the multipliers grow with C and the objective has no bound: the hard margin does
    not exist.
! Tiny σ | With σ far below the distance of neighbours k(x, z) is about 0 for any two rows: each is
    an island, all become support vectors, training error 0, and between the islands f says nothing.
""",
    given(apart, hard=True),
    given(near, C=1.0),
    given(rings, method="quadratic (lift to 3-D)", C=1.0),
    given(moons, method="Gaussian", sigma=0.6, C=2.0),
    given(near, hard=True),
    given(moons, method="Gaussian", sigma=0.05, C=10.0),
)
PAGE = make_page("margins", "classes", run, SUMMARY, CONTROLS, PRESETS)

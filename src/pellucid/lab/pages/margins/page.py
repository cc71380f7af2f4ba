"""Support vectors and kernels: the margin, who holds it, the lift to three dimensions.

What breaks them: a hard margin on classes that overlap, and a kernel so narrow that every row is
an island.
"""

from typing import Any

from pellucid.lab.drawing import number, rows_code, told
from pellucid.lab.page import Control, LabData, Page, read_presets, read_questions
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
    made = CODE.format(
        model=type(model).__name__,
        kernel_name=type(table.kernel).__name__,
        settings=settings,
        objective=SOFT if soft else HARD,
    )
    return Trace(
        type(model).__name__,
        params,
        told(data, "classes", [parts.still(table)]),
        model.card().to_dict(),
        tuple(frames),
        f"The widest margin, {params['method']} kernel",
        SOFT if soft else HARD,
        verdict(frames, refusal),
        rows_code(data) + made,
    )


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


FOR_SIGMA = {"method": ("Gaussian",)}
CONTROLS = (
    Control("method", "Kernel", "choice", "linear", options=METHODS),
    Control("hard", "Hard margin (C = ∞)", "switch", False),
    Control(
        "C", "Price C of a slack", "number", 1.0, 0.01, 1000.0, log=True, only={"hard": (False,)}
    ),
    Control(
        "sigma",
        "Width σ of the Gaussian",
        "number",
        0.8,
        0.03,
        5.0,
        log=True,
        only=FOR_SIGMA,
    ),
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
    ({"hard": True}, apart),
    ({"C": 1.0}, near),
    ({"method": "quadratic (lift to 3-D)", "C": 1.0}, rings),
    ({"method": "Gaussian", "sigma": 0.6, "C": 2.0}, moons),
    ({"hard": True}, near),
    ({"method": "Gaussian", "sigma": 0.05, "C": 10.0}, moons),
)
QUESTIONS = """
? A row far outside the street is deleted. What happens to the boundary?
(x) nothing (_) it moves a little (_) it turns towards the other class
= Its multiplier is 0, so it is not in w = Σ a y x. Only rows on the margin, inside it or on the
wrong side hold the boundary.
? The Gaussian kernel is made very narrow. How many rows become support vectors?
(_) two (_) about half (x) nearly all
= k(x, z) is 1 for x = z and about 0 otherwise: no row says anything about another, so each must
hold its own place.
"""
PAGE = Page(
    name="margins",
    title="Support vectors and kernels",
    summary="Of all boundaries that divide two classes, take the one with the widest street. Only "
    "the rows at its edge hold it; a kernel bends it.",
    kind="classes",
    controls=CONTROLS,
    presets=PRESETS,
    questions=read_questions(QUESTIONS),
    run=run,
)

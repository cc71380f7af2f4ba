"""Autoencoder: two numbers through a middle of one, and back to two.

What breaks it: rows that close on themselves, and a middle as wide as the rows.
"""

import warnings
from typing import Any

import numpy as np

from pellucid import Autoencoder
from pellucid.core.arrays.typing import Rng
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import number, quietly, rows_code, told
from pellucid.lab.page import LabData, given, hold_out, make_page, read_presets
from pellucid.lab.pages.codes import parts
from pellucid.lab.pages.codes.parts import Middle
from pellucid.lab.trace import Trace
from pellucid.solvers.gradient_descent import GradientDescent
from pellucid.solvers.rules import Adam

MOST_FRAMES = 40
CODE = """from pellucid import Autoencoder
from pellucid.solvers import Adam, GradientDescent

solver = GradientDescent({rate!r}, {rule}, max_iter={epochs}, tol=None)
settings = {{"hidden_layer_sizes": {hidden!r}, "activation": {activation!r}}}
model = Autoencoder({code}, solver=solver, random_state={seed}, **settings)
{fit}objective = float(model.reconstruction_error(X).mean()) / 2
"""


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """One frame before the first epoch, then epochs; not all are shown."""
    assert data is not None
    if not (np.ptp(data.train[0], axis=0) > 0).all():
        raise ValueError("both columns need rows that differ; one of them is constant")
    hidden = (params["units"],) if params["units"] else ()
    rule = Adam() if params["rule"] == "Adam" else None
    solver = GradientDescent(params["rate"], rule, max_iter=params["epochs"], tol=None)
    settings = {"hidden_layer_sizes": hidden, "activation": params["activation"]}
    model = Autoencoder(params["code"], solver=solver, random_state=seed, **settings)
    with warnings.catch_warnings(record=True, action="always") as caught:
        middle = Middle.of(data, model, seed)
    last = len(middle.models) - 1
    shown = np.unique(np.r_[0, np.geomspace(1, last, MOST_FRAMES).round()].astype(int))
    frames = tuple(parts.frame(middle, int(i)) for i in shown)
    fit = "model.fit(X)\n"
    said = {"rate": params["rate"], "rule": "Adam()" if rule else "None", "seed": seed}
    said |= {"epochs": params["epochs"], "code": params["code"], **params, "hidden": hidden}
    said["fit"] = quietly(fit, "it warns of what goes wrong") if caught else fit
    said["rule"] = "Adam()" if rule else "None"
    head = "import warnings\n" if caught else ""
    code = head + rows_code(data) + CODE.format(**said)
    words = ("Through a narrow middle", "mean |x − x̂|² / 2", verdict(frames[-1], middle), code)
    shown_data, card = told(data, "points", [parts.still(middle)]), middle.fitted.card().to_dict()
    return Trace("Autoencoder", params, shown_data, card, frames, *words)


def verdict(last: Any, middle: Middle) -> str:
    """A sentence for the end."""
    kept, line = last.numbers["variance kept"], middle.line
    words = f"{kept:.1%} of the variance comes back; the best straight line gives back {line:.1%}."
    far, usual = last.numbers["error of the stranger"], last.numbers["J"]
    if middle.width > 1:
        return f"{words} With as many numbers as columns nothing has to be chosen."
    return f"{words} The stranger's error is {number(far / usual, 2)} times the mean."


def band(rng: Rng) -> LabData:
    x = np.linspace(-2.0, 2.0, 60)
    X = np.column_stack([x, 0.55 * x**2 - 0.9]) + 0.1 * rng.normal(size=(60, 2))
    return LabData(X.round(3), None, hold_out(60, 0))


def straight(rng: Rng) -> LabData:
    X = np.outer(rng.normal(size=60), [1.3, 0.7]) + 0.3 * rng.normal(size=(60, 2))
    return LabData(X.round(3), None, hold_out(60, 0))


def ring(rng: Rng) -> LabData:
    turn = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    X = 1.6 * np.column_stack([np.cos(turn), np.sin(turn)]) + 0.07 * rng.normal(size=(60, 2))
    return LabData(X.round(3), None, hold_out(60, 0))


SUMMARY = "Squeeze each row through one number and rebuild it: what gets through is its place."
CONTROLS = (
    choice("method", "Method", ("autoencoder",)),
    counter("code", "Numbers in the code", 1, 1, 2),
    counter("units", "Bent units on either side (0: none)", 8, 0, 12),
    choice("activation", "Their activation", ("tanh", "relu")),
    choice("rule", "Rule", ("Adam", "plain")),
    slider("rate", "Rate η", 0.03, 0.001, 1.0, 0.001, log=True),
    counter("epochs", "Epochs", 400, 10, 600, 10),
)
PRESETS = read_presets(
    """
A bent band | Rows along a bend. Eight bent units on either side of one number.
Straight units | No bent units: the line of the output is straight, and ends as the first principal
    component.
! Break it: a ring | A code is a line and has two ends; a ring has none. Somewhere it must tear, and
    rows on either side of the tear get codes far apart.
! Break it: no narrow middle | Two numbers for two columns. Everything comes back, strangers too:
    nothing was learned of the rows.
""",
    given(band),
    given(straight, units=0, rule="plain", rate=0.1),
    given(ring, epochs=600),
    given(band, code=2, units=0, rate=0.1),
)
PAGE = make_page("codes", "points", run, SUMMARY, CONTROLS, PRESETS)

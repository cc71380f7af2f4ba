"""Neural networks: values forward, gradients back, epoch by epoch."""

import warnings
from typing import Any

from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.networks.epochs import epochs_trace
from pellucid.lab.pages.networks.parts import STARTS
from pellucid.lab.pages.networks.row import row_trace
from pellucid.lab.pages.samples import moons, xor
from pellucid.lab.trace import Trace


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The trace of the chosen view of the network."""
    assert data is not None
    with warnings.catch_warnings(action="ignore"):  # the verdict says what went wrong
        chosen = row_trace if params["method"] == "forward and back" else epochs_trace
        return chosen(data, params, seed)


def few_moons(rng: Any) -> LabData:
    return moons(rng, n=84, noise=0.2)


SUMMARY = """
Weighted sums and activations forward, the chain rule back, a step down the gradient: one row in
slow motion, or all rows epoch by epoch.
"""
CONTROLS = (
    choice("method", "View", ("epochs", "forward and back")),
    counter("layers", "Hidden layers", 1, 1, 8),
    counter("units", "Units in each", 5, 1, 8),
    choice("activation", "Activation", ("relu", "tanh", "logistic"), "tanh"),
    choice("start", "Start", STARTS),
    choice("rule", "Rule", ("plain", "Adam"), "Adam", method="epochs"),
    slider("rate", "Rate η", 0.05, 0.001, 10.0, 0.001, log=True),
    counter("epochs", "Epochs", 200, 5, 400, 5, method="epochs"),
    counter("row", "Row that is followed", 1, 1, 400),
)
PRESETS = read_presets(
    """
Moons | Five units bend the boundary around two half circles.
Forward and back | One row in slow motion: sums and values forward, δ back, then every weight moves
    against its gradient.
Three ReLU layers | He's start keeps the gradients of all layers alike.
! Break it: dead ReLU | The biases start at −5, so every weighted sum is negative and every ReLU is
    0 for every row. Its slope is 0 too: no gradient reaches the weights, and only the bias of the
    output still learns.
! Break it: zero init | With equal weights all units of a layer compute the same and get the same
    gradient. From zeros not even that: the weights between the layers multiply the gradients by 0,
    and the network answers the same everywhere.
! Break it: deep sigmoid | The slope of a logistic unit is at most 1/4. Through eight layers the
    gradient shrinks by a factor each time, until the first layers get next to none: nothing is
    learned below.
! Break it: slow motion from zeros | All weights are 0: nothing that is sent forward differs, and
    what comes back is multiplied by 0. Only the bias of the output learns.
""",
    given(few_moons),
    given(xor, method="forward and back", units=3, rate=0.5),
    given(few_moons, layers=3, activation="relu", start="He", rate=0.02),
    given(few_moons, activation="relu", start="biases −5", rule="plain", rate=0.5),
    given(few_moons, start="zeros", rule="plain", rate=0.5),
    given(few_moons, layers=8, activation="logistic", rule="plain", rate=0.5),
    given(xor, method="forward and back", units=3, rate=0.5, start="zeros"),
)
PAGE = make_page("networks", "classes", run, SUMMARY, CONTROLS, PRESETS)

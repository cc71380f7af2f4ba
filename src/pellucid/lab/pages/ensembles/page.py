"""Committees: bagging, random forests, AdaBoost, gradient boosting, member by member.

What breaks them: labels that are wrong, and members too simple for the shape.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import number, rows_code, told
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.ensembles import parts
from pellucid.lab.pages.ensembles.boosting import adaptive, gradual
from pellucid.lab.pages.samples import flipped, moons, xor
from pellucid.lab.trace import Trace

ERROR = "share of training rows that are wrong"
ERROR_CODE = "objective = float((model.predict(X) != y).mean())  # share of wrong training rows\n"
EXPONENTIAL = "mean exponential loss exp(−y F)"
EXPONENTIAL_CODE = 'objective = float(model.history_["objective"][-1])  # mean exponential loss\n'
LOG_LOSS_CODE = (
    "p = model.predict_proba(X)[np.arange(len(y)), y]\n"
    "objective = float(-np.log(p).mean())  # mean log loss\n"
)
METHODS = {  # who tells it, its objective, the Python of that
    "bagging": (parts.parallel, ERROR, ERROR_CODE),
    "random forest": (parts.parallel, ERROR, ERROR_CODE),
    "AdaBoost": (adaptive, EXPONENTIAL, EXPONENTIAL_CODE),
    "gradient boosting": (gradual, "mean log loss", LOG_LOSS_CODE),
}
BOOSTED = ("AdaBoost", "gradient boosting")


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """Fit the committee once and tell its members in turn."""
    assert data is not None
    where = parts.make_plane(data)
    model, made = parts.make_model(params, seed)
    parts.fitted(model, where)
    tell, objective, code = METHODS[params["method"]]
    frames = tell(where, model)
    shown, title = told(data, "classes", [parts.still(where)]), f"A committee by {params['method']}"
    words = (title, objective, verdict(frames, params), rows_code(data) + made + code)
    card = model.card().to_dict()
    return Trace(type(model).__name__, params, shown, card, tuple(frames), *words)


def verdict(frames: list[Any], params: dict[str, Any]) -> str:
    """A sentence for the end."""
    last = frames[-1].numbers
    words = (
        f"{len(frames) - 1} members: {number(last['training error'])} of the training rows and "
        f"{number(last['held-out error'])} of the held-out rows are wrong."
    )
    if params["method"] in ("bagging", "random forest"):
        error = number(last["out-of-bag error"])
        words += f" The out-of-bag error, {error}, needed no held-out row."
    held = [frame.held_out for frame in frames]
    best = int(np.argmin(held))
    if params["method"] in BOOSTED and held[-1] > 1.05 * held[best]:
        words += (
            f" The held-out loss was least after {best} members, {number(held[best])}, and has "
            f"risen to {number(held[-1])} since."
        )
    if len(frames) - 1 < params["rounds"]:
        words += " The rounds ended early: the next member was no better than chance, or perfect."
    return words


def noisy(rng: Rng) -> LabData:
    """Two moons with a fifth of the training labels wrong."""
    return flipped(moons(rng, 110, 0.18), 0.2, rng)


SUMMARY = """
Many simple trees vote. Drawn rows make them differ (bagging, forests), or weights and residuals
send each to what the others got wrong (boosting).
"""
CONTROLS = (
    choice("method", "Committee", METHODS, "random forest"),
    counter("rounds", "Members", 25, 1, 60),
    counter("depth", "Depth of a tree", 4, 1, 8),
    slider("rate", "Learning rate ν", 1.0, 0.05, 1.0, 0.05, method=BOOSTED),
)
PRESETS = read_presets(
    """
Random forest | Each tree draws its rows and, at every node, one of the columns; the mean of rough
    members is smooth.
Bagging | The same without drawing columns: members are more alike.
AdaBoost | Stumps, each for the rows that those before it got wrong.
Gradient boosting | Each tree fits what is left, y − p, and a share ν of it is added.
! Label noise | A fifth of the training labels are wrong. AdaBoost gives these rows more and more
    weight until its members chase them: the held-out loss rises while the training loss falls.
! Stumps only | Opposite corners have one class. A stump asks about one column alone, and no sum of
    such questions says 'this and that': more rounds do not help, depth 2 does.
! Stumps in a bag | Opposite corners have one class. Averaging takes away what differs between
    members; that no stump can say 'this and that' they have in common.
! Three members | Three deep trees on rows with wrong labels: the mean of so few is as rough as they
    are.
Deeper members | Opposite corners again; a member may ask three questions.
Depth two | Opposite corners again; a tree may ask about one column after the other.
Stop early | The wrong labels again, and only three rounds.
Forty members | The rows of the three members, and forty of them.
""",
    given(moons),
    given(moons, method="bagging", depth=8),
    given(moons, method="AdaBoost", depth=1, rounds=30),
    given(moons, method="gradient boosting", depth=2, rate=0.3, rounds=30),
    given(noisy, method="AdaBoost", depth=2, rounds=40),
    given(xor, method="gradient boosting", depth=1, rate=0.3, rounds=30),
    given(xor, method="bagging", depth=1, rounds=20),
    given(noisy, depth=8, rounds=3),
    given(xor, method="bagging", depth=3, rounds=20),
    given(xor, method="gradient boosting", depth=2, rate=0.3, rounds=30),
    given(noisy, method="AdaBoost", depth=2, rounds=3),
    given(noisy, depth=8, rounds=40),
)
PAGE = make_page("ensembles", "classes", run, SUMMARY, CONTROLS, PRESETS)

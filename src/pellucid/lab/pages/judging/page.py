"""Evaluation: a threshold on scores, the fold wheel, t-tests where nothing differs, bounds."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import told
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.judging import bound, calibration, chance, fold_wheel, threshold, tuning
from pellucid.lab.pages.judging.parts import LEARNERS, Judged, Rows, split
from pellucid.lab.scene import plane, points
from pellucid.lab.trace import Trace

METHODS: dict[str, tuple[Callable[[Rows, dict[str, Any], int], Judged], str]] = {
    "threshold": (threshold.steps, "Data space: where P(class 1 | x) reaches t"),
    "folds": (fold_wheel.steps, "Data space: the fold held out"),
    "t-tests": (chance.steps, "Data space: the labels are coin flips"),
    "bound": (bound.steps, "Data space: the rows held out"),
    "tune on the test rows": (tuning.steps, "Data space: the chosen rule"),
    "random lines": (tuning.steps, "Data space: the chosen line"),
    "calibration": (calibration.steps, "Data space: P(class 1 | x)"),
}
CARD_OF_LINES = {
    "representation": "lines drawn at random in the plane",
    "evaluation": "error on the rows that choose",
    "optimisation": "the best of all candidates is kept",
}


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The steps of the method that is set."""
    assert data is not None
    steps, title = METHODS[params["method"]]
    rows = split(data)
    found = steps(rows, params, seed)
    card = found.model.card().to_dict() if hasattr(found.model, "card") else CARD_OF_LINES
    faint = data.held_out if params["method"] in ("threshold", "bound", "calibration") else None
    marks = [points(*rows.X.T, group=rows.y, data=True, size=0.7, faint=faint)]
    x, y, alt = *data.names, "The rows of two classes, and what is judged in this step."
    panel = plane("data", marks, title=title, x=x, y=y, box=rows.box, alt=alt)
    shown_data = {**told(data, "classes", [panel, *found.panels]), "curves": list(found.curves)}
    frames, head = found.frames, "Evaluation: thresholds, folds, tests, bounds"
    objective, verdict, code = found.objective, found.verdict, found.code
    return Trace(params["method"], params, shown_data, card, frames, head, objective, verdict, code)


def clouds(n: int, distance: float, share: float = 0.5, every: int = 2) -> Any:
    """Two clouds, two decimals; one row in ``every`` is to fit on, the others are held out."""

    def make(rng: Rng) -> LabData:
        y = rng.permutation((np.arange(n) < share * n).astype(int))
        X = np.round(rng.standard_normal((n, 2)) + distance * (y[:, None] - 0.5), 2)
        held_out = np.zeros(n, bool)
        for label in (0, 1):
            rows = np.flatnonzero(y == label)
            held_out[rows[np.arange(len(rows)) % every != 1]] = True
        return LabData(X, y, held_out, ("x1", "x2"))

    return make


def echoes(n: int) -> Any:
    """Two columns that nearly repeat each other; two of three rows are held out."""

    def make(rng: Rng) -> LabData:
        y = rng.permutation(np.arange(n) % 2)
        one = rng.standard_normal(n) + 1.3 * (y - 0.5)
        X = np.round(np.column_stack([one, one + 0.25 * rng.standard_normal(n)]), 2)
        return LabData(X, y, np.arange(n) % 3 != 0, ("x1", "x2"))

    return make


SUMMARY = """
How good is a rule, how sure is that number, and how is one fooled? The rows held out must not have
chosen anything.
"""
CONTROLS = (
    choice("method", "Method", METHODS),
    slider("cost", "Cost of a missed class 1", 2.0, 0.5, 20.0, 0.5, method="threshold"),
    counter("folds", "Folds", 6, 2, 12, method="folds"),
    choice("learner", "Learner", LEARNERS, method=("folds", "bound")),
    counter("models", "Candidates compared", 1, 1, 1000, log=True, method="bound"),
    counter("candidates", "Lines drawn", 1000, 2, 1000, log=True, method="random lines"),
    choice("forecaster", "Learner", calibration.LEARNERS, method="calibration"),
    choice("curve", "Curve", calibration.CURVES, method="calibration"),
)
PRESETS = read_presets(
    """
Move the threshold | From strict to lenient: every step down finds more of class 1 and raises more
    false alarms.
Fold wheel | Every row is held out once; the folds differ, and their spread says how sure the mean
    is.
t-tests under H0 | The labels are coin flips, so no learner is better. The paired t-test on splits
    that share rows still finds differences.
Bound against n | What can be promised of the true error shrinks with the root of the number of
    rows.
! Tune on test | The classes are the same, so every rule errs with one half. k, the columns and the
    weights are chosen on the test rows, and the same rows report the error: the number is too good,
    as fresh rows show.
! 1000 candidates | The classes are the same, nothing can be learned. The best of 1000 random lines
    still looks clever on the rows that chose it.
A real difference | The classes are apart. The rule chosen on the test rows is good, and still its
    error there is the least of many: fresh rows say what it is.
! A miss costs 20 | A missed class 1 costs twenty false alarms: the cheapest threshold calls nearly
    everything class 1.
! Two folds of few rows | Twelve rows to learn from in each of two folds: two numbers, far apart,
    are no statement about the error.
! Fewer rows, same level | Half of the rows: the splits share even more of them, and the t-test
    still claims the level 0.05.
! A thousand candidates | The best of a thousand rules: the bound must hold for all of them at once
    and is wider for it.
Naive Bayes counts twice | Two columns say nearly the same thing. Naive Bayes takes it for two
    pieces of evidence and is too sure; a sigmoid brings it back.
A free curve | The same, with a curve that may have any shape as long as it never falls.
Honest from the start | Logistic regression sees that the columns repeat each other: there is little
    to calibrate.
! A free curve from few rows | Twenty rows to fit: the free curve takes their accidents for the
    truth and says 0 and 1.
Twelve folds of few rows | The same 24 rows in twelve folds: 22 to learn from each time.
""",
    given(clouds(60, 1.6, 0.4), method="threshold"),
    given(clouds(60, 1.6), method="folds"),
    given(clouds(50, 1.2), method="t-tests"),
    given(clouds(60, 2.0), method="bound"),
    given(clouds(48, 0.0, every=3), method="tune on the test rows"),
    given(clouds(60, 0.0), method="random lines", candidates=1000),
    given(clouds(48, 2.0, every=3), method="tune on the test rows"),
    given(clouds(60, 1.6, 0.4), method="threshold", cost=20.0),
    given(clouds(24, 1.6), method="folds", folds=2),
    given(clouds(26, 1.2), method="t-tests"),
    given(clouds(60, 2.0), method="bound", models=1000),
    given(echoes(390), method="calibration"),
    given(echoes(390), method="calibration", curve="isotonic"),
    given(echoes(390), method="calibration", forecaster="logistic regression"),
    given(echoes(60), method="calibration", curve="isotonic"),
    given(clouds(24, 1.6), method="folds", folds=12),
)
PAGE = make_page("judging", "classes", run, SUMMARY, CONTROLS, PRESETS)

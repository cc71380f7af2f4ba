"""Logistic regression, the perceptron, LDA and QDA: boundary, sigmoid, likelihood, updates."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import told
from pellucid.lab.page import LabData, given, hold_out, make_page, read_presets
from pellucid.lab.pages.linear_classifiers import gaussian, logistic, perceptron
from pellucid.lab.pages.linear_classifiers.parts import data_panel, split
from pellucid.lab.pages.samples import moons
from pellucid.lab.trace import Trace

METHODS = {  # the steps, and what the data panel shows
    "logistic regression": (logistic.steps, "Data space: P(class 1 | x)"),
    "perceptron": (perceptron.steps, "Data space: the row that is wrong moves the line"),
    "LDA": (gaussian.steps, "Data space: Gaussian classes, one covariance"),
    "QDA": (gaussian.steps, "Data space: Gaussian classes, own covariances"),
}


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The steps of the method that is set."""
    assert data is not None
    method = params["method"]
    make, title = METHODS[method]
    rows = split(data, None if method in ("LDA", "QDA") else 2)
    found = make(rows, params)
    shown = told(data, "classes", [data_panel(data, rows.box, title), *found.panels])
    words = (params["method"], found.objective, found.verdict, found.code)
    card = found.model.card().to_dict()
    return Trace(type(found.model).__name__, params, shown, card, found.frames, *words)


def clouds(centres: Any, covariances: Any, n: int) -> Any:
    """Gaussian clouds, rows in mixed order, two decimals."""

    def make(rng: Rng) -> LabData:
        pairs = zip(centres, covariances, strict=True)
        X = np.vstack([rng.multivariate_normal(c, S, n) for c, S in pairs])
        y = np.repeat(np.arange(len(centres)), n)
        order = rng.permutation(len(y))
        return LabData(np.round(X[order], 2), y[order], hold_out(len(y), 0), ("x1", "x2"))

    return make


def xor(rng: Rng) -> LabData:
    """Two classes in opposite corners, as many rows in each."""
    corner = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])[np.arange(56) % 4]
    X = np.round(corner * rng.uniform(0.12, 1.1, (56, 2)), 2)
    held_out = np.arange(56) % 14 >= 10
    return LabData(X, (X[:, 0] * X[:, 1] > 0).astype(int), held_out, ("x1", "x2"))


OVERLAP = clouds(((-1.0, -0.6), (1.0, 0.7)), ([[1.0, 0.3], [0.3, 0.8]],) * 2, 28)
LONG = clouds(((-0.6, 0.3), (0.6, -0.3)), ([[1.2, 1.0], [1.0, 1.2]],) * 2, 28)
APART = clouds(((-1.6, -1.2), (1.6, 1.2)), ([[0.5, 0.1], [0.1, 0.5]],) * 2, 28)
ASIDE = clouds(((1.2, 2.6), (3.0, 1.4)), ([[0.16, 0.05], [0.05, 0.2]],) * 2, 28)
RINGS = clouds(((0.0, 0.0), (0.2, 0.1)), ([[0.15, 0.0], [0.0, 0.15]], [[3.0, 0.0], [0.0, 3.0]]), 28)


LOGISTIC: dict[str, Any] = {"method": "logistic regression"}


def crescents(rng: Rng) -> LabData:
    """Half moons that hold each other."""
    return moons(rng, 70, 0.12)


SUMMARY = """
Four ways to a boundary: climb the likelihood, correct one mistake at a time, or describe every
class by a Gaussian.
"""
CONTROLS = (
    choice("method", "Method", METHODS),
    choice("solver", "Solver", ("Newton", "gradient descent"), **LOGISTIC),
    slider("rate", "Rate η", 0.5, 0.01, 5.0, log=True, solver="gradient descent", **LOGISTIC),
    counter("steps", "Steps", 12, 1, 60, **LOGISTIC),
    slider("penalty", "Penalty 1/C", 0.0, 0.0, 10.0, 0.1, **LOGISTIC),
    counter("epochs", "Epochs at most", 8, 1, 30, method="perceptron"),
)
PRESETS = read_presets(
    """
Logistic regression | Newton's steps climb the likelihood; the probabilities are the sigmoid of the
    score.
Perceptron | A row on the wrong side pulls the weights towards it; the others do nothing.
LDA | From round classes to one shared covariance: the boundary turns to follow the shape of the
    clouds.
QDA | Each class may have its own covariance, and the boundary becomes a curve.
! Separable data | A line separates the classes. Steeper is then always likelier: the weights grow
    without end and the probabilities become 0 and 1.
! XOR, perceptron | Opposite corners belong together, and no line separates them: every correction
    undoes another.
! XOR, logistic regression | The best line is no line: the weights stay near 0 and every probability
    near one half.
! Unequal covariances | One class sits inside the other. LDA gives both the same covariance, so its
    line cannot bend round the inner class.
! Two moons | Half moons that hold each other. A covariance knows length and direction, not bending:
    no pair of ellipses parts them.
A penalty on the weights | The separable rows again; long weights have a price.
""",
    given(OVERLAP),
    given(ASIDE, method="perceptron", epochs=20),
    given(LONG, method="LDA"),
    given(RINGS, method="QDA"),
    given(APART, method="logistic regression", steps=15),
    given(xor, method="perceptron", epochs=2),
    given(xor, **LOGISTIC),
    given(RINGS, method="LDA"),
    given(crescents, method="QDA"),
    given(APART, method="logistic regression", steps=15, penalty=1.0),
)
PAGE = make_page("linear_classifiers", "classes", run, SUMMARY, CONTROLS, PRESETS)

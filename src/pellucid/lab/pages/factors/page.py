"""Factor analysis: what six tests have in common, and the noise that each has of its own.

What breaks it: more factors than the tests can tell apart.
"""

import warnings
from typing import Any

import numpy as np

from pellucid import FactorAnalysis
from pellucid.core.arrays.typing import Array
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import literal, number, quietly
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.factors import parts
from pellucid.lab.pages.factors.parts import COLUMNS, Tests
from pellucid.lab.trace import Trace
from pellucid.plots.panels.replay import Recorder

MOST, SHOWN, TOL = 500, 16, 1e-5
ABILITIES = np.array([[1.0, 1.2, 0.9, 0.4, 0.2, 0.3], [0.2, 0.4, 0.3, 1.1, 0.8, 1.0]])
LITTLE = 0.05  # of a test's variance: with less of its own it has a factor to itself
CODE = """import numpy as np

from pellucid import FactorAnalysis

X = {X}
{fit}objective = float(model.score(X))
"""


def tests(params: dict[str, Any], seed: int) -> tuple[Array, Array, Array]:
    """Marks, the abilities behind them, and the loadings that made them."""
    rng = np.random.default_rng([seed, 30])
    W = ABILITIES if params["abilities"] == 2 else 0.7 * ABILITIES.sum(axis=0, keepdims=True)
    noise = np.array([0.4, 0.5, 0.7, 0.5, 0.8, 0.4])
    noise[COLUMNS - 1] = params["loud"]
    z = rng.normal(size=(params["rows"], len(W)))
    X = z @ W + noise * rng.normal(size=(len(z), COLUMNS))
    return X.round(2) + 0.0, z, W


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """One frame before the first round, then rounds; not all are shown."""
    X, z, W = tests(params, seed)
    rotation = None if params["rotation"] == "none" else params["rotation"]
    model = FactorAnalysis(params["factors"], tol=TOL, max_iter=MOST, rotation=rotation)
    recorder = Recorder()
    with warnings.catch_warnings(record=True, action="always") as caught:
        model.set_callbacks(recorder).fit(X)
    steps = next(iter(recorder.runs.values()))
    known = Tests.of(X, z, W, model)
    n = len(steps)  # a jump may come late: half of the frames are spaced evenly
    chosen = np.r_[np.geomspace(1, n, SHOWN), np.linspace(1, n, SHOWN)]
    places = np.unique(chosen.round().astype(int)).tolist()
    frames = [parts.begin(known)]
    frames += [parts.frame(known, steps[k - 1], k) for k in places]
    fit = f"model = FactorAnalysis({params['factors']}, tol={TOL!r}, max_iter={MOST}, "
    fit += f"rotation={rotation!r}).fit(X)\n"
    head = "import warnings\n" if caught else ""
    code = head + CODE.format(X=literal(X), fit=quietly(fit, "it creeps") if caught else fit)
    words = ("What six tests have in common", "log-likelihood per row", verdict(known), code)
    shown, card = {"kind": "none", "panels": parts.still(known)}, model.card().to_dict()
    return Trace("FactorAnalysis", params, shown, card, tuple(frames), *words)


def verdict(known: Tests) -> str:
    """A sentence for the end."""
    own = known.own(known.model)
    least = int(own.argmin())
    if own[least] < LITTLE:
        return (
            f"Test {least + 1} is left with {own[least]:.1%} of its variance as noise of its own: "
            "a factor was spent on it alone."
        )
    if len(known.W) == 1 and known.model.components_.shape[0] == 1:
        ours, theirs = known.agreement(known.model)
        return (
            f"The factor follows the ability with r = {number(ours)}, the first principal "
            f"component with r = {number(theirs)}."
        )
    return "The loadings are known up to a turn: it changes nothing in what they say of S."


SUMMARY = "Six tests, few abilities: split each test into what it shares and what is its own."
CONTROLS = (
    choice("method", "Method", ("factors",)),
    counter("factors", "Factors that are fitted", 1, 1, 3),
    counter("abilities", "Abilities behind the tests", 1, 1, 2),
    slider("loud", "Noise of test 6", 0.4, 0.1, 6.0, 0.1),
    counter("rows", "Pupils", 150, 15, 300, 5),
    choice("rotation", "Turn the loadings", ("none", "varimax")),
)
PRESETS = read_presets(
    """
One ability | Six tests of 150 pupils. What the tests share is one ability, the rest is their own.
A loud test | The sixth test is mostly noise, and its marks spread widest of all.
Two abilities | Three tests ask for one ability, three for another. Two factors, as they come.
Turned | The same two factors, turned until each test loads on few of them.
! Too many factors | One ability, few pupils, three factors: the spare ones are spent on single
    tests.
""",
    given(),
    given(loud=5.0),
    given(abilities=2, factors=2),
    given(abilities=2, factors=2, rotation="varimax"),
    given(factors=3, rows=40),
)
PAGE = make_page("factors", "none", run, SUMMARY, CONTROLS, PRESETS)

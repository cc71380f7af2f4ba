"""Curves through rows of one column: a tube, a staircase, intervals, a process, and others.

What breaks them: a tube wider than the shape, a leaf for every row, places where no row is.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Rng
from pellucid.lab.controls import choice, counter, slider, switch
from pellucid.lab.drawing import rows_code, told
from pellucid.lab.page import LabData, given, hold_out, make_page, read_presets
from pellucid.lab.pages.curves import intervals, pooling, process, robust, stairs, tube
from pellucid.lab.scene import around, plane, points
from pellucid.lab.trace import Trace

METHODS = {
    "tube": tube.steps,
    "stairs": stairs.steps,
    "intervals": intervals.steps,
    "process": process.steps,
    "pooling": pooling.steps,
    "robust": robust.steps,
}


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The trace of the chosen method."""
    assert data is not None
    X, _ = data.train
    if len(np.unique(X)) < 3:
        raise ValueError(f"a curve needs rows at 3 different x, got {len(np.unique(X))}")
    box = around(np.column_stack([data.X[:, 0], data.y]))
    shown = METHODS[params["method"]](data, params, box)
    label = "rows (open: held out)"
    rows = points(data.X[:, 0], data.y, faint=data.held_out, data=True, label=label)
    look: dict[str, Any] = {"x": data.names[0], "y": "y", "box": box}
    panel = plane("data", [rows], title=shown.title, alt="The rows and the curve.", **look)
    card, name = shown.model.card().to_dict(), type(shown.model).__name__
    words = (shown.title, shown.objective, shown.verdict, rows_code(data) + shown.code)
    kept = told(data, "values", [panel])
    return Trace(name, params, kept, card, tuple(shown.frames), *words)


def made(truth: Any, noise: Any, n: int = 44, far: float = 6.0, *, end: bool = False) -> Any:
    """A preset's rows; ``end``: those held out are the last ones instead of some."""

    def draw(rng: Rng) -> LabData:
        x = np.round(np.sort(far * (np.arange(n) + rng.uniform(0.0, 1.0, n)) / n), 2)
        scale = noise(x) if callable(noise) else noise
        y = np.round(truth(x) + scale * rng.standard_normal(n), 2)
        held = x > 0.7 * far if end else hold_out(n, 0)
        return LabData(x[:, None], y, held, ("x",))

    return draw


def outlier(rng: Rng) -> LabData:
    """A line, and three rows far above it."""
    data = made(lambda x: 0.5 * x, 0.15)(rng)
    wrong = np.flatnonzero(~data.held_out)[[-3, -2, -1]]
    y = data.y.copy()
    y[wrong] += 6.0
    return data._replace(y=y)


def lever(rng: Rng) -> LabData:
    """A line, and one row far to the right and far below it."""
    data = made(lambda x: 0.5 * x, 0.2, 36, 4.0)(rng)
    row = np.flatnonzero(~data.held_out)[-1]
    X, y = data.X.copy(), data.y.copy()
    X[row], y[row] = 14.0, -4.0
    return data._replace(X=X, y=y)


def wave(x: Array) -> Any:
    return np.sin(1.1 * x)


def blocks(x: Array) -> Any:
    return np.select([x < 1.6, x < 3.4], [0.0, 2.0], 0.8)


def growth(x: Array) -> Any:
    return 2.5 * (1.0 - np.exp(-0.8 * x))


def climb(x: Array) -> Any:
    return np.select([x < 2.0, x < 4.2], [0.0, 1.2], 2.4)


def high_start(rng: Rng) -> LabData:
    """Growth whose first three rows are wrong."""
    data = made(growth, 0.3)(rng)
    wrong = np.flatnonzero(~data.held_out)[:3]
    y = data.y.copy()
    y[wrong] += 4.0
    return data._replace(y=y)


def fan(x: Array) -> Any:
    """A noise that grows."""
    return 0.05 + 0.1 * x


NEAR = "5 nearest neighbours"
TUBE: dict[str, Any] = {"method": "tube", "kernel": "Gaussian"}
HUBER: dict[str, Any] = {"method": "robust", "rule": "Huber"}
PAIRS: dict[str, Any] = {"method": "robust", "rule": "random pairs"}
SUMMARY = "Curves that are no polynomials: a tube of free errors, a staircase of means."
CONTROLS = (
    choice("method", "Method", METHODS),
    choice("kernel", "Kernel", ("Gaussian", "linear"), method="tube"),
    slider("epsilon", "Half-width ε of the tube", 0.3, 0.0, 2.0, 0.05, method="tube"),
    slider("C", "Price C of a slack", 5.0, 0.01, 1000.0, log=True, method="tube"),
    slider("sigma", "Width σ of the Gaussian", 1.0, 0.05, 5.0, log=True, **TUBE),
    counter("leaves", "Leaves at most", 8, 2, 40, method="stairs"),
    counter("least", "Rows in a leaf at least", 1, 1, 10, method="stairs"),
    slider("confidence", "Coverage promised", 0.9, 0.5, 0.99, 0.01, method="intervals"),
    choice("learner", "Curve", intervals.LEARNERS, method="intervals"),
    choice("width", "Widths", intervals.WIDTHS, method="intervals"),
    slider("ell", "Width ℓ of the kernel", 1.0, 0.05, 20.0, log=True, method="process"),
    slider("sigma_y", "Noise σ of a row", 0.25, 0.001, 2.0, log=True, method="process"),
    switch("learn", "Learn the width", method="process"),
    choice("way", "The curve is", pooling.WAYS, method="pooling"),
    choice("rule", "Wild rows", robust.RULES, method="robust"),
    slider("eps", "Residuals that are free to count in full, ε", 1.35, 1.0, 5.0, 0.05, **HUBER),
    counter("pairs", "Pairs of rows that are drawn", 12, 1, 60, **PAIRS),
)
PRESETS = read_presets(
    """
A tube round a wave | Errors inside the tube are free. Only the rows on its edge or beyond it hold
    the curve.
Three wild rows | Three rows lie far above a line. Each pays for its distance, not for its square.
! A tube wider than the wave | With ε larger than the wave every row is inside: the flat curve costs
    nothing.
! No tube | With ε = 0 no error is free: every row pulls at the curve, and all are support vectors.
Blocks | A shape of three blocks, and the tree finds their edges one by one.
A wave in steps | A tree has no slopes: it climbs a wave in steps, more of them where it is steep.
! A leaf for every row | With as many leaves as rows the staircase goes through every one and learns
    the noise.
! Beyond the rows | The held-out rows go on rising. The last leaf goes on for ever, flat.
Round a line | Half of the rows fit a line, the others say how far off it is.
A wrong model | A line through a wave is wrong everywhere, and its intervals still cover.
Widths that follow the noise | The noise grows to the right; the widths are learned with it.
! Noise that grows | One width for all: far too wide on the left, too narrow on the right.
! Too few rows to promise | Seven rows kept aside cannot promise 0.95: the interval has no end.
! New rows of another kind | The new rows lie where no row was: the promise was not about them.
Row by row | Every row pins the curve where it is; between the rows the band opens again.
Nothing beyond the rows | The held-out rows lie where no row is: there the band is as wide as at
    the start.
! A kernel too narrow | A row says nothing about its neighbours: the mean falls to 0 between rows.
! Rows taken for exact | With next to no noise the curve must pass through every row.
The width is learned | The rows of the narrow kernel. The evidence chooses the width.
A curve that rises | Growth that slows down. The only thing asked of the curve is never to fall.
Steps of their own | Three blocks that rise: the levels find them, and nobody set their number.
! A wild row at the start | The first rows lie far too high. All that come later and lie lower are
    pooled with them.
! It falls | The rows fall, the curve may not. All of them are pooled into one level.
The rows say which way | The rows that fall. The rank correlation chooses the way.
A line and three wild rows | Three rows lie far above a line. A row far off counts less the farther
    it is.
Nothing wild | Rows round a line. Hardly any weight is below 1, and hardly anything is lost.
! One row far to the side | A wild row far out in x turns the line until its residual is no longer
    large.
! One pair only | A single pair of rows decides, whatever they are.
Pairs until one is clean | The row far to the side, and lines through pairs: most rows agree with a
    line that does not pass through it.
""",
    given(made(wave, 0.25)),
    given(outlier, kernel="linear", epsilon=0.3, C=1.0),
    given(made(wave, 0.25), epsilon=1.6),
    given(made(wave, 0.25), epsilon=0.0),
    given(made(blocks, 0.3), method="stairs", leaves=8, least=3),
    given(made(wave, 0.15, 60), method="stairs", leaves=16, least=2),
    given(made(blocks, 0.5), method="stairs", leaves=40),
    given(made(lambda x: 0.5 * x, 0.2, end=True), method="stairs", leaves=10, least=2),
    given(made(lambda x: 0.5 * x, 0.5, 300), method="intervals"),
    given(made(wave, 0.25, 300), method="intervals"),
    given(made(wave, fan, 300), method="intervals", learner=NEAR, width="as wide as the noise"),
    given(made(wave, fan, 300), method="intervals", learner=NEAR),
    given(made(lambda x: 0.5 * x, 0.5, 20), method="intervals", confidence=0.95),
    given(made(wave, 0.25, 300, end=True), method="intervals", learner=NEAR),
    given(made(wave, 0.25), method="process"),
    given(made(wave, 0.25, end=True), method="process"),
    given(made(wave, 0.25), method="process", ell=0.06),
    given(made(wave, 0.25), method="process", sigma_y=0.01),
    given(made(wave, 0.25), method="process", ell=0.06, learn=True),
    given(made(growth, 0.3), method="pooling"),
    given(made(climb, 0.3), method="pooling"),
    given(high_start, method="pooling"),
    given(made(lambda x: 2.0 - 0.4 * x, 0.3), method="pooling"),
    given(made(lambda x: 2.0 - 0.4 * x, 0.3), method="pooling", way="as the rows say"),
    given(outlier, method="robust"),
    given(made(lambda x: 0.5 * x, 0.3), method="robust"),
    given(lever, method="robust"),
    given(lever, **PAIRS, pairs=1),
    given(lever, **PAIRS, pairs=12),
)
PAGE = make_page("curves", "values", run, SUMMARY, CONTROLS, PRESETS)

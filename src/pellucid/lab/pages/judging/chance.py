"""Many t-tests where nothing differs: how often they raise a false alarm.

The labels are coin flips: there is nothing to learn, and every rule, LDA as well as the nearest
neighbour, errs with one half in truth.
Each experiment tests their difference on random splits that share training rows.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.discriminant import LinearDiscriminantAnalysis
from pellucid.evaluation import adjust_p_values, corrected_t_test, paired_t_test
from pellucid.lab.drawing import heard, hushed, literals, number
from pellucid.lab.pages.judging.parts import ALL, Judged, Rows, error
from pellucid.lab.scene import bars, line, plane, points, rule, text
from pellucid.lab.trace import Frame
from pellucid.neighbors import KNeighborsClassifier

EXPERIMENTS = 30
SPLITS = 10
LEVEL = 0.05


def steps(rows: Rows, params: dict[str, Any], seed: int) -> Judged:
    """One frame per experiment."""
    n = len(rows.y)
    size = max(int(0.3 * n), 2)
    found, warned = heard(lambda: [experiment(rows, i, size) for i in range(EXPERIMENTS)])
    naive = np.array([paired_t_test(a, b).p_value for _, a, b in found])
    ratio = size / (n - size)
    fair = np.array([corrected_t_test(a, b, test_ratio=ratio).p_value for _, a, b in found])
    frames = tuple(frame_of(rows, found, naive, fair, ratio, i) for i in range(EXPERIMENTS))
    marks, wide = [rule(y=LEVEL, colour="warn", label="0.05")], (0, EXPERIMENTS + 1, -0.03, 1.03)
    title = "p-values, nothing being different"
    said = "One p-value per experiment and test; those below the line are false alarms."
    y, box = "share of false alarms", (0.3, 3.7, 0.0, 1.0)
    alt = "Share of false alarms of three procedures."
    panels = [
        plane("p", marks, x="experiment", y="p-value", box=wide, title=title, alt=said),
        plane("alarms", [], x="", y=y, box=box, title="False alarms so far", alt=alt),
    ]
    alarms, honest = int((naive < LEVEL).sum()), int((fair < LEVEL).sum())
    verdict = (
        f"Nothing differed in {EXPERIMENTS} experiments. The plain paired t-test called {alarms} "
        f"of them significant, the corrected one {honest}; 5 % would be "
        f"{number(LEVEL * EXPERIMENTS)}."
    )
    model, _ = heard(lambda: LinearDiscriminantAnalysis().fit(rows.X, rows.y))
    code = code_of(rows, size, warned)
    return Judged(frames, panels, model, "share of false alarms", verdict, code)


def flips(rng: Rng, n: int) -> Any:
    """Labels by a fair coin, again while all are equal."""
    y = rng.integers(0, 2, n)
    while np.ptp(y) == 0:
        y = rng.integers(0, 2, n)
    return y


def experiment(rows: Rows, i: int, size: int) -> tuple[Any, Any, Any]:
    """Coin flips as labels, and the errors of both learners on random splits."""
    rng = np.random.default_rng([11, i])
    y = flips(rng, len(rows.y))
    first, second = LinearDiscriminantAnalysis(), KNeighborsClassifier(1)
    errors: list[list[float]] = []
    while len(errors) < SPLITS:
        order = rng.permutation(len(y))
        a, b = order[size:], order[:size]
        if len(np.unique(y[a])) < 2:
            continue
        errors.append([error(m.fit(rows.X[a], y[a]), rows.X[b], y[b]) for m in (first, second)])
    found = np.array(errors)
    return y, found[:, 0], found[:, 1]


def frame_of(rows: Rows, found: Any, naive: Any, fair: Any, ratio: float, i: int) -> Frame:
    y, a, b = found[i]
    d = a - b
    at = np.arange(1, i + 2)
    shares = [float((p[: i + 1] < LEVEL).mean()) for p in (naive, fair)]
    held = adjust_p_values(naive[: i + 1], "holm")
    shares.append(float((held < LEVEL).mean()))
    label = "paired t (ringed: alarm)"
    marks = [
        points(at, naive[: i + 1], group=1, size=0.9, ring=naive[: i + 1] < LEVEL, label=label),
        points(at, fair[: i + 1], group=0, size=0.8, label="corrected t"),
        line([i + 1, i + 1], sorted([naive[i], fair[i]]), colour="quiet", width=1.0),
    ]
    names = ("paired t", "corrected t", "paired t, Holm")
    alarms = [
        bars([1, 2, 3], shares, colour=[1, 0, 2]),
        rule(y=LEVEL, colour="warn", label="0.05"),
        text([1, 2, 3], [min(max(s, LEVEL) + 0.07, 0.94) for s in shares], list(names)),
    ]
    spread = float(d.std(ddof=1))
    bottom = f"√(1/{SPLITS}) · {number(spread)}"
    wide = f"√(1/{SPLITS} + {number(ratio)}) · {number(spread)}"
    formula = (
        f"experiment {i + 1}: mean difference {number(d.mean())};  T = {number(d.mean())} / "
        f"({bottom}), p = {number(naive[i])};  corrected T = {number(d.mean())} / ({wide}), "
        f"p = {number(fair[i])}"
    )
    numbers = {"experiment": i + 1, "mean difference": float(d.mean())}
    for name, p in (("paired", naive), ("corrected", fair)):
        numbers[f"p, {name}"] = float(p[i])
    for name, p in (("paired", naive), ("corrected", fair)):
        numbers[f"alarms, {name}"] = int((p[: i + 1] < LEVEL).sum())
    data = plane("data", [points(*rows.X.T, group=y, label="coin flips")])
    panels = [data, plane("p", marks), plane("alarms", alarms)]
    return Frame(i, shares[0], None, formula, numbers, {"panels": panels}, None)


def code_of(rows: Rows, size: int, warned: str) -> str:
    return f"""import numpy as np
from pellucid import KNeighborsClassifier, LinearDiscriminantAnalysis
from pellucid.evaluation import paired_t_test
{hushed(warned)}
{literals(rows, *ALL)}
p_values = []
for i in range({EXPERIMENTS}):
    rng = np.random.default_rng([11, i])
    flips, errors = rng.integers(0, 2, len(y)), []
    while np.ptp(flips) == 0:  # one class only
        flips = rng.integers(0, 2, len(y))
    while len(errors) < {SPLITS}:
        order = rng.permutation(len(y))
        a, b = order[{size}:], order[:{size}]
        if len(np.unique(flips[a])) < 2:
            continue
        pair = LinearDiscriminantAnalysis(), KNeighborsClassifier(1)
        fits = [model.fit(X[a], flips[a]) for model in pair]
        errors.append([np.mean(model.predict(X[b]) != flips[b]) for model in fits])
    first, second = np.transpose(errors)
    p_values.append(paired_t_test(first, second).p_value)
result = np.array(p_values)
objective = float(np.mean(result < {LEVEL}))
"""

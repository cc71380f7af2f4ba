"""Choosing on the rows that should judge: the more candidates, the better the winner looks.

Every other row held out chooses, those between are fresh (as are the training rows where nothing
is fitted). Candidates are lines drawn at random, or settings of k nearest neighbours: k, columns
and weights.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.evaluation import validation_bound
from pellucid.lab.drawing import literals, number
from pellucid.lab.pages.judging.parts import ALL, CELLS, Judged, Rows
from pellucid.lab.scene import bars, lattice, line, plane, points, regions, rule
from pellucid.lab.trace import Frame
from pellucid.neighbors import KNeighborsClassifier

DELTA = 0.05


class Tries(NamedTuple):
    """Candidates tried one after the other, and the best of the first so many."""

    counts: list[int]
    best: list[int]
    found: Any  # error of each on the rows that choose
    truth: Any  # and on fresh rows
    grid: Any  # what each says on the cells
    names: list[str]
    chooser: Any
    fresh: Any


def steps(rows: Rows, params: dict[str, Any], seed: int) -> Judged:
    """One frame per number of candidates tried."""
    chooser, fresh = rows.test[::2], rows.test[1::2]  # a table may be sorted by class
    if len(fresh) < 2:
        raise ValueError(f"choosing needs at least 4 rows held out, got {len(rows.test)}")
    _, _, cells = lattice(rows.box, CELLS)
    places = np.vstack([rows.X, cells])
    tuning = params["method"] == "tune on the test rows"
    models: Any = []
    if tuning:
        called, models, names = neighbours(rows, places)
    else:
        called, models, names = lines(rows, places, params["candidates"])
        fresh = np.r_[rows.train, fresh]  # nothing was fitted: all others are fresh
    n = len(rows.y)
    found = (called[:, chooser] != rows.y[chooser]).mean(axis=1)
    truth = (called[:, fresh] != rows.y[fresh]).mean(axis=1)
    counts = tried(len(called))
    best = [int(np.argmin(found[:m])) for m in counts]
    tries = Tries(counts, best, found, truth, called[:, n:], names, chooser, fresh)
    frames = tuple(frame_of(rows, tries, i) for i in range(len(counts)))
    m, last = counts[-1], best[-1]
    limit = validation_bound(float(found[last]), len(chooser), n_models=m, delta=DELTA)
    verdict = (
        f"The best of {m} has error {number(found[last])} on the {len(chooser)} rows that chose it "
        f"and {number(truth[last])} on {len(fresh)} fresh rows; all candidates together have "
        f"{number(truth.mean())} there. With {m} candidates the bound adds {number(limit.gap)}."
    )
    code = neighbour_code(rows) if tuning else line_code(rows, m)
    objective, curves = "error of the chosen one", ("rows that choose", "fresh rows")
    return Judged(frames, panels_of(m), models[last], objective, verdict, code, curves)


def tried(most: int) -> list[int]:
    """1, 2, 3, ... candidates, by factors when there are many."""
    if most <= 60:
        return list(range(1, most + 1))
    return sorted({int(m) for m in np.geomspace(1, most, 45).round()})


def neighbours(rows: Rows, places: Any) -> tuple[Any, list[Any], list[str]]:
    """Every setting on the training rows."""
    X, y = rows.X[rows.train], rows.y[rows.train]
    called, models, names = [], [], []
    for k in range(1, min(len(y), 16), 2):
        for columns, words in (([0, 1], "both columns"), ([0], "x1 only"), ([1], "x2 only")):
            for weights in ("uniform", "distance"):
                model = KNeighborsClassifier(k, weights=weights).fit(X[:, columns], y)
                called.append(model.predict(places[:, columns]))
                models.append(model)
                names.append(f"k = {k}, {words}, {weights}")
    return np.array(called), models, names


def lines(rows: Rows, places: Any, count: int) -> tuple[Any, Any, list[str]]:
    """Lines drawn at random through the cloud: nothing is learned."""
    mean, width = rows.X.mean(axis=0), rows.X.std(axis=0) + 1e-12
    A = np.random.default_rng(2).standard_normal((count, 3))
    score = A[:, :1] + A[:, 1:] @ ((places - mean) / width).T
    return (score > 0).astype(int), A, [f"line {i + 1}" for i in range(count)]


def frame_of(rows: Rows, tries: Tries, i: int) -> Frame:
    counts, best, found, truth, grid, names, chooser, fresh = tries
    m, w = counts[i], best[i]
    curve = [
        line(counts[: i + 1], found[best[: i + 1]], colour=0, label="rows that choose"),
        line(counts[: i + 1], truth[best[: i + 1]], colour=1, label="fresh rows"),
        points([m, m], [found[w], truth[w]], group=[0, 1], size=1.1),
    ]
    size = len(chooser)
    tally = np.bincount((found[:m] * size).round().astype(int), minlength=size + 1)
    colours = ["warn" if j == round(found[w] * size) else "accent" for j in range(size + 1)]
    data = [
        regions(grid[w].reshape(CELLS, CELLS), rows.box, label="chosen rule"),
        points(*rows.X[chooser].T, group=rows.y[chooser], size=1.3, label="rows that choose"),
    ]
    tallied = [
        bars(np.arange(size + 1) / size, tally / m, colour=colours, width=0.8 / size),
        rule(x=float(found[w]), colour="warn", label="best"),
    ]
    panels = [plane("data", data), plane("errors", curve), plane("tally", tallied)]
    gap = validation_bound(float(found[w]), size, n_models=m, delta=DELTA).gap
    formula = (
        f"best of {m}: {names[w]}, {round(found[w] * size)} of {size} wrong = {number(found[w])};  "
        f"fresh rows: {round(truth[w] * len(fresh))} of {len(fresh)} = {number(truth[w])};  bound "
        f"√(ln({m}/{DELTA})/(2 · {size})) = {number(gap)}"
    )
    numbers = {"candidates": m, "chosen": names[w], "error that chose it": float(found[w])}
    numbers |= {"error on fresh rows": float(truth[w]), "gap allowed by the bound": gap}
    return Frame(i, float(found[w]), None, formula, numbers, {"panels": panels}, float(truth[w]))


def panels_of(most: int) -> list[Any]:
    guess, wide = [rule(y=0.5, label="guessing")], (0.9, 1.1 * most, -0.02, 0.85)
    look: dict[str, Any] = {
        "title": "Error of the chosen one",
        "x": "candidates tried",
        "y": "error",
    }
    falls = "The error that chose it falls with the candidates, the fresh error does not."
    x, y, box = "error on the rows that choose", "share of candidates", (-0.05, 1.05, 0.0, 0.5)
    alt = "How many candidates have which error."
    return [
        plane("errors", guess, log_x=most > 60, box=wide, alt=falls, **look),
        plane("tally", [], x=x, y=y, box=box, title="All candidates so far", alt=alt),
    ]


def line_code(rows: Rows, count: int) -> str:
    return f"""import numpy as np

{literals(rows, *ALL)}
chooser = test[::2]
Z = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-12)
A = np.random.default_rng(2).standard_normal(({count}, 3))  # lines drawn at random
errors = np.mean((A[:, :1] + A[:, 1:] @ Z[chooser].T > 0) != y[chooser], axis=1)
result = A[np.argmin(errors)]
objective = float(errors.min())
"""


def neighbour_code(rows: Rows) -> str:
    return f"""import numpy as np
from pellucid import KNeighborsClassifier

{literals(rows, *ALL)}
chooser = test[::2]
models, errors = [], []
for k in range(1, {min(len(rows.train), 16)}, 2):
    for columns in ([0, 1], [0], [1]):
        for weights in ("uniform", "distance"):
            model = KNeighborsClassifier(k, weights=weights).fit(X[train][:, columns], y[train])
            models.append(model)
            errors.append(float(np.mean(model.predict(X[chooser][:, columns]) != y[chooser])))
model = models[int(np.argmin(errors))]
objective = min(errors)
"""

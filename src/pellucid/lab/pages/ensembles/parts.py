"""The rounds of a committee: what the newest member says, and what all say together."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from pellucid.core.arrays.typing import ArrayLike
from pellucid.lab.drawing import held_rows, number, row_points
from pellucid.lab.page import LabData
from pellucid.lab.scene import around, lattice, line, plane, points, regions
from pellucid.lab.trace import Frame

CELLS = 40
SIZES = (0.5, 0.8, 1.2, 1.7, 2.4)  # of rows, by their weight


class Plane(NamedTuple):
    """The rows, and the cells on which regions are drawn."""

    data: LabData
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    K: int
    box: Any
    cells: Any


def make_plane(data: LabData) -> Plane:
    held = held_rows(data)
    y = data.y[~held]
    if len(np.unique(y)) < 2:
        raise ValueError("the rows that are not held out must have 2 classes or more, got 1")
    test = held if held.any() else ~held
    box = around(data.X)
    K = int(data.y.max()) + 1
    cells = lattice(box, CELLS)[2]
    return Plane(data, data.X[~held], y, data.X[test], data.y[test], K, box, cells)


def make_model(params: dict[str, Any], seed: int) -> tuple[Any, str]:
    """The estimator and the Python that makes it."""
    method, rounds, depth = params["method"], params["rounds"], params["depth"]
    tree = f"DecisionTreeClassifier(max_depth={depth})"
    model: Any
    if method == "bagging":
        stump = DecisionTreeClassifier(max_depth=depth)
        model = BaggingClassifier(stump, rounds, random_state=seed)
        words = f"{tree}, {rounds}, random_state={seed}"
    elif method == "random forest":
        model = RandomForestClassifier(rounds, max_depth=depth, max_features=1, random_state=seed)
        words = f"{rounds}, max_depth={depth}, max_features=1, random_state={seed}"
    elif method == "AdaBoost":
        settings = {"n_estimators": rounds, "learning_rate": params["rate"]}
        model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=depth), **settings)
        words = f"{tree}, {spelled(settings)}"
    else:
        settings = {"n_estimators": rounds, "max_depth": depth, "learning_rate": params["rate"]}
        model = GradientBoostingClassifier(**settings, random_state=seed)
        words = f"{spelled(settings)}, random_state={seed}"
    name = type(model).__name__
    extra = ", DecisionTreeClassifier" if tree in words else ""
    return model, f"from pellucid import {name}{extra}\n\nmodel = {name}({words}).fit(X, y)\n"


def spelled(settings: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in settings.items())


def fitted(model: BaseEstimator, where: Plane) -> Any:
    with warnings.catch_warnings(action="ignore"):  # frames say if it ends early
        return model.fit(where.X, where.y)


def shares(model: BaseEstimator, X: ArrayLike, K: int) -> Any:
    """Class probabilities of a member, in the columns of all classes."""
    return wide(model.predict_proba(X), model.classes_, K)


def wide(p: Any, classes: np.ndarray, K: int) -> Any:
    """Probabilities in the columns of all classes; a class that was not seen has none."""
    found = np.zeros((len(p), K))
    found[:, np.asarray(classes, int)] = p
    return found


def still(where: Plane) -> Any:
    names = where.data.names
    marks, title = [row_points(where.data)], "Rows and the vote so far"
    alt = "Rows of the table by class."
    return plane("data", marks, title=title, x=names[0], y=names[1], box=where.box, alt=alt)


def vote_panel(where: Plane, codes: np.ndarray, m: int) -> Any:
    marks = [regions(np.asarray(codes, int).reshape(CELLS, CELLS), where.box, label="vote")]
    return plane("data", marks, box=where.box, alt=f"Regions of the vote of {m} members.")


def weighed_rows(where: Plane, w: np.ndarray, label: str) -> list[Any]:
    """Rows whose size shows their weight, 1 being the average; weight 0 is left out."""
    marks, level = [], np.searchsorted((0.4, 0.9, 1.6, 3.0), w)
    for k, size in enumerate(SIZES):
        here = (level == k) & (w > 0)
        if here.any():
            marks.append(points(*where.X[here].T, group=where.y[here], size=size, label=label))
    return marks


def member_panel(where: Plane, marks: list[Any], title: str, alt: str) -> Any:
    names = where.data.names
    return plane("member", marks, title=title, x=names[0], y=names[1], box=where.box, alt=alt)


def curve_panel(curves: dict[str, list[float]], last: int, title: str, top: float) -> Any:
    """Curves against the number of members."""
    colours = {"training": "accent", "out of bag": 3, "held-out": 1}
    marks = []
    for name, values in curves.items():
        marks.append(line(np.arange(len(values)), values, colour=colours[name], label=name))
    for name, values in curves.items():
        marks.append(points([len(values) - 1], values[-1:], group=colours[name]))
    box, alt = (0, last, 0, top), f"{title}: {', '.join(curves)}."
    return plane("errors", marks, title=title, x="members", y="error", box=box, alt=alt)


def wrong(codes: np.ndarray, y: np.ndarray) -> float:
    return float((np.asarray(codes, int) != y).mean()) if len(y) else 0.0


def start_frame(where: Plane, words: str, objective: float, held_out: float) -> Frame:
    share = np.bincount(where.y, minlength=where.K) / len(where.y)
    best = int(share.argmax())
    held = wrong(np.full(len(where.y_test), best), where.y_test)
    numbers = {"members": 0, "training error": 1.0 - float(share[best]), "held-out error": held}
    panel = vote_panel(where, np.full(CELLS * CELLS, best), 0)
    return Frame(0, objective, None, words, numbers, {"panels": [panel]}, held_out)


class Votes:
    """The shares of the members so far, summed on cells and rows, and the errors of their mean."""

    def __init__(self, where: Plane) -> None:
        self.where, K, n = where, where.K, len(where.y)
        self.cells, self.train, self.out = (np.zeros((m, K)) for m in (CELLS * CELLS, n, n))
        self.test = np.zeros((len(where.y_test), K))
        share = np.bincount(where.y, minlength=K) / n
        self.top, held = float(share.max()), np.full(len(where.y_test), share.argmax())
        base = 1.0 - self.top
        error = wrong(held, where.y_test)
        self.curves = {"training": [base], "out of bag": [base], "held-out": [error]}

    def add(self, member: Any, drawn: Any) -> tuple[Any, float]:
        """Its codes on the cells, and its own error on the rows that it did not draw."""
        where, K = self.where, self.where.K
        own, on_train = shares(member, where.cells, K), shares(member, where.X, K)
        self.cells += own
        self.train += on_train
        self.test += shares(member, where.X_test, K)
        left = drawn == 0
        self.out[left] += on_train[left]
        seen = self.out.sum(axis=1) > 0
        self.curves["training"].append(wrong(self.train.argmax(axis=1), where.y))
        self.curves["held-out"].append(wrong(self.test.argmax(axis=1), where.y_test))
        out = wrong(self.out[seen].argmax(axis=1), where.y[seen]) if seen.any() else 1 - self.top
        self.curves["out of bag"].append(out)
        return own.argmax(axis=1), wrong(on_train[left].argmax(axis=1), where.y[left])


def parallel(where: Plane, model: BaseEstimator) -> list[Frame]:
    """Bagging and forests: members on drawn rows; the vote is the mean of their shares."""
    votes, n = Votes(where), len(where.y)
    words = f"no member yet: the most common class, p = {number(votes.top)}"
    curves = votes.curves
    frames = [start_frame(where, words, curves["training"][0], curves["held-out"][0])]
    members, samples = model.estimators_, model.estimators_samples_
    for m, (member, sample) in enumerate(zip(members, samples, strict=True), start=1):
        drawn = np.bincount(sample, minlength=n)
        codes, alone = votes.add(member, drawn)
        train, out, test = (curves[name][-1] for name in ("training", "out of bag", "held-out"))
        rows = int((drawn > 0).sum())
        numbers = {"members": m, "rows it drew": rows, "its own out-of-bag error": alone}
        numbers |= {"out-of-bag error": out, "training error": train, "held-out error": test}
        formula = (
            f"p(c | x) = 1/{m} Σ_(j ≤ {m}) p_j(c | x); member {m} drew {rows} of {n} "
            f"rows ({number((drawn > 0).mean())}), alone it is wrong on {number(alone)} of the "
            f"others, all together out of bag on {number(out)}"
        )
        cells = regions(codes.reshape(CELLS, CELLS), where.box, label="newest member")
        marks = [cells, *weighed_rows(where, drawn.astype(float), "rows it drew")]
        alt = "Regions of the newest member; rows drawn twice are larger."
        scene = [
            vote_panel(where, votes.cells.argmax(axis=1), m),
            member_panel(where, marks, f"Member {m} and the rows it drew", alt),
            curve_panel(curves, len(members), "Share of wrong rows", 0.62),
        ]
        frames.append(Frame(m, train, None, formula, numbers, {"panels": scene}, test))
    return frames

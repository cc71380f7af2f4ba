"""What the methods of the page on judging share: rows of two classes, learners, the wheel."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import ArrayLike
from pellucid.discriminant import LinearDiscriminantAnalysis
from pellucid.lab.drawing import class_regions, held_rows, number
from pellucid.lab.page import LabData
from pellucid.lab.scene import Mark, area, around, text
from pellucid.linear import LogisticRegression
from pellucid.neighbors import KNeighborsClassifier

LEARNERS = {  # the Python that makes them
    "logistic regression": "LogisticRegression()",
    "LDA": "LinearDiscriminantAnalysis()",
    "nearest neighbour": "KNeighborsClassifier(1)",
}
CELLS = 40


class Rows(NamedTuple):
    """All rows, those to fit and those held out."""

    X: Any
    y: Any
    train: Any  # row numbers
    test: Any
    box: tuple[float, float, float, float]


ALL = Rows._fields[:4]  # of the rows, for the Python of a page


class Judged(NamedTuple):
    """What a method gives the page."""

    frames: tuple[Any, ...]
    panels: list[Any]
    model: Any
    objective: str
    verdict: str
    code: str
    curves: tuple[str, str] = ("training rows", "held-out rows")


def make(learner: str) -> Any:
    if learner == "logistic regression":
        return LogisticRegression()
    return LinearDiscriminantAnalysis() if learner == "LDA" else KNeighborsClassifier(1)


def split(data: LabData) -> Rows:
    """Two classes, both among the rows to fit and those held out."""
    X, y = np.asarray(data.X, float), np.asarray(data.y, int)
    if len(np.unique(y)) != 2:
        raise ValueError(f"this page judges two classes, the rows have {len(np.unique(y))}")
    held = held_rows(data)
    train, test = np.flatnonzero(~held), np.flatnonzero(held)
    for name, part in (("to fit", train), ("held out", test)):
        if len(np.unique(y[part])) < 2:
            raise ValueError(f"the rows {name} hold one class only: draw more rows of both")
    return Rows(X, y, train, test, around(X))


def area_of(model: BaseEstimator, rows: Rows) -> Mark:
    return class_regions(model, rows.box, CELLS)


def error(model: BaseEstimator, X: ArrayLike, y: ArrayLike) -> float:
    return float(np.mean(model.predict(X) != y))


def sector(k: int, i: int, radius: float = 1.0) -> tuple[Any, Any]:
    """The outline of piece i of k of a wheel, from the top clockwise."""
    turn = 2 * np.pi * np.linspace(i / k, (i + 1) / k, max(24 // k, 6))
    return (np.r_[0.0, radius * np.sin(turn)], np.r_[0.0, radius * np.cos(turn)])


def wheel(k: int, now: int | None, scores: list[float]) -> list[Mark]:
    """Folds as pieces of a wheel: the one held out now, and the errors found so far."""
    marks: list[Mark] = []
    for i in range(k):
        x, y = sector(k, i)
        strong = i == now
        look: dict[str, Any] = {"colour": "accent", "opacity": 0.16, "label": "folds"}
        look = {"colour": "warn", "opacity": 0.75, "label": "this fold"} if strong else look
        marks.append(area(x, y, **look))
        middle = 2 * np.pi * (i + 0.5) / k
        words = number(scores[i], 2) if i < len(scores) else str(i + 1)
        marks.append(text(0.68 * np.sin(middle), 0.68 * np.cos(middle), words))
    return marks

"""What the linear classifiers of the lab share: the rows, the sigmoid panel, the line."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from pellucid.core.arrays.typing import ArrayLike
from pellucid.lab.page import LabData
from pellucid.lab.scene import Mark, around, line, plane, points, rule


class Rows(NamedTuple):
    """Training rows and those held out."""

    X: Any  # (n, 2)
    y: Any  # (n,) codes
    X_test: Any
    y_test: Any
    box: tuple[float, float, float, float]
    names: tuple[str, ...]


class Steps(NamedTuple):
    """What a method gives the page: its frames, panels of its own, and its words."""

    frames: tuple[Any, ...]
    panels: list[Any]
    model: Any
    objective: str
    verdict: str
    code: str


def split(data: LabData, most: int | None) -> Rows:
    """The rows, where every class has training rows and there are not too many classes."""
    X, y = data.train
    y = np.asarray(y, int)
    classes, seen = np.unique(np.asarray(data.y, int)), np.unique(y)
    if len(seen) < len(classes):
        missing = sorted(set(classes.tolist()) - set(seen.tolist()))[0]
        raise ValueError(f"class {missing} has no training row: draw more rows of it")
    if most is not None and len(classes) > most:
        raise ValueError(
            f"this method is shown for {most} classes, the rows have {len(classes)}; LDA and QDA "
            "take more"
        )
    X_test, y_test = data.test
    shown_X, shown_X_test = np.asarray(X, float), np.asarray(X_test, float)
    return Rows(shown_X, y, shown_X_test, np.asarray(y_test, int), around(data.X), data.names)


def boundary(b: float, w: np.ndarray, box: Any) -> list[Mark]:
    """The line b + w.x = 0, long enough to cross the box; none without a direction."""
    length = float(np.hypot(w[0], w[1]))
    if length < 1e-12:
        return []
    centre = np.array([(box[0] + box[1]) / 2, (box[2] + box[3]) / 2])
    foot = centre - (b + w @ centre) / length**2 * w
    along = np.array([-w[1], w[0]]) / length * 3 * max(box[1] - box[0], box[3] - box[2])
    ends = np.array([foot - along, foot + along])
    return [line(ends[:, 0], ends[:, 1], colour=None, label="boundary")]


def sigmoid_panel(title: str = "Probability by score") -> Any:
    z = np.linspace(-8.0, 8.0, 81)
    marks = [
        line(z, expit(z), colour=None, width=1.5, label="1 / (1 + exp(−score))"),
        rule(x=0.0),
        rule(y=0.5),
    ]
    x, box = "score: log-odds of class 1", (-8.3, 8.3, -0.12, 1.12)
    alt = "The rows on the sigmoid curve, class 1 at the top and class 0 below."
    return plane("sigmoid", marks, title=title, x=x, y="P(class 1 | x)", box=box, alt=alt)


def sigmoid_rows(score: Any, y: ArrayLike) -> Any:
    """The training rows at their score: on the curve, and at 0 or 1 by class."""
    z = np.clip(score, -8.2, 8.2)
    spot = np.where(y == 1, 1.06, -0.06)
    wrong = (score > 0) != (y == 1)
    marks = [points(z, expit(z), group=y, size=0.5), points(z, spot, group=y, size=0.8, ring=wrong)]
    return plane("sigmoid", marks)


def data_panel(data: LabData, box: Sequence[float], title: str) -> Any:
    group, label = np.asarray(data.y, int), "rows (open: held out)"
    marks = [points(*data.X.T, group=group, faint=data.held_out, data=True, label=label)]
    alt = "Rows of the classes, and the regions that the rule gives them."
    return plane("data", marks, title=title, x=data.names[0], y=data.names[1], box=box, alt=alt)

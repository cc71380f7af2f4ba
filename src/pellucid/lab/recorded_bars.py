"""The second panel of a recorded fit: coefficients, or what there is one number of per column."""

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import Array
from pellucid.lab.scene import Panel, bars, plane, text

MOST_BARS, MOST_SETS = 40, 8


class Bars(NamedTuple):
    """One number per column or state, for one or several outputs."""

    title: str
    x: str
    values: Array  # (sets, p)


TITLES = (
    ("coef_", "Coefficients", "column"),
    ("feature_importances_", "Importance of the columns", "column"),
    ("weights_", "Weights", "component"),
    ("values_", "Values of the states", "state"),
    ("estimator_weights_", "Weights of the members", "member"),
)


def bars_of(model: BaseEstimator) -> Bars | None:
    """The first thing the model has that can be shown as bars."""
    for name, title, x in TITLES:
        found = getattr(model, name, None)
        if isinstance(found, np.ndarray) and found.size > 1 and found.dtype.kind == "f":
            values = np.atleast_2d(found)
            if values.ndim == 2 and np.isfinite(values).all():
                return Bars(title, x, values[:MOST_SETS, :MOST_BARS])
    return None


def bar_panel(found: Bars, names: tuple[str, ...], span: tuple[float, float]) -> Panel:
    """Bars in a box that all frames share."""
    sets, p = found.values.shape
    width = 0.8 / sets
    at = np.arange(p) - 0.4 + width / 2
    marks = []
    for k, values in enumerate(found.values):
        marks.append(bars(at + k * width, values, colour=k if sets > 1 else "accent", width=width))
    low, high = span
    air = 0.12 * (high - low or 1.0)
    if found.x == "column" and p <= 10 and len(names) >= p:
        marks.append(text(np.arange(p), np.full(p, low - air), list(names[:p]), colour="quiet"))
    box, alt = (-0.7, p - 0.3, low - 1.6 * air, high + air), f"{found.title}, {p} bars"
    return plane("bars", marks, title=found.title, x=found.x, box=box, alt=alt)

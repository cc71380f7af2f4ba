"""Which rows a forest holds for alike: proximities as a heat map and as a map in the plane.

Proximity = share of the trees in which two rows fall in the same leaf. The map is their principal
component analysis: P is centred, P = V diag(l) V', and a row stands at (sqrt(l_1) v_1, sqrt(l_2)
v_2).
"""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Model
from pellucid.plots.panels.inputs import response, same_kind, table
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.planes import draw_points, labels_of
from pellucid.plots.panels.style import Picture, heading, legend, panels

MOST_ROWS = 800  # the heat map has their square


class ProximityMap(Picture):
    """Rows in the order of their class (or target)."""

    proximity: Array  # (n, n)
    at: Array  # (n, 2)
    share: float  # of the centred proximities that the map shows
    rows: IntArray  # (n,) row numbers of X
    values: Array  # (n,) codes of the classes, or targets
    classes: tuple[str, ...]  # () for a regression
    target: str
    within: float  # mean proximity of rows of one class; NaN for a regression
    between: float

    def plot(self) -> Any:
        """Heat map and map; the figure."""
        left, right = panels(2, columns=2, size=(5.0, 4.4))
        image = left.imshow(self.proximity, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
        label = "share of trees that put both in one leaf"
        left.figure.colorbar(image, ax=left, label=label, shrink=0.85)
        left.grid(False)
        left.locator_params(integer=True)
        left.set(xlabel=f"rows, sorted by {self.target}", ylabel="")
        if self.classes:
            edges = np.flatnonzero(np.diff(self.values)) + 0.5
            for edge in edges:
                left.axhline(edge, color="black", lw=0.7)
                left.axvline(edge, color="black", lw=0.7)
            note = f"inside a class {self.within:.2f}, between classes {self.between:.2f}"
            draw_points(right, self.at, self.values.astype(np.intp), self.classes)
            legend(right)
        else:
            note = ""
            shown = right.scatter(*self.at.T, c=self.values, cmap="viridis", s=18)
            right.figure.colorbar(shown, ax=right, label=self.target, shrink=0.85)
        heading(left, "Proximity of the rows", note)
        right.set(xlabel="first axis", ylabel="second axis")
        heading(right, f"Its principal axes: {self.share:.0%} of the whole")
        return left.figure


def proximity_map(E: Model, X: ArrayLike, y: ArrayLike, *, oob: bool = False) -> ProximityMap:
    """Proximities of a forest, as a heat map and as a map of the rows.

    ``E``: fitted RandomForestClassifier or RandomForestRegressor; ``X``, ``y``: rows (at most 800
    are drawn) and what to colour them by; ``oob``: count only the trees that have seen neither row;
    X must be the training rows.

    Examples
    --------
    >>> from pellucid import RandomForestClassifier
    >>> from pellucid.plots import proximity_map
    >>> X, y = [[i] for i in range(20)], [0] * 10 + [1] * 10
    >>> picture = proximity_map(RandomForestClassifier(20, random_state=0).fit(X, y), X, y)
    >>> picture.within > picture.between, picture.at.shape
    (True, (20, 2))
    """
    check_is_fitted(E)
    if not hasattr(E, "proximity"):
        raise ValueError(f"proximity_map needs a forest, got {type(E).__name__}")
    matrix, _ = table(X)
    n = len(matrix)
    kept = thinned(n, MOST_ROWS)
    if is_classifier(E):
        labels = labels_of(y, n, E.classes_)
        values, classes, target = labels.codes.astype(np.float64), labels.classes, labels.name
    else:
        (values, target), classes = response(y, n), ()
    kept = kept[np.argsort(values[kept], kind="stable")]
    if oob:
        P = np.nan_to_num(E.proximity(X, oob=True))[np.ix_(kept, kept)]
    else:
        P = E.proximity(same_kind(X, matrix[kept]))
    values = values[kept]
    C = P - P.mean(axis=0) - P.mean(axis=1)[:, None] + P.mean()
    size, V = np.linalg.eigh(C)
    size, V = np.maximum(size[::-1], 0.0), V[:, ::-1]
    V = V * np.where(V[np.abs(V).argmax(axis=0), np.arange(len(V))] < 0, -1.0, 1.0)
    at = np.zeros((len(kept), 2))
    m = min(2, len(kept))
    at[:, :m] = V[:, :m] * np.sqrt(size[:m])
    same = values[:, None] == values
    apart = ~np.eye(len(kept), dtype=bool)
    within = float(P[same & apart].mean()) if classes and (same & apart).any() else np.nan
    between = float(P[~same].mean()) if classes and (~same).any() else np.nan
    share = float(size[:2].sum() / max(size.sum(), 1e-300))
    said = f"; mean {within:.2f} inside a class, {between:.2f} between" if classes else ""
    alt = (
        f"Proximities of {len(kept)} rows in {type(E).__name__} as a heat map sorted by {target}, "
        f"and their first two principal axes ({share:.0%}){said}."
    )
    return ProximityMap(alt, P, at, share, kept, values, classes, target, within, between)

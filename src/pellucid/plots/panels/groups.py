"""Groups of rows in a picture: their labels, centres and colours, also of many groups."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Model
from pellucid.plots.panels.inputs import last_step
from pellucid.plots.panels.planes import View
from pellucid.plots.panels.style import GREY, colour, marker

NOISE = -1  # rows that belong to no group
MOST_NAMED = 10  # groups in a legend


class Plane(NamedTuple):
    """The affine map from rows to the places of a view."""

    matrix: Array  # (p, d)
    offset: Array  # (d,)

    def of(self, rows: Array) -> Array:
        return np.asarray(rows @ self.matrix + self.offset, dtype=np.float64)


def plane_of(view: View, M: Array) -> Plane:
    """The map that put the rows M where the view has them.

    >>> from pellucid.plots.panels.planes import view_of
    >>> M = np.arange(12.0).reshape(4, 3) ** 2
    >>> view = view_of(M, ("a", "b", "c"))
    >>> bool(np.allclose(plane_of(view, M).of(M), view.at))
    True
    """
    d = view.at.shape[1]
    B = (view.rows(np.eye(d)) - view.rows(np.zeros((1, d)))).T
    return Plane(B, (view.at - M @ B).mean(axis=0))


def group_labels(E: Model, X: ArrayLike, n: int) -> IntArray:
    """The group of every row: of the fit where X are its rows, else predicted."""
    model = last_step(E)
    labels = getattr(model, "labels_", None)
    if hasattr(E, "predict"):
        labels = E.predict(X)
    elif labels is None or len(labels) != n:
        raise ValueError(f"{type(model).__name__} cannot label new rows: give those of its fit")
    return np.asarray(labels, dtype=np.intp)


def group_centers(E: Model) -> Array | None:
    """Centres, medoids or means in the units of X; None where there are none."""
    model = last_step(E)
    for name in ("cluster_centers_", "medoids_", "means_"):
        found = getattr(model, name, None)
        if found is not None and not isinstance(found, list):
            return original_units(E, np.asarray(found, dtype=np.float64))
    return None


def original_units(E: Model, centers: Array) -> Array | None:
    """Centres of the last step of a pipeline before its first steps; None if they cannot go back.

    >>> original_units(None, np.ones((1, 1)))
    array([[1.]])
    """
    if not isinstance(E, Pipeline) or len(E) == 1:
        return centers
    before = E[:-1]
    goes_back = all(hasattr(step, "inverse_transform") for _, step in before.steps)
    return np.asarray(before.inverse_transform(centers)) if goes_back else None


def style_of(k: int) -> dict[str, Any]:
    """Colour and shape of group k; pairs differ for 64 groups."""
    return {"color": colour(k), "marker": marker(k + k // 8)}


def draw_groups(
    ax: Any, at: Array, labels: IntArray, names: dict[int, str] | None = None, sizes: bool = True
) -> None:
    """Points by group, in no group grey crosses; of one column, with the group as height."""
    if at.shape[1] == 1:
        at = np.column_stack([at[:, 0], labels])
    found = np.unique(labels).tolist()
    few = len(found) <= MOST_NAMED
    for k in found:
        rows = labels == k
        text = (names or {}).get(k, "no group" if k == NOISE else f"group {k}")
        if sizes:
            text += f" ({rows.sum()})"
        label = text if few else None
        if k == NOISE:
            cross = {"color": GREY, "marker": "x", "linewidths": 0.9}
            ax.scatter(*at[rows].T, s=18, zorder=3, label=label, **cross)
        else:
            rim = {"linewidths": 0.4, "edgecolors": "white"}
            ax.scatter(*at[rows].T, s=20, zorder=3, label=label, **rim, **style_of(k))


def draw_centers(ax: Any, at: Array, label: str = "centre") -> None:
    """Centres as large shapes with a black rim."""
    for k, place in enumerate(at):
        said = label if k == 0 else None
        ax.scatter(
            *place, s=150, edgecolors="black", linewidths=1.6, zorder=6, label=said, **style_of(k)
        )

"""Points of a table, coloured by class or by target.

More than two columns: the two named by ``columns``, or the first two principal axes, said in the
title.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike, Columns, MaybeArray
from pellucid.plots.panels.marks import thinned, tone
from pellucid.plots.panels.style import Axes, Panel, colour, legend


class Scatter(Panel):
    points: Array  # (n, 2)
    target: Any  # (n,) labels or numbers, or None
    names: tuple[str, str]

    def _draw(self, ax: Axes) -> None:
        x, y = self.points.T
        if self.target is None:
            ax.scatter(x, y, s=14, color=colour(0), alpha=0.8, linewidths=0)
        elif self.target.dtype.kind == "f":
            shown = ax.scatter(x, y, c=self.target, s=14, cmap="viridis", linewidths=0)
            ax.figure.colorbar(shown, ax=ax, label="target")
        else:
            for i, label in enumerate(np.unique(self.target)):
                rows = self.target == label
                ax.scatter(
                    x[rows], y[rows], s=16, alpha=0.8, linewidths=0, label=str(label), **tone(i)
                )
            legend(ax)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], title=self.title)


def scatter(X: ArrayLike, y: MaybeArray = None, *, columns: Columns | None = None) -> Scatter:
    """Points in the plane of two columns or of the first two principal axes.

    ``X``: the table; ``y``: colours the points; ``columns``: names or positions of two columns.

    >>> picture = scatter([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
    >>> picture.points.shape, picture.names
    ((2, 2), ('x0', 'x1'))
    """
    points, names, title = plane(X, columns)
    target = None if y is None else column_or_1d(y)
    kept = thinned(len(points))
    n = len(points)
    what = "" if target is None else ", coloured by the target"
    alt = f"{n} points in the plane of {names[0]} and {names[1]}{what}."
    return Scatter(alt, points[kept], None if target is None else target[kept], names, title=title)


def plane(X: Any, columns: Columns | None = None) -> tuple[Array, tuple[str, str], str]:
    """Two coordinates per row, their names, and a title that says what was left out."""
    given = list(map(str, X.columns)) if is_frame(X) and hasattr(X, "columns") else None
    X = check_array(frame_matrix(X) if is_frame(X) else X, dtype=np.float64)
    names = given or [f"x{j}" for j in range(X.shape[1])]
    if columns is not None:
        j, k = (names.index(c) if isinstance(c, str) else int(c) for c in columns)
        return X[:, [j, k]], (names[j], names[k]), ""
    if X.shape[1] == 1:
        return np.column_stack([X[:, 0], np.zeros(len(X))]), (names[0], ""), ""
    if X.shape[1] == 2:
        return X, (names[0], names[1]), ""
    C = X - X.mean(axis=0)
    U, d, Vt = np.linalg.svd(C, full_matrices=False)
    sign = np.sign(Vt[np.arange(2), np.abs(Vt[:2]).argmax(axis=1)])
    share = float((d[:2] ** 2).sum() / max((d**2).sum(), 1e-300))
    title = f"first two principal axes of {X.shape[1]} columns ({share:.0%} of the variance)"
    return (U[:, :2] * d[:2]) * sign, ("first axis", "second axis"), title

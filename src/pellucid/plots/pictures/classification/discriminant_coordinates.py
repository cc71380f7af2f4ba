"""Rows and class means in the coordinates in which the classes differ most."""

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Model
from pellucid.plots.panels.inputs import last_step, read_table
from pellucid.plots.panels.marks import VEIL, beside, margin, stroke, thinned, words
from pellucid.plots.panels.planes import draw_points, labels_of
from pellucid.plots.panels.style import Axes, Panel, colour, heading, legend, marker


class DiscriminantCoordinates(Panel, size=(6.8, 4.8)):
    """One or two coordinates per row; within classes their covariance is about the identity."""

    at: Array  # (n, 1) or (n, 2)
    means: Array  # (K, 1) or (K, 2)
    codes: IntArray
    classes: tuple[str, ...]
    numbers: tuple[int, ...]  # which coordinates, from 1
    shares: Array  # of the variance between the classes, of all coordinates

    def _draw(self, ax: Axes) -> None:
        if self.at.shape[1] == 1:
            self._line(ax)
        else:
            draw_points(ax, self.at, self.codes, self.classes)
            for k, mean in enumerate(self.means):
                ax.plot(*mean, marker(k), color=colour(k), ms=15, mec="black", mew=1.6, zorder=5)
                look = {"fontsize": None, "fontweight": "bold", "zorder": 6, "ha": "center"}
                beside(ax, self.classes[k], mean, (0, 12), **look, bbox=VEIL)
            ax.set_aspect("equal", adjustable="datalim")
            ax.set_ylabel(self._label(1))
        ax.set_xlabel(self._label(0))
        heading(ax, self.title, "large marks: class means")
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))

    def _label(self, i: int) -> str:
        j = self.numbers[i]
        return f"discriminant coordinate {j} ({self.shares[j - 1]:.0%} of the difference)"

    def _line(self, ax: Axes) -> None:
        edges = np.linspace(*margin(self.at[:, 0]), 31)
        for k, label in enumerate(self.classes):
            values = self.at[self.codes == k, 0]
            counts, _ = np.histogram(values, bins=edges)
            ax.stairs(counts, edges, color=colour(k), fill=True, alpha=0.35, label=label)
            look = {"lw": 2, "label": f"mean of {label}", **stroke(k)}
            ax.axvline(self.means[k, 0], **look)
        ax.set_ylabel("rows")


def discriminant_coordinates(
    E: Model, X: ArrayLike, y: ArrayLike, *, coordinates: tuple[int, int] = (1, 2)
) -> DiscriminantCoordinates:
    """The rows in the plane of two discriminant coordinates; a histogram where there is one.

    ``X``, ``y``: data to show; ``E``: fitted LinearDiscriminantAnalysis with ``transform`` (solver
    "svd" or "eigen"), or a Pipeline ending in one; ``coordinates``: two numbers from 1 on; which
    coordinates; there are at most K - 1 for K classes.

    Examples
    --------
    >>> from pellucid import LinearDiscriminantAnalysis
    >>> from pellucid.plots import discriminant_coordinates
    >>> X = [[0.0, 0], [1, 1], [4, 0], [5, 2], [2, 6], [3, 5]]
    >>> y = ["a", "a", "b", "b", "c", "c"]
    >>> picture = discriminant_coordinates(LinearDiscriminantAnalysis().fit(X, y), X, y)
    >>> picture.at.shape, picture.means.shape
    ((6, 2), (3, 2))
    """
    model = last_step(E)
    if not (hasattr(model, "scalings_") and hasattr(model, "transform")):
        raise ValueError(
            "discriminant_coordinates needs a fitted LinearDiscriminantAnalysis with transform, "
            f"got {type(model).__name__}"
        )
    table = read_table(X, E)
    labels = labels_of(y, len(table.X), model.classes_)
    Z = np.asarray(E.transform(table.given), dtype=np.float64)
    r = Z.shape[1]
    wanted = tuple(int(j) for j in coordinates)
    if r == 1:
        wanted = (1,)
    elif len(wanted) != 2 or wanted[0] == wanted[1] or not all(1 <= j <= r for j in wanted):
        raise ValueError(f"coordinates must be two numbers from 1 to {r}, got {coordinates!r}")
    chosen = [j - 1 for j in wanted]
    K = len(labels.classes)
    groups = [Z[labels.codes == k] for k in range(K)]
    means = np.stack([g.mean(axis=0) if len(g) else np.full(r, np.nan) for g in groups])
    shares = np.asarray(model.explained_variance_ratio_)
    kept = thinned(len(Z))
    said = words([f"coordinate {j} holds {shares[j - 1]:.0%}" for j in wanted])
    alt = (
        f"{len(Z)} rows of the classes {words(labels.classes)} in discriminant coordinates; of "
        f"the differences between the class means {said}."
    )
    title = f"{K} classes, {table.X.shape[1]} columns, {r} discriminant coordinate{'s' * (r > 1)}"
    drawn = (Z[kept][:, chosen], means[:, chosen], labels.codes[kept], labels.classes)
    return DiscriminantCoordinates(alt, *drawn, wanted, shares, title=title)

"""Classes that no line separates are lifted into space, where a plane does; its shadow is a curve.

The plane w.phi(x) + b = 0 is that of a linear machine fitted to the lifted rows (hard margin where
they can be separated, else C = 1).
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.kernel.functions.algebra import Kernel
from pellucid.kernel.maximum_margin.maximum_margin import MaximumMarginClassifier, NotSeparableError
from pellucid.plots.panels.inputs import read_table
from pellucid.plots.panels.marks import dots, thinned
from pellucid.plots.panels.planes import draw_points, grid_of, labels_of, light
from pellucid.plots.panels.style import Axes, Picture, heading, legend, new_figure

SIDE, MOST = 121, 600


class FeatureLift(Picture):
    """Rows before and after the lift, the plane, and its shadow."""

    at: Array  # (n, 2) or (n, 1)
    lifted: Array  # (n, 3) or (n, 2)
    codes: IntArray
    coef: Array  # (3,) or (2,) of the plane
    intercept: float
    separated: bool  # whether the plane separates all rows
    wrong: int
    lines: tuple[Array, ...]
    scores: Array  # w.phi(x) + b over the inputs: its zero is the shadow
    classes: tuple[str, ...]
    names: tuple[str, ...]
    heights: tuple[str, ...]  # names of the lifted axes

    def plot(self) -> Any:
        """The lifted rows with the plane, and the inputs with its shadow; the figure."""
        from pellucid.plots.panels.style import quiet

        figure = new_figure((9.6, 4.4))
        space = self.lifted.shape[1] == 3
        left = figure.add_subplot(1, 2, 1, projection="3d" if space else None)
        (self._space if space else self._graph)(left)
        right = quiet(figure.add_subplot(1, 2, 2))
        self._shadow(right)
        return figure

    def _points(self, ax: Axes, at: Array) -> None:
        for k, label in enumerate(self.classes):
            mine = self.codes == k
            dots(ax, *at[mine].T, k=k, size=18, lw=0.3, label=label)

    def _space(self, ax: Any) -> None:
        self._points(ax, self.lifted)
        w = self.coef
        if abs(w[2]) > 1e-9 * np.linalg.norm(w):
            low, high = self.lifted.min(axis=0), self.lifted.max(axis=0)
            a, b = np.meshgrid(np.linspace(low[0], high[0], 24), np.linspace(low[1], high[1], 24))
            c = -(w[0] * a + w[1] * b + self.intercept) / w[2]
            outside = (c < low[2] - 0.05) | (c > high[2] + 0.05)
            ax.plot_surface(a, b, np.where(outside, np.nan, c), color="#6B7280", alpha=0.35, lw=0)
        ax.set(xlabel=self.heights[0], ylabel=self.heights[1], zlabel=self.heights[2])
        ax.view_init(elev=14, azim=-62)
        found = "a plane separates them" if self.separated else f"the plane gets {self.wrong} wrong"
        heading(ax, f"Lifted: {found}", width=60)

    def _graph(self, ax: Axes) -> None:
        ax.grid(True, alpha=0.4)
        self._points(ax, self.lifted)
        x = np.linspace(self.lifted[:, 0].min(), self.lifted[:, 0].max(), 2)
        if abs(self.coef[1]) > 0:
            ax.plot(x, -(self.coef[0] * x + self.intercept) / self.coef[1], color="black", lw=1.8)
        ax.set(xlabel=self.heights[0], ylabel=self.heights[1])
        found = "a line separates them" if self.separated else f"the line gets {self.wrong} wrong"
        heading(ax, f"Lifted: {found}")

    def _shadow(self, ax: Axes) -> None:
        if len(self.lines) == 2:
            levels, tints = [-2, 0, 2], [light(0), light(1)]
            ax.contourf(*self.lines, np.sign(self.scores), levels=levels, colors=tints, zorder=0)
            if (self.scores > 0).any() and (self.scores < 0).any():
                ax.contour(*self.lines, self.scores, levels=[0], colors="black", linewidths=2)
            draw_points(ax, self.at, self.codes, self.classes)
            ax.set(xlabel=self.names[0], ylabel=self.names[1])
        else:
            x = self.lines[0]
            draw_points(ax, np.column_stack([self.at, self.codes]), self.codes, self.classes)
            for i in np.flatnonzero(np.diff(np.sign(self.scores))):
                ax.axvline((x[i] + x[i + 1]) / 2, color="black", lw=1.8)
            ax.set_yticks(range(len(self.classes)), self.classes)
            ax.set(xlabel=self.names[0], ylim=(-0.6, 1.6))
        ax.grid(False)
        legend(ax)
        heading(ax, "Its shadow in the inputs")


def _lift(map: Any, X: Array) -> Array:
    """The lifted rows: the inputs with one column more, or all columns of the map."""
    found = np.asarray(map.feature_map(X) if isinstance(map, Kernel) else map(X), dtype=np.float64)
    found = found[:, None] if found.ndim == 1 else found
    if len(found) != len(X):
        raise ValueError(f"map must return one row for each of {len(X)}, got {len(found)}")
    if found.shape[1] == 1:
        return np.hstack([X, found])
    return found


def feature_lift(X: ArrayLike, y: ArrayLike, map: Any) -> FeatureLift:
    """Rows lifted by a map, the plane that parts them there, and its shadow in the inputs.

    ``X``: table of one or two columns; ``y``: two classes; ``map``: callable or Kernel; of the
    table (n, d): one number per row (the height above the inputs), or d + 1 (at most 3) numbers; a
    Kernel lifts by its ``feature_map``, such as ``PolynomialKernel(2, coef0=0)``.

    Examples
    --------
    >>> from pellucid.plots import feature_lift
    >>> picture = feature_lift([[-2.0], [-1.0], [1.0], [2.0]], [1, 0, 0, 1], lambda X: X[:, 0] ** 2)
    >>> picture.separated, round(float(picture.intercept / picture.coef[1]), 6)
    (True, -2.5)
    """
    table = read_table(X)
    d = table.X.shape[1]
    if d > 2:
        raise ValueError(f"feature_lift shows one or two inputs, got {d}")
    labels = labels_of(y, len(table.X))
    if len(labels.classes) != 2:
        raise ValueError(f"feature_lift shows two classes, got {len(labels.classes)}")
    Z = _lift(map, table.X)
    if Z.shape[1] not in (2, 3) or (d == 2 and Z.shape[1] != 3):
        wanted = "2 or 3" if d == 1 else "3"
        raise ValueError(f"the map must lead to {wanted} numbers per row, got {Z.shape[1]}")
    try:
        machine = MaximumMarginClassifier().fit(Z, labels.codes)
    except NotSeparableError:
        machine = MaximumMarginClassifier(C=1.0).fit(Z, labels.codes)
    coef, bias = np.ravel(machine.coef_), float(np.ravel(machine.intercept_)[0])
    wrong = int((machine.predict(Z) != labels.codes).sum())
    lines, places, _ = grid_of(table.X, SIDE)
    scores = _lift(map, places) @ coef + bias
    scores = scores.reshape((len(lines[0]),) if d == 1 else (len(lines[1]), len(lines[0])))
    same = np.array_equal(Z[:, :d], table.X)
    heights = tuple(f"feature {j + 1}" for j in range(Z.shape[1]))
    heights = (*table.names, *heights[d:]) if same else heights
    kept = thinned(len(Z), MOST)
    alt = (
        f"{len(Z)} rows of {' and '.join(labels.classes)} lifted from {d} to {Z.shape[1]} numbers; "
        f"a {'plane' if Z.shape[1] == 3 else 'line'} there gets {wrong} wrong, and its shadow is "
        "drawn in the inputs."
    )
    drawn = (table.X[kept], Z[kept], labels.codes[kept])
    rule = (*drawn, coef, bias, wrong == 0, wrong, lines, scores)
    return FeatureLift(alt, *rule, labels.classes, table.names, heights)

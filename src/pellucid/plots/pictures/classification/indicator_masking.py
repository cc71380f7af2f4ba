"""Masking: why the regression of class indicators can lose a class that lies between others.

The indicator of each class is regressed on x, and the class of the largest fitted value wins. The
indicator of a middle class has no slope to offer, so straight lines leave it below the others
everywhere; K classes in a line need polynomials of degree K - 1.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.linear.least_squares.indicator import LeastSquaresClassifier, MaskingWarning
from pellucid.plots.panels.inputs import read_table
from pellucid.plots.panels.marks import margin, stroke, thinned, words
from pellucid.plots.panels.planes import labels_of
from pellucid.plots.panels.style import Picture, colour, heading, marker, panels, together


class Panel(NamedTuple):
    """The fitted indicators with polynomials of one degree."""

    degree: int
    curves: Array  # (K, g)
    masked: tuple[str, ...]  # classes that no row is given
    error: float


class IndicatorMasking(Picture):
    panels: tuple[Panel, ...]
    grid: Array  # (g,)
    at: Array  # (n,)
    codes: IntArray
    classes: tuple[str, ...]
    label: str

    def plot(self) -> Any:
        """One panel per degree; the figure."""
        grid = panels(len(self.panels), size=(4.8, 3.8))
        for ax, found in zip(grid, self.panels, strict=True):
            for k, label in enumerate(self.classes):
                label_ = f"indicator of {label}"
                ax.plot(self.grid, found.curves[k], lw=2, label=label_, **stroke(k))
                rows = self.codes == k
                y = np.full(rows.sum(), -0.42 + 0.06 * k)
                ax.plot(self.at[rows], y, marker(k), ms=3, color=colour(k), mew=0, alpha=0.6)
            lost = f"masked: {words(found.masked)}" if found.masked else "no class is masked"
            ax.set(xlabel=self.label, ylabel="fitted indicator", ylim=(-0.5, 1.4))
            name = ("", "straight lines", "squares too", f"powers up to {found.degree}")
            how = name[min(found.degree, 3)]
            heading(ax, f"{how}: {lost}, {found.error:.1%} wrong", width=52)
        return together(grid, self.note, key=True)


def centroid_axis(X: Array, codes: IntArray, n_classes: int) -> Array:
    """The direction in which the class means spread most, of length 1."""
    means = np.stack([X[codes == k].mean(axis=0) for k in range(n_classes)])
    _, _, Vt = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)
    return Vt[0] * (1.0 if Vt[0][np.abs(Vt[0]).argmax()] > 0 else -1.0)


def indicator_masking(X: ArrayLike, y: ArrayLike, *, degrees: Any = None) -> IndicatorMasking:
    """Fitted class indicators along one line; the class that is never predicted is named.

    ``X``, ``y``: data; several columns are projected on the line along which the class means spread
    most. ``degrees``: whole numbers from 1 on; degrees of the polynomials, a panel each; default 1
    and K - 1.

    Examples
    --------
    >>> from pellucid.plots import indicator_masking
    >>> x = [[float(i)] for i in range(12)]
    >>> picture = indicator_masking(x, ["a"] * 4 + ["b"] * 4 + ["c"] * 4)
    >>> [(p.degree, p.masked) for p in picture.panels]
    [(1, ('b',)), (2, ())]
    """
    table = read_table(X)
    labels = labels_of(y, len(table.X))
    K, p = len(labels.classes), table.X.shape[1]
    if K < 2:
        raise ValueError(f"indicator_masking needs two or more classes, got {K}")
    wanted = sorted({1, K - 1}) if degrees is None else [int(d) for d in np.atleast_1d(degrees)]
    for d in wanted:
        check.whole(degrees=d)
    x, label, note = table.X[:, 0], table.names[0], ""
    if p > 1:
        x = table.X @ centroid_axis(table.X, labels.codes, K)
        label = "along the line of the class means"
        note = f"{p} columns, projected on the direction in which the class means spread most"
    middle, scale = x.mean(), x.std() or 1.0
    grid = np.linspace(*margin(x), 301)
    found = []
    for d in wanted:
        power = np.arange(1, d + 1)
        Z, G = (((v - middle) / scale)[:, None] ** power for v in (x, grid))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MaskingWarning)  # the picture says it
            model = LeastSquaresClassifier().fit(Z, labels.codes)
        masked = tuple(labels.classes[k] for k in model.masked_classes_)
        error = float((model.predict(Z) != labels.codes).mean())
        found.append(Panel(d, model.fitted_values(G).T, masked, error))
    said = "; ".join(f"degree {f.degree} masks {words(f.masked) or 'none'}" for f in found)
    where = label if p > 1 else f"along {label}"
    alt = f"Fitted indicators of the classes {words(labels.classes)} {where}: {said}."
    kept = thinned(len(x))
    drawn = (tuple(found), grid, x[kept], labels.codes[kept], labels.classes, label)
    return IndicatorMasking(alt, *drawn, note=note)

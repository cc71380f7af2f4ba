"""Two classes projected on the line through their means and on the discriminant direction.

    a1 = m1 - m0          the means are as far apart as they can be
    a2 = S^-1 (m1 - m0)   the means are as far apart as they can be for the spread within classes

Under the normal model the projected classes are N(a.m_k, a'Sa); the area in which their densities
(times the priors) overlap is the error of the best cut on that line, at

    c = a.(m0 + m1)/2 - a'Sa / (a.(m1 - m0)) log(p1/p0),

the midpoint where the priors are equal.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.plots.panels.drawing import framed_legend
from pellucid.plots.panels.inputs import last_step, read_table
from pellucid.plots.panels.marks import margin, stroke, thinned
from pellucid.plots.panels.planes import draw_points, labels_of
from pellucid.plots.panels.style import Axes, Picture, colour, heading, legend, panels


class Projection(NamedTuple):
    """Rows on one direction of length 1, and the two normal densities there."""

    name: str
    direction: Array  # (p,) of length 1
    values: Array  # (n,)
    means: Array  # (2,)
    sd: float
    priors: Array  # (2,)
    cut_equal: float
    cut_fitted: float
    error: float  # overlap area at the fitted priors


class DiscriminantProjection(Picture):
    centroid: Projection
    discriminant: Projection
    at: Array  # (n, 2) places in the plane of both directions
    means: Array  # (2, 2)
    arrows: Array  # (2, 2) both directions in that plane
    codes: IntArray
    classes: tuple[str, str]
    names: tuple[str, str]

    def plot(self) -> Any:
        """The plane and both projections; the figure."""
        first, *others = panels(3, size=(4.4, 4.0))
        self._plane(first)
        for ax, view in zip(others, (self.centroid, self.discriminant), strict=True):
            self._line(ax, view)
        return first.figure

    def _plane(self, ax: Axes) -> None:
        draw_points(ax, self.at, self.codes, self.classes)
        middle, size = self.means.mean(axis=0), np.ptp(self.at, axis=0).max()
        labels = ("line through the means", "discriminant direction")
        for i, (arrow, style) in enumerate(zip(self.arrows, ("--", "-"), strict=True)):
            ends = middle + np.outer([-0.5, 0.5], arrow) * size
            ax.plot(*ends.T, color=colour(2 + i), ls=style, lw=2, label=labels[i])
        ax.plot(*self.means.T, "P", color="black", ms=12, mec="white", label="means", zorder=5)
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        heading(ax, f"{self.classes[0]} and {self.classes[1]}", self.note, width=48)
        framed_legend(ax)

    def _line(self, ax: Axes, view: Projection) -> None:
        reach = np.append(view.values, [view.means.min(), view.means.max()])
        x = np.linspace(*margin(reach, 0.1), 401)
        z = (x - view.means[:, None]) / view.sd
        joint = view.priors[:, None] * np.exp(-0.5 * z**2) / (view.sd * np.sqrt(2 * np.pi))
        edges = np.linspace(x[0], x[-1], 31)
        for k in range(2):
            counts, _ = np.histogram(view.values[self.codes == k], bins=edges)
            share = view.priors[k] * counts / (max(counts.sum(), 1) * np.diff(edges))
            ax.stairs(share, edges, color=colour(k), fill=True, alpha=0.2)
            ax.plot(x, joint[k], lw=1.8, label=self.classes[k], **stroke(k))
        look: Any = {"facecolor": "none", "edgecolor": "#6B7280", "hatch": "////", "lw": 0}
        ax.fill_between(x, 0, joint.min(axis=0), label="overlap", **look)
        cuts = ((view.cut_fitted, "-", "fitted"), (view.cut_equal, ":", "equal"))
        for cut, style, word in cuts:
            out = "" if x[0] <= cut <= x[-1] else " (beyond the rows)"
            ax.axvline(cut, color="black", lw=1.4, ls=style, label=f"cut, {word} priors{out}")
        ax.set(xlabel=f"along the {view.name}", ylabel="p(class) · density", xlim=(x[0], x[-1]))
        ax.set_ylim(0, 1.35 * ax.get_ylim()[1])  # room for the legend
        heading(ax, f"{view.name}: overlap {view.error:.1%}", width=48)
        legend(ax, loc="best")


def project(name: str, a: Array, X: Array, means: Array, S: Array, priors: Array) -> Projection:
    """Rows and normal densities on the direction a, and the best cuts."""
    a = a / np.linalg.norm(a)
    m, sd = means @ a, float(np.sqrt(a @ S @ a))
    gap = float(m[1] - m[0])
    equal = float(m.mean())
    cut = equal - sd**2 / gap * float(np.log(priors[1] / priors[0]))
    error = float(priors[0] * ndtr((m[0] - cut) / sd) + priors[1] * ndtr((cut - m[1]) / sd))
    return Projection(name, a, X @ a, m, sd, priors, equal, cut, error)


def two_classes(E: Any, classes: np.ndarray) -> list[int]:
    """Positions of the two classes to compare."""
    if classes is None:
        return [0, 1]
    known, chosen = np.asarray(E.classes_).tolist(), list(classes)
    if len(chosen) != 2 or chosen[0] == chosen[1] or any(c not in known for c in chosen):
        raise ValueError(f"classes must name two of {known}, got {classes!r}")
    return [known.index(c) for c in chosen]


def discriminant_projection(
    E: Any, X: ArrayLike, y: ArrayLike, *, classes: Any = None, scaled: bool | None = None
) -> DiscriminantProjection:
    """The line through two means against the discriminant direction, with both projections.

    ``E``: fitted LinearDiscriminantAnalysis; ``X``, ``y``: data to show. ``classes``: two labels;
    which of several classes to compare; default: the first two. ``scaled``: divide every column by
    its standard deviation within the classes first: the line through the means depends on the
    units. Default: where those differ by more than a factor of 3.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearDiscriminantAnalysis
    >>> from pellucid.plots import discriminant_projection
    >>> X = np.array([[0.0, 0], [2, 2], [1, 0], [1, 2], [3, 1], [5, 3], [4, 1], [4, 3]])
    >>> y = [0] * 4 + [1] * 4
    >>> picture = discriminant_projection(LinearDiscriminantAnalysis().fit(X, y), X, y)
    >>> bool(picture.discriminant.error < picture.centroid.error)
    True
    """
    known = hasattr(E, "means_") and np.ndim(getattr(E, "covariance_", 0)) == 2
    if last_step(E) is not E or not known:
        raise ValueError(
            "discriminant_projection needs a fitted LinearDiscriminantAnalysis with covariance_ "
            f"(any solver of ours, or store_covariance=True), got {type(E).__name__}"
        )
    table = read_table(X, E)
    if table.X.shape[1] < 2:
        raise ValueError("discriminant_projection needs two or more columns: one has one direction")
    labels = labels_of(y, len(table.X), E.classes_)
    pair = two_classes(E, classes)
    rows = np.isin(labels.codes, pair)
    codes = (labels.codes[rows] == pair[1]).astype(np.intp)
    X_, means, S = table.X[rows], np.asarray(E.means_)[pair], np.asarray(E.covariance_)
    priors = np.asarray(E.priors_)[pair] / np.asarray(E.priors_)[pair].sum()
    sd = np.sqrt(np.diag(S))
    scaled = bool(sd.max() > 3 * sd.min() > 0) if scaled is None else scaled
    if scaled:
        if not sd.min() > 0:
            raise ValueError("a column has no spread within the classes: scaled=False")
        X_, means, S = X_ / sd, means / sd, S / np.outer(sd, sd)
    between = means[1] - means[0]
    if not np.linalg.norm(between) > 0:
        raise ValueError("the two classes have the same mean: there is no line through the means")
    a2 = np.linalg.lstsq(S, between, rcond=None)[0]
    line = project("line through the means", between, X_, means, S, priors)
    best = project("discriminant direction", a2, X_, means, S, priors)
    basis, names, note = plane_of(line.direction, best.direction, table.names)
    if scaled:
        note = "; ".join(filter(None, (note, "columns in units of their spread within classes")))
    kept = thinned(len(X_))
    said = (labels.classes[pair[0]], labels.classes[pair[1]])
    alt = (
        f"{said[0]} and {said[1]} projected on the line through their means (overlap "
        f"{line.error:.1%}) and on the discriminant direction (overlap {best.error:.1%}); cuts at "
        f"{line.cut_fitted:.4g} and {best.cut_fitted:.4g} for the fitted priors."
    )
    line, best = (side._replace(values=side.values[kept]) for side in (line, best))
    arrows = np.stack([line.direction, best.direction]) @ basis.T
    drawn = (line, best, X_[kept] @ basis.T, means @ basis.T, arrows, codes[kept])
    return DiscriminantProjection(alt, *drawn, said, names, note=note)


def plane_of(a: Array, b: Array, names: tuple[str, ...]) -> tuple[Array, tuple[str, str], str]:
    """Two orthonormal rows that span both directions; the columns themselves where there are 2."""
    if len(names) == 2:
        return np.eye(2), (names[0], names[1]), ""
    rest = b - (a @ b) * a
    if np.linalg.norm(rest) <= 1e-9:  # the directions agree: any other will do
        e = np.eye(len(a))[int(np.abs(a).argmin())]
        rest = e - (a @ e) * a
    basis = np.stack([a, rest / np.linalg.norm(rest)])
    note = f"the plane of both directions in {len(names)} columns"
    return basis, ("along the line through the means", "at right angles to it"), note

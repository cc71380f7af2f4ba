"""Class densities of every column, and their overlap.

p(k) p(x_j | k) is drawn for each class; where the curves overlap, a rule that sees only this column
must err. Its error is the area of everything under the highest curve,

    error_j = integral of sum_k p(k) p(x_j | k) - max_k p(k) p(x_j | k).

Naive Bayes has these densities; the normal models have their margins.
"""

from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.matrices import column_names
from pellucid.core.arrays.typing import Array, ArrayLike, Columns, IntArray, Model
from pellucid.inference.decisions.class_densities import ask_log_density
from pellucid.linear.least_squares.summary import column_positions
from pellucid.naive_bayes.bernoulli import BernoulliNB
from pellucid.naive_bayes.categorical import CategoricalNB
from pellucid.naive_bayes.gaussian import GaussianNB
from pellucid.naive_bayes.mixed import MixedNB
from pellucid.plots.panels.marks import key_below, margin, stroke, thinned, words
from pellucid.plots.panels.planes import labels_of
from pellucid.plots.panels.style import Axes, Picture, colour, heading, panels

MOST = 6  # columns drawn; of more, those with the least overlap
GRID = 2001
COUNTED = ("categorical", "bernoulli", "poisson")


class Column(NamedTuple):
    """One column: p(k) p(x | k) at its values."""

    name: str
    values: Any  # (g,) numbers, or the levels
    joint: Array  # (K, g)
    plain: Array | None  # (K, g) without smoothing
    cells: Any  # (n,) what the data hold
    levels: bool  # whether the values are counted one by one
    error: float  # of a rule that sees this column only


class ClassDensities(Picture):
    """The columns drawn, and the classes of the rows."""

    columns: tuple[Column, ...]
    codes: IntArray  # (n,)
    classes: tuple[str, ...]

    def plot(self) -> Any:
        """One panel per column; the figure."""
        n = len(self.columns)
        grid = panels(n, columns=2 if n in (2, 4) else 3, size=(4.2, 3.2))
        for ax, column in zip(grid, self.columns, strict=True):
            (self._bars if column.levels else self._curves)(ax, column)
            ax.set(xlabel=column.name, ylabel="p(class) · p(x | class)", ylim=(0, None))
            heading(ax, f"{column.name} alone: {column.error:.1%} wrong", width=44)
        figure = grid[0].figure
        figure.suptitle("\n".join(filter(None, (self.title, self.note))), fontsize="medium")
        keys, texts = grid[0].get_legend_handles_labels()
        key_below(figure, keys, texts, len(keys))
        return figure

    def _curves(self, ax: Axes, column: Column) -> None:
        x, total = column.values, column.joint.sum(axis=0)
        cells = np.asarray(column.cells, dtype=np.float64)
        live = np.isfinite(cells)
        edges = np.linspace(cells[live].min(), cells[live].max(), 17)
        edges = edges if edges[-1] > edges[0] else edges[0] + np.linspace(-0.5, 0.5, 3)
        for k, label in enumerate(self.classes):
            counts, _ = np.histogram(cells[live & (self.codes == k)], bins=edges)
            bars = counts / (live.sum() * np.diff(edges))
            ax.stairs(bars, edges, color=colour(k), fill=True, alpha=0.15)
            ax.plot(x, column.joint[k], lw=1.8, label=label, **stroke(k))
            if column.plain is not None:
                ax.plot(x, column.plain[k], color=colour(k), ls=":", lw=1)
        overlap = total - column.joint.max(axis=0)
        said = "overlap = error"
        look: Any = {"facecolor": "none", "edgecolor": "#6B7280", "hatch": "////", "lw": 0}
        ax.fill_between(x, 0, overlap, label=said, **look)
        ax.set_xlim(x[0], x[-1])

    def _bars(self, ax: Axes, column: Column) -> None:
        K, at = len(self.classes), np.arange(len(column.values))
        width = 0.8 / K
        for k, label in enumerate(self.classes):
            place = at + (k - (K - 1) / 2) * width
            ax.bar(place, column.joint[k], width, color=colour(k), label=label, alpha=0.85)
            if column.plain is not None:
                height = column.plain[k]
                said = "without smoothing" if k == K - 1 else None
                ax.bar(place, height, width, fill=False, edgecolor="black", lw=1.1, label=said)
        names = [str(v) for v in column.values]
        long = sum(map(len, names)) > 30
        ax.set_xticks(at, names, rotation=40 if long else 0, ha="right" if long else "center")
        ax.grid(False, axis="x")


def column_cells(X: ArrayLike) -> tuple[list[Any], tuple[str, ...]]:
    """The columns of a table with their own types, and their names."""
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        return [frame[name].to_numpy() for name in frame.columns], tuple(map(str, frame.columns))
    cells = np.asarray(X)
    if cells.ndim != 2:
        raise ValueError(f"X must be a table with rows and columns, got shape {cells.shape}")
    return list(cells.T), column_names(X, cells.shape[1])


def with_values(X: ArrayLike, j: int, values: Any) -> Any:
    """The first row repeated, with the values in column j."""
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        first = {name: [frame[name][0]] * len(values) for name in frame.columns}
        first[frame.columns[j]] = list(values)
        return nw.to_native(nw.from_dict(first, native_namespace=nw.get_native_namespace(frame)))
    cells = np.asarray(X)
    rows = np.tile(cells[:1], (len(values), 1))
    rows = rows.astype(np.float64) if np.asarray(values).dtype.kind == "f" else rows
    rows[:, j] = values
    return rows


def is_counted(E: Model, j: int) -> bool:
    """Whether the model counts the values of column j."""
    if isinstance(E, MixedNB):
        return E.distributions_[j] in COUNTED
    return isinstance(E, CategoricalNB | BernoulliNB)


def levels_of(cells: Any) -> Any:
    """The different values that are there, in order."""
    known = [v for v in np.asarray(cells, dtype=object) if v is not None and v == v]
    return np.array(sorted(set(known), key=lambda v: (str(type(v)), v)), dtype=object)


def normal_margin(E: Model, j: int, x: Array) -> Array:
    """Log density (K, g) of column j under each class of a normal model."""
    K = len(E.classes_)
    if hasattr(E, "covariance_"):
        found = E.covariance_
        S = [found] * K if np.ndim(found) == 2 else list(found)
        variance = np.array([C[j, j] if np.ndim(C) == 2 else C[j] for C in S])
    else:
        parts = zip(E.rotations_, E.scalings_, strict=True)
        variance = np.array([(np.asarray(R)[j] ** 2) @ s for R, s in parts])
    gap = x - E.means_[:, j][:, None]
    return -0.5 * (gap**2 / variance[:, None] + np.log(2 * np.pi * variance)[:, None])


def log_densities(E: Model, X: np.ndarray, j: int, values: np.ndarray) -> Array:
    """log p(x_j | k) at the values, (K, g)."""
    if hasattr(E, "means_"):
        return normal_margin(E, j, values)
    if hasattr(E, "densities_") and not hasattr(E, "explain"):
        rows = values[:, None]
        found = [
            d.score_samples(rows) if hasattr(d, "score_samples") else ask_log_density(d, rows)
            for d in E.densities_
        ]
        return np.stack([np.asarray(v) for v in found]).reshape(len(found), -1)
    return np.asarray(E.explain(with_values(X, j, values)))[:, :, j].T


def supported(E: Model, p: int) -> None:
    """Refuse a model without a density for each column."""
    normal = hasattr(E, "means_") and (hasattr(E, "covariance_") or hasattr(E, "rotations_"))
    naive = isinstance(E, GaussianNB | BernoulliNB | CategoricalNB | MixedNB)
    if normal or naive or (hasattr(E, "densities_") and p == 1):
        return
    raise ValueError(
        f"{type(E).__name__} has no density of each column; class_densities draws GaussianNB, "
        "BernoulliNB, CategoricalNB, MixedNB, discriminant analysis, and classifiers by densities "
        "of one column"
    )


def without_smoothing(E: Model, X: ArrayLike, y: ArrayLike) -> Any:
    """The same model refitted with the shares and variances as counted."""
    off = {"alpha": 1e-10, "force_alpha": True, "var_smoothing": 0.0}
    known = {name: v for name, v in off.items() if name in E.get_params()}
    if not known:
        raise ValueError(f"{type(E).__name__} does not smooth: leave smoothing=False")
    return clone(E).set_params(**known).fit(X, y)


def class_densities(
    E: Model, X: Any, y: Any, *, columns: Columns | None = None, smoothing: bool = False
) -> ClassDensities:
    """The densities of the classes column by column, and the error of each column alone.

    ``X``, ``y``: data to show, usually those of the fit. ``E``: fitted naive Bayes or discriminant
    model, or (one column) BayesClassifier,. GenerativeClassifier. ``columns``: names or positions
    of up to six columns; default: all, or the six with the least overlap. ``smoothing``: show also
    the probabilities without smoothing (refitted on X, y): black outlines, dots.

    Examples
    --------
    >>> from pellucid import GaussianNB
    >>> from pellucid.plots import class_densities
    >>> X, y = [[0.0], [2.0], [3.0], [5.0]], ["a", "a", "b", "b"]
    >>> picture = class_densities(GaussianNB().fit(X, y), X, y)
    >>> round(picture.columns[0].error, 4)  # two normals 3 standard deviations apart
    0.0668
    """
    check_is_fitted(E)
    cells, names = column_cells(X)
    supported(E, len(names))
    labels = labels_of(y, len(cells[0]), E.classes_)
    priors = np.asarray(E.class_prior_ if hasattr(E, "class_prior_") else E.priors_)
    plain = without_smoothing(E, X, y) if smoothing else None
    wanted = range(len(names)) if columns is None else column_positions(columns, names)
    if columns is not None and len(wanted) > MOST:
        raise ValueError(f"columns must name at most {MOST} columns, got {len(wanted)}")
    found = [_column(E, plain, X, j, names[j], cells[j], priors) for j in wanted]
    best = np.sort(np.argsort([c.error for c in found], kind="stable")[:MOST])
    note = f"the {MOST} of {len(found)} columns with the least overlap" if len(found) > MOST else ""
    kept = thinned(len(labels.codes))
    shown = tuple(found[i]._replace(cells=found[i].cells[kept]) for i in best)
    said = words([f"{c.name} {c.error:.1%}" for c in shown])
    alt = (
        f"Densities of the classes {words(labels.classes)} under {type(E).__name__}, column by "
        f"column; error of each column alone: {said}."
    )
    title = f"{type(E).__name__}: the classes, column by column"
    return ClassDensities(alt, shown, labels.codes[kept], labels.classes, title=title, note=note)


def _column(
    E: Model, plain: Any, X: np.ndarray, j: int, name: str, cells: Any, priors: Array
) -> Column:
    counted = is_counted(E, j)
    if counted:
        values = levels_of(cells)
        wide: Any = values
    else:
        numbers = np.asarray(cells, dtype=np.float64)
        numbers = numbers[np.isfinite(numbers)]
        values = np.linspace(*margin(numbers, 0.25), 401)
        fine = np.linspace(*margin(numbers, 3.0), GRID)
        places = np.concatenate([fine, numbers[:: len(numbers) // GRID + 1]])
        wide = np.unique(places)  # the cells themselves too: a peak may be narrow
    joint = priors[:, None] * np.exp(log_densities(E, X, j, values))
    rough = None if plain is None else priors[:, None] * np.exp(log_densities(plain, X, j, values))
    if counted:
        error = float((joint.sum(axis=0) - joint.max(axis=0)).sum())
    else:
        far = priors[:, None] * np.exp(log_densities(E, X, j, wide))
        total = float(np.trapezoid(far.sum(axis=0), wide))  # 1, but for what the grid misses
        error = 1 - float(np.trapezoid(far.max(axis=0), wide)) / total
    return Column(name, values, joint, rough, np.asarray(cells), counted, error)

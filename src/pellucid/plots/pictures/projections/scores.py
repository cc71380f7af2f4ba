"""The map of the rows by two scores, with arrows for the columns: a biplot."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray, Model
from pellucid.plots.panels.inputs import label_of, last_step, read_table, response
from pellucid.plots.panels.marks import VEIL, arrow, thinned, words
from pellucid.plots.panels.planes import MOST_CLASSES, draw_points, labels_of
from pellucid.plots.panels.style import Panel, colour, heading, legend

MOST_ARROWS = 12


class Scores(Panel, size=(6.6, 5.0)):
    at: Array  # (n, 2)
    codes: IntArray | None  # (n,) classes
    classes: tuple[str, ...]
    values: Array | None  # (n,) a numeric target
    target: str
    loadings: Array | None  # (q, 2) of the columns drawn, as they were learned
    columns: tuple[str, ...]  # the columns drawn
    factor: float  # arrows are loadings times this
    names: tuple[str, str]

    def _draw(self, ax: Any) -> None:
        if self.codes is not None:
            draw_points(ax, self.at, self.codes, self.classes)
            legend(ax, title=self.target, loc="best")
        else:
            plain = {"color": colour(0)}
            tints = plain if self.values is None else {"c": self.values, "cmap": "viridis"}
            shown = ax.scatter(*self.at.T, s=18, linewidths=0, **tints)
            if self.values is not None:
                ax.figure.colorbar(shown, ax=ax, label=self.target)
        if self.loadings is not None:
            ends = self.factor * self.loadings
            names, places = together(self.columns, ends, np.ptp(self.at, axis=0))
            wide, tall = np.ptp(self.at, axis=0)
            text = spread_out(1.06 * places, 0.06 * tall, [0.016 * wide * len(n) for n in names])
            for end in ends:
                arrow(ax, end, (0, 0), "black", 1.3, zorder=5)
            for name, label in zip(names, text, strict=True):
                side = "left" if label[0] >= 0 else "right"
                box = VEIL | {"alpha": 0.9}
                ax.annotate(name, label, ha=side, va="center", fontsize="small", zorder=6, bbox=box)
        ax.axhline(0, color="#9CA3AF", lw=0.8, zorder=1)
        ax.axvline(0, color="#9CA3AF", lw=0.8, zorder=1)
        ax.margins(0.12)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        heading(ax, self.title, self.note)


def scores(E: Model, X: Any, y: Any = None, *, components: Any = (0, 1)) -> Scores:
    """Rows by two of their scores, coloured by class or target, with the loadings as arrows.

    ``X``: table; ``y``: classes or numbers (n,), optional; ``components``: two positions,
    default=(0, 1).

    Parameters
    ----------
    E : fitted PCA, ProbabilisticPCA, TruncatedSVD, KernelPCA, ... or a Pipeline that ends with one
        Anything with ``transform``; arrows where it has ``loadings_`` or ``components_``.

    Examples
    --------
    >>> from pellucid import PCA
    >>> from pellucid.plots import scores
    >>> X = [[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [3.0, 3.0, 0.0], [-1.0, -1.0, 0.5]]
    >>> picture = scores(PCA(2).fit(X), X, ["a", "a", "b", "b"])
    >>> picture.at.shape, picture.classes, picture.columns
    ((4, 2), ('a', 'b'), ('x0', 'x1', 'x2'))
    """
    if not hasattr(E, "transform"):
        raise ValueError(f"scores needs a model with transform, got {type(E).__name__}")
    table, model = read_table(X, E), last_step(E)
    Z = np.asarray(E.transform(table.given), dtype=np.float64)
    a, b = (int(c) for c in components)
    if Z.shape[1] < 2 or not (0 <= a < Z.shape[1] and 0 <= b < Z.shape[1]) or a == b:
        raise ValueError(
            f"components must be two different positions below {Z.shape[1]}, got {components!r}"
        )
    at = Z[:, [a, b]]
    codes, classes, values, target = _target(y, len(at))
    names = table.names if model is E else _names_before(E, table.names)
    L, columns, factor = _arrows(model, names, at, (a, b))
    ratio = getattr(model, "explained_variance_ratio_", None)
    axes_names = tuple(
        f"score {c}" + ("" if ratio is None else f" ({float(ratio[c]):.1%} of the variance)")
        for c in (a, b)
    )
    kept = thinned(len(at))
    note = "" if L is None else "arrows: loadings of the columns, scaled to fit"
    if L is not None and len(columns) < len(names):
        note += f" (the {len(columns)} longest of {len(names)})"
    said = "" if target == "" else f", coloured by {target}"
    arrows = "" if L is None else f"; arrows for {words(columns)}"
    alt = f"Map of {len(at)} rows by scores {a} and {b} of {label_of(E)}{said}{arrows}."
    shown = [None if v is None else v[kept] for v in (codes, values)]
    drawn = (at[kept], shown[0], classes, shown[1], target, L, columns, factor)
    title = f"{label_of(E)}: scores {a} and {b}"
    return Scores(alt, *drawn, (axes_names[0], axes_names[1]), title=title, note=note)


def together(names: Sequence[str], places: Array, spans: Array) -> tuple[list[str], Array]:
    """One label, at the mean place, for arrows that end within 3 % of the spans of each other.

    >>> together(("a", "b", "c"), np.array([[0.0, 1.0], [0.0, 1.1], [2.0, 0.0]]), np.full(2, 10.0))
    (['a, b', 'c'], array([[0.  , 1.05],
           [2.  , 0.  ]]))
    """
    groups: list[list[int]] = []
    for j, place in enumerate(places):
        close = [g for g in groups if (np.abs(places[g[0]] - place) <= 0.03 * spans).all()]
        if close:
            close[0].append(j)
        else:
            groups.append([j])
    joined = [", ".join(names[j] for j in group) for group in groups]
    return joined, np.array([places[group].mean(axis=0) for group in groups])


def spread_out(places: Array, gap: float, widths: Sequence[float]) -> Array:
    """Places of labels that grow outwards, moved up where two would touch.

    >>> spread_out(np.array([[1.0, 0.0], [1.1, 0.1], [3.0, 0.1], [-1.0, 0.0]]), 0.5, [1.0] * 4)
    array([[ 1. ,  0. ],
           [ 1.1,  0.5],
           [ 3. ,  0.1],
           [-1. ,  0. ]])
    """
    moved = places.copy()
    for side in (places[:, 0] >= 0, places[:, 0] < 0):
        rows = np.flatnonzero(side)[np.argsort(places[side, 1], kind="stable")]
        for k, row in enumerate(rows):
            for below in rows[:k]:
                inner = min(row, below, key=lambda j: abs(places[j, 0]))
                reach = abs(places[inner, 0]) + widths[inner]
                if reach > max(abs(places[row, 0]), abs(places[below, 0])):
                    moved[row, 1] = max(moved[row, 1], moved[below, 1] + gap)
    return moved


def _target(y: np.ndarray, n: int) -> tuple[Any, tuple[str, ...], Any, str]:
    """Codes and classes, or numbers; and the name."""
    if y is None:
        return None, (), None, ""
    kind = np.asarray(y)
    if kind.dtype.kind == "f" or (kind.dtype.kind in "iu" and len(np.unique(kind)) > MOST_CLASSES):
        values, name = response(y, n)
        return None, (), values, "target" if name == "y" else name
    labels = labels_of(y, n)
    return labels.codes, labels.classes, None, labels.name


def _names_before(E: Model, names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the columns that the last step of a pipeline sees."""
    before = E[:-1]
    if hasattr(before, "get_feature_names_out"):
        return tuple(map(str, before.get_feature_names_out(np.array(names, dtype=object))))
    return tuple(f"x{j}" for j in range(last_step(E).n_features_in_))


def _arrows(
    model: Model, names: tuple[str, ...], at: Array, pair: tuple[int, int]
) -> tuple[Array | None, tuple[str, ...], float]:
    """The longest loadings, their columns, and the factor that makes them fill the map."""
    L = getattr(model, "loadings_", None)
    if L is None and hasattr(model, "components_"):
        L = np.asarray(model.components_).T
    if L is None or len(L) != len(names):
        return None, (), 1.0
    L = np.asarray(L, dtype=np.float64)[:, list(pair)]
    longest = np.sort(np.argsort(-(L**2).sum(axis=1), kind="stable")[:MOST_ARROWS])
    reach = np.abs(at).max(axis=0) / np.maximum(np.abs(L).max(axis=0), 1e-300)
    return L[longest], tuple(names[j] for j in longest), 0.85 * float(reach.min())

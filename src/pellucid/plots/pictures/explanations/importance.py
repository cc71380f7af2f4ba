"""Which inputs matter: the decrease of impurity, and the harm done by shuffling a column.

The first is read off the trees and favours inputs with many values; the second is measured on rows
that a tree has not seen (out of bag), or on the rows given.
"""

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Model
from pellucid.core.runtime.random import stream
from pellucid.plots.panels.inputs import model_names, read_table
from pellucid.plots.panels.marks import words
from pellucid.plots.panels.style import Picture, colour, heading, panels

Z = 1.96  # of a 95 % interval
MOST = 20  # inputs drawn


class Importance(Picture):
    """Means and half-widths of 95 % intervals, the most important input first."""

    names: tuple[str, ...]
    impurity: Array  # (d,) shares of the whole decrease; NaN where the model has none
    impurity_error: Array  # (d,) NaN without several trees
    permutation: Array  # (d,) rise of the error; NaN where not measured
    permutation_error: Array
    rows: str  # which rows were shuffled
    metric: str

    def plot(self) -> Any:
        """One panel per measure that is there; the figure."""
        rise, shuffled = f"rise of the {self.metric}", f"Shuffled column: {self.rows}"
        parts = [
            ("Decrease of impurity", "share of the whole", self.impurity, self.impurity_error),
            (shuffled, rise, self.permutation, self.permutation_error),
        ]
        parts = [part for part in parts if np.isfinite(part[2]).any()]
        shown = min(len(self.names), MOST)
        grid = panels(len(parts), columns=2, size=(4.4, 0.28 * shown + 1.3))
        places = np.arange(shown)[::-1]
        left_out = len(self.names) - shown
        for i, (ax, (title, label, mean, error)) in enumerate(zip(grid, parts, strict=True)):
            spread = error[:shown] if np.isfinite(error).any() else None
            bars = {"xerr": spread, "ecolor": "black", "capsize": 2, "error_kw": {"lw": 1}}
            ax.barh(places, mean[:shown], color=colour(i), height=0.65, alpha=0.85, **bars)
            ax.axvline(0, color="black", lw=0.8)
            ax.set_yticks(places, self.names[:shown] if i == 0 else [""] * shown)
            ax.set(xlabel=label)
            ax.grid(False, axis="y")
            heading(ax, title, f"first {shown} of {shown + left_out} inputs" if left_out else "")
        return grid[0].figure


def _from_trees(E: Model, d: int) -> tuple[Array, Array]:
    """Impurity importances, and the half-width of an interval over the trees of a forest."""
    if not hasattr(E, "feature_importances_"):
        return np.full(d, np.nan), np.full(d, np.nan)
    found = np.asarray(E.feature_importances_, dtype=np.float64)
    members = getattr(E, "estimators_", None)
    if not hasattr(E, "oob_permutation_importance") or members is None or len(members) < 2:
        return found, np.full(d, np.nan)
    each = np.array([m.feature_importances_ for m in members])
    return found, Z * each.std(axis=0, ddof=1) / np.sqrt(len(each))


def _loss(E: Model, X: ArrayLike, y: ArrayLike) -> float:
    said = np.asarray(E.predict(X))
    return float((said != y).mean() if is_classifier(E) else ((said - y) ** 2).mean())


def _shuffled(
    E: Model, X: ArrayLike, y: ArrayLike, n_repeats: int, seed: int
) -> tuple[Array, Array]:
    """The rise of the error when a column of the rows given is shuffled."""
    table, y = read_table(X, E), np.asarray(y)
    usual = _loss(E, table.given, y)
    rise = np.zeros((n_repeats, table.X.shape[1]))
    for j in range(table.X.shape[1]):
        rng, there = stream(seed, j), table.X.copy()
        for r in range(n_repeats):
            there[:, j] = rng.permutation(table.X[:, j])
            rise[r, j] = _loss(E, table.like(there), y) - usual
    if n_repeats == 1:
        return rise[0], np.full(rise.shape[1], np.nan)
    return rise.mean(axis=0), Z * rise.std(axis=0, ddof=1) / np.sqrt(n_repeats)


def importance(
    E: Model,
    X: MaybeArray = None,
    y: MaybeArray = None,
    *,
    oob: bool | None = None,
    n_repeats: int = 5,
    random_state: int = 0,
) -> Importance:
    """Both importances of the inputs, sorted, with intervals.

    ``E``: fitted forest, boosting, tree, or (with X and y) any model; ``random_state``: seed of the
    random draws, 0 by default.

    Parameters
    ----------
    X, y : data, optional
        Of a forest its training data (out-of-bag rows are shuffled); else rows to shuffle, best
        such as the model has not seen. Without them only the decrease of impurity is drawn.
    oob : bool, optional
        False: shuffle the rows given although the forest could use its out-of-bag rows.
    n_repeats : int, default=5
        Permutations of each column.

    Examples
    --------
    >>> from pellucid import RandomForestClassifier
    >>> from pellucid.plots import importance
    >>> X, y = [[i, 0] for i in range(20)], [0] * 10 + [1] * 10
    >>> picture = importance(RandomForestClassifier(20, random_state=0).fit(X, y), X, y)
    >>> picture.names, picture.impurity.tolist(), picture.rows
    (('x0', 'x1'), [1.0, 0.0], 'out-of-bag rows')
    """
    check_is_fitted(E)
    check.whole(n_repeats=n_repeats)
    names = model_names(E)
    d = len(names)
    impurity, impurity_error = _from_trees(E, d)
    mean, error, rows = np.full(d, np.nan), np.full(d, np.nan), "no rows"
    if X is not None and y is not None:
        if hasattr(E, "oob_permutation_importance") and oob is not False:
            how = {"n_repeats": n_repeats, "random_state": random_state}
            found = E.oob_permutation_importance(X, y, **how)
            mean, rows = found.mean, "out-of-bag rows"
            error = Z * found.std / np.sqrt(len(found.per_tree))
        else:
            mean, error = _shuffled(E, X, y, n_repeats, random_state)
            rows = "the rows given"
    elif not np.isfinite(impurity).any():
        raise ValueError(f"{type(E).__name__} has no feature_importances_: X and y are needed")
    sort_by = mean if np.isfinite(mean).any() else impurity
    order = np.argsort(-sort_by, kind="stable")
    metric = "share wrong" if is_classifier(E) else "squared error"
    first = words([f"{names[j]} {sort_by[j]:.3g}" for j in order[:3]])
    alt = f"Importance of {d} inputs in {type(E).__name__} ({rows} shuffled), the first: {first}."
    bars = (impurity[order], impurity_error[order], mean[order], error[order])
    return Importance(alt, tuple(names[j] for j in order), *bars, rows, metric)

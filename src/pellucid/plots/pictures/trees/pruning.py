"""Error against the size of a tree while it is pruned.

Cost complexity: one tree is cut at its weakest link again and again; the trees of the folds are cut
at the geometric mean of neighbouring alphas, as CART does. Reduced error: the cuts in
``pruning_log_`` with the score on the rows held out.
"""

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from pellucid.core.arrays.frames import indexable_frame, is_frame
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, IntArray, MaybeArray, Model
from pellucid.plots.panels.marks import band, spot
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend
from pellucid.tree.cart import CartTree
from pellucid.tree.pruning import make_leaves, prune_at, pruning_path


class Pruning(Panel, size=(6.6, 4.2)):
    """One entry per tree of the sequence, from the whole tree to the smallest."""

    sizes: IntArray  # (m,) leaves, or nodes of reduced-error pruning
    alphas: Array  # (m,) cost of a leaf; NaN for reduced-error pruning
    train: Array  # (m,) error on the training rows; NaN where not known
    test: Array  # (m,) error on new rows
    standard_error: Array  # (m,) over the folds; NaN without folds
    best: int  # the least error on new rows, the smallest tree of equals
    one_standard_error: int  # the smallest tree within one standard error of it
    unit: str  # "leaves" or "nodes"
    metric: str
    source: str  # where the new rows come from

    def _draw(self, ax: Axes) -> None:
        if np.isfinite(self.train).any():
            ax.plot(self.sizes, self.train, "s--", color=colour(1), ms=4, label="training rows")
        ax.plot(self.sizes, self.test, "o-", color=colour(0), ms=4, label=self.source)
        if np.isfinite(self.standard_error).any():
            low, high = self.test - self.standard_error, self.test + self.standard_error
            band(ax, self.sizes, low, high, colour(0), 0.15, label="± one standard error")
        b, s = self.best, self.one_standard_error
        label = f"least error: {self.sizes[b]} {self.unit}"
        spot(ax, self.sizes[b], self.test[b], "D", colour(2), zorder=4, label=label)
        if s != b:
            label = f"one standard error: {self.sizes[s]} {self.unit}"
            spot(ax, self.sizes[s], self.test[s], "^", colour(4), size=10, zorder=4, label=label)
        if self.sizes.max() > 60:
            ax.set_xscale("log")
        ax.axhline(self.test[b], color=GREY, ls=":", lw=1)
        ax.set(xlabel=f"{self.unit} of the pruned tree", ylabel=self.metric)
        legend(ax)
        heading(
            ax,
            f"Pruned from {self.sizes[0]} to {self.sizes[b]} {self.unit}: "
            f"{self.metric} {self.test[0]:.3g} → {self.test[b]:.3g}",
        )


def _errors(model: Model, trees: list[Any], X: ArrayLike, y: ArrayLike) -> Array:
    """The error of the model with each of these trees."""
    found, there = [], copy(model)
    for grown in trees:
        there.tree_ = grown
        said = np.asarray(there.predict(X))
        wrong = said != y if is_classifier(model) else (said - y) ** 2
        found.append(float(wrong.mean()))
    return np.array(found)


def _logged(model: Model) -> Pruning:
    log = model.pruning_log_
    if not log:
        raise ValueError("pruning_log_ is empty: no cut was made")
    sizes = np.array([step.node_count for step in log])
    test = 1 - np.array([step.score_after for step in log])
    nothing = np.full(len(sizes), np.nan)
    best = len(test) - 1 - int(np.argmin(test[::-1]))
    metric = "share wrong" if is_classifier(model) else "1 - R²"
    alt = (
        f"Reduced-error pruning in {len(log)} cuts, from {log[0].score_before:.3g} to "
        f"{log[-1].score_after:.3g} on the rows held out; {sizes[-1]} nodes are left."
    )
    return Pruning(
        alt, sizes, nothing, nothing, test, nothing, best, best, "nodes", metric, "rows held out"
    )


def _choices(test: Array, error: Array) -> tuple[int, int]:
    """The least error (smallest tree of equals), and the smallest tree within one error of it."""
    best = len(test) - 1 - int(np.argmin(test[::-1]))
    if not np.isfinite(error[best]):
        return best, best
    return best, int(np.flatnonzero(test <= test[best] + error[best]).max())


def pruning(
    E: Model,
    X: MaybeArray = None,
    y: MaybeArray = None,
    *,
    X_val: MaybeArray = None,
    y_val: MaybeArray = None,
    cv: Folds = 5,
) -> Pruning:
    """Size against error along the pruning of a tree.

    ``X``, ``y``: training data, for cost-complexity pruning; ``cv``: folds as a number or a
    splitter, 5 by default; ``E``: DecisionTreeClassifier or DecisionTreeRegressor (its parameters
    are used), or a tree that ``reduced_error_prune`` or ReducedErrorPruning made (its log is
    drawn); ``X_val``, ``y_val``: new rows; default: cross-validation.

    Examples
    --------
    >>> from pellucid import DecisionTreeClassifier
    >>> from pellucid.plots import pruning
    >>> X, y = [[float(i)] for i in range(20)], [0] * 10 + [1] * 10
    >>> picture = pruning(DecisionTreeClassifier(), X, y)
    >>> picture.sizes.tolist(), picture.train.tolist()
    ([2, 1], [0.0, 0.5])
    """
    inner = getattr(E, "estimator_", E)
    if hasattr(inner, "pruning_log_"):
        return _logged(inner)
    if not isinstance(E, CartTree):
        raise ValueError(
            "pruning needs DecisionTreeClassifier, DecisionTreeRegressor or a tree with "
            f"pruning_log_, got {type(E).__name__}"
        )
    if X is None or y is None:
        raise ValueError("cost-complexity pruning needs the training data X and y")
    table = indexable_frame(X) if is_frame(X) else np.asarray(X)
    target = np.asarray(y)
    whole = clone(E).set_params(ccp_alpha=0.0).fit(table, target)
    path = pruning_path(whole.tree_)
    alphas = np.unique(path.ccp_alphas)  # cuts of one alpha count as one
    nodes = [path.nodes[1:][path.ccp_alphas[1:] <= a] for a in alphas]
    trees = [make_leaves(whole.tree_, cut) for cut in nodes]
    train = _errors(whole, trees, table, target)
    error = np.full(len(alphas), np.nan)
    if X_val is not None:
        source = "validation rows"
        test = _errors(whole, trees, X_val, np.asarray(y_val))
    else:
        test, error, source = _folds(E, table, target, alphas, cv)
    sizes = np.array([grown.n_leaves for grown in trees])
    best, simple = _choices(test, error)
    metric = "share wrong" if is_classifier(E) else "mean squared error"
    alt = (
        f"{metric} along {len(sizes)} pruned trees of {sizes[0]} to {sizes[-1]} leaves: on {source}"
        f" {test[0]:.3g} for the whole tree, least {test[best]:.3g} with {sizes[best]} leaves."
    )
    return Pruning(alt, sizes, alphas, train, test, error, best, simple, "leaves", metric, source)


def _folds(
    E: Model, X: np.ndarray, y: np.ndarray, alphas: Array, cv: Folds
) -> tuple[Array, Array, str]:
    """Mean error over the folds, its standard error, and what to call the rows."""
    middle = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)
    splitter = check_cv(cv, y, classifier=is_classifier(E))
    found = []
    for fit, test in splitter.split(X, y):
        model = clone(E).set_params(ccp_alpha=0.0).fit(_safe_indexing(X, fit), y[fit])
        trees = [prune_at(model.tree_, float(a)) for a in middle]
        found.append(_errors(model, trees, _safe_indexing(X, test), y[test]))
    errors = np.array(found)
    error = (
        errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
        if len(errors) > 1
        else (np.full(len(alphas), np.nan))
    )
    return errors.mean(axis=0), error, f"new rows ({len(errors)} folds)"

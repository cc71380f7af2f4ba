r"""Shapley values of models of trees: what each feature of a row adds to its prediction.

    F(x) = base + sum_f phi_f(x)

phi_f is Shapley's share of feature f in the game v(S) = E[F | the features in S are as in x],
where the mean follows the tree: a question about a feature outside S sends the row both ways, in
the shares of the training rows at that node ("path-dependent"). ``base`` = v({}), the mean over
the training rows as the trees saw them. The sum is exact, and a feature that no tree asks about
gets 0. Trees and forests of classes are explained as probabilities, boosting as scores (log-odds).

Cost   O(rows x nodes x features on a path / 2); derivation in ``compiled.trees.path_shares``.

References: Shapley (1953); Lundberg et al. (2020), From local explanations to global
understanding with explainable AI for trees, Nature Machine Intelligence 2.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.compiled.trees.path_shares import add_shares, branch_means, fill_tables, measure_paths
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.readable import readable
from pellucid.core.records import plain, show, text_table
from pellucid.core.runtime.threads import map_threads
from pellucid.ensemble.tree_sums import TreeSum, places_of, table_of, tree_sum

ENTRIES = 1 << 20  # of the tables held at once
ROWS = 512  # of one task of the thread pool


@readable
class TreeShap(NamedTuple):
    """Shares of the features in each prediction; ``base`` plus their sum is the prediction.

    >>> from pellucid import DecisionTreeRegressor
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0.0, 0.0, 0.0, 4.0]
    >>> found = tree_shap(DecisionTreeRegressor().fit(X, y), X[3:])
    >>> found.base, found.values.round(9).tolist()
    (1.0, [[1.5, 1.5]])
    """

    values: Array  # (n, p), or (n, p, K) for the shares of K classes or targets
    base: Any  # number, or (K,)
    prediction: Array  # (n,) or (n, K), on the scale of the values
    X: Array  # (n, p) the rows as the trees read them
    names: tuple[str, ...]  # of the columns
    outputs: tuple[str, ...]  # of the last axis of (n, p, K); () for (n, p)
    scale: str  # what the values add up to: prediction, probability or score
    words: dict[int, dict[int, str]]  # column -> place -> category

    def cell(self, row: int, j: int) -> Any:
        """What the row holds in column j: a number, or the category itself."""
        x = float(self.X[row, j])
        return self.words[j].get(int(x), "-") if j in self.words and x == x else x

    def mean_absolute(self) -> Array:
        """How much each feature moves the predictions: mean |phi|, (p,), summed over outputs."""
        found = np.abs(self.values).mean(axis=0)
        return found.sum(axis=1) if found.ndim == 2 else found

    def output(self, which: object = None) -> "TreeShap":
        """One output on its own: a label or its place; default the last."""
        if not self.outputs:
            return self
        k = len(self.outputs) - 1 if which is None else _place(which, self.outputs)
        one = self._replace(values=self.values[:, :, k], base=float(self.base[k]), outputs=())
        scale = f"{self.scale} of {self.outputs[k]}"
        return one._replace(prediction=self.prediction[:, k], scale=scale)

    def explain(self, row: int = 0, output: object = None, *, most: int = 10) -> str:
        """The prediction of one row as a sum, the largest shares first."""
        check.whole(most=most)
        n = len(self.values)
        if not -n <= row < n:
            raise ValueError(f"row must be a whole number below {n}, got {row!r}")
        one = self.output(output)
        phi = one.values[row]
        order = np.argsort(-np.abs(phi), kind="stable")
        rows = [(self.names[j], self.cell(row, j), float(phi[j])) for j in order[:most]]
        if len(order) > most:
            rest = float(phi[order[most:]].sum())
            rows.append((f"{len(order) - most} others", float("nan"), rest))
        rows.append(("mean of the training rows", float("nan"), float(one.base)))
        head = f"Row {row}: {one.scale} {show(float(one.prediction[row]))}, the sum of"
        return head + "\n" + text_table(("feature", "value", "share"), rows)

    def to_frame(self) -> Any:
        """One row per row of X and feature (and output), as a Polars frame."""
        import polars

        n, p = self.values.shape[:2]
        K = self.values.shape[2] if self.outputs else 1
        found = {
            "row": np.repeat(np.arange(n), p * K),
            "feature": np.tile(np.repeat(np.array(self.names), K), n),
            "share": self.values.ravel(),
        }
        if self.outputs:
            found["output"] = np.tile(np.array(self.outputs), n * p)
        return polars.DataFrame(found)

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        size = self.mean_absolute()
        order = np.argsort(-size, kind="stable")
        rows = [(self.names[j], float(size[j])) for j in order]
        head = f"Mean size of the shares in the {self.scale} of {len(self.values)} rows"
        return head + "\n" + text_table(("feature", "mean |share|"), rows)


def _place(which: object, outputs: tuple[str, ...]) -> int:
    if str(which) in outputs:
        return outputs.index(str(which))
    if isinstance(which, int | np.integer) and 0 <= which < len(outputs):
        return int(which)
    raise ValueError(f"output must be one of {list(outputs)} or its place, got {which!r}")


def shares(trees: TreeSum, X: Array) -> Array:
    """Shapley values (n, p, K) of a sum of trees."""
    n, nodes = len(X), len(trees.feature)
    depth, before = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    share, earlier = np.ones(nodes), np.ones(nodes)
    sizes = np.zeros((trees.n_trees, 2), np.int64)
    paths = trees.start, trees.feature, trees.right, trees.weight
    measure_paths(*paths, depth, before, share, earlier, sizes)
    points = np.maximum(1, (sizes[:, 1] + 1) // 2)
    knots, weights = _gauss(int(points.max(initial=1)))
    entries = np.diff(trees.start) * points
    out = np.zeros((n, trees.n_features, len(trees.constant)))
    questions = trees.feature, trees.threshold, trees.missing_left, trees.right
    forest = trees.start, *questions, trees.category, trees.sets, depth, before
    answers = trees.value, trees.column, sizes
    size = min(ROWS, max(1, -(-n // 4)))

    def block(run: tuple[int, int], offset: IntArray, table: Array, begin: int) -> None:
        rows = begin, min(begin + size, n)
        add_shares(X, *rows, *run, *forest, *answers, offset, points, table, out)

    for first, last in _chunks(entries):
        offset = np.zeros(trees.n_trees, np.int64)
        offset[first:last] = np.cumsum(entries[first:last]) - entries[first:last]
        table = np.empty((int(entries[first:last].sum()), 5))
        fill_tables(trees.start, first, last, offset, points, knots, weights, share, earlier, table)
        list(map_threads(partial(block, (first, last), offset, table), range(0, n, size)))
    return out


def _gauss(most: int) -> tuple[Array, Array]:
    """Knots and weights on [0, 1] of Gauss' formulas with 1, 2, ... points, a row each."""
    knots, weights = np.zeros((most + 1, most)), np.zeros((most + 1, most))
    for q in range(1, most + 1):
        t, w = np.polynomial.legendre.leggauss(q)
        knots[q, :q], weights[q, :q] = (t + 1) / 2, w / 2
    return knots, weights


def _chunks(entries: IntArray) -> list[tuple[int, int]]:
    """Runs of trees whose tables fit into ENTRIES, or single trees."""
    found, first, total = [], 0, 0
    for t, size in enumerate(entries.tolist()):
        if t > first and total + size > ENTRIES:
            found.append((first, t))
            first, total = t, 0
        total += size
    return [*found, (first, len(entries))] if len(entries) else []


def base_value(trees: TreeSum) -> Array:
    """The mean of F over the training rows of each tree, (K,)."""
    mean = np.zeros((trees.n_trees, trees.value.shape[1]))
    branch_means(trees.start, trees.feature, trees.right, trees.weight, trees.value, mean)
    base, width = trees.constant.copy(), trees.value.shape[1]
    for k in range(width):
        np.add.at(base, trees.column + k, mean[:, k])
    return base


def tree_shap(model: BaseEstimator, X: ArrayLike) -> TreeShap:
    """Exact Shapley values of a fitted model of trees (path-dependent TreeSHAP).

    ``model`` is a fitted decision tree, random forest, gradient boosting or histogram boosting;
    boosting must start from a constant (``init=None`` or "zero"). ``X`` is as for its ``predict``.
    The values are (n, p) for numbers and for boosting of two classes, (n, p, K) for K classes;
    ``base + values.sum(axis=1)`` is the prediction: probabilities of trees and forests, scores
    (log-odds) of boosting.

    >>> from pellucid import RandomForestClassifier
    >>> from pellucid.evaluation import tree_shap
    >>> X, y = [[i, i % 2] for i in range(20)], ["low"] * 10 + ["high"] * 10
    >>> model = RandomForestClassifier(50, random_state=0).fit(X, y)
    >>> found = tree_shap(model, [[17.0, 0.0]])
    >>> found.outputs, found.values.shape
    (('high', 'low'), (1, 2, 2))
    >>> bool(abs(found.base + found.values[0].sum(axis=0) - model.predict_proba([[17, 0]])).max()
    ...      < 1e-12)
    True
    >>> print(found.explain(0, "high").splitlines()[0])
    Row 0: probability of high 1, the sum of
    """
    trees = tree_sum(model)
    rows = table_of(model, X)
    base, K = base_value(trees), len(trees.constant)
    if trees.scale == "probability" and K > 1:  # the shares of all classes sum to nothing
        value, constant = np.ascontiguousarray(trees.value[:, :-1]), trees.constant[:-1]
        fewer = trees._replace(value=value, constant=constant)
        part = shares(fewer, rows)
        values = np.concatenate([part, -part.sum(axis=2, keepdims=True)], axis=2)
    else:
        values = shares(trees, rows)
    prediction = base + values.sum(axis=1)
    names = tuple(model._feature_names())
    known = places_of(model, trees).items()
    words = {j: {place: str(value) for value, place in each.items()} for j, each in known}
    if K == 1:
        one = values[:, :, 0], float(base[0]), prediction[:, 0]
        return TreeShap(*one, rows, names, (), _scale(model, trees), words)
    labels = model.classes_.tolist() if hasattr(model, "classes_") else list(range(K))
    outputs = tuple(str(label) for label in labels)
    return TreeShap(values, base, prediction, rows, names, outputs, trees.scale, words)


def _scale(model: BaseEstimator, trees: TreeSum) -> str:
    """Of one sum: for two classes it is that of the second."""
    if not hasattr(model, "classes_"):
        return trees.scale
    return f"{trees.scale} of {model.classes_[-1]}"

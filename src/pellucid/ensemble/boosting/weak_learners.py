"""The weak learners of AdaBoost: fit a classifier for given weights and tell its predictions.

Stumps and other trees of ours are grown on columns that are sorted once for all rounds; any other
classifier is fitted with the weights, or to rows drawn with them where it takes none.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from pellucid.base import Classifier
from pellucid.compiled.trees.presort import presort
from pellucid.compiled.trees.search import midpoint
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.random import stream
from pellucid.core.runtime.threads import map_threads, thread_count
from pellucid.ensemble.boosting.kernels.stumps import best_stump
from pellucid.ensemble.committees.bagging_model import seeded
from pellucid.ensemble.committees.constant import ConstantClassifier
from pellucid.tree.cart import column_count
from pellucid.tree.classifier import DecisionTreeClassifier
from pellucid.tree.growing import Classes, grow_tree
from pellucid.tree.pruning import prune_at
from pellucid.tree.record import LEAF, UNDEFINED, Tree

SHARED = 60_000  # cells from which threads share the columns
DRAW, MEMBER = 3, 4  # purposes of random streams


class Learned(NamedTuple):
    """A member and the codes it says of the training rows."""

    model: Any
    codes: IntArray


def grows_here(template: BaseEstimator) -> bool:
    """Whether the template is a tree that can share sorted columns."""
    if type(template) is not DecisionTreeClassifier:
        return False
    plain = template.categorical_features is None or isinstance(template.categorical_features, str)
    return plain and template.class_weight is None


def is_stump(template: BaseEstimator) -> bool:
    """Whether the tree is a plain stump: one question, the best by Gini's index."""
    plain = DecisionTreeClassifier(max_depth=1).get_params()
    given = template.get_params()
    return all(given[name] == plain[name] for name in plain if name != "random_state")


class Trees:
    """Trees of ours; ``v`` (n,) are whole weights in units of ``unit``."""

    def __init__(
        self, template: Any, owner: Classifier, X: Array, codes: IntArray, seed: int
    ) -> None:
        self.params, self.X, self.codes, self.seed = template.get_params(), X, codes, seed
        self.K = len(owner.classes_)
        self.fitted = {
            "n_features_in_": X.shape[1],
            "n_outputs_": 1,
            "classes_": owner.classes_,
            "n_classes_": self.K,
            "max_features_": column_count(template.max_features, X.shape[1]),
        }
        self.data = presort(X)
        self.stump = is_stump(template) and not self.data.has_missing

    def learn(self, t: int, v: Array, unit: float) -> Learned:
        number = int(stream(self.seed, t, MEMBER).integers(2**31))
        model = DecisionTreeClassifier(**{**self.params, "random_state": number})
        for name, value in self.fitted.items():
            setattr(model, name, value)
        if self.stump:
            tree, said = fit_stump(self.data, v, self.codes, self.K)
        else:
            growth = model._growth(len(v), float(v.sum()))
            target = Classes(self.codes[:, None], np.array([self.K]))
            tree = grow_tree(self.data, target, v, growth, number)
            if model.ccp_alpha > 0:
                tree = prune_at(tree, model.ccp_alpha)
            said = tree.value[:, 0].argmax(axis=1)[tree.apply(self.X)]
        weight = tree.weighted_n_node_samples * unit
        model.tree_ = tree._replace(weighted_n_node_samples=weight)
        return Learned(model, said)


class Others:
    """Copies of any classifier; ``draws`` where it takes no weights."""

    def __init__(
        self, template: BaseEstimator, owner: Classifier, X: Any, codes: IntArray, seed: int
    ) -> None:
        self.template, self.X, self.codes, self.seed = template, X, codes, seed
        self.classes = owner.classes_
        self.draws = not has_fit_parameter(template, "sample_weight")

    def learn(self, t: int, v: Array, unit: float) -> Learned:
        y, w = self.classes[self.codes], v * unit
        model = seeded(self.template, self.seed, t)
        if self.draws:
            rows = stream(self.seed, t, DRAW).choice(len(v), len(v), p=v / v.sum())
            alike = (self.codes[rows] == self.codes[rows[0]]).all()
            model = ConstantClassifier() if alike else model
            model.fit(self.X[rows], y[rows])
        else:
            model.fit(self.X, y, sample_weight=w)
        return Learned(model, np.searchsorted(self.classes, model.predict(self.X)))


def make_learner(
    template: BaseEstimator, owner: Classifier, X: np.ndarray, codes: IntArray, seed: int
) -> Any:
    """The learner of a template."""
    kind = Trees if grows_here(template) else Others
    return kind(clone(template), owner, X, codes, seed)


def fit_stump(data: Any, v: Array, codes: IntArray, K: int) -> tuple[Tree, IntArray]:
    """The best stump for whole weights v, and what it says of every row.

    >>> data = presort(np.array([[1.0], [2.0], [3.0]]))
    >>> tree, said = fit_stump(data, np.ones(3), np.array([0, 0, 1]), 2)
    >>> tree.threshold.tolist(), said.tolist()
    ([2.5, -2.0, -2.0], [0, 0, 1])
    """
    T = np.asarray(np.bincount(codes, v, K), dtype=np.float64)
    signed = np.where(codes == 1, v, -v) if K == 2 else v
    d, n = data.order.shape
    parts = min(thread_count(), d) if n * d > SHARED else 1
    cuts = np.linspace(0, d, parts + 1).astype(int).tolist()

    def columns(k: int) -> tuple[float, int, int]:
        return best_stump(data.order, data.rank, signed, codes, T, cuts[k], cuts[k + 1])

    best = (-1.0, LEAF, LEAF)
    for found in map_threads(columns, range(parts)):  # in the order of the columns
        best = found if found[0] > best[0] else best
    _, f, place = best
    if f < 0:  # every column is constant
        return one_leaf(T, n, d), np.full(n, T.argmax())
    rows = data.order[f]
    L = np.bincount(codes[rows[: place + 1]], v[rows[: place + 1]], K)
    sums = np.array([T, L, T - L])
    t = midpoint(data.X[rows[place], f], data.X[rows[place + 1], f])
    said = np.full(n, int(sums[2].argmax()))
    said[rows[: place + 1]] = int(sums[1].argmax())
    sizes = np.array([n, place + 1, n - place - 1])
    return stump_tree(f, float(t), sums, sizes, d), said


def stump_tree(f: int, t: float, sums: Array, sizes: IntArray, d: int) -> Tree:
    """The record of a stump from the class weights (3, K) of root, left and right."""
    weight = sums.sum(axis=1)
    share = sums / weight[:, None]
    left, right = (np.array([k, LEAF, LEAF], np.int32) for k in (1, 2))
    feature = np.array([f, UNDEFINED, UNDEFINED], np.int32)
    threshold = np.array([t, float(UNDEFINED), float(UNDEFINED)])
    missing = np.array([2 * sizes[1] > sizes[0], 0, 0], np.uint8)
    counts = 1.0 - (share**2).sum(axis=1), sizes.astype(np.int64), weight, share[:, None]
    classes = np.zeros((3, 0)), np.array([sums.shape[1]])
    return Tree(left, right, feature, threshold, missing, *counts, *classes, d)


def one_leaf(T: Array, n: int, d: int) -> Tree:
    """A tree that asks nothing."""
    none = np.full(1, LEAF, np.int32)
    share = T[None, None] / T.sum()
    feature, threshold = np.full(1, UNDEFINED, np.int32), np.full(1, float(UNDEFINED))
    question = none, none.copy(), feature, threshold, np.zeros(1, np.uint8)
    counts = 1.0 - (share**2).sum(axis=2)[0], np.array([n]), np.array([T.sum()]), share
    return Tree(*question, *counts, np.zeros((1, 0)), np.array([len(T)]), d)

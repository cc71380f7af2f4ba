r"""Reduced-error pruning: cut what does not help on examples the tree has not seen.

Score every replacement of one subtree by a leaf (majority or mean of the TRAINING examples
there). If all are worse, stop; else take the best and repeat. An equal score is accepted; among
equals the largest subtree is cut, then the lowest node.

For binary trees, accuracy and squared error are sums over the validation rows, and a row feels
only the nodes on its path: the change by a cut at t is (sum of t as a leaf) - (sum of its
branch), so that one pass of the rows through the tree serves all rounds.

References: Quinlan, "Simplifying decision trees" (1987); Mitchell, section 3.7.1.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import get_scorer
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import row_table
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import fitted
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.tree.cart import CartTree
from pellucid.tree.multiway.multiway_model import MultiwayBase
from pellucid.tree.multiway.record import MultiwayTree
from pellucid.tree.pruning import make_leaves
from pellucid.tree.record import Tree

TIE = 1e-12  # of the largest: scores of sums of squares nearer than this are equal


class PruneStep(NamedTuple):
    """One cut; ``node`` is its number in the tree before any cut.

    >>> PruneStep(2, 0.75, 1.0, 6).node_count
    6
    """

    node: int
    score_before: float
    score_after: float
    node_count: int  # after the cut


class Cuts(NamedTuple):
    """The cuts and their log."""

    nodes: list[int]
    log: list[PruneStep]


def subtree_sizes(parent: IntArray) -> Any:
    """The number of nodes at and below each node (parents come first)."""
    size = np.ones(len(parent), np.int64)
    for i in range(len(parent) - 1, 0, -1):
        size[parent[i]] += size[i]
    return size


def below(parent: IntArray, node: int, size: IntArray) -> slice:
    """The places of a subtree: nodes are in preorder."""
    return slice(node, node + int(size[node]))


def additive_cuts(tree: Tree, leaf_sum: Array, final: Callable[[float], float]) -> Cuts:
    """Cuts for a score that is a sum over rows; ``leaf_sum[t]`` = sum over the rows through t.

    ``final(total)`` turns the sum into the score that is reported.
    """
    _, parent = tree.depths()
    size = subtree_sizes(parent)
    inner = tree.feature >= 0
    branch = np.where(inner, 0.0, leaf_sum)
    for i in range(len(parent) - 1, 0, -1):
        branch[parent[i]] += branch[i]
    now = size.copy()  # nodes left at and below each node
    scale = TIE * float(np.abs(leaf_sum).max(initial=0.0))
    nodes: list[int] = []
    log: list[PruneStep] = []
    while inner.any():
        change = np.where(inner, leaf_sum - branch, -np.inf)
        best = change.max()
        if best < -scale:
            break
        equal = np.flatnonzero(change >= best - scale)
        t = int(equal[np.argmax(now[equal])])
        before, delta, gone = float(branch[0]), float(leaf_sum[t] - branch[t]), int(now[t]) - 1
        inner[below(parent, t, size)] = False
        i = t
        while i >= 0:
            branch[i] += delta
            now[i] -= gone
            i = int(parent[i])
        nodes.append(t)
        log.append(PruneStep(t, final(before), final(float(branch[0])), int(now[0])))
    return Cuts(nodes, log)


def scored_cuts(
    model: BaseEstimator, X: ArrayLike, y: ArrayLike, scorer: Callable[..., float]
) -> Cuts:
    """Cuts for any score and any tree: every replacement is made and scored."""
    tree = model.tree_
    parent = tree.parent if isinstance(tree, MultiwayTree) else tree.depths()[1]
    size = subtree_sizes(parent)
    inner = tree.feature >= 0
    nodes: list[int] = []
    log: list[PruneStep] = []
    score = float(scorer(model, X, y))
    while inner.any():
        options = []
        for t in np.flatnonzero(inner).tolist():
            cut = with_leaves(model, [*nodes, t])
            options.append((float(scorer(cut, X, y)), -cut.tree_.node_count, -t, t))
        top = max(option[0] for option in options)
        near = TIE * max(abs(top), abs(score))
        best = max((o for o in options if o[0] >= top - near), key=lambda o: o[1:3])
        if best[0] < score - near:
            break
        t = best[3]
        inner[below(parent, t, size)] = False
        nodes.append(t)
        log.append(PruneStep(t, score, best[0], -best[1]))
        score = best[0]
    return Cuts(nodes, log)


def with_leaves(model: BaseEstimator, nodes: list[int]) -> Any:
    """A copy of the model in whose tree these nodes are leaves."""
    pruned, tree = copy(model), model.tree_
    multiway = isinstance(tree, MultiwayTree)
    pruned.tree_ = tree.with_leaves(nodes) if multiway else make_leaves(tree, nodes)
    return pruned


def _row_sums(model: BaseEstimator, X: ArrayLike, y: ArrayLike) -> tuple[Array, Any]:
    """Sum over the rows through each node of (answer is right) or -(error)^2."""
    paths = model.decision_path(X)
    rows = np.repeat(np.arange(paths.shape[0]), np.diff(paths.indptr))
    tree = model.tree_
    y = np.asarray(y)
    if is_classifier(model):
        answer = model.classes_[np.argmax(tree.value[:, 0], axis=1)]
        worth = (answer[paths.indices] == y[rows]).astype(np.float64)
        sums = np.bincount(paths.indices, worth, tree.node_count).astype(np.float64)
        return sums, lambda total: total / len(y)
    y = y.astype(np.float64)
    worth = -((tree.value[paths.indices, 0, 0] - y[rows]) ** 2)
    spread = float(((y - y.mean()) ** 2).sum())

    def r2(total: float) -> float:
        return 1.0 + total / spread if spread > 0 else (1.0 if total == 0 else 0.0)

    return np.bincount(paths.indices, worth, tree.node_count).astype(np.float64), r2


def reduced_error_prune(
    model: BaseEstimator,
    X_val: ArrayLike,
    y_val: ArrayLike,
    *,
    scoring: str | Callable[..., float] = "accuracy",
) -> Any:
    """A pruned copy of a fitted tree, with ``pruning_log_``.

    Parameters
    ----------
    model : a fitted tree of ``pellucid.tree``
    X_val, y_val : validation data that the tree was not grown on
    scoring : str or callable, default="accuracy"
        Any scorer of scikit-learn. Of a regression tree the default is R^2.

    Examples
    --------
    >>> from pellucid.tree import DecisionTreeClassifier, reduced_error_prune
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], [0, 1, 0, 1])
    >>> pruned = reduced_error_prune(model, [[2], [3], [4]], [1, 1, 1])
    >>> pruned.tree_.node_count, pruned.pruning_log_[0].score_after
    (3, 1.0)
    """
    check_is_fitted(model)
    if not isinstance(getattr(model, "tree_", None), Tree | MultiwayTree):
        raise TypeError(f"a tree of pellucid.tree is needed, got {type(model).__name__}")
    plain = scoring == "accuracy" if is_classifier(model) else scoring in ("accuracy", "r2")
    if plain and isinstance(model.tree_, Tree) and model.n_outputs_ == 1:
        cuts = additive_cuts(model.tree_, *_row_sums(model, X_val, y_val))
    else:
        scorer = type(model).score if plain else get_scorer(scoring)
        cuts = scored_cuts(model, X_val, y_val, scorer)
    pruned = with_leaves(model, cuts.nodes)
    pruned.pruning_log_ = cuts.log
    return pruned


def _estimator_has(name: str) -> Any:
    def found(self: Any) -> bool:
        model = getattr(self, "estimator_", self.estimator)
        getattr(model, name)
        return True

    return found


def tags_like(tags: Any, estimator: BaseEstimator) -> Any:
    """The tags of a model that answers as an inner estimator does."""
    inner = get_tags(estimator)
    tags.estimator_type, tags.target_tags = inner.estimator_type, inner.target_tags
    tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
    tags.input_tags = inner.input_tags
    return tags


class ReducedErrorPruning(MetaEstimatorMixin, Estimator):
    """Hold part of the data out, grow a tree on the rest, prune it by what was held out.

    Parameters
    ----------
    estimator : a tree of ``pellucid.tree``
        Cloned, grown on part of the rows and pruned by the rest.
    validation_fraction : float, default=0.3
        Share of the rows that prune, in (0, 1); within each class for a classifier.
    random_state : int, RandomState, Generator or None, default=None
        Of the division of the rows.

    Attributes
    ----------
    estimator_ : the pruned tree, with ``pruning_log_``
    classes_ : of a classifier
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import DecisionTreeClassifier, ReducedErrorPruning
    >>> X = np.arange(40.0)[:, None]
    >>> y = (X[:, 0] > 20).astype(int)
    >>> y[[3, 9, 30]] = [1, 1, 0]
    >>> model = ReducedErrorPruning(DecisionTreeClassifier(), random_state=0).fit(X, y)
    >>> model.estimator_.get_n_leaves()
    2
    """

    _accepts_nan = True

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        validation_fraction: float = 0.3,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        return tags_like(super().__sklearn_tags__(), self.estimator)

    @with_callbacks
    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Divide the rows, grow the tree on one part and prune it by the other."""
        check.fraction(validation_fraction=self.validation_fraction)
        context = FitContext.of_one_step(self, X, y)
        codes = self._look(X, y)
        rng = generator(self.random_state)
        held = hold_out(codes, self.validation_fraction, rng)
        X, y = _indexable(X), np.asarray(y)
        y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        grow = np.setdiff1d(np.arange(len(codes)), held)
        model = fitted(clone(self.estimator), _safe_indexing(X, grow), y[grow])
        self.estimator_ = reduced_error_prune(model, _safe_indexing(X, held), y[held])
        if is_classifier(model):
            self.classes_ = model.classes_
        context.end()
        return self

    def _look(self, X: np.ndarray, y: np.ndarray) -> Any:
        """Check all rows as the tree would; returns a group number for every row."""
        if not isinstance(self.estimator, CartTree | MultiwayBase):
            name = type(self.estimator).__name__
            raise TypeError(f"estimator must be a tree of pellucid.tree, got {name}")
        probe = clone(self.estimator)
        if isinstance(probe, CartTree):
            target = probe._check_training(X, y).y
        else:
            table = probe._read(X)
            target = probe._check_target(y, len(table.columns[0]))
        if len(target) < 2:
            got = f"got n_samples={len(target)}"
            raise ValueError(f"ReducedErrorPruning needs at least 2 rows, {got}")
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(probe, name):
                setattr(self, name, getattr(probe, name))
        single = is_classifier(probe) and target.ndim == 1
        return target if single else np.zeros(len(target), np.intp)

    def predict(self, X: ArrayLike) -> Any:
        """Predictions of the pruned tree."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: np.ndarray) -> Any:
        """Class shares of the pruned tree."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        """Accuracy, or R^2 of a regression."""
        check_is_fitted(self)
        return float(self.estimator_.score(X, y))

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> from pellucid import DecisionTreeClassifier
        >>> model = ReducedErrorPruning(DecisionTreeClassifier(), random_state=0)
        >>> "cuts" in model.fit([[0], [1], [2], [3]], [0, 0, 1, 1]).card().numbers
        True
        """
        check_is_fitted(self)
        inner, log = self.estimator_.card(), self.estimator_.pruning_log_
        held = f"; then the score on {self.validation_fraction:g} of the rows, held out"
        cuts = "; then cut after cut, the best first, while the held-out score does not fall"
        said = {"evaluation": inner.evaluation + held, "optimisation": inner.optimisation + cuts}
        return inner._replace(**said, numbers={**inner.numbers, "cuts": len(log)})


def _indexable(X: Any) -> Any:
    """The table in a form that rows can be taken from."""
    X = row_table(X)
    if hasattr(X, "shape"):
        return X
    array = np.asarray(X)  # lists may mix text and numbers
    return np.asarray(X, dtype=object) if array.dtype.kind == "U" else array


def hold_out(groups: IntArray, share: float, rng: Rng) -> Any:
    """Rows that prune: ``share`` of every group, never a whole group; one row at least.

    >>> hold_out(np.array([0, 0, 0, 0, 1]), 0.5, np.random.default_rng(0)).size
    2
    """
    held = []
    for group in np.unique(groups):
        rows = rng.permutation(np.flatnonzero(groups == group))
        held.append(rows[: min(round(share * len(rows)), len(rows) - 1)])
    found = np.sort(np.concatenate(held))
    if len(found) == 0:
        sizes = np.bincount(groups)
        rows = np.flatnonzero(groups == np.argmax(sizes))
        found = rows[-1:]
    return found

r"""Classification trees (CART): greedy, binary, axis-parallel.

Model        a tree of questions x_j <= t; a leaf answers the class shares of its examples
Splitting    at each node the question of least W_L I(L) + W_R I(R); I is gini, entropy or
             misclassification (``core.functions.impurities``)
Stopping     a pure node, or the limits (pre-pruning); ``ccp_alpha`` cuts afterwards (``pruning``)
Algorithm    columns are sorted once; every level of the tree costs O(n d).

References: Breiman, Friedman, Olshen & Stone (1984); ESL, section 9.2.
"""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from pellucid.base import (
    Classifier,
    check_label_kinds,
    check_labels,
    encode_labels,
    refuse_sparse,
    with_callbacks,
)
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import ArrayLike, IntArray, Seed
from pellucid.core.functions.impurities import CLASS_CRITERIA
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.stand_ins import stands_for
from pellucid.tree.cart import CartTree
from pellucid.tree.growing import Classes
from pellucid.tree.record import Tree
from pellucid.tree.splits import SplitSearch


class DecisionTreeClassifier(CartTree, Classifier):
    """A binary tree of questions ``x_j <= t`` for classes (CART).

    NaN is accepted: a missing cell goes to the side where it lowers the impurity more, and where
    training had none at the node, to the larger side. ``sample_weight`` equals repetition. The
    tree is the same for any number of threads; ties go to the lowest feature, then the lowest
    threshold, so ``random_state`` matters for ``max_features`` and ``splitter="random"`` only.
    Sparse X is made dense.

    Parameters
    ----------
    criterion : str or SplitSearch, default="gini"
        "gini", "entropy" (bits), "log_loss" (the same) or "misclassification".
    splitter : {"best", "random"}, default="best"
        "random": one random threshold per feature, the best of these.
    max_depth : int, default=None
        Levels of questions at most.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Rows that a node needs to be split, and that each side must keep; a float is a share.
    min_weight_fraction_leaf : float, default=0.0
        Share of the total weight that each side must keep.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Features looked at in each node, drawn at random; None: all.
    random_state : int, RandomState, Generator or None, default=None
        Draws the features of ``max_features`` and the thresholds of ``splitter="random"``.
    max_leaf_nodes : int, default=None
        Grow the best leaf first until there are so many.
    min_impurity_decrease : float, default=0.0
        A split must lower the impurity of the whole tree by this much.
    class_weight : dict, list of dict, "balanced" or None, default=None
        Factors for the weights of the classes.
    ccp_alpha : float, default=0.0
        Cost of a leaf in cost-complexity pruning.
    monotonic_cst : array-like of -1, 0, 1, default=None
        Whether the probability of the second of two classes falls, is free or grows with each
        feature.
    categorical_features : "from_dtype", mask, column numbers, names or None
        Columns whose values are names without order: a question asks whether the value is in a
        set. "from_dtype": the category columns of a frame.
    interaction_cst : sequence of sets of column numbers, "pairwise", "no_interactions" or None
        Columns that may meet on a path from the root to a leaf; a column in none of the sets may
        meet the others that are in none.

    Attributes
    ----------
    tree_ : Tree
        The nodes as arrays, with scikit-learn's names.
    categories_ : list of the sorted values of every category column (None for numbers), or None
    classes_, n_classes_ : labels and their number; lists for several outputs
    feature_importances_ : ndarray of shape (n_features,)
    max_features_, n_outputs_ : int
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import DecisionTreeClassifier
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> model = DecisionTreeClassifier().fit(X, y)
    >>> model.predict(X).tolist(), model.get_depth(), model.get_n_leaves()
    (['no', 'yes', 'yes', 'no'], 2, 4)
    """

    _criteria = CLASS_CRITERIA

    def __init__(
        self,
        *,
        criterion: str | SplitSearch = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: Seed = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: str | dict[Any, float] | list[dict[Any, float]] | None = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: ArrayLike | None = None,
        categorical_features: ArrayLike | None = "from_dtype",
        interaction_cst: str | Iterable[Iterable[int]] | None = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.interaction_cst = interaction_cst

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: np.ndarray | None = None) -> Self:
        """Grow the tree and prune it by ``ccp_alpha``."""
        context = FitContext.of_one_step(self, X, y, sample_weight)
        rows = self._check_training(X, y, sample_weight)
        w = np.array(rows.w)
        if self.class_weight is not None:
            w *= compute_sample_weight(self.class_weight, self._labels(y))
        codes = rows.y.reshape(len(rows.y), -1)
        self.n_outputs_ = codes.shape[1]
        sizes = [len(c) for c in self._class_lists()]
        self.n_classes_ = sizes[0] if rows.y.ndim == 1 else np.array(sizes)
        self.tree_: Tree = self._grow(rows.X, Classes(codes, np.array(sizes)), w)
        context.end()
        return self

    def _labels(self, y: Any) -> Any:
        """Labels as an array: a vector, or a column for every output."""
        refuse_sparse(y)
        if is_frame(y):
            y = y.to_numpy()
        y = np.asarray(y)
        return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y

    def _check_target(self, y: ArrayLike, n: int) -> IntArray:
        labels: Any = y if y is None else self._labels(y)
        if np.ndim(labels) < 2:
            self.classes_, codes = encode_labels(check_labels(labels, n, self))
            return codes
        check_array(labels, dtype=None, ensure_all_finite=False, estimator=self)
        if len(labels) != n:
            got = f"{n} and {len(labels)}"
            raise ValueError(f"X and y need the same number of rows (n_samples), got {got}")
        check_label_kinds(labels)
        found = [encode_labels(check_labels(column, n, self)) for column in labels.T]
        self.classes_ = [classes for classes, _ in found]
        return np.stack([codes for _, codes in found], axis=1)

    def _class_lists(self) -> list[Any]:
        return self.classes_ if isinstance(self.classes_, list) else [self.classes_]

    def _monotone(self, constraints: IntArray) -> Any:
        """A node's value is the share of the first class, so the signs turn."""
        if self.n_outputs_ > 1:
            raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
        if len(self.classes_) > 2:
            raise ValueError(
                "Monotonicity constraints are not supported with multiclass classification"
            )
        return None if len(self.classes_) < 2 else -constraints

    def predict(self, X: ArrayLike) -> Any:
        """The label of the largest share in each row's leaf; the first of equals."""
        leaves = self.apply(X)
        found = [
            classes[np.argmax(self.tree_.value[:, j, : len(classes)], axis=1)][leaves]
            for j, classes in enumerate(self._class_lists())
        ]
        return found[0] if self.n_outputs_ == 1 else np.stack(found, axis=1)

    def predict_proba(self, X: ArrayLike) -> Any:
        """Class shares of each row's leaf, (n, K); a list of these for several outputs."""
        leaves = self.apply(X)
        found = [
            self.tree_.value[leaves, j, : len(classes)]
            for j, classes in enumerate(self._class_lists())
        ]
        return found[0] if self.n_outputs_ == 1 else found

    def predict_log_proba(self, X: ArrayLike) -> Any:
        """Logarithms of the class shares."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):  # a class that is not in the leaf
            return [np.log(p) for p in shares] if isinstance(shares, list) else np.log(shares)

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "tree_"):
            sizes = [len(classes) for classes in self._class_lists()]
            if self.tree_.value.shape[1:] != (len(sizes), max(sizes)):
                raise ValueError(f"tree_ must have shares of {sizes} classes")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> DecisionTreeClassifier().fit([[0], [1]], [0, 1]).card().numbers["leaves"]
        2
        """
        numbers = self._numbers()
        measure = self._settings().impurity
        return Card(
            representation=f"axis-parallel boxes: {numbers['leaves']} leaves, each with the class "
            "shares of its examples; no scaling, no assumption on the form, interactions as deep "
            "as the path",
            evaluation=f"{measure} of the leaves, weighted by their examples, plus ccp_alpha "
            f"= {self.ccp_alpha:g} per leaf",
            optimisation=self._optimisation(),
            numbers=numbers,
        )


stands_for("sklearn.tree", DecisionTreeClassifier)

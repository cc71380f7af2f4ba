r"""Regression trees (CART).

Model        a tree of questions x_j <= t; a leaf answers the mean (absolute_error: median)
Splitting    the question of least SSE_L + SSE_R (or the sum of absolute errors, or the Poisson
             deviance), found in one pass over the sorted column
Several outputs share the tree; their impurities are averaged.

References: Breiman, Friedman, Olshen & Stone (1984); ESL, section 9.2.2.
"""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from pellucid.base import Regressor, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.stand_ins import stands_for
from pellucid.tree.cart import CartTree
from pellucid.tree.record import Tree
from pellucid.tree.splits import SplitSearch


class DecisionTreeRegressor(CartTree, Regressor):
    """A binary tree of questions ``x_j <= t`` for numbers (CART).

    NaN is accepted as in ``DecisionTreeClassifier``. ``sample_weight`` equals repetition, the
    tree is the same for any number of threads, ties go to the lowest feature, then the lowest
    threshold. Sparse X is made dense.

    Parameters
    ----------
    criterion : str or SplitSearch, default="squared_error"
        "squared_error" (leaf = mean), "absolute_error" (leaf = median) or "poisson" (half the
        deviance; y >= 0). "friedman_mse", which scikit-learn retired, is squared_error.
    monotonic_cst : array-like of -1, 0, 1, default=None
        Whether the prediction falls, is free or grows with each feature.
    splitter, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
max_features, random_state, max_leaf_nodes, min_impurity_decrease, ccp_alpha, \
categorical_features, interaction_cst
        As in ``DecisionTreeClassifier``.

    Attributes
    ----------
    tree_ : Tree
        The nodes as arrays, with scikit-learn's names.
    categories_ : list of the sorted values of every category column (None for numbers), or None
    feature_importances_ : ndarray of shape (n_features,)
    max_features_, n_outputs_ : int
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[1], [2], [3], [4]], [1.0, 2.0, 7.0, 8.0])
    >>> model.predict([[1.5], [3.5]], return_std=True)
    (array([1.5, 7.5]), array([0.5, 0.5]))
    """

    _criteria = ("squared_error", "absolute_error", "poisson", "friedman_mse")

    def __init__(
        self,
        *,
        criterion: str | SplitSearch = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: float | str | None = None,
        random_state: Seed = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
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
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.interaction_cst = interaction_cst

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: np.ndarray | None = None) -> Self:
        """Grow the tree and prune it by ``ccp_alpha``."""
        context = FitContext.of_one_step(self, X, y, sample_weight)
        rows = self._check_training(X, y, sample_weight)
        targets = rows.y.reshape(len(rows.y), -1)
        self.n_outputs_ = targets.shape[1]
        if self._settings().impurity == "poisson":
            self._check_counts(targets, rows.w)
        with np.errstate(over="ignore", invalid="ignore"):
            tree = self._grow(rows.X, targets, np.array(rows.w))
        if not np.isfinite(tree.impurity[0]):
            raise ValueError("y holds numbers too large to be squared; divide it by a constant")
        self.tree_: Tree = tree
        context.end()
        return self

    def _check_counts(self, y: Array, w: Array) -> None:
        if (y < 0).any():
            least = f"Some value(s) of y are negative (least {y.min():g})"
            raise ValueError(f"{least}, which is not allowed for the Poisson criterion")
        if not (w @ y > 0).all():
            raise ValueError("Sum of y is not positive, which is necessary for criterion='poisson'")

    def _monotone(self, constraints: IntArray) -> Any:
        if self.n_outputs_ > 1:
            raise ValueError("Monotonicity constraints are not supported with multiple outputs.")
        return constraints

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """The value of each row's leaf; with ``return_std`` also the spread of its targets."""
        leaves = self.apply(X)
        value, spread = self.tree_.value[leaves, :, 0], self.tree_.spread
        if self.n_outputs_ == 1:
            value, spread = value[:, 0], spread[:, 0]
        return (value, spread[leaves]) if return_std else value

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "tree_") and self.tree_.value.shape[1:] != (self.n_outputs_, 1):
            raise ValueError(f"tree_ must have values of {self.n_outputs_} outputs")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> DecisionTreeRegressor().fit([[0], [1]], [0.0, 2.0]).card().numbers["leaves"]
        2
        """
        numbers = self._numbers()
        measure = self._settings().impurity
        answer = "median" if measure == "absolute_error" else "mean"
        return Card(
            representation=f"a step function on {numbers['leaves']} axis-parallel boxes, each with "
            f"the {answer} of its examples; no scaling, no assumption on the form; constant beyond "
            "the data",
            evaluation=f"{measure} of the leaves, weighted by their examples, plus ccp_alpha "
            f"= {self.ccp_alpha:g} per leaf",
            optimisation=self._optimisation(),
            numbers=numbers,
        )


stands_for("sklearn.tree", DecisionTreeRegressor)

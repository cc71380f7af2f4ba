"""What both CART estimators share: limits, walks, importances, pruning, rules."""

import math
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator
from pellucid.compiled.trees.presort import presort
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.runtime.random import generator
from pellucid.features.encoding.category_table import check_categories, open_codes
from pellucid.tree.growing import Classes, Growth, grow_tree
from pellucid.tree.path_states import path_states
from pellucid.tree.pruning import prune_at, pruning_path
from pellucid.tree.record import Tree, TreeArrays
from pellucid.tree.rules import Explanation, explain_cart, get_depth, get_n_leaves, tree_numbers
from pellucid.tree.sparse_growing import grow_sparse, grows_sparse, leaves_of_sparse, stays_sparse
from pellucid.tree.splits import THRESHOLDS, SplitSearch

SPLITTERS = ("best", "random")


def row_count(name: str, value: float, n: int, *, least: int) -> int:
    """A number of rows: whole, or a share of n, rounded up.

    >>> row_count("min_samples_leaf", 0.25, 10, least=1)
    3
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and value >= least:
        return int(value)
    share = isinstance(value, Real) and not isinstance(value, bool | Integral)
    if share and 0 < float(value) <= 1:
        return max(least, math.ceil(float(value) * n))
    accepted = f"an int in the range [{least}, inf) or a float in the range (0.0, 1.0]"
    what = f"The {name!r} parameter must be {accepted}, a share of the rows"
    raise ValueError(f"{what}; got {value!r}")


def column_count(value: float | str | None, d: int) -> int:
    """How many columns a split may look at.

    >>> column_count("sqrt", 20), column_count(0.5, 20), column_count(None, 20)
    (4, 10, 20)
    """
    if value is None:
        return d
    if isinstance(value, str):
        check.one_of(("sqrt", "log2"), max_features=value)
        return max(1, int(np.sqrt(d) if value == "sqrt" else np.log2(d)))
    if isinstance(value, Integral) and not isinstance(value, bool):
        check.whole(max_features=value)
        return min(int(value), d)
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) <= 1:
        return max(1, int(float(value) * d))
    accepted = "a whole number >= 1, a share in (0, 1], 'sqrt', 'log2' or None"
    raise ValueError(f"max_features must be {accepted}, got {value!r}")


def level_counts(categories: list[Any] | None) -> Any:
    """How many levels each column has, 0 for numbers; None where there are no categories.

    >>> level_counts([None, np.array(["a", "b"])])
    array([0, 2])
    """
    if categories is None:
        return None
    return np.array([0 if values is None else len(values) for values in categories], np.int64)


def has_gaps(X: Any) -> bool:
    """Whether a sparse table has missing cells."""
    return issparse(X) and bool(np.isnan(X.data).any())


class CartTree(Estimator):
    """A binary tree of questions ``x_j <= t``; a subclass says what its targets are."""

    categories_: list[Any] | None = None  # all columns are numbers
    _accepts_nan = True
    _accepts_sparse = True
    _criteria: tuple[str, ...]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _check_matrix(self, X: ArrayLike, *, reset: bool, finite: bool) -> Any:
        """Small sparse tables are written out: the columns are sorted anyway; categories coded."""

        def plain() -> Any:
            matrix = super(CartTree, self)._check_matrix(X, reset=reset, finite=finite)
            named = isinstance(self.categorical_features, str | None)
            plain_numbers = named and not has_gaps(matrix)
            return matrix if stays_sparse(matrix) and plain_numbers else to_dense(matrix)

        found, known = open_codes(self, X, plain, reset=reset)
        if reset:
            self.categories_ = known
        return found

    @abstractmethod
    def _monotone(self, constraints: IntArray) -> Any:
        """Constraints on the value of a node, from those on the prediction."""

    def _settings(self) -> SplitSearch:
        """The keywords, or the value object that replaces them."""
        if isinstance(self.criterion, SplitSearch):
            return self.criterion
        rest = {name: getattr(self, name) for name in SplitSearch._fields[2:]}
        return SplitSearch(self.criterion, **rest)

    def _growth(self, n: int, total: float) -> Growth:
        """The parameters, checked."""
        ask = self._settings()
        check.one_of(self._criteria, criterion=ask.impurity)
        check.one_of(THRESHOLDS, threshold=ask.threshold)
        check.one_of(SPLITTERS, splitter=ask.splitter)
        names = ("min_impurity_decrease", "min_weight_fraction_leaf")
        check.non_negative(**{name: getattr(ask, name) for name in names}, ccp_alpha=self.ccp_alpha)
        if ask.min_weight_fraction_leaf > 0.5:
            got = f"got {ask.min_weight_fraction_leaf!r}"
            raise ValueError(f"min_weight_fraction_leaf must be between 0 and 0.5, {got}")
        if self.max_depth is not None:
            check.whole(max_depth=self.max_depth)
        if ask.max_leaf_nodes is not None:
            check.whole(at_least=2, max_leaf_nodes=ask.max_leaf_nodes)
        pairs = self.interaction_cst
        paths = None if pairs is None else path_states(pairs, self.n_features_in_)
        return Growth(
            ask.impurity,
            ask.threshold,
            ask.splitter,
            max_depth=2**31 - 1 if self.max_depth is None else int(self.max_depth),
            min_samples_split=row_count("min_samples_split", self.min_samples_split, n, least=2),
            min_samples_leaf=row_count("min_samples_leaf", self.min_samples_leaf, n, least=1),
            min_weight_leaf=ask.min_weight_fraction_leaf * total,
            max_features=self.max_features_,
            max_leaf_nodes=ask.max_leaf_nodes,
            min_impurity_decrease=ask.min_impurity_decrease,
            monotone=self._monotone_cst(ask.monotonic_cst),
            levels=level_counts(self.categories_),
            paths=paths,
        )

    def _monotone_cst(self, given: ArrayLike | None) -> Any:
        if given is None:
            return None
        constraints = np.asarray(given)
        if constraints.shape != (self.n_features_in_,):
            shape = constraints.shape[0] if constraints.ndim == 1 else constraints.shape
            there = f"but the input data X has {self.n_features_in_} features."
            raise ValueError(f"monotonic_cst has shape {shape} {there}")
        if not np.isin(constraints, (-1, 0, 1)).all():
            got = np.unique(constraints).tolist()
            raise ValueError(
                f"monotonic_cst must be None or an array-like of -1, 0 or 1, got {got}"
            )
        levels = level_counts(self.categories_)
        if levels is not None and constraints[levels > 0].any():
            j = int(np.flatnonzero((levels > 0) & (constraints != 0))[0])
            name = self._column_name(j)
            raise ValueError(f"monotonic_cst needs columns with an order, {name} is a category")
        return self._monotone(constraints)

    def _grow(self, X: Array, target: Classes | Array, w: Array) -> Tree:
        """Grow and prune."""
        self.max_features_ = column_count(self.max_features, X.shape[1])
        growth = self._growth(X.shape[0], float(w.sum()))
        seed = int(generator(self.random_state).integers(2**62))
        if issparse(X) and grows_sparse(growth, target, X.shape[1]):
            tree = grow_sparse(X, target, w, growth)
        else:
            tree = grow_tree(presort(to_dense(X)), target, w, growth, seed)
        return prune_at(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "tree_"):
            if not isinstance(self.tree_, Tree) or self.tree_.n_features != self.n_features_in_:
                raise ValueError("tree_ must be a Tree of the fitted number of features")
            self.tree_.check()
            check_categories(self)

    get_depth = get_depth
    get_n_leaves = get_n_leaves

    def apply(self, X: ArrayLike) -> Any:
        """The number of the leaf of every row."""
        X = self._check_input(X)
        return leaves_of_sparse(self.tree_, X) if issparse(X) else self.tree_.apply(X)

    def __getstate__(self) -> dict[str, Any]:
        """The tree as plain arrays: what copies objects is not told that it is scikit-learn's."""
        state = super().__getstate__()
        if "tree_" in state:
            state = {**state, "tree_": TreeArrays(*state["tree_"])}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "tree_" in state:
            state = {**state, "tree_": Tree(*state["tree_"])}
        super().__setstate__(state)

    def _compute_partial_dependence_recursion(self, grid: Any, target_features: Any) -> Array:
        """What ``sklearn.inspection.partial_dependence`` asks for: the mean answers (n,)."""
        found = np.zeros(len(grid))
        self.tree_.compute_partial_dependence(grid, target_features, found)
        return found

    def decision_path(self, X: ArrayLike) -> Any:
        """Sparse 0/1 matrix (n, nodes): the nodes that each row passes."""
        return self.tree_.paths_to(self.apply(X))

    def cost_complexity_pruning_path(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Bunch:
        """``ccp_alphas`` and ``impurities`` of the nested sequence of pruned trees."""
        whole = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
        path = pruning_path(whole.tree_)
        return Bunch(ccp_alphas=path.ccp_alphas, impurities=path.impurities)

    def explain(self, X: ArrayLike) -> list[Explanation]:
        """The path of each row: its nodes, its conditions, its leaf's value."""
        return explain_cart(self, self._check_input(X), self._feature_names())

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the total decrease of impurity."""
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    def _numbers(self) -> dict[str, Any]:
        """The numbers of the card."""
        tree = self.tree_
        risk = tree.weighted_n_node_samples * tree.impurity
        left = risk[tree.feature < 0].sum() / tree.weighted_n_node_samples[0]
        return tree_numbers(tree) | {
            "impurity of the root": float(tree.impurity[0]),
            "impurity of the leaves": float(left),
            "features used": len(np.unique(tree.feature[tree.feature >= 0])),
        }

    def _optimisation(self) -> str:
        ask = self._settings()
        order = "best leaf first" if ask.max_leaf_nodes else "branch by branch"
        cut = f"; then pruned at ccp_alpha={self.ccp_alpha:g}" if self.ccp_alpha else ""
        return (
            f"greedy, {order}: the best of all questions at each node by one pass over sorted "
            "columns, never taken back (the smallest optimal tree is NP-hard to find); ties go "
            f"to the lowest feature, then the lowest threshold{cut}"
        )

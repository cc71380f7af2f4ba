r"""How mixed the leaves of every tree of a forest are.

    root_t = impurity of all rows that tree t saw,   leaves_t = sum_leaves (w_leaf / w) impurity

Their difference is what the questions of the tree gained: the sum that feature importances divide
among the columns. Gini's index, the entropy or the variance, as the forest was grown.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array
from pellucid.core.readable import readable
from pellucid.core.records import plain, show
from pellucid.tree.record import LEAF


@readable
class TreeImpurities(NamedTuple):
    """Impurities of the trees of a forest; a tree is pure where its leaves have 0.

    >>> print(TreeImpurities(np.array([0.5, 0.5]), np.array([0.0, 0.1])))
    2 trees: root 0.5 to 0.5, leaves 0 to 0.1, 1 pure
    """

    root: Array  # (trees,) of the rows each tree saw
    leaves: Array  # (trees,) mean over its leaves, by their weight

    @property
    def decrease(self) -> Array:
        """What the questions of each tree gained."""
        return self.root - self.leaves

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        spans = [f"{show(float(a.min()))} to {show(float(a.max()))}" for a in self]
        pure = int((self.leaves == 0).sum())
        return f"{len(self.root)} trees: root {spans[0]}, leaves {spans[1]}, {pure} pure"


def tree_impurities(forest: Any) -> TreeImpurities:
    """The impurity at the root and in the leaves of every tree of a fitted forest.

    ``forest`` is a random forest or extra trees of this library, or any committee whose
    ``estimators_`` have a ``tree_``.

    >>> from pellucid import RandomForestClassifier
    >>> model = RandomForestClassifier(5, random_state=0).fit([[0.0], [1.0], [2.0], [3.0]] * 9,
    ...                                                       [0, 0, 1, 1] * 9)
    >>> tree_impurities(model).leaves.tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0]
    """
    check_is_fitted(forest)
    record = getattr(forest, "forest_", None)
    if record is not None:
        trees = [record.tree(t) for t in range(record.n_trees)]
    else:
        members = [np.ravel(m)[0] for m in getattr(forest, "estimators_", [])]
        if not members or not all(hasattr(m, "tree_") for m in members):
            raise ValueError(f"tree_impurities needs a forest of trees, got {forest!r}")
        trees = [m.tree_ for m in members]
    found = np.array([both(tree) for tree in trees])
    return TreeImpurities(found[:, 0], found[:, 1])


def both(tree: Any) -> tuple[float, float]:
    """The impurity of the root, and the mean of the leaves."""
    leaf = np.asarray(tree.children_left) == LEAF
    w, impurity = np.asarray(tree.weighted_n_node_samples), np.asarray(tree.impurity)
    return float(impurity[0]), float(w[leaf] @ impurity[leaf] / w[leaf].sum())

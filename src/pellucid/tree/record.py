"""A grown tree as arrays: what scikit-learn calls ``tree_``."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, issparse

from pellucid.compiled.trees.walk import leaves_of, mark_paths, node_depths
from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.stand_ins import instance_class

LEAF = -1  # as a child
UNDEFINED = -2  # feature and threshold of a leaf
NO_LEVELS, NO_SETS = np.zeros(0, np.int64), np.zeros(0, np.uint64)


class TreeArrays(NamedTuple):
    """The arrays of a ``Tree``; see there."""

    children_left: Any  # (nodes,) int32, -1 in a leaf
    children_right: Any
    feature: Any  # (nodes,) int32, -2 in a leaf
    threshold: Array  # (nodes,), -2 in a leaf
    missing_go_to_left: Any  # (nodes,) uint8
    impurity: Array  # (nodes,)
    n_node_samples: Any  # (nodes,) int64
    weighted_n_node_samples: Array  # (nodes,)
    value: Array  # (nodes, outputs, classes): class shares; numbers: (nodes, outputs, 1)
    spread: Array  # (nodes, outputs) standard deviation of the targets; classes: (nodes, 0)
    n_classes: Any  # (outputs,) int64
    n_features: int
    levels: Any = NO_LEVELS  # (n_features,) int64, or (0,): all columns are numbers
    sets: Any = NO_SETS  # (words,) uint64


class Tree(TreeArrays):
    """Nodes in preorder, one entry each; node 0 is the root.

    ``x[feature] <= threshold`` goes to ``children_left``, everything else to ``children_right``;
    a missing cell goes left where ``missing_go_to_left``. Where ``levels[feature]`` is not 0, the
    cell is the code of a level, and the levels that go left are the bits of ``sets`` from word
    ``threshold`` on; a code that is no level goes where missing cells go.

    >>> import numpy as np
    >>> from pellucid import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    >>> tree.node_count, tree.max_depth, tree.threshold.tolist()
    (3, 1, [0.5, -2.0, -2.0])
    """

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """scikit-learn's own tree for whoever asks; not where a question is about levels."""
        if np.any(self.levels):
            return Tree
        return instance_class(Tree, "sklearn.tree._tree", "Tree")

    def __reduce__(self) -> tuple[Any, ...]:  # pickle would hold ``__class__`` against the type
        return Tree, tuple(self)

    @property
    def node_count(self) -> int:
        return len(self.feature)

    @property
    def capacity(self) -> int:
        """How many nodes the arrays have room for: those that are there."""
        return self.node_count

    @property
    def n_outputs(self) -> int:
        return self.value.shape[1]

    @property
    def max_n_classes(self) -> int:
        return self.value.shape[2]

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.feature < 0))

    @property
    def max_depth(self) -> int:
        return int(self.depths()[0].max())

    def depths(self) -> tuple[Any, Any]:
        """Depth and parent of every node."""
        depth, parent = np.empty(self.node_count, np.int32), np.empty(self.node_count, np.int32)
        node_depths(self.children_left, self.children_right, depth, parent)
        return depth, parent

    def apply(self, X: Any) -> Any:
        """The leaf of every row of X (n, d), dense or sparse, of any kind of numbers."""
        X = np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)
        nodes = self.feature, self.threshold, self.missing_go_to_left, self.children_right
        return leaves_of(X, *nodes, self.levels, self.sets)

    def asks_levels(self, node: int) -> bool:
        """Whether the node divides levels of a category."""
        return len(self.levels) > 0 and bool(self.levels[self.feature[node]] > 0)

    def left_levels(self, node: int) -> Any:
        """The codes of the levels that go left at a node that asks about levels."""
        n, begin = int(self.levels[self.feature[node]]), int(self.threshold[node])
        words = self.sets[begin : begin - (-n // 64)].astype("<u8")
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        return np.flatnonzero(bits[:n])

    def predict(self, X: Array) -> Array:
        """The values of the leaves: (n, classes) for one output, else (n, outputs, classes)."""
        found = self.value[self.apply(X)]
        return found[:, 0] if self.n_outputs == 1 else found

    def decision_path(self, X: Any) -> Any:
        """Sparse 0/1 matrix (n, nodes): the nodes that each row passes."""
        return self.paths_to(self.apply(X))

    def paths_to(self, leaves: Any) -> Any:
        """The same for rows whose leaves are known."""
        depth, parent = self.depths()
        indptr = np.concatenate([[0], np.cumsum(depth[leaves] + 1, dtype=np.int64)])
        indices = np.empty(indptr[-1], np.int64)
        mark_paths(leaves, parent, indptr, indices)
        data = np.ones(len(indices), np.int64)
        return csr_matrix((data, indices, indptr), shape=(len(leaves), self.node_count))

    def compute_partial_dependence(self, X: Array, target_features: Any, out: Array) -> None:
        """Add to ``out`` (n,) the mean answer where the target features have the values X (n, k).

        At a question about another feature both ways are taken, in the shares of the training
        weights (Friedman 2001, section 8.2).
        """
        out += recursive_means(
            self, self.value[:, 0, 0], np.asarray(X, np.float64), np.asarray(target_features)
        )

    def compute_feature_importances(self, normalize: bool = True) -> Array:
        """Total decrease of impurity by each feature, as shares of the sum."""
        inner = np.flatnonzero(self.feature >= 0)
        mass = self.weighted_n_node_samples * self.impurity
        left, right = self.children_left[inner], self.children_right[inner]
        gain = mass[inner] - mass[left] - mass[right]
        total = np.bincount(self.feature[inner], gain, self.n_features).astype(np.float64)
        total /= self.weighted_n_node_samples[0]
        return total / total.sum() if normalize and total.sum() > 0 else total

    def check(self) -> None:
        """Raise ValueError for arrays that do not fit together: compiled code does not check."""
        n = self.node_count
        inner = self.feature >= 0
        places = np.arange(n)
        left, right = self.children_left, self.children_right
        shapes = {len(field) for field in self[:10]}
        kinds = ("i4", "i4", "i4", "f8", "u1")
        sound = (
            n > 0
            and shapes == {n}
            and all(field.dtype == kind for field, kind in zip(self[:5], kinds, strict=True))
            and self.value.ndim == 3
            and len(self.n_classes) == self.value.shape[1]
            and bool((self.feature < self.n_features).all())
            and bool((left[inner] == places[inner] + 1).all())
            and bool(((right[inner] > left[inner]) & (right[inner] < n)).all())
            and bool((left[~inner] == LEAF).all() and (right[~inner] == LEAF).all())
        )
        if not sound or not sound_sets(self):
            raise ValueError("the arrays of the tree do not fit together")


def recursive_means(nodes: Any, value: Array, X: Array, target_features: Any) -> Array:
    """Partial dependence by recursion for nodes in which children come after their parents."""
    place = {int(j): k for k, j in enumerate(target_features)}
    weight = nodes.weighted_n_node_samples
    reached = np.zeros((len(value), len(X)))
    reached[0] = 1.0
    total = np.zeros(len(X))
    for i in range(len(value)):
        left, right = nodes.children_left[i], nodes.children_right[i]
        if left < 0:
            total += reached[i] * value[i]
            continue
        column = place.get(int(nodes.feature[i]))
        if column is None:
            share = weight[left] / weight[i]
        else:
            share = (X[:, column] <= nodes.threshold[i]).astype(np.float64)
        reached[left] = reached[i] * share
        reached[right] = reached[i] * (1.0 - share)
    return total


def sound_sets(nodes: Any) -> bool:
    """Whether every set of levels lies inside ``sets``; of a Tree or a Forest."""
    levels, sets = nodes.levels, nodes.sets
    if levels.dtype != np.int64 or sets.dtype != np.uint64 or sets.ndim != 1:
        return False
    if levels.shape == (0,):
        return True
    if levels.shape != (nodes.n_features,) or not ((levels >= 0) & (levels < 2**31)).all():
        return False
    inner = nodes.feature >= 0
    words = -(-levels[nodes.feature[inner]] // 64)
    begin = nodes.threshold[inner][words > 0]
    inside = (begin >= 0) & (begin + words[words > 0] <= len(sets)) & (begin == np.floor(begin))
    return bool(inside.all())


def set_rows(nodes: Any) -> tuple[Any, Any]:
    """Of a Tree or a Forest: (row of every node or -1, sets of levels in rows of equal width)."""
    category = np.full(len(nodes.feature), -1, np.int32)
    if len(nodes.levels) == 0:
        return category, np.zeros((0, 1), np.int64)
    words = np.where(nodes.feature >= 0, -(-nodes.levels[np.maximum(nodes.feature, 0)] // 64), 0)
    asks = np.flatnonzero(words > 0)
    category[asks] = np.arange(len(asks))
    rows = np.zeros((len(asks), max(int(words.max()), 1)), np.int64)
    place = nodes.threshold[asks].astype(np.int64)
    for k in range(rows.shape[1]):
        has = words[asks] > k
        rows[has, k] = nodes.sets[place[has] + k].view(np.int64)
    return category, rows

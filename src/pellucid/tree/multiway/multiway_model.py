"""What the two multiway trees share: columns of any kind, growth, walks, explanations."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator
from pellucid.core.arrays import check
from pellucid.core.arrays.columns import Coded, Text, plain_column
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.features.encoding.categories import find_values, look_up, sorted_values
from pellucid.tree.cart import row_count
from pellucid.tree.multiway.multiway import Attributes, Rules, grow_multiway, walk
from pellucid.tree.multiway.record import MultiwayTree
from pellucid.tree.rules import Condition, Explanation, get_depth, get_n_leaves, tree_numbers

UNSEEN = -2  # the code of a category that the fit never saw; -1 is missing


def absent(values: NDArray[Any]) -> BoolArray:
    """Which values stand for a missing cell: None, NaN, NA."""
    cells = values.tolist()
    return np.array([v is None or type(v).__name__ == "NAType" or v != v for v in cells], bool)


def is_categorical(column: np.ndarray) -> bool:
    """By type: text, objects, categories and truth values are categories."""
    return isinstance(column, Text | Coded) or column.dtype.kind not in "iuf"


class MultiwayBase(Estimator):
    """A tree with one branch per category; a subclass says what its targets are."""

    _accepts_nan = True
    _criteria: tuple[str, ...]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    @abstractmethod
    def _node_values(self, sums: Array) -> tuple[Array, Array]:
        """Value (nodes, 1, k) and spread of the nodes from their sums."""

    def _mask(self, columns: Sequence[Any]) -> BoolArray:
        """Which columns are categorical."""
        asked, d = self.categorical_features, len(columns)
        if isinstance(asked, str):
            check.one_of(("from_dtype",), categorical_features=asked)
            return np.array([is_categorical(column) for column in columns])
        mask = np.zeros(d, bool)
        given = np.asarray([] if asked is None else asked)
        if given.dtype.kind == "b" and given.shape == (d,):
            mask |= given
        elif given.dtype.kind in "iu" and (given < d).all() and (given >= -d).all():
            mask[given] = True
        elif given.dtype.kind in "UO" and set(given.tolist()) <= set(self._feature_names()):
            names = list(self._feature_names())
            mask[[names.index(name) for name in given.tolist()]] = True
        elif given.size:
            accepted = f"'from_dtype', column numbers, names or a mask of {d} columns"
            raise ValueError(f"categorical_features must be {accepted}, got {asked!r}")
        return mask

    def _read(self, X: ArrayLike) -> Attributes:
        """Training columns as codes and numbers; keeps the categories."""
        columns = self._check_columns(X, reset=True)
        self.is_categorical_ = self._mask(columns)
        self.categories_: list[Any] = [None] * len(columns)
        found = self._distinct(columns)
        for j, (values, _) in found.items():
            self.categories_[j] = sorted_values(values[~absent(values)])
        return Attributes(self._coded(columns, found), self.is_categorical_)

    def _coded(self, columns: Sequence[Any], found: dict[int, tuple[Any, Any]]) -> list[Any]:
        """Columns as codes of the known categories, and as numbers."""
        read = []
        for j, column in enumerate(columns):
            if j in found:
                values, codes = found[j]
                read.append(self._codes(values, self.categories_[j])[codes])
            else:
                read.append(self._number_column(column, j))
        return read

    def _distinct(self, columns: Sequence[Any]) -> dict[int, tuple[Any, Any]]:
        """Distinct values and codes of the categorical columns, found in one sweep."""
        chosen = np.flatnonzero(self.is_categorical_).tolist()
        if not chosen:
            return {}
        found = find_values([columns[j] for j in chosen])
        return {j: (found.values[k], found.codes[k]) for k, j in enumerate(chosen)}

    def _number_column(self, column: np.ndarray, j: int) -> Array:
        column = plain_column(column)
        try:
            return np.ascontiguousarray(column, dtype=np.float64)
        except (TypeError, ValueError):
            what = f"{self._column_name(j)} holds text, which is not numeric"
            raise ValueError(f"{what}: list it in categorical_features") from None

    @staticmethod
    def _codes(values: np.ndarray, known: Any) -> Any:
        """Codes of values: -1 missing, UNSEEN where the fit did not see them."""
        codes = look_up(values, known) if len(known) else np.full(len(values), -1)
        codes = np.where(codes < 0, UNSEEN, codes)
        return np.where(absent(values), -1, codes).astype(np.int32)

    def _columns(self, X: ArrayLike) -> list[Any]:
        """Rows to predict as codes and numbers."""
        check_is_fitted(self)
        columns = self._check_columns(X, reset=False)
        return self._coded(columns, self._distinct(columns))

    def _grow(self, table: Attributes, y: Array, label: IntArray, q: int, w: Array) -> MultiwayTree:
        check.one_of(self._criteria, criterion=self.criterion)
        check.one_of(("fractions", "mode"), missing=self.missing)
        if self.max_depth is not None:
            check.whole(max_depth=self.max_depth)
        depth = 2**31 - 1 if self.max_depth is None else int(self.max_depth)
        split = row_count("min_samples_split", self.min_samples_split, len(w), least=2)
        leaf = row_count("min_samples_leaf", self.min_samples_leaf, len(w), least=1)
        rules = Rules(self.criterion, depth, split, leaf, self.missing == "fractions")
        tree, sums = grow_multiway(table, y, label, q, w, rules)
        value, spread = self._node_values(sums)
        return tree._replace(value=value, spread=spread)

    def _answers(self, X: ArrayLike) -> Array:
        """Values of the leaves, weighted by the fractions that end in them, (n, k)."""
        columns, value = self._columns(X), self.tree_.value[:, 0]
        visit = walk(self.tree_, columns, fractions=self.missing == "fractions")
        out = np.zeros((len(columns[0]), value.shape[1]))
        np.add.at(out, visit.rows, visit.weight[:, None] * value[visit.nodes])
        return out

    def apply(self, X: ArrayLike) -> Any:
        """The node where each row ends; a missing cell follows the heaviest branch."""
        columns = self._columns(X)
        visit = walk(self.tree_, columns, fractions=False)
        out = np.empty(len(columns[0]), np.int64)
        out[visit.rows] = visit.nodes
        return out

    def explain(self, X: ArrayLike) -> list[Explanation]:
        """The path of each row (along the heaviest branch where a cell is missing)."""
        end, names = self.apply(X), self._feature_names()
        return [self._path(int(node), names) for node in end]

    def _path(self, node: int, names: Sequence[str]) -> Explanation:
        tree, nodes, conditions = self.tree_, [node], []
        value = tuple(tree.value[node, 0].tolist())
        while tree.parent[node] >= 0:
            above, code = int(tree.parent[node]), int(tree.branch[node])
            j, t = int(tree.feature[above]), float(tree.threshold[above])
            if math.isnan(t):
                category = self.categories_[j][code : code + 1].tolist()[0]
                conditions.append(Condition(names[j], "=", category))
            else:
                conditions.append(Condition(names[j], "<=" if code == 0 else ">", t))
            node = above
            nodes.append(node)
        return Explanation(tuple(nodes[::-1]), tuple(conditions[::-1]), value)

    get_depth = get_depth
    get_n_leaves = get_n_leaves

    @property
    def node_count_(self) -> int:
        """The number of nodes."""
        check_is_fitted(self)
        return self.tree_.node_count

    @property
    def feature_importances_(self) -> Array:
        """Share of each feature in the total decrease of impurity."""
        check_is_fitted(self)
        return self.tree_.importances()

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "tree_"):
            if not isinstance(self.tree_, MultiwayTree):
                raise ValueError("tree_ must be a MultiwayTree")
            self.tree_.check()
            p, d = self.n_features_in_, self.tree_.n_features
            if d != p:
                raise ValueError(f"tree_ asks about {d} features, the model has {p}")

    def _numbers(self) -> dict[str, Any]:
        return tree_numbers(self.tree_) | {
            "categorical features": int(self.is_categorical_.sum()),
            "impurity of the root": float(self.tree_.impurity[0]),
        }

    def _optimisation(self) -> str:
        return (
            "greedy, from the root down: the attribute of greatest merit, never taken back; ties "
            f"go to the first column; missing cells by {self.missing}"
        )

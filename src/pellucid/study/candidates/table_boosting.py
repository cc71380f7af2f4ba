r"""Gradient boosting that takes categories and missing cells as they are.

The features of a study are the same for all models: a column for every level, the median in a
missing cell and a column that says so. Linear models need that; trees do better with the column
itself, and in a fraction of the time. It is found in the learning rows:

    levels     neighbouring columns of 0 and 1 of which just one is 1 in every row are one column
               of categories, a row without any 1 is a missing cell
    gaps       a column of 0 and 1 that is 1 only where the column before it has one single value
               marks that column's missing cells

Both say the same in fewer columns, wherever they come from, so nothing is lost when they do not
come from a category. Cost: one pass over the columns of 0 and 1.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, Regressor
from pellucid.core.arrays.typing import Array, BoolArray, IntArray, Seed
from pellucid.core.records import Card
from pellucid.ensemble.boosting.hist_boosting import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)

MOST_LEVELS = 255


class Folding(NamedTuple):
    """Which columns are one: levels [begin, end) of a category, and the marks of missing cells."""

    levels: IntArray  # (blocks, 2)
    gaps: IntArray  # (marks,)


def find_folding(Z: Array) -> Folding:
    """What the learning rows show.

    >>> Z = np.array([[5.0, 0, 1, 0, 0], [0.0, 1, 0, 1, 0], [7.0, 0, 0, 0, 1], [0.0, 1, 0, 0, 1]])
    >>> folding = find_folding(Z)
    >>> folding.levels.tolist(), folding.gaps.tolist()
    ([[2, 5]], [1])
    """
    p = Z.shape[1]
    binary = ((Z == 0) | (Z == 1)).all(axis=0)
    levels, at = [], 0
    while at < p:
        end = _end_of_levels(Z, binary, at)
        if end - at > 1:
            levels.append((at, end))
        at = max(end, at + 1)
    free = np.ones(p, bool)
    for begin, end in levels:
        free[begin:end] = False
    marks = [
        j for j in range(1, p) if binary[j] and free[j - 1 : j + 1].all() and not binary[j - 1]
    ]
    gaps = [j for j in marks if _is_mark(Z[:, j - 1], Z[:, j])]
    return Folding(np.array(levels, dtype=np.intp).reshape(-1, 2), np.array(gaps, dtype=np.intp))


def _end_of_levels(Z: Array, binary: BoolArray, begin: int) -> int:
    """The end of the columns from ``begin`` on of which one is 1 in every row; ``begin``: none."""
    total = np.zeros(len(Z))
    for j in range(begin, min(len(binary), begin + MOST_LEVELS)):
        if not binary[j]:
            return begin
        total += Z[:, j]
        if total.max(initial=0.0) > 1:
            return begin
        if total.min(initial=1.0) == 1:
            return j + 1
    return begin


def _is_mark(column: Array, mark: Array) -> bool:
    marked = column[mark == 1]
    return len(marked) > 0 and bool((marked == marked[0]).all())


def fold(Z: Array, folding: Folding) -> tuple[Array, BoolArray]:
    """Fewer columns, and which of them are categories (two levels are numbers).

    >>> Z = np.array([[5.0, 0, 1, 0, 0], [0.0, 1, 0, 1, 0], [1.0, 0, 0, 0, 0]])
    >>> fold(Z, Folding(np.array([[2, 5]]), np.array([1])))[0]
    array([[ 5.,  0.],
           [nan,  1.],
           [ 1., nan]])
    """
    Z = np.array(Z, dtype=np.float64)
    for j in folding.gaps:
        Z[Z[:, j] == 1, j - 1] = np.nan
    category = np.zeros(Z.shape[1], bool)
    for begin, end in folding.levels:
        block = Z[:, begin:end]
        Z[:, begin] = np.where(block.any(axis=1), block.argmax(axis=1), np.nan)
        category[begin] = end - begin > 2
    kept = kept_columns(folding, Z.shape[1])
    return Z[:, kept], category[kept]


def kept_columns(folding: Folding, p: int) -> IntArray:
    """The columns that stand for themselves, or for the levels that begin with them."""
    kept = np.ones(p, bool)
    kept[folding.gaps] = False
    for begin, end in folding.levels:
        kept[begin + 1 : end] = False
    return np.flatnonzero(kept)


class TableBoosting:
    """What the two models below have in common; ``loss`` is that of the boosting unless told."""

    boosting: type  # the estimator within
    model_: Any

    def __init__(
        self,
        loss: str | None = None,
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int = 31,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        warm_start: bool = False,
        early_stopping: bool = False,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        random_state: Seed = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, X_val: Any = None, y_val: Any = None) -> Self:
        """Boost, or grow on (``warm_start``); ``X_val, y_val`` are watched for early stopping."""
        options: dict[str, Any] = self.get_params()  # type: ignore[attr-defined]
        if self.loss is None:
            del options["loss"]
        X = np.asarray(X, dtype=np.float64)
        if not (self.warm_start and hasattr(self, "model_")):
            folding = find_folding(X)
            self.levels_, self.gaps_, self.n_features_in_ = *folding, X.shape[1]
            self.model_ = self.boosting()
        folded, category = fold(X, self._folding())
        asked = category if category.any() else None
        held = {} if X_val is None else {"X_val": self._folded(X_val), "y_val": y_val}
        self.model_.set_params(**options, categorical_features=asked).fit(folded, y, **held)
        self.n_iter_ = int(self.model_.n_iter_)
        if hasattr(self.model_, "classes_"):
            self.classes_ = self.model_.classes_
        return self

    def _folding(self) -> Folding:
        check_is_fitted(self, "model_")
        return Folding(self.levels_, self.gaps_)

    def _folded(self, X: Any) -> Array:
        return fold(np.asarray(X), self._folding())[0]

    @property
    def validation_score_(self) -> Array:
        """Minus the loss of the rows that were watched, after every round."""
        return np.asarray(self.model_.validation_score_)

    @property
    def feature_importances_(self) -> Array:
        """Each column's share of the gains; that of a category stands at its first level."""
        shares = np.zeros(self.n_features_in_)
        shares[kept_columns(self._folding(), self.n_features_in_)] = (
            self.model_.feature_importances_
        )
        return shares

    def card(self) -> Card:
        """That of the boosting within, and how many columns it was given."""
        inner = self.model_.card()
        folded = len(kept_columns(self._folding(), self.n_features_in_))
        return inner._replace(numbers={**inner.numbers, "columns after folding": folded})


class TableBoostingRegressor(TableBoosting, Regressor):
    """``HistGradientBoostingRegressor`` on folded columns.

    >>> X = np.repeat(np.eye(3), 40, axis=0)
    >>> model = TableBoostingRegressor().fit(X, X @ [1.0, 5.0, 2.0])
    >>> model.predict(np.eye(3)).round(3), model.card().numbers["columns after folding"]
    (array([1., 5., 2.]), 1)
    """

    boosting = HistGradientBoostingRegressor

    def predict(self, X: Any) -> Array:
        """Predict the target of each row."""
        return self.model_.predict(self._folded(X))


class TableBoostingClassifier(TableBoosting, Classifier):
    """``HistGradientBoostingClassifier`` on folded columns.

    >>> X = np.repeat(np.eye(3), 40, axis=0)
    >>> model = TableBoostingClassifier().fit(X, np.repeat(["a", "b", "a"], 40))
    >>> model.predict(np.eye(3)).tolist()
    ['a', 'b', 'a']
    """

    boosting = HistGradientBoostingClassifier

    def predict_proba(self, X: Any) -> Array:
        """The probability of every class."""
        return self.model_.predict_proba(self._folded(X))

    def predict(self, X: Any) -> Any:
        """The likeliest label."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

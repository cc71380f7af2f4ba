"""Trees with one branch per category for numbers; the mathematics is in ``multiway``."""

from typing import Self

import numpy as np

from pellucid.base import Regressor, check_weights, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.tree.multiway.multiway_model import MultiwayBase


class MultiwayTreeRegressor(MultiwayBase, Regressor):
    """A tree with one branch per category for numbers: a leaf answers the mean.

    Missing cells (None, NaN, NA) are accepted in fit and prediction. A category that a node has
    not seen gets the node's own mean. ``sample_weight`` equals repetition.

    Parameters
    ----------
    criterion : {"squared_error"}, default="squared_error"
        Decrease of the variance.
    max_depth : int, default=None
        Levels of questions at most.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Rows that a node needs to be divided, and that every child must have; a float is a share.
    categorical_features : "from_dtype", column numbers, names or mask, default="from_dtype"
        Text, objects, categories and truth values are categories, numbers are not; or say which.
    missing : {"fractions", "mode"}, default="fractions"
        A row without the value goes to all children in fractions, or counts as the most common
        value at the node (numeric: goes to the larger side).
    random_state : default=None
        Accepted without effect; nothing here is random.

    Attributes
    ----------
    tree_ : MultiwayTree
        The nodes as arrays.
    categories_ : list, the sorted categories of each categorical column, else None
    is_categorical_ : ndarray of shape (n_features,)
    node_count_ : int
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import MultiwayTreeRegressor
    >>> model = MultiwayTreeRegressor().fit([["a"], ["b"], ["b"]], [1.0, 2.0, 4.0])
    >>> model.predict([["a"], ["b"], [None]]).round(4).tolist()
    [1.0, 3.0, 2.3333]
    """

    _criteria = ("squared_error",)
    _multi_output = False

    def __init__(
        self,
        criterion: str = "squared_error",
        *,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        categorical_features: ArrayLike = "from_dtype",
        missing: str = "fractions",
        random_state: Seed = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.categorical_features = categorical_features
        self.missing = missing
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree."""
        context = FitContext.of_one_step(self, X, y, sample_weight)
        table = self._read(X)
        n = len(table.columns[0])
        target = self._check_target(y, n)
        w = np.array(check_weights(sample_weight, np.empty((n, 0))))
        kept = target[w > 0]
        self.center_ = float(0.5 * kept.min() + 0.5 * kept.max())  # squares of small numbers
        about = target - self.center_
        label = np.unique(target, return_inverse=True)[1]
        self.tree_ = self._grow(table, about, label, 3, w)  # sums of 1, y, y^2
        context.end()
        return self

    def _node_values(self, sums: Array) -> tuple[Array, Array]:
        mean = sums[:, 1:2] / sums[:, :1]
        variance = np.maximum(sums[:, 2:] / sums[:, :1] - mean**2, 0.0)
        return (mean + self.center_)[:, :, None], np.sqrt(variance)

    def predict(self, X: ArrayLike) -> Array:
        """The mean of the leaf, or of all leaves by their fractions."""
        return self._answers(X)[:, 0]

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> MultiwayTreeRegressor().fit([["a"], ["b"]], [0.0, 1.0]).card().numbers["nodes"]
        3
        """
        numbers = self._numbers()
        return Card(
            representation=f"{numbers['leaves']} groups, each described by a conjunction of "
            "tests with one branch per category, each with the mean of its examples",
            evaluation="decrease of the variance; no penalty on size (prune with "
            "reduced_error_prune)",
            optimisation=self._optimisation(),
            numbers=numbers,
        )

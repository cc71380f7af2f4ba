"""ID3 and C4.5 for classes; the mathematics is in ``multiway``."""

from typing import Any, Self

import numpy as np

from pellucid.base import Classifier, check_weights, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.tree.multiway.multiway_model import MultiwayBase
from pellucid.tree.multiway.pessimistic import pessimistic_prune


class MultiwayTreeClassifier(MultiwayBase, Classifier):
    """A tree with one branch per category (ID3, C4.5) for classes.

    Missing cells (None, NaN, NA) are accepted in fit and prediction. A category that a node has
    not seen gets the node's own class shares. ``sample_weight`` equals repetition.

    Parameters
    ----------
    criterion : {"gain_ratio", "entropy", "gini"}, default="gain_ratio"
        C4.5 with its guards (average gain, two branches of two cases, the price of a threshold),
        ID3, or the decrease of gini.
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
    pruning : {"auto", "pessimistic", None}, default="auto"
        "pessimistic": C4.5's pruning after growth, see ``pessimistic_prune``. "auto": with
        criterion "gain_ratio" only.
    confidence_factor : float in (0, 1), default=0.25
        Of the pruning; smaller prunes more.

    Attributes
    ----------
    tree_ : MultiwayTree
        The nodes as arrays.
    classes_ : ndarray of shape (n_classes,)
    categories_ : list, the sorted categories of each categorical column, else None
    is_categorical_ : ndarray of shape (n_features,)
    node_count_ : int
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import MultiwayTreeClassifier
    >>> from pellucid.data import load_play_ball
    >>> X, y = load_play_ball()
    >>> model = MultiwayTreeClassifier(criterion="entropy").fit(X, y)
    >>> model.node_count_, model.get_n_leaves(), model.explain(X[:1])[0].conditions[0].feature
    (8, 5, 'Outlook')
    """

    _criteria = ("gain_ratio", "entropy", "gini")

    def __init__(
        self,
        criterion: str = "gain_ratio",
        *,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        categorical_features: ArrayLike = "from_dtype",
        missing: str = "fractions",
        random_state: Seed = None,
        pruning: str | None = "auto",
        confidence_factor: float = 0.25,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.categorical_features = categorical_features
        self.missing = missing
        self.random_state = random_state
        self.pruning = pruning
        self.confidence_factor = confidence_factor

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree, and prune it if asked."""
        context = FitContext.of_one_step(self, X, y, sample_weight)
        if self.pruning is not None:
            check.one_of(("auto", "pessimistic"), pruning=self.pruning)
        check.fraction(confidence_factor=self.confidence_factor)
        table = self._read(X)
        n = len(table.columns[0])
        codes = self._check_target(y, n)
        w = np.array(check_weights(sample_weight, np.empty((n, 0))))
        if self.criterion == "gain_ratio":
            w *= max(1.0, (w > 0).sum() / w.sum())  # C4.5 counts cases: shares become counts
        self.tree_ = self._grow(table, np.empty(0), codes, len(self.classes_), w)
        if self._prunes():
            self.tree_ = pessimistic_prune(self, confidence_factor=self.confidence_factor).tree_
        context.end()
        return self

    def _prunes(self) -> bool:
        automatic = self.pruning == "auto" and self.criterion == "gain_ratio"
        return automatic or self.pruning == "pessimistic"

    def _node_values(self, sums: Array) -> tuple[Array, Array]:
        shares = sums / sums.sum(axis=1, keepdims=True)
        return shares[:, None, :], np.zeros((len(sums), 0))

    def predict_proba(self, X: np.ndarray) -> Array:
        """Class shares of the leaf, or of all leaves by their fractions, (n, K)."""
        found = self._answers(X)
        return found / found.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        """The label of the largest share; the first of equals."""
        shares = self.predict_proba(X)
        return self.classes_[np.argmax(shares, axis=1)]

    def predict_log_proba(self, X: np.ndarray) -> Array:
        """Logarithms of the class shares."""
        with np.errstate(divide="ignore"):  # a class that is not in the leaf
            return np.log(self.predict_proba(X))

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers.

        >>> MultiwayTreeClassifier("gini").fit([["a"], ["b"]], [0, 1]).card().numbers["nodes"]
        3
        """
        numbers = self._numbers()
        size = "no penalty on size (prune with reduced_error_prune or pessimistic_prune)"
        if self._prunes():
            size = f"then pessimistic pruning at confidence factor {self.confidence_factor:g}"
        return Card(
            representation=f"a disjunction of conjunctions: {numbers['leaves']} paths of tests, "
            "one branch per category, each with the class shares of its examples",
            evaluation=f"merit of a question: {self.criterion}; {size}",
            optimisation=self._optimisation(),
            numbers=numbers,
        )

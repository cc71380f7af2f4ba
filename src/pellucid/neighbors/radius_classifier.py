r"""Classification by the vote of all training rows within a radius.

Model        the training rows themselves; the neighbourhood has a fixed size, not a fixed count
Prediction   argmax_c  sum_{i: d(x, x_i) <= r} w_i [y_i = c]
Outliers     a row without neighbours of positive weight gets ``outlier_label``, or is refused

Where the rows are unevenly dense, a fixed radius averages over many rows in the crowd and over
few outside it: the bias is the same everywhere and the variance differs, the reverse of k
neighbours. With the weights K(d) a rectangular (uniform) or other kernel, this is the plug-in
rule with kernel densities of width r.

References: Fix & Hodges (1951); Devroye, Gyorfi & Lugosi (1996), chapter 10.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray, Seed
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.neighbors.neighbor_model import METHODS
from pellucid.neighbors.search.radius_search import (
    Found,
    check_radius,
    find,
    pair_weights,
    radius_neighbors,
    radius_neighbors_graph,
)
from pellucid.neighbors.voting import VotingModel, by_nearest


class PairVotes(NamedTuple):
    """The votes on some queries for one output, one per pair.

    >>> pairs = Found(2, np.array([0, 0, 1]), np.ones(3), np.arange(3))
    >>> PairVotes(np.array([0, 1, 1]), None, 2, pairs).totals
    array([[1., 1.],
           [0., 1.]])
    """

    codes: IntArray
    weights: Array | None
    n_classes: int
    found: Found

    @property
    def totals(self) -> Array:
        m, K = self.found.n_queries, self.n_classes
        totals = np.bincount(self.found.query * K + self.codes, self.weights, m * K)
        return totals.reshape(m, K).astype(np.float64)

    def nearest(self, rows: IntArray) -> IntArray:
        first, winner = self.found.first, np.empty(len(rows), np.int64)
        for at, i in enumerate(rows):
            part = slice(first[i], first[i + 1])
            order = np.argsort(self.found.distance[part], kind="stable")
            w = None if self.weights is None else self.weights[part][order][None]
            winner[at] = by_nearest(self.codes[part][order][None], w, self.n_classes)[0]
        return winner


class RadiusNeighborsClassifier(VotingModel):
    """Classification by the vote of all training rows within a radius.

    Every ``algorithm`` and number of threads gives the same answer. y may have several columns.

    Parameters
    ----------
    radius : float, default=1.0
        How far a row may be to have a vote, ``>= 0``.
    weights : str, callable or None, default='uniform'
        'uniform' (None); 'distance': 1/d; 'similarity' and the names of similarities as in
        KNeighborsClassifier; or a function of the array of distances of one query's neighbours.
    algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'}, default='auto'
        How to search; see NearestNeighbors.
    outlier_label : label, list of labels, 'most_frequent' or None, default=None
        What a row without neighbours gets: a label (a list: one per output), the most frequent
        one, or a refusal (None). A label that is no class has no column in ``predict_proba``,
        which then warns and gives zeros.
    leaf_size : int, default=30
        Rows in a leaf of the tree at most; it never holds more than 16.
    p : float, default=2
        The order of 'minkowski', ``> 0``.
    metric : str, callable, Minkowski, Mahalanobis or Gower, default='minkowski'
        A name (see ``pairwise_distances``), a function of two rows, or 'precomputed'.
    metric_params : dict, default=None
        Further keywords of the metric: w, V, VI, or those of a callable.
    n_jobs : int, default=None
        Threads; None and -1: all that the library may use. The answer is the same.
    ties : {'lowest', 'random', 'nearest'}, default='lowest'
        Who wins an even vote; see KNeighborsClassifier.
    random_state : int, RandomState, Generator or None, default=None
        For ``ties='random'``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them for several columns
    outlier_label_ : list with the label of each output, or None
    effective_metric_, effective_metric_params_ : the metric in use, as scikit-learn names it
    n_samples_fit_ : int
    outputs_2d_ : bool
        Whether y has several columns.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.5]]), model.predict_proba([[1.0]]).round(3)
    (array([0]), array([[0.667, 0.333]]))
    """

    radius_neighbors = radius_neighbors
    radius_neighbors_graph = radius_neighbors_graph

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: str | Callable[[Array], Array] | None = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = 2,
        metric: str | Callable[..., float] | BaseEstimator = "minkowski",
        outlier_label: Any = None,
        metric_params: dict | None = None,
        n_jobs: int | None = None,
        ties: str = "lowest",
        random_state: Seed = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.ties = ties
        self.random_state = random_state

    def _check_question(self) -> None:
        check.one_of(METHODS, algorithm=self.algorithm)
        check_radius(self)
        check.non_negative(radius=self.radius)

    def _settle(self) -> None:
        self.outlier_label_ = self._outlier_labels()

    def _outlier_labels(self) -> list[Any] | None:
        """The label of a row without neighbours, for each output."""
        label, columns = self.outlier_label, self._columns()
        if label is None:
            return None
        if isinstance(label, str) and label == "most_frequent":
            return [classes[np.bincount(codes).argmax()] for classes, codes in columns]
        several = isinstance(label, list | tuple | np.ndarray) and np.ndim(label) > 0
        labels = list(label) if several else [label] * len(columns)
        if len(labels) != len(columns):
            raise ValueError(
                f"outlier_label needs {len(columns)} labels, one per output: {label!r}"
            )
        for one, (classes, _) in zip(labels, columns, strict=True):
            if np.ndim(one) > 0:
                raise TypeError(f"outlier_label of one output must be a scalar, got {one!r}")
            kinds = {np.asarray(one).dtype.kind, classes.dtype.kind}
            if len(kinds) > 1 and not kinds <= set("iu") and "O" not in kinds:
                raise TypeError(
                    f"outlier_label {one!r} is not of the type of the classes {classes}"
                )
        return labels

    def _votes(self, X: ArrayLike) -> Iterator[list[Any]]:
        seen = 0
        for Q, found in find(self, X):
            w = pair_weights(self.weights, self.metric, Q, self._fit_X, found)
            alone = found.total(w) == 0
            if self.outlier_label_ is None and alone.any():
                rows = f"{int(alone.sum())} rows, the first is row {seen + int(alone.argmax())}"
                cure = f"take a larger radius than {self.radius:g}, or give an outlier_label"
                raise ValueError(f"No neighbors found for {rows}: {cure}")
            seen += found.n_queries
            outputs = self._columns()
            yield [PairVotes(codes[found.row], w, len(names), found) for names, codes in outputs]

    def _without_votes(self, j: int, values: NDArray[Any], alone: BoolArray) -> Any:
        assert self.outlier_label_ is not None  # else such rows were refused
        label, classes = self.outlier_label_[j], self._columns()[j][0]
        if values.ndim == 1:
            values = values.astype(np.result_type(values, np.asarray(label)))
            values[alone] = label
            self._warn_foreign(label, classes, alone)
            return values
        values[alone] = classes == label
        self._warn_foreign(label, classes, alone)
        return values

    def _warn_foreign(self, label: Any, classes: NDArray[Any], alone: BoolArray) -> None:
        """A label that no training row has is said aloud where it is given."""
        if not (classes == label).any():
            warn(
                f"Outlier label {label!r} is not in training classes: the probabilities "
                f"of {int(alone.sum())} rows without neighbours are 0"
            )

    def card(self) -> Card:
        """What decides a prediction, with the numbers of this fit."""
        check_is_fitted(self)
        return self._card(
            f"the label of most rows within {self.radius:g} (lazy, instance-based, local; no form "
            "assumed)",
            "votes sum w_i [y_i = c] with",
            f"without neighbours: {self.outlier_label_ or 'refused'}",
            "exact",
            {"radius": self.radius, "classes": len(self.classes_), **self._spreads()},
        )

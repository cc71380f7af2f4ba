r"""k-nearest-neighbour classification: the vote of the closest examples.

Model        the training rows themselves; no form is assumed
Prediction   argmax_c  sum_{i in N_k(x)} w_i [y_i = c],    [.] the Kronecker delta
Weights      uniform 1;  distance 1/d (rows at distance 0 decide alone);  similarity s(x, x_i)
Search       see ``search``: nothing is learnt in fit but the index.

With k -> infinity and k/n -> 0 the error tends to Bayes' (Stone 1977); with k = 1 it is at most
twice Bayes' (Cover & Hart 1967). Every column counts alike, so columns of unequal spread should
be standardised first.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.readable import readable
from pellucid.core.records import Card
from pellucid.neighbors.search.lsh import LSHIndex
from pellucid.neighbors.search.nearest_search import answers, edge, kneighbors, kneighbors_graph
from pellucid.neighbors.search.weights import neighbour_weights
from pellucid.neighbors.voting import VotingModel, by_nearest, decide, vote_totals


@readable
class NeighborVote(NamedTuple):
    """Who voted on one row, and how.

    >>> from pellucid import KNeighborsClassifier
    >>> model = KNeighborsClassifier(3, weights="distance").fit([[0.5], [-2.0], [3.0]], [0, 1, 1])
    >>> vote = model.explain([[0.0]])[0]
    >>> vote.totals.round(4), vote.winner
    (array([2.    , 0.8333]), 0)
    """

    indices: IntArray  # training rows that voted, nearest first
    distances: Array  # to them
    weights: Array  # of their votes
    totals: Array  # per class
    winner: Any  # the label


class NearVotes(NamedTuple):
    """The votes of the k nearest rows on m queries, nearest first.

    >>> NearVotes(np.array([[0, 1, 1, 0]]), None, 2).nearest(np.array([0]))
    array([1])
    """

    codes: IntArray  # (m, k)
    weights: Array | None  # (m, k)
    n_classes: int

    @property
    def totals(self) -> Array:
        return vote_totals(self.codes, self.weights, self.n_classes)

    def nearest(self, rows: IntArray) -> IntArray:
        part = None if self.weights is None else self.weights[rows]
        return by_nearest(self.codes[rows], part, self.n_classes)


class KNeighborsClassifier(VotingModel):
    """Classification by the vote of the nearest training rows.

    Every ``algorithm`` and number of threads gives the same neighbours: rows at equal distance
    come in the order of the training table. y may have several columns.

    Parameters
    ----------
    n_neighbors : int or 'all', default=5
        Voters; 'all': the whole training set (then weights matter).
    weights : str, callable or None, default='uniform'
        'uniform' (None); 'distance': 1/d; 'similarity': the metric's own similarity (cosine,
        correlation, hamming, jaccard), cosine for others; 'cosine', 'pearson', 'matching',
        'jaccard': that similarity; or a function of an array of distances.
    algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'} or LSHIndex, default='auto'
        How to search; see NearestNeighbors. An LSHIndex is approximate.
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
        Who wins an even vote: the lowest label, any of them, or who wins once the farthest
        neighbours are dropped one by one.
    random_state : int, RandomState, Generator or None, default=None
        For ``ties='random'``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them for several columns
    effective_metric_, effective_metric_params_ : the metric in use, as scikit-learn names it
    n_samples_fit_ : int
    outputs_2d_ : bool
        Whether y has several columns.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import KNeighborsClassifier
    >>> model = KNeighborsClassifier(3).fit([[0], [1], [2], [9]], ["a", "a", "b", "b"])
    >>> model.predict([[0.4]]).tolist(), model.predict_proba([[0.4]]).round(3)
    (['a'], array([[0.667, 0.333]]))
    """

    kneighbors = kneighbors
    kneighbors_graph = kneighbors_graph

    def __init__(
        self,
        n_neighbors: int | Literal["all"] = 5,
        *,
        weights: str | Callable[[Array], Array] | None = "uniform",
        algorithm: str | LSHIndex = "auto",
        leaf_size: int = 30,
        p: float | None = 2,
        metric: str | Callable[..., float] | BaseEstimator = "minkowski",
        metric_params: dict | None = None,
        n_jobs: int | None = None,
        ties: str = "lowest",
        random_state: Seed = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.ties = ties
        self.random_state = random_state

    def _check_question(self) -> None:
        self._check_parameters()

    def _weights(self, Q: Array | None, distance: Array, index: IntArray) -> Array | None:
        return neighbour_weights(self.weights, self.metric, Q, self._fit_X, distance, index)

    def _votes(self, X: ArrayLike) -> Iterator[list[Any]]:
        for Q, distance, index in answers(self, X):
            w = self._weights(Q, distance, index)
            yield [NearVotes(codes[index], w, len(classes)) for classes, codes in self._columns()]

    def explain(self, X: ArrayLike) -> list[NeighborVote]:
        """Who voted on each row: neighbours, distances, weights, totals per class, winner."""
        check_is_fitted(self)
        if self.outputs_2d_:
            raise ValueError("explain needs a y of one column, the model was fitted on several")
        rng = self._rng()
        shown = []
        for Q, distance, index in answers(self, X):
            w = self._weights(Q, distance, index)
            votes = NearVotes(self._y[index], w, len(self.classes_))
            totals = votes.totals
            labels = self.classes_[decide(votes, totals, self.ties, rng)].tolist()
            weights = np.ones(distance.shape) if w is None else w
            columns = (index, distance, weights, totals, labels)
            shown += [NeighborVote(*row) for row in zip(*columns, strict=True)]
        return shown

    def card(self) -> Card:
        """What decides a prediction, with the numbers of this fit."""
        check_is_fitted(self)
        counts = {"neighbours": self.n_neighbors, "classes": len(self.classes_)}
        return self._card(
            f"the label of most of its {self.n_neighbors} nearest (lazy, instance-based, local; no "
            "form assumed; consistent as k grows and k/n falls)",
            "votes sum w_i [y_i = c] with",
            "no weights of inputs are learned",
            "equal distances in row order",
            {**counts, **self._spreads(), **edge(self)},
        )

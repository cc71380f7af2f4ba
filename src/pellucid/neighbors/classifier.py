r"""k-nearest-neighbour classification: the vote of the closest examples.

Model        the training rows themselves; no form is assumed
Prediction   argmax_c  sum_{i in N_k(x)} w_i [y_i = c],    [.] the Kronecker delta
Weights      uniform 1;  distance 1/d (rows at distance 0 decide alone);  similarity s(x, x_i)
Search       see ``search``: nothing is learnt in fit but the index.

With k -> infinity and k/n -> 0 the error tends to Bayes' (Stone 1977); with k = 1 it is at most
twice Bayes' (Cover & Hart 1967). Every column counts alike, so columns of unequal spread should
be standardised first.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, check_labels, encode_labels, with_callbacks
from pellucid.core import check
from pellucid.core.frames import is_frame
from pellucid.core.iterate import FitContext
from pellucid.core.random import generator
from pellucid.core.records import Card
from pellucid.core.typing import Array, IntArray, Rng
from pellucid.neighbors.nearest_search import NearestQuestions
from pellucid.neighbors.weights import check_rule, neighbour_weights

TIES = ("lowest", "random", "nearest")


class NeighborVote(NamedTuple):
    """Who voted on one row, and how.

    >>> from pellucid import KNeighborsClassifier
    >>> model = KNeighborsClassifier(3, weights="distance").fit([[0.5], [-2.0], [3.0]], [0, 1, 1])
    >>> vote = model.explain([[0.0]])[0]
    >>> vote.totals.round(4), vote.winner
    (array([2.    , 0.8333]), 0)
    """

    indices: IntArray
    distances: Array
    weights: Array
    totals: Array  # per class
    winner: Any


def vote_totals(codes: IntArray, weights: Array | None, n_classes: int) -> Array:
    """Sum of the weights of each class; codes and weights (m, k).

    >>> vote_totals(np.array([[0, 1, 1]]), None, 2)
    array([[1., 2.]])
    """
    m = len(codes)
    cells = (codes + n_classes * np.arange(m)[:, None]).ravel()
    w = None if weights is None else weights.ravel()
    totals = np.bincount(cells, w, minlength=m * n_classes)
    return totals.reshape(m, n_classes).astype(np.float64)


def tied(totals: Array) -> Any:
    """Which classes have the most votes, up to rounding."""
    most = totals.max(axis=1, keepdims=True)
    return totals >= most * (1 - 1e-12)


def by_nearest(codes: IntArray, weights: Array | None, n_classes: int) -> IntArray:
    """Drop the farthest neighbour until one class has the most votes."""
    winner = np.full(len(codes), -1)
    for k in range(codes.shape[1], 0, -1):
        open_ = np.flatnonzero(winner < 0)
        if not len(open_):
            break
        part = None if weights is None else weights[open_, :k]
        best = tied(vote_totals(codes[open_, :k], part, n_classes))
        decided = best.sum(axis=1) == 1
        winner[open_[decided]] = best[decided].argmax(axis=1)
    return np.where(winner < 0, codes[:, 0], winner)


def winners(
    codes: IntArray, weights: Array | None, n_classes: int, ties: str, rng: Rng | None
) -> IntArray:
    """The class each row is given; ties as ``ties`` says."""
    totals = vote_totals(codes, weights, n_classes)
    if ties == "lowest":
        return totals.argmax(axis=1)
    best = tied(totals)
    winner = best.argmax(axis=1)
    rows = np.flatnonzero(best.sum(axis=1) > 1)
    if rng is not None:
        draws = np.where(best[rows], rng.random((len(rows), n_classes)), -1.0)
        winner[rows] = draws.argmax(axis=1)
    elif len(rows):
        part = None if weights is None else weights[rows]
        winner[rows] = by_nearest(codes[rows], part, n_classes)
    return winner


def label_codes(y: Any, n: int, estimator: Any) -> tuple[bool, Any, Any]:
    """(whether y has several columns, classes, codes (n,) or (n, outputs)); classes per column."""
    frame = not isinstance(y, np.ndarray) and is_frame(y) and hasattr(y, "to_numpy")
    values = np.asarray(y.to_numpy() if frame else y)
    if not (values.ndim == 2 and values.shape[1] > 1):
        return False, *encode_labels(check_labels(y, n, estimator))
    check_classification_targets(values)
    pairs = [encode_labels(check_labels(column, n, estimator)) for column in values.T]
    return True, [classes for classes, _ in pairs], np.column_stack([codes for _, codes in pairs])


class KNeighborsClassifier(NearestQuestions, Classifier):
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

    def __init__(
        self,
        n_neighbors: Any = 5,
        *,
        weights: Any = "uniform",
        algorithm: Any = "auto",
        leaf_size: int = 30,
        p: float | None = 2,
        metric: Any = "minkowski",
        metric_params: dict | None = None,
        n_jobs: int | None = None,
        ties: str = "lowest",
        random_state: Any = None,
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    def _check_target(self, y: Any, n: int) -> Any:
        self.outputs_2d_, self.classes_, codes = label_codes(y, n, self)
        return codes

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        self._check_parameters()
        check_rule(self.weights)
        check.one_of(TIES, ties=self.ties)
        self._rng()
        rows = self._check_training(X, y)
        context = FitContext(self, X=rows.X, y=rows.y)
        self._set_rows(rows.X)
        self._y = rows.y
        context.end()
        return self

    def _columns(self) -> list[tuple[Any, IntArray]]:
        """(classes, codes of the training rows) of each output."""
        if not self.outputs_2d_:
            return [(self.classes_, self._y)]
        return [(classes, self._y[:, j]) for j, classes in enumerate(self.classes_)]

    def _weights(self, Q: Any, distance: Array, index: IntArray) -> Array | None:
        return neighbour_weights(self.weights, self.metric, Q, self._fit_X, distance, index)

    def _rng(self) -> Rng | None:
        """What draws among equals, where that is asked for."""
        return generator(self.random_state) if self.ties == "random" else None

    def predict(self, X: Any) -> Any:
        """Labels; X None: of the training rows, each without itself."""
        rng = self._rng()
        parts = []
        for Q, distance, index in self._answers(X):
            w = self._weights(Q, distance, index)
            parts.append([
                classes[winners(codes[index], w, len(classes), self.ties, rng)]
                for classes, codes in self._columns()
            ])  # fmt: skip
        labels = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return np.column_stack(labels) if self.outputs_2d_ else labels[0]

    def predict_proba(self, X: Any) -> Any:
        """Shares of the votes; a list of them for several outputs."""
        parts = []
        for Q, distance, index in self._answers(X):
            w = self._weights(Q, distance, index)
            totals = [
                vote_totals(codes[index], w, len(classes)) for classes, codes in self._columns()
            ]
            parts.append([total / total.sum(axis=1, keepdims=True) for total in totals])
        shares = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return shares if self.outputs_2d_ else shares[0]

    def explain(self, X: Any) -> list[NeighborVote]:
        """Who voted on each row: neighbours, distances, weights, totals per class, winner."""
        check_is_fitted(self)
        if self.outputs_2d_:
            raise ValueError("explain needs a y of one column, the model was fitted on several")
        rng = self._rng()
        votes = []
        for Q, distance, index in self._answers(X):
            w = self._weights(Q, distance, index)
            codes, K = self._y[index], len(self.classes_)
            totals = vote_totals(codes, w, K)
            labels = self.classes_[winners(codes, w, K, self.ties, rng)]
            shown = np.ones(distance.shape) if w is None else w
            votes += [NeighborVote(*row) for row in zip(index, distance, shown, totals, labels.tolist(), strict=True)]  # fmt: skip  # noqa: E501
        return votes

    def card(self) -> Card:
        check_is_fitted(self)
        k = self.n_neighbors
        spreads = self._spreads()
        uneven = next(iter(spreads.values()), 1.0) > 10
        return Card(
            f"the training rows: a row gets the label of most of its {k} nearest (lazy, "
            "instance-based, local; no form assumed; consistent as k grows and k/n falls)",
            f"votes sum w_i [y_i = c] with {self.weights or 'uniform'} weights, nearness is "
            f"{self.effective_metric_}; all inputs count alike",
            f"nothing is minimised; search by {self._fit_method}, equal distances in row order",
            {
                "rows": self.n_samples_fit_,
                "inputs": self.n_features_in_,
                "neighbours": k,
                "classes": len(self.classes_),
                **spreads,
                **self._edge(),
            },
            warnings=("standardise the inputs: the widest rules the distance",) if uneven else (),
        )

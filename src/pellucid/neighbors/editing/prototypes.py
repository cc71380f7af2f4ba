r"""Few representatives per class; a row gets the label of the nearest.

    mean      the mean of the class (one per class: the nearest-centroid rule)
    medoid    the row with the least sum of distances to its class; for several, rows are added
              greedily by the largest fall of the sum, then groups and medoids take turns
    kmeans    Lloyd's centres inside the class, seeded by k-means++

sample_weight equals repetition: means, sums and draws count a row by its weight.
Cost: mean O(n d); medoid O(n_c^2 d) per class; kmeans O(n d m) a round.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, with_callbacks
from pellucid.compiled.distances.search import Index
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext, iterate
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.neighbors.search.metrics import Metric, resolve, settled

METHODS = ("mean", "medoid", "kmeans")
ROUNDS = 300


class Groups(NamedTuple):
    centers: Array  # (m, d)
    labels: IntArray  # (n,)
    objective: float


def weighted_means(X: Array, w: Array, labels: IntArray, old: Array) -> Array:
    """The mean of each group; an empty one keeps its place."""
    m = len(old)
    size = np.bincount(labels, w, minlength=m)
    sums = np.column_stack([np.bincount(labels, w * column, minlength=m) for column in X.T])
    return np.where(size[:, None] > 0, sums / np.where(size > 0, size, 1.0)[:, None], old)


def assign(X: Array, w: Array, centers: Array) -> Groups:
    plain = Metric("sqeuclidean", 2.0)
    distance, labels = Index(np.ascontiguousarray(centers), plain, "brute").nearest(X, 1)
    return Groups(centers, labels[:, 0], float(w @ distance[:, 0]))


def seeds(X: Array, w: Array, m: int, rng: Rng) -> Array:
    """k-means++: in proportion to the weighted squared distance to the nearest seed so far."""
    chosen: list[int] = []
    distance = np.ones(len(X))
    for _ in range(m):
        mass = np.cumsum(w * distance)
        if mass[-1] <= 0:  # fewer different rows than seeds
            break
        chosen.append(int(np.searchsorted(mass, rng.random() * mass[-1], side="right")))
        d = ((X - X[chosen[-1]]) ** 2).sum(axis=1)
        distance = d if len(chosen) == 1 else np.minimum(distance, d)
    return X[chosen]


def class_centres(X: Array, w: Array, m: int, rng: Rng) -> Array:
    """Lloyd's algorithm until the objective stands still."""

    def step(state: Groups) -> tuple[Groups, float]:
        moved = assign(X, w, weighted_means(X, w, state.labels, state.centers))
        return moved, (state.objective - moved.objective) / max(state.objective, 1e-300)

    def record(state: Groups) -> dict[str, float]:
        return {"objective": state.objective}

    start, name = assign(X, w, seeds(X, w, m, rng)), "k-means inside a class"
    run = iterate(step, start, max_iter=ROUNDS, tol=0.0, record=record, name=name)
    return run.state.centers


def class_medoids(D: Array, w: Array, m: int) -> IntArray:
    """Rows with a small sum of weighted distances to the nearest of them; D (n, n)."""
    nearest = np.full(len(D), np.inf)
    chosen: list[int] = []
    for _ in range(min(m, len(D))):
        sums = w @ np.minimum(D, nearest[:, None])
        sums[chosen] = np.inf
        chosen.append(int(np.argmin(sums)))
        nearest = np.minimum(nearest, D[:, chosen[-1]])
    medoids = np.array(chosen)
    for _ in range(ROUNDS):
        label = D[:, medoids].argmin(axis=1)
        moved = medoids.copy()
        for g in range(len(medoids)):
            group = np.flatnonzero(label == g)
            if len(group):
                moved[g] = group[np.argmin(w[group] @ D[np.ix_(group, group)])]
        if (moved == medoids).all():
            break
        medoids = moved
    return medoids


class NearestPrototypes(Classifier):
    """Classify by the nearest of a few representatives per class.

    Parameters
    ----------
    n_prototypes : int, default=1
        Representatives per class; a class with fewer different rows has fewer.
    method : {'mean', 'medoid', 'kmeans'}, default='mean'
        'mean' gives one per class; several need 'kmeans' or 'medoid'.
    metric : str, callable, Minkowski, Mahalanobis or Gower, default='euclidean'
        Of the classification, and of the medoids.
    random_state : int, RandomState, Generator or None, default=None
        For 'kmeans'.

    Attributes
    ----------
    prototypes_ : ndarray of shape (n_prototypes_in_all, n_features)
    prototype_labels_ : ndarray of the same length
    compression_ : float
        Prototypes by training rows.
    classes_ : ndarray

    Examples
    --------
    >>> from pellucid import NearestPrototypes
    >>> model = NearestPrototypes().fit([[0.0], [2.0], [9.0]], ["a", "a", "b"])
    >>> model.prototypes_.ravel(), model.predict([[4.9], [5.1]]).tolist()
    (array([1., 9.]), ['a', 'b'])
    """

    def __init__(
        self,
        n_prototypes: int = 1,
        *,
        method: str = "mean",
        metric: str | Callable[..., float] | BaseEstimator = "euclidean",
        random_state: Seed = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.method = method
        self.metric = metric
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the representatives of every class."""
        check.whole(n_prototypes=self.n_prototypes)
        check.one_of(METHODS, method=self.method)
        if self.method == "mean" and self.n_prototypes > 1:
            asked = f"got n_prototypes={self.n_prototypes}; use method='kmeans' or 'medoid'"
            raise ValueError(f"method='mean' gives one prototype per class, {asked}")
        rng = generator(self.random_state)
        rows = self._check_training(X, y, sample_weight)
        context = FitContext(self, X=rows.X, y=rows.y, sample_weight=rows.w)
        there = rows.w > 0
        X, w, codes = rows.X[there], rows.w[there], rows.y[there]
        present = np.unique(codes)  # classes without weight are absent
        self.classes_, codes = self.classes_[present], np.searchsorted(present, codes)
        self._metric = settled(self.metric, X, w)
        metric = resolve(self._metric[0], X, keywords=self._metric[1])
        own = [codes == c for c in range(len(self.classes_))]
        parts = [self._representatives(X[rows], w[rows], metric, rng) for rows in own]
        self.__dict__.pop("_index", None)
        self.prototypes_ = np.ascontiguousarray(np.concatenate(parts))
        self._codes = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        self.prototype_labels_ = self.classes_[self._codes]
        self.compression_ = float(len(self.prototypes_) / w.sum())
        _ = self._index
        context.end()
        return self

    def _representatives(self, X: Array, w: Array, metric: Metric, rng: Rng) -> Array:
        if self.method == "mean":
            return (w @ X / w.sum())[None, :]
        if self.method == "kmeans":
            return class_centres(X, w, self.n_prototypes, rng)
        return X[class_medoids(Index(X, metric, "brute").distances(X), w, self.n_prototypes)]

    @cached_property
    def _index(self) -> Index:
        metric, keywords = self._metric
        rows = self.prototypes_
        return Index(rows, resolve(metric, rows, keywords=keywords), "brute")

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"prototypes_": (len(self._codes), self.n_features_in_)}

    def predict(self, X: ArrayLike) -> Any:
        """The label of the nearest prototype."""
        X = self._check_input(X)
        nearest = self._index.nearest(X, 1)[1][:, 0]
        return self.classes_[self._codes[nearest]]

    def card(self) -> Card:
        """What the prototypes are, with the numbers of this fit."""
        check_is_fitted(self)
        return Card(
            f"{len(self.prototypes_)} prototypes; a row gets the label of the nearest",
            f"distance to the own class's prototypes ({self.method}), nearness is {self.metric}",
            {
                "mean": "the mean in closed form",
                "medoid": "greedy choice of rows, then groups and medoids in turn",
                "kmeans": "Lloyd's rounds from k-means++ seeds",
            }[self.method],
            {"prototypes": len(self.prototypes_), "compression": self.compression_},
        )

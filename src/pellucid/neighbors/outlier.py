r"""Local outlier factor: is a row in a thinner place than its neighbours are?

    reach(a, b) = max(d(a, b), distance of b to its k-th neighbour)
    density(a)  = 1 / mean_{b in N_k(a)} reach(a, b)
    LOF(a)      = mean_{b in N_k(a)} density(b) / density(a)

About 1 inside a cluster of any density, more outside. The search is that of ``search``; the rest
is O(n k).

Reference: Breunig, Kriegel, Ng & Sander (2000).
"""

from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.neighbors.neighbor_model import NeighborsModel
from pellucid.neighbors.search.lsh import LSHIndex
from pellucid.neighbors.search.nearest_search import kneighbors, kneighbors_graph, nearest

SMALL = (
    1e-10  # keeps the density of repeated rows finite: of the mean reach, at most scikit-learn's
)


def local_density(distance: Array, index: IntArray, reach: Array) -> Array:
    """1 / mean reach; reach (n,) is each training row's distance to its k-th neighbour.

    >>> local_density(np.array([[1.0]]), np.array([[0]]), np.array([4.0])).round(6)
    array([0.25])
    """
    least = SMALL * min(1.0, float(reach.mean()) or 1.0)
    return 1.0 / (np.maximum(distance, reach[index]).mean(axis=1) + least)


def _for_new_rows(name: str) -> Any:
    def check_novelty(self: "LocalOutlierFactor") -> bool:
        if not self.novelty:
            cure = "use fit_predict for the training rows, novelty=True for new ones"
            raise AttributeError(f"{name} is not available when novelty=False; {cure}")
        return True

    return check_novelty


def _for_training_rows(self: "LocalOutlierFactor") -> bool:
    if self.novelty:
        raise AttributeError("fit_predict is not available when novelty=True")
    return True


class LocalOutlierFactor(OutlierMixin, NeighborsModel):
    """Outliers by local density.

    Parameters
    ----------
    n_neighbors : int, default=20
        Neighbours that a row is compared with; more than the rows there are: all others, warned.
    algorithm : {'auto', 'brute', 'kd_tree', 'ball_tree'} or LSHIndex, default='auto'
        How to search; see NearestNeighbors.
    contamination : 'auto' or float, default='auto'
        Share of outliers in (0, 0.5]; 'auto': those with a factor above 1.5.
    novelty : bool, default=False
        True: ``predict``, ``score_samples`` and ``decision_function`` judge new rows; False:
        ``fit_predict`` judges the training rows.
    leaf_size : int, default=30
        Rows in a leaf of the tree at most; it never holds more than 16.
    metric : str, callable, Minkowski, Mahalanobis or Gower, default='minkowski'
        A name (see ``pairwise_distances``), a function of two rows, or 'precomputed'.
    p : float, default=2
        The order of 'minkowski', ``> 0``.
    metric_params : dict, default=None
        Further keywords of the metric.
    n_jobs : int, default=None
        Threads; None and -1: all that the library may use. The answer is the same.

    Attributes
    ----------
    negative_outlier_factor_ : ndarray of shape (n_samples,)
        -LOF of the training rows: near -1 is normal.
    offset_ : float
        Scores below it are outliers.
    n_neighbors_ : int
    n_samples_fit_, effective_metric_, effective_metric_params_, n_features_in_

    Examples
    --------
    >>> from pellucid import LocalOutlierFactor
    >>> LocalOutlierFactor(2).fit_predict([[-1.1], [0.2], [101.1], [0.3]])
    array([ 1,  1, -1,  1])
    """

    _lenient = True
    kneighbors = kneighbors
    kneighbors_graph = kneighbors_graph

    def __init__(
        self,
        n_neighbors: int = 20,
        *,
        algorithm: str | LSHIndex = "auto",
        leaf_size: int = 30,
        metric: str | Callable[..., float] | BaseEstimator = "minkowski",
        p: float | None = 2,
        metric_params: dict | None = None,
        contamination: float | Literal["auto"] = "auto",
        novelty: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.contamination = contamination
        self.novelty = novelty
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Find the neighbours and densities of the training rows; ``y`` is ignored."""
        self._check_parameters()
        check.whole(n_neighbors=self.n_neighbors)
        check.boolean(novelty=self.novelty)
        if isinstance(self.contamination, str):
            check.one_of(("auto",), contamination=self.contamination)
        else:
            check.positive(contamination=self.contamination)
            if self.contamination > 0.5:
                known = "'auto' or in (0, 0.5]"
                raise ValueError(f"contamination must be {known}, got {self.contamination!r}")
        rows = self._check_training(X)
        context = FitContext(self, X=rows.X)
        self._set_rows(rows.X)
        n = self.n_samples_fit_
        if n < 2:
            raise ValueError("a local outlier factor needs at least 2 rows, got n_samples = 1")
        if self.n_neighbors > n:
            asked = f"n_neighbors={self.n_neighbors} is greater than the number of rows ({n})"
            warn(f"{asked}: {n - 1} are used")
        self.n_neighbors_ = max(1, min(self.n_neighbors, n - 1))
        distance, index = nearest(self, None, self.n_neighbors_)
        self._reach = np.ascontiguousarray(distance[:, -1])
        self._density = local_density(distance, index, self._reach)
        factor = -((self._density[index] / self._density[:, None]).mean(axis=1))
        share = None if isinstance(self.contamination, str) else 100 * self.contamination
        self.negative_outlier_factor_ = factor
        self.offset_ = -1.5 if share is None else float(np.percentile(factor, share))
        if factor.min() < -1e7 and not self.novelty:
            warn("repeated rows make some factors huge: use more neighbours than a row is repeated")
        context.end()
        return self

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        names = ("_reach", "_density", "negative_outlier_factor_")
        return {**super()._state_shapes(), **dict.fromkeys(names, (self.n_samples_fit_,))}

    @available_if(_for_training_rows)
    def fit_predict(self, X: ArrayLike, y: ArrayLike | None = None) -> IntArray:
        """-1 for the training rows that are outliers, 1 for the others."""
        self.fit(X)
        return np.where(self.negative_outlier_factor_ < self.offset_, -1, 1)

    @available_if(_for_new_rows("score_samples"))
    def score_samples(self, X: ArrayLike) -> Array:
        """-LOF of new rows: high is normal."""
        check_is_fitted(self)
        distance, index = nearest(self, self._check_questions(X), self.n_neighbors_)
        density = local_density(distance, index, self._reach)
        return -(self._density[index] / density[:, None]).mean(axis=1)

    @available_if(_for_new_rows("decision_function"))
    def decision_function(self, X: ArrayLike) -> Array:
        """``score_samples(X) - offset_``: negative for outliers."""
        return self.score_samples(X) - self.offset_

    @available_if(_for_new_rows("predict"))
    def predict(self, X: ArrayLike) -> IntArray:
        """-1 for outliers, 1 for others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    @available_if(_for_new_rows("p_values"))
    def p_values(self, X: ArrayLike) -> Array:
        """The share of training rows with a score at or below that of each row."""
        ordered = np.sort(self.negative_outlier_factor_)
        return np.searchsorted(ordered, self.score_samples(X), side="right") / len(ordered)

    def card(self) -> Card:
        """What makes an outlier, with the numbers of this fit."""
        check_is_fitted(self)
        outliers = int((self.negative_outlier_factor_ < self.offset_).sum())
        return Card(
            f"the training rows and their densities among {self.n_neighbors_} neighbours",
            "density of the neighbours by the row's own: about 1 is normal, more is an outlier",
            f"nothing is minimised; search by {self._fit_method}",
            {
                "rows": self.n_samples_fit_,
                "inputs": self.n_features_in_,
                "neighbours": self.n_neighbors_,
                "offset": self.offset_,
                "outliers": outliers,
            },
        )

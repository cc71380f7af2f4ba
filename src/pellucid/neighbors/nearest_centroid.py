r"""Nearest centroid, plain or shrunken.

Model        class k is its centroid c_k: the mean (Euclidean) or the median (Manhattan distance)
Rule         the class of the nearest centroid; with unequal priors pi the largest of
             - sum_j (x_j - c_kj)^2 / s_j^2 + 2 log pi_k,   s_j the deviation within the classes
Shrinking    d_kj = (c_kj - c_j) / (m_k (s_j + s_0)),  m_k^2 = 1/n_k - 1/n,  s_0 the median of s
             d'_kj = sign(d_kj) (|d_kj| - t)_+,   c_kj = c_j + m_k (s_j + s_0) d'_kj
             so that a column whose classes differ by less than t errors leaves the rule
Cost         one pass for the moments within the classes, O(n p); medians by selection

References: Tibshirani, Hastie, Narasimhan & Chu (2002), shrunken centroids; Hastie, Tibshirani,
Friedman, ESL, section 18.2.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from scipy.special import log_softmax
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, fit_blocks, with_callbacks
from pellucid.compiled.counts.moments import ClassMoments, class_moments, merge_class_moments
from pellucid.compiled.distances.search import Index
from pellucid.core.arrays import check
from pellucid.core.arrays.quantiles import column_quantiles
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Matrix, MaybeArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.features.scaling.kernels import column_moments
from pellucid.features.scaling.robust_scaler import sparse_quantiles
from pellucid.neighbors.search.metrics import resolve

METRICS = ("euclidean", "manhattan")
HALF = np.array([0.5])


class NearestCentroidFit(NamedTuple):
    """Centroids after shrinking, and what shrinking measures them by."""

    centroids: Array  # (K, p)
    deviations: Array  # (K, p)  from the centre of all rows, in errors
    within: Array  # (p,)  deviation within the classes


def fit_nearest_centroid(
    moments: ClassMoments, centroids: Array, threshold: float | None
) -> NearestCentroidFit:
    """Shrink centroids (K, p) towards the centre of all rows; None leaves them."""
    n_k, W, mean, S = moments
    n, K = n_k.sum(), len(n_k)
    squares = S + W * (mean - centroids) ** 2  # about the centroids
    within = np.sqrt(squares.sum(axis=0) / (n - K)) if n > K else np.zeros(mean.shape[1])
    centre = n_k @ mean / n
    error = np.sqrt(1 / n_k - 1 / n)[:, None] * (within + np.median(within))
    apart = centroids - centre
    known = error > 0  # without any error a difference is infinitely large
    far = np.where(apart == 0, 0.0, np.copysign(np.inf, apart))
    d = np.divide(apart, error, out=far, where=known)
    if threshold:
        d = np.sign(d) * np.maximum(np.abs(d) - threshold, 0.0)
        centroids = np.where(known, centre + error * np.where(known, d, 0.0), centroids)
    return NearestCentroidFit(centroids, d, within)


def sparse_class_moments(rows: Rows, n_classes: int) -> ClassMoments:
    """Moments within the classes of the rows of a CSR matrix."""
    own = [rows.y == k for k in range(n_classes)]
    found = [column_moments(Rows(rows.X[mine], None, rows.w[mine])) for mine in own]
    return ClassMoments(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def class_medians(rows: Rows, n_classes: int) -> Array:
    """(K, p): the median of every column in every class."""
    find = sparse_quantiles if issparse(rows.X) else column_quantiles
    own = [rows.y == k for k in range(n_classes)]
    return np.concatenate([find(rows.X[mine], HALF, rows.w[mine]) for mine in own])


class NearestCentroid(Classifier):
    """Classify by the nearest class centroid.

    Parameters
    ----------
    metric : {"euclidean", "manhattan"}, default="euclidean"
        Distance; the centroid of a class is its mean, or with "manhattan" its median.
    shrink_threshold : float or None, default=None
        Centroids move towards the centre of all rows by this many standard errors, > 0.
    priors : {"uniform", "empirical"} or array of shape (n_classes,), default="uniform"
        Probabilities of the classes; "empirical" takes their shares. Unequal ones decide by
        distances in units of the deviation within the classes.

    Attributes
    ----------
    centroids_ : ndarray of shape (n_classes, n_features)
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    deviations_ : ndarray of shape (n_classes, n_features)
        Distance of each centroid from the centre of all rows in standard errors, after shrinking;
        0 in all classes: the column has no say.
    within_class_std_dev_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import NearestCentroid
    >>> model = NearestCentroid().fit([[0.0], [2.0], [9.0]], ["a", "a", "b"])
    >>> model.centroids_.ravel(), model.predict([[4.9], [5.1]]).tolist()
    (array([1., 9.]), ['a', 'b'])
    """

    _accepts_sparse = True
    _squares_x = True

    fit_blocks = fit_blocks

    def __init__(
        self,
        metric: str = "euclidean",
        *,
        shrink_threshold: float | None = None,
        priors: str | ArrayLike = "uniform",
    ) -> None:
        self.metric = metric
        self.shrink_threshold = shrink_threshold
        self.priors = priors

    @with_callbacks
    def fit(self, X: Matrix, y: Matrix, sample_weight: MaybeArray = None) -> Self:
        """Find the centroid of every class."""
        self._check_parameters()
        rows = self._check_training(X, y, sample_weight)
        context = FitContext.of_one_step(self, X, y, sample_weight)
        K = len(self.classes_)
        if issparse(rows.X):
            moments = sparse_class_moments(rows, K)
        else:
            moments = self._moments(rows, map_threads)
        medians = class_medians(rows, K) if self.metric == "manhattan" else None
        self._solve(moments, medians)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        if self.metric == "manhattan":
            raise ValueError("fit_blocks needs metric='euclidean': a median is no sum over rows")
        self._solve(self._moments(rows, map_), None)

    def _moments(self, rows: Source, map_: Map) -> ClassMoments:
        summarise = partial(class_moments, n_classes=len(self.classes_))
        return reduce_rows(Statistic(summarise, merge_class_moments), rows, map_)

    def _solve(self, moments: ClassMoments, medians: Array | None) -> None:
        there = moments.total > 0  # classes without weight are absent
        self.classes_ = self.classes_[there]
        moments = ClassMoments(*(part[there] for part in moments))
        K = len(self.classes_)
        if K < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {K} class")
        centroids = moments.mean if medians is None else medians[there]
        if not moments.scatter.any() and (moments.mean == moments.mean[0]).all():
            raise ValueError("All features have zero variance: the classes have one centroid")
        self.class_prior_ = self._prior(moments.total)
        fit = fit_nearest_centroid(moments, centroids, self.shrink_threshold)
        self.centroids_, self.deviations_, self.within_class_std_dev_ = fit
        self._n_rows = float(moments.total.sum())
        if (fit.within == 0).any():
            where = self._column_name(int(np.argmin(fit.within)))
            warn(
                f"within_class_std_dev_ has at least 1 zero standard deviation: {where} does not "
                "vary inside the classes"
            )

    def _prior(self, total: Array) -> Array:
        K = len(self.classes_)
        if isinstance(self.priors, str):
            return total / total.sum() if self.priors == "empirical" else np.full(K, 1 / K)
        prior = np.asarray(self.priors, dtype=np.float64)
        if prior.shape != (K,):
            raise ValueError(f"priors must be one number per class, {K}, got shape {prior.shape}")
        if not (np.isfinite(prior).all() and (prior >= 0).all() and prior.any()):
            raise ValueError(f"priors must be non-negative and not all 0, got {prior.tolist()}")
        if not np.isclose(prior.sum(), 1.0):
            warn("The priors do not sum to 1. Normalizing such that it sums to one.")
        return prior / prior.sum()

    def _check_parameters(self) -> None:
        check.one_of(METRICS, metric=self.metric)
        if self.shrink_threshold is not None:
            check.positive(shrink_threshold=self.shrink_threshold)
        if isinstance(self.priors, str):
            check.one_of(("uniform", "empirical"), priors=self.priors)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        K, p = len(self.classes_), self.n_features_in_
        cells = {"centroids_": (K, p), "deviations_": (K, p)}
        return cells | {"class_prior_": (K,), "within_class_std_dev_": (p,)}

    def predict(self, X: ArrayLike) -> Any:
        """The class of the nearest centroid, or with unequal priors the likeliest."""
        check_is_fitted(self)
        if not np.isclose(self.class_prior_, 1 / len(self.classes_)).all():
            return self.classes_[self._scores(X).argmax(axis=1)]
        Z, metric = self._check_input(X), resolve(self.metric, self.centroids_)
        index = Index(self.centroids_, metric, "brute")
        if issparse(Z):
            return self.classes_[index.distances(Z).argmin(axis=1)]
        return self.classes_[index.nearest(Z, 1)[1][:, 0]]

    def _scores(self, X: ArrayLike) -> Array:
        """(n, K): squared distance in units of the deviation, turned about, plus 2 log prior."""
        Z = self._check_input(X)
        unit = np.where(self.within_class_std_dev_ > 0, self.within_class_std_dev_, 1.0)
        centroids = np.ascontiguousarray(self.centroids_ / unit)
        if issparse(Z):
            Z = Z.copy()
            Z.data = Z.data / unit[Z.indices]
        else:
            Z = np.ascontiguousarray(Z / unit)
        D = Index(centroids, resolve(self.metric, centroids), "brute").distances(Z)
        with np.errstate(divide="ignore"):  # a class of prior 0 is never taken
            return 2.0 * np.log(self.class_prior_) - D**2

    def _measures_squares(self) -> bool:
        return self.metric == "euclidean"

    @available_if(_measures_squares)
    def decision_function(self, X: ArrayLike) -> Array:
        """Scores (n, n_classes), whose softmax are the probabilities; two classes: the difference.

        Distances are in units of the deviation within the classes.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    @available_if(_measures_squares)
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of ``predict_proba``."""
        return log_softmax(self._scores(X), axis=1)

    @available_if(_measures_squares)
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities (n, n_classes), the softmax of the scores of ``decision_function``."""
        return np.exp(self.predict_log_proba(X))

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        what = "mean" if self.metric == "euclidean" else "median"
        shrunk = self.shrink_threshold
        used = int((self.deviations_ != 0).any(axis=0).sum())
        move = "" if shrunk is None else f", shrunk by {shrunk:g} standard errors"
        far = "squared error" if self.metric == "euclidean" else "absolute error"
        return Card(
            f"the class of the nearest of {len(self.classes_)} centroids, each the {what} of its "
            f"class{move}",
            f"least {far} about one point per class",
            "closed form, one pass over the rows"
            if self.metric == "euclidean"
            else "medians by selection, exact",
            {
                "rows": self._n_rows,
                "classes": len(self.classes_),
                "columns": self.n_features_in_,
                "columns with a say": used,
            },
        )

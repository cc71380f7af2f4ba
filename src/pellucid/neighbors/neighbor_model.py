"""What every model of neighbours shares: data checks, the index and the queries to it."""

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse

from pellucid.base import Estimator
from pellucid.compiled.distances.search import Index, known_distances
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.functions.metrics import warn_of_two_orders
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import limit_threads, thread_count
from pellucid.core.runtime.warn import warn
from pellucid.neighbors.search.lsh import LSHIndex
from pellucid.neighbors.search.metrics import Gower, Mahalanobis, Metric, Minkowski, resolve
from pellucid.neighbors.search.mixed import is_gower, learn_words, numbers, settle_gower

METHODS = ("auto", "ball_tree", "kd_tree", "brute")
TREE_COLUMNS = 15  # beyond them a tree looks at almost every row
TREE_ROWS = 1000  # below them looking at every row is as quick
ANSWERS = 1 << 22  # neighbours held at once


def jobs(n_jobs: int | None) -> AbstractContextManager[None]:
    """At most so many threads; None and -1: as many as the library may use; -2: all but one."""
    if n_jobs is None:
        return nullcontext()
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}")
    n = int(n_jobs)
    return limit_threads(n if n > 0 else max(1, thread_count() + 1 + n))


def effective(metric: Any, p: float | None, keywords: dict | None) -> tuple[Any, dict[str, Any]]:
    """scikit-learn's ``effective_metric_`` and its parameters.

    >>> effective("minkowski", 1, None)
    ('manhattan', {})
    """
    keywords = dict(keywords or {})
    if isinstance(metric, Minkowski):
        metric, keywords = "minkowski", {"p": metric.p, "w": metric.w}
    elif isinstance(metric, Mahalanobis | Gower):
        return type(metric).__name__.lower(), keywords
    if metric not in ("minkowski", "p") or not isinstance(metric, str):
        return metric, keywords
    order, w = keywords.pop("p", 2 if p is None else p), keywords.pop("w", None)
    plain = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}
    if w is None and order in plain:
        return plain[order], keywords
    return "minkowski", {**keywords, "p": order, "w": w}


class NeighborsModel(Estimator):
    """Keeps the training rows and queries the index; a subclass uses the neighbours."""

    _squares_x = True

    _accepts_sparse = True
    n_neighbors: Any = None

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        skips = isinstance(self.metric, str) and self.metric == "nan_euclidean"
        return skips or is_gower(self.metric)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _check_parameters(self) -> None:
        if isinstance(self.n_neighbors, str):
            check.one_of(("all",), n_neighbors=self.n_neighbors)
        elif self.n_neighbors is not None:
            check.whole(n_neighbors=self.n_neighbors)
        check.whole(leaf_size=self.leaf_size)
        if self.p is not None:
            check.positive(p=self.p)
        if not isinstance(self.algorithm, LSHIndex):
            check.one_of(METHODS, algorithm=self.algorithm)
        if self.metric_params is not None and not isinstance(self.metric_params, dict):
            raise ValueError(f"metric_params must be a dict or None, got {self.metric_params!r}")
        warn_of_two_orders(self.p, self.metric_params)
        jobs(self.n_jobs)

    def _set_rows(self, X: np.ndarray) -> None:
        """Keep the training rows and choose how to search them."""
        if self._precomputed:
            if X.shape[0] != X.shape[1]:
                raise ValueError(f"Precomputed matrix must be square, got shape {X.shape}")
            X = known_distances(X)
        self.__dict__.pop("_index", None)
        self._fit_X = X.copy()  # the caller may change its own
        self.n_samples_fit_ = int(X.shape[0])
        found = effective(self.metric, self.p, self.metric_params)
        self.effective_metric_, self.effective_metric_params_ = found
        self._fit_method = self._method(self._index_metric)
        if isinstance(self.algorithm, LSHIndex):  # a loaded model draws the same tables again
            self._seed = int(generator(self.algorithm.random_state).integers(2**62))
        with jobs(self.n_jobs):
            _ = self._index
        k = self.n_neighbors
        if isinstance(k, Integral) and int(k) > self.n_samples_fit_ and not self._lenient:
            there = f"the number of training rows (n_samples = {self.n_samples_fit_})"
            raise ValueError(f"n_neighbors must be at most {there}, got {k}")

    _lenient = False  # whether more neighbours than rows may be asked for

    def _check_matrix(self, X: ArrayLike, *, reset: bool, finite: bool) -> Any:
        """Under Gower's distance the words of a frame become codes; see ``mixed``."""
        gower = is_gower(self.metric)
        if gower and reset:
            self._words = None
        if not (gower and is_frame(X)):
            return super()._check_matrix(X, reset=reset, finite=finite)
        columns = self._check_columns(X, reset=reset)
        if reset:
            self._words = learn_words(columns)
        known = self._words if self._words is not None else [None] * len(columns)
        return numbers(columns, known)

    @property
    def _index_metric(self) -> Metric:
        if is_gower(self.metric):
            names = getattr(self, "feature_names_in_", None)
            metric = settle_gower(self.metric, self._words, names, self.metric_params or {})
            return resolve(metric, self._fit_X)
        return resolve(self.metric, self._fit_X, self.p, self.metric_params)

    def _method(self, metric: Metric) -> str:
        """kd_tree or brute; both give the same neighbours."""
        if isinstance(self.algorithm, LSHIndex):
            return "lsh"
        trees = metric.order is not None
        if self.algorithm == "kd_tree" and not trees:
            what = f"a metric of Minkowski's form, got {self.metric!r}"
            raise ValueError(f"algorithm='kd_tree' needs {what}; use algorithm='brute'")
        if issparse(self._fit_X):
            if self.algorithm in ("kd_tree", "ball_tree"):
                warn(f"algorithm={self.algorithm!r} does not read sparse rows: brute is used")
            return "brute"
        if self.algorithm == "brute" or not trees:
            return "brute"
        n, d = self._fit_X.shape
        wanted = d <= TREE_COLUMNS and n >= TREE_ROWS
        return "kd_tree" if self.algorithm != "auto" or wanted else "brute"

    @cached_property
    def _index(self) -> Any:
        metric = self._index_metric
        if self._fit_method == "lsh":
            return self.algorithm._for_model(self._fit_X, metric, self._seed)
        adaptive = self.algorithm == "auto"
        return Index(self._fit_X, metric, self._fit_method, self.leaf_size, adaptive)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        if issparse(self._fit_X):
            return {}
        return {"_fit_X": (self.n_samples_fit_, self.n_features_in_)}

    def _check_questions(self, X: ArrayLike) -> Any:
        """Checked queries, or distances if the metric is precomputed."""
        X = self._check_matrix(X, reset=False, finite=True)
        return known_distances(X) if self._precomputed else X

    def _card(self, answer: str, loss: str, rest: str, exact: str, numbers: dict[str, Any]) -> Card:
        """The card of a prediction by near rows; unequal columns are warned of."""
        uneven = next(iter(self._spreads().values()), 1.0) > 10
        near = f"{self.weights or 'uniform'} weights, nearness is {self.effective_metric_}"
        return Card(
            f"the training rows: a row gets {answer}",
            f"{loss} {near}; {rest}",
            f"nothing is minimised; search by {self._fit_method}, {exact}",
            {"rows": self.n_samples_fit_, "inputs": self.n_features_in_, **numbers},
            warnings=("standardise the inputs: the widest rules the distance",) if uneven else (),
        )

    def _spreads(self) -> dict[str, float]:
        """How unequal the columns are: the widest rules a distance."""
        if issparse(self._fit_X) or self._precomputed:
            return {}
        deviation = np.nanstd(self._fit_X, axis=0)
        deviation = deviation[deviation > 0]
        if not len(deviation):
            return {}
        return {"widest column by narrowest": float(deviation.max() / deviation.min())}

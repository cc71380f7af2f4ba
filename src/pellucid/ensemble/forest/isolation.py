r"""Isolation forest: odd rows are alone after few random questions.

Tree         on psi rows drawn at random: a random column, a threshold uniform between its
             extremes, until a row is alone or the depth is ceil(log2 psi)
Path         h(x) = depth of the leaf + c(rows of the leaf), the mean depth that would follow
             c(n) = 2 (ln(n - 1) + 0.5772156649) - 2 (n - 1) / n,  c(2) = 1, c(1) = 0
Score        s(x) = -2^(-mean h(x) / c(psi)), in [-1, 0): near -1 odd, above -0.5 ordinary
Offset       -0.5, or the ``contamination`` quantile of the training scores

References: Liu, Ting & Zhou (2008).
"""

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.compiled.trees.growth import draw_column
from pellucid.compiled.trees.search import mix, random_threshold
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.random import generator, stream
from pellucid.core.runtime.threads import map_threads, thread_count
from pellucid.core.runtime.warn import warn
from pellucid.ensemble.blocks.placing import width_of
from pellucid.ensemble.blocks.shards import PER_WORKER, Shard, cut_shards
from pellucid.ensemble.blocks.table import Opened, fit_blocks
from pellucid.ensemble.committees.bagging_model import FEATURES, feature_count
from pellucid.ensemble.committees.bootstrap import (
    Bootstrap,
    Sampler,
    is_whole,
    make_sampler,
    own_order,
    refuse_fewer,
    row_hash,
)
from pellucid.ensemble.forest.forest_model import check_fitted_forest, jobs
from pellucid.ensemble.forest.record import Forest, join_forests, writeable
from pellucid.ensemble.members import count, member, members
from pellucid.tree.regressor import DecisionTreeRegressor


@jit
def column_range(X, rows, s, e, f):
    """(least, largest, missing cells) of the known cells of a column in a node."""
    low, high, lost = np.inf, -np.inf, 0
    for i in range(s, e):
        x = X[rows[i], f]
        if x != x:
            lost += 1
        else:
            low, high = min(low, x), max(high, x)
    return low, high, lost


@jit
def isolate(X, rows, columns, max_depth, seed, order, stack, keys, nodes):
    """Grow one tree in preorder on ``rows``; returns the number of its nodes.

    nodes: right, feature, threshold, missing_left, size, depth.
    At each node a column is drawn that varies, then a threshold uniform between its extremes.
    Missing cells go left or right as a whole, by chance.
    """
    right, feature, threshold, missing_left, size, depth = nodes
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, len(rows), 0, -1
    keys[0] = seed
    top, n, moved = 1, 0, np.empty(len(rows), rows.dtype)
    while top > 0:
        top -= 1
        s, e, level, parent = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        key, node = keys[top], n
        n += 1
        if parent >= 0:
            right[parent] = node
        right[node], feature[node], threshold[node], missing_left[node] = -1, -2, -2.0, 0
        size[node], depth[node] = e - s, level
        if e - s < 2 or level >= max_depth:
            continue
        f = np.int64(-1)
        low, high, lost = 0.0, 0.0, 0
        for j in range(len(columns)):
            c = draw_column(order, j, key)
            low, high, lost = column_range(X, rows, s, e, columns[c])
            if low < high or (low == high and lost > 0):
                f = np.int64(columns[c])
                break
        if f < 0:
            continue
        t = random_threshold(low, high, mix(key, f + 1)) if low < high else np.inf
        to = mix(key, 0x1057) & 1 if t < np.inf else 0
        at, n_moved = s, 0
        for i in range(s, e):
            r = rows[i]
            x = X[r, f]
            stay = x <= t or (x != x and to == 1)
            if stay:
                rows[at] = r
                at += 1
            else:
                moved[n_moved] = r
                n_moved += 1
        for i in range(n_moved):
            rows[at + i] = moved[i]
        feature[node], threshold[node] = f, t
        missing_left[node] = to
        stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = at, e, level + 1, node
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = s, at, level + 1
        stack[top + 1, 3] = -1
        keys[top], keys[top + 1] = mix(key, 1), mix(key, 0)
        top += 2
    return n


class Hashed(NamedTuple):
    """What the draws depend on, of one shard."""

    hash: Any  # (n,) uint64
    w: Array


def hash_shard(shard: Shard) -> Hashed:
    """A number of every row, and its weight."""
    parts = [(row_hash(rows.X, np.zeros(rows.n_rows)), rows.w) for _, rows in shard.stretches()]
    return Hashed(*map(np.concatenate, zip(*parts, strict=True)))


def take_shard(wanted: Any, shard: Shard) -> Array:
    """The rows of a shard whose numbers are wanted."""
    parts = []
    for start, rows in shard.stretches():
        low, high = np.searchsorted(wanted, [start, start + rows.n_rows])
        parts.append(rows.X[wanted[low:high] - start])
    return np.concatenate(parts)


def score_shard(scores: Callable[[Array], Array], shard: Shard) -> Array:
    """The scores of the rows of a shard that have weight."""
    parts = []
    for _, rows in shard.stretches():
        X = rows.X if (rows.w > 0).all() else rows.X[rows.w > 0]
        parts.append(scores(writeable(X)))
    return np.concatenate(parts)


EULER = 0.5772156649015329


def average_path_length(n: ArrayLike) -> Any:
    """c(n), the mean depth of an unsuccessful search among n rows.

    >>> average_path_length(np.array([1, 2, 256])).round(6).tolist()
    [0.0, 1.0, 10.244771]
    """
    n = np.asarray(n, np.float64)
    large = np.maximum(n, 3.0)
    c = 2.0 * (np.log(large - 1.0) + EULER) - 2.0 * (large - 1.0) / large
    return np.where(n <= 1, 0.0, np.where(n == 2, 1.0, c))


def path_scores(forest: Forest, psi: int, X: Array) -> Array:
    """-2^(-mean path / c(psi)) of every row."""
    mean = forest.sum_values(X)[:, 0] / forest.n_trees
    scale = float(average_path_length(psi))
    return -np.exp2(-mean / scale) if scale > 0 else -np.full(len(X), 0.5)


class IsolationForest(OutlierMixin, Estimator):
    """Score rows by how soon random questions separate them from the others.

    NaN is accepted (missing cells go to one side by chance). ``sample_weight`` equals repetition.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    max_samples : "auto", int or float, default="auto"
        Rows of each tree; "auto": min(256, n).
    contamination : "auto" or float in (0, 0.5], default="auto"
        Share of odd rows in the training data, which sets ``offset_``; "auto": -0.5.
    max_features : int or float, default=1.0
        Features of each tree.
    bootstrap : bool, default=False
        Draw rows with replacement.
    n_jobs : int, default=None
        Threads; None: as many as ``pellucid`` may use.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    warm_start : bool, default=False
        Keep the trees of the fit before and add the missing ones.

    Attributes
    ----------
    forest_ : Forest
        All trees in flat arrays; the value of a leaf is h.
    offset_ : float
        ``decision_function = score_samples - offset_``; below 0 is odd.
    max_samples_ : int
    estimators_, estimators_samples_, estimators_features_ : list
    training_scores_ : ndarray
        Sorted scores of the training rows, for ``p_values``.

    Examples
    --------
    >>> from pellucid import IsolationForest
    >>> X = [[0.0], [0.1], [0.2], [0.1], [0.15], [9.0]]
    >>> IsolationForest(random_state=0).fit(X).predict([[0.1], [9.0]])
    array([ 1, -1])
    """

    __len__, __getitem__, __iter__ = count, member, members

    _accepts_nan = True
    _accepts_sparse = True

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: float | Literal["auto"] = "auto",
        contamination: float | Literal["auto"] = "auto",
        max_features: float = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.contamination = contamination
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def _check_matrix(self, X: Any, *, reset: bool, finite: bool) -> Any:
        X = super()._check_matrix(X, reset=reset, finite=finite)
        return to_dense(X)

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Grow the trees."""
        self._check_parameters()
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        rows = self._check_training(X, y, sample_weight)
        w, X = np.array(rows.w), writeable(rows.X)
        old = self.forest_ if self.warm_start and hasattr(self, "forest_") else None
        self._set_sampler(w, own_order(X, np.zeros(len(X))))
        done = 0 if old is None else old.n_trees
        refuse_fewer(self.n_estimators, done, "trees")
        with jobs(self.n_jobs):
            if done < self.n_estimators:
                new = self._grow(X, done, self.sampler_.drawn)
                self.forest_: Forest = new if old is None else join_forests(old, new)
            self._judge(self._scores(X[w > 0]), w)
        context.end()
        return self

    fit_blocks = fit_blocks

    def _fit_opened(self, opened: Opened, map_: Map) -> None:
        """The same from blocks: 16 bytes of every row come here, and the rows that are drawn."""
        self._check_parameters()
        if self.warm_start:
            raise ValueError("warm_start=True goes with fit: fit_blocks always begins anew")
        context = FitContext.of_one_step(self, None)
        shards = cut_shards(opened.source, PER_WORKER * width_of(map_))
        numbers = list(map_(hash_shard, shards))
        w = np.concatenate([part.w for part in numbers])
        if not w.any():
            raise ValueError("sample_weight is zero for every row; at least one must be positive")
        order = np.argsort(np.concatenate([part.hash for part in numbers]), kind="stable")
        self._set_sampler(w, order.astype(np.int32))
        drawn = [self.sampler_.drawn(b) for b in range(self.n_estimators)]
        wanted = np.unique(np.concatenate(drawn))
        X = writeable(np.concatenate(list(map_(partial(take_shard, wanted), shards))))
        with jobs(self.n_jobs):
            self.forest_ = self._grow(X, 0, lambda b: np.searchsorted(wanted, drawn[b]))
            known = partial(path_scores, self.forest_, self.max_samples_)
            scores = list(map_(partial(score_shard, known), shards))
            self._judge(np.concatenate(scores), w)
        context.end()

    def _check_parameters(self) -> None:
        check.whole(n_estimators=self.n_estimators)
        check.boolean(bootstrap=self.bootstrap, warm_start=self.warm_start)
        self._check_contamination()

    def _set_sampler(self, w: Array, order: Any) -> None:
        """How many rows a tree draws, and which."""
        keep = self.warm_start and hasattr(self, "forest_")
        seed = self.sampler_.seed if keep else int(generator(self.random_state).integers(2**62))
        total = int(w.sum()) if is_whole(w) else int(np.count_nonzero(w))
        self.max_samples_ = self._sample_size(total)
        sampling = Bootstrap(self.max_samples_, replace=self.bootstrap)
        self.sampler_: Sampler = make_sampler(sampling, seed, w, self.n_estimators, order)

    def _check_contamination(self) -> None:
        value = self.contamination
        if isinstance(value, str):
            check.one_of(("auto",), contamination=value)
        elif isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 0.5:
            raise ValueError(f"contamination must be 'auto' or in (0, 0.5], got {value!r}")

    def _sample_size(self, n: int) -> int:
        value = self.max_samples
        if isinstance(value, str):
            check.one_of(("auto",), max_samples=value)
            return min(256, n)
        if isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1:
            if int(value) > n:
                above = f"max_samples ({value}) is greater than the total number of samples ({n})"
                warn(f"{above}. max_samples will be set to n_samples for estimation.")
            return min(int(value), n)
        if isinstance(value, Real) and not isinstance(value, bool | Integral):
            share = float(value)
            if 0 < share <= 1:
                return max(1, int(share * n))
        accepted = "'auto', a whole number >= 1 or a share in (0, 1]"
        raise ValueError(f"max_samples must be {accepted}, got {value!r}")

    def _columns(self, b: int) -> Any:
        d = self.n_features_in_
        width = feature_count(self.max_features, d)
        if width == d:
            return np.arange(d)
        return np.sort(stream(self.sampler_.seed, b, FEATURES).choice(d, width, replace=False))

    def _grow(self, X: Array, first: int, rows: Callable[[int], Any]) -> Forest:
        """Trees first..n_estimators-1; tree b sees ``rows(b)`` of X."""
        psi, sampler, d = self.max_samples_, self.sampler_, X.shape[1]
        max_depth = int(np.ceil(np.log2(max(psi, 2))))
        feature_count(self.max_features, d)

        def some(numbers: range) -> list[tuple[Any, ...]]:
            cap = max(2 * psi - 1, 1)
            right, feature, size, depth = (np.empty(cap, np.int32) for _ in range(4))
            nodes = right, feature, np.empty(cap), np.empty(cap, np.uint8), size, depth
            stack, keys = np.empty((psi + 1, 4), np.int64), np.empty(psi + 1, np.int64)
            found = []
            for b in numbers:
                columns = self._columns(b)
                drawn, order = rows(b).astype(np.int32), np.arange(len(columns))
                seed = mix(sampler.seed, b)
                n = isolate(X, drawn, columns, max_depth, seed, order, stack, keys, nodes)
                found.append(tuple(part[:n].copy() for part in nodes))
            return found

        step = max(1, (self.n_estimators - first) // (2 * thread_count()))
        last = self.n_estimators
        parts = [range(a, min(a + step, last)) for a in range(first, last, step)]
        trees: list[Any] = [tree for part in map_threads(some, parts) for tree in part]
        right, feature, threshold, missing, size, depth = (
            np.concatenate(field) for field in zip(*trees, strict=True)
        )
        start = np.concatenate([[0], np.cumsum([len(one[0]) for one in trees])])
        path = depth + np.where(feature < 0, average_path_length(size), 0.0)
        n = len(right)
        nodes = start.astype(np.int64), right, feature, threshold, missing
        counts = np.zeros(n), size, size.astype(np.float64), path[:, None], np.zeros((n, 1))
        return Forest(*nodes, *counts, np.ones(1, np.int64), d)

    def _judge(self, scores: Array, w: Array) -> None:
        """Training scores, of the rows that have weight, and the offset."""
        if is_whole(w):
            scores = np.repeat(scores, w[w > 0].astype(np.int64))
        self.training_scores_ = np.sort(scores)
        self.offset_ = -0.5
        if self.contamination != "auto":
            self.offset_ = float(np.percentile(scores, 100.0 * self.contamination))

    def _scores(self, X: Array) -> Array:
        return path_scores(self.forest_, self.max_samples_, X)

    def score_samples(self, X: ArrayLike) -> Array:
        """-2^(-mean path / c(psi)): high is ordinary."""
        rows = self._check_input(X)
        with jobs(self.n_jobs):
            return self._scores(rows)

    def decision_function(self, X: ArrayLike) -> Array:
        """``score_samples - offset_``: below 0 is odd."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> Any:
        """1 for ordinary rows, -1 for odd ones."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def p_values(self, X: ArrayLike) -> Array:
        """Share of the training scores at or below that of each row."""
        scores = self.score_samples(X)
        below = np.searchsorted(self.training_scores_, scores, side="right")
        return below / len(self.training_scores_)

    @property
    def estimator_(self) -> DecisionTreeRegressor:
        """A tree of this kind, not fitted."""
        return DecisionTreeRegressor(splitter="random", max_features=1)

    @property
    def estimators_(self) -> list[DecisionTreeRegressor]:
        """The trees as regressors of the path length."""
        check_is_fitted(self)
        models = []
        for t in range(self.forest_.n_trees):
            model = self.estimator_
            model.n_features_in_, model.n_outputs_, model.max_features_ = self.n_features_in_, 1, 1
            model.tree_ = self.forest_.tree(t)
            models.append(model)
        return models

    @property
    def estimators_samples_(self) -> list[Any]:
        """The rows of each tree."""
        check_is_fitted(self)
        return [self.sampler_.rows(b) for b in range(self.forest_.n_trees)]

    @property
    def estimators_features_(self) -> list[Any]:
        """The columns of each tree."""
        check_is_fitted(self)
        return [self._columns(b) for b in range(self.forest_.n_trees)]

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "forest_"):
            check_fitted_forest(self)
            self.sampler_.check()
            if self.forest_.value.shape[1] != 1:
                raise ValueError("forest_ must have one value for every node")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        return Card(
            representation="the mean number of random questions that separate a row from others",
            evaluation="none: trees are drawn, not fitted; an odd row is one unlike the bulk, not "
            "necessarily an error",
            optimisation=f"{self.forest_.n_trees} random trees of {self.max_samples_} rows each",
            numbers={
                "rows": self.sampler_.n,
                "trees": self.forest_.n_trees,
                "rows per tree": self.max_samples_,
                "offset": self.offset_,
                "odd training rows": int(np.count_nonzero(self.training_scores_ < self.offset_)),
            },
        )

r"""Multidimensional scaling: points on a map whose distances are those given, as nearly as may be.

Objective    stress = sum_{i<j} (d_ij(Y) - delta_ij)^2, d the distances of the points Y (n, k)
Step         SMACOF: the stress lies below a quadratic that touches it at Y, and the minimum of that
             is Guttman's transform  y_i <- (1/n) sum_j delta_ij/d_ij (y_i - y_j):  it never rises
Non-metric   delta is replaced by the numbers in the order of delta that are nearest to d (isotonic
             regression) before every step, of fixed mean square
Start        random, or classical scaling: the leading eigenvectors of -J delta^2 J/2
Cost         some 10 n^2 flops a step, by blocks of rows that stay in cache: one pass a step

References: Kruskal (1964); de Leeuw (1977); Borg & Groenen (1997).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.metrics import pairwise_distances
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, check_symmetric

from pellucid.base import Transformer, with_callbacks
from pellucid.compiled.counts.pooling import pool_adjacent
from pellucid.core.algebra.eigen import largest_pairs
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray, Seed
from pellucid.core.functions.kernels import squared_distances
from pellucid.core.loops.iterate import FitContext, Iteration, iterate, strictly_below
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn

CELLS = 65_536  # of a block of rows
NEARLY = 1e-6  # of the largest distance: below it, rounding may hide equal rows
ENOUGH = 1e-7  # of the map's size: a new row that moves less stands


class Map(NamedTuple):
    """Points, their stress, the sum of their squared distances and where the next step leads."""

    Y: Array  # (n, k)
    stress: float
    squares: float
    moved: Array  # (n, k)
    steps: int = 0


def distances(A: Array, B: Array) -> Array:
    """|a - b| of all pairs by differences: few columns."""
    D = np.zeros((len(A), len(B)))
    for a, b in zip(A.T, B.T, strict=True):
        D += np.square(a[:, None] - b)
    return np.sqrt(D, out=D)


def guttman(delta: Array, Y: Array, steps: int = 0) -> Map:
    """One pass over all pairs: stress, squares, and Guttman's transform of Y.

    >>> delta = np.array([[0.0, 2.0], [2.0, 0.0]])
    >>> guttman(delta, np.array([[0.0], [1.0]])).moved.ravel()
    array([-1.,  1.])
    """
    n = len(Y)

    def one(first: int) -> tuple[Array, float, float]:
        part = slice(first, first + rows)
        D = distances(Y[part], Y)
        ratio = np.divide(delta[part], D, out=np.zeros_like(D), where=D > 0)
        moved = (ratio.sum(axis=1)[:, None] * Y[part] - ratio @ Y) / n
        squares = float(np.vdot(D, D))
        D -= delta[part]
        return moved, 0.5 * float(np.vdot(D, D)), 0.5 * squares

    rows = max(1, CELLS // n)
    found = list(map_threads(one, range(0, n, rows)))
    moved = np.concatenate([f[0] for f in found])
    return Map(Y, sum(f[1] for f in found), sum(f[2] for f in found), moved, steps)


def metric_step(delta: Array, at: Map) -> tuple[Map, float]:
    """Move; the gap is what the stress fell, beside the squared distances."""
    new = guttman(delta, at.moved, at.steps + 1)
    return new, (at.stress - new.stress) / new.squares if new.squares > 0 else 0.0


class Order(NamedTuple):
    """The pairs i < j with a dissimilarity, from the smallest."""

    i: IntArray
    j: IntArray
    delta: Array


def ordered(delta: Array) -> Order:
    i, j = np.nonzero(np.triu(delta, 1))
    order = np.argsort(delta[i, j], kind="stable")
    i, j = i[order], j[order]
    return Order(i, j, delta[i, j])


def disparities(order: Order, Y: Array, n: int, first: bool) -> Array:
    """The numbers in the order of delta nearest to the distances, of mean square 1."""
    if first:
        values = order.delta.copy()
    else:
        d = np.sqrt(np.square(Y[order.i] - Y[order.j]).sum(axis=1))
        _, group = np.unique(order.delta, return_inverse=True)  # equal ones stay equal
        weight = np.bincount(group).astype(np.float64)
        means, start = np.bincount(group, d) / weight, np.empty(len(weight), dtype=np.int64)
        pool_adjacent(means, weight, start)
        values = means[group]
    values *= np.sqrt(n * (n - 1) / 2 / max(float(values @ values), np.finfo(np.float64).tiny))
    full = np.zeros((n, n))
    full[order.i, order.j] = full[order.j, order.i] = values
    return full


def non_metric_step(order: Order, at: Map) -> tuple[Map, float]:
    """Disparities of the last map, then one move; the stress is that of both."""
    n = len(at.Y)
    wanted = disparities(order, at.Y, n, at.steps == 0)
    Y = guttman(wanted, at.Y).moved
    new = guttman(wanted, Y, at.steps + 1)
    gap = (at.stress - new.stress) / new.squares if new.squares > 0 else 0.0
    return new, gap if at.steps else max(gap, 1.0)  # the first stress is of other disparities


def classical(delta: Array, k: int) -> Array:
    """Classical scaling: exact where delta are distances in k dimensions."""
    B = np.square(delta)
    B -= B.mean(axis=0)
    B -= B.mean(axis=1)[:, None]
    n = len(B)
    values, V = largest_pairs(-0.5 * B, min(k, n))
    values, V = values[::-1], V[:, ::-1]
    largest = V[np.abs(V).argmax(axis=0), np.arange(V.shape[1])]
    Y = V * np.where(largest < 0, -1.0, 1.0) * np.sqrt(np.maximum(values, 0.0))
    return np.hstack([Y, np.zeros((n, k - Y.shape[1]))])


def _keeps_distances(model: Any) -> bool:
    if not model.metric_mds:
        raise AttributeError("transform needs metric_mds=True: an order gives no distances")
    return True


def same_rows(X: Array, Z: Array, D: Array) -> Any:
    """Which pairs of nearly no distance are equal cell by cell."""
    same = np.zeros(D.shape, dtype=bool)
    i, j = np.nonzero(NEARLY * max(float(D.max(initial=0.0)), np.finfo(np.float64).tiny) >= D)
    same[i, j] = (X[i] == Z[j]).all(axis=1)
    return same


def placed(delta: Array, Y: Array, max_iter: int) -> Array:
    """Where new rows stand: each at least squares from the points it must be ``delta`` (m, n) off.

    A row at distance 0 stands with the point it equals; others start there and move as in SMACOF.
    """
    nearest = delta.argmin(axis=1)
    at = Y[nearest].copy()
    moving = np.flatnonzero(delta[np.arange(len(delta)), nearest] > 0)
    still = ENOUGH * float(np.sqrt(np.square(Y - Y.mean(axis=0)).sum(axis=1).mean()))
    for _ in range(max_iter):
        if not len(moving):
            break
        old = at[moving]
        D = distances(old, Y)
        ratio = np.divide(delta[moving], D, out=np.zeros_like(D), where=D > 0)
        new = Y.mean(axis=0) + (ratio.sum(axis=1)[:, None] * old - ratio @ Y) / len(Y)
        at[moving] = new
        moving = moving[np.sqrt(np.square(new - old).sum(axis=1)) > still]
    return at


class MDS(ClassNamePrefixFeaturesOutMixin, Transformer):
    """A map of the rows that keeps their distances, or only the order of them.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the map.
    metric_mds : bool, default=True
        False: only the order of the dissimilarities counts; zeros are missing.
    n_init : int, default=1
        Runs from random starts; that of least stress is kept.
    init : {"random", "classical_mds"}, default="random"
        Start.
    max_iter : int, default=300
        Most steps of a run.
    verbose : int, default=0
        Above 0 prints the steps.
    eps : float, default=1e-6
        It ends when the stress falls by less than this share of the sum of squared distances.
    n_jobs : ignored
        Blocks of rows have the threads.
    random_state : int, RandomState, Generator or None, default=None
        Of random starts.
    metric : str or callable, default="euclidean"
        Distance of the rows, as ``sklearn.metrics.pairwise_distances`` takes it; "precomputed": X
        is the matrix of dissimilarities.
    metric_params : dict or None, default=None
        Further arguments of it.
    normalized_stress : bool or "auto", default="auto"
        sqrt(stress/sum of squared distances), between 0 and 1; "auto": for non-metric maps.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components), the map
    stress_ : float
    dissimilarity_matrix_ : ndarray of shape (n, n)
    n_iter_, history_ : steps; the stress at each

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import MDS
    >>> X = np.array([[0.0, 0.0, 0.0], [3.0, 4.0, 0.0], [6.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    >>> Y = MDS(init="classical_mds").fit_transform(X)
    >>> round(float(np.linalg.norm(Y[0] - Y[1])), 6)
    5.0
    """

    _squares_x = True
    _tol_name = "eps"

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric_mds: bool = True,
        n_init: int = 1,
        init: str = "random",
        max_iter: int = 300,
        verbose: int = 0,
        eps: float = 1e-6,
        n_jobs: int | None = None,
        random_state: Seed = None,
        metric: str | Callable[..., Any] = "euclidean",
        metric_params: dict[str, Any] | None = None,
        normalized_stress: Any = "auto",
    ) -> None:
        self.n_components = n_components
        self.metric_mds = metric_mds
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.verbose = verbose
        self.eps = eps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.metric = metric
        self.metric_params = metric_params
        self.normalized_stress = normalized_stress

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        return tags

    def fit(self, X: ArrayLike, y: MaybeArray = None, init: MaybeArray = None) -> Self:
        """Draw the map; ``init`` (n, k) is a start of the caller's own."""
        self.fit_transform(X, init=init)
        return self

    @with_callbacks
    def fit_transform(self, X: ArrayLike, y: MaybeArray = None, init: MaybeArray = None) -> Array:
        """Draw the map and return it."""
        self._check_parameters()
        rows = self._check_training(X).X
        delta = self._dissimilarities(rows)
        self._rows = np.empty((0, 0)) if self.metric == "precomputed" else rows.copy()
        starts = self._starts(delta, init)
        context = FitContext(
            self, X=X, max_steps=self.max_iter, attributes=lambda at: self._found(delta, at)
        )
        step: Callable[[Map], tuple[Map, float]] = partial(metric_step, delta)
        if not self.metric_mds:
            step = partial(non_metric_step, ordered(delta))
        run = self._best(step, [guttman(delta, Y) for Y in starts], context)
        for name, value in self._found(delta, run.state).items():
            setattr(self, name, value)
        return self.embedding_

    def _check_parameters(self) -> None:
        check.whole(n_components=self.n_components, n_init=self.n_init, max_iter=self.max_iter)
        check.boolean(metric_mds=self.metric_mds)
        check.non_negative(eps=self.eps)
        check.one_of(("random", "classical_mds"), init=self.init)
        if self.normalized_stress != "auto":
            check.boolean(normalized_stress=self.normalized_stress)

    def _dissimilarities(self, X: Array) -> Array:
        if self.metric == "precomputed":
            return check_symmetric(X, raise_exception=True)
        if X.shape[0] == X.shape[1]:
            warn(
                "The provided input is a square matrix. Note that ``fit`` constructs a "
                "dissimilarity matrix from data and will treat rows as samples and columns as "
                "features. To use a pre-computed dissimilarity matrix, set "
                "``metric='precomputed'``."
            )
        return self._distances(X, None)

    def _distances(self, X: Array, Z: Array | None) -> Array:
        if self.metric == "euclidean" and not self.metric_params:
            D = np.sqrt(squared_distances(X, Z))
            return D if Z is None else np.where(same_rows(X, Z, D), 0.0, D)
        return pairwise_distances(X, Z, metric=self.metric, **(self.metric_params or {}))

    def _starts(self, delta: Array, init: MaybeArray) -> list[Array]:
        n, k = len(delta), int(self.n_components)
        if init is not None:
            Y = np.array(init, dtype=np.float64)
            if Y.shape != (n, k):
                raise ValueError(f"init matrix should be of shape ({n}, {k}), got {Y.shape}")
            return [Y]
        if self.init == "classical_mds":
            return [classical(delta, k)]
        rng = generator(self.random_state)
        size = float(delta.max()) if delta.size else 1.0
        size = size if self.metric_mds and size > 0 else 1.0
        return [size * rng.random((n, k)) for _ in range(self.n_init)]

    def _best(self, step: Any, starts: list[Map], context: FitContext) -> Iteration:
        options: dict[str, Any] = {"max_iter": self.max_iter, "tol": strictly_below(self.eps)}
        options["record"] = lambda at: {"objective": at.stress}
        options["start_row"] = False
        if len(starts) == 1:
            return self._iterate(step, starts[0], context=context, **options)
        runs = [iterate(step, at, name="MDS", warn=False, **options) for at in starts]
        best = min(runs, key=lambda run: run.state.stress)
        self.history_, self.n_iter_ = best.history, max(best.n_iter, 1)
        context.end(best.state)
        return best

    def _found(self, delta: Array, at: Map) -> dict[str, Any]:
        share = self.normalized_stress
        share = not self.metric_mds if share == "auto" else share
        stress = at.stress
        if share:
            stress = float(np.sqrt(stress / at.squares)) if at.squares > 0 else 0.0
        return {"embedding_": at.Y, "stress_": stress, "dissimilarity_matrix_": delta}

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    @available_if(_keeps_distances)
    def transform(self, X: ArrayLike) -> Any:
        """Places of new rows on the map, which stays as it is; of metric maps only.

        With ``metric="precomputed"`` X holds their dissimilarities from the rows of the map.
        """
        rows = self._check_input(X)
        delta = rows if self.metric == "precomputed" else self._distances(rows, self._rows)
        return placed(np.asarray(delta, dtype=np.float64), self.embedding_, self.max_iter)

    def _check_state(self) -> None:
        if hasattr(self, "embedding_"):
            n = len(self.embedding_)
            known = self.metric == "precomputed" or self._rows.shape == (n, self.n_features_in_)
            if not known or self.dissimilarity_matrix_.shape != (n, n):
                raise ValueError("embedding_, dissimilarity_matrix_ and the rows do not fit")

    def card(self) -> Card:
        """What the map keeps, and how well."""
        check_is_fitted(self)
        n, k = self.embedding_.shape
        kept = "the distances" if self.metric_mds else "the order of the distances"
        return Card(
            f"{n} points in {k} dimensions",
            f"stress of {kept} = {self.stress_:.6g}",
            f"SMACOF from {self.init!r}, {self.n_iter_} steps; the stress never rises",
            {"rows": n, "dimensions": k, "stress": self.stress_},
            warnings=("turning or mirroring the map changes nothing", "other starts, other maps"),
        )

r"""Condensed nearest neighbours: few rows that classify all training rows.

Start with one row of each class. Pass over the data; a row that the kept ones misclassify is kept
too. Stop when a pass adds nothing. Each row can be added once, so it ends; then every training row
is classified correctly, unless equal rows carry different labels.

The k nearest kept rows of every row are maintained, so adding one costs O(n d) and the next
misclassified row is read off.                                      O(n d |kept|) in all

Reference: Hart (1968).
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, with_callbacks
from pellucid.compiled.distances.search import Index
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.neighbors.search.metrics import resolve, settled
from pellucid.neighbors.voting import vote_totals


class Kept(NamedTuple):
    """The kept rows so far, and the nearest of them to every row."""

    rows: tuple[int, ...]  # in the order they were kept
    distance: Array  # (n, k), inf where fewer are kept
    nearest: IntArray  # (n, k)


def keep(state: Kept, index: Index, x: Array, row: int) -> Kept:
    """Add one row and put it into every list it belongs to; ties by lower index."""
    k = state.distance.shape[1]
    d = index.distances(x[None, :])[0]
    distance = np.column_stack([state.distance, d])
    nearest = np.column_stack([state.nearest, np.full(len(d), row)])
    order = np.lexsort((nearest, distance), axis=1)[:, :k]
    distance, nearest = (np.take_along_axis(a, order, axis=1) for a in (distance, nearest))
    return Kept((*state.rows, row), distance, nearest)


def wrong_rows(state: Kept, codes: IntArray, n_classes: int) -> Any:
    """Which rows the kept ones misclassify."""
    there = np.isfinite(state.distance).astype(np.float64)
    totals = vote_totals(codes[state.nearest], there, n_classes)
    return totals.argmax(axis=1) != codes


def condensing_pass(
    state: Kept, index: Index, X: Array, codes: IntArray, n_classes: int, order: IntArray
) -> tuple[Kept, float]:
    """Visit the rows once in the given order; the gap is the number of rows added."""
    added, at = 0, 0
    member = np.zeros(len(codes), dtype=bool)
    member[list(state.rows)] = True
    while True:
        wrong = (wrong_rows(state, codes, n_classes) & ~member)[order]
        wrong[:at] = False
        if not wrong.any():
            return state, float(added)
        at = int(np.argmax(wrong))
        state = keep(state, index, X[order[at]], int(order[at]))
        member[order[at]] = True
        added += 1


class FewerRows(Classifier):
    """Votes of the nearest of a few rows ``_fit_X`` with the codes ``_y``, chosen by a subclass."""

    @cached_property
    def _index(self) -> Index:
        metric, keywords = self._metric
        return Index(self._fit_X, resolve(metric, self._fit_X, keywords=keywords), "brute")

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"_fit_X": (len(self.sample_indices_), self.n_features_in_)}

    def predict(self, X: ArrayLike) -> Any:
        """The label of most of the nearest rows that were kept."""
        X = self._check_input(X)
        _, nearest = self._index.nearest(X, min(self.n_neighbors, len(self._fit_X)))
        codes = vote_totals(self._y[nearest], None, len(self.classes_)).argmax(axis=1)
        return self.classes_[codes]

    def fit_resample(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, Any]:
        """The rows that were kept and their labels, in the order of ``sample_indices_``."""
        self.fit(X, y)
        return take_rows(X, self.sample_indices_), take_rows(y, self.sample_indices_)


class CondensedNearestNeighbour(FewerRows):
    """Keep few rows that classify all of them, and classify by those.

    Parameters
    ----------
    n_neighbors : int, default=1
        Voters among the kept rows.
    metric : str, callable, Minkowski, Mahalanobis or Gower, default='euclidean'
        The distance between rows; see ``pairwise_distances``.
    order : {'given', 'random'}, default='given'
        The order of the rows in a pass, and whether a class starts with its first row or any.
    random_state : int, RandomState, Generator or None, default=None
        For ``order='random'``.

    Attributes
    ----------
    sample_indices_ : ndarray
        The kept rows in the order they were kept.
    classes_ : ndarray
    history_ : one row per pass: ``objective`` is the number of rows misclassified after it
    compression_ : float
        Share of the rows that is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import CondensedNearestNeighbour
    >>> model = CondensedNearestNeighbour().fit(np.arange(10.0)[:, None], list("aaaabbbbbb"))
    >>> model.sample_indices_
    array([0, 4, 3])
    """

    def __init__(
        self,
        n_neighbors: int = 1,
        *,
        metric: str | Callable[..., float] | BaseEstimator = "euclidean",
        order: str = "given",
        random_state: Seed = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.order = order
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Choose the rows to keep, pass by pass."""
        check.whole(n_neighbors=self.n_neighbors)
        check.one_of(("given", "random"), order=self.order)
        rng = generator(self.random_state)
        rows = self._check_training(X, y)
        n, K = rows.n_rows, len(self.classes_)
        index = Index(rows.X, resolve(self.metric, rows.X), "brute")
        order = rng.permutation(n) if self.order == "random" else np.arange(n)
        k = self.n_neighbors
        state = Kept((), np.full((n, k), np.inf), np.zeros((n, k), np.int64))
        for c in range(K):
            first = int(order[np.argmax(rows.y[order] == c)])
            state = keep(state, index, rows.X[first], first)
        self._metric = settled(self.metric, rows.X)
        self.__dict__.pop("_index", None)  # of an earlier fit; callbacks may predict, too
        fitted = partial(self._kept, rows=rows)
        context = FitContext.of_rows(self, rows, max_steps=n, attributes=fitted)

        def step(s: Kept) -> tuple[Kept, float]:
            return condensing_pass(s, index, rows.X, rows.y, K, order)

        def record(s: Kept) -> dict[str, Any]:
            return {"objective": float(wrong_rows(s, rows.y, K).sum()), "kept": len(s.rows)}

        loop: dict[str, Any] = {"max_iter": n + 1, "tol": 0.0, "record": record, "context": context}
        run = self._iterate(step, state, **loop)
        kept = self._kept(run.state, rows).values()
        self.sample_indices_, self.compression_, self._fit_X, self._y = kept
        _ = self._index
        left = int(wrong_rows(run.state, rows.y, K).sum())
        if left:
            why = "equal rows carry different labels"
            if self.n_neighbors > 1:
                why += ", or the neighbours of a kept row outvote it"
            warn(f"{left} row(s) stay misclassified: {why}")
        return self

    def _kept(self, state: Kept, rows: Rows) -> dict[str, Any]:
        kept = np.array(state.rows)
        order = np.sort(kept)  # equal distances go to the lower row of the whole table
        return {
            "sample_indices_": kept,
            "compression_": len(kept) / rows.n_rows,
            "_fit_X": np.ascontiguousarray(rows.X[order]),
            "_y": rows.y[order],
        }

    def card(self) -> Card:
        """What is kept and why, with the numbers of this fit."""
        check_is_fitted(self)
        return Card(
            f"the {len(self.sample_indices_)} kept rows; the nearest {self.n_neighbors} vote",
            "errors on the training rows, which must be 0 unless equal rows differ in label",
            f"passes that keep every misclassified row (Hart), {self.n_iter_} of them",
            {
                "kept": len(self.sample_indices_),
                "share kept": self.compression_,
                "passes": self.n_iter_,
                "errors left": float(self.history_["objective"][-1]),
            },
        )


def take_rows(values: Any, rows: IntArray) -> Any:
    """Some rows of an array or a frame."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if hasattr(values, "gather_every"):  # polars
        return values[rows.tolist()]
    return np.asarray(values)[rows]

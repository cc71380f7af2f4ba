r"""Edited nearest neighbours: remove rows that their neighbourhood contradicts.

A row is noise if its class loses the vote of its own k nearest rows (itself left out); all such
rows are deleted at once. With ``kind="all"`` a row stays only if all its neighbours agree with
it. ``repeat`` does it again on what is left until nothing changes. A class never becomes empty:
of one that would, the row with the most agreeing neighbours stays.

Reference: Wilson (1972); Tomek (1976).
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.neighbors.editing.condensed import FewerRows
from pellucid.neighbors.path import search
from pellucid.neighbors.search.metrics import MetricLike, settled
from pellucid.neighbors.voting import vote_totals


def noisy_rows(
    X: Array, codes: IntArray, k: int, n_classes: int, metric: MetricLike, kind: str
) -> BoolArray:
    """Rows whose class loses the vote of their neighbours; no class loses all of its rows."""
    _, index = search(X, None, min(k, len(X) - 1), metric)
    totals = vote_totals(codes[index], None, n_classes)
    own = totals[np.arange(len(codes)), codes]
    noisy = own < (totals.max(axis=1) if kind == "mode" else index.shape[1])
    for c in np.unique(codes):
        members = np.flatnonzero(codes == c)
        if noisy[members].all():
            noisy[members[np.argmax(own[members])]] = False
    return noisy


class EditedNearestNeighbours(FewerRows):
    """Delete rows that their neighbours contradict, and classify by the rest.

    Parameters
    ----------
    n_neighbors : int, default=3
        Neighbours that judge a row, and that vote in ``predict``.
    kind : {'mode', 'all'}, default='mode'
        'mode': a row goes if its class loses the vote; 'all': unless all agree with it.
    metric : str, callable, Minkowski, Mahalanobis or Gower, default='euclidean'
        The distance between rows; see ``pairwise_distances``.
    repeat : bool, default=False
        Edit what is left until nothing changes.

    Attributes
    ----------
    sample_indices_, removed_indices_ : ndarray
        Rows that stay and rows that go, ascending.
    classes_ : ndarray
    history_ : one row per editing: ``objective`` is the number of rows left

    Examples
    --------
    >>> from pellucid import EditedNearestNeighbours
    >>> X = [[0], [1], [2], [3], [10], [11], [12], [2.5]]
    >>> EditedNearestNeighbours().fit(X, list("aaaabbbb")).removed_indices_
    array([7])
    """

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        kind: str = "mode",
        metric: str | Callable[..., float] | BaseEstimator = "euclidean",
        repeat: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kind = kind
        self.metric = metric
        self.repeat = repeat

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Delete the rows that their neighbours contradict."""
        check.whole(n_neighbors=self.n_neighbors)
        check.one_of(("mode", "all"), kind=self.kind)
        check.boolean(repeat=self.repeat)
        rows = self._check_training(X, y)
        if rows.n_rows < 2:
            raise ValueError("editing needs at least 2 rows, got n_samples = 1")
        K = len(self.classes_)

        def step(stay: IntArray) -> tuple[IntArray, float]:
            if len(stay) < 2:
                return stay, 0.0
            part = rows.X[stay], rows.y[stay]
            noisy = noisy_rows(*part, self.n_neighbors, K, self.metric, self.kind)
            return stay[~noisy], float(noisy.sum()) if self.repeat else 0.0

        def record(stay: IntArray) -> dict[str, Any]:
            return {"objective": float(len(stay))}

        n, fitted = rows.n_rows, partial(self._edited, rows=rows)
        context = FitContext.of_rows(self, rows, max_steps=n, attributes=fitted)
        loop: dict[str, Any] = {"max_iter": n + 1, "tol": 0.0, "record": record, "context": context}
        run = self._iterate(step, np.arange(n), **loop)
        self.__dict__.pop("_index", None)
        edited = self._edited(run.state, rows).values()
        self.sample_indices_, self.removed_indices_, self._fit_X, self._y = edited
        self._metric = settled(self.metric, rows.X)
        _ = self._index
        return self

    def _edited(self, stay: IntArray, rows: Rows) -> dict[str, Any]:
        return {
            "sample_indices_": stay,
            "removed_indices_": np.setdiff1d(np.arange(rows.n_rows), stay),
            "_fit_X": np.ascontiguousarray(rows.X[stay]),
            "_y": rows.y[stay],
        }

    def card(self) -> Card:
        """What is removed and why, with the numbers of this fit."""
        check_is_fitted(self)
        noise = {
            "mode": "if its own neighbours outvote it",
            "all": "unless all its neighbours agree with it",
        }
        return Card(
            f"the {len(self.sample_indices_)} rows that stay; the nearest {self.n_neighbors} vote",
            f"a row is noise {noise[self.kind]}",
            f"all noise is deleted at once (Wilson), {self.n_iter_} time(s)",
            {"stay": len(self.sample_indices_), "removed": len(self.removed_indices_)},
        )

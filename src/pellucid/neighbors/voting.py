"""Votes of neighbours: what the classifiers by nearest rows and by radius share."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from pellucid.base import Classifier, check_label_kinds, check_labels, encode_labels, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng
from pellucid.core.loops.iterate import FitContext
from pellucid.core.runtime.random import generator
from pellucid.neighbors.neighbor_model import NeighborsModel
from pellucid.neighbors.search.weights import check_rule

TIES = ("lowest", "random", "nearest")


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


class Votes(Protocol):
    """The votes on some queries for one output."""

    @property
    def totals(self) -> Array:
        """Sums of the weights: (m, classes)."""

    def nearest(self, rows: IntArray) -> IntArray:
        """Who wins an even vote among ``rows`` once the farthest voters are dropped."""


def decide(votes: Votes, totals: Array, ties: str, rng: Rng | None) -> IntArray:
    """The class that each query is given, ties as ``ties`` says; without votes the first one."""
    winner = totals.argmax(axis=1)
    if ties == "lowest":
        return winner
    best = tied(totals)
    rows = np.flatnonzero((best.sum(axis=1) > 1) & totals.any(axis=1))
    if rng is not None:
        draws = np.where(best[rows], rng.random((len(rows), totals.shape[1])), -1.0)
        winner[rows] = draws.argmax(axis=1)
    elif len(rows):
        winner[rows] = votes.nearest(rows)
    return winner


def label_codes(y: Any, n: int, estimator: BaseEstimator) -> tuple[bool, Any, Any]:
    """(whether y has several columns, classes, codes (n,) or (n, outputs)); classes per column."""
    frame = not isinstance(y, np.ndarray) and is_frame(y) and hasattr(y, "to_numpy")
    values = np.asarray(y.to_numpy() if frame else y)
    if not (values.ndim == 2 and values.shape[1] > 1):
        return False, *encode_labels(check_labels(y, n, estimator))
    check_label_kinds(values)
    pairs = [encode_labels(check_labels(column, n, estimator)) for column in values.T]
    return True, [classes for classes, _ in pairs], np.column_stack([codes for _, codes in pairs])


class VotingModel(NeighborsModel, Classifier):
    """Labels by the votes of training rows; a subclass says who votes."""

    @abstractmethod
    def _votes(self, X: ArrayLike) -> Iterator[list[Any]]:
        """For every few queries the Votes of each output; X None: the training rows."""

    @abstractmethod
    def _check_question(self) -> None:
        """Raise ValueError for an impossible number of neighbours or radius."""

    def _settle(self) -> None:
        """A hook for what a subclass learns once the rows are stored."""

    def _without_votes(self, j: int, values: NDArray[Any], alone: Any) -> Any:
        """Labels (m,) or totals (m, classes) of output j, with those set that nobody voted on."""
        raise AssertionError("somebody always votes")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    def _check_target(self, y: ArrayLike, n: int) -> Any:
        self.outputs_2d_, self.classes_, codes = label_codes(y, n, self)
        return codes

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Keep the rows and prepare the search."""
        self._check_question()
        check_rule(self.weights)
        check.one_of(TIES, ties=self.ties)
        self._rng()
        rows = self._check_training(X, y)
        context = FitContext(self, X=rows.X, y=rows.y)
        self._set_rows(rows.X)
        self._y = rows.y
        self._settle()
        context.end()
        return self

    def _columns(self) -> list[tuple[Any, IntArray]]:
        """(classes, codes of the training rows) of each output."""
        if not self.outputs_2d_:
            return [(self.classes_, self._y)]
        return [(classes, self._y[:, j]) for j, classes in enumerate(self.classes_)]

    def _rng(self) -> Rng | None:
        """The generator that breaks ties at random, or None."""
        return generator(self.random_state) if self.ties == "random" else None

    def predict(self, X: ArrayLike) -> Any:
        """Labels; X None: of the training rows, each without itself."""
        rng, parts = self._rng(), []
        for votes in self._votes(X):
            labels = []
            for j, (one, (classes, _)) in enumerate(zip(votes, self._columns(), strict=True)):
                totals = one.totals
                said, alone = classes[decide(one, totals, self.ties, rng)], ~totals.any(axis=1)
                labels.append(self._without_votes(j, said, alone) if alone.any() else said)
            parts.append(labels)
        answers = [np.concatenate(column) for column in zip(*parts, strict=True)]
        return np.column_stack(answers) if self.outputs_2d_ else answers[0]

    def predict_proba(self, X: ArrayLike) -> Any:
        """Shares of the votes; a list of them for several outputs."""
        parts = list(zip(*([one.totals for one in votes] for votes in self._votes(X)), strict=True))
        shares = []
        for j, part in enumerate(parts):
            totals = np.concatenate(part)
            alone = ~totals.any(axis=1)
            if alone.any():
                totals = self._without_votes(j, totals, alone)
            mass = totals.sum(axis=1, keepdims=True)
            shares.append(totals / np.where(mass > 0, mass, 1.0))
        return shares if self.outputs_2d_ else shares[0]

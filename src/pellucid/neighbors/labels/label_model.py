"""What label propagation and label spreading share: the graph, the rounds, the answers.

Propagation walks at random along the weights W (``core.algebra.graph``): P = D^-1 W. Spreading uses
S = D^-1/2 W D^-1/2 with a diagonal of 0, where D are the column sums (those of scikit-learn's
normalised Laplacian). Weights that underflow to 0 are no edges: where most do, the matrix is stored
sparse, which changes no product.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, check_labels, encode_labels, with_callbacks
from pellucid.core.algebra.graph import (
    checked_weights,
    knn_weights,
    product,
    rbf_weights,
    row_chunks,
    row_squares,
    squared_distances,
    thinned,
)
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.neighbors.nearest import NearestNeighbors
from pellucid.neighbors.neighbor_model import jobs


def walk_matrix(W: Any) -> Any:
    """P = D^-1 W: rows sum to 1 (a row without weights stays 0). W may be overwritten."""
    degree = np.asarray(W.sum(axis=1)).ravel()
    inverse = 1 / np.where(degree > 0, degree, 1.0)
    if issparse(W):
        data = W.data * np.repeat(inverse, np.diff(W.indptr))
        return csr_matrix((data, W.indices, W.indptr), shape=W.shape)
    W *= inverse[:, None]
    return thinned(W)


def spread_matrix(W: Any) -> Any:
    """S = D^-1/2 W D^-1/2 with a diagonal of 0, D the column sums without it; W is overwritten."""
    if issparse(W):
        W = W.tocsr()
        W.setdiag(0.0)
        W.eliminate_zeros()
    else:
        np.fill_diagonal(W, 0.0)
    degree = np.asarray(W.sum(axis=0)).ravel()
    root = 1 / np.sqrt(np.where(degree > 0, degree, 1.0))
    if issparse(W):
        data = W.data * np.repeat(root, np.diff(W.indptr)) * root[W.indices]
        return csr_matrix((data, W.indices, W.indptr), shape=W.shape)
    W *= root[:, None]
    W *= root
    return thinned(W)


def rbf_vote(Q: np.ndarray, X: np.ndarray, gamma: float, F: Array) -> Array:
    """sum_i exp(-gamma (|q - x_i|^2 - nearest)) F_i: votes up to a factor, never all 0."""
    squares = row_squares(X)

    def vote(rows: slice) -> Array:
        D = squared_distances(Q[rows], X, squares)
        D -= D.min(axis=1, keepdims=True)
        D *= -gamma
        return np.exp(D, out=D) @ F

    return np.concatenate(list(map_threads(vote, row_chunks(Q.shape[0], X.shape[0]))))


@jit
def next_labels(moved, Y, known, F, alpha, start, stop, out):
    """The labels after a round; returns the sum of all changes.

    alpha >= 0: out = alpha moved + (1 - alpha) Y (spreading). alpha < 0: out = moved with rows
    scaled to sum 1, and Y where ``known`` (propagation). All (n, k).
    """
    change = 0.0
    k = F.shape[1]
    for i in range(start, stop):
        if alpha >= 0.0:
            for c in range(k):
                out[i, c] = alpha * moved[i, c] + (1.0 - alpha) * Y[i, c]
        elif known[i]:
            for c in range(k):
                out[i, c] = Y[i, c]
        else:
            total = 0.0
            for c in range(k):
                total += moved[i, c]
            if total == 0.0:
                total = 1.0
            for c in range(k):
                out[i, c] = moved[i, c] / total
        for c in range(k):
            change += abs(out[i, c] - F[i, c])
    return change


@jit
def push_labels(indptr, indices, data, F, start, stop, out):
    """out = P F for the rows of a sparse P."""
    k = F.shape[1]
    for i in range(start, stop):
        for c in range(k):
            out[i, c] = 0.0
        for j in range(indptr[i], indptr[i + 1]):
            value, other = data[j], indices[j]
            for c in range(k):
                out[i, c] += value * F[other, c]


@jit
def energy(scale, F, moved, start, stop):
    """sum_i scale_i f_i'(f_i - moved_i)."""
    total = 0.0
    for i in range(start, stop):
        part = 0.0
        for c in range(F.shape[1]):
            part += F[i, c] * (F[i, c] - moved[i, c])
        total += scale[i] * part
    return total


PIECE = 16_384  # rows a thread takes at a time
UNKNOWN = -1  # the label of a row without one


class UnreachableWarning(UserWarning):
    """Some rows are connected to no labelled row."""


class Spread(NamedTuple):
    """Labels on the graph, and the same after one step along its edges."""

    F: Array  # (n, k)
    moved: Array  # (n, k)


def known_labels(y: np.ndarray) -> tuple[Any, IntArray]:
    """The classes, and the code of every row; -1 stands for no label.

    >>> known_labels(np.array([4, -1, 2]))
    (array([2, 4]), array([ 1, -1,  0]))
    """
    unknown = np.asarray(y == UNKNOWN) if y.dtype.kind in "iufO" else np.zeros(len(y), bool)
    if unknown.all():
        raise ValueError("no row has a label: at least one must have a class other than -1")
    classes, known = encode_labels(y[~unknown])
    codes = np.full(len(y), UNKNOWN, dtype=np.intp)
    codes[~unknown] = known
    return classes, codes


class LabelModel(Classifier):
    """A subclass says how one round changes the labels."""

    _squares_x = True

    _accepts_sparse = True
    _training_state = ("transduction_", "unreachable_")

    @abstractmethod
    def _rounds(self, W: np.ndarray, Y: Array) -> tuple[Any, Any, Any]:
        """(start, step, objective) for the weights W and the known labels Y (n, k)."""

    @abstractmethod
    def _words(self) -> tuple[str, str]:
        """Objective and rounds in words, for the card."""

    def _check_target(self, y: ArrayLike, n: int) -> IntArray:
        self.classes_, codes = known_labels(check_labels(y, n, self))
        return codes

    def _check_parameters(self) -> None:
        if not callable(self.kernel):
            check.one_of(("knn", "rbf"), kernel=self.kernel)
        check.non_negative(gamma=self.gamma, tol=self.tol)
        check.whole(n_neighbors=self.n_neighbors, max_iter=self.max_iter)
        jobs(self.n_jobs)

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Spread the labels of y over the rows of X; -1 marks a row without one."""
        self._check_parameters()
        rows = self._check_training(X, y)
        self.X_ = rows.X.copy()  # the caller may change its own
        self.__dict__.pop("_search", None)
        Y = np.zeros((rows.n_rows, len(self.classes_)))
        known = np.flatnonzero(rows.y != UNKNOWN)
        Y[known, rows.y[known]] = 1.0
        context = FitContext(self, X=X, y=y, max_steps=self.max_iter, attributes=self._attributes)
        with jobs(self.n_jobs), single_threaded_blas():
            start, step, objective = self._rounds(self._weights(), Y)

            def record(state: Spread) -> dict[str, float]:
                return {"objective": objective(state)}

            tol = float(np.nextafter(self.tol, 0.0))  # strictly less than tol
            loop: dict[str, Any] = {"record": record, "context": context}
            run = self._iterate(step, start, max_iter=self.max_iter, tol=tol, **loop)
        found = self._attributes(run.state)
        self.label_distributions_ = found["label_distributions_"]
        self.transduction_, self.unreachable_ = found["transduction_"], found["unreachable_"]
        self._known, self._end = len(known), run.reason
        if len(self.unreachable_):
            lost = f"{len(self.unreachable_)} row(s) are connected to no labelled row and stay -1"
            warn(f"{lost}, the first is row {self.unreachable_[0]}", UnreachableWarning)
        return self

    def _attributes(self, state: Spread) -> dict[str, Any]:
        total = state.F.sum(axis=1, keepdims=True)
        F = state.F / np.where(total > 0, total, 1.0)
        labels = self.classes_[F.argmax(axis=1)]
        lost = np.flatnonzero(total[:, 0] == 0)
        if len(lost):
            labels[lost] = UNKNOWN
        return {"label_distributions_": F, "transduction_": labels, "unreachable_": lost}

    def _weights(self) -> Any:
        n = self.X_.shape[0]
        if callable(self.kernel):
            return checked_weights(self.kernel(self.X_, self.X_), (n, n))
        if self.kernel == "rbf":
            return rbf_weights(self.X_, float(self.gamma))
        return knn_weights(self._search.kneighbors(self.X_, return_distance=False), n)

    @cached_property
    def _search(self) -> NearestNeighbors:
        n = self.X_.shape[0]
        if self.n_neighbors > n:
            raise ValueError(f"n_neighbors must be at most n_samples={n}, got {self.n_neighbors}")
        return NearestNeighbors(n_neighbors=self.n_neighbors).fit(self.X_)

    def predict_proba(self, X: ArrayLike) -> Array:
        """Class probabilities: the labels of the training rows, weighted by their similarity."""
        Q = self._check_input(X)
        with jobs(self.n_jobs):
            votes = self._votes(Q)
        total = votes.sum(axis=1, keepdims=True)
        lost = np.flatnonzero(total[:, 0] == 0)
        if len(lost):
            rows = f"{len(lost)} row(s), the first is row {lost[0]}, are similar to no labelled one"
            warn(f"{rows}: all classes get the same probability there", UnreachableWarning)
            votes[lost], total[lost] = 1.0, votes.shape[1]
        return votes / total

    def _votes(self, Q: np.ndarray) -> Array:
        X, F = self.X_, self.label_distributions_
        if callable(self.kernel):
            W = checked_weights(self.kernel(X, Q), (X.shape[0], Q.shape[0]))
            return np.asarray(W.T @ F)
        if self.kernel == "knn":
            return F[self._search.kneighbors(Q, return_distance=False)].sum(axis=1)
        reached = F.any(axis=1)
        return rbf_vote(Q, X[reached], float(self.gamma), F[reached])

    def predict(self, X: ArrayLike) -> Any:
        """The most probable class of every row."""
        proba = self.predict_proba(X)
        return self.classes_[proba.argmax(axis=1)]

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        n = self.X_.shape[0]
        shapes: dict[str, tuple[int, ...]] = {"label_distributions_": (n, len(self.classes_))}
        return shapes if issparse(self.X_) else {**shapes, "X_": (n, self.n_features_in_)}

    def card(self) -> Card:
        """The graph, what the labels minimise on it, and the rounds."""
        check_is_fitted(self)
        name = f"{getattr(self.kernel, '__name__', 'given')} weights"
        graph = {
            "rbf": f"weights exp(-{self.gamma:g} |x - x'|^2) between all rows",
            "knn": f"an edge from every row to its {self.n_neighbors} nearest",
        }.get(self.kernel if isinstance(self.kernel, str) else "", name)
        objective, rounds = self._words()
        notes = []
        if len(self.unreachable_):
            notes.append(f"{len(self.unreachable_)} row(s) are connected to no labelled row")
        if self._end != "converged":
            notes.append(f"the rounds ended by {self._end}, not by tol={self.tol:g}")
        return Card(
            f"similar rows have similar labels; {graph}",
            f"{objective} = {self.history_['objective'][-1]:.6g}",
            f"{rounds}; {self.n_iter_} rounds until all changes together are < {self.tol:g}",
            {
                "rows": self.X_.shape[0],
                "labelled": self._known,
                "classes": len(self.classes_),
                "rounds": self.n_iter_,
            },
            (),
            tuple(notes),
        )


class Rounds:
    """The rounds on a graph P: row ranges in threads, sums in one order."""

    def __init__(self, P: Any, Y: Array, alpha: float) -> None:
        n = len(Y)
        self.Y, self.alpha = Y, alpha
        self.known = Y.any(axis=1)
        self.spans = [(i, min(i + PIECE, n)) for i in range(0, n, PIECE)]
        self.dense = None if issparse(P) else product(P)
        if self.dense is None:
            self.P = (P.indptr.astype(np.int32), P.indices.astype(np.int32), P.data)

    def start(self) -> Spread:
        return Spread(self.Y, self._moved(self.Y))

    def _moved(self, F: Array) -> Array:
        if self.dense is not None:
            return self.dense(F)
        out = np.empty_like(F)
        self._over(lambda a, b: push_labels(*self.P, F, a, b, out))
        return out

    def _over(self, function: Callable[..., Any]) -> list[Any]:
        return list(map_threads(lambda span: function(*span), self.spans))

    def step(self, state: Spread) -> tuple[Spread, float]:
        """F and its move along the edges; the gap is the sum of all changes."""
        F, moved = state
        out = np.empty_like(F)
        parts = self._over(
            lambda a, b: next_labels(moved, self.Y, self.known, F, self.alpha, a, b, out)
        )
        return Spread(out, self._moved(out)), float(sum(parts))

    def energy(self, scale: Array, state: Spread) -> float:
        """sum_i scale_i f_i'(f_i - moved_i)."""
        return float(sum(self._over(lambda a, b: energy(scale, *state, a, b))))

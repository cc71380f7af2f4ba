r"""Truncated singular value decomposition: the best table of rank k, without centring.

Model        X ~ T V,  V (k, p) orthonormal rows, T = X V'                (k (n + p + 1) numbers)
Objective    min |X - T V|_F^2 over all of rank k (Eckart & Young): X = U S V', the k largest s
Error        |X - T V|_F = sqrt(sum of the dropped s^2)

Algorithm    randomized   Q = orth(Omega);  Q <- orth(X'(X Q)), n_iter + 1 times;  X Q = U S W',
                          V = W'Q'. A round reads X once: every chunk of rows gives its part of
                          X'(X Q) while it is in cache. (X'X)^(q+1) Omega is the space that the
                          usual (X X')^q X Omega leads to, at half the reads.
             full         X = U S V' by LAPACK; a tall X by its triangle, X = Q R, first
             arpack       Lanczos on X as an operator
Small tables, and tall ones whose X'X is cheaper than the rounds, are solved in full whatever
``algorithm`` says. Sparse tables stay sparse.    n p (k + 10) (n_iter + 2) products

References: Eckart & Young (1936); Halko, Martinsson & Tropp (2011).
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, fit_blocks, with_callbacks
from pellucid.core.algebra.linalg import triangle
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, ArrayLike, Map, MaybeArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import (
    Moments,
    Rows,
    Source,
    Statistic,
    merge_moments,
    reduce_rows,
    unit_weights,
)
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.decomposition import row_sums
from pellucid.decomposition.row_sums import by_leaves, leaf_moments, leaf_spread, merge_spread
from pellucid.decomposition.spectrum import with_signs

ALGORITHMS = ("randomized", "full", "arpack")
SMALL_CELLS = 300_000  # cells up to which the whole decomposition is taken
CHUNKS = 16  # of the rows: whatever the number of threads, so that the sums have the same bits
GRAM_FLOOR = 1e-6  # s_k / s_1 below which X'X has lost half of the digits of s_k


class Svd(NamedTuple):
    """Leading singular values, falling, and their right vectors."""

    s: Array  # (k,)
    V: Array  # (k, p)
    how: str
    dropped: float | None = None  # sum of the other s^2, where they are known


class Table:
    """X as chunks of rows; products with it run in threads, and are added in one order."""

    def __init__(self, X: np.ndarray) -> None:
        n = X.shape[0]
        step = max(1, -(-n // CHUNKS))
        cuts = [(a, min(a + step, n)) for a in range(0, n, step)]
        self.shape, self.X = X.shape, X
        self.chunks = [rows_between(X, a, b) for a, b in cuts]

    def times(self, Q: Array) -> Array:
        """X Q."""
        return np.concatenate(list(map_threads(lambda chunk: np.asarray(chunk @ Q), self.chunks)))

    def squared_times(self, Q: Array) -> Array:
        """X'(X Q), every chunk read once."""
        parts = map_threads(lambda chunk: np.asarray(chunk.T @ (chunk @ Q)), self.chunks)
        total = next(parts)
        for part in parts:
            total += part
        return total

    def squares(self) -> float:
        """|X|^2."""
        parts = map_threads(lambda chunk: float(_values(chunk) @ _values(chunk)), self.chunks)
        return float(sum(parts))


def rows_between(X: Any, a: int, b: int) -> Any:
    """Rows a to b without a copy of their values."""
    if not issparse(X):
        return X[a:b]
    first, last = X.indptr[a], X.indptr[b]
    parts = (X.data[first:last], X.indices[first:last], X.indptr[a : b + 1] - first)
    return csr_matrix(parts, shape=(b - a, X.shape[1]))


def _values(chunk: Any) -> Array:
    return chunk.data if issparse(chunk) else chunk.reshape(-1)


def by_full(X: Any, k: int) -> Svd:
    """All singular values by LAPACK, the k largest kept.

    >>> by_full(np.array([[3.0, 0.0], [4.0, 5.0]]), 1).s.round(9)
    array([6.70820393])
    """
    A = to_dense(X)
    A = triangle(A) if len(A) > 2 * A.shape[1] else A
    _, s, V = np.linalg.svd(A, full_matrices=False)
    return Svd(s[:k], with_signs(V[:k]), "full", float((s[k:] ** 2).sum()))


def by_gram(X: Array, k: int) -> Svd | None:
    """The SVD from X'X, or None where s_k is too small beside s_1 for its square to be exact."""
    rows = Rows(X, None, unit_weights(len(X)))
    return from_gram(reduce_rows(Statistic(leaf_moments, merge_moments), rows, map_threads), k)


def from_gram(total: Moments, k: int) -> Svd | None:
    """The SVD from the moments of the rows, as ``by_gram``."""
    G = total.scatter + total.weight * np.outer(total.mean, total.mean)
    values, vectors = np.linalg.eigh(G)
    s = np.sqrt(np.maximum(values[::-1], 0.0))
    if not s[k - 1] > GRAM_FLOOR * s[0]:
        return None
    return Svd(s[:k], with_signs(vectors.T[::-1][:k]), "gram")


def by_random_rounds(table: Table, k: int, extra: int, rounds: int, tame: Any, rng: Rng) -> Svd:
    """Rounds of X'X on random vectors; see the module."""
    n, p = table.shape
    Q = np.linalg.qr(rng.standard_normal((p, min(k + extra, n, p))))[0]
    for i in range(rounds):
        Q = table.squared_times(Q)
        Q = np.linalg.qr(Q)[0] if i == rounds - 1 else tame(Q)
    _, s, W = np.linalg.svd(triangle(table.times(Q)), full_matrices=False)
    return Svd(s[:k], with_signs((W @ Q.T)[:k]), "randomized")


def scaled(Q: Array) -> Array:
    """Columns of unit length: enough for few rounds, no rotation."""
    return Q / np.maximum(np.linalg.norm(Q, axis=0), 1e-300)


def by_lanczos(table: Table, k: int, tol: float, rng: Rng) -> Svd:
    """Lanczos on X'X or XX', whichever is smaller."""
    X = table.X
    operator = LinearOperator(
        shape=table.shape,
        dtype=np.float64,
        matvec=lambda v: table.times(np.reshape(v, (-1, 1))).ravel(),
        rmatvec=lambda u: np.asarray(X.T @ np.ravel(u)).ravel(),
        matmat=table.times,
        rmatmat=lambda U: np.asarray(X.T @ U),
    )
    start = rng.uniform(-1, 1, min(table.shape))
    _, s, V = svds(operator, k=k, tol=tol, v0=start, return_singular_vectors="vh")
    order = np.argsort(-s, kind="stable")
    return Svd(s[order], with_signs(V[order]), "arpack")


def total_variance(X: Any) -> float:
    """The 1/n variances of all columns together."""
    n, p = X.shape
    if not issparse(X):
        rows = Rows(X, None, unit_weights(n))
        spread = reduce_rows(Statistic(leaf_spread, merge_spread), rows, map_threads)
        return float(spread.scatter.sum() / n)
    mean = np.bincount(X.indices, weights=X.data, minlength=p) / n
    there = np.bincount(X.indices, minlength=p)
    return float((((X.data - mean[X.indices]) ** 2).sum() + (n - there) @ mean**2) / n)


class TruncatedSVD(ClassNamePrefixFeaturesOutMixin, Transformer):
    """The best approximation of a table by one of rank k, without centring.

    Parameters
    ----------
    n_components : int, default=2
        k, at most the smaller side of the table (below it for "arpack").
    algorithm : {"randomized", "full", "arpack"}, default="randomized"
        Small tables are solved in full whatever it says.
    n_iter : int, default=5
        Power rounds of "randomized".
    n_oversamples : int, default=10
        Further random vectors of "randomized".
    power_iteration_normalizer : {"auto", "QR", "LU", "none"}, default="auto"
        Between the rounds: "none" scales the columns only, all others orthogonalise.
    random_state : int, RandomState, Generator or None
        Of "randomized" and "arpack".
    tol : float, default=0.0
        Of "arpack".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Right singular vectors; the entry of largest size in each is positive.
    singular_values_ : ndarray of shape (n_components,)
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance (1/n) of the scores, and its share of that of all columns.
    error_ : float
        Frobenius norm of X minus its approximation.
    storage_ratio_ : float
        Numbers kept by numbers given, k (n + p + 1)/(n p).

    Examples
    --------
    >>> from pellucid import TruncatedSVD
    >>> model = TruncatedSVD(1).fit([[3, 0], [4, 5]])
    >>> model.reconstruct([[3, 0], [4, 5]]).round(9), round(model.error_, 6)
    (array([[1.5, 1.5],
           [4.5, 4.5]]), 2.236068)
    """

    _accepts_sparse = True

    fit_blocks = fit_blocks

    def __init__(
        self,
        n_components: int = 2,
        *,
        algorithm: str = "randomized",
        n_iter: int = 5,
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Seed = None,
        tol: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.n_iter = n_iter
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.tol = tol

    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        self._fit(X)
        return self

    def fit_transform(self, X: ArrayLike, y: MaybeArray = None) -> Any:
        """``fit(X).transform(X)``, the scores of the fit itself."""
        return self._fit(X)

    @with_callbacks
    def _fit(self, X: ArrayLike) -> Array:
        self._check_parameters()
        A = self._check_training(X).X
        context = FitContext(self, X=X)
        n, p = A.shape
        most = min(n, p) - (self.algorithm == "arpack")
        if self.n_components > most:
            here = f"at most {most} for n_samples={n}, n_features={p}, algorithm={self.algorithm!r}"
            raise ValueError(f"n_components must be {here}, got {self.n_components}")
        table = Table(A)
        with np.errstate(over="ignore"):
            squares = table.squares()
        row_sums.refuse_overflow(np.float64(squares))
        with single_threaded_blas():
            found = self._solve(table)
        self.components_, self.singular_values_ = found.V, found.s
        scores = table.times(np.ascontiguousarray(found.V.T))
        self._set_spread(A, scores, squares, found)
        context.end()
        return scores

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        """From X'X in one pass; a small singular value that its square cannot show is refused."""
        self._check_parameters()
        n, p, k = rows.n_rows, self.n_features_in_, int(self.n_components)
        if k > min(n, p):
            here = f"at most {min(n, p)} for n_samples={n}, n_features={p}"
            raise ValueError(f"n_components must be {here}, got {k}")
        with np.errstate(over="ignore"):
            total = reduce_rows(Statistic(leaf_moments, merge_moments), rows, map_)
        found = from_gram(total, k)
        if found is None:
            raise ValueError(
                f"fit_blocks sees X'X, in which singular value {k} is lost beside the first; ask "
                "for fewer n_components, or use fit"
            )
        self.components_, self.singular_values_ = found.V, found.s
        row_sums.refuse_overflow(found.s)
        variances = np.einsum("kp,pq,kq->k", found.V, total.scatter, found.V) / total.weight
        self.explained_variance_ = np.maximum(variances, 0.0)
        spread = float(np.trace(total.scatter)) / total.weight
        share = self.explained_variance_ / spread if spread > 0 else np.zeros(k)
        self.explained_variance_ratio_ = share
        squares = float(np.trace(total.scatter) + total.weight * (total.mean @ total.mean))
        self.error_ = float(np.sqrt(max(squares - float((found.s**2).sum()), 0.0)))
        self.storage_ratio_ = k * (n + p + 1) / (n * p)
        self._norm, self._solved_by, self._n = float(np.sqrt(squares)), "gram", n

    def _check_parameters(self) -> None:
        check.whole(n_components=self.n_components, n_oversamples=self.n_oversamples)
        check.whole(at_least=0, n_iter=self.n_iter)
        check.one_of(ALGORITHMS, algorithm=self.algorithm)
        normalizers = ("auto", "QR", "LU", "none")
        check.one_of(normalizers, power_iteration_normalizer=self.power_iteration_normalizer)
        check.non_negative(tol=self.tol)

    def _solve(self, table: Table) -> Svd:
        X, (n, p), k = table.X, table.shape, int(self.n_components)
        if n * p <= SMALL_CELLS or self.algorithm == "full":
            return by_full(X, k)
        rng = generator(self.random_state)
        if self.algorithm == "arpack":
            return by_lanczos(table, k, float(self.tol), rng)
        width, rounds = k + self.n_oversamples, self.n_iter + 1
        if not issparse(X) and n >= p and p <= 2 * width * rounds:
            found = by_gram(X, k)
            if found is not None:
                return found
        plain = self.power_iteration_normalizer == "none"
        tame = scaled if plain else lambda Q: np.linalg.qr(Q)[0]
        return by_random_rounds(table, k, self.n_oversamples, rounds, tame, rng)

    def _set_spread(self, X: np.ndarray, scores: Array, squares: float, found: Svd) -> None:
        n, p = X.shape
        spread = total_variance(X)
        self.explained_variance_ = scores.var(axis=0)
        share = self.explained_variance_ / spread if spread > 0 else np.zeros(len(found.s))
        self.explained_variance_ratio_ = share
        dropped = found.dropped
        if dropped is None:
            dropped = squares - float((scores**2).sum())
            if dropped < 1e-8 * squares:  # the difference of equal numbers: look at the rows
                V = found.V
                dropped = float(
                    by_leaves(X, lambda A: ((A - (A @ V.T) @ V) ** 2).sum(axis=1)).sum()
                )
        self.error_ = float(np.sqrt(max(dropped, 0.0)))
        self.storage_ratio_ = len(found.s) * (n + p + 1) / (n * p)
        self._norm, self._solved_by, self._n = float(np.sqrt(squares)), found.how, n

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def transform(self, X: ArrayLike) -> Any:
        """Scores of the rows, X V'."""
        A = self._check_input(X)
        return Table(A).times(np.ascontiguousarray(self.components_.T))

    def inverse_transform(self, X: ArrayLike) -> Array:
        """The rows of given scores, T V."""
        check_is_fitted(self)
        return row_sums.checked_scores(X, self._n_features_out) @ self.components_

    def reconstruct(self, X: ArrayLike) -> Array:
        """X replaced by its projection on the components, X V'V (dense)."""
        A = self._check_input(X)
        return Table(A).times(np.ascontiguousarray(self.components_.T)) @ self.components_

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"components_": (self.n_components, self.n_features_in_)}

    def card(self) -> Card:
        """What is approximated, how well, and at what price."""
        check_is_fitted(self)
        k, p = self.components_.shape
        return Card(
            f"X = scores (n x {k}) times directions ({k} x {p}) + rest; nothing is centred",
            f"Frobenius norm of the rest = {self.error_:.6g} of {self._norm:.6g} (no table of "
            f"rank {k} leaves less)",
            HOW[self._solved_by],
            {
                "n": self._n,
                "components": k,
                "share of the squares": 1 - (self.error_ / max(self._norm, 1e-300)) ** 2,
                "numbers kept by numbers given": self.storage_ratio_,
            },
            warnings=("random projections: nearly the best",) * (self._solved_by == "randomized"),
        )


HOW = {
    "full": "whole singular value decomposition: exact",
    "gram": "eigenvectors of X'X: exact for singular values that are not tiny beside the first",
    "arpack": "Lanczos iteration",
    "randomized": "power rounds of X'X on random vectors",
}

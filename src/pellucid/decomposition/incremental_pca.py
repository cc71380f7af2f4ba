r"""Principal components of rows that come in batches, each seen once.

State        k directions V, their singular values S, the mean and the variances of n rows
Step         of a batch X (b, p) with mean m': the rows of [S V; X - m'; sqrt(n b/(n + b)) (m - m')]
             have the scatter of all rows about the new mean, up to what was dropped before; their
             k leading right singular vectors are the new V
Cost         (k + b) p^2 a batch: the triangle of a QR decomposition, then its SVD (p x p); no left
             vectors.    Memory (k + b) p

With k = p nothing is dropped and the directions are those of all rows together.

Reference: Ross, Lim, Lin & Yang (2008).
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.algebra.linalg import triangle
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.decomposition import row_sums
from pellucid.decomposition.spectrum import with_signs


class Seen(NamedTuple):
    """What is kept of the rows so far."""

    n: int
    mean: Array  # (p,)
    var: Array  # (p,), over n
    V: Array  # (k, p)
    s: Array  # (k,)


def add_batch(seen: Seen | None, X: Array, k: int) -> tuple[Seen, Array]:
    """The state after a batch, and all singular values before the smallest are dropped.

    >>> state, s = add_batch(None, np.array([[0.0, 1.0], [4.0, 1.0]]), 1)
    >>> state.mean, state.V, s.round(6)
    (array([2., 1.]), array([[1., 0.]]), array([2.828427, 0.      ]))
    """
    b, mean = len(X), X.mean(axis=0)
    centred = X - mean
    squares = (centred**2).sum(axis=0)
    if seen is None:
        n, stacked, var = b, centred, squares / b
    else:
        n = seen.n + b
        shift = seen.mean - mean
        lift = np.sqrt(seen.n / n * b) * shift
        stacked = np.vstack([seen.s[:, None] * seen.V, centred, lift])
        var = (seen.n * seen.var + squares + lift**2) / n
        mean = mean + seen.n / n * shift
    tall = len(stacked) > stacked.shape[1]
    with single_threaded_blas():
        _, s, V = np.linalg.svd(triangle(stacked) if tall else stacked, full_matrices=False)
    return Seen(n, mean, var, with_signs(V[:k]), s[:k]), s


class IncrementalPCA(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Principal component analysis of batches, in bounded memory.

    Parameters
    ----------
    n_components : int or None, default=None
        k; None: as many as the first batch allows.
    whiten : bool, default=False
        Divide the scores by their standard deviations.
    copy : ignored
        X is never changed.
    batch_size : int or None, default=None
        Rows of a batch of ``fit``; None: five times the columns.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Unit vectors; the entry of largest size in each is positive.
    explained_variance_, explained_variance_ratio_, singular_values_ : of the components
    mean_, var_ : ndarray of shape (n_features,)
    noise_variance_ : float
        Mean of the dropped variances of the last batch.
    n_components_, n_samples_seen_, batch_size_ : int

    Examples
    --------
    >>> from pellucid import IncrementalPCA
    >>> X = [[-1.0, -1.0], [-2.0, -1.0], [-3.0, -2.0], [1.0, 1.0], [2.0, 1.0], [3.0, 2.0]]
    >>> model = IncrementalPCA(2, batch_size=3).fit(X)
    >>> model.explained_variance_.round(3), model.n_samples_seen_
    (array([7.94, 0.06]), 6)
    """

    _accepts_sparse = True
    components_: Array
    singular_values_: Array
    mean_: Array
    var_: Array
    n_samples_seen_: int

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size

    def _check_parameters(self) -> None:
        check.whole(**check.given(n_components=self.n_components, batch_size=self.batch_size))
        check.boolean(whiten=self.whiten, copy=self.copy)

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Learn from all rows of X, batch by batch; what was seen before is forgotten."""
        self._check_parameters()
        rows = self._check_training(X).X
        context = FitContext.of_one_step(self, X)
        n, p = rows.shape
        self.batch_size_ = 5 * p if self.batch_size is None else int(self.batch_size)
        self.__dict__.pop("components_", None)
        least = self.n_components or 0
        for batch in gen_batches(n, self.batch_size_, min_batch_size=least):
            part = rows[batch]
            self._add(part.toarray() if issparse(part) else part)
        context.end()
        return self

    def partial_fit(self, X: ArrayLike, y: MaybeArray = None, check_input: bool = True) -> Self:
        """Learn one batch more; ``check_input`` is accepted for scikit-learn's sake."""
        self._check_parameters()
        if issparse(X):
            raise TypeError(
                "IncrementalPCA.partial_fit does not support sparse input. Either convert data to "
                "dense or use IncrementalPCA.fit to do so in batches."
            )
        first = not hasattr(self, "components_")
        self._add(self._check_matrix(X, reset=first, finite=True))
        return self

    def _add(self, X: Array) -> None:
        b, p = X.shape
        seen = None
        if hasattr(self, "components_"):
            seen = Seen(
                self.n_samples_seen_, self.mean_, self.var_, self.components_, self.singular_values_
            )
        k = self._count(b, p, seen)
        with np.errstate(over="ignore"):
            row_sums.refuse_overflow(np.square(X).sum())
        state, s = add_batch(seen, X, k)
        self.components_, self.singular_values_ = state.V, state.s
        self.mean_, self.var_, self.n_samples_seen_ = state.mean, state.var, state.n
        self.n_components_ = k
        variances = s**2 / max(state.n - 1, 1)
        total = float(state.var.sum()) * state.n
        self.explained_variance_ = variances[:k]
        self.explained_variance_ratio_ = s[:k] ** 2 / total if total > 0 else np.zeros(k)
        self.noise_variance_ = float(variances[k:].mean()) if k not in (b, p) else 0.0

    def _count(self, b: int, p: int, seen: Seen | None) -> int:
        """How many components are kept."""
        k = self.n_components
        if k is None:
            return min(b, p) if seen is None else len(seen.V)
        if k > p:
            raise ValueError(
                f"n_components={k} invalid for n_features={p}, need more rows than columns for "
                "IncrementalPCA processing"
            )
        if seen is None and k > b:
            raise ValueError(
                f"n_components={k} must be less or equal to the batch number of samples {b} for "
                "the first partial_fit call."
            )
        if seen is not None and len(seen.V) != k:
            raise ValueError(
                f"Number of input features has changed from {len(seen.V)} to {k} between calls to "
                "partial_fit! Try setting n_components to a fixed value."
            )
        return int(k)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def _deviations(self) -> Array:
        s = np.sqrt(self.explained_variance_) if self.whiten else np.ones(self.n_components_)
        return np.maximum(s, np.finfo(np.float64).eps)

    def transform(self, X: ArrayLike) -> Any:
        """Scores of the rows, shape (n, n_components_)."""
        rows, mean = self._check_input(X), self.mean_
        A = self.components_.T / self._deviations()
        return row_sums.by_leaves(rows, lambda part: (part - mean) @ A)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """The rows of given scores."""
        check_is_fitted(self)
        T = row_sums.checked_scores(X, self.n_components_)
        return self.mean_ + T @ (self.components_ * self._deviations()[:, None])

    def get_covariance(self) -> Array:
        """The covariance of the model: the components' and the noise."""
        check_is_fitted(self)
        V, s2 = self.components_, self.noise_variance_
        C = V.T * np.maximum(self.explained_variance_ - s2, 0.0) @ V
        C[np.diag_indices_from(C)] += s2
        return C

    def get_precision(self) -> Array:
        """The inverse of ``get_covariance()``, of least norm where that is singular."""
        return np.asarray(np.linalg.pinv(self.get_covariance(), hermitian=True), dtype=np.float64)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        k, p = self.n_components_, self.n_features_in_
        one = dict.fromkeys(("explained_variance_", "singular_values_"), (k,))
        return {"components_": (k, p), "mean_": (p,), "var_": (p,), **one}

    def card(self) -> Card:
        """What is kept of the rows seen so far."""
        check_is_fitted(self)
        k, p = self.components_.shape
        exact = k == p
        return Card(
            f"x = mean + scores times directions ({k}) of the centred columns + rest",
            "squared distance of the rows from what their scores rebuild",
            "one SVD a batch of the directions so far beside the new rows",
            {
                "rows seen": self.n_samples_seen_,
                "ambient dimension": p,
                "components": k,
                "share of the variance": float(self.explained_variance_ratio_.sum()),
            },
            warnings=()
            if exact
            else ("what a batch drops is not seen again: nearly those of PCA",),
        )

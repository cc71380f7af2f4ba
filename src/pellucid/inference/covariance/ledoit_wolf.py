r"""Covariance shrunk towards equal variances, by the amount that the rows ask for.

Estimator    C = (1 - d) S + d mu I,    S the empirical covariance,  mu = tr S / p
Shrinkage    d = min(b, a) / a,   a = |S - mu I|^2 / p,
             b = (1 / (n p)) (sum_i |x_i|^4 / n - |S|^2), the variance of S
             d minimises the expected squared error of C, estimated from the same rows
Algorithm    with r_i = |x_i - m|^2 everything is in  n, m, sum r_i,  S,  sum r_i (x_i - m),
             sum r_i^2, and these merge: one pass, by blocks or batches.    O(n p^2)

S has p(p + 1)/2 numbers; with few rows its large eigenvalues are too large and its small ones too
small, and it may have no inverse. C has one, and is well-conditioned.
Reference: Ledoit & Wolf (2004), a well-conditioned estimator for large covariance matrices.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import pinvh

from pellucid.base import check_weights, fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map, MaybeArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, Statistic, moments, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.inference.covariance.covariance_model import CovarianceModel, mean_log_density


class FourthMoments(NamedTuple):
    """What the shrinkage needs of some rows, about their mean; r = |x - mean|^2."""

    weight: float
    mean: Array  # (p,)
    scatter: Array  # (p, p)  sum w (x - mean)(x - mean)'
    third: Array  # (p,)  sum w r (x - mean)
    fourth: float  # sum w r^2


def fourth_moments(rows: Rows) -> FourthMoments:
    """The moments of one leaf.

    >>> fourth_moments(Rows(np.array([[0.0], [2.0]]), None, np.ones(2))).fourth
    2.0
    """
    found = moments(rows.X, rows.w)
    Z = rows.X - found.mean
    r = (Z * Z).sum(axis=1)
    return FourthMoments(*found, (rows.w * r) @ Z, float(rows.w @ (r * r)))


def about(found: FourthMoments, center: Array) -> FourthMoments:
    """The same sums about another centre."""
    W, mean, S, T, Q = found
    g = mean - center
    size, trace = float(g @ g), float(np.trace(S))
    Sg = S @ g
    third = T + trace * g + 2 * Sg + W * size * g
    fourth = Q + 4 * T @ g + 4 * g @ Sg + 2 * trace * size + W * size**2
    return FourthMoments(W, center, S + W * np.outer(g, g), third, float(fourth))


def merge_fourth(a: FourthMoments, b: FourthMoments) -> FourthMoments:
    """The moments of two sets of rows taken together."""
    if a.weight == 0 or b.weight == 0:
        return b if a.weight == 0 else a
    W = a.weight + b.weight
    mean = a.mean + (b.mean - a.mean) * (b.weight / W)
    a, b = about(a, mean), about(b, mean)
    scatter, third = a.scatter + b.scatter, a.third + b.third
    return FourthMoments(W, mean, scatter, third, a.fourth + b.fourth)


MOMENTS = Statistic(fourth_moments, merge_fourth)


class LedoitWolfFit(NamedTuple):
    covariance: Array  # (p, p)
    shrinkage: float


def fit_ledoit_wolf(found: FourthMoments) -> LedoitWolfFit:
    """Shrink the covariance of rows with these moments."""
    n, p = found.weight, len(found.mean)
    S = found.scatter / n
    mu, size = float(np.trace(S)) / p, float((S * S).sum())
    if p == 1:
        return LedoitWolfFit(S, 0.0)
    a = float(((S - mu * np.eye(p)) ** 2).sum()) / p
    b = min((found.fourth / n - size) / (n * p), a)
    d = b / a if b > 0 else 0.0
    return LedoitWolfFit((1 - d) * S + d * mu * np.eye(p), d)


class LedoitWolf(CovarianceModel):
    """Covariance shrunk towards a multiple of the identity, by the amount the rows ask for.

    Parameters
    ----------
    store_precision : bool, default=True
        Keep the inverse in ``precision_``.
    assume_centered : bool, default=False
        The centre is 0 and not the mean.
    block_size : int, default=1000
        Without effect: products are taken in leaves of the rows.

    Attributes
    ----------
    covariance_ : ndarray of shape (n_features, n_features)
    location_ : ndarray of shape (n_features,)
    precision_ : ndarray of shape (n_features, n_features), or None if it is not stored
    shrinkage_ : float
        d in [0, 1].
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LedoitWolf
    >>> X = np.random.default_rng(0).normal(size=(20, 30))  # fewer rows than columns
    >>> model = LedoitWolf().fit(X)
    >>> round(model.shrinkage_, 2), bool(np.linalg.cond(model.covariance_) < 3)
    (0.81, True)
    """

    fit_blocks = fit_blocks

    def __init__(
        self,
        *,
        store_precision: bool = True,
        assume_centered: bool = False,
        block_size: int = 1000,
    ) -> None:
        self.store_precision = store_precision
        self.assume_centered = assume_centered
        self.block_size = block_size

    def _check_parameters(self) -> None:
        check.boolean(store_precision=self.store_precision, assume_centered=self.assume_centered)
        check.whole(block_size=self.block_size)

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: MaybeArray = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the shrunken covariance of the rows."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        context = FitContext.of_one_step(self, X, None, sample_weight)
        self._fit_rows(rows, map_threads)
        context.end()
        return self

    def partial_fit(
        self, X: ArrayLike, y: MaybeArray = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Add a batch of rows; the same as one fit to all of them."""
        if not hasattr(self, "_moments"):
            return self.fit(X, sample_weight=sample_weight)
        self._check_parameters()
        Z = self._check_matrix(X, reset=False, finite=True)
        rows = Rows(Z, None, check_weights(sample_weight, Z))
        before = FourthMoments(*self._moments)
        self._set(merge_fourth(before, reduce_rows(MOMENTS, rows, map_threads)))
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._set(reduce_rows(MOMENTS, rows, map_))

    def _set(self, found: FourthMoments) -> None:
        if found.weight <= 1:
            warn(
                "Only one sample available. You may want to reshape your data array: a covariance "
                "needs at least two rows"
            )
        self._moments: tuple[Any, ...] = tuple(found)
        centred = self.assume_centered
        found = about(found, np.zeros(len(found.mean))) if centred else found
        self.location_ = np.array(found.mean)
        self.covariance_, self.shrinkage_ = fit_ledoit_wolf(found)
        self.precision_ = pinvh(self.covariance_) if self.store_precision else None

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "_moments"):
            p = self.n_features_in_
            shapes = [np.shape(part) for part in self._moments]
            if shapes != [(), (p,), (p, p), (p,), ()]:
                raise ValueError("_moments do not belong to the columns of the model")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        n = float(self._moments[0])
        eigenvalues = np.linalg.eigvalsh(self.covariance_)
        least = float(eigenvalues[0])
        found = about(FourthMoments(*self._moments), self.location_)
        value = mean_log_density(found.scatter / n, self.get_precision())
        return Card(
            "rows ~ N(m, C), C = (1 - d) S + d mu I",
            "least expected squared error of C, estimated from the same rows",
            f"closed form, one pass: d = {self.shrinkage_:.4g}",
            {
                "rows": n,
                "columns": self.n_features_in_,
                "shrinkage": self.shrinkage_,
                "condition": float(eigenvalues[-1]) / least if least > 0 else np.inf,
                "mean log density": value,
            },
        )

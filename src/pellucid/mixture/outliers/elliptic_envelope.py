r"""Elliptic envelope: odd rows are far from the bulk in the bulk's own metric.

Bulk         the h rows of least covariance determinant (``determinant``): m, S
Consistency  the covariance of the central share a of a Gaussian is too small by c(p, a) =
             a / P(chi^2_(p+2) <= q_a), q_a the a-quantile of chi^2_p: d of the bulk is divided by
             c(p, h / n)
Reweighting  m, S of all rows with d < the 0.975 quantile of chi^2_p, S times c(p, 0.975): few
             rows are given away
Score        -(x - m)'S^-1(x - m);   offset = the ``contamination`` quantile of the training scores

References: Rousseeuw & Van Driessen (1999); Croux & Haesbroeck (1999).
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import chdtri, gammainc
from sklearn.base import OutlierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.core.algebra.covariances import covariance_error
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.mixture.outliers.density_outlier import check_contamination
from pellucid.mixture.outliers.determinant import Half, minimum_determinant, support_size

KEPT_SHARE = 0.975  # of a Gaussian's rows that the reweighting keeps
FLAT = 1e-10  # share of a column's variance that a flat bulk is given


class Envelope(NamedTuple):
    """A robust centre and covariance, before and after the reweighting."""

    raw: Half
    location: Array  # (p,)
    covariance: Array  # (p, p)
    precision: Array  # (p, p)
    support: Array  # (n,) of bool
    squared: Array  # (n,) squared distances of the training rows
    rank: int


def squared_distances(X: Array, location: Array, precision: Array) -> Array:
    """(x - m)'P(x - m) of each row.

    >>> squared_distances(np.array([[3.0, 4.0]]), np.zeros(2), np.eye(2))
    array([25.])
    """
    D = X - location
    return np.einsum("ij,ij->i", D @ precision, D)


def precision_of(S: Array) -> tuple[Array, int]:
    """The (pseudo-)inverse of a covariance and its rank, by columns of unit variance."""
    scale = np.sqrt(np.where(np.diag(S) > 0, np.diag(S), 1.0))
    values, V = np.linalg.eigh(S / np.outer(scale, scale))
    kept = values > max(S.shape) * 1e-14 * max(values[-1], 0.0)
    root = V[:, kept] / np.sqrt(values[kept])
    return root @ root.T / np.outer(scale, scale), int(kept.sum())


def bulk_precision(X: Array, S: Array) -> tuple[Array, int]:
    """The precision of the bulk and its rank; where all rows vary more, other rows are very far."""
    P, rank = precision_of(S)
    variances = X.var(axis=0)
    if rank < min(len(S), precision_of(np.cov(X.T, bias=True).reshape(S.shape))[1]):
        P, _ = precision_of(S + np.diag(FLAT * variances))
    return P, rank


def consistency(p: int, share: float) -> float:
    """What the covariance of the central ``share`` of a Gaussian must be multiplied by.

    >>> round(consistency(1, 0.5), 6), consistency(3, 1.0)
    (7.010075, 1.0)
    """
    if share >= 1.0:
        return 1.0
    q = float(chdtri(p, 1.0 - share))
    return share / float(gammainc(0.5 * p + 1.0, 0.5 * q))


def fit_envelope(X: Array, h: int, rng: Rng, centred: bool) -> Envelope:
    """The reweighted minimum covariance determinant."""
    p = X.shape[1]
    raw = minimum_determinant(X, h, rng, centred)
    P, rank = bulk_precision(X, raw.covariance)
    d = squared_distances(X, raw.location, P)
    d = d / consistency(max(rank, 1), h / len(X))
    support = d < chdtri(max(rank, 1), 1.0 - KEPT_SHARE)
    H = X[support]
    location = np.zeros(p) if centred else H.mean(axis=0)
    S = (H - location).T @ (H - location) / len(H) * consistency(p, KEPT_SHARE)
    P, rank = bulk_precision(X, S)
    return Envelope(raw, location, S, P, support, squared_distances(X, location, P), rank)


class EllipticEnvelope(OutlierMixin, Estimator):
    """Find rows far from the bulk, with a robust Gaussian.

    Parameters
    ----------
    store_precision : bool, default=True
        Keep ``precision_``.
    assume_centered : bool, default=False
        The centre is zero.
    support_fraction : float in (0, 1], default=None
        Share of the rows in the bulk; None: ``(n + p + 1) / 2n``, which resists most odd rows.
    contamination : float in (0, 0.5], default=0.1
        Share of odd rows in the training data, which sets ``offset_``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random numbers.

    Attributes
    ----------
    location_, covariance_, precision_ : ndarray
        Of the rows in ``support_``.
    support_ : ndarray of bool
    raw_location_, raw_covariance_, raw_support_ : ndarray
        Of the h rows of least determinant.
    dist_ : ndarray
        Squared distances of the training rows.
    offset_ : float
        ``decision_function = score_samples - offset_``; below 0 is odd.

    Examples
    --------
    >>> from pellucid import EllipticEnvelope
    >>> X = [[0.0, 0.1], [0.2, 0.0], [0.1, 0.3], [0.3, 0.2], [0.0, 0.3], [0.1, 0.1], [9.0, 9.0]]
    >>> EllipticEnvelope(random_state=0).fit(X).predict([[0.1, 0.2], [9.0, 9.0]])
    array([ 1, -1])
    """

    _training_state = ("support_", "raw_support_", "dist_")

    def __init__(
        self,
        *,
        store_precision: bool = True,
        assume_centered: bool = False,
        support_fraction: float | None = None,
        contamination: float = 0.1,
        random_state: Seed = None,
    ) -> None:
        self.store_precision = store_precision
        self.assume_centered = assume_centered
        self.support_fraction = support_fraction
        self.contamination = contamination
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        check.boolean(store_precision=self.store_precision, assume_centered=self.assume_centered)
        share = check_contamination(self.contamination)
        if self.support_fraction is not None:
            check.positive(support_fraction=self.support_fraction)
            if self.support_fraction > 1:
                raise ValueError(f"support_fraction must be <= 1, got {self.support_fraction!r}")
        rows = self._check_training(X).X
        n, p = rows.shape
        if n < 2:
            raise ValueError(f"EllipticEnvelope needs at least 2 rows, got n_samples = {n} sample")
        context = FitContext(self, X=X, attributes=lambda _: dict(vars(self)))
        h = max(support_size(n, p, self.support_fraction), 1)
        with single_threaded_blas():
            rng = generator(self.random_state)
            found = fit_envelope(rows, h, rng, self.assume_centered)
        self.raw_location_, self.raw_covariance_ = found.raw.location, found.raw.covariance
        self.raw_support_ = np.zeros(n, dtype=bool)
        self.raw_support_[found.raw.rows] = True
        self.location_, self.covariance_ = found.location, found.covariance
        self.support_, self.dist_ = found.support, found.squared
        self._precision = found.precision
        if self.store_precision:
            self.precision_ = found.precision
        else:
            self.__dict__.pop("precision_", None)
        self._rank = found.rank
        if found.rank < p:
            bulk = f"the covariance of the bulk ({h} of {n} rows)"
            rank = f"rank {found.rank} for {p} columns"
            warn(f"{bulk} has {rank}: rows off that plane are far")
        self.offset_ = float(np.percentile(-self.dist_, 100.0 * share))
        self.training_scores_ = np.sort(-self.dist_)
        context.end()
        return self

    def get_precision(self) -> Array:
        """The inverse of ``covariance_``."""
        check_is_fitted(self)
        return self._precision

    def mahalanobis(self, X: ArrayLike) -> Array:
        """Squared distance of each row from the centre."""
        rows = self._check_input(X)
        with single_threaded_blas():
            return squared_distances(rows, self.location_, self._precision)

    def error_norm(
        self,
        comp_cov: ArrayLike,
        norm: str = "frobenius",
        scaling: bool = True,
        squared: bool = True,
    ) -> float:
        """The size of ``comp_cov - covariance_``, squared and per column unless told otherwise."""
        check_is_fitted(self)
        check.one_of(("frobenius", "spectral"), norm=norm)
        return covariance_error(comp_cov, self.covariance_, norm, scaling, squared)

    def score_samples(self, X: ArrayLike) -> Array:
        """Minus the squared distance: high is ordinary."""
        return -self.mahalanobis(X)

    def decision_function(self, X: ArrayLike) -> Array:
        """``score_samples - offset_``: below 0 is odd."""
        check_is_fitted(self)
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> Any:
        """1 for ordinary rows, -1 for odd ones."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def score(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> float:
        """Accuracy of ``predict(X)`` against y in {1, -1}; without y, the share called ordinary."""
        found = self.predict(X)
        truth = np.ones_like(found) if y is None else y
        return float(accuracy_score(truth, found, sample_weight=sample_weight))

    def p_values(self, X: ArrayLike) -> Array:
        """Share of the training scores at or below that of each row."""
        scores = self.score_samples(X)
        below = np.searchsorted(self.training_scores_, scores, side="right")
        return below / len(self.training_scores_)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        p = self.n_features_in_
        return {"location_": (p,), "_precision": (p, p), "covariance_": (p, p)}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        return Card(
            f"odd if (x - m)'S^-1(x - m) > {-self.offset_:.6g}: outside an ellipse",
            "determinant of the covariance of the h closest rows, then Gaussian moments of the "
            "rows near them; an odd row is one unlike the bulk, not necessarily an error",
            "C steps from many random subsets (exact for one column), a local optimum",
            {
                "rows": len(self.training_scores_),
                "features": self.n_features_in_,
                "rank": self._rank,
                "offset": self.offset_,
                "log determinant": float(np.linalg.slogdet(self.covariance_)[1]),
            },
        )

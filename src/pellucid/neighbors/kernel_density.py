r"""Kernel density: every row is a small hill, and the density is their sum.

    p(x) = (1 / W) sum_i w_i K(d(x, x_i) / h) / (Z h^p),     W = sum w

    gaussian       exp(-u^2 / 2)         epanechnikov   1 - u^2,  u < 1
    exponential    exp(-u)               linear         1 - u,    u < 1
    tophat         1,  u < 1             cosine         cos(pi u / 2),  u < 1

Z makes K a density in p columns. Sums are taken in logarithms, so that a row far from all others
has a small density and not none. Kernels with an end are summed over a kd-tree search of radius h.
The others have tails, but beyond a distance r of a query at d_0 from its nearest row all of them
together weigh less than W K(r/h), and below 1e-16 of w K(d_0/h) nothing changes: where few rows
lie within that r, only those are looked at. The answer is exact to rounding either way.

Cost: O(n m p) at most for n queries among m rows; O(n log m) where h is small.
References: Rosenblatt (1956); Parzen (1962); Silverman (1986).
"""

from functools import cache
from typing import Any, Self

import numpy as np
from scipy.special import gammaln, logsumexp
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.compiled.distances.search import Index
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.neighbors.search.kd_tree import KDTree
from pellucid.neighbors.search.metrics import Metric, resolve

KERNELS = ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")
ENDLESS = ("gaussian", "exponential")
RULES = ("scott", "silverman")
NEGLIGIBLE = 37.0  # e^-37 is half a unit in the last place of 1
PROBES, SPARSE = 16, 0.05  # queries that try the tree; share of the rows up to which it pays
PAIRS = 1 << 21  # held at once


def log_kernel(u: Array, kernel: str) -> Array:
    """log K(u), -inf beyond its end.

    >>> log_kernel(np.array([0.0, 0.5, 2.0]), "linear").round(3)
    array([ 0.   , -0.693,   -inf])
    """
    if kernel == "gaussian":
        return -0.5 * u * u
    if kernel == "exponential":
        return -u
    inside = np.where(u < 1, u, 0.0)
    shape = {
        "tophat": np.ones_like(u),
        "epanechnikov": 1 - inside * inside,
        "linear": 1 - inside,
        "cosine": np.cos(0.5 * np.pi * inside),
    }[kernel]
    return np.where(u < 1, np.log(shape), -np.inf)


def log_volume(p: int) -> float:
    """log of the volume of the unit ball in p columns."""
    return 0.5 * p * np.log(np.pi) - float(gammaln(0.5 * p + 1))


@cache
def log_norm(kernel: str, p: int) -> float:
    """log Z: of the integral of K over p columns.

    >>> round(float(np.exp(log_norm("gaussian", 1))) ** 2 / np.pi, 6)
    2.0
    """
    sphere = np.log(2 * np.pi) + log_volume(p - 2)  # area of the unit sphere
    if kernel == "gaussian":
        return 0.5 * p * np.log(2 * np.pi)
    if kernel == "tophat":
        return log_volume(p)
    if kernel == "epanechnikov":
        return log_volume(p) + np.log(2 / (p + 2))
    if kernel == "exponential":
        return float(sphere + gammaln(p))
    if kernel == "linear":
        return log_volume(p) - np.log(p + 1)
    r, share = np.polynomial.legendre.leggauss(100)  # cosine: exact for smooth functions
    r = 0.5 + 0.5 * r
    L = (p - 1) * np.log(r) + np.log(np.cos(0.5 * np.pi * r)) + np.log(0.5 * share)
    return float(logsumexp(L) + sphere)


def log_row_sums(L: Array) -> Array:
    """log sum_j exp(L_ij) for every row of a matrix, which is overwritten."""
    top = L.max(axis=1)
    shift = np.where(np.isfinite(top), top, 0.0)
    L -= shift[:, None]
    np.exp(L, out=L)
    with np.errstate(divide="ignore"):  # no row within reach: density 0
        return shift + np.log(L.sum(axis=1))


def log_part_sums(L: Array, first: IntArray) -> Array:
    """log sum exp of L[first[i] : first[i + 1]] for every i; -inf for none."""
    out = np.full(len(first) - 1, -np.inf)
    some = np.flatnonzero(np.diff(first))
    if len(some):
        starts = first[some]
        top = np.maximum.reduceat(L, starts)
        shift = np.where(np.isfinite(top), top, 0.0)
        sizes = np.diff(first)[some]
        with np.errstate(divide="ignore"):
            sums = np.log(np.add.reduceat(np.exp(L - np.repeat(shift, sizes)), starts))
        out[some] = shift + sums
    return out


def reach(kernel: str, h: float, nearest: Array, doubt: float) -> Array:
    """Distance beyond which all rows weigh less than e^-doubt of the nearest one."""
    if kernel == "gaussian":
        return np.sqrt(nearest**2 + 2 * h * h * doubt)
    return nearest + h * doubt


class KernelDensity(DensityMixin, Estimator):
    """Density of the rows as a sum of kernels.

    Parameters
    ----------
    bandwidth : float, "scott" or "silverman", default=1.0
        Width h of the kernels, > 0, in the unit of the metric. The rules give the width for
        columns of standard deviation 1: scale first.
    algorithm : {"kd_tree", "ball_tree", "auto"}, default="auto"
        Without effect: the quicker way is taken.
    kernel : {"gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"}, \
default="gaussian"
        Shape of the hills.
    metric : str, default="euclidean"
        Distance; densities integrate to 1 for the Euclidean one.
    atol, rtol : float, default=0, 0
        Errors of the density that may be made; the answer is exact to rounding, whatever they are.
    breadth_first : bool, default=True
        Without effect.
    leaf_size : int, default=40
        Without effect.
    metric_params : dict or None, default=None
        Further keywords of the metric.

    Attributes
    ----------
    bandwidth_ : float
        The width that is used.
    tree_ : KDTree
        The rows, ready to be searched.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import KernelDensity
    >>> model = KernelDensity(bandwidth=0.5).fit([[0.0], [1.0], [1.2]])
    >>> model.score_samples([[1.1], [5.0]]).round(3)
    array([ -0.607, -30.161])
    """

    _squares_x = True
    _answers_nonfinite = True  # beyond the ends of all kernels the density is 0

    def __init__(
        self,
        *,
        bandwidth: float | str = 1.0,
        algorithm: str = "auto",
        kernel: str = "gaussian",
        metric: str = "euclidean",
        atol: float = 0,
        rtol: float = 0,
        breadth_first: bool = True,
        leaf_size: int = 40,
        metric_params: dict[str, Any] | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params

    def _check_parameters(self) -> None:
        if isinstance(self.bandwidth, str):
            check.one_of(RULES, bandwidth=self.bandwidth)
        else:
            check.positive(bandwidth=self.bandwidth)
        check.one_of(("auto", "kd_tree", "ball_tree"), algorithm=self.algorithm)
        check.one_of(KERNELS, kernel=self.kernel)
        check.non_negative(atol=self.atol, rtol=self.rtol)
        check.boolean(breadth_first=self.breadth_first)
        check.whole(leaf_size=self.leaf_size)

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: MaybeArray = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Keep the rows and their weights."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        context = FitContext(self, X=rows.X, sample_weight=sample_weight)
        there = rows.w > 0
        self._fit_X, self._weights = rows.X[there].copy(), np.array(rows.w[there])
        self._metric()
        n, p = float(self._weights.sum()), self.n_features_in_
        if self.bandwidth == "scott":
            self.bandwidth_ = n ** (-1 / (p + 4))
        elif self.bandwidth == "silverman":
            self.bandwidth_ = (n * (p + 2) / 4) ** (-1 / (p + 4))
        else:
            self.bandwidth_ = float(self.bandwidth)
        context.end()
        return self

    def _metric(self) -> Metric:
        return resolve(self.metric, self._fit_X, keywords=self.metric_params or {})

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        n = len(self._weights)
        return {"_fit_X": (n, self.n_features_in_), "_weights": (n,)}

    @property
    def tree_(self) -> KDTree:
        """The rows, ready to be searched."""
        check_is_fitted(self)
        return KDTree(self._fit_X, metric=self.metric)

    def score_samples(self, X: ArrayLike) -> Array:
        """The logarithm of the density at each row of X."""
        Q, h, metric = self._check_input(X), self.bandwidth_, self._metric()
        scale = np.log(self._weights.sum()) + log_norm(self.kernel, self.n_features_in_)
        index = Index(self._fit_X, metric, "brute" if metric.order is None else "kd_tree")
        limit = self._limits(index, Q)
        sums = self._over_all(index, Q) if limit is None else self._over_near(index, Q, limit)
        return np.asarray(sums - scale - self.n_features_in_ * np.log(h))

    def _limits(self, index: Index, Q: Array) -> Array | None:
        """The radius around each query within which rows count; None where most rows would."""
        if index.metric.order is None:
            return None
        h = self.bandwidth_
        if self.kernel not in ENDLESS:
            limit = np.full(len(Q), h)
        else:
            doubt = NEGLIGIBLE + np.log(self._weights.sum() / self._weights.min())
            limit = reach(self.kernel, h, index.nearest(Q, 1)[0][:, 0], doubt)
        some = np.linspace(0, len(Q) - 1, min(PROBES, len(Q))).astype(np.intp)
        within = index.distances(Q[some]) <= limit[some, None]
        return limit if within.mean() < SPARSE else None

    def _over_all(self, index: Index, Q: Array) -> Array:
        weigh = np.log(self._weights)
        step = max(1, PAIRS // len(weigh))

        def part(a: int) -> Array:
            u = index.distances(Q[a : a + step]) / self.bandwidth_
            L = log_kernel(u, self.kernel)
            L += weigh
            return log_row_sums(L)

        return np.concatenate([part(a) for a in range(0, len(Q), step)])

    def _over_near(self, index: Index, Q: Array, limit: Array) -> Array:
        weigh = np.log(self._weights)
        step = max(1, int(PAIRS / (SPARSE * len(weigh))))

        def part(a: int) -> Array:
            rows = slice(a, a + step)
            first, D, j = index.within(np.ascontiguousarray(Q[rows]), limit[rows])
            return log_part_sums(log_kernel(D / self.bandwidth_, self.kernel) + weigh[j], first)

        return np.concatenate([part(a) for a in range(0, len(Q), step)])

    def score(self, X: ArrayLike, y: MaybeArray = None) -> float:
        """The log-likelihood of the rows of X, summed."""
        return float(self.score_samples(X).sum())

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> Array:
        """Draw rows: one of the training rows by weight, and a step by the kernel."""
        check_is_fitted(self)
        check.whole(n_samples=n_samples)
        if self._metric().name not in ("euclidean", "l2", "minkowski"):
            raise ValueError(f"sample needs metric='euclidean', got {self.metric!r}")
        rng, p = generator(random_state), self.n_features_in_
        mass = np.cumsum(self._weights)
        places = np.searchsorted(mass, rng.random(n_samples) * mass[-1], side="right")
        places = np.minimum(places, len(mass) - 1)
        if self.kernel == "gaussian":
            steps = rng.standard_normal((n_samples, p))
        else:
            steps = rng.standard_normal((n_samples, p))
            steps /= np.linalg.norm(steps, axis=1, keepdims=True)
            steps *= radii(self.kernel, p, n_samples, rng)[:, None]
        return np.asarray(self._fit_X[places] + self.bandwidth_ * steps)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        rule = (
            "given" if not isinstance(self.bandwidth, str) else f"by the rule of {self.bandwidth}"
        )
        return Card(
            f"p(x) = mean of {self.kernel} kernels of width {self.bandwidth_:.6g} on the rows",
            f"nothing is minimised: the width is {rule}; a search over held-out score() finds one",
            "none: the rows are the model",
            {
                "rows": float(self._weights.sum()),
                "columns": self.n_features_in_,
                "bandwidth": self.bandwidth_,
            },
        )


def radii(kernel: str, p: int, n: int, rng: Rng) -> Array:
    """Lengths of steps drawn from a kernel of width 1 in p columns."""
    if kernel == "tophat":
        return rng.random(n) ** (1 / p)
    if kernel == "exponential":
        return rng.gamma(p, size=n)
    if kernel == "epanechnikov":
        return np.sqrt(rng.beta(0.5 * p, 2.0, size=n))
    if kernel == "linear":
        return rng.beta(p, 2.0, size=n)
    found = np.empty(0)
    while len(found) < n:  # cosine: of the tophat's steps keep one with the chance K
        r = rng.random(2 * n + 16) ** (1 / p)
        found = np.append(found, r[rng.random(len(r)) < np.cos(0.5 * np.pi * r)])
    return found[:n]

r"""Where the fit of a Gaussian mixture begins.

    kmeans             the groups of k-means: their shares, means and covariances
    k-means++          rows far apart as means, the covariance of all rows, 1/k
    random_from_data   rows drawn at random, likewise
    random             random responsibilities, then an M step
    random_parameters  means uniform in the box of the data, identity x mean variance, 1/k
    MixtureStart       what you know; missing weights are 1/k, covariances pooled, means k-means'

A group whose own covariance is singular starts with that of all rows.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pellucid.cluster.kmeans.kmeans import RAW, Problem
from pellucid.cluster.kmeans.lloyd import run_lloyd
from pellucid.cluster.kmeans.passes import dense_rows, nearest
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Rng
from pellucid.core.loops.statistics import (
    Moments,
    Rows,
    Statistic,
    merge_moments,
    moments,
    reduce_rows,
)
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.mixture.gaussian.gaussians import (
    DENSE,
    CollapseError,
    Gaussians,
    full_covariances,
    precision_roots,
    shape_of,
    structured,
)

STARTS = ("kmeans", "k-means++", "random", "random_from_data", "random_parameters")
PARTS = ("weights", "means", "covariances")


class MixtureStart(NamedTuple):
    """Known parameters to start from, for ``init_params``; those named in ``fixed`` stay.

    >>> MixtureStart(means=[[0.0], [5.0]], fixed=("means",)).fixed
    ('means',)
    """

    weights: Any = None  # (k,)
    means: Any = None  # (k, p)
    covariances: Any = None  # shape as covariance_type says
    fixed: tuple[str, ...] = ()


def checked_weights(weights: ArrayLike, k: int) -> Array:
    """Weights >= 0 that sum to 1."""
    w = np.array(weights, dtype=np.float64)
    if w.shape != (k,):
        raise ValueError(f"weights must have shape ({k},), one for each component, got {w.shape}")
    if not (w >= 0).all() or not abs(w.sum() - 1.0) < 1e-6:
        raise ValueError(f"weights must be >= 0 and sum to 1, got {w.tolist()}")
    return w


def checked_means(means: ArrayLike, k: int | None, p: int | None) -> Array:
    """Finite means of shape (k, p)."""
    m = np.array(means, dtype=np.float64)
    if m.ndim != 2 or (k is not None and len(m) != k) or (p is not None and m.shape[1] != p):
        want = f"({'n_components' if k is None else k}, {'n_features' if p is None else p})"
        raise ValueError(f"means must have shape {want}, got {m.shape}")
    if not np.isfinite(m).all():
        raise ValueError("means must be finite numbers")
    return np.ascontiguousarray(m)


def checked_covariances(covariances: ArrayLike, structure: str, k: int, p: int) -> Array:
    """Symmetric positive definite covariances of a structure."""
    C = np.array(covariances, dtype=np.float64)
    if C.shape != shape_of(structure, k, p):
        raise ValueError(
            f"covariances must have shape {shape_of(structure, k, p)} for covariance_type "
            f"{structure!r}, got {C.shape}"
        )
    if structure in DENSE and not np.allclose(C, np.swapaxes(C, -1, -2), rtol=1e-8, atol=0):
        raise ValueError("covariances must be symmetric")
    try:
        precision_roots(C, structure)
    except CollapseError as error:
        who = "" if error.component is None else f", component {error.component} is not"
        raise ValueError(f"covariances must be positive definite{who}") from None
    return C


def from_precisions(precisions: ArrayLike, structure: str, k: int, p: int) -> Array:
    """Covariances from scikit-learn's ``precisions_init``."""
    Q = np.array(precisions, dtype=np.float64)
    if Q.shape != shape_of(structure, k, p):
        raise ValueError(
            f"precisions_init must have shape {shape_of(structure, k, p)} for covariance_type "
            f"{structure!r}, got {Q.shape}"
        )
    try:
        roots = precision_roots(Q, structure)  # Q^-1 = U U'
    except CollapseError:
        raise ValueError("precisions_init must be positive definite") from None
    return roots @ np.swapaxes(roots, -1, -2) if structure in DENSE else 1.0 / Q


def leaf_groups(C: Array, rows: Rows) -> list[Moments]:
    """The moments of the rows nearest to each centre; last those of all rows."""
    X, w = dense_rows(RAW, rows)
    labels = nearest(RAW, X, w, C).labels
    own = [labels == j for j in range(len(C))]
    return [*(moments(X[o], w[o]) if o.any() else _nothing(X) for o in own), moments(X, w)]


def _nothing(X: Array) -> Moments:
    p = X.shape[1]
    return Moments(0.0, np.zeros(p), np.zeros((p, p)))


def merge_groups(a: list[Moments], b: list[Moments]) -> list[Moments]:
    """Moments of two sets of rows, group by group."""
    return [merge_moments(x, y) for x, y in zip(a, b, strict=True)]


class Beginning(NamedTuple):
    """Everything a start needs to know."""

    problem: Problem
    map_: Map
    k: int
    structure: str
    reg: float

    def models(self, init: str, n_init: int, rng: Rng) -> Iterator[Gaussians]:
        """``n_init`` starts; each has a stream of its own."""
        if init in ("kmeans", "k-means++", "random_from_data"):
            seeding = "random" if init == "random_from_data" else "k-means++"
            for C in self.problem.starts(seeding, self.k, n_init, rng):
                yield self._from_kmeans(C) if init == "kmeans" else self._around(C)
            return
        for own in [np.random.default_rng(rng.integers(2**63, size=2)) for _ in range(n_init)]:
            yield self._random_rows(own) if init == "random" else self._random_parameters(own)

    def completed(self, start: MixtureStart, rng: Rng) -> Gaussians:
        """A start of which parts are given."""
        k, p = self.k, len(self.problem.box.mean)
        means = start.means
        if means is None:
            means = next(self.models("kmeans", 1, rng)).means
        C = start.covariances
        C = self._pooled() if C is None else checked_covariances(C, self.structure, k, p)
        weights = np.full(k, 1 / k) if start.weights is None else checked_weights(start.weights, k)
        return Gaussians(weights, checked_means(means, k, p), C)

    def _from_kmeans(self, C: Array) -> Gaussians:
        box = self.problem.box
        if self.k > 1:
            run = run_lloyd(
                self.problem.passes(),
                C,
                stop="shift",
                max_iter=300,
                tol=1e-4 * box.variance,
                n=box.n_rows,
                name="KMeans",
                context=None,
            )
            C = run.centers
        return self._from_groups(self._groups(C), C)

    def _groups(self, C: Array) -> list[Moments]:
        statistic = Statistic(partial(leaf_groups, C), merge_groups)
        return reduce_rows(statistic, self.problem.source, self.map_)

    def moments(self) -> Moments:
        """The moments of all rows."""
        return self._groups(self.problem.box.mean[None])[-1]

    def _from_groups(self, groups: list[Moments], C: Array) -> Gaussians:
        *own, every = groups
        N = np.array([g.weight for g in own])
        full = N > 0
        means = np.where(full[:, None], np.array([g.mean for g in own]), C)
        scatter = np.array([g.scatter for g in own])
        if self.structure not in DENSE:
            scatter = np.diagonal(scatter, axis1=1, axis2=2)
        safe = N if self.structure.startswith("tied") else np.where(full, N, 1.0)
        covariances = structured(scatter, safe, self.structure, self.reg)
        if not self.structure.startswith("tied"):
            pooled = self._pooled(every)
            for j in range(self.k):
                if not full[j] or self._singular(covariances[j : j + 1]):
                    covariances[j] = pooled[j]
        return Gaussians(N / N.sum(), means, covariances)

    def _singular(self, C: Array) -> bool:
        try:
            precision_roots(C, self.structure)
        except CollapseError:
            return True
        return False

    def _pooled(self, every: Moments | None = None) -> Array:
        """The covariance of all rows in the structure."""
        every = self.moments() if every is None else every
        p = len(every.mean)
        scatter = every.scatter if self.structure in DENSE else np.diag(every.scatter)
        C = structured(scatter[None], np.array([every.weight]), self.structure, self.reg)
        return np.array(np.broadcast_to(C, shape_of(self.structure, self.k, p)))

    def _around(self, C: Array) -> Gaussians:
        return Gaussians(np.full(self.k, 1 / self.k), np.array(C), self._pooled())

    def _random_rows(self, rng: Rng) -> Gaussians:
        source = self.problem.source
        if not isinstance(source, Rows):
            raise ValueError(
                "init_params='random' draws a number for every row and needs them in memory; use "
                "'kmeans', 'k-means++', 'random_from_data' or 'random_parameters' with fit_blocks"
            )
        X, w = dense_rows(RAW, source)
        R = rng.random((len(X), self.k))
        R /= R.sum(axis=1, keepdims=True)
        with single_threaded_blas():
            groups = [moments(X, w * R[:, j]) for j in range(self.k)]
            every = moments(X, w)
        return self._from_groups([*groups, every], np.zeros((self.k, X.shape[1])))

    def _random_parameters(self, rng: Rng) -> Gaussians:
        box, k = self.problem.box, self.k
        p = len(box.mean)
        means = rng.uniform(box.low, box.high, (k, p))
        s = box.variance + self.reg
        s = s if s > 0 else 1.0
        full = full_covariances(np.array(s), "tied_spherical", k, p)
        C = {
            "full": full,
            "tied": full[0],
            "diag": np.full((k, p), s),
            "tied_diag": np.full(p, s),
            "spherical": np.full(k, s),
        }.get(self.structure, np.array(s))
        return Gaussians(np.full(k, 1 / k), means, C)


def check_fixed(fixed: Any) -> tuple[str, ...]:
    """The names of parameters that stay as they are."""
    names = (fixed,) if isinstance(fixed, str) else tuple(fixed)
    for name in names:
        check.one_of(PARTS, fixed=name)
    return names

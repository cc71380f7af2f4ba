r"""Where the fit of a Gaussian mixture begins.

    kmeans             the groups of k-means: their shares, means and covariances; of more than
                       65,536 rows those of k-means||, whose candidates were clustered
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
from pellucid.cluster.kmeans.lloyd import Limits, run_lloyd
from pellucid.cluster.kmeans.passes import Box, dense_rows, nearest, tensor_nearest
from pellucid.core.arrays import check
from pellucid.core.arrays.tensors import like, namespace
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Rng
from pellucid.core.loops import statistics
from pellucid.core.loops.device import DeviceRows, cross, on_device, tensor_moments
from pellucid.core.loops.statistics import Moments, Rows, Statistic
from pellucid.core.readable import readable
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.mixture.gaussian import gaussians
from pellucid.mixture.gaussian.gaussians import CollapseError, Gaussians

STARTS = ("kmeans", "k-means++", "random", "random_from_data", "random_parameters")
PARTS = ("weights", "means", "covariances")


@readable
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


def shaped(name: str, values: ArrayLike, structure: str, k: int, p: int) -> Array:
    """An array with the shape of the covariances of a structure."""
    C, shape = np.array(values, dtype=np.float64), gaussians.shape_of(structure, k, p)
    if C.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {C.shape}")
    return C


def enough_rows(n_components: int, box: Box) -> None:
    """Refuse more components than rows; a weight of 3 is three rows."""
    if n_components > max(box.n_rows, box.weight):
        most = f"at most the number of rows (n_samples={box.n_rows})"
        raise ValueError(f"n_components must be {most}, got n_components={n_components}")


def checked_covariances(covariances: ArrayLike, structure: str, k: int, p: int) -> Array:
    """Symmetric positive definite covariances of a structure."""
    C = shaped("covariances", covariances, structure, k, p)
    dense = structure in gaussians.DENSE
    if dense and not np.allclose(C, np.swapaxes(C, -1, -2), rtol=1e-8, atol=0):
        raise ValueError("covariances must be symmetric")
    try:
        gaussians.precision_roots(C, structure)
    except CollapseError as error:
        who = "" if error.component is None else f", component {error.component} is not"
        raise ValueError(f"covariances must be positive definite{who}") from None
    return C


def from_precisions(precisions: ArrayLike, structure: str, k: int, p: int) -> Array:
    """Covariances from scikit-learn's ``precisions_init``."""
    Q = shaped("precisions_init", precisions, structure, k, p)
    try:
        roots = gaussians.precision_roots(Q, structure)  # Q^-1 = U U'
    except CollapseError:
        raise ValueError("precisions_init must be positive definite") from None
    return roots @ np.swapaxes(roots, -1, -2) if structure in gaussians.DENSE else 1.0 / Q


def leaf_groups(C: Array, rows: Rows) -> list[Moments]:
    """The moments of the rows nearest to each centre; last those of all rows."""
    X, w = dense_rows(RAW, rows)
    labels = nearest(RAW, X, w, C).labels
    own, p = [labels == j for j in range(len(C))], X.shape[1]
    none = Moments(0.0, np.zeros(p), np.zeros((p, p)))
    groups = [statistics.moments(X[o], w[o]) if o.any() else none for o in own]
    return [*groups, statistics.moments(X, w)]


@on_device(leaf_groups)
def device_groups(C: Array, rows: DeviceRows) -> list[Moments]:
    """The moments of the tensors' rows nearest to each centre; last those of all rows."""
    X, w = rows.X, rows.weights()
    xp, centers = namespace(X), like(C, X)
    labels = tensor_nearest(X, centers, xp.mean(centers, axis=0)).labels
    groups = []
    for j in range(len(C)):
        own = w * xp.astype(labels == j, w.dtype)
        weight = xp.sum(own)
        safe = xp.where(weight > 0, weight, xp.ones_like(weight))
        offset = (own[None, :] @ (X - centers[j, :])) / safe
        V = X - (centers[j, :] + offset)
        mean = xp.where(weight > 0, (centers[j, :] + offset)[0, :], xp.zeros_like(offset[0, :]))
        groups.append(Moments(weight, mean, cross(V, V * own[:, None])))
    return [*groups, tensor_moments(X, None, rows.w)]


def merge_groups(a: list[Moments], b: list[Moments]) -> list[Moments]:
    """Moments of two sets of rows, group by group."""
    return [statistics.merge_moments(x, y) for x, y in zip(a, b, strict=True)]


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
                if init == "kmeans":
                    yield self._from_kmeans(C)
                else:
                    yield Gaussians(np.full(self.k, 1 / self.k), np.array(C), self._pooled())
            return
        for own in [np.random.default_rng(rng.integers(2**63, size=2)) for _ in range(n_init)]:
            yield self._random_rows(own) if init == "random" else self._random_parameters(own)

    def completed(self, start: MixtureStart, rng: Rng) -> Gaussians:
        """A start of which parts are given."""
        k, p = self.k, len(self.problem.box.mean)
        means, C = start.means, start.covariances
        means = next(self.models("kmeans", 1, rng)).means if means is None else means
        C = self._pooled() if C is None else checked_covariances(C, self.structure, k, p)
        weights = np.full(k, 1 / k) if start.weights is None else checked_weights(start.weights, k)
        return Gaussians(weights, checked_means(means, k, p), C)

    def _from_kmeans(self, C: Array) -> Gaussians:
        box = self.problem.box
        if self.k > 1 and not self.problem.drawn_at_once(self.k):
            limits = Limits(300, 1e-4 * box.variance, "KMeans")
            C = run_lloyd(self.problem.passes(), C, limits, n=box.n_rows).centers
        return self._from_groups(self._groups(C), C)

    def _groups(self, C: Array) -> list[Moments]:
        statistic = Statistic(partial(leaf_groups, C), merge_groups)
        return statistics.reduce_rows(statistic, self.problem.source, self.map_)

    def moments(self) -> Moments:
        """The moments of all rows."""
        return self._groups(self.problem.box.mean[None])[-1]

    def _from_groups(self, groups: list[Moments], C: Array) -> Gaussians:
        *own, every = groups
        N = np.array([g.weight for g in own])
        full = N > 0
        means = np.where(full[:, None], np.array([g.mean for g in own]), C)
        scatter = np.array([g.scatter for g in own])
        if self.structure not in gaussians.DENSE:
            scatter = np.diagonal(scatter, axis1=1, axis2=2)
        safe = N if self.structure.startswith("tied") else np.where(full, N, 1.0)
        covariances = gaussians.structured(scatter, safe, self.structure, self.reg)
        if not self.structure.startswith("tied"):
            pooled = self._pooled(every)
            for j in range(self.k):
                if not full[j] or self._singular(covariances[j : j + 1]):
                    covariances[j] = pooled[j]
        return Gaussians(N / N.sum(), means, covariances)

    def _singular(self, C: Array) -> bool:
        try:
            gaussians.precision_roots(C, self.structure)
        except CollapseError:
            return True
        return False

    def _pooled(self, every: Moments | None = None) -> Array:
        """The covariance of all rows in the structure."""
        every = self.moments() if every is None else every
        p = len(every.mean)
        scatter = every.scatter if self.structure in gaussians.DENSE else np.diag(every.scatter)
        C = gaussians.structured(scatter[None], np.array([every.weight]), self.structure, self.reg)
        return np.array(np.broadcast_to(C, gaussians.shape_of(self.structure, self.k, p)))

    def _random_rows(self, rng: Rng) -> Gaussians:
        source = self.problem.source
        if not isinstance(source, Rows):
            why = "draws a number for every row, which fit_blocks does not hold in memory"
            raise ValueError(f"init_params='random' {why}; use another of {STARTS}")
        X, w = dense_rows(RAW, source)
        R = rng.random((len(X), self.k))
        R /= R.sum(axis=1, keepdims=True)
        with single_threaded_blas():
            groups = [statistics.moments(X, w * R[:, j]) for j in range(self.k)]
            every = statistics.moments(X, w)
        return self._from_groups([*groups, every], np.zeros((self.k, X.shape[1])))

    def _random_parameters(self, rng: Rng) -> Gaussians:
        box, k = self.problem.box, self.k
        p = len(box.mean)
        means = rng.uniform(box.low, box.high, (k, p))
        s = box.variance + self.reg
        s = s if s > 0 else 1.0
        shape = gaussians.shape_of(self.structure, k, p)
        dense = self.structure in gaussians.DENSE
        C = np.array(np.broadcast_to(s * np.eye(p), shape)) if dense else np.full(shape, s)
        return Gaussians(np.full(k, 1 / k), means, C)


def check_fixed(fixed: Any) -> tuple[str, ...]:
    """The names of parameters that stay as they are."""
    names = (fixed,) if isinstance(fixed, str) else tuple(fixed)
    for name in names:
        check.one_of(PARTS, fixed=name)
    return names

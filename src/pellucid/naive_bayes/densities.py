r"""The density of one column within each class, one record per kind.

    gaussian      N(mean_k, var_k)
    categorical   theta_k[value],  bernoulli: the values 0 and 1
    poisson       rate_k^x e^-rate_k / x!            rate = mean
    exponential   e^(-x/scale_k) / scale_k           scale = mean
    kde           f(x) = 1/W sum_i w_i N(x; x_i, h^2) over the points of the class
    histogram     theta_k[bin] / width of the bin; bins at quantiles of all classes together
    family        a continuous family of scipy.stats, fitted by maximum likelihood
    estimator     any density estimator with fit and score_samples

Every record answers ``log_density(x)`` -> (n, K) for cells that are not missing, and
``draw(codes, rng)``. A parameter of NaN says that the column was never seen: it contributes 0.

The bandwidth h = sd (3 W/4)^(-1/5) is the best for normal data (sd with divisor W - 1). The points
are sorted, and only those within reach of the nearest one count: a term is left out when it is
below e^-45 of the largest, so the sum is exact to rounding and stays right, in logs, far from all.

Reference: Silverman (1986), Density Estimation, section 3.4.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from pellucid.core.arrays.typing import Array, BoolArray, IntArray, Rng
from pellucid.core.runtime.jit import jit

REACH = 45.0  # terms below e^-REACH of the largest are left out


@jit
def write_log_kernels(x, points, w, h, out):
    """out[i] = log sum_j w_j exp(-(x_i - points_j)^2 / 2 h^2); points ascend."""
    m = len(points)
    for i in range(len(x)):
        z = x[i]
        right = np.searchsorted(points, z)
        nearest = np.inf
        if right < m:
            nearest = points[right] - z
        if right > 0:
            nearest = min(nearest, z - points[right - 1])
        d0 = nearest / h
        reach = h * np.sqrt(d0 * d0 + 2.0 * (REACH + np.log(m)))
        total = 0.0
        j = right
        while j < m and points[j] - z <= reach:
            d = (points[j] - z) / h
            total += w[j] * np.exp(-0.5 * (d - d0) * (d + d0))
            j += 1
        j = right - 1
        while j >= 0 and z - points[j] <= reach:
            d = (z - points[j]) / h
            total += w[j] * np.exp(-0.5 * (d - d0) * (d + d0))
            j -= 1
        out[i] = np.log(total) - 0.5 * d0 * d0


def log_kernel_density(x: Array, points: Array, w: Array, h: float) -> Array:
    """log f(x) of every x.

    >>> log_kernel_density(np.zeros(1), np.zeros(1), np.ones(1), 1.0).round(4)
    array([-0.9189])
    """
    out = np.empty(len(x))
    write_log_kernels(np.ascontiguousarray(x), points, w, h, out)
    return out - np.log(w.sum() * h * np.sqrt(2 * np.pi))


def bandwidth(x: Array, w: Array) -> float:
    """Silverman's rule; 0 where the points have no spread."""
    W = float(w.sum())
    if W <= 1:
        return 0.0
    mean = (w @ x) / W
    return float(np.sqrt(w @ (x - mean) ** 2 / (W - 1)) * (0.75 * W) ** -0.2)


LOG_2PI = float(np.log(2 * np.pi))


class GaussianColumn(NamedTuple):
    mean: Array  # (K,)
    var: Array  # (K,)

    def log_density(self, x: Array) -> Array:
        if np.isnan(self.var).all():
            return np.zeros((len(x), len(self.mean)))
        z2 = (x[:, None] - self.mean) ** 2 / self.var
        return -0.5 * (LOG_2PI + np.log(self.var) + z2)

    def draw(self, codes: IntArray, rng: Rng) -> Array:
        return rng.normal(self.mean[codes], np.sqrt(self.var[codes]))

    def n_parameters(self) -> int:
        return 2 * len(self.mean)


class TableColumn(NamedTuple):
    """x holds places among ``values``, not the values themselves."""

    values: Any  # (V,) sorted
    log_prob: Array  # (K, V)

    def log_density(self, x: Array) -> Array:
        return self.log_prob.T[x.astype(np.intp)]

    def draw(self, codes: IntArray, rng: Rng) -> Any:
        edges = np.cumsum(np.exp(self.log_prob), axis=1)
        edges /= edges[:, -1:]
        return self.values[(rng.random(len(codes))[:, None] >= edges[codes]).sum(axis=1)]

    def n_parameters(self) -> int:
        K, V = self.log_prob.shape
        return K * max(V - 1, 0)


class PoissonColumn(NamedTuple):
    rate: Array  # (K,)

    def log_density(self, x: Array) -> Array:
        if np.isnan(self.rate).all():
            return np.zeros((len(x), len(self.rate)))
        possible = (x >= 0) & (x == np.floor(x))
        at = np.where(possible, x, 0.0)[:, None]
        logs = xlogy(at, self.rate) - self.rate - gammaln(at + 1)
        return np.where(possible[:, None], logs, -np.inf)

    def draw(self, codes: IntArray, rng: Rng) -> Array:
        known = ~np.isnan(self.rate)
        drawn = rng.poisson(np.where(known, self.rate, 0.0)[codes]).astype(np.float64)
        return np.where(known[codes], drawn, np.nan)

    def n_parameters(self) -> int:
        return len(self.rate)


class ExponentialColumn(NamedTuple):
    scale: Array  # (K,)

    def log_density(self, x: Array) -> Array:
        if np.isnan(self.scale).all():
            return np.zeros((len(x), len(self.scale)))
        logs = -x[:, None] / self.scale - np.log(self.scale)
        return np.where(x[:, None] >= 0, logs, -np.inf)

    def draw(self, codes: IntArray, rng: Rng) -> Array:
        return rng.standard_exponential(len(codes)) * self.scale[codes]

    def n_parameters(self) -> int:
        return len(self.scale)


class KernelColumn(NamedTuple):
    points: list[Array]  # K sorted arrays; those of all classes where a class has none
    weights: list[Array]
    bandwidth: Array  # (K,)

    def log_density(self, x: Array) -> Array:
        out = np.zeros((len(x), len(self.bandwidth)))
        for k, (points, w) in enumerate(zip(self.points, self.weights, strict=True)):
            if len(points):
                out[:, k] = log_kernel_density(x, points, w, float(self.bandwidth[k]))
        return out

    def draw(self, codes: IntArray, rng: Rng) -> Array:
        out = np.full(len(codes), np.nan)
        for k, (points, w) in enumerate(zip(self.points, self.weights, strict=True)):
            at = np.flatnonzero(codes == k)
            if len(points) and len(at):
                drawn = rng.choice(len(points), size=len(at), p=w / w.sum())  # then its kernel
                out[at] = points[drawn] + float(self.bandwidth[k]) * rng.standard_normal(len(at))
        return out

    def n_parameters(self) -> int:
        return sum(len(points) for points in self.points)


class HistogramColumn(NamedTuple):
    """Cells outside the edges fall into the outer bins."""

    edges: Array  # (B + 1,)
    log_height: Array  # (K, B)

    def place(self, x: Array) -> IntArray:
        """The bin of every x."""
        at = np.searchsorted(self.edges, x, side="right") - 1
        return at.clip(0, len(self.edges) - 2)

    def log_density(self, x: Array) -> Array:
        return self.log_height.T[self.place(x)]

    def draw(self, codes: IntArray, rng: Rng) -> Array:
        width = np.diff(self.edges)
        heap = np.cumsum(np.exp(self.log_height) * width, axis=1)
        heap /= heap[:, -1:]
        b = (rng.random(len(codes))[:, None] >= heap[codes]).sum(axis=1)
        return self.edges[b] + width[b] * rng.random(len(codes))

    def n_parameters(self) -> int:
        K, B = self.log_height.shape
        return K * (B - 1)


class FamilyColumn(NamedTuple):
    family: str  # its name in scipy.stats
    parameters: Array  # (K, r)

    def log_density(self, x: Array) -> Array:
        if np.isnan(self.parameters).all():
            return np.zeros((len(x), len(self.parameters)))
        law = find_family(self.family)
        return np.column_stack([law.logpdf(x, *theta) for theta in self.parameters])

    def draw(self, codes: IntArray, rng: Rng) -> Array:
        law = find_family(self.family)
        out = np.full(len(codes), np.nan)
        for k, theta in enumerate(self.parameters):
            at = np.flatnonzero(codes == k)
            if len(at) and not np.isnan(theta).any():
                out[at] = law.rvs(*theta, size=len(at), random_state=rng)
        return out

    def n_parameters(self) -> int:
        return self.parameters.size


class EstimatorColumn(NamedTuple):
    models: list[Any]  # K fitted estimators; None where nothing was seen anywhere

    def log_density(self, x: Array) -> Array:
        out = np.zeros((len(x), len(self.models)))
        for k, model in enumerate(self.models):
            if model is not None:
                out[:, k] = model.score_samples(x[:, None])
        return out

    def draw(self, codes: IntArray, rng: Rng) -> Array:
        out = np.full(len(codes), np.nan)
        for k, model in enumerate(self.models):
            at = np.flatnonzero(codes == k)
            if model is None or not len(at):
                continue
            if not hasattr(model, "sample"):
                raise ValueError(f"{type(model).__name__} cannot be sampled: it has no sample()")
            seed = np.random.RandomState(int(rng.integers(2**31)))
            drawn = model.sample(len(at), random_state=seed)
            out[at] = np.asarray(drawn[0] if isinstance(drawn, tuple) else drawn).ravel()
        return out

    def n_parameters(self) -> int:
        return 0


def find_family(name: str) -> Any:
    """A continuous family of scipy.stats by its name; SciPy's module is loaded here only."""
    import scipy.stats

    law = getattr(scipy.stats, name, None)
    if not isinstance(law, scipy.stats.rv_continuous):
        raise ValueError(f"scipy.stats has no continuous family {name!r}")
    return law


def log_density(column: Any, x: Array) -> Array:
    """log p(x_i | k), (n, K), of cells that may be missing (NaN): 0 there."""
    present = ~np.isnan(x)
    with np.errstate(over="ignore"):  # a density may underflow to 0
        if present.all():
            return column.log_density(x)
        logs = column.log_density(x[present])
    out = np.zeros((len(x), logs.shape[1]))
    out[present] = logs
    return out


class ClassCells(NamedTuple):
    """The cells of one column within each class, missing ones left out; weights beside them."""

    values: list[Array]
    weights: list[Array]
    all_values: Array
    all_weights: Array


def class_cells(x: Array, c: IntArray, w: Array, n_classes: int) -> ClassCells:
    """Cells by class; a weight of 0 is absent. A class without any takes those of all classes."""
    seen = ~np.isnan(x) & (w > 0)
    own = [np.flatnonzero(seen & (c == k)) for k in range(n_classes)]
    everywhere = np.flatnonzero(seen)
    rows = [at if len(at) else everywhere for at in own]
    w = np.asarray(w)
    return ClassCells([x[at] for at in rows], [w[at] for at in rows], x[everywhere], w[everywhere])


def fit_kernels(cells: ClassCells) -> tuple[KernelColumn, BoolArray]:
    """Sorted points and bandwidths; also which classes had no spread of their own."""
    everything, weight = cells.all_values, cells.all_weights
    order = [np.argsort(x, kind="stable") for x in cells.values]
    points = [x[o] for x, o in zip(cells.values, order, strict=True)]
    weights = [w[o] for w, o in zip(cells.weights, order, strict=True)]
    h = np.array([bandwidth(x, w) for x, w in zip(points, weights, strict=True)])
    flat = h == 0
    size = float(np.abs(everything).max(initial=0.0)) or 1.0
    stand_in = bandwidth(everything, weight) or 1e-6 * size
    return KernelColumn(points, weights, np.where(flat, stand_in, h)), flat


def quantile_edges(x: Array, w: Array) -> Array:
    """About 2 W^(1/3) bins (Rice) with equal weight in each; an edge is a value of the data."""
    n_bins = int(np.clip(np.rint(2 * w.sum() ** (1 / 3)), 2, 50))
    order = np.argsort(x, kind="stable")
    x, heap = x[order], np.cumsum(w[order])
    at = np.searchsorted(heap, heap[-1] * np.arange(1, n_bins) / n_bins * (1 - 1e-12))
    edges = np.unique(np.concatenate([x[:1], x[at], x[-1:]]))
    return edges if len(edges) > 1 else np.array([x[0] - 0.5, x[0] + 0.5])


def fit_histogram(cells: ClassCells, count: Array, alpha: float) -> HistogramColumn:
    """(n_kb + alpha) / (n_k + alpha B) / width."""
    if not len(cells.all_values):
        return HistogramColumn(np.array([-0.5, 0.5]), np.zeros((len(count), 1)))
    edges = quantile_edges(cells.all_values, cells.all_weights)
    B = len(edges) - 1
    N = np.zeros((len(count), B))
    frame = HistogramColumn(edges, N)
    for k, (x, w) in enumerate(zip(cells.values, cells.weights, strict=True)):
        N[k] = np.bincount(frame.place(x), w, B)
    with np.errstate(divide="ignore"):
        logs = np.log(N + alpha) - np.log(N.sum(axis=1, keepdims=True) + alpha * B)
    return HistogramColumn(edges, logs - np.log(np.diff(edges)))


def fit_family(name: str, cells: ClassCells, where: str) -> FamilyColumn:
    """Maximum likelihood within each class; weights are repetitions."""
    law = find_family(name)
    found = []
    for x, w in zip(cells.values, cells.weights, strict=True):
        if not len(x):
            found.append(np.full(law.numargs + 2, np.nan))
            continue
        if (w != np.floor(w)).any():
            raise ValueError(f"{where}: scipy.stats.{name} needs a sample_weight of whole numbers")
        theta = np.array(law.fit(np.repeat(x, w.astype(np.intp))), dtype=np.float64)
        if not np.isfinite(law.logpdf(x, *theta)).all():
            raise ValueError(f"{where}: scipy.stats.{name} cannot be fitted to a class")
        found.append(theta)
    return FamilyColumn(name, np.array(found))

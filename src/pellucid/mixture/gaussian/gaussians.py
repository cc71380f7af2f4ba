r"""Gaussian components: their structures, the E step as sums over rows, and the M step.

    p(x) = sum_k pi_k N(x; mu_k, S_k)
    E    r_ik = pi_k N(x_i; mu_k, S_k) / sum_l pi_l N(x_i; mu_l, S_l)
    M    N_k = sum_i w_i r_ik,  pi_k = N_k / sum w,  mu_k = sum w r x / N_k,
         S_k = sum w r (x - mu_k)(x - mu_k)' / N_k + reg I              (with the new mean)

Structures of S (shape):  full (k, p, p) | tied (p, p), one for all | diag (k, p) | tied_diag (p,)
                          | spherical (k,), s_k I | tied_spherical (), s I
A tied structure is the N-weighted mean of the others; a spherical one the mean of the diagonal.

The sums are taken about the OLD means (m = M / N is how far a mean moves), so that

    sum r (x - new)(x - new)' / N = S / N - m m'

subtracts little when a component moves little, however far it lies from zero.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack, solve_triangular

from pellucid.cluster.kmeans.kmeans import RAW
from pellucid.cluster.kmeans.passes import dense_rows
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.tensors import like, namespace
from pellucid.core.arrays.typing import Array, IntArray, Map, Rng
from pellucid.core.loops import statistics
from pellucid.core.loops.device import DeviceRows, cross, far_off, on_device
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, Source, Statistic, reduce_rows
from pellucid.core.runtime import simd
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.mixture.gaussian import kernels

STRUCTURES = ("full", "tied", "diag", "tied_diag", "spherical", "tied_spherical")
DENSE = ("full", "tied")
NEAR = 1e3  # squared distance of a mean from 0 up to which expanding it costs three digits
LOST = 1e-14  # a component with a smaller share of all rows has lost them: it stays where it is
POINT = 1e-20  # a variance below this share of the column's is that of one point (reg_covar=0)


class Gaussians(NamedTuple):
    """The parameters of a mixture."""

    weights: Array  # (k,)
    means: Array  # (k, p)
    covariances: Array  # shape as the structure says


class Factors(NamedTuple):
    """What the kernels read."""

    means: Array  # (k, p)
    root: Array  # full, tied: (k or 1, p, d8), transposed P; else precisions (k, p)
    const: Array  # (k,)  log pi_k + log det P_k - p log(2 pi) / 2
    dense: bool


class Sums(NamedTuple):
    """Sums of one E step about the means it used."""

    weight: Array  # (k,)  N
    first: Array  # (k, p)  M = sum w r (x - mu)
    second: Array  # (k, p, p) or (k, p)  sum w r (x - mu)(x - mu)' or its diagonal
    value: float  # log-likelihood


class CollapseError(ValueError):
    """A covariance without an inverse; ``component`` is None where all share it."""

    def __init__(self, component: int | None, names: str = "") -> None:
        self.component = component
        who = "the covariance of all components" if component is None else f"component {component}"
        why = f"the rows it explains vary (almost) only within a point, line or plane{names}"
        cure = "raise reg_covar, lower n_components or use a simpler covariance_type"
        super().__init__(f"{who} has collapsed: {why}; {cure}")


def shape_of(structure: str, k: int, p: int) -> tuple[int, ...]:
    """The shape of the covariances.

    >>> shape_of("tied_diag", 3, 2), shape_of("tied_spherical", 3, 2)
    ((2,), ())
    """
    shapes = {"full": (k, p, p), "tied": (p, p), "diag": (k, p), "tied_diag": (p,)}
    return shapes.get(structure, (k,) if structure == "spherical" else ())


def count_parameters(structure: str, k: int, p: int) -> int:
    """Free numbers of the mixture.

    >>> count_parameters("full", 2, 3), count_parameters("tied_spherical", 2, 3)
    (19, 8)
    """
    full = p * (p + 1) // 2
    free = {"full": k * full, "tied": full, "diag": k * p, "tied_diag": p, "spherical": k}
    return free.get(structure, 1) + k * p + k - 1


def invert_triangle(S: Array, component: int | None, floor: Array | None) -> Array:
    """The lower triangular P with P S P' = I; CollapseError where S is singular to working digits.

    >>> invert_triangle(np.array([[4.0]]), 0, None)
    array([[0.5]])
    """
    variances = np.diag(S)
    L, info = lapack.dpotrf(S, lower=1, clean=1)
    enough = info == 0 and np.diag(L) ** 2 > 4 * len(S) * EPS * variances
    if not np.all(enough) or (floor is not None and (variances <= floor).any()):
        raise CollapseError(component)
    return lapack.dtrtri(L, lower=1)[0]


def precision_roots(C: Array, structure: str, floor: Array | None = None) -> Array:
    """scikit-learn's ``precisions_cholesky_``: upper U with S^-1 = U U', or 1 / sqrt(variance).

    ``floor`` (p,): variances at or below it count as collapsed.
    """
    if structure == "full":
        return np.array([invert_triangle(S, j, floor).T for j, S in enumerate(C)])
    if structure == "tied":
        return np.ascontiguousarray(invert_triangle(C, None, floor).T)
    least = 0.0 if floor is None else floor
    wide = C[:, None] if structure == "spherical" else C
    bad = ~(np.asarray(wide) > least) | ~np.isfinite(wide)
    if bad.any():
        own = structure in ("diag", "spherical")
        raise CollapseError(int(np.argmax(bad.any(axis=-1))) if own else None)
    return 1.0 / np.sqrt(C)


def make_factors(weights: Array, means: Array, roots: Array, structure: str) -> Factors:
    """Prepare parameters for the kernels."""
    k, p = means.shape
    with np.errstate(divide="ignore"):  # a weight of zero is a density of zero
        const = np.log(weights) - 0.5 * p * np.log(2 * np.pi)
    means = np.require(means, np.float64, ["C", "W"])
    if structure in DENSE:
        U = np.atleast_3d(roots) if structure == "full" else roots[None]
        padded = np.zeros((len(U), p, -(-p // simd.LANES) * simd.LANES))
        padded[:, :, :p] = U
        const = const + np.log(np.diagonal(U, axis1=1, axis2=2)).sum(axis=1)
        return Factors(means, padded, const, True)
    root = np.array(np.broadcast_to(roots[:, None] if structure == "spherical" else roots, (k, p)))
    return Factors(means, root**2, const + np.log(root).sum(axis=1), False)


def factors_of(model: Gaussians, structure: str, floor: Array | None = None) -> Factors:
    """The factors of parameters; CollapseError where a covariance is singular."""
    with single_threaded_blas():
        roots = precision_roots(model.covariances, structure, floor)
        return make_factors(model.weights, model.means, roots, structure)


def log_joint(X: Array, factors: Factors) -> Array:
    """log pi_k N_k(x_i), shape (n, k)."""
    if X.shape[1] != factors.means.shape[1]:  # the kernels index without looking
        known = factors.means.shape[1]
        raise ValueError(f"X has {X.shape[1]} columns, but the components have {known}")
    out = np.empty((len(X), len(factors.means)))
    kernel = kernels.rows_full if factors.dense else kernels.rows_diag
    writeable = np.require(X, np.float64, ["C", "W"])

    def part(start: int) -> None:
        stop = start + LEAF_ROWS
        kernel(writeable[start:stop], *factors[:3], out[start:stop])

    list(map_threads(part, range(0, len(X), LEAF_ROWS)))
    return out


def leaf_sums(factors: Factors, rows: Rows) -> Sums:
    """The sums of one leaf."""
    X, w = dense_rows(RAW, rows)
    k, p = factors.means.shape
    N, M = np.zeros((k, 1)), np.zeros((k, p))
    if not factors.dense:
        S = np.zeros((k, p))
        value = kernels.sums_diag(X, w, *factors[:3], N, M, S)
        return Sums(N[:, 0], M, S, value)
    d8 = factors.root.shape[2]
    S = np.zeros((k, d8, d8))
    value = kernels.sums_full(X, w, *factors[:3], N, M, S)
    low = np.tril(S[:, :p, :p])
    return Sums(N[:, 0], M, low + np.tril(low, -1).transpose(0, 2, 1), value)


def tensor_joint(X: Any, factors: Factors) -> Any:
    """log pi_k N_k(x_i) of the rows of a tensor, shape (n, k).

    |(x - mu) U|^2 is expanded where the mean lies near 0 (in deviations of the component), else the
    rows are moved first.
    """
    xp, (k, p) = namespace(X), factors.means.shape
    root, const = np.ascontiguousarray(factors.root[..., :p]), like(factors.const, X)
    columns = []
    for j in range(k):
        mean = factors.means[j]
        if factors.dense:
            U = root[j if len(root) > 1 else 0]
            centre = mean @ U
            if centre @ centre < NEAR:
                A, cut = X @ like(U, X), X @ like(U @ centre, X)
                quadratic = xp.linalg.vector_norm(A, axis=1) ** 2 - 2.0 * cut + centre @ centre
            else:
                A = (X - like(mean, X)) @ like(U, X)
                quadratic = xp.linalg.vector_norm(A, axis=1) ** 2
        else:
            C = (X - like(mean, X)) * like(np.sqrt(root[j]), X)
            quadratic = xp.linalg.vector_norm(C, axis=1) ** 2
        columns.append(const[j] - 0.5 * quadratic)
    return xp.stack(columns, axis=1)


@on_device(leaf_sums)
def device_sums(factors: Factors, rows: DeviceRows) -> Sums:
    """The sums of tensors."""
    X, xp = rows.X, namespace(rows.X)
    J = tensor_joint(X, factors)
    top = xp.max(J, axis=1, keepdims=True)
    E = xp.exp(J - top)
    total = xp.sum(E, axis=1, keepdims=True)
    value = (top + xp.log(total))[:, 0]
    R = E / total
    if rows.w is not None:
        value, R = value * rows.w, R * rows.w[:, None]
    weight = xp.sum(R, axis=0)
    means = like(factors.means, X)
    raw = cross(R, X)
    first = raw - weight[:, None] * means
    if factors.dense:
        each = [(R[:, j], raw[j : j + 1, :], means[j : j + 1, :]) for j in range(means.shape[0])]
        second = [scatter_about(X, *own) for own in each]
    else:
        second = [
            xp.sum((X - means[j, :]) ** 2 * R[:, j : j + 1], axis=0) for j in range(means.shape[0])
        ]
    return Sums(weight, first, xp.stack(second), xp.sum(value))


def scatter_about(X: Any, r: Any, M: Any, mean: Any) -> Any:
    """sum r (x - mean)(x - mean)' of a tensor, M = r'X; the mean is taken off the sums if safe."""
    xp = namespace(X)
    G, N = cross(X, X * r[:, None]), xp.sum(r)
    S = G - mean.T @ M - M.T @ mean + N * (mean.T @ mean)
    if far_off(N * (mean * mean)[0, :], xp.linalg.diagonal(S)):
        C = X - mean
        return cross(C, C * r[:, None])
    return S


def expectation(source: Source, map_: Map, factors: Factors) -> Sums:
    """The E step: one pass over the rows."""
    return reduce_rows(Statistic(partial(leaf_sums, factors), statistics.add_records), source, map_)


def structured(scatter: Array, N: Array, structure: str, reg: float) -> Array:
    """Covariances of a structure from each component's sum r (x - mu)(x - mu)' (or diagonal)."""
    if structure in DENSE:
        eye = reg * np.eye(scatter.shape[-1])
        if structure == "tied":
            return scatter.sum(axis=0) / N.sum() + eye
        return scatter / N[:, None, None] + eye
    if structure.startswith("tied"):
        variances = np.maximum(scatter.sum(axis=0) / N.sum(), 0.0) + reg
    else:
        variances = np.maximum(scatter / N[:, None], 0.0) + reg
    return variances if structure.endswith("diag") else np.asarray(variances.mean(axis=-1))


def maximise(
    model: Gaussians,
    sums: Sums,
    structure: str,
    *,
    reg: float = 0.0,
    fixed: tuple[str, ...] = (),
    rate: float = 1.0,
) -> Gaussians:
    """The M step; ``rate`` < 1 moves the means only part of the way.

    A component that has lost its rows keeps its mean and covariance: any would do.
    """
    N, M, S, _ = sums
    lost = LOST * N.sum() >= N
    safe = np.where(lost, 1.0, N)
    shift = np.where(lost[:, None], 0.0, M / safe[:, None])
    step = np.zeros_like(shift) if "means" in fixed else rate * shift
    left = shift - step  # zero in a full step
    if structure in DENSE:
        moved = shift[:, :, None] * shift[:, None, :] - left[:, :, None] * left[:, None, :]
        scatter = S - N[:, None, None] * moved
    else:
        scatter = S - N[:, None] * (shift**2 - left**2)
    covariances = model.covariances
    if "covariances" not in fixed:
        tied = structure.startswith("tied")
        covariances = structured(scatter, N if tied else safe, structure, reg)
        if lost.any() and not tied:
            covariances[lost] = model.covariances[lost]
    weights = model.weights if "weights" in fixed else N / N.sum()
    return Gaussians(weights, model.means + step, covariances)


def full_covariances(covariances: Array, structure: str, k: int, p: int) -> Array:
    """Any structure written out as (k, p, p).

    >>> full_covariances(np.array(2.0), "tied_spherical", 1, 2)
    array([[[2., 0.],
            [0., 2.]]])
    """
    if structure in DENSE:
        return np.array(np.broadcast_to(covariances, (k, p, p)))
    wide = covariances[:, None] if structure == "spherical" else covariances
    return np.broadcast_to(wide, (k, p))[:, :, None] * np.eye(p)


def draw_rows(
    weights: Array, means: Array, roots: Array, structure: str, n: int, rng: Rng
) -> tuple[Array, IntArray]:
    """n rows of a mixture and the component of each, ordered by component."""
    k, p = means.shape
    counts = rng.multinomial(n, weights / weights.sum())
    parts = []
    for j, count in enumerate(counts):
        z = rng.standard_normal((count, p))
        if structure in DENSE:
            U = roots[j] if structure == "full" else roots
            z = solve_triangular(U.T, z.T, lower=True).T if count else z
        else:
            z = z / (roots if structure.startswith("tied") else roots[j])
        parts.append(means[j] + z)
    return np.vstack(parts), np.repeat(np.arange(k), counts)

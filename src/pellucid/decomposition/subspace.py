r"""How far to trust a subspace found by PCA: resampling, and bounds that hold for new rows.

Stability    d directions V of all rows and V* of resampled ones: the cosines of their principal
             angles are the singular values of V V*'; the largest angle says how far it turned.
Projection   r_i = squared residual of a row NOT used in the fit, at most R^2 if |x - mean| <= R;
             by Hoeffding, with probability 1 - delta,
                 E r <= mean r_i + R^2 sqrt(ln(1/delta)/(2 n))
Spectrum     from the training rows alone (Shawe-Taylor et al.), with probability 1 - delta
                 E r <= min_{l <= d} [sum_{j>l} l_j + (1 + sqrt l)/sqrt n sqrt(2/n sum |x_i|^4)]
                        + R^2 sqrt(18/n ln(2 n/delta))
             with 1/n eigenvalues; usually loose. (It is stated for PCA about a fixed point; that
             the mean was estimated from the same rows is not accounted for.)

References: Shawe-Taylor, Williams, Cristianini & Kandola (2005), IEEE Trans. Inf. Theory 51, thm 1;
Hoeffding (1963); Daudin, Duby & Trecourt (1988).
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from pellucid.base import find_nonfinite
from pellucid.core.algebra.shifted import Shifted
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike, Rng, Seed
from pellucid.core.loops.statistics import Rows, Statistic, merge_moments, reduce_rows
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator, stream
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.decomposition.row_sums import leaf_moments
from pellucid.decomposition.spectrum import Spectrum, by_eigen, by_svd


@readable
class Stability(NamedTuple):
    """What resampling did to the directions and eigenvalues of PCA.

    >>> Stability(np.array([3.0, 40.0]), np.ones((2, 1))).angles.max()
    np.float64(40.0)
    """

    angles: Array  # (n_resamples,) largest principal angle to the full-data subspace, in degrees
    eigenvalues: Array  # (n_resamples, n_components) of the 1/n covariance


def largest_angle(V: Array, U: Array) -> float:
    """The largest principal angle, in degrees, between the spans of the orthonormal rows.

    Sine and cosine are both used, so that small and right angles are exact.

    >>> round(largest_angle(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]]) / 2**0.5), 9)
    45.0
    """
    cosine = np.linalg.svd(V @ U.T, compute_uv=False)[-1]
    sine = np.linalg.svd(U - (U @ V.T) @ V, compute_uv=False)[0]
    return float(np.degrees(np.arctan2(sine, cosine)))


def weighted_spectrum(X: Array, w: Array) -> Spectrum:
    """Directions of the rows with weights w (a row of weight 3 is three rows)."""
    n, p = X.shape
    if n >= p:
        total = reduce_rows(Statistic(leaf_moments, merge_moments), Rows(X, None, w), map)
        return by_eigen(total.scatter, p)
    mean = w @ X / w.sum()
    return by_svd(Shifted(X, mean, np.ones(p), w), n)


def draw_weights(n: int, resample: str, rng: Rng) -> Array:
    """How often every row is drawn."""
    if resample == "bootstrap":
        return np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)
    w = np.zeros(n)
    w[rng.permutation(n)[: max(2, n // 2)]] = 1.0
    return w


def subspace_stability(
    X: ArrayLike,
    n_components: int,
    *,
    n_resamples: int = 100,
    resample: str = "bootstrap",
    random_state: Seed = None,
) -> Stability:
    """How much the subspace of PCA turns when the rows are drawn again.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    n_components : int
        Dimension of the subspace.
    n_resamples : int, default=100
        How often the rows are drawn again.
    resample : {"bootstrap", "half"}, default="bootstrap"
        n rows with replacement, or a random half without.
    random_state : int, RandomState, Generator or None
        Seed of the random numbers.

    Returns
    -------
    Stability(angles, eigenvalues)
        Largest principal angle in degrees, and the leading 1/n eigenvalues, of every resample.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.decomposition import subspace_stability
    >>> X = np.random.default_rng(0).normal(size=(300, 3)) * [9.0, 1.0, 1.0]
    >>> one = subspace_stability(X, 1, random_state=0).angles
    >>> two = subspace_stability(X, 2, random_state=0).angles  # the second direction is anybody's
    >>> bool(one.max() < 3), bool(two.max() > 20)
    (True, True)
    """
    A = check_array(X, dtype=np.float64, order="C", ensure_all_finite=False)
    if (bad := find_nonfinite(A, allow_nan=False)) is not None:
        raise ValueError(f"X contains NaN or infinity (inf) in column {bad[1]}, row {bad[0]}")
    n, p = A.shape
    check.whole(n_components=n_components, n_resamples=n_resamples)
    check.one_of(("bootstrap", "half"), resample=resample)
    if n_components > min(n - 1, p):
        raise ValueError(f"n_components must be at most {min(n - 1, p)} here, got {n_components}")
    seed = int(generator(random_state).integers(2**62))
    with single_threaded_blas():
        whole = weighted_spectrum(A, np.ones(n)).V[:n_components]
        work = partial(_one_resample, A, whole, resample, seed)
        found = list(map_threads(work, range(n_resamples)))
    return Stability(np.array([a for a, _ in found]), np.array([v for _, v in found]))


def _one_resample(X: Array, V: Array, resample: str, seed: int, i: int) -> tuple[float, Array]:
    w = draw_weights(len(X), resample, stream(seed, i))
    kept = w > 0
    found = weighted_spectrum(np.ascontiguousarray(X[kept]), w[kept])
    d, (U, squares) = len(V), found[:2]
    values = np.zeros(d)
    values[: min(d, len(squares))] = squares[:d] / w.sum()
    return largest_angle(V, U[:d]) if len(U) >= d else 90.0, values


def hoeffding_bound(residuals: Array, radius: float, delta: float) -> float:
    """mean r + R^2 sqrt(ln(1/delta)/(2 n)).

    >>> round(hoeffding_bound(np.zeros(50), 1.0, np.exp(-1)), 9)
    0.1
    """
    slack = radius**2 * np.sqrt(np.log(1 / delta) / (2 * len(residuals)))
    return float(residuals.mean() + slack)


def spectral_bound(
    eigenvalues: Array, d: int, n: float, fourth: float, radius: float, delta: float
) -> float:
    """The bound from 1/n eigenvalues and fourth = sum |x_i|^4; see the module."""
    size = np.arange(1, d + 1)
    tail = eigenvalues.sum() - np.cumsum(eigenvalues)[:d]
    inside = tail + (1 + np.sqrt(size)) / np.sqrt(n) * np.sqrt(2 / n * fourth)
    return float(inside.min() + radius**2 * np.sqrt(18 / n * np.log(2 * n / delta)))

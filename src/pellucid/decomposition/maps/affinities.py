r"""How near rows are to each other, as probabilities.

    p_j|i = exp(-b_i d_ij) / sum over the neighbours of i,    d_ij = |x_i - x_j|^2
    b_i   such that the perplexity exp(H(p_.|i)) is the one asked for
    P     = (p_j|i + p_i|j) / 2n,  symmetric, of sum 1

The entropy H = log sum_j exp(-b v_j) + b E[v], v = d - min d, falls from log k to the log of the
number of nearest rows, with slope dH/dlog b = -b^2 Var[v]: Newton's method in log b inside a
bracket, to the last digits. v is divided by its mean, so the unit of the rows does not matter.
Where all weights are too few or the nearest rows too many for the perplexity, the limit is taken:
equal probabilities of all neighbours (b = 0), or of the nearest (b = infinity).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.metrics import pairwise_distances

from pellucid.compiled.distances import brute
from pellucid.compiled.distances.nearest import nearest, nearest_others
from pellucid.compiled.distances.search import LISTED
from pellucid.core.arrays.scale import is_extreme, scaled, unit_exponent
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions.kernels import squared_distances, squared_lengths
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads

CELLS = 1 << 21  # distances held at once: 16 MB
SPAN = 256  # rows a thread calibrates at a time
ROUNDS = 200  # of Newton and bisection: some eight are needed
ROUNDING = 4e-15  # of |a|^2 + |b|^2 - 2 a'b beside the squares, for sparse rows
CLOSE = 4e-16  # rounding of an entropy, beside 1

METRICS: tuple[str, ...] = ("euclidean", "l2", "manhattan", "cityblock", "l1")
METRICS += ("chebyshev", "minkowski", "cosine", "correlation", "canberra")
METRICS += ("braycurtis", "hamming", "jaccard", "dice", "rogerstanimoto")
METRICS += ("russellrao", "sokalsneath", "yule", "sqeuclidean", "seuclidean")
METRICS += ("mahalanobis", "haversine", "nan_euclidean", "precomputed")

Neighbours = tuple[Array, IntArray]  # squared distances, indices


@jit
def calibrate(D: Any, entropy: float, beta: Any, start: int, stop: int) -> None:
    """Turn rows of squared distances into probabilities of this entropy, in place.

    An infinite distance is a row that does not count. beta gets b, in 1/units of D.
    """
    k = D.shape[1]
    for i in range(start, stop):
        least, count = np.inf, 0
        for j in range(k):
            least = min(least, D[i, j])
            count += D[i, j] < np.inf
        ties, mean = 0, 0.0
        for j in range(k):
            ties += D[i, j] == least
            mean += (D[i, j] - least) / count if D[i, j] < np.inf else 0.0
        if entropy <= np.log(ties) or not entropy < np.log(count):
            limit = least if entropy <= np.log(ties) else np.finfo(np.float64).max
            size = ties if entropy <= np.log(ties) else count
            for j in range(k):
                D[i, j] = 1.0 / size if D[i, j] <= limit else 0.0
            beta[i] = np.inf if size < count else 0.0
            continue
        for j in range(k):
            D[i, j] = (D[i, j] - least) / mean
        b, low, high = 1.0, 0.0, np.inf
        for _ in range(ROUNDS):
            total = first = second = 0.0
            for j in range(k):
                v = D[i, j]
                if v < np.inf:
                    e = np.exp(-b * v)
                    total += e
                    first += e * v
                    second += e * v * v
            gap = np.log(total) + b * first / total - entropy
            slope = b * b * (second / total - (first / total) ** 2)
            if abs(gap) <= CLOSE * (1.0 + entropy):
                break
            if gap > 0:
                low = b
            else:
                high = b
            b *= np.exp(gap / slope) if slope > 0 else np.inf
            if not low < b < high:
                b = 2 * low if high == np.inf else high / 2 if low == 0 else np.sqrt(low * high)
                if b <= low or b >= high:
                    break
        total = 0.0
        for j in range(k):
            D[i, j] = np.exp(-b * D[i, j])
            total += D[i, j]
        for j in range(k):
            D[i, j] /= total
        beta[i] = b / mean


def conditional(D: Array, perplexity: float) -> tuple[Array, Array]:
    """(p_j|i, b_i) from squared distances (n, k), which are overwritten.

    >>> p, _ = conditional(np.array([[1.0, 2.0, 4.0, 8.0]]), 2.0)
    >>> float(np.exp(-(p * np.log(p)).sum()).round(12))
    2.0
    """
    beta = np.empty(len(D))

    def rows(start: int) -> None:
        calibrate(D, np.log(perplexity), beta, start, min(start + SPAN, len(D)))

    list(map_threads(rows, range(0, len(D), SPAN)))
    return D, beta


def joint(p: Array, index: IntArray) -> csr_array:
    """P from the conditional probabilities of listed neighbours."""
    n, k = p.shape
    C = csr_array((p.ravel(), index.ravel(), np.arange(n + 1) * k), shape=(n, n))
    P = csr_array((C + C.T) / (2 * n))
    P.eliminate_zeros()
    return P


def dense_joint(D: Array, perplexity: float) -> tuple[Array, Array]:
    """(P, b) with all rows as neighbours, from squared distances (n, n), which are overwritten."""
    np.fill_diagonal(D, np.inf)
    p, beta = conditional(D, perplexity)
    return (p + p.T) / (2 * len(p)), beta


class Metric(NamedTuple):
    """How rows are compared, as ``sklearn.metrics.pairwise_distances`` takes it."""

    name: Any
    params: dict[str, Any]

    @property
    def euclidean(self) -> bool:
        return self.name in ("euclidean", "l2") and not self.params

    def squares(self, X: Any, Z: Any = None) -> Array:
        """Squared distances of the rows of X to those of Z (None: of X)."""
        if self.name == "precomputed":
            D = np.array(X, dtype=np.float64)
        elif self.euclidean and not issparse(X):
            Z = X if Z is None else Z
            D = np.empty((len(X), len(Z)))
            columns = np.ascontiguousarray(Z.T)
            brute.direct_distances(columns, X, 0, len(X), 2, 2.0, D)
            return D
        elif self.euclidean:
            D, size = squared_distances(X, Z), squared_lengths(X)[:, None]
            D[ROUNDING * (size + (size.T if Z is None else squared_lengths(Z))) >= D] = 0.0
            return D
        else:
            D = np.array(pairwise_distances(X, Z, metric=self.name, **self.params), np.float64)
        if not np.isfinite(D).all():
            raise ValueError(f"metric={self.name!r} gave a distance that is not finite")
        if (D < 0).any():
            raise ValueError("All distances should be positive, the metric given is not correct")
        exponent = unit_exponent(D)
        return np.square(scaled(D, exponent) if is_extreme(exponent) else D, out=D)

    def neighbours(self, X: Any, Q: Any, k: int) -> Neighbours:
        """The k rows of X nearest to each row of Q; Q None: to each of X, itself left out.

        Of precomputed distances, Q (m, n) or X (n, n) holds them; a sparse X lists neighbours.
        """
        if self.euclidean and not issparse(X):
            return nearest_others(X, k) if Q is None else nearest(X, Q, k)
        if self.name == "precomputed" and issparse(X if Q is None else Q):
            return listed(X if Q is None else Q, k, own=Q is None)
        if self.name == "mahalanobis" and not {"V", "VI"} & set(self.params):
            raise ValueError("Must provide either V or VI for Mahalanobis distance")
        rows = X if Q is None else Q
        m = rows.shape[0]
        out, index = np.empty((m, k)), np.zeros((m, k), np.int64)
        step = max(1, CELLS // X.shape[0])
        for a in range(0, m, step):
            D = self.squares(rows[a : a + step], X)
            if Q is None:
                D[np.arange(len(D)), a + np.arange(len(D))] = np.inf
            if k > LISTED:
                index[a : a + step] = np.argsort(D, axis=1, kind="stable")[:, :k]
                out[a : a + step] = np.take_along_axis(D, index[a : a + step], axis=1)
            else:
                brute.smallest_of_rows(D, out[a : a + step], index[a : a + step])
        return out, index


def metric_of(name: Any, params: dict[str, Any] | None) -> Metric:
    """The metric; the covariance V of Mahalanobis' distance may stand for its inverse VI."""
    params = dict(params or {})
    if name == "mahalanobis" and "V" in params:
        params["VI"] = np.linalg.inv(params.pop("V"))
    return Metric(name, params)


def listed(graph: Any, k: int, own: bool) -> Neighbours:
    """The k nearest of the distances that a sparse matrix holds; ``own``: not of the row itself."""
    stored = graph.tocoo()
    row, column, value = stored.row, stored.col, stored.data
    if own:
        row, column, value = (a[stored.row != stored.col] for a in (row, column, value))
    counts = np.bincount(row, minlength=graph.shape[0])
    if counts.min() < k:
        raise ValueError(
            f"{k + own} neighbors per samples are required, but some samples have only "
            f"{counts.min() + own} neighbors in precomputed graph matrix. Decrease number of "
            "neighbors used or recompute the graph with more neighbors."
        )
    order = np.lexsort((column, value, row))
    first = np.append(0, np.cumsum(counts))[:-1, None] + np.arange(k)
    return np.square(value[order][first]), column[order][first].astype(np.int64)

r"""Hash functions under which near rows agree more often than far ones.

    cosine     sign(a'x), a ~ N(0, I)                 P(equal) = 1 - angle / pi
    euclidean  floor((a'x + c) / w), a ~ N(0, I)      p-stable; manhattan: a ~ Cauchy
               (the normal directions of a table are at right angles to each other)
    jaccard    least rank of the true coordinates      P(equal) = similarity  (min-hash)
    hamming    the value of a random coordinate        P(equal) = similarity  (bit sampling)

A table joins b of them to one key. One table finds a row with probability p^b, one of L with
1 - (1 - p^b)^L: an S-curve in p.

**Probes.** A neighbour that is not in the query's own bucket is most likely in one that lies over
the nearest wall. Let z_1 <= z_2 <= ... be the distances of the query to the walls of its bucket;
buckets are looked at by rising sum of z_j^2 over the walls that are crossed. The order of the
sums is taken from the expectations E[z_j^2] of walls spread evenly, so the list of sets of steps
is the same for all queries and only the walls are sorted for each.

References: Indyk & Motwani (1998); Broder (1997); Charikar (2002); Datar et al. (2004); Lv,
Josephson, Wang, Charikar & Li (2007); Ji, Li, Yan, Zhang & Tian (2012).
"""

from functools import lru_cache
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pellucid.compiled.distances.packing import over
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray, Rng
from pellucid.core.runtime.threads import thread_count
from pellucid.neighbors.search.hash_kernels import mix_keys, probe_keys
from pellucid.neighbors.search.metrics import Metric

FAMILIES = ("cosine", "euclidean", "manhattan", "jaccard", "hamming")
ROWS = 64  # rows of a product
FEW = 256  # rows below which threads cost more than they save
AT_ONCE = 1 << 14  # rows whose projections are held at once, a multiple of ROWS
OWN_BUCKET = np.empty((1, 0), np.int64)  # the steps of a row that looks in its own bucket only


class Hashes(NamedTuple):
    """The functions that were drawn, n_bits of them for each table."""

    family: str
    n_tables: int
    directions: Array  # (d, functions) planes, lines or ranks of min-hash; (functions,) coordinates
    shifts: Array  # (functions,) of the lines
    factors: Any  # (functions,) odd, uint64: what a code adds to its key
    width: float


def draw_hashes(family: str, n_tables: int, n_bits: int, d: int, width: float, rng: Rng) -> Hashes:
    """Functions of one family.

    >>> draw_hashes("cosine", 2, 3, 4, 1.0, np.random.default_rng(0)).directions.shape
    (4, 6)
    """
    count = n_tables * n_bits
    shifts = np.zeros(count)
    if family == "jaccard":
        drawn = np.argsort(rng.random((count, d)), axis=1).argsort(axis=1).T.astype(np.float64)
    elif family == "hamming":
        drawn = rng.integers(d, size=count).astype(np.float64)
    elif family == "manhattan":
        drawn = rng.standard_cauchy((d, count))
    else:
        drawn = upright(rng.standard_normal((d, count)), n_bits)
    if family in ("euclidean", "manhattan"):
        shifts = rng.random(count)
    factors = rng.integers(2**64, size=count, dtype=np.uint64) | np.uint64(1)
    return Hashes(family, n_tables, drawn, shifts, factors, width)


def upright(A: Array, n_bits: int) -> Array:
    """Normal directions (d, functions), turned at right angles to each other within a table.

    Each one by itself stays N(0, I), so the chance that one function agrees is the same; together
    they see more of a row than directions that overlap. Of more than d, every d are.

    >>> A = upright(np.array([[1.0, 1.0], [0.0, 1.0]]), 2)
    >>> np.abs(A).round(3)
    array([[1.   , 0.   ],
           [0.   , 1.414]])
    """
    d, count = A.shape
    out = np.empty_like(A)
    for first in range(0, count, n_bits):
        for a in range(first, first + n_bits, d):
            part = slice(a, min(a + d, first + n_bits))
            Q, R = np.linalg.qr(A[:, part])
            out[:, part] = Q * np.sign(np.diag(R)) * np.linalg.norm(A[:, part], axis=0)
    return out


def projections(X: Array, D: Array) -> Array:
    """X @ D by products of one shape, so that equal rows get equal values wherever they stand."""
    n, d = X.shape
    whole = n - n % ROWS
    out = np.empty((-(-n // ROWS), ROWS, D.shape[1]))
    last = np.zeros((1, ROWS, d))
    last[0, : n - whole] = X[whole:]
    blocks = X[:whole].reshape(-1, ROWS, d)
    step = max(1, 1 + len(blocks) // (4 * thread_count()))

    def part(start: int) -> None:
        stop = min(start + step, len(blocks))
        np.matmul(blocks[start:stop], D, out=out[start:stop])

    over(part, range(0, len(blocks), step))
    if n > whole:
        np.matmul(last, D, out=out[len(blocks) :])
    return out.reshape(-1, D.shape[1])[:n]


def raw_values(hashes: Hashes, X: Array) -> Any:
    """What the functions see of each row: (n, functions), the same for every bucket width."""
    if hashes.family == "jaccard":
        d = X.shape[1]
        true = X != 0
        ranks = [np.where(true, rank, d).min(axis=1) for rank in hashes.directions.T]
        return np.column_stack(ranks).astype(np.int64)
    if hashes.family == "hamming":
        chosen = X[:, hashes.directions.astype(np.int64)] + 0.0  # -0 and 0 are equal
        return np.ascontiguousarray(chosen).view(np.int64)
    return projections(np.require(X, np.float64, ["C", "W"]), hashes.directions)


def wanted_keys(hashes: Hashes, raw: NDArray[Any], moves: IntArray, a: int, b: int) -> Any:
    """Keys of the buckets in which rows a to b are looked for: (b - a, tables, probes)."""
    out = np.empty((b - a, hashes.n_tables, len(moves)), np.uint64)
    if raw.dtype.kind != "f":
        mix_keys(raw[a:b], out)
        return out
    width = 0.0 if hashes.family == "cosine" else hashes.width
    probe_keys(raw, hashes.shifts, width, hashes.factors, moves, a, b, out)
    return out


def table_keys(hashes: Hashes, X: Array) -> Any:
    """One key per table and row: (tables, n). Different values may share one, which costs time.

    >>> drawn = draw_hashes("cosine", 2, 3, 4, 1.0, np.random.default_rng(0))
    >>> table_keys(drawn, np.eye(4)).shape
    (2, 4)
    """
    n = len(X)
    keys = np.empty((hashes.n_tables, n), np.uint64)
    for first in range(0, n, AT_ONCE):
        raw = raw_values(hashes, X[first : first + AT_ONCE])
        step = max(FEW, -(-len(raw) // (4 * thread_count())))

        def part(a: int, raw: NDArray[Any] = raw, first: int = first, step: int = step) -> None:
            b = min(a + step, len(raw))
            own = wanted_keys(hashes, raw, OWN_BUCKET, a, b)
            keys[:, first + a : first + b] = own[:, :, 0].T

        over(part, range(0, len(raw), step))
    return keys


def expected_squares(n_bits: int, two_sided: bool) -> list[float]:
    """E[z_j^2] of the j-th nearest of 2 b walls (b walls of hyperplanes), the width being 1."""
    m = n_bits
    near = [j * (j + 1) / (4 * (m + 1) * (m + 2)) for j in range(1, m + 1)]
    if not two_sided:
        return near
    mean = [j / (2 * (m + 1)) for j in range(m, 0, -1)]  # 1 - z of the walls beyond
    return near + [1 - 2 * e + s for e, s in zip(mean, reversed(near), strict=True)]


@lru_cache(maxsize=32)
def probe_moves(n_bits: int, n_probes: int, two_sided: bool = True) -> IntArray:
    """Sets of steps by rising expected sum of squares: (probes, most), filled up with -1.

    Each set follows from a cheaper one: its last step is moved to the next wall, or the next wall
    is crossed as well (Lv et al. 2007). Both walls of one function are never crossed.

    >>> probe_moves(4, 5)
    array([[-1, -1],
           [ 0, -1],
           [ 1, -1],
           [ 0,  1],
           [ 2, -1]])
    """
    costs = expected_squares(n_bits, two_sided)
    sets: list[tuple[int, ...]] = [()]
    heap: list[tuple[float, tuple[int, ...]]] = [(costs[0], (0,))]
    while heap and len(sets) < n_probes:
        cost, steps = heappop(heap)
        if not two_sided or len({min(j, 2 * n_bits - 1 - j) for j in steps}) == len(steps):
            sets.append(steps)
        last = steps[-1]
        if last + 1 < len(costs):
            heappush(heap, (cost - costs[last] + costs[last + 1], (*steps[:-1], last + 1)))
            heappush(heap, (cost + costs[last + 1], (*steps, last + 1)))
    most = max(len(steps) for steps in sets)
    moves = np.full((len(sets), most), -1, np.int64)
    for row, steps in zip(moves, sets, strict=True):
        row[: len(steps)] = steps
    return moves


def collision_probability(
    similarity: float, n_bits: int, n_tables: int, *, family: str = "cosine"
) -> float:
    """The probability that two rows share a bucket in at least one table.

    Parameters
    ----------
    similarity : float
        Cosine in [-1, 1]; of jaccard and hamming the share in [0, 1].
    n_bits, n_tables : int
        Hash functions per table; tables.
    family : {'cosine', 'jaccard', 'hamming'}, default='cosine'
        Which kind of hash functions.

    Returns
    -------
    float
        1 - (1 - p^n_bits)^n_tables, p = 1 - arccos(s) / pi or s.

    Examples
    --------
    >>> from pellucid.neighbors import collision_probability
    >>> round(collision_probability(0.5, 4, 5), 10)
    0.6672318986
    """
    check.one_of(("cosine", "jaccard", "hamming"), family=family)
    check.whole(n_bits=n_bits, n_tables=n_tables)
    check.finite(similarity=similarity)
    low = -1.0 if family == "cosine" else 0.0
    if not low <= similarity <= 1.0:
        raise ValueError(f"similarity must be between {low:g} and 1, got {similarity!r}")
    p = 1 - np.arccos(similarity) / np.pi if family == "cosine" else similarity
    return float(-np.expm1(n_tables * np.log1p(-(p**n_bits)))) if p < 1 else 1.0


def family_of(metric: Metric) -> str:
    """The family that serves a metric, or a refusal."""
    name = {1.0: "manhattan", 2.0: "euclidean"}.get(metric.order or 0.0, metric.name)
    name = "cosine" if metric.directions else name
    if name not in FAMILIES:
        known = ", ".join(FAMILIES)
        raise ValueError(f"LSHIndex has no hash for metric={metric.name!r}; it has {known}")
    return name

r"""Locality-sensitive hashing: near rows share a bucket more often than far ones.

Each of L tables hashes a row by b functions drawn at random; rows with equal keys share a bucket.
A query looks only at its own buckets and ranks what it finds there exactly.

    cosine     sign(a'x), a ~ N(0, I)                 P(equal) = 1 - angle / pi
    euclidean  floor((a'x + c) / w), a ~ N(0, I)      p-stable; manhattan: a ~ Cauchy
    jaccard    least rank of the true coordinates      P(equal) = similarity  (min-hash)
    hamming    the value of a random coordinate        P(equal) = similarity  (bit sampling)

One table finds a row with probability p^b, one of L with 1 - (1 - p^b)^L: an S-curve in p.
``bucket_width=None`` starts w at the median distance to the nearest row and doubles it until the
sampled recall of ten neighbours is 0.9; between the last two widths the narrowest of 16 that still
serves is taken. This needs the keys of the sample and its neighbours only; the tables are built
once. Where the buckets hold fewer than k rows, all are searched.

References: Indyk & Motwani (1998); Broder (1997); Charikar (2002); Datar et al. (2004).
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.compiled.neighbours_hash import bucket_bounds, bucket_nearest, line_keys, mix_keys
from pellucid.core import check
from pellucid.core.random import generator
from pellucid.core.threads import map_threads, thread_count
from pellucid.core.typing import Array, IntArray, Rng
from pellucid.neighbors.metrics import Metric, resolve
from pellucid.neighbors.packing import over
from pellucid.neighbors.search import Index
from pellucid.neighbors.similarities import matrix

FAMILIES = ("cosine", "euclidean", "manhattan", "jaccard", "hamming")
SAMPLE = 200  # rows whose neighbours are looked up to measure the recall
RECALL = 0.9
NEIGHBOURS = 10
ROWS = 64  # rows of a product
HALVINGS = 4  # of the last step, on the scale of logarithms
FEW = 256  # rows below which threads cost more than they save


class Hashes(NamedTuple):
    """The functions that were drawn, n_bits of them for each table."""

    family: str
    n_tables: int
    directions: (
        Array  # (d, functions): planes or lines; ranks of min-hash; coordinates (functions,)
    )
    shifts: Array  # (functions,) of the lines
    width: float


def draw_hashes(family: str, n_tables: int, n_bits: int, d: int, width: float, rng: Rng) -> Hashes:
    """Functions of one family.

    >>> draw_hashes("cosine", 2, 3, 4, 1.0, generator(0)).directions.shape
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
        drawn = rng.standard_normal((d, count))
    if family in ("euclidean", "manhattan"):
        shifts = rng.random(count)
    return Hashes(family, n_tables, drawn, shifts, width)


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
        return chosen.view(np.int64)
    return projections(np.require(X, np.float64, ["C", "W"]), hashes.directions)


def bucket_keys(hashes: Hashes, raw: Any) -> Any:
    """One key per table and row: (tables, n). Different values may share one, which costs time."""
    keys = np.empty((hashes.n_tables, len(raw)), np.uint64)
    if raw.dtype.kind != "f":
        mix_keys(np.ascontiguousarray(raw), hashes.n_tables, keys)
        return keys
    width = 0.0 if hashes.family == "cosine" else hashes.width
    step = max(FEW, -(-len(raw) // (4 * thread_count())))

    def part(start: int) -> None:
        stop = min(start + step, len(raw))
        line_keys(raw, hashes.shifts, width, hashes.n_tables, start, stop, keys)

    over(part, range(0, len(raw), step))
    return keys


def table_keys(hashes: Hashes, X: Array) -> Any:
    """The keys of rows.

    >>> table_keys(draw_hashes("cosine", 2, 3, 4, 1.0, generator(0)), np.eye(4)).shape
    (2, 4)
    """
    return bucket_keys(hashes, raw_values(hashes, X))


def shared_bucket(mine: Any, near: Any) -> Array:
    """Whether each row and each of its neighbours meet in some table: (sample, k).

    A neighbour that meets is found, since what lies in the buckets is ranked exactly.

    >>> shared_bucket(np.array([[1, 2]]), np.array([[1, 3, 2, 2]]))
    array([[ True, False],
           [ True,  True]])
    """
    n_tables, m = mine.shape
    return (mine[:, :, None] == near.reshape(n_tables, m, -1)).any(axis=0)


def narrowed(recall: Callable[[float], float], width: float, reached: float) -> tuple[float, float]:
    """A width between half of this one and itself that still serves, and its recall.

    Narrower buckets hold fewer rows to look at.

    >>> narrowed(lambda width: width / 10, 16.0, 1.6)[0] < 10
    True
    """
    low = 0.5 * width
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * width))
        found = recall(middle)
        if found >= RECALL:
            width, reached = middle, found
        else:
            low = middle
    return width, reached


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
        raise ValueError(
            f"LSHIndex has no hash for metric={metric.name!r}; it has {', '.join(FAMILIES)}"
        )
    return name


class LSHIndex(BaseEstimator):
    """Approximate search by locality-sensitive hashing; also a value for ``algorithm=``.

    Parameters
    ----------
    n_tables : int, default=10
        More tables find more neighbours and cost more.
    n_bits : int, default=12
        Hash functions per table; more make smaller buckets.
    family : {'auto', 'cosine', 'euclidean', 'manhattan', 'jaccard', 'hamming'}, default='auto'
        'auto': by the metric of the model; alone, euclidean.
    bucket_width : float, default=None
        Of euclidean and manhattan, ``> 0``; None: found by the sampled recall.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    recall_ : float
        Share of the ten nearest neighbours found, of a sample of the training rows.
    bucket_width_ : float
    widths_, recalls_ : the widths of the doubling and their recalls

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.neighbors import LSHIndex
    >>> X = np.random.default_rng(0).normal(size=(500, 5))
    >>> index = LSHIndex(random_state=0).fit(X)
    >>> distance, row = index.query(X[:2], 1)
    >>> row.ravel().tolist(), index.recall_ >= 0.9
    ([0, 1], True)
    """

    def __init__(
        self,
        n_tables: int = 10,
        n_bits: int = 12,
        *,
        family: str = "auto",
        bucket_width: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_tables = n_tables
        self.n_bits = n_bits
        self.family = family
        self.bucket_width = bucket_width
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        X = matrix(X, "X")
        check.one_of(("auto", *FAMILIES), family=self.family)
        name = "euclidean" if self.family == "auto" else self.family
        return self._fit(X, resolve(name, X), generator(self.random_state))

    def _for_model(self, X: Any, metric: Metric, seed: int) -> "LSHIndex":
        """A fitted copy for a model's rows and metric; ``seed`` was drawn when it was fitted."""
        index = LSHIndex(
            self.n_tables, self.n_bits, family=self.family, bucket_width=self.bucket_width
        )
        return index._fit(X, metric, generator(seed))

    def _fit(self, X: Array, metric: Metric, rng: Rng) -> Self:
        check.whole(n_tables=self.n_tables, n_bits=self.n_bits)
        check.one_of(("auto", *FAMILIES), family=self.family)
        if self.bucket_width is not None:
            check.positive(bucket_width=self.bucket_width)
        if not isinstance(X, np.ndarray):
            raise ValueError("LSHIndex needs dense rows, got a sparse matrix")
        served = family_of(metric)
        if self.family not in ("auto", served):
            raise ValueError(
                f"family={self.family!r} does not serve metric={metric.name!r}, which needs "
                f"{served!r}"
            )
        self._exact = Index(X, metric, "brute")
        self._family = served
        self._choose_width(int(rng.integers(2**62)))
        return self

    def _choose_width(self, seed: int) -> None:
        """Draw the functions; where the width is open, double it until the recall is enough."""
        rows = self._exact.rows
        sample = generator(seed).permutation(len(rows))[:SAMPLE]
        k = min(NEIGHBOURS + 1, len(rows))
        distance, truth = self._exact_of(sample, k)
        open_ = self._family in ("euclidean", "manhattan") and self.bucket_width is None
        nearest = distance[:, min(1, k - 1)]
        start = float(np.median(nearest[nearest > 0])) if (nearest > 0).any() else 1.0
        width = start if open_ else float(self.bucket_width or 1.0)
        drawn = draw_hashes(
            self._family, self.n_tables, self.n_bits, rows.shape[1], 1.0, generator(seed)
        )
        mine, near = (raw_values(drawn, rows[which]) for which in (sample, truth.ravel()))
        others = truth != sample[:, None]  # a row is not asked to find itself

        def recall(width: float) -> float:
            hashes = drawn._replace(width=width)
            met = shared_bucket(bucket_keys(hashes, mine), bucket_keys(hashes, near))
            return float(met[others].mean()) if others.any() else 1.0

        self.widths_, self.recalls_ = [width], [recall(width)]
        while open_ and self.recalls_[-1] < RECALL and len(self.widths_) <= 200:
            width *= 2
            self.widths_.append(width)
            self.recalls_.append(recall(width))
        self.recall_ = self.recalls_[-1]
        if open_ and len(self.widths_) > 1:
            width, self.recall_ = narrowed(recall, width, self.recall_)
        hashes = drawn._replace(width=width)
        self._build(hashes, raw_values(drawn, rows))
        self.bucket_width_ = width

    def _exact_of(self, sample: IntArray, k: int) -> tuple[Array, IntArray]:
        """The truth for some training rows, in the mapped space or by the metric itself."""
        metric = self._exact.metric
        rows = self._exact.rows
        if metric.order is None:
            return self._exact.nearest(rows[sample], k)
        plain = Metric("plain", metric.order, None, 1.0 / metric.order)
        return Index(rows, plain, "brute").nearest(rows[sample], k)

    def _build(self, hashes: Hashes, raw: Any) -> None:
        """Sort the rows of every table by their keys; ``_starts`` by the leading bits of a key."""
        self._hashes = hashes
        keys = bucket_keys(hashes, raw)
        n = keys.shape[1]
        bits = max(1, min(20, int(n).bit_length()))
        self._shift = np.uint64(64 - bits)
        self._order, self._keys = np.empty(keys.shape, np.int64), np.empty_like(keys)
        self._starts = np.zeros((len(keys), 2**bits + 1), np.int64)

        def sort(table: int) -> None:
            order = np.argsort(keys[table])
            self._order[table], self._keys[table] = order, keys[table][order]
            heads = (self._keys[table] >> self._shift).astype(np.int64)
            np.cumsum(np.bincount(heads, minlength=2**bits), out=self._starts[table, 1:])

        if n > FEW:
            list(map_threads(sort, range(len(keys))))
        else:
            for table in range(len(keys)):
                sort(table)

    def _candidates(self, E: Array, k: int) -> tuple[Array, IntArray, IntArray]:
        """Reduced distances, rows and numbers of candidates of mapped queries."""
        keys = table_keys(self._hashes, E)
        m = len(E)
        out, index = np.empty((m, k)), np.empty((m, k), np.int64)
        found = np.zeros(m, np.int64)
        low, high = np.empty((m, len(keys)), np.int64), np.empty((m, len(keys)), np.int64)
        special = {"hamming": 4, "jaccard": 5}
        kind, p = (special[self._family], 1.0) if self._family in special else self._exact.kind
        rows = self._exact.rows

        def rank(start: int) -> None:
            stop = min(start + step, m)
            bucket_bounds(self._keys, self._starts, self._shift, keys, start, stop, low, high)
            bucket_nearest(rows, E, self._order, low, high, kind, p, start, stop, out, index, found)

        step = max(16, -(-m // (4 * thread_count())))
        over(rank, range(0, m, step))
        return out, index, found

    def query(self, X: Any, k: int) -> tuple[Array, IntArray]:
        """Distances and indices of k near rows, nearest first; most are the nearest."""
        check_is_fitted(self, "recall_")
        X = matrix(X, "X")
        d = self._exact.rows.shape[1] - self._exact.extra
        if self._exact.metric.embed is None and X.shape[1] != d:
            raise ValueError(f"X has {X.shape[1]} columns, the index {d}")
        check.whole(k=k)
        if k > self._exact.n_rows:
            raise ValueError(f"k must be at most {self._exact.n_rows}, the number of rows, got {k}")
        return self.nearest(X, k)

    def nearest(self, Q: Array, k: int) -> tuple[Array, IntArray]:
        """The same for rows that were checked."""
        metric = self._exact.metric
        E, zero = (Q, None) if metric.order is None else self._exact._embed_queries(Q)
        out, index, found = self._candidates(np.ascontiguousarray(E), k)
        distance = out if metric.order is None else metric.finish(out)
        few = found < k
        if zero is not None:
            few |= zero
        if few.any():
            distance[few], index[few] = self._exact.nearest(Q[few], k)
        return distance, index

    def within(self, Q: Array, radius: Array) -> Any:
        """All rows within a radius: exact, by looking at all."""
        return self._exact.within(Q, radius)

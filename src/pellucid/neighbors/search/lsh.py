r"""Locality-sensitive hashing: near rows share a bucket more often than far ones.

Each of L tables hashes a row by b functions drawn at random (``hashing``); rows with equal keys
share a bucket. A query looks in its own bucket of each table and in those over the nearest walls
(probes), and ranks what it finds there exactly.

``bucket_width=None`` starts w at the median distance to the nearest row and doubles it until the
sampled recall of ten neighbours is 0.9; between the last two widths the narrowest of 16 that still
serves is taken. With a width that is given, or none, the number of probes is doubled in its place.
This needs the keys of the sample and its neighbours only; the tables are built once. Where the
buckets hold fewer than k rows, all are searched.

Probes let few tables do: at equal recall narrow buckets around the query hold fewer rows than one
wide bucket in each of many tables. The functions are drawn without a look at the rows, which is
what the theory needs; indexes that are fitted to the rows (graphs of neighbours such as HNSW, lists
around centres) look at fewer rows for the same recall.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from pellucid.compiled.distances.packing import over
from pellucid.compiled.distances.search import Index
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Rng, Seed
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, thread_count
from pellucid.neighbors.search.hash_kernels import bucket_nearest, file_rows, meetings
from pellucid.neighbors.search.hashing import (
    AT_ONCE,
    FAMILIES,
    FEW,
    OWN_BUCKET,
    Hashes,
    collision_probability,
    draw_hashes,
    family_of,
    probe_moves,
    raw_values,
    table_keys,
    wanted_keys,
)
from pellucid.neighbors.search.metrics import Metric, resolve
from pellucid.neighbors.search.similarities import matrix

__all__ = ["LSHIndex", "collision_probability"]

SAMPLE = 200  # rows whose neighbours are looked up to measure the recall
RECALL = 0.9
NEIGHBOURS = 10
HALVINGS = 4  # of the last step, on the scale of logarithms
PROBES = 64  # buckets of a table that a query looks in, where the width is open
MOST_PROBES = 128  # where it is not
DOUBLINGS = 200
MOST_HASHES = 1 << 18  # functions, or buckets of a query, that a file may ask for
KEYS = 1 << 22  # of probes, held at once by a thread


class Sample(NamedTuple):
    """Rows, their true neighbours, and which of these are not the row itself."""

    mine: Any  # what the functions see of the rows: (m, functions)
    near: Any  # and of their neighbours: (m k, functions)
    others: Any  # (m, k)


def sampled_recall(sample: Sample, hashes: Hashes, moves: IntArray) -> float:
    """The share of the neighbours that lie in a bucket which the row looks in.

    They are found, since what lies in the buckets is ranked exactly.
    """
    if not sample.others.any():
        return 1.0
    wanted = wanted_keys(hashes, sample.mine, moves, 0, len(sample.mine))
    near = wanted_keys(hashes, sample.near, OWN_BUCKET, 0, len(sample.near))
    met = np.empty(sample.others.shape, np.bool_)
    meetings(wanted, near, met)
    return float(met[sample.others].mean())


class Doubling(NamedTuple):
    """The widths tried with their recalls, and the one taken."""

    tried: list[float]
    recalls: list[float]
    taken: float
    recall: float


def doubled(recall: Callable[[float], float], start: float) -> Doubling:
    """Double the width until the recall is enough, then narrow it as far as it stays enough.

    Narrower buckets hold fewer rows to look at.

    >>> doubled(lambda width: width / 10, 1.0).tried
    [1.0, 2.0, 4.0, 8.0, 16.0]
    >>> 9 <= doubled(lambda width: width / 10, 1.0).taken < 10
    True
    """
    tried, recalls = [start], [recall(start)]
    while recalls[-1] < RECALL and len(tried) <= DOUBLINGS:
        tried.append(2 * tried[-1])
        recalls.append(recall(tried[-1]))
    width, reached = tried[-1], recalls[-1]
    low = 0.5 * width if len(tried) > 1 else width
    for _ in range(HALVINGS if len(tried) > 1 else 0):
        middle = float(np.sqrt(low * width))
        found = recall(middle)
        if found >= RECALL:
            width, reached = middle, found
        else:
            low = middle
    return Doubling(tried, recalls, width, reached)


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
        Draws the hash functions and the sample.
    n_probes : int, default=None
        Buckets of each table in which a query looks, its own and those over the nearest walls;
        1 is the plain method. None: 64 where the width is found, else as many as the sampled
        recall needs, at most 128. Jaccard and hamming know no nearest walls: they look in one.

    Attributes
    ----------
    recall_ : float
        Share of the ten nearest neighbours found, of a sample of the training rows.
    bucket_width_ : float
    n_probes_ : int
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
        random_state: Seed = None,
        n_probes: int | None = None,
    ) -> None:
        self.n_tables = n_tables
        self.n_bits = n_bits
        self.family = family
        self.bucket_width = bucket_width
        self.random_state = random_state
        self.n_probes = n_probes

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Draw the hash functions and file the rows; ``y`` is ignored."""
        X = matrix(X, "X")
        check.one_of(("auto", *FAMILIES), family=self.family)
        name = "euclidean" if self.family == "auto" else self.family
        return self._fit(X, resolve(name, X), generator(self.random_state))

    def _for_model(self, X: np.ndarray, metric: Metric, seed: int) -> "LSHIndex":
        """A fitted copy for a model's rows and metric; ``seed`` was drawn when it was fitted."""
        copy = LSHIndex(**{**self.get_params(), "random_state": None})
        return copy._fit(X, metric, generator(seed))

    def _fit(self, X: Array, metric: Metric, rng: Rng) -> Self:
        check.whole(n_tables=self.n_tables, n_bits=self.n_bits)
        check.one_of(("auto", *FAMILIES), family=self.family)
        if self.bucket_width is not None:
            check.positive(bucket_width=self.bucket_width)
        if self.n_probes is not None:
            check.whole(n_probes=self.n_probes)
        if not isinstance(X, np.ndarray):
            raise ValueError("LSHIndex needs dense rows, got a sparse matrix")
        served = family_of(metric)
        if self.family not in ("auto", served):
            needs = f"metric={metric.name!r}, which needs {served!r}"
            raise ValueError(f"family={self.family!r} does not serve {needs}")
        self._exact = Index(X, metric, "brute")
        self._family = served
        self._settle(int(rng.integers(2**62)))
        return self

    def _check_state(self) -> None:
        """Check settings read from a file: a model makes its tables again from them."""
        check.whole(n_tables=self.n_tables, n_bits=self.n_bits)
        sizes = [self.n_bits]
        if self.n_probes is not None:
            check.whole(n_probes=self.n_probes)
            sizes.append(self.n_probes)
        if self.n_tables * max(sizes) > MOST_HASHES:
            raise ValueError(f"n_tables times n_bits or n_probes must be at most {MOST_HASHES}")

    def _settle(self, seed: int) -> None:
        """Draw the functions, find width and probes by the recall of a sample, fill the tables."""
        rows = self._exact.rows
        chosen = generator(seed).permutation(len(rows))[:SAMPLE]
        k = min(NEIGHBOURS + 1, len(rows))
        distance, truth = self._exact_of(chosen, k)
        sizes = self.n_tables, self.n_bits, rows.shape[1]
        drawn = draw_hashes(self._family, *sizes, 1.0, generator(seed))
        mine, near = (raw_values(drawn, rows[which]) for which in (chosen, truth.ravel()))
        sample = Sample(mine, near, truth != chosen[:, None])  # a row need not find itself
        if self._family in ("euclidean", "manhattan") and self.bucket_width is None:
            nearest = distance[:, min(1, k - 1)]
            start = float(np.median(nearest[nearest > 0])) if (nearest > 0).any() else 1.0
            self._settle_width(sample, drawn, start)
        else:
            self._settle_probes(sample, drawn._replace(width=float(self.bucket_width or 1.0)))
        self.bucket_width_, self.n_probes_ = self._hashes.width, len(self._moves)
        self._build()

    def _settle_width(self, sample: Sample, drawn: Hashes, start: float) -> None:
        moves = probe_moves(self.n_bits, self.n_probes or PROBES)
        found = doubled(lambda w: sampled_recall(sample, drawn._replace(width=w), moves), start)
        self._hashes, self._moves = drawn._replace(width=found.taken), moves
        self.widths_, self.recalls_, self.recall_ = found.tried, found.recalls, found.recall

    def _settle_probes(self, sample: Sample, hashes: Hashes) -> None:
        two_sided = self._family != "cosine"
        walls = self._family not in ("jaccard", "hamming")
        most = (self.n_probes or MOST_PROBES) if walls else 1
        count = self.n_probes or 1
        while True:
            moves = probe_moves(self.n_bits, min(count, most), two_sided)
            self.recall_ = sampled_recall(sample, hashes, moves)
            if self.recall_ >= RECALL or count >= most:
                break
            count *= 2
        self._hashes, self._moves = hashes, moves
        self.widths_, self.recalls_ = [hashes.width], [self.recall_]

    def _exact_of(self, sample: IntArray, k: int) -> tuple[Array, IntArray]:
        """The truth for some training rows, in the mapped space or by the metric itself."""
        metric, rows = self._exact.metric, self._exact.rows
        if metric.order is None:
            return self._exact.nearest(rows[sample], k)
        plain = Metric("plain", metric.order, None, 1.0 / metric.order)
        return Index(rows, plain, "brute").nearest(rows[sample], k)

    def _build(self) -> None:
        """File the rows of every table by the leading bits of their keys."""
        keys = table_keys(self._hashes, self._exact.rows)
        n = keys.shape[1]
        bits = min(22, int(n).bit_length() + 1)
        self._shift = np.uint64(64 - bits)
        self._order, self._keys = np.empty(keys.shape, np.int32), np.empty_like(keys)
        self._starts = np.zeros((len(keys), 2**bits + 1), np.int32)

        def file(table: int) -> None:
            filed = self._starts[table], self._order[table], self._keys[table]
            file_rows(keys[table], self._shift, *filed)

        list((map_threads if n > FEW else map)(file, range(len(keys))))

    def _candidates(self, E: Array, k: int) -> tuple[Array, IntArray, IntArray]:
        """Reduced distances, rows and numbers of candidates of mapped queries."""
        m, n_tables = len(E), len(self._keys)
        out, index = np.empty((m, k)), np.empty((m, k), np.int64)
        found = np.zeros(m, np.int64)
        special = {"hamming": 4, "jaccard": 5}
        kind, p = (special[self._family], 1.0) if self._family in special else self._exact.kind
        tables = (self._order, self._keys, self._starts, self._shift)
        step = max(16, -(-min(m, AT_ONCE) // (4 * thread_count())))
        step = min(step, max(1, KEYS // (n_tables * self.n_probes_)))
        for first in range(0, m, AT_ONCE):
            raw = raw_values(self._hashes, E[first : first + AT_ONCE])

            def rank(a: int, raw: NDArray[Any] = raw, first: int = first) -> None:
                wanted = wanted_keys(self._hashes, raw, self._moves, a, min(a + step, len(raw)))
                bucket_nearest(
                    self._exact.rows, E, *tables, wanted, kind, p, first + a, out, index, found
                )

            over(rank, range(0, len(raw), step))
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

"""Rows made to mislead a search: near ties in single precision, repeats, offsets, extreme sizes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from pellucid.compiled.distances.packing import pack_rows
from pellucid.compiled.distances.search import Index
from pellucid.core.functions.metrics import NAMES
from pellucid.core.runtime.threads import limit_threads
from pellucid.neighbors import NearestNeighbors
from pellucid.neighbors.search.metrics import resolve

N, D, M, K = 1500, 12, 64, 7


def near_ties(rng, shape):
    """Rows that differ in the last bits of single precision only."""
    return 1.0 + 2.0**-25 * rng.integers(0, 3, shape)


def beyond_single(rng, shape):
    """Differences of 2^-40: single precision sees one row many times."""
    return 1.0 + 2.0**-40 * rng.integers(0, 50, shape)


def repeats(rng, shape):
    return rng.integers(0, 2, shape).astype(float)


def offset(rng, shape):
    return 1e8 + rng.normal(size=shape)


def huge_offset(rng, shape):
    return 1e15 + rng.integers(0, 8, shape).astype(float)


def denormals(rng, shape):
    """Their squares are 0: all rows are at distance 0."""
    return 1e-310 * rng.normal(size=shape)


def denormal_squares(rng, shape):
    return 1e-160 * rng.normal(size=shape)


def last_ordinary_squares(rng, shape):
    return 3e-154 * rng.normal(size=shape)


def near_overflow(rng, shape):
    """The square of the spread is infinite, those of near rows are not."""
    rows = 1e151 * (1.0 + 1e-9 * rng.integers(0, 5, shape))
    rows[0] = 1.5e154
    return rows


def overflow(rng, shape):
    return 1e307 * rng.normal(size=shape)


def one_far_row(rng, shape):
    rows = 1.0 + 1e-7 * rng.normal(size=shape)
    rows[0] = 1e30
    return rows


def uneven_columns(rng, shape):
    return rng.normal(size=shape) * 10.0 ** np.linspace(-150, 150, shape[1])


MAKERS = [
    near_ties, beyond_single, repeats, offset, huge_offset, denormals, denormal_squares,
    last_ordinary_squares, near_overflow, overflow, one_far_row, uneven_columns,
]  # fmt: skip


def reference(X, Q, order):
    """Reduced distances (m, n), summed coordinate by coordinate."""
    out = np.zeros((len(Q), len(X)))
    with np.errstate(over="ignore", under="ignore"):
        for x, q in zip(X.T, Q.T, strict=True):
            gap = np.abs(x[None] - q[:, None])
            out = np.maximum(out, gap) if np.isinf(order) else out + gap**order
    return out


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_every_search_gives_the_neighbours_of_the_definition(make):
    """Brute, kd-tree, any number of threads or queries, ties by lower index."""
    rng = np.random.default_rng(3)
    X = make(rng, (N, D))
    X[700:740] = X[100]
    Q = np.concatenate([make(rng, (M - 14, D)), X[690:704]])
    values = reference(X, Q, 2.0)
    order = np.argsort(values, axis=1, kind="stable")[:, :K]
    metric = resolve("euclidean", X)
    brute, tree = Index(X, metric, "brute"), Index(X, metric, "kd_tree")
    assert not pack_rows(X).sound or brute._filters(len(Q), K)
    for index in (brute, tree):
        for threads in (1, 2, 3):
            with limit_threads(threads):
                distance, found = index.nearest(Q, K)
            assert_array_equal(found, order)
            assert_array_equal(distance, np.sqrt(np.take_along_axis(values, order, axis=1)))
        for i in (0, M - 1):
            assert_array_equal(index.nearest(Q[i : i + 1], K)[1][0], order[i])
    radius = np.sqrt(np.sort(values, axis=1)[:, 20])
    first, distance, found = brute.within(Q, radius)
    for a, b in zip((first, distance, found), tree.within(Q, radius), strict=True):
        assert_array_equal(a, b)
    inside = np.sqrt(values) <= radius[:, None]
    assert_array_equal(np.diff(first), inside.sum(axis=1))
    assert_array_equal(found, np.nonzero(inside)[1])


@pytest.mark.parametrize("p", [0.5, 1, 3, np.inf])
@pytest.mark.parametrize("make", [near_ties, repeats, huge_offset, denormals, near_overflow])
@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_other_orders(make, p):
    rng = np.random.default_rng(4)
    X, Q = make(rng, (400, 3)), make(rng, (20, 3))
    brute, tree = (Index(X, resolve("minkowski", X, p), m).nearest(Q, 9) for m in ("brute", "kd_tree"))  # fmt: skip  # noqa: E501
    assert_array_equal(brute[1], tree[1])
    assert_array_equal(brute[0], tree[0])
    if p in (1, np.inf):
        order = np.argsort(reference(X, Q, float(p)), axis=1, kind="stable")[:, :9]
        assert_array_equal(brute[1], order)


def test_many_columns_have_wider_bounds():
    """The rounding of sums in double precision grows with the columns; far queries see it."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1200, 3000))
    Q = 1e9 + rng.normal(size=(8, 3000))
    for index in (Index(X, resolve("euclidean", X), "brute"), Index(X, resolve("euclidean", X), "kd_tree")):  # fmt: skip  # noqa: E501
        values = reference(X, Q, 2.0)
        found = index.nearest(Q, 5)[1]
        assert_array_equal(found, np.argsort(values, axis=1, kind="stable")[:, :5])


def test_unsound_rows_are_not_packed():
    rng = np.random.default_rng(6)
    for size, sound in ((1.0, True), (1e140, True), (1e150, False), (1e-150, False)):
        assert pack_rows(size * rng.normal(size=(50, 3))).sound is sound


TRUTH_VALUES = {
    "jaccard", "dice", "russellrao", "rogerstanimoto", "sokalmichener", "sokalsneath", "yule",
    "hamming",
}  # fmt: skip
WITHOUT = {"precomputed", "gower", "haversine", "nan_euclidean"}  # not SciPy's


@pytest.mark.parametrize("name", sorted(set(NAMES) - WITHOUT))
def test_neighbours_under_every_metric_are_those_of_scipy(name):
    """Every metric against SciPy, through the model."""
    rng = np.random.default_rng(7)
    X, Q = rng.normal(size=(120, 5)), rng.normal(size=(15, 5))
    keywords, given = {}, {}
    if name in TRUTH_VALUES:
        X, Q = X > 0.2, Q > 0.2
    if name == "seuclidean":
        keywords = given = {"V": X.var(axis=0)}
    if name == "mahalanobis":
        keywords = given = {"VI": np.linalg.inv(np.cov(X.T))}
    if name == "minkowski":
        keywords, given = {"p": 3}, {"p": 3}
    other = {"manhattan": "cityblock", "sokalmichener": "rogerstanimoto"}.get(name, name)
    D = np.nan_to_num(cdist(Q, X, other, **keywords))
    model = NearestNeighbors(n_neighbors=8, p=None, metric=name, metric_params=given or None)
    distance, index = model.fit(X.astype(float)).kneighbors(Q.astype(float))
    assert_allclose(distance, np.sort(D, axis=1)[:, :8], atol=1e-12)
    assert_allclose(np.take_along_axis(D, index, axis=1), distance, atol=1e-12)

"""k-means on sparse rows that are not written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, random_array

from pellucid import KMeans
from pellucid.cluster.kmeans import kmeans, sparse_rows
from pellucid.cluster.kmeans.seeding import lexicographic
from pellucid.core.runtime.threads import limit_threads

rng = np.random.default_rng(0)


def table(n=5000, p=60):
    """More than one leaf, groups, negative values."""
    X = random_array((n, p), density=0.2, rng=0, format="lil")
    group = rng.integers(4, size=n)
    X[np.arange(n), group] = 3.0
    X = csr_array(X)
    X.data -= 0.2
    return X, group


def both(monkeypatch, X, **settings):
    """The fit of the rows written out, and the fit of the sparse ones."""
    dense = KMeans(random_state=0, **settings).fit(X)
    monkeypatch.setattr(kmeans, "DENSE_VALUES", 0)
    monkeypatch.setattr(kmeans, "LEAF_CELLS", 0)
    return dense, KMeans(random_state=0, **settings).fit(X)


@pytest.mark.parametrize("init", ["k-means++", "k-means++-distance", "farthest"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_equals_the_dense_fit(monkeypatch, init, metric):
    """The same starts, labels and centres."""
    X, _ = table()
    settings = {"n_clusters": 4, "init": init, "metric": metric, "n_init": 2}
    dense, sparse = both(monkeypatch, X, **settings)
    assert (dense.labels_ == sparse.labels_).all()
    assert_allclose(sparse.cluster_centers_, dense.cluster_centers_, atol=1e-12)
    assert_allclose(sparse.inertia_, dense.inertia_, rtol=1e-12)
    assert (sparse.predict(X) == dense.labels_).all()
    assert_allclose(sparse.transform(X[:50]), dense.transform(X[:50].toarray()), atol=1e-7)
    assert_allclose(sparse.score(X), -sparse.inertia_, rtol=1e-12)


def test_weights_are_repetitions(monkeypatch):
    """A row of weight 2 is two rows: the same sums to the bit."""
    monkeypatch.setattr(kmeans, "DENSE_VALUES", 0)
    X, _ = table(300)
    w = rng.integers(0, 3, 300)
    settings = {"n_clusters": 4, "random_state": 0}
    weighted = KMeans(**settings).fit(X, sample_weight=w + 0.0)
    repeated = KMeans(**settings).fit(X[np.repeat(np.arange(300), w)])
    assert (weighted.cluster_centers_ == repeated.cluster_centers_).all()


def test_empty_centres_take_the_farthest_row(monkeypatch):
    """A centre without rows, and copies of the farthest row."""
    X = csr_array(np.vstack([np.repeat(np.eye(3), 5, axis=0), [[0.0, 0.0, 1.1]] * 2]))
    start = np.array([[0, 0, 1.0], [0, 1, 0], [9, 9, 9], [8, 8, 8]])
    with pytest.warns(kmeans.EmptyClusterWarning):
        dense, sparse = both(monkeypatch, X, n_clusters=4, init=start, n_init=1)
    assert (dense.labels_ == sparse.labels_).all()
    assert dense.inertia_ == sparse.inertia_ == 0.0


def test_threads_change_no_bit(monkeypatch):
    """One thread or two."""
    monkeypatch.setattr(kmeans, "DENSE_VALUES", 0)
    X, _ = table()
    found = []
    for n in (1, 2):
        with limit_threads(n):
            found.append(KMeans(5, random_state=0).fit(X))
    assert (found[0].cluster_centers_ == found[1].cluster_centers_).all()
    assert found[0].inertia_ == found[1].inertia_


def test_order_of_sparse_rows():
    """Lexicographic, as the dense rows would be."""
    X = random_array((200, 6), density=0.4, rng=1, format="csr")
    X.data -= 0.5
    order = sparse_rows.lexicographic_sparse(X)
    assert (X.toarray()[order] == X.toarray()[lexicographic(X.toarray())]).all()


def test_rows_of_zeros_have_no_direction(monkeypatch):
    """The sentence of the dense fit."""
    monkeypatch.setattr(kmeans, "DENSE_VALUES", 0)
    with pytest.raises(ValueError, match="zeros in row 1"):
        KMeans(1, metric="cosine").fit(csr_array([[1.0, 0.0], [0.0, 0.0]]))

"""k-means by batches: an oracle, an invariant, a recovery."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.cluster as peer
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import KMeans, MiniBatchKMeans
from pellucid.data import make_blobs

X, y = make_blobs(1500, n_features=3, centers=5, random_state=0)


def test_oracle():
    """One batch of given centres moves them as scikit-learn's does; over batches too."""
    C = X[::300]
    ours = MiniBatchKMeans(5, init=C, n_init=1, reassignment_ratio=0.0)
    theirs = peer.MiniBatchKMeans(5, init=C, n_init=1, reassignment_ratio=0.0)
    w = np.random.default_rng(0).integers(0, 3, 1500).astype(float)
    for rows in (slice(0, 500), slice(500, 900), slice(900, 1500)):
        ours.partial_fit(X[rows], sample_weight=w[rows])
        theirs.partial_fit(X[rows], sample_weight=w[rows])
        assert_allclose(ours.cluster_centers_, theirs.cluster_centers_)
        assert_array_equal(ours.labels_, theirs.labels_)
        assert_allclose(ours.inertia_, theirs.inertia_)
    assert ours.n_steps_ == theirs.n_steps_ == 3


def test_within_chance_of_scikit_learn():
    """Mean J of ten seeds: no worse than scikit-learn's by more than a percent."""
    J = [
        [k(5, batch_size=64, random_state=s).fit(X).inertia_ for s in range(10)]
        for k in (MiniBatchKMeans, peer.MiniBatchKMeans)
    ]
    assert np.mean(J[0]) < 1.02 * np.mean(J[1])


def test_invariant():
    """Without renewal a centre is the mean of the rows it was given, so N c adds up to sums."""
    ours = MiniBatchKMeans(5, init=X[::300], n_init=1, reassignment_ratio=0.0)
    ours.partial_fit(X[:700]).partial_fit(X[700:])
    assert_allclose(ours._counts @ ours.cluster_centers_, X.sum(axis=0))
    assert_allclose(ours._counts.sum(), len(X))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_recovery(form):
    """The groups that made the rows; J within 5 % of KMeans, labels of the nearest centre."""
    ours = MiniBatchKMeans(5, random_state=1).fit(form(X))
    best = KMeans(5, n_init=5, random_state=0).fit(X)
    assert ours.inertia_ < 1.05 * best.inertia_
    assert_array_equal(ours.labels_, ours.predict(form(X)))
    assert_allclose(-ours.score(form(X)), ours.inertia_)
    assert ours.history_["objective"][-1] < 2 * ours.inertia_ / len(X)


def test_poor_starts_are_renewed():
    """Centres that no row is near are put on rows."""
    far = np.vstack([X[:1], np.full((4, 3), 1e4) + np.arange(12).reshape(4, 3)])
    ours = MiniBatchKMeans(5, init=far, n_init=1, random_state=0).fit(X)
    assert ours.history_["renewed"].sum() >= 4
    assert np.abs(ours.cluster_centers_).max() < 100


def test_refusals():
    with pytest.raises(ValueError, match="n_clusters"):
        MiniBatchKMeans(9).fit(X[:5])
    with pytest.warns(RuntimeWarning, match="init_size=2 should be larger"):
        MiniBatchKMeans(5, init_size=2, random_state=0).fit(X)

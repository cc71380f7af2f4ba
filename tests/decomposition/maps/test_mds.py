"""MDS: scikit-learn's steps, a stress that never rises, maps that come back."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn import manifold

from pellucid import MDS
from pellucid.decomposition.maps.mds import classical

rng = np.random.default_rng(0)


def table(n=40, p=4):
    return rng.normal(size=(n, p)) * np.arange(1, p + 1)


@pytest.mark.parametrize("metric", [True, False])
@pytest.mark.parametrize("share", ["auto", True, False])
def test_oracle(metric, share):
    """The same start, the same map and stress."""
    X, start = table(), rng.random((40, 2))
    options = {"metric_mds": metric, "normalized_stress": share, "eps": 1e-5}
    mine = MDS(**options).fit(X, init=start)
    other = manifold.MDS(**options, init="random").fit(X, init=start)
    assert mine.stress_ == pytest.approx(other.stress_, rel=1e-5)
    np.testing.assert_allclose(mine.embedding_, other.embedding_, rtol=1e-4, atol=1e-5)
    assert mine.n_iter_ == other.n_iter_


def test_invariant_the_stress_never_rises_and_falls_with_more_starts():
    X = table()
    model = MDS(random_state=0).fit(X)
    assert (np.diff(model.history_["objective"]) <= 1e-9).all()
    assert MDS(random_state=0, n_init=4).fit(X).stress_ <= model.stress_
    given = MDS(metric="precomputed", random_state=0).fit(squareform(pdist(X)))
    assert given.stress_ == pytest.approx(model.stress_)


def test_recovery_of_a_map():
    """Distances in the plane give the plane back; so does their order, up to its size."""
    Y = rng.random((60, 2))
    delta = squareform(pdist(Y))
    np.testing.assert_allclose(pdist(classical(delta, 2)), pdist(Y), atol=1e-9)
    exact = MDS(metric="precomputed", init="classical_mds").fit(delta)
    assert exact.stress_ < 1e-12
    order = MDS(metric="precomputed", metric_mds=False, init="classical_mds").fit(delta**3)
    assert np.corrcoef(pdist(order.embedding_), pdist(Y))[0, 1] > 0.995


def test_new_rows_find_their_places():
    """Rows of the fit stand where they stood; others where their distances say."""
    Y = rng.random((60, 2))
    model = MDS(init="classical_mds").fit(Y[:50])
    np.testing.assert_array_equal(model.transform(Y[:50]), model.embedding_)
    new = model.transform(Y[50:])
    known = np.linalg.norm(Y[50:, None] - Y[:50], axis=2)
    found = np.linalg.norm(new[:, None] - model.embedding_, axis=2)
    np.testing.assert_allclose(found, known, atol=1e-4)
    with pytest.raises(AttributeError, match="transform"):
        MDS(metric_mds=False).transform(Y)


def test_refusals():
    X = table()
    with pytest.raises(ValueError, match="init matrix should be of shape"):
        MDS().fit(X, init=np.ones((3, 2)))
    with pytest.raises(ValueError, match="symmetric"):
        MDS(metric="precomputed").fit(np.arange(9.0).reshape(3, 3))
    with pytest.warns(UserWarning, match="square matrix"):
        MDS(random_state=0).fit(squareform(pdist(X)))

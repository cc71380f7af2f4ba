"""Nearest centroid: an oracle, an invariant, a recovery."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import neighbors as peer

from pellucid import NearestCentroid

rng = np.random.default_rng(0)
y = rng.integers(0, 3, 90)
X = rng.normal(size=(90, 6)) + rng.normal(size=(3, 6))[y]
NEW = rng.normal(size=(40, 6)) * 2
ATTRIBUTES = ("centroids_", "class_prior_", "deviations_", "within_class_std_dev_")


@pytest.mark.parametrize("priors", ["uniform", "empirical", [0.2, 0.3, 0.5]])
@pytest.mark.parametrize("shrink", [None, 1.0, 50.0])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_oracle(metric, shrink, priors):
    """scikit-learn finds the same centroids, classes and probabilities; sparse rows too."""
    params = {"metric": metric, "shrink_threshold": shrink, "priors": priors}
    ours, theirs = NearestCentroid(**params).fit(X, y), peer.NearestCentroid(**params).fit(X, y)
    thin = NearestCentroid(**params).fit(sp.csr_array(X), y)
    for name in ATTRIBUTES:
        assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-12, err_msg=name)
        assert_allclose(getattr(thin, name), getattr(theirs, name), atol=1e-12, err_msg=name)
    if shrink != 50.0:  # there all centroids are one
        assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
        assert_array_equal(thin.predict(sp.csr_array(NEW)), theirs.predict(NEW))
    assert hasattr(ours, "predict_proba") == hasattr(theirs, "predict_proba")
    if metric == "euclidean":
        assert_allclose(ours.predict_proba(NEW), theirs.predict_proba(NEW), atol=1e-10)
        assert_allclose(ours.decision_function(NEW), theirs.decision_function(NEW), rtol=1e-8)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_weights_are_repetitions_of_sparse_rows(metric):
    w = rng.integers(0, 4, 90)
    S = sp.csr_array(np.where(np.abs(X) < 0.7, 0.0, X))
    ours = NearestCentroid(metric, shrink_threshold=0.5).fit(S, y, w)
    again = NearestCentroid(metric, shrink_threshold=0.5)
    again.fit(sp.csr_array(np.repeat(S.toarray(), w, axis=0)), np.repeat(y, w))
    for name in ATTRIBUTES:
        assert_allclose(getattr(ours, name), getattr(again, name), atol=1e-12)


def test_recovery():
    """Of 300 columns those that differ between the classes keep their say, the others lose it."""
    c = np.repeat([0, 1], 40)
    A = rng.normal(size=(80, 300))
    A[c == 1, :4] += 3.0
    model = NearestCentroid(shrink_threshold=3.0).fit(A, c)
    assert_array_equal(np.flatnonzero(model.deviations_.any(axis=0)), np.arange(4))
    assert (model.predict(A) == c).mean() > 0.95


def test_corners():
    """Columns without any spread inside the classes, one class, no spread at all, blocks."""
    with pytest.warns(UserWarning, match="zero standard deviation"):
        model = NearestCentroid(shrink_threshold=1.0).fit([[0.0], [0.0], [4.0]], [0, 0, 1])
    assert_array_equal(model.centroids_, [[0.0], [4.0]])
    with pytest.raises(ValueError, match="greater than one"):
        NearestCentroid().fit(X, np.zeros(90))
    with pytest.raises(ValueError, match="zero variance"):
        NearestCentroid().fit(np.ones((4, 2)), [0, 0, 1, 1])
    with pytest.warns(UserWarning, match="do not sum to 1"):
        NearestCentroid(priors=[1, 1, 2]).fit(X, y)
    with pytest.raises(ValueError, match="non-negative"):
        NearestCentroid(priors=[-1, 1, 1]).fit(X, y)

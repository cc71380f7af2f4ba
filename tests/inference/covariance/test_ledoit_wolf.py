"""Ledoit-Wolf: an oracle, an invariant, a recovery."""

import numpy as np
import pytest
import sklearn.covariance as peer
from numpy.testing import assert_allclose

from pellucid import LedoitWolf

rng = np.random.default_rng(0)


def table(n, p):
    return rng.normal(size=(n, p)) * np.arange(1, p + 1) + 50


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("shape", [(20, 30), (200, 5), (5, 1)])
def test_oracle(shape, centered):
    """scikit-learn shrinks by as much; distances, scores and errors are its."""
    X, new = table(*shape), table(9, shape[1])
    ours, theirs = (k(assume_centered=centered).fit(X) for k in (LedoitWolf, peer.LedoitWolf))
    assert_allclose(ours.shrinkage_, theirs.shrinkage_, atol=1e-14)
    for name in ("covariance_", "precision_", "location_"):
        size = np.abs(getattr(theirs, name)).max()
        assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-11 * size, rtol=1e-9)
    assert_allclose(ours.mahalanobis(new), theirs.mahalanobis(new), rtol=1e-9)
    assert_allclose(ours.score(new), theirs.score(new), rtol=1e-9)
    other = np.eye(shape[1])
    for norm in ("frobenius", "spectral"):
        assert_allclose(ours.error_norm(other, norm), theirs.error_norm(other, norm), rtol=1e-9)


def test_precision_is_left_out():
    ours = LedoitWolf(store_precision=False).fit(table(15, 4))
    assert ours.precision_ is None
    assert_allclose(ours.get_precision() @ ours.covariance_, np.eye(4), atol=1e-10)


def test_invariant():
    """Batches and weights are the rows themselves, far from the origin too."""
    X = table(90, 6) + 1e6
    w = rng.integers(0, 3, 90)
    whole = LedoitWolf().fit(np.repeat(X, w, axis=0))
    ours = LedoitWolf()
    for rows in np.array_split(np.arange(90), 4):
        ours.partial_fit(X[rows], sample_weight=w[rows])
    assert_allclose(ours.covariance_, whole.covariance_, rtol=1e-7, atol=1e-7)
    assert_allclose(ours.shrinkage_, whole.shrinkage_, rtol=1e-6)


def test_recovery():
    """Nearer to the truth than the empirical covariance, with an inverse for few rows."""
    truth = np.diag(np.linspace(0.5, 2, 40))
    X = rng.multivariate_normal(np.zeros(40), truth, size=25)
    model = LedoitWolf().fit(X)
    assert model.error_norm(truth) < 0.5 * ((np.cov(X.T, bias=True) - truth) ** 2).sum() / 40
    assert np.linalg.cond(model.covariance_) < 20
    with pytest.warns(UserWarning, match="Only one sample"):
        LedoitWolf().fit(X[:1])

"""IncrementalPCA: scikit-learn's numbers, PCA of all rows where nothing is dropped, a recovery."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import IncrementalPCA as Theirs

from pellucid import PCA, IncrementalPCA

rng = np.random.default_rng(0)


def table(n=200, p=6):
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) * 3 + rng.normal(size=(n, p)) + 5


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("batch", [17, None])
def test_oracle(whiten, batch):
    X = table()
    mine = IncrementalPCA(3, whiten=whiten, batch_size=batch).fit(X)
    other = Theirs(3, whiten=whiten, batch_size=batch).fit(X)
    names = ("components_", "explained_variance_", "explained_variance_ratio_", "mean_", "var_")
    for name in (*names, "singular_values_", "noise_variance_", "n_samples_seen_", "batch_size_"):
        np.testing.assert_allclose(getattr(mine, name), getattr(other, name), atol=1e-9)
    np.testing.assert_allclose(mine.transform(X), other.transform(X), atol=1e-9)
    if not whiten:  # theirs multiplies the variances twice then
        np.testing.assert_allclose(mine.get_covariance(), other.get_covariance(), atol=1e-9)
        np.testing.assert_allclose(mine.get_precision(), other.get_precision(), atol=1e-9)
    csr = sparse.csr_matrix(X)
    np.testing.assert_allclose(mine.fit(csr).transform(csr), other.transform(X), atol=1e-9)


def test_invariant_all_components_are_those_of_pca():
    """Whatever the batches: the scatter about the mean is a sum."""
    X = table()
    whole = PCA().fit(X)
    parts = IncrementalPCA()
    for cut in np.split(X, [50, 61, 140]):
        parts.partial_fit(cut)
    np.testing.assert_allclose(parts.explained_variance_, whole.explained_variance_)
    np.testing.assert_allclose(parts.components_, whole.components_, atol=1e-8)
    np.testing.assert_allclose(parts.inverse_transform(parts.transform(X)), X)
    assert not parts.card().warnings


def test_recovery_of_the_plane():
    X = table(3000, 20)
    parts = IncrementalPCA(2, batch_size=50).fit(X)
    whole = PCA(2).fit(X)
    assert np.linalg.svd(parts.components_ @ whole.components_.T)[1].min() > 0.999


def test_refusals():
    X = table(20)
    with pytest.raises(ValueError, match="invalid for n_features"):
        IncrementalPCA(7).fit(X)
    with pytest.raises(ValueError, match="less or equal to the batch"):
        IncrementalPCA(4).partial_fit(X[:3])
    with pytest.raises(TypeError, match="does not support sparse"):
        IncrementalPCA(2).partial_fit(sparse.csr_matrix(X))
    model = IncrementalPCA(2).fit(X).set_params(n_components=3)
    with pytest.raises(ValueError, match="has changed from 2 to 3"):
        model.partial_fit(X)

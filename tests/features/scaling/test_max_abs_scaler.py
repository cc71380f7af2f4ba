"""Max abs scaler: an oracle, an invariant, a recovery."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.preprocessing as peer
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import MaxAbsScaler

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4)) * [1.0, 1e3, 1e-3, 0.0]
HOLES = np.where(rng.random(X.shape) < 0.2, np.nan, X)
SPARSE = sp.random(200, 6, 0.3, format="csr", random_state=1, data_rvs=rng.standard_normal)


@pytest.mark.parametrize("A", [X, HOLES], ids=["whole", "missing"])
@pytest.mark.parametrize("clip", [False, True])
def test_oracle(A, clip):
    """scikit-learn divides by the same numbers."""
    ours, theirs = (k(clip=clip).fit(A[:100]) for k in (MaxAbsScaler, peer.MaxAbsScaler))
    for name in ("max_abs_", "scale_", "n_samples_seen_"):
        assert_array_equal(getattr(ours, name), getattr(theirs, name))
    assert_array_equal(ours.transform(A), theirs.transform(A))
    assert_allclose(ours.inverse_transform(A), theirs.inverse_transform(A))


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_equals_dense(form):
    """A zero that is not stored is a zero; stored NaN is left out."""
    A = SPARSE.copy()
    A.data[::17] = np.nan
    ours, dense = MaxAbsScaler().fit(A.asformat(form)), MaxAbsScaler().fit(A.toarray())
    assert_array_equal(ours.max_abs_, dense.max_abs_)
    assert_array_equal(ours.transform(A).toarray(), dense.transform(A.toarray()))


@pytest.mark.parametrize("A", [HOLES, SPARSE], ids=["dense", "sparse"])
def test_batches_equal_one_fit(A):
    """The largest of the largest is the largest."""
    ours = MaxAbsScaler()
    for start in range(0, A.shape[0], 50):
        ours.partial_fit(A[start : start + 50])
    whole = MaxAbsScaler().fit(A)
    assert_array_equal(ours.scale_, whole.scale_)
    assert ours.n_samples_seen_ == whole.n_samples_seen_


def test_invariant():
    """A change of units changes nothing, however small the unit."""
    ours = MaxAbsScaler().fit_transform(X)
    assert_array_equal(MaxAbsScaler().fit_transform(X * 2.0**-200), ours)
    assert np.abs(ours[:, :3]).max(axis=0).tolist() == [1.0, 1.0, 1.0]


def test_empty_columns_warn_and_infinite_cells_are_named():
    """No value at all is said; infinity is refused by place."""
    with pytest.warns(UserWarning, match="no value at all"):
        assert np.isnan(MaxAbsScaler().fit([[np.nan], [np.nan]]).scale_).all()
    with pytest.raises(ValueError, match="row 1"):
        MaxAbsScaler().fit([[1.0], [np.inf]])

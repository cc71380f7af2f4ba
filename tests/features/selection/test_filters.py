"""VarianceThreshold and DropCollinear."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.feature_selection as peer
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.features import DropCollinear, VarianceThreshold

rng = np.random.default_rng(0)


@pytest.mark.parametrize("threshold", [0.0, 0.5])
@pytest.mark.parametrize("kind", ["whole", "missing", "sparse"])
def test_variance_threshold_oracle(kind, threshold):
    X = rng.normal(size=(200, 6)) * [0.1, 0.0, 1.0, 2.0, 0.7, 0.0] + [0, 0.1, 5, 0, 0, 0]
    if kind == "missing":
        X[rng.random(X.shape) < 0.2] = np.nan
    X = sp.csr_matrix(X) if kind == "sparse" else X
    ours = VarianceThreshold(threshold).fit(X)
    theirs = peer.VarianceThreshold(threshold).fit(X)
    assert_allclose(ours.variances_, theirs.variances_, rtol=1e-10, atol=1e-30)
    if kind != "missing":  # scikit-learn keeps the rounding of a constant column with gaps
        assert_array_equal(ours.get_support(), theirs.get_support())
    out = ours.transform(X)
    back = ours.inverse_transform(out)
    kept = ours.get_support(indices=True)
    dense = (lambda A: A.toarray()) if kind == "sparse" else np.asarray
    assert_array_equal(dense(out), dense(X)[:, kept])
    assert_array_equal(dense(back)[:, kept], dense(out))
    assert back.shape == X.shape


def test_constant_columns_never_survive_rounding():
    X = np.column_stack([np.full(1000, 0.1), np.arange(1000.0)])
    X[::3, 0] = np.nan
    assert_array_equal(VarianceThreshold().fit(X).get_support(), [False, True])


def test_nothing_left_is_an_error():
    with pytest.raises(ValueError, match="only one sample"):
        VarianceThreshold().fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="variance threshold 9"):
        VarianceThreshold(9.0).fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match="constant"):
        DropCollinear().fit(np.ones((5, 2)))


def dependent(n=500):
    A = rng.normal(size=(n, 4)) * [1, 10, 0.1, 1] + [0, 3, 0, 100]
    a, b, c, d = A.T
    return np.column_stack([a, b, 4 + a - 2 * b, c, np.full(n, 7.0), -c, d, d + c - b])


def test_relations():
    X = dependent()
    model = DropCollinear().fit(X)
    assert_array_equal(model.get_support(indices=True), [0, 1, 3, 6])
    assert list(model.relations_) == [2, 4, 5, 7]
    for j, terms in model.relations_.items():
        total = terms["intercept"] + sum(c * X[:, k] for k, c in terms.items() if k != "intercept")
        assert_allclose(total, X[:, j], atol=1e-9)
    assert model.sentences() == ["x2 = 4 + x0 - 2 x1", "x4 = 7", "x5 = -x3", "x7 = -x1 + x3 + x6"]
    assert "x2 = 4 + x0 - 2 x1" in model.card().representation


def test_brute_force_rank_of_every_prefix():
    """A column is kept exactly if it raises the rank of [1, columns so far]."""
    B = rng.integers(-2, 3, size=(30, 4)).astype(float)
    X = B @ rng.integers(-2, 3, size=(4, 9)) + 5
    ranks = [np.linalg.matrix_rank(np.column_stack([np.ones(30), X[:, :k]])) for k in range(10)]
    assert_array_equal(DropCollinear().fit(X).support_, np.diff(ranks) > 0)


@pytest.mark.parametrize(("noise", "kept"), [(1e-5, True), (1e-9, False)])
def test_tolerance(noise, kept):
    a, e = rng.normal(size=(2, 3000))
    X = np.column_stack([a, a + noise * e])
    assert DropCollinear().fit(X).support_[1] == kept


def test_units_and_shifts_do_not_matter():
    X = dependent()
    scaled = X * 10.0 ** rng.integers(-6, 6, size=X.shape[1]) + 3
    assert_array_equal(DropCollinear().fit(X).support_, DropCollinear().fit(scaled).support_)


def test_wide_and_weighted():
    X = rng.normal(size=(5, 9))
    assert DropCollinear().fit(X).support_.sum() == 4  # n - 1 centred directions
    w = np.array([0, 1, 1, 1, 1.0])
    assert DropCollinear().fit(X, sample_weight=w).support_.sum() == 3


def test_blocks_find_the_same(tmp_path):
    X = dependent(2 * LEAF_ROWS + 5)
    blocks = pellucid.data.blocks(X, block_rows=1000)
    assert DropCollinear().fit_blocks(blocks).sentences() == DropCollinear().fit(X).sentences()


def test_least_squares_behind_it_does_not_warn():
    X = dependent()
    y = X[:, 0] + X[:, 3]
    model = make_pipeline(DropCollinear(), pellucid.LinearRegression()).fit(X, y)
    assert_allclose(model.predict(X), y, atol=1e-9)

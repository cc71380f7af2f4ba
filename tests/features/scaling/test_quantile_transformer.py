"""Quantile transformer: an oracle, an invariant, a recovery."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.preprocessing as peer
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest

import pellucid
from pellucid import QuantileTransformer
from pellucid.features.scaling.quantile_transformer import levels

rng = np.random.default_rng(0)
X = np.column_stack([rng.lognormal(size=400), rng.integers(0, 4, 400), rng.normal(size=400)])
X = np.column_stack([X, np.full(400, 3.0), np.where(rng.random(400) < 0.2, np.nan, X[:, 0])])
NEW = np.vstack([X[::7], rng.normal(size=(20, 5)) * 3, X[:3] - 100, X[:3] + 100])
SPARSE = sp.random(300, 5, 0.4, format="csc", random_state=1)


@pytest.mark.parametrize("normal", ["uniform", "normal"])
@pytest.mark.parametrize("m", [2, 37, 400])
def test_oracle(m, normal):
    """scikit-learn finds the same quantiles, ranks and way back; ties and NaN among them."""
    params = {"n_quantiles": m, "output_distribution": normal}
    ours, theirs = (k(**params).fit(X) for k in (QuantileTransformer, peer.QuantileTransformer))
    assert_allclose(ours.quantiles_, theirs.quantiles_, rtol=1e-13)
    assert_array_equal(ours.references_, theirs.references_)
    assert_allclose(ours.transform(NEW), theirs.transform(NEW), rtol=1e-9, atol=1e-9)
    Z = theirs.transform(NEW)
    assert_allclose(ours.inverse_transform(Z), theirs.inverse_transform(Z), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("stored", [False, True])
def test_sparse_oracle(stored):
    params = {"n_quantiles": 50, "ignore_implicit_zeros": stored}
    ours, theirs = (
        k(**params).fit(SPARSE) for k in (QuantileTransformer, peer.QuantileTransformer)
    )
    assert_allclose(ours.quantiles_, theirs.quantiles_, rtol=1e-12, atol=1e-15)
    A, B = ours.transform(SPARSE), theirs.transform(SPARSE)
    assert_allclose(A.toarray(), B.toarray(), atol=1e-12)
    back = ours.inverse_transform(A)
    assert_allclose(back.toarray(), theirs.inverse_transform(B).toarray(), atol=1e-12)


def test_kernel_twin():
    """NumPy's interpolation from both sides says the same."""
    q, level = np.sort(rng.integers(0, 9, 40).astype(float)), np.linspace(0, 1, 40)
    v, out = rng.uniform(-1, 10, 200).round(1), np.empty(200)
    levels(v, q, level, out)
    twin = 0.5 * (np.interp(v, q, level) - np.interp(-v, -q[::-1], -level[::-1]))
    inside = (v > q[0]) & (v < q[-1])
    assert_allclose(out[inside], twin[inside], atol=1e-14)
    assert set(out[~inside]) == {0.0, 1.0}


def test_invariant():
    """Ranks do not know the unit, nor any growing function of a column."""
    x = X[:, [0, 2]]
    ours = QuantileTransformer(n_quantiles=400, output_distribution="normal")
    z = ours.fit_transform(x)
    assert_array_equal(ours.fit_transform(x * 2.0**-60), z)
    assert_allclose(ours.fit_transform(np.arctan(x)), z, atol=1e-6)


def test_recovery():
    """The ranks of a sample drawn from 30,000 rows are uniform; the same seed draws the same."""
    x = rng.lognormal(size=(30_000, 1))
    models = [QuantileTransformer(random_state=s).fit(x) for s in (0, 0, 1)]
    assert kstest(models[0].transform(x).ravel(), "uniform").statistic < 0.02
    assert_array_equal(models[0].quantiles_, models[1].quantiles_)
    assert not np.array_equal(models[0].quantiles_, models[2].quantiles_)


def test_one_quantile():
    """One quantile tells below from above."""
    model = QuantileTransformer(n_quantiles=1).fit([[2.0], [5.0]])
    assert_array_equal(model.transform([[1.0], [2.0], [3.0]]).ravel(), [0.0, 0.0, 1.0])


def test_refusals():
    with pytest.raises(ValueError, match="non-negative sparse"):
        QuantileTransformer(n_quantiles=5).fit(-SPARSE)
    with pytest.raises(ValueError, match="cannot be greater"):
        QuantileTransformer(subsample=10).fit(X)
    with pytest.warns(UserWarning, match="n_quantiles is set to n_samples"):
        assert QuantileTransformer(n_quantiles=500).fit(X).n_quantiles_ == 400
    assert QuantileTransformer().fit(X).n_quantiles_ == 400  # the default says at most
    with pytest.warns(UserWarning, match="no effect"):
        QuantileTransformer(n_quantiles=5, ignore_implicit_zeros=True).fit(X)


@pytest.mark.parametrize("subsample", [150, 10_000, None])
def test_blocks_have_the_quantiles_of_memory(subsample):
    """The same rows are drawn, and all rows are counted where none are."""
    params = {"n_quantiles": 120, "subsample": subsample, "random_state": 3}
    memory = QuantileTransformer(**params).fit(X)
    parts = QuantileTransformer(**params).fit_blocks(pellucid.data.blocks(X, block_rows=37))
    assert_array_equal(parts.quantiles_, memory.quantiles_)
    assert str(parts.card()) == str(memory.card())


def test_blocks_refuse_weights_and_stored_cells():
    for subsample in (150, None):
        source = pellucid.data.blocks(X, weight=np.arange(400.0))
        with pytest.raises(ValueError, match="no sample weights"):
            QuantileTransformer(n_quantiles=9, subsample=subsample).fit_blocks(source)
    with pytest.raises(ValueError, match="sparse matrix in memory: use fit"):
        QuantileTransformer(ignore_implicit_zeros=True).fit_blocks(pellucid.data.blocks(X))

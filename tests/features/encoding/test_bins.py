"""KBinsDiscretizer against scikit-learn's; one-dimensional k-means against Lloyd's rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse
from sklearn import preprocessing

from pellucid import KBinsDiscretizer
from pellucid.core.runtime.signatures import compile_modules
from pellucid.features.encoding import bin_kernels as compiled
from pellucid.features.encoding.bins import METHODS, kmeans_centers

rng = np.random.default_rng(0)
X = np.column_stack([rng.normal(size=400), rng.exponential(size=400), rng.uniform(-5, 5, size=400)])


def dense(Z):
    return Z.toarray() if issparse(Z) else Z


def compare(params, X=X, w=None):
    ours, theirs = KBinsDiscretizer(**params), preprocessing.KBinsDiscretizer(**params)
    ours.fit(X, sample_weight=w), theirs.fit(X, sample_weight=w)
    assert_array_equal(ours.n_bins_, theirs.n_bins_)
    for a, b in zip(ours.bin_edges_, theirs.bin_edges_, strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    a, b = ours.transform(X), theirs.transform(X)
    assert issparse(a) == issparse(b)
    assert a.dtype == b.dtype
    assert_array_equal(dense(a), dense(b))
    assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())
    assert_allclose(ours.inverse_transform(a), theirs.inverse_transform(b), rtol=1e-9)
    return ours


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
@pytest.mark.parametrize("encode", ["onehot", "onehot-dense", "ordinal"])
@pytest.mark.parametrize("n_bins", [2, 5, [3, 9, 40]])
def test_scikit_learn(strategy, encode, n_bins):
    compare({"n_bins": n_bins, "encode": encode, "strategy": strategy})


@pytest.mark.parametrize("method", METHODS)
def test_quantile_methods(method):
    compare({"quantile_method": method})


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_weights(strategy):
    compare({"strategy": strategy}, w=rng.integers(0, 3, size=len(X)).astype(float))


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
def test_weights_are_repetitions(strategy):
    w = rng.integers(0, 3, size=len(X))
    a = KBinsDiscretizer(strategy=strategy).fit(X, sample_weight=w)
    b = KBinsDiscretizer(strategy=strategy).fit(np.repeat(X, w, axis=0))
    for mine, other in zip(a.bin_edges_, b.bin_edges_, strict=True):
        assert_allclose(mine, other, rtol=1e-12)


def test_subsample_is_scikit_learns():
    compare({"subsample": 100, "random_state": 3})


@pytest.mark.filterwarnings("ignore:.*(constant|too small|merged|one bin)")
def test_equal_edges_are_merged_with_a_warning():
    ties = np.column_stack([np.r_[np.zeros(90), np.arange(10.0)], np.ones(100)])
    ours = KBinsDiscretizer(encode="ordinal").fit(ties)
    theirs = preprocessing.KBinsDiscretizer(encode="ordinal").fit(ties)
    assert_array_equal(ours.n_bins_, theirs.n_bins_)
    assert_array_equal(ours.transform(ties), theirs.transform(ties))
    with pytest.warns(UserWarning, match="feature 0 are removed"):
        KBinsDiscretizer().fit(ties[:, :1])
    with pytest.warns(UserWarning, match="Feature 0 is constant"):
        KBinsDiscretizer().fit(ties[:, 1:])


def test_float32_stays():
    small = X.astype(np.float32)
    assert KBinsDiscretizer(encode="ordinal").fit(small).transform(small).dtype == np.float32
    assert KBinsDiscretizer(dtype=np.float32).fit(X).transform(X).dtype == np.float32


@pytest.mark.parametrize("k", [2, 4, 7])
def test_kmeans_is_stationary(k):
    """With no tolerance every centre ends as the mean of its cell."""
    x = np.sort(X[:, 1])
    start = np.linspace(x[0], x[-1], k + 1)
    centers = kmeans_centers(x, np.ones(len(x)), (start[1:] + start[:-1]) / 2, tolerance=0.0)
    labels = np.abs(x[:, None] - centers).argmin(axis=1)
    assert_allclose(centers, [x[labels == j].mean() for j in range(k)], rtol=1e-12)


def test_kmeans_steps_never_raise_the_error():
    x, start = X[:, 1], np.linspace(0.5, 6.0, 6)
    error = lambda c: (np.abs(x[:, None] - c).min(axis=1) ** 2).sum()  # noqa: E731
    tolerances = [1e9, 1.0, 1e-2, 1e-4, 0.0]  # from one step to all of them
    errors = [error(kmeans_centers(x, np.ones(len(x)), start, t)) for t in tolerances]
    assert (np.diff([error(start), *errors]) <= 1e-9).all()


def test_an_empty_cell_takes_the_farthest_row():
    """scikit-learn's rule for empty clusters."""
    x = np.r_[np.zeros(20), 0.1 * np.ones(20), 10.0, 10.1]
    compare({"n_bins": 5, "strategy": "kmeans", "encode": "ordinal"}, X=np.r_[x, 5.0][:, None])


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_bins": [3, 3]}, "3 columns"),
        ({"n_bins": [3, 3, 1]}, "column 2"),
        ({"n_bins": 1}, "n_bins"),
        ({"dtype": int}, "dtype"),
        ({"subsample": 0}, "subsample"),
    ],
)
def test_bad_parameters(params, words):
    with pytest.raises(ValueError, match=words):
        KBinsDiscretizer(**params).fit(X)


def test_weights_need_a_method_that_has_them():
    with pytest.raises(ValueError, match=r"quantile_method.*linear"):
        KBinsDiscretizer(quantile_method="linear").fit(X, sample_weight=np.ones(len(X)))


def test_middles_stay_in_their_bins():
    model = KBinsDiscretizer(encode="ordinal", n_bins=4).fit(X)
    codes = model.transform(X)
    assert_array_equal(model.transform(model.inverse_transform(codes)), codes)
    with pytest.raises(ValueError, match="transform gives 3"):
        model.inverse_transform(codes[:, :1])


def test_kernel():
    compile_modules([compiled.__name__])
    edges = np.sort(rng.normal(size=100))
    codes = np.empty((1, 50), np.int32)
    x = rng.normal(size=(50, 1))
    for part in (edges[:10], edges):
        compiled.bin_rows(x, part, np.array([0, len(part)]), 0, 50, codes)
        assert_array_equal(codes[0], np.searchsorted(part, x[:, 0], side="right"))


@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e-9, 1e9, 1e300, 1e307])
def test_units_do_not_matter(strategy, scale):
    """The bin of a cell does not depend on the unit its column is measured in."""
    plain = KBinsDiscretizer(strategy=strategy, encode="ordinal").fit_transform(X)
    bins = KBinsDiscretizer(strategy=strategy).fit(X * scale)
    sparse = bins.transform(X * scale)
    sparse.check_format(full_check=True)
    codes = KBinsDiscretizer(strategy=strategy, encode="ordinal").fit_transform(X * scale)
    assert_array_equal(codes, plain)
    assert np.isfinite(bins.inverse_transform(sparse)).all()


@pytest.mark.filterwarnings("ignore:Bins whose width are too small")
@pytest.mark.parametrize("strategy", ["uniform", "quantile", "kmeans"])
def test_the_whole_range_of_numbers(strategy):
    """From the smallest to the largest number the width of the range overflows."""
    ends = rng.choice([-1.7e308, 0.0, 1.7e308], size=(60, 3))
    bins = KBinsDiscretizer(strategy=strategy).fit(ends)
    found = bins.transform(ends)
    found.check_format(full_check=True)
    assert found.shape[1] == bins.n_bins_.sum() >= 6
    assert all(np.isfinite(edges).all() for edges in bins.bin_edges_)


def test_a_column_constant_but_for_rounding_has_one_bin():
    near = np.array([[1.0], [np.nextafter(1.0, 2.0)]] * 5)
    with pytest.warns(UserWarning, match="Feature 0 is constant"):
        bins = KBinsDiscretizer(encode="onehot-dense").fit(near)
    assert_array_equal(bins.transform(near), np.ones((10, 1)))

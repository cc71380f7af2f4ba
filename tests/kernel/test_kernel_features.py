"""KernelRidge, Nystroem and RandomFourierFeatures."""

import numpy as np
import pytest
import sklearn.kernel_approximation
import sklearn.kernel_ridge
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.model_selection import cross_val_score

from pellucid import KernelRidge, LinearSVC, Nystroem, RandomFourierFeatures
from pellucid.kernel import GaussianKernel, LaplacianKernel, LinearKernel, PolynomialKernel
from pellucid.kernel.approximation.kernels import shifted_cosines
from pellucid.kernel.approximation.nystroem import inverse_root

KERNELS = ["linear", "poly", "polynomial", "rbf", "laplacian", "sigmoid", "cosine", "chi2",
           "additive_chi2"]  # fmt: skip


def curve(n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = np.abs(rng.normal(size=(n, p)))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_ridge_is_scikit_learn(kernel):
    X, y = curve()
    Y = np.column_stack([y, y**2])
    w = np.random.default_rng(1).uniform(0.5, 2, size=60)
    params = {"kernel": kernel, "gamma": 0.7, "degree": 2, "coef0": 0.5, "alpha": [50.0, 200.0]}
    if kernel in ("sigmoid", "additive_chi2"):
        params["alpha"] = [3000.0, 4000.0]  # no kernels: a large alpha makes it positive
    ours = KernelRidge(**params).fit(X, Y, sample_weight=w)
    theirs = sklearn.kernel_ridge.KernelRidge(**params).fit(X, Y, sample_weight=w)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-6, atol=1e-9)
    assert_allclose(ours.predict(X[:7]), theirs.predict(X[:7]), rtol=1e-6)


def test_two_routes_of_the_linear_kernel():
    X, y = curve(80, 4)
    fast = KernelRidge(2.0).fit(X, y)
    slow = KernelRidge(2.0, leave_one_out=True).fit(X, y)
    assert_allclose(fast.dual_coef_, slow.dual_coef_, atol=1e-10)
    assert_allclose(KernelRidge(2.0).fit(csr_array(X), y).predict(csr_array(X)), fast.predict(X))
    feature = KernelRidge(kernel=PolynomialKernel(2)).fit(X, y).predict(X)
    lifted = PolynomialKernel(2).feature_map(X)
    assert_allclose(KernelRidge(kernel=LinearKernel()).fit(lifted, y).predict(lifted), feature)


@pytest.mark.parametrize("degree", [40, 10**6, 10**12])
def test_a_feature_map_that_would_never_end_is_refused(degree):
    rows = np.ones((2, 20))
    for kernel in (PolynomialKernel(degree), PolynomialKernel(4) * PolynomialKernel(4)):
        with pytest.raises(ValueError, match=r"the feature map has .* factors in a row"):
            kernel.feature_map(rows)


@pytest.mark.parametrize("degree", [1, 2, 5, 30])
def test_the_feature_map_of_any_degree_is_the_kernel(degree):
    rows = np.random.default_rng(0).normal(size=(6, 3))
    kernel = PolynomialKernel(degree, coef0=0.5, gamma=0.7)
    lifted = kernel.feature_map(rows)
    assert_allclose(lifted @ lifted.T, kernel(rows), rtol=1e-9, atol=1e-9 * kernel(rows).max())


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_is_the_fit_without_the_row(weighted):
    X, y = curve(25)
    w = np.random.default_rng(1).uniform(0, 2, size=25) if weighted else np.ones(25)
    if weighted:
        w[3] = 0.0
    params = {"alpha": 0.3, "kernel": "rbf", "gamma": 0.8}
    model = KernelRidge(**params, leave_one_out=True).fit(X, y, sample_weight=w)
    for i in range(25):
        rest = np.arange(25) != i
        other = KernelRidge(**params).fit(X[rest], y[rest], sample_weight=w[rest])
        expected = y[i] - other.predict(X[i : i + 1])[0]
        assert model.leave_one_out_residuals_[i] == pytest.approx(expected, abs=1e-9)
    mean = w @ model.leave_one_out_residuals_**2 / w.sum()
    assert model.leave_one_out_error_ == pytest.approx(mean)


def test_precomputed_is_cut_by_cross_validation():
    X, y = curve()
    k = GaussianKernel(1.0)
    rows = cross_val_score(KernelRidge(0.1, kernel=k), X, y)
    gram = cross_val_score(KernelRidge(0.1, kernel="precomputed"), k(X), y)
    assert_allclose(rows, gram)
    with pytest.raises(ValueError, match="square"):
        KernelRidge(kernel="precomputed").fit(X, y)


def inner(x, z, power):
    return float(x @ z) ** power


def test_a_function_of_two_rows():
    X, y = curve(30)
    model = KernelRidge(kernel=inner, kernel_params={"power": 2}).fit(X, y)
    same = KernelRidge(kernel=PolynomialKernel(2, coef0=0.0)).fit(X, y)
    assert_allclose(model.predict(X), same.predict(X), rtol=1e-7)
    features = Nystroem(inner, kernel_params={"power": 1}, n_components=20, random_state=0)
    assert features.fit_transform(X).shape == (30, 20)


def test_a_singular_kernel_without_penalty():
    X = np.array([[1.0], [1.0], [2.0]])
    model = KernelRidge(0.0, kernel="rbf").fit(X, [1.0, 3.0, 5.0])
    assert_allclose(model.predict(X), [2, 2, 5], atol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "chi2", "cosine"])
def test_nystroem_is_exact_on_its_landmarks(kernel):
    X, _ = curve(40)
    model = Nystroem(kernel, n_components=15, random_state=0).fit(X)
    K = np.asarray(model._kernel()(model.components_))
    B = model.transform(model.components_)
    theirs = sklearn.kernel_approximation.Nystroem(kernel, n_components=15, random_state=0).fit(X)
    theirs.components_, theirs.normalization_ = model.components_, inverse_root(K)
    assert_allclose(model.transform(X), theirs.transform(X), atol=1e-6)
    assert_allclose(B @ B.T, K, atol=1e-6)
    full = Nystroem(kernel, n_components=40, random_state=0).fit_transform(X)
    assert_allclose(full @ full.T, np.asarray(model._kernel()(X)), atol=1e-5)
    sparse = model.transform(csr_array(X))
    assert_allclose(sparse, model.transform(X), atol=1e-8)


def test_nystroem_of_a_gram_matrix_and_too_many_landmarks():
    X, _ = curve(30)
    K = GaussianKernel(1.0)(X)
    a = Nystroem("precomputed", n_components=10, random_state=0).fit(K)
    b = Nystroem(GaussianKernel(1.0), n_components=10, random_state=0).fit(X)
    assert_allclose(a.transform(K), b.transform(X), atol=1e-8)
    with pytest.warns(UserWarning, match="more than the 30 rows"):
        Nystroem(n_components=31, random_state=0).fit(X)


@pytest.mark.parametrize("kernel", [GaussianKernel(1.5), LaplacianKernel(2.0)])
def test_random_features_are_unbiased(kernel):
    X, _ = curve(20)
    F = RandomFourierFeatures(kernel, n_components=40_000, random_state=0).fit_transform(X)
    assert np.abs(F @ F.T - kernel(X)).max() < 0.03
    with pytest.raises(ValueError, match="LaplacianKernel"):
        RandomFourierFeatures(LinearKernel()).fit(X)


def test_rings_are_separated_by_features_and_a_linear_machine():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    angle = rng.uniform(0, 2 * np.pi, size=400)
    radius = 1 + y + 0.1 * rng.normal(size=400)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    assert LinearSVC().fit(X, y).score(X, y) < 0.75
    for features in (
        Nystroem(n_components=30, random_state=0),
        RandomFourierFeatures(n_components=100, random_state=0),
    ):
        Z = features.fit_transform(X)
        assert LinearSVC(C=10.0).fit(Z, y).score(Z, y) > 0.99


def test_cosines_are_those_of_the_c_library():
    """To a few units in the last place up to a million; beyond it NumPy takes over."""
    rng = np.random.default_rng(0)
    for size in (1.0, 100.0, 0.99e6):
        Z = rng.uniform(-size, size, size=(50, 40))
        found = Z.copy()
        assert shifted_cosines(found, np.zeros(40), 1.0) == 0
        assert_allclose(found, np.cos(Z), atol=5e-16)
    X = np.array([[1e9], [0.5]])
    model = RandomFourierFeatures(n_components=9, random_state=0).fit(X)
    expected = np.cos(X @ model.random_weights_ + model.random_offset_) * np.sqrt(2 / 9)
    assert_allclose(model.transform(X), expected, atol=1e-15)

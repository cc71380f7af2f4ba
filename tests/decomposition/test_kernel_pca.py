"""Kernel PCA: scikit-learn's numbers, PCA itself, explicit features, any similarity."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition as theirs
from sklearn.datasets import make_circles
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from pellucid import PCA, KernelPCA, LogisticRegression
from pellucid.core.functions.kernels import GaussianKernel, PolynomialKernel
from pellucid.decomposition import kernel_pca


@pytest.fixture(name="X")
def table():
    return np.random.default_rng(0).normal(size=(60, 4)) * [3, 2, 1, 0.5] + 1


@pytest.mark.parametrize("params", [
    {"kernel": "linear"}, {"kernel": "rbf", "gamma": 0.1}, {"kernel": "poly", "degree": 2},
    {"kernel": "cosine"}, {"kernel": "rbf"}, {"kernel": lambda a, b: float((a @ b + 1) ** 2)},
], ids=lambda p: str(p["kernel"])[:9])  # fmt: skip
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_the_numbers_of_scikit_learn(X, params, sparse_rows):
    if sparse_rows:
        if callable(params["kernel"]):
            return
        X = sparse.csr_matrix(X)
    ours, other = KernelPCA(3, **params), theirs.KernelPCA(3, **params)
    a, b = ours.fit_transform(X), other.fit_transform(X)
    np.testing.assert_allclose(ours.eigenvalues_, other.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-7)
    np.testing.assert_allclose(
        np.abs(ours.transform(X[:7])), np.abs(other.transform(X[:7])), atol=1e-7
    )
    np.testing.assert_allclose(ours.transform(X), a, atol=1e-7)


def test_linear_kernel_is_pca(X):
    model = KernelPCA().fit(X)
    assert model.eigenvalues_.shape == (4,)
    pca = PCA().fit(X)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(pca.transform(X)), atol=1e-9)
    np.testing.assert_allclose(model.eigenvalues_, pca.singular_values_**2)


def test_polynomial_kernel_is_pca_of_its_features(X):
    kernel = PolynomialKernel(2)
    model = KernelPCA(5, kernel=kernel).fit(X)
    features = kernel.feature_map(X)
    pca = PCA(5).fit(features)
    np.testing.assert_allclose(model.eigenvalues_, pca.singular_values_[:5] ** 2, rtol=1e-9)
    np.testing.assert_allclose(
        np.abs(model.transform(X)), np.abs(pca.transform(features)), atol=1e-6
    )


def test_kernel_objects_and_given_matrices_agree(X):
    plain = KernelPCA(3, kernel="rbf", gamma=0.5).fit(X)
    object_ = KernelPCA(3, kernel=GaussianKernel(1.0)).fit(X)
    K = rbf_kernel(X, gamma=0.5)
    given = KernelPCA(3, kernel="precomputed").fit(K)
    for other, rows in ((object_, X[:9]), (given, K[:9])):
        np.testing.assert_allclose(other.transform(rows), plain.transform(X[:9]), atol=1e-9)
    assert given.__sklearn_tags__().input_tags.pairwise


@pytest.mark.parametrize("solver", ["arpack", "randomized", "dense", "auto"])
def test_every_solver_finds_the_leading_pairs(X, solver, monkeypatch):
    exact = KernelPCA(4, kernel="rbf", gamma=0.1).fit(X)
    monkeypatch.setattr(kernel_pca, "SMALL", 10)
    model = KernelPCA(4, kernel="rbf", gamma=0.1, eigen_solver=solver).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(model.transform(X), exact.transform(X), atol=1e-8)


def test_pre_images(X):
    params = {"kernel": "rbf", "gamma": 0.05, "fit_inverse_transform": True, "alpha": 1e-3}
    ours, other = KernelPCA(8, **params).fit(X), theirs.KernelPCA(8, **params).fit(X)
    back = ours.inverse_transform(ours.transform(X))
    np.testing.assert_allclose(back, other.inverse_transform(other.transform(X)), atol=1e-6)
    assert np.abs(back - X).mean() < 0.3
    with pytest.raises(ValueError, match="set fit_inverse_transform=True"):
        KernelPCA(2).fit(X).inverse_transform([[1.0, 2.0]])
    with pytest.raises(ValueError, match="precomputed"):
        KernelPCA(kernel="precomputed", fit_inverse_transform=True).fit(np.eye(3))


def test_circles_become_separable():
    X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    model = make_pipeline(KernelPCA(6, kernel="rbf", gamma=3), LogisticRegression())
    assert cross_val_score(model, X, y).min() > 0.95
    assert cross_val_score(make_pipeline(KernelPCA(2), LogisticRegression()), X, y).max() < 0.7


def test_a_similarity_that_is_no_kernel():
    """Negative eigenvalues have no direction: score 0, and the card says so."""
    S = np.random.default_rng(0).normal(size=(12, 12))
    S = S + S.T
    model = KernelPCA(12, kernel="precomputed").fit(S)
    assert (model.eigenvalues_ >= 0).all()
    assert np.isfinite(model.transform(S)).all()
    assert "no kernel" in str(model.card())
    assert KernelPCA(kernel="precomputed").fit(S).eigenvalues_.min() > 0


def test_rows_that_do_not_differ():
    with pytest.raises(ValueError, match="do not differ"):
        KernelPCA().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="square"):
        KernelPCA(kernel="precomputed").fit(np.ones((5, 2)))


@pytest.mark.parametrize("gamma", [0.05, 1.0, 5.0, 50.0])
def test_block_krylov_pairs_are_those_of_the_matrix(gamma):
    """Ten close eigenvalues (0.05); few above a flat rest (5); the identity (50).

    Where hundreds lie close to each other (1) no block is deep enough: it says so, and Lanczos
    goes on.
    """
    X = np.random.default_rng(0).standard_normal((700, 10))
    K = rbf_kernel(X, gamma=gamma)
    exact = np.linalg.eigvalsh(kernel_pca.centre_of(K).of(K))[::-1][:4]
    times = kernel_pca.centred_product(K)
    found = kernel_pca.leading(times, 700, 4)
    assert (found is None) == (gamma == 1.0)
    if found is not None:
        values, V = found
        np.testing.assert_allclose(values, exact, rtol=1e-12)
        np.testing.assert_allclose(V.T @ V, np.eye(4), atol=1e-12)
        np.testing.assert_allclose(times(V), V * values, atol=1e-10)
    model = KernelPCA(4, kernel="rbf", gamma=gamma).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, exact, rtol=1e-9)


def test_block_krylov_beyond_the_rank():
    """More directions wanted than there are: the rest have the value 0 and are orthonormal."""
    X = np.random.default_rng(0).standard_normal((700, 3))
    values, V = kernel_pca.leading(kernel_pca.centred_product(X @ X.T), 700, 5)
    exact = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1] * 700
    np.testing.assert_allclose(values, [*exact, 0, 0], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-12)

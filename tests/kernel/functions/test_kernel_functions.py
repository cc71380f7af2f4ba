"""Kernels: the formulas, the algebra, feature maps, and what is no kernel (KER-01, KER-02)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel, sigmoid_kernel

from pellucid import SVC
from pellucid.core.functions.kernels import kernel_from
from pellucid.kernel import (
    FunctionKernel,
    GaussianKernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    PrecomputedKernel,
    SigmoidKernel,
    check_kernel,
    gram,
)

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
MAPPED = [
    LinearKernel(),
    PolynomialKernel(3, coef0=0.7, gamma=0.4),
    PolynomialKernel(2, coef0=0.0),
    2.5 * LinearKernel() + PolynomialKernel(2),
    LinearKernel().on([0]) * PolynomialKernel(2).on([1, 2]),
    PolynomialKernel(2).normalized(),
]
OTHERS = [GaussianKernel(0.8), LaplacianKernel(1.3), GaussianKernel(1.0).on([0, 2]) * 0.5]


def test_example_22():
    x, z = [[1.0, 2.0]], [[3.0, 4.0]]
    assert LinearKernel()(x, z) == 11
    assert PolynomialKernel(2, coef0=0.0)(x, z) == 121
    assert_allclose(GaussianKernel(1.0)(x, z), 0.0183156389, atol=1e-10)
    assert_allclose(LinearKernel().normalized()(x, z), 0.9838699101, atol=1e-10)


def test_formulas_agree_with_scikit_learn():
    assert_allclose(GaussianKernel(0.8)(X, Z), rbf_kernel(X, Z, gamma=1 / (2 * 0.64)))
    assert_allclose(LaplacianKernel(1.3)(X, Z), laplacian_kernel(X, Z, gamma=1 / 1.3))
    assert_allclose(
        PolynomialKernel(3, coef0=0.7, gamma=0.4)(X, Z), polynomial_kernel(X, Z, 3, 0.4, 0.7)
    )
    assert_allclose(SigmoidKernel(0.2, 0.1)(X, Z), sigmoid_kernel(X, Z, 0.2, 0.1))


def test_distances_far_from_the_origin_keep_their_digits():
    assert_allclose(GaussianKernel(1.0)(X + 1e6, Z + 1e6), GaussianKernel(1.0)(X, Z), rtol=1e-8)
    assert (np.diagonal(GaussianKernel(1.0)(X)) == 1).all()


@pytest.mark.parametrize("kernel", MAPPED, ids=repr)
def test_feature_map_gives_the_kernel(kernel):
    assert_allclose(kernel.feature_map(X) @ kernel.feature_map(Z).T, kernel(X, Z), atol=1e-12)


@pytest.mark.parametrize("kernel", MAPPED + OTHERS, ids=repr)
def test_laws_of_every_kernel(kernel):
    K = kernel(X)
    assert_allclose(kernel.diagonal(X), np.diagonal(K))
    assert_allclose(K, K.T, atol=1e-14)
    assert_allclose(kernel(X, Z), kernel(Z, X).T, atol=1e-14)
    assert kernel == clone(kernel)
    assert hash(kernel) == hash(clone(kernel))
    found = check_kernel(kernel, X)
    assert found.valid
    assert str(found) == "valid by construction"
    assert_allclose(found.factor.T @ found.factor, K, atol=1e-10)
    if kernel in MAPPED[:4]:
        assert_allclose(kernel(csr_array(X), csr_array(Z)), kernel(X, Z))


def random_kernel(state, depth):
    """A random expression of sums, products, scalings, normalisations and choices of columns."""
    if depth == 0:
        base = [LinearKernel(), PolynomialKernel(2), GaussianKernel(0.8), LaplacianKernel(1.3)]
        kernel = base[state.integers(4)]
        return kernel.on([int(state.integers(3))]) if state.random() < 0.3 else kernel
    left, right = random_kernel(state, depth - 1), random_kernel(state, depth - 1)
    forms = [left + right, left * right, float(state.uniform(0, 3)) * left, left.normalized()]
    return forms[state.integers(4)]


@pytest.mark.parametrize("seed", range(25))
def test_what_the_algebra_makes_is_a_kernel(seed):
    """No eigenvalue below zero but by rounding, and a Gram of another sample fits to it."""
    state = np.random.default_rng(seed)
    kernel, rows = random_kernel(state, 1 + seed % 3), state.normal(size=(20, 3))
    values = np.linalg.eigvalsh(kernel(rows))
    assert values[0] >= -1e-12 * max(values[-1], 1e-300)
    assert_allclose(kernel(rows[:6], rows[6:]), kernel(rows)[:6, 6:], rtol=1e-9, atol=1e-12)
    assert check_kernel(kernel, rows).valid


def test_algebra():
    a, b = LinearKernel(), GaussianKernel(1.0)
    assert_allclose((a + b)(X, Z), a(X, Z) + b(X, Z))
    assert_allclose((a * b)(X, Z), a(X, Z) * b(X, Z))
    assert_allclose((3 * a)(X, Z), 3 * a(X, Z))
    assert_allclose(a.on([1])(X, Z), X[:, [1]] @ Z[:, [1]].T)
    assert (a + b).set_params(right__sigma=2.0) == a + GaussianKernel(2.0)
    assert a + b != b + a


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: PolynomialKernel(coef0=-1.0), "coef0 must be >= 0"),
        (lambda: GaussianKernel(0.0), "sigma must be > 0"),
        (lambda: -1.0 * LinearKernel(), "scale must be >= 0"),
        (lambda: LinearKernel().on([7])(X), "columns must be numbers of columns 0..2"),
        (lambda: LinearKernel().normalized()(np.zeros((2, 2))), "row 0"),
        (lambda: LinearKernel()(X, Z[:, :2]), "3 and 2"),
        (lambda: GaussianKernel()(X, Z[:, :2]), "3 and 2"),
        (lambda: kernel_from("rfb"), "did you mean 'rbf'"),
        (lambda: check_kernel(LinearKernel()), "needs the rows X"),
        (lambda: check_kernel(np.ones((2, 3))), "square"),
    ],
    ids=[str(i) for i in range(10)],
)
def test_refusals(make, match):
    with pytest.raises(ValueError, match=match):
        make()


def test_no_finite_feature_map():
    with pytest.raises(NotImplementedError, match="no finite feature map"):
        GaussianKernel().feature_map(X)


def test_kernel_from_reads_scikit_learns_names():
    assert_allclose(
        kernel_from("rbf", gamma="scale", n_features=3, variance=X.var())(X),
        rbf_kernel(X, gamma=1 / (3 * X.var())),
    )
    assert_allclose(kernel_from("rbf", gamma=0.0)(X), 1.0)
    assert kernel_from("poly", gamma="auto", n_features=4).gamma == 0.25
    assert_allclose(kernel_from(rbf_kernel)(X), rbf_kernel(X))
    assert isinstance(kernel_from("precomputed"), PrecomputedKernel)


def test_check_kernel_finds_a_witness():
    found = check_kernel(lambda x, z: -float(np.abs(x - z).sum()) + 1.0, X)
    assert not found.valid
    assert found.symmetric
    K = gram(lambda x, z: -float(np.abs(x - z).sum()) + 1.0, X)
    assert found.witness @ K @ found.witness < 0
    assert found.factor is None
    lopsided = check_kernel(np.array([[1.0, 0.5], [0.0, 1.0]]))
    assert not lopsided.valid
    assert not lopsided.symmetric
    assert str(check_kernel(FunctionKernel(np.dot), X)) == "valid on this sample"


def test_kernels_are_parameters_that_can_be_searched():
    y = (X[:, 0] > 0).astype(int)
    model = SVC(kernel=GaussianKernel(0.8)).fit(X, y)
    assert_allclose(
        model.decision_function(Z), SVC(gamma=1 / (2 * 0.64)).fit(X, y).decision_function(Z)
    )
    assert model.set_params(kernel__sigma=2.0).kernel == GaussianKernel(2.0)

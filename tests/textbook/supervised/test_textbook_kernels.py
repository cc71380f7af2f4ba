"""Each textbook kernel method against the fast one, on random problems."""

import numpy as np
import pytest
from agreement import same, same_mean
from numpy.testing import assert_allclose
from sklearn.gaussian_process.kernels import RBF

import pellucid
from pellucid.core.loops.statistics import Rows, unit_weights
from pellucid.kernel import (
    GaussianKernel,
    PolynomialKernel,
    WeisfeilerLehmanKernel,
    are_isomorphic,
    check_kernel,
    gram,
    weisfeiler_lehman_test,
)
from pellucid.kernel import kernel_alignment as fast_kernel_alignment
from pellucid.kernel.processes.inducing_bound import Data, Unit, lower_bound
from pellucid.textbook.kernels.gaussian_process import gaussian_process
from pellucid.textbook.kernels.graph_isomorphism import graph_isomorphism
from pellucid.textbook.kernels.inducing_points import inducing_points
from pellucid.textbook.kernels.kernel_alignment import kernel_alignment
from pellucid.textbook.kernels.kernel_functions import (
    gaussian,
    kernel_functions,
    linear,
    polynomial,
    quadratic_features,
)
from pellucid.textbook.kernels.kernel_perceptron import kernel_perceptron
from pellucid.textbook.kernels.kernel_ridge import kernel_ridge
from pellucid.textbook.kernels.laplace_classification import laplace_classification
from pellucid.textbook.kernels.linear_svm import linear_svm
from pellucid.textbook.kernels.maximum_margin import maximum_margin
from pellucid.textbook.kernels.multiple_kernel import multiple_kernel
from pellucid.textbook.kernels.nystroem import nystroem
from pellucid.textbook.kernels.one_class_svm import one_class_svm
from pellucid.textbook.kernels.random_features import Map, features, random_features
from pellucid.textbook.kernels.smo import smo, steps
from pellucid.textbook.kernels.support_vector_regression import support_vector_regression
from pellucid.textbook.kernels.weisfeiler_lehman import first_difference, weisfeiler_lehman


def problem(seed, n=40, p=2, gap=1.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.where(np.arange(n) % 2, 1, -1))
    return rng.normal(size=(n, p)) + gap * y[:, None] * rng.normal(size=p), y


def test_kernel_functions():
    X, _ = problem(0)
    Z = X[:7]
    same(gaussian(X, Z, 0.7), gram(GaussianKernel(0.7), X, Z))
    K = polynomial(X, X, 2, 1.5)
    same(K, gram(PolynomialKernel(2, 1.5), X))
    same(quadratic_features(X, 1.5) @ quadratic_features(X, 1.5).T, K)
    found = check_kernel(K)
    assert found.valid
    same(kernel_functions(K), found.min_eigenvalue, atol=1e-8)
    assert kernel_functions(-K) < -1
    assert not check_kernel(-K).valid


def test_kernel_ridge():
    X, _ = problem(1)
    y = np.sin(X[:, 0]) + X[:, 1]
    fit = kernel_ridge(gaussian(X, X, 1.0), y, 0.3)
    fast = pellucid.KernelRidge(0.3, kernel=GaussianKernel(1.0), leave_one_out=True).fit(X, y)
    same(fit.a, fast.dual_coef_, atol=1e-8)
    same(fit.leave_one_out, fast.leave_one_out_residuals_, atol=1e-8)


def test_gaussian_process():
    X, _ = problem(1)
    y = np.sin(X[:, 0]) + X[:, 1]
    plain = gaussian_process(X, y, X[:4] + 0.1, 1.3, 0.2)
    fast = pellucid.GaussianProcessRegressor(RBF(1.3), alpha=0.2, optimizer=None).fit(X, y)
    mean, sd = fast.predict(X[:4] + 0.1, return_std=True)
    value, slope = fast.log_marginal_likelihood(np.log([1.3]), eval_gradient=True)
    same(plain.mean, mean, atol=1e-8)
    same(plain.variance, sd**2, atol=1e-8)
    same([plain.log_evidence, plain.slope], [value, slope[0]])


def test_laplace_classification():
    X, _ = problem(1)
    y = (X[:, 0] > 0).astype(int)
    plain = laplace_classification(gaussian(X, X, 1.0), y)
    fast = pellucid.GaussianProcessClassifier(RBF(1.0), optimizer=None).fit(X, y)
    same(plain.f, fast.modes_[0].f)
    same(plain.log_evidence, fast.log_marginal_likelihood())


def test_inducing_points():
    X, _ = problem(1)
    y, Z = np.sin(X[:, 0]) + X[:, 1], X[:6]
    y = (y - y.mean()) / y.std()
    data = Data(Rows(X, y, unit_weights(len(X))), map, Unit(0.0, 1.0))
    fast = lower_bound(RBF(1.0), 0.2, data, Z)
    K = gaussian(Z, Z, 1.0) + fast.jitter * np.eye(6)  # a little of it, against rounding
    plain = inducing_points(K, gaussian(Z, X, 1.0), len(X), y, 0.2)
    same(plain.bound, fast.value)
    same(plain.b, fast.beta)


def test_kernel_perceptron():
    X, _ = problem(2, n=25)
    X = X - X.mean(axis=0)
    size = (X**2).sum(axis=1)
    y = np.where(size > np.median(size), 1, -1)  # a circle: no plane separates it
    keep = np.abs(size - np.median(size)) > 0.4
    X, y = X[keep], y[keep]
    a = kernel_perceptron(polynomial(X, X), y)
    phi = quadratic_features(X)
    fast = pellucid.Perceptron(shuffle=False, tol=None, fit_intercept=False, max_iter=100_000)
    fast.fit(phi, y)
    same(phi.T @ (a * y), fast.coef_[0], atol=1e-9)
    assert a.sum() == fast.n_updates_


def test_maximum_margin():
    X, y = problem(3, n=20)
    X = X + 3 * y[:, None]
    plane = maximum_margin(X, y)
    fast = pellucid.MaximumMarginClassifier().fit(X, y)
    same(plane.w, fast.coef_[0])
    same(plane.b, fast.intercept_[0])
    same(plane.margin, fast.margin_)
    hard = smo(linear(X, X), y, C=np.inf)
    same(X.T @ (hard.a * y), fast.coef_[0])


@pytest.mark.parametrize("C", [0.3, 5.0])
def test_smo(C):
    X, y = problem(4)
    K = gaussian(X, X, 1.0)
    last = smo(K, y, C)
    fast = pellucid.SVC(C=C, kernel=GaussianKernel(1.0), tol=1e-10).fit(X, y)
    same(K @ (last.a * y) + last.b, fast.decision_function(X), atol=1e-8)
    same(last.a, fast.multipliers_, atol=1e-8)
    for state, _ in zip(steps(K, y, C, 1e-10), range(50), strict=False):
        assert abs(state.a @ y) < 1e-10


def test_nu_machines_are_the_same_machines():
    X, y = problem(5)
    K = gaussian(X, X, 1.0)
    fast = pellucid.NuSVC(nu=0.4, kernel=GaussianKernel(1.0), tol=1e-10).fit(X, y)
    last = smo(K, y, float(np.abs(fast.dual_coef_).max()))
    same(K @ (last.a * y) + last.b, fast.decision_function(X), atol=1e-8)
    target = np.sin(2 * X[:, 0]) + 0.2 * X[:, 1]
    fast = pellucid.NuSVR(nu=0.4, C=2.0, kernel=GaussianKernel(1.0), tol=1e-10).fit(X, target)
    free = np.abs(np.abs(fast.dual_coef_[0]) - 2.0) > 1e-6
    on_tube = fast.support_[free]
    eps = np.abs(target - fast.predict(X))[on_tube].mean()
    fit = support_vector_regression(K, target, 2.0, eps)
    same(K @ fit.s + fit.b, fast.predict(X), atol=1e-8)


def test_support_vector_regression():
    X, _ = problem(6)
    y = np.sin(2 * X[:, 0]) + 0.2 * X[:, 1]
    K = gaussian(X, X, 1.0)
    fit = support_vector_regression(K, y, 2.0, 0.1)
    fast = pellucid.SVR(C=2.0, epsilon=0.1, kernel=GaussianKernel(1.0), tol=1e-10).fit(X, y)
    same(K @ fit.s + fit.b, fast.predict(X), atol=1e-8)
    fit = support_vector_regression(linear(X, X), y, 2.0, 0.1)
    fast = pellucid.LinearSVR(C=2.0, epsilon=0.1, tol=1e-7, max_iter=10_000).fit(X, y)
    same(X.T @ fit.s, fast.coef_, atol=1e-8)


def test_one_class_svm():
    X, _ = problem(7)
    K = gaussian(X, X, 1.0)
    region = one_class_svm(K, 0.3)
    fast = pellucid.OneClassSVM(nu=0.3, kernel=GaussianKernel(1.0), tol=1e-10).fit(X)
    same(K @ region.a, fast.score_samples(X))
    same(region.rho, fast.offset_)


def test_linear_svm():
    X, y = problem(8, p=4)
    fit = linear_svm(X, y, 0.7)
    fast = pellucid.LinearSVC(C=0.7, tol=1e-8).fit(X, y)
    same(fit.w, fast.coef_[0])
    same(fit.b, fast.intercept_[0])
    same(fit.L, fast.objective_)


def test_multiple_kernel():
    X, y = problem(9, n=24, p=3)
    Ks = [gaussian(X[:, [j]], X[:, [j]], 1.0) for j in range(3)]
    last = multiple_kernel(Ks, y, lambda K: smo(K, y, 1.0, tol=1e-9).a * y)
    kernels = [GaussianKernel(1.0).on([j]) for j in range(3)]
    fast = pellucid.MultipleKernelClassifier(kernels, tol=1e-7, max_iter=2000).fit(X, y)
    same(last.J, fast.objective_)
    # looser: the fast one ends by J, which is flat in the weights near the best ones
    assert_allclose(last.b, fast.weights_, atol=1e-5)


def test_nystroem():
    X, _ = problem(10)
    fast = pellucid.Nystroem(GaussianKernel(1.0), n_components=12, random_state=0).fit(X)
    B = X[fast.component_indices_]
    F = nystroem(gaussian(B, B), gaussian(X, B))
    same(F @ F.T, fast.transform(X) @ fast.transform(X).T, atol=1e-8)


def test_random_features():
    X, _ = problem(11)
    fast = pellucid.RandomFourierFeatures(0.8, n_components=30, random_state=0).fit(X)
    drawn = Map(fast.random_weights_, fast.random_offset_)
    same(features(drawn, X), fast.transform(X), atol=1e-10)
    F = features(random_features(2, 5000, 0.8, np.random.default_rng(0)), X[:6])
    products = 5000 * F.T[:, :, None] * F.T[:, None]  # each feature is a draw of the kernel
    same_mean(products, gaussian(X[:6], X[:6], 0.8))


def test_kernel_alignment():
    X, y = problem(12)
    K = gaussian(X, X)
    same(kernel_alignment(K, y), fast_kernel_alignment(K, y))


def random_graph(rng, n=6):
    A = np.triu(rng.random((n, n)) < 0.5, 1).astype(int)
    return A + A.T


def test_graphs():
    rng = np.random.default_rng(13)
    graphs = [random_graph(rng) for _ in range(4)]
    same(weisfeiler_lehman(graphs, 3), WeisfeilerLehmanKernel(n_iter=3)(graphs))
    order = rng.permutation(6)
    shuffled = graphs[0][np.ix_(order, order)]
    hexagon = np.roll(np.eye(6, dtype=int), 1, axis=1)
    triangles = np.kron(np.eye(2, dtype=int), 1 - np.eye(3, dtype=int))
    pairs = [*((graphs[0], g) for g in graphs[1:]), (graphs[0], shuffled)]
    for A, B in [*pairs, (hexagon + hexagon.T, triangles)]:
        found = weisfeiler_lehman_test(A, B)
        assert first_difference(A, B) == (found.iteration if found.distinguished else None)
        f = graph_isomorphism(A, B)
        assert (f is not None) == are_isomorphic(A, B).isomorphic
        assert f is None or (B[np.ix_(f, f)] == A).all()

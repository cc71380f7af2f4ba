"""The L1 core of logistic regression and its paths: optimality, certificates, peers, examples."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array
from scipy.special import expit, logsumexp, xlog1py, xlogy
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Peer

import pellucid.linear.logistic.proximal as proximal
from pellucid.compiled.epochs.logistic_coordinate import (
    logistic_entropy,
    logistic_rows,
    solve_model,
)
from pellucid.core.runtime.threads import limit_threads
from pellucid.linear import logistic_path
from pellucid.linear.logistic.columns import BufferedColumns, SparseColumns, WholeColumns
from pellucid.linear.logistic.proximal import ProximalNewton, fit_proximal_newton
from pellucid.linear.logistic.ridge_paths import fit_ridge_path


def standardised(load):
    X, y = load(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def problem(n, p, K, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    W = np.zeros((K, p))
    W[:, :3] = rng.normal(size=(K, 3)) * 2
    Z = (X - X.mean(axis=0)) @ W.T
    codes = np.argmax(Z + rng.gumbel(size=(n, K)), axis=1)
    return X, codes, rng.integers(1, 4, size=n).astype(float)


def residuals(X, codes, K, w, coef, intercept):
    """(value of the loss, gradient in W (k, p), gradient in b (k,))."""
    Z = X @ coef.T + intercept
    if K == 2:
        z, y = Z[:, 0], codes
        loss = w @ (np.logaddexp(0, z) - y * z)
        R = (w * (expit(z) - y))[:, None]
    else:
        total = logsumexp(Z, axis=1)
        loss = w @ (total - Z[np.arange(len(Z)), codes])
        R = w[:, None] * (np.exp(Z - total[:, None]) - np.eye(K)[codes])
    return loss, (X.T @ R).T, R.sum(axis=0)


def kkt(X, codes, K, w, C, r, fit, *, free=True, shrunk=False):
    """The largest violation of the optimality conditions, in units of 1/C."""
    _, G, g = residuals(X, codes, K, w, fit.coef, fit.intercept)
    W = fit.coef
    if shrunk:
        G, W = np.column_stack([G, g]), np.column_stack([W, fit.intercept])
    S = G + (1 - r) / C * W
    on = np.abs(S + r / C * np.sign(W))[W != 0]
    off = np.maximum(np.abs(S) - r / C, 0)[W == 0]
    worst = max(on.max(initial=0), off.max(initial=0))
    return max(worst, np.abs(g).max() if free and not shrunk else 0.0)


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("r", [1.0, 0.4, 0.0])
@pytest.mark.parametrize(("free", "shrunk"), [(True, False), (False, False), (True, True)])
@pytest.mark.parametrize("kind", ["rows", "columns", "sparse"])
def test_optimality_conditions(K, r, free, shrunk, kind):
    X, codes, w = problem(120, 12, K)
    matrix = {"rows": X, "columns": np.asfortranarray(X), "sparse": csr_array(X)}[kind]
    for C in (0.02, 1.0):
        fit = fit_proximal_newton(
            matrix, codes, K, w, C, r, fit_intercept=free, shrink_intercept=shrunk, tol=1e-6
        )
        scale = w.sum()
        assert kkt(X, codes, K, w, C, r, fit, free=free, shrunk=shrunk) < 1e-6 * scale
        assert fit.converged
        assert 0 <= fit.gap < 1e-9 * scale * max(C, 1)
        assert fit.coef.shape == (1 if K == 2 else K, 12)


@pytest.mark.parametrize("K", [2, 3])
def test_more_columns_than_rows(K):
    X, codes, w = problem(60, 300, K)
    fit = fit_proximal_newton(X, codes, K, w, 0.1, 1.0, tol=1e-6)
    assert kkt(X, codes, K, w, 0.1, 1.0, fit) < 1e-6 * w.sum()
    assert 0 < np.count_nonzero(fit.coef) < 120
    same = fit_proximal_newton(csc_array(X), codes, K, w, 0.1, 1.0, tol=1e-6)
    np.testing.assert_allclose(same.objective, fit.objective, rtol=1e-11)


def test_classes_apart_reach_the_same_minimum(monkeypatch):
    X, codes, w = problem(150, 10, 4)
    joint = fit_proximal_newton(X, codes, 4, w, 0.1, 0.7, tol=1e-6)
    monkeypatch.setattr(proximal, "JOINT", 0)
    apart = fit_proximal_newton(X, codes, 4, w, 0.1, 0.7, tol=1e-6)
    np.testing.assert_allclose(apart.objective, joint.objective, rtol=1e-11)
    assert kkt(X, codes, 4, w, 0.1, 0.7, apart) < 1e-5 * w.sum()


def test_example_10_breast_cancer():
    X, y = standardised(load_breast_cancer)
    fit = fit_proximal_newton(X, y, 2, np.ones(len(y)), 0.05, 1.0)
    np.testing.assert_array_equal(np.flatnonzero(fit.coef[0]), [7, 20, 21, 27, 28])
    np.testing.assert_allclose(fit.objective / 0.05, 159.9355564, atol=5e-8)
    path = logistic_path(X, y, l1_ratio=1.0, Cs=20)
    np.testing.assert_allclose(1 / path.Cs[0], 218.3157661, atol=5e-8)
    assert not path.coefs[0].any()
    beyond = logistic_path(X, y, l1_ratio=1.0, Cs=[path.Cs[0] * (1 + 1e-6)], tol=1e-7)
    assert np.count_nonzero(beyond.coefs) == 1


def test_liblinear_penalises_the_intercept_too():
    X, y = standardised(load_breast_cancer)
    ours = fit_proximal_newton(X, y, 2, np.ones(len(y)), 0.3, 1.0, shrink_intercept=True, tol=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = Peer(C=0.3, l1_ratio=1.0, solver="liblinear", tol=1e-9, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(ours.coef, peer.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.intercept, peer.intercept_, atol=2e-4)


def test_saga_finds_the_same_softmax():
    X, y = standardised(load_wine)
    ours = fit_proximal_newton(X, y, 3, np.ones(len(y)), 0.5, 0.5, tol=1e-6)
    peer = Peer(C=0.5, l1_ratio=0.5, solver="saga", tol=1e-8, max_iter=20000).fit(X, y)
    # the objective is 1/2-strongly convex in W, which bounds the distance; not so in the intercept
    assert np.linalg.norm(ours.coef - peer.coef_) <= np.sqrt(4 * ours.gap) + 1e-6
    shift = ours.intercept - peer.intercept_
    np.testing.assert_allclose(shift, shift[0], atol=1e-5)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("r", [1.0, 0.5])
def test_the_gap_bounds_the_distance_to_the_minimum(K, r):
    X, codes, w = problem(100, 30, K)
    best = fit_proximal_newton(X, codes, K, w, 0.2, r, tol=1e-6).objective
    solver = ProximalNewton(X, codes, K, w)
    solver.penalise(0.2, r, 1e-12)
    state = solver.begin()
    rng = np.random.default_rng(1)
    for _ in range(4):
        assert 0.2 * (state.value - state.gap) <= best * (1 + 1e-12)
        state, _ = solver.step(state)
        start = rng.normal(size=state.W.shape) * 0.1
        far = solver.begin(start, rng.normal(size=len(start)))
        assert 0.2 * (far.value - far.gap) <= best * (1 + 1e-12)


@pytest.mark.parametrize("K", [2, 3])
def test_objective_falls_at_every_step(K):
    X, codes, w = problem(200, 40, K)
    fit = fit_proximal_newton(X, codes, K, w, 0.05, 0.9, tol=1e-6)
    assert (np.diff(fit.history["objective"]) <= 1e-12).all()
    assert fit.history["gap"][-1] <= 1e-12


@pytest.mark.parametrize("K", [2, 3])
def test_weights_are_repetitions_and_order_does_not_matter(K):
    X, codes, w = problem(80, 8, K)
    w[::7] = 0.0
    weighted = fit_proximal_newton(X, codes, K, w, 0.1, 1.0, tol=1e-6)
    again = np.repeat(np.arange(80), w.astype(int))
    repeated = fit_proximal_newton(X[again], codes[again], K, np.ones(len(again)), 0.1, 1.0,
                                   tol=1e-6)  # fmt: skip
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-6)
    order, columns = np.random.default_rng(0).permutation(80), np.arange(8)[::-1]
    mixed = fit_proximal_newton(
        np.ascontiguousarray(X[order][:, columns]), codes[order], K, w[order], 0.1, 1.0, tol=1e-6
    )
    np.testing.assert_allclose(mixed.coef[:, columns], weighted.coef, atol=1e-6)


@pytest.mark.parametrize("shape", [(40000, 6), (300, 600)])
def test_same_bits_for_any_number_of_threads(shape):
    X, codes, w = problem(*shape, 2)
    paths = []
    for threads in (1, 2, 3):
        with limit_threads(threads):
            paths.append(logistic_path(X, codes, Cs=4, eps=0.1, l1_ratio=0.9, sample_weight=w))
    for other in paths[1:]:
        np.testing.assert_array_equal(paths[0].coefs, other.coefs)
        np.testing.assert_array_equal(paths[0].intercepts, other.intercepts)


def test_a_constant_column_gets_no_weight():
    X, codes, w = problem(100, 5, 2)
    X[:, 2] = 7.0
    for matrix in (X, np.asfortranarray(X), csr_array(X)):
        fit = fit_proximal_newton(matrix, codes, 2, w, 1.0, 1.0, tol=1e-6)
        assert fit.coef[0, 2] == 0


def test_separated_classes_have_a_finite_minimum():
    X = np.arange(6.0)[:, None]
    fit = fit_proximal_newton(X, np.array([0, 0, 0, 1, 1, 1]), 2, np.ones(6), 1e4, 1.0, tol=1e-6)
    assert kkt(X, np.array([0, 0, 0, 1, 1, 1]), 2, np.ones(6), 1e4, 1.0, fit) < 1e-6
    assert fit.converged


def test_the_support_is_recovered():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3000, 200))
    w = np.zeros(200)
    w[:5] = [2, -2, 1.5, -1.5, 1]
    y = (X @ w + rng.logistic(size=3000) > 0).astype(int)
    fit = fit_proximal_newton(X, y, 2, np.ones(3000), 1 / 100, 1.0)
    assert set(np.flatnonzero(fit.coef[0])) == {0, 1, 2, 3, 4}
    assert (np.sign(fit.coef[0, :5]) == np.sign(w[:5])).all()


def test_too_few_rounds_warn():
    X, codes, w = problem(200, 40, 2)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        fit_proximal_newton(np.asfortranarray(X), codes, 2, w, 1.0, 1.0, max_iter=1, tol=1e-6)
    with pytest.warns(ConvergenceWarning, match="of 3 values of C"):
        logistic_path(X, codes, Cs=[0.1, 1.0, 10.0], l1_ratio=1.0, max_iter=1, tol=1e-6)


# --- pieces --------------------------------------------------------------------------------


def test_rows_of_the_loss():
    rng = np.random.default_rng(0)
    z, y, v = rng.normal(size=50) * 30, rng.integers(0, 2, 50).astype(float), rng.uniform(size=50)
    g, h = np.empty(50), np.empty(50)
    loss = logistic_rows(z, y, v, 0, 50, g, h)
    np.testing.assert_allclose(loss, v @ (np.logaddexp(0, z) - y * z), rtol=1e-13)
    np.testing.assert_allclose(g, v * np.where(y == 1, -expit(-z), expit(z)), rtol=1e-12)
    np.testing.assert_allclose(h, v * np.maximum(expit(z) * expit(-z), 1e-9), rtol=1e-12)
    a = y + 0.5 * g / v
    entropy = -(xlogy(a, a) + xlog1py(1 - a, -a))
    np.testing.assert_allclose(logistic_entropy(g, y, v, 0.5, 0, 50), v @ entropy, rtol=1e-12)


def test_the_model_is_solved_up_to_its_damping():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 20))
    G, c, w = A.T @ A, rng.normal(size=20) * 20, rng.normal(size=20)
    old, slope = w.copy(), -c.copy()
    solve_model(G, c, w, 5.0, 0.5, 1e-12, 1000)
    g = slope + G @ (w - old) + 0.5 * w
    np.testing.assert_allclose(c, -(slope + G @ (w - old)), atol=1e-9)
    np.testing.assert_allclose(g[w != 0], -5.0 * np.sign(w[w != 0]), atol=1e-5)
    assert (np.abs(g[w == 0]) <= 5.0 + 1e-8).all()


@pytest.mark.parametrize("kind", [WholeColumns, BufferedColumns, SparseColumns])
def test_products_of_columns(kind):
    rng = np.random.default_rng(0)
    X, h, R = rng.normal(size=(300, 7)), rng.uniform(size=300), rng.normal(size=(2, 300))
    columns = kind(csr_array(X) if kind is SparseColumns else X)
    index = np.arange(7) if kind is WholeColumns else np.array([5, 1, 3])
    d = rng.normal(size=len(index))
    np.testing.assert_allclose(columns.dot(index, d), X[:, index] @ d, atol=1e-12)
    np.testing.assert_allclose(columns.transposed(index, R), R @ X[:, index], atol=1e-11)
    np.testing.assert_allclose(columns.all(R), R @ X, atol=1e-11)
    G, mean = columns.gram(index, h)
    np.testing.assert_allclose(mean, h @ X[:, index] / h.sum(), atol=1e-12)
    Z = X[:, index] - mean
    np.testing.assert_allclose(G, (Z * h[:, None]).T @ Z, atol=1e-10)


# --- paths ---------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("shape", [(150, 20), (50, 120)])
@pytest.mark.parametrize("r", [1.0, 0.3])
def test_every_point_of_a_path_is_a_minimum(K, shape, r):
    X, codes, w = problem(*shape, K)
    path = logistic_path(X, codes, Cs=6, eps=0.02, l1_ratio=r, sample_weight=w, tol=1e-6)
    assert path.coefs.shape == ((6, shape[1]) if K == 2 else (6, K, shape[1]))
    for i, C in enumerate(path.Cs):
        one = fit_proximal_newton(X, codes, K, w, C, r, tol=1e-6)
        W, b = np.atleast_2d(path.coefs[i]), np.atleast_1d(path.intercepts[i])
        loss, _, _ = residuals(X, codes, K, w, W, b)
        value = C * loss + r * np.abs(W).sum() + (1 - r) / 2 * (W**2).sum()
        np.testing.assert_allclose(value, one.objective, rtol=1e-10)
    assert (path.gaps <= 1e-11 * path.Cs * w.sum()).all()


@pytest.mark.parametrize("shape", [(200, 8), (40, 90)])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_an_l2_path_is_the_proximal_fit_without_l1(shape, K, intercept):
    X, codes, w = problem(*shape, K)
    Cs = np.array([0.01, 0.1, 1.0])
    path = fit_ridge_path(X, codes, K, w, Cs, fit_intercept=intercept, tol=1e-6, max_iter=100)
    assert path.converged
    for i, C in enumerate(Cs):
        one = fit_proximal_newton(X, codes, K, w, C, 0.0, tol=1e-6, fit_intercept=intercept)
        # the objective is 1-strongly convex in W: the gap bounds the distance to the minimiser
        assert np.linalg.norm(path.coefs[i] - one.coef) <= np.sqrt(2 * one.gap) + 1e-7


def test_many_unknowns_go_to_lbfgs(monkeypatch):
    import pellucid.linear.logistic.ridge_paths as ridge_paths

    X, codes, w = problem(200, 8, 3)
    exact = fit_ridge_path(X, codes, 3, w, np.array([0.1, 1.0]), fit_intercept=True, tol=1e-8,
                           max_iter=100)  # fmt: skip
    monkeypatch.setattr(ridge_paths, "NEWTON_SIZE", 1)
    other = fit_ridge_path(csr_array(X), codes, 3, w, np.array([0.1, 1.0]), fit_intercept=True,
                           tol=1e-8, max_iter=100)  # fmt: skip
    np.testing.assert_allclose(other.coefs, exact.coefs, atol=1e-5)


def test_path_of_sparse_and_frames_and_labels():
    import pandas as pd

    X, codes, _ = problem(100, 6, 2)
    labels = np.array(["no", "yes"])[codes]
    one = logistic_path(X, labels, Cs=4, l1_ratio=1.0)
    for other in (csr_array(X), pd.DataFrame(X)):
        np.testing.assert_allclose(logistic_path(other, labels, Cs=4, l1_ratio=1.0).coefs,
                                   one.coefs, atol=1e-5)  # fmt: skip
    unsorted = logistic_path(X, labels, Cs=[3.0, 0.1], l1_ratio=1.0)
    np.testing.assert_array_equal(unsorted.Cs, [0.1, 3.0])
    ridge = logistic_path(X, labels, Cs=3)
    assert np.isfinite(ridge.coefs).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"Cs": 0}, "Cs must be"),
        ({"Cs": [1.0, -1.0]}, "Cs must be"),
        ({"Cs": "many"}, "Cs must be"),
        ({"l1_ratio": 1.5}, "l1_ratio must be between"),
        ({"eps": 2.0}, "eps must be"),
        ({"tol": 0.0}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
    ],
)
def test_bad_options_are_refused(options, words):
    X, codes, _ = problem(20, 3, 2)
    with pytest.raises(ValueError, match=words):
        logistic_path(X, codes, **options)


def test_bad_data_are_refused():
    X, codes, _ = problem(20, 3, 2)
    with pytest.raises(ValueError, match="class"):
        logistic_path(X, np.zeros(20, dtype=int))
    with pytest.raises(ValueError, match="class"):
        logistic_path(X, codes, sample_weight=codes.astype(float))
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="column 1, row 3"):
        logistic_path(X, codes)


def test_nothing_varies():
    path = logistic_path(np.ones((6, 2)), [0, 0, 1, 1, 1, 1], Cs=3, l1_ratio=1.0)
    assert not path.coefs.any()
    np.testing.assert_allclose(path.intercepts, np.log(2), rtol=1e-12)

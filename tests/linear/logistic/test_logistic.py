"""Logistic regression against scikit-learn, brute force and the catalogue's examples."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgWarning
from scipy.optimize import check_grad, minimize
from scipy.sparse import csr_matrix
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as Sklearn
from sklearn.model_selection import train_test_split

from pellucid import LogisticRegression
from pellucid.compiled.epochs.logistic import exponential
from pellucid.core.functions.penalties import L1L2
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.threads import limit_threads
from pellucid.linear import SeparationWarning
from pellucid.linear.logistic.newton import lift_null_space, solve_curvature
from pellucid.linear.logistic.solver_objects import SoftmaxObjective
from pellucid.linear.logistic.sums import leaf_sums
from pellucid.solvers import GradientDescent, Newton, ProximalGradient, SubgradientDescent


def rows(n=300, p=5, K=2, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p))) + shift
    Z = (X - shift) @ rng.normal(size=(p, K)) + rng.normal(size=K)
    return X, (Z + rng.gumbel(size=Z.shape)).argmax(axis=1)


def objective(model, X, y, C, ratio=0.0, w=None):
    """C sum w loss + penalty, from the probabilities alone."""
    Z = np.atleast_2d(X @ model.coef_.T + model.intercept_)
    if Z.shape[1] == 1:
        Z = np.hstack([0 * Z, Z])
    loss = logsumexp(Z, axis=1) - Z[np.arange(len(y)), y]
    W = model.coef_
    loss = loss if w is None else w * loss
    return C * loss.sum() + (1 - ratio) / 2 * (W**2).sum() + ratio * np.abs(W).sum()


# --- the sums --------------------------------------------------------------------------------


def test_exponential_is_exact_to_a_unit():
    x = np.random.default_rng(0).uniform(-700, 700, 2000)
    assert_allclose([exponential(v) for v in x], np.exp(x), rtol=4e-16)


@pytest.mark.parametrize("K", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("p", [1, 7, 300])
def test_sums_are_those_of_numpy(K, weighted, p):
    rng = np.random.default_rng(p)
    n = 150
    X, y = rng.normal(size=(n, p)), rng.integers(0, max(K, 2), n)
    w = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    shift, T = X[:5].mean(axis=0), rng.normal(size=(K, p + 1)) / np.sqrt(p)
    D = np.column_stack([np.ones(n), X - shift])
    Z = D @ T.T
    full = Z if K > 1 else np.hstack([0 * Z, Z])
    P = np.exp(full - logsumexp(full, axis=1, keepdims=True))
    loss = -(w * np.log(P[np.arange(n), y])).sum()
    R = (P - np.eye(max(K, 2))[y])[:, -K:] * w[:, None]
    Q = P[:, -K:]
    H = np.einsum("n,nk,kl,na,nb->kalb", w, Q, np.eye(K), D, D, optimize=True)
    H -= np.einsum("n,nk,nl,na,nb->kalb", w, Q, Q, D, D, optimize=True)
    source = Rows(X, y.astype(np.intp), w if weighted else np.broadcast_to(1.0, (n,)))
    for matrix in (X, csr_matrix(X)):
        got = leaf_sums(T, shift, 1.0, None, True, source._replace(X=matrix))
        assert_allclose(got.loss, loss, rtol=1e-13)
        assert_allclose(got.slope, R.T @ D, atol=1e-11)
        assert_allclose(np.tril(got.curvature), np.tril(H.reshape(K * (p + 1), -1)), atol=1e-11)
        assert got.wrong == ((P.argmax(axis=1) != y) & (w > 0)).sum()
    flat = leaf_sums(T, 0 * shift, 1.0, None, False, source)
    sparse = leaf_sums(T, 0 * shift, 1.0, None, False, source._replace(X=csr_matrix(X)))
    assert_allclose(sparse.slope, flat.slope, atol=1e-12)
    assert_allclose(sparse.loss, flat.loss, rtol=1e-13)


def test_singular_curvature_gives_the_least_norm_step():
    A = np.random.default_rng(0).normal(size=(30, 3))
    A = np.column_stack([A, A[:, 0] + A[:, 1]])
    H, g = A.T @ A, A.T @ np.ones(30)
    solved = solve_curvature(H, g)
    assert_allclose(solved.step, -np.linalg.pinv(H) @ g, atol=1e-10)
    assert solved.rank == 3
    assert solved.dependent == (0, 1, 3)


def test_lifting_the_null_space_leaves_the_step_alone():
    X, y = rows(50, 2, 3)
    T = np.random.default_rng(1).normal(size=(3, 3))
    sums = leaf_sums(T, np.zeros(2), 1.0, None, True, Rows(X, y, np.ones(50)))
    H = np.tril(sums.curvature) + np.tril(sums.curvature, -1).T
    g = sums.slope.ravel()
    step = solve_curvature(lift_null_space(H, np.zeros(3), 3), g).step
    assert_allclose(step, -np.linalg.pinv(H) @ g, atol=1e-9)
    assert_allclose(step.reshape(3, 3).sum(axis=0), 0, atol=1e-12)


# --- oracles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0, np.inf])
@pytest.mark.parametrize("intercept", [True, False])
def test_newton_equals_scikit_learn_at_tight_tolerance(K, C, intercept):
    X, y = rows(400, 5, K, seed=K, shift=3.0)
    ours = LogisticRegression(C=C, fit_intercept=intercept).fit(X, y)
    theirs = Sklearn(
        C=C, fit_intercept=intercept, solver="newton-cholesky", tol=1e-12, max_iter=500
    ).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-7)
    assert objective(ours, X, y, min(C, 1e6)) <= objective(theirs, X, y, min(C, 1e6)) * (1 + 1e-9)
    if np.isfinite(C) or K == 2:
        assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-6)
        assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("K", [2, 5])
@pytest.mark.parametrize("sparse", [False, True])
def test_lbfgs_equals_newton(K, sparse):
    X, y = rows(400, 60, K, seed=3)
    X = X / np.sqrt(60)
    matrix = csr_matrix(X) if sparse else X
    wide = LogisticRegression(tol=1e-9, max_iter=1000)
    wide._newton_pays = lambda *_: False
    fast = wide.fit(matrix, y)
    exact = LogisticRegression(solver="newton-cholesky", tol=1e-9).fit(X, y)
    assert "L-BFGS" in fast.card().optimisation
    assert "Newton" in exact.card().optimisation
    assert_allclose(fast.coef_, exact.coef_, atol=1e-8)
    assert_allclose(fast.intercept_, exact.intercept_, atol=1e-8)
    assert (np.diff(fast.history_["objective"]) <= 1e-12).all()


@pytest.mark.parametrize("K", [2, 3])
def test_the_gradient_is_zero_and_every_solver_name_agrees(K):
    X, y = rows(250, 4, K)
    reference = LogisticRegression(C=0.7).fit(X, y)
    P = reference.predict_proba(X)
    R = P - np.eye(K)[y]
    R = R[:, 1:] if K == 2 else R
    assert_allclose(0.7 * R.T @ X + reference.coef_, 0, atol=1e-9)
    assert_allclose(R.sum(axis=0), 0, atol=1e-9)
    for name in ("auto", "newton-cg", "newton-cholesky", "sag", "saga"):
        assert_array_equal(LogisticRegression(C=0.7, solver=name).fit(X, y).coef_, reference.coef_)


@pytest.mark.parametrize("scaling", [1, 0.5, 10])
@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_liblinear_penalises_the_intercept(scaling, ratio):
    X, y = rows(200, 3)
    options = {"C": 0.5, "solver": "liblinear", "intercept_scaling": scaling, "l1_ratio": ratio}
    ours = LogisticRegression(tol=1e-8, **options).fit(X, y)
    theirs = Sklearn(tol=1e-10, max_iter=5000, **options).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-4)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("ratio", [0.5, 1.0])
def test_l1_reaches_the_minimum_with_exact_zeros(K, ratio):
    X, y = rows(200, 6, K)
    C = 0.1
    ours = LogisticRegression(C=C, l1_ratio=ratio).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Sklearn(C=C, l1_ratio=ratio, solver="saga", tol=1e-9, max_iter=20000).fit(X, y)
    best = objective(theirs, X, y, C, ratio)
    assert objective(ours, X, y, C, ratio) <= best * (1 + 1e-7)
    if ratio == 1:
        assert (ours.coef_ == 0).any()
    assert len(ours.history_) >= 1


def test_large_offsets_do_not_cost_digits():
    X, y = rows(300, 3)
    near = LogisticRegression(C=np.inf).fit(X, y)
    far = LogisticRegression(C=np.inf).fit(X + 1e6, y)
    assert_allclose(far.coef_, near.coef_, rtol=1e-6)
    assert_allclose(far.standard_errors_[1:], near.standard_errors_[1:], rtol=1e-6)


def test_a_sample_start_changes_nothing():
    X, y = rows(40_000, 6)
    model = LogisticRegression().fit(X, y)
    assert "sample" in model.card().optimisation
    other = LogisticRegression().fit(X, y, coef_init=np.zeros((1, 6)))
    assert_allclose(model.coef_, other.coef_, rtol=1e-10)


def test_recovers_the_model_that_made_the_data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 3))
    w, b = np.array([1.0, -2.0, 0.5]), 0.7
    y = X @ w + b + rng.logistic(size=len(X)) > 0
    model = LogisticRegression(C=np.inf).fit(X, y)
    z = (np.append(model.intercept_, model.coef_[0]) - np.append(b, w)) / model.standard_errors_
    assert np.abs(z).max() < 4


# --- examples of the catalogue ---------------------------------------------------------------

x6, y6 = np.arange(6.0)[:, None], [0, 0, 1, 0, 1, 1]


def test_example_5_newton_steps():
    for solver in ("auto", Newton()):
        model = LogisticRegression(C=np.inf, solver=solver).fit(x6, y6)
        steps = model.history_["parameters"]
        assert_allclose(steps[1], (-2, 0.8), atol=1e-10)
        assert_allclose(steps[2], (-2.7744394454, 1.1097757782), atol=1e-9)
        assert_allclose(model.intercept_, -3.0350689646, atol=1e-8)
        assert_allclose(model.coef_, [[1.2140275859]], atol=1e-8)
        assert_allclose(model.log_likelihood_, -2.4779868350, atol=1e-9)
        assert_allclose(model.aic_, 8.9559736701, atol=1e-9)


@pytest.mark.filterwarnings("ignore:GradientDescent. no convergence")
def test_example_6_gradient_descent_on_separated_rows():
    rng = np.random.RandomState(5)
    a, b = rng.rand(100) * 2 + 1, rng.rand(100) * 3
    X, y = np.column_stack([a, b]), b > 1.5 * a - 1
    model = LogisticRegression(C=np.inf, solver=GradientDescent(10, max_iter=20))
    with pytest.warns(SeparationWarning, match="separates"):
        model.fit(X, y, coef_init=np.ones((1, 2)), intercept_init=[1.0])
    got = np.append(model.intercept_, model.coef_)
    assert_allclose(got, (3.9646633163, -13.2924041308, 13.2434563372), atol=1e-9)
    assert model.separation_ == "complete"


def blobs_7():
    rng = np.random.RandomState(0)
    x1, y1 = rng.normal(1, 0.3, 50), rng.normal(1, 0.3, 50)
    x2, y2 = rng.normal(3, 0.5, 50), rng.normal(5, 0.5, 50)
    X = np.column_stack([np.append(x1, x2), np.append(y1, y2)])
    split = train_test_split(X, np.repeat([0, 1], 50), test_size=0.3, random_state=0)
    return split[0], split[2]


def test_example_7_gradient_descent_against_the_optimum():
    X, y = blobs_7()
    slow = LogisticRegression(C=10, solver=GradientDescent(0.1, max_iter=1000, tol=None)).fit(X, y)
    got = np.append(slow.intercept_, slow.coef_)
    assert_allclose(got, (-5.0282369054, -0.1507167262, 2.0382959626), atol=1e-9)
    assert not slow._converged
    assert len(slow.history_) == 1001
    exact = LogisticRegression(C=10).fit(X, y)
    got = np.append(exact.intercept_, exact.coef_)
    assert_allclose(got, (-10.5001776737, 1.4317739912, 2.6480949847), atol=1e-7)


def test_example_8_penalised_intercept_and_separation():
    x = np.arange(4.0)[:, None]
    model = LogisticRegression(C=5, shrink_intercept=True).fit(x, [0, 1, 0, 1])
    assert_allclose(model.intercept_, -0.7032695745, atol=1e-9)
    assert_allclose(model.coef_, [[0.5722663274]], atol=1e-9)
    assert any(line.startswith("lambda = 0.1 ") for line in model.card().scales)
    y = np.array([0, 0, 1, 1], dtype=np.intp)
    losses = [
        leaf_sums(np.array([[-1.5 * c, c]]), np.zeros(1), 1.0, None, True,
                  Rows(x, y, np.ones(4))).loss
        for c in (0.0, 1.0, 5.0, 20.0)
    ]  # fmt: skip
    assert_allclose(losses, (2.7725887222, 1.3509805243, 0.1588853315, 0.0000907978), atol=1e-10)
    with pytest.warns(SeparationWarning):
        separated = LogisticRegression(C=np.inf).fit(x, y)
    assert separated.separation_ == "complete"
    assert np.isfinite(separated.coef_).all()


def test_example_9_softmax():
    x, y = np.arange(12.0)[:, None], [0, 0, 1, 0, 1, 2, 1, 0, 2, 1, 2, 2]
    model = LogisticRegression(C=np.inf).fit(x, y)
    odds = model.log_odds(0)
    assert_allclose(odds.intercept[1:], (-1.3269113737, -4.5056992139), atol=1e-8)
    assert_allclose(odds.coef[1:, 0], (0.3389513615, 0.7916343830), atol=1e-9)
    assert_allclose(odds.standard_errors[1], (1.3791494915, 0.3009248561), atol=1e-8)
    assert_allclose(odds.standard_errors[2], (2.6925216268, 0.4193929068), atol=1e-8)
    assert_allclose(model.log_likelihood_, -9.7021596210, atol=1e-9)
    assert_allclose(
        model.predict_proba([[5]])[0], (0.3307975570, 0.4778763474, 0.1913260956), atol=1e-9
    )
    assert_allclose(model.coef_.sum(), 0, atol=1e-12)
    assert_allclose(model.intercept_.sum(), 0, atol=1e-12)


# --- solver objects --------------------------------------------------------------------------


def test_solver_objects_reach_the_minimum():
    X, y = rows(150, 3, 2)
    exact = LogisticRegression(C=2.0, tol=1e-8).fit(X, y)
    for solver in (Newton(), Newton(step_halving=False), GradientDescent(1.0, max_iter=20000)):
        model = LogisticRegression(C=2.0, solver=solver).fit(X, y)
        assert_allclose(model.coef_, exact.coef_, atol=1e-4)
        assert model.n_iter_[0] == len(model.history_) - 1
    lasso = LogisticRegression(C=0.05, l1_ratio=1.0, tol=1e-8).fit(X, y)
    by_prox = LogisticRegression(
        C=0.05, l1_ratio=1.0, solver=ProximalGradient(max_iter=5000, tol=1e-10)
    ).fit(X, y)
    assert_allclose(by_prox.coef_, lasso.coef_, atol=1e-6)
    assert_array_equal(by_prox.coef_ == 0, lasso.coef_ == 0)
    rough = LogisticRegression(C=0.05, l1_ratio=1.0, solver=SubgradientDescent(max_iter=3000)).fit(
        X, y
    )
    assert objective(rough, X, y, 0.05, 1.0) < 1.05 * objective(lasso, X, y, 0.05, 1.0)


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_solver_objects_with_three_classes(C):
    X, y = rows(120, 2, 3)
    exact = LogisticRegression(C=C, tol=1e-8).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)  # the symmetric form is singular
        newton = LogisticRegression(C=C, solver=Newton()).fit(X, y)
        steps = LogisticRegression(C=C, solver=GradientDescent(0.5, max_iter=20000)).fit(X, y)
    assert_allclose(newton.predict_proba(X), exact.predict_proba(X), atol=1e-7)
    assert_allclose(steps.predict_proba(X), exact.predict_proba(X), atol=1e-4)


def test_softmax_objective_derivatives():
    X, y = rows(30, 2, 3)
    f = SoftmaxObjective(X, y, 3, np.arange(30.0), L1L2(0.0, 0.3), True, False)
    x = np.random.default_rng(0).normal(size=9)
    assert check_grad(f.value, f.gradient, x) < 1e-5
    step = 1e-6 * np.eye(9)
    H = np.array([(f.gradient(x + s) - f.gradient(x - s)) / 2e-6 for s in step])
    assert_allclose(f.hessian(x), H, atol=1e-7)
    assert np.linalg.eigvalsh(f.hessian(x))[-1] <= f.lipschitz
    assert_allclose(f.value(x, np.arange(30)), f.value(x))


def test_damped_newton_takes_shorter_steps():
    full = LogisticRegression(C=np.inf, solver=Newton()).fit(x6, y6)
    damped = LogisticRegression(C=np.inf, solver=Newton(0.02)).fit(x6, y6)
    first = [np.linalg.norm(m.history_["parameters"][1]) for m in (full, damped)]
    assert first[1] < 0.9 * first[0]
    assert_allclose(damped.coef_, full.coef_, atol=1e-5)


# --- weights, classes, starts ----------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
def test_class_weights(K):
    X, y = rows(300, 3, K)
    counts = np.bincount(y)
    balanced = LogisticRegression(class_weight="balanced").fit(X, y)
    by_hand = LogisticRegression().fit(X, y, sample_weight=(300 / (K * counts))[y])
    assert_allclose(balanced.coef_, by_hand.coef_, rtol=1e-9)
    theirs = Sklearn(class_weight={0: 3.0}, tol=1e-10, max_iter=2000).fit(X, y)
    ours = LogisticRegression(class_weight={0: 3.0}).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    l1 = LogisticRegression(class_weight="balanced", l1_ratio=1.0, tol=1e-8).fit(X, y)
    same = LogisticRegression(l1_ratio=1.0, tol=1e-8).fit(
        X, y, sample_weight=(300 / (K * counts))[y]
    )
    assert_allclose(l1.coef_, same.coef_, atol=1e-8)


def test_a_class_of_weight_zero_is_absent():
    X, y = rows(200, 3, 3)
    w = (y != 1).astype(float)
    model = LogisticRegression().fit(X, y, sample_weight=w)
    without = LogisticRegression().fit(X[y != 1], y[y != 1])
    assert_array_equal(model.classes_, [0, 2])
    assert_allclose(model.coef_, without.coef_, rtol=1e-8)
    with pytest.raises(ValueError, match="class"):
        LogisticRegression().fit(X, y, sample_weight=(y == 1).astype(float))


@pytest.mark.parametrize("K", [2, 3])
def test_warm_start_begins_at_the_last_fit(K):
    X, y = rows(200, 3, K)
    model = LogisticRegression(warm_start=True).fit(X, y)
    first = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_[0] == 1
    assert_allclose(model.coef_, first, rtol=1e-9)


def test_coef_init_must_fit():
    X, y = rows(50, 3)
    with pytest.raises(ValueError, match=r"coef_init must have shape \(1, 3\)"):
        LogisticRegression().fit(X, y, coef_init=np.zeros(4))
    with pytest.raises(ValueError, match="intercept_init"):
        LogisticRegression().fit(X, y, intercept_init=np.zeros(2))


# --- degenerate data -------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3])
def test_dependent_columns_give_the_least_norm_and_are_named(K):
    X, y = rows(200, 3, K)
    both = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.full(200, 7.0)])
    with pytest.warns(LinAlgWarning, match="x0, x1, x3, x4 are linearly dependent"):
        model = LogisticRegression(C=np.inf).fit(both, y)
    plain = LogisticRegression(C=np.inf).fit(X, y)
    assert_allclose(model.predict_proba(both), plain.predict_proba(X), atol=1e-7)
    assert_allclose(model.coef_[:, 4], 0, atol=1e-9)
    null = np.array([1.0, -2.0, 0.0, -1.0, 0.0])
    assert_allclose(model.coef_ @ null, 0, atol=1e-7)
    assert "semidefinite" in model.card().optimisation
    with pytest.warns(UserWarning, match="dependent"):
        assert not model.summary().valid
    fine = LogisticRegression().fit(both, y)  # the penalty makes it unique
    assert "positive definite" in fine.card().optimisation


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 100)), rng.integers(0, 2, 30)
    model = LogisticRegression().fit(X, y)
    theirs = Sklearn(tol=1e-10, max_iter=5000).fit(X, y)
    assert_allclose(model.coef_, theirs.coef_, atol=1e-5)
    with pytest.warns(SeparationWarning):
        separated = LogisticRegression(C=np.inf).fit(X, y)
    assert separated.separation_ == "complete"
    assert (separated.predict(X) == y).all()


@pytest.mark.parametrize("solver", ["auto", GradientDescent(1.0, max_iter=200), Newton()])
def test_quasi_separation(solver):
    x, y = np.array([[0.0], [1], [1], [2], [1], [1]]), [0, 0, 1, 1, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", LinAlgWarning)
        warnings.simplefilter("always", SeparationWarning)
        with pytest.warns(SeparationWarning, match="quasi"):
            model = LogisticRegression(C=np.inf, solver=solver).fit(x, y)
    assert model.separation_ == "quasi"
    assert np.isfinite(model.coef_).all()
    with pytest.warns(UserWarning, match="BayesianLogisticRegression"):
        assert not model.summary().valid


def test_quasi_separation_of_three_classes_and_without_intercept():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=90), np.repeat([0.0, 0, 1], 30)])
    y = np.where(X[:, 1] == 1, 2, rng.integers(0, 2, 90))  # class 2 alone has x1 = 1
    with pytest.warns(SeparationWarning):
        assert LogisticRegression(C=np.inf).fit(X, y).separation_ == "quasi"
    x = np.array([[-1.0], [-2], [1], [2]])
    with pytest.warns(SeparationWarning):
        model = LogisticRegression(C=np.inf, fit_intercept=False).fit(x, [0, 0, 1, 1])
    assert model.separation_ == "complete"
    through = LogisticRegression(C=np.inf, fit_intercept=False).fit(x + 5, [0, 0, 1, 1])
    assert through.separation_ == "none"  # no line through the origin does it


def test_ordinary_fits_pay_nothing_for_separation(monkeypatch):
    def forbidden(*_args, **_kw):
        raise AssertionError("a linear programme for an ordinary fit")

    monkeypatch.setattr("pellucid.linear.logistic.outcome.separate", forbidden)
    for K in (2, 3):
        X, y = rows(300, 4, K)
        assert LogisticRegression(C=np.inf).fit(X, y).separation_ == "none"
        LogisticRegression(C=1e6).fit(X, y)


def test_probabilities_are_finite_for_any_score():
    model = LogisticRegression().fit(x6, y6)
    model.coef_ = np.array([[1e200]])
    for x in ([[1e100]], [[-1e100]], [[0.0]]):
        logs = model.predict_log_proba(x)
        assert np.isfinite(logs[logs > -1e290]).all()
        assert_allclose(model.predict_proba(x).sum(axis=1), 1)
    many = LogisticRegression().fit(*rows(60, 2, 3))
    many.coef_ = many.coef_ * 1e5
    X = rows(60, 2, 3)[0]
    assert np.isfinite(many.predict_log_proba(X)).all()
    assert_allclose(many.predict_proba(X).sum(axis=1), 1)


def test_sparse_text_size_stays_sparse():
    rng = np.random.default_rng(0)
    X = csr_matrix(
        (rng.random(50_000), rng.integers(0, 50_000, 50_000), np.arange(0, 50_001, 25)),
        shape=(2000, 50_000),
    )
    w = rng.normal(size=50_000)
    y = (X @ w + 0.1 * rng.normal(size=2000) > 0).astype(int)
    model = LogisticRegression(C=10.0, tol=1e-6).fit(X, y)
    R = model.predict_proba(X)[:, 1] - y
    assert_allclose(10 * (X.T @ R) + model.coef_[0], 0, atol=2e-2)
    theirs = Sklearn(C=10.0, tol=1e-5, max_iter=500).fit(X, y)
    assert objective(model, X, y, 10.0) <= objective(theirs, X, y, 10.0) * (1 + 1e-6)


def test_threads_do_not_change_bits_on_lbfgs():
    X, y = rows(9000, 40, 4)
    models = []
    for n in (1, 2, 3):
        with limit_threads(n):
            one = LogisticRegression()
            one._newton_pays = lambda *_: False
            models.append(one.fit(X, y).coef_)
    assert_array_equal(models[0], models[1])
    assert_array_equal(models[0], models[2])


# --- the rest of the interface ---------------------------------------------------------------


def test_boundary_latent_explain_and_deprecated_penalty():
    X, y = rows(200, 2)
    model = LogisticRegression().fit(X, y)
    plane = model.boundary()
    assert_allclose(plane.score(X), model.decision_function(X))
    hidden, labels = model.latent(X, random_state=0)
    assert_array_equal(labels, (hidden >= 0).astype(int))
    draws = np.array([model.latent(X, random_state=s)[1] for s in range(300)])
    assert_allclose(draws.mean(axis=0), model.predict_proba(X)[:, 1], atol=0.15)
    split = model.explain(X)
    assert_allclose(split.scores[:, 0], model.decision_function(X))
    many = LogisticRegression().fit(*rows(200, 2, 3))
    assert many.explain(X).contributions.shape == (200, 3, 2)
    with pytest.raises(ValueError, match="2 classes"):
        many.latent(X)
    with pytest.warns(FutureWarning, match="l1_ratio"):
        old = LogisticRegression("l1", C=0.1).fit(X, y)
    assert_allclose(old.coef_, LogisticRegression(C=0.1, l1_ratio=1.0).fit(X, y).coef_)
    with pytest.warns(FutureWarning):
        free = LogisticRegression(None).fit(X, y)
    assert_allclose(free.coef_, LogisticRegression(C=np.inf).fit(X, y).coef_)


def test_cards_name_all_scales():
    X, y = rows(100, 2)
    text = str(LogisticRegression(C=4.0).fit(X, y).card())
    for piece in ("lambda = 0.125", "lambda = 0.25", "reg = 0.0025", "N(0, 4 I)"):
        assert piece in text
    assert "|w|_1" in str(LogisticRegression(C=0.5, l1_ratio=1.0).fit(X, y).card())
    assert "maximum likelihood" in str(LogisticRegression(C=np.inf).fit(X, y).card())


def test_effective_parameters_of_a_penalised_fit():
    X, y = rows(200, 3)
    C = 0.05
    model = LogisticRegression(C=C).fit(X, y)
    P = model.predict_proba(X)[:, 1]
    D = np.column_stack([np.ones(200), X])
    H = D.T @ ((P * (1 - P))[:, None] * D)
    expected = np.trace(np.linalg.solve(H + np.diag([0, 1, 1, 1]) / C, H))
    assert_allclose(model.df_, expected, rtol=1e-6)
    assert_allclose(LogisticRegression(C=np.inf).fit(*rows(200, 3, 3)).df_, 8, rtol=1e-9)


def test_no_convergence_is_said():
    X, y = rows(200, 3)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        LogisticRegression(max_iter=1).fit(X, y)


def test_brute_force_minimum():
    X, y = rows(40, 2)
    model = LogisticRegression(C=0.3).fit(X, y)

    def f(t):
        z = X @ t[1:] + t[0]
        return 0.3 * (np.logaddexp(0, z) - y * z).sum() + 0.5 * t[1:] @ t[1:]

    best = minimize(f, np.zeros(3), tol=1e-12).x
    assert_allclose(np.append(model.intercept_, model.coef_), best, atol=1e-5)

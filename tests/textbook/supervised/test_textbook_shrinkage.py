"""Each textbook method of shrinkage against the fast estimator, on random problems."""

from itertools import islice, pairwise

import numpy as np
import pytest
from agreement import same

import pellucid
from pellucid.linear import lars_path
from pellucid.linear import stability_selection as fast_stability_selection
from pellucid.textbook.shrinkage.automatic_relevance import automatic_relevance
from pellucid.textbook.shrinkage.bayesian_linear_regression import (
    bayesian_linear_regression,
    predictive,
)
from pellucid.textbook.shrinkage.bayesian_ridge import bayesian_ridge
from pellucid.textbook.shrinkage.best_subset import best_of_each_size, best_subset
from pellucid.textbook.shrinkage.bridge_regression import bridge_regression
from pellucid.textbook.shrinkage.dantzig_selector import dantzig_selector
from pellucid.textbook.shrinkage.elastic_net import elastic_net
from pellucid.textbook.shrinkage.elastic_net import sweeps as elastic_net_sweeps
from pellucid.textbook.shrinkage.group_lasso import group_lasso, rounds
from pellucid.textbook.shrinkage.lars import at, lars
from pellucid.textbook.shrinkage.lasso import lasso, sweeps
from pellucid.textbook.shrinkage.lasso_information import lasso_information
from pellucid.textbook.shrinkage.multi_task_lasso import multi_task_lasso
from pellucid.textbook.shrinkage.multi_task_lasso import sweeps as multi_task_sweeps
from pellucid.textbook.shrinkage.partial_least_squares import partial_least_squares
from pellucid.textbook.shrinkage.principal_component_regression import (
    principal_component_regression,
)
from pellucid.textbook.shrinkage.ridge import ridge
from pellucid.textbook.shrinkage.ridge_leave_one_out import ridge_leave_one_out
from pellucid.textbook.shrinkage.stability_selection import stability_selection
from pellucid.textbook.shrinkage.stagewise import moves, stagewise
from pellucid.textbook.shrinkage.stepwise import stepwise


def problem(seed, n=40, p=6):
    """Columns that resemble each other, half of them useless."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.7 * rng.normal(size=(n, 1)) + rng.normal(size=p)
    w = np.where(np.arange(p) % 2, 0, rng.normal(size=p) + 1)
    return X, X @ w + 2 + rng.normal(size=n)


def same_fit(fit, fast):
    same(fit.w, fast.coef_, atol=1e-8)
    if hasattr(fit, "b"):
        same(fit.b, fast.intercept_)


@pytest.mark.parametrize("p", [5, 60])
def test_ridge(p):
    X, y = problem(0, p=p)
    b, w = ridge(X, y, 0.7)
    fast = pellucid.Ridge(0.7).fit(X, y)
    same(w, fast.coef_, atol=1e-10)
    same(b, fast.intercept_, atol=1e-9)


def test_ridge_classifier_is_ridge_of_signs():
    X, y = problem(0)
    sign, alphas = np.where(y > y.mean(), 1.0, -1.0), np.array([0.1, 1.0, 10.0])
    b, w = ridge(X, sign, 0.7)
    fast = pellucid.RidgeClassifier(0.7).fit(X, sign > 0)
    same(b + X @ w, fast.decision_function(X), atol=1e-9)
    path, chosen = ridge_leave_one_out(X, sign, alphas), pellucid.RidgeClassifierCV(alphas)
    same(path.loocv, chosen.fit(X, sign > 0).criterion_)
    assert path.best == chosen.alpha_


def test_ridge_leave_one_out():
    X, y = problem(1)
    alphas = np.array([0.1, 1.0, 10.0, 100.0])
    path = ridge_leave_one_out(X, y, alphas)
    fast = pellucid.RidgeCV(alphas).fit(X, y)
    same(path.loocv, fast.criterion_)
    assert path.best == fast.alpha_
    same(path.gcv, pellucid.RidgeCV(alphas, cv="gcv").fit(X, y).criterion_)
    same(path.df[alphas == path.best], fast.df_)
    errors = []
    for i in range(len(y)):  # the identity itself: every row really left out
        b, w = ridge(np.delete(X, i, axis=0), np.delete(y, i), 1.0)
        errors.append(y[i] - b - X[i] @ w)
    same(path.loocv[1], np.mean(np.square(errors)))


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_lasso(alpha):
    X, y = problem(2)
    fit = lasso(X, y, alpha)
    same_fit(fit, pellucid.Lasso(alpha, tol=1e-14).fit(X, y))
    assert (fit.w == 0).any() or alpha < 0.1
    assert all(np.diff([state.L for state in sweeps(X, y, alpha)]) <= 1e-12)


def test_elastic_net():
    X, y = problem(3)
    same_fit(
        elastic_net(X, y, 0.3, 0.6), pellucid.ElasticNet(0.3, l1_ratio=0.6, tol=1e-14).fit(X, y)
    )


def test_group_lasso():
    X, y = problem(4)
    groups = np.array([0, 0, 1, 1, 2, 2])
    fast = pellucid.GroupLasso(0.3, groups=groups, tol=1e-14).fit(X, y)
    same_fit(group_lasso(X, y, groups, 0.3), fast)


def test_multi_task_lasso():
    X, y = problem(5)
    Y = np.column_stack([y, X[:, 0] - X[:, 1] + y / 2])
    fit = multi_task_lasso(X, Y, 0.4)
    fast = pellucid.MultiTaskLasso(0.4, tol=1e-14).fit(X, Y)
    same(fit.W.T, fast.coef_)
    same(fit.b, fast.intercept_)


def test_a_penalty_that_leaves_no_column_ends_at_the_mean():
    """Nothing moves and nothing is large: the stopping rule holds with equality."""
    X, y = problem(5)
    Y, groups = np.column_stack([y, -y]), np.array([0, 0, 1, 1, 2, 2])
    for made in (
        sweeps(X, y, 1e3),
        elastic_net_sweeps(X, y, 1e3, 0.5),
        rounds(X, y, groups, 1e3),
        multi_task_sweeps(X, Y, 1e3),
    ):
        states = list(islice(made, 5))
        assert len(states) < 5
        assert not np.any(states[-1][1])
        same(np.ravel(states[-1].b)[0], y.mean())


@pytest.mark.parametrize("q", [1.0, 1.5, 3.0])
def test_bridge_regression(q):
    X, y = problem(6)
    fast = pellucid.BridgeRegression(0.2, q=q, tol=1e-13).fit(X, y)
    same_fit(bridge_regression(X, y, 0.2, q), fast)


def test_dantzig_selector():
    X, y = problem(7)
    same_fit(dantzig_selector(X, y, 0.3), pellucid.DantzigSelector(0.3).fit(X, y))


@pytest.mark.parametrize("seed", [8, 9, 10])
def test_lars(seed):
    X, y = problem(seed, p=8)
    plain = lars(X, y)
    fast = pellucid.Lars().fit(X, y)
    same(np.transpose([state.w for state in plain]), fast.coef_path_, atol=1e-8)
    same([state.alpha for state in plain], fast.alphas_, atol=1e-9)
    path = lars(X, y, lasso=True)
    alphas, _, coefs = lars_path(X - X.mean(axis=0), y - y.mean(), method="lasso")
    same(np.transpose([state.w for state in path]), coefs, atol=1e-8)
    same([state.alpha for state in path], alphas, atol=1e-9)
    same(at(path, 0.2), lasso(X, y, 0.2).w, atol=1e-8)
    same(at(path, 0.2), pellucid.LassoLars(0.2).fit(X, y).coef_, atol=1e-8)


def test_a_lasso_path_with_a_column_that_leaves():
    for seed in range(30):
        X, y = problem(seed, n=15, p=8)
        path = lars(X, y, lasso=True)
        if any(len(b.active) < len(a.active) for a, b in pairwise(path)):
            break
    else:
        raise AssertionError("no path drops a column")
    _, _, coefs = lars_path(X - X.mean(axis=0), y - y.mean(), method="lasso")
    same(np.transpose([state.w for state in path]), coefs)


def test_lasso_information():
    X, y = problem(11)
    fast = pellucid.LassoLarsIC("bic").fit(X, y)
    choice = lasso_information(X, y, np.transpose([s.w for s in lars(X, y, lasso=True)]))
    same(choice.bic, fast.criterion_)
    same(lars(X, y, lasso=True)[choice.best].w, fast.coef_, atol=1e-9)


def test_stagewise():
    X, y = problem(12, p=4)
    same_fit(stagewise(X, y), pellucid.StagewiseRegression().fit(X, y))
    fast = pellucid.StagewiseRegression(epsilon=0.05).fit(X, y)
    made = [(state.column, state.amount) for state in moves(X, y, 0.05)]
    same(made, fast.moves_)


def test_best_subset():
    X, y = problem(13)
    fast = pellucid.BestSubsetRegression().fit(X, y)
    ours = best_of_each_size(X, y)
    assert [s.columns for s in ours] == [s.support for s in fast.subsets_]
    same([s.rss for s in ours], [s.rss for s in fast.subsets_])
    assert best_subset(X, y).columns == tuple(np.flatnonzero(fast.support_))


@pytest.mark.parametrize("seed", [14, 15])
def test_stepwise(seed):
    X, y = problem(seed)
    fast = pellucid.StepwiseRegression(direction="both").fit(X, y)
    last = stepwise(X, y)
    assert last.columns == set(np.flatnonzero(fast.support_))
    same(last.aic, fast.steps_[-1].value)


def test_stability_selection():
    X, y = problem(16)

    def select(X, y):
        return lasso(X, y, 0.4).w != 0

    ours = stability_selection(select, X, y, np.random.default_rng(0), B=5)
    fast = fast_stability_selection(pellucid.Lasso(0.4, tol=1e-12), X, y, n_pairs=5, random_state=0)
    same(ours.share, fast.share)
    assert (ours.chosen == fast.support).all()
    same(ours.error_bound, fast.error_bound)


@pytest.mark.parametrize("M", [1, 3, 6])
def test_components(M):
    X, y = problem(17)
    same_fit(
        principal_component_regression(X, y, M), pellucid.PrincipalComponentRegression(M).fit(X, y)
    )
    fast = pellucid.PLSRegression(M, tol=1e-12).fit(X, y)
    same(partial_least_squares(X, y, M), np.ravel(fast.coef_), atol=1e-8)


def test_bayesian_linear_regression():
    X, y = problem(18)
    rng = np.random.default_rng(18)
    m, A = rng.normal(size=7), rng.normal(size=(7, 7))
    V = A @ A.T + np.eye(7)
    ours = bayesian_linear_regression(X, y, m, V, 1.3)
    model = pellucid.BayesianLinearRegression(prior_mean=m, prior_covariance=V, noise_variance=1.3)
    fast = model.fit(X, y)
    same(ours.mean, fast.mean_, atol=1e-8)
    same(ours.covariance, fast.covariance_, atol=1e-9)
    same(ours.log_evidence, fast.log_evidence_)
    same(predictive(ours, X, 1.3), fast.predict(X, return_std=True), atol=1e-8)


@pytest.mark.parametrize("prior", [1e-6, 0.7])
def test_bayesian_ridge(prior):
    X, y = problem(19)
    counts = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), prior)
    ours = bayesian_ridge(X, y, prior)
    fast = pellucid.BayesianRidge(tol=1e-12, **counts).fit(X, y)
    same(ours.w, fast.coef_, atol=1e-8)
    same((ours.a, ours.k), (fast.alpha_, fast.lambda_))


@pytest.mark.parametrize("prior", [1e-6, 1e-3])
def test_automatic_relevance(prior):
    X, y = problem(20, n=150)
    counts = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), prior)
    fast = pellucid.ARDRegression(tol=1e-12, max_iter=3000, **counts).fit(X, y)
    ours = automatic_relevance(X, y, prior)
    assert (ours.w == 0).any() == (prior == 1e-6)  # a stronger prior keeps every column
    same(ours.w, fast.coef_, atol=1e-8)
    same(ours.a, fast.alpha_)

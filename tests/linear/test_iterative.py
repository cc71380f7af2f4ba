"""Solver objects in LinearRegression and Ridge (REG-08), and the lasso's entry point."""

import numpy as np
import polars as pl
import pytest
import sklearn.linear_model as peers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.callback import ProgressBar
from sklearn.model_selection import GridSearchCV

import pellucid
from pellucid import LinearRegression, Ridge
from pellucid.core.loops.statistics import Rows
from pellucid.linear import Budget
from pellucid.linear.solver_fit import fit_iterative_lasso
from pellucid.solvers import (
    LBFGS,
    CoordinateDescent,
    DivergenceWarning,
    GradientDescent,
    InverseScaling,
    Newton,
    ProximalGradient,
    SubgradientDescent,
    learning_rate_range,
)

T = (np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0]))
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) + np.array([0.0, 0.5, 0.0])
Y = X @ [1.0, -2.0, 0.5] + 0.7 + 0.1 * rng.normal(size=60)
SOLVERS = [
    GradientDescent("auto", tol=1e-11, max_iter=10**4), Newton(), LBFGS(tol=1e-10),
    CoordinateDescent(tol=1e-11), ProximalGradient(tol=1e-11, max_iter=10**4),
]  # fmt: skip


def test_example_5_gradient_descent_on_three_points():
    model = LinearRegression(solver=GradientDescent(0.1, max_iter=10, tol=None)).fit(*T)
    path = model.history_["parameters"]
    assert_allclose(path[[0, 1, 2]], [[0, 0], [0.2333333, 0.3333333], [0.41, 0.5877778]], atol=1e-7)
    assert_allclose(path[-1], [0.8910679307, 1.3210888629], atol=1e-10)
    values = model.history_["objective"]
    assert_allclose(values[:3], [3.5, 2.0420370, 1.1970152], atol=1e-7)
    assert_allclose(values[-1], 0.0457893863, atol=1e-10)
    assert len(model.history_) == model.n_iter_ + 1 == 11
    assert_array_equal(np.append(model.intercept_, model.coef_), path[-1])
    exact = LinearRegression().fit(*T)
    assert_allclose(np.append(exact.intercept_, exact.coef_), [5 / 6, 3 / 2])
    assert_allclose(exact.rss_ / 6, 1 / 36)


def test_example_5_the_limit():
    with pytest.warns(DivergenceWarning, match=r"0\.837722"):
        model = LinearRegression(solver=GradientDescent(0.85, max_iter=5000)).fit(*T)
    assert np.isfinite(model.coef_).all()
    model = LinearRegression(solver=GradientDescent(0.75, tol=1e-10)).fit(*T)
    assert_allclose([model.intercept_, model.coef_[0]], [5 / 6, 3 / 2], atol=1e-8)


def test_example_3_every_solver():
    random = np.random.RandomState(0)
    x = np.linspace(0, 10, 200)[:, None]
    y = 3 * x[:, 0] + 1 + random.normal(0, 2, 200)
    words = ["auto", "normal", "qr", "gram_schmidt", "svd", "pinv"]
    for solver in [*words, *SOLVERS]:
        model = LinearRegression(solver=solver).fit(x, y)
        assert_allclose(model.coef_, [2.9626408753], atol=1e-7)
        assert_allclose(model.intercept_, 1.3286166099, atol=1e-7)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
def test_same_optimum_as_the_closed_form(solver):
    w = rng.integers(0, 4, 60)
    for model in (
        LinearRegression(), LinearRegression(fit_intercept=False), Ridge(3.0),
        Ridge(3.0, shrink_intercept=True), Ridge(Budget(2.0)), Ridge(0.0, fit_intercept=False),
    ):  # fmt: skip
        exact = model.fit(X, Y, sample_weight=w)
        name = type(model)
        found = name(**{**model.get_params(), "solver": solver}).fit(X, Y, sample_weight=w)
        assert_allclose(found.coef_, exact.coef_, atol=1e-7)
        assert_allclose(found.intercept_, exact.intercept_, atol=1e-7)
        assert_allclose(found.rss_, exact.rss_, rtol=1e-7)
        assert_allclose(found.predict(X), exact.predict(X), atol=1e-6)
        assert len(found.history_) == found.n_iter_ + 1
        assert type(solver).__name__ in str(found.card())


def test_inference_after_convergence_and_before():
    exact = LinearRegression().fit(X, Y).summary()
    done = LinearRegression(solver=GradientDescent("auto", tol=1e-10, max_iter=10**4)).fit(X, Y)
    assert_allclose(done.summary().standard_error, exact.standard_error, rtol=1e-6)
    assert done.summary().valid
    early = LinearRegression(solver=GradientDescent(0.01, max_iter=5, tol=None)).fit(X, Y)
    with pytest.warns(UserWarning, match="before it converged"):
        summary = early.summary()
    assert not summary.valid
    assert "max_iter" in summary.reason
    assert np.isnan(summary.standard_error).all()
    with pytest.raises(ValueError, match="before it converged"):
        early.leverage(X)
    with pytest.raises(ValueError, match="before it converged"):
        early.predict_interval(X)


def test_several_targets():
    Y2 = np.column_stack([Y, 2 * Y - X[:, 0]])
    model = LinearRegression(solver=LBFGS(tol=1e-10)).fit(X, Y2)
    exact = LinearRegression().fit(X, Y2)
    assert_allclose(model.coef_, exact.coef_, atol=1e-7)
    assert_allclose(model.noise_covariance_, exact.noise_covariance_, rtol=1e-7)
    assert set(model.history_["target"]) == {0, 1}
    ridge = Ridge([1.0, 5.0], solver=Newton()).fit(X, Y2)
    assert_allclose(ridge.coef_, Ridge([1.0, 5.0]).fit(X, Y2).coef_, atol=1e-8)


def test_stochastic_is_not_monotone_and_reproducible():
    solver = GradientDescent(0.05, batch_size=1, max_iter=60, tol=None, random_state=4)
    a, b = (LinearRegression(solver=solver).fit(X, Y) for _ in range(2))
    assert_array_equal(a.history_["parameters"], b.history_["parameters"])
    assert (np.diff(a.history_["objective"]) > 0).any()


def test_penalty_weights_reach_the_solver():
    v = np.array([0.0, 1.0, 4.0])
    exact = Ridge(5.0).fit(X, Y, penalty_weights=v)
    found = Ridge(5.0, solver=Newton()).fit(X, Y, penalty_weights=v)
    assert_allclose(found.coef_, exact.coef_, atol=1e-8)


class Watch:
    def __init__(self):
        self.models = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.parent is not None:
            self.models.append(fitted_estimator)
        return len(self.models) == 3


@pytest.mark.parametrize("solver", [GradientDescent(0.1), LBFGS(), CoordinateDescent()])
def test_callbacks(solver, capsys):
    watch = Watch()
    model = Ridge(1.0, solver=solver).set_callbacks(watch).fit(X, Y)
    assert model.n_iter_ == 3
    assert_allclose(watch.models[-1].predict(X), model.predict(X))
    LinearRegression(solver=solver).set_callbacks(ProgressBar()).fit(X, Y[:, None] * [1, 2])


def test_searchable_and_saved(tmp_path):
    grid = {"solver__learning_rate": [1e-6, 0.1]}
    base = LinearRegression(solver=GradientDescent(max_iter=100, tol=None))
    search = GridSearchCV(base, grid, cv=3).fit(X, Y)
    assert search.best_params_ == {"solver__learning_rate": 0.1}
    pellucid.save(search.best_estimator_, tmp_path / "m.pellucid")
    again = pellucid.load(tmp_path / "m.pellucid")
    assert_array_equal(again.predict(X), search.predict(X))
    assert again.history_ == search.best_estimator_.history_


def test_refusals():
    for model in (
        LinearRegression(solver=Newton(), positive=True),
        Ridge(solver=Newton(), positive=True),
    ):
        with pytest.raises(ValueError, match="positive"):
            model.fit(X, Y)
    with pytest.raises(ValueError, match="solver must be one of"):
        LinearRegression(solver=3).fit(X, Y)
    frame = pl.DataFrame(np.column_stack([X, Y]), schema=["a", "b", "c", "y"])
    for model in (LinearRegression(solver=Newton()), Ridge(solver=Newton())):
        with pytest.raises(ValueError, match="rows in memory"):
            model.fit_blocks(pellucid.data.blocks(frame, target="y"))
    with pytest.raises(ValueError, match="noise_covariance"):
        LinearRegression(solver=Newton()).fit(X, Y, noise_covariance=np.eye(60))


def test_refit_with_a_closed_form_forgets_the_history():
    model = LinearRegression(solver=Newton()).fit(X, Y).set_params(solver="auto").fit(X, Y)
    assert not hasattr(model, "history_")


def rows():
    return Rows(X, Y, np.ones(60))


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_lasso_entry_point(l1_ratio):
    peer = peers.ElasticNet(0.3, l1_ratio=l1_ratio, tol=1e-14, max_iter=10**5).fit(X, Y)
    for solver in (CoordinateDescent(tol=1e-11), ProximalGradient(tol=1e-11, max_iter=10**4)):
        found = fit_iterative_lasso(rows(), solver, 0.3, l1_ratio, intercept=True)
        assert_allclose(found.coef[:, 0], peer.coef_, atol=1e-8)
        assert_allclose(found.intercept, peer.intercept_, atol=1e-8)
        assert ((found.coef[:, 0] == 0) == (peer.coef_ == 0)).all()
    slow = SubgradientDescent(InverseScaling(0.3, 0.6), max_iter=3000)
    found = fit_iterative_lasso(rows(), slow, 0.3, l1_ratio, intercept=True)
    assert_allclose(found.coef[:, 0], peer.coef_, atol=2e-2)
    assert (found.coef != 0).all()
    assert "never reaches exact zeros" in found.sentence


@pytest.mark.parametrize("name", ["Lasso", "ElasticNet"])
def test_lasso_and_elastic_net_take_solver_objects(name):
    exact = getattr(pellucid, name)(0.3, tol=1e-12).fit(X, Y)
    model = getattr(pellucid, name)(0.3, solver=CoordinateDescent(tol=1e-11)).fit(X, Y)
    assert_allclose(model.coef_, exact.coef_, atol=1e-8)
    assert_allclose(model.intercept_, exact.intercept_, atol=1e-8)
    assert len(model.history_) == model.n_iter_ + 1
    assert model.history_["parameters"].shape[1] == 4
    assert model.dual_gap_ < 1e-8
    assert "CoordinateDescent" in str(model.card())
    model = getattr(pellucid, name)(0.3, solver=SubgradientDescent(max_iter=50)).fit(X, Y)
    assert "never reaches exact zeros" in str(model.card())
    watch = Watch()
    slow = ProximalGradient(1e-3, tol=1e-11)
    model = getattr(pellucid, name)(0.3, solver=slow).set_callbacks(watch).fit(X, Y)
    assert model.n_iter_ == 3
    v = np.array([0.0, 1.0, 2.0])
    exact = getattr(pellucid, name)(0.3, tol=1e-12).fit(X, Y, penalty_weights=v)
    model = getattr(pellucid, name)(0.3, solver=CoordinateDescent(tol=1e-11))
    assert_allclose(model.fit(X, Y, penalty_weights=v).coef_, exact.coef_, atol=1e-7)
    model = getattr(pellucid, name)(0.3, solver=CoordinateDescent(tol=1e-11), fit_intercept=False)
    assert model.fit(X, Y[:, None] * [1, 2]).coef_.shape == (2, 3)


def test_the_course_lasso_counts_the_intercept():
    """Example 7: RSS/2 + (lambda/2) sum abs over intercept and slope, lambda 1 and 2."""
    three = Rows(*T, np.ones(3))
    for lam, expected in ((1.0, [2 / 3, 1.5]), (2.0, [0.5, 1.5])):
        found = fit_iterative_lasso(
            three, CoordinateDescent(tol=1e-12), lam / 6, intercept=True, shrink_intercept=True
        )
        assert_allclose([found.intercept[0], found.coef[0, 0]], expected, atol=1e-8)


def test_the_rates_of_example_5():
    from pellucid.solvers import LinearObjective

    f = LinearObjective(*T, scale="half_mean", intercept=True)
    rates = learning_rate_range(f, np.zeros(2))
    assert_allclose(rates.eigenvalues, [0.2792407799, 2.3874258867], atol=1e-10)
    assert_allclose([rates.maximum, rates.best, rates.condition], [0.8377223398, 0.75, 8.5497035])

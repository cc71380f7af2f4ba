"""SGDRegressor: scikit-learn's rule step by step, weights as repetitions, guards."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDRegressor as Peer

from pellucid import SGDRegressor
from pellucid.compiled.epochs.visits import plan_visits
from pellucid.linear import LinearRegression
from pellucid.solvers import LBFGS, Adam, DivergenceWarning, GradientDescent, InverseScaling

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
Y = X @ [1.0, -2.0, 0.0, 0.5] + 0.3 + 0.1 * rng.normal(size=80)
LOSSES = ["squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"]
RATES = ["constant", "optimal", "invscaling", "adaptive"]


def assert_same_fit(ours, theirs, rtol=1e-7):
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.t_ == theirs.t_
    assert_allclose(ours.coef_, theirs.coef_, rtol=rtol, atol=1e-9)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=rtol, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
def test_follows_scikit_learn_visit_by_visit(loss, penalty):
    """Same order of the rows: the same coefficients, epochs and stopping."""
    for rate, average in itertools.product(RATES, [False, True, 100]):
        wild = rate == "optimal" and loss.startswith("squared")  # with a small alpha it explodes
        if average and penalty in ("l1", "elasticnet"):
            continue  # scikit-learn's average ignores the truncations of L1
        params = {
            "loss": loss, "penalty": penalty, "learning_rate": rate, "average": average,
            "shuffle": False, "alpha": 50.0 if wild else 0.01, "max_iter": 200,
        }  # fmt: skip
        if wild and penalty in ("l1", "elasticnet"):
            # scikit-learn judges progress with norms that do not see its own truncations
            params |= {"max_iter": 8, "tol": None}
        ours, theirs = SGDRegressor(**params).fit(X, Y), Peer(**params).fit(X, Y)
        assert_same_fit(ours, theirs)


@pytest.mark.parametrize("rate", ["pa1", "pa2"])
def test_passive_aggressive_steps(rate):
    params = {"loss": "epsilon_insensitive", "learning_rate": rate, "shuffle": False, "eta0": 0.1}
    for penalty in ("l2", "l1", None):
        ours = SGDRegressor(penalty=penalty, **params).fit(X, Y)
        assert_same_fit(ours, Peer(penalty=penalty, **params).fit(X, Y))
    with pytest.raises(ValueError, match="epsilon_insensitive"):
        SGDRegressor(learning_rate=rate).fit(X, Y)


def test_partial_fit_and_starts_follow_scikit_learn():
    ours, theirs = SGDRegressor(shuffle=False), Peer(shuffle=False)
    for part in (slice(0, 30), slice(30, 80), slice(0, 80)):
        ours.partial_fit(X[part], Y[part])
        theirs.partial_fit(X[part], Y[part])
    assert_allclose(ours.coef_, theirs.coef_)
    assert ours.t_ == theirs.t_ == 161
    given = {"coef_init": np.ones(4), "intercept_init": [0.5]}
    a = SGDRegressor(shuffle=False).fit(X, Y, **given)
    assert_same_fit(a, Peer(shuffle=False).fit(X, Y, **given))
    warm = {"shuffle": False, "warm_start": True, "max_iter": 3, "tol": None}
    ours, theirs = SGDRegressor(**warm), Peer(**warm)
    for _ in range(3):
        ours.fit(X, Y)
        theirs.fit(X, Y)
    assert_same_fit(ours, theirs)
    averaged = {"shuffle": False, "average": True}
    ours, theirs = SGDRegressor(**averaged), Peer(**averaged)
    for _ in range(2):
        ours.partial_fit(X, Y)
        theirs.partial_fit(X, Y)
    assert_allclose(ours.coef_, theirs.coef_)
    for bad in ({"coef_init": np.ones(3)}, {"intercept_init": [1.0, 2.0]}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            SGDRegressor().fit(X, Y, **bad)
    with pytest.raises(ValueError, match="early_stopping"):
        SGDRegressor(early_stopping=True).partial_fit(X, Y)


def test_reaches_the_minimum_of_each_loss():
    """The minimum found by L-BFGS or, with kinks, by a linear program."""
    from sklearn.linear_model import QuantileRegressor

    from pellucid.solvers import LinearObjective

    for loss, name in (("squared_error", "squared"), ("huber", "huber"), ("absolute", "absolute")):
        model = SGDRegressor(
            loss, alpha=0.0, eta0=0.1, learning_rate="adaptive", tol=1e-7, max_iter=5000,
            random_state=0,
        ).fit(X, Y)  # fmt: skip
        f = LinearObjective(X, Y, name, intercept=True, epsilon=0.1)
        if name == "absolute":
            exact = QuantileRegressor(alpha=0).fit(X, Y)
            best = f.value(np.append(exact.intercept_, exact.coef_))
        else:
            best = LBFGS().minimise(f, "zeros").value
        found = f.value(np.append(model.intercept_, model.coef_))
        assert best - 1e-9 <= found < best * 1.002


def test_weights_are_repetitions_and_the_order_of_the_table_does_not_matter():
    w = rng.integers(0, 4, 80)
    model = SGDRegressor(random_state=3).fit(X, Y, sample_weight=w)
    repeated = SGDRegressor(random_state=3).fit(X.repeat(w, axis=0), Y.repeat(w))
    assert_array_equal(model.coef_, repeated.coef_)
    order = rng.permutation(80)
    shuffled = SGDRegressor(random_state=3).fit(X[order], Y[order], sample_weight=w[order])
    assert_array_equal(model.coef_, shuffled.coef_)
    held = {"random_state": 3, "early_stopping": True}
    model = SGDRegressor(**held).fit(X, Y, sample_weight=w)
    repeated = SGDRegressor(**held).fit(X.repeat(w, axis=0), Y.repeat(w))
    assert_array_equal(model.coef_, repeated.coef_)
    half = SGDRegressor(random_state=3, alpha=0).fit(X, Y, sample_weight=np.full(80, 0.5))
    slow = SGDRegressor(random_state=3, alpha=0, eta0=0.005).fit(X, Y)
    assert_allclose(half.coef_, slow.coef_, rtol=1e-9)
    with pytest.raises(ValueError, match="repetitions"):
        SGDRegressor().fit(X, Y, sample_weight=np.full(80, 1e9))


def test_visits_are_a_fair_shuffle():
    """Every epoch is a permutation; positions are uniform and epochs differ; copies spread out."""
    visits = plan_visits(X, Y, None, 7)
    orders = np.array([visits.order(e) for e in range(1, 400)])
    assert (np.sort(orders, axis=1) == np.arange(80)).all()
    first = np.bincount(orders[:, 0], minlength=80)
    assert first.max() < 20  # Poisson(5)
    ranks = np.argsort(orders, axis=1)
    assert abs(ranks.mean(axis=0) - 39.5).max() < 6
    correlation = np.corrcoef(ranks.T)
    assert np.abs(correlation[np.triu_indices(80, 1)]).max() < 0.3
    same = plan_visits(np.zeros((50, 2)), np.zeros(50), None, 1)
    assert len(np.unique(same.keys)) == 50
    big = plan_visits(rng.normal(size=(20_000, 2)), np.zeros(20_000), None, 1)
    keys = big.keys
    assert (np.sort(big.order(5)) == np.arange(20_000)).all()
    assert len(np.unique(keys)) == 20_000


def test_early_stopping():
    model = SGDRegressor(early_stopping=True, random_state=0, n_iter_no_change=3).fit(X, Y)
    score = model.history_["validation_score"]
    assert np.isfinite(score).all()
    assert score[-1] > 0.5
    assert model.t_ - 1 == model.n_iter_ * 72  # 8 of 80 are held out
    with pytest.raises(ValueError, match="validation_fraction"):
        SGDRegressor(early_stopping=True).fit(X[:1], Y[:1])


def test_history_and_card():
    model = SGDRegressor(random_state=0, average=True, penalty="elasticnet").fit(X, Y)
    assert len(model.history_) == model.n_iter_
    assert model.history_["parameters"].shape == (model.n_iter_, 5)
    assert model.history_["objective"][-1] < model.history_["objective"][0]
    assert "average" in str(model.card())


def test_sparse_equals_dense():
    sparse = X * (rng.random(X.shape) < 0.4)
    for params in ({}, {"penalty": "l1", "alpha": 0.01}, {"average": True}):
        a = SGDRegressor(random_state=0, **params).fit(sparse, Y)
        b = SGDRegressor(random_state=0, **params).fit(csr_array(sparse), Y)
        assert_allclose(a.coef_, b.coef_, rtol=1e-9, atol=1e-12)
        assert_allclose(b.predict(csr_array(sparse)), a.predict(sparse))


def test_unscaled_columns_warn():
    model = SGDRegressor(random_state=0, eta0=1e-9, max_iter=3, tol=None)
    with pytest.warns(UserWarning, match="differ in size by a factor of"):
        model.fit(X * [1, 1, 1, 5000], Y)


def test_divergence_is_said_and_the_model_is_finite():
    for params in ({"learning_rate": "constant", "eta0": 10.0}, {"eta0": 1e6, "power_t": 0.0}):
        with pytest.warns(DivergenceWarning, match="learning rate .* too large"):
            model = SGDRegressor(random_state=0, **params).fit(X, Y)
        assert np.isfinite(model.predict(X)).all()
        assert np.abs(model.coef_).max() < 1e10


def test_limit_warns():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        SGDRegressor(max_iter=2, random_state=0).fit(X, Y)
    SGDRegressor(max_iter=2, tol=None, random_state=0).fit(X, Y)


@pytest.mark.parametrize(
    "solver",
    [
        LBFGS(), GradientDescent("auto", max_iter=5000),
        GradientDescent(InverseScaling(0.1, 0.5), Adam(), batch_size=8, max_iter=400, tol=None),
    ],
    ids=str,
)  # fmt: skip
def test_solver_objects(solver):
    model = SGDRegressor(alpha=0.0, solver=solver, random_state=0).fit(X, Y)
    exact = LinearRegression().fit(X, Y)
    assert_allclose(
        model.coef_, exact.coef_, atol=5e-3 if solver.get_params().get("rule") else 1e-5
    )
    assert len(model.history_) == model.n_iter_ + 1
    assert "objective" in model.history_.columns
    again = SGDRegressor(alpha=0.0, solver=solver, random_state=0).fit(X, Y)
    assert_array_equal(again.coef_, model.coef_)
    with pytest.raises(ValueError, match="solver"):
        SGDRegressor(solver="adam").fit(X, Y)


def test_partial_fit_with_a_solver_is_one_iteration():
    solver = GradientDescent(0.1, max_iter=4, tol=None)
    whole = SGDRegressor(alpha=0.0, solver=solver).fit(X, Y)
    model = SGDRegressor(alpha=0.0, solver=solver)
    for _ in range(4):
        model.partial_fit(X, Y)
    assert_allclose(model.coef_, whole.coef_)


def test_one_row_and_constant_columns():
    model = SGDRegressor(random_state=0, max_iter=5, tol=None).fit([[2.0]], [1.0])
    assert np.isfinite(model.predict([[2.0]])).all()
    SGDRegressor(random_state=0).fit(np.column_stack([X, np.zeros(80)]), Y)

"""Perceptron: the catalogue's examples, scikit-learn's path, every rule against plain loops."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as Peer
from sklearn.linear_model import SGDClassifier as PeerSGD

from pellucid import Perceptron
from pellucid.linear.perceptron.perceptron import novikoff_bound

AND_X, AND_Y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 0, 0, 1])
SIX_X = np.array([[0, 0], [1, 0], [0, 1], [2, 2], [3, 2], [3, 3]])
SIX_Y = np.repeat([0, 1], 3)
XOR_Y = np.array([0, 1, 1, 0])


def clouds(n=120, p=3, K=2, gap=1.5, seed=0):
    rng = np.random.default_rng(seed)
    code = rng.integers(K, size=n)
    return rng.normal(size=(n, p)) + gap * np.eye(K, p)[code], np.array(list("abcd"))[code]


def parameters(model):
    return np.append(model.intercept_, model.coef_)


def plain_loop(X, y, eta, epochs, negative=False):
    """Rosenblatt's rule, written out; returns the weights after every visit."""
    D = np.column_stack([np.ones(len(X)), X])
    w, path = np.zeros(D.shape[1]), []
    for _ in range(epochs):
        for d, sign in zip(D, y, strict=True):
            f = d @ w
            wrong = (sign != (1 if f > 0 else -1)) if negative else sign * f <= 0
            w = w + wrong * eta * sign * d
            path.append(w)
    return np.array(path)


def test_example_4_half_line():
    x = np.random.RandomState(5).rand(100)
    model = Perceptron(eta0=0.1, shuffle=False, at_zero="negative").fit(
        x[:, None], np.sign(x - 0.5)
    )
    assert_allclose(parameters(model), [-0.1, 0.2012870773], atol=1e-10)
    assert model.n_updates_ == 13
    assert_array_equal(model.history_["updates"], [13, 0])
    assert model.converged_


def test_example_4_and_six_rows():
    model = Perceptron(shuffle=False).fit(AND_X, AND_Y)
    assert_array_equal(parameters(model), [-4, 3, 2])
    assert model.n_iter_ == 9
    assert model.history_["mistakes"][-1] == 0
    model = Perceptron(shuffle=False).fit(SIX_X, SIX_Y)
    assert_array_equal(parameters(model), [-3, 1, 1])
    assert model.n_updates_ == 5
    model = Perceptron(shuffle=False).fit(SIX_X, SIX_Y, coef_init=[1, -1])
    assert_array_equal(parameters(model), [-2, 1, 1])
    assert model.n_updates_ == 4


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_example_4_first_batch_step():
    model = Perceptron(rule="batch", shuffle=False, max_iter=1).fit(AND_X, AND_Y)
    assert_array_equal(parameters(model), [-2, 0, 0])
    assert model.n_updates_ == 1
    whole = Perceptron(rule="batch", tol=None).fit(AND_X, AND_Y)
    assert whole.converged_
    assert_array_equal(whole.predict(AND_X), AND_Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("negative", [False, True])
def test_rules_against_plain_loops(negative):
    X, y = clouds(gap=1.0)
    signs = np.where(y == "b", 1.0, -1.0)
    epochs = 4
    path = plain_loop(X, signs, 0.3, epochs, negative)
    params = {
        "shuffle": False, "tol": None, "max_iter": epochs, "eta0": 0.3,
        "at_zero": "negative" if negative else "mistake",
    }  # fmt: skip
    assert_allclose(parameters(Perceptron(**params).fit(X, y)), path[-1])
    assert_allclose(parameters(Perceptron(rule="averaged", **params).fit(X, y)), path.mean(axis=0))
    f = X @ path[:, 1:].T + path[:, 0]
    wrong = (signs[:, None] != np.where(f > 0, 1, -1)) if negative else signs[:, None] * f <= 0
    pocket = Perceptron(rule="pocket", **params).fit(X, y)
    best = wrong.sum(axis=0).argmin()  # the first of the weights with fewest errors
    assert_allclose(parameters(pocket), path[best])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_pocket_of_many_rows_is_no_worse_than_the_last_weights():
    X, y = clouds(6000, gap=0.8)
    online = Perceptron(max_iter=10, tol=None).fit(X, y)
    pocket = Perceptron(max_iter=10, tol=None, rule="pocket").fit(X, y)
    averaged = Perceptron(max_iter=10, tol=None, rule="averaged").fit(X, y)
    assert_array_equal(pocket.history_["mistakes"], online.history_["mistakes"])
    assert pocket.score(X, y) > online.score(X, y)
    assert averaged.score(X, y) > online.score(X, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(
    "params",
    [
        {}, {"penalty": "l2"}, {"penalty": "l1"}, {"penalty": "elasticnet"}, {"eta0": 0.1},
        {"class_weight": "balanced"}, {"fit_intercept": False}, {"tol": 1e-1},
    ],
    ids=str,
)  # fmt: skip
def test_follows_scikit_learn(K, params):
    X, y = clouds(K=K)
    params = {"shuffle": False, "max_iter": 40, **params}
    if params.get("penalty") in ("l1", "elasticnet"):
        params |= {"tol": None, "max_iter": 7}  # scikit-learn's norms do not see its truncations
    ours, theirs = Perceptron(**params).fit(X, y), Peer(**params).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-7, atol=1e-9)
    assert ours.n_iter_ == theirs.n_iter_
    assert_array_equal(ours.predict(X), theirs.predict(X))


def test_average_and_partial_fit_follow_scikit_learn():
    X, y = clouds()
    signs = {"loss": "perceptron", "learning_rate": "constant", "eta0": 1.0, "penalty": None}
    peer = PeerSGD(average=True, shuffle=False, max_iter=5, tol=None, **signs).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = Perceptron(rule="averaged", shuffle=False, max_iter=5, tol=None).fit(X, y)
    assert_allclose(ours.coef_, peer.coef_)
    assert_allclose(ours.average_intercept_, peer.intercept_)
    a, b = Perceptron(shuffle=False), Peer(shuffle=False)
    for part in (slice(0, 40), slice(40, 120)):
        a.partial_fit(X[part], y[part], classes=["a", "b", "c"])
        b.partial_fit(X[part], y[part], classes=["a", "b", "c"])
    assert_allclose(a.coef_, b.coef_)
    assert a.t_ == b.t_ == 121
    with pytest.raises(AttributeError, match="partial_fit"):
        a.mistake_bound_  # noqa: B018


def test_stops_at_the_first_clean_epoch_within_the_bound():
    """Novikoff: no order makes more than (R/gamma)^2 mistakes."""
    X, y = clouds(60, gap=9.0)
    for seed in range(20):
        model = Perceptron(random_state=seed, tol=None).fit(X, y)
        assert model.converged_
        assert model.history_["mistakes"][-1] == 0
        assert (model.history_["mistakes"][:-1] > 0).all()
        assert model.n_updates_ <= model.mistake_bound_
        assert model.score(X, y) == 1


def test_mistake_bound_is_the_largest_margin():
    X, y = clouds(40, gap=8.0)
    signs = np.where(y == "b", 1.0, -1.0)
    for intercept in (True, False):
        D = np.column_stack([np.ones(40), X]) if intercept else X
        found = minimize(  # the shortest w with y d.w >= 1, by another method
            lambda w: w @ w / 2, np.zeros(D.shape[1]), jac=lambda w: w, method="SLSQP",
            constraints={"type": "ineq", "fun": lambda w, D=D: signs * (D @ w) - 1},
            options={"ftol": 1e-14, "maxiter": 500},
        )  # fmt: skip
        exact = (D**2).sum(axis=1).max() * (found.x @ found.x)
        model = Perceptron(fit_intercept=intercept, tol=None).fit(X, y)
        if found.success:
            assert_allclose(model.mistake_bound_, exact, rtol=1e-5)
    big, labels = clouds(3000, gap=12.0)
    signs = np.where(labels == "b", 1.0, -1.0)
    subset = novikoff_bound(big, signs, intercept=True)
    assert np.isfinite(subset)
    order = np.random.default_rng(0).permutation(3000)
    assert_allclose(novikoff_bound(big[order], signs[order], intercept=True), subset, rtol=1e-6)
    three, y3 = clouds(90, K=3)
    assert_array_equal(Perceptron().fit(three, y3).mistake_bound_, np.full(3, np.inf))


def test_limit_says_why():
    with pytest.warns(ConvergenceWarning, match="linearly separable, raise max_iter"):
        Perceptron(shuffle=False, max_iter=3, tol=None).fit(AND_X, AND_Y)
    for rule in ("online", "batch", "pocket", "averaged"):
        with pytest.warns(ConvergenceWarning, match="not linearly separable, it will cycle"):
            model = Perceptron(max_iter=30, tol=None, rule=rule).fit(AND_X, XOR_Y)
        assert not model.converged_
        assert model.mistake_bound_ == np.inf
    X, y = clouds(5000, gap=9.0)
    with pytest.warns(ConvergenceWarning, match="the rows are linearly separable"):
        Perceptron(max_iter=1, tol=None).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="objective still falls"):
        Perceptron(max_iter=2, penalty="l2").fit(AND_X, XOR_Y)


def test_through_the_origin():
    """Without an intercept AND has no solution, whatever the rate."""
    with pytest.warns(ConvergenceWarning, match="not linearly separable"):
        Perceptron(fit_intercept=False, max_iter=20, tol=None).fit(AND_X, AND_Y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("rule", ["online", "batch", "pocket", "averaged"])
def test_weights_are_repetitions_and_the_order_does_not_matter(rule):
    X, y = clouds(K=3)
    w = np.random.default_rng(1).integers(0, 3, size=len(X))
    params = {"rule": rule, "max_iter": 6, "tol": None}
    a = Perceptron(**params).fit(X, y, sample_weight=w)
    b = Perceptron(**params).fit(X.repeat(w, axis=0), y.repeat(w))
    assert_allclose(a.coef_, b.coef_, rtol=1e-10)
    order = np.random.default_rng(2).permutation(len(X))
    c = Perceptron(**params).fit(X[order], y[order], sample_weight=w[order])
    assert_allclose(a.coef_, c.coef_, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("rule", ["online", "batch", "pocket", "averaged"])
def test_sparse_equals_dense(rule):
    X, y = clouds(K=3)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    for params in ({"max_iter": 5, "tol": None}, {"at_zero": "negative", "max_iter": 20}):
        a = Perceptron(rule=rule, **params).fit(X, y)
        b = Perceptron(rule=rule, **params).fit(csr_array(X), y)
        assert_allclose(b.coef_, a.coef_, rtol=1e-9, atol=1e-12)
        assert b.n_updates_ == a.n_updates_
        assert_array_equal(b.history_["mistakes"], a.history_["mistakes"])


def test_early_stopping_card_boundary_and_refusals():
    X, y = clouds(300, gap=3.0)
    model = Perceptron(early_stopping=True).fit(X, y)
    assert model.history_["validation_score"][-1] > 0.8
    assert "sum over wrong rows" in str(model.card())
    assert_allclose(model.boundary().score(X), model.decision_function(X), rtol=1e-10, atol=1e-10)
    assert_allclose(model.explain(X).scores[:, 0], model.decision_function(X), atol=1e-10)
    for bad in (
        {"rule": "batch", "penalty": "l2"}, {"rule": "pocket", "early_stopping": True},
        {"at_zero": "negative", "penalty": "l1"},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="penalty"):
            Perceptron(**bad).fit(X, y)
    with pytest.raises(ValueError, match="1 class"):
        Perceptron().fit(X, np.ones(300))
    with pytest.raises(ValueError, match="do not exist"):
        Perceptron().partial_fit(X, y, classes=["a", "c"])

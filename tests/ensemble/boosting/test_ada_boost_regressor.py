"""AdaBoost.R2: scikit-learn within chance, the reweighting, endings, repetition."""

import numpy as np
import pytest
import sklearn.ensemble
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import AdaBoostRegressor, DecisionTreeRegressor, KNeighborsRegressor
from pellucid.core.arrays.quantiles import median_ends
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.ensemble.boosting.ada_boost_regressor import losses


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_as_good_as_scikit_learn_within_chance(loss):
    """Means over seeds of the test R^2 differ by less than three standard errors, or 0.01."""
    (X, y), (new, truth) = table(), table(500, 1)

    def scores(cls):
        models = [cls(n_estimators=15, loss=loss, random_state=s).fit(X, y) for s in range(10)]
        return np.array([model.score(new, truth) for model in models])

    a, b = scores(AdaBoostRegressor), scores(sklearn.ensemble.AdaBoostRegressor)
    spread = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 10)
    assert abs(a.mean() - b.mean()) < max(3 * spread, 0.01)


def test_the_median_is_scikit_learns():
    X, y = table()
    theirs = sklearn.ensemble.AdaBoostRegressor(n_estimators=9, random_state=0).fit(X, y)
    V = np.column_stack([m.predict(X) for m in theirs.estimators_])
    w = np.broadcast_to(theirs.estimator_weights_, V.shape)
    assert_array_equal(median_ends(V, w, axis=1)[0], theirs.predict(X))


def test_errors_and_weights_follow_the_formulas():
    X, y = table()
    model = AdaBoostRegressor(n_estimators=6, learning_rate=0.7, random_state=1).fit(X, y)
    d = np.full(len(y), 1 / len(y))
    for member, error, weight in zip(
        model.estimators_, model.estimator_errors_, model.estimator_weights_, strict=True
    ):
        L = losses(np.abs(member.predict(X) - y), "linear")
        assert_allclose(d @ L, error, rtol=1e-12)
        beta = error / (1 - error)
        assert_allclose(weight, 0.7 * np.log(1 / beta), rtol=1e-12)
        d = d * beta ** (0.7 * (1 - L))
        d /= d.sum()
    assert_allclose(model.history_["error"], model.estimator_errors_)
    assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    assert_allclose(model.feature_importances_.sum(), 1)
    assert len(model) == 6
    assert model[0] is model.estimators_[0]


def test_rounds_help():
    (X, y), (new, truth) = table(400), table(400, 1)
    scores = list(AdaBoostRegressor(random_state=0).fit(X, y).staged_score(new, truth))
    assert scores[-1] > scores[0] + 0.1


def test_a_weight_is_a_repetition_and_the_order_does_not_matter():
    X, y = table(60)
    w = np.random.default_rng(2).integers(0, 3, size=60)
    many = np.random.default_rng(3).permutation(np.repeat(np.arange(60), w))
    for base in (None, KNeighborsRegressor(3)):
        a = AdaBoostRegressor(base, n_estimators=5, random_state=0)
        b = AdaBoostRegressor(base, n_estimators=5, random_state=0)
        found = a.fit(X, y, w).predict(X), b.fit(X[many], y[many]).predict(X)
        assert_allclose(*found, rtol=1e-9)


def test_a_member_without_error_decides_alone():
    X, y = np.arange(6.0)[:, None], np.repeat([0.0, 1.0], 3)
    model = AdaBoostRegressor(DecisionTreeRegressor(), random_state=0).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert "decides alone" in model.card().warnings[0]


@pytest.mark.parametrize("rate", [50.0, 1e3, 1e5])
def test_a_large_learning_rate_leaves_numbers(rate):
    """Weights that underflow leave no 0/0, and a member without weighted error is not perfect."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = AdaBoostRegressor(learning_rate=rate, random_state=0)
    with pytest.warns(ConvergenceWarning, match=f"lower learning_rate={rate:g}"):
        model.fit(X, X[:, 0] + X[:, 1] ** 2)
    assert np.isfinite(model.estimator_weights_).all()
    assert (model.estimator_errors_ > 0).all()
    assert "have lost their weight" in model.card().warnings[0]


def test_a_member_no_better_than_half_the_largest_error_ends_with_a_warning():
    X, y = np.zeros((20, 1)), np.tile([0.0, 1.0], 10)
    with pytest.warns(UserWarning, match="stopped after 1 rounds: the first member"):
        model = AdaBoostRegressor(random_state=0).fit(X, y)
    assert len(model) == 1
    assert "ended early" in model.card().warnings[0]


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"loss": "absolute"}, "loss"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"estimator": 3}, "needs the method fit"),
    ],
)
def test_bad_parameters(params, words):
    with pytest.raises(ValueError, match=words):
        AdaBoostRegressor(**params).fit(*table(20))

"""Each textbook ensemble against the fast one: equal on the same draws, or in distribution."""

import numpy as np
import pytest
from agreement import same, same_mean

import pellucid
from pellucid.core.runtime.random import generator, stream
from pellucid.ensemble import expected_unique_fraction, majority_accuracy, variance_of_average
from pellucid.ensemble.boosting.ada_boost_regressor import DRAW
from pellucid.ensemble.committees.bootstrap import own_order
from pellucid.textbook.ensembles import adaboost as boosting
from pellucid.textbook.ensembles.adaboost import adaboost
from pellucid.textbook.ensembles.adaboost_regression import adaboost_regression
from pellucid.textbook.ensembles.bagging import bagging, draw
from pellucid.textbook.ensembles.committee_theory import (
    committee_theory,
    unique_share,
    variance_of_mean,
)
from pellucid.textbook.ensembles.extra_trees import extra_trees
from pellucid.textbook.ensembles.forest_proximity import (
    forest_proximity,
    forest_weights,
    weighted_quantile,
)
from pellucid.textbook.ensembles.gradient_boosting import gradient_boosting, rounds
from pellucid.textbook.ensembles.infinitesimal_jackknife import infinitesimal_jackknife
from pellucid.textbook.ensembles.isolation_forest import isolation_forest
from pellucid.textbook.ensembles.logistic_boosting import logistic_boosting
from pellucid.textbook.ensembles.random_forest import random_forest
from pellucid.textbook.ensembles.second_order_boosting import second_order_boosting
from pellucid.textbook.ensembles.stacking import stacking
from pellucid.textbook.ensembles.voting import voting


def problem(seed, n=60, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n)


def learn(X, y):
    return pellucid.Ridge(0.1).fit(X, y).predict


def learn_tree(X, y):
    return pellucid.DecisionTreeRegressor(min_samples_leaf=3).fit(X, y).predict


def counts(samples, n):
    return np.array([np.bincount(rows, minlength=n) for rows in samples])


def test_bagging():
    X, y = problem(0)
    fast = pellucid.BaggingRegressor(pellucid.Ridge(0.1), 20, random_state=0).fit(X, y)
    bag = bagging(learn, X, y, fast.estimators_samples_)
    same(bag.predict(X), fast.predict(X), atol=1e-10)
    same(bag.out_of_bag(X), fast.oob_prediction_, atol=1e-10)
    drawn = [len(np.unique(rows)) / 60 for rows in draw(60, 200, np.random.default_rng(0))]
    same_mean(drawn, unique_share(60))


@pytest.mark.parametrize("seed", [1, 1001, 2001, 5001])
def test_random_forest(seed):
    """Small bags hold divisions that several columns make: the first of them asks."""
    X, y = problem(seed)
    fast = pellucid.RandomForestRegressor(5, max_features=None, random_state=seed).fit(X, y)
    forest = random_forest(X, y, 3, fast.estimators_samples_, np.random.default_rng(0))
    same(forest(X + 0.1), fast.predict(X + 0.1), atol=1e-10)


def test_random_forest_with_drawn_columns_has_the_same_distribution():
    X, y = problem(2, n=40)
    Q = np.random.default_rng(102).normal(size=(8, 3))
    rng = np.random.default_rng(0)
    ours = np.array([random_forest(X, y, 1, draw(40, 1, rng), rng)(Q) for _ in range(150)])
    fast = pellucid.RandomForestRegressor(600, max_features=1, random_state=0).fit(X, y)
    same_mean(ours, [tree.predict(Q) for tree in fast.estimators_])


def test_extra_trees_have_the_same_distribution():
    X, y = problem(3, n=25)
    Q = np.random.default_rng(103).normal(size=(8, 3))
    rng = np.random.default_rng(0)
    ours = np.array([extra_trees(X, y, 1, rng)(Q) for _ in range(120)])
    fast = pellucid.ExtraTreesRegressor(600, random_state=0).fit(X, y)
    same_mean(ours, [tree.predict(Q) for tree in fast.estimators_])


def test_forest_proximity():
    X, y = problem(4)
    fast = pellucid.RandomForestRegressor(15, min_samples_leaf=4, random_state=0).fit(X, y)
    leaves = fast.apply(X)
    same(forest_proximity(leaves), fast.proximity(X))
    N = counts(fast.estimators_samples_, len(y))
    Q = X[:5] + 0.1
    for x, at, answer, quantiles in zip(
        Q, fast.apply(Q), fast.predict(Q), fast.predict_quantiles(Q, [0.1, 0.5, 0.9]), strict=True
    ):
        w = forest_weights(leaves, N.T, at)
        same(w @ y, answer)
        same([weighted_quantile(y, w, q) for q in (0.1, 0.5, 0.9)], quantiles)
        assert x.shape == (3,)


def test_infinitesimal_jackknife():
    X, y = problem(5)
    fast = pellucid.RandomForestRegressor(80, min_samples_leaf=5, random_state=0).fit(X, y)
    N = counts(fast.estimators_samples_, len(y))
    answers = np.array([tree.predict(X[:6]) for tree in fast.estimators_])
    _, std = fast.predict(X[:6], return_std=True)
    same([infinitesimal_jackknife(N, t) for t in answers.T], std, atol=1e-10)


@pytest.mark.parametrize("B", [1, 2, 3, 10])
def test_committee_theory(B):
    same(committee_theory(0.7, B), majority_accuracy(0.7, B))
    same(variance_of_mean(4, B, 0.3), variance_of_average(4, B, 0.3))
    same(unique_share(B), expected_unique_fraction(B))


def test_adaboost():
    X, y = problem(6)
    sign = np.where(y > 0, 1, -1)
    states = adaboost(X, sign, 12)
    fast = pellucid.AdaBoostClassifier(n_estimators=12).fit(X, sign)
    same([s.a for s in states], fast.alphas_)
    same([s.e for s in states], fast.estimator_errors_)
    same(np.cumprod([s.Z for s in states]), [r["objective"] for r in fast.history_][-12:])
    assert (np.sign(boosting.score(states, X)) == fast.predict(X)).all()


def test_gradient_boosting():
    X, y = problem(7)
    fast = pellucid.GradientBoostingRegressor(n_estimators=15).fit(X, y)
    same(gradient_boosting(X, y, 15)(X + 0.1), fast.predict(X + 0.1), atol=1e-8)
    losses = [state.mse for state, _ in zip(rounds(X, y, 0.1, 3), range(15), strict=False)]
    same(losses, fast.train_score_)


def test_logistic_boosting():
    X, y = problem(8)
    label = (y > 0).astype(int)
    fast = pellucid.GradientBoostingClassifier(n_estimators=15).fit(X, label)
    ours = logistic_boosting(X, label, 15)(X + 0.1)
    same(ours, fast.decision_function(X + 0.1), atol=1e-8)


@pytest.mark.parametrize("l2", [0.0, 2.0])
def test_second_order_boosting(l2):
    X, y = problem(9, n=120)
    fast = pellucid.HistGradientBoostingRegressor(
        max_iter=10, max_leaf_nodes=6, min_samples_leaf=5, l2_regularization=l2
    ).fit(X, y)
    ours = second_order_boosting(X, y, 10, leaves=6, l2=l2, least=5)
    same(ours(X), fast.predict(X), atol=1e-8)


def test_stacking():
    X, y = problem(10)
    fold = np.repeat(np.arange(5), 12)
    ours = stacking([learn, learn_tree], learn, X, y, fold)
    members = [
        ("ridge", pellucid.Ridge(0.1)),
        ("tree", pellucid.DecisionTreeRegressor(min_samples_leaf=3)),
    ]
    fast = pellucid.StackingRegressor(members, pellucid.Ridge(0.1), cv=5).fit(X, y)
    same(ours(X + 0.1), fast.predict(X + 0.1), atol=1e-8)


def test_voting():
    X, y = problem(11)
    label = np.digitize(y, [-0.5, 0.5])
    members = [("nb", pellucid.GaussianNB()), ("lda", pellucid.LinearDiscriminantAnalysis())]
    members += [("tree", pellucid.DecisionTreeClassifier(max_depth=2))]
    P = np.array([model.fit(X, label).predict_proba(X) for _, model in members])
    hard = pellucid.VotingClassifier(members).fit(X, label)
    assert (voting(P, hard=True) == hard.predict(X)).all()
    soft = pellucid.VotingClassifier(members, voting="soft", weights=[1, 2, 3]).fit(X, label)
    assert (voting(P, [1, 2, 3]) == soft.predict(X)).all()


def test_isolation_forest_has_the_same_distribution():
    X, _ = problem(12, n=80)
    Q = np.vstack([X[:6], [[5.0, 5.0, 5.0]]])
    rng = np.random.default_rng(0)
    ours = [isolation_forest(X, Q, 10, 32, rng) for _ in range(12)]
    settings = {"n_estimators": 10, "max_samples": 32}
    fast = [pellucid.IsolationForest(**settings, random_state=i).fit(X) for i in range(40)]
    same_mean(ours, [-forest.score_samples(Q) for forest in fast])
    assert np.mean(ours, axis=0).argmax() == 6


def test_adaboost_regression():
    """The same draws, handed over in the order of the fast version's rows."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] ** 2 + X[:, 1]
    tree = pellucid.DecisionTreeRegressor(max_depth=3)
    fast = pellucid.AdaBoostRegressor(tree, n_estimators=4, random_state=0).fit(X, y)
    seed = int(generator(0).integers(2**62))
    draws = [stream(seed, t, DRAW).random(80) for t in range(4)]
    order = own_order(X, y)

    def learn(rows, target):
        return pellucid.DecisionTreeRegressor(max_depth=3).fit(rows, target).predict

    ours = adaboost_regression(learn, X[order], y[order], draws)
    same(ours(X), fast.predict(X))

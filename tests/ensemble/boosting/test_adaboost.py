"""AdaBoost: the course's round, scikit-learn's classifier, the bound, the edges."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import AdaBoostClassifier as Peer
from sklearn.tree import DecisionTreeClassifier as PeerTree

from pellucid import AdaBoostClassifier, DecisionTreeClassifier, GaussianNB, KNeighborsClassifier
from pellucid.compiled.trees.presort import presort
from pellucid.core.loops.iterate import DivergenceWarning
from pellucid.ensemble import adaboost_round
from pellucid.ensemble.boosting.weak_learners import fit_stump
from pellucid.tree.growing import Classes, Growth, grow_tree

rng = np.random.default_rng(0)


def table(n=400, d=5, K=2, seed=0):
    """float32 numbers, so that scikit-learn's trees see the same."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32).astype(np.float64)
    score = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, K) / K))


def test_example_of_one_round():
    """Part 04, ensembles: N = 10, uniform, 3 errors."""
    y = np.ones(10)
    said = np.where(np.arange(10) < 3, -1, 1)
    found = adaboost_round(np.full(10, 0.1), y, said)
    assert_allclose(found.error, 0.3, atol=1e-8)
    assert_allclose(found.alpha, 0.4236489302, atol=1e-8)
    assert_allclose(found.normaliser, 0.9165151390, atol=1e-8)
    assert_allclose(found.weights[:3], 1 / 6, atol=1e-8)
    assert_allclose(found.weights[3:], 1 / 14, atol=1e-8)
    assert_allclose(found.weights[:3].sum(), 0.5, atol=1e-12)


def test_rounds_that_are_all_right_or_all_wrong():
    y = np.array([1, -1, 1])
    perfect = adaboost_round([1, 1, 2], y, y)
    assert (perfect.error, perfect.alpha, perfect.normaliser) == (0.0, np.inf, 0.0)
    assert_allclose(perfect.weights, [0.25, 0.25, 0.5])
    assert adaboost_round([1, 1, 2], y, -y).alpha == -np.inf


@pytest.mark.parametrize(
    ("weights", "y", "said", "match"),
    [
        ([1, 1], [1, 0], [1, 1], r"-1 or \+1"),
        ([1, 1], [1, -1], [1], "one length"),
        ([1, -1], [1, -1], [1, 1], "finite, >= 0"),
        ([0, 0], [1, -1], [1, 1], "not all 0"),
    ],
)
def test_bad_rounds_are_refused(weights, y, said, match):
    with pytest.raises(ValueError, match=match):
        adaboost_round(weights, y, said)


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_same_as_scikit_learn(K, rate):
    X, y = table(K=K)
    ours = AdaBoostClassifier(n_estimators=20, learning_rate=rate).fit(X, y)
    theirs = Peer(n_estimators=20, learning_rate=rate, random_state=0).fit(X, y)
    T = len(ours.estimators_)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:T], rtol=1e-9)
    assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:T], rtol=1e-8)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)
    for mine, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        assert_array_equal(mine, other)
    for mine, other in zip(ours.staged_predict_proba(X), theirs.staged_predict_proba(X), strict=1):
        assert_allclose(mine, other, atol=1e-9)
    assert_allclose(list(ours.staged_score(X, y)), list(theirs.staged_score(X, y)))


def test_deeper_trees_and_weights_as_in_scikit_learn():
    X, y = table(500, K=3)
    w = rng.uniform(0.5, 2, size=500)
    params = {"max_depth": 3, "min_samples_leaf": 5}
    ours = AdaBoostClassifier(DecisionTreeClassifier(**params), n_estimators=10).fit(X, y, w)
    theirs = Peer(PeerTree(**params), n_estimators=10, random_state=0).fit(X, y, w)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("K", [2, 3])
def test_the_stump_is_the_tree_of_depth_one(K):
    """Kernel and general grower agree on columns with many ties and any whole weights."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 5, size=(40, 4)).astype(float)
        codes, v = rng.integers(K, size=40), rng.integers(1, 50, size=40).astype(float)
        data = presort(X)
        tree, said = fit_stump(data, v, codes, K)
        whole = grow_tree(
            data, Classes(codes[:, None], np.array([K])), v, Growth("gini", max_depth=1)
        )
        for name in ("feature", "threshold", "children_right", "missing_go_to_left"):
            assert_array_equal(getattr(tree, name), getattr(whole, name))
        assert_allclose(tree.impurity, whole.impurity)
        assert_allclose(tree.value, whole.value)
        assert_array_equal(said, whole.value[:, 0].argmax(1)[whole.apply(X)])


def test_bound_and_course_scale():
    """Training error <= product of the normalisers = mean exponential loss, Z = 2 sqrt(e (1-e))."""
    X, y = table()
    model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    history, e = model.history_, model.estimator_errors_
    assert len(history) == 31
    assert_allclose(model.alphas_, 0.5 * np.log((1 - e) / e))
    assert_allclose(model.estimator_weights_, 2 * model.alphas_)
    assert_allclose(history["alpha"][1:], model.alphas_)
    assert_allclose(history["normaliser"][1:], 2 * np.sqrt(e * (1 - e)))
    assert_allclose(history["objective"][1:], np.cumprod(history["normaliser"][1:]))
    assert (history["train_error"][1:] <= history["objective"][1:]).all()
    assert_allclose(history["train_error"][-1], 1 - model.score(X, y))
    sign = np.where(y == 1, 1, -1)
    F = sum(
        a * np.where(m.predict(X) == 1, 1, -1)
        for a, m in zip(model.alphas_, model.estimators_, strict=True)
    )
    assert_allclose(history["objective"][-1], np.exp(-sign * F).mean(), rtol=1e-9)
    assert "bound of the training error" in model.card().numbers


def test_follows_the_course_round_by_round():
    X, y = table(60)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    d = np.full(60, 1 / 60)
    sign = np.where(y == 1, 1, -1)
    for t, member in enumerate(model.estimators_):
        found = adaboost_round(d, sign, np.where(member.predict(X) == 1, 1, -1))
        assert_allclose(found.error, model.estimator_errors_[t], rtol=1e-9)
        assert_allclose(found.alpha, model.alphas_[t], rtol=1e-9)
        d = found.weights


def test_a_perfect_member_is_kept_and_ends_the_rounds():
    X, y = [[0.0], [1.0], [2.0]], [0, 0, 1]
    model = AdaBoostClassifier().fit(X, y)
    assert len(model.estimators_) == 1
    assert_array_equal(model.estimator_weights_, [1.0])
    assert_array_equal(model.estimator_errors_, [0.0])
    assert model.history_["objective"][-1] == 0.0
    assert model.score(X, y) == 1.0


class Scripted(GaussianNB):
    """Says what it is told: right, or wrong in so many rows, by its turn."""

    turn = 0
    script = ()

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y)
        self.y_ = np.array(y)
        self.wrong_ = list(type(self).script[type(self).turn])
        type(self).turn += 1
        return self

    def predict(self, X):
        said = self.y_.copy()
        said[self.wrong_] = 1 - said[self.wrong_]
        return said


def scripted(*wrong):
    Scripted.turn, Scripted.script = 0, wrong
    return AdaBoostClassifier(Scripted(), n_estimators=10)


def test_a_perfect_member_after_others_decides_alone():
    X, y = rng.normal(size=(10, 2)), np.arange(10) % 2
    model = scripted([0], [1], []).fit(X, y)
    assert len(model.estimators_) == 3
    assert model.estimator_weights_[2] > model.estimator_weights_[:2].sum()
    assert_array_equal(model.predict(X), y)


def test_a_member_no_better_than_chance_is_dropped_with_a_warning():
    X, y = rng.normal(size=(10, 2)), np.arange(10) % 2
    model = scripted([0], range(10))
    with pytest.warns(UserWarning, match="after 1 rounds.*no better than chance"):
        model.fit(X, y)
    assert len(model.estimators_) == len(model.estimator_weights_) == 1
    assert len(model.history_) == 2
    with pytest.raises(ValueError, match=r"first Scripted.*0\.5, no better than chance"):
        scripted(range(5)).fit(X, y)


@pytest.mark.parametrize("rate", [23.0, 200.0])
def test_a_large_learning_rate_leaves_numbers(rate):
    """Factors exp(-749) of the rows that were right leave no 0 / 0 when all have underflowed."""
    y = np.arange(150) // 50
    X = y[:, None] + np.random.default_rng(0).normal(size=(150, 4))
    model = AdaBoostClassifier(n_estimators=30, learning_rate=rate)
    with pytest.warns(DivergenceWarning, match=f"lower learning_rate={rate:g}"):
        model.fit(X, y)
    assert np.isfinite(model.estimator_weights_).all()
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) > 1 / 3


def test_constant_columns_are_chance():
    with pytest.raises(ValueError, match="no better than chance"):
        AdaBoostClassifier().fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_one_class_and_zero_weights():
    X = rng.normal(size=(6, 2))
    model = AdaBoostClassifier().fit(X, ["a"] * 6)
    assert_array_equal(model.predict(X), ["a"] * 6)
    assert_array_equal(model.predict_proba(X), np.ones((6, 1)))
    y = np.array([0, 0, 1, 1, 2, 2])
    w = np.array([1, 1, 1, 1, 0, 0])
    assert_array_equal(AdaBoostClassifier().fit(X, y, w).classes_, [0, 1])


def test_weights_are_repetitions_to_the_last_bit():
    X, y = table(120)
    X = np.round(X, 1)  # ties
    w = rng.integers(0, 4, size=120)
    a = AdaBoostClassifier(n_estimators=30).fit(X, y, w)
    b = AdaBoostClassifier(n_estimators=30).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_array_equal(a.estimator_errors_, b.estimator_errors_)
    assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_order_of_rows_does_not_matter():
    X, y = table(200)
    p = rng.permutation(200)
    a, b = AdaBoostClassifier().fit(X, y), AdaBoostClassifier().fit(X[p], y[p])
    assert_array_equal(a.decision_function(X), b.decision_function(X))


def test_any_member_weighted_or_drawn():
    X, y = table(300)
    ours = AdaBoostClassifier(GaussianNB(), n_estimators=3).fit(X, y)
    theirs = Peer(GaussianNB(), n_estimators=3, random_state=0).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-8)
    with pytest.raises(AttributeError, match="feature_importances_"):
        ours.feature_importances_  # noqa: B018
    drawn = AdaBoostClassifier(KNeighborsClassifier(3), n_estimators=3, random_state=0)
    assert drawn.fit(X, y).score(X, y) > 0.9  # takes no weights: a weighted bootstrap
    again = AdaBoostClassifier(KNeighborsClassifier(3), n_estimators=3, random_state=0).fit(X, y)
    assert_array_equal(drawn.predict(X), again.predict(X))


def test_missing_cells_and_sparse_tables():
    from scipy.sparse import csr_matrix

    X, y = table(200)
    Z = np.where(rng.uniform(size=X.shape) < 0.1, np.nan, X)
    assert AdaBoostClassifier().fit(Z, y).score(Z, y) > 0.8
    S = np.where(X > 0.5, X, 0.0)
    a, b = AdaBoostClassifier().fit(S, y), AdaBoostClassifier().fit(csr_matrix(S), y)
    assert_array_equal(a.predict(S), b.predict(csr_matrix(S)))


@pytest.mark.parametrize("seed", range(4))
def test_recovers_a_sum_of_steps(seed):
    """Three stumps are the three steps; only rows at a step itself can be on the wrong side."""
    X, steps = np.random.default_rng(seed).uniform(size=(2000, 3)), np.array([0.5, 0.3, 0.7])
    y = ((steps < X).sum(axis=1) >= 2).astype(int)
    model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    wrong = model.predict(X) != y
    assert wrong.sum() <= 3
    assert (np.abs(X[wrong] - steps).min(axis=1) < 0.005).all()
    cuts = {int(m.tree_.feature[0]): m.tree_.threshold[0] for m in model.estimators_}
    assert_allclose([cuts[j] for j in range(3)], steps, atol=0.01)


def test_callbacks_can_stop():
    class Stop:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context): ...

        def on_fit_task_end(self, estimator, context, *, fitted_estimator):
            return context.parent is not None and len(fitted_estimator.estimators_) >= 3

    X, y = table()
    model = AdaBoostClassifier().set_callbacks(Stop()).fit(X, y)
    assert len(model.estimators_) == len(model.history_) - 1 == 3

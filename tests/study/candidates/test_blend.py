"""The average of candidates: weights from the folds, scores as honest as those of its members."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import StratifiedKFold

import pellucid
from pellucid.study.candidates.blend import FoldBlend, Said, blend, greedy_weights
from pellucid.study.candidates.candidates import Tried
from pellucid.study.candidates.guessing import GuessClassifier, GuessRegressor
from pellucid.study.candidates.training import Workshop, run_candidate
from pellucid.study.judging.final_score import build_model
from pellucid.study.judging.measure import make_scorer
from pellucid.study.records import Candidate, Plan, Task

BINARY = Task("binary", ("y",), ("a", "b"), "b", "accuracy", True, 0, "")
NUMBER = Task("regression", ("y",), (), None, "rmse", False, 0, "")


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return pl.DataFrame(X), 1.5 * X[:, 0] + 1.5 * np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=n)


def shop_of(frame, y, task, single=False):
    strata = y if task is BINARY else np.zeros(len(y))
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(np.zeros(len(y)), strata))
    folds = folds[:1] if single else folds
    return Workshop(frame, y, folds, kind="random", kinds={}, scorer=make_scorer(task, None))


def outcome(shop, estimator, complexity, name, space=None, **features):
    tried = Tried(Candidate(name, name, estimator, space or {}, complexity, ""), features)
    return run_candidate(shop, tried, deadline=None, step=lambda fold: None)


def three(shop, regression):
    if regression:
        models = GuessRegressor(), pellucid.Ridge(), pellucid.KNeighborsRegressor(5)
    else:
        models = GuessClassifier(), pellucid.LogisticRegression(), pellucid.KNeighborsClassifier(5)
    names = ("guess", 0), ("linear", 1), ("neighbours", 2)
    return [outcome(shop, m, c, name) for m, (name, c) in zip(models, names, strict=True)]


def test_weights_are_the_least_squares_ones():
    """Two members: the greedy counts come as near to the minimum as counts can."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=(400, 1))
    answers = np.stack([y + 0.5 * rng.normal(size=y.shape), y + rng.normal(size=y.shape)])
    w = greedy_weights([Said(answers, y)])
    a, b = (answers[0] - y).ravel(), (answers[1] - y).ravel()
    best = (b @ b - a @ b) / (a @ a + b @ b - 2 * a @ b)
    assert w[0] == pytest.approx(best, abs=0.03)


def test_a_useless_member_gets_no_weight():
    rng = np.random.default_rng(2)
    y = rng.normal(size=(200, 1))
    answers = np.stack([y + 0.1 * rng.normal(size=y.shape), 50 * rng.normal(size=y.shape)])
    assert_allclose(greedy_weights([Said(answers, y)]), [1.0, 0.0])


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("task", [NUMBER, BINARY])
def test_scores_use_the_weights_of_the_other_folds(task, single):
    frame, y = table()
    y = y if task is NUMBER else np.where(y > 0, "b", "a")
    shop = shop_of(frame, y, task, single)
    outcomes = three(shop, task is NUMBER)
    found = blend(shop, outcomes)
    assert found is not None
    assert found.complexity == 6
    assert len(found.scores) == len(shop.judged())
    if single:
        return
    members = sorted(outcomes[1:], key=lambda one: -shop.scorer.sign * one.scores.mean())
    said = []
    for i in range(3):
        part = shop.outer_part(i, {})
        if task is NUMBER:
            answers = [m.models[i].predict(part.Z_judge)[:, None] for m in members]
            said.append(Said(np.array(answers), part.y_judge[:, None]))
        else:
            answers = [m.models[i].predict_proba(part.Z_judge) for m in members]
            said.append(Said(np.array(answers), (part.y_judge[:, None] == ["a", "b"]) * 1.0))
    for i in range(3):
        weights = greedy_weights([one for j, one in enumerate(said) if j != i])
        mean = np.average(said[i].answers, axis=0, weights=weights)
        if task is NUMBER:
            expected = np.sqrt(np.mean((mean - said[i].truth) ** 2))
        else:
            expected = np.mean(mean.argmax(axis=1) == said[i].truth.argmax(axis=1))
        assert found.scores[i] == pytest.approx(expected)


@pytest.mark.parametrize("task", [NUMBER, BINARY])
def test_the_saved_average_is_the_weighted_mean_of_its_members(task, tmp_path):
    frame, y = table()
    y = y if task is NUMBER else np.where(y > 0, "b", "a")
    shop = shop_of(frame, y, task)
    found = blend(shop, three(shop, task is NUMBER))
    rows = np.arange(len(y))
    model = build_model(shop, found, rows, {}, None)
    Z = model[0].transform(frame)
    last = model[-1]
    single = [m.predict(Z) if task is NUMBER else m.predict_proba(Z) for m in last.estimators_]
    said = model.predict(frame) if task is NUMBER else model.predict_proba(frame)
    assert_allclose(said, np.average(single, axis=0, weights=last.weights))
    pellucid.save(model, tmp_path / "average.pellucid")
    again = pellucid.load(tmp_path / "average.pellucid")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


def test_nothing_to_average():
    frame, y = table()
    shop = shop_of(frame, y, NUMBER)
    guess, linear, _ = three(shop, True)
    assert blend(shop, [guess, linear]) is None
    assert (
        blend(shop, [guess, linear, outcome(shop, pellucid.Ridge(), 2, "bends", knots=5)]) is None
    )


def test_members_in_a_fold_keep_their_order():
    first = pellucid.Ridge().fit([[0.0], [1.0]], [0.0, 1.0])
    second = pellucid.Ridge().fit([[0.0], [1.0]], [5.0, 5.0])
    joined = FoldBlend([first, second], np.array([0.0, 1.0]))
    assert_allclose(joined.predict(np.array([[3.0]])), [5.0])


def test_ordered_classes_can_be_studied_with_averages():
    """The ordinal model needs the labels themselves, so it is no member."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(240, 3))
    score = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=240)
    labels = np.array(["low", "medium", "high"])[np.digitize(score, [-0.6, 0.6])]
    table = pl.DataFrame(X).with_columns(y=pl.Series(labels))
    plan = Plan(candidates=("logistic", "ordinal", "neighbours", "average"))
    record = pellucid.learn(table, "y", plan=plan)
    keys = {row.key: row for row in record.leaderboard}
    assert {"ordinal", "average"} <= set(keys)
    assert "ordinal" not in keys["average"].name
    assert set(record.predict(pl.DataFrame(X))) <= set(labels)

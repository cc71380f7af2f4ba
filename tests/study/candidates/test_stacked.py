"""Stacking: weights learned from rows held out, in closed form where there is one."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import lsq_linear

import pellucid
from pellucid import Plan, learn
from pellucid.study.candidates.blend import Said
from pellucid.study.candidates.stacked import SPREAD, StackedClassifier, learn_pool

rng = np.random.default_rng(1)


def test_numbers_have_the_weights_of_a_penalised_least_squares_problem():
    y = rng.normal(size=(300, 1)) + 5
    answers = np.array([y + rng.normal(size=y.shape), 0.5 * y, rng.normal(size=y.shape)])
    pool = learn_pool([Said(answers[:, :100], y[:100]), Said(answers[:, 100:], y[100:])])
    F = answers[:, :, 0].T
    noise = ((F - y) ** 2).mean(axis=0).min()
    A = np.vstack([np.column_stack([F, np.ones(300)]), np.zeros((3, 4))])
    A[300:, :3] = np.eye(3) * np.sqrt(noise) / SPREAD
    b = np.append(y[:, 0], np.full(3, np.sqrt(noise) / SPREAD / 3))
    twin = lsq_linear(A, b, bounds=([0, 0, 0, -np.inf], np.inf), tol=1e-13).x
    assert_allclose(np.append(pool.weights, pool.level), twin, atol=1e-6)
    assert (pool.weights >= 0).all()


def test_classes_have_one_weight_for_all_and_a_level_each():
    n, K = 200, 3
    score = 2 * rng.normal(size=(n, K))
    P = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    y = (P.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1)
    answers = np.array([0.5 * P + 0.5 / K, rng.dirichlet(np.ones(K), size=n)])
    pool = learn_pool([Said(answers, np.eye(K)[y])])
    noise = ((answers - np.eye(K)[y]) ** 2).mean(axis=(1, 2)).min()
    A = np.column_stack([answers.reshape(2, -1).T, np.tile(np.eye(K), (n, 1))])
    A = np.vstack([A, np.sqrt(noise) / SPREAD * np.eye(2, 2 + K)])
    b = np.append(np.eye(K)[y].ravel(), np.full(2, np.sqrt(noise) / SPREAD / 2))
    twin = lsq_linear(A, b, bounds=([0, 0, *[-np.inf] * K], np.inf), tol=1e-13).x
    assert_allclose(np.append(pool.weights, pool.level), twin, atol=1e-6)
    assert pool.weights[0] > 1.5  # what the member shrank is stretched again
    said = pool.answer(answers)
    assert_allclose(said.sum(axis=1), 1.0)
    assert said.min() > 0


@pytest.mark.parametrize("kind", ["number", "classes"])
def test_a_thorough_study_has_a_stack(kind, tmp_path):
    X = rng.normal(size=(220, 3))
    signal = X[:, 0] + np.abs(X[:, 1])
    y = signal + 0.3 * rng.normal(size=220) if kind == "number" else np.where(signal > 1, "b", "a")
    table = {"p": X[:, 0], "q": X[:, 1], "r": X[:, 2], "y": y}
    single = ("ridge", "neighbours") if kind == "number" else ("logistic", "neighbours")
    found = {}
    for effort in ("standard", "thorough"):
        plan = Plan(candidates=(*single, "stack"))
        found[effort] = learn(table, "y", effort=effort, plan=plan)
    keys = {effort: [row.key for row in one.leaderboard] for effort, one in found.items()}
    assert "stack" not in keys["standard"]
    rows = {row.key: row for row in found["thorough"].leaderboard}
    stacked, record = rows["stack"], found["thorough"]
    sign = -1 if kind == "number" else 1
    assert all(
        sign * stacked.interval.estimate >= sign * rows[key].interval.estimate - 0.03
        for key in single
    )
    assert stacked.name.startswith("stack of ")
    if stacked.chosen:
        assert "best single model" in str(record.verdict)
        assert str(record.verdict).startswith("Yes. A stack of")
    path = tmp_path / "m.pellucid"
    record.save(path)
    again = pellucid.load(path).predict(pl.DataFrame(table).drop("y"))
    assert_array_equal(again, record.predict(table))


def test_a_level_for_every_class():
    model = StackedClassifier([("bayes", pellucid.GaussianNB())], [1.0], [0.0])
    with pytest.raises(ValueError, match="one number for each of the 2 classes, got 1"):
        model.fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])

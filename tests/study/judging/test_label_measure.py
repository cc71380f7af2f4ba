"""The label that is said suits the measure, and a class that comes late has a probability."""

import numpy as np
import polars as pl
import pytest

from pellucid import Plan, learn
from pellucid.study import detect_task
from pellucid.study.candidates.guessing import GuessClassifier
from pellucid.study.judging.measure import make_scorer

rng = np.random.default_rng(5)


class Says:
    """A model that has said what it says."""

    def __init__(self, classes, P):
        self.classes_, self.P = np.asarray(classes), np.asarray(P)

    def predict_proba(self, Z):
        return self.P

    def predict(self, Z):
        return self.classes_[self.P.argmax(axis=1)]


def test_balanced_accuracy_has_the_labels_of_best_expected_recall():
    """With the true probabilities no other labels have a better mean recall on many rows."""
    n = 40_000
    score = rng.normal(size=(n, 3)) + np.log([0.9, 0.07, 0.03])
    P = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    y = np.array(["a", "b", "c"])[(P.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1)]
    scorer = make_scorer(detect_task(y, metric="balanced_accuracy"), None, y)
    model = Says(["a", "b", "c"], P)
    ours = scorer.score(model, np.zeros((n, 1)), y)
    share = np.array([(y == c).mean() for c in "abc"])
    for power in (0.0, 0.5, 0.8, 1.3):
        labels = model.classes_[(P / share**power).argmax(axis=1)]
        assert ours >= scorer.metric.score(y, labels) - 0.01
    assert ours > scorer.metric.score(y, model.predict(None)) + 0.05


def test_a_class_that_a_fold_has_not_met_is_possible_and_has_costs():
    y = np.array(["a"] * 9 + ["b"] * 5 + ["c"] * 2)
    model = Says(["a", "b"], np.tile([0.6, 0.4], (len(y), 1)))
    scorer = make_scorer(detect_task(y, metric="log_loss"), None, y)
    P = scorer.probabilities(model, None)
    assert P.shape == (16, 3)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(P[:, 2], 0.5 / 16 / (1 + 0.5 / 16))
    assert np.isfinite(scorer.score(model, None, y))
    costs = [[0, 1, 1], [2, 0, 1], [5, 5, 0]]
    priced = make_scorer(detect_task(y, cost_matrix=costs), costs, y)
    assert set(priced.decide(model, None)) == {"b"}
    assert priced.score(model, None, y) == pytest.approx((9 * 1 + 2 * 5) / 16)
    guess = GuessClassifier().fit(np.zeros((14, 1)), y[:14])
    assert scorer.score(guess, np.zeros((16, 1)), y) > 0


def series(n=300):
    """Labels that stay as they were; one is common, and the last one comes late."""
    stay, y = 0.9, ["a"]
    for i in range(1, n):
        new = rng.choice(["a", "b", "c"] if i > 0.6 * n else ["a", "b"], p=None)
        y.append(y[-1] if rng.random() < stay else ("a" if rng.random() < 0.75 else str(new)))
    return pl.DataFrame({"day": np.arange(n), "x": rng.normal(size=n), "y": y})


def test_probabilities_are_measured_against_what_followed_the_last_label():
    table = series()
    record = learn(table, "y", effort="quick", metric="log_loss", plan=Plan(time="day"))
    gain = record.final.gain
    assert gain.yardstick == "the last value"
    assert gain.baseline < record.final.baseline["log_loss"].estimate
    assert record.verdict.kind != "shown" or gain.low > 0


def test_the_saved_model_says_the_labels_of_the_measure_asked_for():
    n = 400
    x = rng.normal(size=n)
    y = np.where(x + rng.normal(size=n) > 2.3, "high", np.where(x > -0.7, "middle", "low"))
    table = pl.DataFrame({"x": x, "noise": rng.normal(size=n), "y": y})
    alike = learn(table, "y", effort="quick", metric="balanced_accuracy")
    plain = learn(table, "y", effort="quick")
    assert plain.task.metric == "accuracy"
    assert "most above its share" in str(alike.verdict)
    assert "most above its share" not in str(plain.verdict)
    recalls = [
        {one["label"]: one["recall"] for one in record.final.by_class} for record in (alike, plain)
    ]
    assert recalls[0]["high"] > recalls[1]["high"]

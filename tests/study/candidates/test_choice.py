"""Which candidate is taken: the strongest, or a simpler one that is shown to be level."""

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

import pellucid
from pellucid.study.candidates.candidates import Tried
from pellucid.study.candidates.choice import choose_outcome, log_losses
from pellucid.study.candidates.guessing import GuessClassifier
from pellucid.study.candidates.training import Outcome, Workshop
from pellucid.study.judging.measure import make_scorer
from pellucid.study.records import Candidate, Task

BINARY = Task("binary", ("y",), ("a", "b"), "b", "accuracy", True, 0, "")
NUMBER = Task("regression", ("y",), (), None, "rmse", False, 0, "")
LABELS = np.random.default_rng(0).permutation(np.repeat(["a", "b"], 50))
SPREAD = np.array([0.01, -0.01, 0.0, 0.02, -0.02])


def outcome(scores, complexity, name, models=None):
    candidate = Candidate(name, name, GuessClassifier(), {}, complexity, "")
    models = [None] * len(scores) if models is None else models
    return Outcome(
        Tried(candidate, {}), np.array(scores), np.array(scores), [{}], models, 0.0, 0, 0
    )


def shop_of(task):
    y = LABELS if task is BINARY else np.arange(100.0)
    splitter = StratifiedKFold if task is BINARY else KFold
    folds = list(splitter(5, shuffle=True, random_state=0).split(np.zeros(100), y))
    frame = pl.DataFrame({"x": np.arange(100.0)})
    return Workshop(frame, y, folds, kind="random", kinds={}, scorer=make_scorer(task, None))


class Sure:
    """Says the probability p of the true class of every judged row."""

    classes_ = np.array(["a", "b"])

    def __init__(self, shop, i, p):
        self.truth, self.p = shop.y[shop.folds[i][1]] == "b", p

    def predict_proba(self, Z):
        said = np.where(self.truth, self.p, 1 - self.p)
        return np.column_stack([1 - said, said])


def sure(shop, p):
    return [Sure(shop, i, p) for i in range(5)]


def test_not_shown_to_be_worse_is_not_level():
    """One point behind within a wide spread: it cannot be told apart, and that is not enough."""
    found = [
        outcome(0.5 + SPREAD, 0, "guess"),
        outcome(0.89 + SPREAD[::-1], 1, "linear"),
        outcome(0.90 + SPREAD, 4, "forest"),
    ]
    strong = choose_outcome(shop_of(BINARY), found, 0.05)
    assert (strong.best, strong.chosen, strong.signal, strong.why) == (2, 2, True, "best")
    simple = choose_outcome(shop_of(BINARY), found, 0.05, "simple")
    assert (simple.best, simple.chosen, simple.why) == (2, 1, "simple")
    assert simple.p_worse[1] > 0.05
    assert np.isnan(simple.p_worse[[0, 2]]).all()  # guessing, and the best
    clear = [*found[:1], outcome(0.7 + SPREAD, 1, "linear"), found[2]]
    assert choose_outcome(shop_of(BINARY), clear, 0.05, "simple").chosen == 2


def test_a_simpler_model_shown_to_be_level_is_taken():
    found = [
        outcome(9 + SPREAD, 0, "guess"),
        outcome(3.005 + SPREAD, 1, "linear"),  # always 0.005 behind: less than 1 % of 3
        outcome(3 + SPREAD, 4, "forest"),
    ]
    choice = choose_outcome(shop_of(NUMBER), found, 0.05)
    assert (choice.best, choice.chosen, choice.why) == (2, 1, "level")
    farther = [*found[:1], outcome(3.05 + SPREAD, 1, "linear"), found[2]]
    assert choose_outcome(shop_of(NUMBER), farther, 0.05).chosen == 2


def test_of_candidates_within_one_error_the_better_probabilities_are_taken():
    shop = shop_of(BINARY)
    found = [
        outcome(0.5 + SPREAD, 0, "guess", sure(shop, 0.5)),
        outcome(0.90 + SPREAD, 4, "forest", sure(shop, 0.6)),
        outcome(0.895 + SPREAD[::-1], 4, "boosting", sure(shop, 0.9)),
        outcome(0.80 + SPREAD, 1, "linear", sure(shop, 0.99)),
    ]
    found[1].models[0].p = 0.05  # sure and wrong in one fold
    choice = choose_outcome(shop, found, 0.05)
    assert (choice.best, choice.chosen, choice.why) == (1, 2, "probabilities")


def test_a_lead_without_probabilities_gives_way_to_a_near_one_that_has_them():
    shop = shop_of(BINARY)
    found = [
        outcome(0.5 + SPREAD, 0, "guess", sure(shop, 0.5)),
        outcome(0.90 + SPREAD, 4, "machine", [object()] * 5),
        outcome(0.895 + SPREAD[::-1], 4, "boosting", sure(shop, 0.9)),
    ]
    choice = choose_outcome(shop, found, 0.05)
    assert (choice.best, choice.chosen, choice.why) == (1, 2, "probabilities")
    far = [*found[:2], outcome(0.85 + SPREAD, 4, "boosting", sure(shop, 0.9))]
    assert choose_outcome(shop, far, 0.05).chosen == 1


def test_log_losses_are_those_of_calibrated_probabilities():
    """Said with 0.6, always right: trust without end is the best answer, and far below log 2."""
    shop = shop_of(BINARY)
    timid = log_losses(shop, outcome(SPREAD, 1, "timid", sure(shop, 0.6)))
    assert timid.shape == (5,)
    assert (timid < -np.log(0.6)).all()
    assert log_losses(shop, outcome(SPREAD, 1, "none")) is None


def test_explainable_takes_the_best_that_can_be_read():
    found = [
        outcome(9 + SPREAD, 0, "guess"),
        outcome(5 + SPREAD, 1, "linear"),
        outcome(4 + SPREAD, 2, "tree"),
        outcome(3 + SPREAD, 4, "forest"),
    ]
    choice = choose_outcome(shop_of(NUMBER), found, 0.05, "explainable")
    assert (choice.best, choice.chosen, choice.why) == (3, 2, "explainable")


def test_nothing_better_than_guessing():
    wide = np.array([0.1, -0.1, 0.05, -0.05, 0.02])
    found = [outcome(0.5 + 0 * wide, 0, "guess"), outcome(0.49 + wide, 1, "linear")]
    choice = choose_outcome(shop_of(BINARY), found, 0.05)
    assert (choice.signal, choice.chosen, choice.challenger) == (False, 0, 1)


@pytest.mark.parametrize("prefer", ["strong", "simple", "explainable"])
def test_a_model_worse_than_guessing_is_never_chosen(prefer):
    """One wild fold hides a model from the t-test; its mean does not."""
    wild = np.array([92.0, 97.0, 100.0, 475.0, 90.0])
    found = [
        outcome(np.full(5, 104.0), 0, "guess"),
        outcome(wild, 2, "ridge on products"),
        outcome(np.array([78.0, 80.0, 77.0, 79.0, 78.0]), 4, "forest"),
    ]
    assert choose_outcome(shop_of(NUMBER), found, 0.05, prefer).chosen == 2


def test_losses_are_turned_round():
    found = [outcome(9 + SPREAD, 0, "guess"), outcome(3 + SPREAD, 1, "linear")]
    choice = choose_outcome(shop_of(NUMBER), found, 0.05)
    assert (choice.best, choice.chosen) == (1, 1)


def test_the_leaderboard_and_the_table_of_pairs_have_the_same_p_values():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 3))
    y = x[:, 0] + 0.5 * x[:, 1] ** 2 + rng.normal(size=200)
    table = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}
    record = pellucid.learn(table, "y", effort="quick")
    pairs, best = record.comparison, next(row for row in record.leaderboard if row.best)
    assert set(pairs.names) == {row.name for row in record.leaderboard if row.complexity > 0}
    one = pairs.names.index(best.name)
    for row in record.leaderboard:
        if row.complexity == 0:
            assert np.isnan(row.p_value)
        elif not row.best:
            assert row.p_value == pytest.approx(pairs.adjusted[one, pairs.names.index(row.name)])


def test_the_best_mean_of_a_model_that_guessing_beats_in_most_folds_is_not_taken():
    found = [
        outcome(np.full(5, 0.5), 0, "guess"),
        outcome(np.array([0.49, 0.49, 0.49, 0.99, 0.99]), 2, "tree"),
        outcome(np.full(5, 0.6) + SPREAD[:5] / 10, 4, "forest"),
    ]
    taken = choose_outcome(shop_of(BINARY), found, 0.05)
    assert (taken.best, taken.chosen, taken.why) == (1, 2, "steady")

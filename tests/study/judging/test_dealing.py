"""A better level, or rows that are all alike, is no gain; knowledge of few rows is."""

import numpy as np
import pytest

from pellucid import learn
from pellucid.study import detect_task
from pellucid.study.candidates.guessing import GuessClassifier, guess_for
from pellucid.study.judging.gain import Judged, Told, find_gain, held_p_value
from pellucid.study.judging.jackknife import make_blocks
from pellucid.study.judging.measure import make_scorer
from pellucid.study.learning import Study, TaskError

LABELS = np.array(["no", "yes"])
PROPER = ("log_loss", "brier")
OF_LABELS = ("f1", "balanced_accuracy", "precision", "recall", "mcc", "kappa")
OF_SCORES = ("average_precision", "roc_auc", "pr_area")


def scorer_of(metric, y=None):
    target = np.repeat(LABELS, [40, 20]) if y is None else y
    return make_scorer(detect_task(target, metric=metric), None)


def judged(c, n=60):
    """A test part with c rows of the rare class."""
    y = LABELS[np.repeat([0, 1], [n - c, c])]
    return Judged(y, make_blocks(n))


def says(metric, p, rng=None, share=0.3):
    """A model without knowledge, and guessing with the share ``p`` of the rare class."""
    n = len(p)
    if metric in PROPER:
        return Told(np.column_stack([1 - p, p]), LABELS)
    if metric in OF_LABELS:
        return Told(LABELS[(rng.random(n) < share).astype(int)], LABELS)
    return Told(rng.normal(size=n), LABELS)


def constant(metric, share, n=60):
    if metric in PROPER:
        return Told(np.tile([1 - share, share], (n, 1)), LABELS)
    if metric in OF_LABELS:
        positive = metric in ("f1", "precision")
        return Told(np.repeat(LABELS[int(positive)], n), LABELS)
    return Told(np.zeros(n), LABELS)


@pytest.mark.parametrize("metric", [*PROPER, *OF_LABELS, *OF_SCORES])
@pytest.mark.parametrize("c", [0, 1])
def test_fewer_than_two_rows_of_a_class_show_nothing_whatever_the_model_says(metric, c):
    """With rows of one class alone the surer model gains on every row by the same."""
    rng, rows, scorer = np.random.default_rng(c), judged(c), scorer_of(metric)
    if c == 0 and metric in OF_SCORES:
        return  # undefined
    model = says(metric, np.full(60, 0.002), rng)
    gain = find_gain(scorer, rows, model, constant(metric, 1 / 240), table=judged(5, 300).y)
    assert gain.verdict() == "not_shown"
    assert gain.reason() == "scarce"
    assert (gain.scarce.what[-5:], gain.scarce.test, gain.scarce.table) == ("= yes", c, 5)
    assert np.isnan([gain.low, gain.high, gain.p_value]).all()
    assert held_p_value(scorer, rows, model, constant(metric, 1 / 240), twice=True, tried=1) == 1.0


def test_two_classes_are_told_apart_beside_a_third_that_has_one_row():
    """The third class decides nothing: neither a claim nor a veto."""
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b"], 30)
    scorer = scorer_of("log_loss", np.repeat(["a", "b", "c"], 20))
    labels, rows = np.array(["a", "b", "c"]), Judged(y, make_blocks(60))
    guess = Told(np.tile([0.5 - 1 / 480, 0.5 - 1 / 480, 1 / 240], (60, 1)), labels)
    unsure = 0.5 + 0.001 * rng.normal(size=60)
    blind = Told(np.column_stack([unsure, 1 - unsure, np.full(60, 1e-6)]), labels)
    gain = find_gain(scorer, rows, blind, guess)
    assert gain.low > 0  # on every row: it says less of the third class
    assert gain.dealt > 0.025
    assert gain._replace(n=60, least=74).reason() == "dealt"
    right = np.where(y == "a", 0.8, 0.2)
    seeing = Told(np.column_stack([right, 1 - right, np.full(60, 1e-6)]), labels)
    assert find_gain(scorer, rows, seeing, guess).verdict() == "shown"


@pytest.mark.parametrize("metric", ["roc_auc", "balanced_accuracy", "f1"])
def test_two_rows_of_a_class_are_claimed_as_rarely_as_stated(metric):
    """Leaving rows out shows no spread where both rows happen to be found."""
    rng, rows, scorer = np.random.default_rng(2), judged(2), scorer_of(metric)
    above = shown = 0
    for _ in range(150):
        gain = find_gain(scorer, rows, says(metric, np.zeros(60), rng), constant(metric, 0.03))
        above += gain.low > 0
        shown += gain.verdict() == "shown"
    assert above > 5  # the intervals alone claim too much
    assert shown <= 8  # P(more than 8 of 150 at 2.5 %) < 2 %


@pytest.mark.parametrize("metric", [*PROPER, *OF_SCORES, *OF_LABELS])
def test_five_rows_of_a_class_that_are_all_found_are_shown(metric):
    """``PERFECT`` of them are what the verdict asks for."""
    rows, scorer, rng = judged(5), scorer_of(metric), np.random.default_rng(3)
    found = rows.y == "yes"
    p = np.where(found, 0.9, 0.01) + 0.005 * rng.random(60)
    model = says(metric, p) if metric in PROPER else Told(p, LABELS)
    if metric in OF_LABELS:
        model = Told(rows.y.copy(), LABELS)
    gain = find_gain(scorer, rows, model, constant(metric, 5 / 60))
    assert gain.verdict() == "shown"


def test_a_better_level_is_no_gain():
    """Of skewed noise the median misses by less than the mean, and says nothing of a row."""
    rng = np.random.default_rng(4)
    y = np.exp(1.2 * rng.normal(size=60))
    mae, rmse = (scorer_of(name, np.linspace(0, 1, 50)) for name in ("mae", "rmse"))
    rows, mean = Judged(y, make_blocks(60)), Told(np.full(60, 2.2))
    near_median = Told(1.0 + 0.01 * rng.normal(size=60))
    gain = find_gain(mae, rows, near_median, mean)
    assert gain.low > 0
    assert gain.dealt > 0.025
    assert gain.reason() == "dealt"
    later = find_gain(mae, rows._replace(ordered=True), near_median, mean)
    assert later.dealt is None  # in time another level is knowledge
    knows = Told(np.sqrt(y))
    assert find_gain(mae, rows, knows, mean).verdict() == "shown"
    flat = Judged(np.zeros(60), make_blocks(60))
    assert find_gain(rmse, flat, Told(np.zeros(60)), mean).reason() == "scarce"


def test_few_rows_can_show_what_is_plain():
    """Of four rows 24 deals are all there are: the best of them is all that they can say."""
    rng = np.random.default_rng(6)
    y = np.array([-1.0, 0.4, 1.1, 2.5])
    rmse = scorer_of("rmse", np.linspace(0, 1, 50))
    rows, mean = Judged(y, make_blocks(4)), Told(np.zeros(4))
    gain = find_gain(rmse, rows, Told(y + 0.05 * rng.normal(size=4)), mean)
    assert (gain.dealt, gain.verdict()) == (0.0, "shown")
    labels = Judged(np.repeat(LABELS, 3), make_blocks(6))
    p = np.array([0.1, 0.12, 0.15, 0.9, 0.85, 0.8])
    half = constant("log_loss", 0.5, 6)
    seen = find_gain(scorer_of("log_loss"), labels, says("log_loss", p), half)
    assert seen.verdict() == "shown"
    p[[2, 3]] = p[[3, 2]]
    assert find_gain(scorer_of("log_loss"), labels, says("log_loss", p), half).verdict() != "shown"


def test_guessing_says_the_best_single_thing_under_the_measure():
    task = detect_task(["no"] * 60 + ["yes"] * 40, metric="f1")
    assert guess_for(task).fit(np.zeros((3, 1)), ["no", "no", "yes"]).predict([[0]]) == "yes"
    assert isinstance(guess_for(task._replace(metric="accuracy")), GuessClassifier)
    y = np.array([1.0, 2.0, 30.0])
    for metric, best in (("mae", 2.0), ("median_ae", 2.0), ("rmse", 11.0), ("r2", 11.0)):
        task = detect_task(np.linspace(0, 1, 50), metric=metric)
        assert guess_for(task).fit(np.zeros((3, 1)), y).predict([[0]])[0] == best


def table(n, rare, seed=0, apart=0.0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], [n - rare, rare]))
    x, z = rng.normal(size=(2, n)) + apart * y
    return {"x": x, "z": z, "y": LABELS[y].tolist()}


def test_one_row_of_a_class_is_told_with_the_rows_it_would_take():
    record = learn(table(300, 1), "y", metric="log_loss", effort="quick")
    assert record.verdict.kind == "not_shown"
    assert record.verdict.text[1:3] == (
        "Of the 300 rows 1 has y = yes, of the 60 set aside none: too few to show that a model "
        "tells them apart.",
        "Even a model that is always right would need about 5 of them set aside: about 25 in 7,500 "
        "rows like these.",
    )
    assert np.isnan(record.verdict.interval.low)
    assert "Not shown" in record._repr_html_()


@pytest.mark.parametrize("metric", ["f1", "average_precision"])
def test_a_measure_of_two_classes_needs_rows_of_both(metric):
    with pytest.raises(TaskError, match=r"'yes' is in 1 of 300 rows: too few .* give 10 rows"):
        Study(table(300, 1), "y", metric=metric).split()


@pytest.mark.parametrize("metric", ["average_precision", "log_loss"])
def test_a_rare_class_that_is_apart_is_shown(metric):
    record = learn(table(300, 10, apart=4.0), "y", metric=metric, effort="quick")
    assert record.verdict.kind == "shown"


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["log_loss", "brier", "average_precision", "f1", "recall"])
@pytest.mark.parametrize("rare", [1, 2, 3, 5, 120])
def test_noise_with_a_rare_class_is_never_claimed(metric, rare):
    for seed in range(3):
        try:
            record = learn(table(300, rare, seed), "y", metric=metric, effort="quick")
        except TaskError:
            assert rare < 3
            continue
        assert record.verdict.kind == "not_shown"


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["mae", "median_ae", "rmse"])
def test_skewed_noise_is_never_claimed(metric):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, z, e = rng.normal(size=(3, 300))
        found = learn({"x": x, "z": z, "y": np.exp(1.2 * e)}, "y", metric=metric, effort="quick")
        assert found.verdict.kind != "shown"

"""Verdicts: the kind by its rules, and sentences a lay reader understands."""

import math

import numpy as np
import pytest

from pellucid.evaluation import Interval
from pellucid.study.checks.findings import finding
from pellucid.study.records import Gain, LeaderboardRow, Suspicion, Task
from pellucid.study.verdict.verdict import Case, figure, percent, reach_verdict

ACCURACY = Task("multiclass", ("species",), ("a", "b", "c"), None, "accuracy", True, 0, "")
RMSE = Task("regression", ("price",), (), None, "rmse", False, 0, "")


def row(name, complexity, *, chosen=False, best=False, p=0.5):
    interval = Interval(0.9, 0.85, 0.95, 0.02, "", 100)
    return LeaderboardRow(
        name, name, interval, 0.9, 0.1, complexity, np.nan if best else p, chosen, best, (), {}
    )


def case(
    task=ACCURACY,
    score=(0.98, 0.93, 1.0),
    gain=(0.54, 0.4, 0.65),
    baseline=0.44,
    n=69,
    rows=None,
    folds=(0.5, 0.4),
    needed=0.1,
    units="rows",
    yardstick="guessing",
    **more,
):
    rows = rows or (
        row("logistic regression", 1, chosen=True, best=True),
        row("random forest", 4),
        row("guessing", 0, p=1e-9),
    )
    useful = 0.05 if task.greater_is_better else 0.1 * baseline
    found = Gain(*gain, 0.05, useful, baseline, needed, yardstick, units, n, 5 * n, folds)
    best = next(one.name for one in rows if one.best)
    options = {"findings": (), "alpha": 0.05} | more
    return Case(task, Interval(*score, 0.01, "wilson", n), found, best, tuple(rows), **options)


def test_shown():
    verdict = reach_verdict(case())
    assert verdict.kind == "shown"
    assert verdict.text[0] == (
        "Yes. Logistic regression is right about species 98 times in 100 (95 % interval 93 to "
        "100); always naming the commonest class is right 44 times in 100."
    )
    assert verdict.text[1] == "Both on 69 rows set aside and used once."
    assert "random forest cannot be told apart" in verdict.text[2]


def test_misses_carry_the_unit_of_the_target():
    found = case(RMSE, (8200.0, 7000.0, 9500.0), (9000.0, 8000.0, 9900.0), 17000.0, unit="$")
    text = reach_verdict(found).text
    assert text[0] == (
        "Yes. Logistic regression predicts price within $8,200 (95 % interval 7,000 to 9,500); "
        "guessing misses by $17,000."
    )
    explained = found._replace(task=RMSE._replace(metric="r2", greater_is_better=True))
    assert "$" not in reach_verdict(explained).text[0]


def test_copies_are_counted_as_different_rows():
    few = case(gain=(0.05, -0.1, 0.2), units="different rows", n=31, needed=4.0)
    text = reach_verdict(few).text
    assert "with 31 different rows set aside" in text[0]
    assert "About 620 different rows would settle it." in text[2]


def test_a_short_interval_of_few_rows_excludes_nothing():
    """A model drawn almost to guessing has a short interval, whatever the rows hold."""
    few = case(score=(0.45, 0.3, 0.6), gain=(0.0, -0.01, 0.01), folds=(0.0,), n=6)
    assert reach_verdict(few).kind == "excluded"
    few = few._replace(gain=few.gain._replace(least=77))
    verdict = reach_verdict(few)
    assert verdict.kind == "not_shown"
    assert verdict.text[2].startswith(
        "That is less than a useful gain (5 points of accuracy), but 6 rows are too few to show "
        "one: a model that has one would need about 77 set aside to be told from guessing."
    )
    assert reach_verdict(few._replace(gain=few.gain._replace(n=77))).kind == "excluded"


def test_a_model_that_says_what_guessing_says_is_not_judged():
    same = case(score=(0.44, 0.3, 0.6), gain=(0.0, 0.0, 0.0), folds=(0.0,), n=12)
    text = reach_verdict(same._replace(gain=same.gain._replace(least=77))).text
    assert text[0].startswith("Not shown.")
    assert "scores exactly as guessing does" in text[1]


def test_the_best_mean_of_an_unsteady_model_is_told():
    rows = (row("decision tree", 2, best=True), row("boosting", 4, chosen=True), row("guess", 0))
    assert "a steadier model is taken" in reach_verdict(case(rows=rows, taken="steady")).text[2]


def test_many_rows_give_a_finer_interval():
    first, second = reach_verdict(case(score=(0.711, 0.7066, 0.7143), n=40_000)).text[:2]
    assert "71.1 times in 100 (95 % interval 70.7 to 71.4)" in first
    assert "40,000 rows" in second


RIDGE = (row("ridge regression", 1, chosen=True, best=True), row("guessing", 0, p=1e-9))


def test_regression_sentence():
    verdict = reach_verdict(case(RMSE, (3.1, 2.8, 3.5), (6.1, 5.0, 7.0), 9.2, rows=RIDGE))
    assert verdict.text[0] == (
        "Yes. Ridge regression predicts price within 3.1 (95 % interval 2.8 to 3.5); guessing "
        "misses by 9.2."
    )


@pytest.mark.parametrize("n", [3, 8, 1000])
def test_the_interval_decides_and_not_the_number_of_rows(n):
    assert reach_verdict(case(n=n)).kind == "shown"
    assert reach_verdict(case(n=n, gain=(0.1, -0.1, 0.3))).kind == "not_shown"
    assert reach_verdict(case(n=n, gain=(0.0, -0.02, 0.02))).kind == "excluded"


def test_not_shown_says_what_is_open_and_what_would_settle_it():
    found = case(RMSE, (7.5, 5.0, 11.0), (4.4, -0.3, 8.9), 11.9, n=59, rows=RIDGE, needed=0.37)
    text = reach_verdict(found).text
    assert text[0] == (
        "Not shown. The best model (ridge regression) misses by 7.5 where guessing misses by "
        "11.9, but with 59 rows set aside a gain like that can still be luck (p = 0.05)."
    )
    assert "between -0.3 and 8.9" in text[1]
    more = reach_verdict(found._replace(gain=found.gain._replace(needed=1.86))).text
    assert more[2] == "About 550 rows would settle it."


def test_what_a_useful_gain_needs_is_said_of_small_gains_and_of_the_yardstick_used():
    """A gain larger than a useful one is open for its own spread, not for the number of rows."""
    week = {"rows": RIDGE, "n": 60, "needed": 1.1, "yardstick": "the value a week before"}
    large = case(RMSE, (17.4, 13.0, 22.0), (4.2, -0.5, 7.9), 21.6, **week)
    large = large._replace(gain=large.gain._replace(least=74))
    assert "too few to show a useful gain" not in str(reach_verdict(large))
    small = large._replace(gain=large.gain._replace(estimate=0.1))
    said = (
        "60 rows are too few to show a useful gain (2.16): a model that has one would need about "
    )
    assert f"{said}74 set aside to be told from the value a week before." in str(
        reach_verdict(small)
    )
    assert "guessing" not in str(reach_verdict(small))


def test_four_rows_that_say_nothing_are_said_to():
    """ "At most 1,320" of an error of 1,320 is no information."""
    few = case(RMSE, (1310.0, 900.0, 2000.0), (10.0, -4e4, 1315.0), 1320.0, rows=RIDGE, n=4)
    assert "These rows leave any gain possible (95 %)." in str(reach_verdict(few))
    less = few._replace(gain=few.gain._replace(high=700.0))
    assert "What these rows can say: the gain is at most 700 (95 %)." in str(reach_verdict(less))


def test_scores_that_look_equal_get_more_digits():
    near = case(RMSE, (10.803, 9.0, 12.0), (-0.024, -0.1, 2.0), 10.779, rows=RIDGE)
    assert "misses by 10.8 where guessing misses by 10.78." in str(reach_verdict(near))
    same = case(RMSE, (10.8, 9.0, 12.0), (0.0, -0.1, 2.0), 10.8, rows=RIDGE)
    assert "misses by 10.8 where guessing misses by 10.8." in str(reach_verdict(same))


def test_a_model_that_guessing_leads_is_not_called_the_best():
    """The sentence is true of the table printed beside it."""
    rows = (row("guessing", 0, best=True, chosen=True), row("ridge regression", 1, p=0.4))
    open_ = case(rows=rows, gain=(-0.1, -0.2, 0.01), folds=(-0.1,))._replace(
        challenger="ridge regression"
    )
    assert "No. The best model after guessing (ridge regression)" in str(reach_verdict(open_))
    led = (RIDGE[0], row("average of a and b", 6, best=True), RIDGE[1])
    assert "The best model (ridge regression)" in str(
        reach_verdict(open_._replace(leaderboard=led))
    )
    joined = (row("guessing", 0), row("ridge regression", 1), row("average", 6, chosen=True))
    joined = (*joined[:2], joined[2]._replace(key="average", best=True))
    assert "the best single model (ridge regression)" in reach_verdict(case(rows=joined)).text[2]


def test_the_ends_of_an_interval_are_told_apart():
    narrow = case(RMSE, (0.00208117, 0.002081171, 0.002081172), (1.0, 0.5, 2.0), 3.0, rows=RIDGE)
    assert "0.002081171 to 0.002081172" in reach_verdict(narrow).text[0]
    many = case(score=(0.708333, 0.7083331, 0.7083338))
    assert "70.8333 to 70.8334" in reach_verdict(many).text[0]
    gain = case(gain=(0.0001, -0.00012, 0.000123), folds=(), n=10**6)
    assert "by more than 0.012 points" in reach_verdict(gain).text[0]
    close = case(gain=(0.02, -0.01, 0.0499), folds=(), n=10**6)
    assert "more than 4.99 points of accuracy (95 %), and a useful gain would be 5 points" in str(
        reach_verdict(close)
    )


def test_groups_are_counted_as_groups():
    text = " ".join(reach_verdict(case(units="patient", gain=(0.1, -0.1, 0.3), needed=2.0)).text)
    assert "69 groups (patient)" in text
    assert "About 690 groups (patient) would settle it." in text


def test_a_gain_the_folds_do_not_see_is_not_shown():
    verdict = reach_verdict(case(folds=(-0.1, 0.02, -0.2)))
    assert verdict.kind == "not_shown"
    assert "the folds of the learning rows do not agree" in verdict.text[0]


def test_excluded_names_the_useful_gain():
    text = reach_verdict(case(gain=(-0.01, -0.03, 0.01))).text
    assert text[0] == (
        "No. The best model (logistic regression) does not beat always naming the commonest class "
        "by more than 1 point of accuracy (95 %), and a useful gain would be 5 points of accuracy."
    )
    assert text[2].startswith("2 models were tried.")
    asked = case(gain=(-0.01, -0.03, 0.01), asked=True)
    assert "and you asked for 5 points" in reach_verdict(asked).text[0]


def test_a_small_gain_is_called_small():
    text = " ".join(reach_verdict(case(gain=(0.02, 0.01, 0.03))).text)
    assert "real but small: at most 3 points" in text


def test_the_yardstick_is_named():
    last = case(
        RMSE, (800.0, 700.0, 900.0), (-508.0, -600.0, -400.0), 292.0, rows=RIDGE,
        yardstick="the last value",
    )  # fmt: skip
    verdict = reach_verdict(last)
    assert verdict.kind == "excluded"
    assert (
        "beats the last value" in verdict.text[0]
        or "does not beat the last value" in verdict.text[0]
    )
    assert "the last value misses by 292" in verdict.text[1]


def test_suspect_says_both_scores_and_the_command():
    without = Interval(2.9, 2.2, 3.9, 0.4, "t", 70)
    both = Interval(0.06, 0.05, 0.08, 0.01, "t", 70)
    suspicion = Suspicion(
        ("Min.Price", "Max.Price"), "combination",
        "nearly all of it comes from Min.Price and Max.Price, whose mean it is",
        both, without, 8.0, "rmse",
    )  # fmt: skip
    verdict = reach_verdict(
        case(RMSE, (0.06, 0.05, 0.08), (7.9, 7.0, 9.0), 8.0, rows=RIDGE, suspicion=suspicion)
    )
    assert verdict.kind == "suspect"
    text = " ".join(verdict.text)
    assert text.startswith("Too good to be true.")
    for part in ("whose mean it is", "misses by 2.9", "2.2 to 3.9", "misses by 0.06",
                 "guessing misses by 8", "--drop Min.Price,Max.Price"):  # fmt: skip
        assert part in text, part
    assert "Yes" not in text


def test_bends_matter():
    rows = (
        row("random forest", 4, chosen=True, best=True),
        row("logistic regression", 1, p=0.001),
        row("guessing", 0, p=1e-9),
    )
    assert reach_verdict(case(rows=rows)).text[2].endswith("the bends matter.")


def test_a_simpler_model_within_chance():
    rows = (
        row("random forest", 4, best=True),
        row("logistic regression", 1, chosen=True, p=0.3),
        row("guessing", 0, p=1e-9),
    )
    text = reach_verdict(case(rows=rows)).text[2]
    assert text.startswith("A random forest has the best mean")
    assert "within chance" in text


def test_an_undefined_gain_claims_nothing():
    verdict = reach_verdict(case(gain=(0.3, -math.inf, math.inf)))
    assert verdict.kind == "not_shown"
    assert "these rows cannot say" in verdict.text[1]


def test_the_gravest_finding_is_next():
    found = (finding("PEL101", "x"), finding("PEL112", "x", severity="warning"))
    late = (finding("PEL504", "m"), finding("PEL402", "m"))
    text = reach_verdict(case(findings=(*found, *late, finding("PEL506", "b")))).text
    assert len(text) <= 6
    assert text[-1].startswith("Next, a class is mostly missed (b): find inputs that mark it")
    text = reach_verdict(case(findings=(*found, *late))).text
    assert text[-1].startswith("Next, outliers or sentinels (x): replace codes by missing cells")
    assert reach_verdict(case(findings=late)).text[-1].startswith("Next, scores vary")


def test_what_is_next_of_an_open_verdict_is_not_about_the_rows_a_model_misses():
    """The recall of a model that is not shown to be one decides nothing."""
    found = (finding("PEL506", "ill"), finding("PEL412", "ill"), finding("PEL306"))
    open_ = case(gain=(-0.07, -0.4, 0.3), folds=(0.1,), findings=found)
    assert "Next" not in str(reach_verdict(open_))
    open_ = open_._replace(findings=(*found, finding("PEL504", "tree")))
    assert "Next, scores vary from fold to fold (tree)" in str(reach_verdict(open_))


def test_what_is_next_shows_the_cells():
    """On a terminal no table of cells stands beside the sentence."""
    cells = {"cells": {"rent": 1}, "examples": {"rent": ["n. d."]}, "rows": {"rent": [34]}}
    text = reach_verdict(case(findings=(finding("PEL113", "rent", **cells),))).text
    assert text[-1] == (
        "Next, numbers and text in one column (rent: one cell, 'n. d.', in row 34): correct them "
        "(rows are counted from 0, without the header), or leave them empty."
    )
    forms = finding("PEL116", ("a", "b"), severity="warning", form={"a": "1234.5", "b": "1234.5"})
    assert reach_verdict(case(findings=(forms,))).text[-1] == (
        "Next, numbers read from text (a: a point begins decimals; b too): if it parts thousands, "
        "write plain numbers such as 1234.5."
    )


def test_leaks_are_said():
    found = (finding("PEL301", "copy", severity="warning"),)
    text = reach_verdict(case(findings=found)).text
    assert text[-1] == (
        "copy was left out: it gives the target away (`--keep copy` if it is known before the "
        "target)."
    )


def test_leaks_are_said_with_both_scores_before_any_note_can_crowd_them_out():
    found = (finding("PEL301", "copy", severity="warning"),)
    beside = {"columns": ["copy"], "with": {"estimate": 1.0}, "without": {"estimate": 0.9}}
    notes = ("One.", "Two.", "Three.")
    text = reach_verdict(case(findings=found, beside=beside, notes=notes)).text
    assert text[3].startswith("copy was left out: it gives the target away. With it, the model is")
    assert "100 times in 100; without, it is right" in text[3]


def test_figures():
    assert [figure(x) for x in (0.0, 12.345, 1e-5, 123456.0, np.nan)] == [
        "0", "12.3", "0.00001", "123,000", "undefined",
    ]  # fmt: skip
    assert [percent(x) for x in (0.0, 0.005, 0.5, 0.995)] == ["0", "0.5", "50", "99.5"]

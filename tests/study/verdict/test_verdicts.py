"""Verdicts: the kind by its rules, and sentences a lay reader understands."""

import numpy as np
import pytest

from pellucid.evaluation import Interval
from pellucid.study.checks.findings import finding
from pellucid.study.records import LeaderboardRow, Task
from pellucid.study.verdict.verdict import Case, figure, percent, reach_verdict

ACCURACY = Task("multiclass", ("species",), ("a", "b", "c"), None, "accuracy", True, 0, "")
RMSE = Task("regression", ("price",), (), None, "rmse", False, 0, "")


def row(name, complexity, *, chosen=False, best=False, p=0.5):
    interval = Interval(0.9, 0.85, 0.95, 0.02, "", 100)
    return LeaderboardRow(
        name, name, interval, 0.9, 0.1, complexity, np.nan if best else p, chosen, best, (), {}
    )


def case(task=ACCURACY, score=(0.98, 0.93, 1.0), baseline=0.44, n=69, rows=None, **more):
    rows = rows or (
        row("logistic regression", 1, chosen=True, best=True),
        row("random forest", 4),
        row("guessing", 0, p=1e-9),
    )
    options = {"signal": True, "findings": (), "alpha": 0.05} | more
    interval = Interval(*score, 0.01, "wilson", n)
    return Case(task, interval, baseline, n, tuple(rows), **options)


def test_linear_suffices():
    verdict = reach_verdict(case())
    assert verdict.kind == "linear_suffices"
    assert verdict.text[0] == (
        "Yes. Logistic regression names the species of a new row right 98 times in 100 "
        "(95 % interval 93 to 100)."
    )
    assert "random forest cannot be told apart" in verdict.text[2]


def test_many_rows_give_a_finer_interval():
    first, second = reach_verdict(case(score=(0.711, 0.7066, 0.7143), n=40_000)).text[:2]
    assert "right 71.1 times in 100 (95 % interval 70.7 to 71.4)" in first
    assert "40,000 test rows" in second


def test_regression_sentence():
    rows = (row("ridge regression", 1, chosen=True, best=True), row("guessing", 0, p=1e-9))
    verdict = reach_verdict(case(RMSE, (3.1, 2.8, 3.5), 9.2, rows=rows))
    assert verdict.text[0] == (
        "Yes. Predictions of price by ridge regression miss by 3.1 on average "
        "(rmse; 95 % interval 2.8 to 3.5)."
    )
    assert "Guessing the mean misses by 9.2" in verdict.text[1]


def test_no_signal_comes_first():
    rows = (row("lasso", 1, best=True), row("guessing", 0, chosen=True))
    verdict = reach_verdict(case(rows=rows, n=5, signal=False))
    assert verdict.kind == "no_signal"
    assert verdict.text[0] == "No. Nothing here predicts species better than guessing."


@pytest.mark.parametrize(
    "options",
    [{"n": 29}, {"score": (0.5, 0.3, 0.7)}, {"score": (0.4, 0.39, 0.41)},
     {"score": (0.6, 0.46, 0.74)}],
    ids=["few rows", "wide interval", "worse than guessing", "better by who knows how much"],
)  # fmt: skip
def test_inconclusive(options):
    verdict = reach_verdict(case(**options))
    assert verdict.kind == "inconclusive"
    beyond = verdict.interval.low > verdict.baseline
    assert verdict.text[0].startswith("Probably." if beyond else "Perhaps.")


def test_complex_pays():
    rows = (
        row("random forest", 4, chosen=True, best=True),
        row("logistic regression", 1, p=0.001),
        row("guessing", 0, p=1e-9),
    )
    verdict = reach_verdict(case(rows=rows))
    assert verdict.kind == "complex_pays"
    assert "significantly better than every other model" in verdict.text[2]


def test_a_simpler_model_within_chance():
    rows = (
        row("random forest", 4, best=True),
        row("logistic regression", 1, chosen=True, p=0.3),
        row("guessing", 0, p=1e-9),
    )
    text = reach_verdict(case(rows=rows)).text[2]
    assert text.startswith("A random forest has the best mean")
    assert "within chance" in text


def test_the_gravest_finding_is_next():
    found = (finding("PEL101", "x"), finding("PEL504", "m"), finding("PEL506", "b"))
    text = reach_verdict(case(findings=found)).text
    assert len(text) <= 5
    assert text[-1].startswith("Next, scores vary from fold to fold")


def test_leaks_are_said():
    found = (finding("PEL301", "copy", severity="warning"),)
    text = reach_verdict(case(findings=found)).text
    assert text[-1] == "copy was left out: it gives the target away."


def test_figures():
    assert [figure(x) for x in (0.0, 12.345, 1e-5, 123456.0, np.nan)] == [
        "0", "12.3", "0.00001", "123,000", "undefined",
    ]  # fmt: skip
    assert [percent(x) for x in (0.0, 0.005, 0.5, 0.995)] == ["0", "0.5", "50", "99.5"]

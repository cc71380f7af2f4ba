"""A running number is left out as a name; where it would predict, the verdict says so and how."""

import numpy as np
import polars as pl
import pytest
from test_verdicts import case

from pellucid.study import Plan, Study
from pellucid.study.checks.findings import finding
from pellucid.study.reading.target_arrays import CLASSES
from pellucid.study.verdict.verdict import reach_verdict

N = 60


def study(table, **plan):
    made = Study(pl.DataFrame(table), "y", effort="quick")
    keys = ("logistic", "tree") if made.task.kind in CLASSES else ("ridge", "tree")
    made.plan = Plan(candidates=keys, **plan)
    return made


def running(seed, kind):
    """A dose from 1 to 60 in order, a rank in no order, and a name that says nothing."""
    rng = np.random.default_rng(seed)
    t, z = np.arange(1, N + 1), rng.normal(size=N)
    if kind == "rank":
        t = rng.permutation(t)
        y = np.where(t + 8 * rng.normal(size=N) > N / 2, "high", "low")
    else:
        y = 2 * t * (kind == "dose") + 5 * rng.normal(size=N) + 5 * z
    return {kind: t, "z": z, "y": y}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["dose", "rank"])
def test_a_running_number_that_predicts_is_told_with_both_scores(kind, seed):
    table = running(seed, kind)
    made = study(table)
    record = made.run()
    assert made.left_out() == {kind: "names the rows (PEL105)"}
    said = str(record.verdict)
    assert f"{kind} was left out: it looks like a name of the rows. With it, the model" in said
    assert f"learn again with `--keep {kind}` (and `--time {kind}` if new rows come later)" in said
    beside = record.final.with_left_out
    kept = study(table, keep=(kind,)).run()
    assert kept.verdict.kind == "shown"
    assert "was left out" not in str(kept.verdict)
    alike = next(row for row in kept.leaderboard if row.name in said)
    assert beside["with"]["estimate"] == pytest.approx(alike.interval.estimate, rel=0.2)


@pytest.mark.parametrize("seed", range(3))
def test_a_name_that_says_nothing_is_not_mentioned(seed):
    made = study(running(seed, "id"))
    assert "id was left out" not in str(made.run().verdict)
    assert made.left_out() == {"id": "names the rows (PEL105)"}


def scores(with_, without):
    columns = {"columns": ["code", "t"]}
    ends = {"standard_error": 0.02}
    return columns | {"with": ends | {"estimate": with_}, "without": ends | {"estimate": without}}


def test_the_sentence():
    examples = {"t": ["1", "2", "3"], "code": ["a1", "b7", "c3"]}
    names = finding("PEL105", ("code", "t"), examples=examples)
    text = reach_verdict(case(findings=(names,), beside=scores(0.9, 0.7))).text
    assert text[-1] == (
        "code and t were left out: they look like names of the rows. With them, the model is right "
        "90 times in 100; without, it is right 70 times in 100, on the folds. If they are no "
        "names, learn again with `--keep code --keep t`."
    )
    assert "left out" not in str(reach_verdict(case(findings=(names,), beside=scores(0.72, 0.7))))
    copy = finding("PEL301", "t", severity="warning")
    text = reach_verdict(case(findings=(copy,), beside=scores(1.0, 0.7))).text
    assert "t was left out: it gives the target away. With code and t, the model is" in text[-1]

"""Repeated measures: which question was answered, and the mean of the group as a yardstick."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid
from pellucid.study import Plan, Study
from pellucid.study.judging.yardstick import group_yardstick
from pellucid.study.splits.split import group_codes


def people(groups=30, rows=8, own=3.0, slope=0.0, seed=0):
    """Each person has a level of their own; x says ``slope`` about the rest."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(groups), rows)
    x = rng.normal(size=len(who))
    age = rng.integers(20, 80, groups)[who]
    y = own * rng.normal(size=groups)[who] + slope * x + rng.normal(size=len(who))
    return {"who": [f"p{i:03}" for i in who], "age": age, "x": x, "y": y}


def test_the_mean_of_a_group_is_that_of_the_rows_that_learn():
    study = Study(people(), "y", effort="quick", plan=Plan(known_groups="who"))
    shop, split = study._workshop, study.split()
    codes = group_codes(study._done["columns"]["who"])
    said = group_yardstick(shop, codes, "who", split).said
    y, row = shop.y, int(split.test[0])
    same = [i for i in split.train if codes[i] == codes[row]]
    assert_allclose(said[row], y[same].mean())
    learn, judge = shop.folds[0]
    row = int(judge[0])
    same = [i for i in learn if codes[i] == codes[row]]
    assert_allclose(said[row], y[same].mean() if same else y[learn].mean())


@pytest.mark.parametrize("plan", [Plan(groups="none"), Plan(known_groups="who")])
def test_known_groups_are_measured_against_their_mean(plan):
    """x says something beyond the level of a person, which must be beaten."""
    table = people(slope=2.0)
    study = Study(table, "y", effort="quick", plan=plan)
    found = study.run()
    assert study._known_groups() == "who"
    assert found.final.gain.yardstick == "the mean of its who"
    assert found.split.kind == "random"
    test = found.split.test
    codes = group_codes(study._done["columns"]["who"])
    said = group_yardstick(study._workshop, codes, "who", found.split).said[test]
    assert_allclose(found.final.gain.baseline, np.sqrt(np.mean((table["y"][test] - said) ** 2)))
    said = "This is about new rows of a known who; --groups who"
    assert any(sentence.startswith(said) for sentence in found.verdict.text)


def test_a_level_alone_is_no_skill():
    """The model that knows who it is does no better than the mean of the person."""
    found = pellucid.learn(people(), "y", effort="quick", plan=Plan(known_groups="who"))
    assert found.final.gain.yardstick == "the mean of its who"
    assert found.verdict.kind in ("excluded", "not_shown")
    assert "the mean of its who" in found.verdict.text[0]


def test_new_groups_have_no_mean_to_know():
    found = pellucid.learn(people(slope=2.0), "y", effort="quick")
    assert (found.split.kind, found.split.groups) == ("groups", "who")
    assert found.final.gain.yardstick == "guessing"
    said = "This is about a new who, of which no row is known; --known-groups who asks"
    assert any(s.startswith(said) for s in found.verdict.text)


def test_plain_rows_are_about_no_group():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    found = pellucid.learn({"x": x, "y": x + rng.normal(size=120)}, "y", effort="quick")
    assert not any("This is about" in s for s in found.verdict.text)


def test_classes_have_their_commonest():
    t = people(rows=10)
    t["y"] = np.where(np.asarray(t["y"]) > 0, "high", "low")
    found = pellucid.learn(t, "y", effort="quick", plan=Plan(known_groups="who"))
    assert found.final.gain.yardstick == "the commonest class of its who"


def test_the_column_must_exist():
    with pytest.raises(ValueError, match="whom"):
        pellucid.learn(people(), "y", effort="quick", plan=Plan(known_groups="whom"))

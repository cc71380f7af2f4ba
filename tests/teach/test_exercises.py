"""Every exercise: the solution gets everything, the empty sheet nothing, a mistake its name."""

import html
import json
import keyword
import re
from types import SimpleNamespace

import make_answers
import numpy as np
import pytest

from pellucid.teach import check, exercise, exercises, grade
from pellucid.teach.catalogue import TOPICS
from pellucid.teach.checking import judge_all, same
from pellucid.teach.notebooks import notebook
from pellucid.teach.sheets import hints
from pellucid.teach.wording import filled, rounded, shown

SEEDS = (1, 2, 3)
ALL = [pytest.param(e, id=e.address) for e in exercises()]


def test_every_chapter_has_exercises():
    assert len(ALL) >= 80
    assert all(len(exercises(topic)) >= 4 for topic in TOPICS)
    assert len({e.address for e in exercises()}) == len(ALL)


def wrong(right):
    """An answer that nobody would give by a recognised mistake."""
    if isinstance(right, str):
        return "neither"
    return np.asarray(right) * 1.37 + 7.77


def before(task, step, numbers, right):
    """What is known when a step is answered."""
    own = SimpleNamespace(**numbers)
    for other in task.steps[: task.steps.index(step)]:
        setattr(own, other.name, right[other.name])
    return own


@pytest.mark.parametrize("task", ALL)
def test_the_solution_the_empty_sheet_and_a_planted_error(task):
    recognised = {}
    for seed in SEEDS:
        numbers, right = task.numbers(seed), task.answers(seed)
        given = {name: rounded(value) for name, value in right.items()}
        assert judge_all(task, seed, given).score == 1.0
        assert judge_all(task, seed, {}).score == 0.0
        assert judge_all(task, seed, dict.fromkeys(right, ...)).score == 0.0
        for step in task.steps:
            planted = judge_all(task, seed, {**given, step.name: wrong(right[step.name])})
            assert [v.step for v in planted.verdicts if not v.right] == [step.name]
            assert planted.first_wrong == step.name
            own = before(task, step, numbers, right)
            for slip in step.slips:
                made = slip.answer(own)
                if same(made, right[step.name], step.tolerance):
                    continue  # with these numbers the mistake does no harm
                found = {
                    v.step: v for v in judge_all(task, seed, {**given, step.name: made}).verdicts
                }
                assert not found[step.name].right
                if found[step.name].sentence == slip.says:
                    recognised[slip.says] = True
    silent = {s.says for step in task.steps for s in step.slips} - recognised.keys()
    assert not silent, "no seed tells these mistakes from the right answer"


@pytest.mark.parametrize("task", ALL)
def test_the_numbers_are_those_of_the_student(task):
    first, again, other = task.numbers(5), task.numbers(5), task.numbers(6)
    assert repr(first) == repr(again)
    several = [repr(task.numbers(seed)) for seed in range(10)]
    assert len(set(several)) > 1, "all students have the same numbers"
    assert first.keys() == other.keys()
    for value in task.answers(7).values():
        assert isinstance(value, str) or np.all(np.isfinite(np.asarray(value, dtype=float)))


@pytest.mark.parametrize("task", ALL)
def test_it_is_written_well(task):
    names = [step.name for step in task.steps]
    data = shown(task.numbers(1))
    assert task.name.isidentifier()
    assert not keyword.iskeyword(task.name)
    assert task.name not in dir(__builtins__)
    assert len(set(names)) == len(names)
    assert not set(names) & set(data), "a step would hide a number of the data"
    assert all(name.isidentifier() for name in [*names, *data])
    assert any(step.slips for step in task.steps), "no typical mistake is recognised"
    assert all(step.hints for step in task.steps if step.slips)
    for text in (task.statement, *(t for s in task.steps for t in (s.ask, *s.hints))):
        assert "{" not in filled(text, task.numbers(1))
    for text in (task.statement, *(slip.says for s in task.steps for slip in s.slips)):
        assert text[-1] in ".?"


@pytest.mark.parametrize("task", ALL)
def test_a_hint_is_read_as_it_was_written(task):
    """It stands inside HTML, where a backslash before a sign of Markdown would be seen."""
    for step in task.steps:
        lines = hints(task, step, 1).splitlines()
        for hint, line in zip(step.hints, lines, strict=True):
            found = re.fullmatch(r"<details><summary>Hint \d</summary>(.*)</details>", line)
            assert html.unescape(found[1]) == filled(hint, task.numbers(1))
            assert "<" not in found[1]


@pytest.mark.parametrize("topic", TOPICS)
def test_no_data_hides_the_answers_of_a_topic(topic):
    tasks = exercises(topic)
    data = {name for task in tasks for name in task.numbers(1)}
    assert not data & {task.name for task in tasks}


def test_a_later_step_may_follow_from_an_earlier_mistake():
    task = exercise("regression/line")
    d, right = task.numbers(4), task.answers(4)
    slope = d["x"] @ d["y"] / (d["x"] @ d["x"])
    intercept = d["y"].mean() - slope * d["x"].mean()
    answers = {**right, "slope": slope, "intercept": intercept}
    answers["prediction"] = intercept + slope * d["x_new"]
    report = check("regression/line", 4, **answers)
    assert [v.right for v in report.verdicts] == [False, True, True]
    assert report.first_wrong == "slope"
    assert "intercept was forgotten" in str(report)


def test_what_is_not_there_is_refused():
    with pytest.raises(ValueError, match="topic must be one of"):
        exercises("regresion")
    with pytest.raises(ValueError, match="regression has line"):
        exercise("regression/lines")
    with pytest.raises(ValueError, match="has the steps slope"):
        check("regression/line", 1, slop=1.0)
    with pytest.raises(ValueError, match="has the steps slope"):
        grade("regression/line", 1, "slop", {})
    with pytest.raises(ValueError, match="kind must be one of"):
        notebook(exercises("trees"), 1, "Trees", "key")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("many", "a number is asked for"),
        ([1.0, 2.0], "one number is asked for"),
        (1e9, "too large"),
        (-1e9, "too small"),
    ],
)
def test_an_unknown_mistake_is_described(given, sentence):
    assert sentence in check("regression/line", 1, slope=given).verdicts[0].sentence


def test_notebooks_are_valid_and_graded_by_cell():
    for kind in ("sheet", "solution", "grader"):
        book = json.loads(notebook(exercises("trees"), 2, "Trees", kind))
        assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
        ids = [cell["id"] for cell in book["cells"]]
        assert len(set(ids)) == len(ids)
        assert all(re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", name) for name in ids)
        marks = [cell["metadata"]["nbgrader"] for cell in book["cells"]]
        assert len({m["grade_id"] for m in marks}) == len(marks)
        assert sum(m.get("points", 0) for m in marks) == sum(
            len(e.steps) for e in exercises("trees")
        )
        assert all(m["grade"] == ("points" in m) and m["schema_version"] == 3 for m in marks)
        answers = "\n".join(c["source"] for c in book["cells"] if "answer" in c["id"])
        assert ("= ..." in answers) == (kind == "sheet")
        assert ("BEGIN SOLUTION" in answers) == (kind == "grader")


@pytest.mark.parametrize("task", ALL)
def test_answers_and_mistakes_are_as_they_were_judged(task):
    """A mistake whose number changes would no longer be recognised by its name."""
    kept = json.loads(make_answers.FILE.read_text())[task.address]
    found = make_answers.answers(task)
    assert list(found) == list(kept)
    for name, values in found.items():
        for value, was in zip(values, kept[name], strict=True):
            if isinstance(was, str):
                assert value == was
            else:
                np.testing.assert_allclose(value, was, rtol=1e-4, atol=1e-9)

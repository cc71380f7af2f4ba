"""``pellucid teach``: files that a student fills in and a command that grades them."""

import json

import pytest

from pellucid.cli import main
from pellucid.teach import exercises, grade_notebook, write_sheet


@pytest.fixture
def run(capsys):
    """Call with arguments; the exit code and what was printed."""

    def call(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(["teach", *map(str, arguments)])
        shown = capsys.readouterr()
        return int(stopped.value.code), shown.out, shown.err

    return call


def filled(path, change):
    """The notebook with some answer cells replaced: {id of the cell: source}."""
    book = json.loads(path.read_text())
    for cell in book["cells"]:
        cell["source"] = change.get(cell["id"], cell["source"])
    path.write_text(json.dumps(book))
    return path


def test_list(run):
    code, shown, _ = run("list")
    assert code == 0
    assert "regression/line" in shown
    found = json.loads(run("list", "trees", "--json")[1])["exercises"]
    assert all(e["address"].startswith("trees/") for e in found)
    code, _, said = run("list", "tree")
    assert code == 2
    assert "trees" in said
    assert run("sheet", "trees/impurty")[0] == 2


def test_sheet_and_check(run, tmp_path):
    assert run("sheet", "regression", "--seed", 4, "--out", tmp_path)[0] == 0
    names = {path.name for path in tmp_path.iterdir()}
    kinds = ("sheet.ipynb", "sheet.md", "solution.ipynb", "solution.md", "grader.ipynb")
    assert names == {f"regression-4-{kind}" for kind in kinds}
    assert run("sheet", "regression", "--seed", 4, "--out", tmp_path)[0] == 6  # they exist
    assert run("check", tmp_path / "regression-4-solution.ipynb")[0] == 0
    assert run("check", tmp_path / "regression-4-grader.ipynb")[0] == 0
    code, shown, _ = run("check", tmp_path / "regression-4-sheet.ipynb", "--json")
    assert code == 1
    assert json.loads(shown)["score"] == 0.0
    assert json.loads(shown)["seed"] == 4


def test_the_teacher_sees_whose_numbers_and_how_many_exercises_a_sheet_has(run, tmp_path):
    """A student can take exercises out of a sheet, or hand in the sheet of another seed."""
    write_sheet("regression", 2, tmp_path)
    path = tmp_path / "regression-2-solution.ipynb"
    book = json.loads(path.read_text())
    book["metadata"]["pellucid"]["exercises"] = ["regression/line", "regression/outlier"]
    path.write_text(json.dumps(book))
    code, shown, _ = run("check", path)
    assert code == 0
    assert shown.splitlines()[-1] == "seed 2, exercises: 2, steps right: 5 of 5"
    code, shown, said = run("check", tmp_path / "regression-2-sheet.ipynb")
    steps = sum(len(task.steps) for task in exercises("regression"))
    assert shown.splitlines()[-1] == f"seed 2, exercises: 8, steps right: 0 of {steps}"
    assert said == f"pellucid: {steps} of {steps} steps not right yet\n"


def test_the_step_that_went_wrong_is_named(tmp_path):
    write_sheet("regression/line", 2, tmp_path)
    sheet = filled(
        tmp_path / "regression-line-2-sheet.ipynb",
        {
            "line-slope-answer": 'line["slope"] = x @ y / (x @ x)',
            "line-intercept-answer": 'line["intercept"] = 1 / 0',
        },
    )
    graded = grade_notebook(sheet)
    (report,) = graded.reports.values()
    assert [v.right for v in report.verdicts] == [False, False, False]
    assert report.verdicts[0].sentence.endswith("the intercept was forgotten.")
    assert report.verdicts[1].sentence == "No answer yet."
    assert "ZeroDivisionError" in graded.faults[0]


def test_a_topic_is_written_and_its_solution_is_right(tmp_path):
    write_sheet("clusters", 9, tmp_path)
    assert grade_notebook(tmp_path / "clusters-9-solution.ipynb").score == 1.0
    assert grade_notebook(tmp_path / "clusters-9-sheet.ipynb").score == 0.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "is not a sheet"),
        ("[", "is not a sheet"),
        ('{"metadata": 3}', "is not a sheet"),
        ("[" * 100_000, "is not a sheet"),
        ('{"metadata": {"pellucid": {"exercises": [], "seed": Infinity}}, "cells": []}', "is not"),
    ],
)
def test_another_file_is_refused(tmp_path, text, said):
    (tmp_path / "a.ipynb").write_text(text)
    with pytest.raises(ValueError, match=said):
        grade_notebook(tmp_path / "a.ipynb")


def test_odd_answers_are_wrong_and_no_more(run, tmp_path):
    write_sheet("regression/line", 2, tmp_path)
    change = {
        "line-slope-answer": 'line["slope"] = 10**400',
        "line-intercept-answer": 'import os; os.write(1, b"\\xff")',
        "line-prediction-answer": 'raise ValueError("\x1b[2J\u202e")',
    }
    code, shown, said = run("check", filled(tmp_path / "regression-line-2-sheet.ipynb", change))
    assert code == 1
    assert "a number is asked for" in shown
    assert "\\u001b[2J\\u202e" in said
    assert not {"\x1b", "\u202e"} & set(said)


def test_a_sheet_that_never_ends_is_stopped(tmp_path):
    write_sheet("regression/line", 2, tmp_path)
    sheet = filled(
        tmp_path / "regression-line-2-sheet.ipynb", {"line-slope-answer": "while True: pass"}
    )
    with pytest.raises(ValueError, match="did not end within 3 seconds"):
        grade_notebook(sheet, seconds=3)


def test_a_negative_seed_is_refused(run, tmp_path):
    assert run("sheet", "trees", "--seed", -1, "--out", tmp_path)[0] == 2
    with pytest.raises(ValueError, match="seed must be at least 0"):
        write_sheet("trees", -1, tmp_path)


@pytest.mark.slow
def test_every_solution_runs_and_every_empty_sheet_is_empty(tmp_path):
    from pellucid.teach.catalogue import TOPICS

    for topic in TOPICS:
        for seed in (1, 2, 3):
            write_sheet(topic, seed, tmp_path)
            assert grade_notebook(tmp_path / f"{topic}-{seed}-solution.ipynb").score == 1.0
            assert grade_notebook(tmp_path / f"{topic}-{seed}-sheet.ipynb").score == 0.0

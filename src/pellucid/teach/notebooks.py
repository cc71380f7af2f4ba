"""Sheets, solutions and graders as notebooks, in nbgrader's cell format.

A notebook is JSON (nbformat 4.5), so nothing needs to be installed to write one. The grader is
what nbgrader calls the source version: ``nbgrader generate_assignment`` takes the answers out of
it and makes the sheet, ``nbgrader autograde`` gives a point for every test cell that does not fail.
"""

import json
from typing import Any

from pellucid.teach import sheets
from pellucid.teach.records import Exercise, Step
from pellucid.teach.wording import as_code, rounded, shown

Cell = dict[str, Any]
KINDS = ("sheet", "solution", "grader")


def nbgrader(grade_id: str, **more: Any) -> dict[str, Any]:
    """The metadata of one cell."""
    plain = {"grade": False, "locked": True, "schema_version": 3, "solution": False, "task": False}
    return {"nbgrader": {**plain, "grade_id": grade_id, **more}}


def cell(kind: str, name: str, source: str, metadata: dict[str, Any]) -> Cell:
    """One cell of kind markdown or code."""
    found: Cell = {"cell_type": kind, "id": name, "metadata": metadata}
    if kind == "code":
        found |= {"execution_count": None, "outputs": []}
        metadata["nbgrader"]["cell_type"] = "code"
    return {**found, "source": source}


def step_cells(exercise: Exercise, step: Step, seed: int, kind: str) -> list[Cell]:
    """Question, answer and test."""
    name = f"{exercise.name}-{step.name}".replace("_", "-")
    parts = (sheets.question(exercise, step, seed), sheets.hints(exercise, step, seed))
    asked = "\n\n".join(filter(None, parts))
    place = f'{exercise.name}["{step.name}"]'
    right = f"{place} = {rounded(exercise.answers(seed)[step.name])!r}"
    answer = {
        "sheet": f"{place} = ...  # your answer",
        "solution": right,
        "grader": f"### BEGIN SOLUTION\n{right}\n### END SOLUTION",
    }[kind]
    test = f'grade("{exercise.address}", {seed}, "{step.name}", {exercise.name})'
    answered = nbgrader(f"{name}-answer", locked=False, solution=True)
    graded = nbgrader(f"{name}-test", grade=True, points=1)
    return [
        cell("markdown", f"{name}-question"[-64:], asked, nbgrader(f"{name}-question")),
        cell("code", f"{name}-answer"[-64:], answer, answered),
        cell("code", f"{name}-test"[-64:], test, graded),
    ]


def exercise_cells(exercise: Exercise, number: int, seed: int, kind: str) -> list[Cell]:
    """Statement, data and steps."""
    name = exercise.name.replace("_", "-")
    data = [f"{k} = {as_code(v)}" for k, v in shown(exercise.numbers(seed)).items()]
    code = "\n".join([*data, f"{exercise.name} = {{}}  # your answers, by step"])
    text = f"{sheets.heading(exercise, number)}\n\n{sheets.task(exercise, seed)}"
    found = [
        cell("markdown", f"{name}-task", text, nbgrader(f"{name}-task")),
        cell("code", f"{name}-data", code, nbgrader(f"{name}-data")),
    ]
    return found + [c for step in exercise.steps for c in step_cells(exercise, step, seed, kind)]


def notebook(exercises: tuple[Exercise, ...], seed: int, title: str, kind: str) -> str:
    """The whole notebook as JSON text; ``kind`` is sheet, solution or grader."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    first = "import numpy as np\n\nfrom pellucid.teach import grade"
    cells = [
        cell("markdown", "title", f"# {title}\n\nNumbers of seed {seed}.", nbgrader("title")),
        cell("code", "setup", first, nbgrader("setup")),
    ]
    for number, exercise in enumerate(exercises, 1):
        cells += exercise_cells(exercise, number, seed, kind)
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"seed": seed, "exercises": [exercise.address for exercise in exercises]}
    metadata = {"kernelspec": python, "language_info": {"name": "python"}, "pellucid": about}
    book = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=1, ensure_ascii=False) + "\n"

"""Grade a notebook that a student has filled in: run its answer cells elsewhere, judge the answers.

The cells are a stranger's code, so they run in another process, under a time limit; only plain
numbers and words come back.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from pellucid.teach.catalogue import exercise
from pellucid.teach.checking import Report, judge_all

MARK = "pellucid-answers:"
RUNNER = f"""
import json, sys

def plain(value):
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return plain(value.tolist()) if hasattr(value, "tolist") else None

task = json.load(sys.stdin)
space, faults = {{"__name__": "__main__"}}, []
for place, source in task["cells"]:
    try:
        exec(compile(source, place, "exec"), space)
    except Exception as error:
        faults.append([place, type(error).__name__ + ": " + str(error)])
found = {{}}
for name in task["names"]:
    given = space.get(name)
    given = given if isinstance(given, dict) else {{}}
    found[name] = {{str(key): plain(value) for key, value in given.items()}}
print("\\n{MARK}" + json.dumps([found, faults]))
"""


class Graded(NamedTuple):
    """The reports of a notebook by exercise, the cells that failed, and whose numbers it has.

    >>> Graded({"regression/line": Report(())}, (), seed=4).seed
    4
    """

    reports: dict[str, Report]  # by address
    faults: tuple[str, ...]  # one sentence for each cell that raised
    seed: int  # of the numbers that the sheet says it has

    @property
    def score(self) -> float:
        """The share of the steps that are right, over all exercises."""
        every = [v.right for report in self.reports.values() for v in report.verdicts]
        return sum(every) / len(every)


def read_notebook(path: Path) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """What the sheet says of itself, and its code cells but for the tests."""
    try:
        book = json.loads(path.read_text(encoding="utf-8"))
        about, cells = book["metadata"]["pellucid"], book["cells"]
        addresses = [str(address) for address in about["exercises"]]
        about = {"seed": int(about["seed"]), "exercises": addresses}
        if not addresses or about["seed"] < 0:
            raise ValueError("it needs exercises and a seed of at least 0")
        code = [
            (str(c.get("id", i)), "".join(c["source"]))
            for i, c in enumerate(cells)
            if c["cell_type"] == "code" and not c["metadata"].get("nbgrader", {}).get("grade")
        ]
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
    ) as error:
        raise ValueError(f"{path} is not a sheet of `pellucid teach sheet`: {error}") from error
    return about, code


def grade_notebook(path: Path, seconds: float = 60.0) -> Graded:
    """Run a filled sheet in another process and judge every step.

    Parameters
    ----------
    path : Path
        Notebook that ``write_sheet`` wrote and a student filled in.
    seconds : float, default=60.0
        Time that its cells may take.

    Examples
    --------
    >>> import tempfile
    >>> from pellucid.teach import grade_notebook, write_sheet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_sheet("regression/line", 3, folder)
    ...     found = {path.stem: path for path in paths if path.suffix == ".ipynb"}
    ...     grade_notebook(found["regression-line-3-solution"]).score
    1.0
    """
    about, code = read_notebook(path)
    tasks = [exercise(address) for address in about["exercises"]]
    question = {"cells": code, "names": [task.name for task in tasks]}
    try:
        done = subprocess.run(
            [sys.executable, "-c", RUNNER],
            input=json.dumps(question),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"{path} did not end within {seconds:g} seconds") from error
    last = done.stdout.rpartition(MARK)[2]
    if done.returncode or MARK not in done.stdout:
        raise ValueError(f"{path} did not run to its end: {done.stderr.strip()[-200:]}")
    try:  # a cell can print what it likes, after the mark too
        found, faults = json.loads(last)
        answers = {task.name: dict(found[task.name]) for task in tasks}
        said = tuple(f"cell {place}: {text}" for place, text in faults)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} wrote over its own answers: {error}") from error
    reports = {t.address: judge_all(t, about["seed"], answers[t.name]) for t in tasks}
    return Graded(reports, said, about["seed"])

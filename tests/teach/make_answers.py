"""Write what every exercise and every mistake answers: ``python tests/teach/make_answers.py``.

The answers were judged when an exercise was written; kept in ``data/answers.json``, a change of one
of them is seen. Run it after a change that was meant, and read the difference.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from pellucid.teach import exercises

FILE = Path(__file__).parent / "data" / "answers.json"
SEED = 1


def plain(value):
    """An answer as JSON, numbers to six digits."""
    if isinstance(value, str):
        return value
    numbers = np.asarray(value, dtype=float)
    return [float(f"{x:.6g}") for x in numbers.ravel()] if numbers.ndim else float(f"{value:.6g}")


def answers(task):
    """Of every step: the right answer, then what each mistake makes of it."""
    own, right = SimpleNamespace(**task.numbers(SEED)), task.answers(SEED)
    found = {}
    for step in task.steps:
        found[step.name] = [plain(right[step.name]), *(plain(s.answer(own)) for s in step.slips)]
        setattr(own, step.name, right[step.name])
    return found


def main():
    every = {task.address: answers(task) for task in exercises()}
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in sorted(every.items())]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()

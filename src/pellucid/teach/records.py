"""What an exercise is: data from a seed, a statement, and steps whose answers are computed.

An answer is a function of the data and of the earlier answers, ``d.x`` and ``d.slope``. So a later
step can be judged twice: against the right numbers, and against the student's own earlier ones.
A slip is a mistake that many make, as the function that makes it: if a student's number is the
slip's number, the slip's sentence says what happened.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from pellucid.core.readable import readable

Data = dict[str, Any]
Given = Any  # the data and the earlier answers, by attribute
Compute = Callable[[Given], Any]


@readable
class Slip(NamedTuple):
    """A typical mistake: the sentence that names it, and the number it leads to.

    >>> Slip("You forgot the root.", lambda d: d.variance).says
    'You forgot the root.'
    """

    says: str  # one sentence to the student
    answer: Compute  # what the mistake gives


@readable
class Step(NamedTuple):
    """One question with a checked answer.

    >>> step = Step("mean", "The mean of x.", lambda d: d.x.mean(), hints=("Sum, then divide.",))
    >>> step.tolerance
    0.001
    """

    name: str  # the key of the answer
    ask: str  # what is asked for
    answer: Compute  # the right answer
    hints: tuple[str, ...] = ()  # from a nudge to nearly everything
    slips: tuple[Slip, ...] = ()  # mistakes that are recognised
    tolerance: float = 1e-3  # of a number below 1, and the share of a larger one; 0 for words


@readable
class Exercise(NamedTuple):
    """A task with fresh numbers for every student.

    >>> def data(rng):
    ...     return {"x": rng.integers(1, 9, 4)}
    >>> mean = Step("mean", "The mean of x.", lambda d: d.x.mean())
    >>> task = Exercise("average", "A mean", data, "Four numbers are given.", (mean,))
    >>> bool(task.answers(seed=3)["mean"] == task.numbers(3)["x"].mean())
    True
    """

    name: str  # a Python name, unique in its topic
    title: str  # a heading
    data: Callable[[np.random.Generator], Data]  # names starting with _ are not shown
    statement: str  # the task; {name} stands for a number of the data
    steps: tuple[Step, ...]  # in order
    topic: str = ""  # the chapter, filled in by the catalogue

    @property
    def address(self) -> str:
        """``topic/name``, by which commands and graders call the exercise."""
        return f"{self.topic}/{self.name}"

    def numbers(self, seed: int) -> Data:
        """The data of one student; other exercises with the same ``seed`` have other numbers."""
        return self.data(np.random.default_rng([seed, crc32(self.address.encode())]))

    def answers(self, seed: int) -> Data:
        """The right answers for a ``seed``, by step."""
        d, found = SimpleNamespace(**self.numbers(seed)), {}
        for step in self.steps:
            found[step.name] = step.answer(d)
            setattr(d, step.name, found[step.name])
        return found

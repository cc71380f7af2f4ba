"""Judge answers: right or not, which step went wrong, and why if the mistake is a known one."""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.readable import readable
from pellucid.teach.records import Compute, Exercise, Step

MISSING = (None, Ellipsis, "")


@readable
class Verdict(NamedTuple):
    """What is said of one step.

    >>> Verdict("slope", True, "Right.").right
    True
    """

    step: str  # its name
    right: bool  # whether it earns its point
    sentence: str  # for the student


@readable
class Report(NamedTuple):
    """All steps of an exercise, judged.

    >>> Report((Verdict("a", True, "Right."), Verdict("b", False, "Not yet."))).score
    0.5
    """

    verdicts: tuple[Verdict, ...]  # one for each step

    @property
    def score(self) -> float:
        """The share of the steps that are right."""
        return sum(v.right for v in self.verdicts) / len(self.verdicts)

    @property
    def first_wrong(self) -> str | None:
        """The name of the first step that is not right, or None."""
        return next((v.step for v in self.verdicts if not v.right), None)

    def __str__(self) -> str:
        lines = [f"{'+' if v.right else '-'} {v.step}: {v.sentence}" for v in self.verdicts]
        return "\n".join([*lines, f"{self.score:.0%}"])


def same(given: object, right: object, tolerance: float) -> bool:
    """Whether an answer counts as right: words letter by letter, whole numbers exactly.

    >>> same([1.0, 2.0004], np.array([1.0, 2.0]), 1e-3), same("Left ", "left", 0.0), same(3, 4, 0.1)
    (True, True, False)
    """
    if isinstance(right, str):
        return isinstance(given, str) and given.strip().lower() == right.lower()
    try:
        a, b = np.asarray(given, dtype=np.float64), np.asarray(right, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    if a.shape != b.shape:
        return False
    whole = np.asarray(right).dtype.kind in "iub"
    room = 0.0 if whole else tolerance * np.maximum(1.0, np.abs(b))
    return bool(np.all((np.abs(a - b) <= room) | (a == b)))  # infinities are equal, not near


def computed(rule: Compute, d: SimpleNamespace) -> Any:
    """What a rule gives for a student's own numbers; None where it cannot be computed."""
    try:
        with np.errstate(all="ignore"):
            return rule(d)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None  # an earlier answer has the wrong shape, or is a number the rule cannot take


def judge(step: Step, given: Any, right: Any, own: SimpleNamespace) -> Verdict:
    """One step; ``own`` holds the data and the student's earlier answers."""
    if any(given is missing for missing in MISSING):
        return Verdict(step.name, False, "No answer yet.")
    if same(given, right, step.tolerance):
        return Verdict(step.name, True, "Right.")
    follows = computed(step.answer, own)
    if follows is not None and same(given, follows, step.tolerance):
        return Verdict(step.name, True, "Right for your earlier answer, which is not.")
    for slip in step.slips:
        if same(given, computed(slip.answer, own), step.tolerance):
            return Verdict(step.name, False, slip.says)
    return Verdict(step.name, False, f"This step is not right: {shape_note(given, right)}")


def shape_note(given: Any, right: Any) -> str:
    """What can be said of a wrong answer without giving the right one away.

    >>> shape_note(2.0, np.zeros(3))
    'an array of shape (3,) is asked for.'
    """
    if isinstance(right, str):
        return "another word is asked for."
    if np.shape(given) != np.shape(right):
        return (
            f"an array of shape {np.shape(right)} is asked for."
            if np.ndim(right)
            else ("one number is asked for.")
        )
    if np.ndim(right):
        return "not all numbers agree."
    try:
        return (
            "the number is too large."
            if float(given) > float(right)
            else ("the number is too small.")
        )
    except (TypeError, ValueError, OverflowError):
        return "a number is asked for."


def even(given: Any) -> Any:
    """The answer; as text where it is a list of lists of different lengths, which is no array.

    >>> even([[1], [2, 3]]), even([1, 2])
    ('[[1], [2, 3]]', [1, 2])
    """
    try:
        np.shape(given)
    except ValueError:
        return str(given)
    return given


def judge_all(exercise: Exercise, seed: int, answers: dict[str, Any]) -> Report:
    """Every step of an exercise, in order."""
    numbers, right = exercise.numbers(seed), exercise.answers(seed)
    own = SimpleNamespace(**numbers)
    verdicts = []
    for step in exercise.steps:
        given = even(answers.get(step.name))
        verdicts.append(judge(step, given, right[step.name], own))
        used = right[step.name] if any(given is m for m in MISSING) else given
        setattr(own, step.name, np.asarray(used) if isinstance(used, list | tuple) else used)
    return Report(tuple(verdicts))

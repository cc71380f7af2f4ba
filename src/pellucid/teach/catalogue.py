"""All exercises by topic; a topic is one file of ``topics``."""

from functools import cache
from importlib import import_module
from typing import Any

from pellucid.teach.checking import Report, judge_all
from pellucid.teach.records import Exercise

TOPICS = {  # in the order of a course
    "features": "prediction",
    "regression": "prediction",
    "shrinkage": "prediction",
    "optimisation": "structure",
    "classification": "prediction",
    "discriminants": "prediction",
    "naive_bayes": "prediction",
    "decisions": "prediction",
    "evaluation": "prediction",
    "comparison": "prediction",
    "neighbours": "prediction",
    "trees": "prediction",
    "ensembles": "prediction",
    "kernels": "prediction",
    "networks": "prediction",
    "clusters": "structure",
    "mixtures": "structure",
    "projections": "structure",
    "inference": "structure",
    "graphical": "structure",
    "sequences": "structure",
    "planning": "structure",
    "reinforcement": "structure",
    "theory": "structure",
}


@cache
def topic_exercises(topic: str) -> tuple[Exercise, ...]:
    """The exercises of one topic."""
    if topic not in TOPICS:
        raise ValueError(f"topic must be one of {', '.join(TOPICS)}, got {topic!r}")
    home = import_module(f"pellucid.teach.topics.{TOPICS[topic]}.{topic}")
    return tuple(exercise._replace(topic=topic) for exercise in home.EXERCISES)


def exercises(topic: str | None = None) -> tuple[Exercise, ...]:
    """The exercises of a ``topic``, or of all.

    >>> from pellucid.teach import exercises
    >>> len(exercises()) >= 80, exercises("regression")[0].address
    (True, 'regression/line')
    """
    chosen = TOPICS if topic is None else (topic,)
    return tuple(exercise for name in chosen for exercise in topic_exercises(name))


def exercise(address: str) -> Exercise:
    """One exercise by its ``address``, ``topic/name``.

    >>> from pellucid.teach import exercise
    >>> exercise("regression/line").title
    'The least-squares line by hand'
    """
    topic, _, name = address.partition("/")
    found = {item.name: item for item in topic_exercises(topic)}
    if name not in found:
        raise ValueError(f"{topic} has {', '.join(found)}, got {name!r}")
    return found[name]


def check(address: str, seed: int, **answers: Any) -> Report:
    """Judge the ``answers`` to the exercise at ``address`` with the numbers of ``seed``.

    >>> from pellucid.teach import check, exercise
    >>> right = exercise("regression/line").answers(seed=1)
    >>> check("regression/line", 1, **right).score
    1.0
    >>> d = exercise("regression/line").numbers(1)
    >>> right["slope"] = d["x"] @ d["y"] / (d["x"] @ d["x"])
    >>> print(check("regression/line", 1, **right).verdicts[0].sentence)
    You fitted a line through the origin: the intercept was forgotten.
    """
    task = exercise(address)
    known = [step.name for step in task.steps]
    for name in answers:
        if name not in known:
            raise ValueError(f"{address} has the steps {', '.join(known)}, got {name!r}")
    return judge_all(task, seed, answers)


def grade(address: str, seed: int, step: str, answers: dict[str, Any]) -> None:
    """Raise AssertionError with a sentence where a ``step`` is not right: a grader's test.

    ``address`` and ``seed`` say which exercise and numbers, ``answers`` holds what was answered.

    >>> from pellucid.teach import grade
    >>> grade("regression/line", 1, "slope", {"slope": ...})
    Traceback (most recent call last):
    AssertionError: slope: No answer yet.
    """
    found = {v.step: v for v in check(address, seed, **answers).verdicts}
    if step not in found:
        raise ValueError(f"{address} has the steps {', '.join(found)}, got {step!r}")
    if not found[step].right:
        raise AssertionError(f"{step}: {found[step].sentence}")

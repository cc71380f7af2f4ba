"""Sheets and solutions as Markdown."""

from pellucid.teach.records import Exercise, Step
from pellucid.teach.wording import filled, lines_of, precision, rounded, said


def heading(exercise: Exercise, number: int) -> str:
    return f"## {number}. {exercise.title}"


def task(exercise: Exercise, seed: int) -> str:
    """The statement."""
    return filled(exercise.statement, exercise.numbers(seed))


def question(exercise: Exercise, step: Step, seed: int) -> str:
    """What is asked, and how exactly."""
    right = exercise.answers(seed)[step.name]
    return f"**{step.name}**: {filled(step.ask, exercise.numbers(seed))} ({precision(step, right)})"


def hints(exercise: Exercise, step: Step, seed: int) -> str:
    """Hints that open one by one."""
    data = exercise.numbers(seed)
    return "\n".join(
        f"<details><summary>Hint {i}</summary>{as_html(filled(hint, data))}</details>"
        for i, hint in enumerate(step.hints, 1)
    )


def as_html(text: str) -> str:
    """Text inside HTML, where Markdown's signs mean nothing: a backslash would be seen."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escaped(text: str) -> str:
    """Text inside Markdown, whose signs it must not be taken for."""
    return as_html(text).replace("*", "\\*").replace("_", "\\_")


def sheet_markdown(exercises: tuple[Exercise, ...], seed: int, title: str) -> str:
    """The sheet of a student."""
    parts = [f"# {title}", f"Numbers of seed {seed}."]
    for number, exercise in enumerate(exercises, 1):
        data = "\n".join(lines_of(exercise.numbers(seed)))
        parts += [heading(exercise, number), task(exercise, seed), f"```text\n{data}\n```"]
        for step in exercise.steps:
            parts += [f"- {question(exercise, step, seed)}"]
            if step.hints:
                parts += [hints(exercise, step, seed)]
    return "\n\n".join(parts) + "\n"


def solution_markdown(exercises: tuple[Exercise, ...], seed: int, title: str) -> str:
    """The answers, what leads to them, and the mistakes that the grader recognises."""
    parts = [f"# {title}: solutions", f"Numbers of seed {seed}."]
    for number, exercise in enumerate(exercises, 1):
        data, right = exercise.numbers(seed), exercise.answers(seed)
        parts += [heading(exercise, number), task(exercise, seed)]
        for step in exercise.steps:
            lines = [f"- **{step.name}** = {said(rounded(right[step.name]))}"]
            lines += [f"  {escaped(filled(hint, data))}" for hint in step.hints]
            lines += [f"  - {escaped(slip.says)}" for slip in step.slips]
            parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"

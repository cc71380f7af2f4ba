"""Guided stories: a file per method in ``stories/``, read into scenes.

A file is TOML. ``summary`` and ``related`` (addresses) are words of the page; ``textbook`` names
the file whose lines are shown, ``[lines]`` which of them run when a formula holds a text;
``[symbols]`` says what a symbol or a word of a formula stands for: the name of a mark, a node, an
edge or a column, or how it begins, or a list of such; ``unmarked`` which letters of the formulas
stand for nothing that is drawn: constants, counts, indices, functions. ``[[handles]]`` says which
two settings a place in a panel stands for. Each ``[[scene]]`` has

    kind      one word: Look, Predict, Break, Mend
    preset    the name of a preset
    at, to    the frame that is looked at, and the one that shows the answer (-1: the last)
    say       at most 40 words; {name} is a number of that frame, {3: name} one of frame 3
    ask       a question as ``read_questions`` reads it
    true      what must hold of the frames for question and answer to be true (Python, for a test)
"""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from pellucid.lab.page import Page, Question, read_questions


class Scene(NamedTuple):
    """One step of a story."""

    kind: str
    preset: str
    at: int
    to: int
    say: str
    question: Question
    true: str


@cache
def story_file(name: str) -> dict[str, Any]:
    """The file of a method; empty if it has none."""
    path = files("pellucid.lab").joinpath("stories", f"{name}.toml")
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def scenes_of(name: str) -> tuple[Scene, ...]:
    """The story of a method."""
    return tuple(
        Scene(
            one["kind"],
            one["preset"],
            one["at"],
            one["to"],
            " ".join(one["say"].split()),
            read_questions(one["ask"])[0],
            one["true"],
        )
        for one in story_file(name).get("scene", ())
    )


def source_of(name: str) -> dict[str, Any] | None:
    """The lines of the textbook for a method, without its doctests, and which of them run when."""
    found = story_file(name)
    if "textbook" not in found:
        return None
    path = files("pellucid.textbook").joinpath(*f"{found['textbook']}.py".split("/"))
    lines = [[key, [v] if isinstance(v, str) else v] for key, v in found.get("lines", {}).items()]
    text = plain_code(path.read_text("utf-8"))
    return {"file": f"{found['textbook']}.py", "text": text, "lines": lines}


def plain_code(text: str) -> str:
    """Source without its docstrings and imports.

    >>> plain_code("import os\\n\\n\\ndef f():\\n    return 1\\n")
    'def f():\\n    return 1'
    """
    import ast

    tree, drop = ast.parse(text), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            drop |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        body = getattr(node, "body", None)
        words = body[0] if isinstance(body, list) and body else None
        if isinstance(words, ast.Expr) and isinstance(words.value, ast.Constant):
            drop |= set(range(words.lineno, (words.end_lineno or words.lineno) + 1))
    kept = [line for k, line in enumerate(text.splitlines(), 1) if k not in drop]
    joined = "\n".join(kept).strip("\n")
    while "\n\n\n" in joined:
        joined = joined.replace("\n\n\n", "\n\n")
    return joined


def with_story(page: Page) -> Page:
    """A page with what its file says of it."""
    found = story_file(page.name)
    summary = " ".join(found.get("summary", page.summary).split())
    words = {key: found.get(key, empty) for key, empty in (("symbols", {}), ("handles", []))}
    related = tuple(found.get("related", ()))
    story, source = scenes_of(page.name), source_of(page.name)
    return page._replace(summary=summary, story=story, source=source, related=related, **words)

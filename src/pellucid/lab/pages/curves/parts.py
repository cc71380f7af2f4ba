"""What a method of the pages on curves gives."""

from typing import Any, NamedTuple


class Shown(NamedTuple):
    """The steps, the model of the last one, and the words of the page."""

    frames: list[Any]
    model: Any
    title: str
    objective: str
    verdict: str
    code: str

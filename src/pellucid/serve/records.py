"""What the server holds to: its limits, its settings, and how it says no."""

from typing import Any, NamedTuple

from pellucid.core.arrays import check

NEEDS = 'serving needs Starlette and uvicorn: pip install "pellucid[serve]"'


class Limits(NamedTuple):
    """How much one client may ask for.

    Examples
    --------
    >>> from pellucid.serve import Limits
    >>> Limits(rows=100).checked().rows
    100
    >>> Limits(rows=0).checked()
    Traceback (most recent call last):
    ValueError: rows must be a whole number >= 1, got 0
    """

    body: int = 10_000_000  # bytes of a request
    rows: int = 10_000  # of a request
    seconds: float = 30.0  # until an answer is given up
    waiting: float = 10.0  # seconds that a client may take to send a request, or to read the answer
    concurrent: int = 32  # requests that are answered or wait for it; more are told to come again
    connections: int = 512  # open at a time

    def checked(self) -> "Limits":
        """These limits, if all of them make sense."""
        for name in ("body", "rows", "concurrent", "connections"):
            check.whole(**{name: getattr(self, name)})
        check.positive(seconds=self.seconds, waiting=self.waiting)
        return self


class RefusalError(Exception):
    """A request that is not answered: a status of HTTP and one sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Column(NamedTuple):
    """An input column: its name and what it holds; "number" where the model says nothing."""

    name: str
    kind: str


class Abilities(NamedTuple):
    """What can be asked of a model besides its prediction."""

    proba: bool
    interval: bool
    threshold: bool
    sets: bool


class Schema(NamedTuple):
    """What a model takes and gives. No cell of a training row is in it but the classes' names."""

    columns: tuple[Column, ...]
    named: bool  # are rows objects with these names, or lists of numbers?
    optional: tuple[str, ...]  # taken where a row has them
    target: tuple[str, ...]
    kind: str  # "classes" or "numbers"
    classes: tuple[str, ...]
    abilities: Abilities

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return self._asdict() | {
            "columns": [one._asdict() for one in self.columns],
            "abilities": self.abilities._asdict(),
        }

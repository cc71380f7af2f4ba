"""One item after the other, in this process."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any


class Serial:
    """Map one item after the other; nothing is read before it is asked for.

    >>> list(Serial().map(len, ["a", "bcd"]))
    [1, 3]
    """

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """Apply ``function`` to one item after the other."""
        return map(function, items)

    def __repr__(self) -> str:
        return "Serial()"

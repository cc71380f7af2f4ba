"""A committee as a sequence of its members: ``len(model)``, ``model[0]``, ``for tree in model``.

A class takes the three functions as they are::

    __len__, __getitem__, __iter__ = count, member, members
"""

from collections.abc import Iterator
from typing import Any


def count(self: Any) -> int:
    """How many members the committee has."""
    return len(self.estimators_)


def member(self: Any, index: int) -> Any:
    """One member, or some."""
    return self.estimators_[index]


def members(self: Any) -> Iterator[Any]:
    """All members in turn."""
    return iter(self.estimators_)

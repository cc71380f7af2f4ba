"""Where a class that a model file names is found now.

A file names a class by the module that held it when its line was first written. ``addresses.txt``
has a line ``old new`` for every module that has moved since, and for a class that has moved alone
(``old.Class new.Class``). Files are still written with the old names: the same model gives the same
bytes as before the move, and either version of the library reads the other's files.

To move a module that holds a storable class: change its line, or add one.
"""

from functools import cache
from importlib.resources import files

ROOT = "pellucid."


@cache
def moved() -> dict[str, str]:
    """The present address of every module or class that is no longer where files say."""
    lines = (files("pellucid.persist") / "addresses.txt").read_text("utf-8").splitlines()
    return {ROOT + old: ROOT + new for old, new in (line.split() for line in lines)}


@cache
def _written() -> dict[str, str]:
    return {new: old for old, new in moved().items()}


def present(name: str) -> str:
    """The dotted name under which a class is found today.

    >>> present("pellucid.core.iterate.History")
    'pellucid.core.loops.iterate.History'
    """
    return _renamed(name, moved())


def written(name: str) -> str:
    """The dotted name that files use for a class: the inverse of ``present``."""
    return _renamed(name, _written())


def _renamed(name: str, table: dict[str, str]) -> str:
    module, _, last = name.rpartition(".")
    return table.get(name) or f"{table.get(module, module)}.{last}"

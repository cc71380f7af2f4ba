"""The course's own examples: what each method must give on the data of the lecture.

A demo is a name, what it shows, the public names it needs and a function that returns lines:
words, what was computed, what is expected. Families live in ``regression``,
``classification`` and ``general``; a demo whose classes do not exist yet is not listed.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import pellucid
from pellucid.core.figures import figures
from pellucid.study.examples.golden import BROKEN

FAMILIES = ("regression", "classification", "general")


class Line(NamedTuple):
    """One quantity: numbers (or words) beside what is expected."""

    what: str
    value: Any
    expected: Any
    tolerance: float = 1e-6  # absolute, and relative to the expected size

    @property
    def agrees(self) -> bool:
        """Whether the value is the expected one, up to the tolerance."""
        if isinstance(self.expected, str | bool):
            return str(self.value) == str(self.expected)
        got, want = np.ravel(np.asarray(self.value, float)), np.ravel(np.asarray(self.expected))
        if got.shape != want.shape:
            return False
        return bool((np.abs(got - want) <= self.tolerance * (1 + np.abs(want))).all())


class Demo(NamedTuple):
    """One example of the course."""

    name: str
    family: str
    what: str
    needs: tuple[str, ...]  # dotted public names, such as "KMeans" or "tree.impurity"
    run: Callable[[], list[Line]]


def demo(
    name: str, family: str, what: str, *needs: str
) -> Callable[[Callable[[], list[Line]]], Demo]:
    """Turn a function into the example ``name`` of a ``family``; see ``Demo``."""
    return lambda run: Demo(name, family, what, needs, run)


class Outcome(NamedTuple):
    """A demo that was run."""

    demo: Demo
    lines: list[Line]

    @property
    def agrees(self) -> bool:
        """Whether every line agrees."""
        return all(line.agrees for line in self.lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        rows = [line._asdict() | {"agrees": line.agrees} for line in self.lines]
        known = {key: getattr(self.demo, key) for key in ("name", "family", "what")}
        return known | {"agrees": self.agrees, "lines": rows}


def exists(name: str) -> bool:
    """Whether a public name is there.

    >>> exists("KMeans"), exists("linear.ridge_path"), exists("NoSuchThing")
    (True, True, False)
    """
    package, _, short = name.rpartition(".")
    if not package:
        return short in pellucid._HOME
    return short in getattr(import_module(f"pellucid.{package}"), "_HOME", {})


def all_demos() -> dict[str, Demo]:
    """Every demo whose methods exist, by name."""
    found: dict[str, Demo] = {}
    for family in FAMILIES:
        for demo in import_module(f"pellucid.study.examples.{family}").DEMOS:
            if all(exists(name) for name in demo.needs):
                found[demo.name] = demo
    return found


def run_demo(demo: Demo) -> Outcome:
    """Compute; what the methods warn of on purpose is part of the example, not of the output."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Outcome(demo, demo.run())
        except BROKEN as stopped:
            said = f"{type(stopped).__name__}: {stopped}"
            return Outcome(demo, [Line("stopped", said, "numbers")])


def side_by_side(value: object) -> str:
    """Numbers for reading beside each other: eight digits, as many as the notes have.

    >>> side_by_side([0.5, -1.0, 2 / 3]), side_by_side("yes"), side_by_side(0.0)
    ('0.5  -1  0.66666667', 'yes', '0')
    """
    if isinstance(value, str | bool):
        return str(value)
    cells = np.ravel(np.asarray(value, float)).tolist()
    return "  ".join(figures(v if abs(v) >= 1e-12 else 0.0, 8) for v in cells)

"""What can be set on a page of the lab.

``choice``, ``slider``, ``counter`` and ``switch`` make the controls. Their further keywords name
other controls and the values of these with which the control is shown: ``method="EM"`` shows it
only while the method is EM, ``method=("counts", "EM")`` with either.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np


class Control(NamedTuple):
    """One thing to set. ``kind``: "number", "integer", "choice", "switch" or "cells"."""

    name: str
    label: str
    kind: str
    default: Any
    low: float | None = None
    high: float | None = None
    step: float | None = None
    options: tuple[Any, ...] = ()
    log: bool = False  # the slider moves by factors
    only: dict[str, tuple[Any, ...]] = {}  # noqa: RUF012  shown only while these others have these values


def choice(
    name: str, label: str, options: Iterable[Any], default: Any = None, **only: Any
) -> Control:
    """One of several values, the first of them unless ``default`` is given."""
    values = tuple(options)
    first = values[0] if default is None else default
    return Control(name, label, "choice", first, options=values, only=shown_while(only))


def slider(
    name: str,
    label: str,
    default: float,
    low: float,
    high: float,
    step: float | None = None,
    *,
    log: bool = False,
    **only: Any,
) -> Control:
    """A number between ``low`` and ``high``."""
    span = (default, low, high, step)
    return Control(name, label, "number", *span, log=log, only=shown_while(only))


def counter(
    name: str, label: str, default: int, low: int, high: int, step: int = 1, **more: Any
) -> Control:
    """A whole number between ``low`` and ``high``; ``more`` as of a slider."""
    return slider(name, label, default, low, high, step, **more)._replace(kind="integer")


def cells(name: str, label: str) -> Control:
    """A small map, row by row with / between: "" leaves it to the page."""
    return Control(name, label, "cells", "")


def switch(name: str, label: str, **only: Any) -> Control:
    """On or off, off at first."""
    return Control(name, label, "switch", False, only=shown_while(only))


def shown_while(only: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """The values of other controls with which a control is shown, each as a tuple."""
    return {key: v if isinstance(v, tuple) else (v,) for key, v in only.items()}


def checked(control: Control, value: Any) -> Any:
    """A value that the control allows, or one sentence."""
    if control.kind == "switch":
        if not isinstance(value, bool):
            raise ValueError(f"{control.name} must be true or false, got {value!r}")
        return value
    if control.kind == "cells":
        if not isinstance(value, str) or not re.fullmatch(r"(?:[.#+oS-]{2,8}(?:/|$)){0,8}", value):
            raise ValueError(f"{control.name} must be rows of . # + - o S with / between them")
        if len({len(row) for row in value.split("/")}) > 1:
            raise ValueError(f"the rows of {control.name} must have the same length")
        return value
    if control.kind == "choice":
        if value not in control.options:
            allowed = ", ".join(map(str, control.options))
            raise ValueError(f"{control.name} must be one of {allowed}, got {value!r}")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"{control.name} must be a number, got {value!r}")
    low = -np.inf if control.low is None else control.low
    high = np.inf if control.high is None else control.high
    if not low <= value <= high:
        raise ValueError(f"{control.name} must be between {low:g} and {high:g}, got {value!r}")
    return round(value) if control.kind == "integer" else float(value)

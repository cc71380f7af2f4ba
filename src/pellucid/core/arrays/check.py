"""One-line checks of parameters; each message says what was given and what is accepted."""

from collections.abc import Collection
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

import numpy as np

LARGEST = float(np.finfo(np.float64).max)
LARGEST_WHOLE = int(np.iinfo(np.int64).max)  # that compiled code can count to


def _number(name: str, value: object) -> None:
    """A number, which a whole number of 400 digits is to Python and to nothing that computes.

    >>> _number("alpha", 10**400)
    Traceback (most recent call last):
    ValueError: alpha must be at most 1.8e+308 in size, got a whole number of 1329 bits
    """
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_) or value != value:
        raise ValueError(f"{name} must be a number, got {value!r}")
    if isinstance(value, int) and abs(value) > LARGEST:
        size = f"a whole number of {value.bit_length()} bits"
        raise ValueError(f"{name} must be at most {LARGEST:.2g} in size, got {size}")


def given(**values: Any) -> dict[str, Any]:
    """The parameters that are not None, for the checks of the others."""
    return {name: value for name, value in values.items() if value is not None}


def positive(**values: Any) -> None:
    """Refuse anything that is not a number above zero.

    >>> positive(tol=0)
    Traceback (most recent call last):
    ValueError: tol must be > 0, got 0
    """
    for name, value in values.items():
        _number(name, value)
        if not value > 0:
            raise ValueError(f"{name} must be > 0, got {value!r}")


def non_negative(**values: Any) -> None:
    """Refuse anything that is not a number of at least zero."""
    for name, value in values.items():
        _number(name, value)
        if not value >= 0:
            raise ValueError(f"{name} must be >= 0, got {value!r}")


def finite(**values: Any) -> None:
    """Refuse anything that is not a finite number.

    >>> finite(power=float("inf"))
    Traceback (most recent call last):
    ValueError: power must be a finite number, got inf
    """
    for name, value in values.items():
        _number(name, value)
        if not np.isfinite(float(value)):
            raise ValueError(f"{name} must be a finite number, got {value!r}")


def whole(*, at_least: int = 1, most: int | None = LARGEST_WHOLE, **values: object) -> None:
    """Refuse anything that is not a whole number from ``at_least`` to ``most``; None: any.

    >>> whole(n_clusters=2.5)
    Traceback (most recent call last):
    ValueError: n_clusters must be a whole number >= 1, got 2.5
    >>> whole(max_iter=10**40)
    Traceback (most recent call last):
    ValueError: max_iter must be at most 9223372036854775807, got a whole number of 133 bits
    """
    for name, value in values.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < at_least:
            raise ValueError(f"{name} must be a whole number >= {at_least}, got {value!r}")
        if most is not None and int(value) > most:
            size = f"a whole number of {int(value).bit_length()} bits"
            raise ValueError(f"{name} must be at most {most}, got {size}")


def fraction(**values: Any) -> None:
    """Refuse anything outside the open interval (0, 1)."""
    for name, value in values.items():
        _number(name, value)
        if not 0 < value < 1:
            raise ValueError(f"{name} must be between 0 and 1 (both excluded), got {value!r}")


def boolean(**values: Any) -> None:
    """Refuse anything but True and False."""
    for name, value in values.items():
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{name} must be True or False, got {value!r}")


def one_of(choices: Collection[str], **values: object) -> None:
    """Refuse a word that is not among ``choices``, and name the nearest one.

    >>> one_of(("svd", "qr"), solver="qrr")
    Traceback (most recent call last):
    ValueError: solver must be one of 'svd', 'qr', got 'qrr'; did you mean 'qr'?
    """
    for name, value in values.items():
        if not isinstance(value, str) or value not in choices:
            accepted = ", ".join(map(repr, choices)) + f", got {value!r}{hint(value, choices)}"
            raise ValueError(f"{name} must be one of {accepted}")


def two_classes(model: object, found: int, n: int, kind: str = "samples") -> None:
    """Refuse the target of a classifier that holds one class only."""
    if found < 2:
        name = type(model).__name__
        raise ValueError(f"{name} needs at least 2 classes, got 1 class in {n} {kind}")


def hint(word: object, choices: Collection[str]) -> str:
    """Return ``; did you mean 'x'?`` when some choice is near, else nothing."""
    near = get_close_matches(str(word), [str(choice) for choice in choices], n=1)
    return f"; did you mean {near[0]!r}?" if near else ""

"""Single values as JSON, and the words of a refusal at save."""

import math
import struct
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from pellucid.persist.format import MAX_INTEGER_BITS, ModelFileError
from pellucid.persist.tables import CODES, SCALARS

Node = Any  # JSON


def refuse(where: str, why: str) -> NoReturn:
    raise ModelFileError(f"cannot save: {where} {why}")


def whole(value: int, where: str) -> int:
    if value.bit_length() > MAX_INTEGER_BITS:
        refuse(where, f"is a whole number of more than {MAX_INTEGER_BITS} bits")
    return value


def real(value: float, where: str = "") -> Node:
    """Finite floats are JSON numbers; the others are named, or given by their bits.

    >>> real(0.1), real(float("inf"))
    (0.1, {'is': 'float', 'name': 'inf'})
    """
    if math.isfinite(value):
        return value
    bits = struct.pack(">d", value).hex()
    return {"is": "float", "name": CODES.get(bits, bits)}


def text(value: str, where: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        refuse(where, "is text with half a character (a lone surrogate)")
    return value


def octets(value: bytes, where: str) -> Node:
    return {"is": "bytes", "hex": value.hex()}


PLAIN: dict[type, Callable[[Any, str], Node]] = {int: whole, float: real, str: text, bytes: octets}


def scalar(value: np.generic, where: str) -> Node:
    """A NumPy number or text keeps its type."""
    name = value.dtype.name if value.dtype.kind in "biuf" else type(value).__name__
    if name not in SCALARS:
        refuse(where, f"is a NumPy {name}; float, int, bool and text can be saved")
    item = value.item()
    return {
        "is": "scalar",
        "type": name,
        "value": PLAIN.get(type(item), lambda x, _: x)(item, where),
    }


def full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def function_name(value: object) -> str:
    module = getattr(value, "__module__", None) or type(value).__module__
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    return f"{module}.{name or type(value).__qualname__}"

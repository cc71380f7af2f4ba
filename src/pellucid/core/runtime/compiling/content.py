"""What a kernel is, as a short hash: its code, and all that it calls or reads, in any file.

Two kernels with the same hash compile to the same machine code. It is made of byte code and of the
values of names, so nothing is read from the disk, and the place of the files plays no part.
"""

import hashlib
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

FOREIGN = ("numba", "llvmlite", "numpy", "scipy", "builtins")  # their versions are in the key

_own: dict[FunctionType, tuple[str, list[FunctionType]]] = {}


def content(function: FunctionType) -> str:
    """The hash of a kernel's Python function and of everything it reaches.

    >>> import math
    >>> def area(r): return math.pi * r * r
    >>> def round_area(r): return math.pi * r * r
    >>> content(area) == content(area), content(area) == content(round_area)
    (True, False)
    """
    seen = {function}
    parts, queue = [], [function]
    while queue:
        own, called = _shallow(queue.pop())
        parts.append(own)
        queue += (new := [f for f in dict.fromkeys(called) if f not in seen])
        seen.update(new)
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:20]


def _shallow(function: FunctionType) -> tuple[str, list[FunctionType]]:
    """The function without those it calls, and those."""
    if function not in _own:
        called: list[FunctionType] = []
        text = repr(list(_facts(function, called)))
        _own[function] = (hashlib.sha256(text.encode()).hexdigest(), called)
    return _own[function]


def _facts(function: FunctionType, called: list[FunctionType]) -> Iterator[str]:
    """Everything that the compiled form of one function depends on."""
    yield f"{function.__module__}.{function.__qualname__}"
    yield described((function.__defaults__, function.__kwdefaults__), called)
    names: set[str] = set()
    yield from _code_facts(function.__code__, names, called)
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        yield f"{name} = {described(cell.cell_contents, called)}"
    space = function.__globals__
    home = function.__module__.partition(".")[0]
    for name in sorted(names & space.keys()):
        value = space[name]
        yield f"{name} = {described(value, called)}"
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] == home:
            for inner in sorted(names.intersection(dir(value))):
                yield f"{name}.{inner} = {described(getattr(value, inner), called)}"


def _code_facts(code: CodeType, names: set[str], called: list[FunctionType]) -> Iterator[str]:
    """Byte code, constants and names, and those of the functions inside."""
    names.update(code.co_names)
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_flags}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code_facts(constant, names, called)
        else:
            yield described(constant, called)


def described(value: Any, called: list[FunctionType]) -> str:
    """A value that a kernel reads, as text; a function is named here and put into ``called``.

    A text that begins with "?" is a kind of value that is not known here.
    """
    function = getattr(value, "py_func", None) or getattr(value, "_defn", None) or value
    if isinstance(function, FunctionType):
        name = f"{function.__module__}.{function.__qualname__}"
        if function.__module__.partition(".")[0] not in FOREIGN:
            called.append(function)
        return f"{name} {options_text(getattr(value, 'targetoptions', {}))}"
    if isinstance(value, np.ndarray):
        return f"array {value.dtype.str} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(described(v, called) for v in value)})"
    if isinstance(value, set | frozenset):
        return f"set({sorted(described(v, called) for v in value)})"
    if isinstance(value, dict):
        return f"dict({[(described(k, called), described(v, called)) for k, v in value.items()]})"
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, types.ExternalFunction):
        return f"external {value.symbol} {value.sig}"
    if isinstance(value, types.Type | ir.Type):
        return f"type {value}"
    if isinstance(value, BuiltinFunctionType | np.ufunc):
        return f"builtin {value.__name__}"
    simple = (type(None), bool, int, float, complex, str, bytes, type(...), np.generic, np.dtype)
    if isinstance(value, simple):
        return f"{type(value).__name__} {value!r}"
    return f"?{type(value).__module__}.{type(value).__qualname__}"


def options_text(options: dict[str, Any]) -> str:
    """Numba's options as text that is the same in every process: sets have no order.

    >>> options_text({"nogil": True, "fastmath": {"nsz", "arcp"}})
    "[('fastmath', ['arcp', 'nsz']), ('nogil', True)]"
    """
    return str(sorted((k, sorted(v) if isinstance(v, set) else v) for k, v in options.items()))

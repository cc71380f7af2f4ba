"""Which argument types every kernel is compiled for, as recorded in ``signatures.json``.

The file lists, for each module and kernel, the types of the arguments of real calls:
``"float64 2C"`` is a C-ordered matrix, ``[..]`` a tuple, ``{"module:Class": [..]}`` a NamedTuple
and ``{"omitted": value}`` an argument left to its default. ``compile_kernel`` makes of it what
such a call would make, so that the call finds its kernel in the on-disk cache. Kernels that only
other kernels call need no entry. ``tools/signatures.py`` records new ones.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("signatures.json")


def kernel_name(kernel: Any) -> tuple[str, str]:
    """Module and name of a kernel, the keys of the table."""
    return kernel.py_func.__module__, kernel.py_func.__qualname__


@cache
def recorded() -> dict[str, dict[str, list[Any]]]:
    """The table: module -> kernel -> signatures."""
    return json.loads(TABLE.read_text())


def understood(text: Any) -> Any:
    """The Numba type of an entry of the table.

    >>> understood("float64 2C"), understood(["int64", "none"])
    (Array(float64, 2, 'C', False, aligned=True), Tuple((int64, none)))
    """
    from numba import types

    if isinstance(text, list):
        return types.BaseTuple.from_types(tuple(map(understood, text)))
    if isinstance(text, dict):
        ((name, parts),) = text.items()
        if name == "omitted":
            return types.Omitted(parts)
        module, _, cls = name.partition(":")
        parts = tuple(map(understood, parts))
        return types.BaseTuple.from_types(parts, getattr(import_module(module), cls))
    dtype, _, shape = text.partition(" ")
    if not shape:
        return getattr(types, text)
    order, _, readonly = shape.partition(" ")
    return types.Array(getattr(types, dtype), int(order[:-1]), order[-1], readonly=bool(readonly))


def compile_kernel(kernel: Any) -> None:
    """Compile a kernel for every signature of the table, or load it from the cache."""
    module, name = kernel_name(kernel)
    for signature in recorded().get(module, {}).get(name, ()):
        kernel.compile(tuple(map(understood, signature)))


def compile_modules(names: Sequence[str]) -> None:
    """Compile the kernels of these modules, one module after the other."""
    from pellucid.core.runtime.jit import KERNELS

    for name in names:
        import_module(name)
        for kernel in [k for k in KERNELS if k.py_func.__module__ == name]:
            compile_kernel(kernel)

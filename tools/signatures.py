"""Record the argument types of new kernels in ``core/runtime/signatures.json``.

``python tools/signatures.py tests/linear/lars`` runs these tests; a kernel that the table lacks
gets the types it was called with, and kernels that are gone leave it. To renew one, delete its
line first.
"""

import json
import sys
from typing import Any

import pytest
from numba import types

from pellucid.cli.installation.warm import import_all
from pellucid.core.runtime.jit import KERNELS
from pellucid.core.runtime.signatures import TABLE, kernel_name, recorded


def described(kind: Any) -> Any:
    """A Numba type as the table has it; ``understood`` of the library is the way back."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Array):
        words = f"{kind.dtype} {kind.ndim}{kind.layout}"
        return words if kind.mutable else f"{words} readonly"
    if isinstance(kind, types.Omitted):
        return {"omitted": kind.value}
    if isinstance(kind, types.BaseTuple):
        cls, parts = getattr(kind, "instance_class", None), [described(part) for part in kind]
        return {f"{cls.__module__}:{cls.__qualname__}": parts} if cls else parts
    return str(kind)


def renewed(table: dict[str, Any], kernels: list[Any]) -> dict[str, Any]:
    """The table with the kernels that it lacks, and without those that are gone."""
    new: dict[str, Any] = {}
    for kernel in kernels:
        module, name = kernel_name(kernel)
        found = {json.dumps([described(kind) for kind in args]) for args in kernel.signatures}
        known = table.get(module, {}).get(name) or [json.loads(args) for args in sorted(found)]
        if known:
            new.setdefault(module, {})[name] = known
    return new


def write(table: dict[str, Any]) -> None:
    """One line for each kernel, in order."""
    lines = {
        module: ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(found.items()))
        for module, found in sorted(table.items())
    }
    text = ",\n".join(f" {json.dumps(module)}: {{\n{part}\n }}" for module, part in lines.items())
    TABLE.write_text(f"{{\n{text}\n}}\n")


if __name__ == "__main__":
    failed = pytest.main(["-q", *sys.argv[1:]]) if sys.argv[1:] else 0
    import_all()
    write(renewed(recorded(), KERNELS))
    sys.exit(failed)

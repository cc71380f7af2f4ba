"""Every public import path with its signature, one line each.

``python tests/helpers/public_names.py`` writes ``tests/public_names.txt`` anew: do so when a public
name is added on purpose, and look at the difference.
"""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pellucid

FILE = Path(__file__).parents[1] / "public_names.txt"
MARKS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
PACKAGES = ("pellucid", *(f"pellucid.{name}" for name in (*pellucid._PACKAGES, "cli", "report")))


def signature(function: object) -> str:
    """Names, kinds and defaults of the parameters; annotations may become more precise."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return type(function).__name__
    return f"({', '.join(map(parameter, parameters))})"


def parameter(p: inspect.Parameter) -> str:
    kind = "!" if p.kind is p.KEYWORD_ONLY else MARKS.get(p.kind, "")
    default = "" if p.default is p.empty else "=" + re.sub(r" at 0x\w+", "", repr(p.default))
    return f"{kind}{p.name}{default}"


def lines() -> Iterator[str]:
    """A line per public name; a name that means the same as one before says so."""
    known: dict[int, str] = {}
    for package in (*PACKAGES[1:], PACKAGES[0]):
        module = importlib.import_module(package)
        for name in sorted(getattr(module, "__all__", ())):
            path, value = f"{package}.{name}", getattr(module, name)
            if not callable(value):
                yield f"{path} is {'a module' if inspect.ismodule(value) else type(value).__name__}"
            elif id(value) in known:
                yield f"{path} = {known[id(value)]}"
            else:
                known[id(value)] = path
                yield f"{path} {signature(value)}"
                if inspect.isclass(value):
                    yield from members(path, value)


def members(path: str, cls: type) -> Iterator[str]:
    for name in sorted(dir(cls)):
        owner = next((k for k in cls.__mro__ if name in vars(k)), None)
        if name.startswith("_") or owner is None or not owner.__module__.startswith("pellucid"):
            continue
        read = isinstance(inspect.getattr_static(cls, name), property)
        yield f"{path}.{name} {'property' if read else signature(getattr(cls, name))}"


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n")

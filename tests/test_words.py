"""Every public class, method, function and parameter has a sentence that an editor can show."""

import importlib
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import pellucid

SOURCE = Path(pellucid.__file__).parent
ENTRY = re.compile(r"^( *)((?:\*{0,2}\w+, )*\*{0,2}\w+)(?: *:.*)?\n\1 {2,}\S", re.MULTILINE)


@cache
def public():
    """What the tables of the packages name and the library defines, by where it is defined."""
    packages = ("pellucid", *(f"pellucid.{name}" for name in pellucid._PACKAGES))
    found = {}
    for package in map(importlib.import_module, packages):
        for name in package.__all__:
            value = getattr(package, name)
            if callable(value) and (value.__module__ or "").startswith("pellucid"):
                found[f"{value.__module__}.{name}"] = value
    return found


def entries(text):
    """The names that have an entry with a description in a numpydoc section."""
    return {name.strip(" *") for found in ENTRY.finditer(text) for name in found[2].split(",")}


def explained(name, text, fields=""):
    """By an entry, by a sentence with the name in it, or by a comment beside a field."""
    quoted = re.search(rf"``[^`]*\b{re.escape(name)}\b[^`]*``", text)
    return name in entries(text) or quoted or re.search(rf"^ +{name}\b.*#", fields, re.MULTILINE)


def parameters(value):
    try:
        names = inspect.signature(value).parameters
    except (TypeError, ValueError):
        return []
    return [name for name in names if name not in ("args", "kwargs")]


@pytest.mark.parametrize("name", sorted(public()))
def test_it_is_described(name):
    value = public()[name]
    text = inspect.getdoc(value) or ""
    assert (value.__doc__ or "").strip(), "no docstring"
    if not inspect.isclass(value):
        assert [p for p in parameters(value) if not explained(p, text)] == []
    elif not issubclass(value, BaseException):
        record = hasattr(value, "_fields") or hasattr(value, "__dataclass_fields__")
        fields = inspect.getsource(value) if record else ""
        known = entries(text)
        silent = [
            p
            for p in parameters(value)
            if p not in known and not (record and explained(p, text, fields))
        ]
        assert silent == []
        assert [method for method, doc in methods(value) if not (doc or "").strip()] == []


def methods(cls):
    """The public methods that a class of ours defines, with their docstrings."""
    for name in dir(cls):
        owner = next((k for k in cls.__mro__ if name in vars(k)), None)
        if name.startswith("_") or owner is None or not owner.__module__.startswith("pellucid"):
            continue
        raw = vars(owner)[name]
        raw = raw.__func__ if isinstance(raw, staticmethod | classmethod) else raw
        if inspect.isfunction(raw):
            yield name, raw.__doc__


def test_no_catalogue_codes():
    """A reader does not have the list that a code such as ABC-09 refers to."""
    code = re.compile(r"\b(?!UTF)[A-Z]{3}-\d{2}\b")
    found = {
        str(p.relative_to(SOURCE)): m[0]
        for p in SOURCE.rglob("*.py")
        if (m := code.search(p.read_text()))
    }
    assert not found

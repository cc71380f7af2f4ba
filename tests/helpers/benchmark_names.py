"""Which names the first contender of a benchmark, ours, takes in: read from the function itself."""

import ast
import functools
import importlib
import inspect
import textwrap
import types
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def names_we_run():
    """Every name in the contenders of ours, of all cases."""
    found = set()
    for path in sorted((ROOT / "benchmarks").glob("*/**/*.py")):
        if path.name != "__init__.py":
            dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            module = importlib.import_module(dotted)
            for case in getattr(module, "CASES", ()):
                found |= names_in(next(iter(case.contenders.values())), set())
            found |= names_in(getattr(module, "OURS", ()), set())  # timed alone, on a GPU
    return found


def names_in(value, seen):
    """Names that a function, what it closes over and what it calls in its file can reach."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, functools.partial):
        return names_in([value.func, *value.args, *value.keywords.values()], seen)
    if isinstance(value, dict):
        return names_in([*value, *value.values()], seen)
    if isinstance(value, list | tuple | set | frozenset):
        return set().union(*(names_in(one, seen) for one in value))
    if inspect.isclass(value):
        return {value.__name__} if value.__module__.startswith("pellucid.") else set()
    if not isinstance(value, types.FunctionType) or id(value) in seen:
        return set()
    seen.add(id(value))
    return names_in_function(value, seen)


def names_in_function(function, seen):
    found, known = set(), inspect.getclosurevars(function)
    for code in nested(function.__code__):
        texts = [c for c in code.co_consts if isinstance(c, str | tuple)]
        found |= {*code.co_names, *names_in(texts, seen)} - names_of_peers(function)
        found |= names_in([function.__globals__.get(name) for name in code.co_names], seen)
    return found | names_in([*known.nonlocals.values()], seen)


def nested(code):
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from nested(inner)


def names_of_peers(function):
    """What the function imports from anyone but us."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except SyntaxError:  # a lambda in the middle of a line imports nothing
        return set()
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    others = [node for node in imports if (node.module or "").split(".")[0] != "pellucid"]
    return {alias.asname or alias.name for node in others for alias in node.names}

"""One definition each: warnings, weighted medians, SplitMix64 and the format of numbers."""

import ast
import re
from pathlib import Path

import pellucid

SOURCE = Path(pellucid.__file__).parent
TEXTS = {path.relative_to(SOURCE).as_posix(): path.read_text() for path in SOURCE.rglob("*.py")}
KINDS = (ast.FunctionDef, ast.AsyncFunctionDef)


def functions(pattern):
    """The functions whose names match from their start, with the file of each."""
    named = re.compile(rf"^\s*(?:async )?def (?={pattern})", re.M)
    whole = re.compile(pattern)
    for path, text in TEXTS.items():
        if named.search(text) is not None:  # only these few files are parsed
            for node in ast.walk(ast.parse(text)):
                named_so = isinstance(node, KINDS) and whole.match(node.name)
                if named_so:
                    yield path, node


def files_with(pattern):
    return {path for path, text in TEXTS.items() if re.search(pattern, text, re.I)}


def defined(pattern):
    """Files that define a function of such a name."""
    return {path for path, _ in functions(pattern)}


def test_one_file_issues_warnings():
    assert files_with(r"warnings\.warn(_explicit)?\(|from warnings import") == {
        "core/runtime/warn.py"
    }
    assert files_with(r"\bstacklevel\b") == set()
    assert defined(r"warn\b") == {"core/runtime/warn.py"}


def test_one_weighted_median():
    assert defined(r"\w*(weighted_medians?\b|median_ends)") == {"core/arrays/quantiles.py"}


def test_one_splitmix64():
    assert defined(r"\w*splitmix") == {"core/runtime/splitmix.py"}
    assert files_with(r"0x9E3779B97F4A7C15|0x94D049BB133111EB") == {"core/runtime/splitmix.py"}


def test_one_format_of_numbers():
    """A function that shows a number calls ``figures``; it has no format of its own."""
    own = [
        f"{path}: {node.name}"
        for path, node in functions(r"_?(number|figures?|show|sized?)\b")
        for part in ast.walk(node)
        if path != "core/figures.py" and is_format(part)
    ]
    assert own == []


def is_format(node):
    """``return f"{value:.3g}"``, perhaps one of two choices."""
    value = node.value if isinstance(node, ast.Return) else None
    choices = (value.body, value.orelse) if isinstance(value, ast.IfExp) else (value,)
    return any(
        isinstance(choice, ast.JoinedStr)
        and len(choice.values) == 1
        and "g" in ast.unparse(choice.values[0].format_spec or ast.Constant(""))
        for choice in choices
    )

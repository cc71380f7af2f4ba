"""The code of the pages holds only what it needs: a reader takes every line of it to matter."""

import ast
import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def statements(block):
    """The statements of a block, with or without prompts, in their order."""
    examples = doctest.DocTestParser().get_examples(block) if ">>>" in block else []
    sources = [example.source for example in examples] or [block]
    return [statement for source in sources for statement in ast.parse(source).body]


def left_over(block):
    """Names imported for nothing, and values that are replaced before anything reads them."""
    imported, unread, found = set(), set(), []
    for statement in statements(block):
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
        if isinstance(statement, ast.AugAssign):
            read |= {node.id for node in names}
        imported, unread = imported - read, unread - read
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            imported |= {(a.asname or a.name).partition(".")[0] for a in statement.names}
        if isinstance(statement, ast.Assign):
            written = {node.id for node in names if isinstance(node.ctx, ast.Store)} - {"_"}
            found += sorted(written & unread)
            unread |= written
    return found + sorted(imported)


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda p: str(p.relative_to(DOCS)))
def test_a_block_has_nothing_left_over(path):
    for block in BLOCK.findall(path.read_text(encoding="utf-8")):
        assert left_over(block) == [], block


def test_what_is_left_over_is_found():
    assert left_over("import numpy as np\nx = 1\nx = 2\nprint(x)\n") == ["x", "np"]
    assert left_over(">>> from a import b\n>>> b(c)\n") == []

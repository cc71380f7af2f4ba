"""Where a source file can be made wrong in one place, and how.

A change is a piece of text put in the place of another: a comparison or a sign turned, a number one
off, a guard that never fires, a check left out, min for max, and for or. Defaults of parameters are
left alone (``tests/public_names.txt`` holds them), and so are annotations, decorators and text.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

SWAPS = {
    "compare": {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "in": "not in"},
    "direction": {"<": ">", "<=": ">=", ">": "<", ">=": "<="},
    "sign": {"+": "-", "-": "+", "*": "/", "/": "*"},
    "logic": {"and": "or", "or": "and"},
}
OTHERS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "argmin": "argmax",
    "argmax": "argmin",
    "floor": "ceil",
    "ceil": "floor",
    "nanmin": "nanmax",
    "nanmax": "nanmin",
    "lower": "upper",
    "upper": "lower",
}
OPERATORS = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.And: "and",
    ast.Or: "or",
}
KINDS = ("compare", "direction", "sign", "logic", "other end", "number", "guard", "check", "not")


class Change(NamedTuple):
    """One wrong change: bytes ``start`` to ``stop`` of the file become ``text``."""

    kind: str
    start: int
    stop: int
    text: str


class Places:
    """Offsets in the bytes of a file from the lines and columns of its syntax tree."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    def first(self, node: ast.AST) -> int:
        return self.lines[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def last(self, node: ast.AST) -> int:
        return self.lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]


def left_alone(tree: ast.AST) -> set[ast.AST]:
    """Annotations, decorators, defaults, docstrings and the parts of formatted text."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            a = node.args
            parts = [node.returns, *node.decorator_list, *a.defaults, *a.kw_defaults]
        elif isinstance(node, ast.ClassDef):
            parts = [*node.decorator_list, *node.bases, *node.keywords]
        elif isinstance(node, ast.AnnAssign | ast.arg):
            parts = [node.annotation]
        elif isinstance(node, ast.JoinedStr):
            parts = [node]
        for part in parts:
            found |= set(ast.walk(part)) if part is not None else set()
    return found


def changes(text: str) -> Iterator[Change]:
    """Every change of a file, in the order of the tree."""
    tree, places = ast.parse(text), Places(text.encode())
    skipped = left_alone(tree)
    for node in ast.walk(tree):
        if node not in skipped:
            yield from of_operators(node, places)
            yield from of_names(node, places)
            yield from of_statements(node, places)


def of_operators(node: ast.AST, places: Places) -> Iterator[Change]:
    pairs: list[tuple[ast.AST, ast.AST, ast.AST]] = []
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        pairs = list(zip(operands, operands[1:], node.ops, strict=False))
    elif isinstance(node, ast.BoolOp):
        pairs = [(a, b, node.op) for a, b in zip(node.values, node.values[1:], strict=False)]
    elif isinstance(node, ast.BinOp) and not any(
        isinstance(x, ast.JoinedStr) or (isinstance(x, ast.Constant) and isinstance(x.value, str))
        for x in (node.left, node.right)
    ):
        pairs = [(node.left, node.right, node.op)]
    for left, right, operator in pairs:
        sign = OPERATORS.get(type(operator))
        between = places.source[places.last(left) : places.first(right)].decode()
        if sign is None or "#" in between:
            continue
        start = places.last(left) + between.index(sign)
        for kind, swaps in SWAPS.items():
            if sign in swaps:
                yield Change(kind, start, start + len(sign), swaps[sign])


def of_names(node: ast.AST, places: Places) -> Iterator[Change]:
    last = places.last
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield Change("number", places.first(node), last(node), str(not node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield Change("number", places.first(node), last(node), str(node.value + 1))
    elif isinstance(node, ast.Constant) and isinstance(node.value, float):
        yield Change("number", places.first(node), last(node), repr(2 * node.value or 1.0))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        if name in OTHERS:
            yield Change("other end", last(node.func) - len(name), last(node.func), OTHERS[name])
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name = node.func.id
        if name in OTHERS:
            yield Change("other end", places.first(node.func), last(node.func), OTHERS[name])
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        kind, word = ("not", b"not ") if isinstance(node.op, ast.Not) else ("sign", b"-")
        start = places.first(node)
        yield Change(kind, start, start + len(word), "")


def of_statements(node: ast.AST, places: Places) -> Iterator[Change]:
    if isinstance(node, ast.If) and not node.orelse and len(node.body) == 1:
        if isinstance(node.body[0], ast.Raise | ast.Return | ast.Continue | ast.Break):
            yield Change("guard", places.first(node.test), places.last(node.test), "False")
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = ast.unparse(node.value.func)
        if called.startswith("check.") or "refuse" in called or "_check" in called:
            yield Change("check", places.first(node), places.last(node), "pass")


def changed(text: str, change: Change) -> str:
    """The file with the change made."""
    source = text.encode()
    return (source[: change.start] + change.text.encode() + source[change.stop :]).decode()

"""Small numbers in the source that stand alone beside a quantity: each needs a reason.

A number such as 1e-10 that is compared with, added to, or the floor of something is an absolute
epsilon unless it multiplies a size of the data. ``found()`` gives (file, expression) of each;
floors of 1e-280 and less only keep a division from failing and are left out.
"""

import ast
import re
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src/pellucid"
LARGEST, GUARD = 1e-3, 1e-280
APART = ("textbook", "teach", "lab", "plots", "report", "cli", "deep", "study/examples")
FLOORS = ("max", "min", "maximum", "minimum", "clip", "fmax", "fmin")
WRITTEN = re.compile(r"\d[eE]-\d|\b0\.00\d")  # files without any need no second look


def is_small(node):
    value = getattr(node, "value", None)
    return isinstance(node, ast.Constant) and isinstance(value, float) and GUARD < value <= LARGEST


def alone(node, parents):
    """The expression in which a number is compared, added or a floor, unscaled; else None."""
    while True:
        parent = parents.get(node)
        if isinstance(parent, ast.Compare):
            return parent
        if isinstance(parent, ast.BinOp):
            other = parent.right if parent.left is node else parent.left
            if isinstance(parent.op, ast.Add | ast.Sub):
                return None if isinstance(other, ast.Constant) else parent  # 1 + 1e-12: a factor
            if not (isinstance(parent.op, ast.Mult) and isinstance(other, ast.Constant)):
                return None
        elif isinstance(parent, ast.Call):
            name = parent.func.attr if isinstance(parent.func, ast.Attribute) else ""
            name = parent.func.id if isinstance(parent.func, ast.Name) else name
            return parent if name in FLOORS else None
        elif not isinstance(parent, ast.UnaryOp):
            return None
        node = parent


def constants(tree):
    """Names of the module that stand for a small number."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
            for target, value in pairs:
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    inner = zip(target.elts, value.elts, strict=False)
                    found |= {t.id for t, v in inner if isinstance(t, ast.Name) and is_small(v)}
                elif isinstance(target, ast.Name) and is_small(value):
                    found.add(target.id)
    return found


def defaults(tree):
    """Nodes of defaults of parameters, which the caller can change."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    held = [node.args for node in ast.walk(tree) if isinstance(node, functions)]
    values = [value for a in held for value in (*a.defaults, *a.kw_defaults) if value is not None]
    return {node for value in values for node in ast.walk(value)}


@cache
def found():
    """(file, expression) of every number that stands alone."""
    rows = set()
    for path in sorted(SOURCE.rglob("*.py")):
        short = path.relative_to(SOURCE).as_posix()
        if short.startswith(APART):
            continue
        text = path.read_text()
        if not WRITTEN.search(text):
            continue
        tree = ast.parse(text)
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        names, given = constants(tree), defaults(tree)
        for node in ast.walk(tree):
            named = isinstance(node, ast.Name) and node.id in names
            if (named or is_small(node)) and node not in given:
                whole = alone(node, parents)
                if whole is not None:
                    rows.add((short, ast.unparse(whole)))
    return sorted(rows)


if __name__ == "__main__":
    for row in found():
        print(*row, sep="\t")

r"""The imports of a script moved from scikit-learn to another package that has the same names.

A name moves when the other package has it and scikit-learn's module lists it as public::

    from sklearn.linear_model import Lars, Ridge, TheilSenRegressor

becomes, for a package that has the first two::

    from pellucid import Lars, Ridge
    from sklearn.linear_model import TheilSenRegressor

``linear_model.Ridge`` after ``from sklearn import linear_model`` becomes ``pellucid.Ridge``. Only
those words change; everything else, comments too, stays as it is.
"""

import ast
import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple


class Migration(NamedTuple):
    """The new text, the names that moved and those that stay with scikit-learn."""

    text: str
    moved: tuple[str, ...]
    kept: tuple[str, ...]


class Edit(NamedTuple):
    """Replace what stands between two places (line, column) of the text."""

    first: tuple[int, int]
    last: tuple[int, int]
    text: str


def is_public(module: str, name: str) -> bool:
    """Whether scikit-learn lists the name in the package of the module.

    >>> is_public("sklearn.linear_model", "Ridge"), is_public("sklearn.linear_model", "np")
    (True, False)
    """
    parts = module.split(".")
    homes = [module, ".".join(parts[:2])]
    return any(name in getattr(_module(home), "__all__", ()) for home in homes)


def _module(name: str) -> object:
    """The module, or None where scikit-learn has none of that name."""
    try:
        return import_module(name) if find_spec(name) is not None else None
    except ModuleNotFoundError:
        return None


class Reader(ast.NodeVisitor):
    """Finds the edits of one script."""

    def __init__(
        self, source: str, package: str, names: frozenset[str], public: Callable[[str, str], bool]
    ) -> None:
        self.lines = lines_of(source)
        self.package, self.names, self.public = package, names, public
        self.modules: dict[str, str] = {}  # a dotted word of the script -> module of scikit-learn
        self.edits: list[Edit] = []
        self.moved: set[str] = set()
        self.kept: set[str] = set()
        self.last_import: ast.stmt | None = None
        self.uses_package = False

    def visit_Import(self, node: ast.Import) -> None:
        """``import sklearn.svm as svm``: remembered, its attributes may move."""
        for alias in node.names:
            if alias.name.split(".")[0] == "sklearn":
                self.modules[alias.asname or alias.name] = alias.name
                self.last_import = self.last_import or node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """``from sklearn.svm import SVC``: names that move get a line of their own."""
        if node.level or (node.module or "").split(".")[0] != "sklearn":
            return
        moved, kept = [], []
        for alias in node.names:
            if self.moves(node.module or "", alias.name):
                moved.append(alias)
                continue
            kept.append(alias)
            if _module(f"{node.module}.{alias.name}") is not None:
                self.modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                self.last_import = self.last_import or node
            else:
                self.kept.add(f"{node.module}.{alias.name}")
        if not moved:
            return
        self.moved.update(alias.name for alias in moved)
        indent = "\n" + " " * node.col_offset
        lines = [f"# {words}" for words in self.comments(node)]
        lines += [f"from {self.package} import {_words(moved)}"]
        lines += [f"from {node.module} import {_words(kept)}"] if kept else []
        self.edits.append(Edit(_start(node), _end(node), indent.join(lines)))

    def module_of(self, word: str) -> str | None:
        """The module that a dotted word of the script stands for."""
        if word in self.modules:
            return self.modules[word]
        head, _, last = word.rpartition(".")
        outer = self.module_of(head) if head else None
        return f"{outer}.{last}" if outer and _module(f"{outer}.{last}") is not None else None

    def moves(self, module: str, name: str) -> bool:
        """Whether the package has the name; a module stays, as its names move one by one."""
        known = name in self.names and self.public(module, name)
        return known and _module(f"{module}.{name}") is None

    def comments(self, node: ast.stmt) -> list[str]:
        """What is said between the parentheses of an import."""
        inside = self.lines[node.lineno - 1 : (node.end_lineno or node.lineno) - 1]
        return [line.partition("#")[2].strip() for line in inside if "#" in line]

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """``svm.SVC``: the module's word becomes the package's."""
        module = self.module_of(_dotted(node.value))
        if module is None:
            self.generic_visit(node)
        elif self.moves(module, node.attr):
            self.moved.add(node.attr)
            self.uses_package = True
            self.edits.append(Edit(_start(node.value), _end(node.value), self.package))
        elif _module(f"{module}.{node.attr}") is None:
            self.kept.add(f"{module}.{node.attr}")


def migrate(
    source: str,
    names: frozenset[str],
    *,
    package: str = "pellucid",
    public: Callable[[str, str], bool] = is_public,
) -> Migration:
    """Move the imports of a script; ``names`` are those that the package has.

    >>> found = migrate("from sklearn.svm import SVC, l1_min_c\\n", frozenset({"SVC"}))
    >>> found.text
    'from pellucid import SVC\\nfrom sklearn.svm import l1_min_c\\n'
    >>> found.moved, found.kept
    (('SVC',), ('sklearn.svm.l1_min_c',))
    """
    tree = ast.parse(source)
    reader = Reader(source, package, names, public)
    for node in ast.walk(tree):  # imports first: a function may use what stands further down
        if isinstance(node, ast.Import | ast.ImportFrom):
            reader.visit(node)
    reader.visit_Import = reader.visit_ImportFrom = lambda node: None  # type: ignore[method-assign, assignment]
    reader.visit(tree)
    edits = reader.edits
    if reader.uses_package and reader.last_import is not None:
        place = _start(reader.last_import)
        indent = "\n" + " " * place[1]
        edits.append(Edit(place, place, f"import {package}{indent}"))
    return Migration(apply(source, edits), tuple(sorted(reader.moved)), tuple(sorted(reader.kept)))


def lines_of(source: str) -> list[str]:
    """The lines as ``ast`` counts them: a line separator within a text ends none.

    >>> [len(line) for line in lines_of("a" + chr(0x2028) + "b" + chr(10) + "c")]
    [4, 1]
    """
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", source)


def apply(source: str, edits: list[Edit]) -> str:
    """The text after all edits, from the last to the first; columns count bytes, as ``ast`` does.

    >>> apply("a = b\\n", [Edit((1, 4), (1, 5), "c")])
    'a = c\\n'
    """
    lines = [line.encode() for line in lines_of(source)]
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    data = b"".join(lines)
    for edit in sorted(edits, key=lambda e: (e.first, e.last), reverse=True):
        first, last = (starts[line - 1] + column for line, column in (edit.first, edit.last))
        data = data[:first] + edit.text.encode() + data[last:]
    return data.decode()


def _words(aliases: list[ast.alias]) -> str:
    words = (f"{a.name} as {a.asname}" if a.asname else a.name for a in aliases)
    text = ", ".join(words)
    return text if len(text) < 70 else "(\n    " + text.replace(", ", ",\n    ") + ",\n)"


def _dotted(node: ast.expr) -> str:
    """``a.b.c`` as a word; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def _start(node: ast.stmt | ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _end(node: ast.stmt | ast.expr) -> tuple[int, int]:
    return node.end_lineno or node.lineno, node.end_col_offset or node.col_offset

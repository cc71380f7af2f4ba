"""The API reference: a page for every public name, from its docstring, with its source."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

from tools.website import names
from tools.website.names import ROOT, Public
from tools.website.staging import write

NAMED = ("Parameters", "Attributes", "Other Parameters")  # lists of ``name : kind``
ENTRY = re.compile(r"\*{0,2}[A-Za-z_][\w.]*(, \*{0,2}[A-Za-z_][\w.]*)*( : .*)?")


def write_all(folder: Path) -> set[str]:
    """Write all pages; the source files they link to."""
    used = set()
    about = pages_about()
    for thing in names.public().values():
        used.add(thing.source)
        write(folder / f"{thing.package}.{thing.name}.md", page(thing, about))
    groups = []
    for package, table in names.tables().items():
        groups.append(f"{package}-index")
        write(folder / f"{package}-index.md", package_page(package, table))
    listing = "\n".join(groups)
    head = (
        "# Reference\n\nEvery public name, from its docstring. Estimators can be imported from "
        "`pellucid` itself.\n\n"
    )
    write(folder / "index.md", f"{head}```{{toctree}}\n:maxdepth: 1\n\n{listing}\n```\n")
    return used


def pages_about() -> dict[str, str]:
    """Name -> page of the algorithm that it belongs to."""
    found: dict[str, str] = {}
    for page in names.pages():
        for name in names.names_of(page):
            found.setdefault(name, page)
    return found


def package_page(package: str, table: dict[str, str]) -> str:
    """The names of one package with a line each, and the pages that are first reached from it."""
    things = names.public()
    homes = {(thing.module, thing.name): thing for thing in things.values()}
    doc = module_docstring(package).split("\n\n")[0].replace("``", "`").replace("\n", " ")
    rows, own = [], []
    for name in sorted(table, key=str.lower):
        thing = homes[(table[name], name)]
        rows.append(f"| [{name}]({package_file(thing)}.md) | {first_line(thing)} |")
        if thing.package == package:
            own.append(package_file(thing))
    listing = "\n".join(own)
    toctree = f"```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{listing}\n```\n" if own else ""
    body = "\n".join(rows)
    return f"# {package}\n\n{doc}\n\n| name | |\n|---|---|\n{body}\n\n{toctree}"


def package_file(thing: Public) -> str:
    """The file of a page within the folder of the reference."""
    return f"{thing.package}.{thing.name}"


def module_docstring(package: str) -> str:
    """The docstring of a package, read and not imported."""
    path = ROOT / "src" / package.replace(".", "/") / "__init__.py"
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


@cache
def tree_of(source: str) -> ast.Module:
    """A file as a tree."""
    return ast.parse((ROOT / "src" / source).read_text(encoding="utf-8"))


def node_of(thing: Public) -> Any:
    """Where a name is defined in its file; None where it is only assigned."""
    for node in tree_of(thing.source).body:
        named = getattr(node, "name", None)
        if named == thing.name and isinstance(node, ast.ClassDef | ast.FunctionDef):
            return node
    return None


def first_line(thing: Public) -> str:
    """The first sentence of a docstring, for a cell of a table."""
    node = node_of(thing)
    doc = (ast.get_docstring(node) if node is not None else inspect.getdoc(names.load(thing))) or ""
    line = " ".join(doc.split("\n\n")[0].split())
    return line.replace("``", "`").replace("|", "\\|").replace("$", "\\$")


def page(thing: Public, about: dict[str, str]) -> str:
    """The page of one name."""
    node = node_of(thing)
    line = f"#L{node.lineno}" if node is not None else ""
    links = [f"[source: {thing.source}](source:{thing.source}{line})"]
    if thing.name in about:
        links.append(f"[what it is for](../algorithms/{about[thing.name]}.md)")
    if thing.package == "pellucid.plots" and thing.name != "svg":
        links.append(f"[in the gallery](#gallery-{thing.name})")
    body = directive(thing, node)
    head = f"# {thing.name}\n\n{' · '.join(links)}\n\n"
    return f"{head}````{{eval-rst}}\n.. currentmodule:: {thing.package}\n\n{body}\n````\n"


def directive(thing: Public, node: Any) -> str:
    """The autodoc directive of one name; of a deep model, which needs PyTorch, its text."""
    path = f"{thing.package}.{thing.name}"
    if thing.module.startswith("pellucid.deep.") and node is not None:
        return static_text(path, node)
    value = names.load(thing)
    again = "\n   :no-index:" if is_described(value, path) else ""
    if not inspect.isclass(value):
        return (f".. autofunction:: {path}" if callable(value) else f".. autodata:: {path}") + again
    members = [
        name
        for name in sorted(dir(value))
        if not name.startswith("_") and is_ours(inspect.getattr_static(value, name, None))
    ]
    text = f".. autoclass:: {path}{again}\n"
    for name in members:
        kind = inspect.getattr_static(value, name)
        word = "autoattribute" if isinstance(kind, property) else "automethod"
        text += f"\n   .. {word}:: {path}.{name}\n" + again.replace("\n", "\n   ")
    return text


@cache
def described() -> dict[int, str]:
    """The first path under which each object is described."""
    return {}


def is_described(value: Any, path: str) -> bool:
    """Whether an object already has a page: some are offered by several packages."""
    return described().setdefault(id(value), path) != path


def is_ours(value: Any) -> bool:
    """Whether a member is a method or property that a class of ours defines."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if isinstance(value, property):
        value = value.fget
    return inspect.isfunction(value) and value.__module__.startswith("pellucid")


def static_text(path: str, node: Any) -> str:
    """What autodoc would write, from the text of the file."""
    from numpydoc.docscrape_sphinx import SphinxDocString

    doc = "\n".join(plain(inspect.cleandoc(ast.get_docstring(node) or "").split("\n")))
    kind, signature = "function", ""
    if isinstance(node, ast.ClassDef):
        kind = "class"
        inits = [n for n in node.body if getattr(n, "name", "") == "__init__"]
        signature = ast.unparse(inits[0].args) if inits else ""
        signature = re.sub(r": [^,=]+(?= = |,|$)", "", signature.removeprefix("self, "))
    text = str(SphinxDocString(doc)).replace("\n", "\n   ")
    return f".. py:{kind}:: {path}({signature})\n   :no-index:\n\n   {text}"


def plain(lines: list[str]) -> list[str]:
    """A docstring as text: what reStructuredText would take for markup is escaped.

    Our docstrings know ``literals``, sections of numpydoc, doctests and blocks after ``::``; a bar,
    a star or a name that ends in an underscore is what it looks like.

    >>> plain(["The sum |w| of ``coef_`` and coef_."])
    ['The sum \\\\|w\\\\| of ``coef_`` and coef\\\\_.']
    """
    out, section, code, literal = [], "", False, False
    lines = with_tables(with_notes(lines))
    for i, line in enumerate(lines):
        following = lines[i + 1] if i + 1 < len(lines) else ""
        if following.strip() and not following.strip("- \t"):
            section = line.strip()
        header = line and not line.startswith(" ")
        literal = line == "::" or (literal and (not line or line.startswith("    ")))
        code = line.lstrip().startswith((">>>", "...")) or (code and bool(line.strip()))
        if code or literal or not line.strip("- \t"):
            out.append(line)
        elif header and section in NAMED:
            name, colon, kind = line.partition(" : ")
            out.append(name + colon + escaped(kind))
        else:
            out.append(escaped(line))
    return out


def with_notes(lines: list[str]) -> list[str]:
    """Sentences below a list of names become notes, and doctests there examples.

    numpydoc would take each of their lines for a name.

    >>> with_notes(["Attributes", "---", "a_,", "b_ : numbers", "    Two.", "", "Both go."])
    ['Attributes', '---', 'a_, b_ : numbers', '    Two.', '', '', 'Notes', '-----', 'Both go.']
    """
    starts = [i for i in range(len(lines) - 1) if re.fullmatch(r"-{3,}", lines[i + 1].strip())]
    parts = [lines[a:b] for a, b in zip([0, *starts], [*starts, len(lines)], strict=True)]
    moved: dict[str, list[str]] = {"Notes": [], "Examples": []}
    for part in parts[1:]:
        if part[0].strip() in NAMED:
            part[2:] = names_alone(part[2:], moved)
    for part in parts[1:]:
        part += ["", *found] if (found := moved.pop(part[0].strip(), [])) else []
    for title, found in moved.items():
        parts += [["", title, "-" * len(title), *found]] if found else []
    return [line for part in parts for line in part]


def names_alone(lines: list[str], moved: dict[str, list[str]]) -> list[str]:
    """The lines of a list of names; what is no name goes to ``moved``, by paragraphs."""
    kept: list[str] = []
    here, joined = kept, ""
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        text, joined = joined + line, ""
        if not text.strip() or (ENTRY.fullmatch(text) and below.startswith(" ")):
            here = kept  # a name with its text may follow a sentence at once
        if here is kept and text.strip() and not text.startswith(" "):
            if text.endswith(",") and ENTRY.fullmatch(text[:-1]):
                joined = f"{text} "  # the names go on in the next line
                continue
            if not ENTRY.fullmatch(text):
                here = moved["Examples" if text.startswith(">>>") else "Notes"]
                here += [""] if here else []
        here.append(text)
    return kept


def with_tables(lines: list[str]) -> list[str]:
    """Paragraphs that are set in columns become blocks that keep their spaces.

    >>> with_tables(["One.", "", "a   first", "b   second", ""])
    ['One.', '', '::', '', '    a   first', '    b   second', '']
    """
    out: list[str] = []
    paragraphs = re.split(r"\n[ ]*\n", "\n".join(lines))
    for i, text in enumerate(paragraphs):
        rows = text.split("\n")
        inside = any(re.match(r"-{3,}$", row.strip()) for row in rows) or ">>>" in text
        columns = any(re.search(r"\S {3,}\S", row) for row in rows)
        if columns and not inside and not text.startswith(" "):
            out += ["::", "", *(("    " + row).rstrip() for row in rows)]
        else:
            out += rows
        if i < len(paragraphs) - 1:
            out.append("")
    return out


def escaped(line: str) -> str:
    """One line with its markup escaped, literals left alone."""
    parts = re.split(r"(``.+?``)", line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([|*`])", r"\\\1", parts[i])
        parts[i] = re.sub(r"(?<=\w)_(?!\w)", r"\\_", parts[i])
    return "".join(parts)


def on_docstring(app: Any, what: str, name: str, value: Any, options: Any, lines: list) -> None:
    """Escape a docstring before numpydoc reads it."""
    lines[:] = plain(lines)


def on_read(app: Any, doctree: Any) -> None:
    """Let every node belong to its page.

    ``eval-rst`` leaves nodes that belong to a document of its own, whose settings hold the whole
    environment: each page would be stored, and loaded again, with all others inside.
    """
    for node in doctree.findall():
        node.document = doctree


def setup(app: Any) -> dict[str, bool]:
    """Come before numpydoc, whose priority is 500."""
    app.connect("autodoc-process-docstring", on_docstring, priority=400)
    app.connect("doctree-read", on_read, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

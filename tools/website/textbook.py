"""The textbook on the site: one page for each chapter, with the source of every method on it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tools.website.names import BOOK, methods

START = re.compile(r"^- ``(\w+)``", re.MULTILINE)


@cache
def chapters() -> list[str]:
    """The chapters in the order of a course, as the textbook's own docstring lists them."""
    return START.findall(docstring(BOOK / "__init__.py"))


@cache
def docstring(path: Path) -> str:
    """The docstring of a file."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def title(path: str) -> str:
    """The first line of a method's docstring, without its full stop."""
    return docstring(BOOK / f"{path}.py").split("\n")[0].rstrip(".")


def called(path: str) -> str:
    """A method's name in words: its title up to the first colon or comma.

    >>> called("kernels/smo"), called("trees/c45")
    ('SMO', 'C4.5')
    """
    return re.split(r"[:,]", title(path))[0]


def anchor(path: str) -> str:
    """The label of a method on its chapter's page: ``textbook-shrinkage-ridge``."""
    return "textbook-" + path.replace("/", "-")


def include(path: str, up: str) -> str:
    """The fence that shows a method; ``up`` leads from the page to the root of the repository."""
    return (
        f"```{{literalinclude}} {up}src/pellucid/textbook/{path}.py\n:language: python\n"
        f":caption: src/pellucid/textbook/{path}.py\n```\n"
    )


def write(folder: Path) -> list[Path]:
    """Write the chapters; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    users: dict[str, list[str]] = {}
    for name, paths in methods()[0].items():
        for path in paths:
            users.setdefault(path, []).append(name)
    written = []
    for chapter in chapters():
        paths = sorted(
            f"{chapter}/{p.stem}" for p in (BOOK / chapter).glob("*.py") if p.stem != "__init__"
        )
        about = docstring(BOOK / chapter / "__init__.py")
        head = re.split(r"[:.]", about.split("\n")[0])[0]
        text = [f"# {head}\n", about.replace("``", "`") + "\n"]
        for path in paths:
            text.append(f"({anchor(path)})=\n## {called(path)}\n")
            fast = ", ".join(f"`{name}`" for name in users.get(path, ()))
            text.append(f"A test holds it equal to {fast}.\n" if fast else "")
            text.append(include(path, "../../"))
        written.append(folder / f"{chapter}.md")
        written[-1].write_text("\n".join(text), encoding="utf-8")
    listing = "\n".join(chapters())
    intro = docstring(BOOK / "__init__.py").split("The chapters")[0].replace("``", "`")
    written.append(folder / "index.md")
    written[-1].write_text(
        f"# The textbook\n\n{intro}\n\n```{{toctree}}\n:maxdepth: 1\n\n{listing}\n```\n", "utf-8"
    )
    return written

"""The public names, where each lives, and which page and which textbook files belong to it."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "src/pellucid/textbook"
ALGORITHMS = ROOT / "docs/algorithms"


class Public(NamedTuple):
    """One public thing, under the shortest path by which it is imported."""

    package: str  # "pellucid" or "pellucid.linear"
    name: str
    module: str  # where it is written: "pellucid.linear.lasso.lasso"

    @property
    def page(self) -> str:
        """Its page of the reference, seen from the root of the site."""
        return f"api/{self.package}.{self.name}"

    @property
    def source(self) -> str:
        """Its file below ``src/``."""
        path = self.module.replace(".", "/")
        is_file = (ROOT / "src" / f"{path}.py").exists()  # data/tables is a folder of tables
        return f"{path}.py" if is_file else f"{path}/__init__.py"


@cache
def packages() -> tuple[str, ...]:
    """The packages with a table of public names."""
    import pellucid

    return ("pellucid", *(f"pellucid.{name}" for name in pellucid._PACKAGES))


@cache
def tables() -> dict[str, dict[str, str]]:
    """Package -> public name -> module that holds it; from the tables, without importing them."""
    found = {}
    for package in packages():
        module = importlib.import_module(package)
        homes = module._HOME if hasattr(module, "_HOME") else {}
        found[package] = {
            name: f"{package}.{homes[name]}" if name in homes else package
            for name in module.__all__
            if name not in {p.rpartition(".")[2] for p in packages()} or name in homes
        }
    return found


@cache
def public() -> dict[str, Public]:
    """Every public thing once, by its shortest path; the deep ones too, which need PyTorch."""
    found: dict[str, Public] = {}
    seen: set[tuple[str, str]] = set()
    for package, names in tables().items():
        for name, module in names.items():
            if (module, name) not in seen:
                seen.add((module, name))
                found[f"{package}.{name}"] = Public(package, name, module)
    return found


def by_name(name: str) -> Public | None:
    """A public thing by the last part of its path, or by its path below ``pellucid``."""
    things = public()
    if f"pellucid.{name}" in things:
        return things[f"pellucid.{name}"]
    return next((thing for thing in things.values() if thing.name == name), None)


@cache
def methods() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Name -> files of the textbook (``shrinkage/ridge``), and name -> why it has none."""
    files: dict[str, list[str]] = {}
    reasons = {}
    for line in (BOOK / "methods.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([\w.]+)(:| -) (.+)", line)
            assert match, line
            name, sign, rest = match.groups()
            name = name.rpartition(".")[2]
            if sign == ":":
                files.setdefault(name, []).extend(rest.split())
            else:
                reasons[name] = rest
    return files, reasons


@cache
def pages() -> dict[str, str]:
    """Page of an algorithm, as ``linear/lasso/lasso``, -> its text."""
    return {
        str(path.relative_to(ALGORITHMS).with_suffix("")): path.read_text(encoding="utf-8")
        for path in sorted(ALGORITHMS.rglob("*.md"))
        if path.name != "index.md"
    }


@cache
def names_of(page: str) -> list[str]:
    """The public names that a page is about: its own, then those in its headings.

    A name with a page of its own belongs there. Where neither the file nor a heading names one,
    those that its text sets as code are meant. A plain word of a heading counts where the text sets
    it as code too.
    """
    text = pages()[page]
    stem, owners = page.rpartition("/")[2].replace("_", ""), stems()
    known = {thing.name: thing for thing in reversed(public().values())}
    found = [name for name in known if name.lower() == stem]
    found += re.findall(r"`pellucid\.(?:\w+\.)?(\w+)`", text.split("\n## ")[0])
    for heading in re.findall(r"^#+ .*$", text, re.MULTILINE):
        found += re.findall(r"\w+", heading)
    own = {name for name in found[:1] if name in known}
    wanted = [
        name
        for name in found
        if name in known
        and (name in own or not is_word(name))
        and owners.get(name.lower(), page) == page
    ]
    wanted = wanted or [name for name in re.findall(r"`(\w+)[`(]", text) if name in known][:12]
    words = [
        name for name in found if name in known and name[0].isupper() and name.lower() not in owners
    ]
    wanted += [name for name in words if re.search(rf"`(pellucid\.)?{name}[`(]", text)]
    return list(dict.fromkeys(wanted))


@cache
def stems() -> dict[str, str]:
    """The last part of a page's path, without underscores, -> the page."""
    return {page.rpartition("/")[2].replace("_", ""): page for page in pages()}


def is_word(name: str) -> bool:
    """Whether a name could be a plain word of a heading, as Objective or Mixture.

    >>> is_word("Mixture"), is_word("KMeans"), is_word("best_split")
    (True, False, False)
    """
    return not re.search(r"[a-z][A-Z]|[A-Z]{2}[a-zA-Z]|_", name)


def methods_of(page: str) -> list[str]:
    """The textbook files that a page links to, in its order."""
    linked = re.findall(r"pellucid/textbook/([a-z_]+/[a-z_0-9]+)\.py", pages()[page])
    return list(dict.fromkeys(linked))


def title_of(text: str) -> str:
    """The first heading of a page."""
    match = re.search(r"^# (.+)$", text, re.MULTILINE)
    return match[1].strip() if match else ""


def load(thing: Public) -> Any:
    """The object itself."""
    return getattr(importlib.import_module(thing.package), thing.name)

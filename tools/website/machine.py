"""The machine: the public names of a page, a call that runs alone with its card, what it costs."""

from __future__ import annotations

import ast
import doctest
import inspect
import json
import re
from functools import cache
from typing import Any

from tools.website import names
from tools.website.charts import RESULTS
from tools.website.names import ROOT, Public

REFERENCES = re.compile(r"^References?: (.*?)(?=\n\s*\n|\Z)", re.MULTILINE | re.DOTALL)


def part(name: str, to_root: str) -> str:
    """The section of one page."""
    things = [thing for n in names.names_of(name) if (thing := names.by_name(n)) is not None]
    if not things:
        return "Functions only: their calls are in the sections below."
    text = []
    called = next((code for thing in things if (code := call(thing))), None)
    if called:
        text += ["A call that runs alone, and what the fit says of itself:", ""]
        text += [f"```python\n{called}```", ""]
    text += ["| parameters, attributes, methods | source |", "|---|---|"]
    for thing in things:
        reference = f"[`{thing.package}.{thing.name}`]({to_root}{thing.page}.md)"
        source = f"[{thing.source.removeprefix('pellucid/')}]({to_root}../src/{thing.source})"
        text.append(f"| {reference} | {source} |")
    text += ["", measured(tuple(thing.name for thing in things), to_root)]
    return "\n".join(text)


def call(thing: Public) -> str | None:
    """The docstring's example up to its first fit, then the card of that fit; None without one."""
    if thing.module.startswith("pellucid.deep."):
        return None  # needs PyTorch
    value = names.load(thing)
    if not inspect.isclass(value) or not hasattr(value, "card"):
        return None
    lines: list[str] = []
    made: set[str] = set()  # variables that hold the estimator before it is fitted
    for example in doctest.DocTestParser().get_examples(inspect.getdoc(value) or ""):
        tree = ast.parse(example.source)
        fit = next((node for node in ast.walk(tree) if fits(node, thing.name, made)), None)
        if fit is None:
            made |= {ast.unparse(node.targets[0]) for node in tree.body if makes(node, thing.name)}  # type: ignore[attr-defined]
            lines.append(example.source.rstrip())
            continue
        known = isinstance(tree.body[0], ast.Assign) and tree.body[0].value is fit
        target = ast.unparse(tree.body[0].targets[0]) if known else "model"  # type: ignore[attr-defined]
        fit.func.attr = "fit"  # type: ignore[attr-defined]
        lines.append(f"{target} = {wrapped(fit)}")
        return "\n".join([*lines, f"print({target}.card())"]) + "\n"
    return None


def fits(node: ast.AST, name: str, made: set[str]) -> bool:
    """Whether a node is ``Name(...).fit(...)``, the same of a variable, or a relative of it."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    maker = node.func.value
    ours = ast.unparse(maker) in made or is_call_of(maker, name)
    return ours and node.func.attr in {"fit", "fit_transform", "fit_predict"}


def makes(node: ast.stmt, name: str) -> bool:
    """Whether a statement is ``variable = Name(...)``."""
    return isinstance(node, ast.Assign) and is_call_of(node.value, name)


def is_call_of(node: ast.AST, name: str) -> bool:
    """Whether a node is ``Name(...)``."""
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == name


def wrapped(node: Any) -> str:
    """The code of a call; a long one with its arguments on lines of their own."""
    code = ast.unparse(node)
    if len(code) <= 90:
        return code
    given = [ast.unparse(a) for a in node.args]
    given += [f"{k.arg}={ast.unparse(k.value)}" for k in node.keywords]
    body = "".join(f"    {argument},\n" for argument in given)
    return f"{ast.unparse(node.func)}(\n{body})"


@cache
def cases() -> list[dict[str, Any]]:
    """What was measured."""
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def measured(wanted: tuple[str, ...], to_root: str) -> str:
    """One line: the first case named after the page's classes, with the fastest like peer."""
    for name in wanted:
        for case in cases():
            if not re.match(rf"{name}\b", case["case"]):
                continue
            rows = [row for row in case["rows"] if row.get("seconds") and row.get("same")]
            ours = [row for row in rows if row["contender"].startswith("pellucid")]
            peers = [row for row in rows if not row["contender"].startswith("pellucid")]
            if ours and peers:
                best = min(peers, key=lambda row: row["seconds"])
                return (
                    f"Measured {case['date']}, {case['case']}: {ours[0]['seconds']:.2g} s; "
                    f"{best['contender']} {best['seconds']:.2g} s "
                    f"([all cases]({to_root}benchmarks.md))."
                )
    return f"What was measured: [benchmarks]({to_root}benchmarks.md)."


def references(name: str) -> str:
    """The references of the files that hold the page's names and methods, each once."""
    files = [names.BOOK / f"{path}.py" for path in names.methods_of(name)]
    things = [names.by_name(n) for n in names.names_of(name)]
    files += [ROOT / "src" / thing.source for thing in things if thing is not None]
    found: dict[str, None] = {}
    for path in files:
        doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        for text in REFERENCES.findall(doc):
            found[" ".join(text.replace("``", "`").replace("$", r"\$").split())] = None
    return "\n".join(f"- {text}" for text in found)

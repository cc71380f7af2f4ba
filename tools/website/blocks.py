"""Run the Python blocks of the pages, each alone, and keep what they print and draw.

A block is text between ```` ```python ```` fences without prompts. What it printed is shown under
it, and the value that it ends in, as at a prompt; where it ends in ``.plot()`` the picture is shown
instead, with the picture's own words for readers who cannot see it. Results are kept by the text of
the block and the state of ``src/``.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import os
import re
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^(```+|~~~+).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
MOST_SVG = 400_000  # bytes; a larger drawing becomes a PNG


def python_blocks(text: str) -> list[str]:
    """The blocks of a page that run as they stand."""
    return [code for code in BLOCK.findall(text) if ">>>" not in code]


def outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Apply a change to what is not code.

    >>> outside_fences("a\\n````{b}\\n```\\na\\n```\\n````\\na", str.upper)
    'A\\n````{b}\\n```\\na\\n```\\n````\\nA'
    """
    parts, at = [], 0
    for fence in FENCED.finditer(text):
        parts += [change(text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join([*parts, change(text[at:])])


def key_of(code: str, state: str) -> str:
    """The name under which the result of a block is kept."""
    return hashlib.sha256(f"{state}\n{code}".encode()).hexdigest()[:20]


def run_block(code: str) -> dict[str, Any]:
    """Run a block in an empty namespace: what it prints, draws and says about its drawing."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    tree = ast.parse(code)
    last, alt = None, ""
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body.pop().value  # type: ignore[attr-defined]
    scope: dict[str, Any] = {"__name__": "__page__"}
    printed = io.StringIO()
    plt.close("all")
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(tree, "<page>", "exec"), scope)
        if is_plot(last):
            record = eval(compile(ast.Expression(last.func.value), "<page>", "eval"), scope)
            alt = getattr(record, "alt", "")
            record.plot()
        elif last is not None:
            value = eval(compile(ast.Expression(last), "<page>", "eval"), scope)
            printed.write("" if value is None else f"{value!r}\n")
        image = save_figure(plt, mpl) if plt.get_fignums() else None
    plt.close("all")
    return {"printed": printed.getvalue(), "alt": alt, "image": image}


def is_plot(node: Any) -> bool:
    """Whether an expression is ``something.plot()``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "plot"
        and not node.args
    )


def save_figure(plt: Any, mpl: Any) -> tuple[str, bytes]:
    """The last figure as SVG, or as PNG where that is smaller by far."""
    figure = plt.figure(plt.get_fignums()[-1])
    out = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "pellucid", "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    if len(out.getvalue()) <= MOST_SVG:
        return "svg", out.getvalue()
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=150, metadata={"Software": None})
    return "png", out.getvalue()


def run_and_keep(code: str, name: str, folder: str) -> str | None:
    """Run one block and write its result; the traceback where it failed."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as empty:
        os.chdir(empty)
        try:
            result = run_block(code)
        except Exception:  # noqa: BLE001 - whatever a page does is reported with its page
            return traceback.format_exc(limit=-3)
        finally:
            os.chdir(here)
    if result["image"] is not None:
        kind, data = result["image"]
        result["image"] = f"{name}.{kind}"
        (Path(folder) / result["image"]).write_bytes(data)
    (Path(folder) / f"{name}.json").write_text(json.dumps(result))
    return None


def run_all(codes: Iterable[tuple[str, str]], state: str, folder: Path, jobs: int) -> list[str]:
    """Run what has no result yet; ``codes`` are pairs of page and block. The failures, in words."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted: dict[str, tuple[str, str]] = {}
    for page, code in codes:
        name = key_of(code, state)
        if not (folder / f"{name}.json").exists():
            wanted.setdefault(name, (page, code))
    failures = []
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        runs = {
            pool.submit(run_and_keep, code, name, str(folder)): (page, code)
            for name, (page, code) in wanted.items()
        }
        for run, (page, code) in runs.items():
            problem = run.result()
            if problem:
                failures.append(f"{page}\n{code}\n{problem}")
    return failures


def kept(code: str, state: str, folder: Path) -> dict[str, Any]:
    """The result of a block that was run."""
    return json.loads((folder / f"{key_of(code, state)}.json").read_text())

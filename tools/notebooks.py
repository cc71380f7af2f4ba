"""Pages as notebooks: ``python tools/notebooks.py docs/course/*.md --out FOLDER [--execute]``.

A block of Python becomes a cell, a source file that the page includes and a lab that it embeds do
too; the rest stays text. With ``--execute`` the cells are run here, one after the other in one
scope, and what they print, return and draw is written into the notebook: no Jupyter is needed. A
cell that fails ends the run with its error.
"""

import argparse
import ast
import base64
import contextlib
import io
import json
import re
import sys
import time
from pathlib import Path

BLOCK = re.compile(r"^```(\{?[\w-]+\}?)[ ]*([^\n]*)\n(.*?)^```[ ]*$\n?", re.DOTALL | re.MULTILINE)
PYTHON = {"display_name": "Python 3", "language": "python", "name": "python3"}


def cell(kind, number, source):
    """One cell of nbformat 4.5."""
    found = {
        "cell_type": kind,
        "id": f"cell-{number}",
        "metadata": {},
        "source": source.strip("\n"),
    }
    return found | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def without_prompts(code):
    """Doctest examples as plain statements; what they print is left out.

    >>> without_prompts(">>> 1 + 1\\n2\\n>>> for i in []:\\n...     pass\\n")
    '1 + 1\\nfor i in []:\\n    pass'
    """
    if ">>> " not in code:
        return code
    lines = [line.strip() if line.startswith(">>>") else line for line in code.splitlines()]
    return "\n".join(line[4:] for line in lines if line.startswith((">>> ", "... ", "...")))


def code_of(kind, argument, body, folder):
    """The Python that a block of a page stands for, or None."""
    if kind == "python":
        return without_prompts(body)
    if kind == "{literalinclude}" and argument.strip().endswith(".py"):
        return (folder / argument.strip()).resolve().read_text(encoding="utf-8")
    if kind == "{lab}":
        name = argument.strip()
        lines = [
            "from pellucid.lab.page import make_trace",
            "from pellucid.lab.pages import page_of",
        ]
        return "\n".join([*lines, "", f'make_trace(page_of("{name}"))  # the lab, in this cell'])
    return None


def notebook_of(page):
    """The notebook of a page: cells without outputs."""
    text, cells, at = page.read_text(encoding="utf-8"), [], 0
    words = ""
    for block in BLOCK.finditer(text):
        code = code_of(block[1], block[2], block[3], page.parent)
        words += text[at : block.start()] + ("" if code else block[0])
        at = block.end()
        if code:
            cells += [cell("markdown", len(cells), words)] if words.strip() else []
            cells.append(cell("code", len(cells), code))
            words = ""
    words += text[at:]
    cells += [cell("markdown", len(cells), words)] if words.strip() else []
    metadata = {"kernelspec": PYTHON, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def shown(value):
    """The forms of a value that a notebook keeps."""
    if hasattr(value, "_repr_mimebundle_"):
        return dict(value._repr_mimebundle_(None, None))
    forms = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_") and (html := value._repr_html_()) is not None:
        forms["text/html"] = html
    return forms


def drawings():
    """The figures that a cell left open, as PNG."""
    import matplotlib.pyplot as plt

    found = []
    for number in plt.get_fignums():
        file = io.BytesIO()
        plt.figure(number).savefig(file, format="png", dpi=80)
        data = {"image/png": base64.b64encode(file.getvalue()).decode(), "text/plain": "<Figure>"}
        found.append({"output_type": "display_data", "data": data, "metadata": {}})
    plt.close("all")
    return found


def run(source, scope, count):
    """The outputs of one cell."""
    tree, printed, value = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), scope)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), scope)
    outputs = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    figures = drawings()
    if value is not None and not (figures and type(value).__module__.startswith("matplotlib")):
        found = {"output_type": "execute_result", "execution_count": count, "metadata": {}}
        outputs.append({**found, "data": shown(value)})
    return outputs + figures


def execute(book):
    """Run all cells in one scope and keep their outputs."""
    import matplotlib as mpl

    mpl.use("Agg")
    scope, count = {"__name__": "__main__"}, 0
    for found in book["cells"]:
        if found["cell_type"] == "code":
            count += 1
            found["execution_count"] = count
            found["outputs"] = run(found["source"], scope, count)
    return book


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder for the notebooks")
    parser.add_argument("--execute", action="store_true", help="run the cells and keep the outputs")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    for page in given.pages:
        begun, book = time.perf_counter(), notebook_of(page)
        book = execute(book) if given.execute else book
        path = given.out / f"{page.stem}.ipynb"
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path}: {len(book['cells'])} cells, {time.perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    sys.exit(main())

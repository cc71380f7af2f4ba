"""Pages become notebooks: their blocks are cells, and the cells run."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "docs/course").glob("[0-9]*.md"))


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools/notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_blocks_become_cells(tool, tmp_path):
    (tmp_path / "f.py").write_text("a = 3\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n\n```{literalinclude} f.py\n```\n\nText\n\n```python\n>>> a + 1\n4\n```\n"
        "```text\nno code\n```\n\n```python\nprint(a)\na * 2\n```\n"
    )
    book = tool.execute(tool.notebook_of(page))
    kinds = [cell["cell_type"] for cell in book["cells"]]
    assert kinds == ["markdown", "code", "markdown", "code", "markdown", "code"]
    assert "no code" in book["cells"][4]["source"]
    assert book["cells"][3]["outputs"][0]["data"] == {"text/plain": "4"}
    printed, result = book["cells"][5]["outputs"]
    assert (printed["text"], result["data"]["text/plain"]) == ("3\n", "6")


@pytest.mark.parametrize("page", [pytest.param(p, id=p.stem) for p in CHAPTERS])
def test_every_chapter_is_a_notebook(tool, page):
    book = tool.notebook_of(page)
    assert sum(cell["cell_type"] == "code" for cell in book["cells"]) >= 2
    assert json.loads(json.dumps(book))["nbformat"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("page", [pytest.param(p, id=p.stem) for p in CHAPTERS])
def test_every_chapter_runs(tool, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book = tool.execute(tool.notebook_of(page))
    outputs = [o for cell in book["cells"] for o in cell.get("outputs", ())]
    assert any(
        "image/png" in o.get("data", {}) or "text/html" in o.get("data", {}) for o in outputs
    )


@pytest.mark.slow
def test_the_executed_notebook_says_what_its_cells_say_today(tool, tmp_path, monkeypatch):
    """Pictures and times differ from machine to machine, what is written does not."""
    monkeypatch.chdir(tmp_path)
    kept = json.loads((ROOT / "examples/rich_forms.ipynb").read_text())
    fresh = tool.execute(tool.notebook_of(ROOT / "docs/notebooks.md"))
    renew = "python tools/notebooks.py docs/notebooks.md --execute --out FOLDER renews it"
    assert said(kept) == said(fresh), renew


def said(book):
    """The text form of every output of a notebook, and what was printed."""
    outputs = [o for cell in book["cells"] for o in cell.get("outputs", ())]
    return [o["text"] if o["output_type"] == "stream" else o["data"]["text/plain"] for o in outputs]


def test_the_executed_notebook_shows_every_rich_form(tool):
    """The notebook in examples is the page of today, and each of its cells shows something."""
    book = json.loads((ROOT / "examples/rich_forms.ipynb").read_text())
    fresh = tool.notebook_of(ROOT / "docs/notebooks.md")
    assert [c["source"] for c in book["cells"]] == [c["source"] for c in fresh["cells"]]
    outputs = [o for cell in book["cells"] for o in cell.get("outputs", ())]
    results = [o["data"] for o in outputs if o["output_type"] == "execute_result"]
    rich = [forms["text/plain"] for forms in results if "text/html" in forms]
    assert all(len(text) <= 500 for text in rich)
    kinds = ("<Scatter", "<Steps", "Trace(", "Card(", "Linear", "History(", "Comparison(", "CPT(")
    for kind in (*kinds, "MDP(", "<study of"):
        assert any(text.startswith(kind) for text in rich), kind

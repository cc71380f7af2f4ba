"""The code of the README runs, in the order of the page and in an empty folder."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block_runs(number, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"README block {number + 1}", "exec"), {"__name__": "readme"})


def test_three_tours_of_at_most_twenty_lines_on_two_screens():
    assert len(BLOCKS) == 3
    assert all(block.count("\n") <= 22 for block in BLOCKS)
    assert README.count("\n") <= 110


def test_its_figures_are_those_that_the_script_writes():
    done = subprocess.run([sys.executable, "tools/figures.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert "://" in target or (ROOT / target).exists(), target

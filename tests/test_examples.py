"""Every example runs in an empty folder, and the demonstration keeps its promises."""

import os
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

import pellucid

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(path, folder):
    return subprocess.run(
        [sys.executable, "-W", "error", path],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_runs(name, tmp_path):
    done = run(EXAMPLES / name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout


class Tags(HTMLParser):
    """Collects what could reach outside the page, and whether tags are closed."""

    def __init__(self):
        super().__init__()
        self.open, self.outside = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        if tag in ("script", "link", "iframe", "img"):
            self.outside.append(tag)
        self.outside += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_demo_leaves_a_report_and_a_model(tmp_path):
    done = run(EXAMPLES / "demo.py", tmp_path)
    report = tmp_path / "pellucid-demo" / "report.html"
    assert f"The report is {report.relative_to(tmp_path)}" in done.stdout
    page = report.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.outside == []
    assert " ".join(done.stdout.splitlines()[:2]).split(" Guess")[0] in page
    model = pellucid.load(tmp_path / "pellucid-demo" / "model.pellucid")
    assert model.classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]
    again = run(EXAMPLES / "demo.py", tmp_path)
    assert again.stdout == done.stdout
    assert report.read_text(encoding="utf-8") == page


def test_wilson():
    spec = spec_from_file_location("demo", EXAMPLES / "demo.py")
    demo = module_from_spec(spec)
    spec.loader.exec_module(demo)
    assert_allclose(demo.wilson(68, 100), (0.5833738139, 0.7633085268), rtol=1e-9)
    assert_allclose(demo.wilson(17, 20), (0.6395811353, 0.9476312541), rtol=1e-9)
    assert_allclose(demo.wilson(0, 10), (0, 0.2775327999), atol=1e-10)

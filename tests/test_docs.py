"""Every public name is documented by an example that runs; every estimator has its page."""

import doctest
import importlib
import inspect
import pkgutil
import re
import sys
from functools import partial
from pathlib import Path

import pytest
from benchmark_names import names_in, names_we_run
from estimators import DEEP, DEEP_REASON, every_class

import pellucid

ROOT = Path(__file__).parent.parent
PACKAGES = ("", *pellucid._PACKAGES)


def _public_names():
    for package in PACKAGES:
        module = importlib.import_module(f"pellucid.{package}".rstrip("."))
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                yield pytest.param(value, id=f"{module.__name__}.{name}")


@pytest.mark.parametrize("value", list(_public_names()))
def test_public_names_have_an_example(value):
    text = inspect.getdoc(value) or ""
    assert text, "no docstring"
    if inspect.isclass(value) and issubclass(value, Exception | Warning):
        return
    assert doctest.DocTestParser().get_examples(text), "no running example"


@pytest.mark.parametrize("name", list(every_class()))
def test_every_parameter_and_page(name):
    cls = every_class()[name]
    text = inspect.getdoc(cls)
    for parameter in inspect.signature(cls).parameters:
        assert re.search(rf"\b{parameter}\b", text), f"{name}: {parameter} is not documented"
    pages = {page.stem.replace("_", ""): page for page in (ROOT / "docs/algorithms").rglob("*.md")}
    page = pages.get(name.lower())
    if page is not None:
        assert name in page.read_text()
        return
    heading = re.compile(rf"^#+ .*\b{name}\b", flags=re.MULTILINE)  # small relatives share a page
    assert any(heading.search(page.read_text()) for page in pages.values()), (
        f"docs/algorithms has no page or heading for {name}"
    )


@pytest.mark.parametrize("name", list(every_class()))
def test_every_estimator_has_a_benchmark(name):
    """Our own contender of some case reaches the class; a peer's class of that name is none."""
    assert name in names_we_run()


def test_a_peer_of_that_name_is_no_benchmark():
    def peer(X):
        from sklearn.svm import SVC

        return SVC().fit(X)

    def ours(X):
        from pellucid import LinearSVC

        return LinearSVC().fit(X)

    def called(name, X):
        return getattr(pellucid, name)().fit(X)

    assert "SVC" not in names_in(peer, set())
    assert "LinearSVC" in names_in(ours, set())
    assert "KMeans" in names_in(partial(called, "KMeans"), set())
    assert "KMeans" in names_in(lambda X: called("KMeans", X), set())


def _pages():
    return [pytest.param(p, id=str(p.relative_to(ROOT))) for p in sorted(ROOT.glob("docs/**/*.md"))]


def _skip_deep(page):
    if not DEEP and "from pellucid.deep import" in page.read_text():
        pytest.skip(DEEP_REASON)


FENCE = re.compile(r"^```python\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", _pages())
def test_examples_run_alone(page):
    """Examples on the pages are doctests; each block runs without those before it."""
    _skip_deep(page)
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    text = page.read_text()
    assert ">>>" not in FENCE.sub("", text), "an example outside of a ```python block"
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start(1))
        test = parser.get_doctest(match[1], {}, page.name, str(page), line)
        runner.run(test, out=lambda text: None)
    assert runner.failures == 0, f"{runner.failures} examples of {page.name} fail"


@pytest.mark.parametrize("page", _pages())
def test_blocks_run_alone(page, tmp_path, monkeypatch):
    """And ```python blocks without prompts; one that needs the reader's own files says ```py."""
    _skip_deep(page)
    monkeypatch.chdir(tmp_path)
    for block in FENCE.findall(page.read_text()):
        if ">>>" not in block:
            exec(compile(block, str(page), "exec"), {"__name__": "page"})
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("page", _pages())
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_no_module_is_orphaned():
    """Every module imports, so that nothing rots unseen."""
    for module in pkgutil.walk_packages(pellucid.__path__, "pellucid."):
        torch_only = module.name.startswith("pellucid.deep.") and not DEEP
        if not module.name.endswith("__main__") and not torch_only:
            importlib.import_module(module.name)

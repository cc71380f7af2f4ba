"""The site as it was built by ``make site``: links, pages, and what Chromium makes of it offline.

``PELLUCID_AXE`` may name axe-core's ``axe.min.js``; its serious findings then fail the test.
"""

import os
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from site_browser import Tab

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("PELLUCID_SITE", ROOT / "build/site/html"))
LASSO = "algorithms/linear/lasso/lasso.html"
CHAPTER = "course/02-least-squares.html"
LONG = "algorithms/kernel/sparse_gaussian_process_regressor.html"  # a long title
DEEP = "algorithms/deep/deep.html"  # no picture, four pages of the lab
LOOKED_AT = ["index.html", CHAPTER, LASSO, LONG, DEEP, "gallery/index.html", "topics.html"]
LOOKED_AT += ["start/analyst.html", "benchmarks.html", "api/pellucid.KMeans.html", "study.html"]
LOOKED_AT += ["guide/index.html"]  # the page before it has a long name
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="run make site first"),
]
browser = pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")


class Links(HTMLParser):
    """Targets and anchors of a page; what it would fetch from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors, self.remote = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        for key in ("href", "src"):
            address = given.get(key) or ""
            if urlsplit(address).scheme in ("http", "https") or address.startswith("//"):
                if tag != "a" and given.get("rel") != "canonical":
                    self.remote.append(address)
            elif address and not address.startswith(("data:", "mailto:", "javascript:")):
                self.targets.append(address)


def test_every_link_leads_somewhere_and_nothing_is_remote():
    own = [p for p in SITE.rglob("*.html") if "lab" not in p.relative_to(SITE).parts]
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in own}
    broken, reached = [], {SITE / "index.html", SITE / "search.html", SITE / "genindex.html"}
    for path, links in pages.items():
        assert not links.remote, (path, links.remote)
        for address in links.targets:
            parts = urlsplit(address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                broken.append((str(path.relative_to(SITE)), address))
            elif target in pages:
                reached.add(target)
                anchor = unquote(parts.fragment)
                if anchor and anchor not in pages[target].anchors:
                    broken.append((str(path.relative_to(SITE)), address))
    assert broken == []
    assert sorted(str(p.relative_to(SITE)) for p in pages.keys() - reached) == []


def test_every_page_of_a_method_has_a_picture_or_a_page_of_the_lab():
    pages = [*SITE.glob("course/[0-9]*.html"), *SITE.glob("algorithms/*/**/*.html")]
    pages += SITE.glob("gallery/*.html")
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    shown = re.compile(r'_images/|<figure class="lab"')
    assert len(texts) > 150
    assert [str(page) for page, text in texts.items() if not shown.search(text)] == []


def test_every_other_page_has_one_too_or_says_why_not():
    """Pages made from code and docstrings (api, _source) and for searching are left out."""
    lines = (Path(__file__).parent / "pages_without_pictures.txt").read_text().splitlines()
    said = {line.partition("|")[0].strip() for line in lines if not line.startswith("#")}
    folders = {name for name in said if name.endswith("/")}
    shown = re.compile(r'_images/|<figure class="(lab|bench)')
    plain, made = set(), ("api", "_source", "_static", "search", "genindex")
    for page in SITE.rglob("*.html"):
        name = page.relative_to(SITE).with_suffix("").as_posix()
        folder = f"{name.partition('/')[0]}/"
        if name.partition("/")[0] not in made:
            text = page.read_text(encoding="utf-8").partition("<article")[2]
            assert text, name
            plain |= set() if shown.search(text) else {folder if folder in folders else name}
    assert plain == said


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    found = Tab(tmp_path_factory.mktemp("chromium"))
    yield found
    found.close()


@browser
def test_search_finds_lasso_offline(tab):
    tab.open(SITE / "search.html", "?q=lasso")
    tab.until("document.querySelectorAll('#search-results li').length > 3")
    found = tab.js("[...document.querySelectorAll('#search-results li a')].map(a => a.href).join()")
    assert LASSO in found


@browser
def test_mathematics_is_rendered(tab):
    tab.open(SITE / CHAPTER)
    heights = tab.js(
        "[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().height)"
    )
    assert len(heights) > 5
    assert min(heights) > 5
    assert "$$" not in tab.js("document.body.innerText")


@browser
def test_an_embedded_lab_plays(tab):
    tab.open(SITE / CHAPTER)
    tab.js("document.querySelector('figure.lab iframe').scrollIntoView()")
    tab.until("document.querySelector('figure.lab iframe').getBoundingClientRect().width > 200")
    for _ in range(50):
        try:
            where = {"contextId": tab.inside("linear_regression")}
            tab.until("document.readyState == 'complete' && !!document.body", seconds=5, **where)
            break
        except (StopIteration, AssertionError):
            continue
    before = tab.js("document.body.innerText", **where)
    step = "[...document.querySelectorAll('button')].find(b => /^step|^next/i.test(b.innerText))"
    tab.js(f"{step}.click()", **where)
    tab.until(f"document.body.innerText != {before!r}", **where)


@browser
@pytest.mark.parametrize("page", LOOKED_AT)
def test_light_and_dark_wide_and_narrow(tab, page):
    assert (SITE / page).is_file()
    colours = {}
    for scheme in ("light", "dark"):
        for width in (1280, 390):
            tab.look(width, scheme)
            tab.open(SITE / page)
            assert tab.js("document.documentElement.scrollWidth") <= width, (page, scheme, width)
            title = "document.querySelector('h1').scrollWidth"
            assert tab.js(title) <= width, (page, scheme, width)
            room = "[...document.querySelectorAll('figure.lab iframe')].map(f => f.clientWidth)"
            assert min(tab.js(room), default=width) > 350, "a lab page needs the width of a phone"
            aside = "(s => s ? s.scrollWidth - s.clientWidth : 0)"
            aside += "(document.querySelector('.bd-sidebar-secondary'))"
            assert tab.js(aside) <= 0, "the list beside the page is cut off"
            turn = "[...document.querySelectorAll('.prev-next-title')].map(p => p.clientWidth)"
            assert max(tab.js(turn), default=0) < width / 2, "a link to the next page is cut off"
            colours[scheme] = tab.js("getComputedStyle(document.body).backgroundColor")
    assert colours["light"] != colours["dark"]


@browser
@pytest.mark.skipif("PELLUCID_AXE" not in os.environ, reason="PELLUCID_AXE names no axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", LOOKED_AT)
def test_no_serious_accessibility_fault(tab, page, scheme):
    assert (SITE / page).is_file()
    tab.look(1280, scheme)
    tab.open(SITE / page)
    tab.js(Path(os.environ["PELLUCID_AXE"]).read_text(encoding="utf-8") + ";0")
    found = tab.js(
        "axe.run({iframes: false}).then(r => r.violations"
        ".filter(v => ['serious', 'critical'].includes(v.impact))"
        ".map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html).join(' ')))"
    )
    assert found == []


@browser
def test_nothing_was_asked_of_the_network(tab):
    assert [url for url in tab.requests if not url.startswith(("file:", "data:", "blob:"))] == []

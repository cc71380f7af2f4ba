"""Reports of real studies in Chromium: on a desktop and a phone, light and dark, without a network.

``PELLUCID_AXE`` may name axe-core's ``axe.min.js``; its serious findings then fail the test.
"""

import os
import shutil
from itertools import product
from pathlib import Path

import pytest
from site_browser import Tab

import pellucid
from pellucid.data import load_table

PUBLIC = Path(__file__).parents[1] / "study" / "public"
STUDIES = {
    "classes": lambda: (load_table("penguins"), "species"),
    "amounts": lambda: (PUBLIC / "house_prices.csv", "price"),
    "counts, groups": lambda: (PUBLIC / "epil.csv", "y"),
    "time": lambda: (PUBLIC / "economics.csv", "unemploy"),
}
LOOKS = list(product(("light", "dark"), (1280, 400)))
pytestmark = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="Chromium is not installed"
)
# What can be scrolled within may be wider than the screen; nothing else may.
WIDER = """[...document.querySelectorAll('body *')].filter(e => {
    for (let p = e; p; p = p.parentElement)
        if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return false;
    const box = e.getBoundingClientRect();
    return box.width && box.right > document.documentElement.clientWidth + 1;
}).map(e => e.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    tab = Tab(tmp_path_factory.mktemp("chromium"))
    yield tab
    tab.close()


@pytest.fixture(scope="module", params=STUDIES)
def page(request, tmp_path_factory):
    table, target = STUDIES[request.param]()
    record = pellucid.learn(table, target, effort="quick")
    path = tmp_path_factory.mktemp("report") / "report.html"
    record.report(path)
    return path


def test_nothing_is_cut_off_on_a_desktop_or_a_phone_light_or_dark(tab, page):
    paper = {}
    for scheme, width in LOOKS:
        tab.look(width, scheme)
        tab.open(page)
        tab.js("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert tab.js("document.documentElement.scrollWidth") <= width, (scheme, width)
        assert tab.js(WIDER) == [], (scheme, width)
        paper[scheme] = tab.js("getComputedStyle(document.body).backgroundColor")
    assert paper["light"] != paper["dark"]


@pytest.mark.skipif("PELLUCID_AXE" not in os.environ, reason="PELLUCID_AXE names no axe.min.js")
def test_no_serious_accessibility_fault(tab, page):
    for scheme, width in LOOKS:
        tab.look(width, scheme)
        tab.open(page)
        tab.js(Path(os.environ["PELLUCID_AXE"]).read_text(encoding="utf-8") + ";0")
        found = tab.js(
            "axe.run().then(r => r.violations"
            ".filter(v => ['serious', 'critical'].includes(v.impact))"
            ".map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html).join(' ')))"
        )
        assert found == [], (scheme, width)


def test_nothing_is_asked_of_the_network(tab, page):
    tab.open(page)
    assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []

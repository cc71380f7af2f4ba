"""The lab in the reader's hands, in Chromium: stories, dragging, touch, links, phones.

``PELLUCID_AXE`` may name axe-core's ``axe.min.js``; its serious findings then fail a test.
"""

import functools
import json
import os
import re
import shutil
import threading
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from story_facts import trace_of
from symbol_links import links
from test_lab_browser import Browser

from pellucid.lab import exporting
from pellucid.lab.page import make_trace
from pellucid.lab.pages import ENTRIES, PAGES, page_of
from pellucid.lab.serving import served

pytestmark = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="Chromium is not installed"
)
FIRST = list({entry.folder: name for name, entry in reversed(ENTRIES.items())}.values())
WITH_ROWS = [name for name in PAGES if page_of(name).kind != "none"]
COUNTED = {"conjugate", "id3", "scree", "threshold", "tuning_on_test"}  # a move may leave counts
SOME = ("kmeans", "ridge", "bayesian_network", "value_iteration")  # pages of a small gallery


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def lab():
    with served() as running:
        yield running


@pytest.fixture(scope="module")
def gallery(tmp_path_factory):
    """An exported gallery of a few pages."""
    folder = tmp_path_factory.mktemp("gallery")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "PAGES", {name: PAGES[name] for name in SOME})
        exporting.export_gallery(folder)
    return folder


def window(browser, width, height):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=width < 500)  # fmt: skip


def opened(browser, lab, name, place=""):
    browser.open(lab.address(name, place=place))
    browser.wait("state.trace && !state.running")


def at(browser, panel, x, y):
    """Pixels of a place in a panel."""
    return browser.run(
        f"(() => {{ const f = [...document.querySelectorAll('#panels figure')].find((g) => "
        f"g.panel?.name === {json.dumps(panel)}), b = f.querySelector('svg')"
        f".getBoundingClientRect(); "
        f"return [b.left + f.scales.x({x}), b.top + f.scales.y({y})]; }})()"
    )


def click(browser, x, y):
    browser.mouse("mousePressed", x, y)
    browser.mouse("mouseReleased", x, y)


# ------------------------------------------------------------------- formulas

FLAT = """((formulas) => formulas.map((text) => setFormula(text, null)
  .map((line) => line.textContent).join(";")))"""


def letters(text):
    """A formula without what only says how to set it: scripts, strokes, roots, accents, spaces."""
    import unicodedata

    text = re.sub(r"(\d)e([−+-]?)0*(\d+)", r"\1·10\2\3", text).replace("·10+", "·10")
    text = unicodedata.normalize("NFKD", text).replace("·10-", "·10−")
    return re.sub(r"[\s_^()\[\],;/⁄√'′″ˆ‾˜|\u0302-\u0305]", "", text)


def test_no_formula_loses_a_character(browser, gallery):
    browser.open((gallery / "ridge.html").as_uri())
    formulas = []
    for name in FIRST:
        frames = make_trace(page_of(name)).frames
        formulas += [frame.formula for frame in (*frames[:3], frames[-1])]
    shown = browser.run(f"{FLAT}({json.dumps(formulas)})")
    for formula, text in zip(formulas, shown, strict=True):
        assert letters(text) == letters(formula)


def test_fractions_scripts_and_hats_are_set(browser, gallery):
    browser.open((gallery / "ridge.html").as_uri())
    made = "setRun(tokens({0}), null).innerHTML".format

    def tags(text):
        return re.findall(r"<(m\w+)", browser.run(made(json.dumps(text))))

    assert tags("Sxy / Sxx") == ["mfrac", "mrow", "mi", "mrow", "mi"]
    assert tags("c_3²") == ["msubsup", "mi", "mn", "mn"]
    assert tags("W_ij") == ["msub", "mi", "mrow", "mi", "mi"]
    assert "W_" not in browser.run("setFormula('W_ij = 1 where i and j', null)[0].textContent")
    assert tags("x̂") == ["mover", "mi", "mo"]
    assert tags("[(1, 2), (3, 4)]").count("mtd") == 4
    assert "msqrt" in tags("√(2 · 3)")
    assert tags("√(ln(N/δ) / (2 n))").count("mfrac") == 0  # a root is one line high
    assert tags("√(1/10) / 2").count("mfrac") == 1


LONG = {  # formulas, and how many pieces a line may be broken into
    "θ ← θ − H⁻¹ g = (−0.522, 2.38, 1.11) − (4.87e−07, −2.16e−06, −1.9e−06)": 5,
    "P(Burglary = True | MaryCalls = True, JohnCalls = True) = 0.284": 3,
    "x = (0.0629 · (−0.352) + (−0.0661) · (−0.633) + 0.12) / 1.41": 2,
}


def test_long_formulas_may_break_where_nothing_is_torn(browser, gallery):
    """Before a sign, behind a comma of a long list; never in a fraction or behind a sign."""
    browser.open((gallery / "ridge.html").as_uri())
    for formula, pieces in LONG.items():
        made = browser.run(f"setFormula({json.dumps(formula)}, null)[0].innerHTML")
        assert made.count("<math") == pieces, formula
    assert made.count("<mfrac") == 1
    line = browser.run("setFormula('error 0.1 = bias² 0.02 + variance', null)[0].textContent")
    assert "bias² " in line


LINKED = """(({ symbols, data, frame }) => {
  lab.page.symbols = symbols;
  const things = panelsOf({ data }, frame).flatMap(thingsOf), linked = {};
  setFormula(frame.formula, (node, symbol, sub, prime) => {
    const { found } = meantBy(symbol, sub, prime, things);
    if (found.length) linked[`${symbol} ${sub} ${prime}`] = [...new Set(found.map(labelOf))].sort();
    return node;
  });
  return linked;
})"""


@pytest.mark.parametrize("name", list(PAGES))
def test_symbols_stand_for_what_the_tests_take_them_for(browser, gallery, name):
    """The rule in Python, which asks every frame of every page, is that of the browser."""
    if not browser.run("typeof meantBy === 'function'"):
        browser.open((gallery / "ridge.html").as_uri())
    page = page_of(name)
    trace = trace_of(page, page.presets[0].name)
    told = trace.to_dict()
    for frame, plain in zip(trace.frames[:2], told["frames"][:2], strict=True):
        asked = {"symbols": page.symbols, "data": told["data"], "frame": plain}
        found = {" ".join(symbol): sorted(names) for symbol, names
                 in links(trace, frame, page.symbols).items() if names}  # fmt: skip
        assert browser.run(f"{LINKED}({json.dumps(asked)})") == found


# ------------------------------------------------------------------- stories


@pytest.mark.parametrize("name", list(PAGES))
def test_a_story_is_told_by_keys(browser, lab, name):
    """Every scene by the keyboard alone, each with its words, question and answer."""
    window(browser, 1400, 1000)
    opened(browser, lab, name)
    story = page_of(name).story
    for i, scene in enumerate(story):
        browser.wait(f"state.guided && state.scene === {i} && !state.running")
        browser.wait(f"document.querySelector('#story h2').textContent.startsWith('{scene.kind}')")
        said = browser.text("#story .say") + browser.text("#story legend")
        assert "{" not in said
        assert "–" not in said  # a number that no frame has
        browser.press(str(scene.question.answer + 1))
        assert browser.text("#story .why").startswith("Right. ")
        browser.press("n")
    assert browser.run("state.scene") == len(story) - 1
    assert browser.complaints == []


# ------------------------------------------------------------------- touch


@pytest.mark.parametrize("name", ["kmeans", "logistic_regression", "regression_tree"])
def test_axes_stay_while_twenty_points_are_drawn(browser, lab, name):
    """On a page of points, one of classes and one of values."""
    window(browser, 1400, 1000)
    opened(browser, lab, name, "step=0")
    rows = browser.run("state.trace.data.X.length")
    panel = browser.run("document.querySelector('#panels figure').panel.name")
    box = "[...document.querySelectorAll('#panels figure')][0].shown"
    before = browser.run(box)
    browser.click("#tool-draw")
    left, right, bottom, top = before
    for k in range(20):
        x, y = left + (right - left) * (0.02 + 0.048 * k), bottom + (top - bottom) * 0.97
        click(browser, *at(browser, panel, x, y))
    browser.wait("!state.running && state.again === null")
    assert browser.run("state.trace.data.X.length") == rows + 20
    assert browser.run(box) == before


PARTED = {"maximum_margin"}  # on the way no line may part the rows: a refusal, and no run


@pytest.mark.parametrize("name", WITH_ROWS)
def test_numbers_follow_a_row_that_is_dragged(browser, lab, name):
    """While the button is still down the frame is the one of the rows as they are."""
    window(browser, 1400, 1000)
    opened(browser, lab, name, "step=end")
    place = browser.run("(() => { const i = rows().held_out ? rows().held_out.indexOf(false) : 0;"
                        "return placeOf(rows(), i); })()")  # fmt: skip
    panel = browser.run("[...document.querySelectorAll('#panels figure')].find((f) => f.panel && "
                        "isData(f.panel)).panel.name")  # fmt: skip
    x, y = at(browser, panel, *place)
    shown = "JSON.stringify([document.querySelector('#formula').dataset.text, " \
            "document.querySelector('#numbers').textContent])"  # fmt: skip
    before = browser.run(shown)
    browser.mouse("mousePressed", x, y)
    way = 12 if x < 300 else -12  # towards the other rows
    for k in range(1, 16):
        browser.mouse("mouseMoved", x + way * k, y - 4 * k)
    browser.wait("state.coarse && !state.running")
    during = browser.run(shown)
    assert browser.run("state.coarse.frames.length") == 1
    same = "JSON.stringify(state.coarse.data.X) === JSON.stringify(state.data.X)"
    assert browser.run(same)
    browser.mouse("mouseReleased", x + 15 * way, y - 60)
    browser.wait("!state.coarse && !state.running && state.again === null")
    assert browser.run("state.trace.frames.length") > 1
    assert during != before or name in COUNTED
    assert browser.run("state.data.X.length") == browser.run("state.trace.data.X.length")
    refused = [c for c in browser.complaints if name in PARTED and "status of 400" in c["text"]]
    assert browser.complaints == refused


def test_rows_that_give_no_run_leave_no_numbers_that_look_like_theirs(browser, lab):
    """A count is dragged below 0: the frame that followed the finger goes, what stays is pale."""
    window(browser, 1400, 1000)
    opened(browser, lab, "poisson_regression", "step=end")
    pale = "document.body.matches('.stale') && +getComputedStyle($('numbers')).opacity < 0.5"
    last = browser.text("#place")
    x, y = at(browser, "data", *browser.run("placeOf(rows(), 0)"))
    browser.mouse("mousePressed", x, y)
    browser.mouse("mouseMoved", x + 5, y - 9)
    browser.wait("state.coarse && !state.running")
    assert not browser.run(pale)
    bottom = at(browser, "data", 0, -3)[1]
    browser.mouse("mouseMoved", x + 5, bottom)
    browser.mouse("mouseReleased", x + 5, bottom)
    browser.wait("!state.running && state.again === null && !$('error').hidden")
    assert browser.run("state.coarse") is None
    assert browser.run(pale)
    browser.press("ArrowLeft")
    assert browser.text("#place") != last  # the run before can still be stepped through
    browser.click("#undo")
    browser.wait("!state.running && state.again === null")
    assert not browser.run(pale)
    browser.click("#clear")
    assert browser.run(pale)
    browser.click("#presets button")
    browser.wait("!state.running && state.again === null")
    assert not browser.run(pale)


def test_a_query_and_a_start_are_dragged(browser, lab):
    opened(browser, lab, "nearest_neighbours", "preset=one-query&step=5")
    left, right, bottom, top = browser.run("document.querySelector('#panels figure').panel.box")
    x, y = left + 0.55 * (right - left), bottom + 0.5 * (top - bottom)
    px, py = at(browser, "data", x, y)
    browser.mouse("mousePressed", px, py)
    browser.mouse("mouseMoved", px + 60, py + 40)
    browser.mouse("mouseReleased", px + 60, py + 40)
    browser.wait("!state.running && !state.coarse && state.again === null")
    assert browser.run("state.params.query_x") > 0.6
    assert browser.run("state.params.query_y") < 0.45
    opened(browser, lab, "gradient_descent", "step=0")
    click(browser, *at(browser, "parameters", 0.5, 2.0))
    browser.wait("!state.running && !state.coarse && state.again === null")
    assert abs(browser.run("state.trace.frames[0].numbers.b") - 0.5) < 0.05
    assert abs(browser.run("state.trace.frames[0].numbers.w") - 2.0) < 0.05


def test_evidence_by_clicking_a_node_and_by_keys(browser, lab):
    opened(browser, lab, "bayesian_network", "step=end")
    node = "document.querySelector('[data-node=Cloudy]')"
    x, y = browser.run(f"(() => {{ const b = {node}.getBoundingClientRect(); "
                       "return [b.left + b.width / 2, b.top + b.height / 2]; })()")  # fmt: skip
    click(browser, x, y)
    browser.wait("!state.running && state.params.sprinkler_Cloudy === 'yes'")
    assert "Cloudy = yes" in browser.run("JSON.stringify(state.trace.frames.map((f) => f.numbers))")
    browser.run(f"{node}.focus()")
    browser.press("Enter")
    browser.wait("!state.running && state.params.sprinkler_Cloudy === 'no'")
    assert browser.run("document.activeElement.dataset.node") == "Cloudy"
    inside = "document.querySelectorAll('svg[role=img] [tabindex]').length"
    assert browser.run(inside) == 0  # what can be pressed is not part of a picture
    said = f"{node}.ariaLabel.startsWith({node}.textContent)"
    assert browser.run(said)


def test_a_cell_becomes_a_wall_and_an_exit(browser, lab):
    opened(browser, lab, "value_iteration", "step=end")
    for cells in ("...+/.#.-/S.#.", "...+/.#.-/S.+."):
        click(browser, *at(browser, "world", 3, 1))
        browser.wait(f"!state.running && state.trace.data.cells === {json.dumps(cells)}")
    assert browser.run("state.trace.frames.at(-1).numbers['U(start)']") > 0.6
    assert browser.complaints == []


def test_a_picture_is_painted_by_clicks(browser, lab):
    """Its cells are dark or light; there are no exits in a picture."""
    opened(browser, lab, "convolution", "step=0")
    for sign in "#.":
        click(browser, *at(browser, "world", 1, 8))
        browser.wait(f"!state.running && state.trace.data.cells.startsWith('{sign}.......')")
    assert browser.complaints == []


def test_two_runs_are_compared_on_one_timeline(browser, lab):
    opened(browser, lab, "kmeans", "preset=k-means&step=2")
    browser.click("#pin")
    browser.click("#presets button:nth-child(2)")
    browser.wait("!state.running && state.preset === 1")
    titles = "[...document.querySelectorAll('#panels h2')].map((h) => h.textContent)"
    browser.run("go(2)")
    assert [t.split(":")[0] for t in browser.run(titles)] == ["Now", "Compared"]
    browser.click("#pin")
    assert len(browser.run(titles)) == 3


# ------------------------------------------------------------------- links and files


def test_the_gallery_finds_methods_and_opens_copied_links(browser, gallery):
    window(browser, 1400, 1000)
    browser.call("Page.navigate", url=(gallery / "index.html").as_uri())
    browser.wait("document.querySelectorAll('.card svg g').length > 0")
    assert browser.run("document.querySelectorAll('.card').length") == len(PAGES)
    type_ = ("(() => {{ const s = document.querySelector('#search'); s.value = {0}; "
             "s.dispatchEvent(new Event('input')); }})()").format  # fmt: skip
    browser.run(type_(json.dumps("KMeans")))
    left = "[...document.querySelectorAll('.card:not([hidden])')].map((c) => c.dataset.name)"
    assert browser.run(left) == ["kmeans"]
    browser.run(type_(json.dumps("kmeans.html#preset=break-it-rings&step=2")))
    browser.wait("location.pathname.endsWith('/kmeans.html') && window.state === undefined && "
                 "document.querySelector('#place')?.textContent === '2 / 12'")  # fmt: skip


@contextmanager
def offline(browser):
    """No network."""
    browser.call("Network.enable")
    rates = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.call("Network.emulateNetworkConditions", offline=True, **rates)
    yield
    browser.call("Network.emulateNetworkConditions", offline=False, **rates)


def test_the_gallery_opens_from_the_disk_and_leads_to_its_pages(browser, gallery):
    """Without a network and without a complaint: cards, a page, the way back, its neighbour."""
    with offline(browser):
        browser.complaints = []
        browser.call("Page.navigate", url="about:blank")
        browser.call("Page.navigate", url=(gallery / "index.html").as_uri())
        browser.wait(f"document.querySelectorAll('.card svg g').length >= {len(SOME)}")
        assert browser.run("document.querySelectorAll('section h2').length") > 5
        browser.click(".card[data-name=ridge]")
        browser.wait(
            "location.pathname.endsWith('/ridge.html') && document.querySelector('#panels')"
        )
        browser.wait("document.querySelector('#story h2')?.textContent.startsWith('Look')")
        browser.click("#crumb a")
        browser.wait("location.pathname.endsWith('/index.html') && document.querySelector('.card')")
        assert browser.complaints == []


@pytest.mark.parametrize(
    "name", [n if n in SOME else pytest.param(n, marks=pytest.mark.slow) for n in PAGES]
)
def test_an_exported_page_tells_its_story_from_the_disk(browser, tmp_path, name):
    with offline(browser):
        browser.open(exporting.export(name, tmp_path / f"{name}.html").as_uri())
        story = page_of(name).story
        for i, scene in enumerate(story):
            browser.wait(f"state.scene === {i}")
            assert browser.text("#story h2").startswith(scene.kind)
            browser.click("#story .reveal")
            browser.press("n")
        assert browser.complaints == []


def test_a_link_from_the_server_opens_in_a_gallery_elsewhere(browser, lab, gallery):
    """From the disk with the network blocked, and under a static server of another port."""
    opened(browser, lab, "value_iteration", "preset=break-it-γ-1&step=7")
    link = browser.run("link()")
    assert str(lab.port) not in link
    assert lab.token not in link
    formula = browser.formula()
    with offline(browser):
        browser.open(f"{(gallery / 'index.html').as_uri().removesuffix('index.html')}{link}")
        assert (browser.formula(), browser.text("#place")) == (formula, "7 / 80")
        browser.click("#mode-story")
        assert browser.run("state.guided")
        assert browser.complaints == []

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *words):
            """Silence."""

    handler = functools.partial(Quiet, directory=str(gallery))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.open(f"http://127.0.0.1:{server.server_port}/{link}")
        assert (browser.formula(), browser.text("#place")) == (formula, "7 / 80")
        server.shutdown()


def test_data_travel_in_a_link_of_the_server(browser, lab):
    opened(browser, lab, "kmeans", "step=3")
    browser.run("edit(moved(rows(), 0, 1.5, 1.5))")
    browser.wait("!state.running && state.again === null")
    link, formula = browser.run("link()"), browser.formula()
    browser.open(f"http://127.0.0.1:{lab.port}/{link}")
    browser.wait("state.trace && !state.running")
    assert (browser.formula(), browser.run("state.data.X[0]")) == (formula, [1.5, 1.5])


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("preset=of-another-day&step=3", 'the preset "of-another-day"'),
        ("story=99", 'the scene "99"'),
        ('preset=k-means&params={"k":900}', "the setting k"),
        ('preset=k-means&data={"X":[[1,"a"]]}', "its rows"),
    ],
)
def test_a_link_that_has_gone_stale_says_so(browser, lab, place, words):
    """What of it there is not is named; the rest is shown."""
    opened(browser, lab, "kmeans", place)
    browser.wait("!$('error').hidden")
    assert f"asks for {words}, which this page does not have" in browser.text("#error")
    assert browser.run("state.trace.frames.length") > 1
    browser.run("location.hash = '#preset=k-means&step=1'")
    browser.wait("state.step === 1 && $('error').hidden")


# ------------------------------------------------------------------- phones, light and motion


@pytest.mark.parametrize("name", list(PAGES))
def test_picture_and_formula_in_one_view_of_a_phone(browser, lab, name):
    """In the first scene and behind the last answer, with the whole formula to be seen."""
    window(browser, 390, 844)
    still = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    browser.call("Emulation.setEmulatedMedia", features=still)
    bottom = "document.querySelector({0}).getBoundingClientRect().bottom".format
    hidden = "(() => { const f = document.querySelector('#formula'); " \
             "return f.scrollHeight - f.clientHeight; })()"  # fmt: skip
    for scene in (1, len(page_of(name).story)):
        opened(browser, lab, name, f"story={scene}")
        if scene > 1:
            browser.click("#story .reveal")
        assert browser.run("scrollY") == 0  # the picture that answers is still in view
        assert browser.run(bottom("'#panels figure'")) < browser.run(bottom("'#formula'")) <= 844
        assert browser.run(hidden) <= 1
        assert browser.run("document.documentElement.scrollWidth") <= 390
    browser.call("Emulation.setEmulatedMedia", features=[])
    window(browser, 1400, 1000)


def test_the_pictures_of_a_phone_are_reached_by_keys(browser, lab):
    """They are a strip there; in a wide window they are all in view and need no stop."""
    window(browser, 390, 844)
    opened(browser, lab, "kmeans", "step=3")
    browser.run("$('panels').focus()")
    assert browser.run("document.activeElement.ariaLabel") == "Pictures"
    browser.press("ArrowRight")
    browser.wait("$('panels').scrollLeft > 100")
    assert browser.run("state.step") == 3  # the key moved the strip
    window(browser, 1400, 1000)
    browser.wait("!$('panels').hasAttribute('tabindex') && !$('panels').hasAttribute('role')")


def test_reduced_motion_and_the_dark(browser, lab):
    features = [{"name": "prefers-reduced-motion", "value": "reduce"},
                {"name": "prefers-color-scheme", "value": "dark"}]  # fmt: skip
    browser.call("Emulation.setEmulatedMedia", features=features)
    opened(browser, lab, "kmeans", "story=4")
    browser.press("2")
    assert browser.run("state.timer === null && state.step") == 6  # at once
    paper = "getComputedStyle(document.body).backgroundColor"
    assert browser.run(paper) == "rgb(20, 24, 27)"
    browser.call("Emulation.setEmulatedMedia", features=[])


def test_names_and_roles(browser, lab):
    """Whatever can be used has a name; headings, regions and the live line are there."""
    opened(browser, lab, "kmeans")
    used = "button, a, input, select, [role=button], svg[role=img], [tabindex='0']"
    unnamed = (
        f'[...document.querySelectorAll("{used}")].filter((e) => e.checkVisibility() && '
        "!e.textContent.trim() && !e.ariaLabel && !e.labels?.length).length"
    )
    assert browser.run(unnamed) == 0
    browser.press("Escape")
    assert browser.run(unnamed) == 0
    assert browser.run("document.querySelectorAll('h1').length") == 1
    assert browser.run("document.querySelector('#live').ariaLive") == "polite"


needs_axe = pytest.mark.skipif(
    "PELLUCID_AXE" not in os.environ, reason="PELLUCID_AXE names no axe.min.js"
)
LOOKS = [("light", 1400), ("dark", 1400), ("light", 390), ("dark", 390)]


@contextmanager
def look(browser, scheme, width):
    """A window in which nothing fades while axe-core looks, and which lets axe-core in."""
    window(browser, width, 1000 if width > 500 else 844)
    browser.call("Page.setBypassCSP", enabled=True)
    wishes = {"prefers-reduced-motion": "reduce", "prefers-color-scheme": scheme}
    features = [{"name": name, "value": value} for name, value in wishes.items()]
    browser.call("Emulation.setEmulatedMedia", features=features)
    yield
    browser.call("Page.setBypassCSP", enabled=False)
    browser.call("Emulation.setEmulatedMedia", features=[])
    window(browser, 1400, 1000)


def faults(browser):
    """What axe-core calls serious or critical on the page as it is."""
    if not browser.run("'axe' in window"):
        browser.run(Path(os.environ["PELLUCID_AXE"]).read_text("utf-8") + ";0")
    return browser.run(
        "axe.run({resultTypes: ['violations']}).then(r => r.violations"
        ".filter(v => ['serious', 'critical'].includes(v.impact))"
        ".map(v => [v.id, v.nodes[0].html]))"
    )


@needs_axe
@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [
        pytest.param(name, *looks, marks=[pytest.mark.slow] * (name not in SOME))
        for name in PAGES
        for looks in (LOOKS if name in {*FIRST, *SOME} else LOOKS[:1])
    ],
)
def test_axe_finds_nothing_serious(browser, lab, name, scheme, width):
    """axe-core on the story, the answered question and the free play of a page."""
    with look(browser, scheme, width):
        opened(browser, lab, name)
        assert faults(browser) == []
        browser.click("#story .reveal")
        assert faults(browser) == []
        browser.press("Escape")
        assert faults(browser) == []


@needs_axe
def test_axe_finds_nothing_serious_in_the_gallery(browser, lab):
    """With every card drawn, and with what a search leaves."""
    papers = set()
    browser.call("Page.navigate", url="about:blank")
    with look(browser, *LOOKS[0]):
        browser.call("Page.navigate", url=lab.address())
        browser.wait("document.readyState === 'complete' && document.querySelector('.card')")
        browser.wait("!asking && !waiting.length", seconds=180)
    drawn = "[...document.querySelectorAll('.card')].filter((c) => c.querySelector('svg g'))"
    assert browser.run(f"{drawn}.length") == len(PAGES)
    for scheme, width in LOOKS:
        with look(browser, scheme, width):
            papers.add(browser.run("getComputedStyle(document.body).backgroundColor"))
            assert browser.run("document.documentElement.scrollWidth") <= width
            for words in ("", "tree"):
                browser.run(f"$('search').value = '{words}'; search()")
                assert faults(browser) == [], (scheme, width, words)
    assert len(papers) == 2
    browser.run("$('search').placeholder = ''; $('finder').replaceWith($('search'))")
    assert [name for name, _ in faults(browser)] == ["label"]  # a planted fault is seen

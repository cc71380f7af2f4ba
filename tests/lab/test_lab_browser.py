"""The page in Chromium: steps, keys, questions, links, data in the reader's hands, no errors.

Chromium is driven over its debugging pipe (file descriptors 3 and 4, messages that end in a zero
byte), so that nothing has to be installed beside it.
"""

import json
import os
import shutil
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from lab_example import NASTY, example_page, example_trace

from pellucid.core.visible import visible
from pellucid.lab import export
from pellucid.lab.answering import answer_table, only_frame
from pellucid.lab.exporting import content, page_html
from pellucid.lab.page import make_trace, rows_of
from pellucid.lab.serving import served as real_server

pytestmark = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="Chromium is not installed"
)
KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, " ": 32, "Escape": 27,
        "PageDown": 34, "PageUp": 33, "Tab": 9, "Enter": 13, "ArrowDown": 40}  # fmt: skip


class Browser:
    """One tab, with everything that it complained about."""

    def __init__(self, folder):
        to_chrome, self.ask = os.pipe()
        self.answer, from_chrome = os.pipe()
        script = f'exec 3<&{to_chrome} 4>&{from_chrome}; exec "$@"'
        options = "--headless --no-sandbox --disable-gpu --no-first-run --remote-debugging-pipe"
        command = ["chromium", *options.split(), f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", script, "chromium", *command], pass_fds=(to_chrome, from_chrome),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_chrome)
        os.close(from_chrome)
        self.rest, self.number, self.session, self.complaints = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=1400, height=1000,
                  deviceScaleFactor=1, mobile=False)  # fmt: skip

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.ask, json.dumps(message).encode() + b"\0")
        while True:
            found = self.receive()
            if found.get("id") == self.number:
                assert "error" not in found, found
                return found["result"]
            self.note(found)

    def receive(self):
        while b"\0" not in self.rest:
            chunk = os.read(self.answer, 1 << 16)
            assert chunk, "Chromium has gone"
            self.rest += chunk
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def note(self, event):
        if event["method"] == "Runtime.exceptionThrown":
            self.complaints.append(event["params"]["exceptionDetails"])
        elif event["method"] == "Log.entryAdded":
            entry = event["params"]["entry"]
            if entry["level"] in ("error", "warning") and "favicon" not in entry.get("url", ""):
                self.complaints.append(entry)

    def open(self, url):
        """Go there as from another page, and wait until a frame is shown."""
        self.complaints = []
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && document.querySelector('#panels svg')")

    def run(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True, userGesture=True)  # fmt: skip
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def wait(self, expression, seconds=20):
        end = time.monotonic() + seconds
        while not self.holds(expression):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.02)

    def holds(self, expression):
        """Whether it is true; nothing is on a page that is just being left."""
        try:
            return self.run(f"Boolean({expression})")
        except AssertionError as error:
            if "navigated or closed" not in str(error):
                raise
            return False

    def formula(self):
        return self.run("document.querySelector('#formula').dataset.text")

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def click(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def press(self, key):
        code = {"windowsVirtualKeyCode": KEYS.get(key) or ord(key.upper())}
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        down = "keyDown" if text else "rawKeyDown"
        self.call("Input.dispatchKeyEvent", type=down, key=key, **code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, **code)

    def mouse(self, kind, x, y, buttons=1):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, clickCount=1,
                  button="left" if buttons else "none",
                  buttons=0 if kind == "mouseReleased" else buttons)  # fmt: skip

    def close(self):
        os.close(self.ask)
        os.close(self.answer)
        self.process.terminate()
        self.process.wait(timeout=30)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    path = tmp_path_factory.mktemp("lab") / "page.html"
    return export(example_page(), path).as_uri() + "#step=0"  # free play


def test_buttons_step_through_the_formulas(browser, exported):
    browser.open(exported)
    assert browser.formula().startswith("step 0: w ← 1.000")
    browser.click("#step")
    browser.click("#step")
    assert browser.formula().startswith("step 2: w ← 0.810")
    assert browser.text("#numbers td") == "0.81"
    assert "Step 2 of 4" in browser.text("#live")
    browser.click("#back")
    assert browser.formula().startswith("step 1:")
    assert browser.run("document.querySelectorAll('#panels .lit').length") == 2
    browser.run("document.querySelector('#speed').value = '4'")
    browser.click("#play")
    assert browser.text("#play") == "Pause"
    browser.wait("document.querySelector('#place').textContent === '4 / 4'")
    assert browser.text("#play") == "Play"
    assert browser.run("document.querySelector('#step').disabled")
    assert browser.complaints == []


def test_python_can_be_copied_or_is_selected(browser, exported):
    browser.open(exported)
    browser.click("#copy-python")
    browser.wait("document.querySelector('#copied').textContent")
    if browser.text("#copied") != "Python copied.":
        assert browser.run("getSelection().toString() || document.querySelector('#fallback').value")
    assert browser.text("#code pre") == "# step\nmodel = 1"


def test_keys_do_the_same(browser, exported):
    browser.open(exported)
    for key, expected in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 4),
                          ("Home", 0)]:  # fmt: skip
        browser.press(key)
        assert browser.text("#place") == f"{expected} / 4", key
    browser.press(" ")
    assert browser.text("#play") == "Pause"
    browser.press(" ")
    assert browser.text("#play") == "Play"
    browser.run("document.querySelector('#curve svg').dispatchEvent(new MouseEvent('click', "
                "{clientX: 5000}))")  # fmt: skip
    assert browser.text("#place") == "4 / 4"


def test_a_question_of_this_preset_is_answered_by_the_frames(browser, exported):
    browser.open(exported)
    assert browser.text("#question legend") == "step?"
    browser.click("#question input[value='0']")
    assert browser.text("#question .why") == "Not quite. step"
    assert browser.run("document.querySelector('#question label.right').textContent") == "b"
    assert browser.run("document.querySelector('#question label.wrong').textContent") == "step"
    shown = "getComputedStyle(document.querySelector('#question label.right')).display"
    assert browser.run(shown) == "flex"  # as the others
    browser.wait("document.querySelector('#place').textContent === '2 / 4' && !state.timer")
    assert browser.run("document.querySelector('#question .why').role") == "status"
    browser.click("#next-question")
    assert browser.text("#question legend") == "second"
    browser.click("#question .reveal")
    assert browser.text("#question .why") == "step"
    browser.click("#presets button:nth-child(2)")
    assert browser.text("#question legend") == "third"


def test_the_verdict_stands_at_the_end_whatever_was_answered(browser, exported):
    browser.open(exported)
    assert browser.run("document.querySelector('#verdict').hidden")
    browser.press("End")
    assert browser.run("document.querySelector('#verdict').checkVisibility()")


def test_a_story_by_keys_alone(browser, exported):
    browser.open(exported.partition("#")[0])
    assert (
        browser.run("state.guided && document.querySelector('#tools').checkVisibility()") is False
    )
    assert browser.text("#story h2").startswith("Look")
    browser.press("2")
    assert browser.text("#story .why") == "Right. step"
    browser.wait("document.querySelector('#place').textContent === '2 / 4' && !state.timer")
    browser.press("n")
    assert browser.run("document.activeElement.textContent").startswith("Predict 2 of 3")
    assert browser.text("#story .say") == "w 0.81, 0.5"  # numbers of the frames
    assert browser.run("location.hash") == "#story=2"
    browser.press("PageDown")
    assert browser.text("#story legend") == "third"
    browser.press("p")
    assert browser.text("#story legend") == "second"
    browser.press("Escape")
    assert browser.run("state.guided") is False
    browser.press("g")
    assert browser.text("#story legend") == "second"
    assert browser.complaints == []


def test_symbols_have_the_colour_of_their_mark_and_light_it_up(browser, exported):
    browser.open(exported)
    assert (
        browser.run("document.querySelector('#formula math .symbol').style.color")
        == "var(--accent)"
    )
    key = (
        "[...document.querySelectorAll('#formula .key')].find((k) => k.textContent === {0}).focus()"
    )
    lit = "[...document.querySelectorAll('#panels .marks.lit')].map((g) => g.dataset.label)"
    browser.run(key.format("'wstep line'"))
    assert browser.run(lit) == ["step line"]
    browser.run(key.format("'step'"))  # the name of a node: a word of the formula
    assert set(browser.run(lit)) == {"step"}
    words = "[...document.querySelectorAll('#formula span.symbol')].map((s) => s.textContent)"
    assert browser.run(words) == ["step"]
    browser.run("document.activeElement.blur()")
    assert browser.run(lit) == []


def test_focus_and_scrolling_boxes(browser, exported):
    browser.open(exported)
    browser.run("document.querySelector('#step').focus(); go(lastStep())")
    assert browser.run("document.activeElement.id") == "slider"
    boxes = "[...document.querySelectorAll('.scroll[role=region][tabindex=\"0\"]')]"
    assert browser.run(f"{boxes}.map((box) => box.ariaLabel)") == ["step", "step"]
    assert browser.run("document.querySelector('#tools').getAttribute('role')") == "group"


def test_a_link_restores_preset_and_step_and_nonsense_is_ignored(browser, exported):
    browser.open(f"{exported}&preset=other-step&step=3".replace("step=0&", ""))
    assert browser.formula().startswith("step 3: w ← -3.375")
    pressed = "document.querySelector('#presets [aria-pressed=true]').textContent"
    assert browser.run(pressed) == "Break it: other step"
    assert browser.run("link()") == "newton.html#preset=other-step&step=3"
    browser.run("location.hash = '#step=end&preset=step'")
    browser.wait("document.querySelector('#place').textContent === '4 / 4'")
    assert browser.run(pressed) == "step"
    browser.open(f"{exported}&preset=77&step=-4&params={{}}&data=[[&__proto__=1&seed=1e9")
    assert browser.text("#place") == "0 / 4"
    assert "pellucid lab newton" in browser.text("#controls")
    assert "settings of its own" in browser.text("#error")
    assert browser.complaints == []


def test_hostile_text_is_shown_as_text(browser, tmp_path):
    for what in (example_page(NASTY), example_trace(NASTY)):
        browser.open(export(what, tmp_path / "page.html").as_uri() + "#step=end")
        assert browser.run("document.querySelectorAll('img, #panels script').length") == 0
        assert browser.text("#verdict") == NASTY
        assert browser.text("h1") in (NASTY, visible(NASTY))  # a file's title has no line breaks
        browser.run("document.querySelectorAll('#question input').forEach((i) => i.click())")
        assert browser.complaints == []


def test_every_panel_has_words_and_stays_inside_the_window(browser, exported):
    for width in (1400, 800, 400):
        browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                     deviceScaleFactor=1, mobile=False)  # fmt: skip
        browser.open(exported)
        assert browser.run("document.documentElement.scrollWidth") <= width
    browser.call("Emulation.setDeviceMetricsOverride", width=1400, height=1000,
                 deviceScaleFactor=1, mobile=False)  # fmt: skip
    named = "[...document.querySelectorAll('svg[role=img]')].every((s) => s.ariaLabel)"
    assert browser.run(named)
    unnamed = ("[...document.querySelectorAll('input, select, textarea')].filter((e) => "
               "!e.hidden && !e.labels?.length && !e.ariaLabel).length")  # fmt: skip
    assert browser.run(unnamed) == 0


STALE = "document.body.matches('.stale') && +getComputedStyle($('formula')).opacity < 0.5"
IRIS = b"species,sepal,petal,petal\nu,0,0,9\nv,1,1,8\nv,2,2,7\nu,,5,6\n"
FLOWERS = {"X": [[0, 0], [1, 1], [2, 2]], "y": [0, 1, 1], "names": ["sepal", "petal"]}


class Lab(BaseHTTPRequestHandler):
    """The part of the lab's server that the page talks to."""

    page = example_page()
    asked: list = []  # noqa: RUF012

    def do_GET(self):
        table = answer_table(IRIS) if "table=1" in self.path else None
        page = self.page._replace(kind="none") if "none=1" in self.path else self.page
        boot = content("server", page=page, table=table is not None)
        text = page_html(boot, nonce="abc")
        rules = ("default-src 'none'; script-src 'nonce-abc'; style-src 'nonce-abc'; "
                 "connect-src 'self'; img-src data:")  # fmt: skip
        self.reply(200, text, "text/html; charset=utf-8", rules)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["X-Pellucid-Token"] == "secret"
        if self.path == "/offered":
            self.reply(200, json.dumps(answer_table(IRIS)))
            return
        if self.path == "/table":
            self.reply(200, json.dumps(answer_table(body)))
            return
        asked = json.loads(body)
        self.asked.append(asked)
        try:
            settings = self.page.settings(asked["params"])
            seed, preset = asked["seed"], self.page.presets[asked["preset"]]
            rows = preset.data and preset.data(np.random.default_rng(seed))
            if asked["data"]:
                rows = rows_of(self.page, asked["data"], seed)
            trace = self.page.run(rows, settings, seed)
            if "frame" in asked:
                trace = only_frame(trace, asked["frame"])
            self.reply(200, trace.to_json())
        except ValueError as error:
            self.reply(400, json.dumps({"error": str(error)}))

    def reply(self, status, text, kind="application/json", policy=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if policy:
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *words):
        """Silence."""


@pytest.fixture(scope="module")
def served():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Lab)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/newton"
    server.shutdown()
    server.server_close()
    thread.join()


def asked_next(browser, action):
    """What the page asks of the server because of this."""
    before = len(Lab.asked)
    action()
    browser.wait("!state.running")
    assert len(Lab.asked) > before
    return Lab.asked[-1]


def test_settings_are_sent_and_errors_stay_in_place(browser, served):
    browser.open(f"{served}#token=secret&step=0")
    browser.wait("state.trace")
    assert Lab.asked[-1] == {"page": "newton", "preset": 0, "seed": 0, "data": None,
                             "params": {"method": "plain", "rate": 0.1, "most": 3,
                                        "scale": True}}  # fmt: skip
    move = ("const s = document.querySelector('#set-rate'); s.value = Math.log10({0}); "
            "s.dispatchEvent(new Event('change'))")  # fmt: skip
    asked = asked_next(browser, lambda: browser.run("{" + move.format(0.5) + "}"))
    assert asked["params"]["rate"] == 0.5
    assert "0.5" in browser.formula()
    asked_next(browser, lambda: browser.run("{" + move.format(3) + "}"))
    assert browser.text("#error") == "a rate of 3 is not for this page"
    assert "0.5" in browser.formula()
    assert browser.run(STALE)  # a formula of other settings than those that are shown
    choose = ("{const s = document.querySelector('#set-method'); s.value = '1'; "
              "s.dispatchEvent(new Event('change'))}")  # fmt: skip
    asked_next(browser, lambda: browser.run(choose))  # fails too, but the settings are shown
    assert browser.run("document.querySelector('#set-most')") is None
    asked_next(browser, lambda: browser.click("#presets button:nth-child(2)"))
    assert browser.run("document.querySelector('#set-most')") is not None
    assert browser.run("document.querySelector('#error').hidden")
    assert not browser.run(STALE)
    assert asked_next(browser, lambda: browser.run(choose))["params"]["method"] == "step!"
    assert browser.run("document.querySelector('#set-most')") is None
    assert browser.text("#place") == "0 / 7"


def place(browser, x, y):
    """Pixels of a place in the data panel."""
    find = ("(() => {{ const f = document.querySelector('#panels figure'), b = "
            "f.querySelector('svg').getBoundingClientRect(); "
            "return [b.left + f.scales.x({0}), b.top + f.scales.y({1})]; }})()")  # fmt: skip
    return browser.run(find.format(x, y))


def test_points_are_drawn_dragged_erased_and_undone(browser, served):
    browser.open(f"{served}#token=secret&step=0")
    browser.wait("state.trace")
    data = make_trace(Lab.page).data
    first, held = data["X"][0].tolist(), data["held_out"].tolist()
    before = len(Lab.asked)
    for kind in ("mousePressed", "mouseReleased"):  # a click moves nothing
        browser.mouse(kind, *place(browser, *first))
    assert browser.run("[state.data, tool.past.length, tool.drag]") == [None, 0, None]
    assert len(Lab.asked) == before

    def drag():
        browser.mouse("mousePressed", *place(browser, *first))
        browser.mouse("mouseMoved", *place(browser, 0.2, 0.3))
        browser.mouse("mouseReleased", *place(browser, 0.2, 0.3))

    asked = asked_next(browser, drag)
    np.testing.assert_allclose(asked["data"]["X"][0], [0.2, 0.3], atol=0.02)
    assert len(asked["data"]["X"]) == 20
    assert asked["data"]["held_out"] == held

    def click(tool, x, y):
        browser.click(f"#tool-{tool}")
        at = place(browser, x, y)
        browser.mouse("mousePressed", *at)
        browser.mouse("mouseReleased", *at)

    asked = asked_next(browser, lambda: click("draw", 1.0, -1.9))
    np.testing.assert_allclose(asked["data"]["X"][20], [1.0, -1.9], atol=0.02)
    assert asked["data"]["y"][20] == 0
    assert asked["data"]["held_out"] == [*held, False]
    link = browser.run("link()")
    asked = asked_next(browser, lambda: click("erase", 1.0, -1.9))
    assert len(asked["data"]["X"]) == 20
    assert len(asked_next(browser, lambda: browser.click("#undo"))["data"]["X"]) == 21
    browser.click("#tool-erase")
    asked = asked_next(browser, lambda: browser.run("edit(without(rows(), 2))"))
    assert asked["data"]["held_out"] == [*held[:2], *held[3:], False]
    asked = asked_next(browser, lambda: browser.open(f"{served.removesuffix('newton')}{link}"))
    assert len(asked["data"]["X"]) == 21
    assert asked["data"]["held_out"] == [*held, False]
    assert browser.run("tool.past.length") == 0
    at = place(browser, *asked["data"]["X"][1])  # let go where nobody listened
    browser.mouse("mousePressed", *at)
    browser.mouse("mouseMoved", at[0] + 20, at[1])
    browser.run("document.querySelector('#panels').replaceChildren(); showFrame()")
    browser.mouse("mouseMoved", at[0] + 40, at[1], buttons=0)
    assert browser.run("tool.drag") is None
    browser.wait("!state.running")
    browser.click("#clear")
    assert browser.run("rows().held_out") == []
    browser.run("setTrace(state.trace, 'keep', null)")  # a run that was asked for before
    assert browser.run("state.draft.X") == []
    browser.run("[0, 1, 2, 3, 4, 5, 6].forEach((x) => add(x / 4, 0))")  # some of them held out
    assert browser.run("rows().held_out") == [False, False, False, True, False, False, True]
    assert browser.complaints == []


def test_the_lab_itself_serves_a_page_that_runs(browser):
    """The real server, with its own policy: nothing is refused, and settings come back."""
    with real_server() as running:
        browser.open(running.address("pca", place="step=0"))
        browser.wait("state.trace && !state.running")
        browser.click("#presets button:last-child")
        browser.wait("!state.running && state.trace.frames.length > 1")
        browser.press("End")
        assert browser.text("#verdict")
        assert browser.complaints == []


def test_rows_come_from_text_and_from_tables(browser, served):
    browser.open(f"{served}#token=secret&step=0")
    browser.wait("state.trace")
    write = ("{const d = document.querySelector('#tools details'); "
             "d.querySelector('textarea').value = '0 0 0\\n1, 1, 1\\n2;3;1'; "
             "d.querySelector('button').click()}")  # fmt: skip
    asked = asked_next(browser, lambda: browser.run(write))
    assert asked["data"]["X"] == [[0, 0], [1, 1], [2, 3]]
    assert asked["data"]["y"] == [0, 1, 1]
    load = "loadFile(new File([{}], 'x.csv')).then(() => true)"
    asked = asked_next(browser, lambda: browser.run(load.format(json.dumps(IRIS.decode()))))
    assert asked["data"] == FLOWERS
    assert browser.text("#rows-note").startswith("3 of 4 rows are shown. ")
    assert "petal_2" in browser.text("#rows-note")
    browser.run("document.querySelector('#tools details').open = true")
    browser.wait(
        "document.querySelector('#tools textarea').value === '0, 0, 0\\n1, 1, 1\\n2, 2, 1'"
    )
    asked_next(browser, lambda: browser.run("edit(moved(rows(), 0, 7, 8))"))
    assert browser.run("document.querySelector('#tools textarea').value").startswith("7, 8, 0\n")
    browser.run(load.format("'a,b,k\\n1,2,u\\n1,2,u\\n'"))
    both = "2 of 2 rows are shown. Draw points of at least two classes."
    assert browser.text("#rows-note") == both
    browser.run("edit({ ...rows(), X: [], y: [] })")
    assert browser.text("#rows-note") == "Draw points of at least two classes."
    assert browser.complaints == []


def test_the_table_of_the_start_is_used_unless_a_preset_is_named(browser, served):
    browser.open(f"{served}?table=1")
    browser.wait("state.data && !state.running")
    assert Lab.asked[-1]["data"] == FLOWERS
    browser.open(f"{served}?table=1#preset=other-step")
    browser.wait("document.querySelector('#use-table') && !state.running")
    assert (Lab.asked[-1]["preset"], Lab.asked[-1]["data"]) == (1, None)
    assert asked_next(browser, lambda: browser.click("#use-table"))["data"] == FLOWERS
    assert browser.complaints == []


def test_seeds_come_from_the_address_and_from_new_samples(browser, served):
    browser.open(f"{served}?none=1#seed=4&step=0")
    browser.wait("state.trace && !state.running")
    assert Lab.asked[-1]["seed"] == 4
    assert asked_next(browser, lambda: browser.click("#new-sample"))["seed"] == 5
    assert browser.text("#rows-note") == "Seed 5."

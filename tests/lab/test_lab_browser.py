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

from pellucid.lab import export
from pellucid.lab.exporting import content, page_html
from pellucid.lab.page import make_trace, rows_of
from pellucid.lab.serving import served as real_server

pytestmark = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="Chromium is not installed"
)
KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35, " ": 32}


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
        while not self.run(f"Boolean({expression})"):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.02)

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def click(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def press(self, key):
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=KEYS[key])

    def mouse(self, kind, x, y):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1,
                  buttons=0 if kind == "mouseReleased" else 1)  # fmt: skip

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
    return export(example_page(), tmp_path_factory.mktemp("lab") / "page.html").as_uri()


def test_buttons_step_through_the_formulas(browser, exported):
    browser.open(exported)
    assert browser.text("#formula").startswith("step 0: w ← 1.000")
    browser.click("#step")
    browser.click("#step")
    assert browser.text("#formula").startswith("step 2: w ← 0.810")
    assert browser.text("#numbers td") == "0.81"
    assert "Step 2 of 4" in browser.text("#live")
    browser.click("#back")
    assert browser.text("#formula").startswith("step 1:")
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


def test_the_answer_is_revealed_with_its_reason_and_the_verdict(browser, exported):
    browser.open(exported)
    assert browser.run("document.querySelector('#verdict').hidden")
    browser.click("#question input[value='0']")
    assert browser.text("#question p") == "Not quite. step"
    assert browser.run("document.querySelector('#question label.right').textContent") == "b"
    assert browser.run("document.querySelector('#question label.wrong').textContent") == "step"
    assert not browser.run("document.querySelector('#verdict').hidden")
    browser.click("#question button")
    assert browser.text("#question legend") == "second"
    assert browser.run("document.querySelector('#verdict').hidden")
    browser.click("#question input[value='0']")
    assert browser.text("#question p").startswith("Right.")


def test_a_link_restores_preset_and_step_and_nonsense_is_ignored(browser, exported):
    browser.open(f"{exported}#preset=1&step=3")
    assert browser.text("#formula").startswith("step 3: w ← -3.375")
    pressed = "document.querySelector('[aria-pressed=true]').textContent"
    assert browser.run(pressed) == "Break it: step"
    assert "preset=1" in browser.run("link()")
    browser.run("location.hash = '#step=end&preset=0'")
    browser.wait("document.querySelector('#place').textContent === '4 / 4'")
    assert browser.run(pressed) == "step"
    browser.open(f"{exported}#preset=77&step=-4&params={{}}&data=[[&__proto__=1&seed=1e9")
    assert browser.text("#place") == "0 / 4"
    assert "pellucid lab descent" in browser.text("#controls")
    assert browser.complaints == []


def test_hostile_text_is_shown_as_text(browser, tmp_path):
    for what in (example_page(NASTY), example_trace(NASTY)):
        browser.open(export(what, tmp_path / "page.html").as_uri() + "#step=end")
        assert browser.run("document.querySelectorAll('img, #panels script').length") == 0
        assert browser.text("#verdict") == NASTY
        assert browser.text("h1") == NASTY
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


class Lab(BaseHTTPRequestHandler):
    """The part of the lab's server that the page talks to."""

    page = example_page()
    asked: list = []  # noqa: RUF012

    def do_GET(self):
        text = page_html(content("server", page=self.page, token="secret"), nonce="abc")
        rules = ("default-src 'none'; script-src 'nonce-abc'; style-src 'nonce-abc'; "
                 "connect-src 'self'; img-src data:")  # fmt: skip
        self.reply(200, text, "text/html; charset=utf-8", rules)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["X-Pellucid-Token"] == "secret"
        if self.path == "/table":
            columns = [{"name": n, "values": [0.0, 1.0, 2.0, None], "levels": None} for n in "ab"]
            columns.append({"name": "c", "values": [0, 1, 1, 0], "levels": ["no", "yes"]})
            self.reply(200, json.dumps({"columns": columns, "rows": 4, "total": 4}))
            return
        asked = json.loads(body)
        self.asked.append(asked)
        try:
            settings = self.page.settings(asked["params"])
            seed, preset = asked["seed"], self.page.presets[asked["preset"]]
            rows = preset.data and preset.data(np.random.default_rng(seed))
            if asked["data"]:
                rows = rows_of(self.page, asked["data"], seed)
            self.reply(200, self.page.run(rows, settings, seed).to_json())
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
    yield f"http://127.0.0.1:{server.server_port}/?page=descent&token=secret"
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
    browser.open(served)
    browser.wait("state.trace")
    assert Lab.asked[-1] == {"page": "descent", "preset": 0, "seed": 0, "data": None,
                             "params": {"method": "plain", "rate": 0.1, "most": 3,
                                        "scale": True}}  # fmt: skip
    move = ("const s = document.querySelector('#set-rate'); s.value = Math.log10({0}); "
            "s.dispatchEvent(new Event('change'))")  # fmt: skip
    asked = asked_next(browser, lambda: browser.run("{" + move.format(0.5) + "}"))
    assert asked["params"]["rate"] == 0.5
    assert "0.5" in browser.text("#formula")
    asked_next(browser, lambda: browser.run("{" + move.format(3) + "}"))
    assert browser.text("#error") == "a rate of 3 is not for this page"
    assert "0.5" in browser.text("#formula")
    asked_next(browser, lambda: browser.click("#presets button:nth-child(2)"))
    assert browser.run("document.querySelector('#error').hidden")
    choose = ("{const s = document.querySelector('#set-method'); s.value = '1'; "
              "s.dispatchEvent(new Event('change'))}")  # fmt: skip
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
    browser.open(served)
    browser.wait("state.trace")
    first = make_trace(Lab.page).data["X"][0].tolist()

    def drag():
        browser.mouse("mousePressed", *place(browser, *first))
        browser.mouse("mouseMoved", *place(browser, 0.2, 0.3))
        browser.mouse("mouseReleased", *place(browser, 0.2, 0.3))

    asked = asked_next(browser, drag)
    np.testing.assert_allclose(asked["data"]["X"][0], [0.2, 0.3], atol=0.02)
    assert len(asked["data"]["X"]) == 20

    def click(tool, x, y):
        browser.click(f"#tool-{tool}")
        at = place(browser, x, y)
        browser.mouse("mousePressed", *at)
        browser.mouse("mouseReleased", *at)

    asked = asked_next(browser, lambda: click("draw", 1.0, -1.9))
    np.testing.assert_allclose(asked["data"]["X"][20], [1.0, -1.9], atol=0.02)
    assert asked["data"]["y"][20] == 0
    link = browser.run("link()")
    asked = asked_next(browser, lambda: click("erase", 1.0, -1.9))
    assert len(asked["data"]["X"]) == 20
    assert len(asked_next(browser, lambda: browser.click("#undo"))["data"]["X"]) == 21
    asked = asked_next(browser, lambda: browser.open(link))
    assert len(asked["data"]["X"]) == 21
    assert browser.complaints == []


def test_the_lab_itself_serves_a_page_that_runs(browser):
    """The real server, with its own policy: nothing is refused, and settings come back."""
    with real_server() as running:
        browser.open(running.address("projections"))
        browser.wait("state.trace && !state.running")
        browser.click("#presets button:last-child")
        browser.wait("!state.running && state.trace.frames.length > 1")
        browser.press("End")
        assert browser.text("#verdict")
        assert browser.complaints == []


def test_rows_come_from_text_and_from_tables(browser, served):
    browser.open(served)
    browser.wait("state.trace")
    write = ("{const d = document.querySelector('#tools details'); "
             "d.querySelector('textarea').value = '0 0 0\\n1, 1, 1\\n2;3;1'; "
             "d.querySelector('button').click()}")  # fmt: skip
    asked = asked_next(browser, lambda: browser.run(write))
    assert asked["data"]["X"] == [[0, 0], [1, 1], [2, 3]]
    assert asked["data"]["y"] == [0, 1, 1]
    load = "loadFile(new File(['a,b,c'], 'x.csv')).then(() => true)"
    asked = asked_next(browser, lambda: browser.run(load))
    assert asked["data"] == {"X": [[0, 0], [1, 1], [2, 2]], "y": [0, 1, 1], "names": ["a", "b"]}
    browser.run("edit({ ...rows(), X: [], y: [] })")
    assert browser.text("#rows-note") == "Draw points of at least two classes."
    assert browser.complaints == []

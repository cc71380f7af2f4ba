"""Firefox over WebDriver BiDi, the protocol that it speaks itself: JSON on a web socket.

Nothing has to be installed beside Firefox; keys and the mouse go through its own event queue.
"""

import base64
import json
import os
import shutil
import socket
import subprocess
import time

PREFERENCES = """
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
"""
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "PageDown": "\ue00f", "PageUp": "\ue00e",
        "ArrowRight": "\ue014", "ArrowLeft": "\ue012", "End": "\ue010"}  # fmt: skip
FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")


class WebSocket:
    """Texts to and from a server on this machine (RFC 6455, as much as is needed here)."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = (f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket",
                 "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13",
                 "", "")  # fmt: skip
        self.socket.sendall("\r\n".join(lines).encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.read()
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        assert b" 101 " in head, head

    def read(self):
        chunk = self.socket.recv(1 << 16)
        assert chunk, "Firefox has gone"
        self.rest += chunk

    def take(self, n):
        while len(self.rest) < n:
            self.read()
        found, self.rest = self.rest[:n], self.rest[n:]
        return found

    def send(self, text):
        body, mask = text.encode(), os.urandom(4)
        size = len(body)
        head = bytes([0x81, 0x80 | size]) if size < 126 else (
            b"\x81\xfe" + size.to_bytes(2, "big") if size < 1 << 16
            else b"\x81\xff" + size.to_bytes(8, "big"))  # fmt: skip
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(body))
        self.socket.sendall(head + mask + masked)

    def receive(self):
        parts = b""
        while True:
            first, second = self.take(2)
            size = second & 0x7F
            if size > 125:
                size = int.from_bytes(self.take(2 if size == 126 else 8), "big")
            body = self.take(size)
            if first & 0x0F < 3:  # a text or a part of one; pings are not answered
                parts += body
                if first & 0x80:
                    return parts.decode()


class Firefox:
    """One tab of a Firefox without a window, with the errors that it complained about."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "user.js").write_text(PREFERENCES)
        command = [FIREFOX, "--headless", "--remote-debugging-port=0", "--no-remote"]
        self.process = subprocess.Popen(
            [*command, "--profile", str(folder)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.number, self.complaints = 0, []
        self.socket = WebSocket(self.port(folder / "WebDriverBiDiServer.json"), "/session")
        self.call("session.new", capabilities={})
        self.tab = self.call("browsingContext.getTree")["contexts"][0]["context"]
        self.call("session.subscribe", events=["log.entryAdded"])
        self.window(1400, 1000)

    def port(self, path):
        end = time.monotonic() + 120
        while not (path.exists() and path.read_text()):
            assert time.monotonic() < end, "Firefox does not start"
            assert self.process.poll() is None, "Firefox has gone"
            time.sleep(0.05)
        return json.loads(path.read_text())["ws_port"]

    def call(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            found = json.loads(self.socket.receive())
            if found.get("id") == self.number:
                assert found["type"] == "success", found
                return found["result"]
            if found.get("method") == "log.entryAdded" and found["params"]["level"] == "error":
                self.complaints.append(found["params"]["text"])

    def window(self, width, height):
        size = {"width": width, "height": height}
        self.call("browsingContext.setViewport", context=self.tab, viewport=size)

    def run(self, expression):
        """A value of the page, as JSON can write it."""
        answer = self.call("script.evaluate", target={"context": self.tab}, awaitPromise=True,
                           expression=f"JSON.stringify({expression}) ?? 'null'")  # fmt: skip
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])

    def open(self, url):
        for address in ("about:blank", url):
            self.call("browsingContext.navigate", context=self.tab, url=address, wait="complete")
        self.complaints = []
        self.wait("document.querySelector('#panels svg')")

    def wait(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.run(f"Boolean({expression})"):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.02)

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def act(self, kind, actions, **more):
        source = {"type": kind, "id": kind, "actions": actions, **more}
        self.call("input.performActions", context=self.tab, actions=[source])

    def press(self, key):
        value = KEYS.get(key, key)
        self.act("key", [{"type": kind, "value": value} for kind in ("keyDown", "keyUp")])

    def pointer(self, *actions):
        """Actions are "down", "up", or a place to move to."""
        steps = {"down": {"type": "pointerDown", "button": 0},
                 "up": {"type": "pointerUp", "button": 0}}  # fmt: skip
        made = [steps[a] if isinstance(a, str) else move(a) for a in actions]
        self.act("pointer", made, parameters={"pointerType": "mouse"})

    def close(self):
        self.socket.socket.close()
        self.process.terminate()
        self.process.wait(timeout=60)


def move(place):
    x, y = place
    return {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0}

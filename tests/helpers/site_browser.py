"""Chromium without a network, driven over its debugging pipe; for the built site."""

import json
import os
import subprocess
import time


class Tab:
    """One tab: opens files, runs JavaScript, keeps what it asked the network for."""

    def __init__(self, folder):
        to_chrome, self.ask = os.pipe()
        self.answer, from_chrome = os.pipe()
        script = f'exec 3<&{to_chrome} 4>&{from_chrome}; exec "$@"'
        options = "--headless --no-sandbox --disable-gpu --no-first-run --remote-debugging-pipe"
        command = ["chromium", *options.split(), f"--user-data-dir={folder}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", script, "chromium", *command],
            pass_fds=(to_chrome, from_chrome),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_chrome)
        os.close(from_chrome)
        self.rest, self.number, self.session, self.requests = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.ask, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                chunk = os.read(self.answer, 1 << 16)
                assert chunk, "Chromium has gone"
                self.rest += chunk
            text, self.rest = self.rest.split(b"\0", 1)
            found = json.loads(text)
            if found.get("id") == self.number:
                assert "error" not in found, found
                return found["result"]
            if found.get("method") == "Network.requestWillBeSent":
                self.requests.append(found["params"]["request"]["url"])

    def look(self, width, scheme):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def open(self, path, query=""):
        self.call("Page.navigate", url=path.as_uri() + query)
        self.until("document.readyState == 'complete'")

    def js(self, expression, **where):
        found = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
            **where,
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def until(self, expression, seconds=20, **where):
        end = time.monotonic() + seconds
        while not self.js(expression, **where):
            assert time.monotonic() < end, f"never: {expression}"
            time.sleep(0.1)

    def inside(self, name):
        """Where JavaScript runs within the frame whose address holds ``name``."""
        frames = self.call("Page.getFrameTree")["frameTree"].get("childFrames", [])
        frame = next(f["frame"] for f in frames if name in f["frame"]["url"])
        world = self.call("Page.createIsolatedWorld", frameId=frame["id"])
        return world["executionContextId"]

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.ask)
        os.close(self.answer)

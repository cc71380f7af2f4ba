"""The real server on loopback: who is let in, what is refused, what it answers."""

import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from pellucid.lab import answering, serving
from pellucid.lab.page import Control, LabData, Page, Preset, hold_out, rows_of
from pellucid.lab.pages import PAGES, page_of
from pellucid.lab.trace import Frame, Trace

pytest.importorskip("uvicorn")
SCRIPT = Path(sysconfig.get_path("scripts")) / "pellucid"


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        found = self.json["error"]
        assert "\n" not in found
        assert "Traceback" not in found
        return found


class Client:
    """Plain HTTP, so that every header can be wrong."""

    def __init__(self, running):
        self.running, self.token = running, running.token

    def ask(self, method, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        link = http.client.HTTPConnection("127.0.0.1", self.running.port, timeout=60)
        try:
            link.request(method, path, body, headers)
            answer = link.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()},
                          answer.read())  # fmt: skip
        finally:
            link.close()

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def post(self, path, value, **headers):
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        return self.ask("POST", path, body, X_Pellucid_Token=self.token, **headers)


ROWS = {"X": [[1, 2], [3, 4], [5, 6]], "y": [0, 1, 1]}
GATE, AT_ONCE = threading.Event(), []  # runs that wait, and how many there were at a time


def small_run(data, params, seed):
    if params["how"] == "waits":
        AT_ONCE.append(1 + sum(AT_ONCE[-1:]))
        GATE.wait(30)
        AT_ONCE.append(0)
    if params["how"] == "fails":
        raise KeyError("inside")
    total = float(data.X.sum()) * params["rate"]
    frame = Frame(0, total, None, f"sum = {total:g}", {"seed": seed}, {})
    return Trace("Small", params, {"X": data.X, "y": data.y}, {}, (frame,))


SMALL = Page(
    "small", "Small", "A page for tests.", "classes",
    (
        Control("rate", "Rate", "number", 0.5, 0.0, 2.0),
        Control("how", "How", "choice", "fast", options=("fast", "waits", "fails")),
    ),
    (
        Preset("one", "words", {}, lambda rng: LabData(rng.normal(size=(4, 2)), np.arange(4) % 2)),
        Preset("two", "words", {"rate": 1.0},
               lambda rng: LabData(np.ones((4, 2)), np.arange(4) % 2), broken=True),
    ),
    small_run,
)  # fmt: skip


def found_page(name):
    if name != "small":
        raise ValueError(f"there is no page {name!r} in the lab")
    return SMALL


@pytest.fixture(scope="module")
def only_small():
    """The small page is the only one: runs are instant, errors can be made."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (answering, serving):
            patch.setattr(module, "page_of", found_page)
        yield


@pytest.fixture(scope="module")
def client(only_small):
    with serving.served({"a": [1, 2], "b": ["u", "v"]}) as running:
        yield Client(running)


def test_the_page_and_its_headers(client):
    answer = client.get("/small")
    assert answer.status == 200
    policy = answer.headers["content-security-policy"]
    nonce = re.search(r"script-src 'nonce-([^']+)'", policy).group(1)
    assert f"style-src 'nonce-{nonce}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "img-src data:;" in policy
    for rule in ("connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'"):
        assert rule in policy
    text = answer.body.decode()
    for tag in re.findall(r"<(?:script|style)[^>]*>", text):
        assert f'nonce="{nonce}"' in tag or 'type="application/json"' in tag
    assert "http-equiv" not in text
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    block = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    boot = json.loads(block.group(1))
    assert (boot["mode"], boot["page"]["name"]) == ("server", "small")
    assert boot["table"] is True  # its columns are asked for with the token
    assert [c["name"] for c in client.post("/offered", b"").json["columns"]] == ["a", "b"]
    again = client.get("/small.html")
    assert again.headers["content-security-policy"] != policy  # a nonce is used once
    assert client.get("/").status == client.get("/index.html").status == 200
    assert client.get("/zebra").error == "there is no page 'zebra' in the lab"


def test_nobody_without_the_token(client):
    wrong = [secrets.token_urlsafe(32), "", client.token[:-1], client.token + "x", "é", "%00"]
    body = b'{"page": "small"}'
    assert client.ask("POST", "/run", body).status == 403
    assert client.ask("POST", f"/run?token={client.token}", body).status == 403  # header only
    for token in wrong[:4]:
        answer = client.ask("POST", "/run", body, X_Pellucid_Token=token)
        assert (answer.status, "token" in answer.error) == (403, True)
        for path in ("/table", "/card", "/offered"):
            assert client.ask("POST", path, b"a\n1\n", X_Pellucid_Token=token).status == 403
    for path in ("/favicon.ico", "/static/lab.js", "/../etc/passwd", "/run"):
        assert client.get(path).status in (400, 404, 405)
    for path in ("/", "/small"):  # what all may read: the lab's own text, nothing of the reader's
        text = client.get(path).body.decode()
        assert client.token not in text
        assert '"columns":' not in text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1.evil:80"])
def test_a_foreign_host_is_refused(client, host):
    """A name that is led to 127.0.0.1 by its owner's DNS still sends its own name."""
    answer = client.get("/", Host=host)
    assert (answer.status, answer.error) == (403, serving.NOT_HERE)
    assert client.post("/run", {"page": "small"}, Host=host).status == 403


def test_hosts_of_port_80():
    """There a browser sends the bare name."""
    assert serving.Door("t", 80).hosts == ("127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost")
    assert serving.Door("t", 81).hosts == ("127.0.0.1:81", "localhost:81")


def test_rows_held_out_stay_so_and_names_have_the_right_number(client):
    def held(page, **more):
        found = rows_of(page, {**ROWS, **more}, 0)
        return found.names, None if found.held_out is None else found.held_out.tolist()

    split = SMALL._replace(presets=(SMALL.presets[0]._replace(data=lambda rng: LabData(
        np.ones((4, 2)), np.arange(4) % 2, np.arange(4) < 1)),))  # fmt: skip
    mask = [True, False, False]
    assert held(SMALL, names=["a"]) == (("x1", "x2"), None)
    assert held(SMALL, names=["a", "b"], held_out=mask) == (("a", "b"), mask)
    assert held(split, held_out=mask)[1] == mask
    assert held(split, held_out=[False] * 3)[1] is None
    assert held(split)[1] == hold_out(3, 0).tolist()
    sent = {"page": "small", "data": {**ROWS, "names": ["only"], "held_out": mask}}
    assert client.post("/run", sent).status == 200


def test_a_foreign_origin_is_refused(client):
    port, page = client.running.port, {"page": "small"}
    for origin in ("https://evil.example", "null", f"https://127.0.0.1:{port}",
                   "http://127.0.0.1:1", f"http://localhost:{port}"):  # fmt: skip
        answer = client.post("/run", page, Origin=origin)
        assert (answer.status, answer.error) == (403, serving.FOREIGN)
    assert client.post("/run", page, Sec_Fetch_Site="cross-site").status == 403
    assert client.post("/run", page, Origin=f"http://127.0.0.1:{port}").status == 200
    local = {"Origin": f"http://localhost:{port}", "Host": f"localhost:{port}"}
    assert client.post("/run", page, **local).status == 200
    preflight = client.ask("OPTIONS", "/run", Origin="https://evil.example")
    assert preflight.status == 403
    assert "access-control-allow-origin" not in preflight.headers


def test_unknown_addresses(client):
    assert client.get("/no/thing").status == 404
    assert client.get("/nothing").status == 400
    assert client.get("/run").error == "there is no page 'run' in the lab"
    assert client.get("/small", Sec_Fetch_Site="cross-site").status == 403
    answer = client.ask("DELETE", "/", X_Pellucid_Token=client.token)
    assert (answer.status, bool(answer.error)) == (405, True)


def test_a_run(client):
    """Presets, settings over them, a seed, rows of one's own."""
    first = client.post("/run", {"page": "small"})
    assert (first.status, first.headers["content-type"]) == (200, "application/json")
    assert first.headers["content-security-policy"] == "default-src 'none'"
    assert first.json["schema"] == "pellucid-trace/1"
    assert first.body == client.post("/run", {"page": "small", "seed": 0}).body
    assert first.body != client.post("/run", {"page": "small", "seed": 1}).body
    second = client.post("/run", {"page": "small", "preset": 1}).json
    assert second["frames"][0]["objective"] == 8.0
    both = {"page": "small", "preset": 1, "params": {"rate": 2}, "data": None}
    assert client.post("/run", both).json["frames"][0]["objective"] == 16.0
    drawn = {"X": [[1, 2], [3, 4.5]], "y": [7, 9], "names": ["p", "q"]}
    own = client.post("/run", {"page": "small", "data": drawn}).json
    assert (own["data"]["X"], own["data"]["y"]) == ([[1.0, 2.0], [3.0, 4.5]], [0, 1])


def test_one_frame_for_a_finger_that_moves(client):
    whole = client.post("/run", {"page": "small"}).json
    for frame in (0, -1, 7):
        one = client.post("/run", {"page": "small", "frame": frame}).json
        assert one["frames"] == whole["frames"][-1:]
        assert one["code"] == ""


BAD = [
    ({"page": "small", "frame": -2}, "frame must be"),
    ({"page": "small", "frame": "end"}, "frame must be"),
    (b"", "not JSON"),
    (b"[1]", "JSON object"),
    (b'"page"', "JSON object"),
    (b"[" * 200_000, "nested too deeply"),
    (b'{"page": "small", "seed": ' + b"9" * 5000 + b"}", ""),
    (b"\xff\xfe", "UTF-8"),
    ({"page": "small", "code": "1"}, "no field 'code'"),
    ({"page": 3}, "page must be"),
    ({"page": "../../etc/passwd"}, "there is no page"),
    ({"page": "small", "seed": -1}, "seed must be"),
    ({"page": "small", "seed": "0"}, "seed must be"),
    ({"page": "small", "seed": True}, "seed must be"),
    ({"page": "small", "seed": None}, "seed must be"),
    ({"page": "small", "seed": 2**32}, "seed must be"),
    ({"page": "small", "preset": 2}, "preset must be"),
    ({"page": "small", "preset": -1}, "preset must be"),
    ({"page": "small", "preset": 0.5}, "preset must be"),
    ({"page": "small", "params": [1]}, "params must be"),
    ({"page": "small", "params": {"rate": [1]}}, "rate"),
    ({"page": "small", "params": {"rate": "1"}}, "rate must be a number"),
    ({"page": "small", "params": {"rate": 3}}, "rate must be between 0 and 2"),
    ({"page": "small", "params": {"rate": 10**400}}, "rate"),
    ({"page": "small", "params": {"how": "no"}}, "how must be one of"),
    ({"page": "small", "params": {"__class__": 1}}, "no setting"),
    (b'{"page": "small", "params": {"rate": NaN}}', "NaN"),
    (b'{"page": "small", "params": {"rate": 1e999}}', "rate"),
    ({"page": "small", "data": [[1, 2]]}, "data must be"),
    ({"page": "small", "data": {"Z": []}}, "data must be"),
    ({"page": "small", "data": {"X": []}}, "needs 2 to 400 rows"),
    ({"page": "small", "data": {"X": [[1, 2]] * 500, "y": [0] * 500}}, "needs 2 to 400 rows"),
    ({"page": "small", "data": {"X": [[1, 2], [3]], "y": [0, 1]}}, "same length"),
    ({"page": "small", "data": {"X": [["1", 2], [3, 4]], "y": [0, 1]}}, "X must hold numbers"),
    ({"page": "small", "data": {"X": [[1, True], [3, 4]], "y": [0, 1]}}, "X must hold numbers"),
    ({"page": "small", "data": {"X": [[1e308, 2], [3, 4]], "y": [0, 1]}}, "X must hold numbers"),
    ({"page": "small", "data": {"X": [[10**400, 2], [3, 4]], "y": [0, 1]}}, "X must hold numbers"),
    ({"page": "small", "data": {"X": [[1, None], [3, 4]], "y": [0, 1]}}, "X must hold numbers"),
    ({"page": "small", "data": {"X": [[1, {}], [3, 4]], "y": [0, 1]}}, "X must hold numbers"),
    ({"page": "small", "data": {"X": [[1, 2], [3, 4]], "y": [0]}}, "one number per row"),
    ({"page": "small", "data": {"X": [[1, 2], [3, 4]], "y": [0, 0]}}, "2 to 8 classes"),
    ({"page": "small", "data": {"X": [[1, 2], [3, 4]], "y": "ab"}}, "y must be a list"),
    ({"page": "small", "data": {"X": [[1, 2], [3, 4]], "y": [0, 1], "names": 3}}, "names must be"),
    ({"page": "small", "data": {**ROWS, "held_out": [True]}}, r"one true or false per row (3)"),
    ({"page": "small", "data": {**ROWS, "held_out": [0, 1, 0]}}, r"one true or false per row (3)"),
    ({"page": "small", "data": {**ROWS, "held_out": "no!"}}, r"one true or false per row (3)"),
    ({"page": "small", "data": {**ROWS, "held_out": [True, True, False]}}, "at least 2 rows"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "words"), BAD, ids=[str(k) for k in range(len(BAD))])
def test_bad_requests_are_one_sentence(client, sent, words):
    answer = client.post("/run", sent)
    assert answer.status == 400
    assert words in answer.error
    assert len(answer.error) < 300


def test_too_large_too_long_and_broken(client):
    answer = client.post("/run", b"x" * (serving.MOST_REQUEST + 1))
    assert (answer.status, "2 MB" in answer.error) == (413, True)
    # a length that is not said beforehand is counted while it comes
    chunks = (b"x" * 500_000 for _ in range(6))
    link = http.client.HTTPConnection("127.0.0.1", client.running.port, timeout=60)
    try:
        link.request("POST", "/run", chunks, {"X-Pellucid-Token": client.token},
                     encode_chunked=True)  # fmt: skip
        assert link.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # refused before all of it was sent
    finally:
        link.close()
    answer = client.post("/run", {"page": "small", "params": {"how": "fails"}})
    assert (answer.status, answer.error) == (500, "the run failed inside: KeyError")
    assert client.post("/run", {"page": "small"}).status == 200


def test_runs_wait_for_each_other(client):
    """Two at once: one worker, both answered; pages do not wait for runs."""
    GATE.clear()
    AT_ONCE.clear()
    found, waits = [], {"page": "small", "params": {"how": "waits"}}

    def ask():
        found.append(client.post("/run", waits))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert client.get("/small").status == 200
    assert not found
    GATE.set()
    for thread in threads:
        thread.join()
    assert [a.status for a in found] == [200, 200]
    assert AT_ONCE == [1, 0, 1, 0]  # one began when the other had ended


def test_a_run_that_takes_too_long(only_small):
    GATE.clear()
    with serving.served(longest_run=0.2) as running:
        client = Client(running)
        for _ in range(2):  # the second waits for the first, and is given up too
            answer = client.post("/run", {"page": "small", "params": {"how": "waits"}})
            assert answer.status == 503
            assert "longer than 0.2 s" in answer.error
            assert "fewer rows" in answer.error
        GATE.set()
        until = time.monotonic() + 20
        while client.post("/run", {"page": "small"}).status != 200:
            assert time.monotonic() < until


def test_tables(client):
    """Numbers as numbers, words as codes; formulas and HTML are words like others."""
    text = 'x;word;when\n1,5;"=1+1";2024-01-02\n;<b>;2024-01-03\n2;<b>;\n'
    found = client.post("/table", text.encode()).json
    assert (found["rows"], found["total"], found["note"]) == (3, 3, "")
    x, word, when = found["columns"]
    assert x == {"name": "x", "kind": "number", "values": [1.5, None, 2.0], "levels": None}
    assert (word["values"], word["levels"]) == ([1, 0, 0], ["<b>", "=1+1"])
    assert when["values"] == [19724.0, 19725.0, None]
    bom = client.post("/table", b"\xef\xbb\xbfa,b\n1,2\n").json
    assert [c["name"] for c in bom["columns"]] == ["a", "b"]
    long = "a,b\n" + "\n".join(f"{i},t{i}" for i in range(3000))
    many = client.post("/table", long.encode()).json
    assert (many["rows"], many["total"]) == (1000, 3000)
    assert [c["name"] for c in many["columns"]] == ["a"]
    assert "1000 of 3000 rows" in many["note"]
    assert "b was left out" in many["note"]
    assert many == client.post("/table", long.encode()).json
    assert "a_2" in client.post("/table", b"a,a\n1,2\n").json["note"]


def test_what_loading_warns_of_is_noted_on_the_page(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,a\n1,2\n")
    with pytest.warns(UserWarning, match="a_2"):
        assert "a_2" in serving.offered(path)["note"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty"),
        (b"  \n ", "empty"),
        (b"a,b\n1,2\n3\n", "line 3"),
        (b"\x1f\x8b\x08\x00" + b"\x00" * 40, "UTF-8"),  # gzip is not unpacked
        (b"\x28\xb5\x2f\xfd" + b"\x00" * 40, "UTF-8"),  # nor zstd
        (b"PAR1" + b"\x00" * 40, "zero byte"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-8"),
        (b"name\n" + b"\n".join(b"%d-x" % i for i in range(90)), "no column"),
    ],
)
def test_bad_tables_are_one_sentence(client, body, words):
    answer = client.post("/table", body)
    assert (answer.status, words in answer.error) == (400, True), answer.error


def test_a_table_beyond_its_limit(client, monkeypatch):
    monkeypatch.setattr(serving, "MOST_TABLE", 1_000_000)
    assert client.post("/table", b"a\n" + b"1\n" * 600_000).status == 413


def test_only_this_machine_and_only_good_ports():
    with serving.served() as running:
        assert running.socket.getsockname()[0] == "127.0.0.1"
        assert len(running.token) >= 40
        with pytest.raises(ValueError, match="cannot be used"):
            serving.prepared(running.port)
    for port in (-1, 65536, 1.5, True, "80"):
        with pytest.raises(ValueError, match="port must be"):
            serving.prepared(port)


def test_without_the_extra(monkeypatch):
    for name in ("uvicorn", "starlette.applications"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, name, None)
            with pytest.raises(ImportError, match=r'pip install "pellucid\[lab\]"'):
                serving.prepared()


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PAGES))
def test_every_page_is_served(name, monkeypatch):
    """Its HTML, the run of its first preset, and a sentence for a setting that it has not."""
    for module in (answering, serving):  # the module's own fixture may still hold
        monkeypatch.setattr(module, "page_of", page_of)
    with serving.served() as running:
        client = Client(running)
        assert client.get(f"/{name}").status == 200
        answer = client.post("/run", {"page": name, "preset": 0})
        assert answer.status == 200, answer.error
        assert len(answer.json["frames"]) >= 2
        bad = client.post("/run", {"page": name, "params": {"method": "zebra"}})
        assert bad.status == 400


def test_the_command_serves_and_ends(tmp_path):
    """One process from the first line to Ctrl-C: exit code 0 and no traceback."""
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    server = subprocess.Popen(
        [SCRIPT, "lab", "KMeans", "--no-browser", "--json", "--data", "t.csv", "--seed", "7"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PELLUCID_NUM_THREADS": "1"},
    )  # fmt: skip
    try:
        address = json.loads(server.stdout.readline())["address"]
        host, _, path = address.removeprefix("http://").partition("/")
        assert re.fullmatch(r"127\.0\.0\.1:\d+", host)
        path, _, place = path.partition("#")
        assert path == "kmeans"
        token = re.fullmatch(r"token=([\w-]+)&seed=7", place).group(1)
        link = http.client.HTTPConnection(host, timeout=60)
        link.request("GET", f"/{path}")
        answer = link.getresponse()
        assert (answer.status, b"k-means" in answer.read()) == (200, True)
        link.request("POST", "/offered", headers={"X-Pellucid-Token": token})
        assert json.loads(link.getresponse().read())["total"] == 2
        long = {"page": "sarsa", "params": {"step_reward": 0.2}}  # still computes when it ends
        link.request("POST", "/run", json.dumps(long), {"X-Pellucid-Token": token})
        time.sleep(0.3)
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=120)
        link.close()
    finally:
        server.kill()
    assert (server.returncode, out, err) == (0, "", "")

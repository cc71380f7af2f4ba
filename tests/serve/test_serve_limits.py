"""Malformed, huge, slow and forbidden requests: one sentence each, and the server goes on."""

import asyncio
import io
import json
import logging
import socket
import threading
import time

import numpy as np
import polars as pl
import pytest
from serve_client import Client
from uvicorn.server import ServerState

import pellucid
from pellucid.serve import Limits, make_app
from pellucid.serve.questions import Desk
from pellucid.serve.rows import ARROW
from pellucid.serve.running import served, server_of

LIMITS = Limits(body=20_000, rows=50, seconds=20, waiting=1, concurrent=3, connections=40)


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    return pellucid.LogisticRegression().fit(X, X[:, 0] > 0)


@pytest.fixture(scope="module")
def client(model):
    with served(model, LIMITS) as address:
        yield Client(address)


@pytest.fixture(autouse=True)
def still_there(request):
    """After whatever a test did, the server answers the next client."""
    yield
    if "client" in request.fixturenames:
        assert request.getfixturevalue("client").predict([[0, 1]]).status == 200


MALFORMED = {
    b"": (400, "not JSON"),
    b"{": (400, "not JSON"),
    b"\x80abc": (400, "not UTF-8"),
    b"[" * 15_000: (400, "nested too deeply"),
    b"[1, 2]": (422, "must be a JSON object"),
    b'"rows"': (422, "must be a JSON object"),
    b"{}": (422, "must be a JSON object"),
    b'{"rows": []}': (422, "at least one row"),
    b'{"rows": 3}': (422, "at least one row"),
    b'{"rows": [1, 2]}': (422, "lists of numbers"),
    b'{"rows": [[1, 2], {"a": 1}]}': (422, "lists of numbers"),
    b'{"rows": [[1, 2]], "zebra": 1}': (422, "unknown key 'zebra'"),
    b'{"rows": [[1, "two"]]}': (422, "holds text"),
    b'{"rows": [[1, {"a": 1}]]}': (422, "nested"),
    b'{"rows": [[1, [[1]]]]}': (422, "nested"),
    b'{"rows": [[1, null]]}': (422, "NaN"),
    b'{"rows": [[1, Infinity]]}': (422, "inf"),
    b'{"rows": [[1, 1e999]]}': (422, "inf"),
    b'{"rows": [[1, 99999999999999999999999]]}': (422, "64 bits"),
    b'{"rows": [[1, 2]], "proba": "yes"}': (422, "proba must be true or false"),
    b'{"rows": [[1, 2]], "interval": 7}': (422, "from 0 to 1"),
    b'{"rows": [[1, 2]], "interval": NaN}': (422, "from 0 to 1"),
    b'{"rows": [[1, 2]], "interval": 1' + b"0" * 400 + b"}": (422, "from 0 to 1"),
    b'{"rows": [[1, 2]], "threshold": true}': (422, "must be a number"),
    b'{"rows": [[1, 2]], "sets": 0.9}': (422, "no calibration rows"),
    b'{"rows": [' + b"[1, 2]," * 60 + b"[1, 2]]}": (413, "61 rows; at most 50"),
}


@pytest.mark.parametrize("body", MALFORMED, ids=lambda body: body[:30].decode("latin-1"))
def test_malformed_requests(client, body):
    status, words = MALFORMED[body]
    answer = client.predict(body)
    assert (answer.status, words in answer.error) == (status, True), answer.body


def test_other_contents(client):
    for kind in ("text/plain", "multipart/form-data", "", "application/x-www-form-urlencoded"):
        answer = client.ask("POST", "/predict", b'{"rows": [[1, 2]]}', Content_Type=kind)
        assert (answer.status, "must be" in answer.error) == (415, True)
    packed = {"Content_Type": "application/json", "Content_Encoding": "gzip"}
    assert client.ask("POST", "/predict", b"x", **packed).status == 415


def test_damaged_arrow_streams(client):
    """What would end the process ends a process that only decodes."""
    out = io.BytesIO()
    pl.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0)}).write_ipc_stream(out)
    whole, rng = out.getvalue(), np.random.default_rng(0)
    good = client.ask("POST", "/predict", whole, Content_Type=ARROW)
    assert good.status == 200
    for _ in range(40):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), size=3):
            damaged[at] ^= 1 << int(rng.integers(8))
        answer = client.ask("POST", "/predict", bytes(damaged), Content_Type=ARROW)
        assert answer.status == 200 or answer.error
        assert answer.status in (200, 400, 413, 422)
    for part in (b"", b"ARROW1", whole[: len(whole) // 2], b"\xff" * 100):
        answer = client.ask("POST", "/predict", part, Content_Type=ARROW)
        assert (answer.status, "Arrow" in answer.error) == (422, True)


def test_long_arrow_streams_and_other_columns(client):
    out = io.BytesIO()
    pl.DataFrame({"a": [0.0] * 51, "b": [0.0] * 51}).write_ipc_stream(out)
    answer = client.ask("POST", "/predict", out.getvalue(), Content_Type=ARROW)
    assert (answer.status, answer.error) == (413, "the request has 51 rows; at most 50 are taken")
    out = io.BytesIO()
    pl.DataFrame({"a": [0.0]}).write_ipc_stream(out)
    answer = client.ask("POST", "/predict?zebra=1", out.getvalue(), Content_Type=ARROW)
    assert "the request has 1 columns, the model takes 2" in answer.error
    out = io.BytesIO()
    pl.DataFrame({"a": [0.0], "b": [0.0]}).write_ipc_stream(out)
    answer = client.ask("POST", "/predict?zebra=1", out.getvalue(), Content_Type=ARROW)
    assert "unknown option 'zebra'" in answer.error
    for text in ("perhaps", "[" * 15_000):
        answer = client.ask("POST", f"/predict?proba={text}", out.getvalue(), Content_Type=ARROW)
        assert "must be true, false or a number" in answer.error


def test_huge_requests(client):
    """Refused by what they say of themselves, or while they come in."""
    answer = client.predict(b"x" * 30_000)
    assert (answer.status, answer.error) == (413, "at most 20000 bytes are taken")
    head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for size, status in ((b"9" * 26, b"400"), (b"9" * 19, b"413"), (b"30000", b"413")):
        found = client.raw(head + b"Content-Length: " + size + b"\r\n\r\n")
        assert found.startswith(b"HTTP/1.1 " + status)
    chunk = b"%x\r\n%s\r\n" % (4000, b" " * 4000)
    found = client.raw(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 6)
    assert found.startswith(b"HTTP/1.1 413")
    found = client.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000 + b"\r\n\r\n")
    assert found == b"" or found.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"POST /predict HTT",
        b"POST /predict HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    ],
)
def test_a_head_that_never_comes_ends_the_connection(client, begun):
    """Slow clients: a byte now and then does not keep a connection open."""
    with socket.create_connection(("127.0.0.1", client.port), timeout=15) as link:
        link.sendall(begun)
        link.settimeout(0.4)
        began = time.monotonic()
        while time.monotonic() - began < 12:
            try:
                if begun:
                    link.sendall(b"a")
                if link.recv(10) == b"":
                    return
            except TimeoutError:
                continue
            except (ConnectionResetError, BrokenPipeError):
                return
        pytest.fail("the connection was left open")


def test_a_body_that_never_comes_is_refused(client):
    head = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    found = client.raw(head + b"Content-Length: 100\r\n\r\n{")
    assert found.startswith(b"HTTP/1.1 408")
    assert json.loads(found.split(b"\r\n\r\n")[1])["error"].startswith("the request did not come")


def test_many_slow_clients_do_not_stop_the_others(client):
    links = [socket.create_connection(("127.0.0.1", client.port)) for _ in range(30)]
    try:
        for link in links:
            link.sendall(b"POST /predict HTTP/1.1\r\n")
        assert client.predict([[0, 1]]).status == 200
    finally:
        for link in links:
            link.close()


def test_too_many_at_a_time_are_told_to_come_again(client, monkeypatch):
    gate, inside = threading.Event(), threading.Semaphore(0)
    answer = Desk.answer

    def waits(self, *args):
        inside.release()
        assert gate.wait(30)
        return answer(self, *args)

    monkeypatch.setattr(Desk, "answer", waits)
    found = []
    team = [
        threading.Thread(target=lambda: found.append(client.predict([[0, 1]]).status))
        for _ in range(LIMITS.concurrent)
    ]
    for one in team:
        one.start()
    for _ in range(2):  # two threads compute, the third request waits
        assert inside.acquire(timeout=20)
    end = time.monotonic() + 20
    while (busy := client.get("/health/ready")).status == 200 and time.monotonic() < end:
        time.sleep(0.02)
    assert busy.status == 503
    answer_now = client.predict([[0, 1]])
    assert (answer_now.status, answer_now.headers["retry-after"]) == (503, "1")
    assert "busy" in answer_now.error
    assert client.get("/health/live").status == 200
    gate.set()
    for one in team:
        one.join(20)
    assert found == [200] * LIMITS.concurrent


def test_an_answer_that_takes_too_long_is_given_up(model, monkeypatch):
    gate, answer = threading.Event(), Desk.answer
    with served(model, LIMITS._replace(seconds=0.3)) as address:
        monkeypatch.setattr(Desk, "answer", lambda *a: gate.wait(30) and answer(*a))
        client = Client(address)
        late = client.predict([[0, 1]])
        assert (late.status, "took longer than 0.3 s" in late.error) == (503, True)
        gate.set()
        assert client.predict([[0, 1]]).status == 200


def test_what_fails_inside_is_told_to_the_log_only(client, monkeypatch, caplog):
    def fails(*args):
        raise KeyError("a secret of /etc/passwd")

    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):
        patch.setattr(Desk, "answer", fails)
        answer = client.predict([[0, 1]])
        assert (answer.status, "secret" in answer.error) == (500, False)
    assert "a secret of" in caplog.text


def test_nobody_without_the_token(model):
    with served(model, LIMITS, token="open sesame") as address:
        client = Client(address, "open sesame")
        assert client.predict([[0, 1]]).status == 200
        assert client.get("/openapi.json").json["security"] == [{"token": []}]
        for wrong in ("", "open", "open sesame!", "é"):
            stranger = Client(address)
            header = {"Authorization": f"Bearer {wrong}"}
            for path in ("/schema", "/card", "/drift", "/openapi.json"):
                assert stranger.get(path, **header).status == 401
        answer = Client(address).predict([[0, 1]])
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert "token" in answer.error
        assert Client(address).get("/health/live").status == 200


def test_other_hosts_and_other_sites_are_refused(client):
    """A page in a browser on this machine can neither ask nor read."""
    for host in ("evil.example", f"evil.example:{client.port}", "127.0.0.1.evil:80"):
        assert client.get("/schema", Host=host).status == 421
    assert client.get("/schema", Host=f"localhost:{client.port}").status == 200
    assert client.get("/schema", Sec_Fetch_Site="cross-site").status == 403
    answer = client.ask("OPTIONS", "/predict", Origin="http://evil.example")
    assert (answer.status, "access-control-allow-origin" in answer.headers) == (405, False)


def test_unknown_addresses(client):
    for path in ("/", "/predict/", "/../etc/passwd", "/docs", "/%2e%2e/x"):
        assert (client.get(path).status, len(client.get(path).error) > 10) == (404, True)
    for way, path in (("GET", "/predict"), ("POST", "/schema"), ("DELETE", "/predict")):
        assert (client.ask(way, path).status, "not asked" in client.ask(way, path).error) == (
            405,
            True,
        )
    found = client.raw(b"NONSENSE\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 400")


class Deaf(asyncio.Transport):
    """A connection whose client reads nothing."""

    ended = closing = False

    def get_extra_info(self, name, default=None):
        return default

    def write(self, data):
        pass

    def get_write_buffer_size(self):
        return 1000

    def is_closing(self):
        return self.closing

    def close(self):
        self.closing = True

    def abort(self):
        self.ended = True

    def pause_reading(self):
        pass

    resume_reading = pause_reading


def test_an_answer_that_nobody_reads_ends_the_connection(model):
    limits = LIMITS._replace(waiting=0.2)

    async def ends():
        config = server_of(make_app(model, limits), limits).config
        config.load()
        link = Deaf()
        one = config.http_protocol_class(config, ServerState(), {})
        one.connection_made(link)
        one.data_received(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        for _ in range(200):
            await asyncio.sleep(0.05)
            if link.ended:
                return one.stage == ""
        return False

    assert asyncio.run(ends())


def test_limits_that_make_no_sense():
    for name in ("body", "rows", "seconds", "waiting", "concurrent", "connections"):
        with pytest.raises(ValueError, match=name):
            Limits()._replace(**{name: 0}).checked()

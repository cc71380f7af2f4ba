"""`pellucid serve` as a user starts it: several processes, signals, exit codes."""

import json
import os
import signal
import subprocess
import sysconfig
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from serve_client import Client

import pellucid

SCRIPT = Path(sysconfig.get_path("scripts")) / "pellucid"
PATIENCE = 240  # seconds; the machine may be busy


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("serve") / "model.pellucid"
    X = np.random.default_rng(0).normal(size=(60, 2))
    pellucid.save(pellucid.GaussianNB().fit(X, X[:, 0] > 0), path)
    return path


@contextmanager
def running(*args, **environment):
    """The command, until SIGTERM; it must then end with code 0 and say nothing."""
    command = [SCRIPT, "serve", *map(str, args), "--json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    one = subprocess.Popen(command, env={**os.environ, **environment}, **pipes)
    try:
        yield one, Client(json.loads(one.stdout.readline())["address"])
    finally:
        one.terminate()
        _, said = one.communicate(timeout=PATIENCE)
    assert (one.returncode, said) == (0, "")


def test_one_process_answers_and_ends_by_a_signal(saved):
    with running(saved, "--port=0", PELLUCID_TOKEN="secret") as (_, client):
        assert client.predict([[1, 2]]).status == 401
        client.token = "secret"
        said = client.predict([[1, 2]], proba=True).json["predictions"][0]
        model = pellucid.load(saved)
        assert said["prediction"] == bool(model.predict([[1.0, 2.0]])[0])
        assert said["probability_True"] == model.predict_proba([[1.0, 2.0]])[0, 1]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_several_processes_share_a_port_and_their_counts(saved):
    with running(saved, "--port=0", "--workers=2") as (one, client):
        for _ in range(20):
            assert client.predict([[1, None], [0, 1]]).status in (200, 422)
        before = client.get("/drift").json
        assert before["requests"] == 20
        found = set()
        end = time.monotonic() + 60
        while len(found) < 2 and time.monotonic() < end:
            found |= children(one.pid)
        victim = min(found)
        os.kill(victim, signal.SIGKILL)  # one that dies is replaced, and its counts stay
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                if client.get("/drift").json["requests"] >= 20 and victim not in children(one.pid):
                    break
            except OSError:
                time.sleep(0.1)
        assert client.get("/drift").json["requests"] == 20
        one.stderr.readline()  # the note about it


def children(pid):
    """Processes that this one started and that run Python."""
    found = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            line = Path(f"/proc/{child}/cmdline").read_bytes()
            if b"spawn_main" in line:
                found.add(int(child))
    return found


def test_a_request_under_way_is_answered_before_the_end(saved):
    with running(saved, "--port=0", "--max-waiting=30") as (one, client):
        import socket

        body = b'{"rows": [[1, 2]]}'
        head = (
            b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n" % len(body)
        )
        with socket.create_connection(("127.0.0.1", client.port), timeout=60) as link:
            link.sendall(head + body[:5])
            time.sleep(0.5)
            one.send_signal(signal.SIGTERM)
            threading.Timer(0.5, link.sendall, (body[5:],)).start()
            assert link.recv(1000).startswith(b"HTTP/1.1 200")


def test_what_cannot_be_served_ends_at_once(saved, tmp_path):
    def ended(*args):
        done = subprocess.run(
            [SCRIPT, "serve", *map(str, args)], capture_output=True, text=True, timeout=PATIENCE
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stderr

    code, said = ended(tmp_path / "none.pellucid")
    assert (code, "there is no model file" in said) == (5, True)
    broken = tmp_path / "broken.pellucid"
    broken.write_bytes(saved.read_bytes()[:-100])
    code, said = ended(broken)
    assert (code, "broken.pellucid" in said) == (5, True)
    code, said = ended(saved, "--max-seconds=-1")
    assert (code, "seconds must be" in said) == (2, True)
    import socket

    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        code, said = ended(saved, f"--port={other.getsockname()[1]}")
    assert (code, "cannot be used" in said) == (2, True)

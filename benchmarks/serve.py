"""``python -m benchmarks.serve [--workers=N] [--write]``: single rows over HTTP.

A forest of 100 trees behind ``pellucid serve``, a process of its own; this process sends single
rows. Two questions: how many requests a second when 8 clients ask as fast as they are answered,
and how long a request takes when 200 a second arrive on time, whether the one before was answered
or not. A latency is counted from the moment at which the request was due. ``--write`` puts the
table into SERVE.md.
"""

import asyncio
import json
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import pellucid

ROWS, COLUMNS, TREES = 10_000, 20, 100
RATES = (100, 200, 400)  # requests a second
SECONDS = 15.0
CLIENTS = 8
PAGE = Path(__file__).with_name("SERVE.md")
SCRIPT = Path(sysconfig.get_path("scripts")) / "pellucid"


class Load(NamedTuple):
    """What was asked and how long it took."""

    name: str
    rate: float  # answered a second
    p50: float  # milliseconds
    p99: float
    worst: float
    failed: int


class Client:
    """One connection that stays open."""

    def __init__(self, port: int, request: bytes) -> None:
        self.port, self.request = port, request

    async def open(self) -> "Client":
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def ask(self) -> bool:
        """Send the row and read the answer; whether it was one."""
        self.writer.write(self.request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await self.reader.readexactly(size)
        return head.startswith(b"HTTP/1.1 200")


def made_request(port: int, X: Any) -> bytes:
    body = json.dumps({"rows": X.tolist(), "proba": True}).encode()
    head = (
        f"POST /predict HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def summed(name: str, seconds: list[float], took: float, failed: int) -> Load:
    ms = 1000 * np.array(seconds)
    return Load(
        name,
        len(ms) / took,
        float(np.median(ms)),
        float(np.quantile(ms, 0.99)),
        float(ms.max()),
        failed,
    )


async def as_fast_as_answered(port: int, request: bytes) -> Load:
    """Every client asks again as soon as it has its answer."""
    seconds: list[float] = []
    failed = 0
    end = time.perf_counter() + SECONDS

    async def one() -> None:
        nonlocal failed
        client = await Client(port, request).open()
        while (began := time.perf_counter()) < end:
            failed += not await client.ask()
            seconds.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(CLIENTS)))
    name = f"{CLIENTS} clients, as fast as answered"
    return summed(name, seconds, time.perf_counter() - began, failed)


async def on_time(port: int, request: bytes, rate: int) -> Load:
    """Requests that are due at fixed moments; one that finds no free connection waits, and that
    counts."""
    free: asyncio.Queue[Client] = asyncio.Queue()
    for _ in range(4 * CLIENTS):
        free.put_nowait(await Client(port, request).open())
    seconds: list[float] = []
    failed = 0

    async def one(due: float) -> None:
        nonlocal failed
        client = await free.get()
        failed += not await client.ask()
        seconds.append(time.perf_counter() - due)
        free.put_nowait(client)

    began = time.perf_counter()
    asked = []
    for i in range(int(rate * SECONDS)):
        due = began + i / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        asked.append(asyncio.create_task(one(due)))
    await asyncio.gather(*asked)
    return summed(f"{rate} a second, on time", seconds, time.perf_counter() - began, failed)


def measured(workers: int) -> list[Load]:
    """All loads against one server."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, COLUMNS))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    model = pellucid.RandomForestClassifier(n_estimators=TREES, random_state=0).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forest.pellucid"
        pellucid.save(model, path, slim=True)
        command = [str(SCRIPT), "serve", str(path), "--port=0", "--json"]
        server = subprocess.Popen(
            [*command, f"--workers={workers}"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            port = int(json.loads(server.stdout.readline())["address"].rsplit(":", 1)[1])
            request = made_request(port, X[:1])
            found = [asyncio.run(as_fast_as_answered(port, request))]
            return found + [asyncio.run(on_time(port, request, rate)) for rate in RATES]
        finally:
            server.terminate()
            server.wait(30)


def page(tables: dict[int, list[Load]]) -> str:
    """The tables as text."""
    lines = [
        "# Serving",
        "",
        f"Single rows of {COLUMNS} numbers, with probabilities, for a RandomForestClassifier",
        f"of {TREES} trees ({ROWS:,} training rows) behind `pellucid serve`; the client runs on",
        "the same machine. Written by `python -m benchmarks.serve --write`.",
        "",
        f"- machine: {os.cpu_count()} cores; Python {platform.python_version()}",
    ]
    for workers, loads in tables.items():
        lines += [
            "",
            f"## {workers} process{'es' if workers > 1 else ''}",
            "",
            "| load | answered a second | median (ms) | p99 (ms) | worst (ms) | failed |",
            "|---|---:|---:|---:|---:|---:|",
        ]
        for one in loads:
            times = f"{one.p50:.2f} | {one.p99:.2f} | {one.worst:.1f}"
            lines.append(f"| {one.name} | {one.rate:.0f} | {times} | {one.failed} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    given = [a.partition("=")[2] for a in sys.argv[1:] if a.startswith("--workers=")]
    text = page({n: measured(n) for n in (map(int, given) if given else (1, 2))})
    print(text)
    if "--write" in sys.argv:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()

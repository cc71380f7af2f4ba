"""Run every contender of a case in a process of its own and compare time and answer.

A case is data, a function per contender, and a check that the answers agree. Thread pools of
several libraries in one process distort each other, so a worker process runs one contender only:
it makes the data, calls it once to warm up (imports, compilation, page faults), then keeps the
best of several calls. Contenders take turns, so that a busy moment hits all of them. A peer that
fails, or needs longer than the limit, is named under the table and gets no line.
"""

import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

OURS = "pellucid"
ENOUGH = 30.0  # seconds of calls in one process after which none is begun


class Case(NamedTuple):
    """One line of the results: what is run, by whom, and when answers count as the same."""

    name: str
    data: Callable[[], Any]
    contenders: dict[str, Callable[[Any], Any]]  # the first is ours; each returns its answer
    same: Callable[[Any, Any], bool]  # (ours, theirs)
    limit: str  # what the hardware allows: bytes moved, flops
    note: str = ""  # where we lose, and why
    rounds: int = 3  # processes per contender
    repeats: int = 3  # calls per process
    work: dict[str, float] = {}  # noqa: RUF012  share of the work that a contender is given
    memory: bool = False  # whether the peak of memory is a column


class Timing(NamedTuple):
    seconds: float
    first_call: float
    answer: Any
    memory: float  # bytes at the peak beyond those with the data in place
    call: float  # bytes at the peak of the later calls beyond those held before them


def peak() -> float:
    """The most bytes this process has held in memory so far (NaN where nobody counts them)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    found = [line.split()[1] for line in status.read_text().splitlines() if "VmHWM" in line]
    return 1024.0 * int(found[0]) if found else float("nan")


def held() -> float:
    """The bytes this process holds; its peak starts anew from here (NaN where nobody counts)."""
    status, renew = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not os.access(renew, os.W_OK):
        return float("nan")
    renew.write_text("5")
    return 1024.0 * int(status.read_text().split("VmRSS:")[1].split()[0])


def work(module: str, index: int, contender: str, out: str) -> None:
    """The worker: run one contender, write the times and the answer."""
    case: Case = importlib.import_module(module).CASES[index]
    data = case.data()
    function = case.contenders[contender]
    times: list[float] = []
    before = after = peak()
    while len(times) < 2 or (len(times) <= case.repeats and sum(times) < ENOUGH):
        if case.memory and len(times) == 1:
            first, after = peak(), held()
        began = time.perf_counter()
        answer = function(data)
        times.append(time.perf_counter() - began)
    call = peak() - after
    memory = (max(first, peak()) if case.memory else peak()) - before
    found = {"answer": np.asarray(answer), "times": np.array(times)}
    np.savez(out, **found, memory=memory, call=call)


def run_one(module: str, index: int, contender: str, limit: float | None = None) -> Timing:
    """Start a worker and read what it wrote; RuntimeError where it failed or took too long."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "result.npz")
        arguments = f"({module!r}, {index}, {contender!r}, {out!r})"
        call = f"from benchmarks.harness import work; work{arguments}"
        command = [sys.executable, "-c", call]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"{contender}: not done after {limit:g} s") from None
        if done.returncode:
            raise RuntimeError(f"{contender}: {done.stderr.strip().splitlines()[-1]}")
        with np.load(out) as stored:
            times, answer = stored["times"], stored["answer"]
            memory, call = float(stored["memory"]), float(stored["call"])
    return Timing(float(times[1:].min()), float(times[0]), answer, memory, call)


class Result(NamedTuple):
    family: str
    case: str
    limit: str
    note: str
    date: str
    rows: list[dict[str, Any]]
    machine: str


def run_case(
    module: str, index: int, rounds: int | None = None, limit: float | None = None
) -> Result:
    """All contenders in turn; the best time of each, and whether its answer is ours."""
    case: Case = importlib.import_module(module).CASES[index]
    best: dict[str, Timing] = {}
    failed: dict[str, str] = {}
    for _ in range(min(case.rounds, rounds or case.rounds)):
        for contender in case.contenders:
            if contender in failed:
                continue
            try:
                timing = run_one(module, index, contender, limit)
            except RuntimeError as error:
                if contender == OURS:
                    raise
                failed[contender] = str(error)
                continue
            if contender not in best or timing.seconds < best[contender].seconds:
                best[contender] = timing
    ours = best[OURS]
    rows = [
        {
            "contender": name,
            "seconds": timing.seconds,
            "first_call": timing.first_call,
            "ratio": timing.seconds / case.work.get(name, 1.0) / ours.seconds,
            "same": bool(case.same(ours.answer, timing.answer)),
            **({"memory": timing.memory, "call": timing.call} if case.memory else {}),
        }
        for name, timing in best.items()
    ]
    family = module.rpartition(".")[2]
    absent = [f"No line: {sentence}." for sentence in failed.values()]
    note = " ".join([*([case.note] if case.note else []), *absent])
    date = time.strftime("%Y-%m-%d")
    return Result(family, case.name, case.limit, note, date, rows, machine())


def table(result: Result) -> str:
    """One case as a Markdown table."""
    lines = [f"### {result.case}", "", f"Limit: {result.limit}", ""]
    memory = any("memory" in row for row in result.rows)
    more = (" memory (MB) | of a call (MB) |", "---:|---:|") if memory else ("", "")
    lines += [f"| contender | best (ms) | peer / ours | same answer |{more[0]}"]
    lines += [f"|---|---:|---:|---|{more[1]}"]
    for row in result.rows:
        ratio = "" if row["contender"] == OURS else f"{row['ratio']:.2f}"
        same = "" if row["contender"] == OURS else ("yes" if row["same"] else "**no**")
        bytes_ = (row.get("memory", np.nan), row.get("call", np.nan))
        used = "".join(f" {b / 1e6:.0f} |" for b in bytes_) if memory else ""
        line = f"| {row['contender']} | {1e3 * row['seconds']:.1f} | {ratio} | {same} |{used}"
        lines.append(line)
    return "\n".join([*lines, "", *([result.note, ""] if result.note else [])])


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def machine() -> str:
    """What the figures were measured on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = [
            x.split(":")[1].strip() for x in cpuinfo.read_text().splitlines() if "model name" in x
        ]
        model = models[0] if models else model
    packages = (
        "numpy", "scipy", "numba", "scikit-learn", "scikit-learn-intelex", "statsmodels", "celer",
        "skglm", "polars",
    )  # fmt: skip
    versions = ", ".join(f"{name} {_version(name)}" for name in packages)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores of {model}; Python {platform.python_version()}; {versions}"


def read(path: Path) -> list[Result]:
    """The results of earlier runs."""
    stored = path.with_name("results.json")
    records = json.loads(stored.read_text()) if stored.exists() else []
    return [Result(**record) for record in records if "family" in record]


def write(results: list[Result], path: Path) -> None:
    """RESULTS.md for people and results.json beside it."""
    rows = [row for r in results for row in r.rows if row["contender"] != OURS]
    behind = [
        f"{r.case} ({row['contender']} {row['ratio']:.2f})"
        for r in results for row in r.rows if row["contender"] != OURS and row["ratio"] < 1
    ]  # fmt: skip
    most = Counter(r.machine for r in results).most_common(1)[0][0] if results else machine()
    head = [
        "# Benchmarks",
        "",
        "Each contender in its own process, best of several calls after one warm-up call;",
        "`peer / ours` above 1 means ours is faster. Written by `make bench`.",
        "`memory`, where asked for: the peak of the process beyond what it held with the data in",
        "place, the libraries that the contender loads included; `of a call`: that of a later call",
        "beyond what the process held before it.",
        "",
        f"- machine, where a case names no other: {most}",
        f"- {len(results)} cases, {len(rows)} comparisons; behind in {len(behind)}: "
        + ("; ".join(behind) or "none"),
        "",
    ]
    text = list(head)
    for family in dict.fromkeys(r.family for r in results):
        mine = [r for r in results if r.family == family]
        text += [f"## {family} ({mine[-1].date})", ""]
        for r in mine:
            text += [table(r), *([f"Measured on {r.machine}.", ""] if r.machine != most else [])]
    path.write_text("\n".join(text))
    records = [result._asdict() for result in results]
    path.with_name("results.json").write_text(json.dumps(records, indent=1) + "\n")

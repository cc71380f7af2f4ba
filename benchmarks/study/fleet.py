"""Many studies at once: every tool on every split of the exported tables, N processes at a time.

    python -m benchmarks.study.fleet --tables FOLDER --jobs 14 --tools quick,standard,lightgbm,hgb
        --seconds 30 --out FILE

Every job is a process of its own with ``--threads`` threads (1 unless told); the seed is fixed. A
line of JSON is appended to FILE when a job ends: scores, seconds, the tool's own estimate. A job
that fails leaves a line with its traceback and the others go on. Jobs that have a line are not run
again, so that an interrupted run goes on where it was; ``--retry`` runs the failed ones again.

    --only NAMES     tables, separated by commas
    --splits N       only the first N of the three splits
    --metric NAME    what classifiers are told to mind: accuracy (unless told) or log_loss
    --kill SECONDS   a job that is not done by then has failed (4 x seconds + 120 unless told)
    --total SECONDS  no job is begun after that, and those that run then are stopped without a line
    --python T=PATH  the interpreter that has the tool T; may be given several times
    --peers FOLDER   the environments that ``benchmarks.study.peers`` has made
    --warm           first compile Pellucid's kernels, in as many processes
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.study.export import read
from benchmarks.study.peers import interpreters
from benchmarks.study.scores import scores_of, tested_scores
from benchmarks.study.splits import SPLITS, splits_of
from benchmarks.study.tools import TOOLS

POOLS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS", "PELLUCID_NUM_THREADS",
)  # fmt: skip
KEY = ("table", "split", "tool", "limit", "metric")
FOLDER = Path(__file__).parent


class Race(NamedTuple):
    """What is run, and how."""

    tables: Path
    tools: tuple[str, ...]
    out: Path
    seconds: float = 30.0
    metric: str = "accuracy"  # for classes; numbers have rmse
    jobs: int = 1
    threads: int = 1
    splits: int = SPLITS
    only: tuple[str, ...] = ()
    kill: float | None = None
    total: float | None = None
    retry: bool = False
    pythons: dict[str, str] = {}  # noqa: RUF012

    def metric_of(self, entry: dict[str, Any]) -> str:
        return "rmse" if entry["kind"] == "number" else self.metric


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The last line of every job in a results file; one that was cut off is left out."""
    found = {}
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            continue
        found[tuple(line[k] for k in KEY)] = line
    return list(found.values())


def open_jobs(race: Race) -> list[tuple[dict[str, Any], int, str]]:
    """Table, split and tool of what has no line yet: split by split, large tables first."""
    entries = [e for e in read(race.tables) if not race.only or e["name"] in race.only]
    done = {
        tuple(line[k] for k in KEY)
        for line in lines_of(race.out) if not (race.retry and "error" in line)
    }  # fmt: skip
    entries.sort(key=lambda e: -e["rows"] * e["columns"])
    return [
        (entry, split, tool)
        for split in range(race.splits) for entry in entries for tool in race.tools
        if (entry["name"], split, tool, race.seconds, race.metric_of(entry)) not in done
    ]  # fmt: skip


def surroundings(threads: int) -> dict[str, str]:
    """The environment of a job: so many threads, and paths that hold in any folder."""
    paths = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p]
    return {
        **os.environ, **dict.fromkeys(POOLS, str(threads)), "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(str(Path(p).resolve()) for p in paths),
    }  # fmt: skip


def run_job(race: Race, entry: dict[str, Any], split: int, tool: str, left: float) -> Any:
    """The line of one job; None where the time of the whole run was up first."""
    import polars as pl

    head = dict(zip(KEY, (entry["name"], split, tool, race.seconds, race.metric_of(entry)),
                    strict=True)) | {"kind": entry["kind"]}  # fmt: skip
    kill = race.kill or 4 * race.seconds + 120
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        frame = pl.read_csv(race.tables / entry["file"], infer_schema_length=None)
        learn, judge = splits_of(entry, frame)[split]
        y = frame[judge][entry["target"]].to_numpy()
        groups = frame[judge][entry["group"]].to_numpy() if entry["group"] else None
        frame[learn].write_csv(folder / "train.csv")
        frame[judge].drop(entry["target"]).write_csv(folder / "test.csv")
        head |= {"learned": len(learn), "judged": len(judge)}
        del frame
        job = {
            "tool": tool, "target": entry["target"], "kind": entry["kind"],
            "metric": head["metric"], "seconds": race.seconds, "threads": race.threads,
            "group": entry["group"], "time": entry["time"],
        }  # fmt: skip
        (folder / "job.json").write_text(json.dumps(job))
        command = [race.pythons.get(tool, sys.executable), "-P", str(FOLDER / "tools.py"), scratch]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, cwd=scratch,
                env=surroundings(race.threads), timeout=max(min(kill, left), 0.1),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None if left < kill else head | {"error": f"not done after {kill:g} s"}
        if done.returncode or not (folder / "answer.npz").exists():
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            return head | {"error": last, "traceback": done.stderr[-4000:]}
        with np.load(folder / "answer.npz") as stored:
            answer = dict(stored)
    return head | {
        "scores": scores_of(y, answer, entry["kind"], groups),
        "tested": tested_scores(y, answer, entry["kind"], groups),
        "own": [None if np.isnan(v) else float(v) for v in answer["own"]] or None,
        "seconds": round(float(answer["seconds"]), 2), "busy": round(float(answer["busy"]), 2),
        "chosen": str(answer["chosen"]),
    }  # fmt: skip


def run(race: Race, say: Any = print) -> list[dict[str, Any]]:
    """Run what is open; every line is written as soon as it is known. Returns all lines."""
    began, lock = time.monotonic(), threading.Lock()
    todo = open_jobs(race)
    if race.out.exists() and not race.out.read_bytes().endswith(b"\n"):
        with race.out.open("a") as file:
            file.write("\n")  # after a line that an interruption cut off
    say(f"{len(todo)} jobs, {race.jobs} at a time")
    counts = {"done": 0, "failed": 0}

    def left() -> float:
        return float("inf") if race.total is None else race.total - (time.monotonic() - began)

    def one(job: tuple[dict[str, Any], int, str]) -> None:
        if left() <= 0:
            return
        entry, split, tool = job
        try:
            line = run_job(race, entry, split, tool, left())
        except Exception as error:  # noqa: BLE001  a job that cannot even start stops no other
            line = dict(zip(KEY, (entry["name"], split, tool, race.seconds,
                                  race.metric_of(entry)), strict=True))  # fmt: skip
            line |= {"kind": entry["kind"], "error": f"{type(error).__name__}: {error}"}
        if line is None:
            return
        with lock:
            with race.out.open("a") as file:
                file.write(json.dumps(line) + "\n")
            counts["failed" if "error" in line else "done"] += 1
            say(_words(line), flush=True)

    with ThreadPoolExecutor(race.jobs) as pool:
        list(pool.map(one, todo))
    say(f"{counts['done']} done, {counts['failed']} failed, "
        f"{len(todo) - sum(counts.values())} open, {time.monotonic() - began:.0f} s")  # fmt: skip
    return lines_of(race.out)


def _words(line: dict[str, Any]) -> str:
    head = f"{line['table']} {line['split']} {line['tool']}"
    if "error" in line:
        return f"{head}: FAILED: {line['error']}\n{line.get('traceback', '')}".rstrip()
    scores = ", ".join(f"{name} {value:.4g}" for name, (value, _) in line["scores"].items())
    return f"{head}: {scores}; {line['seconds']:.1f} s; {line['chosen']}"


def compile_share(i: int, n: int) -> None:
    """Compile the kernels of every n-th module, beginning with the i-th."""
    from pellucid.cli.installation.warm import import_all

    import_all()
    from pellucid.core.runtime.jit import KERNELS
    from pellucid.core.runtime.signatures import compile_kernel

    homes = list(dict.fromkeys(kernel.py_func.__module__ for kernel in KERNELS))
    mine = set(homes[i::n])
    for kernel in [k for k in KERNELS if k.py_func.__module__ in mine]:
        compile_kernel(kernel)


def warm(jobs: int) -> None:
    """Compile all kernels, so that no job pays for it."""
    call = "from benchmarks.study.fleet import compile_share; compile_share({}, {})"
    each = [
        subprocess.Popen([sys.executable, "-c", call.format(i, jobs)], env=surroundings(1))
        for i in range(jobs)
    ]
    for process in each:
        if process.wait():
            raise RuntimeError("the kernels could not be compiled; see the traceback above")


def options() -> argparse.ArgumentParser:
    """The options that this and ``benchmarks.study.study`` share."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", type=Path, required=True)
    parser.add_argument("--tools", default="quick,standard,lightgbm,hgb")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--metric", choices=("accuracy", "log_loss"), default="accuracy")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--splits", type=int, choices=range(1, SPLITS + 1), default=SPLITS)
    parser.add_argument("--only", default="")
    parser.add_argument("--kill", type=float)
    parser.add_argument("--total", type=float)
    parser.add_argument("--retry", action="store_true")
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--python", action="append", default=[], metavar="TOOL=PATH")
    parser.add_argument("--peers", type=Path)
    return parser


def race_of(given: argparse.Namespace) -> Race:
    """The race that was asked for; unknown tools, tables and interpreters are refused."""
    tools = tuple(t for t in given.tools.split(",") if t)
    unknown = [t for t in tools if t not in TOOLS]
    if unknown:
        raise SystemExit(f"no tool is called {unknown[0]!r}; there are {', '.join(TOOLS)}")
    only = tuple(n for n in given.only.split(",") if n)
    names = [e["name"] for e in read(given.tables)]
    unknown = [n for n in only if n not in names]
    if unknown:
        raise SystemExit(f"no table is called {unknown[0]!r}; there are {', '.join(names)}")
    own = interpreters(given.peers) if given.peers else {}
    pythons = own | dict(p.partition("=")[::2] for p in given.python)
    return Race(
        given.tables.resolve(), tools, given.out.resolve(), given.seconds, given.metric,
        given.jobs, given.threads, given.splits, only, given.kill, given.total, given.retry,
        {tool: str(Path(path).absolute()) for tool, path in pythons.items()},
    )  # fmt: skip


def main(arguments: list[str]) -> int:
    given = options().parse_args(arguments)
    race = race_of(given)
    if given.warm:
        warm(given.jobs)
    lines = run(race)
    return 1 if any("error" in line for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

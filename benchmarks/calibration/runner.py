"""Run the cases in processes, a few replications at a time, until they or the seconds are over."""

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from importlib import import_module
from inspect import signature
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from benchmarks.calibration.case import Case, Part, Row, judge, replicate

CHUNK = 20  # replications of one task
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "PELLUCID_NUM_THREADS")
OTHERS = {  # simulations of benchmarks/evaluation/calibration_*.py
    "tests": (
        "overlapping_folds",
        "real_halvings",
        "conformal_intervals",
        "conformal_sets",
        "plain_tests",
        "bounds",
    ),
    "metrics": ("classes", "areas", "errors", "groups", "means", "proportions"),
    "splits": ("fold_intervals", "importance_intervals"),
}
Other = tuple[str, float, float, float, int]  # what, nominal, measured, error, simulations


class Task(NamedTuple):
    """Replications ``first`` to ``last - 1`` of a case, unless it is later than ``until``."""

    name: str
    first: int
    last: int
    until: float


def cases() -> list[Case]:
    """Every case, in the order of the files."""
    files = sorted(path.stem for path in Path(__file__).parent.glob("cases_*.py"))
    return [c for f in files for c in import_module(f"benchmarks.calibration.{f}").INTERVALS]


def tasks(wanted: list[Case], replications: int, until: float) -> Iterator[Task]:
    """Chunk by chunk through all cases, so that an early end leaves every case measured."""
    counts = {case.name: max(CHUNK, int(replications * case.share)) for case in wanted}
    for first in range(0, max(counts.values(), default=0), CHUNK):
        for name, n in counts.items():
            if first < n:
                yield Task(name, first, min(first + CHUNK, n), until)


def work(task: Task) -> Part:
    """One task, in a process of the pool; replications after the time is up are left out."""
    case = next(c for c in cases() if c.name == task.name)
    shares: list[float] = []
    caveats = 0
    for i in range(task.first, task.last):
        if time.time() > task.until and (task.first or shares):
            break
        part = replicate(case, [i])
        shares += part.shares
        caveats += part.caveats
    return Part(tuple(shares), caveats)


def other_rows(group: str, function: str, scale: float) -> list[Other]:
    """The rows of one simulation of tests, bounds and scores; its usual size times ``scale``."""
    simulate = getattr(import_module(f"benchmarks.evaluation.calibration_{group}"), function)
    (first, *_) = signature(simulate).parameters.values()
    found = simulate(max(20, int(first.default * scale)))
    return [
        (f"{r.what} ({r.kind})", r.nominal, r.measured, r.error, r.n) if hasattr(r, "kind") else r
        for r in found
    ]


def measure(wanted: list[Case], *, jobs: int, replications: int, total: float) -> list[Row]:
    """Run the cases and judge them."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    found: dict[str, list[Part]] = defaultdict(list)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        until, running = time.time() + total, dict[Future[Part], str]()
        for task in tasks(wanted, replications, until):
            if len(running) >= 2 * jobs:
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    found[running.pop(future)].append(future.result())
            if time.time() > until and task.first:
                break
            running[pool.submit(work, task)] = task.name
        for future, name in running.items():
            found[name].append(future.result())
    return [judge(case, found[case.name]) for case in wanted]


def measure_others(*, jobs: int, scale: float) -> dict[str, list[Other]]:
    """Run the simulations of tests, bounds and scores, the longest first."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {
            (group, name): pool.submit(other_rows, group, name, scale)
            for group, names in OTHERS.items()
            for name in names
        }
        found: dict[str, list[Other]] = defaultdict(list)
        for (group, _), future in running.items():
            found[group] += future.result()
    return found

"""The whole of the forged and damaged files, on every core, with a summary of what went wrong.

    python tests/persist/fuzz_runs.py models --jobs 16 --out models.jsonl
    python tests/persist/fuzz_runs.py checked --jobs 16 --out checked.jsonl
    python tests/persist/fuzz_runs.py readers --jobs 16 --out readers.jsonl
    python tests/persist/fuzz_runs.py commands --jobs 16 --out commands.jsonl

``models``: 500 forged files of every storable class; ``checked``: the same with kernels that check
their indices; ``readers``: 10,000 damaged files of each format; ``commands``: those given to the
commands. One line of JSON per part that ended, then one that sums up; parts that a file has already
are not run again, so a run that was cut off (``--minutes``) goes on where it stopped. The exit code
is 1 when a fault was found or a part is missing.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock

HELPERS = Path(__file__).parents[1] / "helpers"
FORGE = Path(__file__).with_name("fuzz_models.py")
# What many threads reserve would count as memory that the file asked for.
FEW_THREADS = {
    "PELLUCID_NUM_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "2",
    "OMP_NUM_THREADS": "2",
    "POLARS_MAX_THREADS": "2",
    "MALLOC_ARENA_MAX": "2",
}
# Kernels that check their indices have other names; a folder of their own is swept by nobody.
CHECKED = {
    "NUMBA_BOUNDSCHECK": "1",
    "PELLUCID_KERNELS": str(Path(tempfile.gettempdir(), f"pellucid-checked-kernels-{os.getuid()}")),
}
COUNTS = {"models": 500, "checked": 500, "readers": 10_000, "commands": 1000}
SLICE = {"readers": 2500, "commands": 250}


def faults(count, names, **settings):
    """What went wrong with ``count`` forged files of each class."""
    found, first = [], 0
    while names:
        command = [
            sys.executable,
            str(FORGE),
            str(count),
            *names,
            str(first),
        ]
        env = {**os.environ, **FEW_THREADS, **settings}
        with (
            tempfile.TemporaryFile("w+") as said,
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=said, text=True, env=env
            ) as child,
        ):
            rows = [json.loads(line) for line in child.stdout if line.startswith("[")]
            said.seek(0)
            ended = child.wait()
            why = f"ended with {ended}: {said.read()[-300:]}"
        found += [row[1:] for row in rows if row[0] == "fault"]
        if rows and rows[-1] == ["done"]:
            # memory that was overwritten may be found out when it is given back
            return found if ended == 0 else [*found, [names[-1], -1, why]]
        last = next((row for row in reversed(rows) if row[0] == "try"), None)
        if last is None:
            return [*found, [names[0], -1, f"before the first file: {why}"]]
        found.append([last[1], last[2], why])
        names, first = names[names.index(last[1]) :], last[2] + 1
    return found


def slice_faults(what, kind, first, stop):
    """What went wrong with one stretch of damaged files, in a process of its own."""
    command = [sys.executable, str(Path(__file__)), "part", what, kind, str(first), str(stop)]
    env = {**os.environ, **FEW_THREADS}
    ran = subprocess.run(command, env=env, capture_output=True, text=True)
    rows = [line for line in ran.stdout.splitlines() if line.startswith("[")]
    if ran.returncode or not rows:
        return [[kind, first, f"ended with {ran.returncode}: {ran.stderr[-300:]}"]]
    return json.loads(rows[-1])


def run_part(what, kind, first, stop):
    """Print the faults of one stretch; the readers and commands run in this process."""
    import warnings

    sys.path += [str(HELPERS), str(HELPERS.parent / "data")]
    with tempfile.TemporaryDirectory() as folder:
        if what == "readers":
            import damaged_inputs as inputs

            warnings.simplefilter("ignore")
            path = Path(folder, f"t.{kind}")
            read = inputs.reader(kind)
            found = inputs.faults(read, path, lambda s: inputs.bad(kind, s), range(first, stop))
        else:
            import test_damaged_commands as commands

            found = commands.faults(kind, Path(folder), range(first, stop))
    print(json.dumps([[kind, *fault] for fault in found]), flush=True)


def parts(what, count):
    """(name of the part, how many files it has, the function that tries it)."""
    sys.path.insert(0, str(HELPERS))
    if what in ("models", "checked"):
        from fuzz_specimens import every_name

        settings = CHECKED if what == "checked" else {}
        tasks = {name: partial(faults, count, [name], **settings) for name in every_name()}
        return [(name, count, task) for name, task in tasks.items()]
    from damaged_inputs import KINDS

    every = [
        (kind, first, min(first + SLICE[what], count))
        for first in range(0, count, SLICE[what])
        for kind in KINDS
    ]
    return [
        (f"{kind} {first}", stop - first, partial(slice_faults, what, kind, first, stop))
        for kind, first, stop in every
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=COUNTS)
    parser.add_argument("--count", type=int, default=0, help="files of each; 0: as promised")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no part after these")
    parser.add_argument("--out", type=Path, required=True, help="lines of JSON, added to")
    options = parser.parse_args()
    began, lock = time.monotonic(), Lock()
    done = {}
    if options.out.exists():
        lines = [json.loads(line) for line in options.out.read_text().splitlines()]
        done = {line["part"]: line for line in lines if "part" in line}
    every = parts(options.what, options.count or COUNTS[options.what])

    def tried(part):
        name, count, task = part
        if time.monotonic() - began > 60 * options.minutes:
            return
        start = time.monotonic()
        line = {"part": name, "files": count, "faults": task()}
        line["seconds"] = round(time.monotonic() - start, 1)
        with lock, options.out.open("a") as out:
            done[name] = line
            out.write(json.dumps(line) + "\n")

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(tried, [part for part in every if part[0] not in done]))
    found = [fault for line in done.values() for fault in line["faults"]]
    missing = [part[0] for part in every if part[0] not in done]
    whole = {
        "what": options.what,
        "parts": len(done),
        "files": sum(line["files"] for line in done.values()),
        "faults": len(found),
        "missing": missing,
        "seconds": round(time.monotonic() - began),
    }
    with options.out.open("a") as out:
        out.write(json.dumps(whole) + "\n")
    print("\n".join(map(json.dumps, [*found, whole])))
    return int(bool(found or missing))


if __name__ == "__main__":
    if sys.argv[1:2] == ["part"]:
        what, kind, first, stop = sys.argv[2:]
        run_part(what, kind, int(first), int(stop))
    else:
        sys.exit(main())

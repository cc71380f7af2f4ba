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
TOGETHER = 12  # classes in a process


def faults(count, names, **settings):
    """What went wrong with ``count`` forged files of each class."""
    return [fault for _, found in faults_by_class(count, names, **settings) for fault in found]


def faults_by_class(count, names, **settings):
    """(class, what went wrong with its forged files) as soon as the class is through.

    One process tries them all, for its start costs more than the files of most classes. If it dies
    another one goes on with the next file.
    """
    names, found, first = list(names), [], 0
    while names:
        last, name = None, names[0]
        command = [sys.executable, str(FORGE), str(count), *names, str(first)]
        env = {**os.environ, **FEW_THREADS, **settings}
        with (
            tempfile.TemporaryFile("w+") as said,
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=said, text=True, env=env
            ) as child,
        ):
            for row in (json.loads(line) for line in child.stdout if line.startswith("[")):
                if row[0] == "fault":
                    found.append(row[1:])
                elif row[0] == "try":
                    last = row[2]
                else:  # the class is through
                    yield name, found
                    names, found, first, last = names[1:], [], 0, None
                    name = names[0] if names else name
            ended = child.wait()
            said.seek(0)
            why = f"ended with {ended}: {said.read()[-300:]}"
        if names and last is not None:
            found.append([name, last, why])
            first = last + 1
        elif names:
            yield name, [*found, [name, -1, f"before the first file: {why}"]]
            names, found, first = names[1:], [], 0
        elif ended:  # memory that was overwritten may be found out when it is given back
            yield name, [[name, -1, why]]


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


def parts(what, count, only):
    """How many files each part has, by the name of the part."""
    sys.path.insert(0, str(HELPERS))
    if what in ("models", "checked"):
        from fuzz_specimens import every_name

        return dict.fromkeys(only or every_name(), count)
    from damaged_inputs import KINDS

    return {
        f"{kind} {first}": min(SLICE[what], count - first)
        for first in range(0, count, SLICE[what])
        for kind in only or KINDS
    }


def tasks(what, sizes):
    """Functions that try some of the parts and yield (part, what went wrong with it)."""
    if what in ("models", "checked"):
        names, settings = list(sizes), CHECKED if what == "checked" else {}
        together = [names[i : i + TOGETHER] for i in range(0, len(names), TOGETHER)]
        return [partial(faults_by_class, sizes[some[0]], some, **settings) for some in together]

    def one(part, size):
        kind, first = part.split()
        yield part, slice_faults(what, kind, int(first), int(first) + size)

    return [partial(one, part, size) for part, size in sizes.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=COUNTS)
    parser.add_argument("only", nargs="*", help="classes or formats; none: all of them")
    parser.add_argument("--count", type=int, default=0, help="files of each; 0: as promised")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no process after these")
    parser.add_argument("--out", type=Path, required=True, help="lines of JSON, added to")
    options = parser.parse_args()
    began, lock = time.monotonic(), Lock()
    done = {}
    if options.out.exists():
        lines = [json.loads(line) for line in options.out.read_text().splitlines()]
        done = {line["part"]: line for line in lines if "part" in line}
    sizes = parts(options.what, options.count or COUNTS[options.what], options.only)

    def tried(task):
        if time.monotonic() - began > 60 * options.minutes:
            return
        start = time.monotonic()
        for part, found in task():
            seconds = round(time.monotonic() - start, 1)
            with lock, options.out.open("a") as out:
                if part in done:  # a process may end badly after its last class
                    found = [*done[part]["faults"], *found]
                line = {"part": part, "files": sizes[part], "faults": found, "seconds": seconds}
                done[part] = line
                out.write(json.dumps(line) + "\n")
            start = time.monotonic()

    left = {part: size for part, size in sizes.items() if part not in done}
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(tried, tasks(options.what, left)))
    found = [fault for line in done.values() for fault in line["faults"]]
    missing = [part for part in sizes if part not in done]
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

"""Run scikit-learn's gallery with its own classes and with ours.

    python tools/gallery.py EXAMPLES [--out gallery.md] [--jobs 1] [--only TEXT] [--limit 600]

``EXAMPLES`` is the folder ``examples`` of a checkout of scikit-learn; it is not shipped here. Each
script that fetches no data runs twice in a process of its own, once as it is and once with its
imports moved (``pellucid migrate``), without a screen. The table says how each ended; the exit code
is 1 where a script ends well with theirs and not with ours.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pellucid
from pellucid.core.migration import migrate

DOWNLOADS = re.compile(r"\bfetch_(?!file\b)\w+\s*\(|\bfetch_file\b|urlopen|read_csv\(\s*[\"']http")


class End(NamedTuple):
    """How a script ended: 0 is well; the last line of what it said; seconds."""

    code: int
    words: str
    seconds: float


class Example(NamedTuple):
    """One script of the gallery."""

    name: str
    moved: tuple[str, ...]
    theirs: End
    ours: End


def run(source: str, path: Path, limit: int) -> End:
    """Run a script from its folder, pictures drawn to nothing."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / path.name
        script.write_text(source, encoding="utf-8")
        environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(path.parent)}
        environment["PYTHONPATH"] += os.pathsep + os.environ.get("PYTHONPATH", "")
        try:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", str(script)],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=limit,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return End(124, f"no end after {limit} s", time.monotonic() - began)
    said = done.stderr.strip().splitlines() or [""]
    return End(done.returncode, said[-1] if done.returncode else "", time.monotonic() - began)


def try_example(path: Path, root: Path, limit: int) -> Example | None:
    """Both runs of a script, or None where it needs nothing of ours."""
    source = path.read_text(encoding="utf-8")
    found = migrate(source, frozenset(pellucid.__all__))
    if not found.moved:
        return None
    theirs, ours = run(source, path, limit), run(found.text, path, limit)
    return Example(str(path.relative_to(root)), found.moved, theirs, ours)


def table(found: list[Example]) -> str:
    """The results as Markdown."""
    same = sum((e.theirs.code == 0) == (e.ours.code == 0) for e in found)
    lines = [f"{len(found)} examples with classes of ours, {same} end as with scikit-learn.", ""]
    lines += ["| example | classes | theirs | ours | what was said |", "|---|---|---|---|---|"]
    for e in found:
        words = (e.ours.words or e.theirs.words).replace("|", "\\|")[:160]
        ends = ("well" if end.code == 0 else f"exit {end.code}" for end in (e.theirs, e.ours))
        lines.append(f"| {e.name} | {', '.join(e.moved)} | {' | '.join(ends)} | {words} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run the examples and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("examples", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="run only paths that contain this")
    parser.add_argument("--limit", type=int, default=600, help="seconds for one run")
    options = parser.parse_args()
    scripts = [
        path
        for path in sorted(options.examples.rglob("plot_*.py"))
        if options.only in str(path) and not DOWNLOADS.search(path.read_text(encoding="utf-8"))
    ]
    found: list[Example] = []

    def one(path: Path) -> None:
        example = try_example(path, options.examples, options.limit)
        if example is not None:
            found.append(example)
            ends = f"{example.theirs.code} {example.ours.code}"
            print(f"{example.name}: {ends} {example.ours.words[:150]}", flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(one, scripts))
    text = table(sorted(found))
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    print(text.splitlines()[0])
    return int(any(e.theirs.code == 0 and e.ours.code != 0 for e in found))


if __name__ == "__main__":
    sys.exit(main())

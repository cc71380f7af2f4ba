"""One wrong change, tried: a copy of the tree, the tests of its package, and what they say."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from mutation_sites import Change, changed

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("src", "tests", "benchmarks", "docs", "examples", "tools")
INIT = ROOT / "src/pellucid/__init__.py"
EVERY = tuple(f"tests/test_{name}.py" for name in ("promises", "contract", "truth"))
FILES = ("pyproject.toml", "conftest.py", "README.md", "CHANGELOG.md", "Makefile")
THREADS = {"PELLUCID_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}


class Mutant(NamedTuple):
    """A change of one module, and the package whose tests should see it."""

    path: Path  # below src/pellucid
    package: str
    change: Change
    before: str = ""  # the line, the line that it becomes, and its number
    after: str = ""
    row: int = 0

    def with_lines(self) -> "Mutant":
        text = (ROOT / "src/pellucid" / self.path).read_text()
        row = text.encode()[: self.change.start].count(b"\n")
        lines = [one.splitlines()[row].strip() for one in (text, changed(text, self.change))]
        return self._replace(before=lines[0], after=lines[1], row=row + 1)


class Verdict(NamedTuple):
    caught: bool
    seconds: float
    test: str  # the one that failed
    said: str  # the end of what pytest printed


def copy_tree(target: Path) -> None:
    """Links to every file, compiled kernels included: a changed file replaces its link."""
    target.mkdir(parents=True)
    for name in COPIED:
        shutil.copytree(ROOT / name, target / name, copy_function=os.link, symlinks=True)
    for name in FILES:
        os.link(ROOT / name, target / name)


def write_anew(path: Path, text: str, seconds: float) -> None:
    """Write without touching the file that the path was linked to, as of ``seconds``."""
    path.unlink()
    path.write_text(text)
    os.utime(path, (seconds, seconds))


@cache
def importers() -> dict[str, set[str]]:
    """Module, such as linear.ridge.ridge, -> the modules that import it."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "src/pellucid").rglob("*.py"):
        name = dotted(path.relative_to(ROOT / "src/pellucid"))
        for home, names in re.findall(
            r"from pellucid\.([\w.]+) import (\([^)]*\)|[^\n]*)", path.read_text()
        ):
            for word in [home, *(f"{home}.{n}" for n in re.findall(r"\w+", names))]:
                found.setdefault(word, set()).add(name)
    return found


def dotted(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


def users(path: Path) -> set[str]:
    """A module and all that import it, directly or not."""
    todo, seen = [dotted(path)], set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += importers().get(name, ())
    return seen


def forget_kernels(tree: Path, path: Path) -> list[Path]:
    """Delete the compiled kernels of a module and of those that may have taken it in."""
    gone: list[Path] = []
    for name in users(path):
        file = tree / "src/pellucid" / Path(*name.split("."))
        gone += (file.parent / "__pycache__").glob(f"{file.name}.*.nb[ic]")
    for file in gone:
        file.unlink()
    return gone


def names_in(module: str) -> set[str]:
    """A module's own name and those of its functions and classes."""
    path = (ROOT / "src/pellucid" / Path(*module.split("."))).with_suffix(".py")
    text = path.read_text() if path.exists() else ""
    return {path.stem, *re.findall(r"^(?:def|class) (\w+)", text, flags=re.MULTILINE)}


def test_files(tree: Path, mutant: Mutant, near: bool) -> list[str]:
    """The tests of the package, the nearest first; ``near``: only those that name a user of it."""
    own = names_in(dotted(mutant.path))
    package = {name for name in users(mutant.path) if name.startswith(mutant.package + ".")}
    wider = set().union(*map(names_in, package))
    files = sorted((tree / "tests" / mutant.package).rglob("test_*.py"))
    words = {file: set(re.findall(r"\w+", file.read_text())) for file in files}
    files.sort(key=lambda file: (-len(own & words[file]), -len(wider & words[file])))
    files = [file for file in files if wider & words[file]] if near else files
    source = tree / "src/pellucid" / mutant.path
    doctests = [str(source.relative_to(tree))] if ">>>" in source.read_text() else []
    return [*doctests, *(str(file.relative_to(tree)) for file in files)]


@cache
def public_classes() -> frozenset[str]:
    """Names of the lazy table, on which the tests of every estimator run."""
    return frozenset(re.findall(r'^    "(\w+)": ', INIT.read_text(), flags=re.MULTILINE))


def run_tests(
    tree: Path, files: list[str], limit: float, chosen: str = "", left_out: tuple[str, ...] = ()
) -> Verdict:
    """The first failure, or the time it took to see none.

    ``chosen`` is pytest's -k. A test that takes longer than ``limit`` seconds has failed.
    """
    options = ["-v", "-x", "-p", "no:cacheprovider", "--no-header", "--tb=line"]
    options += ["--doctest-modules", "-m", "not slow", *(["-k", chosen] if chosen else [])]
    options += [word for name in left_out if "::" in name for word in ("--deselect", name)]
    options += [f"--ignore={name}" for name in left_out if "::" not in name]
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=tree,
        env={**os.environ, **THREADS, "PYTHONPATH": str(tree / "src"), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    lines, heard = [], [began]

    def listen() -> None:
        for line in process.stdout or ():
            lines.append(line)
            heard[0] = time.monotonic()

    listener = Thread(target=listen)
    listener.start()
    while process.poll() is None and time.monotonic() - heard[0] < limit:
        time.sleep(0.2)
    if stuck := process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    listener.join()
    seconds = time.monotonic() - began
    if stuck:
        last = lines[-1].split()[0] if lines and "::" in lines[-1] else ""
        return Verdict(True, seconds, last, f"no end within {limit:.0f} s")
    if process.returncode in (0, 5):  # all passed, or no test was chosen
        return Verdict(False, seconds, "", lines[-1].strip() if lines else "nothing")
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", "".join(lines), flags=re.MULTILINE)
    return Verdict(True, seconds, failed[0] if failed else "", "".join(lines)[-150:])


class Trials:
    """Trees in which changes are tried, and the tests that fail without any change.

    A test that sees a change is run again on the unchanged source. If it fails there too (a peer
    that is not installed, say), it says nothing: it is left out from then on.
    """

    def __init__(self, limit: float, near: bool) -> None:
        self.limit = limit
        self.near = near
        self.sound: set[str] = set()
        self.unsound: set[str] = set()

    def attempt(self, tree: Path, mutant: Mutant) -> Verdict:
        """Try one change; only a test that passes without it counts."""
        began = time.monotonic()
        while True:
            verdict = self.once(tree, mutant)
            verdict = verdict._replace(seconds=time.monotonic() - began)
            if not verdict.caught or not verdict.test or self.passes(tree, verdict.test):
                return verdict

    def passes(self, tree: Path, test: str) -> bool:
        """Whether a test passes on the unchanged source of a tree."""
        if test not in self.sound | self.unsound:
            failed = run_tests(tree, [test], self.limit).caught
            (self.unsound if failed else self.sound).add(test)
        return test in self.sound

    def once(self, tree: Path, mutant: Mutant) -> Verdict:
        """Make the change in the copy, run the tests, and put the file back."""
        path = tree / "src/pellucid" / mutant.path
        text, before = path.read_text(), path.stat().st_mtime
        files = test_files(tree, mutant, self.near)
        compiled = "@jit" in text
        write_anew(path, changed(text, mutant.change), time.time())
        gone = forget_kernels(tree, mutant.path) if compiled else []
        classes = [name for name in names_in(dotted(mutant.path)) if name in public_classes()]
        left_out = tuple(sorted(self.unsound))
        try:
            verdict = run_tests(tree, files, self.limit, left_out=left_out)
            if verdict.caught or not classes:
                return verdict
            return run_tests(tree, list(EVERY), self.limit, " or ".join(classes), left_out)
        finally:
            write_anew(path, text, before)
            if compiled:
                forget_kernels(tree, mutant.path)
                for file in gone:
                    os.link(ROOT / file.relative_to(tree), file)

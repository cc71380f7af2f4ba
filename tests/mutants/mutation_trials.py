"""One wrong change, tried: a copy of the tree, the tests of its package, and what they say."""

import os
import re
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from mutation_forks import Forks, Task, Told, write_anew
from mutation_sites import Change, changed

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("src", "tests", "benchmarks", "docs", "examples", "tools")
INIT = ROOT / "src/pellucid/__init__.py"
EVERY = tuple(f"tests/test_{name}.py" for name in ("promises", "contract", "truth"))
FILES = ("pyproject.toml", "conftest.py", "README.md", "CHANGELOG.md", "Makefile")
NEAR = 6  # files
LIBRARIES = "numpy pandas scipy.stats sklearn.utils.estimator_checks numba matplotlib.pyplot pytest"
OPTIONS = ["-v", "-p", "no:cacheprovider", "--tb=line", "--doctest-modules", "-m", "not slow"]
FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(LIBRARIES.split())
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


def names_in(module: str) -> set[str]:
    """A module's own name and those of its functions and classes."""
    path = (ROOT / "src/pellucid" / Path(*module.split("."))).with_suffix(".py")
    text = path.read_text() if path.exists() else ""
    return {path.stem, *re.findall(r"^(?:def|class) (\w+)", text, flags=re.MULTILINE)}


def nearest_files(tree: Path, mutant: Mutant) -> tuple[list[str], list[str]]:
    """The tests of the package: the ``NEAR`` likeliest to see the change, and the others.

    A file speaks for a module by the names it shares with it, rare ones above all, then by those
    it shares with the modules that use it; examples in the module itself come first.
    """
    own = names_in(dotted(mutant.path))
    package = {name for name in users(mutant.path) if name.startswith(mutant.package + ".")}
    wider = set().union(*map(names_in, package))
    files = sorted((tree / "tests" / mutant.package).rglob("test_*.py"))
    words = {file: set(re.findall(r"\w+", file.read_text())) for file in files}
    holders = Counter(word for found in words.values() for word in found)

    def nearness(file: Path) -> tuple[float, ...]:
        return tuple(sum(1 / holders[w] for w in names & words[file]) for names in (own, wider))

    files.sort(key=nearness, reverse=True)
    files.sort(key=lambda file: file.stem != f"test_{mutant.path.stem}")
    source = tree / "src/pellucid" / mutant.path
    doctests = [str(source.relative_to(tree))] if ">>>" in source.read_text() else []
    names = [str(file.relative_to(tree)) for file in files]
    return [*doctests, *names[:NEAR]], names[NEAR:]


@cache
def public_classes() -> frozenset[str]:
    """Names of the lazy table, on which the tests of every estimator run."""
    return frozenset(re.findall(r'^    "(\w+)": ', INIT.read_text(), flags=re.MULTILINE))


def classes_of(mutant: Mutant) -> tuple[str, ...]:
    """The public classes of the changed file."""
    return tuple(sorted(names_in(dotted(mutant.path)) & public_classes()))


def pytest_here(
    tree: Path, arguments: list[str], log: Path, environment: dict[str, str], plugins: list[Any]
) -> None:
    """Run pytest in a process that has the libraries loaded already, but nothing of pellucid."""
    os.setsid()
    os.chdir(tree)
    os.environ.update(environment)
    sys.path.insert(0, str(tree / "src"))
    with log.open("w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    import pytest

    os._exit(int(pytest.main(arguments, plugins)))


def run_tests(
    tree: Path, files: list[str], limit: float, left_out: tuple[str, ...], only: tuple[str, ...]
) -> Verdict:
    """The first failure, or the time it took to see none.

    With ``only`` the tests of every estimator are of these classes. A test that takes longer than
    ``limit`` seconds has failed.
    """
    options = [*OPTIONS, "-x", *(["-k", " or ".join(only)] if only else [])]
    options += [word for name in left_out if "::" in name for word in ("--deselect", name)]
    options += [f"--ignore={name}" for name in left_out if "::" not in name]
    environment = {"PYTHONPATH": str(tree / "src"), "PELLUCID_ESTIMATORS": " ".join(only)}
    log, began = tree / "said.txt", time.monotonic()
    log.write_text("")
    arguments: tuple[Any, ...] = (tree, [*options, *files], log, environment, [])
    process = FORKS.Process(target=pytest_here, args=arguments)
    process.start()
    while process.is_alive() and time.time() - log.stat().st_mtime < limit:
        process.join(0.2)
    if stuck := process.is_alive():
        os.killpg(process.pid, signal.SIGKILL)  # type: ignore[arg-type]
    process.join()
    seconds, text = time.monotonic() - began, log.read_text()
    last = text.splitlines()[-1] if text else "nothing"
    if stuck:
        return Verdict(True, seconds, last.split()[0], f"no end within {limit:.0f} s")
    if process.exitcode in (0, 5):  # all passed, or no test was chosen
        return Verdict(False, seconds, "", last)
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", text, flags=re.MULTILINE)
    return Verdict(True, seconds, failed[0] if failed else "", text[-150:])


class Trials:
    """Trees in which changes are tried, and the tests that fail without any change.

    A test that sees a change is run again on the unchanged source. If it fails there too (a peer
    that is not installed, say), it says nothing: it is left out from then on.
    """

    def __init__(self, limit: float, budget: float) -> None:
        self.limit = limit
        self.budget = budget
        self.sound: set[str] = set()
        self.unsound: set[str] = set()

    def in_forks(self, tree: Path, mutants: list[Mutant]) -> Iterator[tuple[Mutant, Verdict]]:
        """Try the changes of one package; then those that its process cannot make."""
        tasks, collected = [], set()
        for number, mutant in enumerate(mutants):
            source = f"src/pellucid/{mutant.path}"
            text = (tree / source).read_text()
            near, others = nearest_files(tree, mutant)
            classes = classes_of(mutant)
            every = EVERY if classes else ()
            after = changed(text, mutant.change)
            tasks.append(Task(number, source, text, after, tuple(near), every, classes))
            collected |= {*near, *every, *(others if self.budget else ())}
        chosen = " ".join(sorted({name for task in tasks for name in task.classes}))
        environment = {"PYTHONPATH": str(tree / "src"), "PELLUCID_ESTIMATORS": chosen}
        queue: Any = FORKS.SimpleQueue()
        forks = Forks(tree, tasks, self.limit, self.budget, queue.put)
        options = [*OPTIONS, "--continue-on-collection-errors", *sorted(collected)]
        arguments = (tree, options, tree / "said.txt", environment, [forks])
        process = FORKS.Process(target=pytest_here, args=arguments)
        process.start()
        left = dict(enumerate(mutants))
        while process.is_alive() or not queue.empty():
            process.join(0.2)
            while not queue.empty():
                told: Told = queue.get()
                if told.caught is not None:
                    verdict = Verdict(told.caught, told.seconds, told.test, told.said)
                    yield left.pop(told.number), verdict
        for mutant in left.values():
            yield mutant, self.attempt(tree, mutant)

    def attempt(self, tree: Path, mutant: Mutant) -> Verdict:
        """Try one change; only a test that passes without it counts."""
        began = time.monotonic()
        while True:
            verdict = self.once(tree, mutant)
            verdict = verdict._replace(seconds=time.monotonic() - began)
            if not verdict.caught or not verdict.test or self.passes(tree, verdict.test, mutant):
                return verdict

    def passes(self, tree: Path, test: str, mutant: Mutant) -> bool:
        """Whether a test passes on the unchanged source of a tree."""
        if test not in self.sound | self.unsound:
            only = classes_of(mutant) if test.startswith(EVERY) else ()
            failed = run_tests(tree, [test], self.limit, (), only).caught
            (self.unsound if failed else self.sound).add(test)
        return test in self.sound

    def once(self, tree: Path, mutant: Mutant) -> Verdict:
        """Make the change in the copy, run the tests, and put the file back."""
        path = tree / "src/pellucid" / mutant.path
        text, before = path.read_text(), path.stat().st_mtime
        classes = classes_of(mutant)
        near, others = nearest_files(tree, mutant)
        batches = [(near, ()), (list(EVERY) if classes else [], classes)]
        batches += [(others, ())] if self.budget else []
        left_out = tuple(sorted(self.unsound))
        verdict = Verdict(False, 0.0, "", "no test")
        write_anew(path, changed(text, mutant.change), time.time())
        try:
            for files, only in batches:
                if files and not verdict.caught:
                    verdict = run_tests(tree, files, self.limit, left_out, only)
            return verdict
        finally:
            write_anew(path, text, before)

"""Changes tried one after another in forks of a process that has collected the tests already.

The functions of the changed module are given new code in the fork, so nothing is imported,
collected or compiled again, and the nearest tests are the first to run. What this cannot change
(compiled kernels, constants, bodies of classes) is left to a process of its own.
"""

import ast
import gc
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

WALL = 20  # times the seconds of processor time that a test may take, in case it waits for ever


class Task(NamedTuple):
    """A change to be tried, and the files of tests in the order in which they are run."""

    number: int
    source: str  # below the tree
    before: str
    after: str
    first: tuple[str, ...]
    every: tuple[str, ...]  # tests of every estimator
    classes: tuple[str, ...]  # of which those are run


class Told(NamedTuple):
    number: int
    caught: bool | None  # None: the change cannot be made here
    seconds: float  # of processor time
    test: str
    said: str


def pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Two codes and all within them that correspond."""
    yield old, new
    inner = [[c for c in code.co_consts if isinstance(c, CodeType)] for code in (old, new)]
    if len(inner[0]) == len(inner[1]):
        for a, b in zip(*inner, strict=True):
            yield from pairs(a, b)


def write_anew(path: Path, text: str, seconds: float) -> None:
    """Write without touching the file that the path was linked to, as of ``seconds``."""
    path.unlink()
    path.write_text(text)
    os.utime(path, (seconds, seconds))


def is_compiled(before: str, after: str) -> bool:
    """Whether the first changed line is in a function that Numba compiles."""
    row = first_change(before, after)
    return any(
        isinstance(node, ast.FunctionDef)
        and node.lineno <= row <= (node.end_lineno or 0)
        and any("jit" in ast.unparse(d) for d in node.decorator_list)
        for node in ast.walk(ast.parse(before))
    )


def give_new_constants(path: Path, before: str, after: str) -> bool:
    """Set the names anew, wherever they were taken in, if a constant of the module is changed."""
    row = first_change(before, after)
    module = next((m for m in loaded() if getattr(m, "__file__", None) == str(path)), None)
    found = [node for node in ast.parse(after).body if node.lineno <= row <= (node.end_lineno or 0)]
    if module is None or "jit" in before or not isinstance(found[0], ast.Assign | ast.AnnAssign):
        return False
    new = dict(vars(module))
    exec(compile(ast.Module([found[0]], []), str(path), "exec"), new)
    for name, value in new.items():
        old = vars(module).get(name)
        if value is not old:
            for holder in loaded():
                if vars(holder).get(name) is old:
                    setattr(holder, name, value)
    return True


def loaded() -> list[ModuleType]:
    """The modules of the library."""
    return [m for name, m in list(sys.modules.items()) if name.split(".")[0] == "pellucid"]


def thread_names() -> list[str]:
    """The threads of this process, where Linux tells them."""
    found = Path("/proc/self/task").glob("*/comm")
    return [one.read_text() for one in found]


def first_change(before: str, after: str) -> int:
    """The number of the first line that differs."""
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    return next(i for i, (a, b) in enumerate(lines, 1) if a != b)


def give_new_code(path: Path, before: str, after: str) -> bool:
    """Replace the code of every function that the change alters; False if there is none."""
    if is_compiled(before, after):
        return False
    if give_new_constants(path, before, after):
        return True
    old, new = (compile(text, str(path), "exec") for text in (before, after))
    codes = {a: b for a, b in pairs(old, new) if a != b and a.co_freevars == b.co_freevars}
    altered = False
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == str(path):
            altered |= thing.__code__ in codes
            thing.__code__ = codes.get(thing.__code__, thing.__code__)
    return altered


class Forks:
    """A plugin of pytest that tries changes where it would run the tests it has collected."""

    def __init__(
        self,
        tree: Path,
        tasks: list[Task],
        limit: float,
        budget: float,
        tell: Callable[[Told], Any],
    ) -> None:
        self.tree, self.tasks, self.limit, self.budget, self.tell = tree, tasks, limit, budget, tell
        self.failed = ""
        self.said = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed, self.said = report.nodeid, str(report.longrepr)[-150:]

    def pytest_runtestloop(self, session: Any) -> bool:
        if any(re.match(r"polars-\d", name) for name in thread_names()):
            return True  # its locks do not survive a fork: nothing is told
        files: dict[str, list[Any]] = {}
        for item in session.items:
            files.setdefault(item.nodeid.split("::")[0], []).append(item)
        sound: dict[str, bool] = {}
        for task in self.tasks:
            import_module(".".join(Path(task.source).with_suffix("").parts[1:]))
            first = [*task.first, *task.every]
            order = [*first, *(name for name in files if name not in first)]
            items = [item for name in order for item in files.get(name, []) if wanted(item, task)]
            while True:
                told = self.forked(task, items, changed=True)
                if not told.test:
                    break
                if told.test not in sound:
                    alone = [item for item in items if item.nodeid == told.test]
                    sound[told.test] = not self.forked(task, alone, changed=False).caught
                if sound[told.test]:
                    break
                items = [item for item in items if sound.get(item.nodeid, True)]
            self.tell(told)
        return True

    def forked(self, task: Task, items: list[Any], *, changed: bool) -> Told:
        """Run tests up to the first failure in a fork of this process."""
        heard, mouth = os.pipe()
        path, now = self.tree / task.source, (self.tree / task.source).stat().st_mtime
        if changed:  # for the processes that tests begin
            write_anew(path, task.after, now)
        if not (child := os.fork()):
            os.setsid()
            os.close(heard)
            with os.fdopen(mouth, "w", buffering=1) as out, suppress(BaseException):
                self.child(task, items, changed, out)
            os._exit(0)
        os.close(mouth)
        with os.fdopen(heard) as lines:
            text = lines.read().splitlines()
        status, used = os.wait4(child, 0)[1:]
        if changed:
            write_anew(path, task.before, now)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        seconds = used.ru_utime + used.ru_stime
        last = text[-1] if text else ""
        if last.startswith("test "):  # it ended in the middle of a test
            said = f"no end, signal {status & 127}"
            return Told(task.number, True, seconds, last.removeprefix("test "), said)
        if last.startswith("failed "):
            return Told(task.number, True, seconds, self.test_of(last), last)
        return Told(task.number, None if last == "cannot" else False, seconds, "", last)

    def test_of(self, line: str) -> str:
        return line.removeprefix("failed ").split(" because ")[0]

    def child(self, task: Task, items: list[Any], changed: bool, out: Any) -> None:
        path = self.tree / task.source
        if changed and not give_new_code(path, task.before, task.after):
            print("cannot", file=out)
            return
        for i, item in enumerate(items):
            used = sum(os.times()[:2])
            near = item.nodeid.split("::")[0] in (*task.first, *task.every)
            if used > self.budget and not near:
                print(f"passed {i} of {len(items)} tests in {used:.0f} s", file=out)
                return
            print("test", item.nodeid, file=out)
            seconds = int(used + self.limit) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
            signal.alarm(int(WALL * self.limit))
            following = items[i + 1] if i + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                print("failed", self.failed, "because", " ".join(self.said.split()), file=out)
                return
        print(f"passed {len(items)} tests", file=out)


def wanted(item: Any, task: Task) -> bool:
    """Whether a test is of the package, or of every estimator and of a class of the module."""
    file = item.nodeid.split("::")[0]
    if file.startswith("src/"):
        return file == task.source
    return file not in task.every or any(name in item.nodeid for name in task.classes)

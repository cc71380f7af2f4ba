"""``pellucid warm``: compile every kernel ahead, for this machine or for a level of processors.

It imports every module, compiles every kernel for the argument types that
``core.runtime.signatures`` lists, and then insists that no kernel was missed.
"""

import logging
import os
import pkgutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import click

import pellucid
from pellucid.cli.shared.ahead import compiling_ahead
from pellucid.cli.shared.options import Code, Stop, common, console, print_json, say

OPTIONAL = ("h11", "starlette", "torch", "uvicorn")  # what modules of an extra import at their head


class Warmed(NamedTuple):
    """What one run of ``pellucid warm`` did."""

    kernels: int
    compiled: int  # the others were in the cache already
    seconds: float
    missed: list[str]  # kernels without a signature in the table
    skipped: list[str]  # modules whose optional extra is not installed
    folder: str  # where the files are


def import_all() -> tuple[list[ModuleType], list[str]]:
    """Import every module of the package; list those that need an extra that is not here."""
    modules, skipped = [], []
    queue = list(pkgutil.iter_modules(pellucid.__path__, "pellucid."))
    while queue:
        found = queue.pop(0)
        if found.name == "pellucid.cli" or found.name.endswith("__main__"):
            continue
        try:
            module = import_module(found.name)
        except ImportError as error:
            needs = (error.name or "").split(".")[0]
            if "pellucid[" not in str(error) and needs not in OPTIONAL:
                raise  # only what an extra brings may be missing
            skipped.append(found.name)
            continue
        modules.append(module)
        if found.ispkg:
            queue.extend(pkgutil.iter_modules(module.__path__, f"{found.name}."))
    return modules, skipped


def is_cached(kernel: Any) -> bool:
    """Whether a file holds the kernel as it, and all that it calls, are now."""
    from pellucid.core.runtime.compiling.files import kept, prefixes

    return not prefixes(kernel).isdisjoint(kept())


def compile_all(say: Callable[[str, int, int], None]) -> Warmed:
    """Compile every kernel; ``say(module, kernels ready, kernels in all)`` before each module.

    Where there are more cores and nothing is compiled yet, other processes begin at the end of the
    list; what they have compiled is on disk when this one gets there. At the end, files of kernels
    that have changed since are removed.
    """
    began = time.perf_counter()
    _, skipped = import_all()
    from pellucid.core.runtime.compiling.files import folders, kept, prefixes, sweep
    from pellucid.core.runtime.jit import KERNELS
    from pellucid.core.runtime.signatures import compile_kernel, kernel_name

    def unready() -> list[Any]:
        """Neither compiled or loaded in this process nor on disk, as part of one that was."""
        here = kept()
        return [k for k in KERNELS if not k.signatures and here.isdisjoint(prefixes(k))]

    def ready() -> int:
        return len(KERNELS) - len(unready())

    homes = tuple(dict.fromkeys(kernel.py_func.__module__ for kernel in KERNELS))
    with compiling_ahead(homes[::-1]):
        for home in homes:
            say(home, ready(), len(KERNELS))
            for kernel in [k for k in KERNELS if k.py_func.__module__ == home]:
                compile_kernel(kernel)
    say("", ready(), len(KERNELS))
    missed = sorted(".".join(kernel_name(k)) for k in unready())
    folder = next(folders())
    if not missed:
        sweep(folder, KERNELS)
    return Warmed(
        kernels=len(KERNELS),
        compiled=sum(bool(kernel.stats.cache_misses) for kernel in KERNELS),
        seconds=round(time.perf_counter() - began, 3),
        missed=missed,
        skipped=skipped,
        folder=str(folder),
    )


@contextmanager
def no_notice() -> Iterator[None]:
    """Silence the notice "compiling (first run only)": here it is no news."""
    logger = logging.getLogger("pellucid")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


@contextmanager
def progress(silent: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on a terminal, a line per module elsewhere, nothing if silent; on stderr."""
    screen = console(stderr=True)
    if silent:
        yield lambda module, done, total: None
    elif not screen.is_terminal:
        yield lambda module, done, total: screen.print(module) if module else None
    else:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=screen, transient=True) as bar:
            task = bar.add_task("loading", total=None)
            yield lambda module, done, total: bar.update(
                task, description=module, completed=done, total=total
            )


def child(target: str) -> int:
    """The same command in a process in which Numba compiles for ``target``."""
    from pellucid.core.runtime.compiling.targets import settings

    code = "from pellucid.cli import main; main()"
    environment = {**os.environ, **settings(target)}
    return subprocess.run([sys.executable, "-c", code, *sys.argv[1:]], env=environment).returncode


def check_target(target: str) -> None:
    """Refuse a level that this processor does not have: some of its code runs while it compiles."""
    from pellucid.core.runtime.compiling.targets import host_levels

    if target not in host_levels():
        known = ", ".join(("native", *host_levels()))
        raise Stop(Code.USAGE, f"this processor cannot make {target}, only {known}")


def collect_into(folder: Path) -> None:
    """Write what is compiled to ``folder``, and copy to it what is found elsewhere."""
    from pellucid.core.runtime.compiling import files

    before = os.environ.get(files.VARIABLE)
    os.environ[files.VARIABLE] = os.pathsep.join([str(folder), *([before] if before else [])])
    try:
        files.put(folder, ".tried", b"")
        (folder / ".tried").unlink()
    except OSError as error:
        reason = error.strerror or str(error)
        raise Stop(Code.USAGE, f"cannot write to {folder}: {reason}") from error
    files.COLLECT[:] = [next(files.folders())]


@click.command()
@click.option(
    "--target",
    type=click.Choice(["native", "x86-64-v2", "x86-64-v3", "x86-64-v4"]),
    default="native",
    help="What the kernels run on: this processor, or every one of that level.",
)
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder for the kernels; PELLUCID_KERNELS=FOLDER finds them there, on any machine.",
)
@common("json", "quiet", "threads")
def warm(target: str, into: Path | None, as_json: bool, quiet: bool) -> None:
    """Compile every kernel ahead and keep it on disk."""
    from pellucid.core.runtime.jit import why_plain

    if why_plain():
        raise Stop(Code.FAILED_CHECK, f"nothing can be compiled: {why_plain()}")
    from pellucid.core.runtime.compiling import targets

    if target != "native" and targets.target() != target:
        check_target(target)
        raise click.exceptions.Exit(child(target))
    if into is not None:
        collect_into(into.absolute())
    with no_notice(), progress(quiet or as_json) as tell:
        result = compile_all(tell)
    if as_json:
        print_json({**result._asdict(), "ok": not result.missed})
    elif not quiet:
        ready = result.kernels - len(result.missed)
        say(
            f"{ready} of {result.kernels} kernels ready: {result.compiled} compiled, "
            f"{ready - result.compiled} from the cache, {result.seconds:.1f} s"
        )
        for name in result.skipped:
            say(f"skipped {name}: its extra is not installed")
    if result.missed:
        names = ", ".join(result.missed)
        raise Stop(Code.FAILED_CHECK, f"core/runtime/signatures.json does not list {names}")

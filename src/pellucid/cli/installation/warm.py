"""``pellucid warm``: compile every kernel ahead into the on-disk cache.

It imports every module, compiles every kernel for the argument types that
``core.runtime.signatures`` lists, and then insists that no kernel was missed.
"""

import logging
import pkgutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import click

import pellucid
from pellucid.cli.shared.ahead import compiling_ahead
from pellucid.cli.shared.options import Code, Stop, common, console, print_json

OPTIONAL = ("h11", "starlette", "torch", "uvicorn")  # what modules of an extra import at their head


class Warmed(NamedTuple):
    """What one run of ``pellucid warm`` did."""

    kernels: int
    compiled: int  # the others were in the cache already
    seconds: float
    missed: list[str]  # kernels without a signature in the table
    skipped: list[str]  # modules whose optional extra is not installed


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
    """Whether the on-disk cache holds the kernel as its source is now.

    Only Numba's own index knows: it is empty where source or version have changed since.
    """
    return bool(kernel._cache._cache_file._load_index())


def is_ready(kernel: Any) -> bool:
    """Compiled or loaded in this process, or on disk as part of a kernel that was loaded."""
    return bool(kernel.signatures) or is_cached(kernel)


def compile_all(say: Callable[[str, int, int], None]) -> Warmed:
    """Compile every kernel; ``say(module, kernels ready, kernels in all)`` before each module.

    Where there are two cores and nothing is compiled yet, a second process begins at the end of the
    list; what it has compiled is in the cache when this one gets there.
    """
    began = time.perf_counter()
    _, skipped = import_all()
    from pellucid.core.runtime.jit import KERNELS
    from pellucid.core.runtime.signatures import compile_kernel, kernel_name

    def ready() -> int:
        return sum(is_ready(kernel) for kernel in KERNELS)

    homes = tuple(dict.fromkeys(kernel.py_func.__module__ for kernel in KERNELS))
    with compiling_ahead(homes[::-1]):
        for home in homes:
            say(home, ready(), len(KERNELS))
            for kernel in [k for k in KERNELS if k.py_func.__module__ == home]:
                compile_kernel(kernel)
    say("", ready(), len(KERNELS))
    return Warmed(
        kernels=len(KERNELS),
        compiled=sum(bool(kernel.stats.cache_misses) for kernel in KERNELS),
        seconds=round(time.perf_counter() - began, 3),
        missed=sorted(".".join(kernel_name(k)) for k in KERNELS if not is_ready(k)),
        skipped=skipped,
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


@click.command()
@common("json", "quiet", "threads")
def warm(as_json: bool, quiet: bool) -> None:
    """Compile every kernel ahead into the on-disk cache."""
    with no_notice(), progress(quiet or as_json) as say:
        result = compile_all(say)
    if as_json:
        print_json({**result._asdict(), "ok": not result.missed})
    elif not quiet:
        ready = result.kernels - len(result.missed)
        click.echo(
            f"{ready} of {result.kernels} kernels ready: {result.compiled} compiled, "
            f"{ready - result.compiled} from the cache, {result.seconds:.1f} s"
        )
        for name in result.skipped:
            click.echo(f"skipped {name}: its extra is not installed")
    if result.missed:
        names = ", ".join(result.missed)
        raise Stop(Code.FAILED_CHECK, f"core/runtime/signatures.json does not list {names}")

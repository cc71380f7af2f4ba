"""Other processes compile the last candidates' kernels while the first candidates are fitted.

On the first run after an installation no kernel is on disk, and forests, support vectors and
boosting are half of what a study compiles. The study finds their kernels there when it gets to
them; what is not ready by then it compiles itself.
"""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

MODULES = (  # in the order of the candidates
    "pellucid.ensemble.forest.kernels.growth",
    "pellucid.ensemble.boosting.kernels.histograms",
    "pellucid.ensemble.boosting.kernels.leafwise",
    "pellucid.kernel.svm.kernels",
)


def is_cold(modules: tuple[str, ...] = MODULES) -> bool:
    """Whether nothing of the last of these modules is on disk."""
    from pellucid.cli.installation.warm import is_cached
    from pellucid.core.runtime.jit import KERNELS, why_plain

    if why_plain():
        return False
    import_module(modules[-1])
    return not any(is_cached(k) for k in KERNELS if k.py_func.__module__ == modules[-1])


def workers() -> int:
    """Processes that may compile beside this one."""
    affinity = getattr(os, "sched_getaffinity", None)
    return (len(affinity(0)) if affinity is not None else os.cpu_count() or 1) - 1


@contextmanager
def compiling_ahead(modules: tuple[str, ...] = MODULES) -> Iterator[None]:
    """Compile these modules beside the work inside; nothing where they are compiled already."""
    n = min(workers(), len(modules))
    if n < 1 or not is_cold(modules):
        yield
        return
    processes = [start(modules[i::n]) for i in range(n)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()  # files appear on disk whole or not at all
            process.wait()
        say_how_long()


def say_how_long() -> None:
    """Tell a user who was told that kernels are compiled how long it took."""
    from pellucid.core.runtime.compiling.notices import NOTICE

    if NOTICE.said:
        took = f"compiled {NOTICE.count} kernels in {NOTICE.total:.0f} s"
        logging.getLogger("pellucid").warning(f"{took}; the next run finds them")


def start(modules: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    """A process that compiles these modules and ends."""
    code = f"from pellucid.core.runtime.signatures import compile_modules as c; c({modules})"
    quiet = subprocess.DEVNULL
    return subprocess.Popen([sys.executable, "-c", code], stdout=quiet, stderr=quiet)

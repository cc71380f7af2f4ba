"""A second process compiles the last candidates' kernels while the first candidates are fitted.

On the first run after an installation nothing is in the on-disk cache, and forests, support
vectors and boosting are half of what a study compiles. The study finds their kernels in the cache
when it gets there; what is not ready by then it compiles itself.
"""

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
    """Whether the cache holds nothing of the last of these modules."""
    from pellucid.cli.installation.warm import is_cached
    from pellucid.core.runtime.jit import KERNELS

    import_module(modules[-1])
    return not any(is_cached(k) for k in KERNELS if k.py_func.__module__ == modules[-1])


@contextmanager
def compiling_ahead(modules: tuple[str, ...] = MODULES) -> Iterator[None]:
    """Compile these modules beside the work inside; nothing where they are compiled already."""
    if not modules or (os.cpu_count() or 1) < 2 or not is_cold(modules):
        yield
        return
    code = f"from pellucid.core.runtime.signatures import compile_modules as c; c({modules})"
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([sys.executable, "-c", code], stdout=quiet, stderr=quiet)
    try:
        yield
    finally:
        process.kill()  # files appear in the cache whole or not at all
        process.wait()

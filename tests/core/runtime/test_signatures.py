"""The table of signatures: no stale line, and what it compiles is what a real call needs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pellucid.cli.installation.warm import import_all
from pellucid.core.runtime.jit import KERNELS
from pellucid.core.runtime.signatures import kernel_name, recorded, understood

sys.path.insert(0, str(Path(__file__).parents[3] / "tools"))
FITS = """
import json, sys
import numpy as np
from pathlib import Path
from pellucid import {cls}
from pellucid.core.runtime.compiling import files
files.places = lambda: (Path(sys.argv[1]),)
from pellucid.core.runtime.jit import KERNELS
from pellucid.core.runtime.signatures import compile_modules
compile_modules({modules})
cold = [k for k in KERNELS if k.py_func.__module__ in {modules}]
before = {{id(k): sum(k.stats.cache_misses.values()) for k in cold}}
X = np.random.default_rng(0).normal(size=(200, 3))
{call}
print(json.dumps([k.py_func.__name__ for k in cold
    if sum(k.stats.cache_misses.values()) > before[id(k)]]))
"""
CASES = {
    "GaussianNB": ("naive_bayes.gaussian", "GaussianNB().fit(X, X[:, 0] > 0).predict(X)"),
    "Lars": ("linear.lars.kernels", "Lars().fit(X, X[:, 0] + X[:, 1] ** 2)"),
}


def test_the_table_names_kernels_that_are_there():
    from signatures import described, renewed

    import_all()
    kernels = {kernel_name(kernel) for kernel in KERNELS}
    listed = {(module, name) for module, found in recorded().items() for name in found}
    assert listed <= kernels
    for found in recorded().values():
        for args in (args for name in found for args in found[name]):
            assert [described(understood(arg)) for arg in args] == args
    again = renewed(recorded(), KERNELS)  # other tests may have called kernels without a line
    assert all(found.items() <= again[module].items() for module, found in recorded().items())


@pytest.mark.parametrize(
    "cls",
    ["GaussianNB", pytest.param("Lars", marks=pytest.mark.slow)],  # it compiles for long
)
def test_a_real_call_compiles_nothing_more(cls, tmp_path):
    """In a cache of its own; structures (NamedTuples) are among the arguments."""
    module, call = CASES[cls]
    code = FITS.format(cls=cls, modules=[f"pellucid.{module}"], call=call)
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    assert json.loads(run.stdout) == []

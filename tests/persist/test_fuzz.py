"""Forged files of every storable class: no signal, no hang, no gigabytes, one kind of error."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from fuzz_models import every_name

HELPERS = Path(__file__).parents[1] / "helpers"
NAMES = every_name()  # now: while a test runs, the toys are public names too
# What many threads reserve would count as memory that the file asked for.
FEW_THREADS = {
    "PELLUCID_NUM_THREADS": "2",
    "OPENBLAS_NUM_THREADS": "2",
    "OMP_NUM_THREADS": "2",
    "POLARS_MAX_THREADS": "2",
    "MALLOC_ARENA_MAX": "2",
}
# Kernels that check their indices are kept apart: Numba would take the usual ones for them.
CHECKED = {
    "NUMBA_BOUNDSCHECK": "1",
    "NUMBA_CACHE_DIR": str(Path(tempfile.gettempdir(), f"pellucid-checked-kernels-{os.getuid()}")),
}


def faults(count, names, **settings):
    """What went wrong with ``count`` forged files of each class."""
    found, first = [], 0
    while names:
        command = [sys.executable, str(HELPERS / "fuzz_models.py"), str(count), *names, str(first)]
        env = {**os.environ, **FEW_THREADS, **settings}
        with (
            tempfile.TemporaryFile("w+") as said,
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=said, text=True, env=env
            ) as child,
        ):
            rows = [json.loads(line) for line in child.stdout if line.startswith("[")]
            said.seek(0)
            why = f"ended with {child.wait()}: {said.read()[-300:]}"
        found += [row[1:] for row in rows if row[0] == "fault"]
        if rows and rows[-1] == ["done"]:
            break
        last = next((row for row in reversed(rows) if row[0] == "try"), None)
        if last is None:
            return [*found, [names[0], -1, f"before the first file: {why}"]]
        found.append([last[1], last[2], why])
        names, first = names[names.index(last[1]) :], last[2] + 1
    return found


@pytest.mark.parametrize("share", range(4))
def test_a_few_forged_files_of_every_class(share):
    assert faults(4, NAMES[share::4]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_five_hundred_forged_files(name):
    assert faults(500, [name]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_five_hundred_forged_files_with_checked_kernels(name):
    assert faults(500, [name], **CHECKED) == []


KERNEL = """
import numpy as np
from pellucid.core.runtime.jit import jit
@jit
def beyond(values, where):
    return values[where]
beyond(np.zeros(3), 5)
"""


def test_checked_kernels_say_that_they_left_their_array(tmp_path):
    """The check is in force although the same kernel was compiled and kept without it."""
    script = tmp_path / "beyond.py"
    script.write_text(KERNEL)
    usual = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "usual")}
    apart = {**os.environ, **CHECKED, "NUMBA_CACHE_DIR": str(tmp_path / "apart")}
    ran = [
        subprocess.run([sys.executable, script], env=env, capture_output=True, text=True)
        for env in (usual, apart)
    ]
    assert ran[0].returncode == 0
    assert "IndexError: index is out of bounds" in ran[1].stderr

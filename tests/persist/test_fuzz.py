"""Forged files of every storable class: no signal, no hang, no gigabytes, one kind of error."""

import os
import subprocess
import sys

import pytest
from fuzz_models import every_name
from fuzz_runs import CHECKED, faults

NAMES = every_name()  # now: while a test runs, the toys are public names too


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
    usual = {**os.environ, "PELLUCID_KERNELS": str(tmp_path / "usual")}
    apart = {**os.environ, **CHECKED, "PELLUCID_KERNELS": str(tmp_path / "apart")}
    ran = [
        subprocess.run([sys.executable, script], env=env, capture_output=True, text=True)
        for env in (usual, apart)
    ]
    assert ran[0].returncode == 0
    assert "IndexError: index is out of bounds" in ran[1].stderr

"""Forged files of every storable class: no signal, no hang, no gigabytes, one kind of error."""

import os
import random
import subprocess
import sys
import warnings
from functools import cache

import numpy as np
import pytest
from estimators import DEEP, DEEP_REASON
from fuzz_models import classes_in, opened
from fuzz_runs import CHECKED, faults
from fuzz_specimens import FUNCTIONS, declared, every_name, specimen

import pellucid
from pellucid.persist import ModelFileError, load, save
from pellucid.persist.allowed import find_class

HOMES = ("deep.", "pellucid.deep.")  # of the classes that need PyTorch
NAMES = every_name()  # now: while a test runs, the toys are public names too


@cache
def models():
    """A model of every class, fitted once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: specimen(name)[0] for name in NAMES}


def test_every_class_that_declares_a_state_is_in_a_forged_file(tmp_path):
    """A new one needs a line in tests/persist/fuzz_specimens.py, or defaults that make one."""
    seen, path = set(), tmp_path / "model.pellucid"
    for model in models().values():
        save(model, path)
        seen |= classes_in(opened(path)[0]["object"])
    assert set(declared()) - seen == FUNCTIONS


def test_saving_leaves_a_model_as_it_was(tmp_path):
    """What is to be written is built once more from the same arrays, and looked at."""
    first, second = tmp_path / "first.pellucid", tmp_path / "second.pellucid"
    for name, model in models().items():
        save(model, first)
        save(model, second)
        assert first.read_bytes() == second.read_bytes(), name


ODD = (None, True, -1, 0, 10**9, 2**70, 1e308, np.nan, "x", [], {}, (), np.zeros(0), np.array([-1]))


def test_what_is_saved_can_be_loaded(tmp_path):
    """Whatever becomes of a model: ``save`` says no, or ``load`` says yes."""
    path, saved, refused = tmp_path / "model.pellucid", 0, 0
    for name, model in models().items():
        held, chance = vars(model), random.Random(name)
        was = dict(held)
        for _ in range(4 if held else 0):
            held[chance.choice(sorted(held))] = chance.choice(ODD)
            try:
                save(model, path)
            except Exception as error:  # noqa: BLE001  its card may need what is gone
                refused += isinstance(error, ModelFileError)
            else:
                load(path)
                saved += 1
            held.update(was)
    assert min(saved, refused) > len(models()) / 2


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_kernel_that_is_a_function_is_in_no_file(name, tmp_path):
    for function in (None, np.dot):
        with pytest.raises(ModelFileError):
            save(find_class(name)(function), tmp_path / "model.pellucid")


@pytest.mark.parametrize("share", range(4))
def test_a_few_forged_files_of_every_class(share):
    assert faults(4, NAMES[share::4]) == []


@pytest.mark.skipif(not DEEP, reason=DEEP_REASON)
def test_a_few_forged_files_of_deep_classes():
    """Its name is one that `make test-deep` asks for."""
    deep = [name for name in NAMES if pellucid._HOME.get(name, name).startswith(HOMES)]
    assert deep
    assert faults(4, deep) == []


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

"""Without Numba everything imports and answers the same; without Polars, all but tables."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pellucid.core.runtime.compiling.plain import PlainKernel
from pellucid.core.runtime.vectors import plain

FITS = Path(__file__).with_name("small_fits.py")
SOME = (
    "GaussianNB",
    "HistGradientBoostingRegressor",
    "KMeans",
    "KNeighborsClassifier",
    "LogisticRegression",
    "RandomForestClassifier",
    "Ridge",
    "SVC",
)
NO_NUMBA = {"PELLUCID_TEST_BLOCK": "numba,llvmlite"}


def fits(folder, chosen, **environment):
    done = subprocess.run(
        [sys.executable, FITS, "fit", str(folder), *chosen],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])["answers"], done.stderr


@pytest.mark.parametrize(
    "chosen", [SOME, pytest.param((), marks=pytest.mark.slow, id="every class")]
)
def test_the_answers_are_those_of_compiled_kernels(chosen, tmp_path):
    compiled, _ = fits(tmp_path, chosen)
    found, said = fits(tmp_path, chosen, **NO_NUMBA)
    assert said.count("kernels run as plain Python") == 1
    assert found.keys() == compiled.keys()
    assert len(found) >= len(chosen or range(150))
    for name, numbers in compiled.items():
        if numbers and isinstance(numbers[0], float):
            np.testing.assert_allclose(found[name], numbers, rtol=1e-10, atol=1e-10, err_msg=name)
        else:
            assert found[name] == numbers, name


EVERYTHING = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None
import pellucid
missing = []
for name in pellucid.__all__:
    try:
        getattr(pellucid, name)
    except ImportError as error:
        assert "pip install" in str(error), error
        missing.append(name)
print(*missing)
"""


@pytest.mark.parametrize(
    ("block", "missing"),
    [
        ("numba,llvmlite", set()),
        (
            "numba,llvmlite,polars",
            {
                *("Study", "TableFeatures", "compare_candidates", "find_anomalies", "group_table"),
                *("learn", "reduce_table", "sweep_parameter"),
            },
        ),
    ],
)
def test_every_name_is_there(block, missing):
    run = [sys.executable, "-c", EVERYTHING, block]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= missing | deep_names()


def deep_names():
    """What needs PyTorch, which the tests may run without."""
    import pellucid

    return {name for name, home in pellucid._HOME.items() if home.startswith("deep.")}


def test_the_variable_switches_compiling_off():
    code = "from pellucid.core.runtime.jit import why_plain; print(why_plain())"
    for value, said in (("1", "PELLUCID_NO_JIT is set\n"), ("0", "\n")):
        environment = {**os.environ, "PELLUCID_NO_JIT": value}
        run = [sys.executable, "-c", code]
        assert subprocess.run(run, env=environment, capture_output=True, text=True).stdout == said


def ratios(codes, words, single, out):
    total = 0
    for j in range(len(codes)):
        total += codes[j] * 200 - codes[0]  # small numbers do not overflow
    words[:] = -1  # all bits
    out[0] = 1 / (len(codes) - 3)  # a division by zero is no error
    out[1] = math.log(out[2])
    out[3] = single[0] * 0.1  # in double precision
    out[4] = (out[2] - 2.0) ** 0.5
    return total


def test_arithmetic_is_that_of_compiled_kernels(monkeypatch):
    from pellucid.core.runtime import jit

    monkeypatch.setattr(jit, "KERNELS", [])
    results = []
    for kernel in (PlainKernel(ratios, "a test"), jit.jit(ratios)):
        codes, single = np.array([3, 250, 7], np.uint8), np.array([0.3], np.float32)
        words, out = np.zeros(2, np.uint32), np.zeros(5)
        results.append((int(kernel(codes, words, single, out)), words.tolist(), out.tolist()))
    assert repr(results[0]) == repr(results[1])


def test_tiles_are_those_of_compiled_kernels():
    from pellucid.core.runtime.simd import LANES, TILE_ROWS, add_tile_1, distance_tile_2

    rng = np.random.default_rng(0)
    L, R = rng.normal(size=(7, 8)), rng.normal(size=(7, 16))
    out = np.ones((8, 16))
    plain.add_tile_1(L, R, 7, 4, 8, out)
    np.testing.assert_allclose(out[4:, 8:12], 1 + L[:, 4:].T @ R[:, 8:12])
    plain.distance_tile_2(L, R, 7, 0, 0, out)
    np.testing.assert_allclose(out[:4, :8], ((L[:, :4, None] - R[:, None, :8]) ** 2).sum(axis=0))
    assert {LANES, TILE_ROWS} <= {4, 8}
    assert add_tile_1 is not plain.add_tile_1
    assert distance_tile_2 is not plain.distance_tile_2
    assert plain.trailing_zeros(np.uint64(40)) == 3
    counter = np.zeros(1, np.int64)
    assert [plain.add_one(counter), plain.add_one(counter), plain.look_at(counter)] == [0, 1, 2]
    sums, codes = np.zeros((2, 256), np.int64), np.array([0, 5, 9], np.uint8)
    plain.add_singles(codes, 1, 2, np.array([4, 6]), 1, sums)
    assert (sums[0, 5], sums[1, 9], sums.sum()) == (6, 6, 12)
    plain.add_pairs(codes, 1, 2, np.array([[1, 2]]), 0, pairs := np.zeros((2, 256, 2), np.int64))
    assert pairs[1, 9].tolist() == [1, 2]

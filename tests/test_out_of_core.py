"""Larger than memory: same bits for any block size and backend, little memory, a worker lost.

``make test`` runs it on 100,000 rows; ``make test-all`` also on 5,000,000 rows with the limit of
600 MB on the peak memory of the fitting process.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

WORKER = Path(__file__).parent / "helpers/out_of_core.py"
NAMES = ("Ridge", "GaussianNB", "KMeans")
LIMIT_MB = 600


def run(*arguments):
    done = subprocess.run(
        [sys.executable, str(WORKER), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout) if arguments[0] != "make" else None


def check(path, name, block_sizes):
    reference = run("fit", name, path, 65_536, "threads")
    results = [run("fit", name, path, rows, "threads") for rows in block_sizes]
    results += [run("fit", name, path, 65_536, backend) for backend in ("serial", "joblib", "dask")]
    assert {result["bits"] for result in results} == {reference["bits"]}
    whole = run("memory", name, path)
    np.testing.assert_allclose(reference["values"], whole["values"], rtol=1e-9, atol=1e-9)
    return [reference, *results]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n == "KMeans" else pytest.mark.slow) for n in NAMES]
)
def test_small(name, tmp_path):
    path = tmp_path / "table.parquet"
    run("make", path, 100_000)
    check(path, name, (1_000, 1_000_000))


@pytest.fixture(scope="module")
def five_million(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "table.parquet"
    run("make", path, 5_000_000)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_five_million_rows(name, five_million):
    results = check(five_million, name, (1_000, 1_000_000))
    assert results[-1]["killed during the fit"]  # the last one ran on Dask
    for result in results:
        assert result["megabytes"] < LIMIT_MB, result["megabytes"]

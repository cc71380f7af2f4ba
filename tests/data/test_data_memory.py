"""Files larger than memory: the peak stays at a few pieces, whatever the block size."""

import json
import subprocess
import sys

import pytest

MAKE = """
import sys
import numpy as np, polars as pl
path, n, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
if kind == "csv":
    with open(path, "wb") as file:
        for start in range(0, n, 100_000):
            X = rng.integers(0, 1000, size=(min(100_000, n - start), 20))
            frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(20)])
            frame.write_csv(file, include_header=start == 0)
else:
    import pyarrow as pa, pyarrow.parquet as pq
    size = int(kind)  # rows of a row group
    schema = pa.schema([(f"x{j}", pa.float64()) for j in range(20)])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, size):
            m = min(size, n - start)
            columns = [rng.integers(0, 1000, size=m).astype(float) for _ in range(20)]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=size)
"""

READ = """
import json, pathlib, sys, time
import numpy as np
from pellucid.core.arrays.frames import frame_matrix
from pellucid.core.runtime.threads import map_threads
from pellucid.data import blocks

def total(span):
    return sum(frame_matrix(leaf.X).sum(axis=0) for leaf in span.leaves())

start = time.perf_counter()
data = blocks(sys.argv[1], block_rows=int(sys.argv[2]))
sums = sum(map_threads(total, data.spans()))
status = pathlib.Path("/proc/self/status").read_text()  # ru_maxrss counts the parent's pages too
peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
print(json.dumps({"rows": data.n_rows, "sum": float(sums.sum()), "megabytes": peak,
                  "seconds": time.perf_counter() - start}))
"""


def run(code, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("group", [250_000, 1_000_000])
def test_parquet_of_five_million_rows(tmp_path, group):
    path = tmp_path / "t.parquet"
    run(MAKE, path, 5_000_000, group)
    sums = set()
    for block_rows in (1000, 65_536, 1_000_000):
        found = json.loads(run(READ, path, block_rows))
        print(group, block_rows, found)
        assert found["rows"] == 5_000_000
        assert found["megabytes"] < 450  # leaves room for the fit below 600 MB
        sums.add(found["sum"])
    assert len(sums) == 1


@pytest.mark.slow
def test_csv_of_two_million_rows(tmp_path):
    path = tmp_path / "t.csv"
    run(MAKE, path, 2_000_000, "csv")
    sums = set()
    for block_rows in (1000, 65_536, 1_000_000):
        found = json.loads(run(READ, path, block_rows))
        print(block_rows, found)
        assert found["rows"] == 2_000_000
        assert found["megabytes"] < 450
        sums.add(found["sum"])
    assert len(sums) == 1

"""Sums over blocks on a Dask cluster beside dask-ml, and beside one process of ours.

    python -m benchmarks.blocks_on_dask [--rows 20000000] [--columns 20] [--workers 4]
                                        [--memory 1GB] [--only NAMES] [--kill] [--out FILE]

The table is made a file at a time (Parquet, normal groups in COLUMNS columns) under the temporary
folder and kept for the next run. Every method is fitted by one process (``Serial``), by a
``LocalCluster`` of WORKERS processes on loopback, each limited to MEMORY, and, where dask-ml is
installed, by its class of that name on a Dask array of the same files, persisted as its
documentation asks. One line of JSON for
each: seconds, bytes between client and scheduler both ways, the most memory of a worker, and
whether every fitted number has the bits of one process. ``--kill`` ends one worker with SIGKILL
a third into ours. Ratios come from one run; seconds of a loaded machine say nothing.
"""

import argparse
import importlib.util
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FILE_ROWS = 500_000
METHODS: dict[str, dict[str, Any]] = {
    "PCA": {"n_components": 5},
    "LogisticRegression": {},
    "KMeans": {"n_clusters": 32, "random_state": 0, "max_iter": 10},
    "GaussianMixture": {"n_components": 4, "random_state": 0, "max_iter": 3},
}
PEERS = {
    "PCA": ("dask_ml.decomposition", {"n_components": 5}),
    "LogisticRegression": ("dask_ml.linear_model", {"solver": "newton"}),
    "KMeans": ("dask_ml.cluster", {"n_clusters": 32, "random_state": 0, "max_iter": 10}),
}


def make_files(folder: Path, rows: int, columns: int) -> None:
    """The same table for the same numbers of rows and columns; what is there is kept."""
    import polars as pl

    rng = np.random.default_rng(0)
    centers = 4 * rng.normal(size=(32, columns))
    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        n = min(FILE_ROWS, rows - start)
        own = np.random.default_rng(number)
        X = centers[own.integers(32, size=n)] + own.normal(size=(n, columns))
        y = (X[:, 0] + own.normal(size=n) > 0).astype(np.int8)
        path = folder / f"{number:05d}.parquet"
        if not path.exists():
            frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(columns)])
            frame.with_columns(y=pl.Series(y)).write_parquet(path)


def fitted_bits(model: Any) -> list[bytes]:
    """All fitted numbers but the history."""
    found = {k: v for k, v in vars(model).items() if k.endswith("_") and k != "history_"}
    return [np.asarray(v).tobytes() for _, v in sorted(found.items()) if _floats(v)]


def _floats(value: Any) -> bool:
    return isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f"


def ours(name: str, folder: Path, backend: Any) -> Any:
    """One of our models from the files."""
    import pellucid

    target = "y" if name == "LogisticRegression" else None
    columns = [f"x{j}" for j in range(width(folder))]
    data = pellucid.data.blocks(folder, target=target, columns=columns)
    return getattr(pellucid, name)(**METHODS[name]).fit_blocks(data, backend=backend)


def width(folder: Path) -> int:
    import polars as pl

    return len(pl.read_parquet_schema(sorted(folder.iterdir())[0])) - 1


def theirs(name: str, folder: Path) -> Any:
    """dask-ml's model from the same files."""
    import dask.dataframe as dd

    module, settings = PEERS[name]
    frame = dd.read_parquet(folder)
    X = frame[[c for c in frame.columns if c != "y"]].to_dask_array(lengths=True).persist()
    model = getattr(importlib.import_module(module), name)(**settings)
    if name == "LogisticRegression":
        return model.fit(X, frame["y"].to_dask_array(lengths=True).persist())
    return model.fit(X)


def worker_peak(client: Any) -> float:
    """The most memory that a worker has had, in MB."""
    return max(client.run(_peak).values())


def _peak() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(client: Any, fit: Callable[[], Any]) -> tuple[Any, dict[str, Any]]:
    """The model, its seconds and the bytes between this client and its scheduler."""
    from distributed.comm import tcp

    count = {"bytes": 0}
    write, scheduler = tcp.TCP.write, client.scheduler.address

    async def counted(self: Any, *given: Any, **named: Any) -> int:
        size = await write(self, *given, **named)
        ends = (self._peer_addr, self._local_addr)
        count["bytes"] += size if scheduler in ends and not is_worker(client, ends) else 0
        return size

    tcp.TCP.write = counted
    began = time.perf_counter()
    try:
        model = fit()
    finally:
        tcp.TCP.write = write
    seconds = time.perf_counter() - began
    facts = {"seconds": round(seconds, 2), "client_bytes": count["bytes"]}
    return model, {**facts, "worker_mb": round(worker_peak(client))}


def end_worker(client: Any, killed: list[int]) -> None:
    """End one worker with SIGKILL."""
    killed.append(next(iter(client.run(os.getpid).values())))
    os.kill(killed[0], signal.SIGKILL)


def is_worker(client: Any, ends: tuple[str, str]) -> bool:
    """Whether a connection of the scheduler, which is in this process, leads to a worker."""
    known = client.cluster.scheduler.workers
    return any(end in known for end in ends)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--only", default=",".join(METHODS))
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    folder = Path(tempfile.gettempdir()) / f"pellucid-blocks-{asked.rows}-{asked.columns}"
    folder.mkdir(exist_ok=True)
    make_files(folder, asked.rows, asked.columns)
    for name in asked.only.split(","):
        for line in compare(name, folder, asked):
            text = json.dumps({"method": name, "rows": asked.rows, **line})
            sys.stdout.write(text + "\n")
            if asked.out is not None:
                with asked.out.open("a") as file:
                    file.write(text + "\n")


def compare(name: str, folder: Path, asked: Any) -> list[dict[str, Any]]:
    """One process, the cluster, and dask-ml on the same cluster."""
    from distributed import Client, LocalCluster

    from pellucid.backends import Dask, Serial

    began = time.perf_counter()
    alone = ours(name, folder, Serial())
    lines = [{"who": "one process", "seconds": round(time.perf_counter() - began, 2)}]
    with (
        LocalCluster(
            n_workers=asked.workers, threads_per_worker=1, host="127.0.0.1",
            memory_limit=asked.memory, dashboard_address=None, silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        ours(name, folder, Dask(client))  # compiles on every worker
        killed: list[int] = []
        timer = threading.Timer(
            float(lines[0]["seconds"]) / (3 * asked.workers), end_worker, (client, killed)
        )
        if asked.kill:
            timer.start()
        model, facts = measured(client, lambda: ours(name, folder, Dask(client)))
        timer.cancel()  # a fit that ended before it lost no worker, and the line says so
        same = fitted_bits(model) == fitted_bits(alone)
        lines.append({"who": "pellucid", **facts, "same_bits": same, "killed": bool(killed)})
        if name in PEERS and importlib.util.find_spec("dask_ml"):
            _, facts = measured(client, lambda: theirs(name, folder))
            lines.append({"who": "dask-ml", **facts})
    return lines


if __name__ == "__main__":
    main()

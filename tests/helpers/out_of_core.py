"""Fit one estimator on a Parquet file in a process of its own; print the bits and the memory.

    python tests/out_of_core.py make PATH ROWS
    python tests/out_of_core.py fit NAME PATH BLOCK_ROWS BACKEND
    python tests/out_of_core.py memory NAME PATH

``BACKEND`` is threads, serial, joblib or dask; dask starts a LocalCluster on loopback and kills
one of its workers during the fit.
"""

import hashlib
import json
import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np

P, K = 20, 4
COLUMNS = [f"x{j}" for j in range(P)]
SETTINGS = {"Ridge": {}, "GaussianNB": {}, "KMeans": {"n_clusters": K, "random_state": 0}}
TARGET = {"Ridge": "number", "GaussianNB": "label", "KMeans": None}


WATCHED = {}  # what the test wants to know besides the numbers


def make_file(path, n_rows):
    """Four groups, a linear signal; written in pieces so that memory stays small."""
    import polars as pl

    rng = np.random.default_rng(0)
    centers, slope = 3 * rng.normal(size=(K, P)), rng.normal(size=P)
    parts = []
    for start in range(0, n_rows, 500_000):
        n = min(500_000, n_rows - start)
        group = rng.integers(K, size=n)
        X = centers[group] + rng.normal(size=(n, P))
        frame = pl.DataFrame(X, schema=COLUMNS).with_columns(
            number=pl.Series(X @ slope + rng.normal(size=n)),
            label=pl.Series(np.array(["a", "b", "c", "d"])[group]),
        )
        parts.append(f"{path}.{start}")
        frame.write_parquet(parts[-1])
    pl.scan_parquet(parts).sink_parquet(path)
    for part in parts:
        os.remove(part)


def blocks(name, path, block_rows):
    import pellucid

    return pellucid.data.blocks(path, target=TARGET[name], columns=COLUMNS, block_rows=block_rows)


def estimator(name):
    import pellucid

    return getattr(pellucid, name)(**SETTINGS[name])


def numbers(model):
    """The fitted floating-point attributes in one vector."""
    found = [
        np.ravel(value)
        for name, value in sorted(vars(model).items())
        if name.endswith("_") and isinstance(value, float | np.ndarray | np.floating)
        and np.asarray(value).dtype.kind == "f" and name != "labels_"
    ]  # fmt: skip
    return np.concatenate(found)


def fit(name, path, block_rows, backend):
    from pellucid import backends

    source = blocks(name, path, block_rows)
    if backend == "threads":
        return estimator(name).fit_blocks(source)
    if backend != "dask":
        chosen = backends.Serial() if backend == "serial" else backends.Joblib(n_jobs=2)
        return estimator(name).fit_blocks(source, backend=chosen)
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        killed = []

        def kill():
            os.kill(victim, signal.SIGKILL)
            killed.append(time.perf_counter())

        killer = threading.Timer(1.0, kill)
        killer.start()
        try:
            model = estimator(name).fit_blocks(source, backend=backends.Dask(client))
            ended = time.perf_counter()
        finally:
            killer.join()
        WATCHED["killed during the fit"] = killed[0] < ended
        alive = set(client.run(os.getpid).values()) if client.scheduler_info()["workers"] else set()
        assert victim not in alive, "the worker outlived its killing"
    return model


def in_memory(name, path):
    import polars as pl

    wanted = [TARGET[name]] if TARGET[name] else []
    frame = pl.read_parquet(path, columns=COLUMNS + wanted)
    y = frame[TARGET[name]].to_numpy() if TARGET[name] else None
    return estimator(name).fit(frame.select(COLUMNS), y)


def peak_megabytes():
    """Peak of this process alone: ru_maxrss would count the pages of the parent before exec."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main(command, *arguments):
    if command == "make":
        make_file(arguments[0], int(arguments[1]))
        return
    began = time.perf_counter()
    if command == "fit":
        name, path, block_rows, backend = arguments
        model = fit(name, path, int(block_rows), backend)
    else:
        model = in_memory(*arguments)
    values = numbers(model)
    print(
        json.dumps(
            {
                "bits": hashlib.sha256(values.tobytes()).hexdigest(),
                "values": values.tolist(),
                **WATCHED,
                "megabytes": peak_megabytes(),
                "seconds": time.perf_counter() - began,
            }
        )
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])

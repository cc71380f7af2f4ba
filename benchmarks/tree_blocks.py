"""Boosting, a forest and an isolation forest from blocks: one process, then a Dask cluster.

    python -m benchmarks.tree_blocks [--rows 20000000] [--columns 20] [--workers 4] [--memory 1GB]

The rows are written to Parquet files first (a piece at a time, so any number fits), and read by the
workers. Each method is fitted in this process and on a local cluster, once quietly and once with a
worker killed on the way (an isolation forest, three maps, is not); the trees must be equal to the
last bit. Printed are seconds, passes over
the rows, bytes of sums that came back, the largest memory of a worker, and the score on rows apart.
XGBoost and LightGBM run on the same cluster where their Dask forms can be imported.

    --only NAMES     boosting, forest, isolation
    --rounds N       trees of boosting and of the forest, 100 unless told
    --folder FOLDER  where the files are written; a temporary folder unless told
"""

import argparse
import importlib
import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

PIECE = 1_000_000  # rows of one file


class Run(NamedTuple):
    """What one fit took."""

    name: str
    seconds: float
    passes: int
    received: int  # bytes
    memory: float  # GB of the largest worker
    score: float


def make_piece(seed: int, rows: int, columns: int) -> dict[str, Any]:
    """Two classes: linear, an interaction, noise; 1 % of the cells are missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    y = X[:, 0] + 0.5 * X[:, 1] - X[:, 2] * X[:, 3] + rng.normal(size=rows) > 0
    X[rng.random(X.shape) < 0.01] = np.nan
    return {f"x{j}": X[:, j] for j in range(columns)} | {"y": y.astype(np.int8)}


def write(folder: Path, rows: int, columns: int) -> Any:
    """The files, and blocks of them."""
    import polars as pl

    from pellucid.data import blocks

    folder.mkdir(parents=True, exist_ok=True)
    for k, start in enumerate(range(0, rows, PIECE)):
        piece = make_piece(k, min(PIECE, rows - start), columns)
        pl.DataFrame(piece).write_parquet(folder / f"{k:05}.parquet")
    return blocks(str(folder / "*.parquet"), target="y")


def models(rounds: int) -> dict[str, Any]:
    """The methods, each with its seed."""
    import pellucid

    leaves = {"min_samples_leaf": 1000, "random_state": 0}
    return {
        "boosting": pellucid.HistGradientBoostingClassifier(
            max_iter=rounds, early_stopping=False, random_state=0
        ),
        "forest": pellucid.RandomForestClassifier(rounds, max_depth=12, **leaves),
        "isolation": pellucid.IsolationForest(n_estimators=rounds, random_state=0),
    }


def nodes(model: Any) -> tuple[Any, ...]:
    """All arrays of the trees."""
    return tuple(model.trees_ if hasattr(model, "trees_") else model.forest_)


def same(a: Any, b: Any) -> bool:
    """Whether two fits grew the same trees."""
    return all(np.array_equal(x, y) for x, y in zip(nodes(a), nodes(b), strict=True))


def timed(name: str, model: Any, source: Any, backend: Any, kill: Any = None) -> tuple[Any, Run]:
    """Fit, and count what travelled; ``kill`` is called once, after three passes."""
    from pellucid.ensemble.blocks.shards import Shards

    each, used = Shards.each, []

    def counted(self: Any, *given: Any) -> Any:
        if self not in used:
            used.append(self)
        if kill is not None and self.passes == 3:
            kill()
        return each(self, *given)

    Shards.each = counted  # type: ignore[method-assign]
    try:
        start = time.perf_counter()
        model.fit_blocks(source, backend=backend)
        seconds = time.perf_counter() - start
    finally:
        Shards.each = each  # type: ignore[method-assign]
    passes, received = (sum(getattr(s, what) for s in used) for what in ("passes", "received"))
    return model, Run(name, seconds, passes, received, np.nan, score(model, source))


def score(model: Any, source: Any) -> float:
    """Accuracy on rows that no fit has seen; NaN for a method without classes."""
    if not hasattr(model, "classes_"):
        return np.nan
    import polars as pl

    test = pl.DataFrame(make_piece(10**6, 100_000, source.n_features))
    return float((model.predict(test.drop("y")) == test["y"].to_numpy()).mean())


class Watch(threading.Thread):
    """The largest memory of a worker, looked at twice a second."""

    def __init__(self, client: Any) -> None:
        super().__init__(daemon=True)
        self.client, self.most, self.over = client, 0, threading.Event()

    def run(self) -> None:
        """Until ``over``."""
        while not self.over.wait(0.5):
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
            self.most = max([self.most, *(w["metrics"]["memory"] for w in workers)])


def on_cluster(client: Any, name: str, source: Any, rounds: int, kill: bool) -> tuple[Any, Run]:
    """One fit on the cluster."""
    from pellucid.backends import Dask

    def kill_one() -> None:
        home, pid = next(iter(client.run(os.getpid).items()))
        print(f"  killing {home}")
        os.kill(pid, signal.SIGKILL)

    watch = Watch(client)
    watch.start()
    label = f"{name}, worker killed" if kill else f"{name}, cluster"
    model = models(rounds)[name]
    found, run = timed(label, model, source, Dask(client), kill_one if kill else None)
    watch.over.set()
    watch.join()
    return found, run._replace(memory=watch.most / 1e9)


def peers(client: Any, folder: Path, rounds: int) -> list[Run]:
    """XGBoost and LightGBM with the same rounds and leaves, where they are installed."""
    found = []
    for label, module in (("XGBoost", "xgboost.dask"), ("LightGBM", "lightgbm")):
        try:
            library = importlib.import_module(module)
            frames = importlib.import_module("dask.dataframe")
        except ImportError:
            print(f"  {label}'s Dask form cannot be imported: left out")
            continue
        table = frames.read_parquet(str(folder / "*.parquet"))
        X, y = table.drop(columns="y"), table["y"]
        shape = {"n_estimators": rounds, "learning_rate": 0.1, "max_bin": 255}
        if label == "XGBoost":
            model = library.DaskXGBClassifier(
                **shape, max_leaves=31, grow_policy="lossguide", tree_method="hist"
            )
        else:
            model = library.DaskLGBMClassifier(**shape, num_leaves=31)
        model.client = client
        start = time.perf_counter()
        model.fit(X, y)
        found.append(Run(label, time.perf_counter() - start, 0, 0, np.nan, np.nan))
    return found


def show(run: Run) -> None:
    """One line."""
    sums = f"{run.passes:6d} passes {run.received / 1e6:10.1f} MB" if run.passes else " " * 28
    print(f"{run.name:28s} {run.seconds:9.1f} s {sums} {run.memory:6.2f} GB  {run.score:.4f}")


def main() -> None:
    """Write, fit, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--only", default="boosting,forest,isolation")
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()

    from distributed import Client, LocalCluster

    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch) / "rows"
        source = write(folder, asked.rows, asked.columns)
        local = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
        size = {"n_workers": asked.workers, "threads_per_worker": 1, "memory_limit": asked.memory}
        with LocalCluster(**size, **local) as cluster, Client(cluster) as client:
            for name in asked.only.split(","):
                whole, run = timed(f"{name}, here", models(asked.rounds)[name], source, None)
                show(run)
                for kill in (False,) if name == "isolation" else (False, True):
                    model, run = on_cluster(client, name, source, asked.rounds, kill)
                    show(run)
                    print(f"  the same trees: {same(whole, model)}")
            if "boosting" in asked.only:
                for run in peers(client, folder, asked.rounds):
                    show(run)


if __name__ == "__main__":
    main()

"""A real cluster on loopback: a worker is killed on the way, and the trees are the same."""

import os
import signal

import distributed
import numpy as np
import pytest

from pellucid import HistGradientBoostingClassifier
from pellucid.backends import Dask
from pellucid.data import blocks
from pellucid.ensemble.blocks.shards import Shards


@pytest.fixture(scope="module")
def client():
    local = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            worker_dashboard_address="127.0.0.1:0",
            **local,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def same_trees(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a.trees_, b.trees_, strict=True))


def test_a_killed_worker_changes_nothing(client, tmp_path, monkeypatch):
    import polars as pl

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 4))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=len(X)) > 0).astype(int)
    path = str(tmp_path / "rows.parquet")
    columns = {f"x{j}": X[:, j] for j in range(4)}
    pl.DataFrame(columns | {"y": y}).write_parquet(path, row_group_size=7_000)
    rules = {"max_iter": 3, "early_stopping": True, "random_state": 0, "max_leaf_nodes": 15}
    source = blocks(path, target="y", block_rows=8_192)
    whole = HistGradientBoostingClassifier(**rules).fit_blocks(source)

    each, found = Shards.each, []

    def count(self, *given):
        found.append(self)
        return each(self, *given)

    monkeypatch.setattr(Shards, "each", count)
    quiet = HistGradientBoostingClassifier(**rules).fit_blocks(source, backend=Dask(client))
    assert same_trees(whole, quiet)
    assert found[-1].rebuilt <= 2  # states stay where they are
    assert set(found[-1].place.homes) == set(range(len(found[-1].shards)))

    def kill_one(self, *given):
        if self.passes == 7 and not killed:
            held = set(self.place.homes.values())
            home = sorted(held)[0]
            killed.append(client.run(os.getpid, workers=[home])[home])
            os.kill(killed[0], signal.SIGKILL)
        return count(self, *given)

    killed = []
    monkeypatch.setattr(Shards, "each", kill_one)
    again = HistGradientBoostingClassifier(**rules).fit_blocks(source, backend=Dask(client))
    assert killed
    assert found[-1].rebuilt > 0
    assert same_trees(whole, again)

"""What a fit on a cluster sends: nothing that grows with the blocks, and every file read once."""

import contextlib
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from distributed.comm import tcp

import pellucid
from pellucid.backends import Dask, Serial
from pellucid.backends.dask_backend import forget_blocks, kept_counts, leaf_bytes
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, Statistic, reduce_rows

LETTERS = "abcd"


class MadeSpan(NamedTuple):
    """A leaf of a few rows that are made where they are read."""

    start: int

    def leaves(self):
        rng = np.random.default_rng(self.start)
        X = rng.normal(size=(8, 4))
        yield Rows(X, (X[:, 0] > 0).astype(float), None)


class MadeBlocks(NamedTuple):
    """A source of any number of blocks that holds no rows."""

    n_blocks: int
    n_features: int = 4
    feature_names: tuple[str, ...] = tuple(LETTERS)
    target: str = "y"
    block_rows: int = LEAF_ROWS

    @property
    def n_rows(self):
        return self.n_blocks * LEAF_ROWS

    def only_target(self):
        return self

    def spans(self):
        return [MadeSpan(i * LEAF_ROWS) for i in range(self.n_blocks)]


@contextlib.contextmanager
def counted(client, monkeypatch):
    """Bytes between this client and its scheduler, both ways."""
    count = {"sent": 0, "received": 0}
    scheduler = client.scheduler.address
    write, read = tcp.TCP.write, tcp.TCP.read

    async def counted_write(self, *given, **named):
        size = await write(self, *given, **named)
        count["sent"] += size if self._peer_addr == scheduler else 0
        return size

    async def counted_read(self, *given, **named):
        message = await read(self, *given, **named)
        if self._peer_addr == scheduler:
            count["received"] += len(repr(message)) if not isinstance(message, bytes) else 0
            count["received"] += held_bytes(message)
        return message

    with monkeypatch.context() as patched:
        patched.setattr(tcp.TCP, "write", counted_write)
        patched.setattr(tcp.TCP, "read", counted_read)
        yield count


def held_bytes(message):
    """The bytes of a message's payloads."""
    if isinstance(message, bytes | bytearray | memoryview):
        return len(message)
    if isinstance(message, dict):
        return sum(map(held_bytes, message.values()))
    if isinstance(message, list | tuple):
        return sum(map(held_bytes, message))
    return sum(map(held_bytes, getattr(message, "frames", ())))


def test_client_traffic_does_not_grow_with_the_blocks(client, monkeypatch):
    """100 and 1,000 blocks: the same number of tasks, and bytes within a tenth."""
    traffic, bits = {}, {}
    backend = Dask(client)
    for n in (100, 1000):
        with counted(client, monkeypatch) as count:
            model = pellucid.LinearRegression().fit_blocks(MadeBlocks(n), backend=backend)
        traffic[n] = sum(count.values())
        expected = pellucid.LinearRegression().fit_blocks(MadeBlocks(n), backend=Serial())
        bits[n] = model.coef_.tobytes() == expected.coef_.tobytes()
    assert bits == {100: True, 1000: True}
    assert 1000 < traffic[1000] < 1.1 * traffic[100] + 2000


def test_many_passes_read_each_block_once(client):
    """Logistic regression takes several passes; what the workers keep is let go at the end."""
    seen = []

    class Watched(Dask):
        def forget(self):
            seen.append(client.run(kept_counts))
            super().forget()

    data = MadeBlocks(40)
    client.run(forget_blocks)
    model = pellucid.LogisticRegression().fit_blocks(data, backend=Watched(client))
    expected = pellucid.LogisticRegression().fit_blocks(data, backend=Serial())
    assert model.coef_.tobytes() == expected.coef_.tobytes()
    reads, hits, held = np.array(list(seen[-1].values())).sum(axis=0)
    assert reads <= 3 * 40  # labels and rows; a run that moved is read again by another worker
    assert hits >= 3 * 40
    assert held > 0
    assert set(client.run(kept_counts).values()) == {(0, 0, 0)}


def test_no_room_no_keeping(client):
    seen = []

    class Watched(Dask):
        def forget(self):
            seen.append(client.run(kept_counts))
            super().forget()

    model = pellucid.LogisticRegression().fit_blocks(MadeBlocks(9), backend=Watched(client, keep=0))
    expected = pellucid.LogisticRegression().fit_blocks(MadeBlocks(9), backend=Serial())
    assert model.coef_.tobytes() == expected.coef_.tobytes()
    assert {counts[1:] for counts in seen[-1].values()} == {(0, 0)}


@pytest.mark.parametrize("keep", [-0.1, 1.0, "all", True])
def test_keep_is_a_share(keep):
    with pytest.raises(ValueError, match="keep must be a share of memory"):
        Dask(keep=keep)


def fail_from(first, rows):
    value = float(rows.X[0, 0])
    if value >= first:
        raise ValueError(f"{value:.0f} is refused")
    return value


class CountedSpan(NamedTuple):
    start: int

    def leaves(self):
        yield Rows(np.full((1, 1), self.start / LEAF_ROWS), None, None)


class CountedBlocks(NamedTuple):
    n: int

    def spans(self):
        return [CountedSpan(i * LEAF_ROWS) for i in range(self.n)]


def joined(a, b):
    return f"({a}{b})"


def test_the_tree_is_the_same_on_the_workers(client):
    """Merging is not associative here: any other order would show."""
    statistic = Statistic(partial(fail_from, 999), joined)
    for n in (1, 2, 7, 64, 101):
        expected = reduce_rows(statistic, CountedBlocks(n), Serial().map)
        assert reduce_rows(statistic, CountedBlocks(n), Dask(client).map) == expected


def test_the_error_is_that_of_the_first_rows(client):
    statistic = Statistic(partial(fail_from, 5), joined)
    with pytest.raises(ValueError, match=r"^5 is refused"):
        reduce_rows(statistic, CountedBlocks(200), Dask(client).map)
    with pytest.raises(ValueError, match="there are no rows"):
        reduce_rows(statistic, CountedBlocks(0), Dask(client).map)


def test_rows_in_memory_travel_slice_by_slice(client):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5 * LEAF_ROWS + 9, 3))
    data = pellucid.data.blocks(X, target=X @ [1.0, 2.0, 3.0], block_rows=LEAF_ROWS)
    model = pellucid.LinearRegression().fit_blocks(data, backend=Dask(client))
    expected = pellucid.LinearRegression().fit(X, X @ [1.0, 2.0, 3.0])
    assert model.coef_.tobytes() == expected.coef_.tobytes()


def test_dask_frames_are_computed_on_the_workers(client):
    """Plain and persisted: partitions go to the workers that read them."""
    import dask.dataframe as dd

    rng = np.random.default_rng(1)
    table = pl.DataFrame(rng.normal(size=(2 * LEAF_ROWS + 9, 2)), schema=["a", "y"]).to_pandas()
    expected = pellucid.LinearRegression().fit(table[["a"]], table["y"])
    with client.as_current():
        plain = dd.from_pandas(table, npartitions=5)
        for frame in (plain, plain.persist()):
            data = pellucid.data.blocks(frame, target="y", block_rows=LEAF_ROWS)
            model = pellucid.LinearRegression().fit_blocks(data, backend=Dask(client))
            assert model.coef_.tobytes() == expected.coef_.tobytes()


def test_the_memory_of_a_leaf():
    X = np.ones((3, 2))
    frame = pl.DataFrame(X)
    weights = np.broadcast_to(1.0, (3,))
    assert leaf_bytes(Rows(X, np.ones(3), weights)) == 72
    assert leaf_bytes((Rows(X, None, weights), 4)) == 48
    assert leaf_bytes(Rows(frame, None, None)) == 48

"""Backends: in order, the same bits, errors as they are, nothing left running."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import joblib
import numpy as np
import polars
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import pellucid
from pellucid import GaussianNB
from pellucid.backends import Dask, Joblib, Serial, use
from pellucid.core.loops.statistics import LEAF_ROWS, Rows
from pellucid.core.runtime.backend import default_backend

N, P, K = 10 * LEAF_ROWS + 123, 3, 4


class FileSpan(NamedTuple):
    """Rows of two .npy files; the first reader of the span at ``deadly`` kills its process."""

    folder: Path
    start: int
    stop: int
    deadly: int

    def leaves(self):
        if self.start == self.deadly and not (self.folder / "killed").exists():
            (self.folder / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        X = np.load(self.folder / "X.npy", mmap_mode="r")
        y = np.load(self.folder / "y.npy")
        for start in range(self.start, self.stop, LEAF_ROWS):
            stop = min(start + LEAF_ROWS, self.stop)
            yield Rows(np.array(X[start:stop]), y[start:stop], None)


class FileBlocks(NamedTuple):
    """The least a block source must have."""

    folder: Path
    leaves_per_span: int = 2
    deadly: int = -1
    n_rows: int = N
    n_features: int = P
    feature_names: tuple[str, ...] = ("a", "b", "c")
    target: str = "y"
    block_rows: int = LEAF_ROWS

    def only_target(self):
        return self._replace(deadly=-1)

    def spans(self):
        step = self.leaves_per_span * LEAF_ROWS
        starts = range(0, self.n_rows, step)
        return [FileSpan(self.folder, s, min(s + step, self.n_rows), self.deadly) for s in starts]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    X[rng.random(X.shape) < 0.01] = np.nan
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", rng.choice(list("dcba"), size=N))
    return tmp_path


def bits(model):
    return model.moments_.tobytes() + model.var_.tobytes() + model.class_count_.tobytes()


def slow_square(x):
    time.sleep(0.02 * (x % 3))
    return x * x


def scaled(scale, x):
    return float(scale.sum() * x)


def fail_at_three(x):
    if x == 3:
        raise ValueError("three is refused")
    return x


def touch_and_sleep(folder, x):
    (folder / str(x)).touch()
    time.sleep(0.2)
    return x


LOCAL = [Serial(), Joblib(), Joblib(2), ThreadPoolExecutor(2)]  # an executor maps too


@pytest.mark.parametrize("backend", LOCAL, ids=["serial", "joblib", "joblib-2", "executor"])
def test_in_order(backend):
    assert list(backend.map(slow_square, range(7))) == [x * x for x in range(7)]
    assert list(backend.map(slow_square, [])) == []


@pytest.mark.parametrize("backend", [Serial(), Joblib(1), Joblib(2)], ids=repr)
def test_errors_as_they_are(backend):
    with pytest.raises(ValueError, match="three is refused"):
        list(backend.map(fail_at_three, range(5)))


def test_joblib_honours_parallel_config():
    with joblib.parallel_config("threading", n_jobs=2):
        pids = set(Joblib().map(lambda _: os.getpid(), range(4)))
    assert pids == {os.getpid()}


def test_one_worker_is_enough_for_joblib_to_be_lazy():
    seen = []
    iterator = Joblib(1).map(seen.append, range(100))
    next(iterator)
    iterator.close()
    assert len(seen) < 100


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", True])
def test_joblib_refuses(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or a whole number other than 0, got"):
        Joblib(n_jobs)


def test_use_sets_and_restores():
    inner, outer = Serial(), Serial()
    with use(outer) as given:
        assert given is outer
        with use(inner):
            assert default_backend.get() is inner
        assert default_backend.get() is outer
        with pytest.raises(RuntimeError, match="inside"), use(inner):
            raise RuntimeError("inside")
        assert default_backend.get() is outer
    assert default_backend.get() is None


@pytest.mark.parametrize("thing", ["dask", None, Serial, 3])
def test_use_refuses_what_cannot_map(thing):
    message = r"a backend is Serial\(\), Joblib\(...\), Dask\(...\) or has map"
    with pytest.raises(TypeError, match=message), use(thing):
        pass


def test_fit_blocks_refuses_a_word(folder):
    with pytest.raises(TypeError, match="got 'dask'"):
        GaussianNB().fit_blocks(FileBlocks(folder), backend="dask")


class Counting(Serial):
    """Counts its maps."""

    def __init__(self):
        self.maps = 0

    def map(self, function, items):
        self.maps += 1
        return super().map(function, items)


def test_fit_blocks_uses_the_default(folder):
    backend = Counting()
    with use(backend):
        GaussianNB().fit_blocks(FileBlocks(folder))
    assert backend.maps == 2  # labels, moments


def test_same_bits_for_any_block_size_and_backend(folder):
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    in_memory = GaussianNB().fit(X, y)
    for leaves in (1, 3, 100):
        for backend in (None, Serial(), Joblib(2)):
            model = GaussianNB().fit_blocks(FileBlocks(folder, leaves), backend=backend)
            assert bits(model) == bits(in_memory)
            assert_array_equal(model.classes_, list("abcd"))
            assert_array_equal(model.feature_names_in_, ["a", "b", "c"])


def test_dask_in_order_and_reusable(client):
    backend = Dask(client)
    for _ in range(2):
        assert list(backend.map(slow_square, range(7))) == [x * x for x in range(7)]
    assert list(backend.map(partial(scaled, np.ones(1000)), [(1), (2)])) == [1000.0, 2000.0]
    assert list(backend.map(len, [(len, "not a task"), ("a",)])) == [2, 1]


def test_dask_errors_as_they_are_and_the_rest_is_cancelled(client):
    with pytest.raises(ValueError, match="three is refused"):
        list(Dask(client).map(fail_at_three, range(20)))
    assert_nothing_left(client)


@pytest.mark.parametrize("stop", [GeneratorExit, KeyboardInterrupt])
def test_dask_cancels_when_the_map_ends_early(client, tmp_path, stop):
    results = Dask(client).map(partial(touch_and_sleep, tmp_path), range(1000))  # 100 s in all
    assert next(results) == 0
    with pytest.raises(stop):
        results.throw(stop)
    assert_nothing_left(client)
    assert len(list(tmp_path.iterdir())) < 200


def assert_nothing_left(client):
    """Within seconds the scheduler knows no task of ours."""
    deadline = time.monotonic() + 10
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_dask_current_client(client):
    with client.as_current():
        assert list(Dask().map(abs, [-1])) == [1]
    with pytest.raises(ValueError, match=r"Dask\(\) found no client: start one with"):
        Dask().map(abs, [-1])


def test_dask_refuses_what_is_no_client(client):
    with pytest.raises(TypeError, match=r"Dask needs a dask.distributed.Client or None, got 'tcp:"):
        Dask("tcp://127.0.0.1:8786")
    with pytest.raises(TypeError, match=r"wrap it: Dask\(client\)"), use(client):
        pass


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r'^Dask is needed for this: pip install "pellucid\[dask'):
        Dask()


def test_importing_backends_loads_no_library():
    code = (
        "import sys, pellucid.backends; from pellucid.backends import Serial, use; "
        "assert not {'dask', 'distributed', 'joblib', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_dask_reads_a_parquet_file_by_path(client, folder):
    X, y = np.load(folder / "X.npy"), np.load(folder / "y.npy")
    frame = polars.DataFrame(X, schema=["a", "b", "c"]).with_columns(label=polars.Series(y))
    frame.write_parquet(folder / "table.parquet", row_group_size=1000)
    blocks = pellucid.data.blocks(folder / "table.parquet", target="label", block_rows=10_000)
    model = GaussianNB().fit_blocks(blocks, backend=Dask(client))
    assert bits(model) == bits(GaussianNB().fit(X, y))


def test_a_killed_worker_changes_no_bit(client, folder):
    """The first reader of the middle block dies with SIGKILL; its block is computed again."""
    expected = GaussianNB().fit_blocks(FileBlocks(folder), backend=Serial())
    before = set(client.run(os.getpid).values())
    blocks = FileBlocks(folder, deadly=4 * LEAF_ROWS)
    with use(Dask(client)):
        model = GaussianNB().fit_blocks(blocks)
    assert (folder / "killed").exists()
    client.wait_for_workers(2, timeout=20)
    after = set(client.run(os.getpid).values())
    assert len(before - after) == 1  # one worker is not the one it was
    assert bits(model) == bits(expected)


@pytest.fixture(scope="module")
def groups_file(tmp_path_factory):
    """Three groups, in a file that every process reads for itself."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * LEAF_ROWS + 1_357, 4)) @ np.diag([1.0, 2.0, 0.5, 0.5])
    X[:, 0] += 9.0 * rng.integers(0, 3, len(X))
    path = tmp_path_factory.mktemp("groups") / "groups.parquet"
    polars.DataFrame(X, schema=list("abcd")).write_parquet(path, row_group_size=997)
    return path


def every_bit(model):
    """All fitted numbers."""
    found = {k: v for k, v in vars(model).items() if k.endswith("_") and k != "history_"}
    parts = [(k, np.asarray(v).tobytes()) for k, v in sorted(found.items()) if _numbers(v)]
    assert len(parts) > 2
    return parts


def _numbers(value):
    return isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f"


BY_BLOCKS = [
    pellucid.KMeans(3, n_init=2, random_state=0),
    pellucid.GaussianMixture(3, random_state=0),
    pellucid.GaussianMixture(3, covariance_type="diag", random_state=0),
    pellucid.BayesianGaussianMixture(n_components=3, tol=1e-2, random_state=0),
    pellucid.PCA(2),
    pellucid.ProbabilisticPCA(2),
    pellucid.ProbabilisticPCA(1, solver="em", random_state=0, max_iter=2000),
]


@pytest.mark.parametrize("model", BY_BLOCKS, ids=repr)
def test_clusters_and_projections_have_the_same_bits_everywhere(client, groups_file, model):
    """Odd block sizes, threads, processes and a Dask cluster."""

    def fitted(rows, backend):
        source = pellucid.data.blocks(groups_file, block_rows=rows)
        return every_bit(clone(model).fit_blocks(source, backend=backend))

    expected = fitted(65_536, Serial())
    for rows in (777, 4_099):
        assert fitted(rows, None) == expected
    assert fitted(3_001, Joblib(2)) == expected
    assert fitted(2_500, Dask(client)) == expected

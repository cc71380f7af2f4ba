"""Ray and Spark, where they are installed: in order, the same bits, errors as they are."""

import sys

import numpy as np
import pytest

import pellucid
from pellucid.backends import Ray, Serial, Spark
from pellucid.core.loops.statistics import LEAF_ROWS


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    import polars as pl

    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("t") / "t.parquet"
    frame = pl.DataFrame(rng.normal(size=(3 * LEAF_ROWS + 5, 3)), schema=["a", "b", "y"])
    frame.write_parquet(path)
    return path


def check_engine(backend, path):
    def refuse_three(x):  # here, so that it travels by value: workers do not know the tests
        if x == 3:
            raise ValueError("three is refused")
        return x

    assert list(backend.map(refuse_three, [])) == []
    assert list(backend.map(abs, range(-5, 5))) == [abs(x) for x in range(-5, 5)]
    with pytest.raises(ValueError, match="three is refused"):
        list(backend.map(refuse_three, range(6)))
    data = pellucid.data.blocks(path, target="y", block_rows=LEAF_ROWS)
    expected = pellucid.Ridge().fit_blocks(data, backend=Serial())
    model = pellucid.Ridge().fit_blocks(data, backend=backend)
    assert model.coef_.tobytes() == expected.coef_.tobytes()


def test_ray(table):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        check_engine(Ray(), table)
    finally:
        ray.shutdown()


def test_spark(table):
    sql = pytest.importorskip("pyspark.sql")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        check_engine(Spark(session), table)
    finally:
        session.stop()


def test_without_them_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(ImportError, match=r'Ray is needed for this: pip install "pellucid\[ray'):
        Ray()
    with pytest.raises(ImportError, match=r'Spark is needed .* pip install "pellucid\[spark'):
        Spark()

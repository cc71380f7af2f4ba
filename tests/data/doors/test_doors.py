"""Every door gives back exactly the rows of the table, by range, and fits with the same bits."""

import io
import pickle
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from numpy.testing import assert_array_equal
from polars.testing import assert_frame_equal
from scipy import sparse

import pellucid
from pellucid.backends import Serial
from pellucid.core.arrays.lazy import lazy_name
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.data import blocks, load
from pellucid.data.doors.lazy_plans import LazyTable, works_by_row

N = 2 * LEAF_ROWS + 311


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "a": rng.normal(size=N),
            "b": rng.integers(-5, 5, size=N),
            "word": rng.choice(["u", "v", "w w"], size=N),
            "year": np.sort(rng.integers(2022, 2025, size=N)),
        }
    )


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    root = tmp_path_factory.mktemp("tables")
    table.write_parquet(root / "whole.parquet", row_group_size=3000)
    for (year,), part in table.group_by("year", maintain_order=True):
        place = root / "hive" / f"year={year}"
        place.mkdir(parents=True)
        part.drop("year").write_parquet(place / "part-0.parquet", row_group_size=1000)
    (root / "hive" / "_SUCCESS").write_text("")
    (root / "hive" / ".hidden.parquet").write_text("")
    return root


def memory_file(path, table):
    import fsspec

    with fsspec.open(f"memory://{path}", "wb") as file:
        table.write_parquet(file, row_group_size=3000)


def make(kind, table, folder):
    """The table behind one door."""
    if kind.startswith("dataset-memory"):
        return ds.dataset(table.to_arrow())
    if kind == "reader":
        return pa.RecordBatchReader.from_batches(
            table.to_arrow().schema, table.to_arrow().to_batches(max_chunksize=777)
        )
    if kind == "memory":
        memory_file("/store/whole.parquet", table)
        return "memory://store/whole.parquet"
    if kind == "memory-hive":
        for (year,), part in table.group_by("year", maintain_order=True):
            memory_file(f"/lake/year={year}/p.parquet", part.drop("year"))
        return "memory://lake"
    if kind == "memory-csv":
        import fsspec

        with fsspec.open("memory://text/whole.csv", "wb") as file:
            table.write_csv(file)
        return "memory://text/*.csv"
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        path = folder / "whole.parquet"
        return duckdb.sql(f"SELECT a, b, word, CAST(year AS BIGINT) AS year FROM '{path}'")
    frame = table.to_pandas()
    return {
        "dataset": lambda: ds.dataset(folder / "whole.parquet"),
        "dataset-hive": lambda: ds.dataset(
            folder / "hive",
            partitioning=ds.partitioning(pa.schema([("year", pa.int64())]), flavor="hive"),
        ),
        "dataset-filter": lambda: ds.dataset(folder / "whole.parquet").filter(ds.field("b") > -99),
        "scanner": lambda: ds.dataset(folder / "whole.parquet").scanner(),
        "hive": lambda: folder / "hive",
        "hive-pattern": lambda: str(folder / "hive" / "*" / "*.parquet"),
        "dask": lambda: dd.from_pandas(frame, npartitions=5),
        "lazy": lambda: pl.scan_parquet(folder / "whole.parquet").with_columns(pl.col("a") + 0),
        "lazy-filter": lambda: pl.scan_parquet(folder / "whole.parquet").filter(pl.col("b") > -99),
        "narwhals-lazy": lambda: nw.from_native(pl.scan_parquet(folder / "whole.parquet")),
        "narwhals-dask": lambda: nw.from_native(dd.from_pandas(frame, npartitions=2)),
    }[kind]()


DOORS = [
    "dataset", "dataset-hive", "dataset-memory", "dataset-filter", "scanner", "reader", "hive",
    "hive-pattern", "memory", "memory-hive", "memory-csv", "duckdb", "dask",
    "lazy", "lazy-filter", "narwhals-lazy", "narwhals-dask",
]  # fmt: skip


@pytest.mark.parametrize("kind", DOORS)
def test_every_door_gives_the_rows_and_the_same_bits(kind, table, folder):
    data = blocks(make(kind, table, folder), target="word", block_rows=LEAF_ROWS)
    X = table.select("a", "b", "year")
    assert (data.n_rows, sorted(data.feature_names)) == (N, ["a", "b", "year"])
    for _ in range(2):  # also what can be read once only
        read = pl.concat([part for part, _ in data]).select("a", "b", "year")
        assert_frame_equal(read, X)
    spans = data.spans()
    if not kind.startswith(("memory", "dask", "narwhals-dask")):
        spans = [pickle.loads(pickle.dumps(span)) for span in spans]
    leaves = [leaf for span in spans for leaf in span.leaves()]
    assert [len(leaf.X) for leaf in leaves] == [LEAF_ROWS, LEAF_ROWS, N - 2 * LEAF_ROWS]
    names = blocks(make(kind, table, folder), target="word", columns=["a", "b", "year"])
    model = pellucid.GaussianNB().fit_blocks(names, backend=Serial())
    expected = pellucid.GaussianNB().fit(X, table["word"].to_list())
    assert model.moments_.tobytes() == expected.moments_.tobytes()
    assert_array_equal(model.classes_, expected.classes_)


@pytest.mark.parametrize("kind", DOORS)
def test_load_reads_every_door(kind, table, folder):
    assert_frame_equal(load(make(kind, table, folder)).select(table.columns), table)


@pytest.mark.parametrize("kind", ["dask", "lazy", "narwhals-lazy", "dataset",
                                  "reader", "scanner", "duckdb", "dataset-memory"])  # fmt: skip
def test_fit_and_predict_never_materialise(kind, table, folder):
    """One sentence names fit_blocks; nothing is computed."""
    source = make(kind, table, folder)
    assert lazy_name(source)
    model = pellucid.LinearRegression()
    for call in (model.fit, pellucid.KMeans(2).fit, pellucid.SimpleImputer().fit):
        with pytest.raises(TypeError, match=r"is a .* of .*not in memory.*fit_blocks") as caught:
            call(source, table["a"].to_numpy())
        assert "\n" not in str(caught.value)
    model.fit(table.select("a", "b", "year"), table["a"])
    with pytest.raises(TypeError, match="predict_blocks"):
        model.predict(source)
    with pytest.raises(TypeError, match=r"give blocks\(table, target='column'\)"):
        model.fit_blocks(source)


def test_a_lazy_target_is_refused_too(table):
    y = dd.from_pandas(table.to_pandas(), npartitions=2)["a"]
    with pytest.raises(TypeError, match="y is a Series of dask"):
        pellucid.Ridge().fit(table.select("b").to_numpy(), y)
    with pytest.raises(TypeError, match="y is a Series of dask"):
        pellucid.GaussianNB().fit(table.select("b").to_numpy(), y)


def test_nothing_of_a_dask_frame_is_held_whole(table):
    """A range computes the partitions that it touches and no other."""
    seen = []

    def watched(part):
        seen.append(len(part))
        return part

    frame = dd.from_pandas(table.to_pandas(), npartitions=6).map_partitions(
        watched, meta=table.to_pandas().iloc[:0]
    )
    data = blocks(frame, target="word", block_rows=LEAF_ROWS)
    seen.clear()
    first = data.spans()[0]
    assert sum(leaf.n_rows for leaf in first.leaves()) == LEAF_ROWS
    assert sum(seen) < 0.7 * N
    assert len(pickle.dumps(first.rows.table.starts)) < 500


def test_dask_arrays(table):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    y, w = rng.integers(3, size=N), rng.random(N)
    expected = pellucid.GaussianNB().fit(X, y, w)
    for chunks in ((1000, 2), (N, 4), (5000, 4)):
        array = da.from_array(X, chunks=chunks)
        for target, weight in (
            (da.from_array(y, chunks=700), w),
            (y, da.from_array(w, chunks=999)),
        ):
            data = blocks(array, target=target, weight=weight, block_rows=LEAF_ROWS)
            assert (data.n_rows, data.n_features, data.feature_names) == (N, 4, None)
            model = pellucid.GaussianNB().fit_blocks(data, backend=Serial())
            assert model.moments_.tobytes() == expected.moments_.tobytes()
            assert not hasattr(model, "feature_names_in_")
    unknown = array[array[:, 0] > 0]  # the sizes of its chunks are not known
    assert blocks(unknown).n_rows == (X[:, 0] > 0).sum()
    by_place = blocks(array, target=3, columns=[0, 1])
    first, last = next(iter(by_place))
    assert_array_equal(first, X[: len(first), :2])
    assert_array_equal(last, X[: len(last), 3])
    with pytest.raises(ValueError, match="one value per row, got 3 values"):
        blocks(array, target=np.zeros(3))
    with pytest.raises(ValueError, match="an array has no column names"):
        blocks(array, target="y")


def test_sparse_blocks():
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.1, size=(N, 12)).astype(float)
    y = rng.integers(2, size=N)
    expected = pellucid.GaussianNB().fit(dense, y)
    for kind in ("csr", "csc", "coo"):
        data = blocks(sparse.coo_array(dense).asformat(kind), target=y, block_rows=LEAF_ROWS)
        model = pellucid.GaussianNB().fit_blocks(data)
        assert model.moments_.tobytes() == expected.moments_.tobytes()
    wide = sparse.csr_array((LEAF_ROWS, 40_000))
    with pytest.raises(ValueError, match="use fit, which keeps them sparse, or fewer columns"):
        pellucid.PCA(1).fit_blocks(blocks(wide), backend=Serial())


def test_plans_that_work_by_row_travel(folder):
    scan = pl.scan_parquet(folder / "whole.parquet")
    one_or_size = pl.when(pl.col("a") > 0).then(1.0).otherwise(pl.col("a").abs())
    by_row = [scan, scan.select("a", pl.col("b").cast(float)), scan.with_columns(z=one_or_size)]
    assert all(works_by_row(plan) for plan in by_row)
    assert isinstance(blocks(scan)._rows.table, LazyTable)
    other = [scan.filter(pl.col("a") > 0), scan.sort("a"), scan.group_by("b").len(), scan.head(5),
             scan.with_columns(pl.col("a").cum_sum()), scan.with_columns(pl.col("a").shuffle()),
             scan.join(scan, on="b"), scan.with_row_index(), scan.collect().lazy(),
             scan.select(pl.col("a").sample(3))]  # fmt: skip
    assert not any(works_by_row(plan) for plan in other)


def test_hive_columns_have_one_type(tmp_path):
    for name in ("day=2024-01-02/code=01", "day=__HIVE_DEFAULT_PARTITION__/code=x%20y"):
        (tmp_path / name).mkdir(parents=True)
        pl.DataFrame({"a": [1.0]}).write_csv(tmp_path / name / "t.csv")
    frame = load(tmp_path)
    assert frame.schema == {"a": pl.Float64, "day": pl.Date, "code": pl.String}
    assert frame.sort("code")["code"].to_list() == ["01", "x y"]
    (tmp_path / "other=3").mkdir()
    pl.DataFrame({"a": [1.0]}).write_csv(tmp_path / "other=3" / "t.csv")
    with pytest.raises(ValueError, match="do not name the same columns"):
        load(tmp_path)
    own = tmp_path / "day=2024-01-02" / "code=01" / "t.csv"
    assert load(own).columns == ["a"]  # a file by its own name is that file


def test_addresses_that_lead_nowhere(monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"there is no table at memory://no/such.parq"):
        blocks("memory://no/such.parquet")
    with pytest.raises(ValueError, match="sql goes with a database"):
        blocks("memory://no/such.parquet", sql="SELECT 1")
    with pytest.raises(ValueError, match=r"address of the web; .* download it first"):
        load("https://example.org/t.csv")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r'gs:// addresses need fsspec: pip install "pellucid\['):
        blocks("gs://bucket/t.parquet")


def test_lakes_without_their_readers(tmp_path, monkeypatch):
    """The files alone would hold rows that were deleted."""
    for name in ("deltalake", "pyiceberg", "pyiceberg.table"):
        monkeypatch.setitem(sys.modules, name, None)
    (tmp_path / "delta" / "_delta_log").mkdir(parents=True)
    with pytest.raises(ImportError, match=r"is a Delta table, .* pip install deltalake"):
        blocks(tmp_path / "delta")
    (tmp_path / "ice" / "metadata").mkdir(parents=True)
    (tmp_path / "ice" / "metadata" / "v1.metadata.json").write_text("{}")
    with pytest.raises(ImportError, match=r"is an Iceberg table, .* pip install 'pyiceberg"):
        blocks(tmp_path / "ice")


def test_delta(tmp_path, table):
    deltalake = pytest.importorskip("deltalake")
    place = str(tmp_path / "delta")
    deltalake.write_deltalake(place, table.to_arrow(), partition_by=["year"])
    deltalake.DeltaTable(place).delete("b = 3")
    kept = table.filter(pl.col("b") != 3).sort("a")
    for source in (place, deltalake.DeltaTable(place)):
        read = pl.concat([X for X, _ in blocks(source)]).select(table.columns).sort("a")
        assert_frame_equal(read, kept, check_dtypes=False)


def test_iceberg(tmp_path, table):
    catalogs = pytest.importorskip("pyiceberg.catalog.sql")
    catalog = catalogs.SqlCatalog(
        "c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}"
    )
    catalog.create_namespace("n")
    made = catalog.create_table("n.t", schema=table.to_arrow().schema)
    made.append(table.head(4000).to_arrow())
    made.append(table.slice(4000).to_arrow())
    place = made.metadata_location.removeprefix("file://").rpartition("/metadata/")[0]
    for source in (made, made.scan(), place):
        read = pl.concat([X for X, _ in blocks(source)]).sort("a")
        assert_frame_equal(read, table.sort("a"), check_dtypes=False)


def test_an_empty_stream_and_an_empty_partition():
    empty = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.float64())]), [])
    assert blocks(empty).n_rows == 0
    frame = dd.from_pandas(
        pd.DataFrame({"a": [1.0, 2.0, 3.0], "s": ["x", "y", "z"]}), npartitions=3
    )
    kept = blocks(frame[frame.a > 1.5])
    assert [X.rows() for X, _ in kept] == [[(2.0, "y"), (3.0, "z")]]
    with pytest.raises(TypeError, match="Dask's Delayed"):
        blocks(dask.delayed(len)([1]))


def test_a_text_stream_is_still_a_file():
    assert load(io.StringIO("a,b\n1,2\n")).rows() == [(1, 2)]


def test_an_s3_server(table, monkeypatch):
    """A store on loopback: Parquet by row groups, text from a copy, folders with their columns."""
    moto = pytest.importorskip("moto.server")
    s3fs = pytest.importorskip("s3fs")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        _, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
        system = s3fs.S3FileSystem()
        system.mkdir("shop")
        for (year,), part in table.group_by("year", maintain_order=True):
            with system.open(f"shop/sales/year={year}/p.parquet", "wb") as file:
                part.drop("year").write_parquet(file, row_group_size=1000)
        read = pl.concat([X for X, _ in blocks("s3://shop/sales")])
        assert_frame_equal(read.select(table.columns), table)
        with pytest.raises(FileNotFoundError, match="there is no table at s3://shop/none"):
            blocks("s3://shop/none")
    finally:
        server.stop()

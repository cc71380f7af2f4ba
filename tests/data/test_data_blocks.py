"""blocks: any block size and any source give back exactly the same rows, again and again."""

import gzip
import io
import pickle
import sqlite3
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.data import blocks, load
from pellucid.data.doors.parts import PieceCache

N = 3 * LEAF_ROWS + 137
KINDS = [
    "parquet", "parquet-small-groups", "parquets", "csv", "csv-quoted", "csv-blanks", "csvs",
    "csv-stray", "csv.gz", "csv.zst", "jsonl", "jsonls", "json", "arrow", "arrows", "stream",
    "polars", "lazy", "pandas", "pyarrow", "dict", "sqlite",
]  # fmt: skip

IN_MEMORY = ("polars", "pandas", "pyarrow", "dict", "arrows", "json")  # these travel by value


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    whole = rng.integers(-5, 5, size=N).tolist()
    return pl.DataFrame(
        {
            "a": rng.normal(size=N),
            "b": pl.Series([None if value == 0 else value for value in whole], dtype=pl.Int64),
            "word": rng.choice(["u", "v", "w w"], size=N),
            "w": rng.random(N),
        }
    )


@pytest.fixture(scope="module")
def sources(table, tmp_path_factory):
    made = {kind: make_source(kind, table, tmp_path_factory.mktemp("s")) for kind in KINDS}
    yield made
    made["sqlite"].close()


def make_source(kind, table, folder):
    path = folder / f"t.{kind.split('-')[0]}"
    csv = table.write_csv()
    cuts = [(0, 5000), (5000, 1), (5001, N)]
    if kind.startswith("parquet") and kind != "parquets":
        table.write_parquet(path, row_group_size=700 if "small" in kind else None)
    elif kind in ("parquets", "csvs", "jsonls"):
        for i, (start, size) in enumerate(cuts):
            part = table.slice(start, size)
            if kind == "parquets":
                part.write_parquet(folder / f"{i}.part")
            elif kind == "csvs":
                part.write_csv(folder / f"{i}.part")
            else:
                part.write_ndjson(folder / f"{i}.part")
        return str(folder / "*.part")
    elif kind == "csv-quoted":
        table.write_csv(path, quote_style="always", line_terminator="\r\n")
    elif kind == "csv-blanks":
        lines = csv.splitlines()
        path.write_text("".join(line + "\n" * (1 + (i % 900 == 0)) for i, line in enumerate(lines)))
    elif kind == "csv-stray":  # a quote inside an unquoted cell: read by the csv module
        head, body = csv.split("\n", 1)
        path.write_text(head + ',z"z\n' + "".join(f'{row},5" x\n' for row in body.splitlines()))
    elif kind == "csv":
        path.write_text(csv)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(csv.encode()))
    elif kind == "csv.zst":
        path.write_bytes(pa.compress(csv.encode(), codec="zstd", asbytes=True))
    elif kind == "jsonl":
        table.write_ndjson(path)
    elif kind == "json":
        table.write_json(path)
    elif kind == "arrow":
        table.write_ipc(path, record_batch_size=1000)
    elif kind == "arrows":
        table.write_ipc_stream(path)
    elif kind == "stream":
        return io.BytesIO(csv.encode())
    elif kind == "sqlite":
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        connection.execute("CREATE TABLE t (a REAL, b INTEGER, word TEXT, w REAL)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", table.rows())
        return connection
    else:
        return {
            "polars": lambda: table,
            "lazy": table.lazy,
            "pandas": lambda: table.to_pandas(use_pyarrow_extension_array=True),
            "pyarrow": table.to_arrow,
            "dict": lambda: table.to_dict(as_series=False),
        }[kind]()
    return path


def open_source(kind, sources, **keywords):
    source = sources[kind]
    if kind == "sqlite":
        keywords["sql"] = "SELECT * FROM t"
    if kind == "stream":
        source.seek(0)
    return blocks(source, **keywords)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("block_rows", [1000, LEAF_ROWS, 65536, 1_000_000])
def test_blocks_reassemble(kind, block_rows, sources, table):
    data = open_source(
        kind, sources, target="word", columns=["b", "a"], weight="w", block_rows=block_rows
    )
    assert (data.n_rows, data.n_features, data.target) == (N, 2, "word")
    assert data.feature_names == ["b", "a"]
    assert data.schema == {"b": "Int64", "a": "Float64", "word": "String", "w": "Float64"}
    expected = table.select("b", "a")
    for _ in range(2):  # and again
        read = list(data)
        assert [X.height for X, _ in read[:-1]] == [block_rows] * (len(read) - 1)
        assert len(read) == len(data)
        assert_frame_equal(pl.concat([X for X, _ in read]), expected)
        assert pl.concat([y for _, y in read]).to_list() == table["word"].to_list()
    check_spans(data, expected, table)


def check_spans(data, X, table, target="word"):
    """Spans are whole leaves in order, and hold every row once, here or after a journey."""
    spans = data.spans()
    step = max(1, data.block_rows // LEAF_ROWS) * LEAF_ROWS
    assert [span.start for span in spans] == list(range(0, data.n_rows, step))
    for copies in (spans, [pickle.loads(pickle.dumps(span)) for span in spans]):
        leaves = [leaf for span in copies for leaf in span.leaves()]
        assert [len(leaf.X) for leaf in leaves[:-1]] == [LEAF_ROWS] * (len(leaves) - 1)
        assert_frame_equal(pl.concat([leaf.X for leaf in leaves]), X)
        assert pl.concat([leaf.y for leaf in leaves]).to_list() == table[target].to_list()
        np.testing.assert_array_equal(np.concatenate([leaf.w for leaf in leaves]), table["w"])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in IN_MEMORY])
def test_spans_of_files_are_small(kind, sources):
    for block_rows in (1000, 65536):
        data = open_source(kind, sources, target="word", block_rows=block_rows)
        assert max(len(pickle.dumps(span)) for span in data.spans()) < 5000


def test_a_span_in_memory_carries_its_slice_only(table):
    X = np.zeros((100_000, 4))
    for source in (X, pl.DataFrame(X)):
        spans = blocks(source, block_rows=LEAF_ROWS).spans()
        assert len(pickle.dumps(spans[0])) < 1.05 * LEAF_ROWS * 4 * 8 + 2000


@pytest.mark.parametrize("kind", ["parquet", "csv", "polars", "sqlite"])
def test_only_target(kind, sources, table):
    data = open_source(kind, sources, target="word", block_rows=1000).only_target()
    assert (data.n_features, data.n_rows, data.target) == (0, N, "word")
    leaves = [leaf for span in data.spans() for leaf in span.leaves()]
    assert [leaf.X.shape for leaf in leaves] == [(len(leaf.y), 0) for leaf in leaves]
    assert pl.concat([leaf.y for leaf in leaves]).to_list() == table["word"].to_list()


def test_several_targets(sources):
    data = open_source("parquet", sources, target=["a", "w"], block_rows=1000)
    X, Y = next(iter(data))
    assert data.target == ("a", "w")
    assert (X.columns, Y.columns) == (["b", "word"], ["a", "w"])
    leaf = next(data.spans()[0].leaves())
    assert leaf.y.shape == (LEAF_ROWS, 2)


def test_no_target(sources):
    data = open_source("csv", sources, columns=["a"], block_rows=5000)
    assert data.target is None
    assert all(y is None for _, y in data)


def test_arrays():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(N, 3)), rng.integers(3, size=N), rng.random(N)
    data = blocks(X, target=y, weight=w, block_rows=1000)
    assert (data.n_rows, data.n_features, data.feature_names, data.target) == (N, 3, None, True)
    assert data.schema == {"x0": "float64", "x1": "float64", "x2": "float64"}
    np.testing.assert_array_equal(np.vstack([X for X, _ in data]), X)
    leaves = [leaf for span in data.spans() for leaf in span.leaves()]
    np.testing.assert_array_equal(np.vstack([leaf.X for leaf in leaves]), X)
    np.testing.assert_array_equal(np.concatenate([leaf.y for leaf in leaves]), y)
    np.testing.assert_array_equal(np.concatenate([leaf.w for leaf in leaves]), w)
    part = blocks(X, target=2, columns=[1])
    (X1, y1), *_ = part
    np.testing.assert_array_equal(X1, X[:, [1]])
    np.testing.assert_array_equal(y1, X[:, 2])
    assert blocks([[1, 2], [3, 4]]).n_features == 2
    target_only = data.only_target()
    assert next(target_only.spans()[0].leaves()).X.shape == (LEAF_ROWS, 0)


def test_a_frame_with_a_target_array(table):
    y = np.arange(N)
    for frame in (table, table.to_pandas(use_pyarrow_extension_array=True)):
        data = blocks(frame, target=y, weight=table["w"].to_numpy(), block_rows=5000)
        assert data.target is True
        assert data.feature_names == ["a", "b", "word", "w"]
        np.testing.assert_array_equal(np.concatenate([part for _, part in data]), y)
        check_spans(data, table, table.with_columns(y=y), target="y")
    series = blocks(table.to_pandas(), target=pd.Series(y))
    assert next(iter(series))[1].to_list() == y.tolist()


def test_a_type_holds_for_the_whole_file(tmp_path):
    """A column that looks whole for two leaves and then is not, has one type in every block."""
    path = tmp_path / "t.csv"
    n = 2 * LEAF_ROWS
    path.write_text("a,b\n" + "1,7\n" * n + "1.5,x\n")
    data = blocks(path, block_rows=LEAF_ROWS)
    assert data.schema == {"a": "Float64", "b": "String"}
    assert {tuple(X.dtypes) for X, _ in data} == {(pl.Float64, pl.String)}
    lines = tmp_path / "t.jsonl"
    lines.write_text('{"a": 1}\n' * n + '{"a": 1.5, "b": "x"}\n')
    data = blocks(lines, block_rows=LEAF_ROWS)
    assert data.schema == {"a": "Float64", "b": "String"}
    assert {tuple(X.dtypes) for X, _ in data} == {(pl.Float64, pl.String)}
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a, b)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, None)] * 70_000 + [(1.5, "x")])
    data = blocks(connection, sql="SELECT * FROM t")
    assert data.schema == {"a": "Float64", "b": "String"}
    assert {tuple(X.dtypes) for X, _ in data} == {(pl.Float64, pl.String)}


def test_types_agree_between_files(tmp_path):
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"a": [0.5]}).write_parquet(tmp_path / "2.parquet")
    data = blocks(tmp_path / "*.parquet", block_rows=2)
    assert [X["a"].to_list() for X, _ in data] == [[1.0, 2.0], [0.5]]


def test_no_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n")
    data = blocks(path, target="b")
    assert (data.n_rows, list(data), data.spans()) == (0, [], [])
    pl.DataFrame(schema={"a": pl.Int64}).write_parquet(tmp_path / "t.parquet")
    assert list(blocks(tmp_path / "t.parquet")) == []
    assert blocks(sqlite3.connect(":memory:"), sql="SELECT 1 AS a WHERE 0").n_rows == 0


def test_temporary_files_live_as_long_as_the_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    connection = sqlite3.connect(":memory:")
    data = blocks(connection, sql="SELECT 1 AS a, 2 AS b")
    span = data.spans()[0]
    assert len(list(tmp_path.iterdir())) == 1
    del data  # the span still reads
    assert next(span.leaves()).X.rows() == [(1, 2)]
    away = pickle.loads(pickle.dumps(span))
    del away
    assert next(span.leaves()).X.rows() == [(1, 2)]
    del span
    assert list(tmp_path.iterdir()) == []


def test_a_changed_file_is_noticed(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n2\n")
    data = blocks(path)
    path.write_text("a\n1\n2\n3\n")
    with pytest.raises(ValueError, match=r"t.csv has changed since it was opened"):
        list(data)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"target": "wrod"}, "no column 'wrod'; did you mean 'word'"),
        ({"columns": ["A"]}, "has no column 'A'"),
        ({"weight": "word"}, "weight column 'word' is String; numbers are needed"),
        ({"weight": ["a", "b"]}, "weight must be one column"),
        ({"block_rows": 0}, "block_rows must be a whole number >= 1"),
        ({"target": ["a", "a"]}, "target names a column twice"),
        ({"target": [1.0, 2.0]}, "target must be column names"),
        ({"format": "xls"}, "format must be one of"),
    ],
)
def test_bad_arguments(keywords, message, sources):
    with pytest.raises(ValueError, match=message):
        open_source("parquet", sources, **keywords)


def test_bad_array_arguments():
    X = np.zeros((4, 2))
    with pytest.raises(ValueError, match="one value per row, got 3 values for 4 rows"):
        blocks(X, target=np.zeros(3))
    with pytest.raises(ValueError, match="an array has no column names"):
        blocks(X, target="y")
    with pytest.raises(ValueError, match="target must be below 2"):
        blocks(X, target=5)
    with pytest.raises(ValueError, match="sql goes with"):
        blocks(X, sql="SELECT 1")
    with pytest.raises(ValueError, match="one value per row"):
        blocks(pl.DataFrame(X), target=np.zeros(3))


# ---------------------------------------------------------------- properties

NUMBER = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))
WORD = st.one_of(
    st.none(),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=6).map(
        "t".__add__
    ),
    st.sampled_from(['t"q"', "t,u", "t;u", "t\nu", "t'u"]),
)
ROWS = st.lists(
    st.tuples(NUMBER, WORD, st.integers(-(2**62), 2**62), st.booleans()), min_size=1, max_size=60
)
SEPARATORS = st.sampled_from([",", ";", "\t", "|"])


def typed_frame(rows):
    frame = pl.DataFrame(
        rows,
        schema={"f": pl.Float64, "t": pl.String, "i": pl.Int64, "b": pl.Boolean},
        orient="row",
    )
    return frame.with_columns(  # an empty column has no type in a text file
        pl.col("f").fill_null(0.5) if frame["f"].null_count() == frame.height else pl.col("f"),
        pl.col("t").fill_null("t") if frame["t"].null_count() == frame.height else pl.col("t"),
    )


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(rows=ROWS, block_rows=st.integers(1, 70), separator=SEPARATORS, crlf=st.booleans())
def test_csv_round_trip(rows, block_rows, separator, crlf):
    """Whatever the cells hold, the blocks of the written file are the rows of the table."""
    frame = typed_frame(rows)
    end = "\r\n" if crlf else "\n"
    text = frame.write_csv(separator=separator, line_terminator=end)
    data = blocks(io.StringIO(text, newline=""), block_rows=block_rows)
    assert_frame_equal(pl.concat([X for X, _ in data]), frame, check_exact=True)


@settings(deadline=None, max_examples=40)
@given(
    sizes=st.lists(st.integers(0, 3 * LEAF_ROWS), min_size=1, max_size=5),
    block_rows=st.integers(1, 4 * LEAF_ROWS),
    kind=st.sampled_from(["parquet", "csv", "jsonl", "arrow"]),
)
def test_stacked_files(tmp_path_factory, sizes, block_rows, kind):
    """Files cut anywhere give spans cut at leaves, each row once and in order."""
    folder = tmp_path_factory.mktemp("parts")
    whole = pl.DataFrame({"a": np.arange(sum(sizes)), "w": np.ones(sum(sizes))})
    for i, (size, start) in enumerate(zip(sizes, np.cumsum([0, *sizes[:-1]]), strict=True)):
        part = whole.slice(start, size)
        path = folder / f"{i}.{kind}"
        {"parquet": part.write_parquet, "csv": part.write_csv, "jsonl": part.write_ndjson,
         "arrow": part.write_ipc}[kind](path)  # fmt: skip
        if kind == "jsonl" and not size:
            path.unlink()
    if not sum(sizes):
        return
    data = blocks(folder / "*", block_rows=block_rows)
    assert data.n_rows == sum(sizes)
    read = pl.concat([leaf.X for span in data.spans() for leaf in span.leaves()])
    assert read["a"].to_list() == list(range(sum(sizes)))
    assert pl.concat([X for X, _ in data])["a"].to_list() == list(range(sum(sizes)))


def test_load_and_blocks_agree(sources):
    for kind in ("csv", "csv-quoted", "csv-blanks", "csvs", "jsonl", "parquets", "csv.gz"):
        data = open_source(kind, sources, block_rows=777)
        assert_frame_equal(pl.concat([X for X, _ in data]), load(sources[kind]))


# ---------------------------------------------------------------- the cache of pieces


def test_piece_cache_reads_once_and_forgets():
    cache, reads = PieceCache(size=2), []
    gate = threading.Barrier(4)

    def get(key):
        gate.wait()
        return cache.get(key, lambda: reads.append(key) or key)

    threads = [threading.Thread(target=get, args=[("t", 0)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert reads == [("t", 0)]
    cache.get(("t", 1), lambda: 1)
    cache.get(("t", 2), lambda: 2)
    assert list(cache.entries) == [("t", 1), ("t", 2)]
    cache.forget("t")
    assert not cache.entries
    with pytest.raises(ZeroDivisionError):
        cache.get(("t", 3), lambda: 1 / 0)
    assert cache.get(("t", 3), lambda: 3) == 3


def test_small_blocks_do_not_read_a_piece_again(sources, monkeypatch):
    from pellucid.data.table import ScanTable

    reads = []
    original = ScanTable.read

    def counted(self, start, stop, columns):
        reads.append((start, stop))
        return original(self, start, stop, columns)

    monkeypatch.setattr(ScanTable, "read", counted)
    data = blocks(sources["parquet"], columns=["a"], block_rows=1000)
    assert sum(len(leaf.X) for span in data.spans() for leaf in span.leaves()) == N
    assert reads == [(0, N)]

"""Queries: sqlite through SQLAlchemy and through its own connection, streamed to blocks."""

import datetime as dt
import sqlite3
import sys

import polars as pl
import pytest
import sqlalchemy
from polars.testing import assert_frame_equal

from pellucid.data import DataWarning, blocks, load

ROWS = [(1, 0.5, "x"), (2, None, "y"), (3, -2.0, None)]
FRAME = pl.DataFrame(ROWS, schema=["a", "b", "c"], orient="row")
SQL = "SELECT * FROM t ORDER BY a"


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "t.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a INTEGER, b REAL, c TEXT)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
    connection.commit()
    connection.close()
    return path


def sources(path):
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    yield f"sqlite:///{path}"
    yield engine
    with engine.connect() as connection:
        yield connection
    engine.dispose()
    connection = sqlite3.connect(path)
    yield connection
    connection.close()


def test_every_way_gives_the_same_table(database):
    for source in sources(database):
        assert_frame_equal(load(source, sql=SQL), FRAME)
        assert_frame_equal(load(source, sql=SQL, n_rows=2), FRAME[:2])
        X, y = load(source, sql=SQL, target="a", columns=["c"])
        assert (X.columns, y.to_list()) == (["c"], [1, 2, 3])
        data = blocks(source, sql=SQL, target="a", block_rows=2)
        assert data.schema == {"b": "Float64", "c": "String", "a": "Int64"}
        assert [y.to_list() for _, y in data] == [[1, 2], [3]]
        assert [y.to_list() for _, y in data] == [[1, 2], [3]]


def test_percent_and_colon_are_not_parameters(database):
    sql = "SELECT a, ':x' AS k FROM t WHERE c LIKE 'x%'"
    for source in sources(database):
        assert load(source, sql=sql).rows() == [(1, ":x")]


def test_many_rows_in_several_fetches():
    sql = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 149999) "
    connection = sqlite3.connect(":memory:")
    sql += "SELECT i, CASE WHEN i > 140000 THEN i * 0.5 END AS half FROM n"
    table = load(connection, sql=sql)
    assert table["i"].to_list() == list(range(150_000))
    assert table["half"].null_count() == 140_001
    assert load(connection, sql=sql, n_rows=70_000).height == 70_000
    data = blocks(connection, sql=sql, block_rows=10_000)
    assert pl.concat([X for X, _ in data])["i"].to_list() == list(range(150_000))
    connection.close()


def test_loose_types_of_sqlite():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (a, b)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(1, b"z"), ("x", None), (2.5, b"")])
    table = load(connection, sql="SELECT * FROM t")
    assert table.rows() == [("1", b"z"), ("x", None), ("2.5", b"")]
    connection.execute("CREATE TABLE m (a)")
    connection.executemany("INSERT INTO m VALUES (?)", [(1,), (2.5,), (None,)])
    assert load(connection, sql="SELECT * FROM m")["a"].to_list() == [1.0, 2.5, None]
    connection.close()


def test_repeated_names(database):
    with pytest.warns(DataWarning, match="the query has repeated or empty column names"):
        table = load(f"sqlite:///{database}", sql="SELECT 1 AS a, 2 AS a")
    assert table.columns == ["a", "a_2"]


def test_dates_and_decimals():
    from decimal import Decimal

    from pellucid.data.sql import rows_frame

    rows = [(Decimal("1.25"), dt.date(2024, 1, 5), {1}, memoryview(b"q")), (None,) * 4]
    frame = rows_frame(rows, ["d", "day", "odd", "raw"])
    assert frame.dtypes == [pl.Float64, pl.Date, pl.String, pl.Binary]
    assert frame.row(0) == (1.25, dt.date(2024, 1, 5), "{1}", b"q")


def test_bad_queries(database, monkeypatch):
    url = f"sqlite:///{database}"
    connection = sqlite3.connect(database)
    with pytest.raises(ValueError, match="a database needs a query"):
        load(url)
    for source in (url, connection):
        with pytest.raises(ValueError, match=r"refused the query: .*no such table: q"):
            load(source, sql="SELECT * FROM q")
        with pytest.raises(ValueError, match="returns no rows; a SELECT is needed"):
            load(source, sql="DELETE FROM t WHERE 0")
        with pytest.raises(ValueError, match="sql must be the text of a query"):
            load(source, sql="  ")
    connection.close()
    with pytest.raises(ValueError, match="refused the query"):
        load("nosuch://host/db", sql="SELECT 1")
    with pytest.raises(ValueError, match="is an SQLite database; give the URL"):
        load(database)
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(ImportError, match=r'pip install "pellucid\[sql\]"'):
        load(url, sql="SELECT 1")


def test_a_password_is_not_shown():
    url = "sqlite+nosuch://user:secret@host/db"
    with pytest.raises(ValueError, match="refused the query") as caught:
        load(url, sql="SELECT 1")
    assert "secret" not in str(caught.value)

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
        with pytest.raises(ValueError, match="begins with SELECT, WITH or VALUES, got DELETE"):
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


@pytest.mark.parametrize(
    "address", ["file:{}?uri=true", "file:{}?uri=true&mode=rwc", "file://{}?uri=true", "file:{}"]
)
def test_a_mistyped_address_makes_no_database(address, tmp_path):
    path = tmp_path / "shop.db"
    with pytest.raises(ValueError, match="there is no database file"):
        load("sqlite:///" + address.format(path), sql="SELECT 1 AS a")
    assert not path.exists()


def test_addresses_of_databases_that_are_there(database):
    for address in (f"file:{database}?uri=true", f"file:{database}?mode=ro&uri=true"):
        assert load("sqlite:///" + address, sql="SELECT * FROM t").height == 3
    assert load("sqlite:///file::memory:?uri=true", sql="SELECT 1 AS a").height == 1


def test_a_password_is_not_shown():
    url = "sqlite+nosuch://user:secret@host/db"
    with pytest.raises(ValueError, match="refused the query") as caught:
        load(url, sql="SELECT 1")
    assert "secret" not in str(caught.value)


HOSTILE = [
    "drop table t",
    "/* SELECT */ DROP TABLE t",
    "-- SELECT 1\nDROP TABLE t",
    "SELECT 1; DROP TABLE t",
    "SELECT 1;/**/;DROP TABLE t",
    "WITH k AS (SELECT 1) DELETE FROM t",
    "WITH k AS (SELECT 1) INSERT INTO t SELECT 9, 9, 9",
    "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
    "WITH k AS (SELECT 1) REPLACE INTO t VALUES (1, 2, 3)",
    "SELECT a INTO other FROM t",
    "UPDATE t SET a = 0 RETURNING a",
    "INSERT INTO t VALUES (9, 9, 9) RETURNING a",
    "PRAGMA user_version = 7",
    "ATTACH 'other.db' AS other",
    "VACUUM",
    "EXPLAIN DELETE FROM t",
    "(DELETE FROM t)",
    "SELECT '\\'; DROP TABLE t; --'",
    "SELECT 1 /*! ; DROP TABLE t */",
    "SELECT 1 /* /* */ ; DROP TABLE t; -- */",
    "SELECT $$'$$; DROP TABLE t; --'",
    # what MySQL, PostgreSQL or SQL Server would run of a text that looks quoted or commented out
    "SELECT 1 --1 INTO OUTFILE 'x'",
    "SELECT 1 # '\n INTO OUTFILE 'x' # '",
    "SELECT 1 # /*\n INTO OUTFILE 'x' # */",
    "SELECT 1 -- \r ' \n INTO OUTFILE 'x' -- '",
    "SELECT ARRAY[ 1 -- ] '\n ] INTO other FROM t --'",
    "SELECT ARRAY[ ' ] ' ] INTO other FROM t -- '",
    "SELECT `/*` ' */ INTO OUTFILE 'x' -- '",
    "SELECT 1e0INTO other FROM t",
    "SELECT 1.eINTO other FROM t",
    "SELECT 1 EXEC('dr' + 'op table t')",
    "SELECT 1 GRANT ALL ON t TO x",
    "SELECT * FROM OPENQUERY(s, 'drop table t')",
    "SELECT load_extension('x')",
    "SELECT \"load_extension\"('x')",
    "SELECT dblink_exec('x', 'drop table t')",
    "SELECT fts3_tokenizer('simple', x'4141414141414141')",  # an address that SQLite would follow
    "SELECT [fts3_tokenizer]('simple', x'4141414141414141')",
    "SELECT query_to_xml('drop table t', true, true, '')",
    "SELECT U&\"lo!005fimport\" UESCAPE '!' ('x')",
    "SELECT lo_unlink(1)",
    "SELECT 1 WRITETEXT t.c 0xFFFF 'x'",
    "SELECT '\ud800'",
    "COPY t TO 'x'",
    "INSTALL httpfs",
    "SELECT 'open",
    "SELECT 1 /* open",
    ";",
    "1",
    "'SELECT 1'",
]


@pytest.mark.parametrize("sql", HOSTILE)
def test_only_one_query_is_sent_and_nothing_changes(database, sql):
    before = database.read_bytes()
    for source in sources(database):
        with pytest.raises(ValueError, match=r"^sql "):
            load(source, sql=sql)
    assert database.read_bytes() == before


@pytest.mark.parametrize(
    "sql",
    [
        "select a from t order by a;",
        "  -- a note; with a mark\n /* DROP TABLE t; */ SELECT a FROM t ORDER BY a ; ",
        "WITH k AS (SELECT a FROM t) SELECT a FROM k ORDER BY a",
        "SELECT a, 'drop; delete' AS \"into\", replace('x', 'x', 'y') FROM t ORDER BY a",
        "SELECT [a], `b` AS [into; it], 1e3 FROM t -- # all\r\n ORDER BY a --",
        'SELECT a AS "exec" FROM t WHERE 2 - -1 = 3 ORDER BY a -- it\'s all',
        "(SELECT a FROM t ORDER BY a)",
        "VALUES (1), (2), (3)",
    ],
)
def test_queries_that_only_look_dangerous_are_run(database, sql):
    url = f"sqlite:///{database}"
    if sql.startswith("("):  # SQLite itself does not know it, others do
        with pytest.raises(ValueError, match="the database refused the query"):
            load(url, sql=sql)
    else:
        assert load(url, sql=sql).to_series(0).to_list() == [1, 2, 3]


def test_a_driver_whose_connection_does_not_name_its_errors():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    for sql in ("SELECT * FROM nowhere", "SELECT * FROM query('DROP TABLE t')"):
        with pytest.raises(ValueError, match=r"^the database refused the query: [^\n]+$"):
            load(connection, sql=sql)
    assert load(connection, sql="SELECT a FROM t").height == 1


def test_the_database_itself_is_asked_to_refuse_writes(database, monkeypatch):
    """A text that the look at the words let through would still change nothing."""
    monkeypatch.setattr("pellucid.data.sql.check_one_query", lambda sql: None)
    before = database.read_bytes()
    for source in sources(database):
        with pytest.raises(ValueError, match=r"refused the query: .*readonly"):
            load(source, sql="DELETE FROM t RETURNING a")
        assert load(source, sql=SQL).height == 3
    assert database.read_bytes() == before
    connection = sqlite3.connect(database)
    assert load(connection, sql=SQL).height == 3
    connection.execute("INSERT INTO t VALUES (4, 4, 'w')")  # the user's own connection still writes
    connection.close()

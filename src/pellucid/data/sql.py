"""Rows of a query: a database URL or engine through SQLAlchemy, or any DB-API connection.

A query has no row numbers and, without ORDER BY, no order that lasts. So the rows are fetched
once, some thousands at a time; ``blocks`` writes them to a temporary folder and reads from there.

Nothing in the database changes: ``query`` refuses all but one SELECT before anything is sent,
SQLite and PostgreSQL are asked to refuse writes themselves, and no transaction is committed.
"""

import re
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from pellucid.data.findings import unique_names
from pellucid.data.query import check_one_query
from pellucid.data.table import first_line

FETCH_ROWS = 1 << 16
SQLITE = ("sqlite", "sqlite+pysqlite")  # drivers that open a file of this machine
# user:password@ at the start; a password may hold @, / and ?, but not what begins the options
SECRET = re.compile(r"^([^/:?][^:?]*)?:(?:(?!\?\w+=).)*@", re.DOTALL)


def is_database(source: object) -> bool:
    """Whether ``source`` is a database URL, an SQLAlchemy engine or a DB-API connection."""
    if isinstance(source, str):
        return "://" in source
    return is_alchemy(source) or (hasattr(source, "cursor") and hasattr(source, "commit"))


def without_password(source: str) -> str:
    """A database URL as it may be written down: the password and every option are hidden.

    >>> without_password("postgresql://ann:secret@host/shop?sslkey=k")
    'postgresql://ann:***@host/shop?***'
    >>> without_password("sqlite:///shop.db"), without_password("table.csv")
    ('sqlite:///shop.db', 'table.csv')
    """
    scheme, mark, rest = source.partition("://")
    if not mark:
        return source
    address, asked, _ = SECRET.sub(r"\1:***@", rest).partition("?")
    return f"{scheme}://{address}{'?***' if asked else ''}"


def is_alchemy(source: object) -> bool:
    return type(source).__module__.split(".")[0] == "sqlalchemy"


def query_frames(source: Any, sql: str, limit: int | None = None) -> Iterator[pl.DataFrame]:
    """The rows of a query as frames of at most FETCH_ROWS rows; always at least one frame.

    >>> import sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> frames = query_frames(connection, "SELECT 1 AS a, 'x' AS b")
    >>> [frame.to_dict(as_series=False) for frame in frames]
    [{'a': [1], 'b': ['x']}]
    >>> connection.close()
    """
    check_one_query(sql)
    if isinstance(source, str):
        _check_file(source)
    if isinstance(source, str) or is_alchemy(source):
        return alchemy_frames(source, sql, limit)
    return connection_frames(source, sql, limit)


def _check_file(url: str) -> None:
    """SQLite would make an empty database of a name that is mistyped."""
    driver, _, rest = url.partition(":///")
    path, _, options = rest.partition("?")
    if path.startswith("file:") and "uri=true" in options.lower():
        if "mode=memory" in options:
            return
        path = unquote(path.removeprefix("file:").removeprefix("//"))
    named = driver in SQLITE and path and not path.startswith(":memory:")
    if named and not Path(path).is_file():
        raise ValueError(f"there is no database file {path!r}")


def alchemy_frames(source: Any, sql: str, limit: int | None) -> Iterator[pl.DataFrame]:
    """Stream a query with SQLAlchemy; the server keeps the rows until they are asked for."""
    try:
        import sqlalchemy
    except ImportError:
        raise ImportError(
            'SQLAlchemy is needed for database URLs: pip install "pellucid[sql]"'
        ) from None
    made = None
    try:
        if isinstance(source, str):
            source = made = sqlalchemy.create_engine(source)
        if isinstance(source, sqlalchemy.engine.Connection):
            yield from result_frames(source, sql, limit)
        else:
            with source.connect() as connection:
                if connection.dialect.name == "postgresql":
                    connection = connection.execution_options(postgresql_readonly=True)
                yield from result_frames(connection, sql, limit)
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise ValueError(f"the database refused the query: {first_line(error)}") from None
    except ModuleNotFoundError as error:
        raise ImportError(f"the driver of this database is not installed: {error}") from None
    finally:
        if made is not None:
            made.dispose()


def result_frames(connection: Any, sql: str, limit: int | None) -> Iterator[pl.DataFrame]:
    options = {"stream_results": True, "max_row_buffer": FETCH_ROWS, "no_parameters": True}
    run = connection.execution_options(**options).exec_driver_sql
    with query_only(run, connection.dialect.name == "sqlite"), run(sql) as result:
        if not result.returns_rows:
            raise ValueError("the statement returns no rows; a SELECT is needed")
        yield from frames_of(result, list(result.keys()), limit)


@contextmanager
def query_only(run: Callable[[str], Any], is_sqlite: bool) -> Iterator[None]:
    """While rows are fetched, an SQLite connection refuses every change of its database."""
    if not is_sqlite:
        yield
        return
    before = int(run("PRAGMA query_only").fetchone()[0])
    run("PRAGMA query_only = 1")
    try:
        yield
    finally:
        run(f"PRAGMA query_only = {before}")


def connection_frames(connection: Any, sql: str, limit: int | None) -> Iterator[pl.DataFrame]:
    """Run a query on an open DB-API connection."""
    driver_error = driver_errors(connection)
    cursor = connection.cursor()
    is_sqlite = isinstance(connection, sqlite3.Connection)
    try:
        with query_only(lambda text: connection.cursor().execute(text), is_sqlite):
            cursor.execute(sql)
            if cursor.description is None:
                raise ValueError("the statement returns no rows; a SELECT is needed")
            yield from frames_of(cursor, [column[0] for column in cursor.description], limit)
    except driver_error as error:
        raise ValueError(f"the database refused the query: {first_line(error)}") from None
    finally:
        cursor.close()


def driver_errors(connection: Any) -> Any:
    """The class of a driver's errors: of the connection itself (PEP 249), else of its module.

    >>> connection = sqlite3.connect(":memory:")
    >>> driver_errors(connection) is sqlite3.Error
    True
    >>> connection.close()
    """
    if (found := getattr(connection, "Error", None)) is not None:
        return found
    module = type(connection).__module__.partition(".")[0].lstrip("_")  # _duckdb belongs to duckdb
    return getattr(sys.modules.get(module), "Error", ())


def frames_of(cursor: Any, names: Sequence[str], limit: int | None) -> Iterator[pl.DataFrame]:
    """Fetch until nothing, or enough, has come."""
    names = unique_names(names, "the query")
    left, first = limit, True
    while left is None or left > 0:
        rows = cursor.fetchmany(FETCH_ROWS if left is None else min(left, FETCH_ROWS))
        if not rows and not first:
            return
        yield rows_frame(rows, names)
        first = False
        left = None if left is None else left - len(rows)
        if not rows:
            return


def rows_frame(rows: Sequence[Any], names: Sequence[str]) -> pl.DataFrame:
    """Rows of Python values as a frame: decimals become numbers, unknown objects text.

    >>> from decimal import Decimal
    >>> rows_frame([(Decimal("1.5"), None)], ["a", "b"]).dtypes
    [Float64, Null]
    """
    columns = []
    for position, name in enumerate(names):
        cells = [row[position] for row in rows]
        columns.append(cell_series(name, cells))
    return pl.DataFrame(columns)


def cell_series(name: str, cells: list[Any]) -> pl.Series:
    """One column of a query; values of unlike types become text."""
    cells = [bytes(cell) if isinstance(cell, memoryview) else cell for cell in cells]
    try:
        column = pl.Series(name, cells, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        kinds = {type(cell) for cell in cells if cell is not None}
        if kinds <= {int, float, bool}:
            return pl.Series(name, cells, dtype=pl.Float64, strict=False)
        column = None
    if column is None or column.dtype == pl.Object:
        return pl.Series(name, [None if cell is None else str(cell) for cell in cells], pl.String)
    return column.cast(pl.Float64) if column.dtype.is_decimal() else column

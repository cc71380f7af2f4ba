"""``load``: one call for a table in memory, whatever holds it."""

import os
from collections.abc import Sequence
from typing import Any

from pellucid.core.arrays import check
from pellucid.data.opening import open_table

Names = str | Sequence[str]


def load(
    source: object,
    *,
    target: Names | None = None,
    columns: Sequence[str] | None = None,
    sql: str | None = None,
    n_rows: int | None = None,
    format: str = "auto",
) -> Any:
    """Read a table; with ``target``, split it into ``(X, y)``.

    Parameters
    ----------
    source : path, pattern, list of paths, open file, frame, dict, array, URL or connection
        CSV, TSV, Parquet, JSON, JSON lines and Arrow files, plain or packed with gzip or zstd;
        sheets of Excel and OpenDocument (``book.xlsx#Sheet``, else the first).
    target : str or list of str, optional
        The column(s) to predict.
    columns : list of str, optional
        The columns to read; all by default. The target is read in any case.
    sql : str, optional
        The query, when ``source`` is a database.
    n_rows : int, optional
        Read so many rows at most.
    format : {"auto", "csv", "tsv", "parquet", "json", "jsonl", "arrow", "excel"}, default="auto"

    Returns
    -------
    polars.DataFrame, or (polars.DataFrame, polars.Series) with ``target``
        Several targets come as a frame.

    Examples
    --------
    >>> import io
    >>> from pellucid.data import load
    >>> X, y = load(io.StringIO("age;dose;ill\\n31;0,5;no\\n58;?;yes\\n"), target="ill")
    >>> X.to_dict(as_series=False), y.to_list()
    ({'age': [31, 58], 'dose': [0.5, None]}, ['no', 'yes'])
    """
    if n_rows is not None:
        check.whole(n_rows=n_rows)
    table = open_table(source, sql=sql, format=format, limit=n_rows)
    where = describe(source)
    targets = name_list(target, "target")
    wanted = list(table.schema) if columns is None else name_list(columns, "columns")
    known_columns(targets, table.schema, where)
    known_columns(wanted, table.schema, where)
    wanted += [name for name in targets if name not in wanted]
    stop = table.n_rows if n_rows is None else min(n_rows, table.n_rows)
    frame = table.read(0, stop, wanted)
    if target is None:
        return frame
    return frame.drop(targets), frame[target] if isinstance(target, str) else frame[targets]


def name_list(names: str | Sequence[str] | None, what: str) -> list[str]:
    """Column names as a list: None is none, a word is one."""
    if names is None:
        return []
    names = [names] if isinstance(names, str) else list(names)
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"{what} must be column names, got {names!r}")
    if len(set(names)) != len(names):
        raise ValueError(f"{what} names a column twice: {names!r}")
    return names


def known_columns(names: Sequence[str], schema: dict[str, Any], where: str) -> None:
    """Refuse a name that is no column, and say the nearest one."""
    for name in names:
        if name not in schema:
            shown = ", ".join(repr(column) for column in list(schema)[:12])
            more = ", ..." if len(schema) > 12 else ""
            near = check.hint(name, schema) or f"; the columns are {shown}{more}"
            raise ValueError(f"{where} has no column {name!r}{near}")


def describe(source: object) -> str:
    """A short name of the source for messages."""
    if isinstance(source, str | os.PathLike):
        text = os.fspath(source)
        return "the query" if "://" in text else text
    return "the table"

"""From anything that holds a table to a table: the one place that looks at what was given."""

import glob
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import polars as pl

from pellucid.core.arrays import check
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.lazy import lazy_name
from pellucid.data.delimited import CsvTable, open_csv, unify
from pellucid.data.doors.addresses import copied, find_remote, is_address, parquet_groups
from pellucid.data.doors.arrow_sources import is_dataset, open_dataset, open_reader, streams_arrow
from pellucid.data.doors.dask_collections import is_dask, open_dask_frame
from pellucid.data.doors.folders import files_below, hive_values, with_hive
from pellucid.data.doors.lakes import is_lake, lake_of, open_lake, open_lake_folder
from pellucid.data.doors.lazy_plans import open_lazy
from pellucid.data.doors.pandas_frames import listed_series, missing_as_null, pandas_frame
from pellucid.data.encodings import NotUtf8, as_utf8
from pellucid.data.excel import ENDINGS as EXCEL
from pellucid.data.excel import is_workbook, open_excel, split_sheet
from pellucid.data.findings import is_pattern, unique_names
from pellucid.data.jsonlines import json_frame, open_json, open_json_lines
from pellucid.data.spool import (
    compression_of,
    decompress,
    plain_name,
    spool_frames,
    spool_stream,
)
from pellucid.data.sql import is_database, query_frames, without_password
from pellucid.data.table import (
    BROKEN,
    File,
    FrameTable,
    check_dates,
    check_whole,
    first_line,
    scan_table,
    stack,
)

FORMATS = ("auto", "csv", "tsv", "parquet", "json", "jsonl", "arrow", "excel")
ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".dat": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".arrows": "arrow",
    **dict.fromkeys(EXCEL, "excel"),
}
MAGIC = {b"PAR1": "parquet", b"ARRO": "arrow", b"\xd0\xcf\x11\xe0": "excel"}
OTHERS = {
    b"PK\x03\x04": "a zip file; unpack it",
    b"SQLi": "an SQLite database; give the URL 'sqlite:///path' and sql='SELECT ...'",
    b"\x89HDF": "an HDF5 file; save the table as Parquet",
    b"%PDF": "a PDF file; save the table as CSV",
}


def open_table(
    source: Any,
    *,
    sql: str | None = None,
    format: str = "auto",
    limit: int | None = None,
    in_memory: bool = True,
) -> Any:
    """The table behind ``source``; with ``in_memory=False`` a query goes to temporary files."""
    check.one_of(FORMATS, format=format)
    table = _open_any(source, sql, format, limit, in_memory)
    for name in table.schema:
        if is_pattern(name):
            raise ValueError(f"a column is called {name!r}, which is a pattern: rename it")
    return table


def _open_any(source: Any, sql: str | None, format: str, limit: int | None, in_memory: bool) -> Any:
    if is_dask(source):  # first: a Delayed answers to any attribute
        no_sql(type(source), sql)
        return open_held(source, in_memory)
    if is_address(source):
        no_sql(source, sql)
        return open_address(source, format, limit)
    if is_database(source):
        return open_query(source, sql, limit, in_memory)
    no_sql(source, sql)
    if isinstance(source, str | os.PathLike):
        return open_place(os.fspath(source), format, limit, in_memory)
    if hasattr(source, "read"):
        return open_stream(source, format, limit)
    if is_path_list(source):
        paths = [path for item in source for path in find_paths(os.fspath(item))]
        return open_paths(paths, format, limit)
    if type(source).__module__.partition(".")[0] == "narwhals":
        source = source.to_native()
    return open_held(source, in_memory)


def open_held(source: Any, in_memory: bool) -> Any:
    """The table that an object of another library holds."""
    if isinstance(source, pl.LazyFrame):
        return open_lazy(source, in_memory)
    if is_dask(source):
        table = open_dask_frame(source)
        return FrameTable(table.read(0, table.n_rows, list(table.schema))) if in_memory else table
    if is_lake(source):
        return open_lake(source, in_memory)
    if is_dataset(source):
        return open_dataset(source, in_memory)
    if type(source).__module__.startswith("pyspark"):
        raise TypeError(
            "a Spark frame is not read here: write it, frame.write.parquet('folder'), and give "
            "the folder"
        )
    in_hand = hasattr(source, "iloc") or hasattr(source, "num_rows") or isinstance(source, Mapping)
    if streams_arrow(source) and (lazy_name(source) or not (in_hand or is_frame(source))):
        return open_reader(source, in_memory)
    return FrameTable(to_frame(source))


def no_sql(source: Any, sql: str | None) -> None:
    if sql is not None:
        raise ValueError(f"sql goes with a database URL or connection, got {brief(source)}")


def brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def open_query(source: Any, sql: str | None, limit: int | None, in_memory: bool) -> Any:
    if isinstance(source, str) and source.split("://")[0] in ("http", "https", "ftp"):
        raise ValueError(
            f"{without_password(source)} is a remote address of the web; files, databases and "
            "stores such as s3:// are read: download it first"
        )
    if isinstance(source, str) and source.startswith("file://"):
        raise ValueError("give the path, without file://")
    if sql is None:
        raise ValueError("a database needs a query: sql='SELECT ... FROM ...'")
    frames = query_frames(source, sql, limit)
    parts = [FrameTable(frame) for frame in frames] if in_memory else spool_frames(frames)
    return stack(parts, ["the query"] * len(parts), mixed_is_text=True)


def open_stream(stream: Any, format: str, limit: int | None) -> Any:
    """Copy an open file to a temporary one and read that."""
    given = getattr(stream, "name", None)
    name = Path(given).name if isinstance(given, str) else "stream"
    name = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in name)
    try:
        path, spool = spool_stream(stream, name)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"the open file is not {error.encoding}: byte 0x{error.object[error.start]:02x}; "
            "open it with its own encoding, such as encoding='latin-1'"
        ) from None
    shown = given if isinstance(given, str) else "the open file"
    return open_file(File(path, shown, spool), format, limit)


def is_path_list(source: object) -> bool:
    return (
        isinstance(source, list | tuple)
        and len(source) > 0
        and all(isinstance(item, str | os.PathLike) for item in source)
    )


def open_place(path: str, format: str, limit: int | None, in_memory: bool) -> Any:
    """A file, the files of a pattern, or the tables below a folder with its Hive columns."""
    below = path if os.path.isdir(path) else None
    if below and (lake := lake_of(path)):
        return open_lake_folder(path, lake, in_memory)
    paths = find_paths(path)
    if below is None and glob.has_magic(path) and not os.path.exists(path):
        fixed = path[: re.search(r"[*?[]", path).start()]  # type: ignore[union-attr]
        below = os.path.dirname(fixed) or "."
    return open_paths(paths, format, limit, below)


def open_address(address: str, format: str, limit: int | None) -> Any:
    """The files at an address: Parquet by row groups, others from a copy."""
    remote = find_remote(address, tuple(ENDINGS))
    tables: list[Any] = []
    names: list[str] = []
    values: list[dict[str, str | None]] = []
    found = hive_values(remote.paths, remote.below) if remote.below else [{}] * len(remote.paths)
    for path, said in zip(remote.paths, found, strict=True):
        ranged = format == "parquet" or (format == "auto" and path.endswith((".parquet", ".pq")))
        if ranged:
            parts: list[Any] = list(parquet_groups(remote, path))
        else:
            place, spool = copied(remote, path)
            parts = [open_file(File(place, path, spool), format, limit)]
        tables += parts
        names += [path] * len(parts)
        values += [said] * len(parts)
    if len(tables) > 1 and all(isinstance(table, CsvTable) for table in tables):
        tables = unify(tables)
    return stack(with_hive(tables, values), names)


def find_paths(path: str) -> list[str]:
    """The file of that name, the files of a pattern or below a folder, in the order of names."""
    if os.path.isdir(path):
        return files_below(path, tuple(ENDINGS))
    if os.path.exists(split_sheet(path)[0]):
        return [path]
    if glob.has_magic(path):
        found = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
        if not found:
            raise FileNotFoundError(f"no file matches {path!r}")
        return found
    if os.path.islink(path):
        raise FileNotFoundError(f"{path!r} is a link that leads to no file")
    folder = os.path.dirname(path) or "."
    near = check.hint(os.path.basename(path), os.listdir(folder)) if os.path.isdir(folder) else ""
    raise FileNotFoundError(f"there is no file {path!r}{near}")


def open_paths(
    paths: Sequence[str], format: str, limit: int | None, below: str | None = None
) -> Any:
    """One file, or several below each other, with what the folders ``below`` one say."""
    tables: list[Any] = []
    for path in paths:
        place, sheet = split_sheet(path)
        tables.append(open_file(File(place, path), format, limit, sheet))
        if limit is not None and sum(table.n_rows for table in tables) >= limit:
            break
    if len(tables) > 1 and all(isinstance(table, CsvTable) for table in tables):
        tables = unify(tables)
    if below is not None:
        tables = with_hive(tables, hive_values(paths, below)[: len(tables)])
    return stack(tables, paths[: len(tables)])


def open_file(file: File, format: str, limit: int | None, sheet: str | None = None) -> Any:
    """The table of one file; a compressed one is unpacked to a temporary file first.

    A pipe is read once, so it is copied; a device may never end.
    """
    mode = os.stat(file.path).st_mode
    if stat.S_ISFIFO(mode):
        with open(file.path, "rb") as pipe:
            return open_stream(pipe, format, limit)
    if not stat.S_ISREG(mode):
        raise ValueError(f"{file.name} is not an ordinary file")
    try:
        how = compression_of(file.path)
    except PermissionError:
        raise ValueError(f"{file.name} may not be read: permission denied") from None
    if how is not None:
        path, keep = decompress(file, how, plain_name(file.path))
        file = File(path, file.name, keep)
    kind = guess_format(file) if format == "auto" else format
    if kind == "parquet":
        check_whole("parquet", file)
        return scan_table("parquet", file)
    if kind == "arrow":
        return open_arrow(file)
    if kind == "excel":
        return open_excel(file, sheet, limit)
    try:
        return open_text(file, kind, limit)
    except NotUtf8 as problem:
        return open_text(as_utf8(file, problem), kind, limit)


def open_text(file: File, kind: str, limit: int | None) -> Any:
    """The table of a text file in UTF-8."""
    if kind == "json":
        return open_json(file)
    if kind == "jsonl":
        return open_json_lines(file, limit=limit)
    return open_csv(file, delimiter="\t" if kind == "tsv" else None, limit=limit)


def guess_format(file: File) -> str:
    """By the first bytes, else the ending of the name, else the first letter."""
    with open(file.path, "rb") as stream:
        head = stream.read(4096)
    kind = ENDINGS.get(Path(file.path).suffix.lower())
    if head[:4] in MAGIC:
        return MAGIC[head[:4]]
    if kind == "excel" or is_workbook(file.path):
        return "excel"
    if head[:4] in OTHERS:
        raise ValueError(f"{file.name} is {OTHERS[head[:4]]}")
    if kind in ("parquet", "csv", "tsv", "arrow", "jsonl"):
        return kind
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return json_or_lines(file.path)
    if text.startswith(b"[") or kind == "json":
        return "json"
    return "csv"


def json_or_lines(path: str) -> str:
    """Lines if the first line is a whole object and another line follows it."""
    import json

    with open(path, "rb") as file:
        lines = (line for line in file if line.strip())
        first, second = next(lines, b""), next(lines, None)
    try:
        value = json.loads(first.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return "json"
    columns = all(isinstance(cells, list) for cells in value.values())
    return "json" if second is None and columns else "jsonl"


def open_arrow(file: File) -> Any:
    """An Arrow IPC file is read by range; an Arrow stream is read whole."""
    with open(file.path, "rb") as stream:
        in_parts = stream.read(6) == b"ARROW1"
    check_whole("ipc" if in_parts else "stream", file)
    if in_parts:
        return scan_table("ipc", file)
    try:
        return FrameTable(check_dates(pl.read_ipc_stream(file.path), file.name))
    except BROKEN as error:
        raise ValueError(f"{file.name} is not an Arrow file: {first_line(error)}") from None


def to_frame(source: Any) -> pl.DataFrame:
    """A frame of any library, columns in a dict, rows in a list or an array, as a Polars frame.

    >>> to_frame(np.array([[1, 2]])).columns
    ['x0', 'x1']
    """
    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, Mapping):
        return dict_frame(source)
    library = type(source).__module__.split(".")[0]
    if library == "pandas" and hasattr(source, "columns"):
        return pandas_frame(source)
    if library == "pyarrow" and hasattr(source, "column_names"):
        names = unique_names(source.column_names, "the Arrow table")
        return pl.DataFrame(pl.from_arrow(source.rename_columns(names)))
    if is_frame(source):
        return nw.from_native(source, eager_only=True).to_polars()
    if isinstance(source, list) and source and all(isinstance(row, dict) for row in source):
        return json_frame(source, "the list of rows")
    matrix = to_matrix(source)
    names = [f"x{j}" for j in range(matrix.shape[1])]
    columns = [column_of(name, matrix[:, j]) for j, name in enumerate(names)]
    return pl.DataFrame([missing_as_null(column) for column in columns])


def dict_frame(source: Mapping[Any, Any]) -> pl.DataFrame:
    columns = {}
    for name, cells in source.items():
        if isinstance(cells, str | bytes) or not hasattr(cells, "__len__"):
            raise ValueError(f"column {name!r} must be a list or an array, got {brief(cells)}")
        columns[str(name)] = cells
    sizes = {name: len(cells) for name, cells in columns.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"the columns have different lengths: {sizes}")
    series = [column_of(name, cells) for name, cells in columns.items()]
    return pl.DataFrame([missing_as_null(column) for column in series])


def column_of(name: str, cells: Any) -> pl.Series:
    """A column from a list or an array; an array of Python objects is a list of them.

    >>> column_of("paid", np.array([True, None, np.True_], dtype=object)).dtype
    Boolean
    """
    if isinstance(cells, np.ndarray) and cells.dtype == object:
        cells = [None if isinstance(c, float) and np.isnan(c) else c for c in cells.tolist()]
    return (
        listed_series(name, cells)
        if isinstance(cells, list)
        else pl.Series(name, cells, strict=False)
    )


def to_matrix(source: Any) -> np.ndarray:
    """An array-like of rows as a two-dimensional array of numbers, truth values or text."""
    if hasattr(source, "toarray"):
        raise ValueError(
            "a sparse matrix is not read here; pass it to fit or to blocks, or use .toarray()"
        )
    if isinstance(source, Sequence | np.ndarray) and not isinstance(source, str | bytes):
        try:
            matrix = np.asarray(source)
        except ValueError as error:
            raise ValueError(f"the rows do not have the same length: {first_line(error)}") from None
        if matrix.ndim == 1 and matrix.size:
            matrix = matrix[:, None]
        if matrix.ndim == 2 and matrix.dtype.kind in "biufUO":
            return matrix
        raise ValueError(
            f"an array needs two dimensions (rows, columns) of numbers or text, got shape "
            f"{matrix.shape} and type {matrix.dtype}"
        )
    raise TypeError(
        f"cannot read a table from {type(source).__name__}; a path, an open file, a frame, a "
        "dict of columns, an array, or a database with sql is needed"
    )


def is_array(source: object) -> bool:
    """Whether ``source`` is rows of numbers without names: an array, or a list of lists."""
    if isinstance(source, np.ndarray):
        return True
    return (
        isinstance(source, list | tuple)
        and len(source) > 0
        and not is_path_list(source)
        and not all(isinstance(row, dict) for row in source)
    )

"""JSON: one object per line, read by row range like CSV; or one document, read whole."""

import codecs
import json
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pellucid.core.runtime.json_text import read_json
from pellucid.data.delimited import check_utf8, read_sample
from pellucid.data.doors.pandas_frames import listed_series
from pellucid.data.findings import finding
from pellucid.data.lines import (
    CHUNK_BYTES,
    MarkList,
    Marks,
    Records,
    find_records,
    first_records,
    without_blanks,
)
from pellucid.data.table import (
    MOST_CELLS,
    File,
    FrameTable,
    Schema,
    check_growth,
    common_type,
    first_line,
)

OPEN_BRACE = 123
NAME = re.compile(rb'"((?:[^"\\]|\\.)*+)"\s*:')  # of a value, at any depth


class JsonLinesTable(NamedTuple):
    """Rows of a file with one JSON object per line."""

    marks: Marks
    schema: Schema
    has_blanks: bool
    keep: Any = None

    @property
    def n_rows(self) -> int:
        return self.marks.n_rows

    def read(self, start: int, stop: int, columns: Sequence[str]) -> pl.DataFrame:
        if start >= stop:
            return pl.DataFrame(schema={name: self.schema[name] for name in columns})
        data, skip = self.marks.read(start, stop)
        if self.has_blanks:
            data = without_blanks(data, find_records(data, None))
        frame = pl.read_ndjson(data, schema={name: self.schema[name] for name in columns})
        return frame.slice(skip, stop - start)

    def cut(self, start: int, stop: int) -> "JsonLinesTable":
        return self._replace(marks=self.marks.cut(start, stop))


def open_json_lines(file: File, *, limit: int | None = None) -> JsonLinesTable:
    """One pass over the file finds its rows and the type of every column over all rows."""
    read_sample(file)
    marks, blanks, end, line = MarkList(), False, 0, 1
    schema: Schema = {}
    with open(file.path, "rb") as stream:
        skip = len(codecs.BOM_UTF8) if stream.read(3) == codecs.BOM_UTF8 else 0
        stream.seek(skip)
        offset, rest = skip, b""
        while True:
            chunk = stream.read(CHUNK_BYTES)
            data = rest + chunk
            if not chunk and data and not data.endswith(b"\n"):
                data += b"\n"
            records = find_records(data, None)
            if limit is not None and limit - marks.rows < len(records.ends):
                records = first_records(records, limit - marks.rows)
            if len(records.ends):
                text = without_blanks(data, records)
                blanks |= len(text) != records.stop
                check_utf8(file, text)
                check_names(file, text, len(records.ends))
                merge_schema(file, schema, infer(file, data, records, line))
                marks.add(records.starts + offset)
                check_growth(file.name, marks.rows, len(schema), os.path.getsize(file.path))
                end = offset + records.stop
            line += data.count(b"\n", 0, records.stop)
            offset, rest = offset + records.stop, data[records.stop :]
            if not chunk or (limit is not None and marks.rows >= limit):
                break
    schema = {name: pl.Float64() if dtype == pl.Null else dtype for name, dtype in schema.items()}
    return JsonLinesTable(marks.close(file.path, end), schema, blanks, file.keep)


def check_names(file: File, text: bytes, rows: int) -> None:
    """Refuse lines that name a column of their own each, before they are a table."""
    if rows * text.count(b":") <= MOST_CELLS or rows * len({*NAME.findall(text)}) <= MOST_CELLS:
        return
    names: set[str] = set()
    for line in text.splitlines():
        try:
            names |= {*json.loads(line)}
        except (ValueError, TypeError, RecursionError):  # said where the lines are read
            continue
    check_growth(file.name, rows, len(names), os.path.getsize(file.path))


def infer(file: File, data: bytes, records: Records, line: int) -> Schema:
    """The types of some lines, or an error that names the first line that is no object."""
    first = np.frombuffer(data, dtype=np.uint8)[records.starts]
    if (first == OPEN_BRACE).all():
        try:
            text = without_blanks(data, records)
            return dict(pl.read_ndjson(text, infer_schema_length=None).schema)
        except pl.exceptions.PolarsError as error:
            check_lines(file, data, records, line)
            raise ValueError(
                f"{file.name} cannot be read as JSON lines: {first_line(error)}"
            ) from None
    check_lines(file, data, records, line)
    return dict(pl.read_ndjson(without_blanks(data, records), infer_schema_length=None).schema)


def check_lines(file: File, data: bytes, records: Records, line: int) -> None:
    """Refuse the first line that is not a JSON object, by its number."""
    pairs = zip(records.starts.tolist(), records.ends.tolist(), strict=True)
    for start, end in pairs:
        number = line + data.count(b"\n", 0, start)
        try:
            value = json.loads(data[start:end].strip())
        except json.JSONDecodeError as error:
            place = f"{error.msg}, character {error.pos + 1}"
            raise ValueError(f"{file.name}: line {number} is not JSON: {place}") from None
        except (RecursionError, ValueError) as error:  # too deep, too many digits
            raise ValueError(f"{file.name}: line {number} cannot be read: {error}") from None
        if not isinstance(value, dict):
            raise ValueError(
                f"{file.name}: line {number} holds a {type(value).__name__}; JSON lines need one "
                "object per line"
            )


def merge_schema(file: File, schema: Schema, new: Schema) -> None:
    """Widen ``schema`` to hold the types of another piece; mixed plain types become text."""
    for name, dtype in new.items():
        old = schema.get(name, pl.Null())
        common = common_type(old, dtype)
        if common is None:
            if old.is_nested() or dtype.is_nested():
                raise ValueError(
                    f"{file.name}: column {name!r} is {old} in some lines and {dtype} in others"
                )
            common = pl.String()
        schema[name] = common


def open_json(file: File) -> FrameTable:
    """A JSON document: a list of objects (rows), or an object of lists (columns)."""
    read_sample(file)
    with open(file.path, "rb") as stream:
        data = stream.read()
    check_utf8(file, data)
    try:
        document = read_json(data.decode("utf-8-sig"), file.name)
    except UnicodeDecodeError:
        raise ValueError(f"{file.name} is not UTF-8 text") from None
    return FrameTable(json_frame(document, file.name))


def json_frame(document: object, where: str) -> pl.DataFrame:
    """Rows or columns from plain Python values.

    >>> json_frame([{"a": 1}, {"a": 2.5, "b": "x"}], "data").to_dict(as_series=False)
    {'a': [1.0, 2.5], 'b': [None, 'x']}
    """
    if isinstance(document, list) and all(isinstance(row, dict) for row in document):
        if not document:
            raise ValueError(f"{where} has no rows: at least one object is needed")
        names = list(dict.fromkeys(name for row in document for name in row))
        given = sum(map(len, document))
        check_growth(where, len(document), len(names), given, unit="values")
        columns = {name: [row.get(name) for row in document] for name in names}
    elif isinstance(document, dict) and all(isinstance(c, list) for c in document.values()):
        columns = document
        if len({len(column) for column in columns.values()}) > 1:
            sizes = {name: len(column) for name, column in columns.items()}
            raise ValueError(f"{where} has columns of different lengths: {sizes}")
    else:
        raise ValueError(
            f"{where} holds a JSON {type(document).__name__} that is no table; a list of objects "
            "(rows) or an object of lists (columns) is needed"
        )
    return pl.DataFrame([json_column(name, cells, where) for name, cells in columns.items()])


def json_column(name: str, cells: list[Any], where: str) -> pl.Series:
    """One column; numbers and words mixed become text, with a finding."""
    column = listed_series(name, cells)
    kinds = {type(cell) for cell in cells} - {type(None)}
    if column.dtype == pl.String and kinds > {str}:
        finding(f"column {name!r} of {where} mixes numbers and text; it was read as text")
    elif column.dtype == pl.String and kinds and str not in kinds:
        finding(f"column {name!r} of {where} has numbers too long for one; it was read as text")
    return column.cast(pl.Float64) if column.dtype == pl.Null else column

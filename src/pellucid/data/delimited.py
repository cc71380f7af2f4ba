r"""Delimited text: one pass finds the rows and the types, then any range of rows is read alone.

Dialect   delimiter , ; tab or | by the header and the first lines; quotes as in RFC 4180;
          decimal comma when the delimiter is ; ; a byte-order mark is skipped; blank lines too.
Pass 1    reads the file in pieces of 8 MB, or of 1 KB for each column where that is more: cuts
          records at newlines outside quotes, compares their number of cells with the header,
          notes every LEAF_ROWS-th offset (lines.py) and strikes out the kinds that a cell
          contradicts (cells.py). Memory O(piece).
Reading   parses the bytes of a range with the types of pass 1, so a column that looks whole in
          the first million rows and holds text in the last one is text everywhere.

A file with quotes in the middle of unquoted cells (5" pipe) or with lone carriage returns for
line ends is rewritten once as Parquet in a temporary folder by the slower csv module.
"""

import codecs
import csv
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pellucid.data.cells import (
    DTYPES,
    KINDS,
    MISSING,
    NATIVE,
    Possible,
    converted,
    kind_of,
    kinds_of,
    strike_out,
)
from pellucid.data.encodings import NotUtf8, wide_encoding
from pellucid.data.findings import finding, unique_names
from pellucid.data.lines import (
    CHUNK_BYTES,
    MarkList,
    Marks,
    Records,
    find_records,
    first_records,
    without_blanks,
)
from pellucid.data.spool import spool_frames
from pellucid.data.table import File, Schema, Stack, stack

DELIMITERS = (",", ";", "\t", "|")
SAMPLE_BYTES = 1 << 18
LONGEST_RECORD = 1 << 27
COLUMN_BYTES = 1 << 10  # of a piece: a look at a column costs as much as hundreds of its cells
LOOSE_ROWS = 1 << 16
_BORDER = np.isin(np.arange(256), list(b',;\t|\n\r"'))
_SIGN = np.isin(np.arange(256), list(b"+-"))
_DIGIT = np.isin(np.arange(256), list(b"0123456789"))
_GOES_ON = _BORDER | _DIGIT | np.isin(np.arange(256), list(b". "))


class Dialect(NamedTuple):
    """How the cells of a file are separated, and its header."""

    delimiter: str
    names: tuple[str, ...]
    body: int  # byte offset of the first row


class CsvTable(NamedTuple):
    """Rows of a delimited text file."""

    marks: Marks
    dialect: Dialect
    possible: tuple[Possible, ...]
    has_blanks: bool
    keep: Any = None

    @property
    def n_rows(self) -> int:
        return self.marks.n_rows

    @property
    def kinds(self) -> list[str]:
        return kinds_of(self.possible)

    @property
    def schema(self) -> Schema:
        return {
            name: DTYPES[kind] for name, kind in zip(self.dialect.names, self.kinds, strict=True)
        }

    def read(self, start: int, stop: int, columns: Sequence[str]) -> pl.DataFrame:
        if start >= stop:
            return pl.DataFrame(schema={name: self.schema[name] for name in columns})
        data, skip = self.marks.read(start, stop)
        if self.has_blanks:
            data = without_blanks(data, find_records(data, ord(self.dialect.delimiter)))
        return parse(data, self.dialect, self.kinds, columns).slice(skip, stop - start)

    def cut(self, start: int, stop: int) -> "CsvTable":
        return self._replace(marks=self.marks.cut(start, stop))


class NotPlain(Exception):  # noqa: N818  not an error: the file takes the slower way
    """The quotes of this file need the csv module."""


def open_csv(file: File, *, delimiter: str | None = None, limit: int | None = None) -> Any:
    """The table of a delimited text file; ``limit`` stops after so many rows."""
    sample = read_sample(file)
    if b"\r" in sample and b"\n" not in sample:
        return open_loose(file, delimiter, limit)
    try:
        return scan_csv(file, delimiter, limit)
    except NotPlain:
        return open_loose(file, delimiter, limit)


def read_sample(file: File) -> bytes:
    """The first lines of the file; an empty or binary file is refused here.

    A header may be longer than the sample: it is read to its end, and as much behind it.
    """
    with open(file.path, "rb") as stream:
        sample = more = stream.read(SAMPLE_BYTES)
        while more and not (b"\n" in more or b"\r" in more) and len(sample) < LONGEST_RECORD:
            sample += (more := stream.read(max(SAMPLE_BYTES, len(sample))))
        if len(sample) > SAMPLE_BYTES:
            sample += stream.read(SAMPLE_BYTES)
    if wide := wide_encoding(sample[:4096]):
        raise NotUtf8(f"{file.name} is not whole {wide.upper()} text")
    if b"\0" in sample:
        raise ValueError(
            f"{file.name} is a binary file, not a table in text; CSV, TSV, JSON, JSON lines, "
            "Parquet and Arrow files are read"
        )
    if not sample.removeprefix(codecs.BOM_UTF8).strip():
        raise ValueError(f"{file.name} is empty: a header line with column names is needed")
    return sample


def scan_csv(file: File, delimiter: str | None, limit: int | None) -> CsvTable:
    """Pass 1: rows, types and errors of the whole file."""
    dialect = read_dialect(file, delimiter)
    possible = [frozenset(KINDS)] * len(dialect.names)
    marks, end, blanks = MarkList(), dialect.body, False
    for piece in pieces(file, dialect):
        records, data = piece.records, piece.data
        room = len(records.ends) if limit is None else limit - marks.rows
        if room < len(records.ends):
            records = first_records(records, room)
        if len(records.ends):
            check_cells(file, piece, records, len(dialect.names))
            text = without_blanks(data, records)
            blanks |= len(text) != records.stop
            check_utf8(file, text)
            possible = narrow(text, dialect, possible)
            marks.add(records.starts + piece.offset)
            end = piece.offset + records.stop
        if limit is not None and marks.rows >= limit:
            break
    return CsvTable(marks.close(file.path, end), dialect, tuple(possible), blanks, file.keep)


class Piece(NamedTuple):
    """Some bytes of the file that hold whole records."""

    data: bytes
    records: Records
    offset: int  # in the file
    line: int  # number of the first line, counted from 1


def pieces(file: File, dialect: Dialect) -> Iterator[Piece]:
    """The body of the file, whole records at a time."""
    delimiter = ord(dialect.delimiter)
    with open(file.path, "rb") as stream:
        line = stream.read(dialect.body).count(b"\n") + 1
        least = min(max(CHUNK_BYTES, COLUMN_BYTES * len(dialect.names)), LONGEST_RECORD)
        offset, rest, want = dialect.body, b"", CHUNK_BYTES  # a few rows strike out most kinds
        while True:
            chunk = stream.read(want)
            data = rest + chunk
            if not chunk and data and not data.endswith(b"\n"):
                data += b"\n"  # the last line may lack its newline
            records = find_records(data, delimiter)
            if not records.well_formed:
                raise NotPlain
            if records.stop:
                yield Piece(data, records, offset, line)
            line += data.count(b"\n", 0, records.stop)
            offset += records.stop
            rest = data[records.stop :]
            if not chunk and not rest:
                return
            if not chunk or len(rest) > LONGEST_RECORD:
                if not quote_opens_cell(rest, delimiter):
                    raise NotPlain
                raise ValueError(
                    f"{file.name}: line {line} opens a quoted cell that is never closed"
                )
            want = max(least, len(rest))  # a long record doubles the piece


def quote_opens_cell(rest: bytes, delimiter: int) -> bool:
    """Whether the quotes of an unfinished record stand at cell borders, so one lacks its end."""
    return rest.count(b'"') % 2 == 1 and find_records(rest + b'"\n', delimiter).well_formed


def read_dialect(file: File, delimiter: str | None) -> Dialect:
    """Delimiter, column names and where the rows begin."""
    sample = read_sample(file)
    skip = len(codecs.BOM_UTF8) if sample.startswith(codecs.BOM_UTF8) else 0
    whole = len(sample) == os.path.getsize(file.path)
    body = sample[skip:] + (b"\n" if whole and not sample.endswith(b"\n") else b"")
    if delimiter is None:
        delimiter = sniff(body)
    records = find_records(body, ord(delimiter))
    if not records.well_formed or not len(records.ends):
        raise NotPlain
    header = body[records.starts[0] : records.ends[0]]
    check_utf8(file, header)
    lines = [header.decode("utf-8").rstrip("\r\n")]
    if b'"' in header and b"\n" in header.rstrip(b"\r\n"):
        lines = header.decode("utf-8").splitlines(keepends=True)
    try:
        cells = next(csv.reader(lines, delimiter=delimiter), [])
    except csv.Error:  # a bare carriage return, for example
        raise NotPlain from None
    return Dialect(delimiter, header_names(file, cells), skip + int(records.ends[0]))


def header_names(file: File, cells: Sequence[str]) -> tuple[str, ...]:
    """Column names from the header's cells, with a finding if they look like data."""
    if cells and all(is_number(cell) for cell in cells):
        finding(f"the first line of {file.name} holds only numbers; it was read as column names")
    return tuple(unique_names(cells, file.name))


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def sniff(sample: bytes) -> str:
    r"""The delimiter that splits the header into cells, and the lines into as many.

    >>> sniff(b"a;b\n1,5;2,5\n"), sniff(b"a|b,c|d\n1|2|3\n"), sniff(b"a\n1\n")
    (';', '|', ',')
    """
    best, chosen = (0.0, 1), ","
    for delimiter in DELIMITERS:
        records = find_records(sample, ord(delimiter))
        cells = records.cells[:200]
        if len(cells) and cells[0] > 1:
            score = (float((cells == cells[0]).mean()), int(cells[0]))
            if score > best:
                best, chosen = score, delimiter
    return chosen


def check_cells(file: File, piece: Piece, records: Records, n_columns: int) -> None:
    """Refuse a row with more or fewer cells than the header, by its line."""
    wrong = (records.cells != n_columns).nonzero()[0]
    if len(wrong):
        row = int(wrong[0])
        line = piece.line + piece.data.count(b"\n", 0, int(records.starts[row]))
        raise ragged(file, line, int(records.cells[row]), n_columns)


def ragged(file: File, line: int, cells: int, n_columns: int) -> ValueError:
    plural = "" if cells == 1 else "s"
    return ValueError(
        f"{file.name}: line {line} has {cells} cell{plural}, but the header has {n_columns}"
    )


def check_utf8(file: File, text: bytes) -> None:
    """Refuse bytes that are not UTF-8, by their line."""
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        raise not_utf8(file) from None


def not_utf8(file: File) -> NotUtf8:
    """The error for the first line of the file that is not UTF-8."""
    with open(file.path, "rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return NotUtf8(
                    f"{file.name}: byte 0x{line[error.start]:02x} on line {number} is not UTF-8; "
                    "most of the file is: mend the line, or save the file as UTF-8"
                )
    return NotUtf8(f"{file.name} changed while it was read; open it again")


def narrow(text: bytes, dialect: Dialect, possible: list[Possible]) -> list[Possible]:
    """Strike out the kinds that a cell of this piece contradicts."""
    kinds = [kind_of(kinds) for kinds in possible]
    settled = [kind in ("int", "float", "text") for kind in kinds]
    frame = None
    # numbers read as numbers and need no second look, unless one does not or may be a code
    if any(settled) and not may_hold_codes(text):
        schema = {
            name: NATIVE[kind] if kind in ("int", "float") else pl.String()
            for name, kind in zip(dialect.names, kinds, strict=True)
        }
        frame = read_native(text, dialect, schema, dialect.names)
    if frame is None:
        settled = [kind == "text" for kind in kinds]
        try:
            frame = read_text(text, dialect, dialect.names)
        except pl.exceptions.ComputeError:  # a bare carriage return ends a row for Polars
            raise NotPlain from None
    asked = {
        name: old
        for name, old, known in zip(dialect.names, possible, settled, strict=True)
        if not known
    }
    left = strike_out(frame.select(list(asked)), asked, decimal_comma=dialect.delimiter == ";")
    for name, old, kind in zip(dialect.names, possible, kinds, strict=True):
        if name not in left:  # a column of decimal points is no column of decimal commas
            left[name] = old - {"comma", "grouped"} if kind == "float" else old
    return [left[name] for name in dialect.names]


def may_hold_codes(text: bytes) -> bool:
    """Whether a cell begins with a zero before another digit, or with a plus: ``cells.CODES``.

    >>> [may_hold_codes(row) for row in (b"0.5,2024-01-05,10", b"1,007", b"+49,1")]
    [False, True, True]
    """
    b = np.frombuffer(b"\n\n" + text + b"\n\n", dtype=np.uint8)
    zero = np.flatnonzero(b[2:-2] == ord("0")) + 2
    zero = zero[_DIGIT[b[zero + 1]] & _GOES_ON[b[zero + 2]]]
    before = b[zero - 1]
    starts = _BORDER[before] | (_SIGN[before] & _BORDER[b[zero - 2]])
    plus = np.flatnonzero(b == ord("+"))
    return bool(starts.any() or _BORDER[b[plus - 1]].any())


def parse(
    text: bytes, dialect: Dialect, kinds: Sequence[str], columns: Sequence[str]
) -> pl.DataFrame:
    """The cells of some records in the types of the whole file."""
    kind = dict(zip(dialect.names, kinds, strict=True))
    schema = {name: NATIVE.get(kind[name], pl.String()) for name in dialect.names}
    frame = read_native(text, dialect, schema, columns)
    if frame is None:
        frame = read_text(text, dialect, columns)
    return convert(frame, {name: kind[name] for name in columns})


def convert(frame: pl.DataFrame, kinds: dict[str, str]) -> pl.DataFrame:
    """Text columns as their kinds; columns that are numbers already stay."""
    types, alike = frame.schema, dict[tuple[str, bool], list[str]]()
    for name, kind in kinds.items():
        alike.setdefault((kind, types[name] == pl.String), []).append(name)
    expressions = []
    for (kind, text), names in alike.items():  # one expression for all columns of a kind
        if text:
            expressions.append(converted(pl.col(names), kind).name.keep())
        elif kind != "int":
            expressions.append(pl.col(names).fill_nan(None))
    return frame.with_columns(expressions).select(list(kinds))


def read_native(
    text: bytes, dialect: Dialect, schema: Schema, columns: Sequence[str]
) -> pl.DataFrame | None:
    """Parse numbers at once; None where a cell is written in a way only ``cells`` knows."""
    try:
        return read_cells(text, dialect, schema, columns, list(MISSING))
    except pl.exceptions.ComputeError:
        return None


def read_text(text: bytes, dialect: Dialect, columns: Sequence[str]) -> pl.DataFrame:
    """Every cell as text."""
    return read_cells(text, dialect, dict.fromkeys(dialect.names, pl.String()), columns, None)


def read_cells(
    text: bytes,
    dialect: Dialect,
    schema: Schema,
    columns: Sequence[str],
    missing: Sequence[str] | None,
) -> pl.DataFrame:
    frame = pl.scan_csv(
        text,
        has_header=False,
        schema=schema,
        separator=dialect.delimiter,
        quote_char='"' if b'"' in text else None,
        null_values=missing,
    )
    return frame.select(columns).collect()


def open_loose(file: File, delimiter: str | None, limit: int | None) -> Any:
    """Read with the csv module, row by row, into Parquet files in a temporary folder."""
    sample = read_sample(file).removeprefix(codecs.BOM_UTF8).replace(b"\r", b"\n")
    delimiter = delimiter or sniff(sample.replace(b'"', b""))
    try:
        with open(file.path, encoding="utf-8-sig", newline="") as stream:
            rows = csv.reader(stream, delimiter=delimiter)
            names = header_names(file, next(rows))
            parts = spool_frames(loose_frames(file, rows, names, limit))
    except UnicodeDecodeError:
        raise not_utf8(file) from None
    except csv.Error as error:
        raise ValueError(f"{file.name}: line {rows.line_num} cannot be read: {error}") from None
    possible = [frozenset(KINDS)] * len(names)
    for part in parts:
        frame = part.read(0, part.n_rows, names)
        left = dict(zip(names, possible, strict=True))
        left = strike_out(frame, left, decimal_comma=delimiter == ";")
        possible = [left[name] for name in names]
    kinds = dict(zip(names, kinds_of(possible), strict=True))
    schema = {name: DTYPES[kind] for name, kind in kinds.items()}
    typed = []
    for part in parts:
        frame = convert(part.read(0, part.n_rows, names), kinds)
        frame.write_parquet(part.path, compression="lz4")
        typed.append(part._replace(schema=schema))
    return stack(typed, [file.name] * len(typed)) if typed else Stack((), (), schema, 0)


def loose_frames(
    file: File, rows: Any, names: Sequence[str], limit: int | None
) -> Iterator[pl.DataFrame]:
    """Frames of text cells from rows of the csv module."""
    whole = (row for row in rows if row and whole_row(file, rows.line_num, row, len(names)))
    checked = islice(whole, limit)
    while batch := list(islice(checked, LOOSE_ROWS)):
        yield pl.DataFrame(batch, schema=dict.fromkeys(names, pl.String()), orient="row")


def whole_row(file: File, line: int, row: Sequence[str], n_columns: int) -> bool:
    if len(row) != n_columns:
        raise ragged(file, line, len(row), n_columns)
    return True


def commas_as_text(table: Any, names: Sequence[str]) -> Any:
    """The table with decimal commas of these columns left as text, for who knows what they mean."""
    if isinstance(table, Stack):
        parts = tuple(commas_as_text(part, names) for part in table.parts)
        text = {n: pl.String() for n in names if any(p.schema[n] == pl.String for p in parts)}
        return table._replace(parts=parts, schema=table.schema | text)
    if not isinstance(table, CsvTable):
        return table
    columns = zip(table.dialect.names, table.possible, table.kinds, strict=True)
    none = frozenset[str]()
    possible = (none if kind == "comma" and n in names else old for n, old, kind in columns)
    return table._replace(possible=tuple(possible))


def unify(tables: Sequence[CsvTable]) -> list[CsvTable]:
    """Several files with one type per column: a kind must agree with every file."""
    first = tables[0]
    result = []
    merged = dict(zip(first.dialect.names, first.possible, strict=True))
    for table in tables[1:]:
        for name, possible in zip(table.dialect.names, table.possible, strict=True):
            merged[name] = merged.get(name, possible) & possible
    for table in tables:
        agreed = tuple(merged[name] for name in table.dialect.names)
        result.append(table._replace(possible=agreed))
    return result

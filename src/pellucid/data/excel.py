"""Excel and OpenDocument sheets (.xlsx, .xlsm, .xlsb, .xls, .ods), read by python-calamine.

The first sheet is read, or the one named as in ``book.xlsx#Sheet``. Its first row holds the names;
rows above it with a single cell are titles and are skipped with a finding. A cell becomes the text
that a CSV file would have, and the types are decided by the same rules (``cells``).
"""

import datetime
import os
import sys
import zipfile
import zlib
from typing import Any

import polars as pl

from pellucid.core.arrays import check
from pellucid.core.runtime.apart import Apart
from pellucid.data.cells import KINDS, kind_of, strike_out
from pellucid.data.delimited import convert
from pellucid.data.findings import finding, unique_names
from pellucid.data.spool import SMALL_BYTES
from pellucid.data.table import MOST_CELLS, MOST_TIMES, File, FrameTable, first_line

CHUNK = 1 << 20  # bytes that are unpacked at a time
CHILD_MEMORY = 4 << 30  # bytes that the trial may take
_tried = Apart(f"""
from python_calamine import CalamineWorkbook
try:
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, ({CHILD_MEMORY}, {CHILD_MEMORY}))
except (ImportError, ValueError):
    pass
def answer_to(question):
    path, name = question
    sheet = CalamineWorkbook.from_path(path).get_sheet_by_name(name)
    return sheet.total_height * sheet.total_width
""")
# What zipfile says of damage, versions to come, passwords, impossible places and names.
ODD_ARCHIVE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)
ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def split_sheet(path: str) -> tuple[str, str | None]:
    """The path of a workbook and the name of its sheet.

    >>> split_sheet("sales.xlsx#May"), split_sheet("a#b.csv")
    (('sales.xlsx', 'May'), ('a#b.csv', None))
    """
    book, mark, sheet = path.rpartition("#")
    if mark and not os.path.exists(path) and book.lower().endswith(ENDINGS):
        return book, sheet
    return path, None


def is_workbook(path: str) -> bool:
    """Whether a file is a zip archive with the parts of a workbook."""
    try:
        with zipfile.ZipFile(path) as archive:
            return bool(
                {"xl/workbook.xml", "xl/workbook.bin", "content.xml"} & {*archive.namelist()}
            )
    except ODD_ARCHIVE:
        return False


def open_excel(file: File, sheet: str | None = None, limit: int | None = None) -> FrameTable:
    """The table of one sheet."""
    rows = [row for row in read_sheet(file, sheet) if any(cell is not None for cell in row)]
    if not rows:
        raise ValueError(f"{file.name} is empty: a row with column names is needed")
    filled = [sum(cell is not None for cell in row) for row in rows]
    top = next((i for i, n in enumerate(filled) if n > 1), 0)
    if top:
        finding(f"{file.name}: {top} title row{'s' * (top > 1)} above the names skipped")
    names, body = rows[top], rows[top + 1 :][:limit]
    used = [
        j
        for j, name in enumerate(names)
        if name is not None or any(row[j] is not None for row in body)
    ]
    unique = unique_names([names[j] or "" for j in used], file.name)
    columns = [
        pl.Series(name, [row[j] for row in body], pl.String)
        for j, name in zip(used, unique, strict=True)
    ]
    frame = pl.DataFrame(columns)
    left = strike_out(frame, dict.fromkeys(unique, frozenset(KINDS)), decimal_comma=False)
    return FrameTable(convert(frame, {name: kind_of(kinds) for name, kinds in left.items()}))


def read_sheet(file: File, sheet: str | None) -> list[list[str | None]]:
    """The cells of a sheet as text; None where a cell is empty."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError
    except ImportError:
        raise ImportError(
            'python-calamine is needed for Excel files: pip install "pellucid[excel]"'
        ) from None
    check_packing(file)
    try:
        book = CalamineWorkbook.from_path(file.path)
    except PasswordError:
        raise ValueError(f"{file.name} is protected by a password; save it without one") from None
    except (CalamineError, OSError) as error:
        raise ValueError(f"{file.name} is not a whole Excel file: {first_line(error)}") from None
    names = list(book.sheet_names)
    if not names:
        raise ValueError(f"{file.name} is not a whole Excel file: it has no sheet")
    if sheet is not None and sheet not in names:
        near = check.hint(sheet, names) or f"; the sheets are {', '.join(map(repr, names))}"
        raise ValueError(f"{file.name} has no sheet {sheet!r}{near}")
    check_sheet(file, names[0] if sheet is None else sheet)
    try:
        cells = book.get_sheet_by_name(names[0] if sheet is None else sheet).to_python()
    except CalamineError as error:
        raise ValueError(f"{file.name} is not a whole Excel file: {first_line(error)}") from None
    return [[cell_text(cell) for cell in row] for row in cells]


def check_packing(file: File) -> None:
    """Refuse a workbook whose parts unpack to many times their size, whatever they say of it."""
    most = max(SMALL_BYTES, MOST_TIMES * os.path.getsize(file.path))
    try:
        with zipfile.ZipFile(file.path) as archive:
            total = sum(part.file_size for part in archive.infolist())
            if total <= most:
                total = unpacked_bytes(archive, most)
    except ODD_ARCHIVE as error:
        with open(file.path, "rb") as stream:
            packed = stream.read(2) == b"PK"
        if packed:  # another reader could make more of it than was looked at here
            raise ValueError(
                f"{file.name} is not a whole Excel file: {first_line(error)}"
            ) from None
        return  # the binary format of Excel 97
    if total > most:
        raise ValueError(
            f"{file.name} unpacks to more than {MOST_TIMES} times its size, which no table does"
        )


def unpacked_bytes(archive: zipfile.ZipFile, most: int) -> int:
    """The bytes that all parts make, counted up to the first beyond ``most``."""
    total = 0
    for part in archive.infolist():
        part.file_size = sys.maxsize  # what is written there is a claim, and reading ends at it
        with archive.open(part) as stream:
            while total <= most and (chunk := stream.read(CHUNK)):
                total += len(chunk)
    return total


def check_sheet(file: File, sheet: str) -> None:
    """Refuse a sheet over which the reader aborts or that grows without bound, in another process.

    One cell in the last row and the last column is a table of 17 billion cells.
    """
    found = _tried.ask([os.path.abspath(file.path), sheet], seconds=60)
    if found is None:
        raise ValueError(f"{file.name} is not a whole Excel file: its sizes are impossible")
    if "error" in found:
        raise ValueError(f"{file.name} is not a whole Excel file: {first_line(found['error'])}")
    if found["value"] > max(MOST_CELLS, MOST_TIMES * os.path.getsize(file.path)):
        raise ValueError(
            f"{file.name}: the sheet {sheet!r} has {found['value']:,} cells, nearly all of them "
            "empty; delete what stands far outside of the table"
        )


def cell_text(cell: Any) -> str | None:
    """A cell as CSV would write it.

    >>> [cell_text(v) for v in (3.0, 0.5, True, "", "007", datetime.date(2024, 1, 5))]
    ['3', '0.5', 'true', None, '007', '2024-01-05']
    """
    if cell is None or cell == "":
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.datetime):
        midnight = cell.time() == datetime.time()
        return cell.date().isoformat() if midnight else cell.isoformat(sep=" ")
    return str(cell)

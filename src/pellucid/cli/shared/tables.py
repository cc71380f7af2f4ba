"""How every command reads its DATA, and names columns that are not there."""

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pellucid.cli.shared.options import Code, Stop, sentence
from pellucid.cli.shared.start import start_sklearn
from pellucid.study.errors import nearest

if TYPE_CHECKING:
    import polars as pl

# what a model runs into whose parts do not fit together
FAILURES = (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError)


def read_table(data: str, sql: str | None = None) -> Any:
    """The table a user named: a path, pattern, folder or address, ``-`` for CSV on stdin, a URL.

    What cannot be read ends the command with exit code 3 and one sentence.
    """
    start_sklearn()
    from pellucid.data import load

    check_query(data, sql)
    try:
        if data == "-":
            return load(io.BytesIO(sys.stdin.buffer.read()), format="csv")
        return load(data, sql=sql)
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise Stop(Code.DATA, str(error)) from error


def read_studied(data: str, sql: str | None, sample: int | None, seed: int) -> Any:
    """The rows of ``read_table`` that a study looks at: all, or a sample of a large table."""
    start_sklearn()
    from pellucid.study.reading.sampling import read_rows

    if data == "-":
        return read_rows(read_table(data, sql), sample=sample, seed=seed)
    check_query(data, sql)
    try:
        return read_rows(data, sql=sql, sample=sample, seed=seed)
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise Stop(Code.DATA, str(error)) from error


def check_query(data: str, sql: str | None) -> None:
    """A database and a query go together (exit code 2); other addresses are the reader's."""
    if "://" not in data:
        return
    from pellucid.data.doors.addresses import is_address

    scheme, address, _ = data.partition("://")
    if address and scheme == "file":
        raise Stop(Code.USAGE, "give the path, without file://")
    web = scheme in ("http", "https", "ftp")
    if address and sql is None and not web and not is_address(data):
        raise Stop(Code.USAGE, f"the database {scheme}:// needs a query: --sql 'SELECT ...'")


def open_rows(data: str, sql: str | None = None) -> Any:
    """The same as ``read_table``, opened to be read by ranges of rows: it may exceed memory."""
    from pellucid.data.opening import open_table

    check_query(data, sql)
    try:
        if data == "-":
            return open_table(sys.stdin.buffer, format="csv", in_memory=False)
        return open_table(data, sql=sql, in_memory=False)
    except (ValueError, TypeError, OSError, ImportError) as error:
        raise Stop(Code.DATA, str(error)) from error


def load_model(path: Path) -> Any:
    """The model of a file; one that is refused ends the command with exit code 5."""
    start_sklearn()
    from pellucid.persist import ModelFileError, load

    try:
        return load(path)
    except FileNotFoundError as error:
        raise Stop(Code.MODEL_FILE, f"there is no model file {str(path)!r}") from error
    except (ModelFileError, OSError, ValueError) as error:
        text = sentence(error)
        raise Stop(Code.MODEL_FILE, text if path.name in text else f"{path}: {text}") from error


def _polars_error() -> type[Exception]:
    """Polars is imported where something went wrong, and by then it is there."""
    from polars.exceptions import PolarsError

    return PolarsError


@contextmanager
def answering(path: Path) -> Iterator[None]:
    """End the command with exit code 5 where the model of a file fails over its own contents.

    A file may have been forged, or written by another version; a ValueError or TypeError has a
    sentence of its own about the rows.
    """
    try:
        yield
    except (click.exceptions.Exit, click.Abort):  # to Python they are RuntimeErrors
        raise
    except (*FAILURES, _polars_error()) as error:
        what = f"{type(error).__name__}: {sentence(error)}"
        text = f"the model of {path} cannot answer, {what} (--debug shows the traceback)"
        raise Stop(Code.MODEL_FILE, text) from error


def need_columns(needed: Sequence[str], present: Sequence[str], who: str = "the model") -> None:
    """Every column that is missing is named, each with the nearest one there is (exit code 3)."""
    from pellucid.core.arrays.check import hint

    gone = [name for name in needed if name not in present]
    if gone:
        near = {name: hint(name, present).removeprefix("; did you mean ") for name in gone[:12]}
        named = ", ".join(f"{n!r} (is it {near[n]})" if near[n] else repr(n) for n in near)
        more = f" and {len(gone) - 12} more" if len(gone) > 12 else ""
        plural = "columns" if len(gone) > 1 else "column"
        raise Stop(Code.DATA, f"the table lacks the {plural} {named}{more} that {who} needs")


def check_columns(frame: "pl.DataFrame", names: Sequence[str]) -> None:
    """Every name is a column, or the nearest ones are said (exit code 3)."""
    for name in names:
        if name not in frame.columns:
            text = nearest("column", name, frame.columns)
            raise Stop(Code.DATA, text if len(text) < 400 else f"{text[:397]}...")


def check_roles(
    frame: "pl.DataFrame", names: Sequence[str], groups: str | None, *others: str | None
) -> None:
    """``check_columns``, with columns that may be missing; ``--groups none`` names none."""
    if groups == "none" and groups not in frame.columns:
        groups = None
    check_columns(frame, [*names, *(name for name in (groups, *others) if name)])


def read_costs(path: Path, classes: Sequence[Any]) -> list[list[float]]:
    """A cost matrix from CSV: rows are the truth, columns the decision.

    With a first column of labels and a header of labels the order is free; bare numbers are in
    the order of the sorted classes.
    """
    import csv

    labels = [str(c) for c in classes]
    k = len(labels)
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            cells = [row for row in csv.reader(file) if row]
        if len(cells) == k and all(len(row) == k for row in cells):
            return [[float(cell) for cell in row] for row in cells]
        header, rows = cells[0][1:], {row[0]: row[1:] for row in cells[1:]}
        order = [header.index(label) for label in labels]
        return [[float(rows[label][j]) for j in order] for label in labels]
    except (ValueError, KeyError, IndexError, csv.Error) as error:
        raise Stop(
            Code.DATA,
            f"{path} is not a {k} x {k} table of costs for the classes {', '.join(labels)}: "
            "give numbers, or a header and a first column of labels",
        ) from error

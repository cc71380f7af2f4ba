"""From the bytes of a request to a table, and from a table of answers to bytes.

JSON is read here. Arrow is decoded by another process, which writes it anew: damage over which
Polars would end its process ends that one, and what is read here was written by Polars itself.
"""

import base64
import io
import json
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import polars as pl

from pellucid.core.records import plain
from pellucid.core.runtime.apart import Apart
from pellucid.core.runtime.json_text import read_json
from pellucid.serve.records import Limits, RefusalError, Schema
from pellucid.study.saved.prediction import Asked

JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
OPTIONS = Asked._fields
KEYS = ("rows", "columns", *OPTIONS)
WHERE = "the request"
CHILD_MEMORY = 4 << 30  # bytes that decoding may take

_decoder = Apart(f"""
import base64, io
import polars as pl
try:
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, ({CHILD_MEMORY}, {CHILD_MEMORY}))
except (ImportError, ValueError):
    pass
def answer_to(question):
    frame = pl.read_ipc_stream(io.BytesIO(base64.b64decode(question["body"])))
    if frame.height > question["rows"]:
        return {{"height": frame.height}}
    out = io.BytesIO()
    frame.write_ipc_stream(out, compression="uncompressed")
    return {{"body": base64.b64encode(out.getvalue()).decode()}}
""")


class Request(NamedTuple):
    """The rows of a request and what is asked about them."""

    frame: pl.DataFrame
    asked: Asked


def read_request(
    kind: str, body: bytes, options: Mapping[str, str], schema: Schema, limits: Limits
) -> Request:
    """The table that the model takes; RefusalError where the request holds none."""
    if kind == ARROW:
        frame = arrow_frame(body, limits)
        names = list(frame.columns)
        return Request(checked(frame, names, schema, limits), asked_by(read_options(options)))
    document = read_json(body, WHERE)
    if not isinstance(document, dict) or "rows" not in document:
        refuse('the request must be a JSON object such as {"rows": [...]}')
    unknown = sorted(map(str, document.keys() - set(KEYS)))
    if unknown:
        refuse(f"the request has the unknown key {unknown[0][:60]!r}; there are: {', '.join(KEYS)}")
    cells = json_cells(document, schema, limits)
    frame = pl.DataFrame([column(name, values, schema) for name, values in cells.items()])
    asked = {name: document[name] for name in OPTIONS if document.get(name) is not None}
    return Request(checked(frame, list(frame.columns), schema, limits), asked_by(asked))


def refuse(sentence: str, status: int = 422) -> NoReturn:
    raise RefusalError(status, sentence)


# --- JSON ---


def json_cells(document: dict[str, Any], schema: Schema, limits: Limits) -> dict[str, list[Any]]:
    """The cells by column: rows are objects, or lists with their names beside them."""
    rows, names = document["rows"], document.get("columns")
    if not isinstance(rows, list) or not rows:
        refuse("rows must be a list of at least one row")
    count_rows(len(rows), limits)
    if all(isinstance(row, dict) for row in rows) and schema.named:
        if names is not None:
            refuse("columns goes with rows that are lists; these are objects")
        return object_cells(rows, schema)
    if not all(isinstance(row, list) for row in rows):
        kind = "all objects or all lists" if schema.named else "lists of numbers"
        refuse(f"the rows must be {kind}")
    if schema.named:
        names = column_names(names)
    elif names is not None:
        refuse("the model was fitted without names of columns; leave columns out")
    else:
        names = [column.name for column in schema.columns]
    width = next((len(row) for row in rows if len(row) != len(names)), None)
    if width is not None:
        refuse(f"a row holds {width} cells, {len(names)} are needed")
    return {name: [row[j] for row in rows] for j, name in enumerate(names)}


def object_cells(rows: list[dict[str, Any]], schema: Schema) -> dict[str, list[Any]]:
    """Columns that the model does not know are not read; one that it needs is in every row."""
    found: dict[str, list[Any]] = {}
    for name in [column.name for column in schema.columns]:
        try:
            found[name] = [row[name] for row in rows]
        except KeyError:
            place = next(i for i, row in enumerate(rows) if name not in row)
            refuse(f"row {place} lacks the column {name!r}; a missing cell is null")
    for name in schema.optional:
        if any(name in row for row in rows):
            found[name] = [row.get(name) for row in rows]
    return found


def column_names(names: object) -> list[str]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        refuse("rows that are lists need columns, the list of their names")
    if len(set(names)) < len(names):
        refuse("columns names a column twice")
    return names


def column(name: str, cells: list[Any], schema: Schema) -> pl.Series:
    """One column; whole numbers that the model takes as numbers are made float64 at once."""
    for cell in cells:
        if isinstance(cell, dict) or (isinstance(cell, list) and not all(map(is_text, cell))):
            refuse(f"column {name!r} holds nested values; a cell is a number, a text or null")
        if type(cell) is int and not -(2**63) <= cell < 2**63:
            refuse(f"column {name!r} holds a whole number of more than 64 bits")
    try:
        found = pl.Series(name, cells, strict=True)
    except (TypeError, pl.exceptions.PolarsError):  # numbers and words mixed are words
        found = pl.Series(name, cells, strict=False)
    if found.dtype == pl.Null:
        return found.cast(pl.Float64)
    return found.cast(pl.Float64) if found.dtype == pl.Int64 and not schema.named else found


def is_text(cell: object) -> bool:
    return isinstance(cell, str)


# --- Arrow ---


def arrow_frame(body: bytes, limits: Limits) -> pl.DataFrame:
    """The rows of an Arrow stream, decoded in a process of its own."""
    question = {"body": base64.b64encode(body).decode(), "rows": limits.rows}
    found = _decoder.ask(question, seconds=limits.seconds)
    if found is None or "value" not in found:
        refuse("the request is not an Arrow stream that can be read")
    value = found["value"]
    if "height" in value:
        count_rows(value["height"], limits)
    return pl.read_ipc_stream(io.BytesIO(base64.b64decode(value["body"])))


def read_options(options: Mapping[str, str]) -> dict[str, Any]:
    """What is asked, from the address: ``?proba=true&interval=0.9``."""
    found: dict[str, Any] = {}
    for name, text in options.items():
        if name not in OPTIONS:
            refuse(f"the address has the unknown option {name[:60]!r}; there are: {OPTIONS}")
        try:
            found[name] = json.loads(text)
        except (ValueError, RecursionError):
            refuse(f"{name} must be true, false or a number, got {text[:60]!r}")
    return found


# --- both ---


def count_rows(n: int, limits: Limits) -> None:
    if n > limits.rows:
        refuse(f"the request has {n} rows; at most {limits.rows} are taken", 413)


def asked_by(options: Mapping[str, Any]) -> Asked:
    """The question, with every option of its kind."""
    proba = options.get("proba", False)
    if not isinstance(proba, bool):
        refuse(f"proba must be true or false, got {str(proba)[:60]!r}")
    numbers = {}
    for name in OPTIONS[1:]:
        value = options.get(name)
        if value is not None:
            if isinstance(value, bool) or not isinstance(value, int | float):
                refuse(f"{name} must be a number, got {str(value)[:60]!r}")
            if not 0 <= value <= 1:
                refuse(f"{name} must be from 0 to 1, got {str(value)[:60]}")
            numbers[name] = float(value)
    return Asked(proba, **numbers)


def checked(frame: pl.DataFrame, names: list[str], schema: Schema, limits: Limits) -> pl.DataFrame:
    """The columns that the model takes, in its order."""
    if frame.height == 0:
        refuse("the request has no rows")
    count_rows(frame.height, limits)
    needed = [one.name for one in schema.columns]
    if not schema.named:
        if len(names) != len(needed):
            refuse(f"the request has {len(names)} columns, the model takes {len(needed)}")
        return frame
    gone = [name for name in needed if name not in names]
    if gone:
        refuse(f"the request lacks the column {gone[0]!r} that the model needs")
    wanted = needed + [name for name in schema.optional if name in names and name not in needed]
    return frame if names == wanted else frame.select(wanted)


def write_answers(kind: str, frame: pl.DataFrame) -> bytes:
    """The answers as JSON (one object for every row) or as an Arrow stream."""
    if kind == ARROW:
        out = io.BytesIO()
        frame.write_ipc_stream(out, compression="uncompressed")
        return out.getvalue()
    return json_text({"predictions": frame.rows(named=True)})


def json_text(record: object) -> bytes:
    """JSON of UTF-8; a float64 is written so that it is read again with the same bits."""
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    except (ValueError, TypeError):  # infinities, NaN, NumPy: null or plain
        text = json.dumps(plain(record), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace")

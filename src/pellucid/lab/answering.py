"""What the lab's server answers: plain functions from what was sent to plain data.

What was sent is not trusted: types, sizes and ranges are looked at before a page sees them, and
whatever is wrong is one sentence (``ValueError``).
"""

import io
import json
import math
import warnings
from typing import Any

import numpy as np

from pellucid.lab.gallery import card_of
from pellucid.lab.page import LabData, Page, rows_of
from pellucid.lab.pages import page_of
from pellucid.lab.scene import coarsely
from pellucid.lab.trace import Trace

MOST_ROWS = 1000  # of a loaded table
MOST_COLUMNS = 100
MOST_LEVELS = 50
LONGEST = 60  # characters of a name or a level
LARGEST = 1e12  # of a number that was drawn or loaded by hand
FIELDS = ("page", "params", "preset", "seed", "data", "frame")
DAY = 86_400_000_000.0  # microseconds


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object in a body.

    >>> parsed(b'{"page": "descent", "seed": NaN}')
    Traceback (most recent call last):
    ValueError: the request must hold finite numbers, got NaN
    """

    def refuse(word: str) -> float:
        raise ValueError(f"the request must hold finite numbers, got {word}")

    try:
        value = json.loads(body.decode(), parse_constant=refuse)
    except RecursionError:
        raise ValueError("the request is nested too deeply") from None
    except UnicodeDecodeError:
        raise ValueError("the request must be UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"the request is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError("the request must be a JSON object")
    unknown = sorted(set(value) - set(FIELDS))
    if unknown:
        raise ValueError(f"the request has no field {unknown[0][:LONGEST]!r}")
    return value


def whole_number(value: Any, name: str, most: int) -> int:
    """A whole number from 0 to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"{name} must be a whole number from 0 to {most}")
    return value


def settings_of(value: Any) -> dict[str, Any]:
    """Settings by name: numbers, words or switches."""
    if not isinstance(value, dict):
        raise ValueError("params must be an object of settings")
    for name, setting in value.items():
        if not isinstance(setting, str | int | float | bool) or len(name) > LONGEST:
            raise ValueError(f"the setting {name[:LONGEST]!r} must be a number, a word or a switch")
        if isinstance(setting, int | float) and not abs(setting) <= LARGEST:
            raise ValueError(f"the setting {name!r} must be at most {LARGEST:g}")
    return value


def table_of(value: Any) -> dict[str, Any]:
    """Rows that were drawn: lists of numbers and nothing else."""
    if not isinstance(value, dict) or set(value) - {"X", "y", "names", "held_out"}:
        raise ValueError("data must be an object with X, y, names and held_out")
    X, y, names = value.get("X", []), value.get("y"), value.get("names")
    held_out = value.get("held_out")
    if not isinstance(X, list) or not all(isinstance(row, list) for row in X):
        raise ValueError("X must be a list of rows")
    if len({len(row) for row in X}) > 1:
        raise ValueError("the rows of X must have the same length")
    for cell in (v for row in X for v in row):
        checked_cell(cell, "X")
    given: dict[str, Any] = {"X": X}
    if y is not None:
        if not isinstance(y, list):
            raise ValueError("y must be a list of numbers")
        for cell in y:
            checked_cell(cell, "y")
        given["y"] = y
    if names is not None:
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("names must be a list of words")
        given["names"] = names[:2]
    if held_out is not None:
        bools = isinstance(held_out, list) and all(isinstance(v, bool) for v in held_out)
        if not bools or len(held_out) != len(X):
            raise ValueError(f"held_out must have one true or false per row ({len(X)})")
        given["held_out"] = held_out
    return given


def checked_cell(cell: Any, where: str) -> None:
    if isinstance(cell, bool) or not isinstance(cell, int | float) or not abs(cell) <= LARGEST:
        raise ValueError(f"{where} must hold numbers between {-LARGEST:g} and {LARGEST:g}")


def only_frame(trace: Trace, frame: int) -> Trace:
    """The same run with one of its frames: what is redrawn while a finger moves."""
    chosen = trace.frames[min(frame, len(trace.frames) - 1)]
    return trace._replace(frames=(chosen,), card={}, code="")


def asked_page(asked: dict[str, Any]) -> Page:
    name = asked.get("page")
    if not isinstance(name, str):
        raise ValueError("page must be the name of a page")
    page: Page = page_of(name[:LONGEST])
    return page


def answer_card(body: bytes) -> str:
    """The small moving picture of a page, as JSON text."""
    return json.dumps(card_of(asked_page(parsed(body))), allow_nan=False, separators=(",", ":"))


def answer_run(body: bytes) -> str:
    """The trace that a request asks for, as JSON text."""
    asked = parsed(body)
    page = asked_page(asked)
    seed = whole_number(asked.get("seed", 0), "seed", 2**32 - 1)
    place = asked.get("preset")
    place = None if place is None else whole_number(place, "preset", len(page.presets) - 1)
    preset = page.presets[place or 0]
    given = settings_of(asked.get("params", {}))
    params = page.settings({**(preset.params if place is not None else {}), **given})
    data: LabData | None = None
    if asked.get("data") is not None:
        data = rows_of(page, table_of(asked["data"]), seed)
    elif preset.data is not None:
        data = preset.data(np.random.default_rng(seed))
    frame = asked.get("frame")
    with warnings.catch_warnings(action="ignore"):  # what goes wrong is what many presets show
        if frame is None:
            return page.run(data, params, seed).to_json()
        if frame != -1:
            frame = whole_number(frame, "frame", 10_000)
        with coarsely():
            return only_frame(page.run(data, params, seed), frame).to_json()


def answer_table(body: bytes) -> dict[str, Any]:
    """The columns of a CSV file."""
    from pellucid.data import load

    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("the file must be CSV in UTF-8; save it again as such") from None
    if "\0" in text:
        raise ValueError("the file is not a CSV file: it holds a zero byte")
    if not text.strip():
        raise ValueError("the file is empty")
    with warnings.catch_warnings(record=True, action="always") as caught:
        frame = load(io.StringIO(text), format="csv")
    return columns_of(frame, [str(w.message) for w in caught])


def columns_of(frame: Any, notes: list[str]) -> dict[str, Any]:
    """Numbers as they are, text as codes with its levels; at most 1,000 rows, chosen once."""
    total = frame.height
    if total > MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(total, MOST_ROWS, replace=False))
        frame = frame[rows.tolist()]
        notes.append(f"{MOST_ROWS} of {total} rows were taken at random")
    if frame.width > MOST_COLUMNS:
        notes.append(f"{MOST_COLUMNS} of {frame.width} columns were taken, the first ones")
    columns = []
    for name in frame.columns[:MOST_COLUMNS]:
        found = column_of(frame[name])
        if found is None:
            notes.append(f"{name[:LONGEST]} was left out: more than {MOST_LEVELS} different texts")
        else:
            columns.append({"name": name[:LONGEST], **found})
    if not columns or total == 0:
        raise ValueError("the table has no column of numbers or of a few words")
    return {"columns": columns, "rows": frame.height, "total": total, "note": "; ".join(notes)}


def column_of(column: Any) -> dict[str, Any] | None:
    """One column as numbers, dates as days, or codes; None if it has too many levels."""
    import polars as pl

    if column.dtype.is_temporal() and column.dtype in (pl.Date, pl.Datetime):
        column = column.cast(pl.Datetime("us")).cast(pl.Int64) / DAY
    if column.dtype.is_numeric():
        cells = column.cast(pl.Float64).to_list()
        values = [None if bad(v) else v for v in cells]
        return {"kind": "number", "values": values, "levels": None}
    cells = [None if v is None else str(v)[:LONGEST] for v in column.to_list()]
    levels = sorted({v for v in cells if v is not None})
    if len(levels) > MOST_LEVELS:
        return None
    code = {level: k for k, level in enumerate(levels)}
    values = [None if v is None else code[v] for v in cells]
    return {"kind": "text", "values": values, "levels": levels}


def bad(value: float | None) -> bool:
    return value is None or not math.isfinite(value)

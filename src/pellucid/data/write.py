"""Tables out: CSV that a spreadsheet will not take for formulas, whole or not at all."""

import os
import re
from typing import IO, Any

import polars as pl

from pellucid.core.runtime.atomic import replacing
from pellucid.core.visible import ACTS, visible
from pellucid.data.opening import to_frame

SIGNS = "=+\\-@\uff1d\uff0b\uff0d\uff20\u2212"  # also full-width signs and the minus of typesetters
FORMULA = rf"^(?:\s*[{SIGNS}]|[\t\r\n])"  # a spreadsheet skips blanks before a sign


def write_csv(frame: object, path: str | os.PathLike[str] | IO[str] | IO[bytes]) -> None:
    """Write a ``frame`` as CSV; text that begins with ``= + - @`` gets a leading apostrophe.

    A spreadsheet would run such a cell as a formula, also after blanks or a tab. Numbers stay as
    they are, negative ones too. Characters that act instead of showing, such as terminal escapes
    and marks that turn the direction of writing, are written out. The file is replaced in one step,
    so a reader sees the old one or the new one. ``path`` may also be an open file.

    Examples
    --------
    >>> import io
    >>> from pellucid.data import write_csv
    >>> out = io.StringIO()
    >>> write_csv({"name": ["=1+1", "Ada"], "score": [-2, 3]}, out)
    >>> print(out.getvalue(), end="")
    name,score
    '=1+1,-2
    Ada,3
    """
    table = safe_cells(to_frame(frame))
    text = table.write_csv(null_value="NA" if table.width == 1 else "")
    if hasattr(path, "write"):
        write_stream(path, text)
        return
    with replacing(os.fspath(path)) as file:
        file.write(text.encode("utf-8"))


def safe_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with an apostrophe before text that a spreadsheet would run."""
    columns = []
    for name, dtype in frame.schema.items():
        if dtype.is_nested() or dtype == pl.Object:
            raise ValueError(f"column {name!r} is {dtype}; a CSV cell holds one value")
        column = pl.col(name)
        if dtype in (pl.String, pl.Categorical, pl.Enum):
            text = column.cast(pl.String)
            number = text.cast(pl.Float64, strict=False).is_not_null()
            risky = text.str.contains(FORMULA) & ~number
            text = pl.when(risky).then("'" + text).otherwise(text)
            columns.append(text.map_batches(shown, return_dtype=pl.String).alias(name))
        else:
            columns.append(column)
    names = {name: safe_name(name) for name in frame.columns}
    return frame.select(columns).rename(names)


def safe_name(name: str) -> str:
    """A heading by the same rules.

    >>> safe_name("=sum(A1)"), safe_name("age")
    ("'=sum(A1)", 'age')
    """
    return visible("'" + name if re.match(FORMULA, name) else name)


def shown(cells: pl.Series) -> pl.Series:
    """Cells with the characters that act written out; nearly always there are none."""
    acting = cells.str.contains(f"[{ACTS}]").fill_null(False)
    if not acting.any():
        return cells
    texts = [None if cell is None else visible(cell) for cell in cells.to_list()]
    return pl.Series(cells.name, texts, dtype=pl.String)


def write_stream(stream: Any, text: str) -> None:
    """Write to an open file, text or bytes."""
    if isinstance(getattr(stream, "mode", ""), str) and "b" in getattr(stream, "mode", ""):
        stream.write(text.encode("utf-8"))
        return
    try:
        stream.write(text)
    except TypeError:
        stream.write(text.encode("utf-8"))

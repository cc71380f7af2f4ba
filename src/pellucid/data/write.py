"""Tables out: CSV that a spreadsheet will not take for formulas, whole or not at all."""

import os
from typing import IO, Any

import polars as pl

from pellucid.core.runtime.atomic import replacing
from pellucid.data.opening import to_frame

FORMULA = r"^[=+\-@]"


def write_csv(frame: object, path: str | os.PathLike[str] | IO[str] | IO[bytes]) -> None:
    """Write a ``frame`` as CSV; text that begins with ``= + - @`` gets a leading apostrophe.

    A spreadsheet would run such a cell as a formula. Numbers stay as they are, negative ones
    too. The file is replaced in one step, so a reader sees the old one or the new one. ``path``
    may also be an open file.

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
            columns.append(pl.when(risky).then("'" + text).otherwise(text).alias(name))
        else:
            columns.append(column)
    names = {name: "'" + name if name[:1] in "=+-@" and name else name for name in frame.columns}
    return frame.select(columns).rename(names)


def write_stream(stream: Any, text: str) -> None:
    """Write to an open file, text or bytes."""
    if isinstance(getattr(stream, "mode", ""), str) and "b" in getattr(stream, "mode", ""):
        stream.write(text.encode("utf-8"))
        return
    try:
        stream.write(text)
    except TypeError:
        stream.write(text.encode("utf-8"))

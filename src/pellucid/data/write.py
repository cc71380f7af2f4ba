"""Tables out: CSV that a spreadsheet will not take for formulas, whole or not at all."""

import os
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from pellucid.data.opening import to_frame

FORMULA = r"^[=+\-@]"


def write_csv(frame: Any, path: Any) -> None:
    """Write a frame as CSV; text that begins with ``= + - @`` gets a leading apostrophe.

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
    replace_file(os.fspath(path), text.encode("utf-8"))


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


def replace_file(path: str, data: bytes) -> None:
    """Write beside the file, then put it in place at once."""
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {str(folder)!r} to write {path!r} in")
    if os.path.isdir(path):
        raise ValueError(f"{path} is a folder; the name of a file is needed")
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".pellucid-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, file_mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def file_mode(path: str) -> int:
    """The mode of the file to be replaced, or what a new file would get."""
    if os.path.exists(path):
        return os.stat(path).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

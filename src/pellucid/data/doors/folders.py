"""Folders of files: every table below one, with the columns that its folders' names say (Hive).

    sales/year=2024/shop=3/part-0.parquet      has the columns year (2024) and shop (3) as well

The type of such a column is decided over all folders: whole numbers, else dates, else text.
"""

import os
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import unquote

import polars as pl

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
PACKED = (".gz", ".zst", ".zstd")


class WithValues(NamedTuple):
    """A table with further columns that have one value each."""

    table: Any
    values: dict[str, Any]
    types: dict[str, Any]

    @property
    def schema(self) -> dict[str, Any]:
        return {**self.table.schema, **self.types}

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    def read(self, start: int, stop: int, columns: Sequence[str]) -> pl.DataFrame:
        own = [name for name in columns if name not in self.values]
        if own:
            frame = self.table.read(start, stop, own)
        else:
            frame = pl.DataFrame({"": pl.zeros(stop - start, pl.Int8, eager=True)})
        added = [
            pl.lit(self.values[name], dtype=self.types[name]).alias(name)
            for name in columns
            if name in self.values
        ]
        return frame.with_columns(added).select(columns)

    def cut(self, start: int, stop: int) -> "WithValues":
        return self._replace(table=self.table.cut(start, stop))


def files_below(folder: str, endings: Sequence[str]) -> list[str]:
    """The files of known endings below a folder, by name; hidden and marked ones are left out."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in files:
            if not name.startswith((".", "_")) and known_ending(name, endings):
                found.append(os.path.join(place, name))
    if not found:
        raise FileNotFoundError(f"{folder} is a folder without tables: {', '.join(endings)}")
    return sorted(found)


def known_ending(name: str, endings: Sequence[str]) -> bool:
    """Whether a file's name ends like a table's, packed or not."""
    name = name.lower()
    for ending in PACKED:
        name = name.removesuffix(ending)
    return name.endswith(tuple(endings))


def hive_values(paths: Sequence[str], below: str) -> list[dict[str, str | None]]:
    """What the folders' names between ``below`` and each file say.

    >>> hive_values(["s/year=24/a.csv", "s/year=25/a.csv"], "s")
    [{'year': '24'}, {'year': '25'}]
    """
    found = []
    for path in paths:
        folders = os.path.dirname(os.path.relpath(path, below)).split(os.sep)
        pairs = [name.partition("=") for name in folders if "=" in name]
        found.append({key: None if v == NO_VALUE else unquote(v) for key, _, v in pairs if key})
    keys = {tuple(values) for values in found}
    if len(keys) > 1:
        shown = " and ".join(sorted(repr("/".join(names)) for names in keys)[:2])
        raise ValueError(f"the folders below {below} do not name the same columns: {shown}")
    return found


def with_hive(tables: Sequence[Any], found: Sequence[dict[str, str | None]]) -> list[Any]:
    """The tables with the columns of their folders; a column of the file itself comes first."""
    keys = [key for key in (found[0] if found else {}) if key not in tables[0].schema]
    columns = {key: typed([values[key] for values in found]) for key in keys}
    types: dict[str, Any] = {key: column.dtype for key, column in columns.items()}
    if not keys:
        return list(tables)
    cells = {key: column.to_list() for key, column in columns.items()}
    return [
        WithValues(table, {key: cells[key][i] for key in keys}, types)
        for i, table in enumerate(tables)
    ]


def typed(texts: Sequence[str | None]) -> pl.Series:
    """Whole numbers, else dates, else text; a number with a leading zero is a code.

    >>> typed(["1", None, "3"]).dtype, typed(["01", "2"]).dtype, typed(["2024-01-02"]).dtype
    (Int64, String, Date)
    """
    column = pl.Series(texts, dtype=pl.String)
    codes = column.str.contains(r"^[+-]?0\d").fill_null(False).any()
    for dtype in (pl.Int64,) if not codes else ():
        cast = column.cast(dtype, strict=False)
        if cast.null_count() == column.null_count():
            return cast
    dates = column.str.to_date("%Y-%m-%d", strict=False)
    return dates if dates.null_count() == column.null_count() < len(column) else column

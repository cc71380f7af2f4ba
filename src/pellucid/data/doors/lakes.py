"""Delta and Iceberg tables, through their own Python readers.

Their folders hold files of older versions as well, so the files alone are never read: without
the reader the answer is a sentence that names it.
"""

import glob
import json
import os
from typing import Any

from pellucid.data.doors.arrow_sources import open_dataset, open_reader


def lake_of(folder: str) -> str | None:
    """``delta`` or ``iceberg`` if the folder is such a table."""
    if os.path.isdir(os.path.join(folder, "_delta_log")):
        return "delta"
    found = glob.glob(os.path.join(glob.escape(folder), "metadata", "*.metadata.json"))
    return "iceberg" if found else None


def open_lake_folder(folder: str, kind: str, in_memory: bool) -> Any:
    """The newest version of a Delta or Iceberg table in a folder."""
    if kind == "delta":
        try:
            from deltalake import DeltaTable
        except ImportError:
            raise ImportError(
                f"{folder} is a Delta table, which needs its reader: pip install deltalake"
            ) from None
        return open_lake(DeltaTable(folder), in_memory)
    try:
        from pyiceberg.table import StaticTable
    except ImportError:
        raise ImportError(
            f"{folder} is an Iceberg table, which needs its reader: "
            "pip install 'pyiceberg[pyarrow]'"
        ) from None
    versions = glob.glob(os.path.join(glob.escape(folder), "metadata", "*.metadata.json"))
    newest = max(versions, key=last_updated)
    return open_lake(StaticTable.from_metadata(newest), in_memory)


def last_updated(path: str) -> int:
    """When a version of an Iceberg table was written."""
    with open(path, encoding="utf-8") as file:
        return int(json.load(file).get("last-updated-ms", 0))


def is_lake(source: object) -> bool:
    """Whether ``source`` is a table (or scan) of deltalake or PyIceberg."""
    return type(source).__module__.partition(".")[0] in ("deltalake", "pyiceberg")


def open_lake(source: Any, in_memory: bool) -> Any:
    """A Delta table file by file, an Iceberg table as a stream."""
    if hasattr(source, "to_pyarrow_dataset"):
        return open_dataset(source.to_pyarrow_dataset(), in_memory)
    scan = source.scan() if hasattr(source, "scan") else source
    return open_reader(scan.to_arrow_batch_reader(), in_memory)

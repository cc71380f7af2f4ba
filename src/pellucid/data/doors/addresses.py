"""Files elsewhere, by an address that fsspec knows: s3://, gs://, abfss://, hdfs://, hf://, ...

Parquet is read row group by row group, by the worker that needs it, through PyArrow. Files of any
other kind are copied once to a temporary folder. Keys and endpoints come from where fsspec and the
store's own library look for them: the environment and their configuration.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import polars as pl

from pellucid.data.doors.folders import known_ending
from pellucid.data.doors.parts import PartTable, new_token
from pellucid.data.spool import Spool
from pellucid.data.table import check_dates, first_line

SCHEMES = frozenset(
    {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "hdfs", "webhdfs", "hf", "memory"}
    | {"sftp", "smb", "oci", "oss", "dbfs"}
)  # what fsspec knows and is no database
COPY_BYTES = 1 << 22


def is_address(source: object) -> bool:
    """Whether ``source`` is the address of a file or folder elsewhere.

    >>> is_address("s3://bucket/part-*.parquet"), is_address("sqlite:///shop.db")
    (True, False)
    """
    return isinstance(source, str) and source.partition("://")[0] in SCHEMES and "://" in source


def remote_system(address: str) -> Any:
    """The file system of an address and the path in it."""
    scheme = address.partition("://")[0]
    try:
        import fsspec
    except ImportError:
        raise ImportError(
            f'{scheme}:// addresses need fsspec: pip install "pellucid[remote]"'
        ) from None
    try:
        return fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise ImportError(f"{scheme}:// addresses: {first_line(error)}") from None


class Remote(NamedTuple):
    """The files of an address: of one name, a pattern, or a folder."""

    system: Any
    scheme: str
    paths: list[str]  # in the file system, sorted
    below: str

    def address(self, path: str) -> str:
        return (
            f"{self.scheme}://{path.lstrip('/')}"
            if self.scheme == "memory"
            else (self.system.unstrip_protocol(path))
        )


def find_remote(address: str, endings: Sequence[str]) -> Remote:
    """The files at an address; a folder gives every table below it."""
    system, path = remote_system(address)
    try:
        if any(sign in path for sign in "*?["):
            found, below = system.glob(path), path.partition("*")[0].rpartition("/")[0]
        elif system.isdir(path):
            found, below = system.find(path), path
            found = [name for name in found if shown(name, path) and known_ending(name, endings)]
        else:
            found, below = [path] if system.exists(path) else [], ""
    except (OSError, ValueError) as error:
        raise ValueError(f"{address} cannot be reached: {first_line(error)}") from None
    if not found:
        raise FileNotFoundError(f"there is no table at {address}")
    return Remote(system, address.partition("://")[0], sorted(found), below)


def shown(path: str, below: str) -> bool:
    names = path.removeprefix(below).split("/")
    return not any(name.startswith((".", "_")) for name in names if name)


class RemoteGroup(NamedTuple):
    """One row group of a Parquet file elsewhere."""

    address: str
    group: int

    def __call__(self, columns: Sequence[str]) -> pl.DataFrame:
        from pyarrow import parquet

        system, path = remote_system(self.address)
        with system.open(path, "rb") as file:
            table = parquet.ParquetFile(file).read_row_group(self.group, columns=list(columns))
        return check_dates(pl.DataFrame(pl.from_arrow(table)), self.address)


def parquet_groups(remote: Remote, path: str) -> Iterator[PartTable]:
    """The row groups of a Parquet file elsewhere; only its footer is read."""
    from pyarrow import parquet

    address = remote.address(path)
    with remote.system.open(path, "rb") as file:
        found = parquet.ParquetFile(file)
        empty = pl.DataFrame(pl.from_arrow(found.schema_arrow.empty_table()))
        sizes = [found.metadata.row_group(i).num_rows for i in range(found.num_row_groups)]
    for i, size in enumerate(sizes):
        yield PartTable(RemoteGroup(address, i), dict(empty.schema), size, new_token())


def copied(remote: Remote, path: str) -> tuple[str, Spool]:
    """A copy of a file elsewhere in a temporary folder."""
    spool = Spool()
    name = "".join(c if c.isalnum() or c in "._-" else "_" for c in os.path.basename(path))
    target = spool.file(name)
    with remote.system.open(path, "rb") as source, open(target, "wb") as file:
        while piece := source.read(COPY_BYTES):
            file.write(piece)
    return target, spool

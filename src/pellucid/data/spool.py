"""A temporary folder for what has no row numbers of its own: pipes, queries, compressed files.

The folder is removed when the last table that reads from it is gone. A copy that travels to
another process carries only the path and removes nothing.
"""

import gzip
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from pellucid.data.table import BROKEN, MOST_TIMES, File, ScanTable, first_line

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
COPY_BYTES = 1 << 22
SMALL_BYTES = 1 << 26  # up to which nobody asks how well a file was packed


class Spool:
    """A temporary folder, removed when nobody holds it any more.

    >>> spool = Spool()
    >>> folder = spool.path
    >>> del spool
    >>> Path(folder).exists()
    False
    """

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="pellucid-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def __reduce__(self) -> Any:
        return (type(None), ())  # a copy elsewhere keeps nothing alive

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)


def spool_frames(frames: Iterable[pl.DataFrame]) -> list[ScanTable]:
    """Write each frame to its own Parquet file as it arrives."""
    spool = Spool()
    parts = []
    for number, frame in enumerate(frames):
        path = spool.file(f"{number:06d}.parquet")
        frame.write_parquet(path, compression="lz4")
        parts.append(ScanTable("parquet", path, dict(frame.schema), frame.height, path, spool))
    return parts


def spool_stream(stream: Any, name: str) -> tuple[str, Spool]:
    """Copy an open file, text or bytes, to a temporary file; text becomes UTF-8."""
    spool = Spool()
    path = spool.file(name)
    with open(path, "wb") as target:
        while piece := stream.read(COPY_BYTES):
            target.write(piece.encode("utf-8") if isinstance(piece, str) else piece)
    return path, spool


def compression_of(path: str) -> str | None:
    """``gzip`` or ``zstd`` by the first bytes of the file, else None."""
    with open(path, "rb") as file:
        head = file.read(4)
    return "gzip" if head[:2] == GZIP else "zstd" if head == ZSTD else None


def decompress(file: File, how: str, name: str) -> tuple[str, Spool]:
    """Unpack a gzip or zstd file, piece by piece, to a temporary file called ``name``."""
    spool = Spool()
    target_path = spool.file(name)
    try:
        with open(target_path, "wb") as target:
            pieces = gzip_pieces(file.path) if how == "gzip" else zstd_pieces(file.path)
            for piece in limited(pieces, os.path.getsize(file.path), file.name):
                target.write(piece)
    except (EOFError, zlib.error, *BROKEN) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the disk, not the file
            raise
        raise ValueError(f"{file.name} is a broken {how} file: {first_line(error)}") from None
    return target_path, spool


def limited(pieces: Iterable[bytes], packed: int, name: str) -> Iterator[bytes]:
    """The pieces, until they are many times what they were packed in: tables do not shrink so."""
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > SMALL_BYTES and total > MOST_TIMES * packed:
            raise ValueError(
                f"{name} unpacks to more than {MOST_TIMES} times its {packed:,} bytes, which no "
                "table does; unpack it yourself if you trust it"
            )
        yield piece


def unpacked(path: str, name: str) -> bytes:
    """All bytes of a gzip file, within the same limits; a broken one is a ValueError."""
    try:
        return b"".join(limited(gzip_pieces(path), os.path.getsize(path), name))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{name} is a broken gzip file: {first_line(error)}") from None


def gzip_pieces(path: str) -> Iterator[bytes]:
    """The unpacked bytes of a gzip file."""
    with gzip.open(path) as file:
        while piece := file.read(COPY_BYTES):
            yield piece


def zstd_pieces(path: str) -> Iterator[bytes]:
    """The unpacked bytes of a zstd file, by the standard library, pyarrow or (text) Polars."""
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        zstd = None
    if zstd is not None:
        with zstd.open(path) as file:
            while piece := file.read(COPY_BYTES):
                yield piece
        return
    try:
        import pyarrow
    except ImportError:
        yield from zstd_lines(path)
        return
    with pyarrow.input_stream(path, compression="zstd") as file:
        while piece := file.read(COPY_BYTES):
            yield piece


def zstd_lines(path: str) -> Iterator[bytes]:
    """The lines of a zstd text file by Polars alone."""
    if not hasattr(pl, "scan_lines"):
        raise ImportError("zstd files need pyarrow here: pip install pyarrow")
    lines = pl.scan_lines(path, name="line", glob=False)
    for batch in lines.collect_batches(chunk_size=1 << 16):
        yield ("\n".join(batch["line"]) + "\n").encode("utf-8")


def plain_name(path: str) -> str:
    """The file's name without a compression ending.

    >>> plain_name("a/b.csv.gz")
    'b.csv'
    """
    name = Path(path).name
    for ending in (".gz", ".zst", ".zstd"):
        if name.lower().endswith(ending):
            return name[: -len(ending)] or "data"
    return name

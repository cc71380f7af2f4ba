"""Replace a file as a whole: whoever looks sees the old file or the new one, never a part.

The bytes go to a temporary file in the same folder, are forced to the disk, and take the name in
one step. The temporary file is locked while it is written, so one left behind by a killed process
is recognised (its lock is free) and removed by the next save of the same file.
"""

import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A file to write to that becomes ``path`` when the block ends without an exception.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(os.path.join(folder, "a")) as file:
    ...         _ = file.write(b"whole")
    ...     os.listdir(folder)
    ['a']
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    check_target(path, target, folder)
    prefix = f".pellucid-{hashlib.sha256(os.path.basename(target).encode()).hexdigest()[:16]}-"
    try:
        sweep(folder, prefix)
        temporary, file = create(folder, prefix)
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                if sys.platform != "win32":  # still locked: nobody takes it for left behind
                    _keep_mode(file, target)
                    os.replace(temporary, target)
            if sys.platform == "win32":
                os.replace(temporary, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        sync_folder(folder)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(error.errno, f"cannot save to {path}: {reason}") from error


def check_target(path: str, target: str, folder: str) -> None:
    if os.path.isdir(target):
        raise IsADirectoryError(f"cannot save to {path}: it is a folder, give the name of a file")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"cannot save to {path}: the folder {folder} does not exist")
    if os.path.exists(target):
        if not os.path.isfile(target):
            raise OSError(f"cannot save to {path}: it is not an ordinary file")
        if not os.access(target, os.W_OK):
            raise PermissionError(f"cannot save to {path}: the file is read-only")


def create(folder: str, prefix: str) -> tuple[str, BinaryIO]:
    """A new, locked file; its permissions follow the umask as for any new file."""
    while True:
        name = os.path.join(folder, f"{prefix}{secrets.token_hex(8)}.part")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        file = os.fdopen(os.open(name, flags, 0o666), "w+b")
        if sys.platform == "win32":
            return name, file
        with suppress(OSError):  # a file system without locks: nothing is swept there either
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.fstat(file.fileno()).st_nlink > 0:
            return name, file
        file.close()  # swept between its creation and its lock: take another


def sweep(folder: str, prefix: str) -> None:
    """Remove the temporary files of this target whose writer is gone."""
    for name in os.listdir(folder):
        if name.startswith(prefix) and name.endswith(".part"):
            with suppress(OSError):  # someone is still writing it, or removed it first
                remove_unlocked(os.path.join(folder, name))


def remove_unlocked(path: str) -> None:
    if sys.platform == "win32":
        os.unlink(path)  # refused by the system while the file is open
        return
    with open(path, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)


def sync_folder(folder: str) -> None:
    """Make the new name itself survive a power cut."""
    if sys.platform != "win32":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _keep_mode(file: BinaryIO, target: str) -> None:
    if os.path.exists(target):
        os.fchmod(file.fileno(), stat.S_IMODE(os.stat(target).st_mode))

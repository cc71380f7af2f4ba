"""The bytes of a file that is read at once."""

import os
import stat
from pathlib import Path


def read_whole(path: str | Path) -> bytes:
    """All bytes of a file or a pipe; a device, which may never end, is a ValueError.

    >>> read_whole("/dev/null")
    Traceback (most recent call last):
    ValueError: /dev/null is not an ordinary file
    """
    mode = os.stat(path).st_mode
    if not any(kind(mode) for kind in (stat.S_ISREG, stat.S_ISFIFO, stat.S_ISDIR)):
        raise ValueError(f"{path} is not an ordinary file")
    return Path(path).read_bytes()

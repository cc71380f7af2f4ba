"""How much memory may be used: known before a table is built."""

import os
from pathlib import Path

UNKNOWN = 4 * 2**30  # bytes taken as free where the system does not say


def free_memory() -> int:
    """Bytes that are free now.

    >>> free_memory() > 0
    True
    """
    table = Path("/proc/meminfo")
    if table.exists():
        for line in table.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    if "SC_AVPHYS_PAGES" in getattr(os, "sysconf_names", {}):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return UNKNOWN


def byte_limit(max_bytes: float | None) -> float:
    """The limit given, or half of the free memory."""
    if max_bytes is None:
        return free_memory() / 2
    if not max_bytes > 0:
        raise ValueError(f"max_bytes must be > 0, got {max_bytes!r}")
    return float(max_bytes)


def size_text(n_bytes: float) -> str:
    """Bytes for reading.

    >>> size_text(2**43), size_text(300), size_text(2.0**200)
    ('8 TiB', '300 bytes', '1.6e+60 bytes')
    """
    for unit, size in (("EiB", 60), ("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20)):
        if n_bytes >= 2.0**80:
            return f"{n_bytes:.1e} bytes"
        if n_bytes >= 2.0**size:
            return f"{n_bytes / 2.0**size:.3g} {unit}"
    return f"{n_bytes:.0f} bytes"

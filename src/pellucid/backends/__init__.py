"""Where the blocks of a fit are summarised: here, in processes, or on a cluster.

A backend is only ``map(function, items) -> iterator in order``; merging follows a fixed tree, so
every backend gives the same bits.

>>> from pellucid.backends import Serial
>>> list(Serial().map(abs, [-2, 3]))
[2, 3]
"""

from importlib import import_module
from typing import Any

_HOME = {
    "Dask": "dask_backend",
    "Joblib": "joblib_backend",
    "Serial": "serial",
    "use": "current",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

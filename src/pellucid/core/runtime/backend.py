"""The default backend of maps over blocks: a context variable set by ``backends.use``."""

from contextvars import ContextVar
from typing import Any

default_backend: ContextVar[Any] = ContextVar("pellucid_backend", default=None)


def check_backend(backend: object) -> Any:
    """Return ``backend`` if it can map, else refuse it in one sentence.

    >>> check_backend("dask")
    Traceback (most recent call last):
    TypeError: a backend is Serial(), Joblib(...), Dask(...) or has map(function, items), got 'dask'
    """
    foreign = type(backend).__module__.partition(".")[0] == "distributed"  # its map gives futures
    if isinstance(backend, type) or foreign or not callable(getattr(backend, "map", None)):
        hint = "; wrap it: Dask(client)" if foreign else ""
        known = "Serial(), Joblib(...), Dask(...) or has map(function, items)"
        raise TypeError(f"a backend is {known}, got {backend!r}{hint}")
    return backend

"""The backend that ``fit_blocks`` uses when it is not told one."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pellucid.core.runtime.backend import check_backend, default_backend


@contextmanager
def use(backend: Any) -> Iterator[Any]:
    """Make ``backend`` the default inside the block, in this thread or task only.

    >>> from pellucid.backends import Serial, use
    >>> from pellucid.core.runtime.backend import default_backend
    >>> with use(Serial()):
    ...     default_backend.get()
    Serial()
    >>> default_backend.get() is None
    True
    """
    token = default_backend.set(check_backend(backend))
    try:
        yield backend
    finally:
        default_backend.reset(token)

"""Who maps over blocks when nobody says: a context variable, set by ``pellucid.backends.use``."""

from contextvars import ContextVar
from typing import Any

default_backend: ContextVar[Any] = ContextVar("pellucid_backend", default=None)

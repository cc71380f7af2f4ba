"""Optimisers shared by all families."""

from pellucid._lazy import lazy_names

_HOME: dict[str, str] = {}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

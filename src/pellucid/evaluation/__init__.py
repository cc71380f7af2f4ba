"""How good a model is, how sure that number is, and whether a simpler one would do as well."""

from pellucid._lazy import lazy_names

_HOME: dict[str, str] = {}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

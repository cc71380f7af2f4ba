"""Models made of models, and the arithmetic of resampling."""

from pellucid._lazy import lazy_names

_HOME = {
    "expected_unique_fraction": "resampling",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

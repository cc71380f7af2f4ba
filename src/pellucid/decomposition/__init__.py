"""Few numbers that stand for many columns."""

from pellucid._lazy import lazy_names

_HOME = {
    "PCA": "pca",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

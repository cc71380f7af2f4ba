"""Pictures: a frozen record of the data and plot(ax)."""

from pellucid._lazy import lazy_names

_HOME = {
    "scatter": "pictures.scatter",
    "svg": "style",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

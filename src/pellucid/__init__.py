"""Pellucid: machine learning you can see through.

Every public name is imported on first use, so ``import pellucid`` costs nothing.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# One line per public name: where it lives. Adding an algorithm adds a line here.
_HOME = {
    "Budget": "linear.budget",
    "GaussianNB": "naive_bayes.gaussian",
    "KMeans": "cluster.kmeans",
    "LinearRegression": "linear.least_squares",
    "ModelFileError": "persist",
    "Ridge": "linear.ridge",
    "load": "persist",
    "save": "persist",
}

_PACKAGES = ("backends", "cluster", "data", "linear", "naive_bayes", "persist")

__all__ = sorted([*_HOME, *_PACKAGES, "__version__"])


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

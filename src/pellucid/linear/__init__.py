"""Linear models with their inference."""

from importlib import import_module
from typing import Any

_HOME = {
    "Budget": "budget",
    "LinearRegression": "least_squares",
    "Ridge": "ridge",
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

"""Linear models with their inference."""

from pellucid._lazy import lazy_names

_HOME = {
    "Budget": "budget",
    "LinearRegression": "least_squares",
    "Ridge": "ridge",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

"""Linear algebra, calculus and probability, explained in words."""

from pellucid._lazy import lazy_names

_HOME: dict[str, str] = {
    "Bound": "concentration",
    "chebyshev": "concentration",
    "conditioning": "condition",
    "hoeffding": "concentration",
    "markov": "concentration",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

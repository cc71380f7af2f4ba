"""Naive Bayes: the features are independent within a class.

>>> from pellucid.naive_bayes import GaussianNB
>>> GaussianNB().fit([[1.0], [2.0], [6.0], [7.0]], [0, 0, 1, 1]).predict([[3.0]])
array([0])
"""

from importlib import import_module
from typing import Any

_HOME = {
    "GaussianNB": "gaussian",
    "UnseenFeatureWarning": "gaussian",
    "ZeroVarianceWarning": "gaussian",
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

"""The metrics of ``core.functions.metrics``, where users of neighbours look for them."""

from pellucid.core.functions.gower import Gower
from pellucid.core.functions.metrics import (
    Mahalanobis,
    Metric,
    Minkowski,
    directions,
    resolve,
    settled,
    warn_zero_rows,
)

__all__ = [
    "Gower",
    "Mahalanobis",
    "Metric",
    "Minkowski",
    "directions",
    "resolve",
    "settled",
    "warn_zero_rows",
]

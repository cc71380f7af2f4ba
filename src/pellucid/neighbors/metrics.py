"""The metrics of ``core.metrics``, where users of neighbours look for them."""

from pellucid.core.gower import Gower
from pellucid.core.metrics import (
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

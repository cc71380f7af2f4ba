"""The metrics of ``core.functions.metrics``, where users of neighbours look for them."""

from collections.abc import Callable
from typing import TypeAlias

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

MetricLike: TypeAlias = str | Minkowski | Mahalanobis | Gower | Callable[..., float]

__all__ = ["Gower", "Mahalanobis", "Metric", "MetricLike", "Minkowski", "directions"]
__all__ += ["resolve", "settled", "warn_zero_rows"]

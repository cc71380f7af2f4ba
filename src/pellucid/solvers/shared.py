"""Names of ``core`` that users of the solvers look for here."""

from pellucid.core.critical import CriticalPoint
from pellucid.core.iterate import DivergenceWarning, History, Iteration, iterate
from pellucid.core.penalties import L1, L1L2, L2, Lq

__all__ = [
    "CriticalPoint", "DivergenceWarning", "History", "Iteration", "L1", "L1L2", "L2", "Lq",
    "iterate",
]  # fmt: skip

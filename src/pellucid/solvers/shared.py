"""Names of ``core`` that users of the solvers look for here."""

from pellucid.core.algebra.critical import CriticalPoint
from pellucid.core.functions.penalties import L1, L1L2, L2, Lq
from pellucid.core.loops.iterate import DivergenceWarning, History, Iteration, iterate

__all__ = ["CriticalPoint", "DivergenceWarning", "History", "Iteration"]
__all__ += ["L1", "L1L2", "L2", "Lq", "iterate"]

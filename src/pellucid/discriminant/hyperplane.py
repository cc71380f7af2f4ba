"""The hyperplane of ``core.algebra.hyperplane``, where users of discriminant analysis look for it."""

from pellucid.core.algebra.hyperplane import Hyperplane

__all__ = ["Hyperplane"]

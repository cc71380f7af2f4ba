"""The hyperplane of ``core.algebra.hyperplane``, for users of discriminant analysis."""

from pellucid.core.algebra.hyperplane import Hyperplane

__all__ = ["Hyperplane"]

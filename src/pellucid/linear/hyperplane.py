"""The hyperplane of ``core.hyperplane``, where users of linear rules look for it."""

from pellucid.core.hyperplane import Hyperplane

__all__ = ["Hyperplane"]

"""Discriminant analysis: a Gaussian density for each class, and the rules that follow.

>>> from pellucid.discriminant import Hyperplane
>>> Hyperplane((3, 4), -5).origin_distance
1.0
"""

from pellucid._lazy import lazy_names

_HOME = {
    "Hyperplane": "hyperplane",
    "LinearDiscriminantAnalysis": "lda",
    "QuadraticDiscriminantAnalysis": "qda",
    "RegularizedDiscriminantAnalysis": "rda",
    "Scatter": "reduced",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

"""Discriminant analysis: a Gaussian density for each class, and the rules that follow.

>>> from pellucid.discriminant import Hyperplane
>>> Hyperplane((3, 4), -5).origin_distance
1.0
"""

from pellucid._lazy import lazy_names

_HOME = {
    "DiscriminantLadder": "ladder",
    "GaussianDensity": "density",
    "GenerativeClassifier": "generative",
    "Hyperplane": "hyperplane",
    "LinearDiscriminantAnalysis": "lda",
    "QuadraticDiscriminantAnalysis": "qda",
    "RegularizedDiscriminantAnalysis": "rda",
    "RegularizedDiscriminantAnalysisCV": "rda_cv",
    "Scatter": "reduced",
    "discriminant_ladder": "ladder",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

"""Pellucid: machine learning you can see through.

Every public name is imported on first use, so ``import pellucid`` costs nothing.
"""

from pellucid._lazy import lazy_names

__version__ = "0.1.0"

# One line per public name: where it lives. Adding an algorithm adds a line here.
_HOME = {
    "Budget": "linear.budget",
    "GaussianNB": "naive_bayes.gaussian",
    "KMeans": "cluster.kmeans",
    "LinearRegression": "linear.least_squares",
    "ModelFileError": "persist",
    "Ridge": "linear.ridge",
    "load": "persist",
    "save": "persist",
}

_PACKAGES = (
    "backends",
    "cluster",
    "data",
    "features",
    "linear",
    "maths",
    "naive_bayes",
    "persist",
    "plots",
    "solvers",
)

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME, _PACKAGES)

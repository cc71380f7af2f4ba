"""Groups in data without labels."""

from pellucid._lazy import lazy_names

_HOME = {
    "EmptyClusterWarning": "kmeans",
    "KMeans": "kmeans",
    "Metric": "kmeans",
    "draw_probabilities": "seeding",
    "kmeans_plusplus": "seeding",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

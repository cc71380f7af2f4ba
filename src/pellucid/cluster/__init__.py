"""Groups in data without labels."""

from pellucid.cluster.kmeans import EmptyClusterWarning, KMeans, Metric
from pellucid.cluster.seeding import draw_probabilities, kmeans_plusplus

__all__ = ["EmptyClusterWarning", "KMeans", "Metric", "draw_probabilities", "kmeans_plusplus"]

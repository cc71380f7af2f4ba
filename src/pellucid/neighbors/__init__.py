"""Nearest neighbours: distances, exact and approximate search, and what follows from it.

Read ``classifier.py`` or ``regressor.py`` first; ``voting.py`` and ``averaging.py`` turn neighbours
into answers, ``neighbor_model.py`` is what all models share.
``nearest_centroid.py`` keeps one point per class, ``kernel_density.py`` adds hills up. ``search/``
finds near rows, ``editing/`` thins them out, ``labels/`` spreads labels over a graph.

>>> from pellucid.neighbors import KNeighborsClassifier
>>> model = KNeighborsClassifier(1).fit([[0.0], [1.0]], ["near", "far"])
>>> model.predict([[0.2]]).tolist()
['near']
"""

from pellucid._lazy import lazy_names

_HOME = {
    "CondensedNearestNeighbour": "editing.condensed",
    "DistanceConcentration": "path",
    "EditedNearestNeighbours": "editing.edited",
    "Gower": "search.metrics",
    "KDTree": "search.kd_tree",
    "KNeighborsClassifier": "classifier",
    "KNeighborsRegressor": "regressor",
    "KernelDensity": "kernel_density",
    "LSHIndex": "search.lsh",
    "LabelPropagation": "labels.label_propagation",
    "LabelSpreading": "labels.label_spreading",
    "LocalOutlierFactor": "outlier",
    "Mahalanobis": "search.metrics",
    "MetricReport": "search.properties",
    "Minkowski": "search.metrics",
    "NearestCentroid": "nearest_centroid",
    "NearestNeighbors": "nearest",
    "NearestPrototypes": "editing.prototypes",
    "NeighborVote": "classifier",
    "NeighborsPath": "path",
    "NeighbourConsistency": "consistency",
    "RadiusNeighborsClassifier": "radius_classifier",
    "RadiusNeighborsRegressor": "radius_regressor",
    "Region": "voronoi",
    "SimilarityReport": "search.properties",
    "TreeStats": "search.kd_tree",
    "UnreachableWarning": "labels.label_model",
    "VoronoiCells": "voronoi",
    "check_metric": "search.properties",
    "check_similarity": "search.properties",
    "collision_probability": "search.hashing",
    "distance_concentration": "path",
    "neighborhood_edge": "path",
    "neighbour_consistency": "consistency",
    "pairwise_distances": "search.pairwise",
    "pairwise_similarities": "search.similarities",
    "select_n_neighbors": "path",
    "voronoi_cells": "voronoi",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

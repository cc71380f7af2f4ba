"""Nearest neighbours: distances, exact and approximate search, and what follows from it.

>>> from pellucid.neighbors import KNeighborsClassifier
>>> model = KNeighborsClassifier(1).fit([[0.0], [1.0]], ["near", "far"])
>>> model.predict([[0.2]]).tolist()
['near']
"""

from pellucid._lazy import lazy_names

_HOME = {
    "CondensedNearestNeighbour": "condensed",
    "DistanceConcentration": "path",
    "EditedNearestNeighbours": "edited",
    "Gower": "metrics",
    "KDTree": "kd_tree",
    "KNeighborsClassifier": "classifier",
    "KNeighborsRegressor": "regressor",
    "LSHIndex": "lsh",
    "LabelPropagation": "label_propagation",
    "LabelSpreading": "label_spreading",
    "LocalOutlierFactor": "outlier",
    "Mahalanobis": "metrics",
    "MetricReport": "properties",
    "Minkowski": "metrics",
    "NearestNeighbors": "nearest",
    "NearestPrototypes": "prototypes",
    "NeighborVote": "classifier",
    "NeighborsPath": "path",
    "RadiusNeighborsClassifier": "radius_classifier",
    "RadiusNeighborsRegressor": "radius_regressor",
    "Region": "voronoi",
    "SimilarityReport": "properties",
    "TreeStats": "kd_tree",
    "UnreachableWarning": "label_base",
    "VoronoiCells": "voronoi",
    "check_metric": "properties",
    "check_similarity": "properties",
    "collision_probability": "hashing",
    "distance_concentration": "path",
    "neighborhood_edge": "path",
    "pairwise_distances": "pairwise",
    "pairwise_similarities": "similarities",
    "select_n_neighbors": "path",
    "voronoi_cells": "voronoi",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

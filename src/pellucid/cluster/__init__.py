"""Groups in data without labels.

``kmeans/``, ``medoids/``, ``soft/`` (fuzzy), ``hierarchy/`` (trees), ``density/`` (DBSCAN,
HDBSCAN), ``spectral/`` (graphs), ``choosing/`` (how many clusters, how good). ``dissimilarity.py``
holds the matrix of distances that several of them need.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "AgglomerativeClustering": "hierarchy.agglomerative",
    "BisectingKMeans": "kmeans.bisecting",
    "ClusterDiagnosis": "choosing.diagnosis",
    "ClusterFinding": "choosing.diagnosis",
    "ClusterNumberSearch": "choosing.number_search",
    "CoincidentCentersWarning": "soft.possibilistic",
    "DBSCAN": "density.dbscan",
    "DisconnectedWarning": "spectral.spectral",
    "DivisiveClustering": "hierarchy.divisive",
    "ElbowResult": "choosing.elbow_rule",
    "EmptyClusterWarning": "kmeans.kmeans",
    "FuzzyCMeans": "soft.fuzzy",
    "HDBSCAN": "density.hdbscan",
    "KMeans": "kmeans.kmeans",
    "KMedoids": "medoids.medoids",
    "Metric": "kmeans.kmeans",
    "MiniBatchKMeans": "kmeans.mini_batch",
    "PossibilisticCMeans": "soft.possibilistic",
    "SilhouetteValues": "choosing.measures",
    "SpectralClustering": "spectral.spectral",
    "StabilityResult": "choosing.stability",
    "bell_number": "choosing.counting",
    "calinski_harabasz_score": "choosing.measures",
    "cluster_diagnosis": "choosing.diagnosis",
    "cluster_stability": "choosing.stability",
    "consensus_matrix": "choosing.stability",
    "distortion": "choosing.measures",
    "draw_probabilities": "kmeans.seeding",
    "elbow": "choosing.elbow_rule",
    "k_distances": "density.dbscan",
    "kmeans_plusplus": "kmeans.seeding",
    "linkage_distance": "hierarchy.linkage",
    "silhouette_samples": "choosing.measures",
    "silhouette_score": "choosing.measures",
    "silhouette_values": "choosing.measures",
    "stirling_number": "choosing.counting",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

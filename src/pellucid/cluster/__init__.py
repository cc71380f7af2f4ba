"""Groups in data without labels."""

from pellucid._lazy import lazy_names

_HOME = {
    "AgglomerativeClustering": "agglomerative",
    "BisectingKMeans": "bisecting",
    "ClusterDiagnosis": "diagnosis",
    "ClusterFinding": "diagnosis",
    "ClusterNumberSearch": "number_search",
    "CoincidentCentersWarning": "possibilistic",
    "DBSCAN": "dbscan",
    "DisconnectedWarning": "spectral",
    "DivisiveClustering": "divisive",
    "ElbowResult": "elbow_rule",
    "EmptyClusterWarning": "kmeans",
    "FuzzyCMeans": "fuzzy",
    "HDBSCAN": "hdbscan",
    "KMeans": "kmeans",
    "KMedoids": "medoids",
    "Metric": "kmeans",
    "PossibilisticCMeans": "possibilistic",
    "SilhouetteValues": "measures",
    "SpectralClustering": "spectral",
    "StabilityResult": "stability",
    "bell_number": "counting",
    "calinski_harabasz_score": "measures",
    "cluster_diagnosis": "diagnosis",
    "cluster_stability": "stability",
    "consensus_matrix": "stability",
    "distortion": "measures",
    "draw_probabilities": "seeding",
    "elbow": "elbow_rule",
    "k_distances": "dbscan",
    "kmeans_plusplus": "seeding",
    "linkage_distance": "linkage",
    "silhouette_samples": "measures",
    "silhouette_score": "measures",
    "silhouette_values": "measures",
    "stirling_number": "counting",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

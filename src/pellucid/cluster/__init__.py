"""Groups in data without labels.

``kmeans/``, ``medoids/``, ``soft/`` (fuzzy), ``hierarchy/`` (trees), ``density/`` (DBSCAN,
HDBSCAN, OPTICS, mean shift), ``spectral/`` (graphs), ``choosing/`` (how many clusters, how good).
``dissimilarity.py`` holds the matrix of distances that several of them need.
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
    "MeanShift": "density.mean_shift",
    "Metric": "kmeans.kmeans",
    "MiniBatchKMeans": "kmeans.mini_batch",
    "OPTICS": "density.optics",
    "OpticsGraph": "density.optics_graph",
    "PossibilisticCMeans": "soft.possibilistic",
    "SilhouetteValues": "choosing.measures",
    "SpectralClustering": "spectral.spectral",
    "StabilityResult": "choosing.stability",
    "XiClusters": "density.optics_xi",
    "bell_number": "choosing.counting",
    "calinski_harabasz_score": "choosing.measures",
    "cluster_diagnosis": "choosing.diagnosis",
    "cluster_optics_dbscan": "density.optics_xi",
    "cluster_optics_xi": "density.optics_xi",
    "cluster_stability": "choosing.stability",
    "compute_optics_graph": "density.optics_graph",
    "consensus_matrix": "choosing.stability",
    "distortion": "choosing.measures",
    "draw_probabilities": "kmeans.seeding",
    "elbow": "choosing.elbow_rule",
    "estimate_bandwidth": "density.bandwidth",
    "get_bin_seeds": "density.mean_shift",
    "k_distances": "density.dbscan",
    "kmeans_plusplus": "kmeans.seeding",
    "linkage_distance": "hierarchy.linkage",
    "mean_shift": "density.mean_shift",
    "silhouette_samples": "choosing.measures",
    "silhouette_score": "choosing.measures",
    "silhouette_values": "choosing.measures",
    "stirling_number": "choosing.counting",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

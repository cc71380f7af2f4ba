"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.cluster.choosing.counting import bell_number as bell_number
from pellucid.cluster.choosing.counting import stirling_number as stirling_number
from pellucid.cluster.choosing.diagnosis import ClusterDiagnosis as ClusterDiagnosis
from pellucid.cluster.choosing.diagnosis import ClusterFinding as ClusterFinding
from pellucid.cluster.choosing.diagnosis import cluster_diagnosis as cluster_diagnosis
from pellucid.cluster.choosing.elbow_rule import ElbowResult as ElbowResult
from pellucid.cluster.choosing.elbow_rule import elbow as elbow
from pellucid.cluster.choosing.measures import SilhouetteValues as SilhouetteValues
from pellucid.cluster.choosing.measures import calinski_harabasz_score as calinski_harabasz_score
from pellucid.cluster.choosing.measures import distortion as distortion
from pellucid.cluster.choosing.measures import silhouette_samples as silhouette_samples
from pellucid.cluster.choosing.measures import silhouette_score as silhouette_score
from pellucid.cluster.choosing.measures import silhouette_values as silhouette_values
from pellucid.cluster.choosing.number_search import ClusterNumberSearch as ClusterNumberSearch
from pellucid.cluster.choosing.stability import StabilityResult as StabilityResult
from pellucid.cluster.choosing.stability import cluster_stability as cluster_stability
from pellucid.cluster.choosing.stability import consensus_matrix as consensus_matrix
from pellucid.cluster.density.bandwidth import estimate_bandwidth as estimate_bandwidth
from pellucid.cluster.density.dbscan import DBSCAN as DBSCAN
from pellucid.cluster.density.dbscan import k_distances as k_distances
from pellucid.cluster.density.hdbscan import HDBSCAN as HDBSCAN
from pellucid.cluster.density.mean_shift import MeanShift as MeanShift
from pellucid.cluster.density.mean_shift import get_bin_seeds as get_bin_seeds
from pellucid.cluster.density.mean_shift import mean_shift as mean_shift
from pellucid.cluster.density.optics import OPTICS as OPTICS
from pellucid.cluster.density.optics_graph import OpticsGraph as OpticsGraph
from pellucid.cluster.density.optics_graph import compute_optics_graph as compute_optics_graph
from pellucid.cluster.density.optics_xi import XiClusters as XiClusters
from pellucid.cluster.density.optics_xi import cluster_optics_dbscan as cluster_optics_dbscan
from pellucid.cluster.density.optics_xi import cluster_optics_xi as cluster_optics_xi
from pellucid.cluster.hierarchy.agglomerative import (
    AgglomerativeClustering as AgglomerativeClustering,
)
from pellucid.cluster.hierarchy.divisive import DivisiveClustering as DivisiveClustering
from pellucid.cluster.hierarchy.linkage import linkage_distance as linkage_distance
from pellucid.cluster.kmeans.bisecting import BisectingKMeans as BisectingKMeans
from pellucid.cluster.kmeans.kmeans import EmptyClusterWarning as EmptyClusterWarning
from pellucid.cluster.kmeans.kmeans import KMeans as KMeans
from pellucid.cluster.kmeans.kmeans import Metric as Metric
from pellucid.cluster.kmeans.mini_batch import MiniBatchKMeans as MiniBatchKMeans
from pellucid.cluster.kmeans.seeding import draw_probabilities as draw_probabilities
from pellucid.cluster.kmeans.seeding import kmeans_plusplus as kmeans_plusplus
from pellucid.cluster.medoids.medoids import KMedoids as KMedoids
from pellucid.cluster.soft.fuzzy import FuzzyCMeans as FuzzyCMeans
from pellucid.cluster.soft.possibilistic import CoincidentCentersWarning as CoincidentCentersWarning
from pellucid.cluster.soft.possibilistic import PossibilisticCMeans as PossibilisticCMeans
from pellucid.cluster.spectral.spectral import DisconnectedWarning as DisconnectedWarning
from pellucid.cluster.spectral.spectral import SpectralClustering as SpectralClustering

__all__: list[str]
_HOME: dict[str, str]

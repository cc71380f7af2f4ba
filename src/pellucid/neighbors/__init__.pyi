"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.neighbors.classifier import KNeighborsClassifier as KNeighborsClassifier
from pellucid.neighbors.classifier import NeighborVote as NeighborVote
from pellucid.neighbors.consistency import NeighbourConsistency as NeighbourConsistency
from pellucid.neighbors.consistency import neighbour_consistency as neighbour_consistency
from pellucid.neighbors.editing.condensed import (
    CondensedNearestNeighbour as CondensedNearestNeighbour,
)
from pellucid.neighbors.editing.edited import EditedNearestNeighbours as EditedNearestNeighbours
from pellucid.neighbors.editing.prototypes import NearestPrototypes as NearestPrototypes
from pellucid.neighbors.kernel_density import KernelDensity as KernelDensity
from pellucid.neighbors.labels.label_model import UnreachableWarning as UnreachableWarning
from pellucid.neighbors.labels.label_propagation import LabelPropagation as LabelPropagation
from pellucid.neighbors.labels.label_spreading import LabelSpreading as LabelSpreading
from pellucid.neighbors.nearest import NearestNeighbors as NearestNeighbors
from pellucid.neighbors.nearest_centroid import NearestCentroid as NearestCentroid
from pellucid.neighbors.outlier import LocalOutlierFactor as LocalOutlierFactor
from pellucid.neighbors.path import DistanceConcentration as DistanceConcentration
from pellucid.neighbors.path import NeighborsPath as NeighborsPath
from pellucid.neighbors.path import distance_concentration as distance_concentration
from pellucid.neighbors.path import neighborhood_edge as neighborhood_edge
from pellucid.neighbors.path import select_n_neighbors as select_n_neighbors
from pellucid.neighbors.radius_classifier import (
    RadiusNeighborsClassifier as RadiusNeighborsClassifier,
)
from pellucid.neighbors.radius_regressor import RadiusNeighborsRegressor as RadiusNeighborsRegressor
from pellucid.neighbors.regressor import KNeighborsRegressor as KNeighborsRegressor
from pellucid.neighbors.search.hashing import collision_probability as collision_probability
from pellucid.neighbors.search.kd_tree import KDTree as KDTree
from pellucid.neighbors.search.kd_tree import TreeStats as TreeStats
from pellucid.neighbors.search.lsh import LSHIndex as LSHIndex
from pellucid.neighbors.search.metrics import Gower as Gower
from pellucid.neighbors.search.metrics import Mahalanobis as Mahalanobis
from pellucid.neighbors.search.metrics import Minkowski as Minkowski
from pellucid.neighbors.search.pairwise import pairwise_distances as pairwise_distances
from pellucid.neighbors.search.properties import MetricReport as MetricReport
from pellucid.neighbors.search.properties import SimilarityReport as SimilarityReport
from pellucid.neighbors.search.properties import check_metric as check_metric
from pellucid.neighbors.search.properties import check_similarity as check_similarity
from pellucid.neighbors.search.similarities import pairwise_similarities as pairwise_similarities
from pellucid.neighbors.voronoi import Region as Region
from pellucid.neighbors.voronoi import VoronoiCells as VoronoiCells
from pellucid.neighbors.voronoi import voronoi_cells as voronoi_cells

__all__: list[str]
_HOME: dict[str, str]

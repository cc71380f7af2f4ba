"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.plots.panels.style import svg as svg
from pellucid.plots.pictures.classification.boundary import boundary as boundary
from pellucid.plots.pictures.classification.decision_regions import (
    decision_regions as decision_regions,
)
from pellucid.plots.pictures.classification.discriminant_coordinates import (
    discriminant_coordinates as discriminant_coordinates,
)
from pellucid.plots.pictures.classification.discriminant_projection import (
    discriminant_projection as discriminant_projection,
)
from pellucid.plots.pictures.classification.indicator_masking import (
    indicator_masking as indicator_masking,
)
from pellucid.plots.pictures.classification.latent_logistic import (
    latent_logistic as latent_logistic,
)
from pellucid.plots.pictures.classification.probability_contours import (
    probability_contours as probability_contours,
)
from pellucid.plots.pictures.classification.sampled_boundaries import (
    sampled_boundaries as sampled_boundaries,
)
from pellucid.plots.pictures.classification.sigmoid import sigmoid as sigmoid
from pellucid.plots.pictures.classification.steepening import steepening as steepening
from pellucid.plots.pictures.clusters.clusters import clusters as clusters
from pellucid.plots.pictures.clusters.consensus import consensus as consensus
from pellucid.plots.pictures.clusters.dendrogram import dendrogram as dendrogram
from pellucid.plots.pictures.clusters.elbow import elbow as elbow
from pellucid.plots.pictures.clusters.half_steps import half_steps as half_steps
from pellucid.plots.pictures.clusters.k_criteria import k_criteria as k_criteria
from pellucid.plots.pictures.clusters.k_distances import k_distances as k_distances
from pellucid.plots.pictures.clusters.memberships import memberships as memberships
from pellucid.plots.pictures.clusters.reachability import reachability as reachability
from pellucid.plots.pictures.clusters.silhouette import silhouette as silhouette
from pellucid.plots.pictures.clusters.similarity_kinds import similarity_kinds as similarity_kinds
from pellucid.plots.pictures.control.agent_loop import agent_loop as agent_loop
from pellucid.plots.pictures.control.mdp_graph import mdp_graph as mdp_graph
from pellucid.plots.pictures.control.q_table import q_table as q_table
from pellucid.plots.pictures.control.rewards import rewards as rewards
from pellucid.plots.pictures.control.utility_error import utility_error as utility_error
from pellucid.plots.pictures.control.value_sweeps import value_sweeps as value_sweeps
from pellucid.plots.pictures.control.values import values as values
from pellucid.plots.pictures.descent.descent_path import descent_path as descent_path
from pellucid.plots.pictures.descent.loss_surface import loss_surface as loss_surface
from pellucid.plots.pictures.descent.newton_steps import newton_steps as newton_steps
from pellucid.plots.pictures.descent.objective_history import objective_history as objective_history
from pellucid.plots.pictures.descent.schedule import schedule as schedule
from pellucid.plots.pictures.ensembles.boosting_weights import boosting_weights as boosting_weights
from pellucid.plots.pictures.ensembles.diversity import diversity as diversity
from pellucid.plots.pictures.ensembles.ensemble_error import ensemble_error as ensemble_error
from pellucid.plots.pictures.ensembles.proximity_map import proximity_map as proximity_map
from pellucid.plots.pictures.ensembles.unique_share import unique_share as unique_share
from pellucid.plots.pictures.ensembles.variance_of_average import (
    variance_of_average as variance_of_average,
)
from pellucid.plots.pictures.evaluation.bias_variance_curve import (
    bias_variance_curve as bias_variance_curve,
)
from pellucid.plots.pictures.evaluation.bias_variance_fits import (
    bias_variance_fits as bias_variance_fits,
)
from pellucid.plots.pictures.evaluation.bounds import bounds as bounds
from pellucid.plots.pictures.evaluation.confusion import confusion as confusion
from pellucid.plots.pictures.evaluation.cost_curve import cost_curve as cost_curve
from pellucid.plots.pictures.evaluation.cost_table import cost_table as cost_table
from pellucid.plots.pictures.evaluation.fold_differences import fold_differences as fold_differences
from pellucid.plots.pictures.evaluation.fold_scheme import fold_scheme as fold_scheme
from pellucid.plots.pictures.evaluation.learning_curve import learning_curve as learning_curve
from pellucid.plots.pictures.evaluation.precision_recall import precision_recall as precision_recall
from pellucid.plots.pictures.evaluation.prediction_intervals import (
    prediction_intervals as prediction_intervals,
)
from pellucid.plots.pictures.evaluation.reliability_diagram import (
    reliability_diagram as reliability_diagram,
)
from pellucid.plots.pictures.evaluation.roc import roc as roc
from pellucid.plots.pictures.evaluation.score_intervals import score_intervals as score_intervals
from pellucid.plots.pictures.evaluation.significance import significance as significance
from pellucid.plots.pictures.evaluation.split_bar import split_bar as split_bar
from pellucid.plots.pictures.evaluation.sweep import sweep as sweep
from pellucid.plots.pictures.evaluation.thresholds import thresholds as thresholds
from pellucid.plots.pictures.evaluation.validation_curve import validation_curve as validation_curve
from pellucid.plots.pictures.explanations.accumulated import accumulated as accumulated
from pellucid.plots.pictures.explanations.dependence import dependence as dependence
from pellucid.plots.pictures.explanations.importance import importance as importance
from pellucid.plots.pictures.explanations.shap_summary import shap_summary as shap_summary
from pellucid.plots.pictures.explanations.shap_waterfall import shap_waterfall as shap_waterfall
from pellucid.plots.pictures.explanations.target_bars import target_bars as target_bars
from pellucid.plots.pictures.graphical.connections import connections as connections
from pellucid.plots.pictures.graphical.d_separation import d_separation as d_separation
from pellucid.plots.pictures.graphical.edge_probabilities import (
    edge_probabilities as edge_probabilities,
)
from pellucid.plots.pictures.graphical.network_graph import network_graph as network_graph
from pellucid.plots.pictures.graphical.search_moves import search_moves as search_moves
from pellucid.plots.pictures.graphical.unrolled import unrolled as unrolled
from pellucid.plots.pictures.inference.chains import chains as chains
from pellucid.plots.pictures.inference.class_densities import class_densities as class_densities
from pellucid.plots.pictures.inference.dependence_graph import dependence_graph as dependence_graph
from pellucid.plots.pictures.inference.distribution import distribution as distribution
from pellucid.plots.pictures.inference.estimator_error import estimator_error as estimator_error
from pellucid.plots.pictures.inference.gaussian import gaussian as gaussian
from pellucid.plots.pictures.inference.laplace import laplace as laplace
from pellucid.plots.pictures.inference.likelihood import likelihood as likelihood
from pellucid.plots.pictures.inference.metropolis_flow import metropolis_flow as metropolis_flow
from pellucid.plots.pictures.inference.metropolis_steps import metropolis_steps as metropolis_steps
from pellucid.plots.pictures.inference.posterior_sequence import (
    posterior_sequence as posterior_sequence,
)
from pellucid.plots.pictures.inference.posterior_update import posterior_update as posterior_update
from pellucid.plots.pictures.inference.predictive_check import predictive_check as predictive_check
from pellucid.plots.pictures.inference.target_shapes import target_shapes as target_shapes
from pellucid.plots.pictures.kernels.feature_lift import feature_lift as feature_lift
from pellucid.plots.pictures.kernels.gram import gram as gram
from pellucid.plots.pictures.kernels.graph_labels import graph_labels as graph_labels
from pellucid.plots.pictures.kernels.kernel_weights import kernel_weights as kernel_weights
from pellucid.plots.pictures.kernels.multipliers import multipliers as multipliers
from pellucid.plots.pictures.kernels.svm_margin import svm_margin as svm_margin
from pellucid.plots.pictures.maths.absolute_sum import absolute_sum as absolute_sum
from pellucid.plots.pictures.maths.contours import contours as contours
from pellucid.plots.pictures.maths.convexity import convexity as convexity
from pellucid.plots.pictures.maths.ellipse import ellipse as ellipse
from pellucid.plots.pictures.maths.kkt import kkt as kkt
from pellucid.plots.pictures.maths.limit_theorems import limit_theorems as limit_theorems
from pellucid.plots.pictures.maths.low_rank import low_rank as low_rank
from pellucid.plots.pictures.maths.matrix_action import matrix_action as matrix_action
from pellucid.plots.pictures.maths.projection import projection as projection
from pellucid.plots.pictures.maths.surface import surface as surface
from pellucid.plots.pictures.maths.taylor import taylor as taylor
from pellucid.plots.pictures.mixtures.anomaly_map import anomaly_map as anomaly_map
from pellucid.plots.pictures.mixtures.em_bound import em_bound as em_bound
from pellucid.plots.pictures.mixtures.em_steps import em_steps as em_steps
from pellucid.plots.pictures.mixtures.hardening import hardening as hardening
from pellucid.plots.pictures.mixtures.mixture_contours import mixture_contours as mixture_contours
from pellucid.plots.pictures.mixtures.mixture_density import mixture_density as mixture_density
from pellucid.plots.pictures.neighbors.collision_curve import collision_curve as collision_curve
from pellucid.plots.pictures.neighbors.density_estimate import density_estimate as density_estimate
from pellucid.plots.pictures.neighbors.hypercube_edge import hypercube_edge as hypercube_edge
from pellucid.plots.pictures.neighbors.label_rounds import label_rounds as label_rounds
from pellucid.plots.pictures.neighbors.neighbour_query import neighbour_query as neighbour_query
from pellucid.plots.pictures.neighbors.prototypes import prototypes as prototypes
from pellucid.plots.pictures.neighbors.regions_by_k import regions_by_k as regions_by_k
from pellucid.plots.pictures.neighbors.voronoi import voronoi as voronoi
from pellucid.plots.pictures.networks.activation import activation as activation
from pellucid.plots.pictures.networks.attention import attention as attention
from pellucid.plots.pictures.networks.backward_pass import backward_pass as backward_pass
from pellucid.plots.pictures.networks.computation_graph import (
    computation_graph as computation_graph,
)
from pellucid.plots.pictures.networks.embeddings import embeddings as embeddings
from pellucid.plots.pictures.networks.feature_maps import feature_maps as feature_maps
from pellucid.plots.pictures.networks.generated import generated as generated
from pellucid.plots.pictures.networks.gradient_norms import gradient_norms as gradient_norms
from pellucid.plots.pictures.networks.network import network as network
from pellucid.plots.pictures.networks.training import training as training
from pellucid.plots.pictures.projections.image_grid import image_grid as image_grid
from pellucid.plots.pictures.projections.ppca_story import ppca_story as ppca_story
from pellucid.plots.pictures.projections.principal_axes import principal_axes as principal_axes
from pellucid.plots.pictures.projections.reconstructions import reconstructions as reconstructions
from pellucid.plots.pictures.projections.scatter import scatter as scatter
from pellucid.plots.pictures.projections.scores import scores as scores
from pellucid.plots.pictures.projections.scree import scree as scree
from pellucid.plots.pictures.projections.subspace_angles import subspace_angles as subspace_angles
from pellucid.plots.pictures.regression.basis import basis as basis
from pellucid.plots.pictures.regression.coefficient_ellipse import (
    coefficient_ellipse as coefficient_ellipse,
)
from pellucid.plots.pictures.regression.coefficient_posterior import (
    coefficient_posterior as coefficient_posterior,
)
from pellucid.plots.pictures.regression.coefficients import coefficients as coefficients
from pellucid.plots.pictures.regression.extrapolation import extrapolation as extrapolation
from pellucid.plots.pictures.regression.fit_gallery import fit_gallery as fit_gallery
from pellucid.plots.pictures.regression.pointwise_variance import (
    pointwise_variance as pointwise_variance,
)
from pellucid.plots.pictures.regression.predicted_actual import predicted_actual as predicted_actual
from pellucid.plots.pictures.regression.predictive_band import predictive_band as predictive_band
from pellucid.plots.pictures.regression.quantile_lines import quantile_lines as quantile_lines
from pellucid.plots.pictures.regression.regression_fit import regression_fit as regression_fit
from pellucid.plots.pictures.regression.regression_projection import (
    regression_projection as regression_projection,
)
from pellucid.plots.pictures.regression.residual_health import residual_health as residual_health
from pellucid.plots.pictures.regression.sampled_lines import sampled_lines as sampled_lines
from pellucid.plots.pictures.regression.smoothing import smoothing as smoothing
from pellucid.plots.pictures.shrinkage.coefficient_path import coefficient_path as coefficient_path
from pellucid.plots.pictures.shrinkage.components_path import components_path as components_path
from pellucid.plots.pictures.shrinkage.kink import kink as kink
from pellucid.plots.pictures.shrinkage.penalty_contours import penalty_contours as penalty_contours
from pellucid.plots.pictures.shrinkage.penalty_geometry import penalty_geometry as penalty_geometry
from pellucid.plots.pictures.shrinkage.ridge_curves import ridge_curves as ridge_curves
from pellucid.plots.pictures.shrinkage.selection_history import (
    selection_history as selection_history,
)
from pellucid.plots.pictures.shrinkage.shrinkage import shrinkage as shrinkage
from pellucid.plots.pictures.shrinkage.subset_path import subset_path as subset_path
from pellucid.plots.pictures.tables.missing_map import missing_map as missing_map
from pellucid.plots.pictures.tables.profile import profile as profile
from pellucid.plots.pictures.tables.taxonomy import taxonomy as taxonomy
from pellucid.plots.pictures.trees.impurity_curves import impurity_curves as impurity_curves
from pellucid.plots.pictures.trees.missing_descent import missing_descent as missing_descent
from pellucid.plots.pictures.trees.pruning import pruning as pruning
from pellucid.plots.pictures.trees.split_scan import split_scan as split_scan
from pellucid.plots.pictures.trees.tree import tree as tree

__all__: list[str]
_HOME: dict[str, str]

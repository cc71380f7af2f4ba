"""Pictures: a function reads its data into a frozen record with ``alt`` text and ``plot(ax=None)``.

``pictures/<chapter>/`` has one file for each, named after it; ``panels/`` has what several share
(read ``panels/style.py`` first, then ``panels/marks.py``).
"""

from pellucid._lazy import lazy_names

_CHAPTERS = {
    "classification": (
        "boundary decision_regions discriminant_coordinates discriminant_projection "
        "indicator_masking latent_logistic probability_contours sampled_boundaries sigmoid "
        "steepening"
    ),
    "clusters": (
        "clusters consensus dendrogram elbow half_steps k_criteria k_distances memberships "
        "reachability silhouette similarity_kinds"
    ),
    "control": "agent_loop mdp_graph q_table rewards utility_error value_sweeps values",
    "descent": "descent_path loss_surface newton_steps objective_history schedule",
    "ensembles": (
        "boosting_weights diversity ensemble_error proximity_map unique_share variance_of_average"
    ),
    "evaluation": (
        "bias_variance_curve bias_variance_fits bounds confusion cost_curve cost_table "
        "fold_differences fold_scheme learning_curve precision_recall prediction_intervals "
        "reliability_diagram roc score_intervals significance split_bar sweep thresholds "
        "validation_curve"
    ),
    "explanations": "accumulated dependence importance shap_summary shap_waterfall target_bars",
    "graphical": (
        "connections d_separation edge_probabilities network_graph search_moves unrolled"
    ),
    "inference": (
        "chains class_densities dependence_graph distribution estimator_error gaussian laplace "
        "likelihood metropolis_flow metropolis_steps posterior_sequence posterior_update "
        "predictive_check target_shapes"
    ),
    "kernels": "feature_lift gram graph_labels kernel_weights multipliers svm_margin",
    "maths": (
        "absolute_sum contours convexity ellipse kkt limit_theorems low_rank matrix_action "
        "projection surface taylor"
    ),
    "mixtures": "anomaly_map em_bound em_steps hardening mixture_contours mixture_density",
    "neighbors": (
        "collision_curve density_estimate hypercube_edge label_rounds neighbour_query prototypes "
        "regions_by_k voronoi"
    ),
    "networks": (
        "activation attention backward_pass computation_graph embeddings feature_maps generated "
        "gradient_norms network training"
    ),
    "projections": (
        "image_grid ppca_story principal_axes reconstructions scatter scores scree subspace_angles"
    ),
    "regression": (
        "basis coefficient_ellipse coefficient_posterior coefficients extrapolation fit_gallery "
        "pointwise_variance predicted_actual predictive_band quantile_lines regression_fit "
        "regression_projection residual_health sampled_lines smoothing"
    ),
    "shrinkage": (
        "coefficient_path components_path kink penalty_contours penalty_geometry ridge_curves "
        "selection_history shrinkage subset_path"
    ),
    "tables": "missing_map profile taxonomy",
    "trees": "impurity_curves missing_descent pruning split_scan tree",
}
_HOME = {name: f"pictures.{part}.{name}" for part in _CHAPTERS for name in _CHAPTERS[part].split()}
_HOME["svg"] = "panels.style"

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

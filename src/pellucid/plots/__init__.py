"""Pictures: a frozen record of the data and plot(ax)."""

from pellucid._lazy import lazy_names

_HOME = {
    "absolute_sum": "pictures.absolute_sum",
    "basis": "pictures.basis",
    "coefficient_ellipse": "pictures.coefficient_ellipse",
    "coefficient_path": "pictures.coefficient_path",
    "coefficient_posterior": "pictures.coefficient_posterior",
    "coefficients": "pictures.coefficients",
    "components_path": "pictures.components_path",
    "descent_path": "pictures.descent_path",
    "extrapolation": "pictures.extrapolation",
    "fit_gallery": "pictures.fit_gallery",
    "kink": "pictures.kink",
    "kkt": "pictures.kkt",
    "loss_surface": "pictures.loss_surface",
    "missing_map": "pictures.missing_map",
    "newton_steps": "pictures.newton_steps",
    "objective_history": "pictures.objective_history",
    "penalty_contours": "pictures.penalty_contours",
    "penalty_geometry": "pictures.penalty_geometry",
    "pointwise_variance": "pictures.pointwise_variance",
    "posterior_sequence": "pictures.posterior_sequence",
    "predicted_actual": "pictures.predicted_actual",
    "predictive_band": "pictures.predictive_band",
    "quantile_lines": "pictures.quantile_lines",
    "regression_fit": "pictures.regression_fit",
    "regression_projection": "pictures.regression_projection",
    "residual_health": "pictures.residual_health",
    "ridge_curves": "pictures.ridge_curves",
    "sampled_lines": "pictures.sampled_lines",
    "scatter": "pictures.scatter",
    "schedule": "pictures.schedule",
    "selection_history": "pictures.selection_history",
    "shrinkage": "pictures.shrinkage",
    "smoothing": "pictures.smoothing",
    "subset_path": "pictures.subset_path",
    "svg": "style",
    "target_bars": "pictures.target_bars",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

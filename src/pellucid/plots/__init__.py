"""Pictures: a frozen record of the data and plot(ax)."""

from pellucid._lazy import lazy_names

_HOME = {
    "coefficient_ellipse": "pictures.coefficient_ellipse",
    "coefficient_path": "pictures.coefficient_path",
    "coefficients": "pictures.coefficients",
    "components_path": "pictures.components_path",
    "kink": "pictures.kink",
    "missing_map": "pictures.missing_map",
    "penalty_contours": "pictures.penalty_contours",
    "penalty_geometry": "pictures.penalty_geometry",
    "predicted_actual": "pictures.predicted_actual",
    "regression_fit": "pictures.regression_fit",
    "residual_health": "pictures.residual_health",
    "ridge_curves": "pictures.ridge_curves",
    "scatter": "pictures.scatter",
    "selection_history": "pictures.selection_history",
    "shrinkage": "pictures.shrinkage",
    "subset_path": "pictures.subset_path",
    "svg": "style",
    "target_bars": "pictures.target_bars",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)

"""Mixtures as pictures need them: their marginal in a plane, and colours that blend."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.typing import Array, Model
from pellucid.mixture.gaussian.gaussian_mixture import GaussianMixture
from pellucid.mixture.gaussian.gaussians import full_covariances
from pellucid.plots.panels.groups import Plane
from pellucid.plots.panels.style import colour


def is_mixture(E: Model) -> Any:
    """A fitted mixture, or a sentence."""
    if not hasattr(E, "component_log_density"):
        raise ValueError(f"the picture needs a fitted mixture, got {type(E).__name__}")
    check_is_fitted(E, "weights_")
    return E


def rows_for(E: Model, table: Any) -> Any:
    """The rows as the mixture knows them: without names where it was made from parameters."""
    return table.given if hasattr(E, "feature_names_in_") else table.X


def covariances_of(E: Model) -> Array:
    """(k, p, p) whatever the structure."""
    if not hasattr(is_mixture(E), "means_"):
        raise ValueError(f"the picture needs a Gaussian mixture, got {type(E).__name__}")
    return full_covariances(E.covariances_, E.covariance_type, *E.means_.shape)


def projected(E: Model, plane: Plane) -> GaussianMixture:
    """The mixture of B'x + c: normal densities stay so under linear maps."""
    S, B = covariances_of(E), plane.matrix
    return GaussianMixture.from_parameters(E.weights_, plane.of(E.means_), B.T @ S @ B)


def marginal(E: Model, columns: list[int], table: Any) -> tuple[Any, str]:
    """The mixture of some columns, and what was left out."""
    is_mixture(E)
    p = table.X.shape[1]
    if columns == list(range(p)):
        return E, ""
    B = np.zeros((p, len(columns)))
    B[columns, np.arange(len(columns))] = 1.0
    return projected(E, Plane(B, np.zeros(len(columns)))), f"marginal of {p} columns"


def blend(shares: Array) -> Array:
    """The colours of groups mixed by shares (n, k) that sum to 1: (n, 3).

    >>> blend(np.array([[1.0, 0.0]])).round(3)
    array([[0.   , 0.447, 0.698]])
    """
    from matplotlib.colors import to_rgb

    tints = np.array([to_rgb(colour(k)) for k in range(shares.shape[1])])
    return np.clip(shares @ tints, 0.0, 1.0)

"""Scores and predictions of models with directions of X and of y: shared by ``PLSRegression`` and
``CCA`` as plain functions of a fitted model.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_number_target
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.runtime.warn import warn


def check_parameters(model: Any) -> None:
    """Refuse parameters that no fit takes."""
    check.whole(n_components=model.n_components, max_iter=model.max_iter)
    check.boolean(scale=model.scale, copy=model.copy)
    check.non_negative(tol=model.tol)


def refuse_components(model: Any, most: int, n_rows: int) -> None:
    """Refuse a single row, and more components than ``most``."""
    if n_rows < 2:
        raise ValueError(f"Found array with 1 sample(s); {type(model).__name__} needs at least 2")
    if model.n_components > most:
        what = f"`n_components` upper bound is {most}. Got {model.n_components} instead"
        shape = f"n_samples={n_rows}, n_features={model.n_features_in_}"
        raise ValueError(f"{what}. Reduce `n_components`: {shape}")


def warn_used_up(model: Any, used: int, side: str, why: str) -> None:
    """Tell that X or y had nothing left after ``used`` components."""
    if used < model.n_components:
        warn(f"{side} residual is constant at iteration {used}: {why}, and later components are 0")


def deviations(squares: Array, weight: float, *, scale: bool) -> Array:
    """Standard deviations (n - 1); 1 for constant columns, or without scaling."""
    if not scale:
        return np.ones(len(squares))
    spread = np.sqrt(np.maximum(squares, 0.0) / max(weight - 1, EPS))
    return np.where(spread > 0, spread, 1.0)


def state_shapes(self: Any) -> dict[str, tuple[int, ...]]:
    """Shapes of the arrays that predictions and scores read."""
    p, k = self.n_features_in_, self.coef_.shape[0]
    rows = {"_x_mean": (p,), "_x_std": (p,), "_y_mean": (k,), "_y_std": (k,)}
    rotations = (p, self._n_features_out)
    return {"coef_": (k, p), "intercept_": (k,), **rows, "x_rotations_": rotations}


def rotate(model: Any, X: np.ndarray) -> Array:
    """Scores of rows, without a copy of X."""
    R = model.x_rotations_ / model._x_std[:, None]
    return X @ R - model._x_mean @ R


def predict(self: Any, X: ArrayLike, copy: bool = True) -> Array:
    """Predict the targets of X; ``copy`` has no effect."""
    rows = self._check_input(X)
    found = rows @ self.coef_.T + self.intercept_
    return found[:, 0] if self._single else found


def transform(self: Any, X: ArrayLike, y: ArrayLike | None = None, copy: bool = True) -> Any:
    """The scores of X, or the pair of the scores of X and y; ``copy`` has no effect."""
    rows = self._check_input(X)
    T = rotate(self, rows)
    if y is None:
        return T
    y = check_number_target(y, rows.shape[0], True, self).reshape(rows.shape[0], -1)
    return T, (y - self._y_mean) / self._y_std @ self.y_rotations_


def fit_transform(self: Any, X: ArrayLike, y: ArrayLike | None = None, **fit_params: Any) -> Any:
    """Fit, then the pair of the scores of X and y."""
    return self.fit(X, y, **fit_params).transform(X, y)


def inverse_transform(self: Any, X: ArrayLike, y: ArrayLike | None = None) -> Any:
    """Rows of X (and y) from their scores; exact if all components were kept."""
    check_is_fitted(self)
    found = check_array(X, dtype=np.float64) @ self.x_loadings_.T * self._x_std + self._x_mean
    if y is None:
        return found
    Y = check_array(y, dtype=np.float64)
    return found, Y @ self.y_loadings_.T * self._y_std + self._y_mean

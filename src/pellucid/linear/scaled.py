r"""A linear regressor on scaled columns that answers in the units of X.

    z_j = (x_j - m_j)/s_j,   y = c + sum_j v_j z_j   =   b + sum_j w_j x_j
    w_j = v_j/s_j,           b = c - sum_j m_j w_j

A penalty treats all coefficients alike, so what it does depends on the units of the columns; on
scaled columns it does not. The conventions of the books: ridge, lasso, subset methods and principal
components on columns of variance 1, least angle regression on columns of norm 1.
"""

from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pellucid.base import Regressor, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import is_unit
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.features import StandardScaler
from pellucid.features.scaling.column_scaler import ColumnScaler
from pellucid.linear.ridge.ridge import Ridge


class ScaledRegressor(Regressor):
    """Fit a linear regressor on scaled columns; report it in the original units.

    Parameters
    ----------
    regressor : estimator with ``coef_`` and ``intercept_``, default=None
        None is ``Ridge()``.
    scaler : transformer with ``mean_`` and ``scale_``, default=None
        None is ``StandardScaler()``: mean 0 and variance 1 (1/n). ``UnitNormScaler()`` for the
        convention of least angle regression.

    Attributes
    ----------
    coef_, intercept_ : in the units of X as given
    scaled_coef_ : those of the scaled columns
    regressor_, scaler_ : the fitted parts

    Examples
    --------
    >>> from pellucid import ScaledRegressor
    >>> X = [[1, 2, 1], [2, 1, 0], [3, 4, 1], [4, 3, 1], [5, 6, 0], [6, 5, 2], [7, 8, 1], [8, 6, 3]]
    >>> model = ScaledRegressor().fit(X, [3, 2, 6, 5, 9, 8, 12, 13])
    >>> model.scaled_coef_.round(4), model.coef_.round(4)
    (array([1.4284, 1.8669, 0.5247]), array([0.6234, 0.858 , 0.5661]))
    """

    def __init__(
        self, regressor: BaseEstimator | None = None, *, scaler: BaseEstimator | None = None
    ) -> None:
        self.regressor = regressor
        self.scaler = scaler

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Scale the columns, fit the regressor, and convert its coefficients back."""
        rows = self._check_training(X, y, sample_weight)
        context = FitContext(self, X=rows.X, y=rows.y, sample_weight=sample_weight)
        scaler = StandardScaler() if self.scaler is None else clone(self.scaler)
        regressor = Ridge() if self.regressor is None else clone(self.regressor)
        weights = {} if is_unit(rows.w) else {"sample_weight": rows.w}
        for part in (scaler, regressor):
            if weights and not has_fit_parameter(part, "sample_weight"):
                raise ValueError(f"{type(part).__name__} takes no sample_weight")
        Z = np.asarray(scaler.fit(rows.X, **weights).transform(rows.X))
        mean, scale = self._affine(scaler, rows.X, Z)
        regressor.fit(Z, rows.y, **weights)
        if not hasattr(regressor, "coef_") or not hasattr(regressor, "intercept_"):
            name = type(regressor).__name__
            raise ValueError(f"regressor must have coef_ and intercept_ after fit, {name} has not")
        self.scaler_, self.regressor_ = scaler, regressor
        self.scaled_coef_ = np.array(regressor.coef_, dtype=np.float64)
        self.coef_ = self.scaled_coef_ / scale
        shift = self.coef_ @ mean
        middle = np.asarray(regressor.intercept_, dtype=np.float64)
        self.intercept_ = middle - shift if np.ndim(shift) else float(np.ravel(middle - shift)[0])
        context.end()
        return self

    def _affine(self, scaler: BaseEstimator, X: Array, Z: Array) -> tuple[Array, Array]:
        """m and s of (x - m)/s, checked against what the scaler did."""
        p, name = X.shape[1], type(scaler).__name__
        if not hasattr(scaler, "scale_") or not hasattr(scaler, "mean_"):
            raise ValueError(f"scaler must have mean_ and scale_ after fit, {name} has not")
        centred = getattr(scaler, "with_mean", True) and scaler.mean_ is not None
        mean = np.asarray(scaler.mean_, dtype=np.float64) if centred else np.zeros(p)
        scale = np.ones(p) if scaler.scale_ is None else np.asarray(scaler.scale_, dtype=np.float64)
        if Z.shape != X.shape or not np.allclose(Z, (X - mean) / scale, rtol=1e-9, atol=1e-9):
            raise ValueError(f"scaler must do (x - mean_) / scale_ by columns, {name} does not")
        gone = ~Z.any(axis=0) & (X[0] != 0)
        if gone.any() and not isinstance(scaler, ColumnScaler):  # ours say so themselves
            names = ", ".join(self._feature_names()[j] for j in np.flatnonzero(gone))
            remedy = "leave the ones to fit_intercept, or add them after scaling"
            warn(f"constant columns are scaled to 0: {names} ({remedy})")
        return mean, scale

    def predict(self, X: ArrayLike) -> Array:
        """b + x'w of every row, in the units of X."""
        rows = self._check_input(X)
        return rows @ self.coef_.T + self.intercept_

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        inner = self.regressor_.card() if hasattr(self.regressor_, "card") else None
        name = type(self.regressor_).__name__
        numbers = {"columns": self.n_features_in_}
        numbers["largest |v|"] = float(np.abs(self.scaled_coef_).max())
        return Card(
            representation="y = b + sum w_j x_j, fitted as c + sum v_j (x_j - m_j)/s_j",
            evaluation=f"on scaled columns: {inner.evaluation if inner else name}",
            optimisation=f"{type(self.scaler_).__name__}, then "
            f"{inner.optimisation if inner else name}; w_j = v_j/s_j, b = c - sum m_j w_j",
            numbers={**numbers, **(inner.numbers if inner else {})},
            scales=inner.scales if inner else (),
            warnings=inner.warnings if inner else (),
        )

r"""Several targets, one regressor each.

    y_l = f_l(x) + e_l,    l = 1 .. L,  each f_l fitted by itself

For regressors that take one target only. Least squares, ridge, forests and trees take several at
once and are quicker so; RegressorChain lets one target help the next.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid.base import Regressor, check_number_target, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, Matrix
from pellucid.core.meta import fitted, rows_of
from pellucid.core.records import Card
from pellucid.ensemble.labels.meta_classifier import Copies
from pellucid.ensemble.labels.one_vs_rest import inner_has
from pellucid.ensemble.targets.target_blocks import OneTarget, count_targets


class MetaRegressor(Copies, Regressor):
    """Base of the regressors of several targets: y is always a matrix."""

    n_rows_: int
    estimators_: list[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        return tags

    def _open_targets(self, Y: Matrix, n: int) -> Array:
        """The targets as numbers (n, L)."""
        Y = check_number_target(Y, n, True, self)
        if Y.ndim == 1:
            what = "y must have at least two dimensions for multi-output regression"
            raise ValueError(f"{what} but has only one: pass y[:, None] for one target")
        return Y

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {}


class MultiOutputRegressor(MetaRegressor):
    """Several targets at once, each by its own copy of a regressor.

    Parameters
    ----------
    estimator : regressor
        Cloned for each column of y.
    n_jobs : int or None, default=None
        Fits at the same time, by joblib; the model is the same for any number.

    Attributes
    ----------
    estimators_ : list of fitted estimators
        One per target.

    Examples
    --------
    >>> from pellucid import HuberRegressor, MultiOutputRegressor
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[1.0, 0.0], [2.0, 2.0], [3.0, 4.0], [4.0, 6.0]]
    >>> MultiOutputRegressor(HuberRegressor()).fit(X, Y).predict([[4.0]]).round(2)
    array([[5., 8.]])
    """

    def __init__(self, estimator: BaseEstimator, *, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: Matrix, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> Self:
        """Fit one regressor per column of y; ``fit_params`` go to each."""
        X, n, params, context = self._begin(X, y, sample_weight, fit_params, open_door=True)
        params = rows_of(params, X, np.arange(n)) if fit_params else params
        Y = self._open_targets(y, n)
        self.n_rows_ = n
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(fitted)(clone(self.estimator), X, np.ascontiguousarray(column), **params)
            for column in Y.T
        )
        context.end()
        return self

    @inner_has("fit_blocks")
    def fit_blocks(self, blocks: Any, *, backend: Any = None) -> Self:
        """Fit on ``pellucid.data.blocks(..., target=[...])``, one target after the other."""
        L = count_targets(self, blocks, backend)
        self.n_rows_ = blocks.n_rows
        self.estimators_ = [
            clone(self.estimator).fit_blocks(OneTarget(blocks, j), backend=backend)
            for j in range(L)
        ]
        return self

    @inner_has("partial_fit")
    def partial_fit(
        self, X: ArrayLike, y: Matrix, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Go on fitting every target with these rows."""
        first = not hasattr(self, "estimators_")
        X = self._open(X, reset=first)
        n = _num_samples(X)
        params = self._route("partial_fit", sample_weight, params, n)
        Y = self._open_targets(y, n)
        before = [clone(self.estimator) for _ in Y.T] if first else self.estimators_
        if len(before) != Y.shape[1]:
            raise ValueError(f"y has {Y.shape[1]} targets, the fit so far saw {len(before)}")
        self.n_rows_ = n + (0 if first else self.n_rows_)
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(go_on)(model, X, np.ascontiguousarray(Y[:, j]), params)
            for j, model in enumerate(before)
        )
        return self

    def predict(self, X: ArrayLike) -> Array:
        """The numbers predicted for each row, (n, L)."""
        X = self._open(X, reset=False)
        asked = (delayed(model.predict)(X) for model in self.estimators_)
        return np.asarray(Parallel(n_jobs=self.n_jobs)(asked)).T

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        L = len(self.estimators_)
        return Card(
            representation=f"one {type(self.estimator).__name__} per target",
            evaluation="that of the inner estimator, for each target by itself",
            optimisation=f"{L} independent fits of all {self.n_rows_} rows",
            numbers={"targets": L, "fits": L, "rows per fit": self.n_rows_},
        )


def go_on(model: BaseEstimator, X: Matrix, y: Array, params: dict[str, Any]) -> Any:
    """The model after its ``partial_fit``, whatever that returns."""
    model.partial_fit(X, y, **params)
    return model

"""Recursive feature elimination: fit, drop the least important columns, fit again.

Importance is the square of ``coef_`` (summed over outputs) or ``feature_importances_``. Each round
looks at the columns together, unlike a filter, but trusts the model's scale: standardise first.

Reference: Guyon, Weston, Barnhill & Vapnik (2002).
"""

from collections.abc import Callable
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import available_if

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import routed
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.features.selection.elimination import (
    Elimination,
    ask,
    decision_function,
    has,
    inner_tags,
    predict,
    predict_log_proba,
    predict_proba,
    step_size,
)
from pellucid.features.selection.supervised import INSIDE, ModelSelector, sends_on


class RFE(MetaEstimatorMixin, ModelSelector):
    """Drop the columns with the smallest coefficients, round by round.

    Parameters
    ----------
    estimator : estimator
        With ``coef_`` or ``feature_importances_`` after its fit.
    n_features_to_select : int, float or None
        How many columns to keep, or their share; None: half.
    step : int or float, default=1
        Columns (or share of all) to drop per round.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    importance_getter : str or callable, default="auto"
        Attribute of the model, or a function of it.

    Attributes
    ----------
    support_, ranking_ : mask of the kept columns; 1 for them, larger the earlier dropped
    n_features_ : how many are kept
    estimator_ : the model fitted on them; ``predict`` and its like use it
    classes_ : labels, if the model is a classifier

    Examples
    --------
    >>> from pellucid import LinearRegression
    >>> from pellucid.features import RFE
    >>> X = [[1.0, 0.3, 2.0], [2.0, 0.1, 1.0], [3.0, 0.4, 2.5], [4.0, 0.2, 1.5], [5.0, 0.0, 1.0]]
    >>> model = RFE(LinearRegression(), n_features_to_select=1).fit(X, [2.0, 4.0, 6.0, 8.0, 10.0])
    >>> model.ranking_[0], model.predict([[3.0, 0.0, 0.0]]).round(6)
    (np.int64(1), array([6.]))
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        n_features_to_select: float | None = None,
        step: float = 1,
        verbose: int = 0,
        importance_getter: str | Callable[[Any], Any] = "auto",
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.verbose = verbose
        self.importance_getter = importance_getter

    def __sklearn_tags__(self) -> Any:
        return inner_tags(self, super().__sklearn_tags__())

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Drop columns until ``n_features_to_select`` are left; ``fit_params`` go to the model."""
        fit_params = routed(self, "fit", fit_params)
        rows = self._check_training(X, y)
        p = self.n_features_in_
        if p < 2:
            raise ValueError(f"Found array with 1 feature(s) (shape={rows.X.shape}); RFE needs 2")
        goal, step = self._goal(p), step_size(self.step, p)
        context = FitContext(self, X=rows.X, y=rows.y, max_steps=-(-max(p - goal, 0) // step))
        rounds = Elimination(goal, step, self.importance_getter)
        for i, stage in enumerate(rounds.stages(self.estimator, rows.X, rows.y, **fit_params)):
            self.estimator_, self.support_, self.ranking_ = stage
            if i and context.step(i, None):
                break
        self.n_features_ = int(self.support_.sum())
        context.end()
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """What ``fit``, ``predict`` and ``score`` pass on to the model."""
        return sends_on(self, "fit", "predict", "score")

    def _goal(self, p: int) -> int:
        wanted = self.n_features_to_select
        if wanted is None:
            return p // 2
        if isinstance(wanted, Integral) and not isinstance(wanted, bool):
            check.whole(n_features_to_select=wanted)
            if int(wanted) > p:
                warn(f"Found n_features_to_select={wanted} > n_features={p}: no column is dropped")
            return int(wanted)
        check.positive(n_features_to_select=wanted)
        if wanted > 1:
            raise ValueError(f"n_features_to_select as a share must be <= 1, got {wanted!r}")
        return int(p * wanted)

    def _get_support_mask(self) -> Any:
        return self.support_

    @property
    def classes_(self) -> Any:
        return self.estimator_.classes_

    predict = predict
    decision_function = decision_function
    predict_proba = predict_proba
    predict_log_proba = predict_log_proba

    @available_if(has("score"))
    def score(self, X: ArrayLike, y: ArrayLike, **score_params: Any) -> Any:
        """The score of the model on the kept columns."""
        return ask(self, "score", X, y, **routed(self, "score", score_params))

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        names = [self._feature_names()[j] for j in np.flatnonzero(self.support_)][:8]
        model = f"{type(self.estimator).__name__}, all columns together"
        return Card(
            f"{self.n_features_} of {self.n_features_in_} columns: {', '.join(names)}",
            f"squared importance in {model}; it depends on the scale of the columns",
            f"drop {self.step:g} per round and fit again",
            {"kept": self.n_features_, "of": self.n_features_in_},
            warnings=(INSIDE,),
        )

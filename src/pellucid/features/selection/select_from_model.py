"""Keep the columns that a fitted model finds important, such as the non-zeros of a lasso."""

from collections.abc import Callable
from copy import deepcopy
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import fitted, routed
from pellucid.core.records import Card
from pellucid.features.selection.supervised import (
    INSIDE,
    ModelSelector,
    importances,
    sends_on,
)

WOKEN = ("estimator_", "n_features_in_", "feature_names_in_", "max_features_", "_woken")


def has_zeros(model: BaseEstimator) -> bool:
    """Whether the penalty sets coefficients to exactly zero."""
    l1 = getattr(model, "l1_ratio_", getattr(model, "l1_ratio", None))
    lasso = "Lasso" in type(model).__name__ or getattr(model, "penalty", None) == "l1"
    return lasso or (isinstance(l1, int | float) and l1 == 1)


def threshold_of(rule: str | float | None, scores: Array, model: BaseEstimator) -> float:
    """A number, "mean", "median", or a multiple such as "1.25*mean".

    >>> threshold_of("2*median", np.array([1.0, 3.0, 8.0]), None)
    6.0
    """
    if rule is None:  # not the zeros, in any unit of the columns
        zero = 1e-5 * min(1.0, float(np.max(scores, initial=0.0)) or 1.0)
        rule = zero if has_zeros(model) else "mean"
    if not isinstance(rule, str):
        return float(rule)
    factor, _, word = rule.rpartition("*")
    statistics = {"mean": float(np.mean(scores)), "median": float(np.median(scores))}
    try:
        return float(factor or 1) * statistics[word.strip()]
    except (KeyError, ValueError):
        need = "a number, 'mean', 'median' or a multiple such as '1.25*mean'"
        raise ValueError(f"threshold must be {need}, got {rule!r}") from None


class SelectFromModel(MetaEstimatorMixin, ModelSelector):
    """Keep the columns whose importance in a model reaches a threshold.

    Parameters
    ----------
    estimator : estimator
        With ``coef_`` or ``feature_importances_`` after its fit.
    threshold : float, str or None, default=None
        Least importance kept: a number, "mean", "median", "1.25*mean". None: 1e-5 for lasso-like
        models (their non-zeros), or 1e-5 of the largest where that is below 1, else the mean.
    prefit : bool, default=False
        The estimator is fitted already; ``transform`` then needs no ``fit`` before it.
    norm_order : int or inf, default=1
        Norm over the outputs where ``coef_`` has several rows.
    max_features : int, callable of X, or None
        At most so many columns.
    importance_getter : str or callable, default="auto"
        Attribute of the model, or a function of it.

    Attributes
    ----------
    estimator_ : the fitted model
    threshold_ : the threshold in use

    Examples
    --------
    >>> from pellucid import Ridge
    >>> from pellucid.features import SelectFromModel
    >>> X = [[1.0, 0.3], [2.0, 0.1], [3.0, 0.4], [4.0, 0.2]]
    >>> SelectFromModel(Ridge()).fit(X, [1.0, 2.1, 2.9, 4.2]).get_support()
    array([ True, False])
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        threshold: str | float | None = None,
        prefit: bool = False,
        norm_order: float = 1,
        max_features: int | Callable[[Any], int] | None = None,
        importance_getter: str | Callable[[Any], Any] = "auto",
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.prefit = prefit
        self.norm_order = norm_order
        self.max_features = max_features
        self.importance_getter = importance_getter

    @with_callbacks
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Fit the model (or take the fitted one) and find the columns it needs."""
        fit_params = routed(self, "fit", fit_params)
        self._sleep()
        rows = self._open(X, y)
        context = FitContext(self, X=rows.X, y=rows.y)
        if self.prefit:
            self._adopt()
        else:
            self.estimator_ = fitted(clone(self.estimator), X, y, **fit_params)
        self.get_support()  # a wrong threshold is refused now, not at transform
        context.end()
        return self

    @available_if(lambda self: callable(self.estimator.partial_fit))
    def partial_fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Go on with the model's own ``partial_fit``."""
        fit_params = routed(self, "partial_fit", fit_params)
        self._sleep()
        first = not hasattr(self, "estimator_")
        if first:
            self._open(X, y)
        if self.prefit:
            if first:
                self._adopt()
            return self
        if first:
            self.estimator_ = clone(self.estimator)
        self.estimator_.partial_fit(X, y, **fit_params)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """What ``fit`` and ``partial_fit`` pass on to the model."""
        return sends_on(self, "partial_fit", "fit")

    def _open(self, X: ArrayLike, y: ArrayLike) -> Any:
        check.boolean(prefit=self.prefit)
        order = self.norm_order
        if order != np.inf and (not isinstance(order, Integral) or isinstance(order, bool)):
            raise ValueError(f"norm_order must be a whole number or inf, got {order!r}")
        if isinstance(self.threshold, str):
            threshold_of(self.threshold, np.ones(1), None)
        rows = self._check_training(X, y)
        if self.max_features is not None:
            limit = self.max_features(X) if callable(self.max_features) else self.max_features
            check.whole(at_least=0, max_features=limit)
            self.max_features_ = int(limit)
        return rows

    def _fitted_estimator(self) -> Any:
        try:
            check_is_fitted(self.estimator)
        except NotFittedError:
            raise NotFittedError(
                "When `prefit=True`, `estimator` is expected to be a fitted estimator."
            ) from None
        return self.estimator

    def _adopt(self) -> None:
        self.estimator_ = deepcopy(self._fitted_estimator())

    def _wake(self) -> None:
        """With a fitted estimator a question needs no fit of this one, and follows its changes.

        Everything is checked before anything is kept.
        """
        if hasattr(self, "estimator_") and not (self._is_woken and self._is_stale):
            return
        self._sleep()
        if not self.prefit:
            return
        if callable(self.max_features):
            raise NotFittedError(
                "When `prefit=True` and `max_features` is a callable, call `fit` before calling "
                "`transform`."
            )
        model, limit = self._fitted_estimator(), self.max_features
        if limit is not None:
            check.whole(at_least=0, max_features=limit)
        scores = self._scores_of(model)
        threshold_of(self.threshold, scores, model)
        self.n_features_in_ = len(scores)
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = model.feature_names_in_
        if limit is not None:
            self.max_features_ = int(limit)
        self.estimator_, self._woken = model, True

    @property
    def _is_woken(self) -> bool:
        return getattr(self, "_woken", False)

    @property
    def _is_stale(self) -> bool:
        same = self.prefit and self.estimator_ is self.estimator
        return not same or getattr(self, "max_features_", None) != self.max_features

    def _sleep(self) -> None:
        """Forget what a question without a fit has left."""
        if self._is_woken:
            for name in WOKEN:
                self.__dict__.pop(name, None)

    def _check_input(self, X: ArrayLike) -> Any:
        self._wake()
        return super()._check_input(X)

    def get_support(self, indices: bool = False) -> Any:
        """Which columns are kept: a mask, or with ``indices`` their positions."""
        self._wake()
        return super().get_support(indices)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the kept columns."""
        self._wake()
        return super().get_feature_names_out(input_features)

    def _scores(self) -> Array:
        check_is_fitted(self, "estimator_")
        return self._scores_of(self.estimator_)

    def _scores_of(self, model: BaseEstimator) -> Array:
        values = importances(model, self.importance_getter)
        if values.ndim == 1:
            return np.abs(values)
        return np.asarray(np.linalg.norm(values, axis=0, ord=self.norm_order))

    @property
    def threshold_(self) -> float:
        self._wake()
        return threshold_of(self.threshold, self._scores(), self.estimator_)

    def _get_support_mask(self) -> Any:
        scores = self._scores()
        mask = scores >= self.threshold_
        if self.max_features is not None:
            order = np.argsort(-scores, kind="stable")
            mask[order[self.max_features_ :]] = False
        return mask

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        kept, scores = self.get_support(indices=True), self._scores()
        best = [self._feature_names()[j] for j in kept[np.argsort(-scores[kept])][:5]]
        model = type(self.estimator_).__name__
        return Card(
            f"{len(kept)} of {self.n_features_in_} columns, as they are",
            f"importance in {model} of at least {self.threshold_:.4g}",
            "one fit of the model",
            {"kept": len(kept), "of": self.n_features_in_, "best": ", ".join(best)},
            warnings=(INSIDE,),
        )

"""Tuning by out-of-bag error: one fit per candidate, no folds.

Every row is judged by the members that have not seen it, so that a fit of a committee brings its
own estimate of the error; a search over its parameters needs one fit per candidate where
cross-validation needs one per candidate and fold. The best candidate is fitted already.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Estimator, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import check_inner
from pellucid.core.records import Card, show
from pellucid.tree.reduced_error import tags_like


def _has(method: str) -> Any:
    return lambda self: hasattr(getattr(self, "best_estimator_", self.estimator), method)


def fit_candidate(
    estimator: BaseEstimator, params: dict[str, Any], X: Any, y: Any, extra: dict[str, Any]
) -> Any:
    """The candidate fitted to all rows; refused if it leaves no out-of-bag score."""
    model = clone(estimator).set_params(**params)
    if "oob_score" in model.get_params(deep=False):
        model.set_params(oob_score=True)
    model.fit(X, y, **extra)
    if not hasattr(model, "oob_score_"):
        name = type(model).__name__
        raise ValueError(f"OutOfBagSearch needs an estimator that leaves oob_score_, got {name}")
    return model


class OutOfBagSearch(MetaEstimatorMixin, Estimator):
    """Choose parameters by the out-of-bag score, one fit per candidate.

    Parameters
    ----------
    estimator : estimator with ``oob_score_``
        A forest or a bagging committee; its ``oob_score`` is turned on.
    param_grid : dict or list of dict
        Values to try, by parameter.
    refit : bool, default=True
        Keep the fitted best candidate as ``best_estimator_`` (no further fit is needed).
    n_jobs : int, default=None
        Candidates fitted at a time.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_
    results_ : dict
        ``params`` and ``oob_score`` of every candidate, and ``rank``.

    Examples
    --------
    >>> from pellucid import OutOfBagSearch, RandomForestClassifier
    >>> X, y = [[i % 7, i] for i in range(40)], [0] * 20 + [1] * 20
    >>> forest = RandomForestClassifier(30, random_state=0)
    >>> search = OutOfBagSearch(forest, {"max_depth": [1, 3]}).fit(X, y)
    >>> sorted(search.best_params_), search.best_score_ > 0.9
    (['max_depth'], True)
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        refit: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.refit = refit
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        return tags_like(super().__sklearn_tags__(), self.estimator)

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit every candidate and keep the one with the best out-of-bag score."""
        check.boolean(refit=self.refit)
        check_inner(self, self.estimator, "fit", "predict")
        candidates = list(ParameterGrid(self.param_grid))
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight, max_steps=len(candidates))
        extra = {} if sample_weight is None else {"sample_weight": sample_weight}
        best: Any = None
        scores = np.full(len(candidates), np.nan)
        fits = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(fit_candidate)(self.estimator, one, X, y, extra) for one in candidates
        )
        for i, model in enumerate(fits):
            scores[i] = model.oob_score_
            if best is None or scores[i] > np.nanmax([-np.inf, *scores[:i]]):
                best = model
        if not np.isfinite(scores).any():
            why = f"no row was ever out of bag (n_samples={best.sampler_.n})"
            raise ValueError(f"no candidate has an out-of-bag score: {why}")
        self.best_index_ = int(np.nanargmax(scores))
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(scores[self.best_index_])
        rank = np.argsort(np.argsort(-scores, kind="stable"), kind="stable") + 1
        self.results_: dict[str, Any] = {"params": candidates, "oob_score": scores, "rank": rank}
        self.n_features_in_ = best.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
        if self.refit:
            self.best_estimator_: Any = best
        for i in range(len(candidates)):
            context.step(i + 1, None)
        context.end()
        return self

    @property
    def classes_(self) -> Any:
        """The labels of the chosen classifier."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no classes_ before fit")
        return self.best_estimator_.classes_

    def _chosen(self) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("refit=False kept no model: take best_params_ and fit one")
        return self.best_estimator_

    @available_if(_has("predict"))
    def predict(self, X: ArrayLike) -> Any:
        """The answers of the chosen model."""
        return self._chosen().predict(X)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> Any:
        """The probabilities of the chosen model."""
        return self._chosen().predict_proba(X)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: ArrayLike) -> Any:
        """The log probabilities of the chosen model."""
        return self._chosen().predict_log_proba(X)

    @available_if(_has("score"))
    def score(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """The score of the chosen model."""
        return self._chosen().score(X, y, sample_weight=sample_weight)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        inner = self._chosen().card()
        chosen = ", ".join(f"{key} = {show(value)}" for key, value in self.best_params_.items())
        caution = "the out-of-bag score of the best of several candidates is optimistic"
        fits = f"one fit per candidate; chosen: {chosen or 'as given'}"
        return inner._replace(
            evaluation=f"the out-of-bag score chooses among {len(self.results_['params'])} "
            f"candidates; {inner.evaluation}",
            optimisation=f"{fits}; {inner.optimisation}",
            numbers={"out-of-bag score of the best": self.best_score_, **inner.numbers},
            warnings=(caution, *inner.warnings),
        )

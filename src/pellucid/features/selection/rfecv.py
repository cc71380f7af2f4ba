"""Recursive elimination whose number of columns is chosen by cross-validation.

In every fold columns are dropped round by round, and each model is judged on the rows left out.
The number of columns with the best mean score is taken, the smallest among equals, and the columns
are eliminated once more on all rows down to it. Each fold chooses its own columns, so that the
scores are those of the whole procedure; the best of them is a little too good all the same.

Cost: the fits of one RFE for every fold and once more.
Reference: Guyon, Weston, Barnhill & Vapnik (2002); Ambroise & McLachlan (2002) on folds.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import (
    UNUSED,
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Folds, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.features.selection.elimination import (
    Elimination,
    decision_function,
    inner_tags,
    predict,
    predict_log_proba,
    predict_proba,
    step_size,
)
from pellucid.features.selection.sequential import Fold, folds_of
from pellucid.features.selection.supervised import ModelSelector


class Path(NamedTuple):
    """The rounds of one fold, from all columns to the last."""

    scores: Array  # (rounds,)
    supports: BoolArray  # (rounds, p)
    rankings: IntArray  # (rounds, p)


def fold_path(
    rounds: Elimination, estimator: BaseEstimator, fold: Fold, scorer: Callable[..., float]
) -> Path:
    """Eliminate on the training rows, and judge every model on the others."""
    stages = list(rounds.stages(estimator, fold.X, fold.y, **fold.fit))
    scores = [
        scorer(
            stage.model, fold.X_test[:, np.flatnonzero(stage.support)], fold.y_test, **fold.score
        )
        for stage in stages
    ]
    return Path(
        np.array(scores, dtype=np.float64),
        np.array([stage.support for stage in stages]),
        np.array([stage.ranking for stage in stages]),
    )


class RFECV(MetaEstimatorMixin, ModelSelector):
    """Drop columns round by round; cross-validation says how many to keep.

    Parameters
    ----------
    estimator : estimator
        With ``coef_`` or ``feature_importances_`` after its fit.
    step : int or float, default=1
        Columns (or share of all) to drop per round.
    min_features_to_select : int, default=1
        The fewest columns to try.
    cv : int, splitter, iterable or None, default=None
        The folds; None is 5, stratified for a classifier.
    scoring : str, callable or None, default=None
        What is best; None is accuracy for a classifier, else r2.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    n_jobs : int or None, default=None
        Folds at a time; the answer does not depend on it.
    importance_getter : str or callable, default="auto"
        Attribute of the model, or a function of it.

    Attributes
    ----------
    support_, ranking_ : mask of the kept columns; 1 for them, larger the earlier dropped
    n_features_ : how many are kept
    estimator_ : the model fitted on them; ``predict`` and its like use it
    cv_results_ : dict of arrays
        ``n_features`` from few to many, ``mean_test_score``, ``std_test_score``, and for every
        fold ``split0_test_score``, ``split0_support``, ``split0_ranking``.
    classes_ : labels, if the model is a classifier

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression
    >>> from pellucid.features import RFECV
    >>> X = np.random.default_rng(0).normal(size=(60, 5))
    >>> model = RFECV(LinearRegression()).fit(X, X[:, 1] - X[:, 3])
    >>> model.get_support(indices=True)
    array([1, 3])
    """

    __metadata_request__fit: ClassVar = {"groups": UNUSED}

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        step: float = 1,
        min_features_to_select: int = 1,
        cv: Folds = None,
        scoring: str | Callable[..., float] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        importance_getter: str | Callable[[Any], Any] = "auto",
    ) -> None:
        self.estimator = estimator
        self.step = step
        self.min_features_to_select = min_features_to_select
        self.cv = cv
        self.scoring = scoring
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.importance_getter = importance_getter

    def __sklearn_tags__(self) -> Any:
        return inner_tags(self, super().__sklearn_tags__())

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> Self:
        """Choose the number of columns, and the columns; ``groups`` goes to the folds."""
        _raise_for_params(params, self, "fit", allow=["groups"])
        check.whole(min_features_to_select=self.min_features_to_select)
        if isinstance(self.cv, Real):
            check.whole(at_least=2, cv=self.cv)
        rows = self._check_training(X, y)
        p = self.n_features_in_
        if p < 2:
            raise ValueError(f"Found array with 1 feature(s) (shape={rows.X.shape}); RFECV needs 2")
        least = self.min_features_to_select
        if least > p:
            warn(f"Found min_features_to_select={least} > n_features={p}: no column is dropped")
        context = FitContext(self, X=rows.X, y=rows.y)
        routed, scorer = self._routed(params), self._scorer()
        cv = check_cv(self.cv, rows.y, classifier=is_classifier(self.estimator))
        folds = folds_of(rows.X, rows.y, cv.split(rows.X, rows.y, **routed.splitter.split), routed)
        rounds = Elimination(min(least, p), step_size(self.step, p), self.importance_getter)
        jobs = (delayed(fold_path)(rounds, self.estimator, fold, scorer) for fold in folds)
        paths = Parallel(n_jobs=self.n_jobs)(jobs)
        scores = np.stack([path.scores for path in paths])[:, ::-1]  # from few columns to many
        sizes = paths[0].supports.sum(axis=1)[::-1]
        mean = scores.mean(axis=0)
        if np.isnan(mean).all():
            raise ValueError("every number of columns has score NaN: the model cannot be judged")
        best = rounds._replace(goal=int(sizes[np.nanargmax(mean)]))
        *_, last = best.stages(self.estimator, rows.X, rows.y, **routed.estimator.fit)
        self.estimator_, self.support_, self.ranking_ = last
        self.n_features_ = int(self.support_.sum())
        self.cv_results_ = {
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=0),
            **{f"split{i}_test_score": row for i, row in enumerate(scores)},
            **{f"split{i}_ranking": path.rankings[::-1] for i, path in enumerate(paths)},
            **{f"split{i}_support": path.supports[::-1] for i, path in enumerate(paths)},
            "n_features": sizes,
        }
        context.end()
        return self

    def _routed(self, params: dict[str, Any]) -> Any:
        if _routing_enabled():
            return process_routing(self, "fit", **params)
        split = {"groups": params.get("groups")}
        return Bunch(estimator=Bunch(fit={}), splitter=Bunch(split=split), scorer=Bunch(score={}))

    def _scorer(self) -> Any:
        usual = "accuracy" if is_classifier(self.estimator) else "r2"
        return get_scorer(usual if self.scoring is None else self.scoring)

    def get_metadata_routing(self) -> MetadataRouter:
        """What the methods pass on to the model, the folds and the scorer."""
        model = MethodMapping().add(caller="fit", callee="fit")
        model.add(caller="predict", callee="predict")
        judge = MethodMapping().add(caller="fit", callee="score")
        judge.add(caller="score", callee="score")
        split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=model)
        router.add(splitter=check_cv(self.cv), method_mapping=split)
        return router.add(scorer=self._scorer(), method_mapping=judge)

    def _get_support_mask(self) -> Any:
        return self.support_

    @property
    def classes_(self) -> Any:
        return self.estimator_.classes_

    predict = predict
    decision_function = decision_function
    predict_proba = predict_proba
    predict_log_proba = predict_log_proba

    def score(self, X: ArrayLike, y: ArrayLike, **score_params: Any) -> Any:
        """The score by ``scoring`` of the model on the kept columns."""
        _raise_for_params(score_params, self, "score")
        sent = {}
        if _routing_enabled():
            sent = process_routing(self, "score", **score_params).scorer.score
        return self._scorer()(self, X, y, **sent)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        names = [self._feature_names()[j] for j in np.flatnonzero(self.support_)][:8]
        folds = sum(key.endswith("_support") for key in self.cv_results_)
        best = float(np.nanmax(self.cv_results_["mean_test_score"]))
        return Card(
            f"{self.n_features_} of {self.n_features_in_} columns: {', '.join(names)}",
            f"mean score of {type(self.estimator).__name__} in {folds} folds, each with columns of "
            "its own",
            f"drop {self.step:g} per round; the number of columns with the best mean score",
            {"kept": self.n_features_, "of": self.n_features_in_, "score": best},
            warnings=("the best of many scores: it is optimistic",),
        )

r"""Nested cross-validation: an honest score of a model that tunes itself.

    outer fold i:  tune on the training rows (inner folds), score the choice on the test rows
    optimism = mean of the inner scores of the chosen candidates - mean of the outer scores

The inner score of the winner is the best of many, so it flatters; the outer rows had no part in
the choice. A loss that flatters is too small, so its optimism is negative.

References: Varma & Simon (2006); Cawley & Talbot (2010).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils.metaestimators import _safe_split

from pellucid.core.arrays.typing import Array, ArrayLike, Folds, Seed
from pellucid.core.records import plain, show
from pellucid.evaluation.metrics.metrics import Metric, MetricLike
from pellucid.evaluation.splits.folds import FAILURES, Split, make_splits, ratio_of
from pellucid.evaluation.validation.cv_scores import judge, metric_for, open_data, summary_of
from pellucid.evaluation.validation.fold_summary import CvSummary
from pellucid.evaluation.workers import run_tasks


class NestedCV(NamedTuple):
    """Outer scores of a self-tuning model, and what was chosen in each outer fold."""

    scores: Array  # (k,)
    summary: CvSummary  # corrected for training sets that overlap
    chosen: list[dict[str, Any]]
    inner_best: Array  # (k,)
    optimism: float | None  # None where inner and outer metric differ
    metric: str
    greater_is_better: bool

    def to_dict(self) -> dict[str, Any]:
        return plain(self._asdict() | {"summary": self.summary.to_dict()})

    def to_frame(self) -> Any:
        """One row per outer fold."""
        import polars

        columns = {"score": self.scores.tolist(), "inner_best": self.inner_best.tolist()}
        chosen = [str(one) for one in self.chosen]
        return polars.DataFrame({"fold": list(range(len(chosen))), **columns, "chosen": chosen})

    def __str__(self) -> str:
        s = self.summary
        whole = f"{self.metric} of the whole procedure, tuning included: {show(s.mean)}"
        limits = f"{show(s.low)} and {show(s.high)} ({len(self.scores)} outer folds)"
        lines = [f"{whole}, probably between {limits}"]
        if self.optimism is not None:
            inner = float(self.inner_best.mean())
            lines.append(f"the search itself promised {show(inner)}: off by {show(self.optimism)}")
        distinct = {str(one) for one in self.chosen}
        lines.append(f"chosen: {', '.join(sorted(distinct))}")
        return "\n".join(lines)


class Outer(NamedTuple):
    score: float
    chosen: dict[str, Any]
    inner: float


class Outside(NamedTuple):
    """What every outer fold shares."""

    tuned: BaseEstimator
    X: Any
    y: Any
    groups: Any
    metric: Metric


def _outer_fold(job: Outside, item: tuple[int, Split]) -> Outer:
    tuned, X, y, groups, metric = job
    number, (train, test) = item
    try:
        inside = {} if groups is None else {"groups": groups[train]}
        model = clone(tuned)
        rows = _safe_split(tuned, X, y, train)
        model.fit(*rows, **inside)
        X_test, y_test = _safe_split(tuned, X, y, test, train)
        score = judge(metric, model, X_test, y_test, None)
    except FAILURES as error:
        raise ValueError(f"outer fold {number} failed: {error}") from error
    return Outer(score, model.best_params_, float(model.best_score_))


def nested_cross_validation(
    tuned: BaseEstimator,
    X: Any,
    y: Any,
    *,
    metric: MetricLike = None,
    outer_cv: Folds = 5,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: Seed = None,
    callbacks: object = (),
) -> NestedCV:
    """Score a ``TunedEstimator`` on rows that had no part in its choice.

    Parameters
    ----------
    tuned : TunedEstimator
        Or any search with ``best_params_`` and ``best_score_`` after its fit.
    metric : str, scorer or callable, optional
        Of the outer folds; None: the metric of ``tuned``.
    outer_cv : int, splitter or list of (train, test), default=5
        The folds on which the whole search is judged.
    groups : array of shape (n,), optional
        For outer and inner splitters of groups.
    X, y : array-like
        The data.
    n_jobs : int, optional
        Workers over the outer folds; the numbers do not depend on it.
    random_state : int, RandomState, Generator or None
        Shuffles the outer folds.
    callbacks : scikit-learn callbacks, optional
        Such as ``sklearn.callback.ProgressBar()``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Ridge, TunedEstimator
    >>> from pellucid.evaluation import nested_cross_validation
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> tuned = TunedEstimator(Ridge(), {"alpha": [100.0, 1.0]}, cv=3)
    >>> found = nested_cross_validation(tuned, X, y, metric="mse", outer_cv=3)
    >>> found.scores.shape, len(found.chosen), found.optimism is None
    ((3,), 3, True)
    """
    if not hasattr(tuned, "fit") or "estimator" not in getattr(tuned, "get_params", dict)():
        raise ValueError(f"tuned must be a TunedEstimator or another search, got {tuned!r}")
    X, y = open_data(X, y)
    own = metric_for(getattr(tuned, "metric", None), tuned)
    score = own if metric is None else metric_for(metric, tuned)
    groups = None if groups is None else np.asarray(groups)
    splits = make_splits(
        outer_cv, X, y, classifier=is_classifier(tuned), groups=groups, random_state=random_state
    )
    work = partial(_outer_fold, Outside(tuned, X, y, groups, score))
    folds = list(enumerate(splits))
    found = run_tasks(work, folds, n_jobs=n_jobs, callbacks=callbacks, name="NestedCrossValidation")
    scores = np.array([one.score for one in found])
    inner = np.array([one.inner for one in found])
    same = score.name == own.name and hasattr(tuned, "metric")
    optimism = float(inner.mean() - scores.mean()) if same else None
    chosen, summary = [one.chosen for one in found], summary_of(scores, ratio_of(splits))
    named = score.name, score.greater_is_better
    return NestedCV(scores, summary, chosen, inner, optimism, *named)

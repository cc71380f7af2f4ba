r"""Cross-validation that keeps everything worth keeping: scores, spread, out-of-fold predictions.

    S_i = score on fold i of the model fitted without it
    summary    Var(mean) = s^2 / k                        folds taken as independent: too small
    corrected  Var(mean) = (1/k + n_test/n_train) s^2     Nadeau and Bengio

The rows of a fold are predicted once; score and out-of-fold prediction come from the same numbers.
"""

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples

from pellucid.core.arrays.reading import reading, row_table
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, IntArray, Seed
from pellucid.core.meta import fitted
from pellucid.core.records import plain, show
from pellucid.core.runtime.warn import warn
from pellucid.evaluation.metrics import metrics
from pellucid.evaluation.metrics.metrics import Metric, MetricLike, classes_of, predictions_for
from pellucid.evaluation.splits.folds import FAILURES, Split, check_data, make_splits, ratio_of
from pellucid.evaluation.validation.fold_summary import CvSummary, cv_summary
from pellucid.evaluation.workers import run_tasks


class CrossValidation(NamedTuple):
    """What a cross-validation found.

    ``predictions`` holds for every row what a model that never saw it said; rows that no fold
    tested are masked. ``folds`` are the (train, test) row numbers.
    """

    scores: Array  # (k,)
    train_scores: Array | None
    summary: CvSummary
    corrected: CvSummary
    predictions: Any  # masked array in row order, None where the model does not predict
    folds: list[Split]
    fit_seconds: Array
    metric: str
    greater_is_better: bool

    def to_dict(self) -> dict[str, Any]:
        said = None if self.predictions is None else self.predictions.tolist()
        summaries = {name: getattr(self, name).to_dict() for name in ("summary", "corrected")}
        return plain(self._asdict() | summaries | {"predictions": said})

    def to_frame(self) -> Any:
        """One row per fold."""
        import polars

        columns = {
            "fold": list(range(len(self.scores))),
            "rows": [len(test) for _, test in self.folds],
            "score": self.scores.tolist(),
            "fit_seconds": self.fit_seconds.tolist(),
        }
        if self.train_scores is not None:
            columns["train_score"] = self.train_scores.tolist()
        return polars.DataFrame(columns)

    def __str__(self) -> str:
        c, better = self.corrected, "greater" if self.greater_is_better else "smaller"
        between = f"{show(c.mean)}, probably between {show(c.low)} and {show(c.high)}"
        lines = [
            f"{self.metric} ({better} is better): {between}",
            f"{len(self.scores)} folds: {', '.join(show(float(s)) for s in self.scores)}",
        ]
        if self.train_scores is not None:
            lines.append(f"on the training rows {show(float(self.train_scores.mean()))}")
        return "\n".join(lines)


class FoldResult(NamedTuple):
    """One fold: scores, what was predicted for its test rows, seconds of fit and score."""

    test: float
    train: float | None
    prediction: Any
    fit_seconds: float
    score_seconds: float


class FoldJob(NamedTuple):
    """What every fold shares; a fold is then a number and its rows."""

    estimator: Any
    X: Any
    y: Any
    metric: Metric
    weight: Array | None = None
    params: dict[str, Any] | None = None  # of fit; what has one entry per row is cut with the rows
    train_scores: bool = False
    predictions: bool = False

    def fit_params(self, rows: IntArray) -> dict[str, Any]:
        n, found = _num_samples(self.X), {}
        for name, value in (self.params or {}).items():
            each = hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n
            found[name] = np.asarray(value)[rows] if each else value
        if self.weight is not None:
            found["sample_weight"] = self.weight[rows]
        return found


def judge(
    metric: Metric, model: BaseEstimator, X: Any, y: Any, w: Array | None, said: Any = None
) -> float:
    """The score of a fitted model on rows; ``said`` is what it predicts for them, if known."""
    if said is None:
        said = predictions_for(metric, model, X)
    truth = X if metric.needs == "clusters" else y
    return metric.score(truth, said, w, labels=classes_of(model))


def run_fold(job: FoldJob, candidate: dict[str, Any], split: Split) -> FoldResult:
    """Fit a clone with these parameters on the training rows, score it on the test rows."""
    train, test = split
    model = clone(job.estimator)
    if candidate:
        model.set_params(**clone_values(candidate))
    X, y = _safe_split(job.estimator, job.X, job.y, train)
    X_test, y_test = _safe_split(job.estimator, job.X, job.y, test, train)
    params = job.fit_params(train)
    weights = (None, None) if job.weight is None else (job.weight[train], job.weight[test])
    began = time.perf_counter()
    model = fitted(model, *((X,) if y is None else (X, y)), **params)
    learned = time.perf_counter()
    said = predictions_for(job.metric, model, X_test)
    value = judge(job.metric, model, X_test, y_test, weights[1], said)
    if not job.predictions:
        said = None
    elif job.metric.needs != "labels":
        said = model.predict(X_test) if hasattr(model, "predict") else None
    inside = judge(job.metric, model, X, y, weights[0]) if job.train_scores else None
    return FoldResult(value, inside, said, learned - began, time.perf_counter() - learned)


def clone_values(candidate: dict[str, Any]) -> dict[str, Any]:
    """Parameters that are estimators themselves are copied: no two fits share one."""
    return {name: clone(value, safe=False) for name, value in candidate.items()}


def _numbered(job: FoldJob, item: tuple[int, Split]) -> FoldResult:
    number, split = item
    try:
        return run_fold(job, {}, split)
    except FAILURES as error:
        raise ValueError(f"fold {number} failed: {error}") from error


def open_data(X: Any, y: Any) -> tuple[Any, Any]:
    """X that rows can be taken from, and y as an array of as many rows."""
    with reading(X):
        X = np.asarray(X) if isinstance(X, list | tuple) else indexable(row_table(X))[0]
    return X, None if y is None else check_data(X, y)


def metric_for(metric: MetricLike, estimator: BaseEstimator) -> Metric:
    """The metric; None is the default of the estimator's task."""
    return metrics.resolve_metric(metric, metrics.task_of(estimator) if metric is None else None)


def cross_validated(
    estimator: BaseEstimator,
    X: Any,
    y: Any = None,
    *,
    metric: MetricLike = None,
    cv: Folds = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: Seed = None,
    train_scores: bool = True,
    callbacks: object = (),
) -> CrossValidation:
    """Score an estimator on folds it was not fitted on.

    Parameters
    ----------
    estimator : estimator
        Any scikit-learn-compatible one; it is cloned, never changed.
    X, y : array-like
        The data.
    metric : str, scorer or callable, optional
        None: r2 for regressors, accuracy for classifiers.
    cv : int, splitter or list of (train, test), default=None
        None is 5. A number means (stratified) folds, shuffled if ``random_state`` is given.
    groups : array of shape (n,), optional
        For splitters of groups.
    n_jobs : int, optional
        Workers of joblib; the numbers do not depend on it.
    random_state : int, RandomState, Generator or None
    train_scores : bool, default=True
        Also score each model on its own training rows.
    callbacks : scikit-learn callbacks, optional
        ``sklearn.callback.ProgressBar()`` shows the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyRegressor
    >>> from pellucid.evaluation import cross_validated
    >>> y = np.arange(1.0, 7.0)
    >>> found = cross_validated(DummyRegressor(), y[:, None], y, metric="mse", cv=3)
    >>> found.scores, found.summary.mean, round(found.summary.variance_of_mean, 9)
    (array([9.25, 0.25, 9.25]), 6.25, 9.0)
    """
    X, y = open_data(X, y)
    score = metric_for(metric, estimator)
    splits = make_splits(
        cv, X, y, classifier=is_classifier(estimator), groups=groups, random_state=random_state
    )
    job = FoldJob(estimator, X, y, score, train_scores=train_scores, predictions=True)
    work, folds = partial(_numbered, job), list(enumerate(splits))
    found = run_tasks(work, folds, n_jobs=n_jobs, callbacks=callbacks, name="CrossValidation")
    scores = np.array([fold.test for fold in found])
    inside = np.array([fold.train for fold in found]) if train_scores else None
    summaries = summary_of(scores), summary_of(scores, ratio_of(splits))
    answers = [fold.prediction for fold in found]
    said = out_of_fold(answers, splits, _num_samples(X), is_regressor(estimator))
    seconds = np.array([fold.fit_seconds for fold in found])
    named = score.name, score.greater_is_better
    return CrossValidation(scores, inside, *summaries, said, splits, seconds, *named)


def summary_of(scores: Array, test_ratio: float | None = None) -> CvSummary:
    """``cv_summary``; where a score is NaN or alone there is no interval, and a warning says so."""
    if len(scores) > 1 and np.isfinite(scores).all():
        return cv_summary(scores, test_ratio=test_ratio)
    if test_ratio is None:
        why = "one fold has no spread" if len(scores) == 1 else "some folds have no score"
        warn(f"{why}: the mean has no interval")
    nan, mean = float("nan"), float(np.mean(scores))
    return CvSummary(mean, nan, nan, nan, nan, len(scores), test_ratio)


def out_of_fold(
    said: Sequence[Any], splits: Sequence[Split], n: int, is_number: bool
) -> np.ma.MaskedArray | None:
    """Predictions in row order; a row tested twice gets the mean, or the most frequent label.

    >>> out_of_fold([np.array([1.0]), np.array([2.0])], [([], [2]), ([], [0])], 3, True)
    masked_array(data=[2.0, --, 1.0],
                 mask=[False,  True, False],
           fill_value=1e+20)
    """
    if any(part is None for part in said):
        return None
    parts = [np.asarray(part) for part in said]
    rows, values = np.concatenate([test for _, test in splits]), np.concatenate(parts)
    times = np.bincount(rows, minlength=n)
    table: Any
    if times.max() <= 1 or (values.ndim == 2 and not is_number):
        table = np.zeros((n, *values.shape[1:]), dtype=values.dtype)
        table[rows] = values
    elif is_number:
        table = np.zeros((n, *values.shape[1:]))
        np.add.at(table, rows, values)
        table /= np.maximum(times, 1).reshape(-1, *[1] * (values.ndim - 1))
    else:
        labels, codes = np.unique(values, return_inverse=True)
        votes = np.zeros((n, len(labels)), dtype=np.intp)
        np.add.at(votes, (rows, codes), 1)
        table = labels[votes.argmax(axis=1)]
    mask = np.broadcast_to((times == 0).reshape(-1, *[1] * (table.ndim - 1)), table.shape)
    return np.ma.MaskedArray(table, mask=mask)

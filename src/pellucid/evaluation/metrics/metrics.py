r"""The ``metric=`` of every function: a name, a scikit-learn scorer or a callable -> one record.

How the other modules use it:

    metric = resolve_metric("rmse", "regression")             # -> Metric
    prediction = predictions_for(metric, estimator, X)        # labels, scores or probabilities
    value = metric.score(y, prediction, sample_weight, labels=classes_of(estimator))
    value = metric.evaluate(estimator, X, y, sample_weight)   # the last two lines in one

Losses keep their natural sign: an RMSE is positive and ``greater_is_better`` is False. What a
metric needs:

    labels         predict(X): (n,) labels or numbers, or (n, k) of them
    scores         decision_function, else predict_proba, else score_samples or predict:
                   (n,) for two classes, (n, K) for more
    probabilities  predict_proba(X): (n, K), or (n,) for the positive class of two
    clusters       cluster labels; the "truth" handed to ``score`` is then X itself

Columns of scores and probabilities are in the order of ``labels`` (the ``classes_`` of the
estimator); without it the sorted labels of y are meant, and their number must fit. Two classes and
``positive=None``: the later label is the positive one. What is undefined (0/0) is NaN with
``UndefinedMetricWarning``; what makes no sense raises ``ValueError``.
"""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier, is_clusterer, is_regressor
from sklearn.exceptions import UndefinedMetricWarning

from pellucid.core.arrays.check import hint
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.core.runtime.warn import warn
from pellucid.evaluation.metrics.prepared import Prepared, prepare, same_length
from pellucid.evaluation.metrics.registry import ALIASES, METRICS, Definition

DEFAULTS = {"regression": "r2", "classification": "accuracy", "clustering": "silhouette"}
DEFAULTS |= {"ranking": "ndcg", "multilabel": "f1"}
KINDS = {
    "classification": is_classifier,
    "regression": is_regressor,
    "clustering": is_clusterer,
}
_LOSS_ENDINGS = ("error", "loss", "deviance", "cost", "risk", "distance", "rmse", "mse", "mae")

Weight: TypeAlias = Array | None
Labels: TypeAlias = NDArray[Any] | None

MetricLike: TypeAlias = "str | Callable[..., float] | Metric | None"  # what metric= accepts


@readable
class Metric(NamedTuple):
    """One measure of performance and what is needed to compute it.

    ``interval`` says which kind of interval suits it: ``proportion`` (Wilson), ``mean`` (Student
    t of per-example losses), ``delong``, ``bootstrap`` or ``none``.

    >>> metric = resolve_metric("rmse")
    >>> metric.greater_is_better, metric.needs, metric.interval
    (False, 'labels', 'bootstrap')
    >>> round(metric.score([1, 3, 5], [1, 2, 3]), 10)
    1.2909944487
    """

    name: str  # as in the registry
    function: Callable[..., float]  # (y_true, prediction, sample_weight, labels, positive)
    needs: str  # labels, scores, probabilities or clusters
    greater_is_better: bool  # False for losses
    interval: str
    definition: Definition | None = None  # None for scorers and callables
    cost_matrix: ArrayLike | None = None  # of mean_cost

    def score(
        self,
        y_true: ArrayLike,
        prediction: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        labels: ArrayLike | None = None,
        positive: object = None,
    ) -> float:
        """The number; NaN with ``UndefinedMetricWarning`` where it is undefined."""
        value = float(self.function(y_true, prediction, sample_weight, labels, positive))
        if np.isnan(value):
            warn_undefined(self.name)
        return value

    def evaluate(
        self,
        estimator: BaseEstimator,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        positive: object = None,
    ) -> float:
        """The number for a fitted estimator on the rows of X."""
        prediction = predictions_for(self, estimator, X)
        truth = X if self.needs == "clusters" else y
        labels = classes_of(estimator)
        earlier = positive is not None and labels is not None and positive == labels[0]
        if earlier and self.needs == "scores" and np.ndim(prediction) == 1:
            prediction = -np.asarray(prediction)  # scores are those of the later label
        return self.score(truth, prediction, sample_weight, labels=labels, positive=positive)

    def losses(
        self,
        y_true: ArrayLike,
        prediction: ArrayLike,
        *,
        labels: ArrayLike | None = None,
        positive: object = None,
    ) -> Array | None:
        """One value per example whose mean is the metric, or None where there is no such thing."""
        if self.definition is None or self.definition.losses is None:
            return None
        data = self.prepared(y_true, prediction, None, labels, positive)
        return self.definition.losses(data)

    def prepared(
        self,
        y_true: ArrayLike,
        prediction: ArrayLike,
        sample_weight: ArrayLike | None,
        labels: ArrayLike | None,
        positive: object,
    ) -> Prepared:
        """The checked arrays that the definition of this metric works on."""
        return prepare(
            self.needs if self.definition is None else self.definition.input,
            y_true,
            prediction,
            sample_weight,
            labels=labels,
            positive=positive,
            cost_matrix=self.cost_matrix,
        )


def warn_undefined(name: str, why: str = "") -> None:
    """Say that a metric is NaN."""
    reason = f" {why}" if why else " for these rows"
    warn(f"{name} is undefined{reason}: it is NaN", UndefinedMetricWarning)


def resolve_metric(
    metric: MetricLike = None, task: str | None = None, *, cost_matrix: ArrayLike | None = None
) -> Metric:
    """The ``Metric`` of a course name, a scikit-learn scorer (name or object) or a callable.

    Parameters
    ----------
    metric : str, callable, scorer, Metric or None
        None takes the default of ``task``: r2 for regression, accuracy for classification.
        A callable is ``(y, prediction) -> float``; greater is better unless it says otherwise by
        an attribute ``greater_is_better`` or by a name that ends in error, loss, cost and the like.
    task : str, optional
        ``regression``, ``classification``, or any kind of ``study.detect_task``.
    cost_matrix : array of shape (K, K), optional
        For ``mean_cost``: row = truth, column = prediction, in the order of the sorted labels.

    Examples
    --------
    >>> resolve_metric(None, "regression").name, resolve_metric("neg_mean_absolute_error").name
    ('r2', 'mae')
    >>> resolve_metric("acuracy")
    Traceback (most recent call last):
    ValueError: metric 'acuracy' is not known; did you mean 'accuracy'?
    """
    if metric is None:
        metric = _default(task)
    if isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        name = ALIASES.get(metric, metric)
        if name in METRICS:
            return _defined(METRICS[name], cost_matrix)
        return _scorer(*_scorer_named(metric))
    if hasattr(metric, "_score_func"):
        return _scorer(getattr(metric._score_func, "__name__", "score"), metric)
    if callable(metric):
        return _callable(metric)
    need = "a name, a scorer or a callable (y, prediction) -> float"
    raise ValueError(f"metric must be {need}, got {metric!r}")


def _default(task: str | None) -> str:
    if task is None:
        raise ValueError("metric=None needs a task: 'regression', 'classification', ...")
    if task in ("binary", "multiclass", "anomaly"):
        task = "classification"
    if task == "multi_output_regression":
        task = "regression"
    if task not in DEFAULTS:
        raise ValueError(f"there is no default metric for the task {task!r}")
    return DEFAULTS[task]


def task_of(estimator: BaseEstimator) -> str:
    """``regression``, ``classification`` or ``clustering``, as the estimator's tags say."""
    for task, is_kind in KINDS.items():
        if is_kind(estimator):
            return task
    name = type(estimator).__name__
    raise ValueError(f"{name} is no classifier, regressor or clusterer: name the metric")


def classes_of(estimator: BaseEstimator) -> Any:
    """The labels in the order of the estimator's columns, or None."""
    classes = getattr(estimator, "classes_", None)
    return classes if classes is not None and np.ndim(classes) == 1 else None


def predictions_for(metric: Metric, estimator: BaseEstimator, X: ArrayLike) -> Any:
    """What ``metric`` needs from a fitted estimator; see the head of the module."""
    name = type(estimator).__name__
    if metric.needs == "labels":
        return estimator.predict(X)
    if metric.needs == "probabilities":
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(f"{metric.name} needs probabilities, and {name} has no predict_proba")
        return _one_matrix(estimator.predict_proba(X))
    if metric.needs == "clusters":
        return estimator.predict(X) if hasattr(estimator, "predict") else estimator.labels_
    for method in ("decision_function", "predict_proba", "score_samples", "predict"):
        if hasattr(estimator, method) and not (method == "predict" and is_classifier(estimator)):
            scores = _one_matrix(getattr(estimator, method)(X))
            return scores[:, 1] if scores.ndim == 2 and scores.shape[1] == 2 else scores
    lacks = f"{name} has neither decision_function nor predict_proba"
    raise ValueError(f"{metric.name} needs scores, and {lacks}")


def _one_matrix(values: list[Array] | ArrayLike) -> Any:
    """Multi-label forests answer one (n, 2) array per label: keep the second columns."""
    if isinstance(values, list):
        return np.column_stack([part[:, -1] for part in values])
    return np.asarray(values)


def _defined(definition: Definition, cost_matrix: ArrayLike | None) -> Metric:
    if definition.name == "mean_cost" and cost_matrix is None:
        raise ValueError("the metric mean_cost needs a cost_matrix[truth, prediction]")

    def function(y: ArrayLike, p: ArrayLike, w: Weight, labels: Labels, positive: object) -> float:
        data = prepare(
            definition.input, y, p, w, labels=labels, positive=positive, cost_matrix=cost_matrix
        )
        return definition.value(data)

    d = definition
    return Metric(d.name, function, d.needs, d.greater_is_better, d.interval, d, cost_matrix)


def _scorer_named(name: str) -> tuple[str, Any]:
    from sklearn.metrics import get_scorer, get_scorer_names

    if name not in get_scorer_names():
        known = [*METRICS, *get_scorer_names()]
        near = hint(name, known) or f"; there are {', '.join(METRICS)}"
        raise ValueError(f"metric {name!r} is not known{near}")
    return name.removeprefix("neg_"), get_scorer(name)


def _scorer(name: str, scorer: Any) -> Metric:
    """A scikit-learn scorer in its natural sign."""
    method = scorer._response_method
    methods = (method,) if isinstance(method, str) else tuple(method)
    if methods == ("predict",):
        needs = "labels"
    else:
        needs = "probabilities" if methods == ("predict_proba",) else "scores"
    score = scorer._score_func
    takes = inspect.signature(score).parameters

    def function(y: ArrayLike, p: ArrayLike, w: Weight, labels: Labels, positive: object) -> float:
        prediction = np.asarray(p)
        if needs != "labels" and prediction.ndim == 2 and prediction.shape[1] == 2:
            first = positive is not None and labels is not None and positive == labels[0]
            prediction = prediction[:, 0 if first else 1]
        options = dict(scorer._kwargs)
        if "labels" in takes and labels is not None and prediction.ndim == 2:
            options.setdefault("labels", labels)
        if positive is not None and "pos_label" in takes:
            options["pos_label"] = positive
        return _call_weighted(score, y, prediction, w, "sample_weight" in takes, options)

    return Metric(name, function, needs, scorer._sign > 0, "bootstrap")


def _callable(score: Callable[..., Any]) -> Metric:
    name = getattr(score, "__name__", type(score).__name__)
    better = getattr(score, "greater_is_better", None)
    if better is None:
        better = not name.lower().endswith(_LOSS_ENDINGS)
    try:
        weighted = "sample_weight" in inspect.signature(score).parameters
    except ValueError:  # builtins without a signature
        weighted = False

    def function(y: ArrayLike, p: ArrayLike, w: Weight, labels: Labels, positive: object) -> float:
        return _call_weighted(score, y, p, w, weighted, {})

    needs = getattr(score, "needs", "labels")
    return Metric(name, function, needs, bool(better), "bootstrap")


def _call_weighted(
    score: Callable[..., Any], y: Any, prediction: Any, w: Any, weighted: bool, options: dict
) -> float:
    """Weights go to functions that take them; whole ones become repetitions for the others."""
    y, prediction = np.asarray(y), np.asarray(prediction)
    same_length(len(y), len(prediction))
    if w is None:
        return float(score(y, prediction, **options))
    w = np.asarray(w, dtype=np.float64)
    if weighted:
        return float(score(y, prediction, sample_weight=w, **options))
    if not np.array_equal(w, np.round(w)):
        raise ValueError("this metric takes no sample_weight, so weights must be whole numbers")
    rows = np.repeat(np.arange(len(y)), w.astype(np.intp))
    return float(score(y[rows], prediction[rows], **options))

"""The interval of any metric: the kind that suits it, or the one asked for."""

import math
from typing import Any

import numpy as np
from scipy.special import expit, logit, stdtrit

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.evaluation.intervals import bootstrap_intervals as bootstrap
from pellucid.evaluation.intervals import intervals, resampled
from pellucid.evaluation.intervals.bootstrap_intervals import Statistic, Units
from pellucid.evaluation.intervals.intervals import PROPORTION_METHODS, Interval
from pellucid.evaluation.metrics import point_scores as ps
from pellucid.evaluation.metrics.delong import Ranking, delong_variance, mean_auc_variance, ranking
from pellucid.evaluation.metrics.metrics import Metric, MetricLike, resolve_metric, warn_undefined
from pellucid.evaluation.metrics.prepared import Prepared, column, weights
from pellucid.evaluation.metrics.registry import counts_of

METHODS = ("auto", *PROPORTION_METHODS, "t", "delong", "bca", "percentile")


def metric_interval(
    metric: MetricLike,
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    confidence: float = 0.95,
    method: str = "auto",
    n_resamples: int = 2000,
    groups: ArrayLike | None = None,
    random_state: Seed = 0,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    positive: object = None,
    cost_matrix: ArrayLike | None = None,
) -> Interval:
    """A metric with its interval.

    Parameters
    ----------
    metric : str, scorer, callable or Metric
        What to measure.
    y_true, y_pred : array
        ``y_pred`` holds labels, numbers, scores or probabilities, as the metric needs.
    confidence : float, default=0.95
        Of the limits.
    method : str, default="auto"
        ``auto``: Wilson for shares (accuracy, error; recall, specificity and precision of one
        class, given its denominator), Student t for means of per-example losses (mse, mae,
        log_loss, brier, mean_cost), DeLong for roc_auc, bootstrap BCa for all others and whenever
        there are groups. Or one of ``wilson exact normal hoeffding t delong bca percentile``.
    n_resamples : int, default=2000
        Draws of a bootstrap.
    groups : array, optional
        Rows of one group are not independent: whole groups are resampled.
    random_state : int, Generator or None, default=0
        Seed of the draws.
    sample_weight : array, optional
        Repetitions of the rows.
    labels, positive, cost_matrix : optional
        The order of score columns, the positive label and the costs of ``mean_cost``.

    Examples
    --------
    >>> y, yhat = [0, 0, 1, 1, 1, 0, 1, 0, 1, 1], [0, 1, 1, 1, 0, 0, 1, 0, 1, 1]
    >>> print(metric_interval("accuracy", y, yhat))
    0.8 (95 % interval 0.4902 to 0.9433; wilson, n = 10)
    >>> metric_interval("rmse", [1, 3, 5, 7], [1, 2, 3, 8]).method
    'bca'
    """
    check.fraction(confidence=confidence)
    check.one_of(METHODS, method=method)
    check.whole(n_resamples=n_resamples, at_least=2)
    metric = resolve_metric(metric, cost_matrix=cost_matrix)
    if metric.definition is None:
        data, w = None, weights(sample_weight, len(column(y_true, "y_true")))
        estimate = metric.score(y_true, y_pred, w, labels=labels, positive=positive)
    else:
        if sample_weight is not None and groups is not None:  # rows of weight 0 are dropped
            groups = np.asarray(groups)[np.asarray(sample_weight) > 0]
        data = metric.prepared(y_true, y_pred, sample_weight, labels, positive)
        estimate, w = metric.definition.value(data), data.w
        if math.isnan(estimate):
            warn_undefined(metric.name)
    n = _size(len(column(y_true, "y_true")) if data is None else data.n, w)
    method = _chosen(metric, data, groups) if method == "auto" else method
    if math.isnan(estimate) or method == "none":
        return Interval(estimate, math.nan, math.nan, math.nan, method, n, confidence)
    if data is not None and method in (*PROPORTION_METHODS, "t", "delong"):
        return closed_interval(metric, data, method, confidence)
    if method not in ("bca", "percentile"):
        raise ValueError(f"method={method!r} does not suit {metric.name}: use 'bca'")
    if data is not None:
        statistic = statistic_of(metric, data, bootstrap.make_units(data.n, w, groups), estimate)
    else:
        y, p = np.asarray(y_true), np.asarray(y_pred)
        units = bootstrap.make_units(len(y), w, groups)

        def measure(v: Array) -> float:
            keep = v > 0
            return float(metric.function(y[keep], p[keep], v[keep], labels, positive))

        statistic = resampled.any_statistic(measure, units, estimate)
    draws: dict[str, Any] = {"n_resamples": n_resamples, "random_state": random_state}
    rule: dict[str, Any] = {"n": n, "confidence": confidence, "method": method, **draws}
    found = bootstrap.bootstrap_interval(statistic, name=metric.name, **rule)
    return intervals.with_room(metric.name, found, n if data is None else smallest_class(data))


def smallest_class(data: Prepared) -> float:
    """How many examples the rarest class (or label) has; all of them where there are no classes."""
    w = np.ones(data.n) if data.w is None else data.w
    if data.labels is None or not len(data.labels):
        return float(w.sum())
    Y = data.y if data.y.ndim == 2 else np.eye(len(data.labels))[data.y.astype(np.intp)]
    counts = w @ Y
    return float(counts[counts > 0].min(initial=w.sum()))


def _size(n: float, w: Array | None) -> float:
    return intervals.counted(n if w is None else w.sum())


def _chosen(metric: Metric, data: Prepared | None, groups: ArrayLike | None) -> str:
    """What ``auto`` means for this metric and these data."""
    if metric.interval == "none":
        return "none"
    if groups is not None or data is None:
        return "bca"
    one_class = metric.name in ("precision", "recall", "specificity")
    if one_class and (data.kind == "multilabel" or data.positive is None):
        return "bca"
    return {"proportion": "wilson", "mean": "t", "delong": "delong"}.get(metric.interval, "bca")


def closed_interval(metric: Metric, data: Prepared, method: str, confidence: float) -> Interval:
    """Wilson, Student or DeLong, straight from the prepared arrays."""
    if method == "delong":
        return delong_interval(data, confidence, metric.name)
    if method == "t":
        losses = metric.definition.losses if metric.definition else None
        if losses is None:
            raise ValueError(f"{metric.name} is no mean over examples: use method='bca'")
        values = losses(data)
        found = intervals.mean_interval(values, confidence=confidence, sample_weight=data.w)
        # the mean of what is never negative is not negative either, whatever Student says
        return found._replace(low=max(found.low, 0.0)) if (values >= 0).all() else found
    hits, out_of = proportion_parts(metric.name, data)
    return intervals.proportion_interval(hits, out_of, confidence=confidence, method=method)


def proportion_parts(name: str, data: Prepared) -> tuple[float, float]:
    """Numerator and denominator of a metric that is a share."""
    if name in ("accuracy", "error", "subset_accuracy"):
        equal = data.y == data.prediction
        right = equal.all(axis=1) if equal.ndim == 2 else equal
        hit = ~right if name == "error" else right
        total = data.n if data.w is None else float(data.w.sum())
        return float(hit.sum() if data.w is None else data.w[hit].sum()), intervals.counted(total)
    if name not in ("precision", "recall", "specificity") or data.positive is None:
        raise ValueError(f"{name} is no share of independent examples: use method='bca'")
    c = ps.class_counts(counts_of(data))
    tp, fn, fp, tn = (float(part[data.positive]) for part in c)
    parts = {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "specificity": (tn, tn + fp)}
    hits, out_of = parts[name]
    return hits, intervals.counted(out_of)


def delong_interval(
    data: Prepared, confidence: float, name: str = "roc_auc", ranks: list[Ranking] | None = None
) -> Interval:
    """logit(AUC) -+ t s/(AUC (1 - AUC)), t with the df of Welch's rule for the two classes.

    A perfect ranking has s = 0 and takes Wilson's limit for the smaller class.
    """
    if name != "roc_auc":
        raise ValueError(f"method='delong' is for roc_auc, not for {name}")
    n = _size(data.n, data.w)
    if data.prediction.ndim == 1:
        positive = (data.y == data.positive).astype(np.float64)
        auc, variance, P, N, df = delong_variance(positive, data.prediction, data.w)
    else:
        Y = data.y if data.y.ndim == 2 else np.eye(len(data.labels))[data.y]
        auc, variance = mean_auc_variance(ranks or curve_ranks(data), data.w)
        df = np.inf
        totals = Y.sum(axis=0) if data.w is None else data.w @ Y
        P, N = totals.min(), n - totals.max()
    if math.isnan(variance):
        warn_undefined("the interval of roc_auc", "with one example of a class")
        return Interval(auc, math.nan, math.nan, math.nan, "delong", n, confidence)
    error = math.sqrt(variance)
    if variance == 0 and auc in (0.0, 1.0):
        m = min(P, N)
        edge = intervals.proportion_interval(auc * m, m, confidence=confidence)
        return Interval(auc, edge.low, edge.high, 0.0, "wilson", n, confidence)
    if variance == 0:
        return Interval(auc, auc, auc, 0.0, "delong", n, confidence)
    t = float(stdtrit(max(df, 1.0), (1 + confidence) / 2))
    half = t * error / (auc * (1 - auc))
    low, high = (float(expit(logit(auc) + side * half)) for side in (-1, 1))
    return Interval(auc, low, high, error, "delong", n, confidence)


def statistic_of(metric: Metric, data: Prepared, units: Units, estimate: float) -> Statistic:
    """The short way of this metric through the bootstrap."""
    definition, name = metric.definition, metric.name
    assert definition is not None
    if name in ("rmse", "nrmse", "r2"):
        moments = resampled.regression_moments(name, data.y, data.prediction)
        return resampled.moment_statistic(*moments, units, estimate)
    if data.kind == "classes" and name != "mean_cost":
        return resampled.table_statistic(definition.value, data, units, estimate)
    if definition.losses is not None:
        moments = resampled.loss_moments(definition.losses(data))
        return resampled.moment_statistic(*moments, units, estimate)
    if definition.input == "scores":
        return resampled.curve_statistic(name, curve_ranks(data), units, estimate)
    if name in ("median_ae", "max_error") and data.y.shape[1] == 1:
        miss = np.abs(data.y - data.prediction)[:, 0]
        return resampled.order_statistic(name, miss, units, estimate)

    def measure(v: Array) -> float:
        keep = v > 0
        part = data._replace(y=data.y[keep], prediction=data.prediction[keep], w=v[keep])
        return definition.value(part)

    return resampled.any_statistic(measure, units, estimate)


def curve_ranks(data: Prepared) -> list[Ranking]:
    """One ranking for two classes, one per class or label for more."""
    if data.prediction.ndim == 1:
        return [ranking((data.y == data.positive).astype(np.float64), data.prediction)]
    Y = data.y if data.y.ndim == 2 else np.eye(len(data.labels))[data.y]
    return [ranking(y, s) for y, s in zip(Y.T, data.prediction.T, strict=True)]

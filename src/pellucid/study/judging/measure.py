r"""The measure of a study, applied to a fitted model: one number per set of rows.

The label is the likeliest class. Where balanced accuracy was asked for it is the class that is most
above its share, argmax_k P(k | x) / pi_k, which has the best expected mean recall; where F1 was, it
is the positive class for the k rows of highest probability p that have the best expected F1,

    F(k) = 2 (p_(1) + ... + p_(k)) / (k + p_1 + ... + p_n)

References: Lewis (1995); Ye, Chai, Lee & Chieu (2012).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray
from pellucid.evaluation.intervals.intervals import Interval
from pellucid.evaluation.metrics.metrics import Metric, resolve_metric
from pellucid.evaluation.metrics.registry import normalised_gain
from pellucid.evaluation.validation.fold_summary import cv_summary
from pellucid.study.candidates.guessing import GuessClassifier
from pellucid.study.judging.decision_rule import balancing_costs, costs_among, least_cost
from pellucid.study.judging.jackknife import scale_of, unseen_share
from pellucid.study.records import Task

SHARES = (
    "accuracy",
    "error",
    "balanced_accuracy",
    "rebalanced_accuracy",
    "precision",
    "recall",
    "specificity",
    "f1",
    "roc_auc",
    "average_precision",
    "pr_area",
    "ndcg",
    "subset_accuracy",
    "hamming",
)
DEVIANCES = ("poisson_deviance", "gamma_deviance", "tweedie_deviance")
ERRORS = ("rmse", "mse", "mae", "nrmse", "median_ae", "max_error", "log_loss", "brier")
POSITIVE = (*ERRORS, *DEVIANCES)
BOUNDS = dict.fromkeys(SHARES, (0.0, 1.0)) | dict.fromkeys(POSITIVE, (0.0, math.inf))
BALANCED = ("balanced_accuracy", "rebalanced_accuracy")
OF_BOTH = ("precision", "recall", "specificity", "f1", "mcc", "kappa")  # judged by both classes
BOUNDS |= {"mcc": (-1.0, 1.0), "kappa": (-1.0, 1.0), "r2": (-math.inf, 1.0)}


class Scorer(NamedTuple):
    """What is measured, and what it needs to know besides the rows."""

    task: Task
    metric: Metric
    cost_matrix: Any = None
    shares: Any = None  # of the classes of the task, where the measure counts them alike
    floor: float = 1e-3  # what is said of a class that the learning rows of a fold do not have

    @property
    def sign(self) -> float:
        return 1.0 if self.metric.greater_is_better else -1.0

    def score(
        self, model: BaseEstimator, Z: Array, y: Any, query: ArrayLike | None = None
    ) -> float:
        """The measure of a fitted model; ``query`` are the lists of a ranking."""
        if self.task.kind == "ranking" and self.metric.name == "ndcg":
            return mean_gain(y, model.predict(Z), query)
        if self.metric.name == "mean_cost":
            return self.metric.score(y, self.decide(model, Z), labels=self.labels_of(model))
        if self.task.kind == "multilabel" and self.metric.name == "f1":
            return mean_f1(np.asarray(y), np.asarray(model.predict(Z)))
        positive = self.task.positive if self.task.kind == "binary" else None
        if self.metric.needs == "labels":
            # the rows of a group may all be of one class: the labels are those of the task
            known = np.asarray(self.task.classes) if self.task.kind == "binary" else None
            value = self.metric.score(y, self.said(model, Z), labels=known, positive=positive)
            return self.defined(value)
        if self.metric.needs == "probabilities" and self.task.kind in ("binary", "multiclass"):
            return self.metric.score(y, self.probabilities(model, Z), labels=self.labels_of(model))
        return self.metric.evaluate(model, Z, y, positive=positive)

    def defined(self, value: float) -> float:
        """The measure; 0 where it is 0 / 0 because one class is never said: that finds nothing."""
        name, kind = self.metric.name, self.task.kind
        unsaid = name in ("mcc", "kappa") or (name in ("precision", "f1") and kind == "binary")
        return 0.0 if unsaid and math.isnan(value) else value

    def said(self, model: BaseEstimator, Z: Array) -> Any:
        """What the model predicts; of counts never less than 0.

        A saved model (a pipeline) decides by itself; so does guessing.
        """
        plain = isinstance(model, Pipeline | GuessClassifier)
        if self.shares is not None and not plain and hasattr(model, "predict_proba"):
            return self.least_costly(model, Z, balancing_costs(self.shares))
        known = self.task.kind == "binary" and len(getattr(model, "classes_", ())) == 2
        if self.metric.name == "f1" and known and not plain and hasattr(model, "predict_proba"):
            place = int(np.flatnonzero(np.asarray(model.classes_) == self.task.positive)[0])
            yes = best_expected_f1(np.asarray(model.predict_proba(Z))[:, place])
            return np.asarray(model.classes_)[np.where(yes, place, 1 - place)]
        found = model.predict(Z)
        return np.maximum(found, 0.0) if self.task.nature == "counts" else found

    def labels_of(self, model: Any) -> Any:
        """The labels that a model answers with, and those of the task that it has not met."""
        known = np.asarray(model.classes_)
        return known if len(known) >= len(self.task.classes) else np.asarray(self.task.classes)

    def probabilities(self, model: Any, Z: Any) -> Array:
        """What the model says of every label; a class that comes late is possible too."""
        P, labels = np.asarray(model.predict_proba(Z)), self.labels_of(model)
        if len(labels) == P.shape[1]:
            return P
        every = np.full((len(P), len(labels)), self.floor)
        every[:, np.searchsorted(labels, model.classes_)] = P
        return every / every.sum(axis=1, keepdims=True)

    def decide(self, model: BaseEstimator, Z: Array) -> Any:
        """Labels: by least expected cost where there are costs and probabilities."""
        if self.cost_matrix is None or not hasattr(model, "predict_proba"):
            return model.predict(Z)
        return self.least_costly(model, Z, self.cost_matrix)

    def least_costly(self, model: Any, Z: Array, costs: ArrayLike) -> Any:
        """The labels of least cost, of those that the model knows."""
        known = costs_among(costs, self.task.classes, model.classes_)
        return least_cost(model.predict_proba(Z), model.classes_, known)


def best_expected_f1(p: Array) -> BoolArray:
    """The rows to call positive for the best expected F1; equal probabilities go together.

    >>> best_expected_f1(np.array([0.9, 0.3, 0.1, 0.4])), best_expected_f1(np.array([0.2, 0.2]))
    (array([ True, False, False,  True]), array([ True,  True]))
    """
    order = np.sort(p)[::-1]
    expected = 2 * np.cumsum(order) / (np.arange(1, len(p) + 1) + p.sum())
    last = np.append(order[1:] < order[:-1], True)  # of equal ones
    return np.asarray(p >= order[np.where(last, expected, -1.0).argmax()])


def mean_f1(Y: Array, said: Array) -> float:
    """F1, mean over the labels; one that is neither there nor said in these rows has none.

    >>> mean_f1(np.array([[1, 0], [0, 0]]), np.array([[1, 0], [1, 0]]))
    0.6666666666666666
    """
    hits, total = (Y * said).sum(axis=0), (Y + said).sum(axis=0)
    seen = total > 0
    return float((2 * hits[seen] / total[seen]).mean()) if seen.any() else 0.0


def mean_gain(y: Array, said: Array, query: Any) -> float:
    """ndcg, mean over the lists that can be ordered well or badly (as ``ranking_metrics``).

    >>> mean_gain(np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]), np.zeros(3))
    1.0
    """
    order = np.argsort(query, kind="stable")
    ends = np.flatnonzero(np.diff(np.unique(query, return_inverse=True)[1][order])) + 1
    lists = [rows for rows in np.split(order, ends) if y[rows].min() < y[rows].max()]
    if not lists:
        raise ValueError("no list has rows of different relevance: nothing can be ranked")
    return float(np.mean([normalised_gain(y[rows], said[rows]) for rows in lists]))


def make_scorer(task: Task, cost_matrix: ArrayLike | None, y: Any = None) -> Scorer:
    """The scorer of a task; ``y`` are its learning rows, for measures that weigh classes."""
    needs = cost_matrix if task.metric == "mean_cost" else None
    metric = resolve_metric(task.metric, task.kind, cost_matrix=needs)
    if y is None:
        return Scorer(task, metric, needs)
    shares = None
    if task.metric in BALANCED and task.kind in ("binary", "multiclass"):
        counts = np.array([(np.asarray(y) == label).sum() for label in task.classes])
        shares = np.maximum(counts, 1) / len(y)
    return Scorer(task, metric, needs, shares, 0.5 / len(y))


def fold_interval(scores: Array, ratio: float, metric: str, n: int) -> Interval:
    """The mean of the scores of folds with ``n`` rows, its variance corrected for overlap.

    The interval is taken on a scale without edges (``jackknife.scale_of``), so that no limit
    reaches a value that only a perfect or a useless model has.

    >>> found = fold_interval(np.array([1.0, 2.0, 9.0]), 0.5, "rmse", 30)
    >>> bool(0 < found.low < found.estimate == 4.0 < found.high)
    True
    """
    s = cv_summary(scores, test_ratio=ratio)
    floor, top = BOUNDS.get(metric, (-math.inf, math.inf))
    there, back = scale_of((floor, top))
    low, high = max(s.low, floor), min(s.high, top)
    if floor < s.mean < top:
        slope = 1 / (s.mean - floor) + 1 / (top - s.mean) or 1.0  # of the scale
        at, half = there(s.mean), min((s.high - s.mean) * slope, 500.0)
        low, high = back(at - half), back(at + half)
    elif low == high == top and math.isfinite(floor):  # no row went wrong: some still may
        low = top - (top - floor) * unseen_share(n)
    return Interval(s.mean, low, high, s.standard_error, "corrected t over folds", n)


def chunks(y: Any, groups: ArrayLike | None, parts: int) -> list[Any]:
    """Places of the rows in parts of like composition; rows of a group stay together."""
    if groups is not None:
        _, codes = np.unique(groups, return_inverse=True)
        return [np.flatnonzero(codes % parts == i) for i in range(parts)]
    order = np.argsort(np.asarray(y) if np.ndim(y) == 1 else np.arange(len(y)), kind="stable")
    return [np.sort(order[i::parts]) for i in range(parts)]

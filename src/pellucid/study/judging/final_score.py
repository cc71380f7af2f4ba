"""Evaluation: the model that is tested, and the one use of the test rows.

``build_model`` fits the chosen candidate on given rows; ``assess`` scores the one of the learning
rows once, beside guessing, and keeps what its errors look like.
"""

import datetime
import math
import warnings
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.evaluation.calibration.reliability_curve import reliability
from pellucid.evaluation.intervals.intervals import Interval, MetricTable
from pellucid.evaluation.intervals.metric_intervals import metric_interval
from pellucid.evaluation.metrics.classification import classification_metrics
from pellucid.evaluation.metrics.metrics import classes_of, predictions_for
from pellucid.evaluation.metrics.regression_scores import regression_metrics
from pellucid.evaluation.metrics.tasks import multilabel_metrics, ranking_metrics
from pellucid.evaluation.splits.guard import GuardedTest
from pellucid.inference import LossMatrixClassifier
from pellucid.study.candidates.limited import LimitedRegressor, on_log_scale
from pellucid.study.candidates.non_negative import NonNegativeRegressor
from pellucid.study.candidates.ordered import places
from pellucid.study.candidates.training import Outcome, Tuning, Workshop
from pellucid.study.columns.lagged_features import LaggedFeatures
from pellucid.study.columns.lags import make_tail
from pellucid.study.columns.series_model import SeriesModel
from pellucid.study.columns.table_features import TableFeatures
from pellucid.study.judging.calibration import TemperedClassifier
from pellucid.study.judging.decision_rule import costs_among
from pellucid.study.judging.gain import EXTREME
from pellucid.study.judging.measure import Scorer
from pellucid.study.judging.slices import error_slices
from pellucid.study.judging.threshold_choice import Cut
from pellucid.study.reading.profiles import moment_name
from pellucid.study.reading.target_arrays import CLASSES
from pellucid.study.reading.tasks import COUNTED
from pellucid.study.records import Final, Task

WORST, POINTS, DRAWS = 10, 2000, 200
STEPS = "mean_steps"  # by which ordered labels are missed


class Far(NamedTuple):
    """What predicts rows that are more than ``steps`` ahead of the last known target."""

    steps: int
    outcome: Outcome
    params: dict[str, Any]
    costs: ArrayLike | None
    trust: float | None


def build_model(
    shop: Workshop,
    outcome: Outcome,
    rows: IntArray,
    params: dict[str, Any],
    costs: ArrayLike | None,
    trust: float | None = None,
    far: Far | None = None,
) -> Pipeline:
    """Features and chosen model, fitted on these rows.

    With ``costs`` it decides by them, with ``trust`` its probabilities are calibrated; a model with
    lags leaves what it cannot reach to ``far``.
    """
    pipeline = unfitted(shop, outcome, rows, params, costs, trust)
    lists = {f"model__{k}": v for k, v in shop.fit_options(pipeline[-1], rows).items()}
    if outcome.tried.features.get("lags"):
        beyond = None if far is None else unfitted(shop, far.outcome, rows, *far[2:])
        reach = 1 if far is None else far.steps
        pipeline = SeriesModel(pipeline.steps, far=beyond, reach=reach)
    return pipeline.fit(shop.frame[rows], shop.y[rows], **lists)


def unfitted(
    shop: Workshop,
    outcome: Outcome,
    rows: IntArray,
    params: dict[str, Any],
    costs: ArrayLike | None,
    trust: float | None,
) -> Pipeline:
    """Features and model that are to be fitted on these rows."""
    model = clone(outcome.tried.candidate.estimator).set_params(**params)
    if shop.scorer.task.kind == "regression" and on_log_scale(model):
        model = LimitedRegressor(model)
    if shop.scorer.task.nature == "counts" and outcome.complexity > 0:
        model = NonNegativeRegressor(model)
    if trust is not None:
        model = TemperedClassifier(model, trust)
    if costs is not None:
        known = costs_among(costs, shop.scorer.task.classes, np.unique(shop.y[rows]))
        model = LossMatrixClassifier(model, known)
    features = final_features(shop, outcome.tried.features, rows)
    return Pipeline([("features", features), ("model", model)])


def final_features(shop: Workshop, options: dict[str, Any], rows: IntArray) -> TableFeatures:
    """The features of a model that is kept; with lags it makes those of new rows itself."""
    features = shop.make_features(options)
    if shop.lags is None:
        return features
    tail = None
    if options.get("lags"):
        assert shop.cells is not None
        tail = make_tail(shop.lags, shop.cells, shop.y, rows)
    lags = shop.lags if tail is not None else None
    params = features.get_params(deep=False)
    params["kinds"] = {name: shop.kinds[name] for name in params["columns"]}
    forms = {k: v for k, v in (params["forms"] or {}).items() if k in params["kinds"]}
    return LaggedFeatures(**params | {"forms": forms or None}, lags=lags, tail=tail)


class Said(NamedTuple):
    """What a model says of the test rows."""

    prediction: Any
    probability: Array | None


def say(model: BaseEstimator, X: Any, task: Task) -> Said:
    classes = task.kind in CLASSES and hasattr(model, "predict_proba")
    return Said(model.predict(X), model.predict_proba(X) if classes else None)


def score_table(
    scorer: Scorer, model: BaseEstimator, said: Said, X: Any, y: Any, query: ArrayLike | None
) -> MetricTable:
    """Every measure of the task with its interval; the study's own among them."""
    task = scorer.task
    table: MetricTable
    if task.kind == "multilabel":
        table = multilabel_metrics(y, said.prediction)
    elif task.kind == "ranking":
        table = ranking_metrics(y, said.prediction, query)
    elif task.kind in CLASSES:
        positive = task.positive if task.kind == "binary" else None
        labels = np.union1d(model.classes_, y)
        scores = said.probability if len(labels) == len(model.classes_) else None
        seen = len(np.unique(y)) == len(labels)  # curves need every class among the test rows
        table = classification_metrics(
            y,
            said.prediction,
            scores if seen else None,
            positive=positive,
            cost_matrix=scorer.cost_matrix,
            labels=labels,
        )
        table = with_beside(table, task, said, y)
    else:
        table = with_beside(regression_metrics(y, said.prediction), task, said, y)
        for name in EXTREME:  # no resample has a larger error than these rows, other rows do
            if name != task.metric:
                bare = table[name]._replace(low=math.nan, high=math.nan)
                table = with_metric(table, name, bare)
    if task.metric in table:
        return table
    return with_metric(table, task.metric, metric_of(scorer, model, X, y))


def with_beside(table: MetricTable, task: Task, said: Said, y: Any) -> MetricTable:
    """The table with the measure that suits the target beside the study's own.

    Of counts it is the Poisson deviance, where every prediction is above 0; of ordered labels the
    mean number of steps between what is said and what is true.
    """
    if task.nature == "ordered":
        true, told = (places(one, task.order).astype(float) for one in (y, said.prediction))
        return with_metric(table, STEPS, metric_interval("mae", true, told))
    if task.nature != "counts" or not (np.asarray(said.prediction) > 0).all():
        return table
    return with_metric(table, COUNTED, metric_interval(COUNTED, y, said.prediction))


def metric_of(
    scorer: Scorer, model: BaseEstimator, X: Any, y: Any, query: ArrayLike | None = None
) -> Interval:
    """The study's own measure of a model on these rows."""
    if scorer.task.kind == "ranking":
        return ranking_metrics(y, model.predict(X), query)[scorer.task.metric]
    positive = scorer.task.positive if scorer.task.kind == "binary" else None
    if scorer.metric.needs == "probabilities":
        said, labels = scorer.probabilities(model, X), scorer.labels_of(model)
        return metric_interval(scorer.metric, y, said, labels=labels)
    prediction = predictions_for(scorer.metric, model, X)
    return metric_interval(
        scorer.metric, y, prediction, labels=classes_of(model), positive=positive
    )


def with_metric(table: MetricTable, name: str, interval: Interval) -> MetricTable:
    """The table with one more measure, in its own class."""
    longer = copy(table)
    object.__setattr__(longer, "_intervals", {**table, name: interval})
    return longer


class TestRows(GuardedTest):
    """The test rows of a study: one use, with the measures of its task."""

    __test__ = False  # not a test of pytest's

    def __init__(self, X: Any, y: Any, scorer: Scorer, query: ArrayLike | None = None) -> None:
        super().__init__(X, y)
        self._scorer, self._query = scorer, query
        self.said: Said | None = None

    def _table(self, model: BaseEstimator) -> MetricTable:
        self.said = say(model, self._X, self._scorer.task)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is undefined is a dash in the table
            return score_table(self._scorer, model, self.said, self._X, self._y, self._query)


class Evaluation(NamedTuple):
    """The final record, and what the findings look at."""

    final: Final
    said: Said
    y: Any


def assess(
    shop: Workshop,
    model: BaseEstimator,
    guess: Any,
    test: IntArray,
    cells: pl.DataFrame,
    cut: Cut | None,
) -> Evaluation:
    """Score the model once on the test rows; ``cells`` is the whole table, for the worst rows."""
    X, y = shop.frame[test], shop.y[test]
    query = None if shop.query is None else shop.query[test]
    guard = TestRows(X, y, shop.scorer, query)
    table = guard.score(model)
    said = guard.said
    assert said is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = say(guess, X, shop.scorer.task)
        baseline = score_table(shop.scorer, guess, told, X, y, query)
    final = Final(
        table,
        len(y),
        baseline,
        worst=worst_rows(shop, model, said, y, test, cells),
        predictions=prediction_rows(shop.scorer.task, model, said, y, test),
    )
    final = final._replace(slices=_slices(shop, said, y, X))
    if shop.scorer.task.kind in CLASSES:
        final = _add_classes(final, shop.scorer.task, model, said, y, cut)
    elif shop.scorer.task.kind != "multilabel":
        rng = np.random.default_rng(0)
        at = np.arange(len(y))
        if len(at) > POINTS:
            at = np.sort(rng.choice(len(y), POINTS, replace=False))
        final = final._replace(
            residuals={"actual": y[at].tolist(), "predicted": said.prediction[at].tolist()}
        )
    return Evaluation(final, said, y)


def _slices(shop: Workshop, said: Said, y: Any, X: Any) -> list[dict[str, Any]] | None:
    kind, apart = shop.scorer.task.kind, shop.groups is None and shop.kind != "sequential"
    if kind in CLASSES:
        wrong = (said.prediction != y).astype(np.float64)
        return error_slices(X, shop.kinds, wrong, wrong=True, apart=apart)
    if kind != "regression":
        return None
    return error_slices(X, shop.kinds, np.abs(said.prediction - y), wrong=False, apart=apart)


def roc_data(task: Task, model: BaseEstimator, said: Said, y: Any) -> dict[str, Any] | None:
    """The ROC curve of two classes, at most 200 points of it."""
    if task.kind != "binary" or said.probability is None or len(np.unique(y)) < 2:
        return None
    p = said.probability[:, int(np.flatnonzero(model.classes_ == task.positive)[0])]
    order = np.argsort(-p, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(p[order])), len(p) - 1)
    hit = (y == task.positive)[order]
    true = np.concatenate([[0.0], np.cumsum(hit)[ends] / hit.sum()])
    false = np.concatenate([[0.0], np.cumsum(~hit)[ends] / (~hit).sum()])
    at = np.unique(np.linspace(0, len(true) - 1, min(len(true), 200)).astype(int))
    area = float(np.trapezoid(true, false))
    return {"false": false[at].tolist(), "true": true[at].tolist(), "area": area}


def _add_classes(
    final: Final, task: Task, model: BaseEstimator, said: Said, y: Any, cut: Cut | None
) -> Final:
    table: Any = final.table
    labels = [_label(one) for one in table.confusion.labels]
    by_class = []
    for label, one in table.per_class.items():
        recall, precision = one["recall"], one["precision"]
        by_class.append(
            {
                "label": _label(label),
                "n": float(recall.n),
                "precision": precision.estimate,
                "recall": recall.estimate,
                "recall_low": recall.low,
                "recall_high": recall.high,
            }
        )
    return final._replace(
        wrong=int((said.prediction != y).sum()),
        confusion={"labels": labels, "counts": table.confusion.counts.tolist()},
        by_class=by_class,
        reliability=reliability_data(task, model, said, y),
        threshold=None if cut is None else cut.curve,
        roc=roc_data(task, model, said, y),
    )


def reliability_data(task: Task, model: BaseEstimator, said: Said, y: Any) -> dict[str, Any] | None:
    """Predicted and observed shares; of the positive class, or of "the likeliest class is right".

    ``band`` is the ece that perfect probabilities would exceed in 5 % of such tables.
    """
    if said.probability is None or len(y) < 20:
        return None
    P, classes = said.probability, model.classes_
    if task.kind == "binary":
        p = P[:, int(np.flatnonzero(classes == task.positive)[0])]
        hit = (y == task.positive).astype(np.intp)
    else:
        p = P.max(axis=1)
        hit = (classes[P.argmax(axis=1)] == y).astype(np.intp)
    p = np.clip(p, 0.0, 1.0)
    bins = max(2, min(10, len(y) // 15))
    if hit.min() == hit.max():
        return None
    found = reliability(hit, p, n_bins=bins)
    rng = np.random.default_rng(0)
    eces = []
    for _ in range(DRAWS):
        fake = (rng.random(len(p)) < p).astype(np.intp)
        if fake.min() < fake.max():
            eces.append(reliability(fake, p, n_bins=bins).ece)
    band = float(np.quantile(eces, 0.95)) if eces else float("nan")
    return {
        "predicted": found.probability.tolist(),
        "observed": found.observed.tolist(),
        "low": found.low.tolist(),
        "high": found.high.tolist(),
        "counts": found.counts.tolist(),
        "ece": found.ece,
        "band": band,
    }


def row_losses(task: Task, model: BaseEstimator, said: Said, y: Any) -> Array:
    """How wrong the model is on each row: surprise, or absolute error."""
    if task.kind in CLASSES:
        if said.probability is None:
            return (said.prediction != y).astype(np.float64)
        known = {label: j for j, label in enumerate(model.classes_.tolist())}
        at = np.array([known.get(label, -1) for label in y.tolist()])
        p = np.where(at >= 0, said.probability[np.arange(len(y)), at], 0.0)
        return -np.log(np.clip(p, 1e-12, 1.0))
    miss = np.abs(np.asarray(said.prediction, dtype=np.float64) - y)
    return miss if miss.ndim == 1 else miss.mean(axis=1)


def worst_rows(
    shop: Workshop, model: BaseEstimator, said: Said, y: Any, test: IntArray, cells: pl.DataFrame
) -> list[dict[str, Any]]:
    """The rows the model errs on most, with their cells."""
    task = shop.scorer.task
    loss = row_losses(task, model, said, y)
    order = np.argsort(-loss, kind="stable")[:WORST]
    names = list(cells.columns)
    found = []
    for i in order:
        if loss[i] <= 0 or (task.kind in CLASSES and said.prediction[i] == y[i]):
            continue
        row = cells.row(int(test[i]))
        found.append(
            {
                "row": int(test[i]),
                "actual": _told(task, y[i]),
                "predicted": _told(task, said.prediction[i]),
                "loss": float(loss[i]),
                "cells": dict(zip(names, map(_label, row), strict=True)),
            }
        )
    return found


def prediction_rows(
    task: Task, model: BaseEstimator, said: Said, y: Any, test: IntArray
) -> list[dict[str, Any]]:
    """One record per test row, for the file of predictions."""
    rows = []
    names = [] if said.probability is None else [f"probability_{c}" for c in model.classes_]
    for i, row in enumerate(test):
        one: dict[str, Any] = {"row": int(row)}
        if task.kind == "multi_output_regression":  # a column for every target
            one |= {f"actual_{t}": float(v) for t, v in zip(task.target, y[i], strict=True)}
            told = zip(task.target, said.prediction[i], strict=True)
            one |= {f"prediction_{t}": float(v) for t, v in told}
        else:
            one |= {"actual": _told(task, y[i]), "prediction": _told(task, said.prediction[i])}
        if said.probability is not None:
            one |= dict(zip(names, said.probability[i].tolist(), strict=True))
        rows.append(one)
    return rows


def _told(task: Task, value: Any) -> Any:
    """A target as the table says it; several labels as ``a;b``."""
    if task.kind == "multilabel":
        return ";".join(str(name) for name, on in zip(task.classes, value, strict=True) if on)
    return _label(value)


def _label(value: Any) -> Any:
    """A cell as JSON can hold it."""
    if isinstance(value, np.ndarray):
        return [_label(one) for one in value.tolist()]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, datetime.datetime):
        return moment_name(value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def curve_of(tuning: Tuning, name: str) -> dict[str, Any] | None:
    """Scores against the first parameter of a tuning, the others at their chosen values."""
    chosen = tuning.params[tuning.chosen]
    at = [
        i
        for i, one in enumerate(tuning.params)
        if all(one[key] == chosen[key] for key in chosen if key != name)
    ]
    if len(at) < 2:
        return None
    k = tuning.scores.shape[1]
    spread = tuning.scores[at].std(axis=1, ddof=1) / np.sqrt(k) if k > 1 else np.zeros(len(at))
    values = [tuning.params[i][name] for i in at]
    shown = [v if isinstance(v, int | float) else str(v) for v in values]
    return {
        "parameter": name,
        "values": shown,
        "train": None if tuning.train is None else tuning.train[at].mean(axis=1).tolist(),
        "test": tuning.scores[at].mean(axis=1).tolist(),
        "test_se": spread.tolist(),
        "chosen": shown[at.index(tuning.chosen)],
        "rule": tuning.rule,
    }

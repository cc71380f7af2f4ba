r"""Is a model better than guessing at all? A test on the rows held out, one by one.

Guessing knows nothing, so a model that has learned nothing cannot beat it on any row but by
chance, whatever rows it was fitted on. The rows therefore are the sample, not the few folds:

    additive measures (accuracy, cost, squared, absolute or log loss)
        d_i = loss of guessing - loss of the model,   T = mean d / sqrt(Var)
        Var = s^2 / n                                  rows at random
              sum over groups of (sum of d - mean)^2   rows in groups (cluster-robust)
              Newey and West's, Bartlett weights       rows in time (Diebold and Mariano)
    curves (average precision, area under the ROC curve), two classes
        Mann and Whitney's U, summed over the folds (van Elteren)
    balanced accuracy
        sum of 1 / n_class over the rows that are right, against all orders of the labels within a
        fold (Hoeffding's combinatorial variance)

All one-sided. Where none fits, the corrected t-test over folds stands.

References: Diebold & Mariano (1995); van Elteren (1960); Hoeffding (1951).
"""

import math
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtr

from pellucid.core.typing import Array, IntArray
from pellucid.evaluation.metrics import predictions_for, resolve_metric
from pellucid.study.targets import CLASSES
from pellucid.study.training import Outcome, Workshop

ADDITIVE = {"accuracy": "accuracy", "error": "error", "mean_cost": "mean_cost", "rmse": "mse",
            "mse": "mse", "r2": "mse", "mae": "mae", "log_loss": "log_loss",
            "brier": "brier"}  # fmt: skip
CURVES = ("average_precision", "pr_area", "roc_auc")
BALANCED = ("balanced_accuracy", "rebalanced_accuracy")


def better_than_guessing(shop: Workshop, outcome: Outcome, guess: Outcome) -> float | None:
    """One-sided p-value of "better than guessing"; None where only the folds can tell."""
    task, metric = shop.scorer.task, shop.scorer.metric.name
    if metric in ADDITIVE and task.kind in (*CLASSES, "regression"):
        return _additive(shop, outcome, guess, ADDITIVE[metric])
    plain = shop.groups is None and shop.kind in ("stratified", "random")
    if not plain:
        return None
    if metric in CURVES and task.kind == "binary":
        return _ranks(shop, outcome)
    if metric in BALANCED and task.kind in CLASSES:
        return _balanced(shop, outcome)
    return None


def _additive(shop: Workshop, outcome: Outcome, guess: Outcome, name: str) -> float | None:
    costs = shop.scorer.cost_matrix
    metric = resolve_metric(name, cost_matrix=costs)
    sign = 1.0 if metric.greater_is_better else -1.0
    parts = []
    for i in range(len(shop.folds)):
        both = []
        for one in (outcome, guess):
            part = shop.outer_part(i, one.tried.features)
            model = one.models[i]
            labels = getattr(model, "classes_", None)
            said = (
                shop.scorer.decide(model, part.Z_judge)
                if metric.needs == "labels"
                else predictions_for(metric, model, part.Z_judge)
            )
            known = labels if metric.needs == "probabilities" or name == "mean_cost" else None
            losses = metric.losses(part.y_judge, said, labels=known)
            if losses is None:
                return None
            both.append(sign * losses)
        parts.append(both[0] - both[1])
    d = np.concatenate(parts)
    rows = np.concatenate([judge for _, judge in shop.folds])
    return mean_p_value(d, shop, rows)


def mean_p_value(d: Array, shop: Workshop, rows: IntArray) -> float:
    """P(T > t) for the mean of d, with a variance that fits how the rows hang together."""
    n, mean = len(d), float(d.mean())
    centred = d - mean
    df = float(n - 1)
    if shop.groups is not None:
        _, code = np.unique(shop.groups[rows], return_inverse=True)
        sums = np.bincount(code, weights=centred)
        df = float(len(sums) - 1)
        variance = float(sums @ sums) / n**2 * len(sums) / max(df, 1.0)
    elif shop.kind == "sequential":
        variance = long_run_variance(centred) / n
    else:
        variance = float(centred @ centred) / (n - 1) / n
    if variance <= 0 or df < 1:
        return 0.0 if mean > 0 else 1.0
    return float(stdtr(df, -mean / math.sqrt(variance)))


def long_run_variance(centred: Array) -> float:
    """Newey and West's variance of a series about its mean, lags up to n^(1/3).

    >>> round(long_run_variance(np.array([1.0, -1.0] * 50)), 2)
    0.2
    """
    n = len(centred)
    lags = int(n ** (1 / 3))
    total = float(centred @ centred)
    for lag in range(1, lags + 1):
        total += 2 * (1 - lag / (lags + 1)) * float(centred[lag:] @ centred[:-lag])
    return max(total, 0.0) / n


def _ranks(shop: Workshop, outcome: Outcome) -> float:
    """U over the folds: do rows of the positive class get higher scores than the others?"""
    task = shop.scorer.task
    excess = variance = 0.0
    for i, model in enumerate(outcome.models):
        part = shop.outer_part(i, outcome.tried.features)
        score = np.asarray(predictions_for(shop.scorer.metric, model, part.Z_judge))
        if task.positive == model.classes_[0]:
            score = -score
        hit = part.y_judge == task.positive
        n, m = len(hit), int(hit.sum())
        _, code, count = np.unique(score, return_inverse=True, return_counts=True)
        rank = (np.cumsum(count) - (count - 1) / 2)[code]
        # a fold weighs by 1 / (n + 1), so that small folds count for what they can tell
        excess += float(rank[hit].sum() - m * (n + 1) / 2) / (n + 1)
        variance += m * (n - m) / (n * (n - 1)) * float(((rank - (n + 1) / 2) ** 2).sum()) / (
            n + 1) ** 2  # fmt: skip
    return 1.0 if variance <= 0 else float(ndtr(-excess / math.sqrt(variance)))


def _balanced(shop: Workshop, outcome: Outcome) -> float:
    """Sum of 1 / n_class over right answers against all orders of the labels in each fold."""
    excess = variance = 0.0
    for i, model in enumerate(outcome.models):
        part = shop.outer_part(i, outcome.tried.features)
        labels, code = np.unique(
            np.concatenate([part.y_judge, model.predict(part.Z_judge)]), return_inverse=True
        )
        n, k = len(part.y_judge), len(labels)
        truth, said = code[:n], code[n:]
        size = np.bincount(truth, minlength=k)
        weight = np.where(size > 0, 1.0 / np.maximum(size, 1), 0.0)
        asked = np.bincount(said, minlength=k)
        found = float(weight[truth[truth == said]].sum())
        A = np.diag(weight)  # a row for which s is said gains A[s, t] if its label is t
        row, column = A @ size / n, asked @ A / n
        mean = float(asked @ A @ size) / n
        B = A - row[:, None] - column[None, :] + mean / n
        variance += float(asked @ (B**2) @ size) / (n - 1)
        excess += found - mean
    return 1.0 if variance <= 0 else float(ndtr(-excess / math.sqrt(variance)))


def signal_p_values(shop: Workshop, outcomes: list[Outcome]) -> list[Any]:
    """The p-value of every model (None for guessing, and where only folds can tell)."""
    guess = next(one for one in outcomes if one.complexity == 0)
    return [
        None if one.complexity == 0 else better_than_guessing(shop, one, guess) for one in outcomes
    ]

r"""Is a model better than guessing at all? A test on the rows held out, one by one.

Guessing knows nothing, so a model that has learned nothing cannot beat it on any row but by
chance, whatever rows it was fitted on. The rows therefore are the sample, not the few folds:

    additive measures (accuracy, cost, squared, absolute or log loss)
        d_i = loss of guessing - loss of the model,   T = mean d / sqrt(c Var)
        Var = s^2 / n                                  rows at random, t with n - 1
              sum over groups of (sum of d - mean)^2   rows in groups, t with groups - 1
              mean of the first v cosine weights^2     rows in time, t with v (Lazarus and others)
    curves (average precision, area under the ROC curve), two classes
        Mann and Whitney's U, summed over the folds (van Elteren)
    balanced accuracy
        sum of 1 / n_class over the rows that are right, against all orders of the labels within a
        fold (Hoeffding's combinatorial variance)

Folds that teach one another
    What fold j teaches about the judging rows of fold i is much the same as what i teaches about
    j. With T = sum over i != j of B_ij, B_ij = B_ji (a kernel method is exactly so), the variance
    of T is 2 sum Var B_ij, while the folds taken one by one show sum Var B_ij. So c = 2 for the
    folds of a cross-validation, which holds the level for every kind of model (without it tests at
    0.05 fail one time in ten), and c = 1 where learning rows are never judged: rows in time, one
    single fold.

All one-sided. Where none fits, the corrected t-test over folds stands.

References: Hoeffding (1951); van Elteren (1960); Bengio & Grandvalet (2004), no unbiased estimator
of the variance of cross-validation; Lazarus, Lewis, Stock & Watson (2018).
"""

import math
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtr
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.evaluation.metrics.metrics import predictions_for, resolve_metric
from pellucid.study.candidates.training import Outcome, Workshop
from pellucid.study.reading.target_arrays import CLASSES

ADDITIVE = {
    "accuracy": "accuracy",
    "error": "error",
    "mean_cost": "mean_cost",
    "rmse": "mse",
    "mse": "mse",
    "r2": "mse",
    "mae": "mae",
    "log_loss": "log_loss",
    "brier": "brier",
}
CURVES = ("average_precision", "pr_area", "roc_auc")
BALANCED = ("balanced_accuracy", "rebalanced_accuracy")


# --- tests ---------------------------------------------------------------------------------------


def mean_p_value(
    d: Array, *, groups: ArrayLike | None = None, ordered: bool = False, inflation: float = 1.0
) -> float:
    """P(T > t) for the mean of d, with a variance that fits how the rows hang together.

    >>> d = np.array([1.0, 0.0, 2.0, 1.0])
    >>> round(mean_p_value(d), 4), mean_p_value(np.ones(4)), mean_p_value(np.zeros(4))
    (0.0459, 0.0, 1.0)
    """
    n, mean = len(d), float(d.mean())
    centred = d - mean
    if groups is not None:
        _, code = np.unique(groups, return_inverse=True)
        sums = np.bincount(code, weights=centred)
        df = float(len(sums) - 1)
        variance = float(sums @ sums) / n**2 * len(sums) / max(df, 1.0)
    elif ordered:
        spread, df = long_run_variance(centred)
        variance = spread / n
    else:
        df = float(n - 1)
        variance = float(centred @ centred) / max(df, 1.0) / n
    if df < 1:
        return 1.0
    if variance <= 1e-24 * mean**2:  # all rows say the same
        return 0.0 if mean > 0 else 1.0
    return float(stdtr(df, -mean / math.sqrt(inflation * variance)))


def long_run_variance(centred: Array) -> tuple[float, float]:
    """Variance of sqrt(n) times the mean of a series that may lean on its past, and its freedom.

    The mean square of the first v = 0.41 n^(2/3) cosine coefficients, t with v degrees of freedom:
    closer to its level than lagged covariances when neighbouring rows are alike.

    >>> found = long_run_variance(np.array([1.0, -1.0] * 50))
    >>> round(found[0], 4), found[1]
    (0.0101, 8.0)
    """
    n = len(centred)
    v = max(1, int(0.41 * n ** (2 / 3)))
    angle = np.pi * (np.arange(n) + 0.5) / n
    weights = np.array(
        [math.sqrt(2 / n) * float(np.cos(j * angle) @ centred) for j in range(1, v + 1)]
    )
    return float(weights @ weights) / v, float(v)


def rank_p_value(scores: list[Array], hits: list[Any], *, inflation: float = 1.0) -> float:
    """Do rows of the positive class get higher scores than the others? U over the folds.

    >>> round(rank_p_value([np.arange(10.0)], [np.arange(10) >= 5]), 4)
    0.0045
    """
    excess = variance = 0.0
    for score, hit in zip(scores, hits, strict=True):
        n, m = len(hit), int(hit.sum())
        if n < 2:
            continue
        _, code, count = np.unique(score, return_inverse=True, return_counts=True)
        rank = (np.cumsum(count) - (count - 1) / 2)[code]
        # a fold weighs by 1 / (n + 1), so that small folds count for what they can tell
        excess += float(rank[hit].sum() - m * (n + 1) / 2) / (n + 1)
        squares = float(((rank - (n + 1) / 2) ** 2).sum())
        variance += m * (n - m) / (n * (n - 1)) * squares / (n + 1) ** 2
    return 1.0 if variance <= 0 else float(ndtr(-excess / math.sqrt(inflation * variance)))


def balanced_p_value(truths: list[Any], saids: list[Any], *, inflation: float = 1.0) -> float:
    """Sum of 1 / n_class over right answers against all orders of the labels in each fold.

    >>> y = np.repeat([0, 1], 10)
    >>> round(balanced_p_value([y], [y]), 5), balanced_p_value([y], [np.zeros(20, int)])
    (1e-05, 1.0)
    """
    excess = variance = 0.0
    for truth, said in zip(truths, saids, strict=True):
        found, mean, spread = matches(truth, said)
        excess += found - mean
        variance += spread
    return 1.0 if variance <= 0 else float(ndtr(-excess / math.sqrt(inflation * variance)))


def matches(truth: np.ndarray, said: np.ndarray) -> tuple[float, float, float]:
    """The statistic of one fold, its mean and its variance over all orders of the labels."""
    n = len(truth)
    labels, code = np.unique(np.concatenate([truth, said]), return_inverse=True)
    t, s, k = code[:n], code[n:], len(labels)
    size, asked = np.bincount(t, minlength=k), np.bincount(s, minlength=k)
    A = np.diag(np.where(size > 0, 1.0 / np.maximum(size, 1), 0.0))
    # a row for which s is said gains A[s, t] if its label is t
    found = float(A[s, t].sum())
    row, column = A @ size / n, asked @ A / n
    mean = float(asked @ A @ size) / n
    B = A - row[:, None] - column[None, :] + mean / n
    return found, mean, float(asked @ (B**2) @ size) / max(n - 1, 1)


# --- the study's models ----------------------------------------------------------------------


def variance_inflation(shop: Workshop) -> float:
    """2 where folds teach and judge one another, 1 where learning rows are never judged."""
    return 1.0 if shop.kind == "sequential" or len(shop.folds) == 1 else 2.0


def better_than_guessing(shop: Workshop, outcome: Outcome, guess: Outcome) -> float | None:
    """One-sided p-value of "better than guessing"; None where only the folds can tell."""
    task, metric = shop.scorer.task, shop.scorer.metric.name
    if metric in ADDITIVE and task.kind in (*CLASSES, "regression"):
        return _additive(shop, outcome, guess, ADDITIVE[metric])
    plain = shop.groups is None and shop.kind in ("stratified", "random")
    if not plain:
        return None
    parts = [shop.outer_part(i, outcome.tried.features) for i in range(len(shop.folds))]
    c = variance_inflation(shop)
    if metric in CURVES and task.kind == "binary":
        pairs = list(zip(outcome.models, parts, strict=True))
        scores = [_likelihood(shop, model, part.Z_judge) for model, part in pairs]
        return rank_p_value(scores, [p.y_judge == task.positive for p in parts], inflation=c)
    if metric in BALANCED and task.kind in CLASSES:
        said = [m.predict(p.Z_judge) for m, p in zip(outcome.models, parts, strict=True)]
        return balanced_p_value([p.y_judge for p in parts], said, inflation=c)
    return None


def _likelihood(shop: Workshop, model: BaseEstimator, Z: Array) -> Array:
    """A score that grows with the likelihood of the positive class."""
    score = np.asarray(predictions_for(shop.scorer.metric, model, Z))
    return -score if shop.scorer.task.positive == model.classes_[0] else score


def _additive(shop: Workshop, outcome: Outcome, guess: Outcome, name: str) -> float | None:
    metric = resolve_metric(name, cost_matrix=shop.scorer.cost_matrix)
    sign = 1.0 if metric.greater_is_better else -1.0
    parts = []
    for i in range(len(shop.folds)):
        both = [_row_values(shop, one, i, metric) for one in (outcome, guess)]
        if both[0] is None or both[1] is None:
            return None
        parts.append(sign * (both[0] - both[1]))
    rows: IntArray = np.concatenate([judge for _, judge in shop.folds])
    return mean_p_value(
        np.concatenate(parts),
        groups=None if shop.groups is None else shop.groups[rows],
        ordered=shop.kind == "sequential",
        inflation=variance_inflation(shop),
    )


def _row_values(shop: Workshop, one: Outcome, i: int, metric: Any) -> Array | None:
    """The measure of every judging row of fold i; None where rows have none of their own."""
    part, model = shop.outer_part(i, one.tried.features), one.models[i]
    if metric.needs == "labels":
        said = shop.scorer.decide(model, part.Z_judge)
    else:
        said = predictions_for(metric, model, part.Z_judge)
    known = metric.needs == "probabilities" or metric.name == "mean_cost"
    labels = getattr(model, "classes_", None) if known else None
    return metric.losses(part.y_judge, said, labels=labels)


def signal_p_values(shop: Workshop, outcomes: list[Outcome]) -> list[Any]:
    """The p-value of every model (None for guessing, and where only folds can tell)."""
    guess = next(one for one in outcomes if one.complexity == 0)
    return [
        None if one.complexity == 0 else better_than_guessing(shop, one, guess) for one in outcomes
    ]

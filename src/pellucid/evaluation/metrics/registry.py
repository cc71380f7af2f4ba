"""Every metric by name: what it needs, which way is better, its formula."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.arrays.typing import Array
from pellucid.evaluation.metrics import point_scores as ps
from pellucid.evaluation.metrics.deviances import (
    gamma_deviances,
    poisson_deviances,
    tweedie_deviances,
)
from pellucid.evaluation.metrics.prepared import Prepared


class Definition(NamedTuple):
    """A named metric as a formula of prepared arrays; ``losses`` are its per-example terms."""

    name: str
    input: str  # classes, scores, probabilities, numbers, relevance, clusters
    greater_is_better: bool
    interval: str  # proportion, mean, delong, bootstrap, none
    value: Callable[[Prepared], float]
    losses: Callable[[Prepared], Array] | None = None

    @property
    def needs(self) -> str:
        known = {"classes": "labels", "numbers": "labels", "relevance": "scores"}
        return known.get(self.input, self.input)


def counts_of(data: Prepared) -> Array:
    """The confusion counts of prepared classes."""
    return ps.confusion_counts(data.y, data.prediction, len(data.labels), data.w)


def label_counts(Y: Array, P: Array, w: Array | None) -> ps.ClassCounts:
    """tp, fn, fp, tn of every column of an indicator matrix."""
    w = np.ones(len(Y)) if w is None else w
    tp, fn, fp = w @ (Y * P), w @ (Y * (1 - P)), w @ ((1 - Y) * P)
    return ps.ClassCounts(tp, fn, fp, w.sum() - tp - fn - fp)


def _per_class(rate: Callable[[ps.ClassCounts], Array]) -> Callable[[Prepared], float]:
    """The rate of the positive class, or the mean over the classes (or labels) that occur."""

    def value(data: Prepared) -> float:
        if data.kind == "multilabel":
            return float(rate(label_counts(data.y, data.prediction, data.w)).mean())
        counts = ps.class_counts(counts_of(data))
        rates = rate(counts)
        if data.positive is not None:
            return float(rates[data.positive])
        return float(rates[counts.tp + counts.fn + counts.fp > 0].mean())

    return value


def _whole_table(measure: Callable[[Array], float], name: str) -> Callable[[Prepared], float]:
    def value(data: Prepared) -> float:
        if data.kind == "multilabel":
            raise ValueError(f"{name} is for one label per row, got {data.y.shape[1]} columns")
        return measure(counts_of(data))

    return value


def correct(data: Prepared) -> Array:
    """1.0 where the whole prediction of a row is right."""
    equal = data.y == data.prediction
    return (equal.all(axis=1) if equal.ndim == 2 else equal).astype(np.float64)


def wrong(data: Prepared) -> Array:
    return 1.0 - correct(data)


def hamming_losses(data: Prepared) -> Array:
    """The share of wrong labels of every row."""
    differ = (data.y != data.prediction).astype(np.float64)
    return differ.mean(axis=1) if differ.ndim == 2 else differ


def cost_losses(data: Prepared) -> Array:
    if data.kind == "multilabel" or data.cost is None:
        raise ValueError("mean_cost needs one label per row and a cost_matrix[truth, prediction]")
    return data.cost[data.y, data.prediction]


def check_both_classes(data: Prepared) -> None:
    """Refuse scores for a class (or label) without an example for or against it."""
    if data.kind == "multilabel_scores":
        share = data.y.mean(axis=0)
        if ((share == 0) | (share == 1)).any():
            raise ValueError("a label of y_true has one class only; two are needed for each")
        return
    seen = np.bincount(data.y, minlength=len(data.labels)) > 0
    if seen.sum() < 2:
        raise ValueError(f"y_true holds one class only, {data.labels[seen][0]!r}; two are needed")
    if not seen.all():
        names = ", ".join(str(label) for label in data.labels[~seen])
        raise ValueError(f"y_true has no example of {names}: each class is needed")


def curves_of(data: Prepared) -> list[ps.Cumulative]:
    """One curve for two classes, one per class against the rest for more, one per label."""
    check_both_classes(data)
    if data.prediction.ndim == 1:
        positives = [(data.y == data.positive).astype(np.float64)]
        return [ps.cumulative_counts(positives[0], data.prediction, data.w)]
    Y = data.y if data.y.ndim == 2 else np.eye(len(data.labels))[data.y]
    S = data.prediction
    return [ps.cumulative_counts(Y[:, j], S[:, j], data.w) for j in range(S.shape[1])]


def _area(area: Callable[[ps.Cumulative], float]) -> Callable[[Prepared], float]:
    return lambda data: float(np.mean([area(curve) for curve in curves_of(data)]))


def _mean_of(losses: Callable[[Prepared], Array]) -> Callable[[Prepared], float]:
    return lambda data: float(np.mean(ps.weighted_mean(losses(data), data.w)))


def log_losses(data: Prepared) -> Array:
    if data.kind == "multilabel_probabilities":
        p = np.clip(np.where(data.y == 1, data.prediction, 1 - data.prediction), 2.3e-16, 1)
        return -np.log(p).mean(axis=1)
    return ps.log_losses(data.y, data.prediction)


def brier_losses(data: Prepared) -> Array:
    if data.kind == "multilabel_probabilities":
        return ((data.y - data.prediction) ** 2).mean(axis=1)
    return ps.brier_losses(data.y, data.prediction)


def squared_errors(data: Prepared) -> Array:
    """(n,): the mean over the outputs."""
    return ((data.y - data.prediction) ** 2).mean(axis=1)


def absolute_errors(data: Prepared) -> Array:
    return np.abs(data.y - data.prediction).mean(axis=1)


def _output_mse(data: Prepared) -> Array:
    return ps.weighted_mean((data.y - data.prediction) ** 2, data.w)  # (k,)


def _rmse(data: Prepared) -> float:
    return float(np.sqrt(_output_mse(data)).mean())


def _share_left(data: Prepared) -> Array:
    """mse / Var y of each output: 1 - r2; NaN where y is constant."""
    return ps.ratio(_output_mse(data), ps.target_variance(data.y, data.w))


def _nrmse(data: Prepared) -> float:
    return float(np.sqrt(_share_left(data)).mean())


def _median_ae(data: Prepared) -> float:
    return float(np.mean(weighted_median(np.abs(data.y - data.prediction), data.w)))


def _max_error(data: Prepared) -> float:
    return float(np.abs(data.y - data.prediction).max(axis=0).mean())


def _of_clusters(name: str) -> Callable[[Prepared], float]:
    def value(data: Prepared) -> float:
        from pellucid.evaluation.metrics import silhouette  # its kernels are for clusters alone

        return float(getattr(silhouette, name)(data.y, data.prediction, data.w))

    return value


def discounted_gain(relevance: Array, score: Array, k: int | None = None) -> float:
    """DCG with linear gains; equal scores share the mean gain of their places."""
    discount = 1.0 / np.log2(np.arange(len(score)) + 2.0)
    if k is not None:
        discount[k:] = 0.0
    _, tie, size = np.unique(-score, return_inverse=True, return_counts=True)
    gain = np.bincount(tie, weights=relevance) / size
    places = np.append(0.0, np.cumsum(discount))[np.append(0, np.cumsum(size))]
    return float(gain @ np.diff(places))


def normalised_gain(relevance: Array, score: Array, k: int | None = None) -> float:
    """DCG over the best DCG; NaN where nothing is relevant."""
    if (relevance < 0).any():
        raise ValueError(f"relevance must be >= 0 for ndcg, got {relevance.min()!r}")
    best = discounted_gain(relevance, relevance, k)
    return discounted_gain(relevance, score, k) / best if best > 0 else float("nan")


def _ndcg(data: Prepared) -> float:
    y, s = data.y, data.prediction
    if y.ndim == 2:  # a query per row, as scikit-learn has it
        scores = np.array([normalised_gain(a, b) for a, b in zip(y, s, strict=True)])
        return float(ps.weighted_mean(scores, data.w))
    if data.w is not None and not np.array_equal(data.w, np.round(data.w)):
        raise ValueError("ndcg ranks rows: weights must be whole numbers (repetitions)")
    if data.w is not None:
        rows = np.repeat(np.arange(len(y)), data.w.astype(np.intp))
        y, s = y[rows], s[rows]
    return normalised_gain(y, s)


_balanced = _whole_table(ps.balanced_accuracy, "balanced_accuracy")

_DEFINITIONS = (
    Definition("accuracy", "classes", True, "proportion", _mean_of(correct), correct),
    Definition("error", "classes", False, "proportion", _mean_of(wrong), wrong),
    Definition("subset_accuracy", "classes", True, "proportion", _mean_of(correct), correct),
    Definition("hamming", "classes", False, "mean", _mean_of(hamming_losses), hamming_losses),
    Definition("mean_cost", "classes", False, "mean", _mean_of(cost_losses), cost_losses),
    Definition("balanced_accuracy", "classes", True, "bootstrap", _balanced),
    Definition("rebalanced_accuracy", "classes", True, "bootstrap", _balanced),
    Definition("precision", "classes", True, "proportion", _per_class(ps.precision)),
    Definition("recall", "classes", True, "proportion", _per_class(ps.recall)),
    Definition("specificity", "classes", True, "proportion", _per_class(ps.specificity)),
    Definition("f1", "classes", True, "bootstrap", _per_class(ps.f_beta)),
    Definition("mcc", "classes", True, "bootstrap", _whole_table(ps.mcc, "mcc")),
    Definition("kappa", "classes", True, "bootstrap", _whole_table(ps.kappa, "kappa")),
    Definition("roc_auc", "scores", True, "delong", _area(ps.roc_area)),
    Definition("average_precision", "scores", True, "bootstrap", _area(ps.step_area)),
    Definition("pr_area", "scores", True, "bootstrap", _area(ps.trapezoid_area)),
    Definition("log_loss", "probabilities", False, "mean", _mean_of(log_losses), log_losses),
    Definition("brier", "probabilities", False, "mean", _mean_of(brier_losses), brier_losses),
    Definition("mse", "numbers", False, "mean", _mean_of(squared_errors), squared_errors),
    Definition("mae", "numbers", False, "mean", _mean_of(absolute_errors), absolute_errors),
    Definition("rmse", "numbers", False, "bootstrap", _rmse),
    Definition("nrmse", "numbers", False, "bootstrap", _nrmse),
    Definition("r2", "numbers", True, "bootstrap", lambda d: float((1 - _share_left(d)).mean())),
    Definition("median_ae", "numbers", False, "bootstrap", _median_ae),
    Definition("max_error", "numbers", False, "bootstrap", _max_error),
    *(
        Definition(name, "numbers", False, "mean", _mean_of(losses), losses)
        for name, losses in (
            ("poisson_deviance", poisson_deviances),
            ("gamma_deviance", gamma_deviances),
            ("tweedie_deviance", tweedie_deviances),
        )
    ),
    Definition("ndcg", "relevance", True, "bootstrap", _ndcg),
    Definition("silhouette", "clusters", True, "none", _of_clusters("mean_silhouette")),
    Definition(
        "calinski_harabasz", "clusters", True, "none", _of_clusters("calinski_harabasz_index")
    ),
)

METRICS = {definition.name: definition for definition in _DEFINITIONS}

ALIASES = {  # scikit-learn's names of the same numbers
    "neg_mean_squared_error": "mse",
    "neg_root_mean_squared_error": "rmse",
    "neg_mean_absolute_error": "mae",
    "neg_median_absolute_error": "median_ae",
    "neg_max_error": "max_error",
    "neg_mean_poisson_deviance": "poisson_deviance",
    "neg_mean_gamma_deviance": "gamma_deviance",
    "neg_log_loss": "log_loss",
    "neg_brier_score": "brier",
    "matthews_corrcoef": "mcc",
}

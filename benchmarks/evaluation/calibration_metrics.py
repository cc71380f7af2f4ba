"""Do the intervals of metrics hold the truth as often as they say? Simulations, as rows.

A row is (what, nominal, measured, Monte-Carlo error, number of simulations).
"""

import math

import numpy as np
from scipy.special import ndtr

from pellucid.evaluation import mean_interval, metric_interval, proportion_interval
from pellucid.evaluation.metrics.metrics import resolve_metric

Row = tuple[str, float, float, float, int]


def _row(what: str, nominal: float, hits: list[bool]) -> Row:
    n, share = len(hits), float(np.mean(hits))
    return what, nominal, share, math.sqrt(nominal * (1 - nominal) / n), n


def proportions(n_simulations: int = 20_000) -> list[Row]:
    """Shares of 50 examples with p = 0.9."""
    rng = np.random.default_rng(0)
    rows = []
    for method in ("wilson", "exact", "hoeffding"):
        hits = []
        for s in rng.binomial(50, 0.9, size=n_simulations):
            found = proportion_interval(int(s), 50, method=method)
            hits.append(found.low <= 0.9 <= found.high)
        rows.append(_row(f"proportion_interval {method}, n = 50, p = 0.9", 0.95, hits))
    return rows


def areas(n_simulations: int = 1000) -> list[Row]:
    """The area under the ROC curve of two normals one standard deviation apart, n = 150."""
    rng = np.random.default_rng(1)
    truth = float(ndtr(1 / math.sqrt(2)))
    hits: dict[str, list[bool]] = {"delong": [], "bca": []}
    for i in range(n_simulations):
        y = (rng.random(150) < 0.4).astype(int)
        s = rng.normal(size=150) + y
        for method, kept in hits.items():
            found = metric_interval(
                "roc_auc", y, s, method=method, n_resamples=1000, random_state=i
            )
            kept.append(found.low <= truth <= found.high)
    return [_row(f"roc_auc {method}, n = 150", 0.95, kept) for method, kept in hits.items()]


def errors(n_simulations: int = 1000) -> list[Row]:
    """Errors of a known law, n = 150; with exponential errors every bootstrap falls short."""
    rng = np.random.default_rng(2)
    truth = {
        "rmse, normal errors": 1.0,
        "r2, normal errors": 0.5,
        "mae, exponential errors": 2 * math.exp(-1),
        "rmse, exponential errors": 1.0,
    }
    hits: dict[str, list[bool]] = {what: [] for what in truth}
    for i in range(n_simulations):
        signal = rng.normal(size=150)
        skewed = rng.exponential(size=150) - 1
        normal = rng.normal(size=150)
        for what, kept in hits.items():
            name, law = what.split(", ")
            y = signal + (normal if law == "normal errors" else skewed)
            found = metric_interval(name, y, signal, n_resamples=1000, random_state=i)
            kept.append(found.low <= truth[what] <= found.high)
    return [_row(f"{what}, n = 150", 0.95, kept) for what, kept in hits.items()]


def groups(n_simulations: int = 500) -> list[Row]:
    """Accuracy of 60 groups of 10 whose members are right or wrong together half of the time."""
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(60), 10)
    hits: dict[str, list[bool]] = {"groups resampled": [], "rows taken as independent": []}
    for i in range(n_simulations):
        together = rng.random(60)[group] < 0.7
        alone = rng.random(600) < 0.7
        right = np.where((rng.random(60) < 0.5)[group], together, alone).astype(int)
        y = np.ones(600, dtype=int)
        y[0], right[0] = 0, 0  # both classes occur
        found = metric_interval(
            "accuracy", y, right, groups=group, n_resamples=1000, random_state=i
        )
        naive = metric_interval("accuracy", y, right)
        hits["groups resampled"].append(found.low <= 0.7 <= found.high)
        hits["rows taken as independent"].append(naive.low <= 0.7 <= naive.high)
    return [_row(f"accuracy, 60 groups of 10, {what}", 0.95, kept) for what, kept in hits.items()]


LABELS = (
    "accuracy", "error", "recall", "specificity", "precision", "balanced_accuracy", "f1", "mcc",
    "kappa",
)  # fmt: skip
PROBABILITIES = ("average_precision", "pr_area", "log_loss", "brier")


def _classes(rng: np.random.Generator, n: int) -> tuple:
    """Two normals one standard deviation apart: truth, decision at the middle, true posterior."""
    y = (rng.random(n) < 0.4).astype(int)
    s = rng.normal(size=n) + y
    return y, (s > 0.5).astype(int), 1 / (1 + np.exp(0.5 - s) * 0.6 / 0.4)


def classes(n_simulations: int = 500) -> list[Row]:
    """Every classification metric, n = 200; the truth is that of two million examples."""
    rng = np.random.default_rng(4)
    y, decided, probability = _classes(rng, 2_000_000)
    given = dict.fromkeys(LABELS, decided) | dict.fromkeys(PROBABILITIES, probability)
    truth = {name: resolve_metric(name).score(y, values) for name, values in given.items()}
    hits: dict[str, list[bool]] = {name: [] for name in truth}
    for i in range(n_simulations):
        y, decided, probability = _classes(rng, 200)
        for name, kept in hits.items():
            values = decided if name in LABELS else probability
            found = metric_interval(name, y, values, n_resamples=1000, random_state=i)
            kept.append(found.low <= truth[name] <= found.high)
    return [_row(f"{name}, n = 200", 0.95, kept) for name, kept in hits.items()]


def means(n_simulations: int = 2000) -> list[Row]:
    """Means, and the other metrics of regression with normal errors, n = 150."""
    rng = np.random.default_rng(5)
    truth = {
        "mse": 1.0,
        "mae": math.sqrt(2 / math.pi),
        "nrmse": math.sqrt(0.5),
        "median_ae": 0.67449,
    }
    hits: dict[str, list[bool]] = {name: [] for name in ("mean_interval", *truth)}
    for i in range(n_simulations):
        signal, noise = rng.normal(size=(2, 150))
        found = mean_interval(noise)
        hits["mean_interval"].append(found.low <= 0 <= found.high)
        for name, value in truth.items():
            if i % 4 == 0 or name in ("mse", "mae"):  # the others are bootstrapped: fewer
                found = metric_interval(
                    name, signal + noise, signal, n_resamples=1000, random_state=i
                )
                hits[name].append(found.low <= value <= found.high)
    return [_row(f"{name}, normal values, n = 150", 0.95, kept) for name, kept in hits.items()]


def rows(scale: float = 1.0) -> list[Row]:
    """Every simulation; ``scale`` shortens or lengthens them."""
    return [
        *proportions(int(20_000 * scale)),
        *areas(int(1000 * scale)),
        *errors(int(1000 * scale)),
        *groups(int(500 * scale)),
        *classes(int(500 * scale)),
        *means(int(2000 * scale)),
    ]

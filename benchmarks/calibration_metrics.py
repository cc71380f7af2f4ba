"""Do the intervals of metrics hold the truth as often as they say? Simulations, as rows.

A row is (what, nominal, measured, Monte-Carlo error, number of simulations).
"""

import math

import numpy as np
from scipy.special import ndtr

from pellucid.evaluation import metric_interval, proportion_interval

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


def rows(scale: float = 1.0) -> list[Row]:
    """Every simulation; ``scale`` shortens or lengthens them."""
    return [
        *proportions(int(20_000 * scale)),
        *areas(int(1000 * scale)),
        *errors(int(1000 * scale)),
        *groups(int(500 * scale)),
    ]

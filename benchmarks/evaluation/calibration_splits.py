"""Intervals of cross-validation and of permutation importance: coverage by simulation.

Rows are (what, nominal, measured, Monte-Carlo error, simulations). The truth of cross-validation is
the expected squared error of least squares trained on m normal rows of p columns,
s^2 (m + 1)(m - 2) / (m (m - p - 2)).
"""

import numpy as np

from pellucid import LinearRegression
from pellucid.evaluation import cross_validated, permutation_importance


def _row(what, nominal, hits, n):
    share = hits / n
    return (what, nominal, share, float(np.sqrt(max(share * (1 - share), 1 / n) / n)), n)


def fold_intervals(repeats=1500, seed=0):
    """The interval that takes folds as independent, and the corrected one."""
    rng, n, p, k = np.random.default_rng(seed), 60, 3, 5
    m = n - n // k
    truth = (m + 1) * (m - 2) / (m * (m - p - 2))
    plain = corrected = 0
    for _ in range(repeats):
        X = rng.normal(size=(n, p))
        y = X.sum(axis=1) + rng.normal(size=n)
        found = cross_validated(LinearRegression(), X, y, metric="mse", cv=k, train_scores=False)
        plain += found.summary.low <= truth <= found.summary.high
        corrected += found.corrected.low <= truth <= found.corrected.high
    return [
        _row("cross-validated mse, folds taken as independent (reported)", 0.95, plain, repeats),
        _row("cross-validated mse, corrected (at least)", 0.95, corrected, repeats),
    ]


def importance_intervals(repeats=3000, seed=0):
    """y = x0 + e, f = x0: shuffling adds 2 to the mse."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(9, 2))
    model = LinearRegression().fit(points, points[:, 0])
    hits = 0
    for i in range(repeats):
        X = rng.normal(size=(200, 2))
        y = X[:, 0] + rng.normal(size=200)
        found = permutation_importance(model, X, y, metric="mse", random_state=i, n_repeats=10)
        hits += found.low[0] <= 2.0 <= found.high[0]
    return [_row("permutation importance, 200 rows, 10 repeats (about)", 0.95, hits, repeats)]


def rows(scale=1.0):
    return [
        *fold_intervals(max(int(1500 * scale), 20)),
        *importance_intervals(max(int(3000 * scale), 20)),
    ]

"""Quantile regression, 100,000 x 10, without and with a penalty.

Bound: a few passes over 8 MB; the simplex works on the rows near the fit.
"""

import numpy as np

from benchmarks.harness import Case

N, P = 100_000, 10


def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    noise = rng.standard_normal(N) * (1 + 0.3 * np.abs(X[:, 0]))
    return X, X @ rng.standard_normal(P) + 1 + noise


def fewer():
    X, y = rows()
    return X[:10_000], y[:10_000]


def pellucid_median(data):
    from pellucid import QuantileRegressor

    return QuantileRegressor(alpha=0).fit(*data).coef_


def sklearn_median(data):
    from sklearn.linear_model import QuantileRegressor

    return QuantileRegressor(alpha=0).fit(*data).coef_


def statsmodels_median(data):
    from statsmodels.api import QuantReg, add_constant

    X, y = data
    return QuantReg(y, add_constant(X)).fit(0.5).params[1:]


def pellucid_penalty(data):
    from pellucid import QuantileRegressor

    return QuantileRegressor(quantile=0.9, alpha=0.01).fit(*data).coef_


def sklearn_penalty(data):
    from sklearn.linear_model import QuantileRegressor

    return QuantileRegressor(quantile=0.9, alpha=0.01).fit(*data).coef_


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-4, atol=1e-5))  # statsmodels stops at 1e-6


SLOW = "scikit-learn's linear programme takes minutes on 100,000 rows: it is timed on 10,000."
LIMIT = "a few passes over the rows"

CASES = [
    Case(
        f"QuantileRegressor, median, {N:,} x {P}",
        rows,
        {"pellucid": pellucid_median, "statsmodels": statsmodels_median},
        close,
        LIMIT,
        SLOW,
        rounds=1,
    ),
    Case(
        f"QuantileRegressor, median, 10,000 x {P}",
        fewer,
        {"pellucid": pellucid_median, "scikit-learn": sklearn_median},
        close,
        LIMIT,
        rounds=1,
        repeats=1,
    ),
    Case(
        f"QuantileRegressor, quantile 0.9, alpha 0.01, 10,000 x {P}",
        fewer,
        {"pellucid": pellucid_penalty, "scikit-learn": sklearn_penalty},
        close,
        LIMIT,
        rounds=1,
        repeats=1,
    ),
]

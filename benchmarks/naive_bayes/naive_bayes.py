"""Gaussian naive Bayes: 500,000 x 50, five classes; fit, and class probabilities.

scikit-learn-intelex has no version of its own for this class: it hands over to scikit-learn.
"""

import numpy as np

from benchmarks.harness import Case

N, P, K = 500_000, 50, 5
NOTE = "scikit-learn-intelex has no naive Bayes of its own: it runs scikit-learn's."


def classes():
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    return rng.standard_normal((N, P)) + 0.3 * rng.standard_normal((K, P))[y], y


def fit(cls, data):
    model = cls().fit(*data)
    return np.concatenate([model.theta_.ravel(), model.var_.ravel()])


def pellucid_fit(data):
    from pellucid import GaussianNB

    return fit(GaussianNB, data)


def sklearn_fit(data):
    from sklearn.naive_bayes import GaussianNB

    return fit(GaussianNB, data)


_models = {}


def proba(cls, data):
    X, y = data
    if cls not in _models:
        _models[cls] = cls().fit(X[:10_000], y[:10_000])  # in the warm-up call only
    return _models[cls].predict_proba(X)[::1000]


def pellucid_proba(data):
    from pellucid import GaussianNB

    return proba(GaussianNB, data)


def sklearn_proba(data):
    from sklearn.naive_bayes import GaussianNB

    return proba(GaussianNB, data)


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-8, atol=1e-10))


CASES = [
    Case(
        f"GaussianNB fit {N:,} x {P}, {K} classes",
        classes,
        {"pellucid": pellucid_fit, "scikit-learn": sklearn_fit},
        close,
        "200 MB read once",
        NOTE,
    ),
    Case(
        f"GaussianNB predict_proba {N:,} x {P}, {K} classes",
        classes,
        {"pellucid": pellucid_proba, "scikit-learn": sklearn_proba},
        close,
        "200 MB read once, 125 M multiply-adds",
        NOTE,
    ),
]

"""Ridge classification with ten classes, and the choice of its penalty by leave-one-out.

Bound: 160 MB of X read once for its cross-products.
"""

import numpy as np

from benchmarks.harness import Case

N, P, K = 400_000, 50, 10
ALPHAS = tuple(np.logspace(-2, 4, 13))


def table(n=N):
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=n)
    return rng.standard_normal((n, P)) + rng.standard_normal((K, P))[y], y


def fewer():
    return table(20_000)


def pellucid_ridge_classifier(data):
    from pellucid import RidgeClassifier

    return RidgeClassifier().fit(*data).coef_


def sklearn_ridge_classifier(data):
    from sklearn.linear_model import RidgeClassifier

    return RidgeClassifier().fit(*data).coef_


def pellucid_ridge_classifier_cv(data):
    from pellucid import RidgeClassifierCV

    return RidgeClassifierCV(ALPHAS).fit(*data).coef_


def sklearn_ridge_classifier_cv(data):
    from sklearn.linear_model import RidgeClassifierCV

    return RidgeClassifierCV(ALPHAS).fit(*data).coef_


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-6, atol=1e-9))


CASES = [
    Case(
        f"RidgeClassifier {N:,} x {P}, {K} classes",
        table,
        {"pellucid": pellucid_ridge_classifier, "scikit-learn": sklearn_ridge_classifier},
        close,
        "160 MB of X read once",
    ),
    Case(
        f"RidgeClassifierCV 20,000 x {P}, {K} classes, 13 penalties",
        fewer,
        {"pellucid": pellucid_ridge_classifier_cv, "scikit-learn": sklearn_ridge_classifier_cv},
        close,
        "n p K per penalty",
    ),
]

"""RidgeCV: 50 penalties by leave-one-out on 100,000 x 100, in folds, sparse rows, wide tables.

Bound: two reads of X (80 MB), n p^2 multiply-adds for the scores of the rows and as many halves for
the cross-products, 2 n p per alpha.
"""

import numpy as np
from scipy import sparse

from benchmarks.harness import Case

N, P = 100_000, 100
ALPHAS = np.logspace(-2, 5, 50)
LIMIT = "1.5 G multiply-adds for scores and cross-products, 1 G for 50 alphas"


def tall():
    rng = np.random.default_rng(0)
    mix = np.eye(P) + 0.3 * rng.standard_normal((P, P)) / np.sqrt(P)
    X = rng.standard_normal((N, P)) @ mix + 1
    return X, X @ rng.standard_normal(P) + 3 * rng.standard_normal(N)


def thin():
    X = sparse.random_array((N, P), density=0.05, rng=np.random.default_rng(0), format="csr")
    rng = np.random.default_rng(1)
    return X, X @ rng.standard_normal(P) + rng.standard_normal(N)


def wide():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 5000))
    return X, X[:, :10].sum(axis=1) + rng.standard_normal(500)


def ours(data, **options):
    from pellucid import RidgeCV

    model = RidgeCV(ALPHAS, **options).fit(*data)
    return np.append(model.alpha_, model.coef_)


def theirs(data, **options):
    from sklearn.linear_model import RidgeCV

    model = RidgeCV(ALPHAS, **options).fit(*data)
    return np.append(model.alpha_, model.coef_)


def intelex(data):
    from sklearn.model_selection import GridSearchCV
    from sklearnex.linear_model import Ridge

    search = GridSearchCV(Ridge(), {"alpha": ALPHAS}, cv=5).fit(*data)
    return np.append(search.best_params_["alpha"], search.best_estimator_.coef_)


def ours_folds(data):
    return ours(data, cv=5)


def theirs_folds(data):
    return theirs(data, cv=5)


def close(a, b):
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-8))


CASES = [
    Case(
        f"RidgeCV leave-one-out, {len(ALPHAS)} alphas, {N:,} x {P}",
        tall, {"pellucid": ours, "scikit-learn": theirs}, close, LIMIT,
    ),
    Case(
        f"RidgeCV 5 folds, {len(ALPHAS)} alphas, {N:,} x {P}",
        tall,
        {"pellucid": ours_folds, "scikit-learn": theirs_folds, "scikit-learn-intelex": intelex},
        close, "two reads of X, 0.5 G multiply-adds for the cross-products, 0.5 G for 50 alphas",
        rounds=1, repeats=1,
    ),
    Case(
        f"RidgeCV leave-one-out, sparse {N:,} x {P} (5 %)",
        thin, {"pellucid": ours, "scikit-learn": theirs}, close, LIMIT,
    ),
    Case(
        "RidgeCV leave-one-out, 500 x 5,000",
        wide, {"pellucid": ours, "scikit-learn": theirs}, close,
        "1.3 G multiply-adds for XX', its eigenvectors",
        "The eigenvectors of XX' dominate; ours are computed on one thread, so that the bits do "
        "not depend on the number of cores.",
    ),
]  # fmt: skip

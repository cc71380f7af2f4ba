"""Fuzzy and possibilistic c-means: 100,000 x 20, k = 10, 30 rounds from the same kind of start.

Starts differ between libraries (scikit-fuzzy starts from memberships), so the answer is the
objective after 30 rounds; ours may be at most 1 % worse. There is no maintained package for
possibilistic c-means: the contender is the update rule in NumPy.
"""

import warnings

import numpy as np

from benchmarks.harness import Case

N, P, K, ROUNDS = 100_000, 20, 10, 30
LIMIT = "a round is 5 n k p = 100 M operations and one read of the rows (16 MB)"


def groups():
    from sklearn.datasets import make_blobs

    return np.ascontiguousarray(make_blobs(N, P, centers=K, cluster_std=4.0, random_state=0)[0])


def quiet(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 30 rounds are too few to converge
        return model.fit(X).objective_


def pellucid_fuzzy(X, m=2.0):
    from pellucid import FuzzyCMeans

    return quiet(FuzzyCMeans(K, m=m, max_iter=ROUNDS, tol=0.0, random_state=0), X)


def scikit_fuzzy(X, m=2.0):
    from skfuzzy import cmeans

    return cmeans(X.T, K, m, error=0.0, maxiter=ROUNDS, seed=0)[4][-1]


def pellucid_harder(X):
    return pellucid_fuzzy(X, 1.5)


def scikit_fuzzy_harder(X):
    return scikit_fuzzy(X, 1.5)


def pellucid_possibilistic(X):
    from pellucid import PossibilisticCMeans

    model = PossibilisticCMeans(K, scale=50.0, init=X[:K], max_iter=ROUNDS, tol=0.0)
    return quiet(model, X)


def numpy_possibilistic(X):
    V, eta, norm = X[:K], 50.0, (X * X).sum(axis=1)[:, None]
    for _ in range(ROUNDS):
        D = np.maximum(norm - 2 * X @ V.T + (V * V).sum(axis=1), 0.0)
        T = 1 / (1 + D / eta)
        V = (T**2).T @ X / (T**2).sum(axis=0)[:, None]
    D = np.maximum(norm - 2 * X @ V.T + (V * V).sum(axis=1), 0.0)
    T = 1 / (1 + D / eta)
    return float((T**2 * D + eta * (1 - T) ** 2).sum())


def no_worse(ours, theirs):
    return bool(ours <= 1.01 * theirs)


NAME = f"{N:,} x {P}, k = {K}, {ROUNDS} rounds"
CASES = [
    Case(
        f"FuzzyCMeans {NAME}, m = 2", groups,
        {"pellucid": pellucid_fuzzy, "scikit-fuzzy": scikit_fuzzy}, no_worse, LIMIT, "", 2, 2,
    ),
    Case(
        f"FuzzyCMeans {NAME}, m = 1.5", groups,
        {"pellucid": pellucid_harder, "scikit-fuzzy": scikit_fuzzy_harder}, no_worse,
        LIMIT + "; a logarithm and two exponentials for each of n k cells", "", 2, 2,
    ),
    Case(
        f"PossibilisticCMeans {NAME}", groups,
        {"pellucid": pellucid_possibilistic, "NumPy": numpy_possibilistic}, no_worse, LIMIT, "", 2,
        2,
    ),
]  # fmt: skip

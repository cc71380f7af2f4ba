"""Partial least squares and principal component regression: 100,000 x 50; CCA: 5,000 x 50.

Bound: X is 40 MB; the sums are 0.13 G multiply-adds, and the scores of the training rows, which
scikit-learn stores too, are one more read.
"""

import numpy as np

from benchmarks.harness import Case

N, P, M = 100_000, 50, 5
LIMIT = "40 MB read once for the sums (0.13 G multiply-adds), once for the scores"


def table(k):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) @ (np.eye(P) + 0.3 * rng.standard_normal((P, P))) + 3
    Y = X @ rng.standard_normal((P, k)) + rng.standard_normal((N, k))
    return X, Y[:, 0] if k == 1 else Y


def one():
    return table(1)


def five():
    return table(5)


def pellucid_pls(data):
    from pellucid import PLSRegression

    return PLSRegression(M).fit(*data).coef_


def sklearn_pls(data):
    from sklearn.cross_decomposition import PLSRegression

    return PLSRegression(M).fit(*data).coef_


def pellucid_pcr(data):
    from pellucid import PrincipalComponentRegression

    return PrincipalComponentRegression(M).fit(*data).predict(data[0][:100])


def sklearn_pcr(data):
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return (
        make_pipeline(StandardScaler(), PCA(M), LinearRegression())
        .fit(*data)
        .predict(data[0][:100])
    )


def common():
    """Ten targets, each with one column of X, ever less."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5_000, P)) @ (np.eye(P) + 0.3 * rng.standard_normal((P, P))) + 3
    Y = X[:, :10] / X[:, :10].std(axis=0) * 0.6 ** np.arange(10)
    return X, Y + 0.3 * rng.standard_normal(Y.shape)


def pellucid_cca(data):
    from pellucid import CCA

    return np.hstack(CCA(M).fit(*data).transform(*data))


def sklearn_cca(data):
    from sklearn.cross_decomposition import CCA

    return np.hstack(CCA(M).fit(*data).transform(*data))


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-6, atol=1e-8))


def near(ours, theirs):  # theirs iterates to tol=1e-6
    return bool(np.abs(ours - theirs).max() < 1e-2 * np.abs(ours).max())


CASES = [
    Case(
        f"PLSRegression {N:,} x {P}, {M} components, one target",
        one,
        {"pellucid": pellucid_pls, "scikit-learn": sklearn_pls},
        close,
        LIMIT,
    ),
    Case(
        f"PLSRegression {N:,} x {P}, {M} components, five targets",
        five,
        {"pellucid": pellucid_pls, "scikit-learn": sklearn_pls},
        near,
        LIMIT,
        note="scikit-learn's directions stop at a tolerance; ours are exact.",
    ),
    Case(
        f"PrincipalComponentRegression {N:,} x {P}, {M} components",
        one,
        {"pellucid": pellucid_pcr, "scikit-learn": sklearn_pcr},
        close,
        "40 MB read once, 0.13 G multiply-adds",
    ),
    Case(
        f"CCA 5,000 x {P}, ten targets, {M} components",
        common,
        {"pellucid": pellucid_cca, "scikit-learn": sklearn_cca},
        near,
        "2.4 MB read once for the sums (9 M multiply-adds), once for the scores",
        note="scikit-learn's directions stop at a tolerance; ours are exact.",
    ),
]

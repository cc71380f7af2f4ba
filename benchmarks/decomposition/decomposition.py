"""Principal components: 500,000 x 100, ten components; a wide table, few components.

Bound: X is 400 MB, read once; the sums are 2.5 G multiply-adds.
"""

import numpy as np

from benchmarks.harness import Case

N, P, D = 500_000, 100, 10


def tall():
    rng = np.random.default_rng(0)
    return rng.standard_normal((N, 20)) @ rng.standard_normal((20, P)) + rng.standard_normal((N, P))


def wide():
    rng = np.random.default_rng(0)
    return rng.standard_normal((1000, 20)) @ rng.standard_normal((20, 5000)) + rng.standard_normal(
        (1000, 5000)
    )


def pellucid_pca(X):
    from pellucid import PCA

    return PCA(D, random_state=0).fit(X).explained_variance_


def sklearn_pca(X):
    from sklearn.decomposition import PCA

    return PCA(D, random_state=0).fit(X).explained_variance_


def intelex_pca(X):
    from sklearnex.decomposition import PCA

    return PCA(D, random_state=0).fit(X).explained_variance_


def same(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-3))


CONTENDERS = {
    "pellucid": pellucid_pca,
    "scikit-learn-intelex": intelex_pca,
    "scikit-learn": sklearn_pca,
}

CASES = [
    Case(
        f"PCA {N:,} x {P}, {D} components",
        tall,
        CONTENDERS,
        same,
        "400 MB read once, 2.5 G multiply-adds",
        rounds=2,
        repeats=2,
    ),
    Case(
        "PCA 1,000 x 5,000, 10 components",
        wide,
        CONTENDERS,
        same,
        "40 MB read 16 times, each a product with 20 columns: 1.6 G multiply-adds",
        rounds=2,
        repeats=2,
    ),
]


# --- probabilistic PCA, truncated SVD --------------------------------------------------------


def middle():
    rng = np.random.default_rng(1)
    return rng.standard_normal((200_000, 5)) @ rng.standard_normal((5, 50)) + rng.standard_normal(
        (200_000, 50)
    )


def pellucid_ppca(X):
    from pellucid import ProbabilisticPCA

    return ProbabilisticPCA(5).fit(X).noise_variance_


def sklearn_ppca(X):
    """The noise variance of PCA is that of the same model, over n - 1."""
    from sklearn.decomposition import PCA

    return PCA(5).fit(X).noise_variance_


def intelex_ppca(X):
    from sklearnex.decomposition import PCA

    return PCA(5).fit(X).noise_variance_


def counts():
    """Documents by words: 3 in 1,000 cells are there, some topics behind them."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    row, column = rng.integers(50_000, size=3_000_000), rng.integers(20_000, size=3_000_000)
    values = rng.random(3_000_000) * (1 + 20 * (column % 50 == 0))
    return csr_matrix((values, (row, column)), shape=(50_000, 20_000))


def square():
    rng = np.random.default_rng(2)
    return rng.standard_normal((3000, 15)) @ rng.standard_normal((15, 3000)) + rng.standard_normal(
        (3000, 3000)
    )


def pellucid_svd(X):
    from pellucid import TruncatedSVD

    return TruncatedSVD(10, random_state=0).fit(X).singular_values_


def sklearn_svd(X):
    from sklearn.decomposition import TruncatedSVD

    return TruncatedSVD(10, random_state=0).fit(X).singular_values_


def near(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=0.02))


CASES += [
    Case(
        "ProbabilisticPCA 200,000 x 50, 5 components",
        middle,
        {
            "pellucid": pellucid_ppca,
            "scikit-learn-intelex (PCA)": intelex_ppca,
            "scikit-learn (PCA)": sklearn_ppca,
        },
        same,
        "80 MB read once, 0.25 G multiply-adds",
        rounds=2,
        repeats=2,
    ),
    Case(
        "TruncatedSVD 50,000 x 20,000 sparse (3 M cells), 10 components",
        counts,
        {"pellucid": pellucid_svd, "scikit-learn": sklearn_svd},
        near,
        "36 MB read 8 times, each twice a product with 20 columns",
        rounds=2,
        repeats=2,
    ),
    Case(
        "TruncatedSVD 3,000 x 3,000, 10 components",
        square,
        {"pellucid": pellucid_svd, "scikit-learn": sklearn_svd},
        near,
        "72 MB read 8 times, each twice a product with 20 columns",
        rounds=2,
        repeats=2,
    ),
]


def factors_data():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((50_000, 5)) @ rng.standard_normal((5, 50))
    return Z + rng.standard_normal((50_000, 50))


def pellucid_factors(X):
    from pellucid import FactorAnalysis

    return FactorAnalysis(5).fit(X).noise_variance_


def sklearn_factors(X):
    from sklearn.decomposition import FactorAnalysis

    return FactorAnalysis(5).fit(X).noise_variance_


CASES += [
    Case(
        "FactorAnalysis 50,000 x 50, 5 factors",
        factors_data,
        {"pellucid": pellucid_factors, "scikit-learn": sklearn_factors},
        lambda a, b: bool(np.allclose(a, b, rtol=1e-3)),
        "20 MB read once for the covariance; scikit-learn reads the rows in every round",
        rounds=2,
        repeats=2,
    ),
]

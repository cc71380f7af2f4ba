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

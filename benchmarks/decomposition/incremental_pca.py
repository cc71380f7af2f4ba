"""IncrementalPCA against scikit-learn: the same batches, the same directions."""

import numpy as np

from benchmarks.harness import Case


def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(50_000, 5)) @ rng.normal(size=(5, 100)) + rng.normal(size=(50_000, 100))


def pellucid_incremental(X):
    from pellucid import IncrementalPCA

    return IncrementalPCA(10).fit(X).explained_variance_


def sklearn_incremental(X):
    from sklearn.decomposition import IncrementalPCA

    return IncrementalPCA(10).fit(X).explained_variance_


CASES = [
    Case(
        "IncrementalPCA 50,000 x 100, 10 components, batches of 500",
        table,
        {"pellucid": pellucid_incremental, "scikit-learn": sklearn_incremental},
        lambda ours, theirs: bool(np.allclose(ours, theirs)),
        "2 n p^2 flops of QR, then an SVD of 100 x 100 a batch",
    ),
]

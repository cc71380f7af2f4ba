"""Sparse tables stay sparse: no estimator that says it takes them writes out every zero unasked.

The small form fits 3,000 x 20,000 with 100,000 values (480 MB if written out) in this process and
counts the memory. The whole, slow, fits 100,000 x 100,000 with a million values, each estimator in
a process of its own: where scikit-learn's class of that name stays under 500 MB, ours does, or it
refuses in one sentence that says how much would be written out.
"""

import tracemalloc
import warnings

import numpy as np
import pytest
import sparse_peaks
from estimators import make, public_classes
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.utils import all_estimators, get_tags

from pellucid.core.arrays.sparse import DENSE_CELLS, column_spread, to_dense

N, P, VALUES = 3_000, 20_000, 100_000
SAMPLE = (
    "BernoulliNB", "ElasticNet", "KMeans", "LinearRegression", "LogisticRegression",
    "MultinomialNB", "Normalizer", "PCA", "Ridge", "SGDClassifier", "TfidfTransformer",
    "TruncatedSVD", "VarianceThreshold",
)  # fmt: skip
MEGABYTES = 500.0
TRIES = 120.0  # seconds after which a fit that has stayed small is taken to stay so
LIMIT = "written out|would have|at most|takes fewer|no room|more than"  # a refusal names its limit


def sparse_names():
    """Every public estimator whose tags say that it takes sparse tables."""
    return [name for name, cls in public_classes().items() if get_tags(make(cls)).input_tags.sparse]


@pytest.mark.parametrize("name", SAMPLE)
def test_no_dense_table_is_made(name):
    """The peak of a fit is far below the table with its zeros."""
    X, signal = sparse_peaks.table(N, P, VALUES)
    model = sparse_peaks.build("pellucid", name)
    y = sparse_peaks.target(model, name, signal)
    few, some = sparse_peaks.table(60, 12, 200, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sparse_peaks.build("pellucid", name).fit(few, sparse_peaks.target(model, name, some))
        tracemalloc.start()
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 8 * N * P / 5, f"{peak / 1e6:.0f} MB"


@pytest.mark.slow
@pytest.mark.parametrize("name", sparse_names())
def test_large_tables(name):
    """100,000 x 100,000: under 500 MB where scikit-learn's is, or a sentence."""
    shape = 100_000, 100_000, 1_000_000
    ours = sparse_peaks.peak_of("pellucid", name, *shape, patience=TRIES)
    if ours.error and ours.error != "not done":
        kind, _, sentence = ours.error.partition(": ")
        if kind != "MemoryError":
            assert kind == "ValueError", ours.error
            assert any(word in sentence for word in LIMIT.split("|")), ours.error
            return
        assert name in dict(all_estimators()), ours.error
    if ours.megabytes < MEGABYTES and not ours.error.startswith("MemoryError"):
        return
    theirs = sparse_peaks.peak_of("sklearn", name, *shape, patience=TRIES)
    refused = theirs.error and theirs.error != "not done"
    assert refused or theirs.megabytes >= MEGABYTES, (ours, theirs)


def test_the_limit_is_said():
    """One sentence: how much, up to what, what to do."""
    p = DENSE_CELLS // 2 + 1
    with pytest.raises(ValueError, match=r"2 x \d+ sparse numbers .* up to 1.07 GB; select"):
        to_dense(csr_array((2, p)))


@pytest.mark.parametrize("weighted", [True, False])
def test_spread_of_columns(weighted):
    """Means and squares as of the dense table; a constant column has none."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 5)) * (rng.random((40, 5)) < 0.3)
    A[:, 4] = 0.1
    w = rng.integers(0, 3, 40) + 0.0 if weighted else np.ones(40)
    found = column_spread(csr_array(A), w)
    mean = np.average(A, axis=0, weights=w)
    assert_allclose(found.mean, mean, atol=1e-15)
    assert_allclose(found.squares, w @ (A - mean) ** 2, atol=1e-13)
    assert found.squares[4] == 0.0

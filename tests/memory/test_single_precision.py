"""float32 tables are read by leaves, computed in float64 and never copied whole."""

import tracemalloc

import numpy as np
import pytest
import single_peaks
from scipy.linalg import LinAlgWarning

import pellucid

rng = np.random.default_rng(0)
N, P = 120_000, 30  # 30 leaves: those that two threads have at hand are a small share of X
KEPT = ["GaussianNB", "LinearRegression", "LogisticRegression", "PCA"]


def data(name):
    X = rng.normal(size=(N, P)).astype(np.float32)
    signal = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=N)
    y = {"PCA": None, "LinearRegression": signal}.get(name, signal > 0)
    return X, y


def arrays(model):
    return {k: v for k, v in vars(model).items() if isinstance(v, np.ndarray)}


@pytest.mark.parametrize("name", KEPT)
def test_no_copy_and_the_bits_of_float64(name):
    """The peak beyond X is a quarter of the copy (twice X) at most; nothing else changes.

    A thread has its leaf in float64 and centred: up to six leaves of 1 MB for two threads,
    whenever their peaks meet, however many rows there are.
    """
    X, y = data(name)
    model = getattr(pellucid, name)().fit(X, y)  # imports and kernels
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * X.nbytes
    exact = arrays(getattr(pellucid, name)().fit(X.astype(np.float64), y))
    for attribute, value in arrays(model).items():
        np.testing.assert_array_equal(value, exact[attribute], attribute)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("PCA", {"n_components": 2, "svd_solver": "full"}),
        ("PCA", {"n_components": 2, "svd_solver": "arpack", "random_state": 0}),
        ("LogisticRegression", {"l1_ratio": 0.5, "solver": "saga"}),
        ("LinearRegression", {"positive": True}),
    ],
)
def test_ways_that_need_all_rows(name, settings):
    """What is no sum over leaves is float64 as well."""
    X, y = data(name)
    X, y = X[:200], None if y is None else y[:200]
    model = getattr(pellucid, name)(**settings).fit(X, y)
    exact = arrays(getattr(pellucid, name)(**settings).fit(X.astype(np.float64), y))
    for attribute, value in arrays(model).items():
        np.testing.assert_array_equal(value, exact[attribute], attribute)


def test_wide_and_bad_tables():
    """More columns than rows; NaN is named as ever."""
    X, y = data("LinearRegression")
    few = X[:10], y[:10]
    single = pellucid.Ridge().fit(*few)
    exact = pellucid.Ridge().fit(few[0].astype(np.float64), few[1])
    assert np.array_equal(single.coef_, exact.coef_)
    with pytest.warns(UserWarning, match="nothing to estimate"), pytest.warns(LinAlgWarning):
        single = pellucid.LinearRegression().fit(*few)
    with pytest.warns(UserWarning, match="nothing to estimate"), pytest.warns(LinAlgWarning):
        exact = pellucid.LinearRegression().fit(few[0].astype(np.float64), few[1])
    assert np.array_equal(single.coef_, exact.coef_)
    X[7, 3] = np.nan
    with pytest.raises(ValueError, match="column 3, row 7"):
        pellucid.LinearRegression().fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("name", KEPT)
def test_peaks_beside_scikit_learn(name):
    """In a process of its own: at most scikit-learn's peak and a fifth, or half of the table."""
    ours, theirs = (single_peaks.extra(library, name) for library in ("pellucid", "sklearn"))
    assert ours <= max(1.2 * theirs, 0.5)

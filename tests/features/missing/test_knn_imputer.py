"""KNNImputer against scikit-learn's, and its kernel against the definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import impute
from sklearn.metrics.pairwise import nan_euclidean_distances

from pellucid import KNNImputer
from pellucid.features.missing.knn_imputer import donors_by_matrix, donors_of


def table(seed, n=120, p=6, share=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1))
    X[rng.random((n, p)) < share] = np.nan
    return X


def pair(**params):
    return KNNImputer(**params), impute.KNNImputer(**params)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
@pytest.mark.parametrize("k", [1, 4, 500])
@pytest.mark.parametrize("add_indicator", [False, True])
def test_scikit_learn(weights, k, add_indicator):
    ours, theirs = pair(weights=weights, n_neighbors=k, add_indicator=add_indicator)
    X, new = table(0), table(1, n=40, share=0.5)
    new = new[~np.isnan(new).all(axis=1)]
    assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), rtol=1e-7, atol=1e-9)
    assert_allclose(ours.transform(new), theirs.transform(new), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("keep", [True, False])
def test_empty_columns_and_rows(keep):
    X = table(2)
    X[:, 1] = np.nan
    X[3] = np.nan
    ours, theirs = pair(keep_empty_features=keep)
    assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), rtol=1e-7)
    if not keep:
        assert len(ours.get_feature_names_out()) == 5


def test_other_marks_and_metrics():
    X = np.where(np.isnan(table(3)), -9.0, table(3))
    ours, theirs = pair(missing_values=-9.0)
    assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), rtol=1e-7)

    def farthest(a, b, *, missing_values=np.nan):
        both = ~np.isnan(a) & ~np.isnan(b)
        return np.abs(a - b)[both].max() if both.any() else np.nan

    X = table(4, n=40)
    ours, theirs = pair(metric=farthest)
    assert_allclose(ours.fit_transform(X), theirs.fit_transform(X), rtol=1e-7)


def test_the_kernel_is_the_definition():
    X, F = table(5, n=30), table(6, n=700, share=0.3)
    F[:, 2] = 1.5  # a column without gaps goes another way
    wanted = np.array([True, True, False, True, True, True])
    distance, donor = donors_of(X, F, wanted, 7)
    squares = (X[:, None] - F) ** 2
    with np.errstate(invalid="ignore"):  # nothing in common
        D = np.sqrt(6 * np.nansum(squares, axis=2) / (~np.isnan(squares)).sum(axis=2))
    assert_allclose(D, nan_euclidean_distances(X, F), rtol=1e-6, atol=1e-7)
    expected, who = donors_by_matrix(D, np.isnan(X) & wanted, ~np.isnan(F), 7)
    assert_allclose(distance, expected, rtol=1e-12)
    np.testing.assert_array_equal(donor, who)


def test_equal_distances_take_the_earlier_row():
    X = np.array([[0.0, 1.0], [2.0, 5.0], [0.0, 9.0], [1.0, np.nan]])
    assert KNNImputer(n_neighbors=1).fit_transform(X)[3, 1] == 1.0


def test_float32_stays_and_input_is_left_alone():
    X = table(7)
    before = X.copy()
    assert KNNImputer(copy=False).fit_transform(X.astype(np.float32)).dtype == np.float32
    KNNImputer(copy=False).fit_transform(X)
    np.testing.assert_array_equal(X, before)


def test_recovers_a_smooth_surface():
    rng = np.random.default_rng(8)
    t = rng.uniform(size=3000)
    full = np.column_stack([np.sin(3 * t), np.cos(3 * t), t])
    X = full.copy()
    gaps = rng.random(X.shape) < 0.1
    gaps[gaps.all(axis=1)] = False
    X[gaps] = np.nan
    error = KNNImputer(weights="distance").fit_transform(X)[gaps] - full[gaps]
    assert np.median(np.abs(error)) < 5e-3


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"weights": "near"}, "weights"),
        ({"metric": "l1"}, "metric"),
    ],
)
def test_bad_parameters(params, words):
    with pytest.raises(ValueError, match=words):
        KNNImputer(**params).fit(table(0))


def test_weights_of_none_are_equal_weights():
    """As in scikit-learn; anything but that or one weight for each distance is refused."""
    X = [[1.0, 2.0], [np.nan, 3.0], [2.0, 4.0]]
    equal = KNNImputer(n_neighbors=2).fit_transform(X)
    assert np.array_equal(KNNImputer(n_neighbors=2, weights=lambda d: None).fit_transform(X), equal)
    with pytest.raises(ValueError, match="weights must return one weight for each"):
        KNNImputer(n_neighbors=2, weights=lambda d: 1.0).fit_transform(X)


def test_weights_that_weigh_nothing_are_refused():
    """A cell stayed NaN."""
    X = table(3)
    for weigh in (lambda d: 0 * d, lambda d: -d, lambda d: np.nan * d):
        with pytest.raises(ValueError, match=r"weights (gave all donors|must return numbers >= 0)"):
            KNNImputer(weights=weigh).fit_transform(X)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_infinite_weights_count_alone():
    """1/d of a row that is there twice; as ``weights='distance'``."""
    X = np.vstack([table(3), table(3)])
    ours = KNNImputer(weights=lambda d: 1 / d).fit_transform(X)
    np.testing.assert_array_equal(ours, KNNImputer(weights="distance").fit_transform(X))


def test_means_of_the_largest_numbers():
    X = np.column_stack([np.full(5, 1.7e308), np.full(5, np.nan)])
    X[0, 0], X[1:, 1] = np.nan, np.arange(4)
    for k in (1, 4):
        assert KNNImputer(n_neighbors=k).fit_transform(X)[0, 0] == 1.7e308

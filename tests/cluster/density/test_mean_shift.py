"""MeanShift against scikit-learn, the tree against plain sums, the climb against its density."""

import numpy as np
import pytest
import sklearn.cluster as peers
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning

from pellucid import MeanShift
from pellucid.cluster import estimate_bandwidth, get_bin_seeds, mean_shift
from pellucid.cluster.density.mean_shift import Seeds, balls_of, peaks, shift
from pellucid.core.runtime.threads import limit_threads


def table(seed=0, p=2):
    return make_blobs(300, p, centers=4, random_state=seed)[0]


X0 = table()
SETTINGS = [
    {},
    {"bandwidth": 1.0},
    {"bandwidth": 2.0, "bin_seeding": True},
    {"bandwidth": 0.7, "cluster_all": False, "bin_seeding": True, "min_bin_freq": 3},
    {"bandwidth": 1.0, "seeds": X0[:5] + 0.1},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda s: ",".join(s))
@pytest.mark.parametrize("seed", range(3))
def test_oracle(seed, settings):
    X = table(seed) if "seeds" not in settings else X0
    ours, theirs = MeanShift(**settings).fit(X), peers.MeanShift(**settings).fit(X)
    assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-12)
    assert_array_equal(ours.labels_, theirs.labels_)
    assert_array_equal(ours.predict(X[:50] + 0.3), theirs.predict(X[:50] + 0.3))
    assert ours.n_iter_ == theirs.n_iter_


@pytest.mark.parametrize("max_iter", [0, 1, 3])
def test_limit_of_moves(max_iter):
    with pytest.warns(ConvergenceWarning, match="MeanShift"):
        ours = MeanShift(bandwidth=1.0, max_iter=max_iter).fit(X0)
    theirs = peers.MeanShift(bandwidth=1.0, max_iter=max_iter).fit(X0)
    assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-12)
    assert ours.n_iter_ == max(theirs.n_iter_, 1)
    assert len(ours.history_) == max_iter + 1
    assert "max_iter" in str(ours.card())


@pytest.mark.parametrize("p", [1, 2, 5, 20])
def test_bandwidths(p):
    X = table(1, p)
    for quantile in (0.0, 0.01, 0.3, 1.0):
        ours = estimate_bandwidth(X, quantile=quantile)
        assert_allclose(ours, peers.estimate_bandwidth(X, quantile=quantile), rtol=1e-7, atol=1e-6)
    drawn = {"n_samples": 90, "random_state": 5}
    assert_allclose(estimate_bandwidth(X, **drawn), peers.estimate_bandwidth(X, **drawn))


@pytest.mark.parametrize("p", [1, 2, 7])
@pytest.mark.parametrize("h", [0.3, 2.0, 100.0])
def test_a_move_goes_to_the_mean_of_the_ball(p, h):
    """The tree against sums over all rows; far from the origin too."""
    X = table(2, p) + 1e6
    start = X[:40] + 0.1
    moved, _ = shift(balls_of(X), Seeds(start, *np.full((3, 40), np.inf)), h)
    for q, new, rows, density in zip(start, *moved[:3], strict=True):
        square = ((X - q) ** 2).sum(axis=1)
        near = square <= h * h
        assert rows == near.sum()
        if rows:
            assert_allclose(new, q + (X[near] - q).mean(axis=0), rtol=1e-15)
            assert_allclose(density, (1 - square[near] / h**2).sum(), rtol=1e-9)
        else:
            assert_array_equal(new, q)


def test_the_density_never_falls():
    for seed in range(5):
        model = MeanShift(bandwidth=1.2).fit(table(seed))
        assert (np.diff(model.history_["objective"]) <= 1e-12).all()
        assert model.history_["moving"][-1] == 0


def test_near_peaks_are_one():
    """By rows, then by coordinates, both falling; scikit-learn's order and tie."""
    places = np.array([[0.0, 1.0], [0.0, 2.0], [9.0, 0.0], [9.5, 0.0], [4.0, 4.0]])
    seeds = Seeds(places, np.array([3.0, 3.0, 5.0, 2.0, 0.0]), *np.zeros((2, 5)))
    assert_array_equal(peaks(seeds, 1.0), [[9.0, 0.0], [0.0, 2.0]])
    assert_array_equal(peaks(seeds, 0.5), [[9.0, 0.0], [0.0, 2.0], [0.0, 1.0]])


def test_threads_and_units_do_not_matter():
    X = make_blobs(2000, 2, centers=5, random_state=0)[0]
    with limit_threads(1):
        one = MeanShift(bandwidth=1.0).fit(X)
    with limit_threads(2):
        two = MeanShift(bandwidth=1.0).fit(X)
    assert_array_equal(one.cluster_centers_, two.cluster_centers_)
    for unit in (2.0**30, 2.0**-40):
        other = MeanShift(bandwidth=unit).fit(X * unit)
        assert_array_equal(other.cluster_centers_, one.cluster_centers_ * unit)
        assert_array_equal(other.labels_, one.labels_)
    assert_array_equal(MeanShift().fit(X).labels_, MeanShift().fit(X * 2.0**30).labels_)


def test_recovers_the_centres():
    means = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    X, labels = make_blobs([400, 300, 200], centers=means, cluster_std=0.5, random_state=0)
    model = MeanShift(bandwidth=1.5).fit(X)
    assert_allclose(model.cluster_centers_, means, atol=0.1)  # by falling number of rows
    assert_array_equal(model.labels_, labels)


def test_copies_of_rows_and_a_bandwidth_of_zero():
    X = np.repeat([[0.1], [0.2], [0.7]], 3, axis=0)  # sums of copies of 0.1 do not come out even
    assert estimate_bandwidth(X) == 0
    model = MeanShift().fit(X)
    assert_array_equal(model.cluster_centers_, [[0.7], [0.2], [0.1]])
    assert_array_equal(model.labels_, np.repeat([2, 1, 0], 3))
    assert get_bin_seeds(X, 0) is X


def test_seeds_without_rows_are_dropped():
    model = MeanShift(bandwidth=1.0, seeds=[X0[0], [1e3, 1e3]]).fit(X0)
    assert len(model.cluster_centers_) == 1
    assert "1 seeds had no row" in str(model.card())
    centers, labels = mean_shift(X0, bandwidth=1.0, seeds=X0[:1], cluster_all=False)
    assert len(centers) == 1
    assert set(labels.tolist()) == {-1, 0}


def test_grid():
    X = np.array([[1.0, 1.0], [1.4, 1.4], [1.8, 1.2], [2.0, 1.0], [2.1, 1.1], [-0.1, 0.0]])
    assert set(map(tuple, get_bin_seeds(X, 1).tolist())) == {(1, 1), (2, 1), (0, 0)}
    assert set(map(tuple, get_bin_seeds(X, 1, 2).tolist())) == {(1, 1), (2, 1)}
    with pytest.warns(UserWarning, match="Binning data failed"):
        assert get_bin_seeds(X, 0.01) is X


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"bandwidth": 0}, "bandwidth must be > 0"),
        ({"bandwidth": np.inf}, "finite"),
        ({"bandwidth": 0.1, "seeds": [[-90, -90]]}, "No point was within bandwidth=0.1"),
        ({"seeds": [[1.0]]}, "2 columns"),
        ({"bin_seeding": "yes"}, "True or False"),
        ({"min_bin_freq": 0}, "min_bin_freq"),
        ({"bandwidth": 1e-6, "bin_seeding": True, "min_bin_freq": 9}, "min_bin_freq=9"),
        ({"max_iter": -1}, "max_iter"),
    ],
)
def test_refusals(settings, words):
    with pytest.raises(ValueError, match=words):
        MeanShift(**settings).fit(X0)
    with pytest.raises(ValueError, match="quantile"):
        estimate_bandwidth(X0, quantile=1.5)

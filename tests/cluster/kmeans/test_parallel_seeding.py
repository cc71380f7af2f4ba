"""k-means||: few passes for any number of centres, the same bits everywhere, as good a start."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid
from pellucid import GaussianMixture, KMeans
from pellucid.backends import Serial
from pellucid.cluster.kmeans import parallel_seeding
from pellucid.cluster.kmeans.kmeans import problem_of, space_of
from pellucid.cluster.kmeans.parallel_seeding import (
    MANY_ROWS,
    PASSES,
    first_rows,
    merge_races,
    race_keys,
    raced,
)
from pellucid.core.loops.statistics import Rows, unit_weights
from pellucid.data import blocks

N = MANY_ROWS + 777


class Counting(Serial):
    """Counts the passes over the data."""

    def __init__(self):
        self.passes = 0

    def map(self, function, items):
        self.passes += 1
        return super().map(function, items)


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(0)
    centers = 6 * rng.normal(size=(32, 3))
    return centers[rng.integers(32, size=N)] + rng.normal(size=(N, 3))


@pytest.mark.parametrize("k", [4, 32])
def test_seeding_takes_at_most_8_passes_for_any_k(groups, k):
    backend = Counting()
    source = blocks(groups, block_rows=30_000)
    model = KMeans(k, max_iter=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one round is not enough
        model.fit_blocks(source, backend=backend)
    around = 3  # the box of the data, the one round, the last labels
    assert backend.passes - around <= PASSES <= 8


def test_three_rounds_of_a_mixture_take_at_most_12_passes(groups):
    backend = Counting()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianMixture(4, max_iter=3, tol=0.0, random_state=0)
        model.fit_blocks(blocks(groups, block_rows=30_000), backend=backend)
    assert model.n_iter_ == 3
    assert backend.passes <= 12


def test_the_same_bits_in_memory_and_over_blocks(groups):
    expected = KMeans(5, n_init=2, random_state=3).fit(groups).cluster_centers_.tobytes()
    for rows, backend in ((9_000, Serial()), (40_000, None)):
        model = KMeans(5, n_init=2, random_state=3)
        model.fit_blocks(blocks(groups, block_rows=rows), backend=backend)
        assert model.cluster_centers_.tobytes() == expected


def test_as_good_as_one_centre_after_the_other(groups, monkeypatch):
    ours = [KMeans(32, random_state=seed).fit(groups).inertia_ for seed in range(3)]
    monkeypatch.setattr(parallel_seeding, "MANY_ROWS", 10 * N)
    chains = [KMeans(32, random_state=seed).fit(groups).inertia_ for seed in range(3)]
    assert np.median(ours) <= 1.01 * np.median(chains)


def test_a_race_draws_in_proportion_to_the_mass():
    mass = np.array([1.0, 0.0, 3.0, 6.0])
    count = np.zeros(4)
    for seed in range(4000):
        X = np.arange(4.0)[:, None]
        count[np.argmin(race_keys(seed, 0, X, mass))] += 1
    assert count[1] == 0
    assert_allclose(count / 4000, mass / 10, atol=4 * np.sqrt(0.25 / 4000))


def test_races_merge_to_the_race_of_all():
    rng = np.random.default_rng(0)
    X, keys = rng.normal(size=(30, 2)), rng.random(30)
    whole = first_rows(keys, X, 5)
    a, b = (first_rows(keys[part], X[part], 5) for part in (slice(0, 3), slice(3, 30)))
    pair = [parallel_seeding.Race(k[None], r[None]) for k, r in (a, b)]
    merged = merge_races(*pair)
    assert_array_equal(merged.keys[0], whole[0])
    assert_array_equal(merged.rows[0], whole[1])
    few = raced([1], 0, 5, X[:2], np.array([1.0, 0.0]), None)
    assert np.isfinite(few.keys).sum() == 1


def test_fewer_distinct_rows_than_centres():
    X = np.repeat([[0.0, 0.0], [5.0, 1.0], [9.0, 9.0]], N // 3 + 1, axis=0)
    problem = problem_of(Rows(X, None, unit_weights(len(X))), map, space_of("euclidean"))
    (start,) = problem.starts("k-means++", 5, 1, np.random.default_rng(0))
    assert start.shape == (5, 2)
    assert_array_equal(np.unique(start, axis=0), np.unique(X, axis=0))


def test_directions_and_weights(groups):
    w = np.ones(N)
    w[:1000] = 0.0
    X = groups.copy()
    X[:1000] = 1e6  # absent rows draw nothing
    model = KMeans(6, random_state=0).fit(X, sample_weight=w)
    assert np.abs(model.cluster_centers_).max() < 100
    turned = KMeans(6, metric="cosine", random_state=0).fit(groups)
    assert_allclose(np.linalg.norm(turned.cluster_centers_, axis=1), 1.0)
    source = blocks(groups, block_rows=30_000)
    again = KMeans(6, metric="cosine", random_state=0).fit_blocks(source, backend=Serial())
    assert again.cluster_centers_.tobytes() == turned.cluster_centers_.tobytes()


def test_a_mixture_has_the_same_bits_in_memory_and_over_blocks(groups):
    assert pellucid.GaussianMixture is GaussianMixture
    expected = GaussianMixture(4, tol=1e-2, random_state=0).fit(groups)
    source = blocks(groups, block_rows=20_000)
    model = GaussianMixture(4, tol=1e-2, random_state=0).fit_blocks(source, backend=Serial())
    assert model.means_.tobytes() == expected.means_.tobytes()

"""k-medoids: brute force over all choices, no helpful swap at the end, objects, given distances."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from pellucid import KMedoids
from pellucid.cluster.medoids.medoids import build_medoids, start_state, swap_step
from pellucid.core.runtime.threads import limit_threads


def rows(n, p=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def objective(D, medoids):
    return D[:, list(medoids)].min(axis=1).sum()


def test_near_the_best_of_all_choices():
    """Never below the optimum, and at it on most small tables."""
    at_best = 0
    for seed in range(20):
        X = rows(14, 2, seed)
        D = cdist(X, X)
        best = min(objective(D, c) for c in itertools.combinations(range(14), 3))
        model = KMedoids(3).fit(X)
        assert model.inertia_ == pytest.approx(objective(D, model.medoid_indices_))
        assert model.inertia_ >= best - 1e-12
        at_best += model.inertia_ <= best * (1 + 1e-12)
    assert at_best >= 14


@pytest.mark.parametrize("init", ["build", "random"])
@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_no_swap_helps_at_the_end(init, k):
    X = rows(90, 3)
    D = cdist(X, X)
    model = KMedoids(k, init=init, random_state=0).fit(X)
    chosen = list(model.medoid_indices_)
    for m in range(k):
        rest = chosen[:m] + chosen[m + 1 :]
        for x in range(90):
            if x not in chosen:
                assert objective(D, [*rest, x]) >= model.inertia_ * (1 - 1e-10)
    assert_array_equal(model.labels_, D[:, chosen].argmin(axis=1))


def test_kept_distances_are_those_of_the_medoids():
    """After a pass of many swaps, what each row knows is what assigning anew would give."""
    X = rows(200, 2)
    D = cdist(X, X)
    state, swaps = swap_step(D, start_state(D, np.arange(9)))
    assert swaps > 3
    order = np.sort(D[:, state.medoids], axis=1)
    assert_allclose(state.d1, order[:, 0])
    assert_allclose(state.d2, order[:, 1])


def test_build_is_greedy():
    X = rows(120, 2)
    D = cdist(X, X)
    found = build_medoids(D, 9)
    chosen = [int(D.sum(axis=1).argmin())]
    while len(chosen) < 9:
        value = [objective(D, [*chosen, x]) for x in range(120)]
        chosen.append(int(np.argmin(value)))
    assert_array_equal(found, chosen)


def test_objective_falls():
    model = KMedoids(10, init="random", random_state=3).fit(rows(300))
    assert (np.diff(model.history_["objective"]) <= 1e-12).all()
    assert model.history_["swaps"][-1] == 0
    assert model.history_["inertia"][-1] == model.inertia_


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "canberra", "mahalanobis", "seuclidean"])
def test_metrics_and_predict(metric):
    X = rows(80, 3) + 5
    named = {"manhattan": "cityblock"}.get(metric, metric)
    D = squareform(pdist(X, named))
    model = KMedoids(4, metric=metric).fit(X)
    assert_allclose(model.inertia_, objective(D, model.medoid_indices_), rtol=1e-9)
    given = KMedoids(4, metric="precomputed").fit(D)
    assert_array_equal(given.medoid_indices_, model.medoid_indices_)
    assert_array_equal(model.predict(X), model.labels_)
    assert_array_equal(given.predict(D), model.labels_)


def test_any_objects():
    words = ["kitten", "mitten", "bitten", "house", "mouse", "louse"]

    def edits(a, b):
        return sum(x != y for x, y in zip(a, b, strict=False)) + abs(len(a) - len(b))

    model = KMedoids(2, metric=edits).fit(words)
    assert_array_equal(model.labels_ == model.labels_[0], [True] * 3 + [False] * 3)
    assert set(model.medoids_) <= set(words)
    assert_array_equal(model.predict(["sitten", "douse"]), model.labels_[[0, 3]])
    table = KMedoids(3, metric=lambda a, b: np.abs(a - b).sum()).fit(rows(30))
    plain = KMedoids(3, metric="manhattan").fit(rows(30))
    assert_array_equal(table.labels_, plain.labels_)
    assert_array_equal(table.predict(rows(30)), plain.labels_)


def test_recovers_blobs_and_threads():
    X, truth = make_blobs(1500, 3, centers=5, random_state=1)
    models = []
    for n in (1, 2):
        with limit_threads(n):
            models.append(KMedoids(5).fit(X))
    assert adjusted_rand_score(models[0].labels_, truth) > 0.95
    assert_array_equal(models[0].medoid_indices_, models[1].medoid_indices_)
    turned = np.random.default_rng(0).permutation(1500)
    assert KMedoids(5).fit(X[turned]).inertia_ == pytest.approx(models[0].inertia_, rel=1e-9)


def test_one_medoid_per_row_and_equal_rows():
    X = rows(6)
    assert KMedoids(6).fit(X).inertia_ == 0
    same = KMedoids(2).fit(np.ones((5, 2)))
    assert same.inertia_ == 0
    assert len(set(same.medoid_indices_)) == 2


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 9}, "at most the number of rows"),
        ({"n_clusters": 2, "init": [0, 0]}, "different row numbers"),
        ({"n_clusters": 2, "init": [0, 9]}, "different row numbers"),
        ({"n_clusters": 2, "metric": "precomputed"}, "square"),
        ({"n_clusters": 2, "metric": lambda a, b: np.nan}, "NaN"),
    ],
)
def test_refusals(params, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(**params).fit(rows(5))
    assert KMedoids(2, init=[0, 1]).fit(rows(5)).n_iter_ >= 1

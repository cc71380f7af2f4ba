"""Condensing, editing, prototypes, hashing, cells and local outliers."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import Voronoi
from sklearn import neighbors as theirs
from sklearn.datasets import make_blobs

from pellucid.neighbors import (
    CondensedNearestNeighbour,
    EditedNearestNeighbours,
    KNeighborsClassifier,
    LocalOutlierFactor,
    LSHIndex,
    NearestNeighbors,
    NearestPrototypes,
    collision_probability,
    voronoi_cells,
)
from pellucid.neighbors.voronoi import clip, rectangle

X, Y = make_blobs(400, 3, centers=3, cluster_std=2.5, random_state=0)


def test_example_condensed():
    model = CondensedNearestNeighbour().fit(np.arange(10.0)[:, None], list("aaaabbbbbb"))
    assert_array_equal(model.sample_indices_, [0, 4, 3])


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("order", ["given", "random"])
def test_condensed_is_consistent(order, k):
    model = CondensedNearestNeighbour(k, order=order, random_state=0)
    if k == 1:
        model.fit(X, Y)
    else:  # three voters may outvote a row that was kept
        with pytest.warns(UserWarning, match="outvote"):
            model.fit(X, Y)
    kept = model.sample_indices_
    assert len(set(kept)) == len(kept) < len(X)
    if k == 1:
        assert_array_equal(model.predict(X), Y)
        assert model.history_["objective"][-1] == 0
        resampled, labels = model.fit_resample(pd.DataFrame(X), Y)
        assert_array_equal(resampled.to_numpy(), X[model.sample_indices_])
        assert_array_equal(labels, Y[model.sample_indices_])


def test_condensed_equals_plain_passes():
    kept = [int(np.argmax(c == Y)) for c in range(3)]
    while True:
        before = len(kept)
        for i in range(len(X)):
            near = sorted(kept)[int(np.argmin(((X[sorted(kept)] - X[i]) ** 2).sum(axis=1)))]
            if i not in kept and Y[near] != Y[i]:
                kept.append(i)
        if len(kept) == before:
            break
    assert_array_equal(CondensedNearestNeighbour().fit(X, Y).sample_indices_, kept)


def test_condensed_warns_of_equal_rows_with_different_labels():
    with pytest.warns(UserWarning, match="equal rows"):
        CondensedNearestNeighbour().fit([[0.0], [0.0], [1.0]], [0, 1, 1])


def test_example_edited():
    x = [[0], [1], [2], [3], [10], [11], [12], [2.5]]
    model = EditedNearestNeighbours().fit(x, list("aaaabbbb"))
    assert_array_equal(model.removed_indices_, [7])


def test_edited_by_hand_and_until_stable():
    index = KNeighborsClassifier(3).fit(X, Y).kneighbors(return_distance=False)
    votes = np.stack([(Y[index] == c).sum(axis=1) for c in range(3)], axis=1)
    own = votes[np.arange(len(Y)), Y]
    once = EditedNearestNeighbours().fit(X, Y)
    assert_array_equal(once.removed_indices_, np.flatnonzero(own < votes.max(axis=1)))
    strict = EditedNearestNeighbours(kind="all").fit(X, Y)
    assert_array_equal(strict.removed_indices_, np.flatnonzero(own < 3))
    stable = EditedNearestNeighbours(repeat=True).fit(X, Y)
    left, labels = stable.fit_resample(X, Y)
    assert len(EditedNearestNeighbours().fit(left, labels).removed_indices_) == 0
    assert set(once.removed_indices_) <= set(stable.removed_indices_)


def test_editing_never_empties_a_class():
    x = [[0.0], [1.0], [2.0], [3.0], [1.5]]
    model = EditedNearestNeighbours().fit(x, [0, 0, 0, 0, 1])
    assert 4 in model.sample_indices_


def test_prototypes_are_nearest_centroids():
    ours = NearestPrototypes().fit(X, Y)
    sk = theirs.NearestCentroid().fit(X, Y)
    assert_allclose(ours.prototypes_, sk.centroids_)
    assert_array_equal(ours.predict(X), sk.predict(X))
    assert ours.compression_ == 3 / 400


@pytest.mark.parametrize("method", ["mean", "medoid", "kmeans"])
def test_prototype_weights_are_repetitions(method):
    w = np.random.default_rng(0).integers(0, 4, size=len(X))
    m = 1 if method == "mean" else 3
    a = NearestPrototypes(m, method=method, random_state=0).fit(X, Y, sample_weight=w)
    b = NearestPrototypes(m, method=method, random_state=0).fit(
        np.repeat(X, w, axis=0), np.repeat(Y, w)
    )
    assert_allclose(a.prototypes_, b.prototypes_, atol=1e-9)


def test_medoids_by_brute_force_and_recovery():
    one = NearestPrototypes(method="medoid").fit(X, Y)
    for c in range(3):
        group = X[c == Y]
        D = np.sqrt(((group[:, None] - group) ** 2).sum(axis=2))
        assert_array_equal(one.prototypes_[c], group[D.sum(axis=0).argmin()])
    centers = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 9.0], [20.0, 5.0]])
    rows, group = make_blobs(400, 2, centers=centers, cluster_std=0.5, random_state=1)
    for method in ("kmeans", "medoid"):
        model = NearestPrototypes(2, method=method, random_state=0).fit(rows, group % 2)
        found = model.prototypes_[np.lexsort(model.prototypes_.T)]
        assert_allclose(found, centers[np.lexsort(centers.T)], atol=0.5)
    with pytest.raises(ValueError, match="one prototype per class"):
        NearestPrototypes(2).fit(X, Y)


def test_example_collision_probability():
    assert_allclose(collision_probability(0.5, 4, 5), 0.6672318986, atol=1e-8)
    assert collision_probability(1.0, 8, 3, family="jaccard") == 1.0
    assert collision_probability(0.0, 2, 3, family="hamming") == 0.0


@pytest.mark.parametrize("family", ["cosine", "jaccard", "hamming"])
def test_rows_meet_as_often_as_theory_says(family):
    """Shares of tables in which two rows share a bucket, over many drawn tables."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2, 30)) if family == "cosine" else rng.integers(0, 2, size=(2, 30))
    rows = rows.astype(float)
    from pellucid.neighbors import pairwise_similarities
    from pellucid.neighbors.search.hashing import draw_hashes, table_keys

    name = {"hamming": "matching"}.get(family, family)
    s = pairwise_similarities(rows, metric=name)[0, 1]
    keys = table_keys(draw_hashes(family, 20_000, 2, 30, 1.0, rng), rows)
    expected = collision_probability(s, 2, 1, family=family)
    assert_allclose((keys[:, 0] == keys[:, 1]).mean(), expected, atol=0.015)


@pytest.mark.parametrize("family", ["euclidean", "manhattan", "cosine", "jaccard", "hamming"])
def test_hashing_finds_near_rows_at_exact_distances(family):
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(40, 12))
    rows = centres[rng.integers(40, size=2000)] + 0.1 * rng.normal(size=(2000, 12))
    if family in ("jaccard", "hamming"):
        rows = (rows > 0).astype(float)
    index = LSHIndex(12, 6, family=family, random_state=0).fit(rows)
    distance, found = index.query(rows[:50], 5)
    truth = NearestNeighbors(n_neighbors=5, metric=family, algorithm="brute").fit(rows)
    exact = truth.kneighbors(rows[:50])
    assert_allclose(distance[:, 0], 0.0, atol=1e-12)
    assert (distance >= exact[0] - 1e-12).all()
    assert (found == exact[1]).mean() > 0.75
    if family in ("euclidean", "manhattan"):
        assert index.recall_ >= 0.9
        assert_allclose(np.diff(np.log2(index.widths_)), 1.0)


def test_hashing_falls_back_on_all_rows_and_serves_models():
    rows = X[:50]
    index = LSHIndex(1, 30, bucket_width=1e-6, random_state=0).fit(rows)
    exact = NearestNeighbors(n_neighbors=4).fit(rows).kneighbors(X[50:60])
    assert_array_equal(index.query(X[50:60], 4)[1], exact[1])
    model = KNeighborsClassifier(5, algorithm=LSHIndex(random_state=0)).fit(X, Y)
    plain = KNeighborsClassifier(5).fit(X, Y)
    assert (model.predict(X) == plain.predict(X)).mean() > 0.95
    with pytest.raises(ValueError, match="no hash"):
        KNeighborsClassifier(algorithm=LSHIndex(), metric="canberra").fit(X, Y)


def polygon_area(corners):
    x, y = corners.T
    return 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def test_cells_fill_the_rectangle_and_hold_their_points():
    points = np.random.default_rng(0).random((60, 2))
    cells = voronoi_cells(points, bounds=(0, 1, 0, 1))
    assert_allclose(sum(polygon_area(p) for p in cells.polygons), 1.0)
    spots = np.random.default_rng(1).random((500, 2))
    nearest = NearestNeighbors(n_neighbors=1).fit(points).kneighbors(spots)[1][:, 0]
    for spot, i in zip(spots, nearest, strict=True):
        corners = cells.polygons[i]
        edges = np.roll(corners, -1, axis=0) - corners
        side = edges[:, 0] * (spot - corners)[:, 1] - edges[:, 1] * (spot - corners)[:, 0]
        assert (side >= -1e-12).all()


def test_neighbouring_cells_equal_scipy():
    points = np.random.default_rng(2).normal(size=(40, 2))
    cells = voronoi_cells(points, bounds=(-500, 500, -500, 500))
    ours = {(i, j) for i, near in enumerate(cells.neighbours) for j in near if i < j}
    reference = Voronoi(points)
    corners = [set(map(int, pair)) for pair in reference.ridge_points]
    far = [  # ridges between corners outside the rectangle cannot be seen
        tuple(sorted(pair)) for pair, ends in zip(corners, reference.ridge_vertices, strict=True)
        if -1 in ends or (np.abs(reference.vertices[ends]) < 500).all()
    ]  # fmt: skip
    seen = {tuple(sorted(pair)) for pair in corners}
    assert ours <= seen
    assert {p for p in far if p not in ours} <= {
        tuple(sorted(pair)) for pair, ends in zip(corners, reference.ridge_vertices, strict=True)
        if -1 in ends
    }  # fmt: skip


def test_regions_duplicates_collinear_points_and_rasters():
    cells = voronoi_cells([[0, 0], [1, 0], [2, 0], [1, 0]], list("aabb"), bounds=(-1, 3, -1, 1))
    assert len(cells.polygons) == 3
    assert_array_equal(cells.members[1], [1, 3])
    assert [(r.label, r.cells) for r in cells.regions] == [("a", (0, 1)), ("b", (2,))]
    raster = voronoi_cells([[0, 0], [2, 0]], ["a", "b"], metric="manhattan", bounds=(-1, 3, -1, 1))
    assert (raster.raster[:, :100] == 0).all()
    assert (raster.raster[:, 100:] == 1).all()
    assert raster.neighbours == ((1,), (0,))
    with pytest.raises(ValueError, match="points of the plane"):
        voronoi_cells([[1.0, 2.0, 3.0]])


@pytest.mark.parametrize("contamination", ["auto", 0.1])
def test_local_outlier_factor_equals_scikit_learn(contamination):
    for novelty in (False, True):
        shared = {"n_neighbors": 15, "contamination": contamination, "novelty": novelty}
        ours = LocalOutlierFactor(**shared).fit(X)
        sk = theirs.LocalOutlierFactor(**shared).fit(X)
        assert_allclose(ours.negative_outlier_factor_, sk.negative_outlier_factor_, rtol=1e-9)
        assert_allclose(ours.offset_, sk.offset_)
    new = np.random.default_rng(5).normal(size=(30, 3)) * 6
    assert_allclose(ours.score_samples(new), sk.score_samples(new), rtol=1e-9)
    assert_array_equal(ours.predict(new), sk.predict(new))
    p = ours.p_values(new)
    expected = [(ours.negative_outlier_factor_ <= s).mean() for s in ours.score_samples(new)]
    assert_allclose(p, expected)


def test_local_outlier_factor_finds_the_strange_row():
    rows = np.concatenate([X, [[100.0, 100.0, 100.0]]])
    assert LocalOutlierFactor().fit_predict(rows)[-1] == -1
    with pytest.raises(AttributeError, match="has no attribute 'predict'"):
        LocalOutlierFactor().fit(X).predict(X)
    with pytest.warns(UserWarning, match="greater than the number of rows"):
        LocalOutlierFactor(50).fit(X[:10])


@pytest.mark.parametrize(
    ("normal", "limit", "area"),
    [
        ((1.0, 1.0), 1.0, 0.5),
        ((1.0, 0.0), 1.0, 1.0),
        ((-1.0, 0.0), 0.0, 1.0),
        ((1.0, 0.0), 0.25, 0.25),
    ],
)
def test_a_cut_through_corners_keeps_them(normal, limit, area):
    """Corners on the line itself belong to what is left."""
    cell = clip(rectangle((0.0, 1.0, 0.0, 1.0)), np.array(normal), limit, 7)
    x, y = cell.corners.T
    assert abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2 == pytest.approx(area)
    assert len(cell.owners) == len(cell.corners)
    assert (7 in cell.owners) == (area < 1)


def test_a_medoid_is_the_best_row_of_its_own_group():
    """No medoid can be exchanged for a row of its group that is nearer to the group."""
    from pellucid.neighbors.editing.prototypes import class_medoids

    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20, 2)) + np.where(np.arange(20) < 12, 0, 3)[:, None]
        D = np.linalg.norm(X[:, None] - X[None], axis=2)
        w = rng.uniform(0.5, 2, size=20)
        medoids = class_medoids(D, w, 3)
        label = D[:, medoids].argmin(axis=1)
        for g, row in enumerate(medoids):
            group = np.flatnonzero(label == g)
            cost = w[group] @ D[np.ix_(group, group)]
            assert D[row, group] @ w[group] <= cost.min() + 1e-12

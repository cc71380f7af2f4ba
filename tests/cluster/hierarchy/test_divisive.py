"""DIANA: the splits by definition, the catalogue's example, diameters, cuts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.spatial.distance import cdist

from pellucid import DivisiveClustering
from pellucid.cluster.hierarchy.divisive import fit_divisive


def rows(n, p=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def split(D, rest):
    """One split, straight from the definition."""
    far = [np.mean([D[i, j] for j in rest if j != i]) for i in rest]
    gone = [rest[int(np.argmax(far))]]
    stay = [i for i in rest if i not in gone]
    while len(stay) > 1:
        gain = [
            np.mean([D[i, j] for j in stay if j != i]) - np.mean([D[i, j] for j in gone])
            for i in stay
        ]
        if max(gain) <= 1e-12 * D.max():
            break
        gone.append(stay.pop(int(np.argmax(gain))))
    return stay, gone


def by_definition(D):
    """Heights of all splits, and the partition after each."""
    clusters, heights, partitions = [list(range(len(D)))], [], []
    while len(clusters) < len(D):
        size = [D[np.ix_(c, c)].max() if len(c) > 1 else -1 for c in clusters]
        at = int(np.argmax(size))
        heights.append(size[at])
        clusters += split(D, clusters.pop(at))
        partitions.append({frozenset(c) for c in clusters})
    return heights, partitions


def partition(labels):
    return {frozenset(np.flatnonzero(labels == c).tolist()) for c in np.unique(labels)}


@pytest.mark.parametrize(("n", "p", "seed"), [(2, 1, 0), (9, 2, 1), (30, 2, 2), (45, 4, 3)])
def test_every_split_is_that_of_the_definition(n, p, seed):
    X = rows(n, p, seed)
    heights, partitions = by_definition(cdist(X, X))
    model = DivisiveClustering(2).fit(X)
    assert_allclose(model.heights_, heights, rtol=1e-12)
    for k, expected in enumerate(partitions, 2):
        assert partition(model.cut(k)) == expected


def test_example_8():
    X = np.array([0, 1, 2, 10, 11, 20.0])[:, None]
    model = DivisiveClustering(3).fit(X)
    assert_array_equal(model.heights_, [20, 11, 2, 1, 1])
    assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 2])
    # each row leaves a cluster of diameter 1 or 2 to be alone, row 5 one of 20
    assert 0.7 < model.divisive_coefficient_ < 0.9


def test_heights_fall_and_are_diameters():
    X = rows(200, 3)
    D = cdist(X, X)
    tree = fit_divisive(D).tree
    assert (np.diff(tree.heights) >= 0).all()
    assert is_valid_linkage(tree.matrix)
    inside = {i: [i] for i in range(200)}
    for k, (a, b) in enumerate(tree.children.tolist(), 200):
        inside[k] = inside[a] + inside[b]
        assert tree.heights[k - 200] == D[np.ix_(inside[k], inside[k])].max()
        assert tree.sizes[k - 200] == len(inside[k])


def test_coefficient_by_definition():
    X = rows(25)
    model = DivisiveClustering().fit(X)
    D = cdist(X, X)
    total = 0.0
    for i in range(25):
        alone = next(k for k in range(2, 26) if (model.cut(k) == model.cut(k)[i]).sum() == 1)
        before = np.flatnonzero(model.cut(alone - 1) == model.cut(alone - 1)[i])
        total += 1 - D[np.ix_(before, before)].max() / D.max()
    assert model.divisive_coefficient_ == pytest.approx(total / 25)


def test_metrics_threshold_and_order():
    X = rows(60)
    plain = DivisiveClustering(4, metric="manhattan").fit(X)
    D = cdist(X, X, "cityblock")
    for metric, table in (("precomputed", D), (lambda a, b: np.abs(a - b).sum(), X)):
        assert_array_equal(DivisiveClustering(4, metric=metric).fit(table).labels_, plain.labels_)
    height = float(plain.heights_[6])
    by_height = DivisiveClustering(None, metric="manhattan", distance_threshold=height).fit(X)
    assert by_height.n_clusters_ == 8
    sizes = [D[np.ix_(c, c)].max() for c in map(list, partition(by_height.labels_))]
    assert max(sizes) < height
    turned = np.random.default_rng(1).permutation(60)
    again = DivisiveClustering(4, metric="manhattan").fit(X[turned])
    assert {frozenset(turned[list(c)].tolist()) for c in partition(again.labels_)} == partition(
        plain.labels_
    )


def test_recovers_blobs():
    X = np.concatenate([rows(40), rows(40, 2, 1) + 15, rows(40, 2, 2) - 15])
    model = DivisiveClustering(3).fit(X)
    assert_array_equal(model.labels_, np.repeat([0, 1, 2], 40))
    assert model.divisive_coefficient_ > 0.9


def test_equal_rows_and_refusals():
    model = DivisiveClustering(2).fit(np.ones((5, 2)))
    assert_array_equal(model.heights_, 0)
    assert model.divisive_coefficient_ == 0
    for params, message in (
        ({"n_clusters": 9}, "at most"),
        ({"n_clusters": None}, "Exactly one"),
        ({"metric": "precomputed"}, "square"),
    ):
        with pytest.raises(ValueError, match=message):
            DivisiveClustering(**params).fit(rows(5))
    with pytest.raises(ValueError, match="1 sample"):
        DivisiveClustering().fit([[1.0]])

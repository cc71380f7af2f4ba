"""Textbook methods of hashing, ranks, chains, centroids, hills, batches and covariances."""

import numpy as np
import pytest
from agreement import same
from numpy.testing import assert_array_equal

import pellucid
from pellucid.textbook.clusters.mini_batch_kmeans import mini_batch_kmeans
from pellucid.textbook.features.chained_imputation import chained_imputation
from pellucid.textbook.features.feature_hashing import feature_hashing
from pellucid.textbook.features.quantile_transform import quantile_transform
from pellucid.textbook.neighbors.kernel_density import kernel_density, left_out_score
from pellucid.textbook.neighbors.shrunken_centroids import shrunken_centroids
from pellucid.textbook.structures.graphical_lasso import graphical_lasso
from pellucid.textbook.structures.ledoit_wolf import ledoit_wolf

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 4)) @ rng.normal(size=(4, 4))


def test_feature_hashing():
    texts = [["red", "red", "green"], ["green", "blue", "straße", "x" * 13]]
    fast = pellucid.HashingVectorizer(n_features=5, norm=None, analyzer=str.split)
    assert_array_equal(feature_hashing(texts, 5), fast.transform(map(" ".join, texts)).toarray())


@pytest.mark.parametrize("ties", [False, True])
def test_quantile_transform(ties):
    x = rng.integers(0, 5, 90).astype(float) if ties else X[:, 0]
    v = np.concatenate([x[::7], rng.normal(size=20) * 3])
    fast = pellucid.QuantileTransformer(n_quantiles=30).fit(x[:, None]).transform(v[:, None])
    same(quantile_transform(x, v, 30), fast[:, 0], atol=1e-12)


def test_chained_imputation():
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X + 0.3 * rng.normal(size=X.shape))
    fast = pellucid.IterativeImputer(pellucid.LinearRegression(), max_iter=3, tol=0.0)
    same(chained_imputation(holes, 3), fast.fit_transform(holes), atol=1e-8)


def test_shrunken_centroids():
    y = rng.integers(0, 3, 90)
    fast = pellucid.NearestCentroid(shrink_threshold=1.3).fit(X, y)
    same(shrunken_centroids(X, y, 1.3), fast.centroids_)


def test_kernel_density():
    places = rng.normal(size=(20, 4))
    fast = pellucid.KernelDensity(bandwidth=0.4).fit(X)
    same(kernel_density(X, places, 0.4), fast.score_samples(places))
    assert left_out_score(X[:40], 0.8) > left_out_score(X[:40], 0.05)


def test_mini_batch_kmeans():
    C, batches = X[::30], np.split(X, 6)
    fast = pellucid.MiniBatchKMeans(3, init=C, n_init=1, reassignment_ratio=0.0)
    for batch in batches:
        fast.partial_fit(batch)
    same(mini_batch_kmeans(C, batches), fast.cluster_centers_)


def test_ledoit_wolf():
    C, d = ledoit_wolf(X[:15])
    fast = pellucid.LedoitWolf().fit(X[:15])
    same(C, fast.covariance_)
    same(d, fast.shrinkage_)


def test_graphical_lasso():
    R = np.corrcoef(X.T)
    exact = {"tol": 1e-13, "enet_tol": 1e-13, "max_iter": 500}
    fast = pellucid.GraphicalLasso(0.15, covariance="precomputed", **exact).fit(R)
    same(graphical_lasso(R, 0.15), fast.precision_)

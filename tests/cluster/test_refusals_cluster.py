"""Every number and word that a clustering function takes is checked, and named if bad."""

import numpy as np
import pytest
from bad_values import tried

from pellucid import KMeans, cluster

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(10, 2)), rng.normal(size=(10, 2)) + 6])
LABELS = np.repeat([0, 1], 10)
MODEL = KMeans(2, n_init=1, random_state=0)

CALLS = {
    "bell_number": {"n": 4},
    "cluster_stability": {"estimator": MODEL, "X": X, "n_runs": 3, "resample": "seeds"},
    "consensus_matrix": {
        "estimator": MODEL,
        "X": X,
        "n_runs": 3,
        "resample": "subsample",
        "fraction": 0.8,
    },
    "distortion": {"X": X, "labels": LABELS, "metric": "euclidean"},
    "elbow": {"values": [9.0, 3.0, 2.5, 2.4], "ratio": 2.0, "share": 0.05},
    "k_distances": {"X": X, "k": 2, "metric": "euclidean"},
    "kmeans_plusplus": {"X": X, "n_clusters": 2, "power": 2.0, "n_local_trials": 2},
    "linkage_distance": {"A": X[:3], "B": X[3:6], "linkage": "single", "metric": "euclidean"},
    "silhouette_samples": {"X": X, "labels": LABELS, "within": "others"},
    "silhouette_score": {"X": X, "labels": LABELS, "within": "others", "sample_size": 12},
    "stirling_number": {"n": 5, "k": 2},
}
TRIED = tried(CALLS)


@pytest.mark.parametrize("function", CALLS)
def test_the_good_call_is_good(function):
    getattr(cluster, function)(**CALLS[function])


@pytest.mark.parametrize(("function", "name", "value"), TRIED)
def test_a_bad_value_is_refused_by_name(function, name, value):
    with pytest.raises(ValueError, match=rf"\b{name}\b|{value}") as caught:
        getattr(cluster, function)(**{**CALLS[function], name: value})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("share", "refused"), [(0.9e-8, False), (1.1e-8, True)])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_distances_may_differ_by_rounding_alone(share, refused, scale):
    """1e-8 of the largest distance, in any unit."""
    D = np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 0.75], [0.5, 0.75, 0.0]]) * scale
    D[2, 0] += share * scale
    model = cluster.AgglomerativeClustering(2, metric="precomputed", linkage="average")
    if refused:
        with pytest.raises(ValueError, match="distances must be symmetric"):
            model.fit(D)
    else:
        model.fit(D)

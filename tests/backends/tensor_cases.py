"""Fits on tensors and on arrays, compared: shared by the tests with and without PyTorch."""

from typing import Any, NamedTuple

import numpy as np

import pellucid
from pellucid.backends import use
from pellucid.core.arrays.tensors import host, is_tensor

rng = np.random.default_rng(0)
N = 6000  # more than one leaf
X = rng.normal(size=(N, 4)) * [1.0, 2.0, 0.3, 4.0] + [0.0, 10.0, -5.0, 300.0]
GROUP = rng.integers(0, 3, N)
X[:, :2] += 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[GROUP]
Y = X @ [1.0, -2.0, 0.5, 0.1] + rng.normal(size=N)
TWO = (X[:, 0] + rng.normal(size=N) > 1).astype(np.int64)
THREE = np.where(rng.random(N) < 0.2, rng.integers(0, 3, N), GROUP)
W = rng.integers(0, 4, N).astype(np.float64)


class Case(NamedTuple):
    """One estimator and what must agree."""

    name: str
    settings: dict[str, Any]
    y: Any
    fitted: tuple[str, ...]
    answers: tuple[str, ...]
    weighted: bool = False


CASES = [
    Case("LinearRegression", {}, Y, ("coef_", "standard_errors_"), ("predict",)),
    Case("LinearRegression", {}, np.column_stack([Y, -Y]), ("coef_",), ("predict",), True),
    Case("LinearRegression", {"solver": "qr"}, Y, ("coef_",), (), True),
    Case("Ridge", {"alpha": 3.0}, Y, ("coef_",), ("predict",), True),
    Case("RidgeCV", {}, Y, ("coef_", "alpha_"), ()),
    Case("Lasso", {"alpha": 0.1}, Y, ("coef_",), ("predict",)),
    Case("ElasticNet", {"alpha": 0.1}, Y, ("coef_",), (), True),
    Case("LassoCV", {"cv": 3}, Y, ("coef_", "alpha_"), ()),
    Case("PCA", {"n_components": 2}, None, ("components_", "mean_"), ("transform",)),
    Case("PCA", {"whiten": True}, None, ("explained_variance_",), ("transform",)),
    Case("FactorAnalysis", {"n_components": 1}, None, ("components_",), ()),
    Case("LogisticRegression", {}, TWO, ("coef_",), ("predict", "predict_proba")),
    Case("LogisticRegression", {}, THREE, ("coef_",), ("predict_proba", "decision_function"), True),
    Case("LogisticRegression", {"class_weight": "balanced"}, TWO, ("coef_",), ()),
    Case("LinearDiscriminantAnalysis", {}, THREE, ("coef_", "means_"), ("predict",)),
    Case("QuadraticDiscriminantAnalysis", {}, THREE, ("means_",), ("predict_proba",)),
    Case("GaussianNB", {}, THREE, ("theta_", "var_"), ("predict",), True),
    Case("StandardScaler", {}, None, ("mean_", "scale_"), ("transform",), True),
    Case("MinMaxScaler", {}, None, ("data_min_", "data_max_"), ("transform",)),
    Case("KMeans", {"n_clusters": 3, "random_state": 0}, None, ("cluster_centers_",), ("predict",)),
    Case("KMeans", {"n_clusters": 3, "random_state": 0}, None, ("labels_", "inertia_"), (), True),
    Case("GaussianMixture", {"n_components": 3, "random_state": 0}, None,
         ("means_", "covariances_"), ("predict", "predict_proba", "score_samples")),
    Case("GaussianMixture", {"n_components": 2, "random_state": 0, "covariance_type": "diag"}, None,
         ("means_",), (), True),
    Case("GraphicalLassoCV", {"cv": 3}, None, ("precision_", "alpha_"), ("score_samples",)),
    Case("FastICA", {"random_state": 0}, None, ("components_", "mean_"), ("transform",), True),
    Case("FastICA", {"random_state": 0, "n_components": 2, "fun": "exp", "algorithm": "deflation"},
         None, ("components_",), ("transform",)),
]  # fmt: skip


def compare(case: Case, backend: Any, tensor: Any, tolerance: float = 1e-8) -> None:
    """Fit on arrays here and on tensors under ``backend``: what is asked for must agree."""
    given = [X] if case.y is None else [X, case.y]
    weights = {"sample_weight": W} if case.weighted else {}
    here = getattr(pellucid, case.name)(**case.settings).fit(*given, **weights)
    there = getattr(pellucid, case.name)(**case.settings)
    with use(backend):
        there.fit(*map(tensor, given), **{name: tensor(w) for name, w in weights.items()})
    for name in case.fitted:
        expected, found = np.asarray(getattr(here, name)), getattr(there, name)
        assert not is_tensor(found)
        assert np.abs(found - expected).max() <= tolerance * np.abs(expected).max(), name
    for name in case.answers:
        expected = getattr(here, name)(X)
        with use(backend):
            found = getattr(there, name)(tensor(X))
        assert is_tensor(found), name
        assert np.abs(host(found) - expected).max() <= tolerance * np.abs(expected).max(), name

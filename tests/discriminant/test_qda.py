"""Quadratic discriminant analysis: scikit-learn, brute force, laws, corners."""

import numpy as np
import pytest
import sklearn.discriminant_analysis
from discriminant_tables import blobs, mixed
from numpy.linalg import LinAlgError
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.covariance import OAS
from sklearn.exceptions import NotFittedError

from pellucid import QuadraticDiscriminantAnalysis

Peer = sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis
OPTIONS = [
    {},
    {"reg_param": 0.2},
    {"priors": True, "store_covariance": True},
    {"solver": "eigen"},
    {"solver": "eigen", "shrinkage": 0.3},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "eigen", "covariance_estimator": OAS()},
]


def test_example_14():
    X, y = blobs()
    model = QuadraticDiscriminantAnalysis(covariance_estimator="unbiased").fit(X, y)
    assert (model.predict(X) == y).sum() == 298
    assert QuadraticDiscriminantAnalysis().fit(*mixed(p=10)).n_parameters_ == 132


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("K", [2, 4])
def test_same_as_scikit_learn(options, K):
    X, y = mixed(K=K)
    given = np.arange(1, K + 1) / np.arange(1, K + 1).sum()
    options = {k: (given if k == "priors" else v) for k, v in options.items()}
    ours, theirs = QuadraticDiscriminantAnalysis(**options).fit(X, y), Peer(**options).fit(X, y)
    for name in ("means_", "priors_", "scalings_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9)
    for a, b in zip(ours.rotations_, theirs.rotations_, strict=True):
        assert_allclose(abs(a), abs(b), atol=1e-8)
    if hasattr(theirs, "covariance_"):
        assert_allclose(ours.covariance_, theirs.covariance_, atol=1e-10)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-8, atol=1e-8)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("kind", [None, "unbiased"])
def test_brute_force_densities(kind):
    X, y = mixed()
    model = QuadraticDiscriminantAnalysis(covariance_estimator=kind).fit(X, y)
    logs = np.column_stack(
        [
            multivariate_normal(
                X[y == k].mean(axis=0), np.cov(X[y == k].T, ddof=0 if kind is None else 1)
            ).logpdf(X)
            + np.log((y == k).mean())
            for k in range(3)
        ]
    )
    evidence = logsumexp(logs, axis=1)
    assert_allclose(model.score_samples(X), evidence, rtol=1e-9)
    assert_allclose(model.predict_log_proba(X), logs - evidence[:, None], atol=1e-8)
    parts = model.explain(X).sum(axis=2) + np.log(model.priors_) - model.log_determinants_ / 2
    assert_allclose(parts, model.discriminants(X), rtol=1e-8, atol=1e-8)
    assert_allclose(model.discriminants(X), logs + 2 * np.log(2 * np.pi), rtol=1e-8, atol=1e-8)


def test_partial_fit_is_exact_and_waits():
    X, y = mixed(600)
    whole = QuadraticDiscriminantAnalysis().fit(X, y)
    parts = QuadraticDiscriminantAnalysis().partial_fit(X[:9], y[:9], [0, 1, 2])
    with pytest.raises(NotFittedError):
        parts.predict(X)
    parts.partial_fit(X[9:300], y[9:300]).partial_fit(X[300:], y[300:])
    assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-9, atol=1e-9)
    assert_allclose(parts.scalings_, whole.scalings_, rtol=1e-10)


def test_units_do_not_matter():
    X, y = mixed()
    scale = [1e-9, 1.0, 1e4, 1e9]
    ours = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    moved = QuadraticDiscriminantAnalysis().fit(X * scale, y).predict_proba(X * scale)
    assert_allclose(moved, ours, atol=1e-9)


def test_recovers_what_it_draws():
    model = QuadraticDiscriminantAnalysis(store_covariance=True).fit(*mixed())
    X, y = model.sample(150_000, random_state=1)
    again = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    assert_allclose(again.means_, model.means_, atol=0.06)
    assert_allclose(again.covariance_, model.covariance_, rtol=0.06, atol=0.1)


def test_a_small_class_is_named_with_the_way_out():
    X, y = mixed()
    keep = (y != 2) | (np.cumsum(y == 2) <= 3)
    match = r"class 2 has 3 rows for 4 columns.*RegularizedDiscriminantAnalysis"
    with pytest.raises(LinAlgError, match=match):
        QuadraticDiscriminantAnalysis().fit(X[keep], y[keep])
    model = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X[keep], y[keep])
    assert np.isfinite(model.predict_proba(X)).all()
    keep = (y != 2) | (np.cumsum(y == 2) <= 1)
    with pytest.raises(LinAlgError, match="class 2 has 1 row "):
        QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X[keep], y[keep])


def test_collinear_columns_are_named():
    X, y = mixed()
    X[y == 1, 3] = X[y == 1, 0] - X[y == 1, 2]
    with pytest.raises(LinAlgError, match=r"class 1 .*x0, x2, x3"):
        QuadraticDiscriminantAnalysis().fit(X, y)


def test_far_rows_have_finite_probabilities():
    X, y = mixed()
    P = QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(1e100 * X)
    assert_allclose(P.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"reg_param": 1.5}, "at most 1"),
        ({"covariance_estimator": "weighted"}, "unbiased"),
        ({"shrinkage": 0.2, "covariance_estimator": OAS()}, "Only one"),
    ],
)
def test_refusals(options, match):
    with pytest.raises(ValueError, match=match):
        QuadraticDiscriminantAnalysis(**options).fit(*mixed())


def test_weights_are_repetitions():
    X, y = mixed()
    w = np.random.default_rng(5).integers(0, 4, size=len(y))
    weighted = QuadraticDiscriminantAnalysis().fit(X, y, sample_weight=w)
    repeated = QuadraticDiscriminantAnalysis().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(weighted.discriminants(X), repeated.discriminants(X), rtol=1e-9, atol=1e-9)
    with pytest.raises(TypeError, match="weights"):
        QuadraticDiscriminantAnalysis().fit(X, y, weights=w)

"""Orthogonal matching pursuit: scikit-learn, orthogonal residuals, known columns, endings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import OrthogonalMatchingPursuit as Theirs

from pellucid import LinearRegression, OrthogonalMatchingPursuit


def table(n=80, p=30, k=4, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2
    w = np.zeros(p)
    w[rng.permutation(p)[:k]] = rng.uniform(1, 3, size=k)
    return X, X @ w + 1 + noise * rng.normal(size=n), w


@pytest.mark.parametrize("shape", [(80, 30), (25, 60)])
@pytest.mark.parametrize(
    "params", [{}, {"n_nonzero_coefs": 7}, {"tol": 8.0}, {"fit_intercept": False}]
)
def test_same_as_scikit_learn(params, shape):
    X, y, _ = table(*shape)
    Y = np.column_stack([y, X[:, 0] - y])
    for target in (y, Y):
        ours, theirs = (cls(**params).fit(X, target) for cls in (OrthogonalMatchingPursuit, Theirs))
        assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
        assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-7)
        assert ours.n_nonzero_coefs_ == theirs.n_nonzero_coefs_
        assert np.array_equal(ours.n_iter_, theirs.n_iter_)


def test_the_residual_is_orthogonal_to_the_columns_taken():
    X, y, _ = table()
    model = OrthogonalMatchingPursuit(n_nonzero_coefs=6).fit(X, y)
    r = y - model.predict(X)
    assert_allclose(X[:, model.active_].T @ r, 0, atol=1e-9)
    assert_allclose([r.sum(), r @ r], [0, model.rss_], atol=1e-9)
    assert (np.diff(model.history_["objective"]) < 0).all()
    assert [row["column"] for row in model.history_[1:]] == model.active_


def test_recovery():
    X, y, w = table(400, 100, 5, noise=0.1)
    model = OrthogonalMatchingPursuit(n_nonzero_coefs=5).fit(X, y)
    assert set(model.active_) == set(np.flatnonzero(w))
    assert_allclose(model.coef_, w, atol=0.05)


def test_all_columns_are_least_squares():
    X, y, _ = table()
    ours = OrthogonalMatchingPursuit(n_nonzero_coefs=30).fit(X, y)
    assert_allclose(ours.coef_, LinearRegression().fit(X, y).coef_, atol=1e-9)


def test_an_exact_fit_ends_and_says_so():
    X, y, w = table(noise=0.0)
    model = OrthogonalMatchingPursuit(n_nonzero_coefs=30).fit(X, y)
    assert model.n_iter_ < 30
    assert_allclose(model.coef_, w, atol=1e-10)
    assert "no other column" in model.card().warnings[0]
    assert len(model.history_) == model.n_iter_ + 1
    assert OrthogonalMatchingPursuit(tol=1e9).fit(X, y).active_ == []


def test_a_column_in_the_span_of_the_others_is_not_taken():
    X, y, _ = table(p=3, k=2)
    X = np.column_stack([X, X @ [1.0, -1.0, 2.0]])
    model = OrthogonalMatchingPursuit(n_nonzero_coefs=4).fit(X, y)
    assert model.n_iter_ == 3
    assert_allclose(model.rss_, LinearRegression().fit(X[:, :3], y).rss_)


def test_a_bound_out_of_reach_warns():
    X, y, _ = table()
    with pytest.warns(RuntimeWarning, match="tol=0.1 was not reached: all columns leave"):
        model = OrthogonalMatchingPursuit(tol=0.1).fit(X, y)
    assert model.n_iter_ == 30


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_nonzero_coefs": 31}, "cannot be more than the number of features"),
        ({"n_nonzero_coefs": 0}, "n_nonzero_coefs must be a whole number"),
        ({"tol": -1.0}, "tol must be >= 0"),
        ({"precompute": "always"}, "precompute"),
    ],
)
def test_bad_parameters(params, words):
    with pytest.raises(ValueError, match=words):
        OrthogonalMatchingPursuit(**params).fit(*table()[:2])

"""linear_estimator: least squares is best, and by how much."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.linear import linear_estimator

g = np.random.default_rng(0)
X = g.normal(size=(20, 3))
D = np.column_stack([np.ones(20), X])
P = np.linalg.solve(D.T @ D, D.T)


def test_least_squares_has_no_excess():
    found = linear_estimator(X, P, noise_variance=2.0)
    assert found.unbiased
    assert_allclose(found.bias_matrix, 0, atol=1e-12)
    assert_allclose(found.covariance, 2 * np.linalg.inv(D.T @ D), rtol=1e-10)
    assert_allclose(found.excess, 0, atol=1e-12)


def test_any_unbiased_estimator_has_a_positive_excess():
    N = np.eye(20) - D @ P  # rows orthogonal to D
    C = P + g.normal(size=(4, 20)) @ N
    found = linear_estimator(X, C, noise_variance=0.5)
    assert found.unbiased
    assert_allclose(found.excess, found.covariance - 0.5 * np.linalg.inv(D.T @ D), atol=1e-10)
    assert np.linalg.eigvalsh(found.excess).min() > 0


def test_ridge_is_biased_with_less_variance():
    C = np.linalg.solve(D.T @ D + np.eye(4), D.T)
    found = linear_estimator(X, C)
    assert not found.unbiased
    assert_allclose(found.bias_matrix, C @ D - np.eye(4))
    assert_allclose(found.excess, C @ C.T - np.linalg.inv(D.T @ D), atol=1e-12)
    assert np.linalg.eigvalsh(found.excess).max() < 0


def test_design_as_given_and_refusals():
    assert linear_estimator(X, np.linalg.pinv(X)).unbiased
    with pytest.raises(ValueError, match=r"C must have shape \(4, 20\)"):
        linear_estimator(X, np.ones((2, 20)))
    with pytest.raises(ValueError, match="rank 3 of 4"):
        linear_estimator(np.column_stack([X[:, :2], X[:, 0]]), P)
    with pytest.raises(ValueError, match="noise_variance"):
        linear_estimator(X, P, noise_variance=0)

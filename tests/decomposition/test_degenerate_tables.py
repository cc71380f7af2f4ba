"""PCA of tables without full rank: constant, with copied columns, with fewer rows than columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import PCA
from pellucid.core.loops.statistics import Rows
from pellucid.decomposition.row_sums import leaf_spread, merge_spread
from pellucid.decomposition.spectrum import orthogonal_part, orthogonal_unit

SOLVERS = ["full", "covariance_eigh", "greedy"]
rng = np.random.default_rng(5)


def copied_columns():
    """Six columns that hold two directions."""
    Z = rng.normal(size=(30, 2))
    return Z @ np.array([[1.0, 2.0, 1.0, 0.0, 3.0, 1.0], [0.0, 1.0, 1.0, 2.0, 1.0, -1.0]])


@pytest.mark.parametrize("solver", SOLVERS)
def test_directions_without_spread_complete_a_basis(solver):
    """Rank 2 of 6: all six are orthonormal, the last four hold nothing, rows come back whole."""
    X = copied_columns()
    model = PCA(svd_solver=solver).fit(X)
    V = model.components_
    assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-7)
    assert_allclose(model.explained_variance_[2:], 0, atol=1e-12)
    assert_allclose(model.explained_variance_.sum(), X.var(axis=0, ddof=1).sum())
    assert_allclose(model.transform(X)[:, 2:], 0, atol=1e-7)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-7)


def test_the_empty_directions_do_not_depend_on_the_solver_or_the_order_of_rows():
    X = copied_columns()
    first = PCA(svd_solver="full").fit(X).components_
    assert_allclose(PCA(svd_solver="covariance_eigh").fit(X).components_, first, atol=1e-7)
    assert_allclose(PCA(svd_solver="full").fit(X[::-1]).components_, first, atol=1e-7)


@pytest.mark.parametrize("solver", ["full", "covariance_eigh"])
def test_a_constant_table_has_no_variance_and_still_a_basis(solver):
    X = np.full((8, 3), 7.0)
    model = PCA(svd_solver=solver).fit(X)
    assert_array_equal(model.explained_variance_, 0)
    assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-12)
    assert_array_equal(model.transform(X), 0)
    assert_array_equal(model.inverse_transform(model.transform(X)), X)
    assert_array_equal(model.mean_, 7)
    assert np.isfinite(model.explained_variance_ratio_).all() or (
        np.isnan(model.explained_variance_ratio_).all()
    )


def test_fewer_rows_than_columns():
    X = rng.normal(size=(4, 9))
    model = PCA().fit(X)
    assert model.components_.shape == (4, 9)
    assert_allclose(model.components_ @ model.components_.T, np.eye(4), atol=1e-10)
    assert_allclose(model.explained_variance_[3], 0, atol=1e-12)


def test_the_orthogonal_part_is_a_unit_vector():
    """Of length one whatever the length of what it is part of."""
    V = np.array([[0.6, 0.8, 0.0]])
    v = orthogonal_part(np.array([5.0, 1.0, 2.0]), V)
    assert_allclose(np.linalg.norm(v), 1)
    assert_allclose(V @ v, 0, atol=1e-15)
    assert_allclose(orthogonal_unit(V, 3), [0, 0, 1], atol=1e-15)


def test_merged_columns_are_those_of_all_rows():
    """Unequal weights, and an empty side: as one block, from the definition."""
    X, w = rng.normal(size=(9, 3)), rng.integers(1, 5, 9).astype(float)
    y = np.zeros(9)
    parts = [leaf_spread(Rows(X[a:b], y[a:b], w[a:b])) for a, b in ((0, 2), (2, 9))]
    empty = leaf_spread(Rows(X[:2], y[:2], np.zeros(2)))
    mean = np.average(X, axis=0, weights=w)
    for whole in (merge_spread(*parts), merge_spread(merge_spread(parts[0], empty), parts[1])):
        assert whole.weight == w.sum()
        assert_allclose(whole.mean, mean)
        assert_allclose(whole.scatter, w @ (X - mean) ** 2)
    assert_array_equal(merge_spread(empty, parts[1]).mean, parts[1].mean)

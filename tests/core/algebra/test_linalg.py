"""Least-squares algebra: every route to the same answer."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.core.algebra.least_squares import (
    Engine,
    coordinates,
    finite,
    gather,
    joint_moments,
    leaf_moments,
    leaf_triangle,
    merge_triangles,
    tsqr,
)
from pellucid.core.algebra.linalg import (
    gram_schmidt,
    solve_cholesky,
    solve_svd,
    solve_triangle,
    triangle,
)
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, Statistic, reduce_rows, unit_weights
from pellucid.core.runtime.threads import limit_threads, map_threads

rng = np.random.default_rng(0)
TABLE = np.array(
    [[1, 2, 1], [2, 1, 0], [3, 4, 1], [4, 3, 1], [5, 6, 0], [6, 5, 2], [7, 8, 1], [8, 6, 3]], float
)
TARGET = np.array([3, 2, 6, 5, 9, 8, 12, 13], float)


def rows_of(n, p, k=1, *, weighted=False, offset=0.0):
    X = rng.normal(size=(n, p)) + offset
    Y = rng.normal(size=(n, k))
    w = rng.integers(0, 4, size=n).astype(float) if weighted else unit_weights(n)
    return Rows(X, Y, w)


@pytest.mark.parametrize("offset", [0.0, 1e6])  # without and with the centred copy
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_a_leaf(offset, weighted):
    rows = rows_of(3000, 4, 2, weighted=weighted, offset=offset)
    weight, mean, scatter = leaf_moments(rows)
    Z = np.hstack([rows.X, rows.y]).astype(np.longdouble)
    expected = (rows.w[:, None] * Z).sum(axis=0) / rows.w.sum()
    C = Z - expected
    assert weight == rows.w.sum()
    assert_allclose(mean, expected.astype(float), rtol=1e-14, atol=1e-14)
    assert_allclose(scatter, ((rows.w[:, None] * C).T @ C).astype(float), atol=1e-10 * len(Z))


@pytest.mark.parametrize("value", [0.1, 1e-300, 1e150, 0.0])
def test_a_constant_column_has_scatter_zero(value):
    n = 2 * LEAF_ROWS + 5
    X = np.column_stack([rng.normal(size=n), np.full(n, value)])
    for w in (unit_weights(n), rng.random(n)):
        total = joint_moments(Rows(X, X[:, 0].copy(), w), map_threads)
        assert (total.scatter[1] == 0).all()
        assert total.mean[1] == value


def test_moments_that_are_not_finite_are_seen():
    rows = rows_of(10, 2)
    assert finite(joint_moments(rows, map_threads))
    rows.X[3, 1] = np.nan
    assert not finite(joint_moments(rows, map_threads))
    rows.X[3, 1] = 1e200
    assert not finite(joint_moments(rows, map_threads))


def test_same_bits_for_any_number_of_threads():
    rows = rows_of(20 * LEAF_ROWS + 17, 3)
    at = coordinates(joint_moments(rows, map_threads), 3, intercept=True)
    found = []
    for n in (1, 2, 5):
        with limit_threads(n):
            found.append((joint_moments(rows, map_threads).scatter, tsqr(rows, map_threads, at)))
    for scatter, R in found[1:]:
        assert_array_equal(scatter, found[0][0])
        assert_array_equal(R, found[0][1])


@given(st.integers(1, 30), st.integers(1, 6), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_triangles_merge_to_the_triangle_of_all(n, q, seed):
    Z = np.random.default_rng(seed).normal(size=(n + 4, q))
    merged = merge_triangles(triangle(Z[:n]), triangle(Z[n:]))
    assert_allclose(merged.T @ merged, Z.T @ Z, atol=1e-10)
    assert (np.diag(merged) >= 0).all()
    assert_allclose(merged, triangle(Z), atol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
def test_tsqr_is_the_triangle_of_the_design(intercept):
    rows = rows_of(LEAF_ROWS + 200, 3, weighted=True)
    at = coordinates(joint_moments(rows, map_threads), 3, intercept=intercept)
    R = reduce_rows(Statistic(partial(leaf_triangle, at), merge_triangles), rows, map_threads)
    D = np.column_stack([np.ones(rows.n_rows), rows.X]) if intercept else rows.X
    A = np.hstack([D, rows.y]) * np.sqrt(rows.w)[:, None]
    assert abs(np.linalg.slogdet(R)[1] - np.linalg.slogdet(np.linalg.qr(A, mode="r"))[1]
               + np.log(at.scale).sum()) < 1e-10  # fmt: skip


@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_all_solvers_agree(alpha):
    A, c = rng.normal(size=(30, 5)), rng.normal(size=(30, 2))
    expected = np.linalg.solve(A.T @ A + alpha * np.eye(5), A.T @ c)
    by_sums = solve_cholesky(A.T @ A, A.T @ c, alpha)
    by_rows = solve_triangle(A, c, alpha, 1e-12)
    for solved in (by_sums, by_rows):
        assert_allclose(solved.theta, expected, rtol=1e-10)
        inverse = np.linalg.inv(A.T @ A + alpha * np.eye(5))
        assert_allclose(solved.root @ solved.root.T, inverse, rtol=1e-9, atol=1e-12)


def test_condition_is_that_of_the_unit_norm_columns():
    A = rng.normal(size=(100, 6)) * np.logspace(0, 8, 6)
    true = np.linalg.cond(A / np.linalg.norm(A, axis=0))
    solved = solve_cholesky(A.T @ A, A.T @ np.ones((100, 1)))
    assert true / 6 <= solved.condition <= 6 * true
    assert_allclose(solve_triangle(A, np.ones((100, 1)), 0.0, 1e-12).condition, true)


def test_svd_gives_the_least_norm_in_the_given_units():
    A = rng.normal(size=(20, 3))
    A = np.column_stack([A, A[:, 0] + A[:, 1], rng.normal(size=20)]) * [1, 1e3, 1, 1, 1e-3]
    A[:, 3] = A[:, 0] + 1e-3 * A[:, 1]
    c = rng.normal(size=(20, 1))
    solved = solve_svd(A, c, 20 * np.finfo(float).eps)
    assert solved.rank == 4
    assert solved.dependent == (0, 1, 3)
    assert_allclose(solved.theta, np.linalg.pinv(A, rcond=1e-14) @ c, rtol=1e-8)
    assert_allclose(solved.root @ solved.root.T, np.linalg.pinv(A.T @ A, rcond=1e-18), rtol=1e-6)


def test_cholesky_says_when_it_cannot():
    assert solve_cholesky(np.zeros((1, 1)), np.zeros((1, 1))) is None
    assert solve_cholesky(-np.eye(2), np.zeros((2, 1))) is None


def test_successive_orthogonalisation_of_the_example():
    D = np.column_stack([np.ones(8), TABLE])
    Z, gamma = gram_schmidt(D)
    assert_allclose((Z**2).sum(axis=0), [8, 42, 9.53571429, 3.30617978], atol=1e-8)
    assert_allclose(Z @ gamma, D, atol=1e-12)
    assert_allclose(Z.T @ Z, np.diag((Z**2).sum(axis=0)), atol=1e-12)
    last = Z[:, 3] @ TARGET / (Z[:, 3] @ Z[:, 3])
    assert_allclose(last, 0.59643161, atol=1e-8)


def test_orthogonalisation_of_a_dependent_column_is_zero():
    Z, _ = gram_schmidt(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]))
    assert (Z[:, 1] == 0).all()


@pytest.mark.parametrize("unknowns", ["centred", "slopes", "all"])
@pytest.mark.parametrize("method", ["auto", "qr"])
@pytest.mark.parametrize("alpha", [0.0, 2.5])
def test_engine_solves_each_choice_of_unknowns(unknowns, method, alpha):
    rows = rows_of(300, 4, 2, weighted=True, offset=3.0)
    total = joint_moments(rows, map_threads)
    fit = Engine(rows, map_threads, total, 4, unknowns=unknowns).solve(np.arange(2), alpha, method)
    D = rows.X if unknowns == "slopes" else np.column_stack([np.ones(300), rows.X])
    penalty = alpha * np.eye(D.shape[1])
    if unknowns == "centred":
        penalty[0, 0] = 0.0
    W = rows.w[:, None]
    b = np.linalg.solve(D.T @ (W * D) + penalty, D.T @ (W * rows.y))
    theta = fit.coef if unknowns == "slopes" else np.vstack([fit.intercept, fit.coef])
    assert_allclose(theta, b, rtol=1e-9, atol=1e-12)
    E = rows.y - D @ b
    assert_allclose(fit.rss, E.T @ (W * E), rtol=1e-9, atol=1e-9)
    assert fit.gradient < 1e-12


def test_refinement_recovers_digits():
    n = 500
    x = rng.normal(size=(n, 1))
    X = np.hstack([x, x + 4e-3 * rng.normal(size=(n, 1))])  # condition about 500
    w = np.array([[1.0], [2.0]])
    rows = Rows(X, X @ w, unit_weights(n))
    engine = Engine(rows, map_threads, joint_moments(rows, map_threads), 2, unknowns="centred")
    rough = engine._normal(np.arange(1), 0.0)
    fit = engine.solve(np.arange(1))
    assert fit.route == "refined"
    assert np.abs(fit.coef - w).max() <= 1e-12
    assert np.abs(fit.coef - w).max() <= np.abs(rough.theta - w).max()


def test_gather_puts_the_leaves_together():
    rows = rows_of(LEAF_ROWS + 3, 2)
    whole = gather(rows)
    assert_array_equal(whole.X, rows.X)
    assert_array_equal(whole.y, rows.y)

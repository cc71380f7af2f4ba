"""The mathematics of the textbook agrees with ``pellucid.maths`` and NumPy."""

import numpy as np
import pytest
from agreement import same

from pellucid import inference, maths
from pellucid.textbook.mathematics.best_linear_predictor import best_linear_predictor
from pellucid.textbook.mathematics.gaussian_elimination import gaussian_elimination
from pellucid.textbook.mathematics.gram_schmidt import gram_schmidt
from pellucid.textbook.mathematics.joint_table import independent, joint_table, marginal
from pellucid.textbook.mathematics.median_minimiser import median_minimiser
from pellucid.textbook.mathematics.orthogonal_projection import orthogonal_projection
from pellucid.textbook.mathematics.pagerank import pagerank
from pellucid.textbook.mathematics.positive_definite import positive_definite
from pellucid.textbook.mathematics.quadratic_minimum import quadratic_minimum
from pellucid.textbook.mathematics.singular_values import singular_values
from pellucid.textbook.mathematics.taylor_series import taylor_series

rng = np.random.default_rng(0)


def test_gram_schmidt():
    X = rng.normal(size=(7, 4))
    Q, R = gram_schmidt(X)
    fast = maths.gram_schmidt(X)
    same(Q, fast.Q, atol=1e-10)
    same(R, fast.R, atol=1e-10)
    same(orthogonal_projection(X), maths.projection_matrix(X), atol=1e-10)
    same(orthogonal_projection(X), Q @ Q.T, atol=1e-10)


@pytest.mark.parametrize("kind", ["one", "none", "many"])
def test_gaussian_elimination(kind):
    A = rng.normal(size=(4, 4))
    b = rng.normal(size=4)
    if kind != "one":
        A[3] = A[0] - 2 * A[1]
        b[3] = b[0] - 2 * b[1] + (kind == "none")
    book, fast = gaussian_elimination(A, b), maths.solve_system(A, b)
    assert book.null_space.shape[1] == 4 - fast.rank
    same(A @ book.null_space, 0, atol=1e-9)
    assert (book.kind == "none") == (fast.rank_augmented > fast.rank)
    if book.x is not None:
        same(A @ book.x, b, atol=1e-9)
    if kind == "one":
        same(book.x, fast.x, atol=1e-9)


def test_singular_values():
    A = rng.normal(size=(6, 3))
    U, D, Vt = singular_values(A)
    fast = maths.decompose(A, "svd")
    same(D, np.ravel(fast.values)[:3], atol=1e-9)
    same((U * D) @ Vt, A, atol=1e-9)
    same(U.T @ U, np.eye(3), atol=1e-8)


def test_quadratics():
    B = rng.normal(size=(4, 4))
    A, b = B @ B.T + np.eye(4), rng.normal(size=4)
    L = positive_definite(A)
    same(L, np.linalg.cholesky(A), atol=1e-10)
    assert maths.definiteness(A).is_pd
    bad = A - 20 * np.eye(4)
    assert positive_definite(bad) is None
    assert not maths.definiteness(bad).is_pd
    x, value = quadratic_minimum(A, b, 3.0)
    fast = maths.Quadratic(A, b, 3.0).minimise()
    same(x, fast.x, atol=1e-9)
    same(value, fast.value)


def test_taylor_series():
    book = taylor_series(np.exp, 0.5, 5)
    same(book, np.exp(0.5) / np.array([1, 1, 2, 6, 24, 120]), atol=1e-10)
    fast = maths.taylor(np.exp, 3, 0.5)
    same(book[:4], fast.coefficients[:4])


def test_median_minimiser():
    for n in (7, 8):
        x = rng.normal(size=n)
        same(median_minimiser(x), maths.median_interval(x))
        w = rng.integers(1, 4, size=n).astype(float)
        same(median_minimiser(x, w), maths.median_interval(x, w))


def test_joint_table():
    p = rng.dirichlet(np.ones(12)).reshape(2, 3, 2)
    states = {"a": [0, 1], "b": [0, 1, 2], "c": [0, 1]}
    fast = maths.JointTable(p, states)
    same(marginal(p, [2, 0]), p.sum(axis=1).T)
    same(marginal(p, [1]), np.ravel(fast.marginal("b").p))
    same(joint_table(p, 0, {1: 2}), np.ravel(fast.condition({"b": 2}).marginal("a").p))
    both = np.outer(rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(3)))
    assert independent(both, 0, 1)
    assert not independent(p, 0, 1)


def test_best_linear_predictor():
    mean, S = rng.normal(size=4), np.cov(rng.normal(size=(4, 20)))
    fast = inference.best_linear_predictor(mean, S)
    w, a, error = best_linear_predictor(mean, S)
    same(w, fast.coef)
    same([a, error], [fast.intercept, fast.mse])


def test_pagerank():
    A = (rng.random((12, 12)) < 0.2).astype(float)
    A[3] = 0
    *_, x = pagerank(A, 0.85, 300)
    same(x, maths.pagerank(A).ranks, atol=1e-11)

"""lasso_path and enet_path: oracles, certificates, both routes, blocks."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model
from lasso_tables import data
from linear_tables import Blocks
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.threads import limit_threads
from pellucid.linear import Lasso, LinearRegression, Ridge, enet_path, lasso_path

SHAPES = [(80, 10), (40, 150), (60, 60)]


def there(X, y, alphas, ratio=1.0, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        options = {"tol": 1e-13, "max_iter": 100_000, **options}
        path = sklearn.linear_model.enet_path
        return path(X, y, alphas=alphas, l1_ratio=ratio, **options)[1]


@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("ratio", [0.3, 1.0])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_scikit_learn_agrees(n, p, ratio, positive, kind):
    X, y = data(n, p)
    X, y = X - X.mean(axis=0), y - y.mean()
    options = {"l1_ratio": ratio, "positive": positive, "eps": 1e-2, "alphas": 30}
    alphas, coefs, gaps = enet_path(kind(X), y, tol=1e-12, **options)
    grid = sklearn.linear_model.enet_path(X, y, **options)[0]
    assert_allclose(alphas, grid, rtol=1e-12)
    assert coefs.shape == (p, 30)
    assert gaps.shape == (30,)
    assert_allclose(coefs, there(X, y, alphas, ratio, positive=positive), atol=1e-6)


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_every_point_is_certified(n, p):
    X, y = data(n, p)
    for tol in (1e-2, 1e-4, 1e-8):
        alphas, coefs, gaps = lasso_path(X, y, tol=tol, eps=1e-2, alphas=30)
        assert (gaps * n <= tol * (y @ y)).all()
        residual = y[:, None] - X @ coefs
        value = (residual**2).sum(axis=0) / (2 * n) + alphas * np.abs(coefs).sum(axis=0)
        best = lasso_path(X, y, alphas=alphas, tol=1e-13)[1]
        least = ((y[:, None] - X @ best) ** 2).sum(axis=0) / (2 * n)
        least += alphas * np.abs(best).sum(axis=0)
        assert (value - gaps <= least * (1 + 1e-9)).all()


def test_first_point_is_zero_and_given_alphas_are_sorted():
    X, y = data()
    alphas, coefs, _ = lasso_path(X, y, alphas=5)
    assert not coefs[:, 0].any()
    assert_allclose(alphas[0], np.abs(X.T @ y).max() / len(y))
    assert_allclose(alphas[-1] / alphas[0], 1e-3)
    again, same, _ = lasso_path(X, y, alphas=alphas[[2, 0, 1, 4, 3]])
    assert_array_equal(again, alphas)
    assert_array_equal(same, coefs)


def test_coarse_grids_and_repeated_alphas():
    X, y = data(50, 300)
    top = np.abs(X.T @ y).max() / 50
    alphas = np.array([top, top, 1e-2 * top, 1e-2 * top, 1e-3 * top])
    found, coefs, _ = lasso_path(X, y, alphas=alphas, tol=1e-12)
    assert_allclose(coefs, there(X, y, found), atol=1e-5)
    one = lasso_path(X, y, alphas=[0.5], tol=1e-12)[1][:, 0]
    assert_allclose(one, Lasso(0.5, fit_intercept=False).fit(X, y).coef_, atol=1e-6)


def test_zero_alpha_ends_at_least_squares_and_ratio_zero_is_ridge():
    X, y = data()
    coefs = lasso_path(X, y, alphas=[1.0, 0.0])[1]
    ols = LinearRegression(fit_intercept=False).fit(X, y)
    assert_allclose(coefs[:, 1], ols.coef_, atol=1e-8)
    coefs = enet_path(X, y, l1_ratio=0.0, alphas=[0.5])[1]
    assert_allclose(coefs[:, 0], Ridge(40.0, fit_intercept=False).fit(X, y).coef_, atol=1e-10)
    with pytest.raises(ValueError, match="l1_ratio=0"):
        enet_path(X, y, l1_ratio=0.0)


def test_several_targets_and_counts():
    X, Y = data(k=3)
    alphas, coefs, gaps, sweeps = enet_path(X, Y, alphas=20, return_n_iter=True)
    assert coefs.shape == (3, 10, 20)
    assert gaps.shape == (3, 20)
    assert len(sweeps) == 3
    alone = enet_path(X, Y[:, 1], alphas=alphas)[1]
    assert_allclose(coefs[1], alone, atol=1e-12)


def test_start_from_given_coefficients():
    for n, p in SHAPES:
        X, y = data(n, p)
        _, coefs, _ = lasso_path(X, y, alphas=[0.3], tol=1e-12)
        again = lasso_path(X, y, alphas=[0.3], coef_init=coefs[:, 0], tol=1e-12)[1]
        assert_allclose(again, coefs, atol=1e-7)


def test_blocks_need_one_pass():
    X, y = data(2 * LEAF_ROWS + 5, 6)
    source = Blocks(X, y, LEAF_ROWS)
    reads = []
    spans = source.spans
    source.spans = lambda: reads.append(1) or spans()
    _, coefs, _ = lasso_path(source)
    assert len(reads) == 1
    assert_array_equal(coefs, lasso_path(X, y)[1])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_same_bits_for_any_number_of_threads(kind):
    X, y = data(60, 2500)
    paths = []
    for n in (1, 2, 3):
        with limit_threads(n):
            paths.append(lasso_path(kind(X), y, alphas=20, eps=0.05)[1])
    assert_array_equal(paths[0], paths[1])
    assert_array_equal(paths[0], paths[2])


def test_limit_warns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 1)) + 1e-6 * rng.normal(size=(50, 40))
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        lasso_path(X, X.sum(axis=1) + rng.normal(size=50), max_iter=1, tol=0.0, eps=1e-6)


@pytest.mark.parametrize(
    "options",
    [{"alphas": -1}, {"alphas": [-1.0]}, {"alphas": "many"}, {"eps": 0.0}, {"tol": -1.0},
     {"max_iter": 0}, {"selection": "odd"}],
)  # fmt: skip
def test_bad_options(options):
    X, y = data()
    with pytest.raises(ValueError, match=next(iter(options))):
        lasso_path(X, y, **options)
    with pytest.raises(TypeError, match="enet_path"):
        lasso_path(X, y, l1_ratio=0.5)

"""Partial least squares: scikit-learn's attributes, the textbook's recursion, laws."""

import numpy as np
import pytest
from linear_tables import Blocks, R, Y
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cross_decomposition import PLSRegression as SklearnPLS

from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.linear import LinearRegression, PLSRegression, PrincipalComponentRegression
from pellucid.linear.components.pls import fit_latent

ATTRIBUTES = (
    "x_weights_", "y_weights_", "x_loadings_", "y_loadings_", "x_scores_", "y_scores_",
    "x_rotations_", "y_rotations_", "coef_",
)  # fmt: skip


def make(n=80, p=6, k=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 5
    Y = X @ rng.normal(size=(p, k or 1)) * np.arange(1, (k or 1) + 1) + rng.normal(size=(n, k or 1))
    return X, Y if k else Y[:, 0]


# --- the examples ----------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [True, False])
def test_example_20_all_components_are_least_squares_and_pcr(scale):
    for X, y in [(R, Y), make(), make(k=3)]:
        p = X.shape[1]
        model, ols = PLSRegression(p, scale=scale).fit(X, y), LinearRegression().fit(X, y)
        assert_allclose(model.coef_, np.atleast_2d(ols.coef_), rtol=1e-8, atol=1e-10)
        assert_allclose(model.intercept_, np.atleast_1d(ols.intercept_), rtol=1e-7, atol=1e-9)
        pcr = PrincipalComponentRegression(p, scale=scale).fit(X, y)
        assert_allclose(model.predict(X), pcr.predict(X), rtol=1e-8, atol=1e-9)
        assert_allclose(model.rss_path_[..., -1], ols.rss_, rtol=1e-9)


# --- oracles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 1, 3, 9])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("m", [1, 2, 5])
def test_equals_scikit_learn(k, scale, m):
    X, y = make(k=k)
    model = PLSRegression(m, scale=scale).fit(X, y)
    oracle = SklearnPLS(m, scale=scale, tol=1e-20, max_iter=50_000).fit(X, y)
    tolerance = 1e-9 if k in (None, 1) else 2e-6  # theirs stops on the way to the fixed point
    for name in ATTRIBUTES:
        ours, theirs = getattr(model, name), getattr(oracle, name)
        assert ours.shape == theirs.shape, name
        scale_of = np.abs(theirs).max()
        assert_allclose(ours, theirs, atol=tolerance * scale_of, rtol=tolerance, err_msg=name)
    assert_allclose(model.predict(X), oracle.predict(X), rtol=tolerance, atol=1e-6)
    assert model.predict(X).shape == y.shape
    assert_allclose(model.transform(X), oracle.transform(X), atol=1e-5)
    for ours, theirs in zip(model.transform(X, y), oracle.transform(X, y), strict=True):
        assert_allclose(ours, theirs, atol=1e-5)
    T, U = oracle.transform(X, y)
    assert_allclose(model.inverse_transform(T), oracle.inverse_transform(T), atol=1e-5)
    for ours, theirs in zip(
        model.inverse_transform(T, U), oracle.inverse_transform(T, U), strict=True
    ):
        assert_allclose(ours, theirs, atol=1e-4)
    assert_allclose(
        PLSRegression(m, scale=scale).fit_transform(X, y)[0], model.x_scores_, atol=1e-10
    )


def test_equals_the_textbook():
    """phi_mj = <x_j, y>, z_m = sum phi x, theta_m = <z, y>/<z, z>, x_j orthogonal to z_m."""
    X, y = make()
    Z, fit = (X - X.mean(axis=0)) / X.std(axis=0), np.full(80, y.mean())
    model = PLSRegression(4).fit(X, y)
    path = model.predict_path(X)
    for m in range(4):
        z = Z @ (Z.T @ y)
        fit = fit + (z @ y) / (z @ z) * z
        Z = Z - np.outer(z, z @ Z / (z @ z))
        assert_allclose(path[:, m + 1], fit, rtol=1e-9)
        assert_allclose(model.rss_path_[m + 1], ((y - fit) ** 2).sum(), rtol=1e-9)


def test_direction_is_the_leading_singular_vector():
    """The fixed point of NIPALS, exactly, whatever the shape of X'Y."""
    rng = np.random.default_rng(0)
    for p, k in [(5, 3), (30, 3), (4, 20)]:
        A, C = rng.normal(size=(50, p)), rng.normal(size=(50, k))
        u = fit_latent(A, C, 1).weights[:, 0]
        expected = np.linalg.svd(A.T @ C)[0][:, 0]
        assert_allclose(np.abs(u @ expected), 1, rtol=1e-12)
        assert u[np.abs(u).argmax()] > 0


# --- laws ------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 2])
def test_paths_are_the_fits_of_each_size(k):
    X, y = make(k=k)
    path = PLSRegression(5).fit(X, y)
    predictions = path.predict_path(X)
    assert path.coef_path_.shape == ((6, 6) if k is None else (k, 6, 6))
    for m in range(1, 6):
        model = PLSRegression(m).fit(X, y)
        assert_allclose(np.atleast_2d(path.coef_path_[..., m]), model.coef_, rtol=1e-10, atol=1e-12)
        assert_allclose(predictions[..., m], model.predict(X), rtol=1e-9)
        rss = ((y - model.predict(X)) ** 2).sum(axis=0)
        assert_allclose(path.rss_path_[..., m], rss, rtol=1e-8)
    assert (np.diff(path.rss_path_, axis=-1) <= 1e-9).all()
    assert not path.coef_path_[..., 0].any()


def test_scores_are_orthogonal_and_predict():
    X, y = make(k=2)
    model = PLSRegression(4).fit(X, y)
    T = model.x_scores_
    assert_allclose(T.T @ T, np.diag((T**2).sum(axis=0)), atol=1e-8)
    assert_allclose(model.x_weights_.T @ model.x_weights_, np.eye(4), atol=1e-10)
    fitted = T @ model.y_loadings_.T * y.std(axis=0, ddof=1) + y.mean(axis=0)
    assert_allclose(model.predict(X), fitted, rtol=1e-9)
    assert_allclose(X @ model.coef_.T + model.intercept_, fitted, rtol=1e-9)


def test_goes_before_pcr_for_the_same_number_of_components():
    X, y = make()
    pls, pcr = PLSRegression(5).fit(X, y), PrincipalComponentRegression(5).fit(X, y)
    assert (pls.rss_path_ <= pcr.rss_path_ * (1 + 1e-12)).all()


def test_weights_blocks_and_sparse():
    X, y = make(k=2)
    w = np.random.default_rng(0).integers(0, 3, size=80)
    a = PLSRegression(3).fit(X, y, sample_weight=w)
    b = PLSRegression(3).fit(X.repeat(w, axis=0), y.repeat(w, axis=0))
    for name in ("coef_", "x_weights_", "x_rotations_", "y_loadings_"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-8, atol=1e-10)
    c = PLSRegression(3).fit(sparse.csr_array(X), y)
    assert_allclose(c.coef_, PLSRegression(3).fit(X, y).coef_, rtol=1e-8)
    X, y = make(2 * LEAF_ROWS + 5)
    whole, parts = PLSRegression(3).fit(X, y), PLSRegression(3).fit_blocks(Blocks(X, y, 4096))
    assert_array_equal(parts.coef_, whole.coef_)
    assert not hasattr(parts, "x_scores_")
    assert_allclose(parts.transform(X), whole.x_scores_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("k", [None, 3])
def test_wide(k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 60))
    y = X @ rng.normal(size=(60, k or 1)) + rng.normal(size=(15, k or 1))
    y = y if k else y[:, 0]
    model = PLSRegression(4).fit(X, y)
    oracle = SklearnPLS(4, tol=1e-20, max_iter=50_000).fit(X, y)
    assert_allclose(model.coef_, oracle.coef_, atol=2e-6 * np.abs(oracle.coef_).max())


# --- degenerate data -------------------------------------------------------------------------


def test_exhausted_target_stops_with_a_note():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=(40, 4)) - 0)[0]
    Q -= Q.mean(axis=0)
    Q = np.linalg.qr(Q)[0]
    with pytest.warns(UserWarning, match="y residual is constant at iteration 1"):
        model = PLSRegression(3, scale=False).fit(Q, 2 * Q[:, 1] + 1)
    assert "stopped after 1 of 3 components" in str(model.card())
    assert_allclose(model.coef_, [[0, 2, 0, 0]], atol=1e-12)
    assert model.transform(Q).shape == (40, 3)
    assert_allclose(model.rss_path_[1:], 0, atol=1e-20)


def test_constant_target_and_columns():
    X, y = make()
    with pytest.warns(UserWarning, match="y residual is constant at iteration 0"):
        model = PLSRegression(2).fit(X, np.full(80, 3.0))
    assert_array_equal(model.coef_, 0)
    assert_allclose(model.predict(X), 3.0)
    X = np.column_stack([X, np.full(80, 2.0)])
    model = PLSRegression(3).fit(X, y)
    assert model.coef_[0, 6] == 0
    assert_allclose(model.coef_[0, :6], PLSRegression(3).fit(X[:, :6], y).coef_[0], rtol=1e-10)


def test_too_many_components_are_refused():
    with pytest.raises(ValueError, match=r"upper bound is 3\. Got 4 instead"):
        PLSRegression(4).fit(R, Y)


def test_recovers_latent_factors():
    rng = np.random.default_rng(2)
    F, L = rng.normal(size=(100, 2)), rng.normal(size=(2, 30))
    X = F @ L + 0.1 * rng.normal(size=(100, 30))
    y = F @ [1.0, -2.0]
    model = PLSRegression(2).fit(X, y)
    assert model.score(X, y) > 0.99


def test_one_row_is_refused():
    with pytest.raises(ValueError, match="1 sample"):
        PLSRegression(1).fit([[1.0, 2.0]], [[3.0, 4.0]])

"""Principal component regression: examples, scikit-learn's pipeline, laws of linear smoothers."""

import numpy as np
import pytest
from linear_tables import Blocks, R, Y, data
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression as SklearnOLS
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.linear import LinearRegression, PrincipalComponentRegression, Ridge


def correlated(n=80, p=6, k=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) * 10.0 ** np.arange(p) + 5
    Y = (X / X.std(axis=0)) @ rng.normal(size=(p, k or 1)) + rng.normal(size=(n, k or 1))
    return X, Y if k else Y[:, 0]


def pipeline(m, scale=True):
    steps = [StandardScaler()] if scale else []
    return make_pipeline(*steps, PCA(m), SklearnOLS())


# --- the examples ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "scaled", "rss"),
    [
        (1, (1.55726713, 1.40833825, 1.16692677), 7.8526536),
        (2, (1.67497601, 1.90124287, 0.41496819), 3.4139541),
        (3, None, 3.254602095723584),
    ],
)
def test_example_12(m, scaled, rss):
    model = PrincipalComponentRegression(m).fit(R, Y)
    ols = LinearRegression().fit(R, Y)
    expected = ols.coef_ * R.std(axis=0) if scaled is None else scaled
    assert_allclose(model.scaled_coef_, expected, atol=1e-8)
    assert_allclose(model.coef_, np.array(expected) / R.std(axis=0), atol=1e-8)
    assert_allclose(model.rss_, rss, atol=1e-6)
    assert_allclose(((Y - model.predict(R)) ** 2).sum(), rss, atol=1e-6)


def test_example_20_all_components_are_least_squares():
    X, y = correlated()
    ols = LinearRegression().fit(X, y)
    for model in (PrincipalComponentRegression(6), PrincipalComponentRegression()):
        model.fit(X, y)
        assert_allclose(model.coef_, ols.coef_, rtol=1e-8)
        assert_allclose(model.intercept_, ols.intercept_, rtol=1e-8)
        assert_allclose([model.sigma2_, model.df_], [ols.sigma2_, ols.df_], rtol=1e-9)


def test_example_20_follows_any_rescaling_of_the_columns():
    X, y = correlated()
    units = 10.0 ** np.array([3, -2, 0, 5, -6, 1])
    a = PrincipalComponentRegression(3).fit(X, y)
    b = PrincipalComponentRegression(3).fit(X * units + 7, y)
    assert_allclose(b.coef_ * units, a.coef_, rtol=1e-7)
    assert_allclose(b.scaled_coef_, a.scaled_coef_, rtol=1e-7)
    assert_allclose(b.predict(X * units + 7), a.predict(X), rtol=1e-8)


# --- oracle ----------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("m", [1, 3, 6])
def test_equals_scikit_learns_pipeline(m, scale, k):
    X, y = correlated(k=k)
    X = X if scale else X / X.std(axis=0) * np.arange(1, 7)
    model, oracle = PrincipalComponentRegression(m, scale=scale).fit(X, y), pipeline(m, scale)
    oracle.fit(X, y)
    assert_allclose(model.predict(X), oracle.predict(X), rtol=1e-9, atol=1e-9)
    assert_allclose(np.abs(model.components_), np.abs(oracle[-2].components_), atol=1e-9)
    assert_allclose(np.abs(model.theta_.T), np.abs(oracle[-1].coef_), atol=1e-9)
    assert_allclose(model.singular_[:m], oracle[-2].singular_values_, rtol=1e-9)
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize(("n", "p"), [(10, 30), (12, 12)])
def test_wide(n, p):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, p)), rng.normal(size=n)
    model = PrincipalComponentRegression(4).fit(X, y)
    assert_allclose(model.predict(X), pipeline(4).fit(X, y).predict(X), rtol=1e-9)
    with pytest.warns(UserWarning, match="nothing to estimate the noise from"):
        full = PrincipalComponentRegression().fit(X, y)
    assert full.n_components_ == n - 1
    assert_allclose(full.predict(X), y, atol=1e-10)


# --- paths, components -----------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 2])
def test_paths_are_the_fits_of_each_size(k):
    X, y = correlated(k=k)
    path = PrincipalComponentRegression(5).fit(X, y)
    assert path.coef_path_.shape == ((6, 6) if k is None else (k, 6, 6))
    predictions = path.predict_path(X)
    for m in range(6):
        model = PrincipalComponentRegression(m).fit(X, y)
        assert_allclose(path.coef_path_[..., m], model.coef_, rtol=1e-12)
        assert_allclose(path.rss_path_[..., m], model.rss_, rtol=1e-12)
        assert_allclose(predictions[..., m], model.predict(X), rtol=1e-9)
        rss = ((y - model.predict(X)) ** 2).sum(axis=0)
        assert_allclose(model.rss_, rss, rtol=1e-8)
    assert (np.diff(path.rss_path_, axis=-1) <= 0).all()
    assert_allclose(path.rss_path_[..., 0], ((y - y.mean(axis=0)) ** 2).sum(axis=0), rtol=1e-12)


def test_theta_is_the_simple_regression_on_each_component():
    X, y = correlated()
    model = PrincipalComponentRegression(4).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0) @ model.components_.T
    assert_allclose(model.theta_, Z.T @ y / (Z**2).sum(axis=0), rtol=1e-9)
    assert_allclose(Z.T @ Z, np.diag(model.singular_[:4] ** 2), atol=1e-8)
    assert_allclose(model.scaled_coef_, model.theta_ @ model.components_, rtol=1e-12)


def test_directions_without_spread_are_dropped_with_a_note():
    X, y = correlated(p=4)
    X = np.column_stack([X, X[:, 0] + 1e-3 * X[:, 1], np.full(80, 3.0)])
    model = PrincipalComponentRegression().fit(X, y)
    assert model.n_components_ == len(model.singular_) == 4
    assert model.coef_[5] == 0
    assert "2 directions without spread (d = 0) were dropped" in str(model.card())
    assert PrincipalComponentRegression(6).fit(X, y).n_components_ == 4
    assert_allclose(model.predict(X), LinearRegression().fit(X[:, :4], y).predict(X[:, :4]))


# --- smoother --------------------------------------------------------------------------------


def test_linear_smoother():
    X, y = correlated()
    model = PrincipalComponentRegression(3).fit(X, y)
    H = model.hat_matrix(X)
    assert_allclose(H @ y, model.predict(X), rtol=1e-9)
    assert_allclose(H @ H, H, atol=1e-12)
    assert_allclose([np.trace(H), model.leverage(X).sum()], model.df_, rtol=1e-10)
    assert_allclose(model.sigma2_, model.rss_ / (80 - 4), rtol=1e-12)
    residuals = y - model.predict(X)
    assert_allclose(model.loo_residuals(X, y), residuals / (1 - np.diag(H)), rtol=1e-10)
    assert_allclose(model.gcv(X, y), (residuals**2).mean() / (1 - 4 / 80) ** 2, rtol=1e-10)


def test_loo_shortcut_equals_refits_at_full_rank():
    """The components move when a row goes, so the shortcut is exact for all of them only."""
    X, y = correlated(30, 4)
    model = PrincipalComponentRegression().fit(X, y)
    refits = [
        y[i]
        - PrincipalComponentRegression().fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])
        for i in range(30)
    ]
    assert_allclose(model.loo_residuals(X, y), np.ravel(refits), rtol=1e-7)


# --- cross-validation ------------------------------------------------------------------------


def test_cross_validation_equals_scikit_learns():
    X, y = correlated(90)
    turn = np.arange(90) % 5
    splits = [(np.flatnonzero(turn != j), np.flatnonzero(turn == j)) for j in range(5)]
    model = PrincipalComponentRegression("cv").fit(X, y)
    scores = [
        -cross_val_score(pipeline(m), X, y, cv=splits, scoring="neg_mean_squared_error")
        for m in range(1, 7)
    ]
    assert_allclose(model.criterion_[1:], np.mean(scores, axis=1), rtol=1e-8)
    assert_allclose(model.criterion_se_[1:], np.std(scores, axis=1, ddof=1) / np.sqrt(5), rtol=1e-8)
    assert model.n_components_ == np.argmin(model.criterion_)
    assert_allclose(model.coef_, PrincipalComponentRegression(model.n_components_).fit(X, y).coef_)
    listed = PrincipalComponentRegression("cv", cv=splits).fit(X, y)
    assert_allclose(listed.criterion_, model.criterion_, rtol=1e-8)
    other = PrincipalComponentRegression("cv", cv=KFold(3)).fit(X, y)
    expected = -cross_val_score(pipeline(2), X, y, cv=3, scoring="neg_mean_squared_error").mean()
    assert_allclose(other.criterion_[2], expected, rtol=1e-8)


def test_one_standard_error_takes_fewer_components():
    for seed in range(10):
        X, y = correlated(60, seed=seed)
        best = PrincipalComponentRegression("cv").fit(X, y)
        rule = PrincipalComponentRegression("cv", rule="one_standard_error").fit(X, y)
        assert rule.n_components_ <= best.n_components_
        limit = best.criterion_.min() + best.criterion_se_[best.n_components_]
        assert rule.criterion_[rule.n_components_] <= limit
        assert (rule.criterion_[: rule.n_components_] > limit).all()


def test_cross_validation_of_blocks_and_of_wide_tables():
    X, y = correlated(LEAF_ROWS + 77)
    whole = PrincipalComponentRegression("cv").fit(X, y)
    parts = PrincipalComponentRegression("cv").fit_blocks(Blocks(X, y, 4096))
    assert_array_equal(whole.criterion_, parts.criterion_)
    with pytest.raises(ValueError, match="fit_blocks needs cv as a number of folds"):
        PrincipalComponentRegression("cv", cv=KFold(3)).fit_blocks(Blocks(X, y, 4096))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 60)), rng.normal(size=20)
    model = PrincipalComponentRegression("cv", cv=4).fit(X, y + 5 * X[:, 0])
    assert np.isfinite(model.criterion_).all()


# --- weights, blocks, sparse, refusals -------------------------------------------------------


def test_weights_blocks_and_sparse():
    X, y = correlated()
    w = np.random.default_rng(0).integers(0, 3, size=80)
    a = PrincipalComponentRegression(3).fit(X, y, sample_weight=w)
    b = PrincipalComponentRegression(3).fit(X.repeat(w, axis=0), y.repeat(w))
    assert_allclose(a.coef_, b.coef_, rtol=1e-8)
    assert_allclose(a.sigma2_, b.sigma2_, rtol=1e-9)
    c = PrincipalComponentRegression(3).fit(sparse.csr_array(X), y)
    assert_allclose(c.coef_, PrincipalComponentRegression(3).fit(X, y).coef_, rtol=1e-9)
    X, y = correlated(2 * LEAF_ROWS)
    parts = PrincipalComponentRegression(3).fit_blocks(Blocks(X, y, 4096))
    assert_array_equal(parts.coef_, PrincipalComponentRegression(3).fit(X, y).coef_)


def test_refusals():
    X, y = data()
    for parameters, match in [
        ({"n_components": 5}, r"at most the number of columns \(4\), got 5"),
        ({"n_components": "all"}, "'cv'.*'all'"),
        ({"n_components": 1.5}, "whole number"),
        ({"n_components": "cv", "cv": 1}, "cv must be a whole number of folds >= 2"),
        ({"n_components": "cv", "cv": 100}, "cv=100 folds need at least as many rows, got 60"),
    ]:
        with pytest.raises(ValueError, match=match):
            PrincipalComponentRegression(**parameters).fit(X, y)


def test_beats_least_squares_when_the_signal_lies_in_the_wide_directions():
    """Recovery: 40 noisy copies of two factors."""
    rng = np.random.default_rng(2)
    F, L = rng.normal(size=(60, 2)), rng.normal(size=(2, 40))
    X = F @ L + 0.3 * rng.normal(size=(60, 40))
    y = F @ [1.0, -2.0] + 0.3 * rng.normal(size=60)
    G = rng.normal(size=(500, 2))
    new, truth = G @ L + 0.3 * rng.normal(size=(500, 40)), G @ [1.0, -2.0]
    model = PrincipalComponentRegression("cv", rule="one_standard_error").fit(X, y)
    assert model.n_components_ <= 4
    ours = ((model.predict(new) - truth) ** 2).mean()
    assert ours < 0.2 * ((LinearRegression().fit(X, y).predict(new) - truth) ** 2).mean()
    assert ours < 1.5 * ((Ridge(1.0).fit(X, y).predict(new) - truth) ** 2).mean()

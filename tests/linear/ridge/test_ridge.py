"""Ridge and Budget: examples, oracles, laws."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_tables import Blocks, R, Y, data, parameters
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import LinAlgWarning
from scipy.special import stdtrit
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.threads import limit_threads
from pellucid.linear import Budget, LinearRegression, Ridge
from pellucid.linear.budget import ridge_multiplier

rng = np.random.default_rng(0)
T = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 4.0])
SOLVERS = ["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"]


# --- the examples ----------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_dependent_columns(solver):
    X, y = np.array([[1.0, 2], [2, 3], [3, 4]]), np.array([1.0, 2, 3])
    assert_allclose(parameters(Ridge(1.0, solver=solver).fit(X, y)), [0, 0.4, 0.4], atol=1e-12)
    expected = [-18 / 41, 20 / 41, 20 / 41]
    assert_allclose(parameters(Ridge(0.1, solver=solver).fit(X, y)), expected, atol=1e-12)
    with pytest.warns(LinAlgWarning, match="x0, x1 are linearly dependent and alpha is 0"):
        model = Ridge(0.0, solver=solver).fit(X, y)
    assert_allclose(parameters(model), [-0.5, 0.5, 0.5], atol=1e-10)


def test_three_points():
    assert_allclose(parameters(Ridge(1.0).fit(*T)), [4 / 3, 1], rtol=1e-14)
    model = Ridge(1.0, shrink_intercept=True).fit(*T)
    assert_allclose(parameters(model), [0.8, 1.2666667], atol=1e-7)
    model = Ridge(Budget(2.0), shrink_intercept=True).fit(*T)
    assert_allclose(model.alpha_, 1.4796564883, atol=1e-9)
    assert_allclose(parameters(model), [0.7668584983, 1.1882457842], atol=1e-9)
    assert_allclose(model.budget_ols_, 2.9444444, atol=1e-7)
    assert_allclose(model.budget_, 2.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("alpha", "coef", "loocv", "gcv", "df"),
    [
        (0.0, (-53.1784790, 30.8142043), 579.4274005, 511.6766041, 2),
        (0.1, (-50.4611440, 30.0205618), 574.7496513, 509.3329291, 1.9519490),
        (1.0, (-34.1458711, 25.2287987), 620.2651754, 552.7158482, 1.6615980),
    ],
)
def test_exponential_with_the_intercept_shrunk(alpha, coef, loocv, gcv, df):
    x = np.linspace(1, 5, 15)
    y = np.exp(x)
    model = Ridge(alpha, shrink_intercept=True).fit(x[:, None], y)
    assert_allclose(parameters(model), coef, atol=1e-6)
    assert_allclose(model.df_, df, atol=1e-7)
    assert_allclose(model.loocv(x[:, None], y), loocv, atol=1e-6)
    assert_allclose(model.gcv(x[:, None], y), gcv, atol=1e-6)


def test_table_of_eight_rows_standardised():
    scale = R.std(axis=0)
    Z = (R - R.mean(axis=0)) / scale
    one, ten = Ridge(1.0).fit(Z, Y), Ridge(10.0).fit(Z, Y)
    assert_allclose(one.coef_, [1.42837938, 1.86688561, 0.52474965], atol=1e-8)
    assert_allclose(one.df_, 1 + 2.1809559, atol=1e-7)
    assert_allclose(ten.coef_, [1.01911225, 1.09550472, 0.49427907], atol=1e-8)
    assert_allclose(ten.df_, 1 + 1.0530411, atol=1e-7)
    assert_allclose(one.singular_, [4.23821586, 2.32340749, 0.79956486], atol=1e-8)
    original = one.coef_ / scale
    assert_allclose(original, [0.62339587, 0.85799821, 0.56605782], atol=1e-8)
    assert_allclose(one.intercept_ - R.mean(axis=0) @ original, 0.05416139, atol=1e-8)


def test_orthonormal_columns_are_divided_by_one_plus_alpha():
    Q = np.linalg.qr(rng.normal(size=(20, 4)))[0]
    y = Q @ np.array([3, -0.4, 1, 0])
    model = Ridge(1.0, fit_intercept=False).fit(Q, y)
    assert_allclose(model.coef_, [1.5, -0.2, 0.5, 0], atol=1e-12)
    assert_allclose(model.shrinkage_factors_, 0.5, rtol=1e-12)


# --- oracles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), [(50, 4), (6, 20), (20, 20)])
@pytest.mark.parametrize("k", [None, 3])
def test_equals_scikit_learn(n, p, intercept, weighted, k):
    X, y = data(n, p, k)
    w = rng.random(n) + 1.0 if weighted else None
    model = Ridge(0.7, fit_intercept=intercept).fit(X, y, sample_weight=w)
    oracle = sklearn.linear_model.Ridge(0.7, fit_intercept=intercept, solver="cholesky")
    oracle.fit(X, y, sample_weight=w)
    assert_allclose(model.coef_, oracle.coef_, rtol=1e-8, atol=1e-10)
    assert_allclose(model.intercept_, oracle.intercept_, rtol=1e-8)
    assert_allclose(model.predict(X), oracle.predict(X), rtol=1e-9)
    assert model.predict(X).shape == y.shape


def test_one_alpha_per_target():
    X, y = data(50, 4, 3)
    alphas = np.array([0.1, 5.0, 0.1])
    model = Ridge(alphas).fit(X, y)
    assert_allclose(model.coef_, sklearn.linear_model.Ridge(alphas).fit(X, y).coef_, rtol=1e-8)
    for j, alpha in enumerate(alphas):
        alone = Ridge(alpha).fit(X, y[:, j])
        assert_allclose(model.coef_[j], alone.coef_, rtol=1e-10)
        assert_allclose(model.df_[j], alone.df_, rtol=1e-12)
        assert_allclose(model.sigma2_[j], alone.sigma2_, rtol=1e-10)
        assert_allclose(model.loo_residuals(X, y)[:, j], alone.loo_residuals(X, y[:, j]))
        assert_allclose(model.summary().posterior_sd[j], alone.summary().posterior_sd)
    with pytest.raises(ValueError, match="one alpha"):
        model.hat_matrix(X)
    assert "one per target" in str(model.card())


@pytest.mark.parametrize("shrink", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
def test_positive(intercept, shrink):
    if shrink and not intercept:
        return
    X, y = data(50)
    y = y - 3 * X[:, 0]
    model = Ridge(0.7, positive=True, fit_intercept=intercept, shrink_intercept=shrink).fit(X, y)
    D = np.column_stack([np.ones(50), X]) if intercept else X
    b = parameters(model) if intercept else model.coef_
    penalty = np.full(D.shape[1], 0.7)
    if intercept and not shrink:
        penalty[0] = 0.0
    gradient = D.T @ (y - D @ b) - penalty * b
    free = b > 0
    if intercept:
        free[0] = True
    assert (model.coef_ >= 0).all()
    assert_allclose(gradient[free], 0, atol=1e-8)
    assert (gradient[~free] <= 1e-8).all()
    assert not free.all()
    with pytest.raises(ValueError, match="not linear"):
        model.leverage(X)
    assert "not linear" in model.summary().reason
    assert np.isnan(model.summary().low).all()


def test_sparse_equals_dense():
    X, y = data(200)
    X = X * (rng.random(X.shape) < 0.3)
    a, b = Ridge().fit(sparse.csr_matrix(X), y), Ridge().fit(X, y)
    assert_allclose(parameters(a), parameters(b), rtol=1e-11)


def test_wide_sparse_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr("pellucid.linear.linear_model.SPARSE_COLUMNS", 3)
    X, y = data()
    with pytest.raises(ValueError, match="at most 3 columns here, got 4"):
        Ridge().fit(sparse.csr_matrix(X), y)


# --- laws ------------------------------------------------------------------------------------


@given(
    st.integers(1, 30), st.integers(1, 30), st.floats(1e-3, 1e3), st.booleans(), st.integers(0, 999)
)
@settings(max_examples=60, deadline=None)
def test_the_gradient_is_zero(n, p, alpha, shrink, seed):
    g = np.random.default_rng(seed)
    X, y = g.normal(size=(n, p)) + g.normal(size=p), g.normal(size=n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Ridge(alpha, shrink_intercept=shrink).fit(X, y)
    r = y - model.predict(X)
    assert_allclose(X.T @ r, alpha * model.coef_, atol=1e-9 * (1 + alpha))
    assert_allclose(r.sum(), alpha * model.intercept_ if shrink else 0, atol=1e-9 * (1 + alpha))


@pytest.mark.parametrize(("n", "p"), [(25, 3), (5, 12)])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"shrink_intercept": True}])
def test_leave_one_out_shortcut_is_n_refits(n, p, options):
    X, y = data(n, p)
    model = Ridge(0.5, **options).fit(X, y)
    refits = [
        y[i] - Ridge(0.5, **options).fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0]
        for i in range(n)
    ]
    assert_allclose(model.loo_residuals(X, y), refits, rtol=1e-7)
    H = model.hat_matrix(X)
    assert_allclose(H @ y, model.predict(X), rtol=1e-8)
    assert_allclose(np.trace(H), model.df_, rtol=1e-10)
    assert_allclose(model.leverage(X), np.diag(H), rtol=1e-10)


def test_alpha_zero_is_least_squares_and_infinity_is_the_mean():
    X, y = data()
    assert_allclose(Ridge(0.0).fit(X, y).coef_, LinearRegression().fit(X, y).coef_, rtol=1e-12)
    assert_allclose(Ridge(1e15).fit(X, y).coef_, 0, atol=1e-11)
    path = [Ridge(a).fit(X, y) for a in (0.0, 0.1, 1.0, 10.0, 100.0)]
    assert (np.diff([m.budget_ for m in path]) < 0).all()
    assert (np.diff([m.rss_ for m in path]) > 0).all()
    assert (np.diff([m.df_ for m in path]) < 0).all()


def test_is_the_posterior_mean():
    """w ~ N(0, tau^2 I), noise s^2: the mean is ridge with s^2/tau^2, the covariance s^2 A."""
    X, y = data(40)
    X, y = X - X.mean(axis=0), y - y.mean()
    s2, tau2 = 0.3, 2.0
    precision = X.T @ X / s2 + np.eye(4) / tau2
    model = Ridge(s2 / tau2).fit(X, y)
    assert_allclose(model.coef_, np.linalg.solve(precision, X.T @ y / s2), rtol=1e-10)
    s = model.summary()
    assert not s.valid
    posterior = np.sqrt(model.sigma2_ / s2 * np.diag(np.linalg.inv(precision)))
    assert_allclose(s.posterior_sd[1:], posterior, rtol=1e-9)
    A = np.linalg.inv(X.T @ X + s2 / tau2 * np.eye(4))
    sampling = np.sqrt(model.sigma2_ * np.diag(A @ X.T @ X @ A))
    assert_allclose(s.standard_error[1:], sampling, rtol=1e-9)
    assert_allclose(s.high - s.low, 2 * stdtrit(s.n - s.df, 0.975) * s.posterior_sd)


@pytest.mark.parametrize("shrink", [True, False])
def test_standard_errors_of_all_parameters(shrink):
    X, y = data(40)
    s = Ridge(2.0, shrink_intercept=shrink).fit(X, y).summary()
    D = np.column_stack([np.ones(40), X])
    A = np.linalg.inv(D.T @ D + np.diag([2.0 * shrink, 2, 2, 2, 2]))
    assert_allclose(s.posterior_sd, np.sqrt(s.sigma2 * np.diag(A)), rtol=1e-8)
    assert_allclose(s.standard_error, np.sqrt(s.sigma2 * np.diag(A @ D.T @ D @ A)), rtol=1e-8)


@pytest.mark.parametrize("kind", ["a sum", "a constant", "more columns than rows"])
@pytest.mark.parametrize("options", [{}, {"shrink_intercept": True}, {"fit_intercept": False}])
@pytest.mark.parametrize("solver", ["auto", "svd"])
def test_the_prior_decides_where_columns_depend(kind, options, solver):
    """The posterior is that of the formula, also in directions of which no row says anything."""
    X, y = data(40)
    X = X[:8, [0, 1, 2, 3] * 3] + np.arange(96).reshape(8, 12) % 7 if "rows" in kind else X + 1
    y = y[: len(X)]
    more = {"a sum": X[:, 0] + X[:, 1], "a constant": np.full(len(X), 3.0)}
    X = np.column_stack([X, more[kind]]) if kind in more else X
    model = Ridge(2.0, solver=solver, **options).fit(X, y)
    s = model.summary()
    D = np.column_stack([np.ones(len(X)), X]) if model.fit_intercept else X
    P = 2.0 * np.eye(D.shape[1])
    P[0, 0] *= model.shrink_intercept or not model.fit_intercept
    A = np.linalg.inv(D.T @ D + P)
    assert_allclose(parameters(model)[-D.shape[1] :], A @ D.T @ y, atol=1e-9)
    assert_allclose(s.posterior_sd, np.sqrt(s.sigma2 * np.diag(A)), rtol=1e-7)
    sampling = np.sqrt(s.sigma2 * np.maximum(np.diag(A @ D.T @ D @ A), 0))
    assert_allclose(s.standard_error, sampling, rtol=1e-6, atol=1e-7)
    seen = np.linalg.matrix_rank(X - X.mean(axis=0) * (len(D[0]) > len(X[0])))
    open_ = len(D[0]) - np.linalg.matrix_rank(D) if model.shrink_intercept else len(X[0]) - seen
    assert (f"of {open_} direction" in s.reason) == (open_ > 0)
    least_norm = "least-norm fit" in str(model.card())
    assert least_norm == (open_ > 0)
    assert "the columns are well conditioned" not in " ".join(str(model.card()).split())


def test_without_a_penalty_the_words_are_those_of_least_squares():
    X, y = data(40)
    model, plain = Ridge(0.0).fit(X, y), LinearRegression().fit(X, y)
    s, ols = model.summary(), plain.summary()
    assert_allclose([s.low, s.high], [ols.low, ols.high], rtol=1e-9)
    assert "shrunk" not in s.reason
    assert "those of LinearRegression" in s.reason
    card = str(model.card())
    assert "prior" not in card
    assert "constraint" not in card
    with pytest.warns(LinAlgWarning, match="dependent"):
        loose = Ridge(0.0).fit(np.column_stack([X, X[:, 0]]), y)
    s = loose.summary()
    assert_array_equal(np.isnan(s.low), [False, True, False, False, False, True])
    assert_array_equal(np.isnan(s.standard_error), np.isnan(s.low))


def test_a_constant_column_shares_with_a_penalised_intercept():
    """Both are shrunk, so 3 w + b is cheapest split three to one; without alpha it is open."""
    X, y = data(40)
    X = np.column_stack([X + 1, np.full(40, 3.0)])
    model = Ridge(2.0, shrink_intercept=True).fit(X, y)
    assert_allclose(model.coef_[-1], 3 * model.intercept_)
    assert model.gradient_ < 1e-12
    for name in ("sparse", "wide"):
        some = slice(None, 4) if name == "wide" else slice(None)
        table = sparse.csr_matrix(X) if name == "sparse" else X
        other = Ridge(2.0, shrink_intercept=True).fit(table[some], y[some])
        assert_allclose(other.coef_[-1], 3 * other.intercept_)
    assert Ridge(2.0).fit(X, y).coef_[-1] == 0


def test_a_positive_fit_says_why_it_has_no_errors():
    X, y = data(40)
    model = Ridge(1.0, positive=True).fit(X, y)
    s = model.summary()
    assert not s.valid
    assert "positive=True" in s.reason
    assert_array_equal(s.estimate[1:], model.coef_)
    assert np.isnan([s.standard_error, s.low, s.high, s.posterior_sd]).all()


def test_the_penalty_on_the_intercept_is_in_brackets():
    """lambda (b^2 + |w|^2), and the prior is that of both."""
    X, y = data(40)
    scales = " ".join(Ridge(3.0, shrink_intercept=True).fit(X, y).card().scales)
    assert "RSS + lambda (b^2 + |w|^2)" in scales
    assert "(b, w) ~ N(0, tau^2 I)" in scales
    assert "RSS + lambda |w|^2 " in " ".join(Ridge(3.0).fit(X, y).card().scales)


@pytest.mark.parametrize("options", [{}, {"shrink_intercept": True}])
@pytest.mark.parametrize("solver", ["auto", "svd"])
def test_ill_conditioned_columns(solver, options):
    x = np.linspace(0, 1, 60)[:, None]
    X, y = x ** np.arange(1, 9), np.sin(6 * x[:, 0])
    model = Ridge(1e-8, solver=solver, **options).fit(X, y)
    D = np.column_stack([np.ones(60), X])
    penalty = np.diag([1.0 if options else 0.0] + [1.0] * 8) * 1e-4
    b = np.linalg.lstsq(np.vstack([D, penalty]), np.append(y, np.zeros(9)))[0]
    assert_allclose(parameters(model), b, rtol=1e-8)
    assert model.solver_ == "qr"


@pytest.mark.parametrize("options", [{}, {"shrink_intercept": True}])
def test_blocks_and_threads_give_the_same_bits(options):
    X, y = data(2 * LEAF_ROWS + 100)
    model = Ridge(3.0, **options).fit(X, y)
    for block_rows in (4096, 10**6):
        parts = Ridge(3.0, **options).fit_blocks(Blocks(X, y, block_rows))
        assert_array_equal(parts.coef_, model.coef_)
        assert parts.df_ == model.df_
    with limit_threads(1):
        assert_array_equal(Ridge(3.0, **options).fit(X, y).coef_, model.coef_)


def test_constant_column():
    X, y = data()
    model = Ridge().fit(np.insert(X, 1, 0.1, axis=1), y)
    assert model.coef_[1] == 0
    assert_allclose(np.delete(model.coef_, 1), Ridge().fit(X, y).coef_, rtol=1e-12)


# --- Budget ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(40, 4), (5, 12)])
@pytest.mark.parametrize("shrink", [False, True])
@pytest.mark.parametrize("fraction", [1e-6, 0.3, 0.999])
def test_budget_is_met_and_refits(n, p, shrink, fraction):
    X, y = data(n, p)
    model = Ridge(Budget(fraction=fraction), shrink_intercept=shrink).fit(X, y)
    assert_allclose(model.shrinkage_, fraction, rtol=1e-9)
    assert model.alpha_ > 0
    again = Ridge(model.alpha_, shrink_intercept=shrink).fit(X, y)
    assert_array_equal(again.coef_, model.coef_)
    same = Ridge(Budget(model.budget_), shrink_intercept=shrink).fit(X, y)
    assert_allclose(same.alpha_, model.alpha_, rtol=1e-8)


def test_budget_that_least_squares_meets_changes_nothing():
    X, y = data()
    plain = LinearRegression().fit(X, y)
    model = Ridge(Budget(2 * (plain.coef_**2).sum())).fit(X, y)
    assert model.alpha_ == 0
    assert_allclose(model.coef_, plain.coef_, rtol=1e-12)
    assert_allclose(model.budget_ols_, (plain.coef_**2).sum(), rtol=1e-10)


def test_budget_of_several_targets_and_of_blocks():
    X, y = data(60, 4, 2)
    model = Ridge(Budget(0.5)).fit(X, y)
    assert_allclose(model.budget_, 0.5, rtol=1e-10)
    assert model.alpha_.shape == (2,)
    parts = Ridge(Budget(0.5)).fit_blocks(Blocks(X, y, 4096))
    assert_array_equal(parts.coef_, model.coef_)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=6), st.floats(1e-4, 1e4))
def test_multiplier_solves_its_equation(d, t):
    d = np.array(d)
    beta = np.linspace(1, 3, len(d))
    alpha = ridge_multiplier(d, beta, t)
    size = ((d * beta / (d**2 + alpha)) ** 2).sum()
    assert size <= t * (1 + 1e-9)
    if alpha > 0:
        assert_allclose(size, t, rtol=1e-9)


def test_budget_refuses_nonsense():
    for arguments in ({}, {"t": 1.0, "fraction": 0.5}):
        with pytest.raises(ValueError, match="either t or fraction"):
            Budget(**arguments)
    with pytest.raises(ValueError, match="t must be > 0"):
        Budget(0)
    with pytest.raises(ValueError, match="fraction must be > 0"):
        Budget(fraction=-1)
    with pytest.raises(ValueError, match="positive=True"):
        Ridge(Budget(1.0), positive=True).fit(R, Y)
    assert Budget(1.0) == clone(Ridge(Budget(1.0))).alpha


# --- the shell -------------------------------------------------------------------------------


def test_bad_input_is_one_sentence():
    cases = [
        ({"alpha": -1}, "alpha must be >= 0"),
        ({"alpha": [1.0, 2.0]}, "Number of targets and number of penalties"),
        ({"alpha": [-1.0]}, "finite and >= 0"),
        ({"alpha": np.inf}, "finite and >= 0"),
        ({"solver": "qr"}, "solver must be one of"),
        ({"max_iter": 0}, "max_iter"),
        ({"shrink_intercept": True, "fit_intercept": False}, "needs fit_intercept"),
    ]
    for params, message in cases:
        with pytest.raises(ValueError, match=message):
            Ridge(**params).fit(R, Y)


def test_card_shows_both_scales_the_prior_and_the_constraint():
    model = Ridge(4.0).fit(R, Y)
    scales = " ".join(model.card().scales)
    assert "lambda = 4 in RSS + lambda" in scales
    assert "RSS/2 + (lambda/2)" in scales
    assert "lambda = 0.5 in RSS/n" in scales
    assert "tau^2 = s^2/4" in scales
    assert f"<= {model.budget_:.6g}" in scales
    wide = Ridge(Budget(fraction=0.5)).fit(*data(3, 5))
    assert "least-norm" in " ".join(wide.card().warnings)


def test_searches_over_alpha():
    X, y = data()
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1e6, Budget(fraction=0.9)]}).fit(X, y)
    assert search.best_params_["alpha"] == 0.1


def test_a_budget_is_saved(tmp_path):
    import pellucid

    X, y = data()
    model = Ridge(Budget(fraction=0.5)).fit(X, y)
    pellucid.save(model, tmp_path / "model.pellucid")
    again = pellucid.load(tmp_path / "model.pellucid")
    assert again.alpha == Budget(fraction=0.5)
    assert_array_equal(again.predict(X), model.predict(X))
    assert_array_equal(again.leverage(X), model.leverage(X))

"""Linear regression: examples, NIST, oracles, laws."""

import json
import warnings
from importlib.resources import files

import numpy as np
import pytest
import sklearn.linear_model
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_tables import Blocks, R, Y, data, digits, parameters
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import LinAlgWarning
from scipy.optimize import nnls
from sklearn.callback import ProgressBar

from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.threads import limit_threads
from pellucid.linear import LinearRegression

rng = np.random.default_rng(0)
SOLVERS = ["auto", "normal", "qr", "gram_schmidt", "svd", "pinv"]


# --- the examples ----------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_table_of_eight_rows(solver):
    model = LinearRegression(solver=solver).fit(R, Y)
    assert_allclose(parameters(model), [-0.40073634, 0.56754460, 1.01161144, 0.59643161], atol=1e-8)
    assert_allclose(model.rss_, 3.2546020957, atol=1e-9)
    assert_allclose(model.sigma2_ml_, 0.4068252620, atol=1e-9)
    assert_allclose(model.sigma2_, 0.8136505239, atol=1e-9)
    assert_allclose(model.sigma2_ml_ / model.sigma2_, 1 - 4 / 8, rtol=1e-14)
    errors = [0.73790755, 0.37491690, 0.33118722, 0.49608457]
    assert_allclose(model.standard_errors_, errors, atol=1e-8)
    summary = model.summary()
    assert_allclose(summary.statistic, [-0.54307119, 1.51378775, 3.05450022, 1.20227808], atol=1e-7)
    assert (np.abs(summary.statistic) > 2).tolist() == [False, False, True, False]
    h = model.leverage(R)
    expected = [0.69187199, 0.71056358, 0.33729822, 0.25630133,
                0.51345228, 0.24610592, 0.55253469, 0.69187199]  # fmt: skip
    assert_allclose(h, expected, atol=1e-8)
    assert_allclose(h.sum(), 4, rtol=1e-12)
    assert_allclose(model.loocv(R, Y), 2.0519912260, atol=1e-9)
    assert_allclose(model.gcv(R, Y), 1.6273010479, atol=1e-9)
    assert_allclose(model.covariance_[3, 3], 0.24609990, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_noisy_line(solver):
    state = np.random.RandomState(0)
    x = np.linspace(0, 10, 200)
    y = 3 * x + 1 + state.normal(0, 2, 200)
    model = LinearRegression(solver=solver).fit(x[:, None], y)
    assert_allclose(parameters(model), [1.3286166099, 2.9626408753], atol=1e-9)
    n, Sx, Sy = 200, x.sum(), y.sum()
    slope = (n * (x @ y) - Sx * Sy) / (n * (x @ x) - Sx**2)
    assert_allclose(model.coef_[0], slope, rtol=1e-10)


def test_dependent_columns_least_norm():
    X, y = np.array([[1.0, 2], [2, 3], [3, 4]]), np.array([1.0, 2, 3])
    with pytest.warns(LinAlgWarning, match="x0, x1 are linearly dependent"):
        model = LinearRegression().fit(X, y)
    assert_allclose(parameters(model), [-0.5, 0.5, 0.5], atol=1e-12)
    assert model.rank_ == 1
    assert np.isnan(model.standard_errors_).all()
    with pytest.warns(LinAlgWarning):
        model = LinearRegression(solver="pinv").fit(X, y)
    assert_allclose(parameters(model), [-1 / 3, 2 / 3, 1 / 3], atol=1e-12)


def test_exponential_line_and_exact_recovery():
    x = np.linspace(1, 5, 15)
    y = np.exp(x)
    model = LinearRegression().fit(x[:, None], y)
    assert_allclose(parameters(model), [-53.1784790, 30.8142043], atol=1e-6)
    assert_allclose(model.sigma2_ml_, 384.3259826, atol=1e-6)
    assert_allclose(model.loocv(x[:, None], y), 579.4274005, atol=1e-6)
    assert_allclose(model.gcv(x[:, None], y), 511.6766041, atol=1e-6)
    exact = LinearRegression().fit(np.column_stack([x, y]), y)
    assert_allclose(parameters(exact), [0, 0, 1], atol=1e-10)


# --- NIST ------------------------------------------------------------------------------------


def nist(name):
    folder = files("pellucid.data").joinpath("tables")
    certified = json.loads(folder.joinpath("certified.json").read_text())[name]
    lines = folder.joinpath(f"{name}.csv").read_text().splitlines()
    table = np.loadtxt(lines, delimiter=",", skiprows=1)
    X, y = table[:, 1:], table[:, 0]
    return (X ** np.arange(1, 6) if name.startswith("wampler") else X), y, certified


@pytest.mark.parametrize("blocks", [False, True])
@pytest.mark.parametrize(
    ("name", "bar"),
    [("norris", 11), ("longley", 11), ("wampler1", 9), ("wampler2", 9), ("wampler3", 9)],
)
def test_nist(name, bar, blocks):
    X, y, certified = nist(name)
    model = LinearRegression()
    model = model.fit_blocks(Blocks(X, y, 4096)) if blocks else model.fit(X, y)
    assert digits(parameters(model), certified["coef"]) >= bar
    if any(certified["std_err"]):
        assert digits(model.standard_errors_, certified["std_err"]) >= 8
        assert digits(model.sigma2_, certified["residual_variance"]) >= 8
    else:
        assert (model.standard_errors_ <= 1e-9).all()
    assert digits(model.summary().r2, certified["r2"]) >= 8


@pytest.mark.parametrize("solver", ["qr", "svd", "gram_schmidt"])
@pytest.mark.parametrize("name", ["norris", "longley", "wampler1", "wampler2", "wampler3"])
def test_nist_by_name(name, solver):
    X, y, certified = nist(name)
    assert digits(parameters(LinearRegression(solver=solver).fit(X, y)), certified["coef"]) >= 9


def test_nist_longley_in_many_leaves():
    """Each row a thousand times: several leaves, the same estimates."""
    X, y, certified = nist("longley")
    X, y = np.repeat(X, 1000, axis=0), np.repeat(y, 1000)
    model = LinearRegression().fit_blocks(Blocks(X, y, 4096))
    assert digits(parameters(model), certified["coef"]) >= 11


# --- oracles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
def test_inference_equals_statsmodels(intercept, weighted):
    X, y = data()
    w = rng.integers(0, 4, size=len(y)) if weighted else np.ones(len(y), int)
    model = LinearRegression(fit_intercept=intercept)
    model.fit(X, y, sample_weight=w if weighted else None)
    Xr, yr = np.repeat(X, w, axis=0), np.repeat(y, w)
    oracle = sm.OLS(yr, sm.add_constant(Xr) if intercept else Xr).fit()
    s = model.summary(confidence=0.9)
    assert_allclose(s.estimate, oracle.params, rtol=1e-10)
    assert_allclose(s.standard_error, oracle.bse, rtol=1e-9)
    assert_allclose(s.statistic, oracle.tvalues, rtol=1e-9)
    assert_allclose(s.p_value, oracle.pvalues, rtol=1e-6, atol=1e-300)
    assert_allclose(np.column_stack([s.low, s.high]), oracle.conf_int(0.1), rtol=1e-9)
    pairs = {"r2": "rsquared", "adjusted_r2": "rsquared_adj", "f_statistic": "fvalue",
             "f_p_value": "f_pvalue", "log_likelihood": "llf", "aic": "aic", "bic": "bic",
             "n": "nobs", "df_residual": "df_resid"}  # fmt: skip
    for ours, theirs in pairs.items():
        assert_allclose(getattr(s, ours), getattr(oracle, theirs), rtol=1e-7, atol=1e-290)
    assert_allclose(model.covariance_, oracle.cov_params(), rtol=1e-8, atol=1e-12)
    assert s.valid


def test_normal_distribution_and_notes():
    s = LinearRegression().fit(R, Y).summary(distribution="normal")
    from scipy.stats import norm

    assert_allclose(s.p_value, 2 * norm.sf(np.abs(s.statistic)), rtol=1e-10)
    text = " ".join(s.notes)
    assert "loosely determined" in text
    assert "trade off" in text
    assert "1 - 4/8" in text


@pytest.mark.parametrize("kind", ["mean", "prediction"])
def test_intervals_equal_statsmodels(kind):
    X, y = data()
    new = rng.normal(size=(7, 4))
    found = LinearRegression().fit(X, y).predict_interval(new, confidence=0.9, kind=kind)
    oracle = sm.OLS(y, sm.add_constant(X)).fit().get_prediction(sm.add_constant(new))
    assert_allclose(found, oracle.conf_int(obs=kind == "prediction", alpha=0.1), rtol=1e-9)


def test_plugin_interval_has_constant_width_and_warns():
    X, y = data()
    model = LinearRegression().fit(X, y)
    with pytest.warns(UserWarning, match="too short"):
        found = model.predict_interval(X, kind="plugin")
    assert_allclose(found[:, 1] - found[:, 0], 2 * 1.959963985 * np.sqrt(model.sigma2_ml_))


def test_f_test_is_the_comparison_of_two_fits():
    X, y = data()
    model = LinearRegression().fit(X, y)
    small = LinearRegression().fit(X[:, [0, 2]], y)
    F, q, free, p = model.f_test(["x1", 3])
    assert_allclose(F, (small.rss_ - model.rss_) / 2 / model.sigma2_, rtol=1e-9)
    assert (q, free) == (2, 55)
    oracle = sm.OLS(y, sm.add_constant(X)).fit().f_test(np.eye(5)[[2, 4]])
    assert_allclose(p, oracle.pvalue, rtol=1e-6)
    for bad in (["x9"], [7], [], [0, 0]):
        with pytest.raises(ValueError, match="column"):
            model.f_test(bad)


@pytest.mark.parametrize("intercept", [True, False])
def test_generalised_least_squares_equals_statsmodels(intercept):
    X, y = data(40)
    S = 0.7 ** np.abs(np.subtract.outer(np.arange(40), np.arange(40))) * 2.0
    model = LinearRegression(fit_intercept=intercept).fit(X, y, noise_covariance=S)
    oracle = sm.GLS(y, sm.add_constant(X) if intercept else X, sigma=S).fit()
    s = model.summary()
    assert_allclose(s.estimate, oracle.params, rtol=1e-8)
    assert_allclose(s.standard_error, oracle.bse, rtol=1e-8)
    assert_allclose(model.sigma2_, oracle.scale, rtol=1e-8)
    assert_allclose(model.log_likelihood_, oracle.llf, rtol=1e-8)
    band = model.predict_interval(X[:3], kind="mean")
    D = sm.add_constant(X) if intercept else X
    assert_allclose(band, oracle.get_prediction(D[:3]).conf_int(), rtol=1e-8)
    with pytest.raises(ValueError, match="new row is not known"):
        model.predict_interval(X[:3])
    with pytest.raises(ValueError, match="independent noise"):
        model.loocv(X, y)


def test_generalised_with_equal_noise_is_ordinary():
    X, y = data(30)
    a, b = LinearRegression().fit(X, y), LinearRegression().fit(X, y, noise_covariance=np.eye(30))
    assert_allclose(parameters(a), parameters(b), rtol=1e-10)
    assert_allclose(a.standard_errors_, b.standard_errors_, rtol=1e-10)


@pytest.mark.parametrize("S", [np.eye(3), -np.eye(30), np.triu(np.ones((30, 30)))])
def test_bad_noise_covariance(S):
    X, y = data(30)
    with pytest.raises(ValueError, match="noise_covariance must be"):
        LinearRegression().fit(X, y, noise_covariance=S)


@pytest.mark.parametrize("intercept", [True, False])
def test_positive_is_non_negative_least_squares(intercept):
    X, y = data(50)
    y = y - 3 * X[:, 0]
    model = LinearRegression(positive=True, fit_intercept=intercept).fit(X, y)
    A, b = (X - X.mean(axis=0), y - y.mean()) if intercept else (X, y)
    assert_allclose(model.coef_, nnls(A, b)[0], atol=1e-9)
    oracle = sklearn.linear_model.LinearRegression(positive=True, fit_intercept=intercept)
    assert_allclose(model.predict(X), oracle.fit(X, y).predict(X), rtol=1e-8)
    assert_allclose(model.rss_, ((y - model.predict(X)) ** 2).sum(), rtol=1e-9)
    with pytest.warns(UserWarning, match="at or above zero"):
        assert not model.summary().valid
    with pytest.raises(ValueError, match="not linear"):
        model.leverage(X)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_equals_dense(make):
    X, y = data(200)
    X = X * (rng.random(X.shape) < 0.3)
    a, b = LinearRegression().fit(make(X), y), LinearRegression().fit(X, y)
    assert_allclose(parameters(a), parameters(b), rtol=1e-11)
    assert_allclose(a.predict(make(X)), b.predict(X), rtol=1e-11)
    assert_allclose(a.leverage(make(X)), b.leverage(X), rtol=1e-11)


# --- laws ------------------------------------------------------------------------------------


@given(st.integers(3, 40), st.integers(1, 5), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_residuals_are_orthogonal_to_the_design(n, p, seed):
    g = np.random.default_rng(seed)
    X = g.normal(size=(n, p)) * 10.0 ** g.integers(-3, 4, size=p) + g.normal(size=p)
    y = g.normal(size=n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearRegression().fit(X, y)
    r = y - model.predict(X)
    scale = np.linalg.norm(X, axis=0) * np.linalg.norm(y)
    assert (np.abs(X.T @ r) <= 1e-9 * scale).all()
    assert abs(r.sum()) <= 1e-9 * n


def test_hat_matrix_is_an_idempotent_projection():
    X, y = data()
    model = LinearRegression().fit(X, y)
    H = model.hat_matrix(X)
    assert_allclose(H @ H, H, atol=1e-12)
    assert_allclose(H, H.T, atol=1e-15)
    assert_allclose(np.trace(H), model.df_, rtol=1e-12)
    assert_allclose(H @ y, model.predict(X), rtol=1e-10)


@pytest.mark.parametrize("k", [None, 2])
def test_leave_one_out_shortcut_is_n_refits(k):
    X, y = data(20, 3, k)
    model = LinearRegression().fit(X, y)
    refits = [
        y[i] - LinearRegression().fit(np.delete(X, i, 0), np.delete(y, i, 0)).predict(X[[i]])[0]
        for i in range(20)
    ]
    assert_allclose(model.loo_residuals(X, y), refits, rtol=1e-8)
    assert_allclose(model.loocv(X, y), np.mean(np.square(refits), axis=0), rtol=1e-8)


def test_leave_one_out_with_weights_leaves_one_copy():
    X, y = data(15, 2)
    w = rng.integers(1, 4, size=15)
    Xr, yr = np.repeat(X, w, axis=0), np.repeat(y, w)
    model = LinearRegression().fit(X, y, sample_weight=w)
    repeated = LinearRegression().fit(Xr, yr)
    assert_allclose(model.loocv(X, y, w), repeated.loocv(Xr, yr), rtol=1e-10)
    assert_allclose(model.gcv(X, y, w), repeated.gcv(Xr, yr), rtol=1e-10)


def test_a_row_with_leverage_one_is_named():
    X = np.eye(5)[:, :1] + 0.0
    model = LinearRegression().fit(X, np.arange(5.0))
    with pytest.raises(ValueError, match="row 0 has leverage 1"):
        model.loo_residuals(X, np.arange(5.0))


def test_several_targets_are_one_at_a_time():
    X, Y2 = data(80, 4, 3)
    together = LinearRegression().fit(X, Y2)
    assert together.coef_.shape == (3, 4)
    assert together.standard_errors_.shape == (3, 5)
    for j in range(3):
        alone = LinearRegression().fit(X, Y2[:, j])
        assert_allclose(together.coef_[j], alone.coef_, rtol=1e-12)
        assert_allclose(together.standard_errors_[j], alone.standard_errors_, rtol=1e-12)
        assert_allclose(together.sigma2_[j], alone.sigma2_, rtol=1e-12)
        assert_allclose(together.covariance_[j], alone.covariance_, rtol=1e-10)
    E = Y2 - together.predict(X)
    assert_allclose(together.noise_covariance_, E.T @ E / (80 - 5), rtol=1e-10, atol=1e-14)
    assert together.predict_interval(X[:2]).shape == (2, 3, 2)
    assert len(together.summary().rows) == 15


def test_one_column_of_targets_keeps_its_shape():
    X, y = data()
    model = LinearRegression().fit(X, y[:, None])
    assert model.coef_.shape == (1, 4)
    assert model.predict(X).shape == (60, 1)


@pytest.mark.parametrize("solver", ["auto", "qr"])
def test_rows_permuted_blocks_and_threads(solver):
    X, y = data(3 * LEAF_ROWS + 100)
    model = LinearRegression(solver=solver).fit(X, y)
    order = rng.permutation(len(y))
    assert_allclose(LinearRegression(solver=solver).fit(X[order], y[order]).coef_, model.coef_,
                    rtol=1e-12)  # fmt: skip
    for block_rows in (4096, 8192, 10**6):
        parts = LinearRegression(solver=solver).fit_blocks(Blocks(X, y, block_rows))
        assert_array_equal(parts.coef_, model.coef_)
        assert_array_equal(parts.standard_errors_, model.standard_errors_)
    with limit_threads(1):
        assert_array_equal(LinearRegression(solver=solver).fit(X, y).coef_, model.coef_)


def test_rescaling_columns_rescales_coefficients():
    X, y = data()
    scale = np.array([1e-5, 1.0, 1e4, 30.0])
    a, b = LinearRegression().fit(X, y), LinearRegression().fit(X * scale, y)
    assert_allclose(a.coef_, b.coef_ * scale, rtol=1e-10)
    assert_allclose(a.standard_errors_[1:], b.standard_errors_[1:] * scale, rtol=1e-10)


def test_recovers_a_noiseless_plane():
    X, _ = data(30)
    w = np.array([1.0, -2.0, 0.5, 3.0])
    model = LinearRegression().fit(X, X @ w + 7)
    assert_allclose(parameters(model), [7, *w], rtol=1e-12)
    assert model.rss_ < 1e-20


def test_square_invertible_design():
    X, _ = data(4, 4)
    y = rng.normal(size=4)
    with pytest.warns(UserWarning, match="nothing to estimate the noise"):
        model = LinearRegression(fit_intercept=False).fit(X, y)
    assert_allclose(model.coef_, np.linalg.solve(X, y), rtol=1e-8)
    assert np.isnan(model.sigma2_)


@pytest.mark.parametrize("intercept", [True, False])
def test_more_columns_than_rows_is_least_norm(intercept):
    X, y = data(6, 20)
    few, noise = "6 rows cannot determine 20", "nothing to estimate the noise"
    with pytest.warns(LinAlgWarning, match=few), pytest.warns(UserWarning, match=noise):
        model = LinearRegression(fit_intercept=intercept).fit(X, y)
    A, b = (X - X.mean(0), y - y.mean()) if intercept else (X, y)
    assert_allclose(model.coef_, np.linalg.lstsq(A, b)[0], rtol=1e-8)
    assert_allclose(model.predict(X), y, rtol=1e-10)
    assert len(model.singular_) == 6


def test_constant_column_has_coefficient_zero_and_a_note():
    X, y = data()
    X = np.insert(X, 2, 0.1, axis=1)
    model = LinearRegression().fit(X, y)
    assert model.coef_[2] == 0
    assert model.rank_ == 4
    assert np.isnan(model.standard_errors_[3])
    assert "x2" in model.card().warnings[0]
    plain = LinearRegression().fit(np.delete(X, 2, axis=1), y)
    assert_allclose(np.delete(model.coef_, 2), plain.coef_, rtol=1e-12)
    assert_allclose(model.summary().f_statistic, plain.summary().f_statistic, rtol=1e-10)
    with pytest.raises(ValueError, match="constant column"):
        model.f_test([2])


def test_singular_values_and_rank():
    X, y = data()
    model = LinearRegression().fit(X, y)
    assert_allclose(model.singular_, np.linalg.svd(X - X.mean(0), compute_uv=False), rtol=1e-10)
    twice = np.hstack([X, X[:, :1]])
    with pytest.warns(LinAlgWarning, match="x0, x4"):
        model = LinearRegression().fit(twice, y)
    assert model.rank_ == 4
    assert model.singular_[-1] == 0
    with pytest.warns(UserWarning, match="linearly dependent"):
        assert not model.summary().valid
    assert "one of many" in model.card().optimisation


def test_one_row():
    with pytest.warns(UserWarning, match="1 observations for 1 parameters"):
        model = LinearRegression().fit([[2.0]], [3.0])
    assert model.predict([[5.0]]) == [3.0]


def test_constant_target():
    X, _ = data()
    model = LinearRegression().fit(X, np.full(60, 2.0))
    assert_allclose(model.coef_, 0, atol=1e-15)
    assert model.intercept_ == 2.0
    assert np.isnan(model.summary().r2)


def test_normal_equations_that_break_down_say_so():
    x = np.linspace(0, 1, 50)[:, None]
    with pytest.warns(LinAlgWarning, match="ill-conditioned"):
        LinearRegression(solver="normal").fit(x ** np.arange(1, 13), np.sin(x[:, 0]))


# --- the shell -------------------------------------------------------------------------------


def test_bad_input_is_one_sentence():
    X, y = data()
    cases = [
        ({"solver": "cholesky"}, "solver must be one of"),
        ({"fit_intercept": 1}, "fit_intercept must be True or False"),
        ({"positive": True, "solver": "qr"}, "own solver"),
        ({"tol": -1}, "tol must be >= 0"),
        ({"n_jobs": "all"}, "n_jobs"),
    ]
    for params, message in cases:
        with pytest.raises(ValueError, match=message):
            LinearRegression(**params).fit(X, y)
    for value, what in [(np.nan, "NaN"), (np.inf, "inf")]:
        bad = X.copy()
        bad[7, 2] = value
        for w in (None, np.zeros(60) + (np.arange(60) > 20)):
            with pytest.raises(ValueError, match=rf"{what}.*column 2, row 7"):
                LinearRegression().fit(bad, y, sample_weight=w)
    with pytest.raises(ValueError, match="overflow"):
        LinearRegression().fit(X * 1e200, y)
    model = LinearRegression().fit(X, y)
    for call in (lambda: model.summary(confidence=2), lambda: model.summary(distribution="z"),
                 lambda: model.predict_interval(X, kind="line")):  # fmt: skip
        with pytest.raises(ValueError, match="must be"):
            call()


def test_card_says_which_solver_and_why():
    X, y = data()
    assert "well conditioned" in LinearRegression().fit(X, y).card().optimisation
    assert "only minimiser" in str(LinearRegression().fit(X, y).card())
    X, y, _ = nist("wampler1")
    assert "TSQR" in LinearRegression().fit(X, y).card().optimisation
    assert "w >= 0" in str(LinearRegression(positive=True).fit(X, y).card())


def test_progress_bar(capsys):
    X, y = data()
    LinearRegression().set_callbacks(ProgressBar()).fit(X, y)
    assert "LinearRegression" in "".join(capsys.readouterr())


def test_inputs_are_left_alone():
    X, y = data()
    before = X.copy(), y.copy()
    X.setflags(write=False)
    LinearRegression().fit(X, y)
    LinearRegression(solver="qr").fit(X, y)
    assert_array_equal(X, before[0])
    assert_array_equal(y, before[1])


@pytest.mark.slow
def test_intervals_cover_and_rss_is_biased():
    """95 % intervals cover 95 %; E[RSS/n] = s^2 (1 - (p + 1)/n)."""
    g = np.random.default_rng(3)
    n, p, repeats = 20, 3, 4000
    X, w = g.normal(size=(n, p)), np.array([1.0, -1.0, 0.5])
    new = g.normal(size=(1, p))
    covered, hit, ml = np.zeros(p), 0, 0.0
    for _ in range(repeats):
        y = X @ w + 2.0 + g.normal(size=n)
        model = LinearRegression().fit(X, y)
        s = model.summary()
        covered += (s.low[1:] <= w) & (w <= s.high[1:])
        low, high = model.predict_interval(new)[0]
        hit += low <= (new @ w)[0] + 2.0 + g.normal() <= high
        ml += model.sigma2_ml_
    assert_allclose(covered / repeats, 0.95, atol=0.015)
    assert_allclose(hit / repeats, 0.95, atol=0.015)
    assert_allclose(ml / repeats, 1 - (p + 1) / n, atol=0.02)


def test_positive_coefficients_of_a_target_that_pulls_none_up():
    """nnls leaves its answer unset where zero is the answer."""
    for y in ([0.0], [-1.0]):
        model = LinearRegression(positive=True, fit_intercept=False).fit([[1.0]], y)
        assert model.coef_.tolist() == [0.0]
    assert LinearRegression(positive=True).fit([[1]], [0]).coef_.tolist() == [0.0]


@pytest.mark.parametrize("intercept", [True, False])
def test_criteria_of_the_likelihood_equal_statsmodels(intercept):
    """Log-likelihood, AIC, BIC, F and R^2 of the summary; the course counts no noise variance."""
    import statsmodels.api as sm

    X, y = data(50)
    s = LinearRegression(fit_intercept=intercept).fit(X, y).summary()
    oracle = sm.OLS(y, sm.add_constant(X) if intercept else X).fit()
    found = [s.log_likelihood, s.aic, s.bic, s.f_statistic, s.f_p_value]
    assert_allclose(
        found, [oracle.llf, oracle.aic, oracle.bic, oracle.fvalue, oracle.f_pvalue], rtol=1e-8
    )

"""Lasso: examples, oracles, the optimality conditions, both routes, budgets."""

import warnings

import cvxpy
import numpy as np
import pytest
import sklearn.linear_model
from hypothesis import given, settings
from hypothesis import strategies as st
from lasso_tables import T, data
from linear_tables import Blocks, R, Y, parameters
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning

from pellucid.compiled.epochs.coordinate import duality_gap, exact_step, solve_gram
from pellucid.core.loops.statistics import LEAF_ROWS, unit_weights
from pellucid.core.runtime.threads import limit_threads
from pellucid.linear import Budget, ElasticNet, Lasso, LinearRegression, convert_penalty
from pellucid.linear.lasso import fit as engine
from pellucid.linear.lasso.rows import RowsProblem
from pellucid.linear.lasso.sums import SumsProblem


def oracle(alpha, X, y, sample_weight=None, **options):
    options = {"tol": 1e-14, "max_iter": 200_000, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = sklearn.linear_model.Lasso(alpha, **options)
        return model.fit(X, y, sample_weight=sample_weight)


@pytest.fixture(params=["sums", "rows"])
def route(request, monkeypatch):
    """Both engines on the same data."""
    if request.param == "rows":
        monkeypatch.setattr(engine, "FEW_COLUMNS", 0)
        monkeypatch.setattr(engine, "MANY_COLUMNS", 0)
    return request.param


# --- the examples ----------------------------------------------------------------------------


def test_example_7_lasso_of_the_course(route):
    alpha = convert_penalty(1, penalty="l1", n_samples=3, source="half_rss")
    model = Lasso(alpha, shrink_intercept=True).fit(*T)
    assert_allclose(parameters(model), [2 / 3, 1.5], atol=1e-12)
    alpha = convert_penalty(2, penalty="l1", n_samples=3, source="half_rss")
    assert_allclose(parameters(Lasso(alpha, shrink_intercept=True).fit(*T)), [0.5, 1.5], atol=1e-12)


def test_example_8_orthonormal_columns(route):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 5)))[0]
    X, y = Q[:, :4], Q[:, :4] @ [3.0, -0.4, 1.0, 0.0] + Q[:, 4]
    alpha = convert_penalty(1, penalty="l1", n_samples=9, source="half_rss")
    model = Lasso(alpha, fit_intercept=False).fit(X, y)
    assert_allclose(model.coef_, [2.5, 0, 0.5, 0], atol=1e-12)


def test_example_15_table_of_eight_rows(route):
    model = Lasso(0.1).fit(R, Y)
    assert_allclose(model.coef_, [0.65998301, 0.93525913, 0.40135939], atol=1e-8)
    assert model.unique_
    assert model.n_nonzero_ == 3


def test_example_20_as_alpha_grows_the_penalty_falls_and_the_rss_rises():
    X, y = data()
    models = [Lasso(alpha).fit(X, y) for alpha in np.geomspace(1e-4, 10, 30)]
    sizes = [model.budget_ for model in models]
    rss = [((y - model.predict(X)) ** 2).sum() for model in models]
    assert (np.diff(sizes) <= 1e-12).all()
    assert (np.diff(rss) >= -1e-9).all()
    assert sizes[-1] == 0


# --- oracles and optimality ------------------------------------------------------------------


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["dense", "csr", "csc", "fortran"])
def test_scikit_learn_agrees(route, positive, intercept, weighted, kind):
    for n, p in ((80, 10), (30, 60)):
        X, y = data(n, p)
        w = np.random.default_rng(1).integers(0, 4, size=n) if weighted else None
        there = oracle(0.1, X, y, w, positive=positive, fit_intercept=intercept)
        convert = {"csr": sparse.csr_array, "csc": sparse.csc_array, "fortran": np.asfortranarray}
        given = convert.get(kind, np.asarray)(X)
        here = Lasso(0.1, positive=positive, fit_intercept=intercept)
        here.fit(given, y, sample_weight=w)
        assert_allclose(here.coef_, there.coef_, atol=1e-7)
        assert_allclose(here.intercept_, there.intercept_, atol=1e-7)
        assert here.optimality(X, y, w) < 1e-10
        assert here.dual_gap_ < 1e-10


def test_cvxpy_agrees():
    X, y = data(20, 40)
    w, b = cvxpy.Variable(40), cvxpy.Variable()
    loss = cvxpy.sum_squares(y - X @ w - b) / 40 + 0.2 * cvxpy.norm1(w)
    cvxpy.Problem(cvxpy.Minimize(loss)).solve(solver="CLARABEL", tol_gap_abs=1e-12)
    assert_allclose(Lasso(0.2).fit(X, y).coef_, w.value, atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 30), st.floats(0.001, 1.0),
       st.booleans())  # fmt: skip
def test_the_conditions_hold_and_the_gap_is_true(seed, n, p, share, positive):
    X, y = data(n, p, seed)
    top = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / n
    model = Lasso(share * top, positive=positive).fit(X, y)
    assert model.optimality(X, y) <= 1e-9 * max(1.0, np.abs(X).max() * np.abs(y).max())
    assert model.n_nonzero_ <= min(n, p)


def test_alpha_max_gives_zero_and_a_bit_less_does_not(route):
    X, y = data()
    top = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    assert Lasso(top * (1 + 1e-12)).fit(X, y).n_nonzero_ == 0
    assert Lasso(top * 0.999).fit(X, y).n_nonzero_ == 1
    assert_allclose(Lasso(2 * top).fit(X, y).intercept_, y.mean())


def test_the_gap_bounds_the_distance_from_the_minimum():
    """At any w, F(w) - gap is below the minimum."""
    rng = np.random.default_rng(0)
    X, y = data(40, 12)
    G, q, yy = X.T @ X, X.T @ y, y @ y
    l1, l2, no = np.full(12, 8.0), np.full(12, 0.5), np.zeros(12, bool)
    best, c = np.zeros(12), q.copy()
    _, gap, minimum = solve_gram(G, 12, q, c, best, l1, l2, no, yy, 1e-12 * yy, True, 10_000)
    assert gap < 1e-10 * yy
    for scale in (0.0, 1e-6, 1e-2, 1.0):
        w = best + scale * rng.normal(size=12)
        gap, value = duality_gap(12, q, q - G @ w, w, l1, l2, no, yy)
        assert value - gap <= minimum + 1e-9 * yy
        assert value >= minimum - 1e-9 * yy


def test_an_exact_step_stops_where_a_coefficient_reaches_zero():
    H, l1 = np.array([[1.0, 0.9], [0.9, 1.0]]), np.array([0.1, 0.1])
    w, q = np.array([0.5, 1e-3]), np.array([1.0, 0.5])
    g = q - H @ w
    before = 0.5 * w @ H @ w - q @ w + l1 @ np.abs(w)
    assert exact_step(H, g, w, l1) == 0
    assert w[1] == 0.0
    assert 0.5 * w @ H @ w - q @ w + l1 @ np.abs(w) < before
    assert_allclose(g, q - H @ w, atol=1e-15)
    singular = np.ones((2, 2))
    assert exact_step(singular, q - singular @ [1.0, 1.0], np.ones(2), l1) == -1


def test_the_two_routes_agree():
    X, y = data(200, 30)
    kinds = {"unknowns": "centred", "weights": np.ones(30), "positive": np.zeros(30, bool)}
    from pellucid.core.algebra.least_squares import joint_moments
    from pellucid.core.loops.statistics import Rows
    from pellucid.core.runtime.threads import map_threads

    total = joint_moments(Rows(X, y, unit_weights(200)), map_threads)
    sums = SumsProblem(total, 30, **kinds)
    rows = RowsProblem(X, y[:, None], unit_weights(200), **kinds)
    zero = np.zeros(30)
    for l1 in (1.0, 20.0):
        a = sums.round(0, sums.start(0, zero, l1, 0.0), l1, 0.0, 1e-12)
        b = rows.start(0, zero, l1, 0.0)
        for _ in range(20):
            b = rows.round(0, b, l1, 0.0, 1e-12)
        assert_allclose(a.w, b.w, atol=1e-9)
        assert_allclose(a.value, b.value, rtol=1e-12)
        assert_allclose(sums.expand(0, a.w[None])[0], rows.expand(0, b.w[None])[0], atol=1e-9)


# --- the ways to say it ----------------------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(60, 8), (30, 100)])
@pytest.mark.parametrize("intercept", [False, True])
def test_budget_meets_the_kkt_conditions(route, n, p, intercept):
    X, y = data(n, p)
    for t in (0.1, 0.7, 1.3):
        model = Lasso(Budget(t), fit_intercept=intercept).fit(X, y)
        assert model.alpha_ > 0
        assert_allclose(np.abs(model.coef_).sum(), t, rtol=1e-12)
        assert model.optimality(X, y) < 1e-8
        again = Lasso(model.alpha_, fit_intercept=intercept).fit(X, y)
        assert_allclose(again.coef_, model.coef_, atol=1e-9)


def test_budget_as_a_fraction_and_with_room(route):
    X, y = data()
    ols = LinearRegression().fit(X, y)
    half = Lasso(Budget(fraction=0.5)).fit(X, y)
    assert_allclose(half.budget_ols_, np.abs(ols.coef_).sum(), rtol=1e-9)
    assert_allclose(half.shrinkage_, 0.5, rtol=1e-12)
    free = Lasso(Budget(1e6)).fit(X, y)
    assert free.alpha_ == 0
    assert_allclose(free.coef_, ols.coef_, rtol=1e-8)
    assert_allclose(free.intercept_, ols.intercept_, rtol=1e-8)


def test_budget_with_more_columns_than_rows():
    """Between basis pursuit and the least-norm fit the multiplier is 0: the residuals vanish."""
    X, y = data(20, 60)
    tight = Lasso(Budget(fraction=0.2)).fit(X, y)
    assert tight.optimality(X, y) < 1e-8
    loose = Lasso(Budget(fraction=0.98)).fit(X, y)
    assert loose.alpha_ == 0
    assert loose.budget_ < 0.98 * loose.budget_ols_
    assert_allclose(loose.predict(X), y, atol=1e-6)
    assert "least-norm" in str(tight.card())


def test_budget_counts_the_shrunk_intercept():
    model = Lasso(Budget(1.5), shrink_intercept=True).fit(*T)
    assert_allclose(abs(model.intercept_) + abs(model.coef_).sum(), 1.5, rtol=1e-12)
    assert model.optimality(*T) < 1e-12


def test_bad_budgets():
    X, y = data()
    with pytest.raises(ValueError, match="pair"):
        Lasso(Budget((1.0, 2.0))).fit(X, y)
    with pytest.raises(ValueError, match="positive=True"):
        Lasso(Budget(1.0), positive=True).fit(X, y)
    with pytest.raises(ValueError, match="pair of numbers"):
        Budget((1.0, 2.0, 3.0))
    with pytest.raises(ValueError, match="t must be > 0"):
        Budget((1.0, 0.0))


def test_penalty_weights_rescale_columns(route):
    """v_j |w_j| is the lasso on x_j / v_j."""
    X, y = data()
    v = np.random.default_rng(2).uniform(0.2, 3.0, size=10)
    model = Lasso(0.1).fit(X, y, penalty_weights=v)
    scaled = oracle(0.1, X / v, y)
    assert_allclose(model.coef_, scaled.coef_ / v, atol=1e-8)
    assert model.optimality(X, y) < 1e-10


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_columns_without_penalty_are_free(route, kind):
    for n, p in ((80, 10), (30, 60)):
        X, y = data(n, p)
        v = np.ones(p)
        v[[1, 4]] = 0.0
        model = Lasso(0.3).fit(kind(X), y, penalty_weights=v)
        assert (model.coef_[[1, 4]] != 0).all()
        assert model.optimality(X, y) < 1e-9
        D = np.column_stack([np.ones(n), X[:, [1, 4]]])  # partial them out by hand
        M = np.eye(n) - D @ np.linalg.pinv(D)
        rest = np.flatnonzero(v)
        there = oracle(0.3, M @ X[:, rest], M @ y, fit_intercept=False)
        assert_allclose(model.coef_[rest], there.coef_, atol=1e-6)


def test_all_columns_free_is_least_squares():
    X, y = data()
    with pytest.warns(UserWarning, match="least squares"):
        model = Lasso(1.0).fit(X, y, penalty_weights=np.zeros(10))
    assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-10)


def test_bad_penalty_weights():
    X, y = data()
    with pytest.raises(ValueError, match="10 columns"):
        Lasso().fit(X, y, penalty_weights=[1.0])
    with pytest.raises(ValueError, match="column 3"):
        Lasso().fit(X, y, penalty_weights=[1, 1, 1, -1, 1, 1, 1, 1, 1, 1])
    with pytest.raises(ValueError, match="positive=True"):
        Lasso(positive=True).fit(X, y, penalty_weights=np.eye(1, 10)[0])
    with pytest.warns(LinAlgWarning, match="penalty weight 0"):
        Lasso(0.1).fit(np.column_stack([X, X[:, 0]]), y, penalty_weights=[0] + [1] * 9 + [0])


# --- degenerate input ------------------------------------------------------------------------


def test_alpha_zero_warns_and_is_least_squares():
    X, y = data()
    ols = LinearRegression().fit(X, y)
    with pytest.warns(UserWarning, match="LinearRegression"):
        model = Lasso(0.0).fit(X, y)
    assert_allclose(parameters(model), parameters(ols), rtol=1e-12)
    with pytest.warns(UserWarning, match="LinearRegression"):
        model = Lasso(0.0, positive=True).fit(X, y)
    assert_allclose(model.coef_, LinearRegression(positive=True).fit(X, y).coef_, atol=1e-9)
    with (
        pytest.warns(LinAlgWarning, match="alpha is 0"),
        pytest.warns(UserWarning, match="least squares"),
    ):
        Lasso(0.0).fit(np.column_stack([X, X[:, 0]]), y)


def test_duplicated_columns_are_not_unique(route):
    X, y = data()
    twin = np.column_stack([X, X[:, np.argmax(np.abs(Lasso(0.1).fit(X, y).coef_))]])
    model = Lasso(0.1).fit(twin, y)
    assert not model.unique_
    assert_allclose(model.predict(twin), Lasso(0.1).fit(X, y).predict(X), atol=1e-6)
    assert "dependent" in str(model.card())


def test_constant_columns_one_row_and_constant_y(route):
    X, y = data()
    X[:, 3] = 7.0
    model = Lasso(0.01).fit(X, y)
    assert model.coef_[3] == 0
    assert Lasso().fit([[1.0, 2.0]], [3.0]).intercept_ == 3.0
    flat = Lasso(0.1).fit(X, np.full(len(X), 2.0))
    assert flat.n_nonzero_ == 0
    assert flat.intercept_ == 2.0


def test_far_from_zero(route):
    """Centring must not lose the digits of columns with a large mean."""
    X, y = data()
    near, far = Lasso(0.1).fit(X, y), Lasso(0.1).fit(X + 1e7, y + 1e7)
    assert_allclose(far.coef_, near.coef_, atol=1e-6)


def test_limit_of_rounds():
    X, y = data(40, 400)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        Lasso(1e-4, max_iter=1, tol=1e-12).fit(X, y)


def test_warm_start():
    X, y = data(100, 300)
    model = Lasso(0.1, warm_start=True).fit(X, y)
    coef, objective = model.coef_.copy(), model.history_["objective"][-1]
    model.fit(X, y)
    assert_allclose(model.history_["objective"][0], objective, rtol=1e-12)
    assert_allclose(model.coef_, coef, atol=1e-9)


@pytest.mark.parametrize("value", [{"solver": 3}, {"precompute": "no"}, {"alpha": "1"},
                                   {"shrink_intercept": True, "fit_intercept": False}])  # fmt: skip
def test_bad_parameters(value):
    with pytest.raises(ValueError, match=r"must be|needs"):
        Lasso(**value).fit(*T)


# --- targets, blocks, threads, story ---------------------------------------------------------


def test_several_targets_are_fitted_one_by_one(route):
    X, Y = data(60, 8, k=3)
    model = Lasso(0.2).fit(X, Y)
    for t in range(3):
        alone = Lasso(0.2).fit(X, Y[:, t])
        assert_allclose(model.coef_[t], alone.coef_, atol=1e-9)
        assert_allclose(model.intercept_[t], alone.intercept_, atol=1e-9)
    assert model.dual_gap_.shape == model.unique_.shape == (3,)
    assert len(model.n_iter_) == 3
    assert set(model.history_["target"]) == {0, 1, 2}
    assert model.optimality(X, Y) < 1e-9
    pair = Lasso(Budget(0.3)).fit(X, Y)
    assert_allclose(np.abs(pair.coef_).sum(axis=1), 0.3, rtol=1e-12)
    assert pair.alpha_.shape == (3,)


def test_blocks_are_read_once():
    X, y = data(2 * LEAF_ROWS + 77, 6)
    source = Blocks(X, y, LEAF_ROWS)
    reads = []
    spans = source.spans
    source.spans = lambda: reads.append(1) or spans()
    model = Lasso(0.1).fit_blocks(source)
    assert len(reads) - 1 <= 1  # the shape of y is looked at once
    assert_array_equal(model.coef_, Lasso(0.1).fit(X, y).coef_)


def test_wide_blocks():
    X, y = data(40, 90)
    model = Lasso(0.1).fit_blocks(Blocks(X, y, LEAF_ROWS))
    assert_allclose(model.coef_, Lasso(0.1).fit(X, y).coef_, atol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_same_bits_for_any_number_of_threads(kind):
    X, y = data(120, 3000)
    models = []
    for n in (1, 2, 3):
        with limit_threads(n):
            models.append(Lasso(0.1).fit(kind(X), y))
    assert_array_equal(models[0].coef_, models[1].coef_)
    assert_array_equal(models[0].coef_, models[2].coef_)
    assert models[0].n_nonzero_ > 5


def test_permutations_change_nothing(route):
    X, y = data(50, 30)
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(50), rng.permutation(30)
    model = Lasso(0.1).fit(X, y)
    assert_allclose(Lasso(0.1).fit(X[rows], y[rows]).coef_, model.coef_, atol=1e-9)
    assert_allclose(Lasso(0.1).fit(X[:, columns], y).coef_, model.coef_[columns], atol=1e-9)


def test_recovers_the_support():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 1000))
    y = X[:, [3, 500, 999]] @ [3.0, -2.0, 4.0] + 0.1 * rng.normal(size=200)
    model = Lasso(0.1).fit(X, y)
    assert_array_equal(np.flatnonzero(model.coef_), [3, 500, 999])


def test_history_falls_and_ends_at_the_gap():
    X, y = data(100, 2000)
    model = Lasso(0.02, tol=1e-10).fit(X, y)
    assert model.n_iter_ > 1
    assert (np.diff(model.history_["objective"]) <= 1e-12).all()
    assert model.history_["gap"][-1] <= 1e-10
    assert len(model.history_) == model.n_iter_ + 1


def test_a_sparse_matrix_stays_sparse():
    """2000 x 200,000 would take 3.2 GB if it were made dense."""
    rng = np.random.default_rng(5)
    X = sparse.random_array((2000, 200_000), density=2e-3, rng=rng, format="csr")
    y = X[:, [7]].toarray().ravel() * 30 + rng.normal(size=2000)
    model = Lasso(0.005).fit(X, y)
    assert model.coef_[7] != 0
    assert model.n_nonzero_ < 2000
    assert model.dual_gap_ <= 1e-4 * ((y - y.mean()) ** 2).mean()


def test_card_says_the_scales():
    text = str(Lasso(0.1).fit(R, Y).card())
    assert "lambda = 1.6 in RSS + lambda" in text
    assert "Laplace" in text
    assert "duality gap" in text


def test_sparse_coefficients_and_path_are_at_hand():
    X, y = data()
    model = Lasso(0.5).fit(X, y)
    assert_array_equal(model.sparse_coef_.toarray()[0], model.coef_)
    assert len(Lasso.path(X, y)[0]) == 100


def test_elastic_net_with_ratio_one_is_the_lasso():
    X, y = data()
    assert_array_equal(ElasticNet(0.1, l1_ratio=1.0).fit(X, y).coef_, Lasso(0.1).fit(X, y).coef_)

"""Least angle regression and the lasso by its walk: examples, oracles, laws, degenerate input."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
import sklearn.linear_model
from hypothesis import given, settings
from hypothesis import strategies as st
from lars_tables import data, unit
from linear_tables import Blocks, R, Y
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

from pellucid.core.algebra.least_squares import compact_rows, joint_moments
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, unit_weights
from pellucid.core.runtime.threads import map_threads
from pellucid.linear import Lars, LassoLars, LassoLarsIC, LinearRegression, lars_path
from pellucid.linear.lars.least_angle import Rule, walk_path
from pellucid.linear.lars.problem import compact_problems, sums_problems

FIFTEEN = (
    np.array([[1, 2, -2], [0, 0, -1], [0, 0, 0], [2, 2, 1], [1, 2, 1], [-1, -2, 0]], float),
    np.array([-2, 1, -3, 2, 3, -2], float),
)


def lasso_violation(X, y, w, alpha, positive=False):
    """How far w is from the conditions of the lasso."""
    corr = X.T @ (y - X @ w) / len(y)
    active = w != 0
    at = np.abs(corr[active] - alpha * np.sign(w[active])).max(initial=0.0)
    size = corr[~active] if positive else np.abs(corr[~active])
    return max(at, float((size - alpha).max(initial=0.0)), float(-w.min()) if positive else 0.0)


# --- the examples ----------------------------------------------------------------------------


def test_example_13():
    model = Lars().fit(unit(R), Y)
    assert model.active_ == [0, 1, 2]
    assert model.moves_ == [("add", 0), ("add", 1), ("add", 2)]
    knots = [
        [0, 0, 0],
        [0.57241016, 0, 0],
        [4.80633116, 4.233921, 0],
        [3.67810942, 6.22572672, 1.56385686],
    ]
    assert_allclose(model.coef_path_.T, knots, atol=1e-8)
    assert_allclose(8 * model.alphas_, [10.02971775, 9.45730758, 1.56102788, 0], atol=1e-8)


def test_example_14():
    X, y = unit(FIFTEEN[0]), FIFTEEN[1]
    model = Lars().fit(X, y)
    assert model.active_ == [0, 2, 1]
    assert model.n_iter_ == 3
    assert_allclose(model.coef_, [-0.36334207, 3.06004621, 2.87178919], atol=1e-8)
    lasso = LassoLars(alpha=0.0).fit(X, y)
    assert lasso.n_iter_ == 5
    assert lasso.moves_ == [("add", 0), ("add", 2), ("add", 1), ("drop", 0), ("add", 0)]
    assert_allclose(lasso.coef_, model.coef_, atol=1e-12)


def test_example_20_the_end_is_least_squares():
    X, y = data(60, 8, correlation=2.0)
    ols = LinearRegression().fit(X, y)
    for model in (Lars().fit(X, y), LassoLars(0.0).fit(X, y)):
        assert_allclose(model.coef_, ols.coef_, rtol=1e-10)
        assert_allclose(model.intercept_, ols.intercept_, atol=1e-12)


def test_example_20_the_order_on_unit_norm_follows_rescaling():
    X, y = data(60, 8, correlation=1.0)
    scale = np.array([1e-3, 1, 10, 1e4, 7, 0.5, 3, 1e2])
    a, b = Lars().fit(unit(X), y), Lars().fit(unit(X * scale + 5), y)
    assert a.active_ == b.active_
    assert_allclose(a.coef_path_, b.coef_path_, atol=1e-9)


# --- oracles ---------------------------------------------------------------------------------


def test_lar_is_scikit_learns_where_no_coefficient_passes_zero():
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.normal(size=(100, 20)))[0]
    X = Q + 0.01 * rng.normal(size=Q.shape)
    y = X @ rng.uniform(1, 5, 20)
    alphas, active, coefs, n_iter = lars_path(X, y, return_n_iter=True)
    theirs = sklearn.linear_model.lars_path(X, y, return_n_iter=True)
    assert_allclose(alphas, theirs[0], atol=1e-12)
    assert active == [int(j) for j in theirs[1]]
    assert_allclose(coefs, theirs[2], atol=1e-10)
    assert n_iter == theirs[3]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("n", "p", "correlation"), [(60, 5, 0), (200, 40, 1), (40, 80, 0.5), (30, 30, 0), (300, 100, 2)]
)
@pytest.mark.parametrize("positive", [False, True])
def test_lasso_path_is_scikit_learns(n, p, correlation, positive):
    X, y = data(n, p, correlation=correlation)
    alphas, _, coefs = lars_path(X, y, method="lasso", positive=positive)
    theirs, _, others = sklearn.linear_model.lars_path(X, y, method="lasso", positive=positive)
    m = int((theirs > 1e-5).sum())  # later it stops, or loses digits
    assert m >= 2
    assert_allclose(alphas[:m], theirs[:m], atol=1e-10)
    assert_allclose(coefs[:, :m], others[:, :m], atol=1e-8)


@pytest.mark.parametrize(("n", "p"), [(80, 10), (50, 90)])
@pytest.mark.parametrize("fraction", [0.5, 0.1, 0.02])
def test_lasso_is_coordinate_descents(n, p, fraction):
    X, y = data(n, p, correlation=1.0)
    alpha = fraction * np.abs(X.T @ y).max() / n
    model = LassoLars(alpha).fit(X + 3.0, y + 2.0)
    other = sklearn.linear_model.Lasso(alpha, tol=1e-12, max_iter=200_000).fit(X + 3.0, y + 2.0)
    assert_allclose(model.coef_, other.coef_, atol=1e-8)
    assert_allclose(model.intercept_, other.intercept_, atol=1e-7)
    assert_allclose(model.alphas_[-1], alpha, rtol=0)
    whole = LassoLars(0.0).fit(X + 3.0, y + 2.0)
    assert_allclose(whole.coef_at(alpha), model.coef_, atol=1e-10)


def test_estimators_are_scikit_learns():
    X, y = data(100, 6, seed=3)
    X, y = X + 1.0, y - 4.0
    for ours, theirs in [
        (Lars(n_nonzero_coefs=3), sklearn.linear_model.Lars(n_nonzero_coefs=3)),
        (LassoLars(0.05), sklearn.linear_model.LassoLars(0.05)),
        (LassoLars(0.05, fit_path=False), sklearn.linear_model.LassoLars(0.05, fit_path=False)),
        (LassoLars(100.0), sklearn.linear_model.LassoLars(100.0)),
        (
            LassoLars(0.05, fit_intercept=False),
            sklearn.linear_model.LassoLars(0.05, fit_intercept=False),
        ),
    ]:
        a, b = ours.fit(X, y), theirs.fit(X, y)
        assert_allclose(a.coef_, b.coef_.ravel(), atol=1e-10)  # (1, p) without the path
        assert_allclose(a.intercept_, b.intercept_, atol=1e-10)
        assert_allclose(a.alphas_, b.alphas_, atol=1e-10)
        assert a.n_iter_ == max(b.n_iter_, 1)
        if b.fit_path:
            assert a.active_ == list(b.active_)
            assert_allclose(a.coef_path_, b.coef_path_, atol=1e-10)


def test_the_positive_lasso_is_coordinate_descents():
    """scikit-learn's LassoLars(positive=True) is not optimal here: it is off by 0.1."""
    X, y = data(100, 6, seed=3)
    model = LassoLars(0.05, positive=True).fit(X, y)
    other = sklearn.linear_model.Lasso(0.05, positive=True, tol=1e-13).fit(X, y)
    assert_allclose(model.coef_, other.coef_, atol=1e-8)


def test_the_positive_path_ends_in_non_negative_least_squares():
    X, y = data(60, 12, seed=5, correlation=1.0)
    _, _, coefs = lars_path(X, y, method="lasso", positive=True)
    assert_allclose(coefs[:, -1], nnls(X, y)[0], atol=1e-9)


@pytest.mark.parametrize("method", ["lar", "lasso"])
def test_rows_and_cross_products_walk_the_same_path(method):
    X, y = data(300, 40, correlation=1.0)
    rows = Rows(X, y, unit_weights(300))
    total = joint_moments(rows, map_threads)
    small = compact_rows(rows, map_threads, total, 40, intercept=True)
    rule = Rule(method == "lasso", False, 0.0, np.inf, 0.0)
    by_sums = walk_path(sums_problems(total, 40, intercept=True)[0], rule)
    by_gram = walk_path(compact_problems(small)[0], rule)
    by_rows = walk_path(compact_problems(small._replace(condition=np.inf))[0], rule)
    assert len(compact_problems(small)[0].A) == 0
    for other in (by_gram, by_rows):
        assert other.moves == by_sums.moves
        assert_allclose(other.alphas, by_sums.alphas, atol=1e-12)
        assert_allclose(other.coefs, by_sums.coefs, atol=1e-11)
        assert_allclose(other.history["objective"], by_sums.history["objective"], rtol=1e-9)


# --- laws ------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 30),
    p=st.integers(1, 30),
    seed=st.integers(0, 10**6),
    correlation=st.sampled_from([0.0, 1.0, 5.0]),
    positive=st.booleans(),
)
def test_every_knot_is_a_lasso_solution(n, p, seed, correlation, positive):
    X, y = data(n, p, seed=seed, correlation=correlation)
    alphas, active, coefs = lars_path(X, y, method="lasso", positive=positive, max_iter=2000)
    scale = max(np.abs(X.T @ y).max() / n, 1e-300)
    for alpha, w in zip(alphas, coefs.T, strict=True):
        assert lasso_violation(X, y, w, alpha, positive) <= 1e-9 * scale
    middle = (alphas[1:] + alphas[:-1]) / 2
    for m, alpha in enumerate(middle):  # and so is every point between
        w = (coefs[:, m] + coefs[:, m + 1]) / 2
        assert lasso_violation(X, y, w, alpha, positive) <= 1e-9 * scale
    assert (np.diff(alphas) <= 0).all()
    assert alphas[-1] == 0
    assert set(np.flatnonzero(coefs[:, -1])) <= set(active)


@pytest.mark.parametrize(("n", "p", "correlation"), [(60, 20, 2.0), (25, 60, 1.0), (300, 120, 0.5)])
def test_at_each_knot_the_active_columns_are_equally_correlated(n, p, correlation):
    X, y = data(n, p, correlation=correlation)
    alphas, active, coefs = lars_path(X, y)
    corr = np.abs(X.T @ (y[:, None] - X @ coefs)) / n  # (p, knots)
    for m in range(len(alphas)):
        assert_allclose(corr[active[: m + 1], m], alphas[m], atol=1e-10 * alphas[0])
        assert corr[:, m].max() <= alphas[m] + 1e-10 * alphas[0]
    assert len(alphas) == min(n - 1, p) + 1
    assert alphas[-1] == 0


def test_weights_are_repetitions():
    X, y = data(50, 6)
    w = np.random.default_rng(2).integers(0, 4, 50)
    for cls in (Lars, LassoLars):
        params = {"alpha": 0.05} if cls is LassoLars else {}
        a = cls(**params).fit(X, y, sample_weight=w)
        b = cls(**params).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        assert_allclose(a.alphas_, b.alphas_, rtol=1e-10)
        assert_allclose(a.coef_path_, b.coef_path_, atol=1e-10)
        assert a.n_observations_ == w.sum()


def test_rows_may_come_in_any_order_or_in_blocks():
    X, y = data(LEAF_ROWS + 100, 5)
    a = Lars().fit(X, y)
    order = np.random.default_rng(0).permutation(len(y))
    assert_allclose(Lars().fit(X[order], y[order]).coef_path_, a.coef_path_, atol=1e-11)
    b = Lars().fit_blocks(Blocks(X, y, LEAF_ROWS))
    assert_allclose(b.coef_path_, a.coef_path_, atol=1e-12)
    c = LassoLarsIC("bic").fit_blocks(Blocks(X, y, LEAF_ROWS))
    assert_allclose(c.criterion_, LassoLarsIC("bic").fit(X, y).criterion_, rtol=1e-10)


def test_several_targets_are_walked_one_by_one():
    X, y = data(60, 6)
    T = np.column_stack([y, X[:, 2] - 2 * X[:, 5]])
    model, other = LassoLars(0.05).fit(X, T), sklearn.linear_model.LassoLars(0.05).fit(X, T)
    assert model.coef_.shape == (2, 6)
    assert model.intercept_.shape == (2,)
    for t in range(2):
        single = LassoLars(0.05).fit(X, T[:, t])
        assert_array_equal(model.coef_[t], single.coef_)
        assert_array_equal(model.coef_path_[t], single.coef_path_)
        assert model.active_[t] == single.active_
        assert model.moves_[t] == single.moves_
        assert model.n_iter_[t] == other.n_iter_[t]
        assert_allclose(model.alphas_[t], other.alphas_[t], atol=1e-10)
    assert_allclose(model.predict(X), other.predict(X), atol=1e-9)
    assert model.coef_at(0.1).shape == (2, 6)
    assert set(model.history_["target"]) == {0, 1}
    assert Lars().fit(X, y[:, None]).coef_.shape == (6,)


def test_the_objective_falls():
    X, y = data(80, 12, correlation=1.0)
    for model in (Lars(), LassoLars(0.0)):
        objective = model.fit(X, y).history_["objective"]
        assert (np.diff(objective) <= 1e-12).all()
        assert len(objective) == model.n_iter_ + 1
        assert_allclose(objective[-1], ((y - model.predict(X)) ** 2).mean() / 2, rtol=1e-9)


def test_recovers_a_sparse_truth():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1000))
    truth = {10: 5.0, 500: -4.0, 900: 3.0}
    y = sum(w * X[:, j] for j, w in truth.items()) + 0.1 * rng.normal(size=100)
    assert set(Lars(n_nonzero_coefs=3).fit(X, y).active_) == set(truth)
    model = LassoLars(0.05).fit(X, y)
    assert_allclose([model.coef_[j] for j in truth], list(truth.values()), atol=0.15)


def test_ill_conditioned_columns_keep_their_digits():
    """Powers of x: the condition of the unit-norm columns is about 1e6."""
    x = np.linspace(0, 1, 200)
    X = np.column_stack([x**k for k in range(1, 9)])
    y = np.cos(3 * x)
    ols = LinearRegression(solver="qr").fit(X, y)
    model = Lars().fit(X, y)
    assert_allclose(model.coef_, ols.coef_, rtol=1e-7)
    assert model.skipped_ == []


# --- ties, twins, degenerate tables ----------------------------------------------------------


@pytest.mark.parametrize("method", ["lar", "lasso"])
def test_ties_enter_by_the_lowest_column(method):
    X = np.eye(4)
    alphas, active, coefs = lars_path(X, [2.0, -2.0, 2.0, 1.0], method=method)
    assert active == [0, 1, 2, 3]
    assert_allclose(alphas, [0.5, 0.5, 0.5, 0.25, 0], atol=1e-15)
    assert_allclose(coefs[:, -1], [2, -2, 2, 1], atol=1e-14)


@pytest.mark.parametrize("method", ["lar", "lasso"])
@pytest.mark.parametrize("n", [60, 5])
def test_twins_are_skipped_with_a_note(method, n):
    X, y = data(n, 3)
    X = np.column_stack([X[:, 0], X[:, 0], X[:, 1], -2 * X[:, 1], X[:, 2]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = (Lars() if method == "lar" else LassoLars(0.0)).fit(X, y)
    single = (Lars() if method == "lar" else LassoLars(0.0)).fit(X[:, [0, 3, 4]], y)
    assert 1 not in model.active_
    assert 2 not in model.active_
    assert_allclose(model.coef_[[0, 3, 4]], single.coef_, atol=1e-10)
    assert_allclose(model.coef_path_[[0, 3, 4]], single.coef_path_, atol=1e-10)
    if n > 5:
        assert model.skipped_ == [1, 2]
        assert "combinations of active columns: x1, x2" in str(model.card())


def test_a_single_twin_is_noted():
    X, y = data(60, 4)
    assert Lars().fit(np.column_stack([X, X[:, 2]]), y).skipped_ == [4]
    assert Lars().fit(np.column_stack([X[:, 2], X]), y).skipped_ == [3]
    assert Lars().fit(data(10, 10)[0], data(10, 10)[1]).skipped_ == []


def test_a_combination_may_enter_once_its_parts_have_left():
    rng = np.random.default_rng(0)
    for seed in range(20):
        X, y = data(40, 4, seed=seed)
        X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]])
        y = X @ rng.normal(size=6) + rng.normal(size=40)
        y -= y.mean()
        alphas, _, coefs = lars_path(X, y, method="lasso")
        for alpha, w in zip(alphas, coefs.T, strict=True):
            assert lasso_violation(X, y, w, alpha) <= 1e-9 * alphas[0]
        assert_allclose(X @ coefs[:, -1], X @ np.linalg.lstsq(X, y)[0], atol=1e-8)


def test_more_columns_than_rows_interpolates():
    X, y = data(20, 50)
    model = Lars().fit(X, y)
    assert model.n_iter_ == 19
    assert len(model.active_) == 19
    assert_allclose(model.predict(X), y, atol=1e-9)
    assert model.skipped_ == []
    assert Lars(n_nonzero_coefs=np.inf).fit(X, y).n_iter_ == 19


def test_an_exact_fit_takes_in_no_noise():
    rng = np.random.default_rng(0)
    for n, p in [(100, 20), (500, 100), (40, 100)]:
        X = rng.normal(size=(n, p))
        y = 3 * X[:, 0] - 2 * X[:, 1] + 1e3
        for model in (Lars(), LassoLars(0.0)):
            model.fit(X, y)
            assert_allclose(model.predict(X), y, rtol=1e-12)
            assert np.abs(np.delete(model.coef_, [0, 1])).max() < 1e-10


def test_constant_columns_and_constant_targets():
    X, y = data(30, 3)
    X = np.column_stack([np.full(30, 7.0), X])
    model = Lars().fit(X, y)
    assert model.coef_[0] == 0
    assert "constant columns have coefficient 0: x0" in str(model.card())
    for cls in (Lars, LassoLars):
        still = cls().fit(X, np.full(30, 2.5))
        assert_array_equal(still.coef_, 0)
        assert still.intercept_ == 2.5
        assert_allclose(still.alphas_[-1], 1.0 if cls is LassoLars else 0.0)
    one = Lars().fit([[1.0, 2.0]], [3.0])
    assert_array_equal(one.predict([[5.0, 5.0]]), [3.0])


def test_a_path_cut_short():
    X, y = data(80, 10)
    whole, late = LassoLars(0.0).fit(X, y), "no end of the path in max_iter=4 steps: it stops at"
    with pytest.warns(ConvergenceWarning, match=late):
        cut = LassoLars(0.0, max_iter=4).fit(X, y)
    theirs = sklearn.linear_model.LassoLars(0.0, max_iter=4).fit(X, y)
    assert_allclose(cut.coef_path_, theirs.coef_path_, atol=1e-10)
    assert cut.n_iter_ == 4
    assert_allclose(cut.coef_path_, whole.coef_path_[:, :5], atol=1e-13)
    assert "max_iter ended the path" in str(cut.card())
    enough = LassoLars(whole.alphas_[4], max_iter=4).fit(X, y)  # it ends where it should
    assert "max_iter" not in str(enough.card())
    with pytest.warns(ConvergenceWarning):
        nothing = LassoLars(0.0, max_iter=0).fit(X, y)
    assert_array_equal(nothing.coef_, 0)
    last = LassoLars(0.01, fit_path=False).fit(X, y)
    assert_allclose(last.coef_, LassoLars(0.01).fit(X, y).coef_, rtol=0)
    assert not hasattr(last, "coef_path_")
    with pytest.raises(ValueError, match="fit_path=True"):
        last.coef_at(0.1)


def test_coefficients_between_knots():
    X, y = data(80, 10)
    model = LassoLars(0.05).fit(X, y)
    assert_array_equal(model.coef_at(1e6), 0)
    for m, alpha in enumerate(model.alphas_):
        assert_allclose(model.coef_at(alpha), model.coef_path_[:, m], atol=1e-13)
    with pytest.raises(ValueError, match=r"ends at alpha = 0\.05"):
        model.coef_at(0.01)


def test_jitter_is_seeded():
    X, y = data(40, 4)
    a = Lars(jitter=0.1, random_state=0).fit(X, y)
    b = Lars(jitter=0.1, random_state=0).fit(X, y)
    assert_array_equal(a.coef_, b.coef_)
    assert not np.allclose(a.coef_, Lars().fit(X, y).coef_, rtol=1e-6)
    assert_array_equal(Lars(jitter=0.0).fit(X, y).coef_, Lars().fit(X, y).coef_)
    with pytest.raises(ValueError, match="jitter needs the rows in memory"):
        Lars(jitter=0.1).fit_blocks(Blocks(X, y, LEAF_ROWS))


# --- lars_path's arguments -------------------------------------------------------------------


def test_gram_of_the_user():
    X, y = data(60, 8, correlation=1.0)
    plain = lars_path(X, y, method="lasso")
    for Gram in ("auto", True, False, X.T @ X):
        for Xy in (None, X.T @ y):
            found = lars_path(X, y, Xy, Gram=Gram, method="lasso")
            assert found[1] == plain[1]
            assert_allclose(found[2], plain[2], atol=1e-11)
    alpha, active, coef, n_iter = lars_path(
        X, y, method="lasso", alpha_min=0.1, return_path=False, return_n_iter=True, eps=None
    )
    theirs = sklearn.linear_model.lars_path(
        X, y, method="lasso", alpha_min=0.1, return_path=False, return_n_iter=True
    )
    assert_allclose(alpha, theirs[0], rtol=1e-12)
    assert active == list(theirs[1])
    assert_allclose(coef, theirs[2], atol=1e-12)
    assert n_iter == theirs[3]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"method": "lassoo"}, "did you mean 'lasso'"),
        ({"positive": True}, "needs method='lasso'"),
        ({"max_iter": -1}, "max_iter must be a whole number >= 0, got -1"),
        ({"alpha_min": -0.5}, "alpha_min must be >= 0, got -0.5"),
        ({"Gram": np.eye(2)}, r"Gram and Xy must have shapes \(3, 3\)"),
        ({"Gram": "yes"}, "Gram must be None, 'auto', True, False or an array, got 'yes'"),
    ],
)
def test_bad_arguments_are_refused(params, message):
    X, y = data(10, 3)
    with pytest.raises(ValueError, match=message):
        lars_path(X, y, **params)
    with pytest.raises(ValueError, match="needs X, got None"):
        lars_path(None, y)


# --- LassoLarsIC -----------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["aic", "bic"])
@pytest.mark.parametrize(
    "params", [{}, {"positive": True, "max_iter": 8}, {"fit_intercept": False}, {"max_iter": 3}]
)
def test_criteria_are_scikit_learns(criterion, params):
    X, y = data(100, 12, seed=4)
    X, y = X + 2.0, y + 1.0
    early = params.get("max_iter") == 3  # the criterion still falls there
    with pytest.warns(ConvergenceWarning) if early else nullcontext():
        ours = LassoLarsIC(criterion, **params).fit(X, y)
    assert ("max_iter ended the path" in str(ours.card())) == ("max_iter" in params)
    theirs = sklearn.linear_model.LassoLarsIC(criterion, **params).fit(X, y)
    assert_allclose(ours.alphas_, theirs.alphas_, atol=1e-9)
    assert_allclose(ours.criterion_, theirs.criterion_, rtol=1e-9)
    assert_allclose(ours.alpha_, theirs.alpha_, atol=1e-9)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-9)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-9)
    assert ours.n_iter_ == theirs.n_iter_
    assert_allclose(ours.coef_at(ours.alpha_), ours.coef_, atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
def test_cp_and_gcv_by_their_formulas(intercept):
    X, y = data(60, 8)
    cp = LassoLarsIC("cp", fit_intercept=intercept).fit(X, y)
    gcv = LassoLarsIC("gcv", fit_intercept=intercept).fit(X, y)
    for m in range(len(cp.alphas_)):
        w = cp.coef_path_[:, m]
        rss = ((y - X @ w) ** 2).sum()
        df = np.count_nonzero(w) + intercept
        assert_allclose(cp.criterion_[m], rss / cp.noise_variance_ - 60 + 2 * df, rtol=1e-9)
        assert_allclose(gcv.criterion_[m], (rss / 60) / (1 - df / 60) ** 2, rtol=1e-9)
    assert cp.alpha_ == cp.alphas_[np.argmin(cp.criterion_)]
    assert_allclose(cp.criterion_[-1], 8 + intercept, rtol=1e-9)  # Cp of the full model is its df


def test_wide_tables_need_a_noise_variance():
    X, y = data(100, 150)
    with pytest.warns(UserWarning, match="give noise_variance") as caught:
        model = LassoLarsIC("bic").fit(X, y)
    assert len(caught) == 1
    assert 0.5 < model.noise_variance_ < 2.0  # the truth is 1
    assert set(range(3)) <= set(np.flatnonzero(model.coef_)) <= set(model.active_)
    assert len(np.flatnonzero(model.coef_)) < 15
    X, y = data(20, 40)
    theirs = sklearn.linear_model.LassoLarsIC("bic", noise_variance=1.0, max_iter=15).fit(X, y)
    ours = LassoLarsIC("bic", noise_variance=1.0, max_iter=15).fit(X, y)
    assert_allclose(ours.criterion_, theirs.criterion_, rtol=1e-9)
    gcv = LassoLarsIC("gcv").fit(X, y)
    assert gcv.noise_variance_ is None
    assert np.isfinite(gcv.criterion_[gcv.alphas_ == gcv.alpha_]).all()


def test_an_exact_fit_warns_and_chooses_it():
    X, _ = data(30, 4)
    y = X[:, 0] - X[:, 1]
    with pytest.warns(UserWarning, match="least squares fits y exactly"):
        model = LassoLarsIC("bic").fit(X, y)
    assert_allclose(model.coef_, [1, -1, 0, 0], atol=1e-8)
    assert np.isfinite(model.criterion_).all()


def test_bic_finds_the_true_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 15))
    y = X[:, :3] @ [2.0, -1.0, 0.5] + rng.normal(size=2000)
    model = LassoLarsIC("bic").fit(X, y)
    assert set(np.flatnonzero(model.coef_)) == {0, 1, 2}
    weighted = LassoLarsIC("bic").fit(X, y, sample_weight=np.full(2000, 2.0))
    twice = LassoLarsIC("bic").fit(np.vstack([X, X]), np.append(y, y))
    assert_allclose(weighted.criterion_, twice.criterion_, rtol=1e-10)

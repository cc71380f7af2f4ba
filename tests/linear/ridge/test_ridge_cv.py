"""RidgeCV and ridge_path: the examples, n refits, scikit-learn, laws."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model
from hypothesis import given, settings
from hypothesis import strategies as st
from linear_tables import Blocks, data
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    cross_validate,
)

from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.threads import limit_threads
from pellucid.linear import LinearRegression, Ridge, RidgeClassifierCV, RidgeCV, ridge_path
from pellucid.linear.ridge.folds import without

ALPHAS = np.logspace(-3, 3, 13)
SHAPES = [(40, 4), (8, 20), (12, 12)]


def refits(X, y, alpha, w=None, **options):
    """Leave-one-out errors the long way: n fits."""
    errors = []
    for i in range(len(X)):
        kept = np.ones(len(X)) if w is None else w.astype(float)
        kept = kept.copy()
        kept[i] -= 1
        live = kept > 0
        model = Ridge(alpha, **options).fit(X[live], y[live], sample_weight=kept[live])
        errors.append(y[i] - model.predict(X[[i]])[0])
    return np.array(errors)


# --- the examples ----------------------------------------------------------------------------


def test_example_9_path_of_the_exponential():
    x = np.linspace(1, 5, 15)
    path = ridge_path(x[:, None], np.exp(x), alphas=[0, 0.1, 1], shrink_intercept=True)
    assert_allclose(path.intercepts, [-53.1784790, -50.4611440, -34.1458711], atol=1e-6)
    assert_allclose(path.coefs, [[30.8142043, 30.0205618, 25.2287987]], atol=1e-6)
    assert_allclose(path.loocv, [579.4274005, 574.7496513, 620.2651754], atol=1e-6)
    assert_allclose(path.gcv, [511.6766041, 509.3329291, 552.7158482], atol=1e-6)
    assert_allclose(path.df, [2, 1.9519490, 1.6615980], atol=1e-7)
    assert path.loocv.argmin() == path.gcv.argmin() == 1


# --- oracles ---------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("intercept", [True, False])
def test_leave_one_out_is_n_refits(n, p, intercept, k):
    X, y = data(n, p, k)
    model = RidgeCV(ALPHAS, fit_intercept=intercept, store_cv_results=True).fit(X, y)
    plain = RidgeCV(ALPHAS, fit_intercept=intercept).fit(X, y)
    for j in (0, 6, 12):
        errors = refits(X, y, ALPHAS[j], fit_intercept=intercept)
        assert_allclose(model.cv_results_[..., j], errors**2, rtol=1e-6, atol=1e-12)
        assert_allclose(plain.criterion_[j], (errors**2).mean(), rtol=1e-8)
        rows = (errors**2).reshape(n, -1).mean(axis=1)
        assert_allclose(plain.criterion_se_[j], rows.std() / np.sqrt(n - 1), rtol=1e-7)
    assert_allclose(model.criterion_, plain.criterion_, rtol=1e-9)
    assert model.alpha_ == plain.alpha_ == ALPHAS[plain.criterion_.argmin()]


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_one_copy_of_a_weighted_row_is_left_out(n, p):
    X, y = data(n, p)
    w = np.random.default_rng(0).integers(0, 4, size=n)
    w[:2] = [0, 2]
    model = RidgeCV(ALPHAS).fit(X, y, sample_weight=w)
    again = RidgeCV(ALPHAS).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(model.criterion_, again.criterion_, rtol=1e-8)
    assert_allclose(model.criterion_se_, again.criterion_se_, rtol=1e-7)
    assert_allclose(model.coef_, again.coef_, rtol=1e-8)
    live = w > 0
    errors = refits(X[live], y[live], ALPHAS[4], w[live])
    assert_allclose(model.criterion_[4], np.average(errors**2, weights=w[live]), rtol=1e-7)
    kept = RidgeCV(ALPHAS, store_cv_results=True).fit(X, y, sample_weight=w)
    assert_allclose(kept.cv_results_[live, 4], errors**2, rtol=1e-6)
    outside = y[~live] - Ridge(ALPHAS[4]).fit(X[live], y[live], w[live]).predict(X[~live])
    assert_allclose(kept.cv_results_[~live, 4], outside**2, rtol=1e-6)


def test_a_row_of_small_weight_is_left_out_whole():
    X, y = data(30, 3)
    w = np.full(30, 0.4)
    model = RidgeCV([0.1]).fit(X, y, sample_weight=w)
    errors = [
        y[i] - Ridge(0.1).fit(np.delete(X, i, 0), np.delete(y, i), np.delete(w, i)).predict(X[[i]])
        for i in range(30)
    ]
    assert_allclose(model.criterion_, np.mean(np.square(errors)), rtol=1e-8)


@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
def test_gcv_is_its_definition(n, p, weighted):
    X, y = data(n, p)
    w = np.random.default_rng(1).integers(1, 4, size=n) if weighted else None
    model = RidgeCV(ALPHAS, cv="gcv").fit(X, y, sample_weight=w)
    expected = [Ridge(a).fit(X, y, w).gcv(X, y, w) for a in ALPHAS]
    assert_allclose(model.criterion_, expected, rtol=1e-8)
    assert (model.criterion_se_ > 0).all()


@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error", "r2"])
@pytest.mark.parametrize("cv", [None, 3, KFold(4, shuffle=True, random_state=0)])
@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_same_as_scikit_learn(n, p, k, cv, scoring):
    X, y = data(n, p, k)
    for intercept in (True, False):
        options = {"alphas": ALPHAS, "fit_intercept": intercept, "cv": cv, "scoring": scoring}
        if cv is None:
            options |= {"store_cv_results": True, "alpha_per_target": k is not None}
        ours, theirs = (
            RidgeCV(**options).fit(X, y),
            sklearn.linear_model.RidgeCV(**options).fit(X, y),
        )
        assert_allclose(ours.alpha_, theirs.alpha_)
        assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-7)
        assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-9)
        assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-6, atol=1e-8)
        if cv is None:
            assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("splitter", [ShuffleSplit(3, test_size=0.3, random_state=0), "masks"])
def test_folds_are_fits(splitter):
    """Any splitter; folds that do not use all rows are summed afresh."""
    X, y = data(60, 4)
    if splitter == "masks":
        half = np.arange(60) % 2 == 0
        splitter = [(half, ~half), (~half, half)]
    w = np.random.default_rng(2).uniform(0.5, 2, size=60)
    model = RidgeCV(ALPHAS, cv=splitter, scoring="neg_mean_squared_error").fit(X, y, w)
    folds = splitter if isinstance(splitter, list) else list(splitter.split(X))
    for j in (0, 8):
        losses = []
        for train, test in folds:
            r = y[test] - Ridge(ALPHAS[j]).fit(X[train], y[train], w[train]).predict(X[test])
            losses.append(np.average(r**2, weights=w[test]))
        assert_allclose(model.criterion_[j], np.mean(losses), rtol=1e-8)
        assert_allclose(model.criterion_se_[j], np.std(losses, ddof=1) / np.sqrt(len(losses)))


def test_a_scorer_sees_a_fitted_ridge():
    X, y = data(30, 3)
    seen = []

    def scorer(model, X, y):
        seen.append(model)
        return -mean_absolute_error(y, model.predict(X))

    model = RidgeCV([0.1, 1.0], cv=3, scoring=scorer).fit(X, y)
    assert len(seen) == 6
    assert isinstance(seen[0], Ridge)
    expected = RidgeCV([0.1, 1.0], cv=3, scoring=make_scorer(
        mean_absolute_error, greater_is_better=False)).fit(X, y)  # fmt: skip
    assert_allclose(model.criterion_, expected.criterion_)


def test_moments_without_a_fold():
    from pellucid.core.loops.statistics import moments

    g = np.random.default_rng(0)
    Z, w = g.normal(size=(50, 3)) + 5, g.uniform(0, 2, size=50)
    rest, fold = moments(Z[10:], w[10:]), moments(Z[:10], w[:10])
    found = without(moments(Z, w), fold)
    for a, b in zip(found, rest, strict=True):
        assert_allclose(a, b, rtol=1e-12)
    Z[10:, 1] = 2.0  # constant outside the fold: a difference would leave rounding error
    assert without(moments(Z, w), moments(Z[:10], w[:10])) is None
    model = RidgeCV([1e-3], cv=[(np.arange(10, 50), np.arange(10))]).fit(Z, Z[:, 0])
    assert np.isfinite(model.criterion_).all()


# --- laws ------------------------------------------------------------------------------------


@given(st.integers(6, 40), st.integers(1, 15), st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_one_standard_error_is_the_more_regularised_side(n, p, seed):
    g = np.random.default_rng(seed)
    X = g.normal(size=(n, p))
    y = X @ g.normal(size=p) + g.normal(size=n)
    for cv in (None, "gcv", 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options = {"alphas": np.logspace(-3, 4, 25), "cv": cv}
            best = RidgeCV(**options).fit(X, y)
            simple = RidgeCV(**options, rule="one_standard_error").fit(X, y)
        assert simple.alpha_ >= best.alpha_
        limit = best.criterion_.min() + best.criterion_se_[best.criterion_.argmin()]
        within = best.alphas_[best.criterion_ <= limit]
        assert simple.alpha_ == within.max()


def test_is_ridge_at_the_chosen_alpha():
    X, y = data(60, 4)
    model, plain = RidgeCV(ALPHAS).fit(X, y), None
    plain = Ridge(model.alpha_).fit(X, y)
    assert_array_equal(model.coef_, plain.coef_)
    for name in ("df_", "rss_", "sigma2_", "budget_"):
        assert_allclose(getattr(model, name), getattr(plain, name), rtol=1e-10)
    assert_allclose(model.leverage(X), plain.leverage(X), rtol=1e-8)
    assert_allclose(model.loocv(X, y), model.criterion_.min(), rtol=1e-8)
    assert_allclose(model.summary().posterior_sd, plain.summary().posterior_sd, rtol=1e-8)
    assert "leave-one-out over 13 values" in str(model.card())


def test_card_warns_at_the_edge_of_the_grid():
    X, y = data(60, 4)
    assert "try further" in str(RidgeCV([1e3, 1e4]).fit(X, y).card())


@pytest.mark.parametrize("cv", [None, "gcv"])
def test_blocks_and_threads_give_the_same_bits(cv):
    X, y = data(2 * LEAF_ROWS + 100)
    model = RidgeCV(ALPHAS, cv=cv).fit(X, y)
    for block_rows in (4096, 10**6):
        parts = RidgeCV(ALPHAS, cv=cv).fit_blocks(Blocks(X, y, block_rows))
        assert_array_equal(parts.criterion_, model.criterion_)
        assert_array_equal(parts.coef_, model.coef_)
    with limit_threads(1):
        assert_array_equal(RidgeCV(ALPHAS, cv=cv).fit(X, y).criterion_, model.criterion_)


def test_blocks_refuse_what_needs_all_rows():
    X, y = data(100)
    for options in ({"cv": 3}, {"scoring": "r2"}, {"store_cv_results": True}):
        with pytest.raises(ValueError, match="fit_blocks"):
            RidgeCV(**options).fit_blocks(Blocks(X, y, 4096))


@pytest.mark.parametrize(("n", "p"), [(200, 5), (5, 12)])
def test_sparse_equals_dense(n, p):
    X, y = data(n, p)
    X = X * (np.random.default_rng(0).random(X.shape) < 0.5)
    for cv in (None, 2):
        a, b = RidgeCV(ALPHAS, cv=cv).fit(sparse.csr_matrix(X), y), RidgeCV(ALPHAS, cv=cv).fit(X, y)
        assert_allclose(a.criterion_, b.criterion_, rtol=1e-9)
        assert_allclose(a.coef_, b.coef_, rtol=1e-9, atol=1e-12)


def exact_loocv(X, y, alpha):
    """From the dual system [[XX' + alpha I, 1], [1', 0]], in rational numbers."""
    from fractions import Fraction

    n = len(y)
    F = [[Fraction(v) for v in row] for row in X.tolist()]
    K = [[sum(a * b for a, b in zip(u, v, strict=True)) for v in F] for u in F]
    A = [[K[i][j] + (Fraction(alpha) if i == j else 0) for j in range(n)] + [Fraction(1)]
         for i in range(n)] + [[Fraction(1)] * n + [Fraction(0)]]  # fmt: skip
    m = n + 1
    M = [A[i] + [Fraction(int(i == j)) for j in range(m)] for i in range(m)]
    for i in range(m):
        pivot = next(r for r in range(i, m) if M[r][i] != 0)
        M[i], M[pivot] = M[pivot], M[i]
        M[i] = [v / M[i][i] for v in M[i]]
        for r in range(m):
            if r != i and M[r][i] != 0:
                M[r] = [a - M[r][i] * b for a, b in zip(M[r], M[i], strict=True)]
    inverse = [row[m:] for row in M]
    t = [Fraction(v) for v in y.tolist()]
    errors = [sum(inverse[i][j] * t[j] for j in range(n)) / inverse[i][i] for i in range(n)]
    return float(sum(e * e for e in errors) / n)


@pytest.mark.parametrize("mode", [None, "auto", "svd", "eigen"])
def test_units_and_near_dependence_cost_no_digits(mode):
    """Columns of very different size, and nearly dependent ones: the rows are factored."""
    g = np.random.default_rng(0)
    for n, p in ((9, 5), (5, 7)):
        X = g.normal(size=(n, p)) * 10.0 ** np.linspace(-4, 4, p)
        X[:, 1] = X[:, 0] + 1e-7 * g.normal(size=n)
        y = g.normal(size=n)
        model = RidgeCV([1e-8, 1e-2], gcv_mode=mode).fit(X, y)
        for j, alpha in enumerate((1e-8, 1e-2)):
            assert_allclose(model.criterion_[j], exact_loocv(X, y, alpha), rtol=1e-5)


def test_default_grid_covers_the_singular_values():
    X, y = data(50, 4)
    model = RidgeCV(None).fit(X, y)
    assert len(model.alphas_) == 100
    assert model.alphas_[0] < model.singular_[-1] ** 2 < model.singular_[0] ** 2 < model.alphas_[-1]
    assert (np.diff(model.alphas_) > 0).all()
    wide = RidgeCV(None).fit(*data(6, 10))
    assert np.isfinite(wide.criterion_).all()
    flat = RidgeCV(None).fit(np.ones((5, 2)), np.arange(5.0))
    assert_allclose(flat.coef_, 0)


def test_zero_is_least_squares_where_it_can_be():
    X, y = data(50, 4)
    model = RidgeCV([0.0, 1e6]).fit(X, y)
    plain = LinearRegression().fit(X, y)
    assert model.alpha_ == 0
    assert_allclose(model.coef_, plain.coef_, rtol=1e-10)
    assert_allclose(model.criterion_[0], plain.loocv(X, y), rtol=1e-9)
    with pytest.raises(ValueError, match="0 has an answer only"):
        RidgeCV([0.0, 1.0]).fit(np.column_stack([X, X[:, 0]]), y)
    with pytest.raises(ValueError, match="0 has an answer only"):
        RidgeCV([0.0, 1.0]).fit(*data(5, 9))


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"shrink_intercept": True}])
@pytest.mark.parametrize(("n", "p", "k"), [(40, 4, None), (40, 4, 2), (6, 9, None), (6, 9, 2)])
def test_path_is_many_fits(n, p, k, options):
    X, y = data(n, p, k)
    alphas = [10.0, 0.1, 1.0]  # in the order given
    path = ridge_path(X, y, alphas=alphas, **options)
    assert_array_equal(path.alphas, alphas)
    for j, alpha in enumerate(alphas):
        model = Ridge(alpha, **options).fit(X, y)
        coef = path.coefs[..., j]
        assert_allclose(coef, model.coef_, rtol=1e-8, atol=1e-12)
        assert_allclose(path.intercepts[..., j], model.intercept_, rtol=1e-7, atol=1e-10)
        assert_allclose(path.df[j], model.df_, rtol=1e-9)
        assert_allclose(path.budget[..., j], model.budget_, rtol=1e-8)
        assert_allclose(path.rss[..., j], model.rss_, rtol=1e-7)
        assert_allclose(path.loocv[..., j], model.loocv(X, y), rtol=1e-7)
        assert_allclose(path.gcv[..., j], model.gcv(X, y), rtol=1e-7)


def test_example_20_along_the_path_the_penalty_falls_and_rss_rises():
    path = ridge_path(*data(50, 5))
    assert (np.diff(path.budget) < 0).all()
    assert (np.diff(path.rss) > 0).all()
    assert (np.diff(path.df) < 0).all()
    assert path.coefs.shape == (5, 100)


# --- the shell -------------------------------------------------------------------------------


def test_bad_input_is_one_sentence():
    X, y = data(30, 3)
    cases = [
        ({"alphas": [1.0, -1.0]}, r"alphas\[1\] == -1.0, must be > 0.0 and finite"),
        ({"alphas": []}, "alphas must be numbers"),
        ({"alphas": "many"}, "alphas must be numbers"),
        ({"cv": "loo"}, "cv must be one of"),
        ({"cv": 3, "store_cv_results": True}, "use cv=None"),
        ({"cv": 3, "alpha_per_target": True}, "use cv=None"),
        ({"cv": LeaveOneOut()}, "R\\^2 is undefined"),
        ({"gcv_mode": "qr"}, "gcv_mode must be one of"),
        ({"rule": "worst"}, "rule must be one of"),
        ({"rule": "one_standard_error", "scoring": "r2"}, "no standard error"),
        ({"cv": [(np.arange(30), np.arange(0))]}, "fold 0"),
    ]
    for params, message in cases:
        with pytest.raises(ValueError, match=message):
            RidgeCV(**params).fit(X, y)
    with pytest.raises(TypeError, match=r"alphas\[1\] must be an instance of float, not str: '2'"):
        RidgeCV(alphas=[1.0, "2"]).fit(X, y)
    with pytest.raises(ValueError, match="n_samples=1"):
        RidgeCV().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="needs fit_intercept"):
        ridge_path(X, y, fit_intercept=False, shrink_intercept=True)


@pytest.mark.parametrize("model", [RidgeCV, RidgeClassifierCV])
def test_groups_are_routed(model):
    """As with scikit-learn's: only with routing on, and the folds are those of the groups."""
    X, _ = data(40, 4)
    y = np.arange(40) % 2
    groups = np.arange(40) % 7
    with pytest.raises(ValueError, match="groups"):
        model(cv=GroupKFold(3)).fit(X, y, groups=groups)
    with sklearn.config_context(enable_metadata_routing=True):
        found = model(cv=GroupKFold(3)).fit(X, y, groups=groups)
        with pytest.raises(TypeError, match="colour"):
            model(cv=GroupKFold(3)).fit(X, y, groups=groups, colour=groups)
        inside = cross_validate(
            model(cv=GroupKFold(2)), X, y, params={"groups": groups}, cv=GroupKFold(3)
        )
    splits = list(GroupKFold(3).split(X, y, groups))
    assert_array_equal(found.criterion_, model(cv=splits).fit(X, y).criterion_)
    assert np.isfinite(inside["test_score"]).all()

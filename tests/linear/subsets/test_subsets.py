"""Best subset regression: examples, exhaustive enumeration, bounds, degenerate data."""

import itertools

import numpy as np
import pytest
from linear_tables import Blocks, R, Y
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.linear import BestSubsetRegression, LinearRegression
from pellucid.linear.subsets import kernels
from pellucid.linear.subsets.subsets import search
from pellucid.linear.sum_folds import folds

TABLE = {  # example 11: RSS, AIC
    (): (111.5, 23.076664), (0,): (10.904762, 6.478064), (1,): (12.448845, 7.537490),
    (2,): (75.418182, 21.948855), (0, 1): (4.430712, 1.272949), (0, 2): (10.845938, 8.434793),
    (1, 2): (5.119126, 2.428337), (0, 1, 2): (3.254602, 0.805028),
}  # fmt: skip


def make(kind, n, p, seed=0):
    rng = np.random.default_rng(seed)
    X, e = rng.normal(size=(n, p)), rng.normal(size=n)
    if kind == "noise":
        return X, e
    if kind == "near":  # the columns are nearly dependent, far from the origin, in odd units
        X = X[:, :1] + 1e-5 * X + 100.0
        return X * 10.0 ** rng.integers(-4, 5, size=p), (X[:, 0] - X[:, 1]) * 1e5 + 0.1 * e
    if kind == "correlated":
        for j in range(1, p):
            X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(0.19) * X[:, j]
    return X, X[:, ::3].sum(axis=1) + e


def brute_force(X, y, w=None, intercept=True):
    """The least RSS of each size over all subsets, by orthogonalisation of the rows."""
    n, p = X.shape
    w = np.ones(n) if w is None else w
    root = np.sqrt(w)[:, None]
    mean, y_mean = (w @ X / w.sum(), w @ y / w.sum()) if intercept else (0.0, 0.0)
    Z, c = root * (X - mean), root[:, 0] * (y - y_mean)
    Z = Z / np.linalg.norm(Z, axis=0)
    best = []
    for size in range(p + 1):
        found = []
        for S in itertools.combinations(range(p), size):
            Q = np.linalg.qr(Z[:, list(S)])[0]
            r = c - Q @ (Q.T @ c)
            found.append(((r**2).sum(), S))
        best.append(min(found))
    return best


def check_optimal(model, best, rtol=1e-8):
    assert len(model.subsets_) == len(best)
    for size, (subset, (rss, support)) in enumerate(zip(model.subsets_, best, strict=True)):
        assert subset.size == size == len(subset.support)
        assert_allclose(subset.rss, rss, rtol=rtol)
        assert subset.support == support


# --- the examples ----------------------------------------------------------------------------


def test_example_11_best_of_each_size():
    model = BestSubsetRegression(criterion="aic").fit(R, Y)
    assert [subset.support for subset in model.subsets_] == [(), (0,), (0, 1), (0, 1, 2)]
    for subset in model.subsets_:
        rss, aic = TABLE[subset.support]
        assert_allclose([subset.rss, subset.aic], [rss, aic], atol=1e-6)
    assert_allclose(model.subsets_[2].cp, 3.445473, atol=1e-6)
    assert model.support_.all()
    assert_allclose(model.coef_, [0.56754460, 1.01161144, 0.59643161], atol=1e-8)


@pytest.mark.parametrize("columns", list(TABLE))
def test_example_11_all_subsets(columns):
    if columns:
        subset = BestSubsetRegression().fit(R[:, list(columns)], Y).subsets_[-1]
        assert_allclose([subset.rss, subset.aic], TABLE[columns], atol=1e-6)


def test_criteria_choose_by_their_definition():
    X, y = make("correlated", 60, 8)
    n, records = 60, BestSubsetRegression().fit(X, y).subsets_
    rss, k = np.array([s.rss for s in records]), np.arange(9) + 1
    assert_allclose([s.bic for s in records], n * np.log(rss / n) + k * np.log(n), rtol=1e-12)
    assert_allclose([s.cp for s in records], rss / (rss[-1] / (n - 9)) - n + 2 * k, atol=1e-9)
    adjusted = 1 - (rss / (n - k)) / (rss[0] / (n - 1))
    assert_allclose([s.adjusted_r2 for s in records], adjusted, rtol=1e-10)
    for name, values in [("bic", n * np.log(rss / n) + k * np.log(n)), ("adjusted_r2", -adjusted)]:
        model = BestSubsetRegression(criterion=name).fit(X, y)
        assert model.support_.sum() == np.argmin(values)
        assert_array_equal(model.get_support(indices=True), records[np.argmin(values)].support)


# --- oracle: exhaustive enumeration ----------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", ["noise", "correlated", "near"])
@pytest.mark.parametrize("intercept", [True, False])
def test_equals_exhaustive_search(kind, intercept, seed):
    X, y = make(kind, 40, 8, seed)
    model = BestSubsetRegression(fit_intercept=intercept).fit(X, y)
    rtol = 1e-8 if kind != "near" else 1e-6
    check_optimal(model, brute_force(X, y, intercept=intercept), rtol)
    assert model._route == ("triangle" if kind == "near" else model._route)


@pytest.mark.parametrize("kind", ["noise", "near"])
def test_equals_exhaustive_search_weighted(kind):
    X, y = make(kind, 50, 7)
    w = np.random.default_rng(1).integers(0, 4, size=50)
    model = BestSubsetRegression().fit(X, y, sample_weight=w)
    check_optimal(model, brute_force(X, y, w), 1e-6)
    repeated = BestSubsetRegression().fit(X.repeat(w, axis=0), y.repeat(w))
    assert_allclose(model.coef_, repeated.coef_, rtol=1e-5)


def test_ten_columns_where_the_sizes_are_not_nested():
    """x0 = x1 + x2 + noise: alone it is best, the pair (1, 2) replaces it."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 10))
    X[:, 0] = X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=60)
    y = X[:, 1] + X[:, 2] + 0.05 * rng.normal(size=60)
    model = BestSubsetRegression().fit(X, y)
    check_optimal(model, brute_force(X, y))
    assert model.subsets_[1].support == (0,)
    assert model.subsets_[2].support == (1, 2)
    assert "not nested" in str(model.card())


@pytest.mark.parametrize("kind", ["noise", "correlated"])
def test_both_kernels_agree(kind):
    X, y = make(kind, 100, 16)
    X, y = X - X.mean(axis=0), y - y.mean()
    X /= np.linalg.norm(X, axis=0)
    Q, T = np.linalg.qr(X)
    c = Q.T @ y
    rest, V = y @ y - c @ c, np.linalg.inv(T)
    found = []
    for kernel, args in [
        (kernels.leaps_inverse, (V @ V.T, V @ c)),
        (kernels.leaps_triangle, (T, c)),
    ]:
        best, masks = np.full(17, np.inf), np.zeros(17, np.int64)
        best[16], best[0] = rest, y @ y
        nodes = kernel(*args, T, c, rest, 1e-12, 0.0, best, masks)
        found.append((best, masks))
        assert nodes < 2**16 / 20
    assert_allclose(found[0][0], found[1][0], rtol=1e-12)
    assert_array_equal(found[0][1][1:16], found[1][1][1:16])


def test_a_column_is_taken_out_of_the_triangle():
    rng = np.random.default_rng(0)
    M = np.linalg.qr(rng.normal(size=(9, 7)), mode="r")
    V, columns = np.linalg.inv(M[:5, :5]), np.arange(5)
    G = M.T @ M
    kernels.delete_column(M, V, columns, 1)
    left = M[:4][:, [0, 2, 3, 4]]
    assert_allclose(np.tril(left, -1), 0, atol=1e-14)
    assert_allclose(M.T @ M, G, atol=1e-12)
    assert_allclose(V[:4, :4] @ left, np.eye(4), atol=1e-12)


def test_max_features():
    X, y = make("correlated", 80, 12)
    every, few = BestSubsetRegression().fit(X, y), BestSubsetRegression(max_features=3).fit(X, y)
    assert [s.support for s in few.subsets_] == [s.support for s in every.subsets_[:4]]
    assert few.n_nodes_ <= every.n_nodes_
    assert not BestSubsetRegression(max_features=0).fit(X, y).support_.any()


# --- cost: nodes visited, of the 2^p subsets ---------------------------------------------------


@pytest.mark.parametrize("kind", ["noise", "correlated"])
@pytest.mark.parametrize(("p", "share"), [(19, 1 / 200), (30, 1 / 10_000)])
def test_few_nodes_are_visited(kind, p, share):
    """The bounds leave out nearly all subsets, also where no column stands out."""
    X, y = make(kind, 200, p)
    assert BestSubsetRegression().fit(X, y).n_nodes_ < share * 2**p


def test_forty_columns_and_no_more():
    X, y = make("signal", 300, 41)
    model = BestSubsetRegression(max_features=14).fit(X[:, :40], y)
    assert_array_equal(model.get_support(indices=True), np.arange(0, 40, 3))
    with pytest.raises(ValueError, match=r"at most 40 columns, got 41.*Stepwise.*Lasso"):
        BestSubsetRegression().fit(X, y)


# --- degenerate data -------------------------------------------------------------------------


def test_exact_fit_takes_the_smallest_subset():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6))
    with pytest.warns(UserWarning, match="2 columns fit y exactly: the smallest exact subset"):
        model = BestSubsetRegression().fit(X, X[:, 1] - 2 * X[:, 4] + 3)
    assert_array_equal(model.get_support(indices=True), [1, 4])
    assert_allclose(model.coef_[[1, 4]], [1, -2], rtol=1e-12)
    assert model.rss_ == 0
    assert model.subsets_[2].aic == -np.inf


def test_dependent_and_constant_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    X[:, 3], X[:, 5] = 2 * X[:, 0] - X[:, 1], 7.0
    y = X[:, 0] + X[:, 2] + 0.1 * rng.normal(size=40)
    model = BestSubsetRegression().fit(X, y)
    assert len(model.subsets_) == 5  # four independent columns
    assert model._route == "triangle"
    assert "constant columns are never chosen: x5" in str(model.card())
    for subset in model.subsets_:
        least = min(
            LinearRegression().fit(X[:, list(S)], y).rss_ if S else ((y - y.mean()) ** 2).sum()
            for S in itertools.combinations(range(5), subset.size)
            if not {0, 1, 3} <= set(S)
        )
        assert_allclose(subset.rss, least, rtol=1e-9)


def test_duplicated_columns():
    X, y = make("noise", 40, 5)
    X = np.hstack([X, X])
    model = BestSubsetRegression(criterion="aic").fit(X, y)
    assert len(model.subsets_) == 6
    best = brute_force(X[:, :5], y)
    assert_allclose([s.rss for s in model.subsets_], [rss for rss, _ in best], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*fit y exactly")
@pytest.mark.parametrize(("n", "p"), [(1, 3), (2, 3), (6, 8), (8, 8)])
def test_no_more_rows_than_columns(n, p):
    X, y = make("noise", n, p)
    model = BestSubsetRegression().fit(X, y)
    assert len(model.subsets_) == min(n - 1, p) + 1
    assert np.isfinite(model.predict(X)).all()
    for subset in model.subsets_[:-1]:
        least = min(
            np.linalg.lstsq(np.column_stack([np.ones(n), X[:, list(S)]]), y, rcond=None)[1].sum()
            for S in itertools.combinations(range(p), subset.size)
        )
        assert_allclose(subset.rss, least, rtol=1e-8, atol=1e-20)


def test_many_dependent_columns_are_refused_in_one_sentence():
    X, y = make("noise", 15, 40)
    with pytest.raises(ValueError, match=r"40 columns of rank 14.*max_features"):
        BestSubsetRegression().fit(X, y)
    assert BestSubsetRegression(max_features=2).fit(X, y).support_.sum() <= 2


def test_cp_needs_rows():
    X, y = make("noise", 6, 5)
    with pytest.raises(ValueError, match=r"criterion='cp' needs more observations"):
        BestSubsetRegression(criterion="cp", max_features=2).fit(X, y)


def test_columns_that_gain_nothing():
    """y is orthogonal to all columns but one, some of which are copies: every size is mended."""
    D = np.column_stack([np.ones(16), np.random.default_rng(0).normal(size=(16, 5))])
    Q = np.linalg.qr(D)[0]
    X = np.column_stack([Q[:, 1:5], Q[:, 1], Q[:, 2] + Q[:, 3]])
    model = BestSubsetRegression().fit(X, Q[:, 2] + Q[:, 5])
    assert_allclose([s.rss for s in model.subsets_], [2, 1, 1, 1, 1], rtol=1e-9)
    assert model.subsets_[1].support == (1,)
    for subset in model.subsets_[1:]:
        assert np.linalg.matrix_rank(X[:, subset.support]) == subset.size


def test_several_targets_are_refused():
    with pytest.raises(ValueError, match="1d array"):
        BestSubsetRegression().fit(R, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="one target, got several: 2 columns"):
        BestSubsetRegression().fit_blocks(Blocks(R, np.column_stack([Y, Y]), 4096))


# --- cross-validation, blocks, inference -----------------------------------------------------


def test_cross_validation_searches_in_every_fold():
    X, y = make("correlated", 90, 6)
    model = BestSubsetRegression(criterion="cv").fit(X, y)
    fold_errors = []
    for j in range(5):
        inside, outside = np.arange(90) % 5 != j, np.arange(90) % 5 == j
        fold_errors.append([])
        for subset in BestSubsetRegression().fit(X[inside], y[inside]).subsets_:
            if subset.size:
                fit = LinearRegression().fit(X[inside][:, subset.support], y[inside])
                error = y[outside] - fit.predict(X[outside][:, subset.support])
            else:
                error = y[outside] - y[inside].mean()
            fold_errors[-1].append((error**2).mean())
    assert_allclose(model.criterion_, np.mean(fold_errors, axis=0), rtol=1e-9)
    assert_allclose(model.criterion_se_, np.std(fold_errors, axis=0, ddof=1) / np.sqrt(5))
    assert model.support_.sum() == np.argmin(model.criterion_)
    blocks = BestSubsetRegression(criterion="cv").fit_blocks(Blocks(X, y, 4096))
    assert_array_equal(blocks.criterion_, model.criterion_)


def test_folds_by_sums_and_by_rows_agree():
    from pellucid.core.loops.statistics import Rows, unit_weights
    from pellucid.core.runtime.threads import map_threads

    X, y = make("correlated", 60, 4)
    rows = Rows(X, y, unit_weights(60))
    turn = np.arange(60) % 3
    splits = [(np.flatnonzero(turn != j), np.flatnonzero(turn == j)) for j in range(3)]
    coef, b = np.random.default_rng(0).normal(size=(4, 1, 5)), np.ones((1, 5))
    for a, c in zip(
        folds(rows, map_threads, 4, 3, intercept=True),
        folds(rows, map_threads, 4, splits, intercept=True),
        strict=True,
    ):
        assert_allclose(a.errors(coef, b), c.errors(coef, b), rtol=1e-10)
        assert_allclose(a.train.A.T @ a.train.A, c.train.A.T @ c.train.A, rtol=1e-9, atol=1e-9)
        assert search(a.train, 4, 60).supports == search(c.train, 4, 60).supports


def test_blocks():
    X, y = make("correlated", 2 * LEAF_ROWS + 100, 6)
    whole = BestSubsetRegression().fit(X, y)
    parts = BestSubsetRegression().fit_blocks(Blocks(X, y, 4096))
    assert whole.subsets_ == parts.subsets_
    assert_array_equal(whole.coef_, parts.coef_)


def test_rows_permuted_and_columns_rescaled():
    X, y = make("correlated", 70, 9)
    order = np.random.default_rng(0).permutation(70)
    scale = 10.0 ** np.arange(-4, 5)
    a, b = BestSubsetRegression().fit(X, y), BestSubsetRegression().fit(X[order] * scale, y[order])
    assert [s.support for s in a.subsets_] == [s.support for s in b.subsets_]
    assert_allclose(a.coef_, b.coef_ * scale, rtol=1e-8)


def test_summary_is_not_valid_after_the_choice():
    X, y = make("correlated", 70, 6)
    model = BestSubsetRegression().fit(X, y)
    found = model.summary()
    assert not found.valid
    assert "chosen on the same data" in found.reason
    given = LinearRegression().fit(X[:, model.support_], y).summary()
    inside = np.append(True, model.support_)
    assert_allclose(found.standard_error[inside], given.standard_error, rtol=1e-9)
    assert_allclose(found.p_value[inside], given.p_value, rtol=1e-8)
    assert np.isnan(found.standard_error[~inside]).all()


def test_recovers_the_true_columns():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 15))
    y = 2 * X[:, 3] - X[:, 7] + 1.5 * X[:, 11] + 0.5 * rng.normal(size=200)
    model = BestSubsetRegression().fit(X, y)
    assert model.subsets_[3].support == (3, 7, 11)
    assert model.support_[[3, 7, 11]].all()
    assert model.support_.sum() <= 4  # BIC lets a column of noise in now and then

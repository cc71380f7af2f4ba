"""LassoCV and ElasticNetCV: oracles, rules, folds from moments, blocks."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model
from lasso_tables import data
from linear_tables import Blocks
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, TimeSeriesSplit

from pellucid.core.algebra.least_squares import leaf_moments
from pellucid.core.loops.statistics import LEAF_ROWS, Moments, Rows, unit_weights
from pellucid.core.runtime.threads import limit_threads
from pellucid.linear import ElasticNetCV, Lasso, LassoCV
from pellucid.linear.lasso.folds import CrossValidated, choose, contiguous_moments, others

SHAPES = [(80, 8), (50, 90)]


def theirs(name, X, y, sample_weight=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = getattr(sklearn.linear_model, name)(tol=1e-11, max_iter=100_000, **options)
        return model.fit(X, y, sample_weight=sample_weight)


@pytest.mark.parametrize(("n", "p"), SHAPES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "options",
    [{}, {"cv": 4, "fit_intercept": False}, {"cv": KFold(3, shuffle=True, random_state=0)},
     {"cv": ShuffleSplit(3, random_state=0)}, {"cv": TimeSeriesSplit(3)}, {"positive": True},
     {"alphas": [0.01, 1.0, 0.1]}],
)  # fmt: skip
def test_scikit_learn_agrees(n, p, weighted, options):
    X, y = data(n, p)
    w = np.random.default_rng(1).integers(0, 4, size=n).astype(float) if weighted else None
    options = {"alphas": 30, "eps": 1e-2, **options}
    here = LassoCV(tol=1e-10, **options).fit(X, y, sample_weight=w)
    there = theirs("LassoCV", X, y, w, **options)
    assert_allclose(here.alphas_, there.alphas_, rtol=1e-10)
    assert_allclose(here.mse_path_, there.mse_path_, rtol=1e-5)
    assert_allclose(here.alpha_, there.alpha_, rtol=1e-10)
    assert_allclose(here.coef_, there.coef_, atol=1e-6)
    assert_allclose(here.intercept_, there.intercept_, atol=1e-6)


@pytest.mark.parametrize(("n", "p"), SHAPES)
def test_elastic_net_agrees(n, p):
    X, y = data(n, p)
    options = {"l1_ratio": [0.2, 0.7, 1.0], "alphas": 20, "eps": 1e-2}
    here = ElasticNetCV(tol=1e-10, **options).fit(X, y)
    there = theirs("ElasticNetCV", X, y, **options)
    assert here.mse_path_.shape == there.mse_path_.shape == (3, 20, 5)
    assert_allclose(here.alphas_, there.alphas_, rtol=1e-10)
    assert_allclose(here.mse_path_, there.mse_path_, rtol=1e-5)
    assert here.l1_ratio_ == there.l1_ratio_
    assert_allclose(here.coef_, there.coef_, atol=1e-6)
    one = ElasticNetCV(l1_ratio=0.5, alphas=[1.0, 0.1]).fit(X, y)
    assert one.mse_path_.shape == (2, 5)
    assert one.alphas_.shape == (2,)


def test_sparse_is_dense():
    for n, p in SHAPES:
        X, y = data(n, p)
        dense = LassoCV(alphas=20, eps=1e-2).fit(X, y)
        given = LassoCV(alphas=20, eps=1e-2).fit(sparse.csr_array(X), y)
        assert_allclose(given.mse_path_, dense.mse_path_, rtol=1e-3)
        assert_allclose(given.coef_, dense.coef_, atol=1e-7)


def test_default_tolerance_is_that_of_scikit_learn():
    X, y = data(500, 20)
    there = sklearn.linear_model.LassoCV().fit(X, y)
    here = LassoCV().fit(X, y)
    assert_allclose(here.mse_path_, there.mse_path_, rtol=0.15)  # theirs stops earlier
    assert 0.8 < here.alpha_ / there.alpha_ < 1.25


# --- the rules -------------------------------------------------------------------------------


def test_one_standard_error_takes_the_strongest_penalty():
    for seed in range(5):
        X, y = data(60, 20, seed)
        best = LassoCV().fit(X, y)
        careful = LassoCV(rule="one_standard_error").fit(X, y)
        assert careful.alpha_ >= best.alpha_
        assert careful.n_nonzero_ <= best.n_nonzero_
        mean = best.mse_path_.mean(axis=1)
        i = int(np.argmin(mean))
        limit = mean[i] + best.mse_path_[i].std(ddof=1) / np.sqrt(5)
        within = best.alphas_[mean <= limit]
        assert careful.alpha_ == within.max()


def test_choose_by_hand():
    errors = np.array([[[3.0, 1.2, 1.0, 2.0], [5.0, 1.4, 1.0, 2.0], [4.0, 1.0, 1.6, 2.0]]])
    found = CrossValidated(np.array([[8.0, 4.0, 2.0, 1.0]]), errors)
    assert choose(found, "best") == (0, 1)  # 1.2 and 1.2: the first, the stronger penalty
    assert choose(found, "one_standard_error") == (0, 1)
    errors[0, :, 2] = [0.5, 0.9, 1.6]
    assert choose(found, "best") == (0, 2)
    assert choose(found, "one_standard_error") == (0, 1)


# --- folds from moments ----------------------------------------------------------------------


def test_fold_moments_are_those_of_the_rows():
    X, y = data(3 * LEAF_ROWS // 2, 5)
    rows = Rows(X, y, unit_weights(len(X)))
    parts = contiguous_moments(rows, map, 4)
    for part, rest, (train, test) in zip(parts, others(parts), KFold(4).split(X), strict=True):
        for found, index in ((part, test), (rest, train)):
            expected = leaf_moments(Rows(X[index], y[index], unit_weights(len(index))))
            assert found.weight == len(index)
            assert_allclose(found.mean, expected.mean, rtol=1e-12)
            assert_allclose(found.scatter, expected.scatter, rtol=1e-10, atol=1e-9)


def test_others_with_two_folds():
    a, b = (Moments(w, np.array([w]), np.array([[1.0]])) for w in (1.0, 2.0))
    first, second = others([a, b])
    assert first.weight == 2.0
    assert second.weight == 1.0


def test_blocks_give_the_memory_answer_in_one_pass():
    X, y = data(2 * LEAF_ROWS + 301, 6)
    source = Blocks(X, y, LEAF_ROWS)
    reads = []
    spans = source.spans
    source.spans = lambda: reads.append(1) or spans()
    model = LassoCV(alphas=30).fit_blocks(source)
    assert len(reads) == 1
    memory = LassoCV(alphas=30).fit(X, y)
    assert_array_equal(model.mse_path_, memory.mse_path_)
    assert_array_equal(model.coef_, memory.coef_)
    with pytest.raises(ValueError, match="number of folds"):
        LassoCV(cv=KFold(3)).fit_blocks(source)
    few = Blocks(*data(12, 30), LEAF_ROWS)
    with pytest.raises(ValueError, match="use fit"):
        LassoCV().fit_blocks(few)


@pytest.mark.parametrize(("n", "p"), [(300, 10), (60, 200)])
def test_same_bits_for_any_number_of_threads(n, p):
    X, y = data(n, p)
    models = []
    for threads in (1, 2, 3):
        with limit_threads(threads):
            models.append(LassoCV(alphas=20, eps=1e-2).fit(X, y))
    for model in models[1:]:
        assert_array_equal(model.mse_path_, models[0].mse_path_)
        assert_array_equal(model.coef_, models[0].coef_)


def test_weights_are_repetitions_in_given_folds():
    for n, p in SHAPES:
        X, y = data(n, p)
        w = np.random.default_rng(2).integers(1, 4, size=n)
        fold = np.arange(n) % 3
        again = np.repeat(fold, w)
        splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
        repeated = [(np.flatnonzero(again != f), np.flatnonzero(again == f)) for f in range(3)]
        a = LassoCV(cv=splits, alphas=20, tol=1e-9).fit(X, y, sample_weight=w)
        b = LassoCV(cv=repeated, alphas=20, tol=1e-9).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        assert_allclose(a.mse_path_, b.mse_path_, rtol=1e-4)
        assert_allclose(a.coef_, b.coef_, atol=1e-7)


def test_groups_reach_the_splitter():
    X, y = data(60, 5)
    groups = np.arange(60) // 15
    model = LassoCV(cv=GroupKFold(4), alphas=10).fit(X, y, groups=groups)
    splits = list(GroupKFold(4).split(X, y, groups))
    assert_allclose(model.mse_path_, LassoCV(cv=splits, alphas=10).fit(X, y).mse_path_)


def test_final_fit_is_the_lasso_at_the_chosen_alpha():
    for n, p in SHAPES:
        X, y = data(n, p)
        model = LassoCV(alphas=20, eps=1e-2).fit(X, y)
        alone = Lasso(model.alpha_).fit(X, y)
        assert_allclose(model.coef_, alone.coef_, atol=1e-8)
        assert_allclose(model.intercept_, alone.intercept_, atol=1e-8)
        assert model.n_nonzero_ == alone.n_nonzero_


def test_zero_alpha_may_win():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    model = LassoCV(alphas=[1.0, 0.0]).fit(X, X @ [1.0, 2.0, 3.0])
    assert model.alpha_ == 0
    assert_allclose(model.coef_, [1, 2, 3], atol=1e-9)
    assert model.card().numbers["alpha"] == 0


@pytest.mark.parametrize(
    "options",
    [{"cv": 1}, {"cv": "odd"}, {"rule": "worst"}, {"n_jobs": "two"}, {"l1_ratio": "half"},
     {"l1_ratio": [0.5, 1.5]}, {"alphas": []}],
)  # fmt: skip
def test_bad_options(options):
    X, y = data(30, 3)
    with pytest.raises(ValueError, match=next(iter(options))):
        ElasticNetCV(**options).fit(X, y)


def test_bad_folds():
    X, y = data(30, 3)
    with pytest.raises(ValueError, match="at least as many rows"):
        LassoCV(cv=31).fit(X, y)
    w = np.ones(30)
    w[:6] = 0.0
    with pytest.raises(ValueError, match="positive weight"):
        LassoCV().fit(X, y, sample_weight=w)


@pytest.mark.parametrize("kind", [list, lambda rows: np.isin(np.arange(40), rows)])
def test_folds_may_be_lists_or_masks(kind):
    X = np.random.default_rng(0).normal(size=(40, 4))
    y = X[:, 0] - X[:, 2]
    halves = np.arange(20), np.arange(20, 40)
    plain = LassoCV(cv=[halves, halves[::-1]]).fit(X, y)
    other = LassoCV(cv=[(kind(a), kind(b)) for a, b in (halves, halves[::-1])]).fit(X, y)
    assert_array_equal(other.mse_path_, plain.mse_path_)

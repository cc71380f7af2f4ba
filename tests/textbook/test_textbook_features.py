"""The features of the textbook agree with the fast ones."""

import numpy as np
import pytest
from agreement import same
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold, cross_val_score

from pellucid import LinearRegression, features
from pellucid.textbook.features.b_splines import b_splines
from pellucid.textbook.features.drop_collinear import drop_collinear
from pellucid.textbook.features.equal_bins import equal_bins
from pellucid.textbook.features.f_test import correlation_test, f_test
from pellucid.textbook.features.gaussian_basis import gaussian_basis
from pellucid.textbook.features.mutual_information import mutual_information
from pellucid.textbook.features.neighbour_imputation import neighbour_imputation
from pellucid.textbook.features.one_hot_encoding import one_hot_encoding
from pellucid.textbook.features.power_transform import bend, log_likelihood, power_transform
from pellucid.textbook.features.recursive_elimination import recursive_elimination
from pellucid.textbook.features.robust_scaling import robust_scaling
from pellucid.textbook.features.sequential_selection import sequential_selection
from pellucid.textbook.features.standardise import merge, moments, standardise
from pellucid.textbook.features.target_encoding import shrunk_means, target_encoding
from pellucid.textbook.features.tf_idf import tf_idf
from pellucid.textbook.features.truncated_powers import truncated_powers

rng = np.random.default_rng(0)


def test_scaling():
    X, new = rng.normal(3, 2, size=(40, 3)), rng.normal(size=(5, 3))
    same(standardise(X, new), features.StandardScaler().fit(X).transform(new))
    same(robust_scaling(X, new), features.RobustScaler().fit(X).transform(new))
    whole, parts = moments(X), merge(moments(X[:13]), moments(X[13:]))
    same(parts.mean, whole.mean)
    same(parts.squares, whole.squares)


def test_power_transform():
    for x in (rng.exponential(size=60), rng.normal(size=60) ** 3):
        model = features.PowerTransformer(standardize=False).fit(x[:, None])
        power = power_transform(x)
        same(log_likelihood(x, power), log_likelihood(x, model.lambdas_[0]))
        # looser: values alone find the place of a flat top to the root of their rounding
        assert_allclose(power, model.lambdas_[0], atol=1e-6)
        same(bend(x, model.lambdas_[0]), model.transform(x[:, None])[:, 0], atol=1e-9)


def test_categories():
    column = rng.choice(list("abcd"), size=60, p=[0.5, 0.3, 0.15, 0.05])
    y = rng.normal(size=60) + (column == "a")
    for drop in (False, True):
        encoder = features.OneHotEncoder(sparse_output=False, drop="first" if drop else None)
        book = one_hot_encoding(column, drop_first=drop)
        assert_array_equal(book, encoder.fit_transform(column[:, None]))
    for smooth, m in ((2.0, 2.0), ("auto", None)):
        encoder = features.TargetEncoder(smooth=smooth, target_type="continuous")
        fast = encoder.fit(column[:, None], y).transform(column[:, None])[:, 0]
        means = shrunk_means(column, y, m)
        same([means[c] for c in column], fast, atol=1e-10)
    folds = [test for _, test in KFold(4).split(column)]
    encoder = features.TargetEncoder(smooth=2.0, target_type="continuous", cv=KFold(4))
    fast = encoder.fit_transform(column[:, None], y)[:, 0]
    same(target_encoding(column, y, folds, 2.0), fast, atol=1e-10)


def test_tf_idf():
    counts = rng.poisson(0.8, size=(12, 6)).astype(float)
    fast = features.TfidfTransformer().fit_transform(counts)
    same(tf_idf(counts), fast.toarray(), atol=1e-12)


@pytest.mark.parametrize(("kind", "strategy"), [("width", "uniform"), ("count", "quantile")])
def test_equal_bins(kind, strategy):
    x = rng.exponential(size=57)
    fast = features.KBinsDiscretizer(5, encode="ordinal", strategy=strategy)
    assert_array_equal(equal_bins(x, 5, kind), fast.fit_transform(x[:, None])[:, 0])


@pytest.mark.parametrize("d", [1, 3])
def test_bases(d):
    x = np.sort(rng.uniform(-1, 2, size=50))
    fast = features.SplineTransformer(6, d).fit(x[:, None]).transform(x[:, None])
    book = b_splines(x, np.linspace(x.min(), x.max(), 6), d)
    same(book, fast, atol=1e-10)
    same(book.sum(axis=1), 1)
    knots = np.array([-0.3, 0.8])
    powers = features.TruncatedPowerBasis(knots, degree=d).fit(x[:, None]).transform(x[:, None])
    same(truncated_powers(x, knots, d), powers, atol=1e-10)
    bumps = features.GaussianBasis(knots, width=0.7).fit(x[:, None]).transform(x[:, None])
    same(gaussian_basis(x, knots, 0.7), bumps, atol=1e-12)


def test_neighbour_imputation():
    X = rng.normal(size=(40, 4))
    X[rng.random(X.shape) < 0.2] = np.nan
    same(neighbour_imputation(X, 3), features.KNNImputer(n_neighbors=3).fit_transform(X))


def test_filters():
    X, classes = rng.normal(size=(50, 3)), rng.integers(3, size=50)
    y = X[:, 0] ** 2 + 0.2 * rng.normal(size=50)
    F, p = features.f_classif(X, classes)
    same([f_test(x, classes) for x in X.T], np.column_stack([F, p]))
    F, p = features.f_regression(X, y)
    same([correlation_test(x, y) for x in X.T], np.column_stack([F, p]))
    Z, v = X / X.std(axis=0), y / y.std()
    fast = features.mutual_info_regression(X, y, random_state=0)
    same([mutual_information(x, v) for x in Z.T], fast)


def test_selection():
    X = rng.normal(size=(60, 5))
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 3], np.ones(60), rng.normal(size=60)])
    assert drop_collinear(X) == features.DropCollinear().fit(X).get_support(indices=True).tolist()
    X = X[:, :5]
    y = X @ [3.0, 0, -2, 0.5, 0] + rng.normal(size=60)
    folds = KFold(3)

    def score(columns):
        return cross_val_score(LinearRegression(), X[:, columns], y, cv=folds).mean()

    fast = features.SequentialFeatureSelector(LinearRegression(), n_features_to_select=2, cv=folds)
    chosen = fast.fit(X, y).get_support(indices=True).tolist()
    assert sorted(sequential_selection(score, 5, 2)) == chosen

    def weights(X, y):
        return np.linalg.lstsq(np.column_stack([np.ones(len(X)), X]), y, rcond=None)[0][1:]

    kept = features.RFE(LinearRegression(), n_features_to_select=3).fit(X, y)
    assert recursive_elimination(weights, X, y, 3) == kept.get_support(indices=True).tolist()

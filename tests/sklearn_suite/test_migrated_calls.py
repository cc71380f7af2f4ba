"""Calls of scikit-learn scripts that once gave another answer here: one test each."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context, svm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer as TheirPower

import pellucid as pl

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(int)
numbers = 3 * X[:, 0] + X[:, 1]
holes = X.copy()
holes[::7, 2] = np.nan
whole = (10 * X).astype(int)
YEARS = np.array([2003.0, 1950, 1997, 2000, 2009, 2009, 1980, 1999, 2007, 1991])[:, None]


@pytest.mark.parametrize("given", [["a", "b", np.nan], ["a", "b", None]])
def test_encoders_with_given_categories_and_missing_cells(given):
    cells = np.array(given, dtype=object)[:, None]
    wanted = [0.0, 1.0, 2.0 if given[-1] is None else np.nan]  # None is a category like others
    assert_array_equal(pl.OrdinalEncoder(categories=[given]).fit_transform(cells).ravel(), wanted)
    hot = pl.OneHotEncoder(categories=[given], sparse_output=False)
    assert_array_equal(hot.fit_transform(cells), np.eye(3))


@pytest.mark.parametrize("method", ["yeo-johnson", "box-cox"])
def test_power_transform_of_years(method):
    """The best exponent (near 99) leaves the range of numbers: the best within it is taken."""
    model = pl.PowerTransformer(method)
    Z = model.fit_transform(YEARS)
    assert model.lambdas_[0] > 31.8  # scikit-learn's: farther from the maximum
    assert_allclose([Z.mean(), Z.std()], [0, 1], atol=1e-12)
    assert_allclose(model.inverse_transform(Z), YEARS)
    for turned in (4000 - YEARS, -YEARS)[: 2 if method == "yeo-johnson" else 1]:
        Z = pl.PowerTransformer(method).fit_transform(turned)
        assert_allclose([Z.mean(), Z.std()], [0, 1], atol=1e-6)


def test_power_transform_where_the_maximum_is_in_range():
    Z = rng.lognormal(size=(200, 2))
    ours, theirs = pl.PowerTransformer().fit(Z), TheirPower().fit(Z)
    assert_allclose(ours.lambdas_, theirs.lambdas_, rtol=1e-4)


def test_a_callable_kernel_may_see_and_give_sparse():
    rows = sparse.csr_matrix(X)
    ours = pl.SVC(kernel=lambda a, b: a @ b.T).fit(rows, y)
    assert_array_equal(ours.predict(rows), pl.SVC(kernel="linear").fit(X, y).predict(X))


def filled(model):
    return make_pipeline(pl.SimpleImputer(), model)


def test_a_base_that_fills_the_holes_gets_them():
    for model in (
        pl.BaggingClassifier(filled(pl.LogisticRegression()), 3, random_state=0),
        pl.BaggingRegressor(filled(pl.Ridge()), 3, random_state=0),
    ):
        assert np.isfinite(model.fit(holes, y).predict(holes)).all()
    last = {"importance_getter": "named_steps.logisticregression.coef_"}
    base = filled(pl.LogisticRegression())
    assert pl.RFE(base, n_features_to_select=2, **last).fit(holes, y).support_.sum() == 2
    assert pl.SelectFromModel(base, **last).fit(holes, y).transform(holes).shape[0] == 60
    with pytest.raises(ValueError, match="NaN"):
        pl.BaggingClassifier(pl.LogisticRegression(), 3).fit(holes, y)


class Silent(ClassifierMixin, BaseEstimator):
    """A model whose fit returns nothing."""

    def fit(self, X, y=None):
        self.coef_, self.classes_ = np.arange(X.shape[1])[None], np.unique(y)


def test_a_fit_that_returns_nothing():
    wanted = [False, False, True, True]
    assert_array_equal(pl.SelectFromModel(Silent()).fit(X, y).get_support(), wanted)
    assert_array_equal(pl.RFE(Silent(), n_features_to_select=2).fit(X, y).support_, wanted)


def test_the_leaves_of_sparse_rows():
    tree = pl.DecisionTreeClassifier(max_depth=3).fit(X, y).tree_
    rows = sparse.csr_matrix(X)
    assert_array_equal(tree.apply(rows), tree.apply(X))
    assert_array_equal(tree.decision_path(rows).toarray(), tree.decision_path(X).toarray())


@pytest.mark.parametrize("loss", ["absolute_error", "quantile", "poisson"])
def test_monotonic_constraints_hold_for_every_loss(loss):
    model = pl.HistGradientBoostingRegressor(loss=loss, quantile=0.5, monotonic_cst=[1, 0, 0, 0])
    model.set_params(max_iter=10).fit(X, np.abs(numbers))
    grid = np.zeros((50, 4))
    grid[:, 0] = np.linspace(-2, 2, 50)
    assert (np.diff(model.predict(grid)) >= 0).all()


def test_kernel_components_keep_their_own_rows():
    rows = X.copy()
    model = pl.KernelPCA(2, kernel="rbf", gamma=0.5).fit(rows)
    before = model.transform(X[:5])
    rows[:] = 0
    assert_array_equal(model.transform(X[:5]), before)


def test_an_imputer_whose_weights_are_none():
    plain = pl.KNNImputer(n_neighbors=2).fit_transform(holes)
    assert_allclose(
        pl.KNNImputer(n_neighbors=2, weights=lambda d: None).fit_transform(holes), plain
    )


def test_an_infinite_weight_decides_alone():
    with np.errstate(divide="ignore"):
        votes = pl.KNeighborsClassifier(weights=lambda d: 1 / d).fit(X, y)
        means = pl.KNeighborsRegressor(weights=lambda d: 1 / d).fit(X, numbers)
        assert_array_equal(votes.predict(X), y)
        assert_allclose(means.predict(X), numbers)
    same = pl.KNeighborsClassifier(weights="distance").fit(X, y)
    assert_allclose(votes.predict_proba(X + 0.1), same.predict_proba(X + 0.1))


@pytest.mark.parametrize(
    "selector",
    [
        pl.SelectKBest(k=2),
        pl.VarianceThreshold(),
        pl.SelectFromModel(pl.LogisticRegression()),
        pl.RFE(pl.LogisticRegression(), n_features_to_select=2),
        pl.SequentialFeatureSelector(pl.LogisticRegression(), n_features_to_select=2, cv=2),
    ],
)
def test_selectors_keep_the_type_of_the_columns(selector):
    for kind in (np.int64, np.float32):
        rows = whole.astype(kind)
        kept = selector.fit(rows, y).transform(rows)
        assert kept.dtype == kind
        assert_array_equal(kept, rows[:, selector.get_support()])
        assert selector.inverse_transform(kept).dtype == kind


def test_a_column_without_values_does_not_vary():
    rows = X.copy()
    rows[:, 1] = np.nan
    assert_array_equal(pl.VarianceThreshold().fit(rows).get_support(), [True, False, True, True])


@pytest.mark.parametrize(
    "model",
    [
        pl.RandomForestClassifier(5, random_state=0),
        pl.ExtraTreesClassifier(5, random_state=0),
        pl.BaggingClassifier(n_estimators=5, random_state=0),
        pl.AdaBoostClassifier(n_estimators=5, random_state=0),
        pl.GradientBoostingClassifier(n_estimators=5),
        pl.IsolationForest(n_estimators=5, random_state=0),
    ],
)
def test_a_committee_is_a_sequence(model):
    model.fit(X, y)
    assert len(model) == len(list(model)) == len(model.estimators_)
    assert type(model[0]) is type(model.estimators_[0])


def test_deprecated_keywords_are_taken_with_a_warning():
    cells = np.array([["a"], ["b"]] * 30)
    for model, rows, target in (
        (pl.GradientBoostingRegressor(criterion="friedman_mse", n_estimators=2), X, numbers),
        (pl.LogisticRegressionCV(penalty="l2", Cs=2), X, y),
        (pl.SVC(probability=True, random_state=0), X, y),
        (pl.NuSVC(probability=True, random_state=0), X, y),
    ):
        with pytest.warns(FutureWarning, match="deprecated"):
            model.fit(rows, target)
    with pytest.warns(FutureWarning, match="deprecated"):
        pl.TargetEncoder(shuffle=True, random_state=0).fit_transform(cells, numbers)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_of_a_support_vector_machine(classes):
    labels = np.digitize(numbers, np.quantile(numbers, np.arange(1, classes) / classes))
    with pytest.warns(FutureWarning, match="probability"):
        ours = pl.SVC(probability=True, random_state=0).fit(X, labels)
    with pytest.warns(FutureWarning, match="probability"):
        theirs = svm.SVC(probability=True, random_state=0).fit(X, labels)
    P = ours.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1)
    assert np.abs(P - theirs.predict_proba(X)).mean() < 0.1  # folds are drawn at random
    assert_allclose(np.log(P), ours.predict_log_proba(X))
    assert not hasattr(pl.SVC(), "predict_proba")


@pytest.mark.parametrize("model", [pl.RandomForestClassifier, pl.BaggingClassifier])
def test_more_draws_than_rows(model):
    found = model(n_estimators=3, max_samples=100, random_state=0).fit(X, y)
    assert [len(rows) for rows in found.estimators_samples_] == [100] * 3
    with pytest.raises(ValueError, match="max_samples"):
        pl.BaggingClassifier(n_estimators=3, max_samples=100, bootstrap=False).fit(X, y)


def test_shapes_of_the_cross_validated_logistic_regression():
    model = pl.LogisticRegressionCV(Cs=3, cv=3).fit(X, y)
    assert model.n_iter_.shape == (1, 3, 3)
    assert model.coefs_paths_[1].shape == (3, 3, 5)
    model.set_params(l1_ratios=(0.0, 0.5)).fit(X, y)
    assert model.n_iter_.shape == (1, 3, 3, 2)
    assert model.coefs_paths_[1].shape == (3, 3, 2, 5)


def test_an_intercept_has_a_shape():
    for model in (pl.Ridge(), pl.LinearRegression()):
        assert model.fit(X, numbers).intercept_.shape == ()


def test_a_given_vocabulary_needs_no_fit():
    words = pl.CountVectorizer(vocabulary=["cat", "dog"])
    found = words.inverse_transform(np.array([[1, 0], [1, 1]]))
    assert [row.tolist() for row in found] == [["cat"], ["cat", "dog"]]


def test_an_analyzer_can_be_pickled():
    analyze = pickle.loads(pickle.dumps(pl.CountVectorizer().build_analyzer()))
    assert analyze("the Cat sat") == ["the", "cat", "sat"]


def test_groups_reach_the_folds_of_a_sequential_search():
    model = pl.SequentialFeatureSelector(pl.LogisticRegression(), cv=LeaveOneGroupOut())
    with config_context(enable_metadata_routing=True):
        model.set_params(n_features_to_select=2).fit(X, y, groups=np.arange(60) % 3)
    assert model.support_.sum() == 2
    with pytest.raises(ValueError, match="groups"):
        model.fit(X, y, groups=np.arange(60) % 3)


@pytest.mark.parametrize(
    "model",
    [
        pl.RandomForestClassifier(3, verbose=1),
        pl.GradientBoostingClassifier(n_estimators=3, verbose=1),
        pl.KMeans(2, verbose=1, random_state=0),
        pl.LogisticRegression(verbose=1),
        pl.BayesianRidge(verbose=True),
        pl.GaussianMixture(verbose=1, random_state=0),
        pl.VotingClassifier([("a", pl.LogisticRegression())], verbose=True),
        pl.RFE(pl.LogisticRegression(), verbose=1),
    ],
)
def test_verbose_prints(model, capsys):
    model.fit(X, y)
    said = capsys.readouterr().out
    assert f"{type(model).__name__}: fitted" in said
    model.set_params(verbose=0).fit(X, y)
    assert capsys.readouterr().out == ""

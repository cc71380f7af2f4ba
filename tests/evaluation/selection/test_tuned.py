"""TunedEstimator, nested cross-validation and curves."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import loguniform
from sklearn.callback import ProgressBar
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.model_selection import learning_curve as their_curve
from sklearn.model_selection import validation_curve as their_validation
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import pellucid
from pellucid import ElasticNet, GaussianNB, Lasso, PolynomialFeatures, Ridge, TunedEstimator
from pellucid.evaluation import (
    BootstrapSplit,
    TimeLimit,
    complexity_curve,
    nested_cross_validation,
    size_curve,
)
from pellucid.evaluation.selection import tuned


def problem(n=120, p=6, noise=2.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] - 2 * X[:, 1] + noise * rng.normal(size=n)


def classes(n=150):
    X, y = problem(n)
    return X, np.where(y > 0, "up", "down")


def plain_loop(monkeypatch):
    monkeypatch.setattr(tuned, "closed_scores", lambda *_: None)


@pytest.mark.parametrize("rule", ["best", "one_standard_error"])
@pytest.mark.parametrize("metric", ["mse", "r2"])
@pytest.mark.parametrize(
    ("estimator", "space"),
    [
        (Ridge(), {"alpha": [1000.0, 100.0, 10.0, 1.0]}),
        (Ridge(fit_intercept=False), {"alpha": [1000.0, 100.0, 10.0, 1.0]}),
        (Lasso(tol=1e-10), {"alpha": [2.0, 0.5, 0.1, 0.01]}),
        (ElasticNet(tol=1e-10), {"alpha": [2.0, 0.5, 0.1], "l1_ratio": [1.0, 0.5]}),
        (ElasticNet(tol=1e-10, l1_ratio=0.3), {"alpha": [2.0, 0.5, 0.1]}),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_closed_forms_choose_as_the_plain_loop(
    estimator, space, metric, rule, weighted, monkeypatch
):
    X, y = problem()
    w = np.random.default_rng(1).integers(1, 4, size=len(y)) if weighted else None
    options = {"metric": metric, "rule": rule, "random_state": 0}
    fast = TunedEstimator(estimator, space, **options).fit(X, y, sample_weight=w)
    assert fast.closed_form_
    plain_loop(monkeypatch)
    slow = TunedEstimator(estimator, space, **options).fit(X, y, sample_weight=w)
    assert not slow.closed_form_
    for key, values in slow.cv_results_.items():
        if key.startswith("split"):
            assert_allclose(fast.cv_results_[key], values, rtol=1e-6, atol=1e-8)
    assert fast.best_params_ == slow.best_params_
    assert_allclose(fast.predict(X), slow.predict(X))


def test_wide_tables_have_closed_forms_too(monkeypatch):
    X, y = problem(30, 50)
    for model, alphas in ((Ridge(), [100.0, 1.0]), (Lasso(tol=1e-10), [1.0, 0.3])):
        fast = TunedEstimator(model, {"alpha": alphas}, cv=3).fit(X, y)
        assert fast.closed_form_
        with monkeypatch.context() as patch:
            plain_loop(patch)
            slow = TunedEstimator(model, {"alpha": alphas}, cv=3).fit(X, y)
        assert_allclose(
            fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"], rtol=1e-6
        )


@pytest.mark.parametrize(
    ("estimator", "space", "options"),
    [
        (Ridge(shrink_intercept=True), {"alpha": [1.0, 0.1]}, {}),
        (Ridge(positive=True), {"alpha": [1.0, 0.1]}, {}),
        (Ridge(), {"alpha": [1.0], "fit_intercept": [False, True]}, {}),
        (Ridge(), {"alpha": [1.0, 0.0]}, {}),
        (Ridge(), {"alpha": [1.0, 0.1]}, {"metric": "mae"}),
        (Lasso(positive=True, shrink_intercept=True), {"alpha": [1.0, 0.1]}, {}),
        (Ridge(), {"alpha": [1.0, 0.1]}, {"cv": BootstrapSplit(4, random_state=0)}),
    ],
)
def test_everything_else_goes_through_the_loop(estimator, space, options):
    X, y = problem()
    assert not TunedEstimator(estimator, space, **options).fit(X, y).closed_form_


@pytest.mark.parametrize("metric", ["accuracy", "neg_log_loss"])
def test_best_is_that_of_grid_search(metric):
    X, y = classes()
    space = {"var_smoothing": [10.0, 1.0, 1e-3]}
    ours = TunedEstimator(GaussianNB(), space, metric=metric, rule="best", cv=4).fit(X, y)
    theirs = GridSearchCV(GaussianNB(), space, scoring=metric, cv=4).fit(X, y)
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_index_ == theirs.best_index_
    sign = 1 if metric == "accuracy" else -1
    for key in ("mean_test_score", "std_test_score", "split0_test_score", "rank_test_score"):
        factor = sign if key.startswith(("mean", "split")) else 1
        assert_allclose(factor * ours.cv_results_[key], theirs.cv_results_[key])
    assert set(theirs.cv_results_) == set(ours.cv_results_)
    assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert ours.score(X, y) == theirs.best_estimator_.score(X, y)


def test_the_simpler_is_chosen_and_the_selection_says_why():
    X, y = classes()
    space = {"max_depth": [1, 2, 3, 5, 8]}
    tree = DecisionTreeClassifier(random_state=0)
    best = TunedEstimator(tree, space, rule="best", random_state=0).fit(X, y)
    simple = TunedEstimator(tree, space, random_state=0).fit(X, y)
    assert simple.best_index_ <= best.best_index_
    table = simple.cv_results_["mean_test_score"]
    error = np.std(
        [simple.cv_results_[f"split{f}_test_score"][best.best_index_] for f in range(5)], ddof=1
    ) / np.sqrt(5)
    assert table[simple.best_index_] >= table[best.best_index_] - error
    found = simple.selection_
    assert "chosen" in found.sentence
    assert found.to_frame().shape == (5, 5)
    assert found.table[0]["low"] < found.table[0]["mean"] < found.table[0]["high"]
    loss = 1 - found.table[simple.best_index_]["mean"]
    assert_allclose(found.bound.gap, np.sqrt(np.log(5 / 0.05) / (2 * 30)))
    assert found.bound.value == pytest.approx(loss + found.bound.gap)
    assert TunedEstimator(Ridge(), {"alpha": [1.0]}).fit(*problem()).selection_.bound is None
    assert str(found).startswith("Of 5 candidates")


def test_pipelines_are_fitted_whole_in_each_fold():
    X, y = problem(60, 2)
    pipe = make_pipeline(PolynomialFeatures(), Ridge(1e-3))
    space = {"polynomialfeatures__degree": [1, 2, 6]}
    model = TunedEstimator(pipe, space, metric="mse").fit(X, y)
    assert model.best_params_ == {"polynomialfeatures__degree": 1}
    assert model.n_features_in_ == 2
    assert model.predict(X).shape == (60,)


def test_transformers_groups_and_fit_params():
    X, y = problem()
    scale = TunedEstimator(
        pellucid.StandardScaler(), {"with_std": [False, True]}, metric=lambda y, p: 0.0
    )
    assert not hasattr(scale, "predict")
    groups = np.arange(len(y)) % 6
    model = TunedEstimator(Ridge(), {"alpha": [10.0, 1.0]}, cv=GroupKFold(3))
    assert model.fit(X, y, groups=groups).n_splits_ == 3
    pipe = make_pipeline(pellucid.StandardScaler(), Ridge())
    tuned_pipe = TunedEstimator(pipe, {"ridge__alpha": [10.0, 1.0]}, cv=3)
    w = np.random.default_rng(0).integers(1, 3, size=len(y))
    tuned_pipe.fit(X, y, ridge__sample_weight=w)
    again = make_pipeline(pellucid.StandardScaler(), Ridge(tuned_pipe.best_params_["ridge__alpha"]))
    assert_array_equal(tuned_pipe.predict(X), again.fit(X, y, ridge__sample_weight=w).predict(X))
    with pytest.raises(ValueError, match="sample_weight"):
        tuned_pipe.fit(X, y, sample_weight=w)


def test_distributions():
    X, y = problem()
    space = {"alpha": loguniform(1e-2, 1e3)}
    options = {"n_iter": 6, "rule": "best", "random_state": 0}
    a = TunedEstimator(Ridge(), space, **options).fit(X, y)
    b = TunedEstimator(Ridge(), space, **options).fit(X, y)
    assert a.best_params_ == b.best_params_
    assert len(a.cv_results_["params"]) == 6
    with pytest.raises(ValueError, match="n_iter"):
        TunedEstimator(Ridge(), space, rule="best").fit(X, y)
    with pytest.raises(ValueError, match="simplest first"):
        TunedEstimator(Ridge(), space, n_iter=3).fit(X, y)


def test_complexity_is_never_chosen_on_training_rows():
    with pytest.raises(ValueError, match=r"'train'.*never chosen"):
        TunedEstimator(Ridge(), {"alpha": [1.0]}, cv="train").fit(*problem())


@pytest.mark.parametrize(
    ("space", "word"),
    [
        ({"alpha": []}, "at least one"),
        ({"alpha": 3}, "list"),
        (7, "space"),
        ({"alfa": [1]}, "alfa"),
    ],
)
def test_bad_spaces_are_refused(space, word):
    with pytest.raises(ValueError, match=word):
        TunedEstimator(Ridge(), space).fit(*problem())


def test_a_failing_fold_is_named():
    X, y = problem()
    few = np.where(np.arange(len(y)) < 2, "rare", "common")
    with pytest.raises(ValueError, match=r"var_smoothing.*fold 0 failed"):
        TunedEstimator(GaussianNB(priors=[0.5, 0.5]), {"var_smoothing": [1.0]}, cv=KFold(3)).fit(
            X, few
        )


def test_same_numbers_for_any_number_of_workers(capsys):
    X, y = classes()
    space = {"max_depth": [1, 2, 4]}
    tree = DecisionTreeClassifier(random_state=0)
    one = TunedEstimator(tree, space, random_state=0).fit(X, y)
    two = TunedEstimator(tree, space, random_state=0, n_jobs=2)
    two.set_callbacks(ProgressBar()).fit(X, y)
    assert "TunedEstimator" in "".join(capsys.readouterr())
    for key, values in one.cv_results_.items():
        if not key.endswith("_time"):
            assert_array_equal(two.cv_results_[key], values)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_callback_stops_the_search_after_a_whole_candidate(n_jobs):
    X, y = classes()
    model = TunedEstimator(GaussianNB(), {"var_smoothing": [1.0, 0.1, 0.01]}, n_jobs=n_jobs)
    model.set_callbacks(TimeLimit(1e-9)).fit(X, y)
    assert len(model.cv_results_["params"]) == 1
    assert model.best_params_ == {"var_smoothing": 1.0}


def test_saves_and_loads(tmp_path):
    X, y = problem()
    model = TunedEstimator(Ridge(), {"alpha": [10.0, 1.0]}).fit(X, y)
    pellucid.save(model, tmp_path / "m.pellucid")
    again = pellucid.load(tmp_path / "m.pellucid")
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.selection_ == model.selection_ or str(again.selection_) == str(model.selection_)


# --- nested ------------------------------------------------------------------------------------


def test_nested_is_the_plain_double_loop():
    X, y = classes()
    model = TunedEstimator(GaussianNB(), {"var_smoothing": [1.0, 1e-3]}, cv=3, rule="best")
    found = nested_cross_validation(model, X, y, outer_cv=4)
    scores, inner, chosen = [], [], []
    for train, test in StratifiedKFold(4).split(X, y):
        search = GridSearchCV(GaussianNB(), {"var_smoothing": [1.0, 1e-3]}, cv=3)
        search.fit(X[train], y[train])
        scores.append(search.score(X[test], y[test]))
        inner.append(search.best_score_)
        chosen.append(search.best_params_)
    assert_allclose(found.scores, scores)
    assert_allclose(found.inner_best, inner)
    assert found.chosen == chosen
    assert_allclose(found.optimism, np.mean(inner) - np.mean(scores))
    two = nested_cross_validation(model, X, y, outer_cv=4, n_jobs=2)
    assert_array_equal(two.scores, found.scores)
    assert found.to_frame().shape == (4, 4)
    assert "tuning included" in str(found)
    assert found.to_dict()["metric"] == "accuracy"


def test_the_optimism_of_choosing_among_many_on_noise():
    """Random labels: the search promises more than chance, the outer folds do not."""
    gaps, outer = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 8)), rng.integers(2, size=60)
        space = {"random_state": list(range(25))}
        tree = DecisionTreeClassifier(max_features=1, max_depth=3)
        model = TunedEstimator(tree, space, rule="best", cv=3)
        found = nested_cross_validation(model, X, y, outer_cv=3, random_state=seed)
        gaps.append(found.optimism)
        outer.append(found.scores.mean())
    assert np.mean(gaps) > 0.05
    assert abs(np.mean(outer) - 0.5) < 0.1


# --- curves ------------------------------------------------------------------------------------


def test_size_curve():
    X, y = problem(150, 12)
    curve = size_curve(Ridge(1e-6), X, y, sizes=[15, 0.5, 120], metric="mse", random_state=0)
    assert curve.sizes.tolist() == [15, 60, 120]
    assert curve.test.mean(axis=1)[0] > curve.test.mean(axis=1)[2]  # a loss falls with rows
    assert curve.train.mean(axis=1)[0] < curve.train.mean(axis=1)[2]
    two = size_curve(
        Ridge(1e-6), X, y, sizes=[15, 0.5, 120], metric="mse", random_state=0, n_jobs=2
    )
    assert_array_equal(two.test, curve.test)
    assert "more rows" in curve.sentence
    assert curve.to_frame().shape == (3, 8)
    assert curve.to_dict()["sizes"] == [15, 60, 120]
    whole = their_curve(Ridge(1e-6), X, y, train_sizes=[1.0], cv=5)[2]
    assert_allclose(size_curve(Ridge(1e-6), X, y, sizes=[1.0]).test, whole)
    with pytest.raises(ValueError, match="sizes"):
        size_curve(Ridge(), X, y, sizes=[1000])


def test_sorted_classes_do_not_starve_the_small_sizes():
    X, y = classes()
    order = np.argsort(y)
    curve = size_curve(GaussianNB(), X[order], y[order], sizes=[10, 60])
    assert curve.test.mean(axis=1)[0] > 0.55
    assert not curve.collapsed.any()


def test_complexity_curve_agrees_with_scikit_learn():
    X, y = problem()
    values = [1e4, 100.0, 1.0]
    curve = complexity_curve(Ridge(), X, y, parameter="alpha", values=values)
    train, test = their_validation(Ridge(), X, y, param_name="alpha", param_range=values, cv=5)
    assert_allclose(curve.test, test)
    assert_allclose(curve.train, train)
    assert curve.best == test.mean(axis=1).argmax()
    assert curve.one_standard_error <= curve.best
    assert "best test r2" in str(curve)


def test_pairs_of_parameters():
    X, y = problem(60, 2)
    pipe = make_pipeline(PolynomialFeatures(), Ridge())
    curve = complexity_curve(
        pipe, X, y, parameter=("polynomialfeatures__degree", "ridge__alpha"),
        values=([1, 2, 3], [100.0, 1.0]), cv=4, metric="mse",
    )  # fmt: skip
    assert curve.test.shape == (3, 2, 4)
    mean = curve.test.mean(axis=2)
    assert curve.best == np.unravel_index(mean.argmin(), mean.shape)
    one = pipe.set_params(polynomialfeatures__degree=2, ridge__alpha=1.0)
    again = complexity_curve(one, X, y, parameter="ridge__alpha", values=[1.0], cv=4, metric="mse")
    assert_allclose(curve.test[1, 1], again.test[0])
    assert curve.to_frame().shape[0] == 6


def test_collapsed_fits_are_marked():
    X, y = problem()
    with pytest.warns(UserWarning, match="constant"):
        curve = complexity_curve(Lasso(), X, y, parameter="alpha", values=[1e6, 0.1], metric="mse")
    assert curve.collapsed.all(axis=1).tolist() == [True, False]
    assert "collapsed" in curve.sentence
    assert curve.best == 1


def test_the_bound_rests_on_the_smallest_fold():
    """Folds of 10, 20 and 30 rows: the bound of the choice holds for 10."""
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    rows, parts = np.arange(60), [np.arange(10), np.arange(10, 30), np.arange(30, 60)]
    folds = [(np.setdiff1d(rows, part), part) for part in parts]
    grid = {"var_smoothing": [1e-9, 1e-3]}
    found = TunedEstimator(GaussianNB(), grid, cv=folds, metric="accuracy").fit(X, y)
    assert_allclose(found.selection_.bound.gap, np.sqrt(np.log(2 / 0.05) / (2 * 10)))


def test_sparse_rows_are_fitted_one_by_one():
    """No shared path is made of them, and the scores are those of the dense rows."""
    X, y = problem()
    grid = {"alpha": [0.1, 10.0]}
    dense = TunedEstimator(Ridge(), grid, cv=3, metric="mse").fit(X, y)
    sparse = TunedEstimator(Ridge(), grid, cv=3, metric="mse").fit(csr_array(X), y)
    assert dense.closed_form_
    assert not sparse.closed_form_
    assert_allclose(sparse.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"])

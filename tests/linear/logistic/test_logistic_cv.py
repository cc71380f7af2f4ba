"""LogisticRegressionCV: scikit-learn's numbers and shapes, the rules, folds and weights."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.linear_model import LogisticRegressionCV as Peer
from sklearn.model_selection import GroupKFold, StratifiedKFold

import pellucid
from pellucid.core.loops.iterate import ConvergenceWarning
from pellucid.core.runtime.threads import limit_threads
from pellucid.linear import LogisticRegressionCV
from pellucid.linear.logistic import newton, sums
from pellucid.linear.logistic.folds import present_classes
from pellucid.linear.logistic.proximal import fit_proximal_newton


def data(load):
    X, y = load(return_X_y=True)
    X, y = X[::2, :8], y[::2]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def peer(X, y, *, sample_weight=None, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        params = {"solver": "newton-cholesky", **params}
        return Peer(tol=1e-8, max_iter=5000, **params).fit(X, y, sample_weight)


def assert_close(ours, theirs, *, atol):
    for name in ("scores_", "coefs_paths_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert type(a) is type(b)
        pairs = zip(a.values(), b.values(), strict=True) if isinstance(a, dict) else [(a, b)]
        if isinstance(a, dict):
            assert list(a) == list(b)
        for left, right in pairs:
            assert left.shape == right.shape
            np.testing.assert_allclose(left, right, atol=atol)
    for name in ("C_", "l1_ratio_", "Cs_", "l1_ratios_", "classes_"):
        a, b = getattr(ours, name), getattr(theirs, name)
        assert np.shape(a) == np.shape(b)
        np.testing.assert_array_equal(a, b)
    assert ours.n_iter_.shape == theirs.n_iter_.shape
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=atol)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=atol)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("refit", [True, False])
def test_l2_as_scikit_learn(load, legacy, refit):
    X, y = data(load)
    options = {"Cs": [0.01, 0.3, 2.0], "l1_ratios": (0.0,), "refit": refit, "cv": 3,
               "use_legacy_attributes": legacy, "scoring": "neg_log_loss"}  # fmt: skip
    assert_close(LogisticRegressionCV(tol=1e-6, **options).fit(X, y), peer(X, y, **options),
                 atol=2e-4)  # fmt: skip


def test_no_l1_ratios_means_no_dimension_for_them():
    X, y = data(load_wine)
    options = {"Cs": 3, "l1_ratios": None, "scoring": None, "use_legacy_attributes": True}
    ours, theirs = LogisticRegressionCV(**options).fit(X, y), peer(X, y, **options)
    assert ours.scores_[0].shape == theirs.scores_[0].shape == (5, 3)
    np.testing.assert_array_equal(ours.l1_ratios_, theirs.l1_ratios_)
    np.testing.assert_array_equal(ours.C_, theirs.C_)


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_elastic_net_as_saga(load):
    X, y = data(load)
    options = {"Cs": [0.1, 0.3], "l1_ratios": (0.2, 1.0), "cv": 3, "scoring": "neg_log_loss",
               "use_legacy_attributes": False}  # fmt: skip
    ours = LogisticRegressionCV(tol=1e-6, **options).fit(X, y)
    theirs = peer(X, y, solver="saga", **options)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-5)
    np.testing.assert_allclose(ours.coefs_paths_[..., :-1], theirs.coefs_paths_[..., :-1],
                               atol=1e-4)  # fmt: skip
    assert (ours.C_, ours.l1_ratio_) == (theirs.C_, theirs.l1_ratio_)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_brier_score", "f1", "balanced_accuracy"])
def test_other_scores(scoring):
    X, y = data(load_breast_cancer)
    options = {"Cs": [0.01, 1.0], "l1_ratios": (0.0,), "cv": 3, "scoring": scoring,
               "use_legacy_attributes": False}  # fmt: skip
    ours, theirs = LogisticRegressionCV(tol=1e-6, **options).fit(X, y), peer(X, y, **options)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-6)
    np.testing.assert_allclose(ours.score(X, y), theirs.score(X, y), atol=1e-6)


def test_weights_and_class_weights_as_scikit_learn():
    X, y = data(load_wine)
    w = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    options = {"Cs": [0.05, 1.0], "l1_ratios": (0.0,), "cv": 3, "class_weight": "balanced",
               "use_legacy_attributes": True, "scoring": "neg_log_loss"}  # fmt: skip
    ours = LogisticRegressionCV(tol=1e-6, **options).fit(X, y, sample_weight=w)
    assert_close(ours, peer(X, y, sample_weight=w, **options), atol=2e-4)


def test_the_final_fit_is_the_minimum_at_the_choice():
    X, y = data(load_breast_cancer)
    model = LogisticRegressionCV(Cs=4, l1_ratios=(0.5, 1.0), cv=3, scoring="neg_log_loss").fit(X, y)
    one = fit_proximal_newton(X, y, 2, np.ones(len(y)), model.C_[0], model.l1_ratio_[0])
    np.testing.assert_allclose(model.coef_, one.coef, atol=1e-6)
    assert model.history_["objective"][-1] == pytest.approx(one.objective, rel=1e-8)
    assert "chooses C" in str(model.card())


def test_one_standard_error_takes_a_stronger_penalty():
    X, y = data(load_breast_cancer)
    grid = np.geomspace(0.01, 10, 25)
    options = {"Cs": grid, "l1_ratios": (1.0,), "scoring": "neg_log_loss"}
    best = LogisticRegressionCV(**options).fit(X, y)
    careful = LogisticRegressionCV(rule="one_standard_error", **options).fit(X, y)
    scores = best.scores_[1][:, :, 0]
    mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(5)
    top = mean.argmax()
    expected = best.Cs_[np.flatnonzero(mean >= mean[top] - error[top])[0]]
    assert careful.C_[0] == expected < best.C_[0]
    assert np.count_nonzero(careful.coef_) < np.count_nonzero(best.coef_)


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_sparse_and_threads(ratio):
    X, y = data(load_wine)
    options = {"Cs": [0.1, 1.0], "l1_ratios": (ratio,), "cv": 3, "scoring": "neg_log_loss"}
    dense = LogisticRegressionCV(**options).fit(X, y)
    sparse = LogisticRegressionCV(**options).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.predict_proba(X), dense.predict_proba(X), atol=1e-4)
    with limit_threads(1):
        alone = LogisticRegressionCV(**options).fit(X, y)
    np.testing.assert_array_equal(alone.coef_, dense.coef_)
    np.testing.assert_array_equal(alone.scores_[0], dense.scores_[0])


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_sparse_with_more_columns_than_rows(ratio):
    """The final fit is that of the dense table, and stationary where the penalty is smooth."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 90)) * (rng.random((40, 90)) < 0.3)
    y = (X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=40) > 0).astype(int)
    options = {"Cs": [0.3, 1.0], "l1_ratios": (ratio,), "cv": 3, "tol": 1e-7, "max_iter": 500}
    dense = LogisticRegressionCV(**options).fit(X, y)
    sparse = LogisticRegressionCV(**options).fit(csr_array(X), y)
    np.testing.assert_array_equal(sparse.C_, dense.C_)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-4)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, atol=1e-4)
    if ratio == 0:
        rest = sparse.predict_proba(X)[:, 1] - y
        np.testing.assert_allclose(sparse.C_[0] * X.T @ rest, -sparse.coef_[0], atol=1e-5)
        np.testing.assert_allclose(rest.sum(), 0, atol=1e-5)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 200))
    y = (X[:, 0] + rng.logistic(size=60) > 0).astype(int)
    options = {"Cs": [0.01, 0.1], "l1_ratios": (0.0,), "cv": 3, "scoring": "neg_log_loss",
               "use_legacy_attributes": True}  # fmt: skip
    ours, theirs = LogisticRegressionCV(tol=1e-6, **options).fit(X, y), peer(X, y, **options)
    assert_close(ours, theirs, atol=1e-5)


def test_an_infinite_value_is_no_penalty():
    X, y = data(load_breast_cancer)
    rng = np.random.default_rng(0)
    y = np.where(rng.uniform(size=len(y)) < 0.2, 1 - y, y)  # overlapping classes
    model = LogisticRegressionCV(Cs=[0.1, np.inf], l1_ratios=(0.0, 1.0), cv=3).fit(X[:, :3], y)
    paths = model.coefs_paths_[1]
    np.testing.assert_allclose(paths[:, 1, 0], paths[:, 1, 1], atol=1e-8)


def test_groups_are_routed():
    X, y = data(load_breast_cancer)
    groups = np.arange(len(y)) % 7
    from sklearn import config_context

    with config_context(enable_metadata_routing=True):
        cv = GroupKFold(3).set_split_request(groups=True)
        model = LogisticRegressionCV(Cs=2, cv=cv).fit(X, y, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    same = LogisticRegressionCV(Cs=2, cv=splits).fit(X, y)
    np.testing.assert_array_equal(model.scores_[1], same.scores_[1])
    with pytest.raises(ValueError, match="groups"):
        LogisticRegressionCV().fit(X, y, groups=groups)


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("gone", [0, 1])
def test_a_class_without_training_rows_in_a_fold(K, gone):
    from pellucid.linear.logistic.folds import Task

    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(90, 3)), np.arange(90) % K
    inside = codes != gone
    task = Task(np.array([0.1, 1.0]), True, 1e-6, 100)
    W, b, _, fine = present_classes(X[inside], codes[inside], K, np.ones(inside.sum()), task, 1.0)
    assert fine
    assert W.shape == (2, 1 if K == 2 else K, 3)
    Z = X @ W[1].T + b[1]
    guess = Z.argmax(axis=1) if K > 2 else (Z[:, 0] > 0).astype(int)
    assert (guess != gone).all()


def test_shuffled_folds_and_a_grid_that_is_not_sorted():
    X, y = data(load_wine)
    cv = StratifiedKFold(3, shuffle=True, random_state=1)
    a = LogisticRegressionCV(Cs=[1.0, 0.01, 0.1], l1_ratios=(1.0,), cv=cv).fit(X, y)
    b = LogisticRegressionCV(Cs=[0.01, 0.1, 1.0], l1_ratios=(1.0,), cv=cv).fit(X, y)
    np.testing.assert_array_equal(a.scores_[0], b.scores_[0][:, [2, 0, 1]])
    np.testing.assert_array_equal(a.Cs_, [1.0, 0.01, 0.1])


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"Cs": 0}, "Cs must be"),
        ({"Cs": [1.0, -2.0]}, "Cs must be"),
        ({"Cs": "ten"}, "Cs must be"),
        ({"l1_ratios": (2.0,)}, "l1_ratios must be"),
        ({"l1_ratios": ()}, "l1_ratios must be"),
        ({"l1_ratios": 0.5}, "l1_ratios must be"),
        ({"cv": 1}, "cv must be"),
        ({"cv": 2.5}, "cv must be"),
        ({"rule": "worst"}, "rule must be"),
        ({"rule": "one_standard_error", "refit": False}, "refit"),
        ({"class_weight": {"x": 1.0}}, "class_weight"),
        ({"solver": "magic"}, "solver must be"),
        ({"scoring": "magic"}, "scoring"),
    ],
)
def test_bad_parameters_are_refused(params, words):
    X, y = data(load_wine)
    with pytest.raises(ValueError, match=words):
        LogisticRegressionCV(**params).fit(X, y)


def test_it_is_public():
    assert pellucid.LogisticRegressionCV is LogisticRegressionCV


def test_weights_that_leave_a_fold_without_rows():
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(ValueError, match="a fold leaves no rows with a weight > 0"):
        LogisticRegressionCV(cv=5).fit(
            X, np.arange(40) % 3, sample_weight=np.eye(2, 40).sum(axis=0)
        )


def test_a_path_that_cannot_go_on_does_not_go_on(monkeypatch):
    """A constant column of 1e200: every step was halved to nothing, a hundred times for each C."""
    asked = []

    def evaluate(*given, **named):
        asked.append(given)
        return sums.evaluate(*given, **named)

    monkeypatch.setattr(newton, "evaluate", evaluate)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(40, 2)), np.full(40, 1e200)])
    y = np.arange(40) % 3
    with pytest.warns(ConvergenceWarning), np.errstate(all="ignore"):
        LogisticRegressionCV(random_state=0).fit(X, y)
    assert len(asked) < 10 * 6 * 3 * newton.ATTEMPTS  # Cs, folds and all rows, steps

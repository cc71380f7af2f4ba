"""Cross-validation, bootstrap estimates, closed-form scores and criteria against definitions."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.callback import ProgressBar
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_validate,
)
from sklearn.svm import SVC

import pellucid
from pellucid.evaluation import (
    bootstrap_estimate,
    combine_632,
    cross_validated,
    cv_summary,
    gaussian_criteria,
    generalised_cross_validation,
    information_criteria,
    leave_one_out,
    one_standard_error,
)

Y6 = np.arange(1.0, 7.0)


def problem(n=90, p=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] - X[:, 1] + rng.normal(size=n)


def test_example_4_summary():
    a = [0.90, 0.85, 0.88, 0.92, 0.87]
    plain, corrected = cv_summary(a), cv_summary(a, test_ratio=1 / 4)
    assert_allclose(plain[:2], (0.884, 1.46e-4))
    assert_allclose((plain.low, plain.high), (0.8504521, 0.9175479), atol=5e-8)
    assert_allclose(corrected.variance_of_mean, 3.285e-4)


def test_example_5_predict_the_mean():
    X = Y6[:, None]
    found = cross_validated(DummyRegressor(), X, Y6, metric="mse", cv=3)
    assert_allclose(found.scores, [9.25, 0.25, 9.25])
    assert_allclose((found.summary.mean, found.summary.variance_of_mean), (6.25, 9))
    assert not found.greater_is_better
    loo = cross_validated(DummyRegressor(), X, Y6, metric="mse", cv=LeaveOneOut())
    assert_allclose(loo.summary.mean, 4.2)
    steps = cross_validated(DummyRegressor(), X, Y6, metric="mse", cv=TimeSeriesSplit(5))
    assert_allclose(steps.scores, [1, 2.25, 4, 6.25, 9])
    assert steps.predictions.mask.tolist() == [True, False, False, False, False, False]
    assert_allclose(steps.predictions.compressed(), [1, 1.5, 2, 2.5, 3])


@pytest.mark.parametrize("metric", ["r2", "neg_mean_absolute_error"])
def test_agrees_with_scikit_learn(metric):
    X, y = problem()
    ours = cross_validated(pellucid.Ridge(), X, y, metric=metric, cv=4)
    theirs = cross_validate(pellucid.Ridge(), X, y, scoring=metric, cv=4, return_train_score=True)
    sign = 1 if metric == "r2" else -1
    assert_allclose(ours.scores, sign * theirs["test_score"])
    assert_allclose(ours.train_scores, sign * theirs["train_score"])
    assert_allclose(ours.predictions, cross_val_predict(pellucid.Ridge(), X, y, cv=4))


def test_classifier_with_text_labels_and_probabilities():
    X, y = problem()
    labels = np.where(y > 0, "up", "down")
    for metric in ("accuracy", "neg_log_loss", "roc_auc"):
        ours = cross_validated(LogisticRegression(), X, labels, metric=metric, cv=3)
        theirs = cross_validate(LogisticRegression(), X, labels, scoring=metric, cv=3)
        assert_allclose(np.abs(ours.scores), np.abs(theirs["test_score"]))
        assert set(ours.predictions) <= {"up", "down"}


def test_same_numbers_for_any_number_of_workers_and_frames():
    X, y = problem()
    one = cross_validated(pellucid.Ridge(), X, y, cv=4, random_state=1)
    two = cross_validated(pellucid.Ridge(), X, y, cv=4, random_state=1, n_jobs=2)
    assert_array_equal(one.scores, two.scores)
    for frame in (pd.DataFrame(X, columns=list("abcd")), pl.DataFrame(X, schema=list("abcd"))):
        again = cross_validated(pellucid.Ridge(), frame, y, cv=4, random_state=1)
        assert_array_equal(one.scores, again.scores)


def test_gram_matrices_are_cut_both_ways():
    X, y = problem()
    y = y > 0
    linear = cross_validated(SVC(kernel="linear"), X, y, cv=3)
    gram = cross_validated(SVC(kernel="precomputed"), X @ X.T, y, cv=3)
    assert_allclose(gram.scores, linear.scores)


def test_repeated_rows_get_the_mean():
    X, y = problem(30)
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    found = cross_validated(pellucid.Ridge(), X, y, cv=cv)
    said = np.zeros(30)
    for train, test in cv.split(X):
        said[test] += pellucid.Ridge().fit(X[train], y[train]).predict(X[test]) / 2
    assert_allclose(found.predictions, said)


def test_a_failing_fold_says_which():
    X, y = problem()
    X[40] = np.nan
    with pytest.raises(ValueError, match=r"fold 0 failed: .*NaN"):
        cross_validated(pellucid.Ridge(), X, y, cv=KFold(3))


def test_progress_bar_and_records(capsys):
    X, y = problem()
    found = cross_validated(pellucid.Ridge(), X, y, callbacks=ProgressBar())
    assert "CrossValidation" in "".join(capsys.readouterr())
    assert found.to_frame().shape == (5, 5)
    assert found.to_dict()["metric"] == "r2"
    assert "5 folds" in str(found)


# --- bootstrap ---------------------------------------------------------------------------------


def test_example_13_combine_632():
    assert_allclose(combine_632(0.05, 0.30), 0.208)
    assert combine_632(0.1, 0.1, 0.5) == pytest.approx(0.1)
    assert combine_632(0.0, 0.5, 0.5) == pytest.approx(0.5)  # R = 1: all out of bag
    # scores and losses agree
    assert 1 - combine_632(0.95, 0.70, 0.5) == pytest.approx(combine_632(0.05, 0.30, 0.5))


def test_bootstrap_estimate():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), rng.integers(2, size=60)  # nothing to learn
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(1)  # learns by heart
    options = {"metric": "error", "n_resamples": 60, "random_state": 0}
    plus = bootstrap_estimate(model, X, y, **options)
    plain = bootstrap_estimate(model, X, y, kind="632", **options)
    assert plus.apparent == 0
    p = y.mean()
    assert_allclose(plus.no_information, 2 * p * (1 - p))
    assert plain.value == pytest.approx(0.632 * plain.out_of_bag)
    assert abs(plus.value - 0.5) < abs(plain.value - 0.5)  # .632 believes the heart-learner
    assert plus.low <= plus.value <= plus.high
    two = bootstrap_estimate(model, X, y, n_jobs=2, **options)
    assert_array_equal(two.replicates, plus.replicates)
    mirror = bootstrap_estimate(model, X, y, **{**options, "metric": "accuracy"})
    assert mirror.value == pytest.approx(1 - plus.value)


def test_no_information_of_numbers_is_over_all_pairs():
    X, y = problem(40)
    found = bootstrap_estimate(pellucid.Ridge(), X, y, metric="mse", n_resamples=5, random_state=0)
    said = pellucid.Ridge().fit(X, y).predict(X)
    assert_allclose(found.no_information, ((y[:, None] - said) ** 2).mean())


# --- closed forms and criteria -----------------------------------------------------------------


def exponential():
    x = np.linspace(1, 5, 15)
    return np.column_stack([np.ones(15), x]), np.exp(x)


@pytest.mark.parametrize(
    ("alpha", "loo", "gcv"), [(0.1, 574.749651, 509.332929), (1.0, 620.265175, 552.715848)]
)
def test_example_10_ridge_without_refit(alpha, loo, gcv):
    D, y = exponential()
    H = D @ np.linalg.solve(D.T @ D + alpha * np.eye(2), D.T)
    assert_allclose(leave_one_out(y, H @ y, np.diag(H)), loo, atol=5e-7)
    assert_allclose(generalised_cross_validation(y, H @ y, np.trace(H)), gcv, atol=5e-7)
    if alpha == 0.1:
        assert_allclose(np.trace(H), 1.951949, atol=5e-7)


def test_leave_one_out_is_that():
    X, y = problem(20)
    model = pellucid.LinearRegression()
    errors = [
        y[i] - model.fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[i : i + 1])[0]
        for i in range(20)
    ]
    model.fit(X, y)
    assert_allclose(
        leave_one_out(y, model.predict(X), model.leverage(X)), np.mean(np.square(errors))
    )


def test_smoother_scores_refuse():
    with pytest.raises(ValueError, match="row 1"):
        leave_one_out([1.0, 2.0], [1.0, 2.0], [0.5, 1.0])
    with pytest.raises(ValueError, match="effective_df"):
        generalised_cross_validation([1.0, 2.0], [1.0, 2.0], 2)
    with pytest.raises(ValueError, match="shape"):
        leave_one_out([1.0, 2.0], [1.0], [0.5, 0.5])


def test_example_9_criteria():
    rss = [111.5, 10.9047619, 4.4307116, 3.2546021]
    found = gaussian_criteria(rss, [1, 2, 3, 4], 8, sigma2=0.8136505239)
    assert_allclose(found.aic, [23.076664, 6.478064, 1.272949, 0.805028], atol=5e-7)
    assert_allclose(found.bic[3], 1.122794, atol=5e-7)
    assert_allclose(found.cp, [131.036721, 9.402267, 3.445473, 4], atol=5e-6)
    one = gaussian_criteria(3.2546021, 4, 8)
    assert one.cp is None
    assert isinstance(one.aic, float)
    # the same up to the constant of the normal log likelihood
    log_l = -4 * (np.log(2 * np.pi * 3.2546021 / 8) + 1)
    general = information_criteria(log_l, 4, 8)
    assert_allclose(general.aic - one.aic, 8 * (np.log(2 * np.pi) + 1))
    assert_allclose(general.aicc - general.aic, 2 * 4 * 5 / 3)
    assert information_criteria(-1.0, 4, 5).aicc == np.inf


def test_criteria_of_a_model_without_parameters_are_those_of_its_likelihood():
    """No parameter and one row are the least that is accepted."""
    for n in (1, 20):
        found = information_criteria(-3.0, 0, n)
        assert (found.aic, found.bic) == (6.0, 6.0)
    assert_allclose(gaussian_criteria(2.0, 0, 1).aic, gaussian_criteria(2.0, 1, 1).aic - 2)


def test_criteria_of_a_perfect_fit():
    with pytest.warns(UserWarning, match="every point"):
        assert gaussian_criteria(0.0, 2, 5).aic == -np.inf
    with pytest.raises(ValueError, match="rss"):
        gaussian_criteria(-1.0, 2, 5)


def test_example_8_one_standard_error():
    mean, se = [0.70, 0.78, 0.81, 0.82, 0.815], [0.02, 0.015, 0.012, 0.013, 0.02]
    assert one_standard_error(mean, se, [1, 2, 3, 4, 5]) == 2
    loss, se = [9, 4.1, 3.6, 3.5, 3.7], [0.5, 0.3, 0.2, 0.25, 0.3]
    assert one_standard_error(loss, se, [1, 2, 3, 4, 5], greater_is_better=False) == 2


@settings(max_examples=200, deadline=None)
@given(
    data=st.lists(
        st.tuples(st.floats(-5, 5), st.floats(0, 3), st.integers(0, 6)), min_size=1, max_size=9
    ),
    greater=st.booleans(),
)
def test_one_standard_error_is_always_on_the_simpler_side(data, greater):
    mean, se, complexity = (np.array(part) for part in zip(*data, strict=True))
    chosen = one_standard_error(mean, se, complexity, greater_is_better=greater)
    oriented = mean if greater else -mean
    best = int(oriented.argmax())
    assert complexity[chosen] <= complexity[best]
    assert oriented[chosen] >= oriented[best] - se[best] - 1e-12
    within = oriented >= oriented[best] - se[best]
    assert complexity[chosen] == complexity[within].min()
    assert chosen == one_standard_error(-mean, se, complexity, greater_is_better=not greater)

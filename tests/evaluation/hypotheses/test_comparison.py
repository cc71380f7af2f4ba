"""Models on identical folds: the numbers are those of the tests; any n_jobs; failures are named."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.callback import ProgressBar
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, cross_val_score

from pellucid import GaussianNB, LinearRegression, Ridge
from pellucid.evaluation import (
    adjust_p_values,
    compare,
    corrected_t_test,
    mcnemar_test,
    paired_t_test,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 4))
y = X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=90)
MODELS = {"ols": LinearRegression(), "mild": Ridge(1.0), "stiff": Ridge(300.0)}


@pytest.mark.parametrize("metric", [None, "rmse", "neg_mean_absolute_error"])
def test_scores_are_scikit_learns(metric):
    found = compare(MODELS, X, y, metric=metric, cv=5)
    scoring = {None: "r2", "rmse": "neg_root_mean_squared_error"}.get(metric, metric)
    sign = 1 if metric is None else -1
    for name, row in zip(found.names, found.scores, strict=True):
        assert_allclose(row, sign * cross_val_score(MODELS[name], X, y, cv=5, scoring=scoring))
    assert found.greater_is_better == (metric is None)
    assert found.better[0, 2]
    assert not found.better[2, 0]
    assert "stiff" in found.sentence


def test_p_values_are_the_tests():
    cv = RepeatedKFold(n_splits=5, n_repeats=3, random_state=1)
    found = compare(MODELS, X, y, cv=cv)
    pairs = [(0, 1), (0, 2), (1, 2)]
    p = [
        corrected_t_test(found.scores[i], found.scores[j], test_ratio=1 / 4).p_value
        for i, j in pairs
    ]
    assert_allclose([found.p_values[i, j] for i, j in pairs], p)
    assert_allclose([found.adjusted[i, j] for i, j in pairs], adjust_p_values(p))
    assert_array_equal(found.p_values, found.p_values.T)
    plain = compare(MODELS, X, y, cv=cv, test="paired_t", correction="bonferroni")
    assert_allclose(plain.p_values[0, 1], paired_t_test(plain.scores[0], plain.scores[1]).p_value)
    assert plain.p_values[0, 1] < found.p_values[0, 1]
    assert_allclose(found.summaries[0].mean, found.scores[0].mean())


def test_classifiers_five_by_two_and_mcnemar():
    labels = np.where(y > 0, "yes", "no")
    models = {"own": GaussianNB(), "shared": GaussianNB(shared_variance=True)}
    found = compare(models, X, labels, test="mcnemar", cv=KFold(5))
    right = []
    for model in models.values():
        said = np.empty(90, dtype=labels.dtype)
        for train, test in KFold(5).split(X):
            said[test] = model.fit(X[train], labels[train]).predict(X[test])
        right.append(said == labels)
    assert_allclose(found.p_values[0, 1], mcnemar_test(*right).p_value)
    halves = compare(models, X, labels, test="5x2cv")
    assert halves.scores.shape == (2, 10)
    with pytest.raises(ValueError, match="mcnemar"):
        compare(MODELS, X, y, test="mcnemar")


def test_same_numbers_for_any_n_jobs_and_a_progress_bar(capsys):
    one = compare(MODELS, X, y, random_state=3, n_jobs=1)
    two = compare(MODELS, X, y, random_state=3, n_jobs=2)
    assert_array_equal(one.scores, two.scores)
    assert_array_equal(one.adjusted, two.adjusted)
    shown = compare(MODELS, X, y, random_state=3, callbacks=ProgressBar())
    assert_array_equal(one.scores, shown.scores)
    assert "CrossValidation" in "".join(capsys.readouterr())
    other = compare(MODELS, X, y, random_state=4)
    assert (one.scores != other.scores).any()


def test_groups_stay_together():
    groups = np.arange(90) // 10
    found = compare(MODELS, X, y, cv=GroupKFold(3), groups=groups)
    assert found.scores.shape == (3, 3)


class Fails(RegressorMixin, BaseEstimator):
    """Fails on one fold."""

    def fit(self, X, y):
        if not (y == Y_OF_ROW_60).any():
            raise RuntimeError("no luck")
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.zeros(len(X))


Y_OF_ROW_60 = y[60]


def test_a_failing_fold_is_named():
    with pytest.raises(ValueError, match="bad, fold 3 failed: no luck"):
        compare({"ols": Ridge(), "bad": Fails()}, X, y, cv=KFold(5))


def test_refusals():
    for options, word in [
        ({"models": {"one": Ridge()}}, "at least two"),
        ({"test": "t"}, "test must"),
        ({"correction": "none"}, "correction must"),
        ({"cv": 1}, "at least 2 folds"),
        ({"cv": [(np.arange(60), np.arange(50, 90))]}, "trains on"),
        ({"y": y[:50]}, "90 and 50"),
        ({"metric": "acuracy"}, "did you mean 'accuracy'"),
    ]:
        arguments = {"models": MODELS, "X": X, "y": y} | options
        with pytest.raises(ValueError, match=word):
            compare(**arguments)


def test_words_and_tables():
    found = compare(MODELS, X, y, random_state=0)
    assert found.to_frame().shape == (3, 5)
    assert found.to_dict()["summaries"][0]["k"] == 10
    assert "cannot be told apart" in str(found)

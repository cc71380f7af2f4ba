"""Several labels: scikit-learn's classes, sums over sets, exact chains."""

import unittest

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy.sparse import csr_array
from sklearn import multioutput
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB as TheirNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import estimator_checks_generator

import pellucid
import pellucid.ensemble.labels.chain as chain_module
import pellucid.ensemble.labels.multi_output as multi_output_module
import pellucid.ensemble.labels.powerset as powerset_module
from pellucid import (
    ClassifierChain,
    GaussianNB,
    LabelPowersetClassifier,
    LogisticRegression,
    MultinomialNB,
    MultiOutputClassifier,
    RegressorChain,
    Ridge,
)
from pellucid.ensemble.labels.label_matrix import top_labels
from pellucid.ensemble.labels.powerset import find_sets

ALL = [MultiOutputClassifier, ClassifierChain, LabelPowersetClassifier]


def labels(n=200, L=4, seed=0):
    X, Y = make_multilabel_classification(n_samples=n, n_classes=L, n_features=6, random_state=seed)
    return X / X.std(axis=0), Y


def test_multi_output_equals_scikit_learn():
    X, Y = labels()
    ours = MultiOutputClassifier(TheirLogistic()).fit(X, Y)
    theirs = multioutput.MultiOutputClassifier(TheirLogistic()).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    assert ours.score(X, Y) == theirs.score(X, Y)
    with parallel_config(backend="threading"):
        two = MultiOutputClassifier(TheirLogistic(), n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(two.predict(X), ours.predict(X))
    Y = np.column_stack([np.array(["a", "b", "c"])[np.arange(200) % 3], Y[:, 0].astype(str)])
    ours = MultiOutputClassifier(TheirNB()).fit(X, Y)
    theirs = multioutput.MultiOutputClassifier(TheirNB()).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for own, other in zip(ours.classes_, theirs.classes_, strict=True):
        np.testing.assert_array_equal(own, other)


def test_multi_output_partial_fit():
    X, Y = labels()
    classes = [np.array([0, 1])] * 4
    ours = MultiOutputClassifier(SGDClassifier(random_state=0))
    theirs = multioutput.MultiOutputClassifier(SGDClassifier(random_state=0))
    for part in (slice(0, 90), slice(90, 200)):
        ours.partial_fit(X[part], Y[part], classes=classes)
        theirs.partial_fit(X[part], Y[part], classes=classes)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        MultiOutputClassifier(GaussianNB()).partial_fit(X, Y)


CHAINS = [
    {},
    {"order": [2, 0, 3, 1]},
    {"order": "random", "random_state": 3},
    {"cv": 3},
    {"chain_method": "predict_proba"},
    {"cv": 3, "chain_method": "predict_proba", "order": [3, 2, 1, 0]},
    {"chain_method": ["decision_function", "predict_proba"]},
    {"chain_method": "predict_log_proba"},
]


@pytest.mark.parametrize("params", CHAINS)
def test_chain_equals_scikit_learn(params):
    X, Y = labels()
    ours = ClassifierChain(TheirLogistic(), **params).fit(X, Y)
    theirs = multioutput.ClassifierChain(TheirLogistic(), **params).fit(X, Y)
    np.testing.assert_array_equal(ours.order_, theirs.order_)
    assert ours.chain_method_ == theirs.chain_method_
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_allclose(
            getattr(ours, method)(X), getattr(theirs, method)(X), rtol=1e-9, atol=1e-12
        )


def test_chain_without_probabilities_and_verbose(capsys):
    X, Y = labels()
    model = ClassifierChain(LinearSVC(), verbose=True).fit(X, Y)
    assert "(1 of 4) Processing order 0" in capsys.readouterr().out
    assert not hasattr(model, "predict_proba")
    assert (model.predict_top(X, 2).sum(axis=1) == 2).all()


def test_chain_learns_a_relation_that_single_labels_cannot():
    """y2 = y1 xor x: linear in [x, y1, x y1], not in x; the tree of a chain needs y1."""
    rng = np.random.default_rng(0)
    bit = rng.integers(2, size=(2000, 1)).astype(float)
    coin = rng.integers(2, size=2000)
    X = np.hstack([bit, (1 - 2 * bit) * coin[:, None] + 0.05 * rng.normal(size=(2000, 1))])
    Y = np.column_stack([coin, np.where(bit[:, 0] == 1, 1 - coin, coin)])
    single = MultiOutputClassifier(GaussianNB()).fit(X, Y).score(X, Y)
    sets = LabelPowersetClassifier(GaussianNB()).fit(X, Y).score(X, Y)
    assert sets > single + 0.2


def test_chain_weights_count_in_the_folds_too():
    X, Y = labels(60)
    w = np.random.default_rng(0).integers(1, 4, size=60)
    fold = np.arange(60) % 3
    cv = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    again = np.repeat(fold, w)
    cv_again = [(np.flatnonzero(again != f), np.flatnonzero(again == f)) for f in range(3)]
    a = ClassifierChain(GaussianNB(), cv=cv).fit(X, Y, sample_weight=w)
    b = ClassifierChain(GaussianNB(), cv=cv_again)
    b.fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0))
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize("library", [pd, pl])
def test_chain_adds_columns_to_frames(library):
    X, Y = labels()
    names = [f"v{j}" for j in range(5)] + ["chain_0"]
    frame = pd.DataFrame(X, columns=names, index=np.arange(200)[::-1])
    frame = frame if library is pd else pl.DataFrame(X, schema=names)
    model = ClassifierChain(GaussianNB(), cv=3).fit(frame, Y)
    assert list(model.estimators_[2].feature_names_in_) == [*names, "chain_0_", "chain_1"]
    plain = ClassifierChain(GaussianNB(), cv=3).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(frame), plain.predict_proba(X))


@pytest.mark.parametrize("names", [[0, 1, 6, 3, 4, 5], [(c, 0) for c in "abcdef"]])
def test_chain_adds_columns_to_frames_without_text_for_names(names):
    """scikit-learn refuses a frame where some names are text and some are not."""
    X, Y = labels()
    frame = pd.DataFrame(dict(zip(names, X.T, strict=True)))
    for kind, inner in ((ClassifierChain, GaussianNB()), (RegressorChain, Ridge())):
        model, plain = kind(inner).fit(frame, Y), kind(inner).fit(X, Y)
        np.testing.assert_array_equal(model.predict(frame), plain.predict(X))


@pytest.mark.parametrize("cls", ALL)
def test_sparse_tables_and_sparse_labels(cls):
    X, Y = labels()
    X = np.round(X)
    dense = cls(MultinomialNB()).fit(X, Y).predict(X)
    sparse = cls(MultinomialNB()).fit(csr_array(X), csr_array(Y)).predict(csr_array(X))
    np.testing.assert_array_equal(dense, sparse)


def test_powerset_marginals_are_sums_over_sets():
    X, Y = labels()
    model = LabelPowersetClassifier(LogisticRegression()).fit(X, Y)
    sets, codes = find_sets(Y)
    np.testing.assert_array_equal(sets[codes], Y)
    assert len(np.unique(sets, axis=0)) == len(sets) == len(np.unique(Y, axis=0))
    inner = LogisticRegression().fit(X, codes)
    P = inner.predict_proba(X)
    by_hand = np.column_stack([P[:, sets[:, label] == 1].sum(axis=1) for label in range(4)])
    np.testing.assert_allclose(model.predict_proba(X), by_hand, rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), sets[inner.predict(X)])
    np.testing.assert_allclose(model.predict_sets(X).sum(axis=1), 1.0)


def test_many_labels_are_told_apart():
    rng = np.random.default_rng(0)
    Y = rng.integers(2, size=(500, 100))
    Y[250:] = Y[:250]
    sets, codes = find_sets(Y)
    assert len(sets) == 250
    np.testing.assert_array_equal(sets[codes], Y)


@pytest.mark.parametrize("cls", ALL)
def test_exactly_m_labels(cls):
    X, Y = labels()
    model = cls(GaussianNB()).fit(X, Y)
    for m in (0, 1, 3, 4):
        top = model.predict_top(X, m)
        assert (top.sum(axis=1) == m).all()
    P = model.predict_proba(X)
    P = np.column_stack([p[:, 1] for p in P]) if isinstance(P, list) else P
    top = model.predict_top(X, 2).astype(bool)
    for row, chosen in zip(P, top, strict=True):
        assert row[chosen].min() >= row[~chosen].max()
    with pytest.raises(ValueError, match="at most the number of labels"):
        model.predict_top(X, 5)
    with pytest.raises(ValueError, match="whole number"):
        model.predict_top(X, 1.5)


def test_equal_scores_take_the_earlier_label():
    np.testing.assert_array_equal(top_labels(np.full((1, 3), 0.5), 2), [[1, 1, 0]])


@pytest.mark.parametrize("cls", ALL)
def test_constant_labels(cls):
    X, Y = labels()
    Y = Y.copy()
    Y[:, 1] = 1
    with pytest.warns(UserWarning, match="label 1 is 1 in every training row"):
        model = cls(LogisticRegression()).fit(X, Y)
    assert (model.predict(X)[:, 1] == 1).all()
    assert (model.predict_top(X, 1)[:, 1] == 1).all()
    with pytest.warns(UserWarning, match="label") as caught:
        nothing = cls(LogisticRegression()).fit(X, np.zeros((200, 2), dtype=int))
    assert len(caught) == 2
    assert not nothing.predict(X).any()


@pytest.mark.parametrize("cls", ALL)
def test_refusals(cls):
    X, Y = labels()
    with pytest.raises(ValueError, match="two dimensions"):
        cls(GaussianNB()).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="target y is None"):
        cls(GaussianNB()).fit(X, None)
    with pytest.raises(ValueError, match="needs the method fit"):
        cls(3).fit(X, Y)
    if cls is LabelPowersetClassifier:
        with pytest.raises(ValueError, match="needs labels 0 and 1, got 2"):
            cls(GaussianNB()).fit(X, 2 * Y)
    if cls is ClassifierChain:
        with pytest.raises(ValueError, match="invalid order"):
            cls(GaussianNB(), order=[0, 0, 1, 2]).fit(X, Y)


# scikit-learn leaves its own multi-label classes out of its common checks. Those that do apply:
VECTOR_ONLY = {
    "check_classifiers_classes",  # these give y as a vector, or compare with one
    "check_classifiers_one_label",
    "check_classifiers_one_label_sample_weights",
    "check_classifiers_regression_target",
    "check_classifiers_train",
    "check_array_api_input",
}
MATRIX_TOO = {
    "MultiOutputClassifier": {  # probabilities are a list, partial_fit takes lists of classes
        "check_methods_sample_order_invariance",
        "check_n_features_in_after_fitting",
        "check_estimators_partial_fit_n_features",
        "check_sample_weight_equivalence_on_dense_data",  # calls fit(y=), the name here is Y
    },
    "ClassifierChain": {  # probabilities need two classes, the data of these have three
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_dict_unchanged",
        "check_sample_weight_equivalence_on_dense_data",
    },
    "LabelPowersetClassifier": {  # the labels of these are not 0 and 1
        "check_estimators_dtypes",
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
        "check_classifier_data_not_an_array",
        "check_classifier_not_supporting_multiclass",
        "check_fit2d_1feature",
    },
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", ALL)
def test_common_checks(cls, monkeypatch):
    original = multi_output_module.multi_label_tags

    def unskipped(tags):
        tags = original(tags)
        tags._skip_test = False
        return tags

    for module in (chain_module, multi_output_module, powerset_module):
        monkeypatch.setattr(module, "multi_label_tags", unskipped)
    done = 0
    for estimator, check in estimator_checks_generator(cls(GaussianNB())):
        name = getattr(check, "func", check).__name__
        if name in VECTOR_ONLY | MATRIX_TOO[cls.__name__]:
            continue
        try:
            check(estimator)
        except unittest.SkipTest as skipped:
            pytest.fail(f"{name} skipped: {skipped}")
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
        done += 1
    assert done > 40


@pytest.mark.parametrize("name", ["ClassifierChain", "OneVsRestClassifier"])
@pytest.mark.filterwarnings("ignore:.*label 0 is")
def test_a_constant_label_has_no_method_that_the_others_lack(name):
    """Scorers ask for ``decision_function`` first; the constant has one, naive Bayes has none."""
    X = np.arange(12.0).reshape(6, 2)
    Y = np.column_stack([np.ones(6), [0, 1, 0, 1, 1, 0]]).astype(int)
    model = getattr(pellucid, name)(pellucid.GaussianNB()).fit(X, Y)
    assert not hasattr(model, "decision_function")
    assert model.predict_proba(X).shape == (6, 2)

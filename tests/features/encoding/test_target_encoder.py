"""TargetEncoder against scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from mixed_tables import mixed, same
from numpy.testing import assert_allclose
from sklearn import preprocessing
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit

from pellucid import TargetEncoder

rng = np.random.default_rng(0)
X = mixed(0, n=200)
TARGETS = {
    "continuous": rng.normal(size=200),
    "binary": np.where(rng.random(200) < 0.4, "yes", "no"),
    "multiclass": rng.choice(["a", "b", "c"], size=200),
}


def pair(**params):
    return TargetEncoder(**params), preprocessing.TargetEncoder(**params)


@pytest.mark.parametrize("kind", list(TARGETS))
@pytest.mark.parametrize("smooth", ["auto", 0.0, 3.5])
def test_scikit_learn(kind, smooth):
    y = TARGETS[kind]
    ours, theirs = pair(smooth=smooth, cv=KFold(4))
    assert_allclose(ours.fit_transform(X, y), theirs.fit_transform(X, y), rtol=1e-12)
    assert len(ours.encodings_) == len(theirs.encodings_)
    for a, b in zip(ours.encodings_, theirs.encodings_, strict=True):
        assert_allclose(a, b, rtol=1e-12)
    for a, b in zip(ours.categories_, theirs.categories_, strict=True):
        same(a, b)
    assert_allclose(ours.target_mean_, theirs.target_mean_)
    assert ours.target_type_ == theirs.target_type_
    same(ours.classes_, theirs.classes_)
    same(ours.get_feature_names_out(), theirs.get_feature_names_out())
    new = mixed(9, n=50)
    new[::5, 0] = "never seen"
    assert_allclose(ours.transform(new), theirs.transform(new), rtol=1e-12)


@pytest.mark.parametrize("kind", list(TARGETS))
def test_folds_by_number(kind):
    """The same folds as scikit-learn's, with the seed given there."""
    y = TARGETS[kind]
    ours = TargetEncoder(cv=3).fit_transform(X, y)
    classes = sklearn.model_selection.check_cv(
        3, y, classifier=kind != "continuous", shuffle=True, random_state=0
    )
    assert_allclose(ours, preprocessing.TargetEncoder(cv=classes).fit_transform(X, y), rtol=1e-12)
    same(ours, TargetEncoder(cv=3).fit_transform(X, y))


def test_given_categories_and_types():
    """Rows of no category count for none (scikit-learn 1.9 counts them for the first)."""
    y, words = TARGETS["continuous"], X[:, :1]
    model = TargetEncoder([["fig", "pear"]], target_type="continuous", smooth=0.0, cv=KFold(5))
    out = model.fit_transform(words, y).ravel()
    w = words.ravel()
    assert_allclose(model.encodings_[0], [y[w == "fig"].mean(), y[w == "pear"].mean()])
    for train, test in KFold(5).split(words):
        for i in test:
            mine = train[w[train] == w[i]] if w[i] in ("fig", "pear") else train
            assert_allclose(out[i], y[mine].mean())


def test_groups_are_routed():
    y, groups = TARGETS["continuous"], np.arange(200) % 7
    with sklearn.config_context(enable_metadata_routing=True):
        ours, theirs = pair(cv=GroupKFold(3))
        a = ours.fit_transform(X, y, groups=groups)
        assert_allclose(a, theirs.fit_transform(X, y, groups=groups), rtol=1e-12)


def test_pure_noise_stays_noise():
    """Cross fitting does not leak: codes of one row each carry nothing of their own target."""
    names = np.array([f"id {i}" for i in range(300)], dtype=object)[:, None]
    y = rng.normal(size=300)
    leaky = TargetEncoder(smooth=0.0).fit(names, y).transform(names).ravel()
    fair = TargetEncoder(smooth=0.0).fit_transform(names, y).ravel()
    assert np.corrcoef(leaky, y)[0, 1] > 0.999
    assert np.corrcoef(fair, y)[0, 1] < 0.1


def test_the_shrinkage_is_the_posterior_mean():
    y = np.array([1.0, 3.0, 10.0])
    words = np.array([["a"], ["a"], ["b"]], dtype=object)
    a, b = TargetEncoder(target_type="continuous").fit(words, y).encodings_[0]
    share = 2 * y.var() / (2 * y.var() + 1.0)
    assert_allclose([a, b], [share * 2 + (1 - share) * y.mean(), 10.0])


@pytest.mark.parametrize(
    ("params", "y", "words"),
    [
        ({"cv": ShuffleSplit(2, random_state=0)}, TARGETS["continuous"], "exactly once: row 0"),
        ({"cv": 1}, TARGETS["continuous"], "cv"),
        ({"cv": 2.5}, TARGETS["continuous"], "cv"),
        ({"cv": object()}, TARGETS["continuous"], "cv"),
        ({"smooth": -1}, TARGETS["continuous"], "smooth"),
        ({}, np.column_stack([np.arange(200), np.arange(200)]), "Unknown label type"),
        ({}, TARGETS["continuous"][:100], "200"),
    ],
)
def test_refusals(params, y, words):
    with pytest.raises(ValueError, match=words):
        TargetEncoder(**params).fit_transform(X, y)


def test_frames():
    frame = pd.DataFrame({"city": ["oslo", "rome", None, "oslo"], "n": [1, 2, 1, 2]})
    y = np.array([1.0, 2.0, 3.0, 4.5])
    ours, theirs = pair(cv=KFold(2))
    assert_allclose(ours.fit_transform(frame, y), theirs.fit_transform(frame, y))
    assert ours.get_feature_names_out().tolist() == ["city", "n"]

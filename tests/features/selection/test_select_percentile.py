"""Select percentile: an oracle, an invariant, a recovery."""

import numpy as np
import pytest
import sklearn.feature_selection as peer
from numpy.testing import assert_allclose, assert_array_equal

import pellucid
from pellucid import SelectKBest, SelectPercentile
from pellucid.features import f_regression

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 13))
y = X[:, 2] - 2 * X[:, 7] + 0.3 * rng.normal(size=60)


@pytest.mark.parametrize("percentile", [0, 5, 10, 33.3, 50, 77, 100])
def test_oracle(percentile):
    """scikit-learn keeps the same columns, ties and constant columns among them."""
    for A in (X, np.hstack([X[:, [2, 2, 7, 7]], np.ones((60, 2)), X[:, :3]])):
        ours = SelectPercentile(f_regression, percentile=percentile).fit(A, y)
        theirs = peer.SelectPercentile(peer.f_regression, percentile=percentile).fit(A, y)
        assert_allclose(ours.scores_, theirs.scores_, rtol=1e-8)
        if percentile in (0, 100) or A is X:
            assert_array_equal(ours.get_support(), theirs.get_support())
        same = SelectPercentile(lambda *_, s=theirs.scores_: s, percentile=percentile).fit(A, y)
        assert_array_equal(same.get_support(), theirs.get_support())


def test_invariant():
    """A share that is a whole number of columns is that number of the best."""
    A = X[:, :10]
    ours = SelectPercentile(f_regression, percentile=30).fit(A, y).get_support()
    assert_array_equal(ours, SelectKBest(f_regression, k=3).fit(A, y).get_support())


def test_recovery():
    """The columns that made the target are kept."""
    kept = SelectPercentile(f_regression, percentile=16).fit(X, y).get_support(indices=True)
    assert_array_equal(kept, [2, 7])


@pytest.mark.parametrize("percentile", [-1, 101])
def test_shares_outside_are_refused(percentile):
    with pytest.raises(ValueError, match="percentile must be"):
        SelectPercentile(percentile=percentile).fit(X, y > 0)


@pytest.mark.parametrize("kind", [SelectPercentile, SelectKBest])
@pytest.mark.parametrize(
    "name", ["chi2", "f_classif", "f_regression", "r_regression", "mutual_info_classif"]
)
def test_scores_of_scikit_learn_are_saved_by_name(kind, name, tmp_path):
    """A script that scores by scikit-learn's functions keeps its model file."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, (60, 12)), rng.integers(0, 2, 60)
    model = kind(getattr(peer, name)).fit(X, y)
    pellucid.save(model, tmp_path / "filter.pellucid")
    again = pellucid.load(tmp_path / "filter.pellucid")
    assert again.score_func is model.score_func
    np.testing.assert_array_equal(again.transform(X), model.transform(X))

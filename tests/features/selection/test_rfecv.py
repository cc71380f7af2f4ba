"""Recursive elimination by cross-validation: an oracle, an invariant, a recovery."""

import numpy as np
import pytest
import sklearn.feature_selection as peer
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import GroupKFold, KFold, cross_val_score

from pellucid import RFE, RFECV, LinearRegression, LogisticRegression
from pellucid.textbook.features.recursive_elimination import recursive_elimination

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 7))
y = 3 * X[:, 1] - 2 * X[:, 4] + X[:, 5] + rng.normal(size=80)


@pytest.mark.parametrize("params", [{}, {"step": 2, "min_features_to_select": 2}, {"step": 0.3}])
@pytest.mark.parametrize("classes", [False, True])
def test_oracle(params, classes):
    """scikit-learn keeps the same columns, with the same scores in every fold."""
    model, t = (LogisticRegression(), (y > 0).astype(int)) if classes else (LinearRegression(), y)
    ours, theirs = (k(model, cv=4, **params).fit(X, t) for k in (RFECV, peer.RFECV))
    assert_array_equal(ours.support_, theirs.support_)
    assert_array_equal(ours.ranking_, theirs.ranking_)
    assert ours.cv_results_.keys() == theirs.cv_results_.keys()
    for name, value in theirs.cv_results_.items():
        assert_allclose(ours.cv_results_[name], value, rtol=1e-9, err_msg=name)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.score(X, t), theirs.score(X, t))
    assert hasattr(ours, "predict_proba") == classes


def test_textbook():
    """The columns of all rows are those of plain elimination to that number."""
    ours = RFECV(LinearRegression()).fit(X, y)
    kept = recursive_elimination(
        lambda A, b: LinearRegression().fit(A, b).coef_, X, y, ours.n_features_
    )
    assert_array_equal(np.flatnonzero(ours.support_), np.sort(kept))


def test_invariant():
    """A score is that of RFE inside the fold; the number of columns is the best, then the least."""
    cv = KFold(3)
    ours = RFECV(LinearRegression(), cv=cv).fit(X, y)
    sizes, mean = ours.cv_results_["n_features"], ours.cv_results_["mean_test_score"]
    inside = [
        cross_val_score(RFE(LinearRegression(), n_features_to_select=k), X, y, cv=cv).mean()
        for k in sizes
    ]
    assert_allclose(mean, inside)
    assert ours.n_features_ == sizes[np.flatnonzero(mean == mean.max())[0]]


def test_recovery():
    """The columns that made the target stay."""
    ours = RFECV(LinearRegression()).fit(X, y)
    assert ours.support_[[1, 4, 5]].all()
    groups = np.arange(80) % 8
    again = RFECV(LinearRegression(), cv=GroupKFold(4), n_jobs=2).fit(X, y, groups=groups)
    assert again.support_[[1, 4, 5]].all()


def test_refusals():
    with pytest.raises(ValueError, match="RFECV needs 2"):
        RFECV(LinearRegression()).fit(X[:, :1], y)
    with pytest.warns(UserWarning, match="no column is dropped"):
        assert RFECV(LinearRegression(), min_features_to_select=9).fit(X, y).support_.all()

"""Chains of regressions: an oracle, an invariant, a recovery."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer as Peer

from pellucid import BayesianRidge, IterativeImputer, LinearRegression

rng = np.random.default_rng(0)
WHOLE = rng.normal(size=(120, 1)) @ rng.normal(size=(1, 4)) + 0.3 * rng.normal(size=(120, 4))
X = np.where(rng.random(WHOLE.shape) < [0.05, 0.2, 0.1, 0.0], np.nan, WHOLE)
NEW = np.where(rng.random((30, 4)) < 0.2, np.nan, WHOLE[:30] + 0.1)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"imputation_order": "descending", "skip_complete": True, "add_indicator": True},
        {"imputation_order": "arabic", "initial_strategy": "median", "max_value": 1.0},
        {"imputation_order": "roman", "min_value": [-1, -2, -1, -3], "missing_values": -99},
        {"max_iter": 0, "initial_strategy": "constant", "fill_value": 2.5},
    ],
)
def test_oracle(params):
    """scikit-learn's chain with the same regression fills the same cells after as many rounds."""
    params = {"estimator": LinearRegression(), "max_iter": 40, "tol": 1e-3} | params
    A, B = (np.nan_to_num(T, nan=params.get("missing_values", np.nan)) for T in (X, NEW))
    ours, theirs = IterativeImputer(**params), Peer(**params)
    assert_allclose(ours.fit_transform(A), theirs.fit_transform(A), rtol=1e-6, atol=1e-8)
    assert ours.n_iter_ == theirs.n_iter_
    assert_allclose(ours.transform(B), theirs.transform(B), rtol=1e-6, atol=1e-8)
    assert len(ours.imputation_sequence_) == len(theirs.imputation_sequence_)


def test_default_is_that_of_scikit_learn():
    """BayesianRidge stops at other digits: the cells agree to a thousandth of their spread."""
    ours, theirs = IterativeImputer(max_iter=30).fit(X), Peer(max_iter=30).fit(X)
    assert isinstance(ours.imputation_sequence_[0].estimator, BayesianRidge)
    assert_allclose(ours.transform(NEW), theirs.transform(NEW), atol=2e-3)


def test_invariant():
    """Given cells stay; at the end a round moves nothing; the unit does not matter."""
    ours = IterativeImputer(LinearRegression(), max_iter=200, tol=1e-10)
    Z = ours.fit_transform(X)
    assert_array_equal(Z[~np.isnan(X)], X[~np.isnan(X)])
    for j in range(3):
        gap = np.isnan(X[:, j])
        others = np.delete(Z, j, axis=1)
        again = LinearRegression().fit(others[~gap], Z[~gap, j]).predict(others[gap])
        assert_allclose(Z[gap, j], again, atol=1e-7)
    assert_allclose(ours.fit_transform(X * 2.0**40), Z * 2.0**40, rtol=1e-9)
    assert (ours.history_["objective"][1:] < ours.history_["objective"][:-1]).mean() > 0.9


def test_recovery():
    """Columns on a plane come back nearly exactly; draws spread as the noise does."""
    P = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 4))
    holes = P.copy()
    holes[np.arange(60), rng.integers(0, 4, 60)] = np.nan
    ours = IterativeImputer(max_iter=200, tol=1e-6, random_state=0)
    assert np.abs(ours.fit_transform(holes) - P).max() < 0.05
    with pytest.warns(ConvergenceWarning):
        ours.set_params(max_iter=1).fit(holes)
    draws = [
        IterativeImputer(sample_posterior=True, random_state=s).fit_transform(X) for s in range(12)
    ]
    spread = np.std(draws, axis=0)[np.isnan(X)]
    assert 0.1 < np.median(spread) < 0.6
    again = IterativeImputer(sample_posterior=True, random_state=3).fit_transform(X)
    assert_array_equal(again, draws[3])


def test_few_neighbours_and_empty_columns():
    """Neighbours are drawn; a column without any cell is dropped or kept."""
    ours = IterativeImputer(n_nearest_features=2, random_state=0, max_iter=50).fit(X)
    assert all(len(step.neighbor_feat_idx) == 2 for step in ours.imputation_sequence_)
    assert all(step.feat_idx not in step.neighbor_feat_idx for step in ours.imputation_sequence_)
    E = np.column_stack([X, np.full(120, np.nan)])
    with pytest.warns(UserWarning, match="without any observed"):
        assert IterativeImputer(max_iter=30).fit_transform(E).shape == (120, 4)
    kept = IterativeImputer(max_iter=30, keep_empty_features=True).fit_transform(E)
    assert_array_equal(kept[:, 4], np.zeros(120))


def test_refusals():
    with pytest.raises(ValueError, match="min_value >= max_value"):
        IterativeImputer(min_value=2, max_value=1).fit(X)
    with pytest.raises(ValueError, match="should be of shape"):
        IterativeImputer(max_value=[1, 2]).fit(X)

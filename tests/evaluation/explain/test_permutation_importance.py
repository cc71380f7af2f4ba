"""Permutation importance: scikit-learn's numbers, the error of the mean, what the record says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.sparse import csr_array
from sklearn import inspection
from sklearn.linear_model import LinearRegression as PeerLine

from pellucid import KNeighborsRegressor, LinearRegression, LogisticRegression
from pellucid.evaluation import permutation_importance
from pellucid.evaluation.explain.importance import permutations

rng = np.random.default_rng(3)
X = rng.normal(size=(40, 3))
y = 2 * X[:, 0] - X[:, 1] + rng.normal(size=40)
LABELS = np.where(y > 0, "high", "low")
w = rng.integers(1, 4, 40).astype(float)


@pytest.mark.parametrize("weights", [None, w])
@pytest.mark.parametrize("kind", [LinearRegression, KNeighborsRegressor, PeerLine])
def test_scikit_learn_gives_the_same(kind, weights):
    """With the same seed the same shuffles: every repeat of every column."""
    model = kind().fit(X, y)
    ours = permutation_importance(
        model, X, y, metric="r2", n_repeats=4, random_state=7, sample_weight=weights
    )
    peer = inspection.permutation_importance(
        model, X, y, scoring="r2", n_repeats=4, random_state=7, sample_weight=weights
    )
    assert_allclose(ours.importances, peer.importances, atol=1e-12)
    assert_allclose(ours.importances_mean, peer.importances_mean, atol=1e-12)
    assert_allclose(ours.importances_std, peer.importances_std, atol=1e-12)
    assert_array_equal(ours.names, ["x0", "x1", "x2"])


@pytest.mark.parametrize("model", [LinearRegression(), KNeighborsRegressor(3)])
@pytest.mark.parametrize(("metric", "weights"), [("mse", None), ("r2", None), ("mse", w)])
def test_the_error_is_that_of_a_mean_over_rows(model, metric, weights):
    """From the definition: own growth plus that of the rows that got its x, with n - 1."""
    model.fit(X, y)
    n, v = len(y), np.ones(len(y)) if weights is None else weights
    found = permutation_importance(
        model, X, y, metric=metric, n_repeats=3, random_state=1, sample_weight=weights
    )
    base = (y - model.predict(X)) ** 2
    for j in range(3):
        T = np.zeros(n)
        for order in permutations(n, 3, 1):
            Z = X.copy()
            Z[:, j] = X[order, j]
            more = v * ((y - model.predict(Z)) ** 2 - base) / 3
            T += more
            T[order] += more
        gaps = T - 2 * v * (T.sum() / 2 / v.sum())
        error = np.sqrt((gaps**2).sum() * n / (n - 1)) / v.sum()
        error /= np.var(y) if metric == "r2" else 1.0
        assert_allclose(found.standard_error[j], error)
    half = stats.t.ppf(0.975, v.sum() - 1) * found.standard_error
    assert_allclose(found.low, found.importances_mean - half)
    assert_allclose(found.high, found.importances_mean + half)
    assert found.interval == "rows"


def test_a_metric_that_is_no_mean_has_the_error_of_its_repeats():
    model = LogisticRegression().fit(X, LABELS)
    found = permutation_importance(
        model, X, LABELS, metric="roc_auc", n_repeats=6, confidence=0.9, random_state=0
    )
    error = found.importances.std(axis=1, ddof=1) / np.sqrt(6)
    assert found.interval == "repeats"
    assert_allclose(found.standard_error, error)
    assert_allclose(found.high - found.importances_mean, stats.t.ppf(0.95, 5) * error)
    once = permutation_importance(
        model, X, LABELS, metric="roc_auc", n_repeats=1, confidence=0.9, random_state=0
    )
    assert np.isnan(once.standard_error).all()


def test_a_loss_counts_the_other_way_round():
    """More is more important for scores and losses alike."""
    model = LinearRegression().fit(X, y)
    for metric in ("r2", "mse"):
        found = permutation_importance(model, X, y, metric=metric, random_state=0)
        assert found.importances_mean.argmax() == 0
        assert found.importances_mean[0] > 0
        assert found.greater_is_better == (metric == "r2")


def test_sparse_rows_and_frames_are_shuffled_alike():
    import pandas as pd
    import polars

    model = KNeighborsRegressor(3).fit(X, y)
    want = permutation_importance(model, X, y, random_state=2).importances
    for table in (csr_array(X), pd.DataFrame(X, columns=list("abc"))):
        found = permutation_importance(
            KNeighborsRegressor(3).fit(table, y), table, y, random_state=2
        )
        assert_allclose(found.importances, want)
    frame = polars.DataFrame(X, schema=list("abc"))
    found = permutation_importance(KNeighborsRegressor(3).fit(frame, y), frame, y, random_state=2)
    assert_allclose(found.importances, want)
    assert found.names == ("a", "b", "c")


def test_the_record_says_what_its_intervals_are_for():
    model = LinearRegression().fit(X, y)
    rows = permutation_importance(model, X, y, metric="mse", random_state=0)
    assert "chance of new rows" in str(rows)
    assert rows.to_frame()["column"].to_list()[0] == "x0"
    few = permutation_importance(
        LogisticRegression().fit(X, LABELS), X, LABELS, metric="roc_auc", random_state=0
    )
    assert "chance of shuffling only" in str(few)
    assert few.to_dict()["metric"] == "roc_auc"


@pytest.mark.parametrize("options", [{"n_repeats": 0}, {"confidence": 1.0}, {"confidence": 0.0}])
def test_bad_options_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        permutation_importance(LinearRegression().fit(X, y), X, y, **options)

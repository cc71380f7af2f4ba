"""5x2cv, McNemar, Cochran, adjusted p-values, Friedman, Bayes: peers and catalogue numbers."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from mlxtend.evaluate import cochrans_q, combined_ftest_5x2cv, mcnemar, paired_ttest_5x2cv
from numpy.testing import assert_allclose
from statsmodels.stats.contingency_tables import cochrans_q as sm_cochran
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar
from statsmodels.stats.multitest import multipletests

from pellucid import GaussianNB, LinearRegression, Ridge
from pellucid.evaluation import (
    adjust_p_values,
    bayesian_comparison,
    cochran_q_test,
    five_by_two_cv,
    five_by_two_test,
    friedman_test,
    mcnemar_test,
)
from pellucid.evaluation.splits.folds import half_splits

D = [[0.02, 0.04], [0.01, 0.03], [0.03, 0.02], [0.0, 0.02], [0.04, 0.03]]
rng = np.random.default_rng(0)


def vectors(b, c, both=20, neither=5):
    a_right = np.repeat([True, False, True, False], [b, c, both, neither])
    b_right = np.repeat([False, True, True, False], [b, c, both, neither])
    return a_right, b_right


# --- 5 x 2 ------------------------------------------------------------------------------------


def test_example_6_five_by_two():
    t, f = five_by_two_test(D), five_by_two_test(D, statistic="f")
    assert_allclose([t.statistic, t.p_value], [1.69030851, 0.15176111], atol=5e-9)
    assert_allclose([f.statistic, f.p_value], [5.14285714, 0.04231633], atol=5e-9)
    assert not t.reject
    assert f.reject
    assert f.df == (10, 5)


def test_intervals_of_five_by_two_invert_the_tests():
    d = rng.normal(0.5, 1.0, size=(5, 2))
    for statistic in ("t", "f"):
        test = five_by_two_test(d, statistic=statistic)
        for limit in (test.low, test.high):
            at = five_by_two_test(d - limit, statistic=statistic)
            assert_allclose(at.p_value, 0.05, atol=1e-9)


@pytest.mark.parametrize("kind", ["regression", "classification"])
def test_mlxtend_runs_the_same_test(kind):
    """mlxtend makes the splits itself: replay its scores through ours."""
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 0.5, 0.0] + rng.normal(size=80)
    if kind == "classification":
        y = (y > 0).astype(int)
        a, b, scoring = GaussianNB(), GaussianNB(shared_variance=True), "accuracy"
    else:
        a, b, scoring = LinearRegression(), Ridge(30.0), "r2"
    seen = []

    def score(model, X, y):
        seen.append(model.score(X, y))
        return seen[-1]

    assert scoring
    for statistic, peer in (("t", paired_ttest_5x2cv), ("f", combined_ftest_5x2cv)):
        seen.clear()
        value, p = peer(a, b, X, y, scoring=score, random_seed=1)
        pairs = np.array(seen).reshape(5, 2, 2)  # repetition, half, model
        ours = five_by_two_test(pairs[:, :, 0] - pairs[:, :, 1], statistic=statistic)
        assert_allclose([ours.statistic, ours.p_value], [value, p], rtol=1e-9)


def test_five_by_two_cv_is_the_test_on_its_halves():
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=60)
    test = five_by_two_cv(LinearRegression(), Ridge(5.0), X, y, metric="rmse", statistic="t")
    splits = half_splits(X, y, classifier=False, repeats=5, random_state=0)
    d = []
    for train, held in splits:
        assert not set(train) & set(held)
        assert len(train) == len(held) == 30
        errors = [
            np.sqrt(np.mean((y[held] - m.fit(X[train], y[train]).predict(X[held])) ** 2))
            for m in (LinearRegression(), Ridge(5.0))
        ]
        d.append(errors[0] - errors[1])
    expected = five_by_two_test(np.reshape(d, (5, 2)))
    assert_allclose(test.statistic, expected.statistic)
    parallel = five_by_two_cv(
        LinearRegression(), Ridge(5.0), X, y, metric="rmse", statistic="t", n_jobs=2
    )
    assert parallel == test


def test_five_by_two_degenerate():
    assert five_by_two_test(np.zeros((5, 2))).p_value == 1.0
    assert five_by_two_test(np.zeros((5, 2)), statistic="f").p_value == 1.0
    assert five_by_two_test(np.full((5, 2), 0.1)).p_value == 0.0
    assert five_by_two_test(np.full((5, 2), 0.1), statistic="f").p_value == 0.0
    with pytest.raises(ValueError, match=r"shape \(5, 2\)"):
        five_by_two_test([[1.0, 2.0]])
    with pytest.raises(ValueError, match="finite"):
        five_by_two_test(np.full((5, 2), np.nan))


# --- McNemar, Cochran -------------------------------------------------------------------------


def test_example_6_mcnemar():
    a, b = vectors(9, 3)
    assert_allclose(mcnemar_test(a, b).p_value, 0.14599609, atol=5e-9)
    chi2 = mcnemar_test(a, b, method="chi2")
    assert_allclose([chi2.statistic, chi2.p_value], [2.08333333, 0.14891467], atol=5e-9)


@pytest.mark.parametrize(("b", "c"), [(9, 3), (0, 4), (30, 12), (5, 5), (40, 41)])
def test_mcnemar_peers(b, c):
    table = np.array([[20, b], [c, 5]])
    right = vectors(b, c)
    exact = mcnemar_test(*right, method="exact")
    assert_allclose(exact.p_value, sm_mcnemar(table, exact=True).pvalue)
    for method, correction in (("chi2", True), ("uncorrected", False)):
        ours = mcnemar_test(*right, method=method)
        theirs = sm_mcnemar(table, exact=False, correction=correction)
        if abs(b - c) >= 1:  # theirs squares a negative number when b = c
            assert_allclose([ours.statistic, ours.p_value], [theirs.statistic, theirs.pvalue])
            assert_allclose(ours.statistic, mcnemar(table, corrected=correction)[0])
    auto = mcnemar_test(*right)
    assert auto.p_value == mcnemar_test(*right, method="exact" if b + c < 25 else "chi2").p_value
    assert auto.estimate == (b - c) / len(right[0])
    assert auto.low <= auto.estimate <= auto.high


def test_mcnemar_equal_models_and_symmetry():
    a, b = vectors(0, 0)
    for method in ("auto", "exact", "chi2", "uncorrected"):
        assert mcnemar_test(a, b, method=method).p_value == 1.0
    a, b = vectors(8, 2)
    assert mcnemar_test(a, b).p_value == mcnemar_test(b, a).p_value


def test_example_7_cochran():
    rows = ["110", "111", "100", "110", "010", "111", "100", "110"]
    test = cochran_q_test([[cell == "1" for cell in row] for row in rows])
    assert_allclose([test.statistic, test.p_value], [7.0, 0.03019738], atol=5e-9)
    assert test.df == 2


def test_cochran_peers():
    right = rng.random((60, 4)) < [0.6, 0.7, 0.8, 0.65]
    ours, theirs = cochran_q_test(right), sm_cochran(right.astype(int))
    assert_allclose([ours.statistic, ours.p_value], [theirs.statistic, theirs.pvalue])
    truth = np.zeros(60, dtype=int)
    labels = [np.where(column, 0, 1) for column in right.T]
    assert_allclose(ours.statistic, cochrans_q(truth, *labels)[0])
    two = cochran_q_test(right[:, :2])
    expected = mcnemar_test(right[:, 0], right[:, 1], method="uncorrected")
    assert_allclose(two.statistic, expected.statistic)
    assert cochran_q_test(np.ones((5, 3), dtype=bool)).p_value == 1.0


def test_label_refusals():
    for call, word in [
        (lambda: mcnemar_test([True], [True, False]), "equal lengths"),
        (lambda: mcnemar_test([], []), "at least one"),
        (lambda: mcnemar_test([2, 3], [1, 0]), "True and False"),
        (lambda: mcnemar_test([True], [True], method="exakt"), "method must"),
        (lambda: cochran_q_test([[True], [False]]), "at least 2 models"),
        (lambda: cochran_q_test([True, False]), "boolean vectors"),
    ]:
        with pytest.raises(ValueError, match=word):
            call()


# --- many tests -------------------------------------------------------------------------------


def test_example_6_adjusted():
    p = [0.01, 0.04, 0.03, 0.005]
    assert_allclose(adjust_p_values(p), [0.03, 0.06, 0.06, 0.02])
    assert_allclose(adjust_p_values(p, "bonferroni"), [0.04, 0.16, 0.12, 0.02])
    assert_allclose(adjust_p_values(p, "benjamini_hochberg"), [0.02, 0.04, 0.04, 0.02])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=15))
def test_adjusted_peer_and_laws(p):
    names = {"bonferroni": "bonferroni", "holm": "holm", "sidak": "sidak"}
    names["benjamini_hochberg"] = "fdr_bh"
    p = np.array(p)
    for ours, theirs in names.items():
        adjusted = adjust_p_values(p, ours)
        with np.errstate(all="ignore"):
            assert_allclose(adjusted, multipletests(p, method=theirs)[1], atol=1e-12)
        assert (adjusted >= p - 1e-15).all()
        assert (adjusted <= 1).all()
        order = np.argsort(p, kind="stable")
        assert (np.diff(adjusted[order]) >= -1e-15).all()


@pytest.mark.parametrize("p", [[], [0.5, np.nan], [1.2], [[0.1, 0.2]]])
def test_adjusted_refusals(p):
    with pytest.raises(ValueError, match="p_values"):
        adjust_p_values(p)


def test_friedman_scipy_with_ties():
    scores = rng.normal(size=(12, 5))
    ours, theirs = friedman_test(scores), scipy.stats.friedmanchisquare(*scores.T)
    assert_allclose([ours.statistic, ours.p_value], [theirs.statistic, theirs.pvalue])
    tied = np.round(scores)
    ours, theirs = friedman_test(tied), scipy.stats.friedmanchisquare(*tied.T)
    assert_allclose([ours.statistic, ours.p_value], [theirs.statistic, theirs.pvalue])
    assert_allclose(friedman_test(-tied, greater_is_better=False).ranks, ours.ranks)
    assert friedman_test(np.ones((4, 3))).p_value == 1.0


def test_nemenyi_critical_values():
    """Demšar (2006), table 5(a): q_0.05 / sqrt 2 for 2 to 6 models."""
    for m, q in [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850)]:
        test = friedman_test(rng.normal(size=(9, m)))
        assert_allclose(test.critical_distance, q * np.sqrt(m * (m + 1) / 54), atol=2e-3)
    scores = np.arange(4.0) + 0.1 * rng.normal(size=(15, 4))
    test = friedman_test(scores)
    assert test.different[0, 3]
    assert not test.different.diagonal().any()
    np.testing.assert_array_equal(test.different, test.pair_p_values < 0.05)
    with pytest.raises(ValueError, match="data sets, models"):
        friedman_test([[1.0, 2.0]])


def test_bayesian_by_simulation_of_the_posterior():
    d = rng.normal(0.02, 0.03, size=10)
    found = bayesian_comparison(d, test_ratio=1 / 9, rope=0.01)
    assert_allclose(sum(found), 1.0)
    scale = np.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1))
    posterior = scipy.stats.t(9, d.mean(), scale)
    expected = [
        posterior.cdf(-0.01),
        posterior.cdf(0.01) - posterior.cdf(-0.01),
        posterior.sf(0.01),
    ]
    assert_allclose(found, expected)
    turned = bayesian_comparison(-d, test_ratio=1 / 9, rope=0.01)
    assert_allclose(turned, tuple(found)[::-1])
    assert bayesian_comparison([0.0, 0.0], test_ratio=0.1) == (0.0, 1.0, 0.0)
    assert bayesian_comparison([0.2, 0.2], test_ratio=0.1) == (0.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="at least 2"):
        bayesian_comparison([0.1], test_ratio=0.1)

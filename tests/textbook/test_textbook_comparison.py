"""Each textbook comparison of models against the fast one, on random scores."""

import numpy as np
from agreement import same
from sklearn.model_selection import cross_val_score

import pellucid
from pellucid import evaluation as fast
from pellucid.evaluation.explain.importance import permutations
from pellucid.textbook.comparison import information_criteria as criteria
from pellucid.textbook.comparison.accumulated_effects import accumulated_effects
from pellucid.textbook.comparison.adjust_p_values import adjust_p_values
from pellucid.textbook.comparison.bayesian_comparison import bayesian_comparison
from pellucid.textbook.comparison.cochran_q_test import cochran_q_test
from pellucid.textbook.comparison.corrected_t_test import corrected_t_test
from pellucid.textbook.comparison.five_by_two_test import five_by_two_test
from pellucid.textbook.comparison.friedman_test import friedman_test
from pellucid.textbook.comparison.information_criteria import information_criteria
from pellucid.textbook.comparison.mcnemar_test import mcnemar_test
from pellucid.textbook.comparison.permutation_importance import permutation_importance
from pellucid.textbook.comparison.permutation_test import permutation_test
from pellucid.textbook.comparison.wilcoxon_test import wilcoxon_test


def test_corrected_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 10)) + 0.3
    theirs = fast.corrected_t_test(a, b, test_ratio=1 / 9)
    same(corrected_t_test(a - b, 1 / 9), [theirs.statistic, theirs.p_value])
    theirs = fast.paired_t_test(a, b)
    same(corrected_t_test(a - b, 0.0), [theirs.statistic, theirs.p_value])


def test_five_by_two_test():
    d = np.random.default_rng(1).normal(size=(5, 2)) + 0.4
    ours = five_by_two_test(d)
    t, f = fast.five_by_two_test(d), fast.five_by_two_test(d, statistic="f")
    same(ours, [f.statistic, f.p_value, t.statistic, t.p_value])


def test_two_or_more_classifiers_on_the_same_rows():
    rng = np.random.default_rng(2)
    R = rng.random((80, 3)) < [0.8, 0.6, 0.5]
    ours = mcnemar_test(R[:, 0], R[:, 1])
    same(ours.exact, fast.mcnemar_test(R[:, 0], R[:, 1], method="exact").p_value)
    theirs = fast.mcnemar_test(R[:, 0], R[:, 1], method="chi2")
    same([ours.chi2, ours.p_chi2], [theirs.statistic, theirs.p_value])
    theirs = fast.cochran_q_test(R)
    same(cochran_q_test(R.astype(int)), [theirs.statistic, theirs.p_value])


def test_friedman_test():
    S = np.random.default_rng(3).normal([0, 0.5, 1, 0], size=(8, 4))
    ours, theirs = friedman_test(S), fast.friedman_test(S)
    same([ours.chi2, ours.p_value], [theirs.statistic, theirs.p_value])
    same(ours.ranks, theirs.ranks)


def test_adjust_p_values():
    p = np.random.default_rng(4).random(9) ** 2
    ours = adjust_p_values(p)
    for name in ours._fields:
        same(getattr(ours, name), fast.adjust_p_values(p, name))


def test_bayesian_comparison():
    d = np.random.default_rng(5).normal(0.02, 0.03, size=10)
    theirs = fast.bayesian_comparison(d, test_ratio=1 / 9)
    same(bayesian_comparison(d, 1 / 9), list(theirs))


def test_information_criteria():
    theirs = fast.information_criteria(-123.4, 5, 60)
    same(information_criteria(-123.4, 5, 60), [theirs.aic, theirs.aicc, theirs.bic])
    theirs = fast.gaussian_criteria(17.0, 5, 60)
    same(criteria.normal_noise(17.0, 5, 60), [theirs.aic, theirs.aicc, theirs.bic])


def model_and_rows():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(80, 3)) + 0.7 * rng.normal(size=(80, 1))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=80)
    return pellucid.DecisionTreeRegressor(min_samples_leaf=4).fit(X, y), X, y


def test_permutation_importance():
    model, X, y = model_and_rows()
    ours = permutation_importance(model.predict, X, y, permutations(len(y), 3, 0))
    theirs = fast.permutation_importance(model, X, y, n_repeats=3, random_state=0)
    same(ours, theirs.importances)


def test_accumulated_effects():
    model, X, _ = model_and_rows()
    theirs = fast.accumulated_effects(model, X, 0, n_bins=8, n_bootstrap=0)
    ours = accumulated_effects(model.predict, X, 0, np.asarray(theirs.grid))
    same(ours, theirs.effect[0])


def test_wilcoxon_test():
    rng = np.random.default_rng(4)
    a, b = rng.integers(0, 6, size=(2, 11)).astype(float)
    ours = fast.wilcoxon_test(a, b)
    same(wilcoxon_test(a, b), (ours.statistic, ours.p_value), rtol=1e-10)


def test_permutation_test():
    rng = np.random.default_rng(5)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 2)) + y[:, None]
    draws = np.random.RandomState(0)
    orders = [draws.permutation(30) for _ in range(9)]

    def score(target):
        return cross_val_score(pellucid.GaussianNB(), X, target).mean()

    ours = fast.permutation_test_score(pellucid.GaussianNB(), X, y, n_permutations=9)
    assert permutation_test(score, y, orders) == ours.pvalue

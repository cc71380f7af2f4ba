"""Better than guessing: every test keeps its level, finds a planted signal, and meets an oracle."""

import itertools
import math

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.signal import lfilter
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit

from pellucid import GaussianNB, KNeighborsClassifier, LogisticRegression, Ridge
from pellucid.study.candidates.guessing import GuessClassifier, GuessRegressor
from pellucid.study.candidates.training import Tried, Workshop, run_candidate
from pellucid.study.judging.measure import make_scorer
from pellucid.study.judging.signal import (
    balanced_p_value,
    better_than_guessing,
    long_run_variance,
    matches,
    mean_p_value,
    rank_p_value,
    signal_p_values,
)
from pellucid.study.records import Candidate, Task

LEVEL = 0.05


def at_most(alarms, draws, level=LEVEL):
    """The count does not speak against "at most the level" (one false alarm in 10,000 tests)."""
    return alarms <= stats.binom.ppf(1 - 1e-4, draws, level)


def about(alarms, draws, level=LEVEL):
    return at_most(alarms, draws, level) and alarms >= stats.binom.ppf(1e-4, draws, level)


# --- the tests by themselves -------------------------------------------------------------------


def test_rows_at_random_are_student_s_test():
    d = np.random.default_rng(0).normal(0.1, 1, size=50)
    assert_allclose(mean_p_value(d), stats.ttest_1samp(d, 0, alternative="greater").pvalue)


def test_groups_of_one_row_are_rows_at_random():
    d = np.random.default_rng(1).normal(0.2, 1, size=40)
    assert_allclose(mean_p_value(d, groups=np.arange(40)), mean_p_value(d))


def test_equal_groups_are_student_s_test_of_their_means():
    rng = np.random.default_rng(2)
    d = (rng.normal(0.4, 1, size=(12, 1)) + rng.normal(size=(12, 5))).ravel()
    means = d.reshape(12, 5).mean(axis=1)
    expected = stats.ttest_1samp(means, 0, alternative="greater").pvalue
    assert_allclose(mean_p_value(d, groups=np.repeat(np.arange(12), 5)), expected)


def test_long_run_variance_of_a_series_with_known_variance():
    """x_t = 0.6 x_(t-1) + e_t: the variance of sqrt(n) times the mean is 1 / (1 - 0.6)^2."""
    e = np.random.default_rng(3).normal(size=8_100)
    x = lfilter([1.0], [1.0, -0.6], e)[100:]
    spread, df = long_run_variance(x - x.mean())
    assert_allclose(spread, 1 / 0.4**2, rtol=0.2)
    assert df == int(0.41 * 8_000 ** (2 / 3))


def test_cosines_leave_a_straight_scale_alone():
    """Shifting does nothing, scaling squares."""
    x = np.random.default_rng(4).normal(size=60)
    one = long_run_variance(x - x.mean())[0]
    assert_allclose(long_run_variance(3 * (x - x.mean()))[0], 9 * one)


def test_one_fold_of_ranks_is_mann_and_whitney_s_test():
    rng = np.random.default_rng(5)
    score, hit = np.round(rng.normal(size=60), 1), rng.random(60) < 0.3  # with ties
    expected = stats.mannwhitneyu(
        score[hit], score[~hit], alternative="greater", use_continuity=False, method="asymptotic"
    )
    assert_allclose(rank_p_value([score], [hit]), expected.pvalue)


def test_folds_of_ranks_against_every_order():
    """The exact share of all orders of the labels, fold by fold, whose sum is as large."""
    rng = np.random.default_rng(6)
    scores = [rng.normal(size=8), rng.normal(size=9)]
    hits = [np.arange(8) < 4, np.arange(9) < 4]

    def excess(score, hit):
        n, m = len(score), hit.sum()
        return (stats.rankdata(score)[hit].sum() - m * (n + 1) / 2) / (n + 1)

    every = []
    for score, hit in zip(scores, hits, strict=True):
        orders = itertools.combinations(range(len(hit)), int(hit.sum()))
        every.append([excess(score, np.isin(np.arange(len(hit)), o)) for o in orders])
    sums = np.add.outer(*map(np.array, every)).ravel()
    seen = sum(excess(s, h) for s, h in zip(scores, hits, strict=True))
    exact = np.mean(sums >= seen - 1e-12)
    assert abs(rank_p_value(scores, hits) - exact) < 0.03
    z = seen / sums.std()
    assert_allclose(rank_p_value(scores, hits), stats.norm.sf(z), rtol=1e-8)


def test_ranks_and_the_area_under_the_curve_agree_on_the_side():
    rng = np.random.default_rng(7)
    hit = rng.random(80) < 0.4
    for _ in range(20):
        score = rng.normal(size=80)
        assert (rank_p_value([score], [hit]) < 0.5) == (roc_auc_score(hit, score) > 0.5)


def test_matches_against_every_order():
    """Mean and variance of the statistic over all orders of the labels of a small fold."""
    truth, said = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2, 2])
    weight = 1 / np.bincount(truth)
    orders = [np.array(o) for o in itertools.permutations(truth)]
    values = np.array([weight[o[o == said]].sum() for o in orders])
    found, mean, variance = matches(truth, said)
    assert_allclose(found, 3 * balanced_accuracy_score(truth, said))
    assert_allclose([mean, variance], [values.mean(), values.var()])


def test_one_fold_of_matches_against_a_permutation_test():
    rng = np.random.default_rng(8)
    truth = rng.choice(3, 90, p=[0.6, 0.3, 0.1])
    said = np.where(rng.random(90) < 0.2, truth, rng.choice(3, 90))
    seen = balanced_accuracy_score(truth, said)
    drawn = [balanced_accuracy_score(rng.permutation(truth), said) for _ in range(1000)]
    assert abs(balanced_p_value([truth], [said]) - np.mean(np.array(drawn) >= seen)) < 0.04


def test_inflation_divides_the_statistic():
    rng = np.random.default_rng(9)
    score, hit = rng.normal(size=50) + 1.0, rng.random(50) < 0.5
    score[hit] += 0.5
    z = stats.norm.isf(rank_p_value([score], [hit]))
    assert_allclose(stats.norm.isf(rank_p_value([score], [hit], inflation=2.0)), z / math.sqrt(2))
    d = rng.normal(0.3, 1, size=30)
    t = stats.t.isf(mean_p_value(d), 29)
    assert_allclose(stats.t.isf(mean_p_value(d, inflation=2.0), 29), t / math.sqrt(2))


def test_degenerate_rows():
    """All rows alike: certain where there is a gain, nothing where there is none."""
    assert mean_p_value(np.full(9, 0.1)) == 0.0
    assert mean_p_value(np.zeros(9)) == mean_p_value(np.full(9, -0.1)) == 1.0
    assert mean_p_value(np.ones(9), groups=np.zeros(9)) == 1.0  # one group: no spread to judge by
    assert rank_p_value([np.zeros(9)], [np.arange(9) < 4]) == 1.0  # all tied
    assert rank_p_value([np.arange(9.0)], [np.zeros(9, dtype=bool)]) == 1.0  # one class
    assert balanced_p_value([np.repeat([0, 1], 5)], [np.zeros(10, dtype=int)]) == 1.0


def series(rng, n, lean):
    return lfilter([1.0], [1.0, -lean], rng.normal(size=n + 100))[100:]


@pytest.mark.parametrize("lean", [0.0, 0.5])
def test_level_of_rows_in_time(lean):
    rng = np.random.default_rng(10)
    draws = 1500
    p = np.array([mean_p_value(series(rng, 120, lean), ordered=True) for _ in range(draws)])
    assert about((p < LEVEL).sum(), draws, 0.055)
    naive = np.mean([mean_p_value(series(rng, 120, lean)) < LEVEL for _ in range(300)])
    assert naive > 0.1 or lean == 0.0  # rows that lean on the past are not so many rows


def test_level_of_rows_in_groups():
    rng = np.random.default_rng(11)
    draws, groups = 1500, np.repeat(np.arange(20), [3, 9] * 10)
    p = []
    for _ in range(draws):
        d = rng.normal(size=20)[groups] + rng.normal(size=len(groups))
        p.append(mean_p_value(d, groups=groups))
    assert about((np.array(p) < LEVEL).sum(), draws, 0.055)


# --- whole cross-validations of models ---------------------------------------------------------

KINDS = {
    "ranks": ("average_precision", "stratified"),
    "balanced": ("balanced_accuracy", "stratified"),
    "accuracy": ("accuracy", "stratified"),
    "groups": ("accuracy", "groups"),
    "time": ("accuracy", "sequential"),
    "numbers": ("rmse", "random"),
    "numbers in time": ("rmse", "sequential"),
}
SPLITTERS = {
    "stratified": StratifiedKFold(5), "random": KFold(5), "groups": GroupKFold(5),
    "sequential": TimeSeriesSplit(5),
}  # fmt: skip


def target(rng, branch, X, strength, groups):
    """Labels or numbers; without strength they have nothing to do with X."""
    n = len(X)
    line = strength * X[:, 0] + rng.normal(size=n)
    if branch == "groups":  # the rows of a group are alike, in X and in y
        line = strength * X[:, 0] + rng.normal(size=groups.max() + 1)[groups]
    if branch == "numbers in time":
        line = strength * X[:, 0] + series(rng, n, 0.5)
    if branch.startswith("numbers"):
        return line
    # a fixed cut: with exactly half of each class, the majority of the learning rows would be the
    # minority of the judging rows, and guessing worse than chance
    cut = 1.04 * math.sqrt(1 + strength**2) if branch in ("ranks", "balanced") else 0.0
    return np.where(line > cut, "b", "a")


def p_value(seed, branch, model, n=120, p=4, strength=0.0):
    rng = np.random.default_rng([seed, 12])
    metric, kind = KINDS[branch]
    groups = np.repeat(np.arange(n // 4), 4)
    X = rng.normal(size=(n, p))
    if branch == "groups":
        X = rng.normal(size=(n // 4, p))[groups] + 0.1 * X
    y = target(rng, branch, X, strength, groups)
    number = metric == "rmse"
    task = Task("regression" if number else "binary", ("y",), () if number else ("a", "b"),
                None if number else "b", metric, not number, 0, "")  # fmt: skip
    folds = list(SPLITTERS[kind].split(X, y, groups if kind == "groups" else None))
    shop = Workshop(
        pl.DataFrame(X), y, folds, kind=kind, kinds={}, scorer=make_scorer(task, None),
        groups=groups if branch == "groups" else None,
    )  # fmt: skip
    guess = GuessRegressor() if number else GuessClassifier(None)
    outcomes = [
        run_candidate(shop, Tried(Candidate("m", "m", one, {}, c, ""), {}), deadline=None,
                      step=lambda fold: None)
        for c, one in enumerate((guess, model))
    ]  # fmt: skip
    found = signal_p_values(shop, outcomes)
    assert found[0] is None
    assert found[1] == better_than_guessing(shop, outcomes[1], outcomes[0])
    return found[1]


MODELS = {"linear": LogisticRegression(C=0.1), "neighbours": KNeighborsClassifier(5),
          "bayes": GaussianNB(var_smoothing=0.1)}  # fmt: skip


def model_of(branch, name):
    return Ridge(20.0) if branch.startswith("numbers") else MODELS[name]


def alarms(branch, name, draws):
    model = model_of(branch, name)
    return sum(p_value(seed, branch, model) < LEVEL for seed in range(draws))


@pytest.mark.parametrize("branch", list(KINDS))
def test_level_of_a_cross_validation(branch):
    """Under the null a test at 0.05 fails at most so often."""
    draws = 60
    assert at_most(alarms(branch, "bayes", draws), draws)


PAIRS = [
    (branch, name) for branch in KINDS for name in MODELS
    if name == "linear" or not branch.startswith("numbers")  # of which one model serves all
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("branch", "name"), PAIRS)
def test_level_of_a_cross_validation_over_many_draws(branch, name):
    draws = 400
    assert at_most(alarms(branch, name, draws), draws, 0.06)


@pytest.mark.parametrize("branch", list(KINDS))
def test_power_on_a_planted_signal(branch):
    draws = 12
    model = model_of(branch, "bayes")
    n = 240 if branch == "groups" else 120  # four rows of a group are hardly more than one
    found = sum(p_value(seed, branch, model, n=n, strength=2.5) < LEVEL for seed in range(draws))
    assert found >= 10


def test_folds_alone_where_rows_in_groups_have_no_rank_test():
    """Curves and balanced accuracy of rows in groups: only the folds can tell."""
    rng = np.random.default_rng(13)
    X, y = rng.normal(size=(60, 2)), np.where(np.arange(60) % 3 == 0, "b", "a")
    groups = np.repeat(np.arange(15), 4)
    task = Task("binary", ("y",), ("a", "b"), "b", "average_precision", True, 0, "")
    folds = list(GroupKFold(3).split(X, y, groups))
    shop = Workshop(pl.DataFrame(X), y, folds, kind="groups", kinds={}, groups=groups,
                    scorer=make_scorer(task, None))  # fmt: skip
    assert better_than_guessing(shop, None, None) is None
